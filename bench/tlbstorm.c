// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of one process whose system calls make the kernel interrupt the CPUs
 * that the other threads run on: munmap() and mprotect() of touched pages (TLB
 * shootdowns) and membarrier().
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

static const char help[] =
"Usage: tlbstorm [options]\n"
"Every thread does the operations in turn, again and again. Print how many per second.\n"
"  -o LIST   of: munmap     map some pages, write to them, unmap them\n"
"                mprotect   make some pages read-only, read; writable again, write\n"
"                membarrier expedited private membarrier(2)\n"
"            (default: munmap,mprotect,membarrier)\n"
"  -n N      threads (default: 2)\n"
"  -c LIST   pin thread i to the i-th CPU of the list (0,2-3), round robin\n"
"  -p N      pages for munmap and mprotect (default: 4)\n"
"  -t TIME   end after that time (default: 5s; 0: on SIGINT or SIGTERM)\n"
"  -i TIME   also print a line \"interval: ...\" that often; SIGUSR1 does so at once\n"
"  -h, --help\n"
"TIME: 20ms, 500us, 1.5s; a bare number is seconds.\n"
"Output: ops= seconds= ops_per_second= threads= min= max= fairness=(min/max)\n";

static size_t page_size, region_size;
static uint64_t nr_pages = 4;

static volatile char *map_region(void)
{
	void *p = mmap(NULL, region_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die_errno("mmap");
	return p;
}

static void touch(volatile char *region)
{
	for (size_t i = 0; i < region_size; i += page_size)
		region[i]++;
}

static void do_munmap(volatile char *own)
{
	volatile char *region = map_region();

	(void)own;
	touch(region);
	if (munmap((void *)region, region_size))
		die_errno("munmap");
}

static void do_mprotect(volatile char *own)
{
	if (mprotect((void *)own, region_size, PROT_READ))
		die_errno("mprotect");
	for (size_t i = 0; i < region_size; i += page_size)
		(void)own[i];
	if (mprotect((void *)own, region_size, PROT_READ | PROT_WRITE))
		die_errno("mprotect");
	touch(own);
}

static void do_membarrier(volatile char *own)
{
	(void)own;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		die_errno("membarrier");
}

static const struct op {
	const char *name;
	void (*fn)(volatile char *own);
} known[] = {
	{ "munmap", do_munmap },
	{ "mprotect", do_mprotect },
	{ "membarrier", do_membarrier },
};

#define NR_KNOWN	(sizeof(known) / sizeof(*known))

static const struct op *chosen[NR_KNOWN];
static unsigned int nr_chosen;

static void choose(char *list)
{
	nr_chosen = 0;
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		const struct op *op = known;

		while (op < known + NR_KNOWN && strcmp(op->name, name))
			op++;
		if (op == known + NR_KNOWN)
			die("-o: no operation '%s' (munmap, mprotect, membarrier)", name);
		for (unsigned int i = 0; i < nr_chosen; i++)
			if (chosen[i] == op)
				die("-o: '%s' is given twice", name);
		chosen[nr_chosen++] = op;
	}
	if (!nr_chosen)
		die("-o: no operation is given");
}

/* A storm without one of its kinds is another workload: no silent fallback. */
static void prepare(void)
{
	for (unsigned int i = 0; i < nr_chosen; i++)
		if (chosen[i]->fn == do_membarrier &&
		    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
			die_errno("this kernel has no expedited membarrier, use -o munmap,mprotect");
}

static void storm(struct member *me)
{
	volatile char *own = map_region();

	touch(own);
	for (unsigned int i = me->id; crew_running(); i++) {
		chosen[i % nr_chosen]->fn(own);
		member_did(me, 1);
	}
	munmap((void *)own, region_size);
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = { { "help", 0, NULL, 'h' }, { } };
	static struct crew crew = {
		.unit = "ops", .threads = 2, .work = storm, .run_ns = 5 * NSEC_PER_SEC,
	};
	char all[] = "munmap,mprotect,membarrier";
	int opt;

	choose(all);
	while ((opt = getopt_long(argc, argv, "o:n:c:p:t:i:h", longopts, NULL)) != -1) {
		switch (opt) {
		case 'o': choose(optarg); break;
		case 'n':
			crew.threads = (unsigned int)parse_count("-n", optarg, 1, MAX_THREADS);
			break;
		case 'c': parse_cpus("-c", optarg, &crew.cpus); break;
		case 'p': nr_pages = parse_count("-p", optarg, 1, 1 << 16); break;
		case 't': crew.run_ns = parse_time("-t", optarg); break;
		case 'i': crew.interval_ns = parse_time("-i", optarg); break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	no_operands(argc, argv, optind);
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	region_size = nr_pages * page_size;
	prepare();
	crew_run(&crew);
	return 0;
}
