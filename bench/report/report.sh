#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: report.sh OUT
#
# Measure what the report shows, section by section, and write it: OUT/index.html, OUT/results.md.
# Each round of a section is a part with a folder of its own, OUT/SECTION/ROUND. What is done is
# not done again, as long as kernels, lab, job and commit are the same. ANEW=1 starts from nothing
# (what was there is kept as OUT-before), QUICK=1 does one small round, SECTIONS="idle wake" only
# these, ROUNDS=N more or fewer.

. "$(dirname "$0")/../../scripts/lib.sh"
cd "$TOP"
out=$1
quick=${QUICK:-}
[ "$quick" != 0 ] || quick=
export QUICK=$quick
sections=${SECTIONS:-base idle yield wake net}
rounds=${ROUNDS:-$([ -n "$quick" ] && echo 1 || echo 3)}

# How long a part takes before one of its kind has been timed: an estimate.
guess() {
	case $quick$1 in
	?*idle) echo 140 ;; ?*base) echo 100 ;; ?*yield) echo 180 ;; ?*wake) echo 110 ;;
	idle) echo 560 ;; base) echo 400 ;; yield) echo 1100 ;; wake) echo 780 ;; *) echo 120 ;;
	esac
}

commit=$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
# identity: all that goes into what is measured, in one word.
identity() {
	{
		echo "$commit $quick $rounds"
		cat build/kernel-{lab,base}"$SUFFIX"/arch/x86/boot/bzImage build/lab/*.cpio build/bin/lab
		cat bench/bench.sh bench/common.sh bench/kvm/settings.sh bench/sched/{settings.sh,pair,latency,alone}
		cat bench/report/{boots,run,measure.sh,idle,same,turn,spin,hackpair,net}
	} | sha256sum | cut -d' ' -f1
}

# why_not SECTION: why it cannot be run at all; nothing if it can.
why_not() {
	case $1 in
	net)
		[ -z "$quick" ] || { echo "left out of a QUICK run"; return; }
		grep -qx CONFIG_VIRTIO_NET=y "build/kernel-lab$SUFFIX/.config" ||
			{ echo "the lab's kernel has no CONFIG_VIRTIO_NET"; return; }
		command -v iperf3 >/dev/null || echo "there is no iperf3"
		;;
	base) command -v perf >/dev/null || echo "there is no perf" ;;
	esac
}

# meta: what was run on what, as KEY=VALUE.
meta() {
	local p packages=
	for p in rt-tests dbench linux-perf iperf3; do
		packages="$packages, $p $(dpkg-query -f '${Version}' -W "$p" 2>/dev/null || echo none)"
	done
	cat <<-END
	run=$name
	begun=$begun
	quick=$([ -n "$quick" ] && echo yes || echo no)
	rounds=$rounds
	commit=$commit
	base=$(git -C build/linux config vcpu-sched.version || echo unknown)
	kernel=$(cat "build/kernel-lab$SUFFIX/include/config/kernel.release" 2>/dev/null || echo unknown)
	qemu=$("$CACHE"/qemu/current/usr/bin/qemu-system-x86_64 --version 2>/dev/null | sed -n '1s/.*version //p')
	machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $([ -e /dev/kvm ] && echo "with" || echo "no") /dev/kvm
	system=$(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r), $(gcc --version | head -n 1)
	workloads=${packages#, }
	END
}

# merge SECTION: the parts that are done, as one; their repetitions keep apart.
merge() {
	local part raw=$out/$1/raw.csv
	rm -f "$raw" "$out/$1/table.txt"
	for part in "$out/$1"/[0-9]*; do
		[ -e "$part/done" ] || continue
		[ -e "$raw" ] || echo rep,row,config,metric,value >"$raw"
		awk -F, -v OFS=, -v plus="$(((${part##*/} - 1) * 100))" 'NR > 1 { $1 += plus; print }' \
			"$part/raw.csv" >>"$raw"
	done
	[ ! -e "$raw" ] || build/bin/stats -t bench/report/targets \
		-r "$(sed -n "s/^section $1 \([^ ]*\) .*/\1/p" bench/report/tables)" "$raw" >"$out/$1/table.txt"
}

# report: from what there is.
report() {
	local s
	: >"$out/not-run"
	for s in base idle yield wake net; do
		[ -z "${reason[$s]:-}" ] || echo "$s ${reason[$s]}" >>"$out/not-run"
		[ ! -d "$out/$s" ] || merge "$s"
	done
	build/bin/report "$out"
}

key=$(identity)
if [ -e "$out/key" ] && { [ -n "${ANEW:-}" ] || [ "$(cat "$out/key")" != "$key" ]; }; then
	[ -n "${ANEW:-}" ] || say "not what the results in $out were measured with: starting anew"
	if [ -e "$out/complete" ]; then
		rm -rf "$out-before"
		mv "$out" "$out-before"
		say "the complete run before is kept in $out-before"
	else
		rm -rf "$out"
	fi
fi
mkdir -p "$out"
if [ ! -e "$out/meta" ]; then
	begun=$(date -u '+%Y-%m-%d %H:%M UTC')
	name=$(date -u +%Y%m%d-%H%M)-$commit${quick:+-quick}
	meta >"$out/meta.tmp"
	mv "$out/meta.tmp" "$out/meta"
fi
echo "$key" >"$out/key"

declare -A reason=()
parts=()
for ((round = 1; round <= rounds; round++)); do
	for section in $sections; do
		reason[$section]=$(why_not "$section")
		[ -n "${reason[$section]}" ] || parts+=("$section/$round")
	done
done

# seconds PART: it took, or one of its kind, or might.
seconds() {
	cat "$out/$1/done" 2>/dev/null || cat "$out/${1%/*}"/*/done 2>/dev/null | tail -n 1 | grep . || guess "${1%/*}"
}

failed=0 number=0
for part in "${parts[@]}"; do
	number=$((number + 1))
	[ ! -e "$out/$part/done" ] || { say "[$number/${#parts[@]}] $part: done before"; continue; }
	left=0
	for p in "${parts[@]:number-1}"; do
		[ -e "$out/$p/done" ] || left=$((left + $(seconds "$p")))
	done
	say "[$number/${#parts[@]}] $part: about $(elapsed "$(seconds "$part")"); $(elapsed $left) left in all (minutes)"
	mkdir -p "$out/$part"
	start=$(date +%s)
	# The tables of a single part say little; the lab's progress is what to look at.
	SECTION=${part%/*} bench/bench.sh report "$out/$part" >"$out/$part/log" 2>&1 &
	child=$!
	tail -n +1 -f --pid=$child "$out/$part/log" | grep --line-buffered '^  lab ' || true
	rc=0
	wait $child || rc=$?
	rm -rf "$out/$part/job"
	if [ $rc -eq 0 ]; then
		echo $(($(date +%s) - start)) >"$out/$part/done"
	else
		failed=$((failed + 1))
		reason[${part%/*}]="round ${part#*/} failed with status $rc (log: $out/$part/log)"
		say "$part failed with status $rc: see $out/$part/log; going on with the others" >&2
	fi
done

if ! ls "$out"/*/*/done >/dev/null 2>&1; then
	die "nothing could be measured"
fi
report
say "$out/index.html (one page), $out/results.md, raw data in $out/*/raw.csv"
[ $failed -eq 0 ] || die "$failed of ${#parts[@]} parts failed: the same command tries only these again"
[ "$sections" != "base idle yield wake net" ] || touch "$out/complete"
if [ -e "$out-before/complete" ] && [ "$(sed -n 's/^quick=//p' "$out-before/meta")" = "$(sed -n 's/^quick=//p' "$out/meta")" ]; then
	say "against the run before ($out-before):"
	build/bin/report -c "$out-before" "$out"
fi
