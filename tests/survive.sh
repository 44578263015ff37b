#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Guest halt polling and the host's across all that a machine must survive, and beside its peers: CPU hotplug, kexec,
# reset, suspend, migration; and the host's parameters moved at full load.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1

job=$TMP/job
mkdir "$job"
cp "build/kselftest$SUFFIX/sched/halt_poll" "$job/"
cp "build/kernel-$KERNEL/arch/x86/boot/bzImage" build/lab/guest.cpio "$job/"

cat >"$job/common" <<'EOF2'
sysctl=/proc/sys/kernel/halt_poll_
threshold=${sysctl}threshold
# result NAME COMMAND...
result() {
	name=$1
	shift
	if why=$("$@" 2>&1); then host put "ok $name"; else host put "failed $name: $why"; fi
}
# host_polls CPU: MSR_KVM_POLL_CONTROL as the guest has set it, 1 if the host may poll for the vCPU.
host_polls() {
	dd if="/dev/cpu/$1/msr" bs=8 count=1 iflag=skip_bytes skip=$((0x4b564d05)) 2>/dev/null | hexdump -n 4 -e '1/4 "%d"'
}
# all N: N on each CPU that is online. Idle CPUs are given the time to go idle again.
all() {
	sleep 1
	for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
		[ "$(cat "$cpu/online" 2>/dev/null || echo 1)" = 1 ] || continue
		got=$(host_polls "${cpu##*/cpu}")
		[ "$got" = "$1" ] || { echo "${cpu##*/}: $got, not $1"; return 1; }
	done
}
# set_to THRESHOLD GROW SHRINK: what the sysctls are.
set_to() {
	set -- "$*" "$(cat ${sysctl}threshold ${sysctl}grow ${sysctl}shrink | xargs)"
	[ "$1" = "$2" ] || { echo "$2, not $1"; return 1; }
}
# counters: they add up, and none has gone back since they were last asked for. Two readings: a CPU counts on while the
# first is taken.
counters() {
	touch /tmp/stats
	mv /tmp/stats /tmp/before
	cat /sys/kernel/debug/pv_idle/stats >/tmp/stats
	cat /sys/kernel/debug/pv_idle/stats >/tmp/after
	awk -v limit="$(cat $threshold)" -v up="$(cut -d' ' -f1 /proc/uptime)" '
		FNR == 1 { next }
		{ for (i = 2; i <= 6; i++) v[file, $1, i] = $i; if (file == 2) n++ }
		file == 3 {
			for (i = 2; i <= 6; i++)
				if (v[1, $1, i] + 0 > v[2, $1, i] || v[2, $1, i] > $i)
					bad = bad " " $1 ":" i
			if (v[2, $1, 3] > $2 || v[2, $1, 5] > $4 || v[2, $1, 6] > $2 || $4 > up * 1e9 || $7 > limit)
				bad = bad " " $1 ": " $0
			polls += $2 - v[1, $1, 2]
		}
		END { if (bad || !n || !polls) { print "CPU:column" bad, n " CPUs", polls " polls"; exit 1 } }
	' file=1 /tmp/before file=2 /tmp/stats file=3 /tmp/after
}
# load: keeps all CPUs busy, and now and then idle. Ends when the file is removed.
load() {
	touch /tmp/load
	while [ -e /tmp/load ]; do hackbench -g 1 -l 100 >/dev/null || touch /tmp/load.failed; done
	touch /tmp/load.ended
}
unload() {
	rm /tmp/load
	for _ in $(seq 60); do
		if [ -e /tmp/load.ended ]; then [ ! -e /tmp/load.failed ]; return; fi
		sleep 1
	done
	echo 'the load does not end'
	return 1
}
EOF2
cat >"$job/guest" <<'EOF2'
#!/bin/sh
. ./common
cpu1=/sys/devices/system/cpu/cpu1/online
if [ -n "$(tr ' ' '\n' </proc/cmdline | sed -n 's/^second=//p')" ]; then
	result 'after kexec the threshold is 0' [ "$(cat $threshold)" = 0 ]
	result 'after kexec the host polls for all vCPUs' all 1
	exit
fi
result 'at first the host polls' all 1
echo 1000000 >$threshold
result 'with a threshold it does not, for any vCPU' all 0
echo 0 >$cpu1
echo 1 >$cpu1
result 'nor for one that was offline' all 0
echo 0 >$cpu1
echo 0 >$threshold
echo 1 >$cpu1
result 'it does for one that was offline when the threshold went to 0' all 1
echo 0 >$cpu1
echo 1000000 >$threshold
echo 1 >$cpu1
result 'and not for one that was offline when it was set' all 0
cat guest.cpio >/tmp/initrd
(cd / && find job ! -name bzImage ! -name guest.cpio | cpio -o -H newc 2>/dev/null) >>/tmp/initrd
result 'kexec: loads' kexec -l bzImage --initrd=/tmp/initrd --command-line="$(cat /proc/cmdline | sed 's/ -- / second=1 -- /')"
kexec -e
EOF2
cat >"$job/again" <<'EOF2'
#!/bin/sh
. ./common
# Which boot this is the host remembers.
boot=$(host run "echo >>/tmp/boots; wc -l </tmp/boots | xargs printf %s")
if [ "$boot" = 1 ]; then
	echo 1000000 >$threshold
	result 'before the reset the host does not poll' all 0
	load &
	sleep 1
	host reset
	exit 1
fi
result 'after a reset the sysctls are the defaults' set_to 0 2 2
result 'after a reset the host polls for all vCPUs' all 1
echo 1000000 >${sysctl}threshold
echo 3 >${sysctl}grow
echo 5 >${sysctl}shrink
load &
sleep 2
result 'before it migrates polls are counted' counters
result 'migrated under load' host save
result 'migrated: the sysctls are as set' set_to 1000000 3 5
result 'migrated: the load ends' unload
result 'migrated: the host does not poll, for any vCPU' all 0
result 'migrated: polls are counted, and the counters add up' counters
# suspend STATE
suspend() {
	before=$(cat /sys/power/suspend_stats/success)
	host wake 4 && echo "$1" >/sys/power/state && [ "$(cat /sys/power/suspend_stats/success)" = $((before + 1)) ]
}
# From this state only an interrupt that may wake it brings a CPU back.
echo enabled >/sys/class/tty/ttyS0/power/wakeup
result 'suspended (freeze): it comes back' suspend freeze
result 'suspended (freeze): the sysctls are as set' set_to 1000000 3 5
result 'suspended (freeze): the host does not poll, for any vCPU' all 0
result 'suspended (freeze): polls are counted, and the counters add up' counters
echo disabled >/sys/class/tty/ttyS0/power/wakeup
result 'suspended (mem): it is S3' grep -qF '[deep]' /sys/power/mem_sleep
result 'suspended (mem): it comes back' suspend mem
result 'suspended (mem): the sysctls are as set' set_to 1000000 3 5
result 'suspended (mem): the host does not poll, for any vCPU' all 0
result 'suspended (mem): polls are counted, and the counters add up' counters
echo 0 >$threshold
result 'suspended (mem): polling ends, the host polls for all vCPUs' all 1
# After S3 QEMU does not see the request to power off, but that to reboot.
host exit 0
reboot -f
EOF2
cat >"$job/hotplug" <<'EOF2'
#!/bin/sh
. ./common
kvm=/sys/module/kvm/parameters
# parameter NAME=VALUE: it takes it. Or, with !, it refuses it and stays as it is.
parameter() {
	name=${1%=*} value=${1#*=}
	case $name in
	!*) ! host set $kvm/${name#!} "$value" 2>/dev/null || { echo "takes $1"; return 1; } ;;
	*) host set $kvm/$name "$value" && [ "$(host run cat $kvm/$name | xargs)" = "$value" ] || { echo "not $1"; return 1; } ;;
	esac
}
# All the host's parameters, one word.
parameters() { host run "cd $kvm && grep . ple_* halt_poll_*" | tr ' ' ,; }
cycles() {
	i=0
	while [ $i -lt 200 ]; do
		cpu=/sys/devices/system/cpu/cpu$((i % 3 + 1))/online
		echo 0 >$cpu && [ "$(cat $cpu)" = 0 ] && echo 1 >$cpu && [ "$(cat $cpu)" = 1 ] || {
			echo "cycle $i: $cpu is $(cat $cpu)"
			return 1
		}
		i=$((i + 1))
	done
}
moves() {
	rounds=0
	while [ ! -e /tmp/cycled ]; do
		for move in ple_load_under=0 ple_load_over=0 '!ple_load_under=1' ple_undercommit_exit=Y ple_load_over=1 \
			ple_overcommit_yield=Y ple_ipi_hint=Y halt_poll_ns=0 ple_local_load=N ple_load_over=4294967295 \
			ple_load_under=4294967295 '!ple_load_over=5' halt_poll_ns=10000000 ple_undercommit_exit=N \
			ple_load_under=2048 ple_load_over=2048 ple_ipi_hint=N '!ple_load_over=-1' ple_overcommit_yield=N \
			ple_local_load=Y halt_poll_ns_grow=0 halt_poll_ns=1 halt_poll_ns_grow=2; do
			parameter $move || return 1
		done
		rounds=$((rounds + 1))
	done
	host say "moved the parameters of the host $rounds times"
	[ "$rounds" -gt 0 ]
}
before=$(parameters)
echo 1000000 >$threshold
load &
(result '200 hotplug cycles under load' cycles; touch /tmp/cycled) &
cycling=$!
result 'the parameters of the host move meanwhile' moves
wait $cycling
result 'then the load ends' unload
result 'then no CPU is missing' [ "$(cat /sys/devices/system/cpu/online)" = 0-3 ]
result 'then the threshold is as set' set_to 1000000 2 2
result 'then the host does not poll, for any vCPU' all 0
result 'then the counters add up' counters
for p in $(echo "$before" | tr , ' '); do host set $kvm/${p%:*} ${p#*:}; done
result 'then the parameters of the host are what they were' [ "$(parameters)" = "$before" ]
EOF2
cat >"$job/peer" <<'EOF2'
#!/bin/sh
./halt_poll >/tmp/ktap
rc=$?
host put "$(grep 'no CPU polls' /tmp/ktap | tail -n 1)"
exit $rc
EOF2
cat >"$job/old" <<'EOF2'
#!/bin/sh
# The host neither offers to stop its own polling nor says what it steals.
. ./common
polls() { awk 'FNR > 1 { n += $2 } END { print n }' /sys/kernel/debug/pv_idle/stats; }
echo 1000000 >$threshold
load &
sleep 2
result 'an older host: polls are counted, and the counters add up' counters
result 'an older host: it is not asked for what it does not offer' all 1
echo 0 >$threshold
sleep 1
stopped=$(polls)
sleep 1
result 'an older host: threshold 0 ends polling there, too' [ "$stopped" = "$(polls)" ]
result 'an older host: the load ends' unload
EOF2
cat >"$job/run" <<'EOF2'
#!/bin/sh
vms --limit 200 --vm guest --smp 2 --cpus 1-2 --run ./guest --vm again --run ./again &&
	vms --limit 400 --vm haltpoll --smp 2 --cpus 1-2 --append "cpuidle_haltpoll.force=1 loglevel=7" --run ./peer \
		--vm poll --smp 2 --append idle=poll --run ./peer &&
	vms --limit 200 --vm old --smp 2 --cpus 1-2 --cpu host,kvm-poll-control=off,kvm-steal-time=off --run ./old
EOF2
cat >"$job/busy" <<'EOF2'
#!/bin/sh
vms --limit 200 --vm hotplug --smp 4 --cpus 1-2 --run ./hotplug
EOF2
chmod +x "$job/run" "$job/guest" "$job/again" "$job/hotplug" "$job/peer" "$job/old" "$job/busy"
run() { lab/run.sh "$TMP/out" -t 900 "$job"; }
check 'all guests come to their end, and no console shows a complaint' run
# Where PAUSE exits, so that the host's parameters matter.
under_load() { lab/run.sh "$TMP/out-load" -t 300 -a setcpuid=pausefilter,pfthreshold -c ./busy "$job"; }
check 'so does one under load on a host with pause-loop exits' under_load
cp "$TMP/out-load/hotplug.out" "$TMP/out/"

# The names that must come back, each with ok.
for guest in guest again hotplug old; do
	while read -r name; do
		said() { grep -qxF "ok $name" "$TMP/out/$guest.out" || { grep -F "$name" "$TMP/out/$guest.out" || echo 'no result'; return 1; }; }
		check "$name" said
	done < <(grep -o "result '[^']*'" "$job/$guest" | cut -d"'" -f2)
done
for peer in haltpoll poll; do
	check "$peer: ours stays off" grep -q '^ok .*with cpuidle-haltpoll or idle=poll no CPU polls' "$TMP/out/$peer.out"
done
check 'cpuidle-haltpoll: the kernel says so, once' same \
	"$(tr -d '\r' <"$TMP/out/haltpoll.console" | grep -c 'halt polling: stays off')" 1
tap_end
