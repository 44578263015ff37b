#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# need.sh GROUP...: install the Debian packages that these jobs need and this machine lacks.

. "$(dirname "$0")/lib.sh"

# What each job needs: package, and a file or command that shows that it is there.
list() {
	case $1 in
	source) echo git:git patch:patch xz-utils:xz make:make ;;
	kernel) echo gcc:gcc make:make flex:flex bison:bison bc:bc libelf-dev:/usr/include/libelf.h cpio:cpio \
		libc6-dev:/usr/include/stdio.h gzip:gzip perl:perl ccache:ccache ;;
	lab) echo gcc:gcc make:make libc6-dev:/usr/include/stdio.h busybox-static:/bin/busybox dbench:tbench \
		rt-tests:cyclictest kexec-tools:/sbin/kexec cpio:cpio ;;
	plot) echo gnuplot-nox:gnuplot ;;
	bench) echo linux-perf:perf iperf3:iperf3 ;;
	test) echo shellcheck:shellcheck quilt:quilt gcc:gcc binutils:readelf gnupg:gpg procps:ps libc6-dev:/usr/include/stdio.h perl:perl ;;
	selftests) echo rsync:rsync uuid-dev:/usr/include/uuid/uuid.h linux-libc-dev:/usr/include/linux/types.h python3:python3 ;;
	check) echo perl:perl sparse:sparse python3:python3 codespell:codespell binutils:nm \
		python3-ply:/usr/lib/python3/dist-packages/ply python3-git:/usr/lib/python3/dist-packages/git ;;
	btf) echo pahole:pahole ;;
	docs) echo python3-sphinx:sphinx-build python3-yaml:/usr/lib/python3/dist-packages/yaml make:make gcc:gcc ;;
	cross) echo gcc-aarch64-linux-gnu:aarch64-linux-gnu-gcc gcc-s390x-linux-gnu:s390x-linux-gnu-gcc \
		gcc-powerpc64le-linux-gnu:powerpc64le-linux-gnu-gcc gcc-riscv64-linux-gnu:riscv64-linux-gnu-gcc ;;
	submit) echo git-email:/usr/lib/git-core/git-send-email libmailtools-perl:/usr/share/perl5/Mail/Address.pm perl:perl ;;
	*) die "no such group: $1" ;;
	esac
}

missing=
for group; do
	for item in $(list "$group"); do
		there=${item#*:}
		if [ "${there#/}" = "$there" ]; then
			command -v "$there" > /dev/null && continue
		elif [ -e "$there" ]; then
			continue
		fi
		[[ " $missing " == *" ${item%%:*} "* ]] || missing="$missing ${item%%:*}"
	done
done
[ -n "$missing" ] || exit 0

command -v apt-get > /dev/null || die "missing here:$missing (the names are Debian's packages): install them, then run this again"
[ "$(id -u)" -eq 0 ] || die "missing packages: run 'sudo apt-get install$missing', then this again"
say "installing$missing (apt-get)"
plog=$LOG/packages.log
# shellcheck disable=SC2086 # a list of packages
install() { DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing; }
if ! install > "$plog" 2>&1; then
	apt-get -q update >> "$plog" 2>&1 || true
	install >> "$plog" 2>&1 ||
		die "apt-get cannot install$missing: $(sed -n 's/^E: //p' "$plog" | tail -n 1) (log: $(rel "$plog"))"
fi
