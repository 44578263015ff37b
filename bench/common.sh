# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the guests' halves of the benches share. Source it in the guest.

# Raw results: a line per value, as the report tool `stats` reads them. The
# values of all guests are summed where METRIC ends in "+".
put() {		# REP ROW CONFIG METRIC VALUE
	host put "$1,$2,$3,$4,$5"
}

# field NAME "a=1 b=2 ...": a value out of a program's line of results.
field() {
	echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p" | head -n 1
}

# delta NAME BEFORE AFTER DIVISOR
delta() {
	echo "$(field "$1" "$2") $(field "$1" "$3") $4" | awk '{ printf "%.6g", ($2 - $1) / $3 }'
}

# rotate N WORD...: the words, turned by N, so that none always follows the
# same other one.
rotate() {
	n=$(($1 % ($# - 1)))
	shift
	while [ "$n" -gt 0 ]; do
		set -- "$@" "$1"
		shift
		n=$((n - 1))
	done
	echo "$@"
}

# tb SECONDS CLIENTS: throughput in MB/s.
tb() {
	tbench -c /usr/share/dbench/client.txt -t "$1" "$2" 127.0.0.1 |
		sed -n 's/^Throughput \([0-9.]*\) .*/\1/p'
}

# setting CONFIG: put one config in force. The names are those of the tables:
#   off, off2           no polling on either side (off2: the null comparison)
#   thr=NS              kernel.halt_poll_threshold
#   hostpoll=NS         KVM's halt_poll_ns on the host
#   haltpoll=NS         cpuidle-haltpoll's largest window, which it starts from, too
#   haltpoll            cpuidle-haltpoll as shipped
#   idle=poll           as booted
setting() {
	threshold=0 hostpoll=0
	case $1 in
	thr=*) threshold=${1#*=} ;;
	hostpoll=*) hostpoll=${1#*=} ;;
	haltpoll=*)
		echo "${1#*=}" >/sys/module/haltpoll/parameters/guest_halt_poll_ns &&
			echo "${1#*=}" >/sys/module/haltpoll/parameters/guest_halt_poll_grow_start || return
		;;
	haltpoll)
		echo 200000 >/sys/module/haltpoll/parameters/guest_halt_poll_ns &&
			echo 50000 >/sys/module/haltpoll/parameters/guest_halt_poll_grow_start || return
		;;
	esac
	host set /sys/module/kvm/parameters/halt_poll_ns "$hostpoll" || return
	if [ -e /proc/sys/kernel/halt_poll_threshold ]; then
		echo "$threshold" >/proc/sys/kernel/halt_poll_threshold
	else
		[ "$threshold" = 0 ]
	fi
}
