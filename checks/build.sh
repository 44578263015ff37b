# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the checks that compile: source it after lib.sh. Nothing is linked, no whole kernel is built: the objects of the
# directories that the series touches, in build/checks/o-NAME.
#
# CHECKS_WRAP="nice -n 19" goes in front of each make; JOBS=N as for make kernel.

JOBS=${JOBS:-$(($(nproc) + 1))}

# setup NAME ARCH CROSS_COMPILE [MAKE_VARIABLE=VALUE]...: what the functions below are about.
setup() {
	O=$WORK/o-$1
	ARCH=$2
	CROSS=$3
	shift 3
	MAKEVARS=("$@")
	case $ARCH in
	x86_64 | i386) SRCARCH=x86 ;;
	*) SRCARCH=$ARCH ;;
	esac
	mkdir -p "$O"
}

# kmake ARG...: nothing that make or the caller's shell exported reaches the kernel's makefiles.
kmake() {
	local ccache=''
	command -v ccache > /dev/null && ccache='ccache '
	# shellcheck disable=SC2086 # words
	env -i PATH="$PATH" HOME="$HOME" TERM=dumb LC_ALL=C CCACHE_DIR="$CACHE/ccache" CCACHE_BASEDIR="$WORK" CCACHE_NOHASHDIR=1 \
		CCACHE_MAXSIZE=3G KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=vcpu-sched KBUILD_BUILD_HOST=lab \
		${CHECKS_WRAP:-} make -s -C "$TREE" O="$O" ARCH="$ARCH" CROSS_COMPILE="$CROSS" CC="$ccache${CROSS}gcc" HOSTCC="${ccache}gcc" \
		LOCALVERSION= KCFLAGS="-ffile-prefix-map=$TREE/=" -j"$JOBS" "${MAKEVARS[@]}" "$@" < /dev/null
}

# configure FRAGMENT...: what they say, and all else off. Symbols that a tree does not have are no error here.
configure() {
	cat "$@" "$TOP"/config/topic-*.config > "$O/fragment"
	kmake KCONFIG_ALLCONFIG="$O/fragment" allnoconfig > "$O/config.log" 2>&1 || { cat "$O/config.log"; return 1; }
}

# is SYMBOL VALUE: in the configuration at hand? A value of n is the absence.
is() {
	local have
	have=$(sed -n "s/^CONFIG_$1=//p" "$O/.config")
	[ "${have:-n}" = "$2" ]
}

# goals FILE...: what to ask make for when these are touched: their directories, which build what the configuration says. Of
# KVM, whose directory is large, the objects alone, unless a header of it is touched; NARROW=1: the objects even then.
goals() {
	local f kvm=arch/$SRCARCH/kvm
	for f; do
		case $f in
		virt/kvm/*.[ch] | "$kvm"/*.[ch])
			[ -e "$TREE/$kvm/Makefile" ] || continue
			case $f in
			*.h) [ -n "${NARROW:-}" ] || echo "$kvm/" ;;
			virt/*) echo "$kvm/../../../${f%.c}.o" ;;
			*) echo "${f%.c}.o" ;;
			esac ;;
		"arch/$SRCARCH"/*.c) echo "${f%.c}.o" ;;
		arch/* | tools/* | samples/* | Documentation/* | scripts/* | include/*) ;;
		*/*.[ch]) echo "$(dirname "$f")/" ;;
		esac
	done | sort -u
}

# wanted GOAL: does the tree have it, and does the configuration want it? kbuild compiles a single object in any case.
wanted() {
	local kvm=arch/$SRCARCH/kvm symbol
	case $1 in
	*/) [ -d "$TREE/$1" ] || return ;;
	*) [ -e "$TREE/${1%.o}.c" ] || return ;;
	esac
	case $1 in
	arch/*/kernel/kvm.o) ! is KVM_GUEST n ;;
	"$kvm"/*)
		! is KVM n || return
		# shellcheck disable=SC2016
		# "kvm-$(CONFIG_KVM_XEN) += xen.o" in its makefiles
		symbol=$(cat "$TREE/$kvm/Makefile" "$TREE/virt/kvm/Makefile.kvm" | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba}' |
			grep -E "[ /]$(basename "$1")( |\$)" | sed -n 's/.*\$(CONFIG_\([A-Z0-9_]*\)).*/\1/p' | head -n 1)
		[ -z "$symbol" ] || ! is "$symbol" n ;;
	esac
}

# compile GOAL...: of the tree as it stands; all of it, errors or not. What the compilers say goes to $O/log.
compile() {
	local goal list=()
	for goal; do
		! wanted "$goal" || list+=("$goal")
	done
	: > "$O/log"
	[ ${#list[@]} -gt 0 ] || return 0
	kmake -k "${list[@]}" > "$O/log" 2>&1
}

# said LOG: the warnings and errors in it, once each, as "FILE: text<TAB>number of lines that have it": a line that only
# moved is the same warning.
said() {
	grep -E '(warning|error|ERROR|WARNING): ' "$1" | sed -E "s,^($TREE/|(\.\./)+linux/|\./),," | sort -u |
		sed -E 's/^([^ :]+):[0-9]+(:[0-9]+)?: /\1: /; s/\+0x[0-9a-f]+//g' | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }' |
		awk -F '\t' '{ n[$1] += $2 } END { for (i in n) print i "\t" n[i] }' | sort
}

# new_lines OLD NEW: files made by said; what is in NEW and not, or not as often, in OLD (which may be empty).
new_lines() {
	awk -F '\t' -v old="$1" 'BEGIN { while ((getline < old) > 0) had[$1] = $2 } $2 > had[$1] + 0 { print $1 }' "$2"
}
