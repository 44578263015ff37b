// SPDX-License-Identifier: GPL-2.0-only
/*
 * host: in a guest, ask the host for something (the requests are described
 * in vms.c). Prints the answer without its "ok"; exit status 1 on "err".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PORT "/dev/vport0p1"

int main(int argc, char **argv)
{
	char line[4096];
	size_t n = 0;
	int fd;

	if (argc < 2) {
		fputs("usage: host stat|set|run|barrier|turn|put|say|reset|restart|save|wake|exit [ARGUMENT]...\n", stderr);
		return 64;
	}
	/* The port has one user at a time: others come again. */
	while ((fd = open(PORT, O_RDWR)) < 0 && errno == EBUSY)
		usleep(1000);
	if (fd < 0) {
		fprintf(stderr, "host: %s: %s: not a guest of the lab\n", PORT, strerror(errno));
		return 1;
	}
	for (int i = 1; i < argc; i++) {
		int len = snprintf(line + n, sizeof(line) - n, "%s%c", argv[i],
				   i + 1 < argc ? ' ' : '\n');

		if (len < 0 || n + len >= sizeof(line)) {
			fputs("host: request too long\n", stderr);
			return 1;
		}
		n += len;
	}
	if (write(fd, line, n) != (ssize_t)n) {
		fprintf(stderr, "host: %s: %s\n", PORT, strerror(errno));
		return 1;
	}
	for (n = 0; n < sizeof(line) - 1;) {
		ssize_t got = read(fd, line + n, sizeof(line) - 1 - n);

		if (got <= 0) {
			fputs("host: no answer\n", stderr);
			return 1;
		}
		n += got;
		if (line[n - 1] == '\n')
			break;
	}
	line[n] = 0;
	if (strncmp(line, "ok", 2)) {
		fprintf(stderr, "host: %s", line);
		return 1;
	}
	fputs(line[2] == ' ' ? line + 3 : "", stdout);
	return 0;
}
