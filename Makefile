# SPDX-License-Identifier: GPL-2.0-only
build/bin/progress: scripts/progress.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -o $@ $<
