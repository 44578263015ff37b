#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: stress.sh MINUTES OUT
#
# Two guests under load, for MINUTES: tasks that wake each other, CPUs that go and come, sysctls and scheduler features
# that change, all that random writes can do to the sysctls; one guest is killed and started anew again and again; and
# the host, which has pause-loop exits, changes its own parameters. Nothing may fail or hang, and no kernel complain.
# KERNEL=debug is the one that complains most.
set -u
minutes=$1 out=$2
cd "$(dirname "$0")/.." || exit 1
fuzz=build/kselftest${SUFFIX:-}/sched/halt_poll_sysctl
[ -x "$fuzz" ] || { echo "stress: error: $fuzz is missing: run scripts/selftests.sh first" >&2; exit 1; }
job=$(mktemp -d) || exit 1
trap 'rm -rf "$job"' EXIT
cp lab/stress/* "$fuzz" "$job/" || exit 1
# Fractions are for those who try it.
seconds=$(awk -v m="$minutes" 'BEGIN { printf "%d", m * 60 }')
lab/run.sh "$out" -t $((seconds + 400)) -a setcpuid=pausefilter,pfthreshold "$job" DURATION="$seconds"
rc=$?
[ $rc -lt 128 ] || exit $rc
# count FILE WORD: the sum of the numbers before WORD.
count() { awk -v w="$2" '$2 == w { n += $1 } END { print n + 0 }' "$out/$1" 2>/dev/null; }
printf 'stress: %s minutes, %s boots of the guest that is killed' "$minutes" "$(count killed.out boots)"
for what in loads hotplugs settings features fuzzes; do printf ', %s %s' "$(count stays.out $what)" $what; done
printf ', %s moves of the host: %s\n' "$(count moves moves)" "$([ $rc = 0 ] && echo 'no complaint' || echo "FAILED, status $rc")"
exit $rc
