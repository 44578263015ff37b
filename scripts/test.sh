#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test.sh [SCRIPT]...: run test scripts that print TAP (tests/*.sh that are executable), show each result with its
# time, and count. A script's whole output goes to build/log/test-<name>.log. The last line is the summary.

. "$(dirname "$0")/lib.sh"
cd "$TOP"

# Tests must not depend on what the caller's make was told.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TOPICS BASE_ONLY LINUX LINUX_REV FORCE CONFIG STRICT
LIMIT=${TEST_LIMIT:-1500}	# seconds for one script

passed=0 failed=0 skipped=0
result() { # OK|FAILED|SKIPPED SECONDS TEXT
	printf '  %-7s %7s s  %s\n' "$1" "$2" "$3"
}

# run SCRIPT: counts its results.
run() {
	local script=$1 name log line begun now plan='' seen=0 bad=0 rc=0 what
	name=$(basename "$script" .sh)
	log=$LOG/test-$name.log
	printf '%s\n' "$name"
	: > "$log"
	begun=${EPOCHREALTIME/./}
	coproc SCRIPT { timeout -k 10 "$LIMIT" "$script" 2>> "$log" < /dev/null; }
	local pid=$SCRIPT_PID
	while IFS= read -r line; do
		printf '%s\n' "$line" >> "$log"
		now=${EPOCHREALTIME/./}
		what=$(printf '%d.%d' $(((now - begun) / 1000000)) $(((now - begun) / 100000 % 10)))
		case $line in
		'ok '*' # SKIP'*)
			result skipped "$what" "${line#ok * - }"
			skipped=$((skipped + 1)) seen=$((seen + 1)) ;;
		'ok '*)
			result ok "$what" "${line#ok * - }"
			passed=$((passed + 1)) seen=$((seen + 1)) ;;
		'not ok '*)
			result FAILED "$what" "${line#not ok * - } (log: $(rel "$log"))"
			failed=$((failed + 1)) seen=$((seen + 1)) bad=1 ;;
		'1..'*)
			plan=${line#1..} plan=${plan%% *}
			continue ;;
		*)
			[ "$bad" = 0 ] || [[ $line != '#'* ]] || printf '      %s\n' "$line"
			continue ;;
		esac
		begun=$now
	done <&"${SCRIPT[0]}"
	wait "$pid" || rc=$?
	if [ "$rc" -eq 124 ]; then
		result FAILED "$LIMIT" "$name: took longer than its limit (log: $(rel "$log"))"
		failed=$((failed + 1))
	elif [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		result FAILED 0 "$name: ended with status $rc: $(tail -n 1 "$log") (log: $(rel "$log"))"
		failed=$((failed + 1))
	elif [ "$plan" != "$seen" ]; then
		result FAILED 0 "$name: $seen results where its plan says ${plan:-nothing} (log: $(rel "$log"))"
		failed=$((failed + 1))
	fi
}

[ $# -gt 0 ] || set -- tests/*.sh
for script; do
	[ -x "$script" ] || continue
	run "$script"
done
if [ $((passed + failed)) -eq 0 ]; then
	result FAILED 0 "there is nothing to run"
	failed=1
fi
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
