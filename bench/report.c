// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report: the tables of the postings with this run's figures beside theirs,
 * plots, and what the machine's own noise is. Or: do two runs agree?
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "csv.h"
#include "sample.h"
#include "util.h"

static const char help[] =
"Usage: report [-d FOLDER] RUN\n"
"       report [-d FOLDER] -c OLD NEW\n"
"RUN is a folder with meta (KEY=VALUE lines), SECTION/raw.csv (rep,row,config,metric,value)\n"
"and, where something could not be run, not-run (SECTION REASON). Write there index.html,\n"
"results.md and summary.csv.\n"
"  -d FOLDER   where tables, targets, why and plots.gp are (default: bench/report)\n"
"  -c          compare two runs: list the rows whose intervals are on opposite sides of 1,\n"
"              and end with status 3 if there is one\n"
"  -h, --help\n";

/*
 * A ratio counts as different from the posting's when they are this factor apart
 * and the posting's is outside the interval; a posted ratio closer to 1 than the
 * second is no claim of a difference that another sign could contradict.
 */
#define MUCH		1.25
#define CLAIM		1.05
/* Thresholds are those of the postings times this; bench/report/tables has them so. */
#define SCALE		200

#define CELL		160

/* ---- what was measured ---- */

static struct names rows, configs, metrics;

struct point {
	uint64_t rep;
	double value;
};

struct series {
	unsigned int section, row, config, metric, nr;
	struct point *point;
	struct estimate value;
};

/* One lab session, or several of one kind. */
struct section {
	char *name, *reference, *title;
	char *not_run;			/* why; NULL: it was run */
	bool measured;
};

struct run {
	const char *dir;
	struct series *series;
	unsigned int nr_series;
	char **key, **value;		/* of meta */
	unsigned int nr_meta;
};

static struct section *section;
static unsigned int nr_sections;

static struct { char *metric; bool lower; } *better;
static unsigned int nr_better;

static struct series *find(const struct run *run, unsigned int sec, int row, int metric, int config)
{
	for (struct series *s = run->series; s < run->series + run->nr_series; s++)
		if (s->section == sec && (int)s->row == row && (int)s->config == config &&
		    (int)s->metric == metric)
			return s;
	return NULL;
}

static int by_rep(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return p->rep < q->rep ? -1 : p->rep > q->rep;
}

static void read_section(struct run *run, unsigned int sec)
{
	unsigned int before = run->nr_series;
	char *path = text_of("%s/%s/raw.csv", run->dir, section[sec].name);
	struct csv csv;

	if (access(path, F_OK)) {
		free(path);
		return;
	}
	csv_open(&csv, path, "rep,row,config,metric,value");
	while (csv_next(&csv)) {
		unsigned int row = intern(&rows, csv_name(&csv, 1));
		unsigned int config = intern(&configs, csv_name(&csv, 2));
		unsigned int metric = intern(&metrics, csv_name(&csv, 3));
		struct series *s = find(run, sec, (int)row, (int)metric, (int)config);

		if (!s) {
			run->series = grow(run->series, run->nr_series, sizeof(*run->series));
			s = &run->series[run->nr_series++];
			*s = (struct series){ .section = sec, .row = row, .config = config,
					      .metric = metric };
		}
		s->point = grow(s->point, s->nr, sizeof(*s->point));
		s->point[s->nr++] = (struct point){ csv_count(&csv, 0), csv_number(&csv, 4) };
	}
	csv_close(&csv);
	for (struct series *s = run->series + before; s < run->series + run->nr_series; s++) {
		double *value = xcalloc(s->nr, sizeof(*value));

		qsort(s->point, s->nr, sizeof(*s->point), by_rep);
		for (unsigned int i = 0; i < s->nr; i++) {
			value[i] = s->point[i].value;
			if (i && s->point[i].rep == s->point[i - 1].rep)
				die("%s: rep %" PRIu64 " of %s, %s, %s is there twice", path,
				    s->point[i].rep, rows.name[s->row], configs.name[s->config],
				    metrics.name[s->metric]);
		}
		s->value = estimate_median(value, s->nr);
		free(value);
	}
	section[sec].measured = run->nr_series > before;
	free(path);
}

static const char *meta(const struct run *run, const char *key)
{
	for (unsigned int i = 0; i < run->nr_meta; i++)
		if (!strcmp(run->key[i], key))
			return run->value[i];
	return "unknown";
}

static void read_run(struct run *run, const char *dir)
{
	char *path = text_of("%s/meta", dir);
	struct csv csv;

	*run = (struct run){ .dir = dir };
	csv_open(&csv, path, NULL);
	while (csv_line(&csv)) {
		char *value = strchr(csv.buf, '=');

		if (!value)
			csv_fail(&csv, "wanted KEY=VALUE");
		*value++ = '\0';
		run->key = grow(run->key, run->nr_meta, sizeof(*run->key));
		run->value = grow(run->value, run->nr_meta, sizeof(*run->value));
		run->key[run->nr_meta] = xstrdup(csv.buf);
		run->value[run->nr_meta++] = xstrdup(value);
	}
	csv_close(&csv);
	free(path);

	path = text_of("%s/not-run", dir);
	if (!access(path, F_OK)) {
		csv_open(&csv, path, NULL);
		while (csv_line(&csv)) {
			char *reason = strchr(csv.buf, ' ');

			if (!reason)
				csv_fail(&csv, "wanted SECTION REASON");
			*reason++ = '\0';
			for (unsigned int i = 0; i < nr_sections; i++)
				if (!strcmp(section[i].name, csv.buf))
					section[i].not_run = xstrdup(reason);
		}
		csv_close(&csv);
	}
	free(path);
	for (unsigned int i = 0; i < nr_sections; i++)
		read_section(run, i);
	if (!run->nr_series)
		die("%s: there are no repetitions in it", dir);
}

/* The median ratio of s to ref over the reps that both have. */
static struct estimate ratio_of(const struct series *s, const struct series *ref)
{
	struct estimate e = { 0, NAN, NAN, NAN, NAN, NAN };
	unsigned int nr = 0;
	double *ratio;

	if (!s || !ref)
		return e;
	ratio = xcalloc(s->nr, sizeof(*ratio));
	for (unsigned int i = 0, j = 0; i < s->nr && j < ref->nr; ) {
		if (s->point[i].rep < ref->point[j].rep) {
			i++;
		} else if (s->point[i].rep > ref->point[j].rep) {
			j++;
		} else {
			if (ref->point[j].value > 0)
				ratio[nr++] = s->point[i].value / ref->point[j].value;
			i++;
			j++;
		}
	}
	if (nr)
		e = estimate_median(ratio, nr);
	free(ratio);
	return e;
}

enum verdict { NO_PAIR, ONE_PAIR, NO_DIFFERENCE, BETTER, WORSE };

static const char * const verdict_name[] = {
	"no pair", "one pair", "no difference", "better", "worse",
};

static enum verdict verdict_of(const struct estimate *ratio, bool lower)
{
	if (ratio->nr < 2)
		return ratio->nr ? ONE_PAIR : NO_PAIR;
	if (ratio->lo <= 1 && ratio->hi >= 1)
		return NO_DIFFERENCE;
	return (ratio->hi < 1) == lower ? BETTER : WORSE;
}

static int direction(unsigned int metric)	/* -1: neither is better, 0: higher, 1: lower */
{
	for (unsigned int i = 0; i < nr_better; i++)
		if (!fnmatch(better[i].metric, metrics.name[metric], 0))
			return better[i].lower;
	return -1;
}

/* ---- what is to be shown: tables, targets, why ---- */

struct line {
	char *label;
	double base, base_sd, value, value_sd, cpu;	/* posted; NAN: nothing */
	unsigned int section;
	char *row, *metric, *config, *reference;	/* reference: NULL for none */
	char *not_run;
};

struct table {
	char *name, *unit, *title, *text;
	bool pair;		/* base and patched beside each other; else against the first line */
	bool lower;
	struct line *line;
	unsigned int nr;
};

static struct table *table;
static unsigned int nr_tables;

static struct { char *table, *config, *kind, *text; } *why;
static unsigned int nr_why;

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t");
	end = s + strlen(s);
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	return s;
}

/* The next word of *rest, which must be there. */
static char *word(const struct csv *csv, char **rest)
{
	char *w;

	do
		w = strsep(rest, " \t");
	while (w && !*w);
	if (!w)
		csv_fail(csv, "a word is missing");
	return xstrdup(w);
}

static double posted(const struct csv *csv, char *field)
{
	if (!*field)
		return NAN;
	return csv_number(&(struct csv){ .path = csv->path, .line = csv->line,
					 .field = { field } }, 0);
}

static unsigned int section_named(const struct csv *csv, const char *name)
{
	for (unsigned int i = 0; i < nr_sections; i++)
		if (!strcmp(section[i].name, name))
			return i;
	csv_fail(csv, "there is no section '%s'", name);
}

static void add_line(const struct csv *csv, char *text)
{
	struct table *t = &table[nr_tables - 1];
	struct line *l;
	char *field[8], *rest = text, *lab;
	unsigned int nr = 0;

	if (!nr_tables)
		csv_fail(csv, "a row before the first table");
	while (rest && nr < 8)
		field[nr++] = trim(strsep(&rest, "|"));
	if (nr != 7)
		csv_fail(csv, "wanted 'row LABEL | base | sd | new | sd | cpu | what'");
	t->line = grow(t->line, t->nr, sizeof(*t->line));
	l = &t->line[t->nr++];
	*l = (struct line){
		.label = xstrdup(field[0]), .base = posted(csv, field[1]),
		.base_sd = posted(csv, field[2]), .value = posted(csv, field[3]),
		.value_sd = posted(csv, field[4]), .cpu = posted(csv, field[5]),
	};
	lab = field[6];
	if (*lab == '-') {
		l->not_run = xstrdup(trim(lab + 1));
		return;
	}
	l->section = section_named(csv, word(csv, &lab));
	l->row = word(csv, &lab);
	l->metric = word(csv, &lab);
	l->config = word(csv, &lab);
	if (lab && *trim(lab))
		l->reference = word(csv, &lab);
}

static void read_tables(const char *path)
{
	struct csv csv;

	csv_open(&csv, path, NULL);
	while (csv_line(&csv)) {
		char *rest = trim(csv.buf), *kind = word(&csv, &rest), *w;
		struct table *t;

		if (!rest)
			csv_fail(&csv, "nothing behind '%s'", kind);
		if (!strcmp(kind, "section")) {
			section = grow(section, nr_sections, sizeof(*section));
			section[nr_sections] = (struct section){ .name = word(&csv, &rest) };
			section[nr_sections].reference = word(&csv, &rest);
			section[nr_sections++].title = xstrdup(rest ? trim(rest) : "");
		} else if (!strcmp(kind, "table")) {
			table = grow(table, nr_tables, sizeof(*table));
			t = &table[nr_tables++];
			*t = (struct table){ .name = word(&csv, &rest), .text = xstrdup("") };
			w = word(&csv, &rest);
			if (strcmp(w, "pair") && strcmp(w, "list"))
				csv_fail(&csv, "'%s' is neither 'pair' nor 'list'", w);
			t->pair = !strcmp(w, "pair");
			w = word(&csv, &rest);
			if (strcmp(w, "lower") && strcmp(w, "higher"))
				csv_fail(&csv, "'%s' is neither 'lower' nor 'higher'", w);
			t->lower = !strcmp(w, "lower");
			t->unit = word(&csv, &rest);
			t->title = xstrdup(rest ? trim(rest) : "");
		} else if (!strcmp(kind, "text") && nr_tables) {
			t = &table[nr_tables - 1];
			t->text = text_of("%s%s%s", t->text, *t->text ? " " : "", trim(rest));
		} else if (!strcmp(kind, "row")) {
			add_line(&csv, rest);
		} else {
			csv_fail(&csv, "'%s' is not one of section, table, text, row", kind);
		}
		free(kind);
	}
	csv_close(&csv);
}

/* Only the lines "better METRIC lower|higher": the others are for stats. */
static void read_better(const char *path)
{
	struct csv csv;

	csv_open(&csv, path, NULL);
	while (csv_line(&csv)) {
		char metric[64], how[16];

		if (sscanf(csv.buf, "better %63s %15s", metric, how) != 2)
			continue;
		better = grow(better, nr_better, sizeof(*better));
		better[nr_better].metric = xstrdup(metric);
		better[nr_better++].lower = !strcmp(how, "lower");
	}
	csv_close(&csv);
}

static void read_why(const char *path)
{
	struct csv csv;

	csv_open(&csv, path, NULL);
	while (csv_line(&csv)) {
		char *text = strchr(csv.buf, '|'), *rest = csv.buf;

		if (!text)
			csv_fail(&csv, "wanted 'TABLE CONFIG KIND | TEXT'");
		*text++ = '\0';
		why = grow(why, nr_why, sizeof(*why));
		why[nr_why].table = word(&csv, &rest);
		why[nr_why].config = word(&csv, &rest);
		why[nr_why].kind = word(&csv, &rest);
		why[nr_why++].text = xstrdup(trim(text));
	}
	csv_close(&csv);
}

static const char *explain(const char *name, const char *config, const char *kind)
{
	for (unsigned int i = 0; i < nr_why; i++)
		if (!fnmatch(why[i].table, name, 0) && !fnmatch(why[i].config, config, 0) &&
		    !fnmatch(why[i].kind, kind, 0))
			return why[i].text;
	return "NOT EXPLAINED: nothing in bench/report/why fits";
}

/* ---- the document, as Markdown and as a page ---- */

static FILE *md, *html;

static FILE *create(const char *dir, const char *name)
{
	char *path = text_of("%s/%s.tmp", dir, name);
	FILE *f = fopen(path, "w");

	if (!f)
		die_errno("cannot write %s", path);
	free(path);
	return f;
}

/* A file is complete or not there. */
static void finish(FILE *f, const char *dir, const char *name)
{
	char *tmp = text_of("%s/%s.tmp", dir, name), *path = text_of("%s/%s", dir, name);
	bool bad = ferror(f);

	if (fclose(f) || bad || rename(tmp, path)) {
		unlink(tmp);
		die_errno("cannot write %s", path);
	}
	free(tmp);
	free(path);
}

static void put_html(const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '<': fputs("&lt;", html); break;
		case '>': fputs("&gt;", html); break;
		case '&': fputs("&amp;", html); break;
		default: fputc(*s, html);
		}
}

static void heading(int level, const char *text)
{
	fprintf(md, "%.*s %s\n\n", level, "######", text);
	fprintf(html, "<h%d>", level);
	put_html(text);
	fprintf(html, "</h%d>\n", level);
}

static void __attribute__((format(printf, 1, 2))) para(const char *fmt, ...)
{
	unsigned int column = 0;
	char *text, *rest;
	va_list ap;

	va_start(ap, fmt);
	text = vtext_of(fmt, ap);
	va_end(ap);
	fputs("<p>", html);
	put_html(text);
	fputs("</p>\n", html);
	rest = text;
	for (char *w; (w = strsep(&rest, " ")); ) {
		if (column && column + 1 + strlen(w) > 100) {
			fputc('\n', md);
			column = 0;
		}
		column += (unsigned int)fprintf(md, "%s%s", column ? " " : "", w);
	}
	fputs("\n\n", md);
	free(text);
}

static void list_item(const char *text)
{
	fprintf(md, "- %s\n", text);
	fputs("<li>", html);
	put_html(text);
	fputs("</li>\n", html);
}

/* A table of text: the last line's cells are filled by the caller. */
enum column {
	C_LABEL, C_PBASE, C_PBASE_SD, C_PNEW, C_PNEW_SD, C_PRATIO, C_PCPU, C_BAR,
	C_NR, C_LBASE, C_LNEW, C_LRANGE, C_RATIO, C_RRANGE, C_LCPU, C_VERDICT, C_NOTE, NR_COLUMNS
};

typedef char cells[NR_COLUMNS][CELL];

static cells *grid;
static unsigned int nr_grid;

static cells *add_cells(void)
{
	grid = grow(grid, nr_grid, sizeof(*grid));
	memset(grid[nr_grid], 0, sizeof(*grid));
	return &grid[nr_grid++];
}

static void print_grid(unsigned int titles)
{
	int width[NR_COLUMNS] = { };

	/* A column with nothing but its title is left out. */
	for (unsigned int l = nr_grid; l-- > 0; )
		for (unsigned int c = 0; c < NR_COLUMNS; c++)
			if ((int)strlen(grid[l][c]) > width[c] && (l >= titles || width[c]))
				width[c] = (int)strlen(grid[l][c]);
	fputs("```text\n", md);
	fputs("<pre>", html);
	for (unsigned int l = 0; l < nr_grid; l++) {
		char text[NR_COLUMNS * (CELL + 2) + 1], *end = text;

		for (unsigned int c = 0; c < NR_COLUMNS; c++) {
			bool left = c == C_LABEL || c == C_BAR || c >= C_VERDICT;

			if (width[c])
				end += sprintf(end, "%s%*s", c ? "  " : "", left ? -width[c] : width[c],
					       grid[l][c]);
		}
		while (end > text && end[-1] == ' ')
			*--end = '\0';
		fprintf(md, "%s\n", text);
		put_html(text);
		fputc('\n', html);
	}
	fputs("```\n\n", md);
	fputs("</pre>\n", html);
	free(grid);
	grid = NULL;
	nr_grid = 0;
}

static void number(char *cell, double v)
{
	if (isnan(v))
		*cell = '\0';
	else
		snprintf(cell, CELL, fabs(v) >= 1000 ? "%.0f" : "%.4g", v);
}

static void range(char *cell, double lo, double hi)
{
	char a[CELL], b[CELL];

	if (isnan(lo))
		return;
	number(a, lo);
	number(b, hi);
	snprintf(cell, CELL, "(%.70s .. %.70s)", a, b);
}

static void ratio_cell(char *cell, double v)
{
	if (!isnan(v))
		snprintf(cell, CELL, "%.3f", v);
}

static void ratio_range(char *cell, const struct estimate *e)
{
	if (e->nr)
		snprintf(cell, CELL, "(%.3f .. %.3f)", e->lo, e->hi);
}

static void titles(bool pair)
{
	static const char * const top[NR_COLUMNS] = {
		[C_PNEW] = "POSTED", [C_BAR] = "|", [C_LNEW] = "HERE",
	};
	const char * const name[NR_COLUMNS] = {
		"", "base", "sd", pair ? "patched" : "value", "sd", "ratio", "%CPU", "|",
		"n", "base", pair ? "patched" : "median", "(95 %)", "ratio", "(95 %)", "%CPU",
		"verdict", "",
	};

	for (unsigned int l = 0; l < 2; l++) {
		cells *c = add_cells();

		for (unsigned int i = 0; i < NR_COLUMNS; i++)
			strcpy((*c)[i], l ? name[i] : top[i] ? top[i] : "");
	}
}

static unsigned int counted[5], not_run, differing;

/* How the lab's gain relates to the posted one; NULL: no reason to say anything. */
static const char *relation(double posted_ratio, const struct estimate *lab, bool lower)
{
	double p, l;

	if (isnan(posted_ratio) || lab->nr < 2 || (lab->lo <= posted_ratio && lab->hi >= posted_ratio))
		return NULL;
	p = log(posted_ratio) * (lower ? -1 : 1);
	l = log(lab->median) * (lower ? -1 : 1);
	if (p * l < 0 && fabs(p) > log(CLAIM) && (lab->hi < 1 || lab->lo > 1))
		return "opposite";
	if (fabs(p - l) <= log(MUCH))
		return NULL;
	return l > p ? "stronger" : "weaker";
}

static void print_table(const struct run *run, const struct table *t)
{
	unsigned int count[5] = { }, missing = 0, notes = 0;
	const char *note[64];
	double first = NAN;
	char *remark[64];

	heading(3, t->title);
	if (*t->text)
		para("%s", t->text);
	titles(t->pair);
	for (const struct line *l = t->line; l < t->line + t->nr; l++) {
		int row = l->row ? find_name(&rows, l->row) : -1;
		int metric = l->row ? find_name(&metrics, l->metric) : -1;
		const struct series *s = NULL, *ref = NULL, *cpu;
		double base = l->base, posted_ratio = NAN;
		cells *c = add_cells();
		struct estimate ratio;
		enum verdict v;

		snprintf((*c)[C_LABEL], CELL, "%s", l->label);
		strcpy((*c)[C_BAR], "|");
		/* In a list the first line without a reference is what the others refer to. */
		if (!l->reference && isnan(base) && isnan(first))
			first = l->value;
		else if (isnan(base) && !isnan(l->value))
			base = first;
		posted_ratio = l->value / base;
		if (t->pair) {
			number((*c)[C_PBASE], l->base);
			number((*c)[C_PBASE_SD], l->base_sd);
		}
		number((*c)[C_PNEW], l->value);
		number((*c)[C_PNEW_SD], l->value_sd);
		number((*c)[C_PCPU], l->cpu);
		ratio_cell((*c)[C_PRATIO], posted_ratio);

		if (l->row) {
			s = find(run, l->section, row, metric, find_name(&configs, l->config));
			if (l->reference)
				ref = find(run, l->section, row, metric,
					   find_name(&configs, l->reference));
		}
		if (!s || (l->reference && !ref)) {
			const char *reason = l->not_run ? l->not_run : section[l->section].not_run;

			if (!reason)
				reason = strcmp(meta(run, "quick"), "yes") ? "no data in this run" :
					 "left out of a QUICK run";
			strcpy((*c)[C_VERDICT], "not run:");
			snprintf((*c)[C_NOTE], CELL, "%s", reason);
			missing++;
			continue;
		}
		snprintf((*c)[C_NR], CELL, "%u", s->nr);
		if (t->pair && ref)
			number((*c)[C_LBASE], ref->value.median);
		number((*c)[C_LNEW], s->value.median);
		range((*c)[C_LRANGE], s->value.lo, s->value.hi);
		cpu = find(run, l->section, row, find_name(&metrics, "cpu_pct"), (int)s->config);
		if (cpu)
			snprintf((*c)[C_LCPU], CELL, "%.1f", cpu->value.median);
		if (!l->reference)
			continue;
		ratio = ratio_of(s, ref);
		ratio_cell((*c)[C_RATIO], ratio.median);
		ratio_range((*c)[C_RRANGE], &ratio);
		v = verdict_of(&ratio, t->lower);
		strcpy((*c)[C_VERDICT], verdict_name[v]);
		count[v]++;
		if (relation(posted_ratio, &ratio, t->lower)) {
			const char *kind = relation(posted_ratio, &ratio, t->lower);
			const char *text = explain(t->name, l->config, kind);
			unsigned int i;

			for (i = 0; i < notes && strcmp(note[i], text); i++)
				;
			if (i == 64)
				die("%s: more than 64 explanations", t->name);
			if (i == notes) {
				note[i] = text;
				remark[notes++] = text_of("[%u] %s", i + 1, text);
			}
			snprintf((*c)[C_NOTE], CELL, "%s%s [%u]", kind,
				 strcmp(kind, "opposite") ? " than posted" : " to the posting", i + 1);
			differing++;
		}
	}
	print_grid(2);
	for (unsigned int i = 0; i < notes; i++) {
		para("%s", remark[i]);
		free(remark[i]);
	}
	para("%s, %s is better. Of this table's comparisons: %u better, %u worse, %u no difference, "
	     "%u with fewer than two pairs, %u not run.", t->unit, t->lower ? "lower" : "higher",
	     count[BETTER], count[WORSE], count[NO_DIFFERENCE], count[NO_PAIR] + count[ONE_PAIR],
	     missing);
	for (unsigned int i = 0; i < 5; i++)
		counted[i] += count[i];
	not_run += missing;
}

/* ---- the machine's own noise: the same setting under two names ---- */

static void print_noise(const struct run *run)
{
	unsigned int all = 0, outside = 0;

	heading(2, "The machine's own noise");
	para("In each section one setting is measured under two names (off and off2, base and base2), in "
	     "turn with the others. There is nothing to find, so these ratios are what chance and the "
	     "machine do; a 95 %% interval misses 1.0 in about one of twenty.");
	titles(true);
	for (const struct series *s = run->series; s < run->series + run->nr_series; s++) {
		char name[128];
		size_t len = strlen(configs.name[s->config]);
		const struct series *ref;
		struct estimate ratio;
		cells *c;

		if (len < 2 || len >= sizeof(name) || configs.name[s->config][len - 1] != '2' ||
		    direction(s->metric) < 0)
			continue;
		memcpy(name, configs.name[s->config], len - 1);
		name[len - 1] = '\0';
		ref = find(run, s->section, (int)s->row, (int)s->metric, find_name(&configs, name));
		if (!ref)
			continue;
		ratio = ratio_of(s, ref);
		if (ratio.nr < 2)
			continue;
		c = add_cells();
		snprintf((*c)[C_LABEL], CELL, "%s %s %s: %s", section[s->section].name,
			 rows.name[s->row], metrics.name[s->metric], configs.name[s->config]);
		strcpy((*c)[C_BAR], "|");
		snprintf((*c)[C_NR], CELL, "%u", ratio.nr);
		number((*c)[C_LBASE], ref->value.median);
		number((*c)[C_LNEW], s->value.median);
		ratio_cell((*c)[C_RATIO], ratio.median);
		ratio_range((*c)[C_RRANGE], &ratio);
		all++;
		if (verdict_of(&ratio, true) != NO_DIFFERENCE) {
			outside++;
			strcpy((*c)[C_VERDICT], "a difference by chance");
		}
	}
	print_grid(2);
	para("%u null comparisons, %u of them with an interval that misses 1.0.", all, outside);
}

/* ---- plots ---- */

static FILE *plot_file(const struct run *run, const char *name)
{
	char *path = text_of("%s/plot", run->dir);
	FILE *f;

	if (mkdir(path, 0755) && errno != EEXIST)
		die_errno("cannot create %s", path);
	free(path);
	path = text_of("%s/plot/%s.dat", run->dir, name);
	f = fopen(path, "w");
	if (!f)
		die_errno("cannot write %s", path);
	free(path);
	return f;
}

static int section_index(const char *name)
{
	for (unsigned int i = 0; i < nr_sections; i++)
		if (!strcmp(section[i].name, name))
			return (int)i;
	return -1;
}

/*
 * Lines "THRESHOLD median lo hi cpu" in order, then, in a block of their own, "NAME median cpu" of
 * what a threshold competes with.
 */
static bool data_latency(const struct run *run)
{
	static const char * const peers[] = { "off", "haltpoll", "idle=poll" };
	int sec = section_index("idle"), row = find_name(&rows, "ctxsw");
	int ns = find_name(&metrics, "ns"), cpu = find_name(&metrics, "cpu_pct");
	FILE *f = plot_file(run, "latency");
	bool any = false;

	for (double last = 0, next; ; last = next) {
		const struct series *s, *p;
		int config = -1;

		next = INFINITY;
		for (unsigned int c = 0; c < configs.nr; c++) {
			double at;

			if (sscanf(configs.name[c], "thr=%lf", &at) != 1 || at <= last || at >= next)
				continue;
			next = at;
			config = (int)c;
		}
		if (config < 0)
			break;
		s = find(run, (unsigned int)sec, row, ns, config);
		p = find(run, (unsigned int)sec, row, cpu, config);
		if (!s || !p)
			continue;
		any = true;
		fprintf(f, "%.0f %g %g %g %g\n", next, s->value.median, s->value.lo, s->value.hi,
			p->value.median);
	}
	fputs("\n\n", f);
	for (unsigned int i = 0; i < 3; i++) {
		int config = find_name(&configs, peers[i]);
		const struct series *s = find(run, (unsigned int)sec, row, ns, config);
		const struct series *p = find(run, (unsigned int)sec, row, cpu, config);

		if (s && p)
			fprintf(f, "\"%s\" %g %g\n", peers[i], s->value.median, p->value.median);
	}
	fclose(f);
	return any;
}

/* A block per config of the section wake: X median lo hi. */
static bool data_wake(const struct run *run, const char *name)
{
	bool clients = !strcmp(name, "clients"), any = false;
	static const char * const points[2][4] = {
		{ "pair1", "pair2", "pair4", "pair7" }, { "p50_ns", "p99_ns", "p999_ns", NULL },
	};
	static const char * const at[2][4] = { { "1", "2", "4", "7" }, { "50", "99", "99.9", "" } };
	int sec = section_index("wake");
	FILE *f = plot_file(run, name);

	for (unsigned int c = 0; c < configs.nr; c++) {
		bool here = false;

		for (unsigned int i = 0; i < 4; i++) {
			const char *point = points[!clients][i];
			const struct series *s;

			if (!point)
				continue;
			s = find(run, (unsigned int)sec, find_name(&rows, clients ? point : "latency2_a"),
				 find_name(&metrics, clients ? "mbps" : point), (int)c);
			if (!s || !strcmp(configs.name[c], "off2"))
				continue;
			if (!here)
				fprintf(f, "%s\"%s\"\n", any ? "\n\n" : "", configs.name[c]);
			here = any = true;
			fprintf(f, "%s %g %g %g\n", at[!clients][i], s->value.median, s->value.lo,
				s->value.hi);
		}
	}
	fclose(f);
	return any;
}

static void show_plot(const struct run *run, const char *folder, const char *name, const char *title,
		      bool any)
{
	char *script = text_of("%s/plots.gp", folder), *what = text_of("what='%s'", name);
	char *svg = text_of("%s/plot/%s.svg", run->dir, name);
	char *dir = text_of("%s/plot", run->dir), *line = NULL;
	int status = -1;
	size_t size = 0;
	bool in = false;
	FILE *f;

	unlink(svg);
	if (any) {
		char *full = realpath(script, NULL);
		pid_t pid;

		if (!full)
			die_errno("cannot read %s", script);
		fflush(NULL);
		pid = fork();
		if (!pid) {
			if (!chdir(dir))
				execlp("gnuplot", "gnuplot", "-e", what, full, (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			die_errno("cannot start gnuplot");
		free(full);
	}
	f = fopen(svg, "r");
	if (status || !f) {
		para("Plot \"%s\": not drawn: %s.", title,
		     !any ? "no data in this run" : "gnuplot failed or is missing");
	} else {
		fputs("<figure>", html);
		/* From the element on: the XML declaration has no place in a page. */
		while (getline(&line, &size, f) > 0) {
			in |= !strncmp(line, "<svg", 4);
			if (in)
				fputs(line, html);
		}
		fprintf(html, "<figcaption>%s</figcaption></figure>\n", title);
	}
	if (f)
		fclose(f);
	free(line);
	free(script);
	free(what);
	free(svg);
	free(dir);
}

/* ---- the whole ---- */

static void print_head(const struct run *run)
{
	bool quick = !strcmp(meta(run, "quick"), "yes");
	const struct series *off;

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<!-- SPDX-License-Identifier: GPL-2.0-only -->\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<title>vcpu-sched: results</title>\n<style>body{font:16px/1.45 sans-serif;max-width:110ch;"
	      "margin:2em auto;padding:0 1em}pre{font-size:12.5px;overflow-x:auto;background:#f6f6f6;"
	      "padding:.7em}figure{margin:1em 0}svg{max-width:100%;height:auto}</style></head><body>\n", html);
	fputs("<!-- SPDX-License-Identifier: GPL-2.0-only -->\n"
	      "<!-- Written by make bench (bench/report.c): do not edit. -->\n", md);
	heading(1, quick ? "Results (QUICK run: few repetitions, not evidence)" : "Results");
	para("The tables of the three postings that this series follows, with what was measured here beside "
	     "what was posted: the unmodified base, the series, and what a user has today.");
	for (unsigned int i = 0; i < run->nr_meta; i++) {
		char *item = text_of("%s: %s", run->key[i], run->value[i]);

		if (!i)
			fputs("<ul>\n", html);
		list_item(item);
		free(item);
	}
	fputs("</ul>\n", html);
	fputc('\n', md);

	heading(2, "How to read it");
	para("Settings take turns within a boot, and a ratio is taken within each repetition: shown are the "
	     "median and its 95 %% interval (percentile bootstrap, %d resamples). A row whose interval holds "
	     "1.0 is called no difference. n counts repetitions; below %d the interval is too narrow. %%CPU is "
	     "the on-CPU time of the guest's whole QEMU in the host.", BOOTSTRAP_RESAMPLES, ENOUGH_FOR_95);
	para("Absolute figures are those of a machine emulated on this one and mean nothing elsewhere; ratios "
	     "count. A row is marked when its ratio is more than a factor %g from the posted one, which is "
	     "outside its interval, or when both show a difference and the signs are opposite; a remark below "
	     "the table says why.", MUCH);
	off = find(run, (unsigned int)section_index("idle"), find_name(&rows, "ctxsw"),
		   find_name(&metrics, "ns"), find_name(&configs, "off"));
	para("Times that the kernel is told (thresholds, polling windows) are the posted ones times %d. "
	     "The scale was chosen once, from what a wake-up across vCPUs takes: 2 us on hardware, some "
	     "400 us in the lab; it is not fitted to results.", SCALE);
	if (off)
		para("As a check: a context switch without the patch, half a round trip, took %.0f us in this "
		     "run and 2.49 us in the posting: %.0f times as long.", off->value.median / 2000,
		     off->value.median / 2 / 2493.14);
}

static void print_summary_csv(const struct run *run)
{
	FILE *f = create(run->dir, "summary.csv");

	fputs("section,row,config,metric,n,median,lo,hi,reference,ratio,ratio_lo,ratio_hi,verdict\n", f);
	for (const struct series *s = run->series; s < run->series + run->nr_series; s++) {
		const char *reference = section[s->section].reference;
		const struct series *ref = find(run, s->section, (int)s->row, (int)s->metric,
						find_name(&configs, reference));
		struct estimate ratio = ratio_of(s, ref == s ? NULL : ref);
		int lower = direction(s->metric);

		fprintf(f, "%s,%s,%s,%s,%u,%.9g,%.9g,%.9g,%s", section[s->section].name,
			rows.name[s->row], configs.name[s->config], metrics.name[s->metric], s->nr,
			s->value.median, s->value.lo, s->value.hi, reference);
		if (ratio.nr)
			fprintf(f, ",%.9g,%.9g,%.9g,%s\n", ratio.median, ratio.lo, ratio.hi,
				lower < 0 ? "" : verdict_name[verdict_of(&ratio, lower)]);
		else
			fputs(",,,,\n", f);
	}
	finish(f, run->dir, "summary.csv");
}

/* What stats said of a section: all rows and settings, also those no posting has. */
static void append_stats(const struct run *run)
{
	fputs("<h2>All that was measured</h2>\n", html);
	for (unsigned int i = 0; i < nr_sections; i++) {
		char *path = text_of("%s/%s/table.txt", run->dir, section[i].name), *line = NULL;
		FILE *f = fopen(path, "r");
		size_t size = 0;

		if (f) {
			fprintf(html, "<details><summary>%s: %s</summary><pre>\n", section[i].name,
				section[i].title);
			while (getline(&line, &size, f) > 0)
				put_html(line);
			fputs("</pre></details>\n", html);
			fclose(f);
		}
		free(line);
		free(path);
	}
}

static void report(struct run *run, const char *folder)
{
	md = create(run->dir, "results.md");
	html = create(run->dir, "index.html");
	print_head(run);
	heading(2, "The postings' tables");
	for (unsigned int i = 0; i < nr_tables; i++)
		print_table(run, &table[i]);
	heading(2, "Plots");
	fputs("The plots are in the page `index.html` that `make bench` writes.\n\n", md);
	show_plot(run, folder, "latency", "Latency against the polling threshold, and what it costs",
		  data_latency(run));
	show_plot(run, folder, "clients", "Throughput of two guests against tbench clients",
		  data_wake(run, "clients"));
	show_plot(run, folder, "percentiles", "Wake-up latency of workers in one of two guests",
		  data_wake(run, "percentiles"));
	print_noise(run);
	heading(2, "In all");
	para("Comparisons in the tables: %u better, %u worse, %u no difference, %u with fewer than two pairs; "
	     "%u rows not run, with the reason in each. %u rows differ much from the posting.",
	     counted[BETTER], counted[WORSE], counted[NO_DIFFERENCE], counted[NO_PAIR] + counted[ONE_PAIR],
	     not_run, differing);
	for (unsigned int i = 0; i < nr_sections; i++)
		if (section[i].not_run)
			para("Section %s (%s) not run%s: %s.", section[i].name, section[i].title,
			     section[i].measured ? " completely" : "", section[i].not_run);
	append_stats(run);
	fputs("</body></html>\n", html);
	print_summary_csv(run);
	finish(md, run->dir, "results.md");
	finish(html, run->dir, "index.html");
	printf("comparisons: %u better, %u worse, %u no difference, %u with fewer than two pairs; "
	       "rows not run: %u; much different from the posting: %u\n",
	       counted[BETTER], counted[WORSE], counted[NO_DIFFERENCE],
	       counted[NO_PAIR] + counted[ONE_PAIR], not_run, differing);
}

/* ---- two runs ---- */

static int compare(const struct run *old, const struct run *new)
{
	unsigned int same = 0, changed = 0, lost = 0, gained = 0, only = 0;

	if (strcmp(meta(old, "quick"), meta(new, "quick")))
		printf("note: one of the runs is a QUICK one\n");
	for (const struct series *s = new->series; s < new->series + new->nr_series; s++) {
		const struct series *ref, *old_s, *old_ref;
		int config = find_name(&configs, section[s->section].reference);
		enum verdict now, then;
		struct estimate a, b;

		if (direction(s->metric) < 0 || config == (int)s->config)
			continue;
		ref = find(new, s->section, (int)s->row, (int)s->metric, config);
		old_s = find(old, s->section, (int)s->row, (int)s->metric, (int)s->config);
		old_ref = find(old, s->section, (int)s->row, (int)s->metric, config);
		a = ratio_of(old_s, old_ref);
		b = ratio_of(s, ref);
		if (a.nr < 2 || b.nr < 2) {
			only++;
			continue;
		}
		then = verdict_of(&a, direction(s->metric));
		now = verdict_of(&b, direction(s->metric));
		if (then == now) {
			same++;
		} else if (then == NO_DIFFERENCE) {
			gained++;
		} else if (now == NO_DIFFERENCE) {
			lost++;
		} else {
			changed++;
			printf("CHANGED %s %s %s %s against %s: %.3f (%.3f .. %.3f), then %.3f (%.3f .. %.3f)\n",
			       section[s->section].name, rows.name[s->row], metrics.name[s->metric],
			       configs.name[s->config], section[s->section].reference,
			       a.median, a.lo, a.hi, b.median, b.lo, b.hi);
		}
	}
	printf("%u rows: %u with the same verdict, %u change sign outside their intervals, "
	       "%u no longer differ, %u now differ; %u not comparable\n",
	       same + changed + lost + gained, same, changed, lost, gained, only);
	return changed ? 3 : 0;
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = { { "help", 0, NULL, 'h' }, { } };
	const char *folder = "bench/report";
	bool comparing = false;
	struct run run, other;
	int opt, rc = 0;

	while ((opt = getopt_long(argc, argv, "d:ch", longopts, NULL)) != -1) {
		switch (opt) {
		case 'd': folder = optarg; break;
		case 'c': comparing = true; break;
		case 'h': fputs(help, stdout); return 0;
		default: bad_usage();
		}
	}
	if (argc - optind != (comparing ? 2 : 1)) {
		fprintf(stderr, "report: %s wanted\n", comparing ? "two runs are" : "one run is");
		bad_usage();
	}
	read_tables(text_of("%s/tables", folder));
	read_better(text_of("%s/targets", folder));
	read_why(text_of("%s/why", folder));
	read_run(&run, argv[optind]);
	if (comparing) {
		read_run(&other, argv[optind + 1]);
		rc = compare(&run, &other);
	} else {
		report(&run, folder);
	}
	if (fflush(stdout) || ferror(stdout))
		die_errno("cannot write the result");
	return rc;
}
