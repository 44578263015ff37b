#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# On the real base, in a checkout of their own: the series applies with no fuzz by git am and by quilt, and make series
# gives back the bytes that are committed. Building: a kernel that does not build, a configuration that does not take
# effect, the same bytes from another folder. A few objects only, no whole kernel.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkout.sh"
cd "$TOP" || exit 1

W=$TMP/checkout
T=$W/build/linux
export VCPU_SCHED_NEED_GB=2
export VCPU_SCHED_CACHE=${VCPU_SCHED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vcpu-sched}
BASE_GIT=$VCPU_SCHED_CACHE/base/7.3/linux.git
version=$(git --git-dir="$BASE_GIT" config vcpu-sched.version) || { echo "Bail out! no base in the cache: make tree"; exit 1; }
written=$(sed -n 's/^written=//p' base/7.3)
mapfile -t PATCHES < <(grep '^[^#]' patches/series)
checkout "$W"

# The touched files of the base, as an archive, for those who need a work tree.
touched() { sed -n 's|^--- a/||p' "${PATCHES[@]/#/patches/}" | sort -u; }
base_files() {
	mkdir -p "$1"
	touched | while read -r f; do
		! git --git-dir="$BASE_GIT" cat-file -e "current:$f" 2> /dev/null || echo "$f"
	done | xargs git --git-dir="$BASE_GIT" archive current | tar -xf - -C "$1"
}

quilt_push() {
	base_files "$TMP/quilt" && cd "$TMP/quilt" && ln -s "$W/patches" patches || return
	QUILT_PC=$TMP/pc quilt --quiltrc /dev/null push -a --fuzz=0 > "$TMP/quilt.log" 2>&1 && return
	tail -n 20 "$TMP/quilt.log"
	return 1
}
check "quilt push -a with no fuzz" quilt_push
no_offset() { ! grep -E 'offset|fuzz' "$TMP/quilt.log"; }
if [ "$version" = "$written" ]; then
	check "and no offset on the version that it was written for" no_offset
else
	skip "no offset on the version that it was written for" "the base is $version, the series is for $written"
fi

# git am in a tree that has those files only, with what the users of patches/ have: git's defaults.
am() {
	base_files "$TMP/am" && cd "$TMP/am" && git init -q && git add -A -f && git commit -q -m base &&
		git am -q "${PATCHES[@]/#/$W/patches/}" && same "$(git rev-list --count HEAD)" $((${#PATCHES[@]} + 1))
}
check "git am takes every patch" am
same_tree() {
	diff -r -x .git -x .pc -x patches -x '*.orig' "$TMP/am" "$TMP/quilt"
}
check "both give the same files" same_tree

kernel() { (cd "$W" && scripts/kernel.sh); }
no_tree() { refused "there is no build/linux yet: 'make tree' first" kernel; }
check "no tree yet" no_tree

before=$(cd patches && find . -type f -exec sha256sum {} + | sort -k 2)
round_trip() {
	cd "$W" && scripts/tree.sh && scripts/series.sh || return
	[ "$version" = "$written" ] || return 0
	diff <(echo "$before") <(cd "$W/patches" && find . -type f -exec sha256sum {} + | sort -k 2)
}
check "make series gives back patches/ byte for byte" round_trip
again() { cd "$W" && scripts/series.sh | grep ' nothing changed'; }
check "and again" again

# Building.
sched=kernel/sched/build_policy.o
string=lib/string.o

no_config() { CONFIG=nonsense refused "no such configuration: config/nonsense.config" kernel; }
check "an unknown configuration" no_config

no_effect() {
	echo CONFIG_NO_SUCH_THING=y >> "$W/config/lab.config"
	OBJECTS=$string refused "asks for what this tree cannot give: CONFIG_NO_SUCH_THING=y (is n)" kernel || return
	sed -i '$d' "$W/config/lab.config"
}
check "a symbol that does not take effect is named" no_effect

builds() { OBJECTS="$sched $string" kernel && [ -e "$W/build/kernel-lab/$sched" ]; }
check "objects build" builds
topic_symbols() {
	local line rc=0
	while read -r line; do
		grep -qxF "$line" "$W/build/kernel-lab/.config" || { echo "$line is not set"; rc=1; }
	done < <(cat "$W"/config/topic-*.config | grep '^CONFIG_')
	return $rc
}
check "the symbols of all topics are set" topic_symbols

fails() {
	printf 'int broken(void)\n{\n\treturn no_such_thing;\n}\n' >> "$T/lib/string.c"
	OBJECTS=$string kernel > "$TMP/out" 2>&1
	local rc=$?
	git -C "$T" checkout -q lib/string.c
	cat "$TMP/out"
	[ $rc -ne 0 ] && grep "lib/string.c:.*error: .no_such_thing. undeclared" "$TMP/out" &&
		grep -x "kernel: error: the kernel does not build: see build/log/kernel-lab.log" "$TMP/out" &&
		grep no_such_thing "$W/build/log/kernel-lab.log"
}
check "a kernel that does not build: the compiler's words and the log's name" fails
mended() { OBJECTS=$string kernel; }
check "and it builds once that is mended" mended

# The same source in another folder: the developer's own tree, or a copy.
elsewhere() {
	local before
	before=$(sha256sum < "$W/build/kernel-lab/$sched")
	mv "$W" "$TMP/moved"
	mkdir "$W.other" && mv "$TMP/moved" "$W.other/deeper" && W=$W.other/deeper && rm -rf "$W/build/kernel-lab" &&
	OBJECTS="$sched $string" kernel && same "$(sha256sum < "$W/build/kernel-lab/$sched")" "$before"
}
check "from another folder come the same bytes" elsewhere
no_paths() { ! grep -aF -e "$TMP" -e "$TOP" "$W/build/kernel-lab/$sched"; }
check "and no path is in them" no_paths

tap_end
