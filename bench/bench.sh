#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: bench.sh TOPIC OUT [-l LAB_OPTION]... [-s STATS_OPTION]... [NAME=VALUE]...
#
# Run the job bench/TOPIC in the lab and write OUT/raw.csv and OUT/summary.csv.
# A "+" at the end of a metric's name sums it over the guests.
#
# A topic that needs more than one boot, or options of the host, has a file
# "boots" that says so: lines "boot KERNEL [lab option]... [-- NAME=VALUE...]".
set -eu
topic=$1 out=$2
shift 2
lab=() stats=()
while getopts l:s: opt; do
	case $opt in
	l) lab+=("$OPTARG") ;;
	s) stats+=("$OPTARG") ;;
	*) echo 'bench: BENCH takes NAME=VALUE, -l LAB_OPTION and -s STATS_OPTION: make bench-sched BENCH="REPS=5"' >&2; exit 64 ;;
	esac
done
shift $((OPTIND - 1))
for arg; do
	[[ $arg =~ ^[A-Z_]+= ]] || { echo "bench: $arg: want NAME=VALUE, as in BENCH=\"REPS=5\"" >&2; exit 64; }
done

args=("$@") rc=0 n=0

# boot KERNEL [lab option]... [-- NAME=VALUE...]: what the caller gave comes last.
boot() {
	local kernel=$1 options=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	[ $rc -eq 0 ] || return 0
	n=$((n + 1))
	KERNEL=$kernel lab/run.sh "$out/lab$n" -t 4000 "${options[@]}" "${lab[@]}" "$job" "$@" "${args[@]}" || rc=$?
}

mkdir -p "$out"
job=$out/job
rm -rf "$job" "$out"/lab*
cp -r "bench/$topic" "$job"
cp bench/common.sh "$job"
if [ -e "bench/$topic/boots" ]; then
	# shellcheck disable=SC1090
	. "bench/$topic/boots"
else
	boot "${KERNEL:-lab}"
fi
cat "$out"/lab*/*.out 2>/dev/null | awk -F, '
	NF != 5 || /^#/ { next }
	$4 !~ /[+]$/ { print; next }
	{
		key = $1 "," $2 "," $3 "," substr($4, 1, length($4) - 1)
		if (!(key in sum))
			order[++n] = key
		sum[key] += $5
	}
	END { for (i = 1; i <= n; i++) print order[i] "," sum[order[i]] }
' | { echo rep,row,config,metric,value; cat; } >"$out/raw.csv"
[ $rc -eq 0 ] || { echo "bench: the run failed with status $rc; its raw data are in $out/raw.csv" >&2; exit $rc; }
build/bin/stats -t "bench/$topic/targets" -o "$out/summary.csv" "${stats[@]}" "$out/raw.csv"
echo "bench: raw data in $out/raw.csv, summary in $out/summary.csv"
