# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The workloads of a guest that is measured alone, and what they cost its host. Source it there.
# shellcheck disable=SC1091
. ./common.sh
# What was given to the job holds in the guests, too.
# shellcheck disable=SC1091
. ./env
: "${SECONDS_EACH:=2}" "${LOOPS:=60}"
tbench_srv >/dev/null 2>&1 &
sleep 1

# measure REP ROW CONFIG COMMAND...: what it prints (METRIC=VALUE ...) and the %CPU of the guest's
# QEMU meanwhile.
measure() {
	key=$1,$2,$3
	shift 3
	before=$(host stat exits halt_exits) && values=$("$@") && after=$(host stat exits halt_exits) || return
	values="$values $(echo "$before $after" | awk '{
		for (i = 1; i <= NF; i++) {
			split($i, kv, "=")
			if (kv[1] in first)
				d[kv[1]] = kv[2] - first[kv[1]]
			else
				first[kv[1]] = kv[2]
		}
		s = d["now_ns"] / 1e9
		printf "cpu_pct=%.4g exits_per_s=%.6g halt_exits_per_s=%.6g",
		       d["cpu_ns"] / d["now_ns"] * 100, d["exits"] / s, d["halt_exits"] / s
	}')"
	for value in $values; do
		host put "$key,${value%%=*},${value#*=}" || return
	done
}

ctxsw() {
	result=$(pingpong -c 0,1 -w 50 -t "${SECONDS_EACH}s") || return
	echo "ns=$(field ns_per_roundtrip "$result") p99_ns=$(field p99_ns "$result")"
}

# In less than 2 seconds tbench counts nothing.
tbench_of() {	# CLIENTS
	mbps=$(tb "$SECONDS_EACH" "$1")
	echo "mbps=${mbps:?tbench printed nothing}"
}

hack() {	# OPTION...
	s=$(hackbench "$@" | sed -n 's/^Time: //p')
	echo "seconds=${s:?hackbench printed nothing}"
}

# Timers every 2 ms on both vCPUs; without --laptop it would keep the cpuidle driver from idling.
cyclic() {
	cyclictest --laptop -q -t 2 -a 0,1 -p 80 -i 2000 -D "$SECONDS_EACH" -h 100000 2>/dev/null |
		awk '
			/^[0-9]/ { n = $2 + $3; count[++lines] = n; at[lines] = $1; all += n; sum += $1 * n }
			END {
				if (!all)
					exit 1
				for (i = 1; i <= lines && seen + count[i] < all * 0.99; i++)
					seen += count[i]
				printf "avg_us=%.5g p99_us=%d\n", sum / all, at[i]
			}'
}
