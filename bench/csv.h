/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strict reading of the plain CSV files that the benches write: a fixed header,
 * no quoting; blank lines and lines that start with '#' are skipped. Whatever is
 * malformed ends the program with "FILE:LINE: what is wrong".
 */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CSV_FIELDS	16

struct csv {
	const char *path;
	FILE *file;
	unsigned int line;
	unsigned int nr_fields;
	char *field[CSV_FIELDS];	/* of the current line */
	char *buf;
	size_t buf_size;
};

/* path "-": standard input. The first line must be exactly the header. */
void csv_open(struct csv *csv, const char *path, const char *header);
bool csv_next(struct csv *csv);		/* false: no more lines */
void csv_close(struct csv *csv);
void csv_fail(const struct csv *csv, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

uint64_t csv_count(const struct csv *csv, unsigned int field);
double csv_number(const struct csv *csv, unsigned int field);	/* finite */
const char *csv_name(const struct csv *csv, unsigned int field);	/* not empty, no blanks */

/* Names in the order of their first appearance; an index stands for a name. */
struct names {
	char **name;
	unsigned int nr;
};
int find_name(const struct names *names, const char *name);		/* -1: not there */
unsigned int intern(struct names *names, const char *name);

/* The line reader below all this: no line end, never a comment or a blank line. */
bool csv_line(struct csv *csv);

#endif
