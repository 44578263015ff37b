# SPDX-License-Identifier: GPL-2.0-only
# What the lab is made of: its programs and the two initramfs archives.
# Needs BIN (where programs go), LINUX_TREE (for gen_init_cpio.c) and QEMU_ROOT.

LAB_CFLAGS := -std=gnu11 -O2 -Wall -Wextra

# An unpacked QEMU starts through a wrapper: the program itself has the suffix.
QEMU := $(patsubst /,,$(realpath $(QEMU_ROOT)))
QEMU_BIN = $(firstword $(wildcard $(QEMU)/usr/bin/qemu-system-x86_64.bin) $(QEMU)/usr/bin/qemu-system-x86_64)

$(BIN)/lab: lab/lab.c | $(BIN)
	$(CC) $(LAB_CFLAGS) -o $@ $<

$(BIN)/vms $(BIN)/host: $(BIN)/%: lab/%.c | $(BIN)
	$(CC) $(LAB_CFLAGS) -static -pthread -o $@ $<

$(BIN)/gen_init_cpio: $(LINUX_TREE)/usr/gen_init_cpio.c | $(BIN)
	$(CC) -O2 -o $@ $<

# tbench reads its load line by line and starts over at the end: the first
# 20,000 lines last for minutes here, and the guest need not unpack 26 MB.
$(BIN)/client.txt: /usr/share/dbench/client.txt | $(BIN)
	head -n 20000 $< > $@

GUEST_PROGRAMS := host $(BENCH_PROGRAMS) client.txt
LAB_ENV = LAB=lab BIN=$(BIN) BUSYBOX=$$(command -v busybox) QEMU=$(QEMU) QEMU_BIN=$(QEMU_BIN)

build/lab/guest.cpio: lab/guest.list lab/init lab/initramfs.sh $(BIN)/gen_init_cpio \
		$(addprefix $(BIN)/,$(GUEST_PROGRAMS))
	@mkdir -p $(@D)
	$(LAB_ENV) lab/initramfs.sh $(BIN)/gen_init_cpio $< > $@.tmp
	mv $@.tmp $@

build/lab/host.cpio: build/lab/guest.cpio lab/host.list $(BIN)/vms
	$(LAB_ENV) lab/initramfs.sh $(BIN)/gen_init_cpio lab/host.list lab/guest.list > $@.tmp
	cat $< $@.tmp > $@.new
	rm $@.tmp
	mv $@.new $@
