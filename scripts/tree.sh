#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Lay a kernel work tree: the base and one commit per patch, on the branch vcpu-sched (the base is branch "base").
#
#   BASE=6.12                     on that base, with the replacements in base/6.12.d, in build/linux-6.12
#   LINUX=PATH LINUX_REV=COMMIT   on this commit (HEAD) of a kernel repository of yours; it is only read
#   TOPICS="common kvm"           only these topics, in build/linux-common-kvm
#   BASE_ONLY=1                   no patch at all, in build/linux-base
#   STRICT=1                      a hunk that applies with an offset is an error, too
#   FORCE=1                       throw away what was edited in the tree
#
# The commits are those that `git am --committer-date-is-author-date` makes (a test compares them), but they are made
# in an index of their own: until all patches have applied the work tree is not touched, and then only the files that
# differ are, so that the next kernel build compiles no more than it must.

. "$(dirname "$0")/lib.sh"
choose_tree

# The repository and commit to start from. Sets OBJECTS, REV, VERSION and ORIGIN.
choose_base() {
	local repo
	ORIGIN=package
	if [ -n "${LINUX:-}" ]; then
		ORIGIN=caller
		git -C "$LINUX" rev-parse -q --git-dir > /dev/null 2>&1 ||
			die "LINUX=$LINUX is not a git repository that git will read: $(git -C "$LINUX" rev-parse --git-dir 2>&1 | head -n 1)"
		repo=$(cd "$LINUX" && realpath "$(git rev-parse --git-common-dir)")
		REV=$(git -C "$LINUX" rev-parse -q --verify "${LINUX_REV:-HEAD}^{commit}") ||
			die "LINUX_REV=${LINUX_REV:-HEAD} names no commit in $LINUX"
		git -C "$LINUX" cat-file -e "$REV:kernel/sched/fair.c" 2> /dev/null ||
			die "LINUX=$LINUX: ${LINUX_REV:-HEAD} is no kernel source, it has no kernel/sched/fair.c"
		VERSION=$(git -C "$LINUX" describe --tags --always "$REV" 2> /dev/null || echo "$REV")
	else
		repo=$CACHE/base/$BASE/linux.git
		[ -d "$repo" ] || die "no kernel source in the cache: run 'make tree', which fetches it first"
		REV=$(git --git-dir="$repo" rev-parse -q --verify 'current^{commit}')
		VERSION=$(git --git-dir="$repo" config vcpu-sched.version)
	fi
	OBJECTS=$repo/objects
}

# hunk_at PATCH FILE LINE: the number of the hunk of FILE in PATCH that starts at LINE of the old file.
hunk_at() {
	awk -v f="$2" -v l="$3" '
		/^--- / || /^\+\+\+ / { sub(/^[^ ]* [ab]\//, ""); sub(/\t.*/, ""); if ($0 != "/dev/null") cur = $0; n = 0; next }
		/^@@ -/ { n++; split($2, a, ","); if (cur == f && -a[1] == l) { print n; exit } }' "$1"
}

# apply PATCH: to the index in GIT_INDEX_FILE; no fuzz (git knows none), and offsets are told.
apply() {
	local out file line hunk patch name hint=
	patch=$(patch_file "$1")
	name=$(rel "$patch")
	if out=$(kgit apply --cached -v --whitespace=nowarn "$patch" 2>&1); then
		# On another base patches/ has its offsets, as it should.
		[ "$BASE" = "$MAIN_BASE" ] || [ "$patch" != "$TOP/patches/$1" ] || return 0
		out=$(awk '/^Checking patch / { sub(/\.\.\.$/, "", $3); file = $3 }
			/^Hunk #.*\(offset / { hunk = substr($2, 2); gsub(/.*\(|\).*/, ""); print file ", hunk " hunk ", " $0 }' <<< "$out")
		[ -n "$out" ] || return 0
		echo "$name: $out" >> "$TREELOG"
		[ -z "${STRICT:-}" ] ||
			die "$name applies to $VERSION only with an offset: $(head -n 1 <<< "$out"): 'make tree && make series' refreshes it"
		OFFSETS=$((OFFSETS + 1))
		return 0
	fi
	echo "$out" >> "$TREELOG"
	[ "$BASE" = "$MAIN_BASE" ] || hint="; port it to base/$BASE.d (README, Bases)"
	IFS=: read -r file line < <(sed -n 's/^error: patch failed: //p' <<< "$out") || true
	if [ -n "${line:-}" ]; then
		hunk=$(hunk_at "$patch" "$file" "$line")
		die "$name does not apply to $VERSION: $file, hunk ${hunk:-?} (at line $line) (details: $(rel "$TREELOG"))$hint"
	fi
	die "$name does not apply to $VERSION: $(sed -n 's/^error: //p' <<< "$out" | head -n 1) (details: $(rel "$TREELOG"))$hint"
}

# commit PATCH PARENT: of the index, with the patch's own author, date and message; prints the commit.
commit() {
	local info msg=$TREE/.git/vcpu-sched.msg
	info=$(kgit mailinfo -b --encoding=UTF-8 "$msg.body" "$msg.patch" < "$(patch_file "$1")")
	field() { sed -n "s/^$1: //p" <<< "$info"; }
	{ field Subject; echo; cat "$msg.body"; } | kgit stripspace > "$msg"
	GIT_AUTHOR_NAME=$(field Author) GIT_AUTHOR_EMAIL=$(field Email) GIT_AUTHOR_DATE=$(field Date) \
	GIT_COMMITTER_NAME='vcpu-sched project' GIT_COMMITTER_EMAIL=vcpu-sched@example.org GIT_COMMITTER_DATE=$(field Date) \
		kgit commit-tree -p "$2" -F "$msg" "$(kgit write-tree)"
	rm -f "$msg" "$msg.body" "$msg.patch"
}

TREELOG=$LOG/tree$NAME.log
: > "$TREELOG"
LAYING=$BUILD/.laying$NAME	# exists while the work tree is being changed by us
OFFSETS=0
STALE=

if [ -n "${TOPICS:-}" ]; then
	for t in ${TOPICS//,/ }; do
		[[ " $(topics | xargs) " == *" $t "* ]] || die "no such topic: $t (there are: $(topics | xargs))"
	done
fi
[ -e "$TOP/patches/series" ] || die "patches/series is missing"
for f in $(series_files); do
	[ -e "$TOP/patches/$f" ] || die "patches/series names $f, which does not exist"
done
for f in "$TOP"/patches/*/*.patch; do
	[ -e "$f" ] || continue
	grep -qxF "${f#"$TOP"/patches/}" "$TOP/patches/series" || die "$(rel "$f") is not in patches/series: add it, or run 'scripts/series.sh index'"
done
for f in "$TOP/base/$BASE.d"/*/*.patch; do
	[ -e "$f" ] || continue
	[ -e "$TOP/patches/${f#"$TOP/base/$BASE.d/"}" ] || die "$(rel "$f") replaces nothing: rename or remove it as its original in patches/ was"
done

choose_base
key=$(tree_key "$REV")
if [ -e "$TREE/.git" ] && [ ! -e "$LAYING" ]; then
	if edited; then
		if [ -n "${FORCE:-}" ]; then
			kgit branch -f thrown-away HEAD
			say "$(rel "$TREE"): throwing away what was edited there (commits stay on its branch thrown-away)"
			touch "$LAYING"
		elif [ "$(recall key)" = "$key" ]; then
			say "$(rel "$TREE") holds work of yours and stays as it is ('make series' writes its commits to patches/)"
			exit 0
		else
			die "$(rel "$TREE") holds work of yours, and the base or patches/ changed since: 'make series FORCE=1' keeps yours, 'make tree FORCE=1' throws it away"
		fi
	elif [ "$(recall key)" = "$key" ]; then
		say "$(rel "$TREE") is up to date: $VERSION and $(series_files | wc -l) patches"
		exit 0
	fi
fi

if [ ! -e "$TREE/.git" ] || [ -e "$LAYING" ]; then
	need_disk "$BUILD"
fi
[ -e "$TREE/.git" ] || { touch "$LAYING"; git init -q -b vcpu-sched "$TREE"; }
kgit config gc.auto 0
kgit config core.autocrlf false
# Objects are borrowed, as `git clone --shared` does, from every repository that a base ever came from.
grep -qxF "$OBJECTS" "$TREE/.git/objects/info/alternates" 2> /dev/null || echo "$OBJECTS" >> "$TREE/.git/objects/info/alternates"
[ ! -e "${OBJECTS%/objects}/shallow" ] || cp "${OBJECTS%/objects}/shallow" "$TREE/.git/shallow"

export GIT_INDEX_FILE=$TREE/.git/vcpu-sched.index
trap 'rm -f "$TREE"/.git/vcpu-sched.*' EXIT
kgit read-tree "$REV"
head=$REV
n=0
for f in $(series_files); do
	apply "$f"
	patch=$(patch_file "$f")
	[ "$patch" = "$TOP/patches/$f" ] || [ "$(replaces "$patch")" = "$(change_id "$TOP/patches/$f")" ] || STALE="$STALE $(rel "$patch")"
	head=$(commit "$f" "$head")
	n=$((n + 1))
done

unset GIT_INDEX_FILE

new=
[ ! -e "$LAYING" ] || new=1
touch "$LAYING"
if [ -n "$new" ]; then
	rm -rf "$TREE"/.git/{index.lock,HEAD.lock,rebase-merge,rebase-apply}
	kgit checkout -q -f -B vcpu-sched "$head"
	kgit clean -q -fd
else
	kgit checkout -q -B vcpu-sched "$head"
fi
kgit update-ref refs/heads/base "$REV"
remember base "$REV"
remember version "$VERSION"
remember origin "$ORIGIN"
remember head "$head"
remember key "$key"
rm -f "$LAYING"
[ -z "$STALE" ] || say "note: the originals of these replacements have changed since:$STALE; take that over, then 'make series FORCE=1'"
[ "$OFFSETS" -eq 0 ] || say "note: $OFFSETS of the patches apply with an offset ($(rel "$TREELOG")); 'make series' refreshes them"
say "$(rel "$TREE"): $VERSION and $n patches, branch vcpu-sched"
