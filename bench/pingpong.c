// SPDX-License-Identifier: GPL-2.0-only
/* Ping-pong of one byte over two pipes between two threads or processes. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"

static const char help[] =
"Usage: pingpong [options]\n"
"Send a byte back and forth over pipes and print, on one line, the mean time of a\n"
"round trip and the percentiles of single ones, in ns.\n"
"  -c A,B    pin the sender to CPU A and its peer to CPU B (default: nowhere)\n"
"  -n N      end after N round trips (default: 10000, or no limit with -t)\n"
"  -t TIME   end after that time\n"
"  -b N      bursts: N round trips, then a pause of -s; pauses are not counted\n"
"  -s TIME   the pause between two bursts\n"
"  -w N      N round trips before that are not counted (default: 16)\n"
"  -p        two processes instead of two threads\n"
"  -h, --help\n"
"TIME: 20ms, 500us, 1.5s; a bare number is seconds.\n"
"Output: ns_per_roundtrip= roundtrips= p50_ns= p99_ns= max_ns= seconds= bursts=\n"
"where seconds is the time spent in round trips.\n";

static int ping[2], pong[2];
static int peer_cpu = -1;
static pid_t peer_pid;

/* false: end of file */
static bool get(int fd)
{
	ssize_t n;
	char c;

	do
		n = read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		die_errno("read from pipe");
	return n == 1;
}

static void put(int fd)
{
	ssize_t n;

	do
		n = write(fd, "x", 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		die_errno("write to pipe");
}

static void *echo(void *unused)
{
	(void)unused;
	if (peer_cpu >= 0)
		pin_to(peer_cpu);
	while (get(ping[0]))
		put(pong[1]);
	return NULL;
}

static void round_trip(void)
{
	int status;

	put(ping[1]);
	if (get(pong[0]))
		return;
	/* A peer process that failed has said why. */
	if (waitpid(peer_pid, &status, 0) == peer_pid && WIFEXITED(status))
		_exit(1);
	die("the peer has gone");
}

static pid_t fork_peer(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die_errno("fork");
	/* Each side must see the end of file when the other one goes. */
	if (!pid) {
		close(ping[1]);
		close(pong[0]);
		echo(NULL);
		_exit(0);
	}
	close(ping[0]);
	close(pong[1]);
	return pid;
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = { { "help", 0, NULL, 'h' }, { } };
	uint64_t nr = 0, run_ns = 0, burst = 0, pause_ns = 0, warmup = 16;
	uint64_t trips = 0, bursts = 0, active = 0, deadline;
	struct hist *hist = xcalloc(1, sizeof(*hist));
	bool processes = false, done = false;
	struct cpu_list cpus = { };
	pthread_t thread;
	int opt, err;

	while ((opt = getopt_long(argc, argv, "c:n:t:b:s:w:ph", longopts, NULL)) != -1) {
		switch (opt) {
		case 'c':
			parse_cpus("-c", optarg, &cpus);
			if (cpus.nr != 2)
				die("-c: two CPUs are needed, as in -c 0,1");
			break;
		case 'n': nr = parse_count("-n", optarg, 1, UINT64_MAX); break;
		case 't': run_ns = parse_time("-t", optarg); break;
		case 'b': burst = parse_count("-b", optarg, 1, UINT64_MAX); break;
		case 's': pause_ns = parse_time("-s", optarg); break;
		case 'w': warmup = parse_count("-w", optarg, 0, UINT64_MAX); break;
		case 'p': processes = true; break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	no_operands(argc, argv, optind);
	if (!burst != !pause_ns)
		die("bursts need both -b and -s");
	if (!nr)
		nr = run_ns ? UINT64_MAX : 10000;

	signal(SIGPIPE, SIG_IGN);
	if (pipe(ping) || pipe(pong))
		die_errno("pipe");
	if (cpus.nr)
		peer_cpu = cpus.cpu[1];
	if (processes) {
		peer_pid = fork_peer();
	} else {
		err = pthread_create(&thread, NULL, echo, NULL);
		if (err)
			die("cannot start a thread: %s", strerror(err));
	}
	if (cpus.nr)
		pin_to(cpus.cpu[0]);

	/* The first one waits until the peer is there and pinned. */
	for (uint64_t i = 0; i < warmup + 1; i++)
		round_trip();

	deadline = run_ns ? now_ns() + run_ns : UINT64_MAX;
	while (!done) {
		uint64_t start = now_ns(), last = start;

		for (uint64_t i = 0; !done && (!burst || i < burst); i++) {
			uint64_t now;

			round_trip();
			now = now_ns();
			hist_add(hist, now - last);
			last = now;
			done = ++trips == nr || now >= deadline;
		}
		active += last - start;
		if (!burst)
			break;
		bursts++;
		if (!done) {
			sleep_ns(pause_ns);
			done = now_ns() >= deadline;
		}
	}

	close(ping[1]);
	if (processes)
		waitpid(peer_pid, NULL, 0);
	else
		pthread_join(thread, NULL);

	printf("ns_per_roundtrip=%.1f roundtrips=%" PRIu64 " p50_ns=%" PRIu64 " p99_ns=%" PRIu64
	       " max_ns=%" PRIu64 " seconds=%.6f bursts=%" PRIu64 "\n",
	       (double)active / (double)trips, trips, hist_quantile(hist, 0.5),
	       hist_quantile(hist, 0.99), hist->max, (double)active / 1e9, bursts);
	free(hist);
	return 0;
}
