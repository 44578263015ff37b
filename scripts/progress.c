// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a kernel build and show how far it is.
 *
 * progress -l LOG [-n OBJECTS] [-t TITLE] -- COMMAND [ARG]...
 *
 * All output of the command goes to LOG. On a terminal one line is kept up to
 * date, elsewhere a line is printed now and then. When the command fails, the
 * lines that say why are printed. The exit status is the command's.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ERRORS 12

static volatile sig_atomic_t got_signal;
static const char *title = "build";
static int expected;		/* objects of a whole build; 0: not known */
static int objects;
static time_t started;
static char *errors[MAX_ERRORS], *last_resort;
static int n_errors;

static void on_signal(int sig)
{
	got_signal = sig;
}

static int has(const char *line, const char *word)
{
	return strstr(line, word) != NULL;
}

/* Keep the lines that tell a reader what went wrong. */
static void look_at(const char *line)
{
	if (!strncmp(line, "  CC ", 5) || !strncmp(line, "  AS ", 5)) {
		objects++;
		return;
	}
	if (has(line, ": error:") || has(line, ": fatal error:") ||
	    has(line, "undefined reference") || has(line, "multiple definition") ||
	    has(line, "No space left") || has(line, "cannot find") ||
	    has(line, "objtool: error") || !strncmp(line, "ERROR:", 6) ||
	    !strncmp(line, "Error:", 6)) {
		if (n_errors < MAX_ERRORS)
			errors[n_errors++] = strdup(line);
	} else if (has(line, "***") && !last_resort) {
		last_resort = strdup(line);
	}
}

/* Cut what was read into lines; the last one may go on in the next read. */
static void split(const char *p, size_t n)
{
	static char line[4096];
	static size_t len;

	for (; n; n--, p++) {
		if (*p == '\n') {
			line[len] = '\0';
			look_at(line);
			len = 0;
		} else if (len < sizeof(line) - 1) {
			line[len++] = *p;
		}
	}
}

static void show(int tty, int final)
{
	long s = (long)(time(NULL) - started);
	char total[32] = "";

	if (expected > 0)
		snprintf(total, sizeof(total), " of about %d",
			 objects > expected ? objects : expected);
	printf("%s%s: %d%s objects, %ld:%02ld%s", tty ? "\r" : "", title, objects,
	       final ? "" : total, s / 60, s % 60, tty ? "\033[K" : "\n");
	if (tty && final)
		putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static char buf[65536];
	struct sigaction sa = { .sa_handler = on_signal };
	const char *logname = NULL;
	int tty = isatty(STDOUT_FILENO);
	int every = tty ? 1 : 20;
	int opt, fds[2], status;
	time_t shown;
	FILE *log;
	pid_t pid;

	while ((opt = getopt(argc, argv, "+l:n:t:")) != -1) {
		switch (opt) {
		case 'l':
			logname = optarg;
			break;
		case 'n':
			expected = atoi(optarg);
			break;
		case 't':
			title = optarg;
			break;
		default:
			logname = NULL;
			optind = argc;
		}
	}
	if (!logname || optind >= argc) {
		fprintf(stderr, "usage: progress -l LOG [-n OBJECTS] [-t TITLE] -- COMMAND [ARG]...\n");
		return 2;
	}
	log = fopen(logname, "ae");
	if (!log) {
		fprintf(stderr, "progress: %s: %s\n", logname, strerror(errno));
		return 2;
	}
	if (pipe(fds)) {
		perror("progress: pipe");
		return 2;
	}

	pid = fork();
	if (pid < 0) {
		perror("progress: fork");
		return 2;
	}
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		execvp(argv[optind], argv + optind);
		fprintf(stderr, "%s: error: %s\n", argv[optind], strerror(errno));
		_exit(127);
	}
	close(fds[1]);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);

	started = time(NULL);
	shown = started;
	while (!got_signal) {
		struct pollfd pfd = { .fd = fds[0], .events = POLLIN };

		if (poll(&pfd, 1, 500) > 0) {
			ssize_t n = read(fds[0], buf, sizeof(buf));

			if (!n)
				break;
			if (n > 0) {
				fwrite(buf, 1, n, log);
				fflush(log);
				split(buf, n);
			}
		}
		if (time(NULL) - shown >= every) {
			shown = time(NULL);
			show(tty, 0);
		}
	}
	/* The command's make removes its half-written targets itself. */
	if (got_signal)
		kill(pid, got_signal);
	close(fds[0]);
	fclose(log);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	show(tty, 1);
	if (got_signal)
		return 128 + got_signal;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (!n_errors && last_resort)
		errors[n_errors++] = last_resort;
	for (int i = 0; i < n_errors; i++)
		printf("  %s\n", errors[i]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
