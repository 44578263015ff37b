#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The report: verdicts and notes by hand, what could not be run, two runs compared, the page; and
# that the tables of bench/report agree with the postings and with the job. Made-up data.

. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
make -s -f bench/build.mk bench-bin BIN=build/bench-bin || { echo "Bail out! bench/ does not build"; exit 1; }
REPORT=$TOP/build/bench-bin/report
REAL=$TOP/bench/report
cd "$TMP" || exit 1

# A small report: two tables, one of each kind.
mkdir defs
cat >defs/tables <<'END'
# comment
section idle off one guest
section wake off two guests
section net off a card
table lat list lower ns A list
text First sentence.
text Second one.
row w/o patch  | | | 200 | | 150.5 | idle ctxsw ns off
row half       | | | 100 | | 160   | idle ctxsw ns thr=10 off
row the same   | | | 200 | |       | idle ctxsw ns thr=20 off
row against    | | | 100 | |       | idle ctxsw ns thr=30 off
row gone       | | | 150 | |       | - it is no more
row never      | | |     | |       | idle ctxsw ns thr=40 off
row card       | | |     | |       | net iperf mbit off
table thr pair higher MB/s A pair
row one        | 10 | 0.5 | 20 | 0.25 | | wake pair1 mbps on off
row two        | 10 |     | 11 |      | | wake pair2 mbps on off
END
printf 'better ns lower\nbetter mbps higher\n' >defs/targets
cat >defs/why <<'END'
lat thr=1* stronger | Because of the emulation.
lat thr=3* opposite | Because of <that> & this.
END
cp "$REAL/plots.gp" defs

# data FILE CONFIG ROW METRIC VALUE...: reps 1 to n.
data() {
	local file=$1 config=$2 row=$3 metric=$4 rep=0 v
	shift 4
	[ -e "$file" ] || { mkdir -p "$(dirname "$file")"; echo rep,row,config,metric,value >"$file"; }
	for v; do
		rep=$((rep + 1))
		echo "$rep,$row,$config,$metric,$v" >>"$file"
	done
}
# sample DIR THR30: a run; with 9 reps the interval of constant ratios is a point.
sample() {
	mkdir -p "$1"
	printf 'run=first\nquick=no\ncommit=c0ffee\n' >"$1/meta"
	echo "net there is no card" >"$1/not-run"
	data "$1/idle/raw.csv" off ctxsw ns 1000 1100 1000 1100 1000 1100 1000 1100 1000
	data "$1/idle/raw.csv" off2 ctxsw ns 1100 1000 1100 1000 1100 1000 1100 1000 1100
	data "$1/idle/raw.csv" thr=10 ctxsw ns 100 110 100 110 100 110 100 110 100
	data "$1/idle/raw.csv" thr=20 ctxsw ns 1010 1090 1010 1090 1010 1090 1010 1090 990
	data "$1/idle/raw.csv" thr=30 ctxsw ns "$2" "$2" "$2" "$2" "$2" "$2" "$2" "$2" "$2"
	data "$1/idle/raw.csv" off ctxsw cpu_pct 180 180 180
	data "$1/wake/raw.csv" off pair1 mbps 10 10 10 10 10 10 10 10 10
	data "$1/wake/raw.csv" on pair1 mbps 20 20 20 20 20 20 20 20 20
	data "$1/wake/raw.csv" off pair2 mbps 10
	data "$1/wake/raw.csv" on pair2 mbps 12
}
sample run 1500
"$REPORT" -d defs run >out.txt 2>err.txt || { echo "Bail out! $(cat err.txt)"; exit 1; }

# shows WORDS...: a line of results.md, without the padding.
shows() {
	tr -s ' ' <run/results.md | sed 's/ $//' >words
	grep -Fx -- "$*" words && return
	cat run/results.md
	return 1
}
check "list: the first row is what others refer to" \
	shows "w/o patch 200 150.5 | 9 1000 (1000 .. 1100) 180.0"
check "list: posted ratio, ratio in pairs, stronger than posted" \
	shows "half 100 0.500 160 | 9 100 (100 .. 110) 0.100 (0.100 .. 0.100) better stronger than posted [1]"
check "list: an interval that holds 1 is no difference" \
	shows "the same 200 1.000 | 9 1010 (1010 .. 1090) 0.991 (0.991 .. 1.010) no difference"
check "list: the opposite of what was posted" \
	shows "against 100 0.500 | 9 1500 (1500 .. 1500) 1.500 (1.364 .. 1.500) worse opposite to the posting [2]"
check "what cannot be run says why" shows "gone 150 0.750 | not run: it is no more"
check "what there is no data of is not left out" shows "never | not run: no data in this run"
check "a section that was not run gives its reason" shows "card | not run: there is no card"
check "pair: base, deviations, patched" \
	shows "one 10 0.5 20 0.25 2.000 | 9 10 20 (20 .. 20) 2.000 (2.000 .. 2.000) better"
check "one pair is no verdict" shows "two 10 11 1.100 | 1 10 12 (12 .. 12) 1.200 (1.200 .. 1.200) one pair"
check "explanations are below the table" grep -Fx "[1] Because of the emulation." run/results.md
check "the null comparison is shown" \
	shows "idle ctxsw ns: off2 | 9 1000 1100 1.100 (0.909 .. 1.100)"
check "null comparisons are counted" \
	grep "1 null comparisons, 0 of them with an interval that misses 1.0" run/results.md
check "the run is named" grep -x -- "- commit: c0ffee" run/results.md
check "all is counted" grep -x "comparisons: 2 better, 1 worse, 1 no difference, 1 with fewer than two pairs; rows not run: 3; much different from the posting: 2" out.txt
check "summary.csv has each row, also those in no table" \
	grep -x "idle,ctxsw,thr=10,ns,9,100,100,110,off,0.1,0.1,0.1,better" run/summary.csv
check "the page escapes what it must" grep "Because of &lt;that&gt; &amp; this" run/index.html
one_page() { grep '<svg' run/index.html && ! grep -E '(src|href)=.(http|[a-z]+/)' run/index.html; }
check "the page has its plot inside and needs nothing else" one_page
no_plot() { grep 'Plot "Wake-up latency.*not drawn: no data in this run' run/index.html; }
check "a plot without data says so" no_plot

unexplained() {
	: >defs/why
	"$REPORT" -d defs run >/dev/null && grep "NOT EXPLAINED" run/results.md
}
check "a difference that nothing explains is said to be so" unexplained

quick() {
	cp -r run quick
	sed -i 's/^quick=no/quick=yes/' quick/meta
	"$REPORT" -d defs quick >/dev/null && grep '^# .*QUICK' quick/results.md &&
		tr -s ' ' <quick/results.md | grep -Fx "never | not run: left out of a QUICK run"
}
check "a QUICK run says that it is one" quick

# Two runs: thr=30 was worse in the first one.
sample better 500
sample nodiff 1050
compared() { # STATUS TEXT OLD NEW
	local status=0
	"$REPORT" -d defs -c "$3" "$4" >compared.txt || status=$?
	cat compared.txt
	same "$status" "$1" && grep -F -- "$2" compared.txt
}
check "a run agrees with itself" compared 0 "0 change sign outside their intervals" run run
check "compare: a changed sign is listed, status 3" compared 3 \
	"CHANGED idle ctxsw ns thr=30 against off: 1.500 (1.364 .. 1.500), then 0.500 (0.455 .. 0.500)" run better
check "compare: and only that" compared 3 "1 change sign outside their intervals, 0 no longer differ" run better
check "compare: what no longer differs is no changed sign" compared 0 \
	"0 change sign outside their intervals, 1 no longer differ" run nodiff

check "refused: no run" refused "cannot read nowhere/meta" "$REPORT" -d defs nowhere
check "refused: one run to compare" refused "two runs are wanted" "$REPORT" -d defs -c run
mkdir empty && echo a=b >empty/meta
check "refused: a run without data" refused "no repetitions" "$REPORT" -d defs empty
twice() {
	cp -r run twice
	echo 1,ctxsw,off,ns,5 >>twice/idle/raw.csv
	refused "rep 1 of ctxsw, off, ns is there twice" "$REPORT" -d defs twice
}
check "refused: a repetition twice" twice
bad_tables() { # TEXT LINE
	mkdir -p bad
	cp defs/* bad
	echo "$2" >>bad/tables
	refused "bad/tables:18: $1" "$REPORT" -d bad run
}
check "refused: a row with too few fields" bad_tables "wanted 'row LABEL" "row x | 1 | wake pair1 mbps on off"
check "refused: an unknown section" bad_tables "there is no section 'wak'" "row x | | | | | | wak pair1 mbps on off"
check "refused: an unknown kind of line" bad_tables "'raw' is not one of" "raw x | y"
check "refused: a figure that is none" bad_tables "'1x' is not a number" "row x | 1x | | | | | wake pair1 mbps on off"
check "--help" "$REPORT" --help

# The real tables.
real() {
	sample real 500
	"$REPORT" -d "$REAL" real >/dev/null && ! grep -E 'NOT EXPLAINED' real/results.md
}
check "the real tables can be read" real
# posted LABEL... : some rows of the postings, copied from them once more.
posted() {
	tr -s ' ' <real/results.md >words
	grep -F -- "$1" words || { echo "not there: $1"; return 1; }
}
check "posted: halt_poll_threshold=20000" posted "halt_poll_threshold=20000 / 4 ms 1391 0.558 200.7 |"
check "posted: idle=poll, netperf" posted "idle=poll 18441 1.267 1003 |"
check "posted: ebizzy 1x" posted "1x 2543 20.29 6279 82.52 2.469 |"
check "posted: dbench 3x" posted "3x 1295 22.4 1316 36.01 1.016 |"
check "posted: hackbench 16" posted "16 22.16 0.129 21.86 0.167 0.987 |"
check "posted: tbench, 7 clients" posted "VM2, 7 clients 1241 1359 1.095 |"
check "posted: schbench" posted "2 threads, 50th VM1 67 56 0.836 |"

# Each row of the tables is measured by the full job: boots or run has its setting.
measured() {
	local rc=0 section row config settings
	cd "$TOP" || return
	for section in idle base wake yield net; do
		# shellcheck disable=SC2016 # for that shell
		settings=" $(job=$TMP/job SECTION=$section QUICK='' KERNEL='' bash -c '
			boot() { echo "$*"; }
			cp() { :; }
			ldd() { :; }
			. bench/report/boots') $(sed -n "/^$section)/,/;;/p" bench/report/run) "
		settings=${settings//[$'"\n']/ }
		while read -r row config; do
			[[ ${settings//=/ } == *" ${config/=/ } "* ]] ||
				{ echo "$section: $row: nothing is run with '$config'"; rc=1; }
		done < <(sed -n "s/^row .*| $section \([^ ]*\) [^ ]* \([^ ]*\).*/\1 \2/p" "$REAL/tables")
	done
	return $rc
}
check "each setting that a table shows is one that the job runs" measured

# What the folders in bench/ call with "better" is the same in stats and here.
directions() {
	local m rc=0
	while read -r m; do
		grep "^better $m " "$REAL/targets" || { echo "no direction for $m"; rc=1; }
	done < <(sed -n 's/^row .*| [a-z]* [^ ]* \([^ ]*\) [^ ]*.*/\1/p' "$REAL/tables" | grep -v '|' | sort -u)
	return $rc
}
check "each metric of a table has a direction" directions

# The glue, in a checkout that has only what it needs: bench.sh there makes figures up.
CO=$TMP/checkout
mkdir -p "$CO"/{scripts,bench/kvm,build/bin,build/lab,build/kernel-{lab,base}/arch/x86/boot}
cp -r "$REAL" "$TOP/bench/sched" "$TOP/bench/common.sh" "$CO/bench"
cp "$TOP/bench/kvm/settings.sh" "$CO/bench/kvm"
cp "$TOP/scripts/lib.sh" "$CO/scripts"
cp "$TOP"/build/bench-bin/{stats,report} "$CO/build/bin"
touch "$CO"/build/{lab/host.cpio,lab/guest.cpio,bin/lab} "$CO"/build/kernel-{lab,base}/{.config,arch/x86/boot/bzImage}
cat >"$CO/bench/bench.sh" <<'END'
#!/bin/bash
# bench.sh report OUT
echo "$SECTION" >>ran
[ "$SECTION" != "$(cat fail 2>/dev/null)" ] || { echo "  lab FAILED"; exit 7; }
echo "  lab at work"
{ echo rep,row,config,metric,value; for rep in 1 2 3; do for c in off off2 base base2 on; do
	echo "$rep,ctxsw,$c,ns,$((rep + 10))"; done; done; } >"$2/raw.csv"
END
chmod +x "$CO/bench/bench.sh"
# glue STATUS RAN [NAME=VALUE...]: run it; it must end so and measure these sections.
glue() {
	local status=0 want=$1 ran=$2
	shift 2
	rm -f "$CO/ran"
	touch "$CO/ran"
	(cd "$CO" && env QUICK= VCPU_SCHED_CACHE="$TMP/cache" SECTIONS="idle wake" ROUNDS=2 "$@" bench/report/report.sh build/r) >glue.txt 2>&1 || status=$?
	same "$status: $(xargs <"$CO/ran")" "$want: $ran" || { cat glue.txt; return 1; }
}
raw() { same "$(grep -c ctxsw,off, "$CO/build/r/idle/raw.csv") $(tail -n 1 "$CO/build/r/idle/raw.csv")" "$1"; }
check "all parts are measured, round by round" glue 0 "idle wake idle wake"
check "progress and time left are told" grep -E '^report: \[2/4\] wake/1: about [0-9]+:[0-9]+; [0-9]+:[0-9]+ left' glue.txt
check "the rounds are merged, their repetitions kept apart" raw "6 103,ctxsw,on,ns,13"
check "there is a page" test -s "$CO/build/r/index.html"
check "what is done is not done again" glue 0 ""
no_net() { glue 0 "" SECTIONS="idle wake net" && grep '^net .*CONFIG_VIRTIO_NET' "$CO/build/r/not-run"; }
check "a section that cannot be run is noted" no_net
anew() { glue 0 "idle wake idle wake" ANEW=1; }
check "ANEW=1 measures again" anew
other_kernel() { echo x >"$CO/build/kernel-base/arch/x86/boot/bzImage" && glue 0 "idle wake idle wake" && grep "starting anew" glue.txt; }
check "another kernel: what was measured does not count" other_kernel
one_fails() {
	echo wake >"$CO/fail"
	glue 1 "idle wake idle wake" ANEW=1 && grep "2 of 4 parts failed" glue.txt &&
	grep "wake .*failed with status 7" "$CO/build/r/not-run" && raw "6 103,ctxsw,on,ns,13"
}
check "a part that fails does not stop the others, and is reported" one_fails
resumed() { rm "$CO/fail" && glue 0 "wake wake"; }
check "the next run tries only what failed" resumed
before() {
	touch "$CO/build/r/complete" && glue 0 "idle wake idle wake" ANEW=1 &&
	grep "kept in build/r-before" glue.txt && grep "0 change sign outside their intervals" glue.txt
}
check "a complete run is kept, and the next one compared with it" before

tap_end
