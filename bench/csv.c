// SPDX-License-Identifier: GPL-2.0-only
/* Strict CSV; see csv.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "util.h"

void csv_fail(const struct csv *csv, const char *fmt, ...)
{
	char *msg;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&msg, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	die("%s:%u: %s", csv->path, csv->line, msg);
}

bool csv_line(struct csv *csv)
{
	ssize_t len;

	while ((len = getline(&csv->buf, &csv->buf_size, csv->file)) >= 0) {
		csv->line++;
		if (strlen(csv->buf) != (size_t)len)
			csv_fail(csv, "there is a NUL byte in the line");
		while (len && isspace((unsigned char)csv->buf[len - 1]))
			csv->buf[--len] = '\0';
		if (len && csv->buf[0] != '#')
			return true;
	}
	if (ferror(csv->file))
		die_errno("cannot read %s", csv->path);
	return false;
}

static void split(struct csv *csv)
{
	char *rest = csv->buf;

	csv->nr_fields = 0;
	while (rest) {
		if (csv->nr_fields == CSV_FIELDS)
			csv_fail(csv, "there are more than %d fields", CSV_FIELDS);
		csv->field[csv->nr_fields++] = strsep(&rest, ",");
	}
}

void csv_open(struct csv *csv, const char *path, const char *header)
{
	*csv = (struct csv){ .path = path };
	if (!strcmp(path, "-")) {
		csv->path = "standard input";
		csv->file = stdin;
	} else {
		csv->file = fopen(path, "r");
	}
	if (!csv->file)
		die_errno("cannot read %s", path);
	if (!header)
		return;
	if (!csv_line(csv))
		die("%s is empty", csv->path);
	if (strcmp(csv->buf, header))
		csv_fail(csv, "the header must be '%s'", header);
	split(csv);
}

bool csv_next(struct csv *csv)
{
	unsigned int wanted = csv->nr_fields;

	if (!csv_line(csv))
		return false;
	split(csv);
	if (csv->nr_fields != wanted)
		csv_fail(csv, "%u fields instead of %u", csv->nr_fields, wanted);
	return true;
}

void csv_close(struct csv *csv)
{
	if (csv->file != stdin)
		fclose(csv->file);
	free(csv->buf);
}

uint64_t csv_count(const struct csv *csv, unsigned int field)
{
	const char *s = csv->field[field];
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (!isdigit((unsigned char)*s) || *end || errno)
		csv_fail(csv, "'%s' is not a whole number", s);
	return v;
}

double csv_number(const struct csv *csv, unsigned int field)
{
	const char *s = csv->field[field];
	char *end;
	double v = strtod(s, &end);

	if (isspace((unsigned char)*s) || end == s || *end || !isfinite(v))
		csv_fail(csv, "'%s' is not a number", s);
	return v;
}

const char *csv_name(const struct csv *csv, unsigned int field)
{
	const char *s = csv->field[field];

	if (!*s)
		csv_fail(csv, "field %u is empty", field + 1);
	for (const char *p = s; *p; p++)
		if (!isgraph((unsigned char)*p) || *p == '"')
			csv_fail(csv, "'%s' is not a name (no blanks, no quotes)", s);
	return s;
}

int find_name(const struct names *names, const char *name)
{
	for (unsigned int i = 0; i < names->nr; i++)
		if (!strcmp(names->name[i], name))
			return (int)i;
	return -1;
}

unsigned int intern(struct names *names, const char *name)
{
	int found = find_name(names, name);

	if (found >= 0)
		return (unsigned int)found;
	names->name = grow(names->name, names->nr, sizeof(*names->name));
	names->name[names->nr] = xstrdup(name);
	return names->nr++;
}
