// SPDX-License-Identifier: GPL-2.0-only
/* A CPU-bound neighbour that counts how much of the CPU's work it gets. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>

#include "util.h"

static const char help[] =
"Usage: hog [options]\n"
"Do arithmetic in every thread and print how many units of work were done, and how\n"
"evenly the threads got on. A unit is a fixed number of instructions.\n"
"  -n N      threads (default: 1)\n"
"  -c LIST   pin thread i to the i-th CPU of the list (0,2-3), round robin\n"
"  -t TIME   end after that time (default: on SIGINT or SIGTERM)\n"
"  -i TIME   also print a line \"interval: ...\" that often; SIGUSR1 does so at once\n"
"  -h, --help\n"
"TIME: 20ms, 500us, 1.5s; a bare number is seconds.\n"
"Output: work= seconds= work_per_second= threads= min= max= fairness=(min/max)\n";

static void compute(struct member *me)
{
	uint64_t state = me->id + 1;

	while (crew_running()) {
		state = work_unit(state);
		member_did(me, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = { { "help", 0, NULL, 'h' }, { } };
	static struct crew crew = { .unit = "work", .threads = 1, .work = compute };
	int opt;

	while ((opt = getopt_long(argc, argv, "n:c:t:i:h", longopts, NULL)) != -1) {
		switch (opt) {
		case 'n':
			crew.threads = (unsigned int)parse_count("-n", optarg, 1, MAX_THREADS);
			break;
		case 'c': parse_cpus("-c", optarg, &crew.cpus); break;
		case 't': crew.run_ns = parse_time("-t", optarg); break;
		case 'i': crew.interval_ns = parse_time("-i", optarg); break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	no_operands(argc, argv, optind);
	crew_run(&crew);
	return 0;
}
