#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Write patches/ from the commits in build/linux: one file per commit in its topic's folder, patches/series (for
# quilt), the cover letter (patches/cover.txt, shortlog, diffstat), and in base/* the version that it was written for.
# Nothing changed, nothing written: not a byte.
#
#   series.sh         the above
#   series.sh index   only patches/series, from the files that lie in the topic folders
#
# The topic of a commit is that of the patch with the same subject, or else of the same change, in patches/ so far;
# a new one goes where patches/topics says. To move a patch, git mv it and run `series.sh index && make tree`.
# On another base (BASE=6.12) patches/ is only read: base/6.12.d gets a replacement for each commit that the patch of the
# same name does not give there, with the change_id of that patch in its head; replacements that are not needed go.
#
# FORCE=1: even if patches/ changed since $tree was laid (those changes are then lost); on
# another base: the replacements are up to date with their originals as these are now.

. "$(dirname "$0")/lib.sh"
unset TOPICS BASE_ONLY
choose_tree

# about TOPIC: its description. patterns TOPIC: the files that belong to it.
about() { sed -n "s/^$1 *| *\([^|]*[^| ]\) *|.*/\1/p" "$TOP/patches/topics"; }
patterns() { sed -n "s/^$1 *|[^|]*| *//p" "$TOP/patches/topics"; }

# series: a series file for the patches listed on standard input.
series() {
	local f last=
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	echo "# Written by make series. The order of the full series, for quilt; each topic is a folder."
	while read -r f; do
		if [ "${f%%/*}" != "$last" ]; then
			last=${f%%/*}
			printf '\n# %s: %s\n' "$last" "$(about "$last")"
		fi
		echo "$f"
	done
}

# by_files COMMIT: the topic that the files of a new commit belong to.
by_files() {
	local path topic glob found=
	while read -r path; do
		for topic in $(topics); do
			set -f
			for glob in $(patterns "$topic"); do
				# shellcheck disable=SC2053 # a pattern
				if [[ $path == $glob ]]; then
					[[ " $found " == *" $topic "* ]] || found="$found $topic"
					continue 3
				fi
			done
			set +f
		done
	done < <(kgit diff-tree --no-commit-id --name-only -r "$1")
	set +f
	# shellcheck disable=SC2086 # a list of words
	set -- $found
	case $# in
	0) topics | sed -n 1p ;;
	1) echo "$1" ;;
	*) topics | tail -n 1 ;;
	esac
}

# replace NEW FILE: if they differ.
replace() {
	cmp -s "$1" "$2" && return
	mkdir -p "$(dirname "$2")"
	mv "$1" "$2"
	CHANGED="$CHANGED $(rel "$2")"
}

# written: patches/ and the tree are the same now.
written() {
	if [ "$(recall origin)" = package ]; then
		sed "s/^written=.*/written=$(recall version)/" "$TOP/base/$BASE" > "$OUT/base"
		replace "$OUT/base" "$TOP/base/$BASE"
	fi
	remember head "$(kgit rev-parse HEAD)"
	remember key "$(tree_key "$base")"
	if [ -n "$CHANGED" ]; then
		say "$n patches; changed:$CHANGED"
	else
		say "$n patches; nothing changed"
	fi
}

# as_original COMMIT PATCH: does the patch make this commit of its parent?
as_original() {
	local -x GIT_INDEX_FILE=$OUT/index
	kgit read-tree "$1^"
	kgit apply --cached --whitespace=nowarn "$TOP/patches/$2" 2> /dev/null && [ "$(kgit write-tree)" = "$(kgit rev-parse "$1^{tree}")" ]
}

# replacements: write them for the commits of another base, which are those of patches/ in this order.
replacements() {
	local dir=$TOP/base/$BASE.d commits f i lost
	lost=$(diff <(series_files) <(printf '%s\n' "${list[@]}") | sed -n '/^[<>]/{p;q}') || true
	[ -z "$lost" ] || die "$tree must have the commits of patches/, in that order and by these subjects (not so: ${lost:2}): 'make series' on the main base comes first"
	mapfile -t commits < <(kgit rev-list --reverse "$base..HEAD")
	for i in "${!list[@]}"; do
		f=${list[i]}
		if as_original "${commits[i]}" "$f"; then
			rm "$OUT/$f"
		else
			sed -i "0,/^Subject: /s//X-Replaces: $(change_id "$TOP/patches/$f")\n&/" "$OUT/$f"
		fi
	done
	trap '' INT TERM HUP
	for f in "${list[@]}"; do
		if [ ! -e "$OUT/$f" ]; then
			[ ! -e "$dir/$f" ] || { rm "$dir/$f"; CHANGED="$CHANGED $(rel "$dir/$f")"; }
		elif [ -n "${FORCE:-}" ] || [ ! -e "$dir/$f" ] || ! cmp -s <(grep -v '^X-Replaces: ' "$OUT/$f") <(grep -v '^X-Replaces: ' "$dir/$f"); then
			replace "$OUT/$f" "$dir/$f"
		fi
	done
	written
}

OUT=$BUILD/series.tmp
rm -rf "$OUT"
mkdir -p "$OUT"
trap 'rm -rf "$OUT"' EXIT
CHANGED=

if [ "${1:-}" = index ]; then
	for t in $(topics); do
		(cd "$TOP/patches" && printf '%s\n' "$t"/*.patch)
	done | { grep -v '/\*' || true; } | series > "$OUT/series"
	replace "$OUT/series" "$TOP/patches/series"
	say "patches/series lists $(series_files | wc -l) patches"
	exit
fi

tree=$(rel "$TREE")
[ -e "$TREE/.git" ] || die "there is no $tree yet: 'make tree' first"
[ ! -e "$BUILD/.laying$NAME" ] || die "$tree is half laid: 'make tree' first"
if [ -e "$TREE/.git/rebase-merge" ] || [ -e "$TREE/.git/rebase-apply" ]; then
	die "a rebase or am is under way in $tree: finish it first"
fi
[ -z "$(kgit status --porcelain | head -n 1)" ] ||
	die "$tree has edits that are in no commit: commit them there first ('git commit --fixup=...', 'git rebase -i --autosquash base')"
base=$(recall base)
[ "$(kgit merge-base "$base" HEAD)" = "$base" ] || die "HEAD of $tree does not descend from its branch base: rebase it there first"
[ -z "$(kgit rev-list --merges "$base..HEAD" | head -n 1)" ] || die "$tree has a merge: a series is linear, so rebase it there first"
s=$(kgit log --format=%s "$base..HEAD" | sed -n -E '/^(fixup|squash|amend)! /p' | tail -n 1)
if [ -n "$s" ]; then
	die "$tree still has the commit '$s': 'git rebase -i --autosquash base' there first"
fi
[ -n "${FORCE:-}" ] || [ "$(recall key)" = "$(tree_key "$base")" ] ||
	die "patches/ changed since $tree was laid: 'make tree' takes the change over, 'make series FORCE=1' overwrites it"

# What is where so far.
declare -A by_subject by_id
for f in "$TOP"/patches/*/*.patch; do
	[ -e "$f" ] || continue
	t=$(basename "$(dirname "$f")")
	by_subject[$(kgit mailinfo -b --encoding=UTF-8 /dev/null /dev/null < "$f" | sed -n 's/^Subject: //p')]=$t
	id=$(kgit patch-id --stable < "$f")
	by_id[${id%% *}]=$t
done

declare -A count
list=()
for c in $(kgit rev-list --reverse "$base..HEAD"); do
	subject=$(kgit log -1 --format=%s "$c")
	topic=${by_subject[$subject]:-}
	if [ -z "$topic" ]; then
		id=$(kgit show "$c" | kgit patch-id --stable)
		topic=${by_id[${id%% *}]:-}
		if [ -z "$topic" ]; then
			topic=$(by_files "$c")
			say "new: '$subject' goes to $topic/"
		fi
	fi
	count[$topic]=$((${count[$topic]:-0} + 1))
	mkdir -p "$OUT/$topic"
	f=$(kgit format-patch --full-index --no-signature --zero-commit -N --start-number "${count[$topic]}" -o "$OUT/$topic" -1 "$c")
	list+=("$topic/$(basename "$f")")
done
n=${#list[@]}
if [ "$BASE" != "$MAIN_BASE" ]; then
	replacements
	exit
fi
printf '%s\n' "${list[@]}" | { grep . || true; } | series > "$OUT/series"
{
	printf 'From: vcpu-sched project <vcpu-sched@example.org>\nSubject: [PATCH 00/%02d] ' "$n"
	sed "s/@BASE@/$(recall version)/" "$TOP/patches/cover.txt"
	if [ "$n" -gt 0 ]; then
		echo
		kgit shortlog -w72,2,4 "$base..HEAD"
		kgit diff --stat=72 --summary "$base" HEAD
	fi
} > "$OUT/cover"

# From here on patches/ changes; that takes no time, so it is not interrupted.
trap '' INT TERM HUP
for f in "${list[@]}"; do
	replace "$OUT/$f" "$TOP/patches/$f"
done
for f in "$TOP"/patches/*/*.patch; do
	if [ -e "$f" ] && [[ " ${list[*]} " != *" ${f#"$TOP"/patches/} "* ]]; then
		rm "$f"
		CHANGED="$CHANGED $(rel "$f")"
	fi
done
replace "$OUT/series" "$TOP/patches/series"
replace "$OUT/cover" "$TOP/patches/0000-cover-letter.txt"
written
