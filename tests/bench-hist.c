// SPDX-License-Identifier: GPL-2.0-only
/* The latency histogram against sorted samples: every quantile within 1 %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/util.h"

#define NR	20000

static const double quantiles[] = { 0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1 };

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Values below 2^bits; in two histograms that are merged. */
static int try_bits(unsigned int bits)
{
	static struct hist h[2];
	static uint64_t v[NR];
	uint64_t state = bits;

	memset(h, 0, sizeof(h));
	for (unsigned int i = 0; i < NR; i++) {
		/* every magnitude up to 2^bits */
		v[i] = next_random(&state) >> (64 - 1 - next_random(&state) % bits);
		hist_add(&h[i % 2], v[i]);
	}
	hist_merge(&h[0], &h[1]);
	qsort(v, NR, sizeof(*v), ascending);
	if (h[0].nr != NR || h[0].max != v[NR - 1]) {
		printf("%u bits: nr %llu max %llu\n", bits, (unsigned long long)h[0].nr,
		       (unsigned long long)h[0].max);
		return 1;
	}
	for (unsigned int i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		double q = quantiles[i], rank = ceil(q * NR);
		uint64_t want = v[rank < 1 ? 0 : (unsigned int)rank - 1];
		uint64_t got = hist_quantile(&h[0], q);
		double off = fabs((double)got - (double)want);

		if (off > 0.01 * (double)want || (want < HIST_STEPS && got != want)) {
			printf("%u bits, quantile %g: %llu instead of %llu\n", bits, q,
			       (unsigned long long)got, (unsigned long long)want);
			return 1;
		}
	}
	return 0;
}

int main(void)
{
	static struct hist empty;
	int bad = hist_quantile(&empty, 0.5) != 0;

	for (unsigned int bits = 1; bits <= 64; bits++)
		bad |= try_bits(bits);
	hist_add(&empty, UINT64_MAX);
	if (hist_quantile(&empty, 1) < UINT64_MAX / 100 * 99) {
		printf("the largest value comes back as %llu\n",
		       (unsigned long long)hist_quantile(&empty, 1));
		bad = 1;
	}
	return bad;
}
