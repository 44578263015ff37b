// SPDX-License-Identifier: GPL-2.0-only
/*
 * Message threads wake workers that then compute for a moment: how long from
 * the wake-up until the worker runs?
 *
 * A worker that wants work puts itself on its message thread's list and posts
 * that thread; the message thread takes the list and, one by one, notes the
 * time and wakes them. All waiting is on futexes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

static const char help[] =
"Usage: msgwork [options]\n"
"Message threads wake worker threads, which do a bit of work and ask for more. Print\n"
"percentiles of the time from the wake-up until the worker runs, in ns.\n"
"  -m N      message threads (default: 1)\n"
"  -n N      workers of each message thread (default: 2)\n"
"  -w N      units of work for a request (default: 20; a unit: 1000 steps of a\n"
"            random number generator, some microseconds)\n"
"  -s TIME   a worker sleeps that long after its work (default: 0)\n"
"  -t TIME   end after that time (default: 5s)\n"
"  -h, --help\n"
"TIME: 20ms, 500us, 1.5s; a bare number is seconds.\n"
"Output: p50_ns= p75_ns= p90_ns= p95_ns= p99_ns= p995_ns= p999_ns= max_ns=\n"
"  requests= seconds= requests_per_second=\n";

struct messenger;

struct worker {
	_Atomic uint32_t go;
	uint64_t woken_at;		/* written before go is posted */
	struct worker *next;
	struct messenger *messenger;
	pthread_t thread;
	struct hist hist;
} __attribute__((aligned(128)));

struct messenger {
	_Atomic uint32_t bell;
	_Atomic uint32_t workers_left;
	struct worker *_Atomic waiting;
	pthread_t thread;
} __attribute__((aligned(128)));

static atomic_bool stop;
static uint64_t work_units = 20, pause_ns;
static pthread_barrier_t ready;

/* A binary semaphore in one word. */
static void post(_Atomic uint32_t *word)
{
	if (!atomic_exchange(word, 1))
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await(_Atomic uint32_t *word)
{
	while (!atomic_exchange(word, 0))
		if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) &&
		    errno != EAGAIN && errno != EINTR)
			die_errno("futex");
}

static void ask(struct worker *me)
{
	struct messenger *msg = me->messenger;

	me->next = atomic_load(&msg->waiting);
	while (!atomic_compare_exchange_weak(&msg->waiting, &me->next, me))
		;
	post(&msg->bell);
}

static void *worker_thread(void *arg)
{
	struct worker *me = arg;
	uint64_t state = (uintptr_t)me;

	pthread_barrier_wait(&ready);
	for (;;) {
		ask(me);
		await(&me->go);
		if (atomic_load(&stop))
			break;
		hist_add(&me->hist, now_ns() - me->woken_at);
		for (uint64_t i = 0; i < work_units; i++)
			state = work_unit(state);
		if (pause_ns)
			sleep_ns(pause_ns);
	}
	atomic_fetch_sub(&me->messenger->workers_left, 1);
	post(&me->messenger->bell);
	return NULL;
}

static void *messenger_thread(void *arg)
{
	struct messenger *me = arg;

	pthread_barrier_wait(&ready);
	while (atomic_load(&me->workers_left)) {
		struct worker *w, *next;

		await(&me->bell);
		for (w = atomic_exchange(&me->waiting, NULL); w; w = next) {
			next = w->next;		/* w may be back on the list once woken */
			w->woken_at = now_ns();
			post(&w->go);
		}
	}
	return NULL;
}

static void start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	int err = pthread_create(thread, NULL, fn, arg);

	if (err)
		die("cannot start a thread: %s", strerror(err));
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = { { "help", 0, NULL, 'h' }, { } };
	static const struct { const char *name; double q; } quantiles[] = {
		{ "p50", 0.5 }, { "p75", 0.75 }, { "p90", 0.9 }, { "p95", 0.95 },
		{ "p99", 0.99 }, { "p995", 0.995 }, { "p999", 0.999 },
	};
	unsigned int nr_msg = 1, per_msg = 2, nr_workers;
	uint64_t run_ns = 5 * NSEC_PER_SEC, begin, ns;
	struct messenger *msg;
	struct worker *worker;
	struct hist *all;
	int opt;

	while ((opt = getopt_long(argc, argv, "m:n:w:s:t:h", longopts, NULL)) != -1) {
		switch (opt) {
		case 'm': nr_msg = (unsigned int)parse_count("-m", optarg, 1, 64); break;
		case 'n': per_msg = (unsigned int)parse_count("-n", optarg, 1, 256); break;
		case 'w': work_units = parse_count("-w", optarg, 0, UINT64_MAX); break;
		case 's': pause_ns = parse_time("-s", optarg); break;
		case 't': run_ns = parse_time("-t", optarg); break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	no_operands(argc, argv, optind);
	nr_workers = nr_msg * per_msg;

	msg = xcalloc(nr_msg, sizeof(*msg));
	worker = xcalloc(nr_workers, sizeof(*worker));
	all = xcalloc(1, sizeof(*all));
	pthread_barrier_init(&ready, NULL, nr_msg + nr_workers + 1);
	for (unsigned int i = 0; i < nr_msg; i++) {
		atomic_store(&msg[i].workers_left, per_msg);
		start(&msg[i].thread, messenger_thread, &msg[i]);
	}
	for (unsigned int i = 0; i < nr_workers; i++) {
		worker[i].messenger = &msg[i % nr_msg];
		start(&worker[i].thread, worker_thread, &worker[i]);
	}

	pthread_barrier_wait(&ready);
	begin = now_ns();
	sleep_ns(run_ns);
	atomic_store(&stop, true);
	ns = now_ns() - begin;

	for (unsigned int i = 0; i < nr_workers; i++) {
		pthread_join(worker[i].thread, NULL);
		hist_merge(all, &worker[i].hist);
	}
	for (unsigned int i = 0; i < nr_msg; i++)
		pthread_join(msg[i].thread, NULL);

	if (!all->nr)
		die("no worker was woken in %.3f s", (double)ns / 1e9);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		printf("%s_ns=%" PRIu64 " ", quantiles[i].name, hist_quantile(all, quantiles[i].q));
	printf("max_ns=%" PRIu64 " requests=%" PRIu64 " seconds=%.6f requests_per_second=%.3f\n",
	       all->max, all->nr, (double)ns / 1e9, (double)all->nr * 1e9 / (double)ns);
	free(all);
	free(worker);
	free(msg);
	return 0;
}
