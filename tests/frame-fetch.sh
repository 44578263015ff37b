#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The fetcher, against a small signed mirror made here: versions that come and go, no network, bad signatures,
# interruptions, little disk, two checkouts at once. QEMU: what to say when there is none to be had.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/checkout.sh"

export VCPU_SCHED_CACHE=$TMP/cache VCPU_SCHED_NEED_GB=0
export VCPU_SCHED_MIRROR=copy:$TMP/mirror VCPU_SCHED_KEYRING=$TMP/key.gpg
M=$TMP/mirror
W=$TMP/checkout
DIR=$VCPU_SCHED_CACHE/base/7.3
R=$DIR/linux.git
checkout "$W"
fetch() { (cd "$W" && scripts/fetch.sh base); }
fetch_qemu() { (cd "$W" && scripts/fetch.sh qemu); }

export GNUPGHOME=$TMP/gnupg
mkdir -m 700 "$GNUPGHOME"
gpg --batch -q --passphrase '' --quick-gen-key tests@example.org default default never > /dev/null 2>&1 || {
	echo "Bail out! no key to sign a mirror with"
	exit 1
}
gpg --batch -q --export > "$VCPU_SCHED_KEYRING"

# offer VERSION...: the mirror has these versions of linux-source-7.3 and no others.
offer() {
	local v d=$M/dists/trixie-backports deb
	rm -rf "$M"
	mkdir -p "$d/main/binary-amd64" "$M/pool"
	for v; do
		rm -rf "$TMP/deb" "$TMP/src"
		mkdir -p "$TMP/deb/DEBIAN" "$TMP/deb/usr/src" "$TMP/src/linux-source-7.3"
		printf 'kernelversion:\n\t@echo %s\n' "${v%%-*}" > "$TMP/src/linux-source-7.3/Makefile"
		seq 1 100 > "$TMP/src/linux-source-7.3/big.c"
		printf '*.o\n' > "$TMP/src/linux-source-7.3/.gitignore"
		echo ignored > "$TMP/src/linux-source-7.3/shipped.o"
		touch -d '2026-01-02T03:04:05Z' "$TMP/src/linux-source-7.3"/*
		tar -C "$TMP/src" -cJf "$TMP/deb/usr/src/linux-source-7.3.tar.xz" linux-source-7.3
		touch -d '2026-01-02T03:04:05Z' "$TMP/deb/usr/src/linux-source-7.3.tar.xz"
		printf 'Package: linux-source-7.3\nVersion: %s\nArchitecture: all\nMaintainer: tests <tests@example.org>\nDescription: small\n' "$v" > "$TMP/deb/DEBIAN/control"
		deb=pool/linux-source-7.3_${v}_all.deb
		dpkg-deb --root-owner-group -b "$TMP/deb" "$M/$deb" > /dev/null || return
		{
			cat "$TMP/deb/DEBIAN/control"
			printf 'Filename: %s\nSize: %s\nSHA256: %s\n\n' "$deb" "$(stat -c %s "$M/$deb")" "$(sha256sum < "$M/$deb" | cut -d ' ' -f 1)"
		} >> "$d/main/binary-amd64/Packages"
	done
	touch "$d/main/binary-amd64/Packages"
	sign
}

# sign: the mirror's list of lists.
sign() {
	local d=$M/dists/trixie-backports f=main/binary-amd64/Packages
	{
		printf 'Suite: trixie-backports\nCodename: trixie-backports\nComponents: main\nArchitectures: amd64 all\nDate: %s\nSHA256:\n' "$(date -uR)"
		printf ' %s %s %s\n' "$(sha256sum < "$d/$f" | cut -d ' ' -f 1)" "$(stat -c %s "$d/$f")" $f
	} > "$d/Release"
	rm -f "$d/InRelease"
	gpg --batch -q --clearsign -o "$d/InRelease" "$d/Release"
}

# tomorrow: the mirror may be looked at again.
tomorrow() { touch -d '2 days ago' "$DIR/checked"; }
version() { git --git-dir="$R" config vcpu-sched.version; }
no_litter() { same "$(cd "$VCPU_SCHED_CACHE" && find . -maxdepth 1 -name 'tmp.*')" ""; }

none_at_all() {
	VCPU_SCHED_MIRROR=http://127.0.0.1:9/debian refused "cannot read trixie-backports at http://127.0.0.1:9/debian" fetch &&
		VCPU_SCHED_MIRROR=http://127.0.0.1:9/debian refused "connect to the network, or set LINUX=" fetch && [ ! -e "$R" ] && no_litter
}
check "no network and nothing cached: one line, nothing left behind" none_at_all
one_line() {
	local n
	n=$(VCPU_SCHED_MIRROR=http://127.0.0.1:9/debian fetch 2>&1 | wc -l)
	same "$n" 1
}
check "it is one line indeed" one_line

gone() { offer && refused "has no linux-source-7.3 7.3.* in trixie-backports any more" fetch && [ ! -e "$R" ]; }
check "package gone from the mirror" gone
other() { offer 7.4.1-1 7.30.1-1 && refused "has no linux-source-7.3 7.3.*" fetch; }
check "versions that are not welcome are not taken" other
disk() { offer 7.3.4-1 && VCPU_SCHED_NEED_GB=1000000 refused "1000000 GB needed" fetch && [ ! -e "$R" ] && no_litter; }
check "too little disk" disk

newest() {
	offer 7.3.4-1 7.3.10-1 7.3.9-1 && fetch > "$TMP/out" && cat "$TMP/out" && grep 'linux-source-7.3 7.3.10-1 is the base now' "$TMP/out" &&
		same "$(version)" 7.3.10-1 && same "$(git --git-dir="$R" log --format=%s current)" "Linux 7.3.10" && no_litter
}
check "of several versions the newest is taken, and said" newest
content() {
	same "$(git --git-dir="$R" ls-tree --name-only current | xargs)" ".gitignore Makefile big.c shipped.o" &&
		same "$(git --git-dir="$R" log -1 --format='%an %ad %cd' --date=iso-strict current)" "vcpu-sched project 2026-01-02T03:04:05+00:00 2026-01-02T03:04:05+00:00"
}
check "all files are in it, the date is the package's" content
stable() {
	local id
	id=$(git --git-dir="$R" rev-parse current)
	rm -rf "$VCPU_SCHED_CACHE" && fetch && same "$(git --git-dir="$R" rev-parse current)" "$id"
}
check "fetched again it has the same commit id" stable

second() {
	checkout "$TMP/second"
	rm -rf "$M"	# nothing to download from
	(cd "$TMP/second" && scripts/fetch.sh base) > "$TMP/out" && grep 'cached' "$TMP/out"
}
check "a second checkout downloads and unpacks nothing" second
rarely() { fetch > "$TMP/out" && grep 'looked for a newer one less than a day ago' "$TMP/out"; }
check "the mirror is looked at once a day" rarely
offline() {
	tomorrow
	VCPU_SCHED_MIRROR=http://127.0.0.1:9/debian fetch > "$TMP/out" && grep 'cannot read trixie-backports at http://127.0.0.1:9/debian .*: using the cached linux-source-7.3 7.3.10-1' "$TMP/out"
}
check "no network: the cached one is used, and said" offline
gone_cached() { tomorrow && offer && fetch > "$TMP/out" && grep 'using the cached 7.3.10-1' "$TMP/out"; }
check "package gone: the cached one is used, and said" gone_cached

moved() {
	tomorrow
	offer 7.3.11-1 && fetch > "$TMP/out" && grep '7.3.11-1 is the base now (was 7.3.10-1)' "$TMP/out" && same "$(version)" 7.3.11-1 &&
		same "$(git --git-dir="$R" log --format=%s current)" "Linux 7.3.11" && git --git-dir="$R" rev-parse -q --verify base/7.3.10-1
}
check "a newer version is taken over; the old one stays at hand" moved

forged() {
	tomorrow
	offer 7.3.12-1 && sed -i 's/7.3.12-1/7.3.66-1/' "$M/dists/trixie-backports/main/binary-amd64/Packages" && fetch
	same "$(version)" 7.3.11-1
}
check "lists that are not what was signed are refused" forged
stranger() {
	tomorrow
	offer 7.3.12-1
	gpg --batch -q --export > "$TMP/saved"
	GNUPGHOME=$TMP/other && export GNUPGHOME && mkdir -m 700 "$GNUPGHOME" &&
		gpg --batch -q --passphrase '' --quick-gen-key evil@example.org default default never && sign
	local rc=$?
	GNUPGHOME=$TMP/gnupg
	[ $rc = 0 ] && fetch
	same "$(version)" 7.3.11-1
}
check "so is another one's signature" stranger
swapped() {
	tomorrow
	offer 7.3.12-1
	echo more >> "$M/pool/linux-source-7.3_7.3.12-1_all.deb"
	refused "download of linux-source-7.3 7.3.12-1 failed" fetch && same "$(version)" 7.3.11-1 && no_litter
}
check "a package that is not what the list says is refused" swapped

# A tar that hangs stands for a run that is ended while it unpacks.
killed() {
	mkdir -p "$TMP/slow"
	printf '#!/bin/sh\ntouch %s/unpacking\nexec sleep 60\n' "$TMP" > "$TMP/slow/tar"
	chmod +x "$TMP/slow/tar"
	tomorrow
	offer 7.3.12-1
	(cd "$W" && PATH=$TMP/slow:$PATH exec setsid scripts/fetch.sh base) > /dev/null 2>&1 &
	local pid=$! i
	for i in $(seq 100); do
		[ ! -e "$TMP/unpacking" ] || break
		sleep 0.1
	done
	kill "-$1" -- -$pid
	wait $pid
	[ -e "$TMP/unpacking" ] && [ "$i" -lt 100 ] && same "$(version)" 7.3.11-1 || return
	rm "$TMP/unpacking"
}
ended() { killed TERM && no_litter; }
check "ended while it unpacks: nothing left behind" ended
shot() { killed KILL && fetch && same "$(version)" 7.3.12-1 && no_litter; }
check "killed while it unpacks: the next run goes on as if nothing was" shot

at_once() {
	rm -rf "$VCPU_SCHED_CACHE"
	(cd "$TMP/second" && scripts/fetch.sh base) > "$TMP/out2" 2>&1 &
	fetch > "$TMP/out1" 2>&1 && wait $! && same "$(cat "$TMP/out1" "$TMP/out2" | grep -c 'downloading')" 1
}
check "two checkouts at once: one downloads, the other waits for it" at_once

theirs() {
	rm -rf "$VCPU_SCHED_CACHE" "$M"
	(export LINUX=$TMP && fetch) && [ ! -e "$R" ] && [ ! -e "$VCPU_SCHED_CACHE/apt" ]
}
check "with LINUX=DIR nothing is fetched" theirs
nobase() { BASE=9.9 refused "no such base: base/9.9 (there are:" fetch; }
check "an unknown base" nobase

# QEMU. The machine's own must not count, if there is one, nor the mirror of kernels have any.
old_qemu() {
	mkdir -p "$VCPU_SCHED_CACHE/qemu/old/usr/bin"
	printf '#!/bin/sh\necho "QEMU emulator version 7.2.9 (Debian)"\n' > "$VCPU_SCHED_CACHE/qemu/old/usr/bin/qemu-system-x86_64"
	chmod +x "$VCPU_SCHED_CACHE/qemu/old/usr/bin/qemu-system-x86_64"
	ln -sfn old "$VCPU_SCHED_CACHE/qemu/current"
	VCPU_SCHED_MIRROR=http://127.0.0.1:9/debian refused "no QEMU 10 or newer here, and" fetch_qemu
}
if [ -x /usr/bin/qemu-system-x86_64 ]; then
	skip "QEMU too old and none to be had" "the installed one serves"
else
	check "QEMU too old and none to be had" old_qemu
fi

# What is removed in the end, and what is not.
forget() {
	mkdir -p "$TMP/a cache/base" "$TMP/a cache/mine" "$TMP/a/base" "$TMP/home/base" && touch "$TMP/a cache/lock" || return
	VCPU_SCHED_CACHE="$TMP/a cache" "$TOP/scripts/fetch.sh" forget && VCPU_SCHED_CACHE="$TMP/home" "$TOP/scripts/fetch.sh" forget &&
		[ ! -e "$TMP/a cache/base" ] && [ -e "$TMP/a cache/mine" ] && [ -e "$TMP/a/base" ] && [ -e "$TMP/home/base" ]
}
check "distclean removes what is ours, and nothing else" forget
tap_end
