/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int64_t bucket_low(uint32_t bucket)
{
	if (bucket < 2048)
		return bucket;
	uint32_t shift = bucket / 1024 - 1;
	return (int64_t)(1024 + bucket % 1024) << shift;
}

int64_t measure_hist_top(uint32_t bucket)
{
	assert(bucket < HIST_PAGE * HIST_PAGES);
	uint32_t shift = bucket < 2048 ? 0 : bucket / 1024 - 1;
	return bucket_low(bucket) + ((INT64_C(1) << shift) - 1);
}

void measure_hist_init(struct measure_hist *h)
{
	*h = (struct measure_hist){.min = INT64_MAX, .max = -1};
}

void measure_hist_fini(struct measure_hist *h)
{
	for (uint32_t i = 0; h->pages && i < HIST_PAGES; i++)
		mem_free(h->pages[i]);
	mem_free(h->pages);
	measure_hist_init(h);
}

uint64_t *measure_hist_page(struct measure_hist *h, uint32_t page)
{
	assert(page < HIST_PAGES);
	if (!h->pages)
		h->pages = mem_new(HIST_PAGES, sizeof *h->pages);
	assert(!h->pages[page]);
	h->pages[page] = mem_new(HIST_PAGE + 1, sizeof **h->pages);
	return h->pages[page];
}

void measure_hist_clear(struct measure_hist *h)
{
	if (h->n > 0) {
		/* No page outside these was touched. */
		uint32_t last = measure_hist_bucket(h->max) / HIST_PAGE;
		uint32_t i = measure_hist_bucket(h->min) / HIST_PAGE;
		for (; i <= last; i++)
			if (h->pages[i] && h->pages[i][HIST_PAGE])
				memset(h->pages[i], 0,
				       (HIST_PAGE + 1) * sizeof **h->pages);
	}
	uint64_t **pages = h->pages;
	measure_hist_init(h);
	h->pages = pages;
}

void measure_hist_add(struct measure_hist *h, int64_t value, uint64_t times)
{
	if (times == 0)
		return;
	struct measure_sample s = measure_sample_of(value);
	s.times = times;
	s.sum *= (measure_wide)times;
	measure_hist_count(h, &s);
}

void measure_hist_add_infinite(struct measure_hist *h, uint64_t times)
{
	h->infinite += times;
}

void measure_hist_merge(struct measure_hist *into,
                        const struct measure_hist *from)
{
	assert(into != from);
	into->infinite += from->infinite;
	if (from->n == 0)
		return;
	uint32_t last = measure_hist_bucket(from->max) / HIST_PAGE;
	uint32_t i = measure_hist_bucket(from->min) / HIST_PAGE;
	for (; i <= last; i++) {
		const uint64_t *page = from->pages[i];
		if (!page || !page[HIST_PAGE])
			continue;
		uint64_t *to = into->pages ? into->pages[i] : NULL;
		if (!to)
			to = measure_hist_page(into, i);
		for (uint32_t b = 0; b <= HIST_PAGE; b++)
			to[b] += page[b];
	}
	into->n += from->n;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

/* The value of a bucket: its middle, kept within what was seen. */
static int64_t bucket_value(const struct measure_hist *h, uint32_t bucket)
{
	int64_t low = bucket_low(bucket);
	int64_t value = low + (measure_hist_top(bucket) - low) / 2;
	if (value < h->min)
		return h->min;
	return value > h->max ? h->max : value;
}

/* The bucket in which the value of that rank, from 1, lies. */
static uint32_t bucket_of_rank(const struct measure_hist *h, uint64_t rank)
{
	assert(rank >= 1 && rank <= h->n);
	uint32_t i = measure_hist_bucket(h->min) / HIST_PAGE;
	for (;; i++) {
		assert(i < HIST_PAGES);
		uint64_t total = h->pages[i] ? h->pages[i][HIST_PAGE] : 0;
		if (rank <= total)
			break;
		rank -= total;
	}
	uint32_t b = 0;
	while (rank > h->pages[i][b])
		rank -= h->pages[i][b++];
	return i * HIST_PAGE + b;
}

int64_t measure_hist_quantile(const struct measure_hist *h, double p)
{
	assert(p > 0 && p <= 1);
	uint64_t total = h->n + h->infinite;
	if (total == 0)
		return -1;
	/* A decimal like 0.07 is not exact: 0.07 * 100 must be rank 7. */
	double at = ceil(p * (double)total * (1 - 4 * DBL_EPSILON));
	uint64_t rank = at < 1 ? 1 : (uint64_t)at;
	if (rank > total)
		rank = total;
	if (rank > h->n)
		return TIME_NEVER;
	if (rank == 1)
		return h->min;
	if (rank == h->n)
		return h->max;
	return bucket_value(h, bucket_of_rank(h, rank));
}

double measure_hist_mean(const struct measure_hist *h)
{
	return h->n ? (double)h->sum / 1024 / (double)h->n : (double)NAN;
}
