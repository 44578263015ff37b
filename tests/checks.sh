#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every check of checks/ can fail: each is fed bad patches, and must say what is wrong with them, and a good one.
#
# The patches are made here, for the real kernel.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkout.sh"
unset QUICK ONLY

# The kernel that make tree laid, or what it was laid from.
cache=${VCPU_SCHED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vcpu-sched}
if [ -e "$TOP/build/linux/.git" ]; then
	export LINUX=$TOP/build/linux LINUX_REV=base
else
	export LINUX=$cache/base/7.3/linux.git LINUX_REV=current
fi
W=$TMP/checkout
T=$W/build/checks/linux
checkout "$W"
rm -rf "$W"/patches/*/ "$W/build"

# mail NUMBER SUBJECT: a patch of sched/ with the message on standard input, from what lies in $T, edited.
mail() {
	local name
	name=sched/$(printf %04d "$1")-test.patch
	mkdir -p "$W/patches/sched"
	{
		printf 'From %040d Mon Sep 17 00:00:00 2001\nFrom: %s\nDate: Tue, 1 Dec 2026 00:00:00 +0000\nSubject: [PATCH] %s\n\n' 0 "${FROM:-vcpu-sched project <vcpu-sched@example.org>}" "$2"
		cat
		printf -- '---\n'
		# Debian's .gitignore hides everything.
		git -C "$T" add -A -f
		git -C "$T" diff --cached --stat --summary
		echo
		git -C "$T" diff --cached --full-index
	} > "$W/patches/$name"
	echo "$name" >> "$W/patches/series"
	git -C "$T" commit -q -m "$2"
}

# series FILE...: begin anew: no patches, and the tree as the base has it.
series() {
	rm -rf "$W/patches/sched"
	: > "$W/patches/series"
	git -C "$T" checkout -q -f --detach base
	git -C "$T" clean -qfd
}
message() { printf 'The limit is too small for what it limits.\n\nMake it larger, so that what it limits fits.\n'; }

# says CHECK TEXT: checks/CHECK.sh fails, with a "not ok" and TEXT in what explains it.
says() {
	local out rc=0
	out=$("$W/checks/$1.sh" 2>&1) || rc=$?
	if [ "$rc" -ne 1 ] || ! grep -q '^not ok ' <<< "$out" || ! grep -qF -e "$2" <<< "$out"; then
		printf 'exit status %d, and no: %s\n%s\n' "$rc" "$2" "$out"
		return 1
	fi
}
# passes CHECK: and has something to say.
passes() {
	local out rc=0
	out=$("$W/checks/$1.sh" 2>&1) || rc=$?
	[ "$rc" -eq 0 ] && grep -q '^ok ' <<< "$out" && return
	printf 'exit status %d\n%s\n' "$rc" "$out"
	return 1
}

# A kernel tree to make patches in: the first check lays it, from a patch that it cannot but fail.
mkdir -p "$W/patches/sched"
echo sched/0001-none.patch > "$W/patches/series"
cat > "$W/patches/sched/0001-none.patch" <<'PATCH'
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: vcpu-sched project <vcpu-sched@example.org>
Date: Tue, 1 Dec 2026 00:00:00 +0000
Subject: [PATCH] sched/fair: Change what is not there

This does not apply.
---
diff --git a/kernel/sched/fair.c b/kernel/sched/fair.c
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
@@ -1,2 +1,2 @@
-no such line
+a line
 nor this one
PATCH
for c in checkpatch messages maintainers kernel-doc topics objects configs; do
	check "a patch that does not apply fails $c" says "$c" "patches/sched/0001-none.patch does not apply"
done
: > "$W/patches/series"
check "no patches are no series that passes" says checkpatch "patches/series names none"

# One good patch first, so that what follows fails for the reason given.
good() {
	cat > "$T/kernel/sched/vcpu_good.h" <<'C'
/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_SCHED_VCPU_GOOD_H
#define _KERNEL_SCHED_VCPU_GOOD_H

/**
 * vcpu_good() - is it good?
 * @what: how good it has to be
 *
 * Return: whether it is.
 */
static inline bool vcpu_good(int what)
{
	return what > 0;
}

#endif /* _KERNEL_SCHED_VCPU_GOOD_H */
C
	mail 1 'sched: Say what is good' < <(message)
	{
		printf 'From: vcpu-sched project <vcpu-sched@example.org>\nSubject: [PATCH 00/01] title\n\ntext\n\nvcpu-sched project (1):\n  sched: Say what is good\n'
	} > "$W/patches/0000-cover-letter.txt"
}
git -C "$LINUX" rev-parse -q --verify "$LINUX_REV^{commit}" > /dev/null || exit 1
git -C "$T" update-ref refs/heads/base "$(git -C "$LINUX" rev-parse "$LINUX_REV^{commit}")"
# shellcheck disable=SC2016
sparse() { bash -c '. "$0/checks/lib.sh"; find_base; echo "$OBJECTS" > "$TREE/.git/objects/info/alternates"; kgit config core.sparseCheckout true; sparse_patterns "$REV" > "$TREE/.git/info/sparse-checkout"' "$W"; }
sparse
series
good
for c in checkpatch messages maintainers kernel-doc topics; do
	check "a good patch passes $c" passes "$c"
done

# checkpatch
series
sed -i '0,/^#define SCHED_FIXEDPOINT_SHIFT/s//\/\/ remark\n&/' "$T/include/linux/sched.h"
printf '\nint   vcpu_bad( int a ) {\n    return a ;\n}\n' >> "$T/kernel/sched/idle.c"
mail 1 'sched/idle: Add what is bad' < <(message)
check "checkpatch: bad style" says checkpatch "ERROR:SPACING"

# messages: a series of bad patches, looked at in one go.
series
N=0
HOMES=/home	# as no file here may name one
bad() { # TEXT SUBJECT, message on standard input
	N=$((N + 1))
	printf '\n/* %s */\n' "${COMMENT:-comment $N}" >> "$T/kernel/sched/idle.c"
	WANT[N]=$1
	mail "$N" "$2"
}
bad "the prefix 'mm' is none that its files have" 'mm: Add a comment' < <(message)
bad "no 'subsystem: ' in front" 'Add a comment' < <(message)
bad "no capital letter after the prefix" 'sched/idle: add a comment' < <(message)
bad "'Added' is not imperative" 'sched/idle: Added a comment' < <(message)
bad "'Adds' is not imperative" 'sched/idle: Adds a comment' < <(message)
bad "'Adding' is not imperative" 'sched/idle: Adding a comment' < <(message)
bad "75 at most" "sched/idle: Add a comment that is so long that nobody who sees it in a list will read it" < <(message)
bad "ends with a full stop" 'sched/idle: Add a comment.' < <(message)
bad "it does not explain the patch" 'sched/idle: Add a comment' < <(echo "Because.")
bad "wrap at 75" 'sched/idle: Add a comment' < <(message; echo "This line goes on and on, and who reads the log in a terminal will see only its beginning.")
bad "a tag that only others can give" 'sched/idle: Add a comment' < <(message; printf '\nSigned-off-by: A <a@example.org>\n')
bad 'without "this patch"' 'sched/idle: Add a comment' < <(message; echo "This patch adds it.")
bad "impersonal, please" 'sched/idle: Add a comment' < <(message; echo "Here we add it.")
bad "a path of some machine" 'sched/idle: Add a comment' < <(message; echo "See $HOMES/someone/notes for more.")
bad "unfinished" 'sched/idle: Add a comment' < <(message; echo "TODO: say more")
bad "recieve ==> receive" 'sched/idle: Add a comment' < <(message; echo "It will recieve it.")
COMMENT="seperate it" bad "seperate ==> separate" 'sched/idle: Add a comment' < <(message)
COMMENT="in $HOMES/me/linux" bad "a path of some machine: /* in $HOMES/me/linux */" 'sched/idle: Add a comment' < <(message)
COMMENT="space   
" bad "space at the end of added line" 'sched/idle: Add a comment' < <(message)
FROM='Some Body <somebody@example.org>' bad "the author is not vcpu-sched project" 'sched/idle: Add a comment' < <(message)
# said N: what the check says about the Nth patch, which it must turn down.
said() { awk -v n="$1" '/^(not )?ok / { on = $1 == "not" && $3 == n } on' "$TMP/messages"; }
blamed() { grep -F -e "$2" <(said "$1") || complain "$(cat "$TMP/messages")"; }
complain() { printf '%s\n' "$1"; return 1; }
"$W/checks/messages.sh" > "$TMP/messages" 2>&1
for n in $(seq "$N"); do
	check "messages: ${WANT[n]}" blamed "$n" "${WANT[n]}"
done
series
good
mangle() { # TEXT SED_SCRIPT
	cp "$W/patches/sched/0001-test.patch" "$TMP/good.patch"
	sed -i "$2" "$W/patches/sched/0001-test.patch"
	check "messages: $1" says messages "$1"
	cp "$TMP/good.patch" "$W/patches/sched/0001-test.patch"
}
mangle "format-patch --zero-commit" '1s/0/1/g'
mangle "format-patch -N" 's/\[PATCH\]/[PATCH 1\/2]/'
mangle "format-patch --full-index" 's/^index .*/index 0000000..1234567/'
sed -i 's/Say what is good/Say nothing/' "$W/patches/0000-cover-letter.txt"
check "messages: a cover letter of another series" says messages "cover letter: does not list: sched: Say what is good"

# maintainers
series
mkdir -p "$T/lib/vcpu"
printf '/* SPDX-License-Identifier: GPL-2.0 */\n' > "$T/include/linux/vcpu_orphan.h"
mail 1 'sched: Add an orphan' < <(message)
check "maintainers: an orphan" says maintainers "include/linux/vcpu_orphan.h is new, and no section of MAINTAINERS has it"
series
sed -i '/^KERNEL VIRTUAL MACHINE (KVM)$/,/^$/ { /^L:/d; /^F:\tvirt\/kvm/d }' "$T/MAINTAINERS"
printf '\n/* x */\n' >> "$T/virt/kvm/kvm_main.c"
mail 1 'KVM: Lose the list' < <(message)
check "maintainers: a file that its list does not get" says maintainers "no such list: kvm@vger.kernel.org"
series
sed -i 's,^SCHEDULER$,&\nF:\tkernel/no/such/file.c,' "$T/MAINTAINERS"
mail 1 'sched: Add a pattern' < <(message)
check "maintainers: a pattern for nothing" says maintainers "no file fits kernel/no/such/file.c"
check "maintainers: lines out of order" says maintainers "MAINTAINERS: lines in another order"

# kernel-doc
series
good
sed -i 's/@what:/@wat:/' "$T/kernel/sched/vcpu_good.h"
mail 2 'sched: Document something else' < <(message)
check "kernel-doc: a parameter that is not there" says kernel-doc "'wat' description in 'vcpu_good'"
check "kernel-doc: the first patch is not blamed" grep -q '^ok 1 ' <("$W/checks/kernel-doc.sh")
series
sed -i '/^#endif/i int vcpu_unexplained(int a);' "$T/include/linux/sched/loadavg.h"
mail 1 'sched/loadavg: Declare something' < <(message)
check "kernel-doc: public and not documented" says kernel-doc "vcpu_unexplained is public and has no kernel-doc comment"

# topics: a patch that needs another topic's, and offsets.
series
printf '\n/* one */\n' >> "$T/virt/kvm/kvm_main.c"
mail 1 'KVM: One' < <(message)
mkdir -p "$W/patches/kvm" && mv "$W/patches/sched/0001-test.patch" "$W/patches/kvm/"
printf '\n/* two */\n' >> "$T/virt/kvm/kvm_main.c"
mail 2 'KVM: Two' < <(message)
sed -i 's,^sched/0001,kvm/0001,' "$W/patches/series"
check "topics: a topic that needs another" says topics "patches/sched/0002-test.patch does not apply"
check "topics: and it says which" grep -q 'not ok .* sched applies alone' <("$W/checks/topics.sh")
rm -rf "$W/patches/kvm"
series
sed -i '1i /* first */' "$T/kernel/sched/idle.c"
git -C "$T" commit -q -a -m x
printf '\n/* last */\n' >> "$T/kernel/sched/idle.c"
mail 1 'sched/idle: Say last' < <(message)
sed -i "s/^written=.*/written=$(git -C "$LINUX" config vcpu-sched.version || git -C "$LINUX" rev-parse "$LINUX_REV^{commit}")/" "$W/base/7.3"
check "topics: an offset" says topics "(offset -1 lines)"
series

# htmldocs
if command -v sphinx-build > /dev/null; then
	series
	# shellcheck disable=SC2016 # the backticks are reStructuredText's
	printf '\nThere is :ref:`no such label <vcpu-nowhere>` and *no end\n' >> "$T/Documentation/scheduler/sched-stats.rst"
	mail 1 'Documentation: scheduler: Break a page' < <(message)
	check "htmldocs: bad markup" says htmldocs "Documentation/scheduler/sched-stats.rst: WARNING: Inline emphasis"
else
	skip "htmldocs: bad markup" "there is no sphinx-build; make check installs it"
fi
series

# What compiles is tested in the checks' own directory: headers and tools are there, as the checks run before the tests. Their
# next run lays its own tree again.
T=$TOP/build/checks/linux
if [ ! -e "$T/.git" ]; then
	skip "objects, configs: bad code" "the checks have not yet run here, and this takes minutes without what they leave"
	tap_end
	exit
fi
export QUICK=1 ONLY=SMP CHECKS_DIR=$TOP/build/checks
series
printf '\nint vcpu_no_prototype(int a)\n{\n\treturn a;\n}\n' >> "$T/kernel/sched/idle.c"
mail 1 'sched/idle: Add a function' < <(message)
check "objects: a warning of W=1" says objects "no previous prototype for 'vcpu_no_prototype'"
series
printf '\nstatic int vcpu_wrong(void) { return no_such_name; }\n' >> "$T/kernel/sched/idle.c"
mail 1 'sched/idle: Add a fault' < <(message)
check "objects: code that does not compile" says objects "'no_such_name' undeclared"
series
printf '\n#ifndef CONFIG_SMP\n#error no SMP\n#endif\n' >> "$T/kernel/sched/idle.c"
mail 1 'sched/idle: Want SMP' < <(message)
check "configs: code that needs SMP" says configs "#error no SMP"
series
printf '\n#ifndef CONFIG_SMP\nstatic int vcpu_unused(void) { return 1; }\n#endif\n' >> "$T/kernel/sched/idle.c"
mail 1 'sched/idle: Leave something unused' < <(message)
check "configs: a warning where the base has none" says configs "'vcpu_unused' defined but not used"
series
tap_end
