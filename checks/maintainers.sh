#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who would get the patches? get_maintainer.pl must find a person and the right lists for every file of the series, and for
# every new file a section other than the last resort, in MAINTAINERS as the patch leaves it.

. "$(dirname "$0")/lib.sh"
need_tree

# maintainer FILE OPTION...
maintainer() {
	local f=$1
	shift
	(cd "$TREE" && perl scripts/get_maintainer.pl --no-git --no-git-fallback --norolestats "$@" -f "$f")
}

# lists FILE: those that must be among its lists.
lists() {
	echo linux-kernel@vger.kernel.org
	case $1 in
	virt/kvm/* | arch/*/kvm/* | arch/x86/kernel/kvm.c | include/linux/kvm* | include/uapi/linux/kvm* | Documentation/virt/kvm/* | \
	include/trace/events/kvm.h | tools/testing/selftests/kvm/*)
		echo kvm@vger.kernel.org ;;
	esac
	case $1 in
	drivers/cpuidle/*) echo linux-pm@vger.kernel.org ;;
	tools/testing/selftests/*) echo linux-kselftest@vger.kernel.org ;;
	Documentation/*) echo linux-doc@vger.kernel.org ;;
	esac
}

# sections FILE: the titles of the sections that have it.
sections() { maintainer "$1" --sections | awk 'last == "" && $0 != "" { print } { last = $0 }'; }

# In the tree as the whole series leaves it.
file() {
	local out found
	out=$({
		found=$(maintainer "$1" --no-m --no-r --l)
		lists "$1" | grep -vxF -f <(echo "$found") | sed 's/^/no such list: /'
		! sections "$1" | grep -qvx 'THE REST' || maintainer "$1" --m --r --no-l | grep -q @ || echo "no maintainer"
	})
	[ -z "$out" ] || complain "$1: $out"
}

# New files, in the tree as the patch leaves it: which section other than THE REST has them?
new_files() {
	local commit=$1 parent=$2 f out
	out=$(touched "$parent" "$commit" A | while read -r f; do
		sections "$f" | grep -qvx 'THE REST' ||
			echo "$f is new, and no section of MAINTAINERS has it"
	done)
	[ -z "$out" ] || complain "$out"
}

# Sections and patterns of MAINTAINERS in the order that the kernel's own script gives them: not worse than before.
order() {
	local side rc=0
	for side in base "$(tip)"; do
		kgit show "$side:MAINTAINERS" > "$TMP/in"
		perl "$TREE/scripts/parse-maintainers.pl" --input="$TMP/in" --output="$TMP/out" --order || return
		diff "$TMP/in" "$TMP/out" | grep '^[<>]' | sort > "$TMP/order.$side"
	done
	comm -13 "$TMP/order.base" "$TMP/order.$(tip)" > "$TMP/worse"
	[ ! -s "$TMP/worse" ] || { echo "MAINTAINERS: lines in another order than scripts/parse-maintainers.pl has them:"; cat "$TMP/worse"; rc=1; }
	return $rc
}

# Patterns that the series adds must match something.
patterns() {
	local p out
	kgit ls-tree -r --name-only "$(tip)" > "$TMP/files"
	out=$(kgit diff -U0 base "$(tip)" -- MAINTAINERS | sed -n 's/^+[FX]:[[:space:]]*//p' | while read -r p; do
		while read -r f; do
			# shellcheck disable=SC2053 # a pattern
			if [[ $f == $p || $f == ${p%/}/* ]]; then
				continue 2
			fi
		done < "$TMP/files"
		echo "MAINTAINERS: no file fits $p"
	done)
	[ -z "$out" ] || complain "$out"
}

one() {
	at "$1"
	check "maintainers: the new files of $3 belong to somebody" new_files "$1" "$2"
}
while read -r commit parent name; do
	[ -z "$(touched "$parent" "$commit" A)" ] || one "$commit" "$parent" "$name"
done < "$SERIES"
at "$(tip)"
while read -r f; do
	check "maintainers: $f" file "$f"
done < <(touched base "$(tip)")
check "maintainers: MAINTAINERS is in order" order
check "maintainers: every new pattern in MAINTAINERS fits a file" patterns
tap_end
