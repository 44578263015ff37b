#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: bench.sh TOPIC OUT [-l LAB_OPTION]... [-s STATS_OPTION]... [NAME=VALUE]...
#
# Run the job bench/TOPIC in the lab and write OUT/raw.csv and OUT/summary.csv.
# A "+" at the end of a metric's name sums it over the guests.
set -eu
topic=$1 out=$2
shift 2
lab=() stats=()
while getopts l:s: opt; do
	case $opt in
	l) lab+=("$OPTARG") ;;
	s) stats+=("$OPTARG") ;;
	*) exit 64 ;;
	esac
done
shift $((OPTIND - 1))

mkdir -p "$out"
job=$out/job
rm -rf "$job"
cp -r "bench/$topic" "$job"
cp bench/common.sh "$job"
rc=0
lab/run.sh "$out/lab" -t 4000 "${lab[@]}" "$job" "$@" || rc=$?
cat "$out"/lab/*.out 2>/dev/null | awk -F, '
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
