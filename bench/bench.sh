#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: bench.sh TOPIC OUT STATS_PROGRAM [-s STATS_OPTION]... LAB_COMMAND... -- [NAME=VALUE]...
#
# Run the job bench/TOPIC in the lab and write OUT/raw.csv and OUT/summary.csv.
# A "+" at the end of a metric's name sums it over the guests.
set -eu
topic=$1 out=$2 stats=$3
shift 3
options=()
while [ "$1" = -s ]; do
	options+=("$2")
	shift 2
done
lab=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	lab+=("$1")
	shift
done
[ $# -eq 0 ] || shift

mkdir -p "$out"
job=$out/job
rm -rf "$job"
cp -r "bench/$topic" "$job"
cp bench/common.sh "$job"
rc=0
"${lab[@]}" -o "$out/lab" -t 4000 "$job" "$@" || rc=$?
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
"$stats" -t "bench/$topic/targets" -o "$out/summary.csv" "${options[@]}" "$out/raw.csv"
echo "bench: raw data in $out/raw.csv, summary in $out/summary.csv"
