# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What every script here shares: where things are, how they speak, how they end.
# Source it first:  . "$(dirname "$0")/lib.sh"

# Mind with pipefail: the writer of "... | grep -q" or "... | head -n 1" may die of SIGPIPE and fail the pipeline.
set -euo pipefail
export LC_ALL=C
# git must look at the trees named here, whatever called us (a hook, say).
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$TOP/build
LOG=$BUILD/log
CACHE=${VCPU_SCHED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vcpu-sched}
ME=$(basename "$0" .sh)
# patches/ is written for the main base. Another one, BASE=6.12 say, has base/6.12.d for what must differ on it.
MAIN_BASE=7.3
BASE=${BASE:-$MAIN_BASE}
SUFFIX=
[ "$BASE" = "$MAIN_BASE" ] || SUFFIX=-$BASE

mkdir -p "$LOG" "$CACHE" || { echo "$ME: cannot write to $BUILD or $CACHE" >&2; exit 1; }
CACHE=$(cd "$CACHE" && pwd -P)

say() { printf '%s: %s\n' "$ME" "$*"; }

# The one clear line that a failure ends with: what is wrong, and what to do.
die() { printf '%s: error: %s\n' "$ME" "$*" >&2; exit 1; }

# rel PATH: the path as a message should name it.
rel() { printf '%s' "${1#"$TOP"/}"; }

# elapsed SECONDS: as m:ss.
elapsed() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# need_disk DIR: refuse to start what would fill the disk.
need_disk() {
	local want=${VCPU_SCHED_NEED_GB:-10} have
	have=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$have" -ge "$want" ] ||
		die "$have GB free on the disk of $1, $want GB needed: free some, or put the cache elsewhere with VCPU_SCHED_CACHE"
}

# lock_cache: one checkout at a time fills the cache; the lock goes with the process.
lock_cache() {
	exec 8> "$CACHE/lock"
	flock -n 8 || { say "waiting for another checkout to finish with the cache"; flock 8; }
}

# scratch: a temporary directory in the cache that goes away whatever happens; call under lock_cache.
# Sets SCRATCH. What a killed run left is removed here, too.
scratch() {
	rm -rf "$CACHE"/tmp.*
	SCRATCH=$(mktemp -d "$CACHE/tmp.XXXXXX")
	trap 'rm -rf "$SCRATCH"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# ---- the kernel trees -------------------------------------------------------------------------------------------

# Which tree a run is about: all topics (build/linux), some (TOPICS="common kvm"), or none (BASE_ONLY=1), on which base.
# Sets NAME, the suffix that tree and kernel directories have, and TREE.
choose_tree() {
	NAME=$SUFFIX
	if [ -n "${BASE_ONLY:-}" ]; then
		NAME=$NAME-base
	elif [ -n "${TOPICS:-}" ]; then
		# shellcheck disable=SC2086 # a list of words
		NAME=$NAME$(printf -- '-%s' ${TOPICS//,/ })
	fi
	TREE=$BUILD/linux$NAME
}

# kgit ARG...: git in $TREE, the same for everybody whatever their own configuration says.
kgit() { GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git -C "$TREE" "$@"; }

# What we remember about a laid tree is in its git configuration: base (commit), version (its name),
# origin (package or caller), head (the commit that laying it ended at) and key (what it was laid from).
remember() { kgit config "vcpu-sched.$1" "$2"; }
recall() { kgit config "vcpu-sched.$1" 2> /dev/null || true; }

# edited: does the tree hold work that laying it again would throw away?
edited() {
	[ "$(kgit rev-parse -q --verify HEAD)" != "$(recall head)" ] ||
		[ -n "$(kgit status --porcelain | head -n 1)" ] ||
		[ -e "$TREE/.git/rebase-merge" ] || [ -e "$TREE/.git/rebase-apply" ]
}

# topics: the names of the topic folders in the order of the series.
topics() { sed -n 's/^\([a-z][^ ]*\) *|.*/\1/p' "$TOP/patches/topics"; }

# series_files: the patches of this run in their order, as paths below patches/.
series_files() {
	local line
	[ -z "${BASE_ONLY:-}" ] || return 0
	while read -r line; do
		case $line in '' | '#'*) continue ;; esac
		if [ -z "${TOPICS:-}" ] || [[ " ${TOPICS//,/ } " == *" ${line%%/*} "* ]]; then
			echo "$line"
		fi
	done < "$TOP/patches/series"
}

# patch_file PATCH: where this base has it: in patches/, or the replacement for it.
patch_file() {
	local own=$TOP/base/$BASE.d/$1
	if [ -e "$own" ]; then echo "$own"; else echo "$TOP/patches/$1"; fi
}

# change_id PATCH: what it changes, in one word, wherever that is.
change_id() { kgit patch-id --stable < "$1" | cut -d ' ' -f 1; }

# replaces PATCH: the change_id of the original that this replacement was made from.
replaces() { sed -n 's/^X-Replaces: //p;/^$/q' "$1"; }

# tree_key COMMIT: what a tree on this base commit is made from, in one word.
tree_key() {
	local f patch
	{
		echo "$1"
		for f in $(series_files); do
			echo "$f"
			cat "$TOP/patches/$f"
			patch=$(patch_file "$f")
			[ "$patch" = "$TOP/patches/$f" ] || cat "$patch"
		done
	} | sha256sum | cut -d ' ' -f 1
}
