# SPDX-License-Identifier: GPL-2.0-only
# vcpu-sched: the only entry point. "make help" says what there is; what a step does is in scripts/, lab/ and bench/.

.NOTPARALLEL:
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

CACHE      := $(or $(VCPU_SCHED_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/vcpu-sched)
BIN        := build/bin
# What is built for another base than the main one ends in its name.
export SUFFIX := $(if $(filter-out $(shell sed -n 's/^MAIN_BASE=//p' scripts/lib.sh),$(BASE)),-$(BASE))
LINUX_TREE := build/linux$(SUFFIX)
QEMU_ROOT  := $(CACHE)/qemu/current
CONFIG     ?= lab
N          ?= 20
MINUTES    ?= 20
export VCPU_SCHED_CACHE := $(CACHE)
export KERNEL := $(CONFIG)$(SUFFIX)
export LINUX LINUX_REV TOPICS BASE_ONLY FORCE STRICT CONFIG JOBS BASE REPS ROUNDTRIPS THRESHOLDS

# bench first: the lab takes its programs along.
include bench/build.mk lab/build.mk

# Not $(MAKE) in a recipe: make -n would run it.
SUB    := $(MAKE) -s
STEPS  := exec scripts/steps.sh
TREE   := "packages|scripts/need.sh source" "kernel source|scripts/fetch.sh base" "patch series|scripts/tree.sh"
BUILT  := $(TREE) "build tools|scripts/need.sh kernel" "kernel|scripts/kernel.sh"
# The checks and the harness are about the main base.
LAB_TESTS := $(addprefix tests/,lab.sh demo.sh kernel.sh survive.sh idle-path.sh sched-object.sh)
LAB    := "lab tools|scripts/need.sh lab plot" "QEMU|scripts/fetch.sh qemu" $(BUILT) "lab|$(SUB) lab-files"

## The two commands

demo:        ## the before/after measurement: build/demo/demo.csv, a table, a plot
	@$(STEPS) $@ $(LAB) "measurement|bench/demo.sh build/demo" "table|$(SUB) demo-report"

test:        ## everything that must hold; the last line is "N passed, N failed"
	@$(STEPS) $@ "packages|scripts/need.sh test check" $(LAB) "kselftests|scripts/need.sh selftests && scripts/selftests.sh" "tests|QUICK=1 scripts/test.sh $(or $(TESTS),$(if $(SUFFIX),$(LAB_TESTS),checks/*.sh tests/*.sh))"

## The kernel

tree:        ## lay build/linux: the base and one commit per patch (FORCE=1: throw away edits there)
	@$(STEPS) $@ $(TREE)

kernel:      ## build it: build/kernel-lab (CONFIG=debug: one that complains)
	@$(STEPS) $@ $(BUILT)

series:      ## write patches/ back from the commits in build/linux
	@$(STEPS) $@ "packages|scripts/need.sh source" "patches/|scripts/series.sh"

check:       ## what a maintainer would run on the series
	@$(STEPS) $@ $(TREE) "packages|scripts/need.sh check kernel" "cross compilers, Sphinx, pahole|scripts/need.sh cross || true; scripts/need.sh docs || true; scripts/need.sh btf || true" "checks|TEST_LIMIT=10000 scripts/test.sh $(or $(CHECKS),checks/*.sh)"

submit-dryrun: ## who would get which patches in which order; nothing is sent
	@$(STEPS) $@ $(TREE) "packages|scripts/need.sh submit" "submission|scripts/submit-dryrun.sh"

## The lab

shell:       ## a shell in the host (L2=1: in a guest)
	@$(STEPS) $@ $(LAB) "shell|!lab/run.sh build/shell -s $(if $(L2),2,1)"

bench:       ## the postings' tables beside the lab's: a page, in hours (QUICK=1: ten minutes; it can be resumed)
	@$(STEPS) $@ $(LAB) "workloads|scripts/need.sh bench" "base source|BASE_ONLY=1 scripts/tree.sh" "base kernel|BASE_ONLY=1 scripts/kernel.sh" \
		"measurement|bench/report/report.sh build/bench/report"

bench-%: FORCE ## a topic's benchmark: bench-pv-idle, ... (the folders in bench/)
	@$(STEPS) $@ $(LAB) "bench-$*|bench/bench.sh $* build/bench/$* $(BENCH)"

bench-report: bench

bench-kvm:   ## the same for directed yield: also builds and boots the base without patches
	@$(STEPS) $@ $(LAB) "base source|BASE_ONLY=1 scripts/tree.sh" "base kernel|BASE_ONLY=1 scripts/kernel.sh" \
		"bench-kvm|bench/bench.sh kvm build/bench/kvm $(BENCH)"

lab-soak:    ## N=20 rounds of two busy guests at once
	@$(STEPS) $@ $(LAB) "soak|lab/soak.sh $(N) build/soak"

stress:      ## MINUTES=20 of all at once in two guests, one killed again and again (CONFIG=debug: it complains)
	@$(STEPS) $@ $(LAB) "kselftests|scripts/need.sh selftests && scripts/selftests.sh" "stress|lab/stress.sh $(MINUTES) build/stress"

## Housekeeping

clean:       ## remove build/
	@$(STEPS) $@ "build/|find build -mindepth 1 -maxdepth 1 ! -name .lock -exec rm -rf {} +"

distclean:   ## remove build/ and the cache outside the checkout
	@$(STEPS) $@ "build/|find build -mindepth 1 -maxdepth 1 ! -name .lock -exec rm -rf {} +" "cache|scripts/fetch.sh forget"

help:        ## this text
	@echo "vcpu-sched: a Linux patch series that tells the scheduler what a vCPU is, and the lab that proves it"
	@sed -n -e 's/^## \(.*\)/\n\1/p' -e 's/^\([a-z%-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
	@printf '\ntree, kernel: LINUX=DIR [LINUX_REV=COMMIT] a kernel repository of yours, TOPICS="common kvm" only these,\n'
	@printf 'BASE_ONLY=1 no patches. JOBS=N for the kernel build, TESTS="tests/a.sh ..." for a few tests.\n'
	@printf 'BASE=6.12 for any of them: the LTS kernel, with names that end in -6.12 in build/.\n'
	@printf 'Logs are in build/log, what was downloaded in %s (VCPU_SCHED_CACHE).\n' '$(CACHE)'

# Parts of the above, run as steps.

lab-files: $(BIN)/lab build/lab/host.cpio build/lab/guest.cpio $(addprefix $(BIN)/,$(BENCH_TOOLS))

demo-report:
	@{ echo rep,threshold_ns,ns_per_roundtrip,exits_per_roundtrip,halt_exits_per_roundtrip; grep '^[0-9]' build/demo/demo.out; } > build/demo/demo.csv
	@$(BIN)/demo-table build/demo/demo.csv
	@gnuplot -e "csv='build/demo/demo.csv'; png='build/demo/demo.png'" bench/demo.gp
	@echo "demo: raw data in build/demo/demo.csv, plot in build/demo/demo.png"

$(BIN):
	@mkdir -p $@

$(BIN)/progress: scripts/progress.c | $(BIN)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -o $@ $<

FORCE:

.PHONY: demo bench bench-report test tree kernel series check submit-dryrun shell lab-soak stress clean distclean help lab-files demo-report FORCE
