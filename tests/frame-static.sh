#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What can be seen by reading: shellcheck, licence lines, compiler warnings, no traces of where this was written,
# and that the Makefile tells of all that it offers.

. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
mapfile -t FILES < <(git ls-files -co --exclude-standard | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)

shell_files() {
	local f
	for f in "${FILES[@]}"; do
		case $f in
		*.sh) echo "$f" ;;
		*) [[ $(head -c 64 "$f" | tr -d '\0') != '#!'*sh* ]] || echo "$f" ;;
		esac
	done
}
shells() { shell_files | xargs shellcheck; }
check "shellcheck on all shell" shells

# Mails are under the licence of what they patch.
spdx() {
	local f rc=0
	for f in "${FILES[@]}"; do
		case $f in LICENSE | *.patch | patches/*.txt) continue ;; esac
		head -n 5 "$f" | grep 'SPDX-License-Identifier: GPL-2.0-only' > /dev/null || { echo "$f has no SPDX line"; rc=1; }
	done
	return $rc
}
check "an SPDX line in every file" spdx
license() { grep 'GNU GENERAL PUBLIC LICENSE' LICENSE && grep 'Version 2, June 1991' LICENSE; }
check "LICENSE is the GPL, version 2" license

warnings() {
	local f rc=0
	for f in "${FILES[@]}"; do
		case $f in
		*.c) gcc -std=gnu11 -O2 -Wall -Wextra -Werror -pthread -I bench -c -o /dev/null "$f" || rc=1 ;;
		esac
	done
	return $rc
}
check "our C compiles without a warning" warnings

# none PATTERN: no file has it, other than this one.
none() { ! printf '%s\n' "${FILES[@]}" | grep -vx 'tests/frame-static.sh' | xargs -d '\n' grep -nEI -- "$1"; }
check "no paths of the machine that this was written on" none '(^|[^a-zA-Z0-9_.$}-])/(work|home|root|tmp/[a-z]+)/'
check "nobody signed anything off" none '^[+]?(Signed-off-by|Co-(authored|developed)-by|Reviewed-by|Acked-by): '
mirror_host() {
	local host
	# shellcheck disable=SC2016 # for apt
	for host in $(apt-get indextargets --no-release-info --format '$(REPO_URI)' 2> /dev/null | sed -n 's|^[a-z]*://\([^/]*\)/.*|\1|p' | sort -u); do
		none "${host//./\\.}" || return
	done
}
check "no name of a mirror" mirror_host
authors() {
	same "$(sed -n 's/^From: //p' patches/*/*.patch patches/*.txt base/*.d/*/*.patch | sort -u)" "vcpu-sched project <vcpu-sched@example.org>"
}
check "the patches' author is the project" authors
no_blobs() { ! printf '%s\n' "${FILES[@]}" | grep -E '\.(o|a|ko|deb|xz|gz|cpio|img|png)$'; }
check "nothing built or downloaded is in the repository" no_blobs

targets() {
	local t rc=0
	make help > "$TMP/help" || return
	for t in demo test tree kernel series check shell bench bench-% lab-soak stress clean distclean help; do
		grep -E "^  make $t  +[^ ]" "$TMP/help" > /dev/null || { echo "make help does not tell of $t"; rc=1; }
		[ "$t" = bench-% ] || make -n "$t" > /dev/null || rc=1
	done
	for t in bench/*/run; do
		t=$(basename "$(dirname "$t")")
		[ "$t" = demo ] || make -n "bench-$t" > /dev/null || rc=1
	done
	return $rc
}
check "make help tells of every target, and there is each" targets
screenful() { [ "$(make help | wc -l)" -le 36 ] && ! make help | grep -E '.{121}'; }
check "make help is a screenful" screenful
ci() { [ -x .ci/run ] && grep -x 'exec make test' .ci/run; }
check ".ci/run calls make test" ci
readme() {
	local w rc=0
	for w in 'make demo' 'make test' 'git am' signoff 'make series' patches/pv-idle patches/kvm patches/sched; do
		grep -F -- "$w" README.md > /dev/null || { echo "README.md does not tell of: $w"; rc=1; }
	done
	return $rc
}
check "README tells what it must" readme

tap_end
