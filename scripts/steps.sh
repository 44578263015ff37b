#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# steps.sh TARGET "TITLE|COMMAND"...: what a make target consists of, one after the other, saying how far it is.
#
# One run at a time per checkout; interrupted, it takes all of its children along. A command that starts with "!" is
# interactive and gets the terminal.

. "$(dirname "$0")/lib.sh"
ME=$1
shift

if [ "${VCPU_SCHED_LOCKED:-}" != "$BUILD" ]; then
	exec 9> "$BUILD/.lock"
	flock -n 9 || die "another run is at work in this checkout: wait for it to end, or use a second checkout"
	export VCPU_SCHED_LOCKED=$BUILD
fi

# A step runs in a session of its own, so that its whole family can be ended, and nobody else's.
child=
end() {
	trap '' INT TERM HUP
	if [ -n "$child" ]; then
		kill -TERM -- "-$child" 2> /dev/null || true
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			kill -0 -- "-$child" 2> /dev/null || break
			sleep 0.3
		done
		kill -KILL -- "-$child" 2> /dev/null || true
		wait "$child" 2> /dev/null || true
	fi
	printf '\n%s: interrupted; nothing is half done: the next run goes on from here\n' "$ME" >&2
	exit "$1"
}
trap 'end 130' INT
trap 'end 143' TERM
trap 'end 129' HUP

n=$#
k=0
began=$(date +%s)
for step; do
	k=$((k + 1))
	title=${step%%|*}
	command=${step#*|}
	printf '[%d/%d %s] %s\n' "$k" "$n" "$(elapsed $(($(date +%s) - began)))" "$title"
	rc=0
	if [ "${command#!}" != "$command" ]; then
		bash -c "exec ${command#!}" || rc=$?
	else
		setsid bash -c "$command" < /dev/null &
		child=$!
		wait "$child" || rc=$?
		child=
	fi
	if [ "$rc" -ne 0 ]; then
		printf '%s: failed at step %d of %d (%s)\n' "$ME" "$k" "$n" "$title" >&2
		exit "$rc"
	fi
done
[ "$n" -eq 1 ] || say "done in $(elapsed $(($(date +%s) - began)))"
