#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The lab itself: a healthy run is healthy, and what goes wrong is seen and said.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1

# job NAME: a job whose `run` comes from standard input.
job() {
	mkdir -p "$TMP/$1"
	{ echo '#!/bin/sh'; cat; } >"$TMP/$1/run"
	chmod +x "$TMP/$1/run"
}

# lab STATUS JOB [LAB_OPTION]...: run it; the exit status must be STATUS.
lab() {
	local want=$1 job=$2 rc=0
	shift 2
	lab/run.sh "$TMP/out-$job" -t 200 "$@" "$TMP/$job" >"$TMP/$job.log" 2>&1 || rc=$?
	[ "$rc" = "$want" ] && return
	echo "exit status $rc, not $want"
	cat "$TMP/$job.log"
	return 1
}

has() { grep -q -e "$2" "$1" || { echo "no '$2' in $1:"; tail -n 20 "$1"; return 1; }; }

# All that may go well in one boot, and a workload that fails.
job well <<'EOF'
vms --vm a --smp 2 --pin 1,2 --run 'host barrier both 2 && host stat exits halt_exits > /tmp/s && host put $(cat /tmp/s)' \
	--vm b --pin 1,2 --run 'host barrier both 2 && host put $(host run echo from the host) && host turn && host put turned' || exit 10
vms --vm c --run 'exit 7'
[ $? = 1 ] || exit 11
vms --vm d --cpus 0-1 --run true
[ $? = 64 ] || exit 12
[ "$COLOUR" = blue ] || exit 13
vms --vm e --run ./e || exit 14
EOF
cat >"$TMP/well/e" <<'EOF'
#!/bin/sh
set -- $(host run 'echo >>/tmp/e; wc -l </tmp/e')
case $1 in
1) host restart ;;
2) host reset ;;
*) host save && host put "boot $1" ;;
esac
EOF
chmod +x "$TMP/well/e"
well() { lab/run.sh "$TMP/out-well" -t 200 "$TMP/well" COLOUR=blue >"$TMP/well.log" 2>&1 || { cat "$TMP/well.log"; return 1; }; }
check 'two guests at once, host requests, a failing workload, CPU 0 refused' well
check 'host stat answers with counters' has "$TMP/out-well/a.out" '^now_ns=[0-9]* cpu_ns=[1-9][0-9]* exits=[1-9][0-9]* halt_exits=[0-9]'
check 'host run answers with the output' has "$TMP/out-well/b.out" '^from the host$'
check 'a turn comes to the only one that asks' has "$TMP/out-well/b.out" '^turned$'
check "a guest's KVM counters are kept" has "$TMP/out-well/a.kvm" '^exits [1-9]'
check 'a guest that is killed, reset and migrated comes to its end' has "$TMP/out-well/e.out" '^boot 3'
check 'a failing workload is named' has "$TMP/well.log" 'c: workload failed with status 7'

# Each of these must fail the run that meets it.
job panic <<'EOF'
vms --vm bad --append rdinit=/bin/false --run ''
EOF
check 'a guest that panics fails the run' lab 2 panic
check 'the panic is shown' has "$TMP/panic.log" 'Kernel panic'

job report <<'EOF'
vms --vm bad --run ./warn
EOF
cat >"$TMP/report/warn" <<'EOF'
#!/bin/sh
echo '<4>WARNING: a test of the lab' >/dev/kmsg
sleep 1
EOF
chmod +x "$TMP/report/warn"
check 'a kernel warning in a guest fails the run' lab 2 report
check 'the warning is shown' has "$TMP/report.log" 'WARNING: a test of the lab'

job hang <<'EOF'
vms --boot-limit 10 --vm bad --append rdinit=/bin/sleep --run 1000
EOF
check 'a guest that hangs fails the run' lab 1 hang
check 'it was started once more, and the output says so' has "$TMP/hang.log" 'RETRY'
check 'then it is given up' has "$TMP/hang.log" 'HUNG'

job hosthang <<'EOF'
sleep 1000
EOF
check 'a host that hangs fails the run' lab 3 hosthang -t 15
check 'the host was started once more, and the output says so' has "$TMP/hosthang.log" 'RETRY: starting it once more'

mkdir "$TMP/precious" && touch "$TMP/precious/file"
check 'an output folder with other things in it is refused' refused 'not from an earlier run' lab/run.sh "$TMP/precious" "$TMP/well"
check 'and left alone' test -e "$TMP/precious/file"
tap_end
