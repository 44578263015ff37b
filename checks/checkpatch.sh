#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# checkpatch.pl --strict: not an error, not a warning, not a check, in any patch.
#
# Two of its questions are not asked here. The Signed-off-by is added by whoever submits. And it asks whether
# MAINTAINERS needs an update whenever a file is new: maintainers.sh finds out.

. "$(dirname "$0")/lib.sh"
need_tree

checkpatch() {
	(cd "$TREE" && perl scripts/checkpatch.pl --strict --no-color --no-signoff --show-types \
		--ignore FILE_PATH_CHANGES "$PATCHES/$1") > "$TMP/out" 2>&1
	cat "$TMP/out"
	grep -q '^total: 0 errors, 0 warnings, 0 checks, [1-9][0-9]* lines checked$' "$TMP/out"
}
one() { check "checkpatch: $3" checkpatch "$3"; }
each_patch one
tap_end
