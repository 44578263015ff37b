# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the parts of this bench share, in the host and in its guests. Source it.

PARAMS=/sys/module/kvm/parameters
# KVM's counters of spinning vCPUs; the unmodified kernel has none of them.
STATS="ple_exits ple_undercommit_exits ple_overcommit_yields ple_boost_attempted ple_boost_successful ple_hint_attempted ple_hint_successful"

# ple COMMAND SETTING: what the host does with spinning vCPUs from now on.
# COMMAND FILE VALUE writes a file of the host.
#   base        the unmodified kernel has nothing to set
#   off, off2   all switched off (off2: the null comparison)
#   on          what costs nothing in theory: boosts by IPI, leaving early (not the default)
#   hint        only boosts by IPI
#   under       only leaving early, by the corrected load
#   over        only yielding to others, by the corrected load
#   seed        leaving early and yielding, by the load average alone
#   all         everything
ple() {
	case $2 in
	base) return 0 ;;
	off | off2) set -- "$1" N N N Y ;;
	on) set -- "$1" Y Y N Y ;;
	hint) set -- "$1" Y N N Y ;;
	under) set -- "$1" N Y N Y ;;
	over) set -- "$1" N N Y Y ;;
	seed) set -- "$1" N Y Y N ;;
	all) set -- "$1" Y Y Y Y ;;
	*) echo "no such setting: $2" >&2; return 1 ;;
	esac
	$1 $PARAMS/ple_ipi_hint "$2" && $1 $PARAMS/ple_undercommit_exit "$3" &&
		$1 $PARAMS/ple_overcommit_yield "$4" && $1 $PARAMS/ple_local_load "$5"
}

write() {
	echo "$2" >"$1"
}

# stats_of SETTING: their values for this guest, as NAME=VALUE.
stats_of() {
	[ "$1" != base ] || return 0
	# shellcheck disable=SC2086
	host stat $STATS
}
