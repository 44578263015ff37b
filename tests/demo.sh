#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The demo, in short: guest halt polling has an effect, seen from both sides.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1

run() { lab/run.sh "$TMP/out" -t 300 bench/demo REPS=3 ROUNDTRIPS=400; }

# median COLUMN THRESHOLD
median() { grep "^[0-9]*,$2," "$TMP/out/demo.out" | cut -d, -f"$1" | sort -g | sed -n 2p; }

# Ratios within one boot, settings taking turns; far from the real 0.1, since the machine may be busy.
less() { # COLUMN LIMIT
	awk -v on="$(median "$1" 3000000)" -v off="$(median "$1" 0)" -v limit="$2" \
		'BEGIN { print "on", on, "off", off; exit !(off > 0 && on < limit * off) }'
}
check 'the demo runs' run
check 'all measurements are there' same "$(grep -c '^[0-9]' "$TMP/out/demo.out")" 9
check 'a round trip takes less than half the time with polling' less 3 0.5
check 'and less than a fifth of the halt exits' less 5 0.2
tap_end
