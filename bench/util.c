// SPDX-License-Identifier: GPL-2.0-only
/* What the workloads share; see util.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util.h"

static void complain(const char *fmt, va_list ap, int err)
{
	fflush(stdout);
	flockfile(stderr);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, ap);
	if (err)
		fprintf(stderr, ": %s", strerror(err));
	fputc('\n', stderr);
	funlockfile(stderr);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap, 0);
	va_end(ap);
	_Exit(1);
}

void die_errno(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap, err);
	va_end(ap);
	_Exit(1);
}

void bad_usage(void)
{
	fprintf(stderr, "%s: try --help\n", program_invocation_short_name);
	_Exit(2);
}

void no_operands(int argc, char **argv, int optind_now)
{
	if (optind_now < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n",
			program_invocation_short_name, argv[optind_now]);
		bad_usage();
	}
}

uint64_t parse_count(const char *opt, const char *s, uint64_t min, uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || end == s || *end || *s < '0' || *s > '9' || v < min || v > max)
		die("%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64,
		    opt, s, min, max);
	return v;
}

/* A non-negative decimal number and whatever follows it. */
static double parse_number(const char *s, char **end)
{
	*end = (char *)s;
	if ((*s < '0' || *s > '9') && *s != '.')
		return NAN;
	return strtod(s, end);
}

uint64_t parse_time(const char *opt, const char *s)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
	};
	char *end;
	double v = parse_number(s, &end);

	for (size_t i = 0; end != s && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].name) && v * units[i].ns < 1e18)
			return (uint64_t)llround(v * units[i].ns);
	die("%s: '%s' is not a time (20ms, 500us, 1.5s; a bare number is seconds)", opt, s);
}

uint64_t parse_size(const char *opt, const char *s)
{
	static const struct { const char *name; double bytes; } units[] = {
		{ "", 1 }, { "k", 1024 }, { "m", 1024 * 1024 },
	};
	char *end;
	double v = parse_number(s, &end);

	for (size_t i = 0; end != s && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].name) && v * units[i].bytes < 1e12)
			return (uint64_t)(v * units[i].bytes);
	die("%s: '%s' is not a size (4096, 64k, 1m)", opt, s);
}

void parse_cpus(const char *opt, const char *s, struct cpu_list *list)
{
	const char *p = s;
	char *end;

	list->nr = 0;
	do {
		unsigned long first, last;

		if (*p < '0' || *p > '9')
			goto bad;
		first = last = strtoul(p, &end, 10);
		if (*end == '-') {
			p = end + 1;
			if (*p < '0' || *p > '9')
				goto bad;
			last = strtoul(p, &end, 10);
		}
		if ((*end && *end != ',') || last < first || last >= MAX_CPUS)
			goto bad;
		for (; first <= last; first++) {
			if (list->nr == MAX_CPUS)
				goto bad;
			list->cpu[list->nr++] = (int)first;
		}
		p = end + 1;
	} while (*end);
	return;
bad:
	die("%s: '%s' is not a list of CPUs (0,2-3)", opt, s);
}

void *xcalloc(size_t nr, size_t size)
{
	void *p;

	/* members want their own cache lines */
	if (__builtin_mul_overflow(nr, size, &size) ||
	    posix_memalign(&p, 128, size ? size : 1))
		die("out of memory");
	return memset(p, 0, size);
}

void *grow(void *array, unsigned int nr, size_t size)
{
	if (nr && (nr & (nr - 1)))
		return array;
	array = realloc(array, (nr ? 2 * (size_t)nr : 1) * size);
	if (!array)
		die("out of memory");
	return array;
}

char *xstrdup(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		die("out of memory");
	return copy;
}

char *vtext_of(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		die("out of memory");
	return text;
}

char *text_of(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = vtext_of(fmt, ap);
	va_end(ap);
	return text;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
}

void sleep_ns(uint64_t ns)
{
	struct timespec ts = to_timespec(ns);

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die_errno("cannot run on CPU %d", cpu);
}

uint64_t work_unit(uint64_t state)
{
	for (int i = 0; i < 1000; i++)
		next_random(&state);
	return state;
}

void hist_add(struct hist *h, uint64_t ns)
{
	unsigned int shift = 0;

	if (ns >= HIST_STEPS)
		shift = 63U - (unsigned int)__builtin_clzll(ns) - HIST_SHIFT + 1;
	/* shift 0: exact; else the leading bit is implied by the row of buckets */
	if (shift)
		h->bucket[shift * HIST_STEPS + ((ns >> (shift - 1)) - HIST_STEPS)]++;
	else
		h->bucket[ns]++;
	h->nr++;
	if (ns > h->max)
		h->max = ns;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	for (size_t i = 0; i < sizeof(to->bucket) / sizeof(*to->bucket); i++)
		to->bucket[i] += from->bucket[i];
	to->nr += from->nr;
	if (from->max > to->max)
		to->max = from->max;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t want = (uint64_t)ceil(q * (double)h->nr), seen = 0, mid;
	unsigned int i = 0, shift;

	if (!h->nr)
		return 0;
	if (want < 1)
		want = 1;
	while ((seen += h->bucket[i]) < want)
		i++;
	shift = i / HIST_STEPS;
	if (!shift)
		return i;
	/* middle of the bucket */
	mid = ((uint64_t)(i % HIST_STEPS + HIST_STEPS) << (shift - 1)) +
	      ((1ULL << (shift - 1)) >> 1);
	return mid < h->max ? mid : h->max;
}

atomic_bool crew_stopped;

static struct {
	struct crew *crew;
	struct member *member;
	pthread_barrier_t ready;
} run;

static void *crew_thread(void *arg)
{
	struct member *me = arg;
	struct crew *crew = run.crew;

	if (crew->cpus.nr)
		pin_to(crew->cpus.cpu[me->id % crew->cpus.nr]);
	pthread_barrier_wait(&run.ready);
	crew->work(me);
	return NULL;
}

/* Print what was done since the counts in last[], and move those on. */
static void crew_report(const char *prefix, uint64_t *last, uint64_t ns)
{
	const struct crew *crew = run.crew;
	uint64_t min = UINT64_MAX, max = 0, sum = 0;
	double seconds = (double)ns / 1e9;

	for (unsigned int i = 0; i < crew->threads; i++) {
		uint64_t done = atomic_load_explicit(&run.member[i].done,
						     memory_order_relaxed);
		uint64_t d = done - last[i];

		last[i] = done;
		sum += d;
		min = d < min ? d : min;
		max = d > max ? d : max;
	}
	printf("%s%s=%" PRIu64 " seconds=%.6f %s_per_second=%.3f threads=%u min=%" PRIu64
	       " max=%" PRIu64 " fairness=%.4f\n", prefix, crew->unit, sum, seconds,
	       crew->unit, seconds > 0 ? (double)sum / seconds : 0, crew->threads,
	       min, max, max ? (double)min / (double)max : 0);
	fflush(stdout);
}

void crew_run(struct crew *crew)
{
	uint64_t start, now, line, *zero, *last;
	pthread_t *thread;
	sigset_t signals;
	int err, sig;

	run.crew = crew;
	run.member = xcalloc(crew->threads, sizeof(*run.member));
	thread = xcalloc(crew->threads, sizeof(*thread));
	zero = xcalloc(crew->threads, sizeof(*zero));
	last = xcalloc(crew->threads, sizeof(*last));
	pthread_barrier_init(&run.ready, NULL, crew->threads + 1);

	/* Blocked in every thread, and waited for below. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);

	for (unsigned int i = 0; i < crew->threads; i++) {
		run.member[i].id = i;
		err = pthread_create(&thread[i], NULL, crew_thread, &run.member[i]);
		if (err)
			die("cannot start thread %u of %u: %s", i + 1, crew->threads,
			    strerror(err));
	}
	pthread_barrier_wait(&run.ready);
	start = line = now_ns();

	for (;;) {
		uint64_t end = crew->run_ns ? start + crew->run_ns : UINT64_MAX;
		uint64_t next = crew->interval_ns ? line + crew->interval_ns : UINT64_MAX;
		uint64_t until = end < next ? end : next;
		struct timespec ts;

		now = now_ns();
		if (now >= end)
			break;
		if (now >= next) {
			crew_report("interval: ", last, now - line);
			line = now;
			continue;
		}
		ts = to_timespec(until - now < 3600 * NSEC_PER_SEC ? until - now
								   : 3600 * NSEC_PER_SEC);
		sig = sigtimedwait(&signals, NULL, &ts);
		if (sig == SIGUSR1) {
			now = now_ns();
			crew_report("interval: ", last, now - line);
			line = now;
		} else if (sig > 0) {
			now = now_ns();
			break;
		}
	}
	crew_report("", zero, now - start);

	atomic_store(&crew_stopped, true);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	for (unsigned int i = 0; i < crew->threads; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&run.ready);
	free(run.member);
	free(thread);
	free(zero);
	free(last);
}
