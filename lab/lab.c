// SPDX-License-Identifier: GPL-2.0-only
/*
 * lab: boot a kernel as a KVM host (L1) under QEMU and run a job there.
 *
 * A job is a folder: it is copied to /job in the host and in its guests, and
 * `run` in it is what the host executes (with `vms` it starts guests). What
 * the job writes under /out in the host appears in the output folder.
 *
 * Every run has a time limit; one that hangs is started once more, and the
 * output says so. A run fails when the job does, or when any console shows a
 * panic, an oops, a warning, a lockdep, RCU or sanitizer report.
 *
 * Exit status: 0 well, 1 the job failed, 2 a kernel report or a crash,
 * 3 hung twice, 64 wrong usage, 130 interrupted.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH 4096

static const char *kernel, *guest_kernel, *dir, *job, *append = "", *command = "./run";
static const char *cpus = "3", *mem = "6G", *qemu_root, *host_initrd, *guest_initrd;
static int limit = 600, boot_limit = 240;
static int shell;	/* 1: in the host, 2: in a guest */
static volatile sig_atomic_t interrupted;
static double begun;

/* What no console may show. */
static const char bad[] =
	"Kernel panic|Oops[: ]|BUG: |WARNING: |INFO: task .* blocked|"
	"rcu.*(stall|detected)|suspicious RCU usage|possible (circular|recursive|irq lock)|"
	"general protection fault|KASAN: |KCSAN: |UBSAN: |unreferenced object|"
	"double fault|soft lockup|hard LOCKUP|ODEBUG: |unable to handle|"
	"DEBUG_LOCKS_WARN_ON|[Ii]nconsistent lock state|invalid wait context";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	int t = now() - begun;
	va_list ap;

	printf("  lab %d:%02d  ", t / 60, t % 60);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static void __attribute__((format(printf, 2, 3), noreturn)) die(int rc, const char *fmt, ...)
{
	va_list ap;

	fputs("lab: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(rc);
}

static void on_signal(int sig)
{
	interrupted = sig;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st; (void)type;
	return ftw->level ? remove(path) : 0;
}

static void copy_file(const char *from, const char *to)
{
	char buf[1 << 16];
	ssize_t n = 0;
	int in = open(from, O_RDONLY), fd;

	if (in < 0)
		die(1, "%s: %s", from, strerror(errno));
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	while (fd >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(fd, buf, n) != n)
			n = -1, close(fd), fd = -1;
	if (fd < 0 || n < 0 || close(fd))
		die(1, "%s: %s", to, strerror(errno));
	close(in);
}

static const char *job_target;

static int copy_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char to[PATH];

	(void)st; (void)ftw;
	snprintf(to, sizeof(to), "%s%s", job_target, path + strlen(job));
	if (type == FTW_D)
		mkdir(to, 0755);
	else
		copy_file(path, to);
	return 0;
}

/* An empty output folder with the job and what the guests boot from. */
static void prepare(int argc, char **argv)
{
	char path[PATH];
	FILE *f;

	/* Empty it, but only when it is empty or a run of ours filled it. */
	snprintf(path, sizeof(path), "%s/host.console", dir);
	if (access(path, F_OK) && rmdir(dir))
		die(1, "%s: %s, and not from an earlier run: name another folder", dir,
		    strerror(errno));
	nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	mkdir(dir, 0755);
	f = fopen(path, "w");
	if (!f || fclose(f))
		die(1, "%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/.lab", dir);
	if (mkdir(path, 0755))
		die(1, "%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/.lab/bzImage", dir);
	copy_file(guest_kernel, path);
	snprintf(path, sizeof(path), "%s/.lab/guest.cpio", dir);
	copy_file(guest_initrd, path);
	if (!job)
		return;
	snprintf(path, sizeof(path), "%s/job", dir);
	job_target = path;
	if (nftw(job, copy_entry, 16, FTW_PHYS))
		die(1, "%s: cannot be copied", job);
	snprintf(path, sizeof(path), "%s/job/env", dir);
	f = fopen(path, "w");
	/* Quoted as one word for the shell, whatever is in it. */
	for (int i = 0; f && i < argc; i++) {
		const char *value = strchr(argv[i], '=');

		if (!value)
			die(64, "%s: want NAME=VALUE", argv[i]);
		fprintf(f, "export %.*s'", (int)(value + 1 - argv[i]), argv[i]);
		for (value++; *value; value++)
			fputs(*value == '\'' ? "'\\''" : (char[]){ *value, 0 }, f);
		fputs("'\n", f);
	}
	if (!f || fclose(f))
		die(1, "%s: %s", path, strerror(errno));
}

/* Nested virtualization by hardware, where this machine has it. */
static bool have_nested_kvm(void)
{
	static const char *const files[] = {
		"/sys/module/kvm_intel/parameters/nested",
		"/sys/module/kvm_amd/parameters/nested",
	};
	bool nested = false;

	for (int i = 0; i < 2; i++) {
		int fd = open(files[i], O_RDONLY);
		char c = 0;

		if (fd >= 0 && read(fd, &c, 1) == 1)
			nested |= c == 'Y' || c == '1';
		if (fd >= 0)
			close(fd);
	}
	return nested && !access("/dev/kvm", R_OK | W_OK);
}

/*
 * The emulated TSC is that of this machine. The host's own calibration can be
 * far off when this machine is busy, and then its clock and its guests' run at
 * a wrong pace; so measure the rate here and tell it. Returns kHz.
 */
static unsigned long tsc_khz(void)
{
	unsigned long long tsc[2], ns[2];

	for (int i = 0; i < 2; i++) {
		unsigned long long before, best = -1ULL;

		/* The best of many pairs: in some of them we were preempted. */
		for (int n = 0; n < 1000; n++) {
			struct timespec t;

			before = __builtin_ia32_rdtsc();
			clock_gettime(CLOCK_MONOTONIC_RAW, &t);
			if (__builtin_ia32_rdtsc() - before < best) {
				best = __builtin_ia32_rdtsc() - before;
				tsc[i] = before;
				ns[i] = t.tv_sec * 1000000000ULL + t.tv_nsec;
			}
		}
		if (!i)
			usleep(200000);
	}
	return (tsc[1] - tsc[0]) * 1000000ULL / (ns[1] - ns[0]);
}

static void exec_qemu(int console)
{
	char bin[PATH], share[PATH], bios[PATH], modules[PATH], cmdline[PATH], fs[PATH], tsc[64] = "";
	bool kvm = have_nested_kvm();

	if (!kvm)
		snprintf(tsc, sizeof(tsc), "tsc_early_khz=%lu ", tsc_khz());

	snprintf(bin, sizeof(bin), "%s/usr/bin/qemu-system-x86_64", qemu_root);
	snprintf(share, sizeof(share), "%s/usr/share/qemu", qemu_root);
	snprintf(bios, sizeof(bios), "%s/usr/share/seabios", qemu_root);
	snprintf(modules, sizeof(modules), "%s/usr/lib/x86_64-linux-gnu/qemu", qemu_root);
	snprintf(fs, sizeof(fs), "local,path=%s,mount_tag=out,security_model=none,multidevs=remap",
		 dir);
	snprintf(cmdline, sizeof(cmdline),
		 "console=ttyS0 panic=-1 loglevel=5 tsc=reliable %skunit.enable=0 lab.role=host lab.shell=%d %s -- %s",
		 tsc, shell, append, command);
	setenv("QEMU_MODULE_DIR", modules, 1);
	if (console >= 0) {
		int null = open("/dev/null", O_RDONLY);

		/* Whatever ends this program must not leave a machine behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, 0);
		dup2(console, 1);
		dup2(console, 2);
	}
	execl(bin, bin, "-nodefaults", "-no-user-config", "-vga", "none", "-display", "none",
	      "-no-reboot", "-serial", shell ? "mon:stdio" : "stdio", "-M", "q35",
	      "-accel", kvm ? "kvm" : "tcg,thread=multi",
	      "-cpu", kvm ? "host" : "max,la57=off", "-smp", cpus, "-m", mem,
	      "-L", share, "-L", bios, "-virtfs", fs,
	      "-kernel", kernel, "-initrd", host_initrd, "-append", cmdline, NULL);
	fprintf(stderr, "lab: %s: %s\n", bin, strerror(errno));
	_exit(127);
}

/* Lines of a console that no healthy kernel writes. Returns their number. */
static int scan(const char *file)
{
	char path[PATH], *line = NULL;
	int hits = 0, show = 0;
	size_t size = 0;
	regex_t re;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	if (!f || regcomp(&re, bad, REG_EXTENDED | REG_NOSUB))
		die(1, "%s cannot be read", path);
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\r\n")] = 0;
		if (!regexec(&re, line, 0, NULL, 0)) {
			if (!hits++)
				say("KERNEL REPORT in %s:", path);
			show = 12;
		}
		if (show > 0 && hits < 4) {
			printf("    | %s\n", line);
			show--;
		}
	}
	free(line);
	regfree(&re);
	fclose(f);
	return hits;
}

static int scan_all(void)
{
	DIR *d = opendir(dir);
	int hits = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		const char *dot = strrchr(e->d_name, '.');

		if (dot && !strcmp(dot, ".console"))
			hits += scan(e->d_name);
	}
	if (d)
		closedir(d);
	return hits;
}

enum { DONE, HUNG, CRASHED };

/* One boot of the host, to its end. *rc is the job's exit status. */
static int run_once(int *rc)
{
	char path[PATH], line[PATH];
	bool up = false, ended = false;
	double start = now(), died = 0;
	int fds[2], result = DONE;
	size_t n = 0;
	FILE *log;
	pid_t pid;

	*rc = -1;
	snprintf(path, sizeof(path), "%s/host.console", dir);
	log = fopen(path, "w");
	if (!log || pipe2(fds, O_CLOEXEC))
		die(1, "%s: %s", path, strerror(errno));
	pid = fork();
	if (pid < 0)
		die(1, "fork: %s", strerror(errno));
	if (!pid)
		exec_qemu(fds[1]);
	close(fds[1]);
	while (!ended) {
		struct pollfd p = { .fd = fds[0], .events = POLLIN };
		double t = now();
		char c[4096];
		ssize_t got;

		if (interrupted || t - start > limit || (!up && t - start > boot_limit) ||
		    (died && t - died > 10)) {
			result = died ? CRASHED : HUNG;
			kill(pid, SIGKILL);
			break;
		}
		if (poll(&p, 1, 500) <= 0)
			continue;
		got = read(fds[0], c, sizeof(c));
		if (got <= 0)
			ended = true;
		for (ssize_t i = 0; i < got; i++) {
			if (c[i] != '\n' && n < sizeof(line) - 1) {
				if (c[i] != '\r')
					line[n++] = c[i];
				continue;
			}
			line[n] = 0;
			n = 0;
			fprintf(log, "%s\n", line);
			fflush(log);
			if (!strncmp(line, "LAB: ", 5)) {
				if (sscanf(line + 5, "exit %d", rc) != 1)
					say("%s", line + 5);
				up = true;
			}
			if (strstr(line, "Kernel panic") && !died)
				died = now();
		}
	}
	waitpid(pid, NULL, 0);
	close(fds[0]);
	fclose(log);
	if (result == DONE && *rc < 0)
		result = CRASHED;
	if (result == HUNG && !interrupted)
		say("HUNG: the host %s within %d s", up ? "did not end" : "did not boot",
		    up ? limit : boot_limit);
	return result;
}

static void clean_up(void)
{
	char path[PATH];

	snprintf(path, sizeof(path), "%s/.lab", dir);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	rmdir(path);
}

static void usage(void)
{
	puts("usage: lab -q QEMU_ROOT -k BZIMAGE -I HOST_INITRD -i GUEST_INITRD -o DIR\n"
	     "           [option]... JOB_FOLDER [NAME=VALUE]...\n"
	     "  -g BZIMAGE  another kernel for the guests\n"
	     "  -c COMMAND  what the host runs, in /job (./run)\n"
	     "  -t SECONDS  time limit of the whole run (600)\n"
	     "  -b SECONDS  time limit until the host is up (240)\n"
	     "  -a ARGS     kernel command line of the host\n"
	     "  -n CPUS     CPUs of the host; guests use all but the first (3)\n"
	     "  -m SIZE     memory of the host (6G)\n"
	     "  -s 1|2      an interactive shell in the host (1) or in a guest (2)");
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int opt, rc, result, hits;
	char full[PATH];

	begun = now();
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		usage();
		return 0;
	}
	while ((opt = getopt(argc, argv, "q:k:I:i:o:g:c:t:b:a:n:m:s:")) != -1) {
		switch (opt) {
		case 'q': qemu_root = optarg; break;
		case 'k': kernel = optarg; break;
		case 'I': host_initrd = optarg; break;
		case 'i': guest_initrd = optarg; break;
		case 'o': dir = optarg; break;
		case 'g': guest_kernel = optarg; break;
		case 'c': command = optarg; break;
		case 't': limit = atoi(optarg); break;
		case 'b': boot_limit = atoi(optarg); break;
		case 'a': append = optarg; break;
		case 'n': cpus = optarg; break;
		case 'm': mem = optarg; break;
		case 's': shell = atoi(optarg); break;
		default:
			usage();
			return 64;
		}
	}
	if (optind < argc)
		job = argv[optind++];
	if (!qemu_root || !kernel || !host_initrd || !guest_initrd || !dir || (!job && !shell))
		die(64, "an option is missing; see --help");
	if (!guest_kernel)
		guest_kernel = kernel;
	mkdir(dir, 0755);
	if (!realpath(dir, full))
		die(1, "%s: %s", dir, strerror(errno));
	dir = full;
	prepare(argc - optind, argv + optind);
	if (shell)
		exec_qemu(-1);

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	result = run_once(&rc);
	if (result == HUNG && !interrupted && !scan_all()) {
		say("RETRY: starting it once more");
		prepare(argc - optind, argv + optind);
		result = run_once(&rc);
	}
	clean_up();
	if (interrupted) {
		say("interrupted");
		return 128 + interrupted;
	}
	hits = scan_all();
	if (hits)
		say("FAILED: %d line(s) that no healthy kernel writes; logs in %s", hits, dir);
	else if (result == HUNG)
		say("FAILED: hung twice; logs in %s", dir);
	else if (result == CRASHED)
		say("FAILED: the host ended without a result; log in %s/host.console", dir);
	else if (rc)
		say("FAILED: the job ended with status %d; logs in %s", rc, dir);
	if (hits || result == CRASHED)
		return 2;
	if (result == HUNG)
		return 3;
	return rc ? 1 : 0;
}
