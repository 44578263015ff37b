#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each topic applies alone (after common/) to the base, since each goes to maintainers of its own; what they then merge
# is what the series says. git apply knows no fuzz. That topics compile alone is objects.sh's to see.

. "$(dirname "$0")/lib.sh"
need_tree

alone() {
	local out
	out=$(apply_topics common "$1") || complain "$out" || return
	echo "$out" > "$TMP/topic.$1"
}

# The offsets at which the series applies to the version that it was written for: there must be none.
offsets() {
	local f out
	GIT_INDEX_FILE=$TREE/.git/checks.index kgit read-tree "$REV" || return
	out=$(for f in $(series_files); do
		GIT_INDEX_FILE=$TREE/.git/checks.index kgit apply --cached -v --whitespace=nowarn "$PATCHES/$f" 2>&1 |
			grep 'offset' | sed "s,^,$f: ,"
	done)
	[ -z "$out" ] || complain "$out
(make series refreshes the patches)"
}

# Merging the topics one after the other gives what the series gives before integration/.
merged() {
	local t all tree merged commit=$REV out
	for t in "${APPLIED[@]}"; do
		out=$(kgit merge-tree --write-tree "$commit" "$(cat "$TMP/topic.$t")") || complain "merging $t: $out" || return
		tree=$out
		commit=$(kgit commit-tree -p "$commit" -p "$(cat "$TMP/topic.$t")" -m "merge $t" "$tree")
	done
	all=$(apply_topics common "${APPLIED[@]}") || complain "$all" || return
	merged=$(kgit diff --stat "$commit" "$all")
	[ -z "$merged" ] || complain "merging the topics does not give the series:
$merged"
}

written=$(sed -n 's/^written=//p' "$TOP/base/$BASE")
if [ "$VERSION" = "$written" ]; then
	check "topics: the series applies to $written without an offset" offsets
else
	skip "topics: no offsets" "the series was written for $written, this is $VERSION"
fi
APPLIED=()
for t in $(topics); do
	[ -n "$(TOPICS=$t series_files)" ] || continue
	case $t in
	common | integration) ;;
	*)
		check "topics: $t applies alone" alone "$t"
		APPLIED+=("$t") ;;
	esac
done
check "topics: merged, they are the series" merged
tap_end
