# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests of the harness: checkouts of their own, and a kernel small enough to play with. Source it after tap.sh.

# What the caller of `make test` set must not leak into them.
unset LINUX LINUX_REV TOPICS BASE_ONLY FORCE STRICT CONFIG OBJECTS BASE VCPU_SCHED_LOCKED VCPU_SCHED_NEED_GB
unset MAKEFLAGS MFLAGS MAKELEVEL GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Somebody GIT_AUTHOR_EMAIL=somebody@example.org
export GIT_COMMITTER_NAME=Somebody GIT_COMMITTER_EMAIL=somebody@example.org

# checkout DIR: a copy of this checkout as it is now, committed or not, without what git ignores.
checkout() {
	mkdir -p "$1"
	(cd "$TOP" && git ls-files -co --exclude-standard -z | tar --null -T - --ignore-failed-read -cf - 2> /dev/null) | tar -xf - -C "$1"
}

# lines FROM TO: "line N" for each.
lines() { seq -f 'line %g' "$1" "$2"; }

# small_kernel DIR: a git repository that passes for a kernel.
small_kernel() {
	mkdir -p "$1"/{kernel/sched,virt/kvm,arch/x86/kernel,Documentation}
	lines 1 60 > "$1/kernel/sched/fair.c"
	lines 1 60 > "$1/kernel/sched/idle.c"
	lines 1 60 > "$1/virt/kvm/kvm_main.c"
	lines 1 60 > "$1/Documentation/index.rst"
	printf 'kernelversion:\n\t@echo 7.3.4\n' > "$1/Makefile"
	git -C "$1" init -q -b master
	git -C "$1" add -A
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' git -C "$1" commit -q -m 'Linux 7.3.4'
}

# change TREE FILE LINE TEXT SUBJECT: a commit that replaces one line.
change() {
	sed -i "$3s/.*/$4/" "$1/$2"
	GIT_AUTHOR_DATE='2026-02-01T12:00:00 +0100' git -C "$1" commit -q -a -m "$5" -m "Because $4 is better."
}
