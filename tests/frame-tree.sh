#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tree.sh and series.sh, on a kernel small enough to try everything: patches that do not apply, developers' work,
# interruptions, topics, and that nothing changes where nothing changed.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkout.sh"

export VCPU_SCHED_CACHE=$TMP/cache VCPU_SCHED_NEED_GB=0
W=$TMP/checkout		# the checkout under test
T=$W/build/linux
export LINUX=$TMP/kernel
checkout "$W"
rm -rf "$W"/patches/*/ "$W/build"
small_kernel "$LINUX"
echo "# nothing yet" > "$W/patches/series"
tree() { (cd "$W" && scripts/tree.sh); }
series() { (cd "$W" && scripts/series.sh); }
sums() { (cd "$W/patches" && find . -type f -exec sha256sum {} + | sort -k 2); }

# Three commits make the first series.
first_series() {
	tree || return
	change "$T" Documentation/index.rst 5 five 'docs: Say five'
	change "$T" kernel/sched/idle.c 30 thirty 'sched/idle: Poll thirty'
	change "$T" virt/kvm/kvm_main.c 10 ten 'KVM: Yield ten'
	change "$T" virt/kvm/kvm_main.c 40 forty 'KVM: Yield forty'
	change "$T" kernel/sched/fair.c 20 twenty 'sched/fair: Place twenty'
	series || return
	same "$(grep -v '^#' "$W/patches/series" | xargs)" \
		"common/0001-docs-Say-five.patch pv-idle/0001-sched-idle-Poll-thirty.patch kvm/0001-KVM-Yield-ten.patch kvm/0002-KVM-Yield-forty.patch sched/0001-sched-fair-Place-twenty.patch"
}
check "commits become patches in the topics that their files belong to" first_series

cover() {
	local c=$W/patches/0000-cover-letter.txt
	grep -q '^Subject: \[PATCH 00/05\] ' "$c" && grep -q '^  KVM: Yield ten$' "$c" &&
		grep -q '^ 4 files changed, 5 insertions(+), 5 deletions(-)$' "$c" &&
		grep -qxF "$(sed -n 3p "$W/patches/cover.txt")" "$c"
}
check "the cover letter has our text, the shortlog and the diffstat" cover

round_trip() {
	local before
	before=$(sums)
	rm -rf "$W/build"
	tree && series || return
	same "$(sums)" "$before"
}
check "tree and series give the same bytes back" round_trip

like_am() {
	rm -rf "$TMP/am"
	git clone -q "$LINUX" "$TMP/am" &&
	(cd "$W/patches" && grep -v '^#' series | grep . | xargs realpath) |
		GIT_COMMITTER_NAME='vcpu-sched project' GIT_COMMITTER_EMAIL=vcpu-sched@example.org xargs git -C "$TMP/am" am -q --committer-date-is-author-date || return
	same "$(git -C "$T" rev-parse HEAD)" "$(git -C "$TMP/am" rev-parse HEAD)"
}
check "the commits are the very ones that git am makes" like_am

idle_run() {
	local before
	before=$(cd "$T" && find . -path ./.git -prune -o -type f -printf '%p %T@\n' | sort)
	tree > "$TMP/out" || return
	grep 'is up to date' "$TMP/out" && same "$(cd "$T" && find . -path ./.git -prune -o -type f -printf '%p %T@\n' | sort)" "$before"
}
check "make tree does nothing when nothing changed" idle_run

caller_untouched() {
	same "$(git -C "$LINUX" for-each-ref; git -C "$LINUX" status --porcelain; ls "$LINUX/.git")" "$KERNEL_BEFORE"
}
KERNEL_BEFORE=$(git -C "$LINUX" for-each-ref; git -C "$LINUX" status --porcelain; ls "$LINUX/.git")
tree > /dev/null 2>&1
check "the caller's kernel repository is only read" caller_untouched

# spoil FILE LINE: the base changes there.
spoil() {
	sed -i "$2s/.*/changed upstream/" "$LINUX/$1"
	git -C "$LINUX" commit -q -a -m 'Upstream change'
}
unspoil() { git -C "$LINUX" reset -q --hard HEAD~1; }

names_patch() {
	local rc=0 head
	head=$(git -C "$T" rev-parse HEAD)
	spoil virt/kvm/kvm_main.c 40
	refused "patches/kvm/0002-KVM-Yield-forty.patch does not apply" tree &&
		refused "virt/kvm/kvm_main.c, hunk 1 (at line 37)" tree || rc=1
	same "$(git -C "$T" rev-parse HEAD)" "$head" || rc=1
	unspoil
	return $rc
}
check "a patch that does not apply: its name, file and hunk; the tree stays as it was" names_patch
after_failure() { tree && same "$(git -C "$T" status --porcelain)" ""; }
check "the run after that is a normal one" after_failure

second_hunk() {
	local rc=0
	sed -i 's/^line 2$/two/; s/^line 50$/fifty/' "$T/kernel/sched/fair.c"
	git -C "$T" commit -q -a -m 'sched/fair: Two hunks'
	series > /dev/null || return
	spoil kernel/sched/fair.c 51
	refused "patches/sched/0002-sched-fair-Two-hunks.patch does not apply" tree &&
		refused "kernel/sched/fair.c, hunk 2 (at line 47)" tree || rc=1
	unspoil
	return $rc
}
check "of two hunks it names the one" second_hunk

offset() {
	local rc=0
	sed -i '1i new first line' "$LINUX/virt/kvm/kvm_main.c"
	git -C "$LINUX" commit -q -a -m 'Upstream grows'
	STRICT=1 refused "only with an offset: virt/kvm/kvm_main.c, hunk 1, offset 1" tree || rc=1
	tree > "$TMP/out" || rc=1
	grep 'apply with an offset' "$TMP/out" || rc=1
	series && STRICT=1 FORCE=1 tree || rc=1
	git -C "$LINUX" reset -q --hard HEAD~1
	tree && series || rc=1
	return $rc
}
check "an offset is told, refused with STRICT=1, and gone after make series" offset

edit() {
	local before after
	before=$(sums)
	sed -i '32s/.*/thirty-two/' "$T/kernel/sched/idle.c"
	git -C "$T" commit -q -a --fixup :/'sched.idle: Poll thirty' &&
	refused "fixup! sched/idle: Poll thirty" series &&
	GIT_SEQUENCE_EDITOR=true git -C "$T" rebase -q -i --autosquash base || return
	series > "$TMP/out" || return
	after=$(sums)
	same "$(diff <(echo "$before") <(echo "$after") | sed -n 's/^> [0-9a-f]* *//p' | xargs)" "./0000-cover-letter.txt ./pv-idle/0001-sched-idle-Poll-thirty.patch" &&
		grep -qx '+thirty-two' "$W/patches/pv-idle/0001-sched-idle-Poll-thirty.patch" && grep 'is up to date' < <(tree)
}
check "an edited commit changes its patch (and the cover letter), nothing else" edit

reword() {
	git -C "$T" commit -q --amend -m 'sched/fair: Three hunks' && series &&
		[ -e "$W/patches/sched/0002-sched-fair-Three-hunks.patch" ] && [ ! -e "$W/patches/sched/0002-sched-fair-Two-hunks.patch" ]
}
check "a reworded commit renames its patch within its topic" reword

moved() {
	mkdir -p "$W/patches/integration" &&
	mv "$W/patches/sched/0002-sched-fair-Three-hunks.patch" "$W/patches/integration/0001-sched-fair-Three-hunks.patch" &&
	(cd "$W" && scripts/series.sh index) && tree && series &&
		[ -e "$W/patches/integration/0001-sched-fair-Three-hunks.patch" ]
}
check "a patch moved to another topic stays there" moved

# Work that patches/ does not have.
work() { change "$T" kernel/sched/fair.c 25 "$1" "sched/fair: $1"; }
kept() { tree > "$TMP/out" && grep 'stays as it is' "$TMP/out" && grep -qx mine "$T/kernel/sched/fair.c"; }
work mine
check "a developer's commit is kept" kept
both() {
	local rc=0
	spoil Documentation/index.rst 50
	refused "'make series FORCE=1' keeps yours" tree && grep -qx mine "$T/kernel/sched/fair.c" || rc=1
	unspoil
	return $rc
}
check "also when the base changed: refused, with what to do" both
forced() {
	FORCE=1 tree && ! grep -qx mine "$T/kernel/sched/fair.c" && git -C "$T" show thrown-away:kernel/sched/fair.c | grep -qx mine
}
check "FORCE=1 throws it away, to a branch" forced
dirty() {
	echo scribble >> "$T/kernel/sched/fair.c"
	refused "edits that are in no commit" series && tree && grep -qx scribble "$T/kernel/sched/fair.c" &&
		FORCE=1 tree && ! grep -x scribble "$T/kernel/sched/fair.c"
}
check "edits in no commit: series refuses, tree keeps them" dirty
untracked() {
	echo new > "$T/kernel/new.c"
	tree > /dev/null && [ -e "$T/kernel/new.c" ] && FORCE=1 tree && [ ! -e "$T/kernel/new.c" ]
}
check "a new file is work, too" untracked
merge() {
	git -C "$T" checkout -q -b side base && change "$T" kernel/sched/idle.c 1 side side &&
	git -C "$T" checkout -q vcpu-sched && git -C "$T" merge -q --no-edit side && refused "has a merge" series || return
	FORCE=1 tree
}
check "a merge is no series" merge

theirs() {
	work series-mine && echo >> "$W/patches/kvm/0001-KVM-Yield-ten.patch" || return
	refused "patches/ changed since build/linux was laid" series && FORCE=1 series && tree
}
check "make series does not overwrite what changed in patches/ meanwhile" theirs

unlisted() {
	touch "$W/patches/kvm/0009-extra.patch"
	refused "patches/kvm/0009-extra.patch is not in patches/series" tree || return
	rm "$W/patches/kvm/0009-extra.patch"
	sed -i '$a kvm/0008-lost.patch' "$W/patches/series"
	refused "patches/series names kvm/0008-lost.patch" tree || return
	sed -i '$d' "$W/patches/series"
	tree
}
check "a patch missing in series, or in the folder, is told" unlisted

interrupted() {
	# As a kill in the middle of the checkout leaves it: our mark, a lock, half of the files.
	touch "$W/build/.laying" "$T/.git/index.lock" "$T/leftover.c"
	rm "$T/kernel/sched/fair.c"
	tree && [ -e "$T/kernel/sched/fair.c" ] && [ ! -e "$T/leftover.c" ] && same "$(git -C "$T" status --porcelain)" "" &&
		[ ! -e "$W/build/.laying" ]
}
check "the run after an interrupted one mends the tree" interrupted

topics() {
	TOPICS="common kvm" tree && same "$(git -C "$T-common-kvm" log --reverse --format=%s base..HEAD | xargs -d '\n')" \
		"docs: Say five KVM: Yield ten KVM: Yield forty"
}
check "TOPICS lays only these, in a tree of their own" topics
no_topic() { TOPICS=kvn refused "no such topic: kvn (there are: common pv-idle kvm sched integration)" tree; }
check "an unknown topic" no_topic
base_only() { BASE_ONLY=1 tree && same "$(git -C "$T-base" rev-parse HEAD)" "$(git -C "$LINUX" rev-parse HEAD)"; }
check "BASE_ONLY=1 lays the base alone" base_only

no_repo() { LINUX=$TMP refused "is not a git repository" tree; }
check "LINUX that is no repository" no_repo
no_rev() { LINUX_REV=nowhere refused "LINUX_REV=nowhere names no commit" tree; }
check "LINUX_REV that is no commit" no_rev
no_tree() { rm -rf "$T" && refused "there is no build/linux yet: 'make tree' first" series; }
check "make series without a tree" no_tree
disk() { VCPU_SCHED_NEED_GB=1000000 refused "GB needed: free some" tree; }
check "too little disk" disk

tap_end
