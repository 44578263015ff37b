// SPDX-License-Identifier: GPL-2.0-only
/*
 * vms: start guests side by side in the host, serve their requests, collect
 * what they print.
 *
 * Runs in the host (L1). Every guest gets a virtio-serial port; `host` in the
 * guest sends a request as one line and reads one line back:
 *
 *	up			the guest's init has started
 *	stat NAME...		KVM's counters of this guest, its host CPU time
 *	set FILE VALUE		write a file of the host (a module parameter, say)
 *	run COMMAND		run a command in the host, answer its output
 *	barrier NAME N		wait until N guests have come here
 *	turn			pass the turn on and wait until it comes back; who
 *				waits is stopped (SIGSTOP), so that guests which
 *				never sleep can be compared in one boot
 *	put TEXT		append TEXT to the guest's result file
 *	say TEXT		show TEXT as progress
 *	exit STATUS		the workload has ended
 *	reset			reset the machine: its kernel boots again
 *	restart			kill its QEMU and start it anew
 *	save			save the machine's state, restore it in a new
 *				QEMU; the answer comes after that
 *	wake S			wake it from suspend in S seconds
 *
 * Answers begin with "ok" or "err"; reset and restart have none. Files
 * written, under --out: NAME.console, NAME.out, NAME.kvm (the counters when the
 * workload ended).
 *
 * Exit status: 0 all well, 1 a workload failed, 2 a guest crashed, 3 a guest
 * hung, 64 wrong usage.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_VMS		16
#define MAX_CPUS	64
#define LINE		4096
#define KVM_DEBUGFS	"/sys/kernel/debug/kvm"

enum { END, ANEW, RESTORE };	/* what is to come when a QEMU ends */

struct vm {
	const char *name, *smp, *mem, *cpu, *append, *run, *qemu;
	cpu_set_t cpus;
	int pin[MAX_CPUS], npin;	/* vCPU i on host CPU pin[i] */
	int delay;			/* seconds before it starts */

	pid_t pid;
	int listen_fd, console_fd, serial_fd;
	pthread_t serve, console;
	atomic_bool up, ended, hung, finished;
	atomic_bool owed;		/* the answer to "save" */
	bool reset;			/* until its kernel is up again */
	atomic_int then;
	atomic_uint requests;		/* so far */
	bool waits;			/* for its turn; under lock */
	atomic_int status;
};

static struct vm vms[MAX_VMS];
static int nvms;
static const char *out = "/out", *kernel = "/run/bzImage", *initrd = "/run/guest.cpio";
static int boot_limit = 120, limit = 600;
static bool interactive;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("vms: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(64);
}

static void __attribute__((format(printf, 2, 3))) say(struct vm *vm, const char *fmt, ...)
{
	char text[LINE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("LAB: %s: %s\n", vm->name, text);
	fflush(stdout);
}

static FILE *open_out(struct vm *vm, const char *suffix, const char *mode)
{
	char path[LINE];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%s", out, vm->name, suffix);
	f = fopen(path, mode);
	if (!f)
		say(vm, "cannot write %s: %s", path, strerror(errno));
	return f;
}

static void parse_cpus(const char *s, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (char *end; *s; s = *end == ',' ? end + 1 : end) {
		long a = strtol(s, &end, 10), b = a;

		if (end != s && *end == '-') {
			s = end + 1;
			b = strtol(s, &end, 10);
		}
		if (end == s || (*end && *end != ',') || a < 0 || b < a || b >= MAX_CPUS)
			die("a CPU list looks like 1-2 or 1,2");
		for (; a <= b; a++)
			CPU_SET(a, set);
	}
	/*
	 * QEMU before 11 changes the first CPU's virtualization state from
	 * any CPU without a lock: a guest must not run there.
	 */
	if (CPU_ISSET(0, set))
		die("guests must stay off CPU 0");
}

/* The counters of one guest: KVM names its debugfs folder PID-FD. */
static bool kvm_dir(struct vm *vm, char *path, size_t size)
{
	DIR *d = opendir(KVM_DEBUGFS);
	char prefix[32];
	bool found = false;

	snprintf(prefix, sizeof(prefix), "%d-", vm->pid);
	for (struct dirent *e; d && !found && (e = readdir(d));)
		if (!strncmp(e->d_name, prefix, strlen(prefix))) {
			snprintf(path, size, "%s/%s", KVM_DEBUGFS, e->d_name);
			found = true;
		}
	if (d)
		closedir(d);
	return found;
}

static bool read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return true;
}

/* On-CPU time of all threads of the guest's QEMU, ns. */
static unsigned long long cpu_ns(struct vm *vm)
{
	unsigned long long sum = 0;
	char path[LINE], text[128];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", vm->pid);
	d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", vm->pid, e->d_name);
		if (read_file(path, text, sizeof(text)))
			sum += strtoull(text, NULL, 10);
	}
	if (d)
		closedir(d);
	return sum;
}

static void answer_stat(struct vm *vm, char *names, char *reply, size_t size)
{
	struct timespec t;
	char dir[LINE / 2], path[LINE], text[128], *save;
	size_t n;

	if (!kvm_dir(vm, dir, sizeof(dir))) {
		snprintf(reply, size, "err no KVM counters for this guest");
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	n = snprintf(reply, size, "ok now_ns=%llu cpu_ns=%llu",
		     t.tv_sec * 1000000000ULL + t.tv_nsec, cpu_ns(vm));
	for (char *w = strtok_r(names, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		snprintf(path, sizeof(path), "%s/%s", dir, w);
		if (!read_file(path, text, sizeof(text))) {
			snprintf(reply, size, "err no counter %s", w);
			return;
		}
		if (n < size)
			n += snprintf(reply + n, size - n, " %s=%s", w, text);
	}
}

static void save_kvm(struct vm *vm)
{
	char dir[LINE / 2], path[LINE], text[128];
	FILE *f;
	DIR *d;

	if (!kvm_dir(vm, dir, sizeof(dir)))
		return;
	f = open_out(vm, "kvm", "w");
	d = opendir(dir);
	for (struct dirent *e; f && d && (e = readdir(d));) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_type == DT_REG && read_file(path, text, sizeof(text)) &&
		    strspn(text, "0123456789") == strlen(text))
			fprintf(f, "%s %s\n", e->d_name, text);
	}
	if (d)
		closedir(d);
	if (f)
		fclose(f);
}

static void answer_run(struct vm *vm, const char *command, char *reply, size_t size)
{
	char cmd[LINE];
	size_t n = 0;
	int status;
	FILE *p;

	snprintf(cmd, sizeof(cmd), "VM=%s VM_PID=%d; %s", vm->name, vm->pid, command);
	p = popen(cmd, "re");
	if (p) {
		n = fread(reply + 3, 1, size - 5, p);
		/* Drain, so that the command is not ended by SIGPIPE. */
		for (char rest[512]; fread(rest, 1, sizeof(rest), p) > 0;)
			;
	}
	status = p ? pclose(p) : -1;
	reply[3 + n] = 0;
	memcpy(reply, status ? "err" : "ok ", 3);
	for (char *c = reply; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

static struct { char name[64]; int come, go; } barriers[8];

static void answer_barrier(char *args, char *reply, size_t size)
{
	char name[64];
	int n, i, turn;

	if (sscanf(args, "%63s %d", name, &n) != 2 || n < 1 || n > nvms) {
		snprintf(reply, size, "err barrier NAME N, N guests at most %d", nvms);
		return;
	}
	pthread_mutex_lock(&lock);
	for (i = 0; i < 7 && barriers[i].name[0] && strcmp(barriers[i].name, name); i++)
		;
	strcpy(barriers[i].name, name);
	turn = barriers[i].go;
	if (++barriers[i].come == n) {
		barriers[i].come = 0;
		barriers[i].go++;
		pthread_cond_broadcast(&changed);
	}
	snprintf(reply, size, "ok");
	while (barriers[i].go == turn) {
		int left = nvms;

		/* Those that are left may be enough. */
		for (int v = 0; v < nvms; v++)
			if (vms[v].ended && --left < n) {
				snprintf(reply, size, "err guest %s has ended", vms[v].name);
				barriers[i].come = 0;
				goto unlock;
			}
		pthread_cond_wait(&changed, &lock);
	}
unlock:
	pthread_mutex_unlock(&lock);
}

static struct vm *turn;		/* whose turn it is, NULL: nobody's yet */

/*
 * Under lock: the next guest that waits for its turn gets it. Nobody does
 * while one still boots: that would disturb what the others measure.
 */
static void pass_turn(struct vm *from)
{
	turn = NULL;
	for (int i = 0; i < nvms; i++)
		if (!vms[i].up && !vms[i].ended)
			return;
	for (int i = 1; i <= nvms && !turn; i++) {
		struct vm *next = &vms[(from - vms + i) % nvms];

		if (next->waits && !next->ended)
			turn = next;
	}
	pthread_cond_broadcast(&changed);
}

static void answer_turn(struct vm *vm)
{
	pthread_mutex_lock(&lock);
	vm->waits = true;
	if (!turn || turn == vm)
		pass_turn(vm);
	if (turn != vm) {
		kill(vm->pid, SIGSTOP);
		while (turn != vm && !vm->ended)
			pthread_cond_wait(&changed, &lock);
		kill(vm->pid, SIGCONT);
	}
	vm->waits = false;
	pthread_mutex_unlock(&lock);
}

/* A command to the guest's QEMU. What it answers, a line of JSON, is in reply. */
static bool qmp(struct vm *vm, const char *command, char *reply, size_t size)
{
	const char *const say[] = { "{'execute':'qmp_capabilities'}", command };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *in = NULL;
	bool ok;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/run/%s.qmp", vm->name);
	if (fd >= 0 && !connect(fd, (void *)&addr, sizeof(addr)))
		in = fdopen(fd, "r");
	/* It greets; then there are events between the answers. */
	*reply = 0;
	ok = in && fgets(reply, size, in);
	for (int i = 0; ok && i < 2; i++) {
		ok = dprintf(fd, "%s\n", say[i]) > 0;
		do
			ok = ok && fgets(reply, size, in);
		while (ok && strncmp(reply, "{\"return\"", 9) && strncmp(reply, "{\"error\"", 8));
		ok = ok && !strncmp(reply, "{\"return\"", 9);
	}
	if (in)
		fclose(in);
	else if (fd >= 0)
		close(fd);
	return ok;
}

/* The state goes to a file while the guest runs, as if it moved to another host. */
static void answer_save(struct vm *vm, char *reply, size_t size)
{
	char command[LINE / 2], status[LINE];

	snprintf(command, sizeof(command),
		 "{'execute':'migrate','arguments':{'uri':'file:/run/%s.state'}}", vm->name);
	/* It must end, however fast the guest makes pages dirty. */
	if (!qmp(vm, "{'execute':'migrate-set-parameters','arguments':"
		 "{'downtime-limit':60000,'max-bandwidth':1073741824}}", status, sizeof(status)) ||
	    !qmp(vm, command, status, sizeof(status)))
		goto err;
	do {
		usleep(50000);
		if (!qmp(vm, "{'execute':'query-migrate'}", status, sizeof(status)) ||
		    strstr(status, "\"failed\""))
			goto err;
	} while (!strstr(status, "\"completed\""));
	vm->then = RESTORE;
	kill(vm->pid, SIGKILL);
	*reply = 0;
	return;
err:
	snprintf(reply, size, "err %.*s", (int)strcspn(status, "\r\n"), status);
}

/* What a reboot does to the machine: "reset", or "shutdown" as with -no-reboot. */
static bool on_reboot(struct vm *vm, const char *action, char *reply, size_t size)
{
	char command[LINE / 2];

	snprintf(command, sizeof(command), "{'execute':'set-action','arguments':{'reboot':'%s'}}", action);
	return qmp(vm, command, reply, size);
}

/*
 * No answer, or the kernel that boots would take it for that to its first
 * request. -no-reboot must wait for that kernel: the firmware adds a reset of
 * its own.
 */
static void answer_reset(struct vm *vm, char *reply, size_t size)
{
	char status[LINE];

	vm->reset = true;
	if (on_reboot(vm, "reset", status, sizeof(status)) &&
	    qmp(vm, "{'execute':'system_reset'}", status, sizeof(status)))
		*reply = 0;
	else
		snprintf(reply, size, "err %.*s", (int)strcspn(status, "\r\n"), status);
}

struct wake {
	struct vm *vm;
	int seconds;
};

/*
 * Wake a guest, and do not stop before it speaks. From S3 QEMU wakes it, from
 * suspend-to-idle only an interrupt does: that of its serial line.
 *
 * A guest that comes back asks whether its port is connected before it has
 * given the device room for the answer (virtcons_restore() in 7.3), and would
 * wait for ever. So tell it anew: have QEMU close the port, and open it again.
 */
static void *wake(void *arg)
{
	struct wake w = *(struct wake *)arg;
	struct vm *vm = w.vm;
	unsigned int requests;
	char status[LINE], open[LINE / 2];

	free(arg);
	snprintf(open, sizeof(open),
		 "{'execute':'chardev-change','arguments':{'id':'lab','backend':{'type':'socket','data':"
		 "{'server':false,'addr':{'type':'unix','data':{'path':'/run/%s.sock'}}}}}}", vm->name);
	sleep(w.seconds);
	requests = vm->requests;
	for (int tries = 0; tries < 20 && vm->requests == requests; tries++) {
		if (!qmp(vm, "{'execute':'query-status'}", status, sizeof(status)))
			break;
		if (strstr(status, "\"suspended\"")) {
			if (!qmp(vm, "{'execute':'system_wakeup'}", status, sizeof(status)))
				break;
		} else if (write(vm->serial_fd, "\n", 1) < 0) {
			break;
		}
		sleep(1);
		if (vm->requests != requests)
			break;
		if (!qmp(vm, "{'execute':'chardev-change','arguments':{'id':'lab','backend':"
			 "{'type':'null','data':{}}}}", status, sizeof(status)) ||
		    !qmp(vm, open, status, sizeof(status)))
			break;
		sleep(2);
	}
	if (vm->requests == requests)
		say(vm, "not awake: %s", status);
	return NULL;
}

static void answer_wake(struct vm *vm, const char *seconds, char *reply, size_t size)
{
	struct wake *w = malloc(sizeof(*w));
	pthread_t thread;

	if (w)
		*w = (struct wake){ vm, atoi(seconds) };
	if (!w || pthread_create(&thread, NULL, wake, w))
		snprintf(reply, size, "err no thread");
	else
		pthread_detach(thread);
}

static void answer(struct vm *vm, char *line, char *reply, size_t size)
{
	char *args = strchr(line, ' ');
	FILE *f;

	if (args)
		*args++ = 0;
	else
		args = line + strlen(line);
	snprintf(reply, size, "ok");
	if (!strcmp(line, "up")) {
		pthread_mutex_lock(&lock);
		vm->up = true;
		if (!turn)
			pass_turn(vm);
		pthread_mutex_unlock(&lock);
		if (vm->reset) {
			char status[LINE];

			vm->reset = false;
			on_reboot(vm, "shutdown", status, sizeof(status));
		}
	} else if (!strcmp(line, "stat")) {
		answer_stat(vm, args, reply, size);
	} else if (!strcmp(line, "set")) {
		char *value = strchr(args, ' ');
		int fd, err = 0;

		if (value)
			*value++ = 0;
		fd = open(args, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || !value || write(fd, value, strlen(value)) < 0)
			err = errno ?: EINVAL;
		if (fd >= 0)
			close(fd);
		if (err)
			snprintf(reply, size, "err %s: %s", args, strerror(err));
	} else if (!strcmp(line, "run")) {
		answer_run(vm, args, reply, size);
	} else if (!strcmp(line, "barrier")) {
		answer_barrier(args, reply, size);
	} else if (!strcmp(line, "turn")) {
		answer_turn(vm);
	} else if (!strcmp(line, "put")) {
		f = open_out(vm, "out", "a");
		if (f)
			fprintf(f, "%s\n", args);
		if (!f || fclose(f))
			snprintf(reply, size, "err cannot write the result");
	} else if (!strcmp(line, "say")) {
		say(vm, "%s", args);
	} else if (!strcmp(line, "save")) {
		answer_save(vm, reply, size);
	} else if (!strcmp(line, "reset")) {
		answer_reset(vm, reply, size);
	} else if (!strcmp(line, "restart")) {
		vm->then = ANEW;
		kill(vm->pid, SIGKILL);
		*reply = 0;
	} else if (!strcmp(line, "wake")) {
		answer_wake(vm, args, reply, size);
	} else if (!strcmp(line, "exit")) {
		save_kvm(vm);
		vm->status = atoi(args);
		vm->finished = true;
	} else {
		snprintf(reply, size, "err unknown request %s", line);
	}
}

static void *serve(void *arg)
{
	struct vm *vm = arg;
	char *line = NULL, reply[LINE];
	size_t size = 0;
	int fd;

	/* One connection after the other, until watch() says that it is over. */
	while ((fd = accept4(vm->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		FILE *in = fdopen(fd, "r");

		if (vm->owed) {
			vm->owed = false;
			dprintf(fd, "ok\n");
		}
		while (in && getline(&line, &size, in) > 0) {
			line[strcspn(line, "\n")] = 0;
			vm->requests++;
			answer(vm, line, reply, sizeof(reply) - 1);
			if (!*reply)
				continue;
			strcat(reply, "\n");
			if (write(fd, reply, strlen(reply)) < 0)
				break;
		}
		if (in)
			fclose(in);
	}
	free(line);
	return NULL;
}

static void *console(void *arg)
{
	struct vm *vm = arg;
	FILE *in = fdopen(vm->console_fd, "r"), *log = open_out(vm, "console", "a");
	char *line = NULL;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0) {
		if (log) {
			fputs(line, log);
			fflush(log);
		}
	}
	free(line);
	if (log)
		fclose(log);
	if (in)
		fclose(in);
	return NULL;
}

/*
 * A CPU for each vCPU, and house-keeping's CPU for QEMU's other threads: the
 * guest would take what they need of a vCPU's CPU for a busy host.
 */
static void pin_vcpus(struct vm *vm)
{
	char path[LINE], comm[64];
	int pinned = 0, vcpu;

	for (int tries = 0; pinned < vm->npin && tries < 200; tries++, usleep(50000)) {
		DIR *d;

		pinned = 0;
		snprintf(path, sizeof(path), "/proc/%d/task", vm->pid);
		d = opendir(path);
		for (struct dirent *e; d && (e = readdir(d));) {
			cpu_set_t set;

			snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", vm->pid, e->d_name);
			CPU_ZERO(&set);
			if (!read_file(path, comm, sizeof(comm))) {
				continue;
			} else if (sscanf(comm, "CPU %d/KVM", &vcpu) != 1) {
				CPU_SET(0, &set);
				sched_setaffinity(atoi(e->d_name), sizeof(set), &set);
			} else if (vcpu < vm->npin) {
				CPU_SET(vm->pin[vcpu], &set);
				if (!sched_setaffinity(atoi(e->d_name), sizeof(set), &set))
					pinned++;
			}
		}
		if (d)
			closedir(d);
	}
	if (pinned < vm->npin)
		say(vm, "only %d of %d vCPUs could be pinned", pinned, vm->npin);
}

static void start(struct vm *vm)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char append[LINE], chardev[LINE], name[LINE], monitor[LINE], state[LINE];
	bool restore = vm->then == RESTORE;
	int fds[2], serial[2];

	/* One that is restored has started long ago, and waits for an answer. */
	vm->up = vm->owed = restore;
	vm->then = END;
	vm->ended = vm->hung = vm->finished = false;
	vm->status = 0;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/run/%s.sock", vm->name);
	unlink(addr.sun_path);
	vm->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (vm->listen_fd < 0 || bind(vm->listen_fd, (void *)&addr, sizeof(addr)) ||
	    listen(vm->listen_fd, 1))
		die("%s: %s", addr.sun_path, strerror(errno));
	if (pipe2(fds, O_CLOEXEC) || pipe2(serial, O_CLOEXEC))
		die("pipe: %s", strerror(errno));

	snprintf(append, sizeof(append),
		 "console=ttyS0 panic=-1 loglevel=5 tsc=reliable kunit.enable=0 lab.role=guest lab.name=%s %s -- %s",
		 vm->name, vm->append, vm->run);
	snprintf(chardev, sizeof(chardev), "socket,id=lab,path=%s", addr.sun_path);
	snprintf(name, sizeof(name), "%s,debug-threads=on", vm->name);
	snprintf(monitor, sizeof(monitor), "unix:/run/%s.qmp,server=on,wait=off", vm->name);
	snprintf(state, sizeof(state), "file:/run/%s.state", vm->name);
	vm->pid = fork();
	if (vm->pid < 0)
		die("fork: %s", strerror(errno));
	if (!vm->pid) {
		const char *argv[64] = {
			vm->qemu, "-name", name, "-M", "q35", "-accel", "kvm", "-cpu", vm->cpu,
			"-smp", vm->smp, "-m", vm->mem, "-nodefaults", "-no-user-config",
			"-vga", "none", "-display", "none", "-no-reboot", "-serial", "stdio",
			"-device", "virtio-serial-pci", "-chardev", chardev,
			"-device", "virtserialport,chardev=lab,name=lab",
			"-L", "/usr/share/qemu", "-L", "/usr/share/seabios",
			"-kernel", kernel, "-initrd", initrd, "-append", append,
			"-qmp", monitor, restore ? "-incoming" : NULL, state,
		};

		sched_setaffinity(0, sizeof(vm->cpus), &vm->cpus);
		if (!interactive) {
			dup2(serial[0], 0);
			dup2(fds[1], 1);
			dup2(fds[1], 2);
		}
		execvp(argv[0], (char **)argv);
		fprintf(stderr, "vms: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(fds[1]);
	close(serial[0]);
	vm->console_fd = fds[0];
	vm->serial_fd = serial[1];
	if (pthread_create(&vm->serve, NULL, serve, vm) ||
	    pthread_create(&vm->console, NULL, console, vm))
		die("pthread_create failed");
	if (vm->npin)
		pin_vcpus(vm);
}

static void *watch(void *arg)
{
	struct vm *vm = arg;
	bool retried = false;

	if (vm->delay)
		sleep(vm->delay);
	for (double begin = now(); ;) {
		double started = now();
		int status, wait = 0;
		bool retry, again;

		start(vm);
		while (waitpid(vm->pid, &status, WNOHANG) == 0) {
			usleep(50000);
			if (!vm->up && !interactive && now() - started > boot_limit)
				wait = boot_limit;
			else if (now() - begin > limit)
				wait = limit;
			if (wait && !vm->hung) {
				vm->hung = true;
				kill(vm->pid, SIGKILL);
			}
		}
		retry = vm->hung && !vm->up && !retried;
		again = retry || (vm->then != END && !vm->hung);
		/* Nobody may wait at a barrier for a guest that will not come. */
		pthread_mutex_lock(&lock);
		vm->ended = !again;
		if (!again && (!turn || turn == vm))
			pass_turn(vm);
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		/* Wakes serve() when QEMU never came to connect. */
		shutdown(vm->listen_fd, SHUT_RDWR);
		pthread_join(vm->serve, NULL);
		pthread_join(vm->console, NULL);
		close(vm->listen_fd);
		close(vm->serial_fd);
		if (retry) {
			say(vm, "RETRY: no boot within %d s, starting it once more", wait);
			retried = true;
			begin = now();
		}
		if (again)
			continue;
		if (vm->hung)
			say(vm, "HUNG: ended after %d s", wait);
		else if (!vm->finished && !interactive)
			say(vm, "CRASHED: ended without reporting (QEMU status %d)", status);
		else if (vm->status)
			say(vm, "workload failed with status %d", vm->status);
		return NULL;
	}
}

static void usage(void)
{
	puts("usage: vms [option]... --vm NAME [guest option]... [--vm NAME ...]...\n"
	     "  --out DIR        where the files go (/out)\n"
	     "  --limit S        time limit of the guests (600)\n"
	     "  --boot-limit S   time limit until a guest is up; one retry (120)\n"
	     "  --kernel FILE    kernel of the guests (/run/bzImage)\n"
	     "  --interactive    one guest on this terminal\n"
	     "guest options (a guest starts with those of the one before it):\n"
	     "  --smp N          vCPUs (2)\n"
	     "  --mem SIZE       memory (256M)\n"
	     "  --cpu MODEL      QEMU's -cpu (host), say host,kvm-pv-tlb-flush=off\n"
	     "  --cpus LIST      host CPUs that it may use, never 0 (1-2)\n"
	     "  --pin LIST       one host CPU for each vCPU, in order\n"
	     "  --append ARGS    kernel command line\n"
	     "  --run COMMAND    what it runs (sh -c, in /job)\n"
	     "  --delay S        starts that much later");
}

int main(int argc, char **argv)
{
	struct vm *vm = NULL, defaults = {
		.smp = "2", .mem = "256M", .cpu = "host", .append = "", .run = "true", .qemu = "qemu-system-x86_64",
	};
	pthread_t watchers[MAX_VMS];
	int rc = 0;

	signal(SIGPIPE, SIG_IGN);
	parse_cpus("1-2", &defaults.cpus);
	for (int i = 1; i < argc; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(o, "--help")) {
			usage();
			return 0;
		}
		if (!strcmp(o, "--interactive")) {
			interactive = true;
			continue;
		}
		if (!v)
			die("%s: unknown, or its value is missing; see --help", o);
		i++;
		if (!strcmp(o, "--vm")) {
			if (nvms == MAX_VMS)
				die("%d guests at most", MAX_VMS);
			vms[nvms] = vm ? *vm : defaults;
			vm = &vms[nvms++];
			vm->name = v;
		} else if (!strcmp(o, "--out")) {
			out = v;
		} else if (!strcmp(o, "--limit")) {
			limit = atoi(v);
		} else if (!strcmp(o, "--boot-limit")) {
			boot_limit = atoi(v);
		} else if (!strcmp(o, "--kernel")) {
			kernel = v;
		} else if (!vm) {
			die("%s: --vm NAME comes first; see --help", o);
		} else if (!strcmp(o, "--smp")) {
			vm->smp = v;
		} else if (!strcmp(o, "--mem")) {
			vm->mem = v;
		} else if (!strcmp(o, "--cpu")) {
			vm->cpu = v;
		} else if (!strcmp(o, "--cpus")) {
			parse_cpus(v, &vm->cpus);
		} else if (!strcmp(o, "--pin")) {
			cpu_set_t check;
			char *end;

			parse_cpus(v, &check);
			for (vm->npin = 0; *v; v = *end ? end + 1 : end) {
				if (vm->npin == MAX_CPUS)
					die("--pin: %d vCPUs at most", MAX_CPUS);
				vm->pin[vm->npin++] = strtol(v, &end, 10);
				if (*end && *end != ',')
					die("--pin takes single CPUs: 1,2,1,2");
			}
		} else if (!strcmp(o, "--append")) {
			vm->append = v;
		} else if (!strcmp(o, "--run")) {
			vm->run = v;
		} else if (!strcmp(o, "--delay")) {
			vm->delay = atoi(v);
		} else {
			die("%s: unknown option; see --help", o);
		}
	}
	if (!nvms)
		die("no guest named; see --help");

	for (int i = 0; i < nvms; i++)
		if (pthread_create(&watchers[i], NULL, watch, &vms[i]))
			die("pthread_create failed");
	for (int i = 0; i < nvms; i++) {
		pthread_join(watchers[i], NULL);
		vm = &vms[i];
		if (vm->hung)
			rc = 3;
		else if (!vm->finished && !interactive && rc < 2)
			rc = 2;
		else if (vm->status && rc < 1)
			rc = 1;
	}
	return rc;
}
