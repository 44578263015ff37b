# SPDX-License-Identifier: GPL-2.0-only
# The workloads and the report tools, linked static: workloads run in a guest's
# initramfs. Included by the top Makefile, which says where BIN is; alone,
# "make -f bench/build.mk" builds them all.

BIN          ?= build/bench-bin
BENCH_CC     ?= gcc
BENCH_CFLAGS ?= -std=gnu11 -O2 -Wall -Wextra

BENCH_PROGRAMS := pingpong msgwork hog allocsearch tlbstorm pausecost
BENCH_TOOLS    := stats demo-table report
BENCH_ALL      := $(addprefix $(BIN)/,$(BENCH_PROGRAMS) $(BENCH_TOOLS))

.PHONY: bench-bin
bench-bin: $(BENCH_ALL)

$(addprefix $(BIN)/,$(BENCH_TOOLS)): bench/csv.c bench/csv.h bench/sample.c bench/sample.h

$(BENCH_ALL): $(BIN)/%: bench/%.c bench/util.c bench/util.h
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -static -pthread -o $@ $(filter %.c,$^) -lm
