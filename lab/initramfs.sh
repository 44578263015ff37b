#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: initramfs.sh GEN_INIT_CPIO LIST [HAVE]
#
# Write the archive that LIST declares to standard output, with the shared
# libraries of its programs and busybox's applets. Libraries that the list
# HAVE already brings are left out: the archives are unpacked over each other.
set -eu
gen=$1 list=$2 have=${3:-}

sources() {
	# The list's own variables are the only ones expanded.
	sed -n 's/^file \S* \(\S*\) .*/\1/p' "$@" | while read -r src; do
		eval "echo \"$src\""
	done
}

# "DESTINATION SOURCE" of each library: where the machine has it, less the root
# that an unpacked QEMU lives in ($QEMU; its libraries may be there, too).
libraries() {
	sources "$1" | while read -r src; do
		[ -r "$src" ] || { echo "initramfs: $src is missing" >&2; exit 1; }
		LD_LIBRARY_PATH=${QEMU:+$QEMU/usr/lib/x86_64-linux-gnu:$QEMU/lib/x86_64-linux-gnu} ldd "$src" 2>/dev/null | grep -o '/[^ ]*' || :
	done | sort -u | while read -r lib; do
		echo "${lib#"${QEMU:-}"} $lib"
	done | sort -u
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
libraries "$list" >"$tmp/libs"
if [ -n "$have" ]; then
	libraries "$have" >"$tmp/have"
	comm -23 "$tmp/libs" "$tmp/have" >"$tmp/new" && mv "$tmp/new" "$tmp/libs"
fi
{
	cat "$list"
	while read -r dest _; do
		dir=$(dirname "$dest")
		while [ "$dir" != / ]; do
			echo "$dir"
			dir=$(dirname "$dir")
		done
	done <"$tmp/libs" | sort -u | sed 's/.*/dir & 755 0 0/'
	sed 's/\(.*\) \(.*\)/file \1 \2 755 0 0/' "$tmp/libs"
	if grep -q '^file /bin/busybox ' "$list"; then
		"$BUSYBOX" --list | grep -vx busybox | sed 's,.*,slink /bin/& busybox 777 0 0,'
	fi
} >"$tmp/list"
"$gen" -t 0 "$tmp/list"
