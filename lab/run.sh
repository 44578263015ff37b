#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run.sh OUT [lab option]... JOB [NAME=VALUE]...
#
# Run a job with what `make demo` has built. KERNEL names another build than
# build/kernel-lab, GUEST_KERNEL one for the guests only.
set -eu
out=$1
shift
cd "$(dirname "$0")/.."
cache=${VCPU_SCHED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vcpu-sched}
kernel=build/kernel-${KERNEL:-lab}/arch/x86/boot/bzImage
guest=build/kernel-${GUEST_KERNEL:-${KERNEL:-lab}}/arch/x86/boot/bzImage
for f in "$kernel" "$guest" build/bin/lab build/lab/host.cpio build/lab/guest.cpio; do
	[ -e "$f" ] || { echo "lab: error: $f is missing: run \`make demo\` first" >&2; exit 1; }
done
exec build/bin/lab -q "${LAB_QEMU:-$cache/qemu/current}" -k "$kernel" -g "$guest" \
	-I build/lab/host.cpio -i build/lab/guest.cpio -o "$out" "$@"
