#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The demo's table and plot, from made-up data.

. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
make -s -f bench/build.mk bench-bin BIN=build/bench-bin || { echo "Bail out! bench/ does not build"; exit 1; }
TABLE=$TOP/build/bench-bin/demo-table
HEADER=rep,threshold_ns,ns_per_roundtrip,exits_per_roundtrip,halt_exits_per_roundtrip

# Interleaved, the machine slower each time. Ratios of 200 us: 0.2 0.25 0.1; 1 ms has no rep 3.
cat >"$TMP/demo.csv" <<END
$HEADER
1,0,100000,8,2
1,200000,20000,1.5,0.2
1,1000000,8000,0.3,0.01
2,1000000,20000,0.1,0.03
2,0,200000,9,2.2
2,200000,50000,1.25,0.3
3,0,400000,8.5,2.1
3,200000,40000,1,0.1
END

# shows WORDS...: a line of the table, without the padding.
shows() {
	"$TABLE" "$TMP/demo.csv" >"$TMP/table" || return
	tr -s ' ' <"$TMP/table" | sed 's/ $//' >"$TMP/words"
	grep -Fx "$*" "$TMP/words" && return
	cat "$TMP/table"
	return 1
}
check "off: median, range, exits" shows "off 3 200000 (100000 .. 400000) 1.000 8.500 2.100"
check "200 us: the ratio is paired by rep" \
	shows "200 us 3 40000 (20000 .. 50000) 0.200 (0.100 .. 0.250) 1.250 0.200"
check "1 ms: two reps" shows "1 ms 2 14000 (8000 .. 20000) 0.090 (0.080 .. 0.100) 0.200 0.020"

sorted() {
	same "$("$TABLE" "$TMP/demo.csv" | tail -n +3 | awk '{ print $1 }' | tr '\n' ' ')" "off 200 1 "
}
check "a line for each threshold, smallest first" sorted

partner() {
	{ cat "$TMP/demo.csv"; echo "4,200000,1,1,1"; } | "$TABLE" - >"$TMP/table" &&
	grep "1 of 4 reps have no partner" "$TMP/table"
}
check "a rep without a partner is reported" partner

# The data with one line more, which must be refused as line 10.
line_refused() { # TEXT LINE
	{ cat "$TMP/demo.csv"; echo "$2"; } >"$TMP/bad.csv"
	refused "bad.csv:10: $1" "$TABLE" "$TMP/bad.csv"
}
check "refused: a field missing" line_refused "4 fields instead of 5" "4,0,1,1"
check "refused: a round trip of 0 ns" line_refused "'0' is not above 0" "4,0,0,1,1"
check "refused: negative exits" line_refused "'-1' is not 0 or more" "4,0,1,-1,1"
check "refused: not a number" line_refused "'x' is not a number" "4,0,1,1,x"
check "refused: a threshold with a unit" line_refused "'1ms' is not a whole number" "4,1ms,1,1,1"

{ cat "$TMP/demo.csv"; echo "2,0,1,1,1"; } >"$TMP/bad.csv"
check "refused: a repetition twice" refused "rep 2 of threshold 0 is there twice" "$TABLE" "$TMP/bad.csv"
printf '%s\n1,200000,1,1,1\n' $HEADER >"$TMP/bad.csv"
check "refused: nothing to compare with" refused "no threshold 0" "$TABLE" "$TMP/bad.csv"
echo $HEADER >"$TMP/bad.csv"
check "refused: no data" refused "no repetitions" "$TABLE" "$TMP/bad.csv"
echo "a,b" >"$TMP/bad.csv"
check "refused: another header" refused "the header must be" "$TABLE" "$TMP/bad.csv"
check "refused: no file" refused "one file is wanted" "$TABLE"
check "refused: a file that is not there" refused "cannot read" "$TABLE" "$TMP/nowhere"

# plot CSV PNG: draw it; gnuplot must have nothing to say.
plot() {
	local out
	out=$(gnuplot -e "csv='$1'; png='$TMP/$2'" bench/demo.gp 2>&1) || { echo "$out"; return 1; }
	[ -z "$out" ] || { echo "gnuplot said: $out"; return 1; }
	same "$(head -c 4 "$TMP/$2" | od -An -tx1 | tr -d ' ')" 89504e47
}
one_threshold() {
	grep -v 00000, "$TMP/demo.csv" >"$TMP/one.csv"
	printf '1,0,5000,0,0\n' >>"$TMP/one.csv"
	plot "$TMP/one.csv" one.png
}
every_point() {
	# Each repetition is drawn: a file with one far-off point more gives another picture.
	{ cat "$TMP/demo.csv"; echo "4,0,9000000,30,3"; } >"$TMP/more.csv"
	plot "$TMP/more.csv" more.png && plot "$TMP/demo.csv" again.png &&
	cmp "$TMP/demo.png" "$TMP/again.png" && ! cmp -s "$TMP/demo.png" "$TMP/more.png"
}
if command -v gnuplot >/dev/null; then
	check "the plot is a PNG, drawn without a warning" plot "$TMP/demo.csv" demo.png
	check "a plot of one threshold" one_threshold
	check "another repetition changes the plot, nothing else does" every_point
	check "the plot asks for its files" refused "usage: gnuplot" gnuplot bench/demo.gp
else
	skip "the plot" "gnuplot is not installed"
fi

check "REPS is a number" refused "'abc' is no number from 1 on" env REPS=abc bench/demo.sh "$TMP/none"
check "and not 0" refused "'0' is no number from 1 on" env REPS=0 bench/demo.sh "$TMP/none"
check "THRESHOLDS have a 0 to compare with" refused "without 0" env THRESHOLDS="1 2" bench/demo.sh "$TMP/none"
tap_end
