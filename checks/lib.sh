# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the checks of the series: what is in patches/, as commits of a kernel tree. Source it first.
#
# The tree is build/checks/linux (CHECKS_DIR moves build/checks), a sparse work tree of its own: what the kernel's
# scripts and our compilations read, not the drivers. It is laid by git am from patches/ alone, so that the checks
# are about the product, whatever a developer has in build/linux.
#
# QUICK=1 leaves out what takes long; what is left out is said (make test sets it, make check does not).

unset BASE	# patches/ is what is sent, not its replacements for another base
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"
set +e +o pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../tests/tap.sh"

unset TOPICS BASE_ONLY
PATCHES=$TOP/patches
WORK=${CHECKS_DIR:-$BUILD/checks}
TREE=$WORK/linux
SERIES=$WORK/series		# one line per patch: commit, parent, name below patches/
# shellcheck disable=SC2034 # used by the checks
AUTHOR='vcpu-sched project <vcpu-sched@example.org>'
export GIT_AUTHOR_NAME='vcpu-sched project' GIT_AUTHOR_EMAIL=vcpu-sched@example.org
export GIT_COMMITTER_NAME='vcpu-sched project' GIT_COMMITTER_EMAIL=vcpu-sched@example.org
export PYTHONDONTWRITEBYTECODE=1 PERL_HASH_SEED=0

# find_base: where the base commit is. Sets OBJECTS, REV and VERSION.
# shellcheck disable=SC2034 # used by the checks
find_base() {
	local repo
	if [ -n "${LINUX:-}" ]; then
		repo=$(cd "$LINUX" && realpath "$(git rev-parse --git-common-dir)") &&
			REV=$(git -C "$LINUX" rev-parse -q --verify "${LINUX_REV:-HEAD}^{commit}") || return
		VERSION=$(git -C "$LINUX" config vcpu-sched.version || echo "$REV")
	elif [ -e "$BUILD/linux/.git" ] && REV=$(git -C "$BUILD/linux" config vcpu-sched.base); then
		repo=$BUILD/linux/.git
		VERSION=$(git -C "$BUILD/linux" config vcpu-sched.version)
	else
		repo=$CACHE/base/$BASE/linux.git
		[ -d "$repo" ] || "$TOP/scripts/fetch.sh" base || return
		REV=$(git --git-dir="$repo" rev-parse -q --verify 'current^{commit}') || return
		VERSION=$(git --git-dir="$repo" config vcpu-sched.version)
	fi
	OBJECTS=$repo/objects
	[ ! -s "$repo/shallow" ] || cp "$repo/shallow" "$TREE/.git/shallow"
}

# What of the kernel's files the checks need: everything but the bulk, and of that what kbuild and Kconfig read.
sparse_patterns() {
	echo '/*'
	printf '!/%s/\n' drivers sound fs net Documentation tools samples rust crypto security block mm 'arch/*'
	printf '/%s\n' arch/{x86,um,arm64,s390,powerpc,riscv,loongarch} tools/{objtool,bpf/resolve_btfids,arch,lib,include,build,scripts,docs,bootconfig} \
		tools/testing/selftests/{sched,kvm} drivers/cpuidle \
		Documentation/{admin-guide,process,scheduler,virt,dev-tools,sphinx,sphinx-static,conf.py,Makefile,index.rst}
	printf '%s\n' 'Kconfig*' 'Makefile*' Kbuild 'Build'
	kgit diff-tree -r --no-commit-id --name-only --no-renames "$REV" "$1" | sed 's,^,/,'
}

# lay: the tree and SERIES, if they are not what patches/ says. Its output names the patch that does not apply.
lay() {
	local key f commit last changed=
	key=$({ tree_key "$REV"; cat "$TOP/checks/lib.sh"; } | sha256sum)
	if [ "$(kgit config checks.key)" = "$key" ] && [ "$(kgit rev-parse HEAD)" = "$(tail -n 1 "$SERIES" | cut -d ' ' -f 1)" ] &&
	   [ -z "$(kgit status --porcelain -uno | head -n 1)" ]; then
		return 0
	fi
	kgit config --unset checks.key
	kgit config gc.auto 0
	kgit config core.sparseCheckout true
	kgit config core.autocrlf false
	grep -qsxF "$OBJECTS" "$TREE/.git/objects/info/alternates" || echo "$OBJECTS" >> "$TREE/.git/objects/info/alternates"
	rm -rf "$TREE"/.git/{index.lock,rebase-apply}
	# First in an index alone: what touches files should touch only those that differ, for the sake of make.
	last=$REV
	: > "$SERIES.new"
	GIT_INDEX_FILE=$TREE/.git/checks.index kgit read-tree "$REV" || return
	for f in $(series_files); do
		commit=$(apply_patch "$f" "$last") || { printf '%s\n' "$commit"; return 1; }
		echo "$commit $last $f" >> "$SERIES.new"
		last=$commit
	done
	sparse_patterns "$last" > "$TREE/.git/checks.sparse"
	cmp -s "$TREE/.git/checks.sparse" "$TREE/.git/info/sparse-checkout" || changed=1
	cp "$TREE/.git/checks.sparse" "$TREE/.git/info/sparse-checkout"
	kgit checkout -q -f --detach "$last" && kgit update-ref refs/heads/base "$REV" || return
	[ -z "$changed" ] || kgit read-tree -m -u HEAD || return
	mv "$SERIES.new" "$SERIES"
	kgit config checks.key "$key"
}

# apply_patch PATCH PARENT: prints the commit, or why there is none.
apply_patch() {
	local dir=$TREE/.git/checks.mail out info
	local -x GIT_INDEX_FILE=$TREE/.git/checks.index
	out=$(kgit apply --cached --whitespace=nowarn "$PATCHES/$1" 2>&1) || { printf 'patches/%s does not apply: %s\n' "$1" "$out"; return 1; }
	info=$(kgit mailinfo -b --encoding=UTF-8 "$dir.body" "$dir.patch" < "$PATCHES/$1") || { echo "patches/$1 is no mail"; return 1; }
	field() { sed -n "s/^$1: //p" <<< "$info"; }
	{ field Subject; echo; cat "$dir.body"; } | kgit stripspace > "$dir.msg"
	GIT_AUTHOR_NAME=$(field Author) GIT_AUTHOR_EMAIL=$(field Email) GIT_AUTHOR_DATE=$(field Date) GIT_COMMITTER_DATE=$(field Date) \
		kgit commit-tree -p "$2" -F "$dir.msg" "$(kgit write-tree)" 2>&1
}

# apply_topics TOPIC...: their patches to the base. Prints the resulting commit, or fails with what does not apply.
apply_topics() {
	local f last=$REV new
	GIT_INDEX_FILE=$TREE/.git/checks.index kgit read-tree "$REV" || return
	for f in $(TOPICS="$*" series_files); do
		new=$(apply_patch "$f" "$last") || { printf '%s\n' "$new"; return 1; }
		last=$new
	done
	echo "$last"
}

# need_tree: the tree, or this check has failed.
need_tree() {
	local out
	mkdir -p "$WORK"
	[ -e "$TREE/.git" ] || git init -q -b checks "$TREE"
	find_base > "$TMP/base" 2>&1 || { check "there is a kernel source" complain "$(cat "$TMP/base")"; tap_end; exit 1; }
	out=$(lay 2>&1) || { check "patches/ applies to the base" complain "$out"; tap_end; exit 1; }
	[ -s "$SERIES" ] || { check "there are patches" complain "patches/series names none"; tap_end; exit 1; }
}

# complain TEXT: for check: fails with it.
complain() { printf '%s\n' "$1"; return 1; }

# each_patch FUNCTION: FUNCTION COMMIT PARENT NAME for each, in order.
each_patch() {
	local commit parent name
	while read -r commit parent name <&7; do
		"$1" "$commit" "$parent" "$name"
	done 7< "$SERIES"
}

# touched OLD NEW [FILTER]: the files that differ (--diff-filter).
touched() { kgit diff --no-renames --name-only ${3:+"--diff-filter=$3"} "$1" "$2"; }

tip() { tail -n 1 "$SERIES" | cut -d ' ' -f 1; }

# at COMMIT: have its files in the work tree (only those that differ are written).
at() { kgit checkout -q --detach "$1"; }
