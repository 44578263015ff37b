#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every patch compiles, on x86_64 with W=1 and under sparse, and neither has a line more to say than on the base.
#
# The directories that the series touches are compiled on the base, then after each patch: make knows what a patch affects.
# QUICK: on the base and after the last patch only, and of KVM the files that it touches only.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/build.sh"
need_tree
NARROW=${QUICK:-}
setup "objects${QUICK:+-quick}" x86_64 '' W=1
# The kernel turns down a sparse that does not know __typeof_unqual__, which releases up to 0.6.4 do not. That they can be
# told; only the difference between base and series counts anyway.
if ! command -v sparse > /dev/null; then
	skip "objects: sparse" "it is not installed"
elif [ "$(sh "$TREE/scripts/checker-valid.sh" "$TOP/checks/sparse" 2> /dev/null)" = 1 ]; then
	MAKEVARS+=(C=1 CHECK="$TOP/checks/sparse")
else
	skip "objects: sparse" "the kernel turns this version down: $(sparse --version)"
fi
# What the series touches and the lab does not use.
printf 'CONFIG_%s=y\n' KVM_HYPERV > "$TMP/fragment"

mapfile -t files < <(touched base "$(tip)")
mapfile -t GOALS < <(at base; goals "${files[@]}")

# Warnings come only with a compilation, so the base's are kept with what they are about.
state() {
	{
		kgit rev-parse 'base^{tree}'
		printf '%s\n' "${MAKEVARS[@]}"
		gcc --version
		cat "$TOP/config/lab.config" "$TOP"/config/topic-*.config "$TOP"/checks/{build.sh,sparse} "$TMP/fragment"
	} | sha256sum
}

build() {
	at "$1" && configure "$TOP/config/lab.config" "$TMP/fragment" || return
	shift
	compile "$@"
}

base() {
	local g goals
	if [ "$(cat "$O/state" 2> /dev/null)" != "$(state)" ]; then
		rm -rf "$O"
		mkdir -p "$O"
		touch "$O/base.goals" "$O/base.said"
		state > "$O/state"
	fi
	mapfile -t goals < <(printf '%s\n' "${GOALS[@]}" | grep -vxF -f "$O/base.goals")
	[ ${#goals[@]} -gt 0 ] || return 0
	# What is up to date would say nothing.
	for g in "${goals[@]}"; do
		case $g in
		*/) find "$O/$g" -name '*.o' -delete 2> /dev/null ;;
		*) rm -f "$O/$g" ;;
		esac
	done
	build base "${goals[@]}" || { said "$O/log"; tail -n 20 "$O/log"; return 1; }
	said "$O/log" | cat - "$O/base.said" | awk -F '\t' '$2 > n[$1] { n[$1] = $2 } END { for (i in n) print i "\t" n[i] }' | sort > "$O/said"
	mv "$O/said" "$O/base.said"
	printf '%s\n' "${goals[@]}" >> "$O/base.goals"
}

patch() {
	build "$1" "${GOALS[@]}" || { grep -E 'error:|\*\*\*' "$O/log" | head -n 20; [ -s "$O/log" ] || cat "$O/config.log"; return 1; }
	said "$O/log" > "$O/said"
	new_lines "$O/base.said" "$O/said" > "$O/new"
	[ ! -s "$O/new" ] || complain "$(cat "$O/new")"
}

[ ${#GOALS[@]} -gt 0 ] || { check "objects: the series touches something to compile" false; tap_end; exit 1; }
check "objects: the base compiles (${GOALS[*]})" base
if [ -n "${QUICK:-}" ]; then
	check "objects: the whole series compiles, W=1 and sparse say nothing new" patch "$(tip)"
	skip "objects: patch by patch" "QUICK is set; make check does it"
else
	while read -r commit parent name; do
		check "objects: $name compiles, W=1 and sparse say nothing new" patch "$commit"
	done < "$SERIES"
fi
at "$(tip)"
tap_end
