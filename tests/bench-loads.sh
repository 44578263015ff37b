#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The workloads of bench/: they run, print sane figures and refuse nonsense.

. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
make -s -f bench/build.mk bench-bin BIN=build/bench-bin || { echo "Bail out! bench/ does not build"; exit 1; }
BIN=$TOP/build/bench-bin
LOADS="pingpong msgwork hog allocsearch tlbstorm"

# value KEY: of KEY=value in the last line of standard input.
value() {
	tail -n 1 | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# holds EXPRESSION COMMAND...: awk's EXPRESSION over the fields that the command prints.
holds() {
	local expr=$1 line
	shift
	line=$(timeout 20 "$@" | tail -n 1) || { echo "failed: $*"; return 1; }
	printf '%s\n' "$line" | awk '{
		for (i = 1; i <= NF; i++) {
			eq = index($i, "=")
			v[substr($i, 1, eq - 1)] = substr($i, eq + 1) + 0
		}
		exit !('"$expr"')
	}' || { printf '%s\ndoes not hold for: %s\n' "$expr" "$line"; return 1; }
}

hist() {
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$TMP/hist" tests/bench-hist.c bench/util.c \
		-lm -pthread && "$TMP/hist"
}
check "percentiles are within 1 % of those of the sorted samples" hist

no_warnings() {
	make -s -B -f bench/build.mk bench-bin BIN="$TMP/bin" \
		BENCH_CFLAGS="-std=gnu11 -O2 -Wall -Wextra -Werror"
}
check "bench/ compiles without a warning" no_warnings

for load in $LOADS; do
	is_static() { ! readelf -l "$BIN/$load" | grep INTERP; }
	check "$load is linked static" is_static
	help_works() { "$BIN/$load" --help | grep "^Usage: $load" && "$BIN/$load" -h >/dev/null; }
	check "$load --help" help_works
	check "$load refuses an unknown option" refused "invalid option" "$BIN/$load" -X
	check "$load refuses an argument" refused "unexpected argument 'foo'" "$BIN/$load" foo
	for time in 3x -1 "" 1e30 s; do
		check "$load refuses -t '$time'" refused "is not a time" "$BIN/$load" -t "$time"
	done
done

# pingpong
P=$BIN/pingpong
sane='v["ns_per_roundtrip"] > 0 && v["p50_ns"] > 0 && v["p50_ns"] <= v["p99_ns"] && v["p99_ns"] <= v["max_ns"]'
mean='v["seconds"] * 1e9 / v["roundtrips"] / v["ns_per_roundtrip"] > 0.99 && v["seconds"] * 1e9 / v["roundtrips"] / v["ns_per_roundtrip"] < 1.01'
check "pingpong: threads" holds "$sane && $mean && v[\"roundtrips\"] == 500" "$P" -n 500
check "pingpong: processes" holds "$sane && $mean && v[\"roundtrips\"] == 500" "$P" -p -n 500
check "pingpong: one round trip" holds "$sane && v[\"roundtrips\"] == 1 && v[\"p50_ns\"] > 0.99 * v[\"max_ns\"]" "$P" -n 1 -w 0
check "pingpong: for a time" holds "$sane && v[\"seconds\"] >= 0.2 && v[\"seconds\"] < 5" "$P" -t 200ms
check "pingpong: -n ends it before -t" holds "v[\"roundtrips\"] == 10" "$P" -n 10 -t 15
check "pingpong: 105 in bursts of 50 are 3 bursts" \
	holds "$sane && v[\"bursts\"] == 3 && v[\"roundtrips\"] == 105" "$P" -n 105 -b 50 -s 1ms
pauses_excluded() {
	local begin=$EPOCHREALTIME line
	line=$("$P" -n 20 -b 1 -s 20ms)
	# 19 pauses: 0.38 s on the clock
	awk -v wall="$(awk "BEGIN { print $EPOCHREALTIME - $begin }")" \
	    -v s="$(value seconds <<<"$line")" 'BEGIN { exit !(wall >= 0.38 && s < wall - 0.37) }' ||
		{ echo "$line"; return 1; }
}
check "pingpong: pauses between bursts are not counted" pauses_excluded
check "pingpong: refuses one CPU" refused "two CPUs are needed" "$P" -c 0
check "pingpong: refuses -b alone" refused "both -b and -s" "$P" -b 5
check "pingpong: refuses -s alone" refused "both -b and -s" "$P" -s 1ms
check "pingpong: refuses 0 round trips" refused "is not a whole number" "$P" -n 0
check "pingpong: refuses a CPU that is not there" refused "cannot run on CPU 1000" "$P" -c 0,1000
check "pingpong: the same with processes" refused "cannot run on CPU 1000" "$P" -p -c 0,1000
for list in '0,' ',0' a 0-a 3-1 0,,1; do
	check "pingpong: refuses -c $list" refused "is not a list of CPUs" "$P" -c "$list"
done

# allowed COMMAND...: the CPUs that the command's threads are pinned to, one a line.
allowed() {
	local pid
	"$@" >/dev/null &
	pid=$!
	sleep 0.3
	cat "/proc/$pid"/task/*/status | sed -n 's/^Cpus_allowed_list:\t*//p' | sort -u
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}
pinned() {
	local want=$1
	shift
	same "$(allowed "$@" | tr '\n' ' ')" "$want"
}
CPUS=$(sed -n 's/^Cpus_allowed_list:\t*//p' /proc/self/status)
FIRST=$(awk -F'[-,]' '{ print $1 }' <<<"$CPUS")
LAST=$(awk -F'[-,]' '{ print $NF }' <<<"$CPUS")
if [ "$FIRST" = "$LAST" ]; then
	skip "pinning" "this machine lets us run on one CPU only"
else
	check "pingpong: the two sides are pinned" \
		pinned "$FIRST $LAST " "$P" -c "$FIRST,$LAST" -t 5
	check "hog: its thread is pinned, the one that waits is not" \
		pinned "$(printf '%s\n' "$CPUS" "$LAST" | sort -u | tr '\n' ' ')" \
		"$BIN/hog" -c "$LAST" -t 5
fi

# msgwork
M=$BIN/msgwork
sane='v["requests"] > 10 && v["p50_ns"] <= v["p75_ns"] && v["p75_ns"] <= v["p90_ns"] && v["p90_ns"] <= v["p95_ns"] && v["p95_ns"] <= v["p99_ns"] && v["p99_ns"] <= v["p995_ns"] && v["p995_ns"] <= v["p999_ns"] && v["p999_ns"] <= v["max_ns"] && v["p50_ns"] > 0'
check "msgwork" holds "$sane && v[\"seconds\"] >= 0.2" "$M" -t 0.2
check "msgwork: 3 message threads of 4 workers" holds "$sane" "$M" -t 0.2 -m 3 -n 4 -w 1
# 2 workers, each asleep for 10 ms of each request: at most 2 * 0.3 / 0.010 and the first two
check "msgwork: sleeping workers ask less often" \
	holds "v[\"requests\"] >= 2 && v[\"requests\"] <= 62" "$M" -t 300ms -s 10ms -w 1
check "msgwork: refuses 0 workers" refused "is not a whole number" "$M" -n 0

# The crews
crew() { # UNIT
	printf 'v["%s"] > 0 && v["seconds"] >= 0.2 && v["min"] <= v["max"] && v["fairness"] >= 0 && v["fairness"] <= 1 && v["%s"] >= v["max"] && v["%s_per_second"] * v["seconds"] / v["%s"] > 0.99 && v["%s_per_second"] * v["seconds"] / v["%s"] < 1.01' "$1" "$1" "$1" "$1" "$1" "$1"
}
check "hog" holds "$(crew work) && v[\"threads\"] == 1 && v[\"min\"] == v[\"max\"]" "$BIN/hog" -t 0.2
check "hog: 3 threads" holds "$(crew work) && v[\"threads\"] == 3" "$BIN/hog" -t 0.2 -n 3
check "allocsearch" holds "$(crew records) && v[\"threads\"] == 2" "$BIN/allocsearch" -t 0.2
check "allocsearch: malloc, small tables" \
	holds "$(crew records)" "$BIN/allocsearch" -M -z 1k -k 3 -t 0.2
check "allocsearch: tables of one key" holds "$(crew records)" "$BIN/allocsearch" -z 4 -t 0.2
check "allocsearch: refuses an empty table" refused "a table has" "$BIN/allocsearch" -z 0
check "allocsearch: refuses a size that is none" refused "is not a size" "$BIN/allocsearch" -z 5q
for op in munmap mprotect; do
	check "tlbstorm: $op" holds "$(crew ops)" "$BIN/tlbstorm" -o "$op" -t 0.2
done
if "$BIN/tlbstorm" -o membarrier -t 0.01 >/dev/null 2>&1; then
	check "tlbstorm: membarrier" holds "$(crew ops)" "$BIN/tlbstorm" -o membarrier -t 0.2
	check "tlbstorm: all of them" holds "$(crew ops)" "$BIN/tlbstorm" -t 0.2 -n 3
else
	skip "tlbstorm: membarrier" "this kernel has none"
fi
check "tlbstorm: refuses an unknown operation" refused "no operation 'foo'" "$BIN/tlbstorm" -o munmap,foo
check "tlbstorm: refuses an operation twice" refused "given twice" "$BIN/tlbstorm" -o munmap,munmap
check "hog: refuses a CPU that is not there" refused "cannot run on CPU 1000" "$BIN/hog" -c 1000 -t 1
check "hog: refuses too many threads" refused "is not a whole number" "$BIN/hog" -n 99999

ends_on() { # SIGNAL
	local pid
	"$BIN/hog" -n 2 >"$TMP/hog" &
	pid=$!
	sleep 0.2
	kill -s "$1" "$pid"
	wait "$pid" || { echo "exit status $?"; return 1; }
	[ "$(value work <"$TMP/hog")" -gt 0 ]
}
check "hog: SIGTERM ends it with its figures" ends_on TERM

# Children of a script without job control ignore SIGINT unless they ask for it, as hog does.
check "hog: SIGINT ends it with its figures" ends_on INT

intervals() {
	"$BIN/hog" -n 2 -t 0.5 -i 100ms >"$TMP/hog" || return 1
	awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^work=/) w = substr($i, 6) }
	     /^interval: / { n++; sum += w; next } { total = w }
	     END { exit !(n >= 2 && n <= 5 && sum > 0 && sum <= total) }' "$TMP/hog" ||
		{ cat "$TMP/hog"; return 1; }
}
check "hog: intervals do not add up to more than the whole" intervals

on_request() {
	local pid
	"$BIN/hog" -t 1 >"$TMP/hog" &
	pid=$!
	sleep 0.3
	kill -s USR1 "$pid"
	wait "$pid"
	[ "$(grep -c '^interval: work=' "$TMP/hog")" = 1 ] && [ "$(wc -l <"$TMP/hog")" = 2 ]
}
check "hog: SIGUSR1 prints a line at once" on_request

tap_end
