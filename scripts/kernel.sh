#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build a kernel from a laid tree: build/kernel-$CONFIG/arch/x86/boot/bzImage.
#
#   CONFIG=lab|debug       which fragments of config/ (debug is merged over lab); default lab
#   TOPICS=... BASE_ONLY=1 as for tree.sh: of that tree, in build/kernel-$CONFIG-<topics>, build/kernel-base
#   BASE=6.12              the same, in build/kernel-$CONFIG-6.12-<topics>, with base/6.12.d/lab.config merged in
#   JOBS=N                 default: one more than there are CPUs
#   OBJECTS="a.o b.o"      only these, to see whether they compile
#
# The result depends on the source, the configuration and the compiler alone, not on time, place or person.

. "$(dirname "$0")/lib.sh"
choose_tree

CONFIG=${CONFIG:-lab}
JOBS=${JOBS:-$(($(nproc) + 1))}
OUT=$BUILD/kernel-$CONFIG$NAME
[ "$CONFIG$NAME" != "lab$SUFFIX-base" ] || OUT=$BUILD/kernel-base$SUFFIX
WHAT=${OUT#"$BUILD"/kernel-}
KLOG=$LOG/kernel-$WHAT.log
FRAGMENTS=("$TOP/config/lab.config")
[ "$CONFIG" = lab ] || FRAGMENTS+=("$TOP/config/$CONFIG.config")
[ ! -e "$TOP/base/$BASE.d/lab.config" ] || FRAGMENTS+=("$TOP/base/$BASE.d/lab.config")
[ -e "$TOP/config/$CONFIG.config" ] ||
	die "no such configuration: config/$CONFIG.config (there are: $(cd "$TOP/config" && echo *.config))"
[ -e "$TREE/.git" ] || die "there is no $(rel "$TREE") yet: 'make tree' first"

# Nothing that make or the caller's shell exported reaches the kernel's own makefiles. ccache makes paths below its base
# relative, so both forms are cut off; in depend mode it does without a run of the preprocessor per object.
# pahole is not used, and its version would be in the configuration: installing it would mean to build all again.
kmake() {
	local cc=gcc
	if command -v ccache > /dev/null; then
		cc='ccache gcc'
	fi
	env -i PATH="$PATH" HOME="$HOME" TERM="${TERM:-dumb}" LC_ALL=C \
		CCACHE_DIR="$CACHE/ccache" CCACHE_BASEDIR="$BUILD" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=3G CCACHE_DEPEND=1 \
		KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=vcpu-sched KBUILD_BUILD_HOST=lab KBUILD_BUILD_VERSION=1 \
		"${RUN[@]}" make -C "$TREE" O="$OUT" ARCH=x86_64 LOCALVERSION= CC="$cc" HOSTCC="$cc" PAHOLE=no-pahole \
		KCFLAGS="-ffile-prefix-map=$TREE/= -ffile-prefix-map=../$(basename "$TREE")/=" -j"$JOBS" "$@"
}
RUN=()

# Fragments of the topics: those lines whose symbol this tree has.
topic_symbols() {
	local line sym
	while read -r line; do
		sym=$(sed -n 's/^CONFIG_\([A-Z0-9_]*\)=.*/\1/p' <<< "$line")
		if [ -n "$sym" ] && kgit grep -q -E "^(menu)?config $sym\$" HEAD -- '*Kconfig*'; then
			echo "$line"
		fi
	done < <(cat "$TOP"/config/topic-*.config)
}

# configure: tinyconfig, the fragments over it, and what is not in them stays off. Stops at what does not take effect.
configure() {
	local line sym want have missing=
	topic_symbols > "$OUT/topics.config"
	{
		kmake -s tinyconfig
		cd "$TREE"
		scripts/kconfig/merge_config.sh -m -Q -O "$OUT" "$OUT/.config" "${FRAGMENTS[@]}" "$OUT/topics.config"
		mv "$OUT/.config" "$OUT/merged.config"
		kmake -s KCONFIG_ALLCONFIG="$OUT/merged.config" allnoconfig
	} >> "$KLOG" 2>&1 || die "the kernel's configuration failed: $(tail -n 1 "$KLOG") (log: $(rel "$KLOG"))"
	while read -r line; do
		case $line in CONFIG_*=*) ;; *) continue ;; esac
		sym=${line%%=*}
		want=${line#*=}
		have=$(sed -n "s/^$sym=//p" "$OUT/.config")
		[ "${have:-n}" = "$want" ] || missing="$missing $sym=$want (is ${have:-n})"
	done < <(cat "${FRAGMENTS[@]}" "$OUT/topics.config" | awk -F= '{ v[$1] = $0 } END { for (i in v) print v[i] }' | sort)
	[ -z "$missing" ] || { rm -f "$OUT/stamp.config"; die "config/ asks for what this tree cannot give:$missing"; }
}

need_disk "$BUILD"
mkdir -p "$OUT"
start=$(date +%s)

dirty=$(kgit status --porcelain | sha256sum)
[ -z "$(kgit status --porcelain | head -n 1)" ] || dirty=$(date +%s%N)
stamp=$({ kgit rev-parse 'HEAD^{tree}'; echo "$dirty"; gcc --version; cat "${FRAGMENTS[@]}" "$TOP"/config/topic-*.config; declare -f kmake configure topic_symbols; } | sha256sum)
if [ -z "${OBJECTS:-}" ] && [ "$(cat "$OUT/stamp" 2> /dev/null)" = "$stamp" ] && [ -e "$OUT/arch/x86/boot/bzImage" ]; then
	say "$(rel "$OUT") is up to date"
	exit 0
fi
rm -f "$OUT/stamp"
: > "$KLOG"

# Configure again only if something that goes into it changed: it costs seconds, and touches files.
config=$({ kgit ls-tree -r HEAD | grep Kconfig || true; kgit diff HEAD -- '*Kconfig*'; gcc --version; cat "${FRAGMENTS[@]}" "$TOP"/config/topic-*.config; } | sha256sum)
if [ "$(cat "$OUT/stamp.config" 2> /dev/null)" != "$config" ] || [ ! -e "$OUT/.config" ]; then
	configure
	echo "$config" > "$OUT/stamp.config"
fi

make --no-print-directory -s -C "$TOP" build/bin/progress
count=$CACHE/objects-$CONFIG	# how many objects the last build from nothing had
expect=0
[ -e "$OUT/vmlinux.o" ] || expect=$(cat "$count" 2> /dev/null || echo 1300)
RUN=("$BUILD/bin/progress" -l "$KLOG" -n "$expect" -t "$ME: $WHAT" --)
# shellcheck disable=SC2086 # a list of targets
kmake ${OBJECTS:-bzImage} || die "the kernel does not build: see $(rel "$KLOG")"
[ -z "${OBJECTS:-}" ] || exit 0
if [ "$expect" -gt 0 ]; then
	grep -c -E '^  (CC|AS) ' "$KLOG" > "$count.$$" && mv "$count.$$" "$count"
fi
echo "$stamp" > "$OUT/stamp"
say "$(rel "$OUT")/arch/x86/boot/bzImage, $(du -k "$OUT/arch/x86/boot/bzImage" | cut -f 1) KB, in $(elapsed $(($(date +%s) - start)))"
