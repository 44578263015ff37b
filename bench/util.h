/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs share: errors, memory, option values, the clock, pinning, a
 * latency histogram, and a crew of threads that count what they get done.
 */
#ifndef BENCH_UTIL_H
#define BENCH_UTIL_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSEC_PER_SEC	1000000000ULL
#define MAX_CPUS	1024
#define MAX_THREADS	1024

/* Print "program: message" and exit with status 1. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same with the text of errno behind it. */
void die_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* After getopt has complained: point to --help and exit with status 2. */
void bad_usage(void) __attribute__((noreturn));
/* Refuse anything that is left after the options. */
void no_operands(int argc, char **argv, int optind_now);

/* Values of options; all of them die naming the option. */
uint64_t parse_count(const char *opt, const char *s, uint64_t min, uint64_t max);
uint64_t parse_time(const char *opt, const char *s);	/* "20ms", "1.5" = seconds; in ns */
uint64_t parse_size(const char *opt, const char *s);	/* "64k", "1m"; in bytes */

struct cpu_list {
	unsigned int nr;
	int cpu[MAX_CPUS];
};
void parse_cpus(const char *opt, const char *s, struct cpu_list *list);	/* "0,2-3" */

void *xcalloc(size_t nr, size_t size);
void *grow(void *array, unsigned int nr, size_t size);	/* room for one more element */
char *xstrdup(const char *s);
/* As printf would print it. */
char *text_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *vtext_of(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

uint64_t now_ns(void);			/* CLOCK_MONOTONIC */
void sleep_ns(uint64_t ns);
void pin_to(int cpu);			/* the calling thread */

/*
 * A fixed amount of arithmetic that touches no memory: some microseconds. Not
 * inline, so that it is done even where nobody wants the result.
 */
uint64_t work_unit(uint64_t state);

/* xorshift64*: good enough to pick a record; the state must not be 0. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dULL;
}

/*
 * Latencies in ns: exact below 2^HIST_SHIFT, above that HIST_STEPS buckets per
 * power of two, so that a percentile is off by less than 1 %. The maximum is
 * exact. One writer.
 */
#define HIST_SHIFT	6
#define HIST_STEPS	(1U << HIST_SHIFT)
struct hist {
	uint64_t nr;
	uint64_t max;
	uint64_t bucket[(64 - HIST_SHIFT + 1) * HIST_STEPS];
};
void hist_add(struct hist *h, uint64_t ns);
void hist_merge(struct hist *to, const struct hist *from);
uint64_t hist_quantile(const struct hist *h, double q);	/* 0 when empty */

/* One thread of a crew. Only the thread itself adds to done. */
struct member {
	unsigned int id;
	_Atomic uint64_t done;
} __attribute__((aligned(128)));

static inline void member_did(struct member *me, uint64_t nr)
{
	uint64_t done = atomic_load_explicit(&me->done, memory_order_relaxed);

	atomic_store_explicit(&me->done, done + nr, memory_order_relaxed);
}

struct crew {
	const char *unit;		/* name of what is counted, for the output */
	unsigned int threads;
	struct cpu_list cpus;		/* thread i runs on cpu[i % nr]; empty: anywhere */
	uint64_t run_ns;		/* 0: until SIGINT or SIGTERM */
	uint64_t interval_ns;		/* print a line that often, too; 0: never */
	void (*work)(struct member *me);	/* loops while crew_running() */
};

extern atomic_bool crew_stopped;
static inline bool crew_running(void)
{
	return !atomic_load_explicit(&crew_stopped, memory_order_relaxed);
}

/*
 * Start the threads together, run them for the time wanted and print
 * "UNIT=.. seconds=.. UNIT_per_second=.. threads=.. min=.. max=.. fairness=..",
 * where fairness is min/max over the threads. SIGUSR1 and interval_ns print a
 * line "interval: ..." for the time since the last such line.
 */
void crew_run(struct crew *crew);

#endif
