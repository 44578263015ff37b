// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that allocate memory, copy a table into it, search it and give it
 * back, all in one address space: page faults, and a TLB shootdown for every
 * unmap.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util.h"

static const char help[] =
"Usage: allocsearch [options]\n"
"For every record: pick a table, copy it into fresh memory, find a key in the copy by\n"
"binary search, free the copy. Print the records per second.\n"
"  -n N      threads (default: 2)\n"
"  -c LIST   pin thread i to the i-th CPU of the list (0,2-3), round robin\n"
"  -k N      tables (default: 16)\n"
"  -z SIZE   size of a table (default: 64k)\n"
"  -M        take the memory from malloc() instead of mmap()\n"
"  -t TIME   end after that time (default: 5s; 0: on SIGINT or SIGTERM)\n"
"  -i TIME   also print a line \"interval: ...\" that often; SIGUSR1 does so at once\n"
"  -h, --help\n"
"SIZE: 4096, 64k, 1m. TIME: 20ms, 500us, 1.5s; a bare number is seconds.\n"
"Output: records= seconds= records_per_second= threads= min= max= fairness=(min/max)\n";

static uint32_t **table;
static uint64_t nr_tables = 16, table_size = 64 * 1024, nr_keys;
static bool use_malloc;

/* Sorted, different in each table, and so that every other number is absent. */
static uint32_t key_at(uint64_t t, uint64_t i)
{
	return (uint32_t)(2 * (i + t));
}

static void make_tables(void)
{
	nr_keys = table_size / sizeof(**table);
	table = xcalloc(nr_tables, sizeof(*table));
	for (uint64_t t = 0; t < nr_tables; t++) {
		table[t] = xcalloc(nr_keys, sizeof(**table));
		for (uint64_t i = 0; i < nr_keys; i++)
			table[t][i] = key_at(t, i);
	}
}

static void *get_memory(void)
{
	void *p;

	if (use_malloc) {
		p = malloc(table_size);
		if (!p)
			die("out of memory");
		return p;
	}
	p = mmap(NULL, table_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die_errno("mmap");
	return p;
}

static void put_memory(void *p)
{
	if (use_malloc)
		free(p);
	else if (munmap(p, table_size))
		die_errno("munmap");
}

/* Index of the first key that is not less. */
static uint64_t search(const uint32_t *keys, uint32_t key)
{
	uint64_t lo = 0, hi = nr_keys;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (keys[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void search_copies(struct member *me)
{
	uint64_t state = me->id + 1;

	while (crew_running()) {
		uint64_t t = next_random(&state) % nr_tables;
		uint64_t i = next_random(&state) % nr_keys;
		uint32_t *copy = get_memory();

		memcpy(copy, table[t], table_size);
		if (search(copy, key_at(t, i)) != i)
			die("record %llu of table %llu is not where it was put",
			    (unsigned long long)i, (unsigned long long)t);
		put_memory(copy);
		member_did(me, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = { { "help", 0, NULL, 'h' }, { } };
	static struct crew crew = {
		.unit = "records", .threads = 2, .work = search_copies,
		.run_ns = 5 * NSEC_PER_SEC,
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "n:c:k:z:Mt:i:h", longopts, NULL)) != -1) {
		switch (opt) {
		case 'n':
			crew.threads = (unsigned int)parse_count("-n", optarg, 1, MAX_THREADS);
			break;
		case 'c': parse_cpus("-c", optarg, &crew.cpus); break;
		case 'k': nr_tables = parse_count("-k", optarg, 1, 1 << 20); break;
		case 'z':
			table_size = parse_size("-z", optarg) & ~3ULL;
			if (table_size < 4 || table_size > 1ULL << 30)
				die("-z: a table has 4 bytes to 1024m");
			break;
		case 'M': use_malloc = true; break;
		case 't': crew.run_ns = parse_time("-t", optarg); break;
		case 'i': crew.interval_ns = parse_time("-i", optarg); break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	no_operands(argc, argv, optind);
	make_tables();
	crew_run(&crew);
	for (uint64_t t = 0; t < nr_tables; t++)
		free(table[t]);
	free(table);
	return 0;
}
