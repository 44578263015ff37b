#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Get what a bare machine lacks from its own Debian mirror, without touching its apt sources.
#
#   fetch.sh base     the kernel source of base/$BASE as a bare git repository
#   fetch.sh qemu     a QEMU of at least version 10
#   fetch.sh forget   remove all that from the cache again
#
# They end in the cache outside the checkout ($VCPU_SCHED_CACHE), so that the next checkout downloads nothing:
#   $CACHE/base/$BASE/linux.git      one commit and one tag per version; refs/heads/current is the one to use
#   $CACHE/qemu/current/usr/bin/...  a root with QEMU in it (or a link to / where the installed one will do)
# apt does the downloading and verifies the signatures; its lists and settings are private to the cache.
# VCPU_SCHED_MIRROR overrides the mirror, VCPU_SCHED_KEYRING the keys that its lists must be signed with.

. "$(dirname "$0")/lib.sh"

KEYRING=${VCPU_SCHED_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
CHECK_EVERY=86400	# seconds between two looks at the mirror for a newer base
QEMU_WISH=10

# This machine's own release, as "URI SUITE" lines: apt itself reads its sources, in whichever format they are.
own() {
	local r
	r=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	if [ -n "${VCPU_SCHED_MIRROR:-}" ]; then
		echo "$VCPU_SCHED_MIRROR $r"
		return
	fi
	# shellcheck disable=SC2016 # apt expands these, not the shell
	apt-get -o Dir::State::Lists="$SCRATCH/none" indextargets --no-release-info \
		--format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 2> /dev/null |
		awk -v r="$r" '$2 == "main" && $3 !~ /^(cdrom|file):/ && ($1 == r || $1 == "stable" || index($1, r "-") == 1 || index($1, "stable-") == 1) &&
			!seen[$3 $1]++ { print $3, $1 }'
}

# private_apt SUITE [own]: write an apt configuration of our own with this suite (and what the machine itself installs
# from), update its lists, and define APT to use it.
private_apt() {
	local dir=$CACHE/apt sources by=
	command -v apt-get > /dev/null || die "no apt-get here: set LINUX=/path/to/kernel/git and install QEMU $QEMU_WISH or newer yourself"
	mkdir -p "$SCRATCH/none/partial"
	sources=$(own)
	MIRROR=$(awk '$2 !~ /-/ { print $1 }' <<< "$sources" | sed -n 1p)
	[ -n "$MIRROR" ] || die "no Debian mirror in this machine's apt sources: set VCPU_SCHED_MIRROR=http://..., or LINUX=/path/to/kernel/git"
	[ ! -e "$KEYRING" ] || by="[signed-by=$KEYRING] "
	rm -rf "$dir"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/none"
	echo "$MIRROR $1" > "$dir/sources"
	[ $# -lt 2 ] || echo "$sources" >> "$dir/sources"
	sed "s|.*|deb $by& main|" "$dir/sources" > "$dir/sources.list"
	# Root would hand the download to the user _apt, who cannot reach into root's cache.
	cat > "$dir/apt.conf" <<-CONF
		Dir::State::Lists "$dir/lists";
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "$dir/none";
		Dir::Etc::Preferences "$dir/none/preferences";
		Dir::Etc::PreferencesParts "$dir/none";
		Dir::Cache "$dir/cache";
		APT::Sandbox::User "root";
		APT::Update::Error-Mode "any";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		Acquire::Languages "none";
		Acquire::Retries "2";
		Acquire::http::Timeout "20";
		Acquire::https::Timeout "20";
	CONF
	APT=(-c "$dir/apt.conf")
	apt-get "${APT[@]}" -q update >> "$FETCHLOG" 2>&1
}

# newest PACKAGE WISH: the newest version on offer whose upstream part matches the pattern.
newest() {
	local best='' v up
	while read -r v; do
		up=${v#*:}
		# shellcheck disable=SC2053 # the wish is a pattern
		[[ ${up%%[-+~]*} == $2 ]] || continue
		if [ -z "$best" ] || dpkg --compare-versions "$v" gt "$best"; then
			best=$v
		fi
	done < <(apt-cache "${APT[@]}" madison "$1" 2>> "$FETCHLOG" | awk -F ' *[|] *' '{ print $2 }')
	echo "$best"
}

# ---- the kernel source ------------------------------------------------------------------------------------------

# tag_of VERSION: as a ref can hold it.
tag_of() { echo "base/${1//[:~]/_}"; }

# import VERSION: download, unpack and commit it; the repository changes in one step at the end.
import() {
	local version=$1 repo=$2 tar src when git new
	need_disk "$CACHE"
	say "downloading $package $version (about 160 MB)"
	(cd "$SCRATCH" && apt-get "${APT[@]}" -q download "$package=$version") >> "$FETCHLOG" 2>&1 ||
		die "download of $package $version failed (log: $(rel "$FETCHLOG")): try again, or set LINUX=/path/to/kernel/git"
	say "unpacking it"
	mkdir "$SCRATCH/deb" "$SCRATCH/src"
	dpkg-deb -x "$SCRATCH/$package"_*.deb "$SCRATCH/deb"
	tar=$(echo "$SCRATCH"/deb/usr/src/*.tar.*)
	[ -e "$tar" ] || die "$package $version holds no source archive: this fetcher needs mending"
	when=$(stat -c %Y "$tar")
	tar -xf "$tar" -C "$SCRATCH/src" --strip-components=1
	src=$(env -u MAKEFLAGS make -s -C "$SCRATCH/src" kernelversion)

	# Big-file mode makes git write one pack instead of ninety thousand loose objects.
	new=$repo
	if [ ! -d "$repo" ]; then
		new=$SCRATCH/linux.git
		git init -q --bare -b current "$new"
		git -C "$new" config gc.auto 0
	fi
	git=(git --git-dir="$new" --work-tree="$SCRATCH/src" -c core.bigFileThreshold=1 -c core.compression=1
		-c core.autocrlf=false -c core.excludesFile=/dev/null)
	export GIT_INDEX_FILE=$SCRATCH/index
	"${git[@]}" add -A -f . >> "$FETCHLOG" 2>&1
	unset GIT_INDEX_FILE
	local tree commit
	tree=$(GIT_INDEX_FILE=$SCRATCH/index "${git[@]}" write-tree)
	commit=$(GIT_AUTHOR_NAME='vcpu-sched project' GIT_AUTHOR_EMAIL=vcpu-sched@example.org GIT_AUTHOR_DATE="$when +0000" \
		GIT_COMMITTER_NAME='vcpu-sched project' GIT_COMMITTER_EMAIL=vcpu-sched@example.org GIT_COMMITTER_DATE="$when +0000" \
		"${git[@]}" commit-tree -m "Linux $src" -m "Debian's $package $version." "$tree")
	git --git-dir="$new" update-ref "refs/tags/$(tag_of "$version")" "$commit"
	git --git-dir="$new" update-ref refs/heads/current "$commit"
	git --git-dir="$new" config "vcpu-sched.version" "$version"
	if [ "$new" != "$repo" ]; then
		mkdir -p "$(dirname "$repo")"
		mv "$new" "$repo"
	fi
}

fetch_base() {
	local package='' suite='' version='' key value dir repo have='' found
	if [ -n "${LINUX:-}" ]; then
		say "nothing to fetch: LINUX=$LINUX is the base"
		return
	fi
	[ -r "$TOP/base/$BASE" ] || die "no such base: base/$BASE (there are: $(find "$TOP/base" -maxdepth 1 -type f -printf '%f\n' | sort | xargs))"
	while IFS='=' read -r key value; do
		case $key in
		package) package=$value ;;
		suite) suite=$value ;;
		version) version=$value ;;
		esac
	done < "$TOP/base/$BASE"
	dir=$CACHE/base/$BASE
	repo=$dir/linux.git
	[ ! -d "$repo" ] || have=$(git --git-dir="$repo" config vcpu-sched.version) || true
	if [ -n "$have" ] && [ -e "$dir/checked" ] && [ $(($(date +%s) - $(stat -c %Y "$dir/checked"))) -lt $CHECK_EVERY ]; then
		say "$package $have (cached, looked for a newer one less than a day ago)"
		return
	fi
	lock_cache
	scratch
	# Another checkout may have filled it while this one waited.
	[ ! -d "$repo" ] || have=$(git --git-dir="$repo" config vcpu-sched.version) || true
	if ! private_apt "$suite"; then
		[ -n "$have" ] || die "cannot read $suite at $MIRROR (log: $(rel "$FETCHLOG")): connect to the network, or set LINUX=/path/to/kernel/git"
		say "cannot read $suite at $MIRROR (log: $(rel "$FETCHLOG")): using the cached $package $have"
		return
	fi
	found=$(newest "$package" "$version")
	if [ -z "$found" ]; then
		[ -n "$have" ] || die "$MIRROR has no $package $version in $suite any more: update base/$BASE, or set LINUX=/path/to/kernel/git"
		say "$suite has no $package $version any more: using the cached $have"
	elif [ "$found" = "$have" ]; then
		say "$package $have (cached, still the newest)"
	elif git --git-dir="$repo" rev-parse -q --verify "refs/tags/$(tag_of "$found")" > /dev/null 2>&1; then
		git --git-dir="$repo" update-ref refs/heads/current "refs/tags/$(tag_of "$found")"
		git --git-dir="$repo" config vcpu-sched.version "$found"
		say "$package $found (cached)"
	else
		import "$found" "$repo"
		say "$package $found is the base now${have:+ (was $have)}"
	fi
	touch "$dir/checked"
}

# ---- QEMU -------------------------------------------------------------------------------------------------------

# works ROOT: is there a QEMU in it that runs here, is new enough and can share a directory with its guest?
works() {
	local bin=$1/usr/bin/qemu-system-x86_64 major
	[ -x "$bin" ] || return
	export QEMU_MODULE_DIR=$1/usr/lib/x86_64-linux-gnu/qemu
	major=$("$bin" --version 2> /dev/null | sed -n 's/^QEMU emulator version \([0-9]*\)\..*/\1/p')
	[ "${major:-0}" -ge $QEMU_WISH ] && [[ $("$bin" -machine q35 -device help 2> /dev/null) == *'"virtio-9p-pci"'* ]]
}

qemu_version() { "$1/usr/bin/qemu-system-x86_64" --version | sed -n 's/^QEMU emulator version //p'; }

# use ROOT: what current points to, changed in one step.
use() {
	ln -sfn "$1" "$CACHE/qemu/next"
	mv -T "$CACHE/qemu/next" "$CACHE/qemu/current"
	say "QEMU $(qemu_version "$1")${2:-}"
}

fetch_qemu() {
	local dir=$CACHE/qemu codename version root pkgs
	mkdir -p "$dir"
	if works "$dir/current"; then
		say "QEMU $(qemu_version "$dir/current") (cached)"
		return
	fi
	lock_cache
	if works ''; then
		use / " (installed)"
		return
	fi
	if works "$dir/current"; then
		say "QEMU $(qemu_version "$dir/current") (cached)"
		return
	fi
	need_disk "$CACHE"
	scratch
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	private_apt "$codename-backports" own ||
		die "no QEMU $QEMU_WISH or newer here, and $codename-backports at $MIRROR cannot be read (log: $(rel "$FETCHLOG")): connect to the network, or install one as qemu-system-x86_64"
	version=$(newest qemu-system-x86 '*')
	if [ -z "$version" ] || dpkg --compare-versions "$version" lt "1:$QEMU_WISH"; then
		die "no QEMU $QEMU_WISH or newer here, and none at $MIRROR (best: ${version:-none}): install one as qemu-system-x86_64"
	fi
	# It and those of its libraries that are not installed, unpacked into a root of their own: the machine's
	# own packages stay as they are. apt only works out the list.
	mkdir "$SCRATCH/debs" "$SCRATCH/root"
	pkgs=$(apt-get "${APT[@]}" -q install --simulate --no-install-recommends -t "$codename-backports" qemu-system-x86 2>&1 |
		tee -a "$FETCHLOG" | sed -n 's/^Inst \([^ ]*\) \(\[[^]]*\] \)*(\([^ ]*\) .*/\1=\3/p') || pkgs=
	[ -n "$pkgs" ] ||
		die "apt finds no set of packages for QEMU $version (log: $(rel "$FETCHLOG")): install a QEMU $QEMU_WISH or newer as qemu-system-x86_64"
	say "downloading QEMU $version and $(($(wc -w <<< "$pkgs") - 1)) packages that it needs"
	# shellcheck disable=SC2086 # a list of packages
	(cd "$SCRATCH/debs" && apt-get "${APT[@]}" -q download $pkgs) >> "$FETCHLOG" 2>&1 ||
		die "download of QEMU $version failed (log: $(rel "$FETCHLOG")): try again"
	local deb bin
	for deb in "$SCRATCH"/debs/*.deb; do
		dpkg-deb -x "$deb" "$SCRATCH/root"
	done
	# Its libraries are in the same root, so it starts through a wrapper that says where.
	bin=$SCRATCH/root/usr/bin/qemu-system-x86_64
	mv "$bin" "$bin.bin"
	cat > "$bin" <<-'WRAP'
		#!/bin/sh
		# QEMU with the libraries of the root that it was unpacked into.
		r=$(dirname "$(readlink -f "$0")")/../..
		l=$r/usr/lib/x86_64-linux-gnu
		export QEMU_MODULE_DIR="$l/qemu"
		export LD_LIBRARY_PATH="$l:$r/lib/x86_64-linux-gnu:$l/pulseaudio${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
		exec "$r/usr/bin/qemu-system-x86_64.bin" "$@"
	WRAP
	chmod 755 "$bin"
	works "$SCRATCH/root" ||
		die "the QEMU $version just fetched does not run here: $("$bin" --version 2>&1 | head -n 1)"
	root=$dir/${version//[:~]/_}
	rm -rf "$root"
	mv "$SCRATCH/root" "$root"
	use "$root" " (from $codename-backports)"
}

# ---- the end ----------------------------------------------------------------------------------------------------

# Only what is ours: the cache may be a folder that somebody has other things in.
forget() {
	[ -e "$CACHE/lock" ] || { rmdir "$CACHE" 2> /dev/null || say "$CACHE was never a cache of this project: nothing is removed"; return 0; }
	lock_cache
	rm -rf "$CACHE"/{apt,base,qemu,ccache,lock,objects-*,tmp.*}
	rmdir "$CACHE" 2> /dev/null || say "$CACHE has other things in it, which stay"
}

FETCHLOG=$LOG/fetch-${1:-}.log
: > "$FETCHLOG"
case ${1:-} in
base) fetch_base ;;
qemu) fetch_qemu ;;
forget) forget ;;
*) die "usage: $0 base|qemu|forget" ;;
esac
