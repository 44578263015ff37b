#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What Documentation/process/submitting-patches.rst asks of a patch as a mail, as far as a machine can tell, and codespell
# on what the series adds. Whether the message tells problem, cause, change and effect is for a reader.

. "$(dirname "$0")/lib.sh"
need_tree

# prefixes FILE: the words that a subject may start with if it is about this file; none if checks/prefixes has no say.
prefixes() {
	local glob words name
	name=$(basename "${1%.*}")
	name=${name%_test}
	while IFS='|' read -r glob words; do
		case $glob in '#'*) continue ;; esac
		# shellcheck disable=SC2053 # a pattern
		if [[ $1 == ${glob%% *} ]]; then
			printf '%s\n' "${words//NAME/$name}"
			return
		fi
	done < "$TOP/checks/prefixes"
}

# subject TEXT FILE...: what is wrong with it, a line each.
subject() {
	local s=$1 p part rest word fits
	local -a parts
	shift
	[ ${#s} -le 75 ] || echo "subject: ${#s} characters, 75 at most: $s"
	if [[ ! $s =~ ^(.*[^:]):\ +([^:]+)$ ]]; then
		echo "subject: no 'subsystem: ' in front: $s"
		return
	fi
	p=${BASH_REMATCH[1]}
	rest=${BASH_REMATCH[2]}
	# "KVM: x86" is one prefix, "sched/rt, sched/deadline" are two.
	IFS=, read -r -a parts <<< "${p//: /:}"
	fits=$(for f; do prefixes "$f"; done | tr -s ' ' '\n')
	for part in "${parts[@]}"; do
		grep -qxF -e "${part# }" <<< "$fits" ||
			echo "subject: the prefix '${part# }' is none that its files have (checks/prefixes): $(sort -u <<< "$fits" | xargs)"
	done
	[[ $rest =~ ^[A-Z] ]] || echo "subject: no capital letter after the prefix: $rest"
	[[ ! $rest =~ \.$ ]] || echo "subject: ends with a full stop"
	word=${rest%% *}
	case ${word,,} in
	need | feed | embed | speed | exceed | proceed | seed | bring | string | pass | bypass | process | express | compress | address | suppress | assess | access | discuss | focus | bias | alias) ;;
	*ed | *ing | *s) echo "subject: '$word' is not imperative: say 'Add', not 'Adds', 'Added' or 'Adding'" ;;
	[a-z]*:) echo "subject: more than one prefix" ;;
	esac
}

# body: of a message on standard input, with the subject in front.
body() {
	awk '
		NR == 2 && $0 != "" { print "message: no empty line after the subject" }
		NR > 2 && $0 != "" { lines++ }
		NR > 2 && length($0) > 75 && !/https?:/ && !/^(    |\t|>)/ && !/^[A-Za-z-]+: / {
			print "message: line of " length($0) " characters, wrap at 75: " $0 }
		/^(Signed-off-by|Co-developed-by|Co-authored-by|Change-Id|Reviewed-by|Acked-by|Tested-by):/ {
			print "message: a tag that only others can give: " $0 }
		tolower($0) ~ /(^|[^a-z])this (patch|commit|change|series)([^a-z]|$)/ { print "message: say what is done as an order, without \"this patch\": " $0 }
		/(^|[^A-Za-z\/])(I|[Ww]e|[Oo]ur)([^A-Za-z\/0-9_-]|$)/ { print "message: impersonal, please: " $0 }
		/(^|[^A-Za-z0-9_.])\/(work|tmp|home|root|var|mnt)\// { print "message: a path of some machine: " $0 }
		/TODO|FIXME|XXX/ { print "message: unfinished: " $0 }
		END { if (lines < 2) print "message: it does not explain the patch" }'
}

# The mail itself: as git format-patch writes it with the options that the README names.
mail() {
	head -n 1 "$1" | grep -q '^From 0\{40\} ' || echo "mail: names a commit nobody else has (format-patch --zero-commit)"
	grep -q '^Subject: \[PATCH\] ' "$1" || echo "mail: no '[PATCH] ' in the subject, or a number (format-patch -N)"
	[ "$(sed -n 's/^From: //p' "$1" | head -n 1)" = "$AUTHOR" ] || echo "mail: the author is not $AUTHOR"
	! grep -q '^-- $' "$1" || echo "mail: a git version at its end (format-patch --no-signature)"
	! grep -E '^index ' "$1" | grep -vqE '^index [0-9a-f]{40}\.\.[0-9a-f]{40}( [0-7]+)?$' || echo "mail: short object names (format-patch --full-index)"
	grep -q '^---$' "$1" || echo "mail: no '---' below the message"
}

# added PATCH: the lines it adds.
added() { sed -n '/^diff --git /,$ { /^+++ /d; s/^+//p }' "$1"; }

content() {
	added "$1" | grep -nE '[[:space:]]$' | sed 's/^/space at the end of added line /'
	added "$1" | grep -E '(^|[^A-Za-z0-9_.])/(work|home|root|var/cache)/' | sed 's/^/a path of some machine: /'
	{ added "$1"; cat "$2"; } > "$TMP/text"
	codespell -L filp,fro - < "$TMP/text" | sed -n '/==>/s/^[[:space:]]*/codespell: /p'
}

message() {
	local commit=$1 parent=$2 patch=$PATCHES/$3 out
	kgit log -1 --format=%B "$commit" > "$TMP/message"
	out=$({
		mapfile -t files < <(touched "$parent" "$commit")
		subject "$(head -n 1 "$TMP/message")" "${files[@]}"
		body < "$TMP/message"
		mail "$patch"
		content "$patch" "$TMP/message"
	})
	[ -z "$out" ] || complain "$out"
}
one() { check "message: $3" message "$@"; }
each_patch one

# The cover letter is about the series as it is.
cover() {
	local c=$PATCHES/0000-cover-letter.txt out
	out=$({
		grep -q "^Subject: \[PATCH 00/$(printf %02d "$(wc -l < "$SERIES")")\] ." "$c" || echo "cover letter: the subject does not say how many patches there are"
		# The shortlog in it is folded.
		sed -e ':a' -e 'N' -e '$!ba' -e 's/\n    */ /g' "$c" > "$TMP/unfolded"
		while read -r commit _; do
			kgit log -1 --format='  %s' "$commit"
		done < "$SERIES" | grep -vxF -f "$TMP/unfolded" | sed 's/^ */cover letter: does not list: /'
		sed '1,/^$/d' "$c" | { sed '/^vcpu-sched project ([0-9]*):$/,$d'; } > "$TMP/cover"
		awk 'length($0) > 75 { print "cover letter: line of " length($0) " characters: " $0 }' "$TMP/cover"
		codespell -L filp,fro - < "$TMP/cover" | sed -n '/==>/s/^[[:space:]]*/cover letter: codespell: /p'
	})
	[ -z "$out" ] || complain "$out"
}
check "the cover letter lists the patches and reads well" cover
tap_end
