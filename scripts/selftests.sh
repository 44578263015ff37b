#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the series' kselftests, static, with the kernel's own runner: build/kselftest (build/kselftest-6.12).

. "$(dirname "$0")/lib.sh"
choose_tree
OUT=$BUILD/kselftest$SUFFIX
OBJ=$BUILD/kselftest-obj$SUFFIX
SRC=$TREE/tools/testing/selftests
KLOG=$LOG/selftests$SUFFIX.log

stamp=$({ kgit rev-parse "HEAD:tools/testing/selftests" 'HEAD:include/uapi'; kgit diff HEAD -- tools/testing; cat "$0"; } | sha256sum)
if [ "$(cat "$OUT/stamp" 2> /dev/null)" = "$stamp" ]; then
	say "$(rel "$OUT") is up to date"
	exit 0
fi
rm -rf "$OUT" "$OBJ"
mkdir -p "$OUT" "$OBJ"

# In the tree, not beside it: cs_prctl_test is only installed from there.
# It is mainline's and needs core scheduling, so it is not run here.
# LDFLAGS: they run where there are no libraries.
build() {
	env -i PATH="$PATH" HOME="$HOME" LC_ALL=C make -j"$(nproc)" ARCH=x86_64 LDFLAGS=-static \
		KHDR_INCLUDES="-isystem $OBJ/usr/include" "$@"
}
# Of KVM's tests only those of the series: the others take minutes.
kvm_tests() {
	local dir=x86
	[ -d "$SRC/kvm/$dir" ] || dir=x86_64	# before 6.14
	[ -e "$SRC/kvm/$dir/ple_load_test.c" ] || return 0
	mkdir -p "$OBJ/kvm/$dir" "$OUT/kvm/$dir" &&
		build -C "$SRC/kvm" OUTPUT="$OBJ/kvm" "$OBJ/kvm/$dir/ple_load_test" &&
		cp "$OBJ/kvm/$dir/ple_load_test" "$OUT/kvm/$dir/" &&
		echo "kvm:$dir/ple_load_test" >> "$OUT/kselftest-list.txt"
}

{
	build -C "$TREE" O="$OBJ" headers &&
		build -C "$SRC" TARGETS=sched FORCE_TARGETS=1 INSTALL_PATH="$OUT" install &&
		sed -i '/:cs_prctl_test$/d' "$OUT/kselftest-list.txt" &&
		kvm_tests
} > "$KLOG" 2>&1 || die "the kselftests do not build: $(grep -m 1 -E 'rror' "$KLOG") (log: $(rel "$KLOG"))"
echo "$stamp" > "$OUT/stamp"
say "$(rel "$OUT"): $(grep -c : "$OUT/kselftest-list.txt") tests"
