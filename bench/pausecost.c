// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one exit of a vCPU that spins costs the host: VMs of several sizes in
 * which one vCPU executes PAUSE and all others are halted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util.h"

static const char help[] =
"Usage: pausecost [options] VCPUS...\n"
"For each number of vCPUs a VM with one that executes PAUSE and others that are halted.\n"
"  -c CPU    run the spinning vCPUs on this CPU\n"
"  -d CPU    run the halted vCPUs on this CPU (default: the same)\n"
"  -n N      PAUSEs per sample (default: 2000)\n"
"  -r N      samples per VM, taken in turn (default: 21)\n"
"  -h, --help\n"
"Output, a line per sample: rep= vcpus= ns_per_pause=\n"
"If the CPU does not exit on PAUSE, or rarely, this is the cost of PAUSE itself.\n";

#define GUEST_BYTES 4096

/* Real mode: pause CX times, tell the host, again. At 0x100: halt for ever. */
static const unsigned char spin_code[] = {
	0xb9, 0x00, 0x00,	/* mov $N, %cx (N is filled in) */
	0xf3, 0x90,		/* pause */
	0xe2, 0xfc,		/* loop to the pause */
	0xe6, 0x10,		/* out %al, $0x10 */
	0xeb, 0xf5,		/* again */
};
static const unsigned char halt_code[] = {
	0xfa,			/* cli */
	0xf4,			/* hlt */
	0xeb, 0xfd,		/* again */
};
#define HALT_AT 0x100

struct vm {
	int fd, spinner;
	struct kvm_run *run;
	uint64_t vcpus;
};

static int kvm, run_size, halted_cpu;

static int kvm_call(int fd, unsigned long request, unsigned long arg, const char *what)
{
	int r = ioctl(fd, request, arg);

	if (r < 0)
		die_errno("%s", what);
	return r;
}
#define CALL(fd, request, arg) kvm_call(fd, request, (unsigned long)(arg), #request)

/* A vCPU in real mode that starts at the given address of the only page. */
static int new_vcpu(struct vm *vm, unsigned long id, uint64_t at)
{
	struct kvm_mp_state runnable = { .mp_state = KVM_MP_STATE_RUNNABLE };
	int fd = CALL(vm->fd, KVM_CREATE_VCPU, id);
	struct kvm_regs regs = { .rip = at, .rflags = 2 };
	struct kvm_sregs sregs;

	CALL(fd, KVM_GET_SREGS, &sregs);
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	CALL(fd, KVM_SET_SREGS, &sregs);
	CALL(fd, KVM_SET_REGS, &regs);
	CALL(fd, KVM_SET_MP_STATE, &runnable);
	return fd;
}

/* Enters the guest, which halts: the thread stays in KVM until the program ends. */
static void *halted(void *arg)
{
	int fd = (int)(intptr_t)arg;

	pin_to(halted_cpu);
	while (!ioctl(fd, KVM_RUN, 0) || errno == EINTR)
		;
	die_errno("KVM_RUN of a halted vCPU");
}

static void new_vm(struct vm *vm, uint64_t vcpus, uint64_t pauses)
{
	struct kvm_userspace_memory_region region = { .memory_size = GUEST_BYTES };
	unsigned char *page = mmap(NULL, GUEST_BYTES, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;

	if (page == MAP_FAILED)
		die_errno("mmap");
	memcpy(page, spin_code, sizeof(spin_code));
	page[1] = pauses;
	page[2] = pauses >> 8;
	memcpy(page + HALT_AT, halt_code, sizeof(halt_code));

	vm->vcpus = vcpus;
	vm->fd = CALL(kvm, KVM_CREATE_VM, 0);
	CALL(vm->fd, KVM_SET_TSS_ADDR, 0xfffbd000);
	CALL(vm->fd, KVM_CREATE_IRQCHIP, 0);
	region.userspace_addr = (uintptr_t)page;
	CALL(vm->fd, KVM_SET_USER_MEMORY_REGION, &region);

	vm->spinner = new_vcpu(vm, 0, 0);
	vm->run = mmap(NULL, run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->spinner, 0);
	if (vm->run == MAP_FAILED)
		die_errno("mmap of the vCPU");

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (uint64_t i = 1; i < vcpus; i++) {
		pthread_t thread;
		int fd = new_vcpu(vm, i, HALT_AT);

		errno = pthread_create(&thread, &attr, halted, (void *)(intptr_t)fd);
		if (errno)
			die_errno("pthread_create");
	}
}

/* The guest's PAUSEs until it tells that it has done them. */
static double sample(struct vm *vm, uint64_t pauses)
{
	uint64_t begin = now_ns(), end;

	do {
		if (ioctl(vm->spinner, KVM_RUN, 0) && errno != EINTR)
			die_errno("KVM_RUN");
	} while (vm->run->exit_reason == KVM_EXIT_INTR);
	end = now_ns();
	if (vm->run->exit_reason != KVM_EXIT_IO)
		die("unexpected exit %u of the guest", vm->run->exit_reason);
	return (double)(end - begin) / pauses;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	uint64_t cpu = 0, other = UINT64_MAX, pauses = 2000, reps = 21;
	struct vm *vms;
	int opt, nr;

	while ((opt = getopt_long(argc, argv, "c:d:n:r:h", options, NULL)) != -1) {
		switch (opt) {
		case 'c': cpu = parse_count("-c", optarg, 0, MAX_CPUS - 1); break;
		case 'd': other = parse_count("-d", optarg, 0, MAX_CPUS - 1); break;
		case 'n': pauses = parse_count("-n", optarg, 1, 65535); break;
		case 'r': reps = parse_count("-r", optarg, 1, 1000000); break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	nr = argc - optind;
	if (nr < 1)
		bad_usage();
	halted_cpu = other == UINT64_MAX ? cpu : other;

	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		die_errno("/dev/kvm");
	run_size = CALL(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	vms = xcalloc(nr, sizeof(*vms));
	pin_to(cpu);
	for (int i = 0; i < nr; i++)
		new_vm(&vms[i], parse_count("VCPUS", argv[optind + i], 1, 1024), pauses);

	/* Let all have halted, and each spinner warm up. */
	sleep(1);
	for (int i = 0; i < nr; i++)
		sample(&vms[i], pauses);
	for (uint64_t rep = 1; rep <= reps; rep++)
		for (int i = 0; i < nr; i++) {
			struct vm *vm = &vms[(rep + i) % nr];

			printf("rep=%ju vcpus=%ju ns_per_pause=%.0f\n", (uintmax_t)rep,
			       (uintmax_t)vm->vcpus, sample(vm, pauses));
		}
	return 0;
}
