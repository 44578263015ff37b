# SPDX-License-Identifier: GPL-2.0-only
# The workloads and the report tools, linked static: they also run in an
# initramfs. Included by the top Makefile; "make bench-bin" builds them all.

BENCH_BIN    ?= build/bench-bin
BENCH_CC     ?= gcc
BENCH_CFLAGS ?= -std=gnu11 -O2 -Wall -Wextra

BENCH_LOADS  := pingpong msgwork hog allocsearch tlbstorm
BENCH_TOOLS  := stats demo-table
BENCH_ALL    := $(addprefix $(BENCH_BIN)/,$(BENCH_LOADS) $(BENCH_TOOLS))

.PHONY: bench-bin
bench-bin: $(BENCH_ALL)

$(addprefix $(BENCH_BIN)/,$(BENCH_TOOLS)): bench/csv.c bench/csv.h bench/sample.c bench/sample.h

$(BENCH_ALL): $(BENCH_BIN)/%: bench/%.c bench/util.c bench/util.h
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -static -pthread -o $@ $(filter %.c,$^) -lm
