#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where vcpu_is_preempted() is constant false, wake-up placement leaves the scheduler's code as it was, or shorter.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1

OBJECTS="kernel/sched/core.o kernel/sched/fair.o kernel/sched/build_policy.o"
TOPIC=build/kernel-nopv$SUFFIX-common-sched BASE_OUT=build/kernel-nopv$SUFFIX-base

# build NAME=VALUE: the objects of one tree; what it says is shown only if it fails.
build() {
	env "$1" scripts/tree.sh && env "$1" CONFIG=nopv OBJECTS="$OBJECTS" scripts/kernel.sh
}
check 'base: the objects compile without PARAVIRT_SPINLOCKS' build BASE_ONLY=1
check 'wake-up placement: the objects compile without PARAVIRT_SPINLOCKS' build 'TOPICS=common sched'

# text OBJECT: bytes of code in all its sections.
text() { size -A "$1" | awk '$1 ~ /text/ { sum += $2 } END { print sum }'; }

# functions OBJECT: NAME BYTES; the parts that GCC splits a function into count as one.
functions() {
	nm -S --radix=d --defined-only "$1" |
		awk 'tolower($3) == "t" { sub(/\..*/, "", $4); sum[$4] += $2 } END { for (f in sum) print f, sum[f] }' | sort
}

shorter() {
	local was is
	was=$(text "$BASE_OUT/$1") is=$(text "$TOPIC/$1")
	printf '%s: %s bytes of code, the base has %s\n' "$1" "$is" "$was"
	[ "$was" -gt 0 ] && [ "$is" -gt 0 ] && [ "$is" -le "$was" ]
}

no_function_longer() {
	join <(functions "$BASE_OUT/$1") <(functions "$TOPIC/$1") >"$TMP/functions"
	[ -s "$TMP/functions" ] || { echo "no function in common"; return 1; }
	while read -r name was is; do
		[ "$is" -le "$was" ] || echo "$name: $is bytes, the base has $was"
	done <"$TMP/functions" >"$TMP/longer"
	cat "$TMP/longer"
	[ ! -s "$TMP/longer" ]
}

no_symbols() {
	local symbols
	symbols=$(nm "$TOPIC/$1") && [ -n "$symbols" ] || return
	! grep -i vcpu_ <<<"$symbols"
}

for object in $OBJECTS; do
	check "$object: not longer than the base's" shorter "$object"
	check "$object: no function is longer" no_function_longer "$object"
	check "$object: nothing of it is left" no_symbols "$object"
done

tap_end
