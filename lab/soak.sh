#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: soak.sh ROUNDS OUT
#
# Boot the host with two busy guests in it, ROUNDS times, and count the rounds
# that were lost and those that needed a second start. In every other round the
# guests poll before they halt.
set -u
rounds=$1 out=$2
mkdir -p "$out"
lost=0 retried=0 begun=$SECONDS
for ((i = 1; i <= rounds; i++)); do
	log=$out/round-$i.log
	lab/run.sh "$out/round-$i" -t 300 lab/soak THRESHOLD=$((i % 2 * 1000000)) >"$log" 2>&1
	rc=$?
	[ $rc -lt 128 ] || exit $rc
	results=$(cat "$out/round-$i"/[ab].out 2>/dev/null | grep -c '^Throughput')
	note=
	if grep -q RETRY "$log"; then
		retried=$((retried + 1)) note=", needed a second start"
	fi
	if [ $rc -ne 0 ] || [ "$results" -ne 2 ]; then
		lost=$((lost + 1)) note="$note, LOST (status $rc, see $log)"
	fi
	printf 'lab-soak: round %d of %d: %d of 2 results%s, %d s in all\n' \
		"$i" "$rounds" "$results" "$note" $((SECONDS - begun))
done
echo "lab-soak: $((rounds - lost)) of $rounds rounds well, $retried needed a second start, $lost lost"
[ $lost -eq 0 ]
