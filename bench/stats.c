// SPDX-License-Identifier: GPL-2.0-only
/*
 * From raw repetitions to a table: medians, paired ratios, their confidence
 * intervals, and whether targets are met.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv.h"
#include "sample.h"
#include "util.h"

static const char help[] =
"Usage: stats [options] RAW.csv...\n"
"Read repetitions (rep,row,config,metric,value; '-': standard input), print a table.\n"
"  -o FILE           also write FILE with the columns row,config,metric,median,lo,hi,\n"
"                    ratio,ratio_lo,ratio_hi,target,target_met\n"
"  -t FILE           targets, references and directions (below)\n"
"  -r CONFIG         the config that ratios refer to (default: off)\n"
"  -b NAME=PREFIX    per row, add the best config whose name starts with PREFIX once\n"
"                    more under NAME; -b may be given several times (also --best)\n"
"  -e                exit with status 3 when a target is not met\n"
"  -h, --help\n"
"\n"
"Lines of one rep and row belong together: a ratio is taken within each rep, and the\n"
"median of these ratios is shown. lo and hi bound a 95 % confidence interval: the\n"
"percentile bootstrap of the median, 10000 resamples, generator with a fixed seed, so\n"
"that the same data give the same figures. Below 8 repetitions it is too narrow (88 %\n"
"at 7 or 4, 76 % at 3). A ratio whose interval holds 1.0 is 'no difference'.\n"
"\n"
"Lines of the targets file ('#' starts a comment; ROW, CONFIG and METRIC are shell\n"
"patterns):\n"
"  ROW CONFIG METRIC REFERENCE OP LIMIT   a target: the ratio to the config REFERENCE\n"
"                                         (or 'value': the median itself) is OP LIMIT\n"
"                                         with OP one of <= < >= >\n"
"  ROW CONFIG METRIC REFERENCE            another reference; the last match counts\n"
"  better METRIC lower|higher             which is better; the first such METRIC that\n"
"                                         a row has is the one that -b chooses by\n"
"In the output a target reads OP LIMIT*REFERENCE, or OP LIMIT for a value. A target\n"
"is judged by the median. A line is repeated for each target with another reference.\n"
"A target that nothing was measured for is not met.\n";

#define SUMMARY_HEADER	"row,config,metric,median,lo,hi,ratio,ratio_lo,ratio_hi,target,target_met"

static struct names rows, configs, metrics;

/* One repetition's value. */
struct point {
	uint64_t rep;
	double value;
	unsigned int file, line;
};

struct series {
	unsigned int row, config, metric;
	unsigned int nr;
	struct point *point;		/* in the order of rep, once all is read */
	int copy_of;			/* the config that -b chose, or -1 */
};

static struct series *series;
static unsigned int nr_series;

struct rule {
	char *row, *config, *metric, *reference;
	char op[3];			/* "": only another reference */
	double limit;
	bool used;
};

static struct rule *rules;
static unsigned int nr_rules;

struct better {
	unsigned int metric;
	bool lower;
};

static struct better *betters;
static unsigned int nr_betters;

static struct { char *name, *prefix; } *families;
static unsigned int nr_families;

static const char *default_reference = "off";
static char **files;
static FILE *summary;

/* Remarks, printed below the table. */
static char **notes;
static unsigned int nr_notes;

static unsigned int nr_short;		/* series with too few repetitions */
static unsigned int targets_met, targets_missed, targets_unmeasured;

/* The same remark twice is one. */
static void __attribute__((format(printf, 1, 2))) note(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = vtext_of(fmt, ap);
	va_end(ap);
	for (unsigned int i = 0; i < nr_notes; i++)
		if (!strcmp(notes[i], text)) {
			free(text);
			return;
		}
	notes = grow(notes, nr_notes, sizeof(*notes));
	notes[nr_notes++] = text;
}

static struct series *find_series(unsigned int row, unsigned int config, unsigned int metric)
{
	for (struct series *s = series; s < series + nr_series; s++)
		if (s->row == row && s->config == config && s->metric == metric)
			return s;
	return NULL;
}

static struct series *add_series(unsigned int row, unsigned int config, unsigned int metric)
{
	series = grow(series, nr_series, sizeof(*series));
	series[nr_series] = (struct series){
		.row = row, .config = config, .metric = metric, .copy_of = -1,
	};
	return &series[nr_series++];
}

static void read_raw(unsigned int file)
{
	struct csv csv;

	csv_open(&csv, files[file], "rep,row,config,metric,value");
	while (csv_next(&csv)) {
		uint64_t rep = csv_count(&csv, 0);
		unsigned int row = intern(&rows, csv_name(&csv, 1));
		unsigned int config = intern(&configs, csv_name(&csv, 2));
		unsigned int metric = intern(&metrics, csv_name(&csv, 3));
		struct series *s = find_series(row, config, metric);

		if (!s)
			s = add_series(row, config, metric);
		s->point = grow(s->point, s->nr, sizeof(*s->point));
		s->point[s->nr++] = (struct point){
			.rep = rep, .value = csv_number(&csv, 4), .file = file, .line = csv.line,
		};
	}
	csv_close(&csv);
}

static int by_rep(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->rep != q->rep)
		return p->rep < q->rep ? -1 : 1;
	if (p->file != q->file)
		return p->file < q->file ? -1 : 1;
	return p->line < q->line ? -1 : p->line > q->line;
}

static void sort_points(void)
{
	for (struct series *s = series; s < series + nr_series; s++) {
		qsort(s->point, s->nr, sizeof(*s->point), by_rep);
		for (unsigned int i = 1; i < s->nr; i++) {
			const struct point *p = &s->point[i - 1], *q = &s->point[i];

			if (p->rep == q->rep)
				die("%s:%u: rep %" PRIu64 " of %s, %s, %s is in %s:%u already",
				    files[q->file], q->line, q->rep, rows.name[s->row],
				    configs.name[s->config], metrics.name[s->metric],
				    files[p->file], p->line);
		}
	}
}

static void add_rule(const struct csv *csv, char **word, unsigned int nr)
{
	struct rule *r;

	rules = grow(rules, nr_rules, sizeof(*rules));
	r = &rules[nr_rules++];
	*r = (struct rule){
		.row = xstrdup(word[0]), .config = xstrdup(word[1]),
		.metric = xstrdup(word[2]), .reference = xstrdup(word[3]),
	};
	if (nr == 4) {
		if (!strcmp(r->reference, "value"))
			csv_fail(csv, "'value' needs OP LIMIT");
		return;
	}
	if (strcmp(word[4], "<=") && strcmp(word[4], "<") &&
	    strcmp(word[4], ">=") && strcmp(word[4], ">"))
		csv_fail(csv, "'%s' is not one of <= < >= >", word[4]);
	strcpy(r->op, word[4]);
	/* csv_number() wants a field */
	r->limit = csv_number(&(struct csv){ .path = csv->path, .line = csv->line,
					     .field = { word[5] } }, 0);
}

static void add_better(const struct csv *csv, const char *metric, const char *direction)
{
	bool lower = !strcmp(direction, "lower");

	if (!lower && strcmp(direction, "higher"))
		csv_fail(csv, "'%s' is neither 'lower' nor 'higher'", direction);
	betters = grow(betters, nr_betters, sizeof(*betters));
	betters[nr_betters++] = (struct better){ intern(&metrics, metric), lower };
}

static void read_targets(const char *path)
{
	struct csv csv;

	csv_open(&csv, path, NULL);
	while (csv_line(&csv)) {
		char *word[7], *rest = csv.buf, *comment = strchr(rest, '#');
		unsigned int nr = 0;

		if (comment)
			*comment = '\0';
		for (char *w; nr < 7 && (w = strtok_r(rest, " \t", &rest)); )
			word[nr++] = w;
		if (nr == 4 || nr == 6)
			add_rule(&csv, word, nr);
		else if (nr == 3 && !strcmp(word[0], "better"))
			add_better(&csv, word[1], word[2]);
		else if (nr)
			csv_fail(&csv, "wanted 'ROW CONFIG METRIC REFERENCE [OP LIMIT]' or 'better METRIC lower|higher'");
	}
	csv_close(&csv);
}

static const struct better *find_better(unsigned int metric)
{
	for (unsigned int i = 0; i < nr_betters; i++)
		if (betters[i].metric == metric)
			return &betters[i];
	return NULL;
}

static struct estimate estimate_series(const struct series *s)
{
	double *value = xcalloc(s->nr, sizeof(*value));
	struct estimate e;

	for (unsigned int i = 0; i < s->nr; i++)
		value[i] = s->point[i].value;
	e = estimate_median(value, s->nr);
	free(value);
	return e;
}

/* The metric that says which config of a family is the best one in this row. */
static const struct better *deciding_metric(unsigned int row, const char *prefix)
{
	for (unsigned int i = 0; i < nr_betters; i++)
		for (struct series *s = series; s < series + nr_series; s++)
			if (s->row == row && s->metric == betters[i].metric &&
			    !strncmp(configs.name[s->config], prefix, strlen(prefix)))
				return &betters[i];
	return NULL;
}

/*
 * One config is chosen per row, by one metric, and all its metrics go under the
 * new name: the best of each metric by itself would be a config that nobody can
 * set.
 */
static void add_best(const char *name, const char *prefix)
{
	unsigned int config = intern(&configs, name), nr = nr_series;
	bool found = false;

	for (struct series *s = series; s < series + nr; s++)
		if (s->config == config)
			die("--best: there is a config '%s' in the data", name);

	for (unsigned int row = 0; row < rows.nr; row++) {
		const struct better *by = deciding_metric(row, prefix);
		double best = NAN;
		int chosen = -1;

		for (unsigned int i = 0; i < nr; i++) {
			const struct series *s = &series[i];
			double median;

			if (s->row != row || s->copy_of >= 0 ||
			    strncmp(configs.name[s->config], prefix, strlen(prefix)))
				continue;
			found = true;
			if (!by)
				die("--best: row '%s': no metric of '%s*' has a 'better' line",
				    rows.name[row], prefix);
			if (s->metric != by->metric)
				continue;
			median = estimate_series(s).median;
			if (chosen < 0 || (by->lower ? median < best : median > best)) {
				best = median;
				chosen = (int)s->config;
			}
		}
		for (unsigned int i = 0; chosen >= 0 && i < nr; i++) {
			struct series *copy;

			if (series[i].row != row || series[i].config != (unsigned int)chosen ||
			    series[i].copy_of >= 0)
				continue;
			copy = add_series(row, config, series[i].metric);
			copy->copy_of = chosen;
			copy->nr = series[i].nr;
			copy->point = series[i].point;
		}
	}
	if (!found)
		note("--best %s: no config starts with '%s'", name, prefix);
}

static bool rule_matches(const struct rule *r, const struct series *s)
{
	return !fnmatch(r->row, rows.name[s->row], 0) &&
	       !fnmatch(r->config, configs.name[s->config], 0) &&
	       !fnmatch(r->metric, metrics.name[s->metric], 0);
}

/* A pattern may match the reference itself: nothing to compare then. */
static bool is_target_of(const struct rule *r, const struct series *s)
{
	return *r->op && rule_matches(r, s) &&
	       strcmp(r->reference, configs.name[s->config]);
}

/* The median ratio of s to ref over the reps that both have. */
static struct estimate estimate_ratio(const struct series *s, const struct series *ref)
{
	unsigned int i = 0, j = 0, nr = 0, alone = 0, zero = 0;
	struct estimate e = { };
	double *ratio;

	e.median = e.lo = e.hi = e.min = e.max = NAN;
	if (!ref)
		return e;
	ratio = xcalloc(s->nr, sizeof(*ratio));
	while (i < s->nr || j < ref->nr) {
		if (j == ref->nr || (i < s->nr && s->point[i].rep < ref->point[j].rep)) {
			i++;
			alone++;
		} else if (i == s->nr || ref->point[j].rep < s->point[i].rep) {
			j++;
			alone++;
		} else {
			if (ref->point[j].value > 0)
				ratio[nr++] = s->point[i].value / ref->point[j].value;
			else
				zero++;
			i++;
			j++;
		}
	}
	e = estimate_median(ratio, nr);
	free(ratio);
	if (alone)
		note("%s, %s, %s: reps that only one of it and %s has: %u",
		     rows.name[s->row], configs.name[s->config], metrics.name[s->metric],
		     configs.name[ref->config], alone);
	if (zero)
		note("%s, %s, %s: pairs left out because %s is not above 0: %u",
		     rows.name[s->row], configs.name[s->config], metrics.name[s->metric],
		     configs.name[ref->config], zero);
	return e;
}

static bool compare(double v, const char *op, double limit)
{
	if (op[0] == '<')
		return op[1] ? v <= limit : v < limit;
	return op[1] ? v >= limit : v > limit;
}

static void format_target(char *buf, size_t size, const struct rule *r)
{
	if (!strcmp(r->reference, "value"))
		snprintf(buf, size, "%s%g", r->op, r->limit);
	else
		snprintf(buf, size, "%s%g*%s", r->op, r->limit, r->reference);
}

/* The table is collected row by row, so that its columns can be aligned. */
enum column {
	C_CONFIG, C_NR, C_MEDIAN, C_LO, C_HI, C_VS, C_RATIO, C_RATIO_LO, C_RATIO_HI,
	C_VERDICT, C_TARGET, C_MET, NR_COLUMNS
};

#define CELL	96
typedef char cells[NR_COLUMNS][CELL];

static cells *table;
static unsigned int nr_lines;

static void format_human(char *cell, double v)
{
	if (isnan(v))
		strcpy(cell, "-");
	else
		snprintf(cell, CELL, fabs(v) >= 1000 ? "%.0f" : "%.4g", v);
}

static void table_start(void)
{
	static const char * const title[NR_COLUMNS] = {
		"config", "n", "median", "lo", "hi", "against", "ratio", "lo", "hi",
		"", "target", "met",
	};

	table = grow(table, 0, sizeof(*table));
	nr_lines = 1;
	for (unsigned int c = 0; c < NR_COLUMNS; c++)
		strcpy(table[0][c], title[c]);
}

static void table_print(unsigned int row, unsigned int metric)
{
	const struct better *better = find_better(metric);
	int width[NR_COLUMNS] = { };

	printf("%s: %s%s\n", rows.name[row], metrics.name[metric],
	       !better ? "" : better->lower ? " (lower is better)" : " (higher is better)");
	/* a column with nothing but its title is left out */
	for (unsigned int l = nr_lines; l-- > 0; )
		for (unsigned int c = 0; c < NR_COLUMNS; c++)
			if ((int)strlen(table[l][c]) > width[c] && (l || width[c]))
				width[c] = (int)strlen(table[l][c]);
	for (unsigned int l = 0; l < nr_lines; l++) {
		char line[NR_COLUMNS * (CELL + 2) + 1], *end = line;

		for (unsigned int c = 0; c < NR_COLUMNS; c++) {
			bool left = c == C_CONFIG || c == C_VS || c >= C_VERDICT;

			if (width[c])
				end += sprintf(end, "  %*s", left ? -width[c] : width[c],
					       table[l][c]);
		}
		while (end > line && end[-1] == ' ')
			*--end = '\0';
		puts(line);
	}
	putchar('\n');
	free(table);
	table = NULL;
}

static void csv_value(double v)
{
	if (isnan(v))
		fputc(',', summary);
	else
		fprintf(summary, ",%.9g", v);
}

static const char *verdict(const struct estimate *ratio, const struct better *better)
{
	if (ratio->nr < 2)
		return ratio->nr ? "one pair" : "no pair";
	if (ratio->lo <= 1 && ratio->hi >= 1)
		return "no difference";
	if (!better)
		return ratio->hi < 1 ? "lower" : "higher";
	return (ratio->hi < 1) == better->lower ? "better" : "worse";
}

/* One line of the table and of the summary; target: NULL for none. */
static void emit(const struct series *s, const struct estimate *value, const char *reference,
		 const struct rule *target)
{
	int ref_config = find_name(&configs, reference);
	bool is_reference = ref_config == (int)s->config;
	const struct series *ref = NULL;
	struct estimate ratio;
	char (*cell)[CELL];
	char text[CELL] = "";
	const char *met = "";

	if (ref_config >= 0 && !is_reference)
		ref = find_series(s->row, (unsigned int)ref_config, s->metric);
	ratio = estimate_ratio(s, ref);

	table = grow(table, nr_lines, sizeof(*table));
	cell = table[nr_lines++];
	memset(cell, 0, sizeof(*table));
	snprintf(cell[C_CONFIG], CELL, "%s", configs.name[s->config]);
	if (s->copy_of >= 0)
		snprintf(cell[C_CONFIG], CELL, "%s (%s)", configs.name[s->config],
			 configs.name[s->copy_of]);
	snprintf(cell[C_NR], CELL, "%u", s->nr);
	format_human(cell[C_MEDIAN], value->median);
	format_human(cell[C_LO], value->lo);
	format_human(cell[C_HI], value->hi);
	if (!is_reference) {
		snprintf(cell[C_VS], CELL, "%s", reference);
		format_human(cell[C_RATIO], ratio.median);
		format_human(cell[C_RATIO_LO], ratio.lo);
		format_human(cell[C_RATIO_HI], ratio.hi);
		snprintf(cell[C_VERDICT], CELL, "%s", verdict(&ratio, find_better(s->metric)));
	}

	if (target) {
		bool absolute = !strcmp(target->reference, "value");
		const struct estimate *judged = absolute ? value : &ratio;

		format_target(text, sizeof(text), target);
		strcpy(cell[C_TARGET], text);
		if (!judged->nr) {
			met = "no";
			targets_unmeasured++;
			strcpy(cell[C_MET], "no: not measured");
		} else {
			bool yes = compare(judged->median, target->op, target->limit);

			met = yes ? "yes" : "no";
			*(yes ? &targets_met : &targets_missed) += 1;
			snprintf(cell[C_MET], CELL, "%s%s", met,
				 judged->lo <= target->limit && judged->hi >= target->limit &&
				 judged->lo < judged->hi ? " (limit is inside lo..hi)" : "");
		}
	}

	if (!summary)
		return;
	fprintf(summary, "%s,%s,%s", rows.name[s->row], configs.name[s->config],
		metrics.name[s->metric]);
	csv_value(value->median);
	csv_value(value->lo);
	csv_value(value->hi);
	csv_value(ratio.median);
	csv_value(ratio.lo);
	csv_value(ratio.hi);
	fprintf(summary, ",%s,%s\n", text, met);
}

static void report_series(const struct series *s)
{
	struct estimate value = estimate_series(s);
	const char *reference = default_reference;
	bool plain = true;		/* a line without another reference is due */

	if (value.nr < ENOUGH_FOR_95)
		nr_short++;
	for (struct rule *r = rules; r < rules + nr_rules; r++)
		if (!*r->op && rule_matches(r, s)) {
			reference = r->reference;
			r->used = true;
		}
	for (struct rule *r = rules; r < rules + nr_rules; r++)
		if (is_target_of(r, s) && (!strcmp(r->reference, "value") ||
					   !strcmp(r->reference, reference)))
			plain = false;

	if (plain)
		emit(s, &value, reference, NULL);
	for (struct rule *r = rules; r < rules + nr_rules; r++) {
		if (!is_target_of(r, s))
			continue;
		r->used = true;
		emit(s, &value, strcmp(r->reference, "value") ? r->reference : reference, r);
	}
}

static void report_unmeasured(void)
{
	for (struct rule *r = rules; r < rules + nr_rules; r++) {
		char text[CELL];

		if (r->used || !*r->op)
			continue;
		format_target(text, sizeof(text), r);
		note("%s, %s, %s: target %s: not measured", r->row, r->config, r->metric, text);
		targets_unmeasured++;
		if (summary)
			fprintf(summary, "%s,%s,%s,,,,,,,%s,no\n", r->row, r->config, r->metric,
				text);
	}
}

static void report(void)
{
	for (unsigned int row = 0; row < rows.nr; row++)
		for (unsigned int metric = 0; metric < metrics.nr; metric++) {
			bool any = false;

			for (unsigned int config = 0; config < configs.nr; config++) {
				const struct series *s = find_series(row, config, metric);

				if (!s)
					continue;
				if (!any)
					table_start();
				any = true;
				report_series(s);
			}
			if (any)
				table_print(row, metric);
		}
	report_unmeasured();

	printf("lo, hi: 95 %% confidence interval of the median (percentile bootstrap, %d resamples,\n"
	       "fixed seed). ratio: median of the ratios within each rep.\n", BOOTSTRAP_RESAMPLES);
	if (nr_families)
		printf("A config with another one in parentheses was chosen by its median in this very\n"
		       "data, which flatters it a little.\n");
	if (nr_short)
		printf("note: fewer than %d repetitions, so the interval is too narrow: %u of %u medians\n",
		       ENOUGH_FOR_95, nr_short, nr_series);
	for (unsigned int i = 0; i < nr_notes; i++)
		printf("note: %s\n", notes[i]);
	if (targets_met + targets_missed + targets_unmeasured)
		printf("targets: %u met, %u not met, %u not measured\n", targets_met,
		       targets_missed, targets_unmeasured);
}

static void add_family(char *arg)
{
	char *prefix = strchr(arg, '=');

	if (!prefix || prefix == arg || !prefix[1])
		die("-b: '%s' is not NAME=PREFIX", arg);
	*prefix++ = '\0';
	families = grow(families, nr_families, sizeof(*families));
	families[nr_families].name = arg;
	families[nr_families++].prefix = prefix;
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "best", 1, NULL, 'b' }, { "help", 0, NULL, 'h' }, { },
	};
	const char *out = NULL, *targets = NULL;
	bool strict = false;
	char *tmp = NULL;
	int opt;

	while ((opt = getopt_long(argc, argv, "o:t:r:b:eh", longopts, NULL)) != -1) {
		switch (opt) {
		case 'o': out = optarg; break;
		case 't': targets = optarg; break;
		case 'r': default_reference = optarg; break;
		case 'b': add_family(optarg); break;
		case 'e': strict = true; break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	files = argv + optind;
	if (optind == argc) {
		fprintf(stderr, "stats: no file to read\n");
		bad_usage();
	}

	for (int i = 0; i < argc - optind; i++)
		read_raw((unsigned int)i);
	if (!nr_series)
		die("%s: there are no repetitions in it", files[0]);
	sort_points();
	if (targets)
		read_targets(targets);
	for (unsigned int i = 0; i < nr_families; i++)
		add_best(families[i].name, families[i].prefix);

	/* A summary is complete or not there. */
	if (out) {
		if (asprintf(&tmp, "%s.tmp", out) < 0)
			die("out of memory");
		summary = fopen(tmp, "w");
		if (!summary)
			die_errno("cannot write %s", tmp);
		fprintf(summary, SUMMARY_HEADER "\n");
	}
	report();
	if (out) {
		bool bad = ferror(summary);

		if (fclose(summary) || bad || rename(tmp, out)) {
			unlink(tmp);
			die_errno("cannot write %s", out);
		}
	}
	if (fflush(stdout) || ferror(stdout))
		die_errno("cannot write the table");
	return strict && targets_missed + targets_unmeasured ? 3 : 0;
}
