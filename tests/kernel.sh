#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's tests of the series: KUnit at the boot of the host, kselftests in a guest and in the host.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
python=$(command -v python3)

mkdir "$TMP/job"
cp -r "build/kselftest$SUFFIX" "$TMP/job/kselftest"
cat >"$TMP/job/run" <<'E2'
#!/bin/sh
vms --limit 1000 --boot-limit 400 --vm guest --smp 4 --cpus 1-2 --run 'cd kselftest && ./run_kselftest.sh -o 600 -c sched' || exit
cd kselftest && grep -q ^kvm: kselftest-list.txt || exit 0
mkdir -p /out/kvm
taskset 6 ./run_kselftest.sh -o 600 -c kvm >/out/kvm.ktap
E2
chmod +x "$TMP/job/run"
run() { lab/run.sh "$TMP/out" -t 1200 -a "kunit.enable=1 loglevel=7 setcpuid=pausefilter,pfthreshold" "$TMP/job"; }
check 'the kernel boots, all kernel tests run, and no console shows a complaint' run

# KUnit, as the kernel's own tool reads it, and by suite.
parse() { "$python" "build/linux$SUFFIX/tools/testing/kunit/kunit.py" parse "$TMP/out/host.console"; }
check 'kunit.py finds no failure' parse
while read -r line; do
	ran=$((${ran:-0} + 1))
	check "KUnit suite ${line##* }" [ "${line%% *}" = ok ]
done < <(tr -d '\r' <"$TMP/out/host.console" | sed 's/^\[ *[0-9.]*\] //' | grep -E '^(not )?ok [0-9]+ [a-z]')
check 'no suite is missing: one at least for each symbol of the series' \
	[ "${ran:-0}" -ge "$(grep -c '_KUNIT_TEST=y' "build/kernel-lab$SUFFIX/.config")" ]

# The kernel's runner indents what a test says and closes with one line for each test.
well() { [ "${line%% *}" = ok ] || { tail -n 40 "$log"; return 1; }; }
while IFS=: read -r collection test; do
	case $collection in
	kvm) log=$TMP/out/kvm.ktap ;;
	*) log=$TMP/out/guest.console ;;
	esac
	line=$(tr -d '\r' <"$log" 2>/dev/null | grep -E "^(not )?ok [0-9]+ selftests: .*: ${test##*/}( |\$)" | tail -n 1)
	case $line in
	*'# SKIP'*) skip "kselftest $collection: $test" "$(grep -m 1 -o 'SKIP .*' "$log")" ;;
	*) check "kselftest $collection: $test" well ;;
	esac
done <"build/kselftest$SUFFIX/kselftest-list.txt"
tap_end
