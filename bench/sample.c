// SPDX-License-Identifier: GPL-2.0-only
/* The statistics of a handful of repetitions; see sample.h. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "util.h"

#define SEED	0x9e3779b97f4a7c15ULL

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The k-th smallest of the sorted values, each counted as often as it was drawn. */
static double kth(const double *sorted, const unsigned int *drawn, unsigned int k)
{
	unsigned int i = 0, seen = drawn[0];

	while (seen <= k)
		seen += drawn[++i];
	return sorted[i];
}

struct estimate estimate_median(double *value, unsigned int nr)
{
	struct estimate e = { nr, NAN, NAN, NAN, NAN, NAN };
	uint64_t state = SEED;
	unsigned int *drawn;
	double *medians;

	if (!nr)
		return e;
	qsort(value, nr, sizeof(*value), ascending);
	e.min = value[0];
	e.max = value[nr - 1];
	e.median = (value[(nr - 1) / 2] + value[nr / 2]) / 2;

	drawn = xcalloc(nr, sizeof(*drawn));
	medians = xcalloc(BOOTSTRAP_RESAMPLES, sizeof(*medians));
	for (unsigned int i = 0; i < BOOTSTRAP_RESAMPLES; i++) {
		memset(drawn, 0, nr * sizeof(*drawn));
		for (unsigned int j = 0; j < nr; j++)
			drawn[((next_random(&state) >> 32) * nr) >> 32]++;
		medians[i] = (kth(value, drawn, (nr - 1) / 2) + kth(value, drawn, nr / 2)) / 2;
	}
	qsort(medians, BOOTSTRAP_RESAMPLES, sizeof(*medians), ascending);
	e.lo = medians[(unsigned int)(0.025 * (BOOTSTRAP_RESAMPLES - 1))];
	e.hi = medians[BOOTSTRAP_RESAMPLES - 1 - (unsigned int)(0.025 * (BOOTSTRAP_RESAMPLES - 1))];
	free(drawn);
	free(medians);
	return e;
}
