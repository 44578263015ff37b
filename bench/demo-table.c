// SPDX-License-Identifier: GPL-2.0-only
/* The demo's table: what a round trip costs at each polling threshold. */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "csv.h"
#include "sample.h"
#include "util.h"

static const char help[] =
"Usage: demo-table DEMO.csv\n"
"Print a table of the demo's raw data (rep,threshold_ns,ns_per_roundtrip,\n"
"exits_per_roundtrip,halt_exits_per_roundtrip; '-': standard input): per threshold the\n"
"median and the range of the round trip, its ratio to threshold 0 (the median of the\n"
"ratios within each rep, and their range), and the medians of the exits.\n"
"  -h, --help\n";

struct trial {
	uint64_t rep, threshold;
	double ns, exits, halt_exits;
	unsigned int line;
};

static struct trial *trial;
static unsigned int nr_trials;

static int by_threshold_and_rep(const void *a, const void *b)
{
	const struct trial *p = a, *q = b;

	if (p->threshold != q->threshold)
		return p->threshold < q->threshold ? -1 : 1;
	return p->rep < q->rep ? -1 : p->rep > q->rep;
}

static double positive(const struct csv *csv, unsigned int field, bool zero_too)
{
	double v = csv_number(csv, field);

	if (v < 0 || (!zero_too && v <= 0))
		csv_fail(csv, "'%s' is not %s", csv->field[field],
			 zero_too ? "0 or more" : "above 0");
	return v;
}

static void read_trials(const char *path)
{
	struct csv csv;

	csv_open(&csv, path, "rep,threshold_ns,ns_per_roundtrip,exits_per_roundtrip,"
			     "halt_exits_per_roundtrip");
	while (csv_next(&csv)) {
		trial = realloc(trial, (nr_trials + 1) * sizeof(*trial));
		if (!trial)
			die("out of memory");
		trial[nr_trials++] = (struct trial){
			.rep = csv_count(&csv, 0), .threshold = csv_count(&csv, 1),
			.ns = positive(&csv, 2, false), .exits = positive(&csv, 3, true),
			.halt_exits = positive(&csv, 4, true), .line = csv.line,
		};
	}
	if (!nr_trials)
		die("%s: there are no repetitions in it", csv.path);
	qsort(trial, nr_trials, sizeof(*trial), by_threshold_and_rep);
	for (unsigned int i = 1; i < nr_trials; i++)
		if (!by_threshold_and_rep(&trial[i - 1], &trial[i]))
			die("%s: rep %" PRIu64 " of threshold %" PRIu64 " is there twice, in lines %u and %u",
			    csv.path, trial[i].rep, trial[i].threshold,
			    trial[i - 1].line, trial[i].line);
	if (trial[0].threshold)
		die("%s: there is no threshold 0 to compare with", csv.path);
	csv_close(&csv);
}

static const struct trial *off_in(uint64_t rep)
{
	for (const struct trial *t = trial; t < trial + nr_trials && !t->threshold; t++)
		if (t->rep == rep)
			return t;
	return NULL;
}

static void format_threshold(char *buf, size_t size, uint64_t ns)
{
	if (!ns)
		snprintf(buf, size, "off");
	else if (ns % 1000)
		snprintf(buf, size, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(buf, size, "%g us", (double)ns / 1e3);
	else
		snprintf(buf, size, "%g ms", (double)ns / 1e6);
}

/* Trials first to first + nr - 1 have the same threshold. */
static void print_threshold(const struct trial *first, unsigned int nr)
{
	double *value = xcalloc(nr, sizeof(*value));
	struct estimate ns, ratio, exits, halts;
	unsigned int pairs = 0;
	char name[32], range[64], ratios[64] = "";

	for (unsigned int i = 0; i < nr; i++)
		value[i] = first[i].ns;
	ns = estimate_median(value, nr);
	for (unsigned int i = 0; i < nr; i++)
		value[i] = first[i].exits;
	exits = estimate_median(value, nr);
	for (unsigned int i = 0; i < nr; i++)
		value[i] = first[i].halt_exits;
	halts = estimate_median(value, nr);
	for (unsigned int i = 0; i < nr; i++) {
		const struct trial *off = off_in(first[i].rep);

		if (off)
			value[pairs++] = first[i].ns / off->ns;
	}
	ratio = estimate_median(value, pairs);
	free(value);

	format_threshold(name, sizeof(name), first->threshold);
	snprintf(range, sizeof(range), "(%.0f .. %.0f)", ns.min, ns.max);
	if (pairs && first->threshold)
		snprintf(ratios, sizeof(ratios), "(%.3f .. %.3f)", ratio.min, ratio.max);
	printf("%-10s %3u %10.0f  %-20s", name, nr, ns.median, range);
	if (pairs)
		printf(" %6.3f  %-16s", ratio.median, ratios);
	else
		printf(" %6s  %-16s", "-", "no pair");
	printf(" %9.3f %9.3f", exits.median, halts.median);
	if (pairs && pairs != nr)
		printf("  (%u of %u reps have no partner)", nr - pairs, nr);
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = { { "help", 0, NULL, 'h' }, { } };
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		switch (opt) {
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "demo-table: one file is wanted\n");
		bad_usage();
	}
	read_trials(argv[optind]);

	printf("%-10s %3s %10s  %-20s %6s  %-16s %9s %9s\n", "polling", "", "ns per",
	       "", "ratio", "", "exits per", "halts per");
	printf("%-10s %3s %10s  %-20s %6s  %-16s %9s %9s\n", "threshold", "n", "round trip",
	       "(min .. max)", "to off", "(min .. max)", "r. trip", "r. trip");
	for (unsigned int i = 0, nr; i < nr_trials; i += nr) {
		for (nr = 1; i + nr < nr_trials &&
			     trial[i + nr].threshold == trial[i].threshold; nr++)
			;
		print_threshold(&trial[i], nr);
	}
	free(trial);
	if (fflush(stdout) || ferror(stdout))
		die_errno("cannot write the table");
	return 0;
}
