# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the guests' halves of this bench share. Source it in the guest.
# shellcheck disable=SC1091
. ./sched-settings.sh
# shellcheck disable=SC1091
. ./kvm-settings.sh

# A few times what a wake-up takes in the lab.
export POLL_THRESHOLD=3000000

name=$(hostname)

# use CONFIG: switch on what its letters name, and the rest off. off2, which has none of them,
# is the null comparison. Each guest does so for itself, guest a for the host.
#   W   the scheduler ranks vCPUs and weighs what it costs to wake them
#   Y   the host boosts by IPI, leaves early or yields to others, by its load
#   P   the guest polls before it halts
use() {
	w=off y=off p=
	case $1 in *W*) w=on ;; esac
	case $1 in *Y*) y=all ;; esac
	case $1 in *P*) p=poll+ ;; esac
	place "$p$w" || return
	[ "$name" != a ] || ple "host set" "$y"
}

# snapshot: the counters of host and guest, as NAME=VALUE on one line.
snapshot() {
	kvm=$(host stat exits halt_exits ple_exits ple_undercommit_exits ple_overcommit_yields \
		ple_boost_successful) || return
	echo "$kvm $(wakeups | sed -e 's/worse=.*//' -e 's/[a-z-]*=/wakeups_&/g') $(awk '
		$1 == "cpu" && FILENAME == "/proc/stat" { printf "steal_ns=%d0000000", $9 }
		FILENAME != "/proc/stat" && FNR > 1 { polls += $2; hits += $3; ns += $4; backoffs += $6 }
		END { printf " polls=%.0f hits=%.0f polled_ns=%.0f backoffs=%.0f\n", polls, hits, ns, backoffs }
	' /proc/stat /sys/kernel/debug/pv_idle/stats)"
}

# per_wakeup KEY RESULT BEFORE AFTER: raw results, in one line, of what a workload printed and of
# the counters before and after it, these per round trip or request.
per_wakeup() {
	printf '%s\n' "$2" "$3" "$4" | awk -v key="$1" '
		function put(metric, value) { printf "%s,%s,%.6g ", key, metric, value }
		{
			for (i = 1; i <= NF; i++) {
				split($i, kv, "=")
				if (NR == 1)
					result[kv[1]] = kv[2]
				else if (NR == 2)
					before[kv[1]] = kv[2]
				else
					did[kv[1]] = kv[2] - before[kv[1]]
			}
		}
		END {
			if ("roundtrips" in result) {
				n = result["roundtrips"]
				put("ns", result["ns_per_roundtrip"])
			} else {
				n = result["requests"]
				put("p99_ns", result["p99_ns"])
			}
			did["host_cpu_ns"] = did["cpu_ns"]
			did["exits_but_pause"] = did["exits"] - did["ple_exits"]
			delete did["cpu_ns"]
			delete did["now_ns"]
			for (name in did)
				put(name, did[name] / n)
		}'
}
