#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A base other than the main one: replacements, on a kernel small enough to try everything; then the series on each of
# the real ones that are in the cache. Nothing is downloaded, and no work tree of a real kernel is laid.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkout.sh"

CACHED=${VCPU_SCHED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vcpu-sched}
export VCPU_SCHED_CACHE=$TMP/cache VCPU_SCHED_NEED_GB=0
W=$TMP/checkout		# the checkout under test
D=$W/base/old.d		# replacements for its other base
T=$W/build/linux-old
checkout "$W"
rm -rf "$W"/patches/*/ "$W"/base/*.d "$W/build"
echo "# nothing yet" > "$W/patches/series"
small_kernel "$TMP/kernel"
git clone -q "$TMP/kernel" "$TMP/old"
sed -i '38s/.*/not yet changed/' "$TMP/old/virt/kvm/kvm_main.c"
sed -i '1i an older line' "$TMP/old/kernel/sched/idle.c"
git -C "$TMP/old" commit -q -a -m 'An older kernel'

new() { (cd "$W" && LINUX=$TMP/kernel "$@"); }
old() { (cd "$W" && BASE=old LINUX=$TMP/old "$@"); }
sums() { (cd "$W" && find patches base -type f -exec sha256sum {} + | sort -k 2); }

first_series() {
	new scripts/tree.sh || return
	change "$W/build/linux" kernel/sched/idle.c 30 thirty 'sched/idle: Poll thirty'
	change "$W/build/linux" virt/kvm/kvm_main.c 10 ten 'KVM: Yield ten'
	new scripts/series.sh && old scripts/tree.sh
}
check "a series that applies to both" first_series

needs_one() {
	change "$W/build/linux" virt/kvm/kvm_main.c 40 forty 'KVM: Yield forty'
	new scripts/series.sh &&
		refused "patches/kvm/0002-KVM-Yield-forty.patch does not apply to" old scripts/tree.sh &&
		refused "port it to base/old.d" old scripts/tree.sh
}
check "the patch that does not apply to another base is named" needs_one

# As README says: take the commit over; here git adapts it by itself.
port() {
	local before
	before=$(sums)
	git -C "$T" fetch -q ../linux vcpu-sched && git -C "$T" cherry-pick FETCH_HEAD > /dev/null || return
	refused "patches/ changed since build/linux-old was laid" old scripts/series.sh || return
	FORCE=1 old scripts/series.sh
	diff <(echo "$before") <(sums) > "$TMP/diff"
	same "$(sed -n 's/^[<>] [0-9a-f]* *//p' "$TMP/diff")" "base/old.d/kvm/0002-KVM-Yield-forty.patch"
}
check "make series writes one replacement, and patches/ is as it was" port

round_trip() {
	local before
	before=$(sums)
	rm -rf "$T"
	old scripts/tree.sh && git -C "$T" log --format=%s base..HEAD | grep -x 'KVM: Yield forty' &&
		grep -x 'not yet changed' "$T/virt/kvm/kvm_main.c" && old scripts/series.sh | grep 'nothing changed' && same "$(sums)" "$before"
}
check "tree takes it, and series gives the same bytes back" round_trip
quiet() { ! grep note < <(old scripts/tree.sh); }
check "patches/ at an offset is no news there" quiet
apart() { new scripts/tree.sh | grep 'build/linux is up to date'; }
check "the main base's tree is another one" apart

stray() {
	change "$T" kernel/sched/fair.c 3 three 'sched/fair: An afterthought'
	refused "the main base comes first" old scripts/series.sh || return
	git -C "$T" reset -q --hard HEAD~1
}
check "a commit that patches/ has not is refused" stray

stale() {
	sed -i 's/^forty$/41/' "$W/build/linux/virt/kvm/kvm_main.c"
	git -C "$W/build/linux" commit -q -a --amend --no-edit && new scripts/series.sh || return
	old scripts/tree.sh | grep 'have changed since: base/old.d/kvm/0002-KVM-Yield-forty.patch' || return
	old scripts/series.sh | grep 'nothing changed' && FORCE=1 old scripts/series.sh && rm -rf "$T" || return
	! grep note < <(old scripts/tree.sh)
}
check "an original that changed is told, until make series FORCE=1" stale

# An earlier commit brings what was missing: now that one differs, and the later one no longer does.
superfluous() {
	git -C "$T" fetch -q ../linux vcpu-sched && git -C "$T" checkout -q -B vcpu-sched base &&
		git -C "$T" cherry-pick FETCH_HEAD~2 FETCH_HEAD~1 > /dev/null || return
	sed -i 's/^not yet changed$/line 38/' "$T/virt/kvm/kvm_main.c"
	git -C "$T" commit -q -a --amend --no-edit && git -C "$T" cherry-pick FETCH_HEAD > /dev/null && old scripts/series.sh || return
	same "$(cd "$D" && find . -type f)" ./kvm/0001-KVM-Yield-ten.patch
}
check "a replacement that is not needed any more goes" superfluous

orphan() {
	mkdir -p "$D/kvm" && touch "$D/kvm/0009-Nothing.patch"
	refused "base/old.d/kvm/0009-Nothing.patch replaces nothing" old scripts/tree.sh
}
check "a replacement without an original is told" orphan

# The real ones, in an index alone. For kgit and what is in scripts/lib.sh:
real() {
	local -x VCPU_SCHED_CACHE=$CACHED
	. "$TOP/scripts/lib.sh"
	set +e
	TREE=$TMP/index-$BASE
	git init -q --bare "$TREE" && echo "$CACHED/base/$BASE/linux.git/objects" > "$TREE/objects/info/alternates"
}

# apply PATCH: to the index, printing why not.
apply() { kgit apply --cached --whitespace=nowarn "$1" 2>&1; }

applies() {
	local -x GIT_INDEX_FILE=$TREE/index TOPICS=$1
	kgit read-tree "$REV" || return
	for f in $(series_files); do
		apply "$(patch_file "$f")" || { echo "$f does not apply"; return 1; }
	done
}

needed() {
	local -x GIT_INDEX_FILE=$TREE/index
	local was f patch rc=0
	kgit read-tree "$REV" || return
	for f in $(series_files); do
		patch=$(patch_file "$f")
		if [ "$patch" != "$TOP/patches/$f" ]; then
			[ "$(replaces "$patch")" = "$(change_id "$TOP/patches/$f")" ] || { echo "the original of $patch has changed"; rc=1; }
			was=$(kgit write-tree)
			if apply "$TOP/patches/$f" > /dev/null; then
				other=$(kgit write-tree)
			else
				other=
			fi
			kgit read-tree "$was"
		fi
		apply "$patch" || return
		if [ "$patch" != "$TOP/patches/$f" ] && [ "$(kgit write-tree)" = "$other" ]; then
			echo "$f would do without $patch"
			rc=1
		fi
	done
	return $rc
}

for dir in "$TOP"/base/*.d; do
	BASE=$(basename "$dir" .d)
	if ! REV=$(git --git-dir="$CACHED/base/$BASE/linux.git" rev-parse -q --verify current 2> /dev/null); then
		skip "the series on $BASE" "it is not in the cache: BASE=$BASE make tree"
		continue
	fi
	real
	check "$BASE: the series applies" applies ''
	for topic in $(topics); do
		case $topic in common | integration) continue ;; esac
		check "$BASE: $topic applies alone" applies "common $topic"
	done
	check "$BASE: each replacement is needed, and made from its original as it is" needed
done

tap_end
