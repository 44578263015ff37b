#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernel-doc: no patch adds a warning to a file that it touches, and what the series exports to modules or declares
# under include/ for others to call is documented.

. "$(dirname "$0")/lib.sh"
need_tree

# warnings COMMIT FILE: those of kernel-doc -Wall, without line numbers.
warnings() {
	local dir=$TMP/doc.$1
	mkdir -p "$dir/$(dirname "$2")"
	kgit show "$1:$2" > "$dir/$2" 2> /dev/null || return 0
	{ (cd "$dir" && python3 "$TREE/tools/docs/kernel-doc" -none -Wall "$2" 2>&1) || echo "Error: $2: kernel-doc failed"; } |
		sed -E '/^(Warning|Error)/I!d; s/^([A-Za-z]+: [^ :]*):[0-9]+/\1/' | sort
}

# more OLD NEW: the warnings that NEW has and OLD has not.
more() {
	local f
	touched "$1" "$2" d | grep -E '\.[ch]$' | while read -r f; do
		comm -13 <(warnings "$1" "$f") <(warnings "$2" "$f")
	done
}

no_more() {
	local out
	out=$(more "$1" "$2")
	[ -z "$out" ] || complain "$out"
}

# Functions that the series adds to headers under include/, and symbols that it exports, one a line.
public() {
	kgit diff -U0 base "$(tip)" -- '*.c' '*.h' | sed -nE 's/^\+EXPORT_[A-Z_]*SYMBOL[A-Z_]*\(([A-Za-z0-9_]+).*/\1/p'
	kgit diff -U0 base "$(tip)" -- 'include/*.h' | grep -v 'static inline' |
		sed -nE 's/^\+(extern )?[a-z][A-Za-z0-9_ ]*[ *]+([a-z_][A-Za-z0-9_]*)\(.*\);$/\2/p'
}

documented() {
	local s doc out
	mapfile -t files < <(touched base "$(tip)" d | grep -E '\.[ch]$')
	out=$(public | sort -u | while read -r s; do
		doc=$(cd "$TREE" && python3 tools/docs/kernel-doc -rst -function "$s" "${files[@]}" 2> /dev/null)
		[ -n "$doc" ] || echo "$s is public and has no kernel-doc comment"
	done)
	[ -z "$out" ] || complain "$out"
}

if [ -z "${QUICK:-}" ]; then
	while read -r commit parent name; do
		check "kernel-doc: no new warning by $name" no_more "$parent" "$commit"
	done < "$SERIES"
fi
check "kernel-doc: no new warning by the series" no_more base "$(tip)"
at "$(tip)"
check "kernel-doc: what is public is documented" documented
tap_end
