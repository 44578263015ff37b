#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Guest halt polling and the host's across CPU hotplug and kexec, and beside its peers.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1

job=$TMP/job
mkdir "$job"
cp "build/kselftest$SUFFIX/sched/halt_poll" "$job/"
cp "build/kernel-lab$SUFFIX/arch/x86/boot/bzImage" build/lab/guest.cpio "$job/"

cat >"$job/common" <<'EOF2'
threshold=/proc/sys/kernel/halt_poll_threshold
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
cat >"$job/peer" <<'EOF2'
#!/bin/sh
./halt_poll >/tmp/ktap
rc=$?
host put "$(grep 'no CPU polls' /tmp/ktap | tail -n 1)"
exit $rc
EOF2
cat >"$job/run" <<'EOF2'
#!/bin/sh
vms --limit 150 --vm guest --smp 2 --cpus 1-2 --run ./guest &&
	vms --limit 400 --vm haltpoll --smp 2 --cpus 1-2 --append "cpuidle_haltpoll.force=1 loglevel=7" --run ./peer \
		--vm poll --smp 2 --append idle=poll --run ./peer
EOF2
chmod +x "$job/run" "$job/guest" "$job/peer"
run() { lab/run.sh "$TMP/out" -t 900 "$job"; }
check 'all guests come to their end, and no console shows a complaint' run

# The names that must come back, each with ok.
while read -r name; do
	said() { grep -qxF "ok $name" "$TMP/out/guest.out" || { grep -F "$name" "$TMP/out/guest.out" || echo 'no result'; return 1; }; }
	check "$name" said
done < <(grep -o "result '[^']*'" "$job/guest" | cut -d"'" -f2)
for state in freeze mem; do
	skip "suspended ($state)" "the lab's guests cannot report after it: no alarm wakes them, or their console stays deaf"
done
for peer in haltpoll poll; do
	check "$peer: ours stays off" grep -q '^ok .*with cpuidle-haltpoll or idle=poll no CPU polls' "$TMP/out/$peer.out"
done
check 'cpuidle-haltpoll: the kernel says so, once' same \
	"$(tr -d '\r' <"$TMP/out/haltpoll.console" | grep -c 'halt polling: stays off')" 1
tap_end
