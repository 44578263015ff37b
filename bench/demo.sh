#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: demo.sh OUT
#
# Measure what the demo shows, in the lab. REPS, ROUNDTRIPS and THRESHOLDS (ns, 0 among them) may be given.

. "$(dirname "$0")/../scripts/lib.sh"
cd "$TOP"

# number NAME MINIMUM: each word of the variable is a number, and no smaller.
number() {
	local word
	for word in ${!1:-}; do
		[[ $word =~ ^[0-9]{1,10}$ && $((10#$word)) -ge $2 ]] ||
			die "$1=${!1}: '$word' is no number from $2 on"
	done
}
number REPS 1
number ROUNDTRIPS 1
number THRESHOLDS 0
for name in REPS ROUNDTRIPS; do
	[[ ${!name:-} != *[[:space:]]* ]] || die "$name=${!name}: give one number"
done
[ -z "${THRESHOLDS:-}" ] || [[ " $THRESHOLDS " == *" 0 "* ]] || die "THRESHOLDS=$THRESHOLDS: without 0 there is nothing to compare with"

given=()
for name in REPS ROUNDTRIPS THRESHOLDS; do
	[ -z "${!name:-}" ] || given+=("$name=${!name}")
done
exec lab/run.sh "$1" bench/demo "${given[@]}"
