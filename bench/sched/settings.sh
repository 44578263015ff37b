# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the guests' halves of this bench share. Source it in the guest.
# shellcheck disable=SC1091
. ./common.sh
# What was given to the job holds in the guests, too.
# shellcheck disable=SC1091
[ ! -f env ] || . ./env

# place SETTING: how wake-ups are placed from now on.
#   blind		idle checks do not see what the host has preempted
#   off, off2		mainline's rule (off2: the null comparison)
#   rank		fall back to the best vCPU that was seen
#   on			also weigh what it costs to wake a vCPU
# With "poll+" before it, the guest polls before it halts.
place() {
	case ${1#poll+} in
	blind) set -- "$1" NO_VCPU_AWARE NO_VCPU_RANK NO_VCPU_PRICE ;;
	off | off2) set -- "$1" VCPU_AWARE NO_VCPU_RANK NO_VCPU_PRICE ;;
	rank) set -- "$1" VCPU_AWARE VCPU_RANK NO_VCPU_PRICE ;;
	on) set -- "$1" VCPU_AWARE VCPU_RANK VCPU_PRICE ;;
	*) echo "no such setting: $1" >&2; return 1 ;;
	esac
	case $1 in
	poll+*) setting "thr=${POLL_THRESHOLD:-1000000}" || return ;;
	*) setting off || return ;;
	esac
	shift
	for feature; do
		echo "$feature" >/sys/kernel/debug/sched/features || return
	done
}

# wakeups: how many wake-ups went to which rank since boot, as NAME=COUNT.
wakeups() {
	awk 'NR == 1 { for (i = 3; i <= NF; i++) name[i] = $i; n = NF }
	     NR > 1 && !/^#/ { for (i = 3; i <= NF; i++) sum[i] += $i }
	     END { for (i = 3; i <= n; i++) printf "%s=%d ", name[i], sum[i] }' \
		/sys/kernel/debug/sched/vcpu
}

# put_wakeups REP ROW SETTING BEFORE AFTER: their shares of all wake-ups.
put_wakeups() {
	for rank in polling idle halted busy idle-preempted busy-preempted stay worse; do
		set -- "$1" "$2" "$3" "$4" "$5" \
			"$(field "$rank" "$4") $(field "$rank" "$5") $(total "$4") $(total "$5")"
		put "$1" "$2" "$3" "share_$rank" \
			"$(echo "$6" | awk '{ printf "%.6g", ($4 > $3 ? ($2 - $1) / ($4 - $3) : 0) }')"
	done
}

total() {
	echo "$1" | tr ' ' '\n' | awk -F= '$1 != "stay" && $1 != "worse" { s += $2 } END { print s }'
}

echo 1 >/proc/sys/kernel/sched_schedstats
