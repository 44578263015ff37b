# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# TAP for the test scripts: source it, call check and skip, end with tap_end.

set -u
export LC_ALL=C

# shellcheck disable=SC2034 # for those who source this
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# Names in build/ end in -6.12 for BASE=6.12; the main base's have no such suffix.
SUFFIX=
MAIN_BASE=$(sed -n 's/^MAIN_BASE=//p' "$TOP/scripts/lib.sh")
[ "${BASE:-$MAIN_BASE}" = "$MAIN_BASE" ] || SUFFIX=-$BASE
export KERNEL=${KERNEL:-lab$SUFFIX}
TAP_RUN=0
TAP_FAILED=0
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT

# check DESCRIPTION COMMAND...: passes if the command does; its output explains a failure.
check() {
	local what=$1 out
	shift
	TAP_RUN=$((TAP_RUN + 1))
	if out=$("$@" 2>&1); then
		printf 'ok %d - %s\n' "$TAP_RUN" "$what"
	else
		TAP_FAILED=$((TAP_FAILED + 1))
		printf 'not ok %d - %s\n' "$TAP_RUN" "$what"
		printf '%s\n' "$out" | sed 's/^/# /'
	fi
}

# skip DESCRIPTION REASON
skip() {
	TAP_RUN=$((TAP_RUN + 1))
	printf 'ok %d - %s # SKIP %s\n' "$TAP_RUN" "$1" "$2"
}

tap_end() {
	printf '1..%d\n' "$TAP_RUN"
	[ "$TAP_FAILED" = 0 ]
}

# For use with check. The same text?
same() {
	[ "$1" = "$2" ] && return
	printf 'wanted: %s\ngot:    %s\n' "$2" "$1"
	return 1
}

# refused TEXT COMMAND...: the command must fail, by itself, and say TEXT.
refused() {
	local text=$1 out status=0
	shift
	out=$("$@" 2>&1 >"$TMP/refused.out") || status=$?
	if [ "$status" = 0 ] || [ "$status" -ge 124 ]; then
		printf 'exit status %d: %s\n' "$status" "$*"
		return 1
	fi
	case $out in
	*"$text"*) ;;
	*) printf 'wanted: %s\ngot:    %s\n' "$text" "$out"; return 1 ;;
	esac
}
