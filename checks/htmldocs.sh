#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make htmldocs: the pages that the series adds or changes say nothing that they do not say on the base. Only their
# directories are built; what Sphinx says about other pages, whose sources are not in this tree, is not looked at.
#
# QUICK: skipped, since Sphinx is a large package and needs minutes.

. "$(dirname "$0")/lib.sh"
need_tree
if [ -n "${QUICK:-}" ]; then
	skip "htmldocs: the pages that the series touches" "QUICK is set; make check does it"
	tap_end
	exit
elif ! command -v sphinx-build > /dev/null; then
	skip "htmldocs: the pages that the series touches" "there is no sphinx-build: scripts/need.sh docs"
	tap_end
	exit
fi

mapfile -t pages < <(touched base "$(tip)" d | grep '^Documentation/')

# folders: those of the pages, as SPHINXDIRS wants them: below Documentation/, with an index.
folders() {
	local page dir
	for page in "${pages[@]}"; do
		dir=$(dirname "$page")
		until [ -e "$TREE/$dir/index.rst" ]; do
			dir=$(dirname "$dir")
		done
		echo "${dir#Documentation/}"
	done | sort -u
}

# said COMMIT: what is said about the pages, without line numbers, to $TMP/said.COMMIT.
said() {
	local folder
	at "$1" || return
	: > "$TMP/log"
	for folder in $(folders); do
		rm -rf "$WORK/o-docs"
		env -i PATH="$PATH" HOME="$HOME" LC_ALL=C.UTF-8 make -s -C "$TREE" O="$WORK/o-docs" SPHINXDIRS="$folder" htmldocs \
			>> "$TMP/log" 2>&1 || { tail -n 20 "$TMP/log"; return 1; }
		[ -n "$(find "$WORK/o-docs/Documentation/output" -name index.html | head -n 1)" ] ||
			complain "no page was made of $folder: $(tail -n 5 "$TMP/log")" || return
	done
	grep -F "${pages[@]/#/-e}" "$TMP/log" | grep -E 'WARNING|ERROR|CRITICAL' |
		sed -E "s,^($TREE/|\.\./),,; s/:[0-9]+: /: /" | sort -u > "$TMP/said.$1"
}

no_more() {
	local out
	said base && said "$(tip)" || return
	out=$(comm -13 "$TMP/said.base" "$TMP/said.$(tip)")
	[ -z "$out" ] || complain "$out"
}

[ ${#pages[@]} -gt 0 ] || { skip "htmldocs: the pages that the series touches" "it touches none"; tap_end; exit; }
check "htmldocs: no new warning about the ${#pages[@]} pages that the series touches" no_more
at "$(tip)"
tap_end
