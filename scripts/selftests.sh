#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the series' kselftests, static, with the kernel's own runner: build/kselftest.

. "$(dirname "$0")/lib.sh"
choose_tree
OUT=$BUILD/kselftest
SRC=$TREE/tools/testing/selftests
KLOG=$LOG/selftests.log

stamp=$({ kgit rev-parse "HEAD:tools/testing/selftests" 'HEAD:include/uapi'; kgit diff HEAD -- tools/testing; cat "$0"; } | sha256sum)
if [ "$(cat "$OUT/stamp" 2> /dev/null)" = "$stamp" ]; then
	say "$(rel "$OUT") is up to date"
	exit 0
fi
rm -rf "$OUT" "$BUILD/kselftest-obj"
mkdir -p "$OUT" "$BUILD/kselftest-obj"

# In the tree, not beside it: cs_prctl_test is only installed from there.
# It is mainline's and needs core scheduling, so it is not run here.
# LDFLAGS: they run where there are no libraries.
build() {
	env -i PATH="$PATH" HOME="$HOME" LC_ALL=C make -j"$(nproc)" ARCH=x86_64 LDFLAGS=-static \
		KHDR_INCLUDES="-isystem $BUILD/kselftest-obj/usr/include" "$@"
}
# Of KVM's tests only those of the series: the others take minutes.
kvm_tests() {
	[ -e "$SRC/kvm/x86/ple_load_test.c" ] || return 0
	mkdir -p "$BUILD/kselftest-obj/kvm/x86" "$OUT/kvm/x86" &&
		build -C "$SRC/kvm" OUTPUT="$BUILD/kselftest-obj/kvm" "$BUILD/kselftest-obj/kvm/x86/ple_load_test" &&
		cp "$BUILD/kselftest-obj/kvm/x86/ple_load_test" "$OUT/kvm/x86/" &&
		echo kvm:x86/ple_load_test >> "$OUT/kselftest-list.txt"
}

{
	build -C "$TREE" O="$BUILD/kselftest-obj" headers &&
		build -C "$SRC" TARGETS=sched FORCE_TARGETS=1 INSTALL_PATH="$OUT" install &&
		sed -i '/:cs_prctl_test$/d' "$OUT/kselftest-list.txt" &&
		kvm_tests
} > "$KLOG" 2>&1 || die "the kselftests do not build: $(grep -m 1 -E 'rror' "$KLOG") (log: $(rel "$KLOG"))"
echo "$stamp" > "$OUT/stamp"
say "$(rel "$OUT"): $(grep -c : "$OUT/kselftest-list.txt") tests"
