#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the series touches also compiles with its prerequisites turned off one by one; with PREEMPT_RT, NO_HZ_FULL, core
# scheduling and sched_ext; with KVM as a module; for 32 bits and other architectures (where Debian's cross compiler is
# installed); as UML; by clang; and each topic alone. No warning that the base does not have.
#
# QUICK: SMP, PARAVIRT and KVM off only. ONLY="SMP arm64": these only (a symbol from below, module, topics, a name below).

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/build.sh"
need_tree

# compiles COMMIT [FRAGMENT]: as set up.
compiles() {
	local commit=$1
	shift
	at "$commit" && configure "$TOP/config/lab.config" "$@" && "$PROVE" || return
	mapfile -t goals < <(NARROW=1 goals "${files[@]}")
	compile "${goals[@]}" || { grep -E 'error:|\*\*\*' "$O/log" | head -n 20; return 1; }
	said "$O/log" > "$O/said.$commit"
	[ -s "$O/log" ] || [ -n "$(find "$O/kernel/sched" -name '*.o')" ] || complain "nothing was compiled"
}

# clean COMMIT [FRAGMENT]: it compiles, and what it says the base says, too; the base is asked only then.
clean() {
	local commit=$1
	shift
	# What is up to date would say nothing.
	find "$O" -name '*.o' \( -path '*/sched/*' -o -path '*/kvm*' \) -delete
	compiles "$commit" "$@" || return
	[ -s "$O/said.$commit" ] || return 0
	find "$O" -name '*.o' \( -path '*/sched/*' -o -path '*/kvm*' \) -delete
	compiles base "$@" || return
	new_lines "$O/said.base" "$O/said.$commit" > "$O/new"
	[ ! -s "$O/new" ] || complain "$(cat "$O/new")"
}

selected() { [[ -z ${ONLY:-} || " $ONLY " == *" $1 "* ]]; }

# off SYMBOL..., on SYMBOL...: x86_64 without or with them. That they are off or on is checked, too. What they need for
# that follows as SYMBOL=VALUE.
off() { turn n without off "$@"; }
on() { turn y with on "$@"; }
turn() { # n|y without|with off|on SYMBOL...
	selected "$4" || return
	setup configs x86_64 ''
	VALUE=$1 HOW=$3
	local with=$2
	shift 3
	SYMBOLS=
	local s
	for s; do
		[[ $s == *=* ]] || { SYMBOLS="$SYMBOLS $s"; s=$s=$VALUE; }
		echo "CONFIG_$s"
	done > "$TMP/fragment"
	PROVE=are_turned check "configs: x86_64 $with $*" clean "$(tip)" "$TMP/fragment"
}
are_turned() {
	local s
	for s in $SYMBOLS; do
		is "$s" "$VALUE" || complain "CONFIG_$s cannot be turned $HOW here: the check checks nothing" || return
	done
}

mapfile -t files < <(touched base "$(tip)")
PROVE=true

off SMP
off PARAVIRT
off KVM KVM_INTEL KVM_AMD
if [ -n "${QUICK:-}" ]; then
	[ -n "${ONLY:-}" ] || skip "configs: other configurations, compilers, architectures; topics alone" "QUICK is set; make check does it"
	at "$(tip)"
	tap_end
	exit
fi
off SYSCTL EXPERT=y
off CPU_IDLE
off NO_HZ_IDLE NO_HZ_COMMON
off KUNIT
off HIGH_RES_TIMERS
on PREEMPT_RT EXPERT=y
on NO_HZ_FULL
on SCHED_CORE SCHED_SMT
on SCHED_CLASS_EXT BPF_SYSCALL BPF_JIT DEBUG_INFO_DWARF5 DEBUG_INFO_BTF

# KVM as a module may call only what is exported. Linking would tell; so do the symbols that it newly asks for.
asks_for() { find "$O/arch/x86/kvm" "$O/virt/kvm" -name '*.o' -exec nm -u {} + 2> /dev/null | awk 'NF == 2 { print $2 }' | sort -u; }
exported() {
	local s out
	clean "$(tip)" "$TMP/fragment" || return
	asks_for > "$TMP/asks"
	find "$O" -name '*.o' -path '*/kvm*' -delete
	compiles base "$TMP/fragment" || return
	asks_for > "$TMP/asked"
	[ -s "$TMP/asked" ] || complain "no objects of KVM" || return
	out=$(comm -13 "$TMP/asked" "$TMP/asks" | while read -r s; do
		kgit grep -qE "EXPORT_[A-Z_]*SYMBOL[A-Z_]*\(${s}[,)]" "$(tip)" -- kernel lib arch/x86 virt mm ||
		nm --defined-only "$O"/arch/x86/kvm/../../../virt/kvm/*.o "$O"/arch/x86/kvm/*.o 2> /dev/null | grep -q " $s$" ||
			kgit grep -qE "^[a-z].*[ *]$s\(" "$(tip)" -- virt/kvm arch/x86/kvm ||
			{ [[ $s == param_[gs]et_* ]] && kgit grep -q "STANDARD_PARAM_DEF(${s#param_?et_}," "$(tip)" -- kernel/params.c; } ||
			echo "$s is not exported, and KVM may be a module"
	done)
	[ -z "$out" ] || complain "$out"
}
setup configs x86_64 ''
printf 'CONFIG_%s\n' MODULES=y KVM=m KVM_INTEL=m KVM_AMD=m > "$TMP/fragment"
is_module() { is KVM m || complain "KVM is no module here"; }
! selected module || PROVE=is_module check "configs: x86_64 with KVM as a module, which calls what is exported" exported

# arch NAME ARCH CROSS FRAGMENT_LINE...
arch() {
	local name=$1
	selected "$name" || return
	if ! command -v "$3gcc" > /dev/null; then
		skip "configs: $name" "no $3gcc here"
		return
	fi
	setup "$name" "$2" "$3"
	shift 3
	[ $# -eq 0 ] || printf 'CONFIG_%s\n' "$@" > "$TMP/fragment"
	check "configs: $name" clean "$(tip)" "$TMP/fragment"
}
arch i386 i386 '' 64BIT=n
arch uml um '' 64BIT=y
arch arm64 arm64 aarch64-linux-gnu- VIRTUALIZATION=y KVM=y
arch s390 s390 s390x-linux-gnu- KVM=y
arch powerpc64le powerpc powerpc64le-linux-gnu- PPC64=y PPC_BOOK3S_64=y CPU_LITTLE_ENDIAN=y PPC_PSERIES=y KVM_BOOK3S_64=y KVM_BOOK3S_64_HV=y
arch riscv64 riscv riscv64-linux-gnu- ARCH_RV64I=y MMU=y RISCV_SBI=y KVM=y
arch loongarch64 loongarch loongarch64-linux-gnu- 64BIT=y KVM=y

want=$(sh "$TREE/scripts/min-tool-version.sh" llvm)
if ! selected clang; then
	:
elif ! command -v clang > /dev/null; then
	skip "configs: clang" "it is not installed"
else
	have=$(clang --version | sed -n 's/.*version \([0-9.]*\).*/\1/p' | head -n 1)
	if [ "$(printf '%s\n' "$want" "$have" | sort -V | head -n 1)" = "$want" ]; then
		setup clang x86_64 '' LLVM=1 CC=clang HOSTCC=clang
		: > "$TMP/fragment"
		check "configs: x86_64 by clang $have" clean "$(tip)" "$TMP/fragment"
	else
		skip "configs: clang" "it is $have here, and this kernel wants $want"
	fi
fi

# Each topic alone, on the base and common/.
setup configs x86_64 ''
: > "$TMP/fragment"
for t in $(topics); do
	case $t in common | integration) continue ;; esac
	selected topics || continue
	[ -n "$(TOPICS=$t series_files)" ] || continue
	commit=$(apply_topics common "$t") || { check "configs: topic $t alone" complain "$commit"; continue; }
	check "configs: topic $t alone" clean "$commit" "$TMP/fragment"
done
at "$(tip)"
tap_end
