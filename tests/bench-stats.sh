#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The report tool: figures worked out by hand, intervals that hold the truth,
# targets, and input that must be refused.

. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
make -s -f bench/build.mk bench-bin BIN=build/bench-bin || { echo "Bail out! bench/ does not build"; exit 1; }
STATS=$TOP/build/bench-bin/stats
HEADER=rep,row,config,metric,value
cd "$TMP" || exit 1

# data CONFIG VALUE...: raw lines of row r, metric ns, reps 1 to n ("-": that one is missing).
data() {
	local config=$1 rep=0 v
	shift
	for v; do
		rep=$((rep + 1))
		[ "$v" = - ] || echo "$rep,r,$config,ns,$v"
	done
}

# summary [OPTION...]: of the raw lines on standard input, without the header.
summary() {
	rm -f out.csv
	{ echo $HEADER; cat; } >raw.csv
	"$STATS" -o out.csv "$@" raw.csv >table.txt || return
	tail -n +2 out.csv
}

# line CONFIG: its line of the last summary; field N CONFIG.
line() { grep "^r,$1,ns," out.csv; }
field() { line "$2" | cut -d, -f"$1"; }

# Sorted: off 10 20 30 40 50, on 5 8 16 18 30; ratios 0.4 0.4 0.5 0.6 0.6. With 5 values
# each end is drawn as the median in 5.8 % of the resamples, so the interval is min..max.
{ data off 10 20 30 40 50; data on 5 8 18 16 30; } >five
by_hand() {
	summary <five >/dev/null
	same "$(line on)" "r,on,ns,16,5,30,0.5,0.4,0.6,," &&
	same "$(line off)" "r,off,ns,30,10,50,,,,,"
}
check "median, paired ratio and interval of five by hand" by_hand

columns() {
	same "$(head -n 1 out.csv)" \
		"row,config,metric,median,lo,hi,ratio,ratio_lo,ratio_hi,target,target_met"
}
check "the summary has the columns that were agreed on" columns

# Nine values: an end is the median of a resample in 1.4e-3 of the cases, the second in 3 %.
nine() {
	data off 9 8 7 6 5 4 3 2 1 | summary >/dev/null
	same "$(line off)" "r,off,ns,5,2,8,,,,,"
}
check "the interval of nine by hand" nine

even() {
	{ data off 1 2 3 4; data on 4 6 2 100; } | summary >/dev/null
	# ratios 4 3 0.667 25
	same "$(field 4 off) $(field 4 on) $(field 7 on)" "2.5 5 3.5"
}
check "median of an even number" even

paired() {
	# The machine gets slower all the time: the medians are of different reps, the pairs are not.
	{ data off 100 200 400 800 1600; data on 50 100 - - -; } | summary >/dev/null
	same "$(field 4 off) $(field 4 on) $(field 7 on)" "400 75 0.5" &&
	grep "note: r, on, ns: reps that only one of it and off has: 3" table.txt
}
check "ratios are paired by rep, missing partners are reported" paired

no_pair() {
	{ data off 1 2; data on - - 3; } | summary >/dev/null
	same "$(line on)" "r,on,ns,3,3,3,,,,," && grep "no pair" table.txt
}
check "no common rep: no ratio, and that is said" no_pair

zero() {
	{ data off 0 2 2; data on 1 1 1; } | summary >/dev/null
	same "$(field 7 on)" 0.5 &&
	grep "note: r, on, ns: pairs left out because off is not above 0: 1" table.txt
}
check "a reference of 0 gives no ratio, and that is said" zero

single() {
	{ data off 4; data on 2; } | summary >/dev/null
	same "$(line on)" "r,on,ns,2,2,2,0.5,0.5,0.5,," && grep "one pair" table.txt &&
	grep "note: fewer than 8 repetitions.*: 2 of 2 medians" table.txt
}
check "one repetition only" single

no_reference() {
	data on 1 2 3 | summary >/dev/null
	same "$(field 7 on)" "" && grep "no pair" table.txt
}
check "no reference at all" no_reference

other_reference() {
	summary -r on <five >/dev/null
	same "$(field 7 on)" "" && same "$(field 7 off)" "2"
}
check "-r: another reference" other_reference

order() {
	local a
	{ data off 5 3 8 1 9 2 7; data on 2 2 4 1 3 1 6; } >seven
	a=$(summary <seven | sort)
	same "$(sort -r seven | summary | sort)" "$a"
}
check "the order of the lines does not matter" order

# 300 rows of 15 reps: off lognormal with median 100; on = 0.8 * off * lognormal noise.
# Box-Muller over a generator of our own, so that every awk makes the same data.
cat >synth.awk <<'END'
function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()) }
BEGIN {
	seed = 42
	for (row = 1; row <= rows; row++)
		for (rep = 1; rep <= reps; rep++) {
			off = 100 * exp(0.3 * normal())
			printf "%d,r%d,off,ns,%.9g\n", rep, row, off
			printf "%d,r%d,off2,ns,%.9g\n", rep, row, off * exp(0.1 * normal())
			printf "%d,r%d,on,ns,%.9g\n", rep, row, 0.8 * off * exp(0.1 * normal())
		}
}
END
awk -v rows=300 -v reps=15 -f synth.awk >synth

# share WHICH CONDITION (awk): per cent of the lines of the last summary, and how many there were.
share() {
	tail -n +2 out.csv | awk -F, "$1"' { n++; hit += ('"$2"') } END { printf "%.1f %d\n", 100 * hit / n, n }'
}
# within SHARE MIN MAX: and of 300 lines
within() {
	awk -v s="$1" -v lo="$2" -v hi="$3" \
		'BEGIN { split(s, f, " "); exit !(f[1] >= lo && f[1] <= hi && f[2] == 300) }' ||
		{ echo "$1 is not $2 to $3 per cent of 300"; return 1; }
}
summary <synth >/dev/null
cp table.txt synth.txt
# shellcheck disable=SC2016 # awk's fields, below
{
# 15 values: nominally 96.5 %; 3 standard errors of 300 trials are 3.2
check "the interval of a median holds the truth in about 95 % of cases" \
	within "$(share '$2 == "off"' '$5 <= 100 && $6 >= 100')" 92 99.4
check "the interval of a ratio holds the truth in about 95 % of cases" \
	within "$(share '$2 == "on"' '$8 <= 0.8 && $9 >= 0.8')" 92 99.4
check "a null comparison is 'no difference' in about 95 % of cases" \
	within "$(grep -c '^  off2 .*no difference' synth.txt | awk '{ print $1 / 3, 300 }')" 92 99.4
check "a real difference is never 'no difference'" \
	within "$(grep -c '^  on .*no difference' synth.txt | awk '{ print $1 / 3, 300 }')" 0 0
check "pairing beats the spread between reps" \
	within "$(share '$2 == "on"' '($9 - $8) / $7 < ($6 - $5) / $4')" 95 100
}

narrower() {
	local wide narrow
	wide=$(awk -v rows=1 -v reps=15 -f synth.awk | summary | awk -F, '$2 == "on" { print $9 - $8 }')
	narrow=$(awk -v rows=1 -v reps=400 -f synth.awk | summary | awk -F, '$2 == "on" { print $9 - $8 }')
	awk "BEGIN { exit !($narrow < $wide / 2 && $narrow > 0) }" || { echo "$wide $narrow"; return 1; }
}
check "more repetitions narrow the interval" narrower

repeatable() {
	summary <synth >/dev/null && mv out.csv first.csv && mv table.txt first.txt &&
	summary <synth >/dev/null && cmp first.csv out.csv && cmp first.txt table.txt
}
check "the same data give the same output, byte for byte" repeatable

# Verdicts. Nine pairs: 1.1 in all but one.
{ data off 10 10 10 10 10 10 10 10 10; data up 11 11 11 11 9 11 11 11 11
  data down 9 9 9 9 9 9 9 9 9; data null 9 11 9 11 9 11 10 9 11; data same 10 10 10 10 10 10 10 10 10; } >verdicts
# verdict CONFIG TEXT
verdict() {
	summary -t targets <verdicts >/dev/null
	grep "^  $1 " table.txt | grep -q " $2\$" || { grep "^  $1 " table.txt; return 1; }
}
: >targets
check "verdict: higher" verdict up higher
check "verdict: lower" verdict down lower
check "verdict: an interval over 1" verdict null "no difference"
check "verdict: exactly the same" verdict same "no difference"
echo "better ns lower" >targets
check "verdict: lower is better" verdict down better
check "verdict: higher is worse" verdict up worse
echo "better ns higher" >targets
check "verdict: lower is worse" verdict down worse
check "verdict: higher is better" verdict up better

# target WANTED TARGET-LINE: of config on, in the data by hand (median 16, ratio 0.5)
target() {
	echo "$2" >targets
	summary -t targets <five >/dev/null
	same "$(line on | cut -d, -f10,11)" "$1"
}
check "target: at the limit, <="  target "<=0.5*off,yes" "r on ns off <= 0.5"
check "target: at the limit, <"   target "<0.5*off,no" "r on ns off < 0.5"
check "target: at the limit, >="  target ">=0.5*off,yes" "r on ns off >= 0.5"
check "target: at the limit, >"   target ">0.5*off,no" "r on ns off > 0.5"
check "target: missed, <="        target "<=0.49*off,no" "r on ns off <= 0.49"
check "target: missed, >="        target ">=0.51*off,no" "r on ns off >= 0.51"
check "target: a value"           target "<=16,yes" "r on ns value <= 16"
check "target: a value, missed"   target "<16,no" "r on ns value < 16"
check "target: patterns"          target "<=0.5*off,yes" "r* o[n] * off <= 0.5"
check "target: a comment behind"  target "<=0.5*off,yes" "r on ns off <= 0.5 # why"
check "target: not for this row"  target "," "q on ns off <= 0.5"

unmeasured() {
	echo "q on ns off <= 0.5" >targets
	summary -t targets <five >/dev/null
	same "$(tail -n 1 out.csv)" "q,on,ns,,,,,,,<=0.5*off,no" &&
	grep "note: q, on, ns: target <=0.5\*off: not measured" table.txt &&
	grep "^targets: 0 met, 0 not met, 1 not measured" table.txt
}
check "a target that was not measured is not met" unmeasured

unpaired_target() {
	echo "r on ns base <= 0.5" >targets
	summary -t targets <five >/dev/null
	same "$(line on | grep base)" "r,on,ns,16,5,30,,,,<=0.5*base,no" && grep "not measured" table.txt
}
check "a target against a config that is not there is not met" unpaired_target

self_target() {
	echo "* * ns off >= 0.1" >targets
	summary -t targets <five >/dev/null
	same "$(line off)" "r,off,ns,30,10,50,,,,," && same "$(field 11 on)" yes
}
check "a pattern that includes the reference keeps its line" self_target

several() {
	printf 'r on ns off <= 0.6\nr on ns peer <= 1\n' >targets
	{ cat five; data peer 5 4 9 8 15; } | summary -t targets >/dev/null
	same "$(line on)" "r,on,ns,16,5,30,0.5,0.4,0.6,<=0.6*off,yes
r,on,ns,16,5,30,2,1,2,<=1*peer,no" && grep "^targets: 1 met, 1 not met, 0 not measured" table.txt
}
check "a line for each target with another reference" several

only_peer() {
	echo 'r on ns peer <= 2' >targets
	{ cat five; data peer 5 4 9 8 15; } | summary -t targets >/dev/null
	same "$(line on | cut -d, -f7,10,11)" "0.5,,
2,<=2*peer,yes"
}
check "the ratio to the usual reference is kept" only_peer

override() {
	echo 'r on ns peer' >targets
	{ cat five; data peer 5 4 9 8 15; } | summary -t targets >/dev/null
	same "$(line on | cut -d, -f7,10,11) $(field 7 peer)" "2,, 0.3"
}
check "another reference for some lines" override

strict() {
	local status=0
	echo "r on ns off $1 0.5" >targets
	{ echo $HEADER; cat five; } >raw.csv
	"$STATS" -e -t targets raw.csv >/dev/null || status=$?
	same "$status" "$2"
}
check "-e: status 0 when all are met" strict "<=" 0
check "-e: status 3 when one is not" strict "<" 3

# The best of a family: 20 is best by ns and worst by exits; one config for both.
{ data off 100 100 100; data thr=10 50 50 50; data thr=20 30 30 30; data thr=30 40 40 40
  for rep in 1 2 3; do echo "$rep,r,thr=10,exits,1"; echo "$rep,r,thr=20,exits,9"; done; } >family
best() { # DIRECTION CONFIG NS EXITS
	printf 'better ns %s\nbetter exits lower\n' "$1" >targets
	summary -t targets --best best=thr= <family >/dev/null
	same "$(field 4 best)" "$3" && grep "best ($2)" table.txt &&
	same "$(grep '^r,best,exits,' out.csv | cut -d, -f4)" "$4"
}
check "best: the lowest, with all its metrics" best lower thr=20 30 9
check "best: the highest, with all its metrics" best higher thr=10 50 1

best_target() {
	printf 'better ns lower\nr best ns off <= 0.3\n' >targets
	summary -t targets --best best=thr= <family >/dev/null
	same "$(line best)" "r,best,ns,30,30,30,0.3,0.3,0.3,<=0.3*off,yes"
}
check "best: a target for it" best_target
printf 'better ns lower\n' >targets
{ echo $HEADER; cat family; } >family.csv
check "best: needs to know what is better" refused "no metric of 'thr=*' has a 'better' line" \
	"$STATS" --best best=thr= family.csv
check "best: not over a config of the data" refused "there is a config 'off'" \
	"$STATS" -t targets --best off=thr= family.csv
check "best: NAME=PREFIX" refused "is not NAME=PREFIX" "$STATS" --best thr family.csv

files() {
	{ echo $HEADER; data off 10 20 30 40 50; } >a.csv
	{ echo $HEADER; echo "# by hand"; echo; data on 5 8 18 16 30; } >b.csv
	"$STATS" -o out.csv a.csv - <b.csv >/dev/null && same "$(field 7 on)" 0.5
}
check "several files, standard input, comments, blank lines" files

# Malformed input: LINE is refused as line 3 of raw data.
raw_refused() { # TEXT LINE
	rm -f out.csv
	{ echo $HEADER; data off 1; printf '%b\n' "$2"; } >bad.csv
	refused "bad.csv:3: $1" "$STATS" -o out.csv bad.csv || return
	if [ -e out.csv ] || [ -e out.csv.tmp ]; then
		echo "it left a summary behind"
		return 1
	fi
}
check "refused: too few fields" raw_refused "4 fields instead of 5" "2,r,off,ns"
check "refused: too many fields" raw_refused "6 fields instead of 5" "2,r,off,ns,1,2"
check "refused: very many fields" raw_refused "there are more than 16" ",,,,,,,,,,,,,,,,,,,,"
check "refused: rep is no number" raw_refused "'x' is not a whole number" "x,r,off,ns,1"
check "refused: rep is negative" raw_refused "'-1' is not a whole number" "-1,r,off,ns,1"
check "refused: value is no number" raw_refused "'fast' is not a number" "2,r,off,ns,fast"
check "refused: value with a unit" raw_refused "'5us' is not a number" "2,r,off,ns,5us"
check "refused: no value" raw_refused "'' is not a number" "2,r,off,ns,"
check "refused: nan" raw_refused "'nan' is not a number" "2,r,off,ns,nan"
check "refused: infinity" raw_refused "'inf' is not a number" "2,r,off,ns,inf"
check "refused: no config" raw_refused "field 3 is empty" "2,r,,ns,1"
check "refused: a blank in a name" raw_refused "'r 1' is not a name" "2,r 1,off,ns,1"
check "refused: a quote" raw_refused "'\"r\"' is not a name" '2,"r",off,ns,1'
check "refused: a NUL byte" raw_refused "there is a NUL byte" '2,r,o\0ff,ns,1'
check "refused: a repetition twice" raw_refused "rep 1 of r, off, ns is in bad.csv:2 already" \
	"1,r,off,ns,1"

echo "rep,config,metric,value" >bad.csv
check "refused: another header" refused "bad.csv:1: the header must be" "$STATS" bad.csv
: >bad.csv
check "refused: an empty file" refused "bad.csv is empty" "$STATS" bad.csv
echo $HEADER >bad.csv
check "refused: a header only" refused "no repetitions" "$STATS" bad.csv
check "refused: a file that is not there" refused "cannot read nowhere.csv" "$STATS" nowhere.csv
check "refused: no file" refused "no file to read" "$STATS"
check "refused: an unknown option" refused "invalid option" "$STATS" -x raw.csv
check "refused: a place that cannot be written" refused "cannot write /nowhere/out.csv" \
	"$STATS" -o /nowhere/out.csv a.csv

targets_refused() { # TEXT LINE
	printf '# comment\n%s\n' "$2" >targets
	refused "targets:2: $1" "$STATS" -t targets a.csv
}
check "refused: a target of five words" targets_refused "wanted 'ROW" "r on ns off <="
check "refused: a target of seven words" targets_refused "wanted 'ROW" "r on ns off <= 1 2"
check "refused: an unknown comparison" targets_refused "'=' is not one of" "r on ns off = 1"
check "refused: a limit that is no number" targets_refused "'x' is not a number" "r on ns off <= x"
check "refused: an unknown direction" targets_refused "'smaller' is neither" "better ns smaller"
check "refused: a value without a limit" targets_refused "'value' needs" "r on ns value"
check "refused: another word for better" targets_refused "wanted 'ROW" "best ns lower"
check "refused: targets that are not there" refused "cannot read nowhere" "$STATS" -t nowhere a.csv

help_works() { "$STATS" --help | grep "^Usage: stats"; }
check "--help" help_works

tap_end
