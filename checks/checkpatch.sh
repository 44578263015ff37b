#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# checkpatch.pl --strict: not an error, not a warning, not a check, in any patch, but for what checkpatch.except excuses.
#
# Two of its questions are not asked here. The Signed-off-by is added by whoever submits. And it asks whether
# MAINTAINERS needs an update whenever a file is new: maintainers.sh finds out.

. "$(dirname "$0")/lib.sh"
need_tree

# excused FILE TYPE: by checkpatch.except?
excused() {
	local type glob
	while IFS='|' read -r type glob _; do
		type=${type%% *}
		glob=${glob# }
		# shellcheck disable=SC2053 # a pattern
		[[ $type != "$2" || $1 != ${glob%% *} ]] || return 0
	done < "$TOP/checks/checkpatch.except"
	return 1
}

# complaints: of checkpatch.pl's output, as "FILE:LINE: KIND:TYPE: text".
complaints() {
	awk '/^(ERROR|WARNING|CHECK):[A-Z0-9_]+: / { if (text != "") print ":0: " text; text = $0; next }
		text != "" && /^#[0-9]+: FILE: / { print $3 " " text; text = ""; next }
		text != "" && $0 == "" { print ":0: " text; text = "" }
		END { if (text != "") print ":0: " text }'
}

checkpatch() {
	local line total n=0 bad=0
	# Debian's python has the modules that spdxcheck.py needs.
	(cd "$TREE" && PATH=/usr/bin:$PATH perl scripts/checkpatch.pl --strict --no-color --no-signoff --show-types \
		--ignore FILE_PATH_CHANGES "$PATCHES/$1") > "$TMP/out" 2>&1
	complaints < "$TMP/out" > "$TMP/complaints"
	while IFS= read -r line; do
		[[ $line =~ ^(.*):[0-9]+:\ [A-Z]+:([A-Z0-9_]+):\  ]]
		n=$((n + 1))
		if ! excused "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"; then
			bad=1
			printf '%s\n' "$line"
		fi
	done < "$TMP/complaints"
	# As many as by its own count: what is not understood here must not pass.
	total=$(sed -nE 's/^total: ([0-9]+) errors, ([0-9]+) warnings, ([0-9]+) checks, [1-9][0-9]* lines checked$/\1+\2+\3/p' "$TMP/out")
	[ -n "$total" ] && [ "$((total))" -eq "$n" ] || complain "checkpatch did not do its work: $(tail -n 5 "$TMP/out")" || return
	[ "$bad" -eq 0 ]
}
one() { check "checkpatch: $3" checkpatch "$3"; }
each_patch one
tap_end
