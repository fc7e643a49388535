/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "load/load_int.h"

static uint32_t whole_tokens(double x)
{
	if (!(x >= 1))
		return 1;
	if (x >= (double)UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)(x + 0.5);
}

static uint32_t draw_one(const struct dist *d, struct stream *s,
                         uint64_t number)
{
	if (!dist_is_constant(d))
		stream_seek(s, number);
	return whole_tokens(dist_draw(d, s));
}

/* The quantile of rank u among n evenly spaced ones, linear between them. */
static uint32_t quantile(const uint32_t *points, size_t n, double u)
{
	double place = u * (double)(n - 1);
	size_t k = (size_t)place;
	double low, high;

	assert(n >= 2);
	if (k > n - 2)
		k = n - 2;
	low = points[k];
	high = points[k + 1];
	return whole_tokens(low + (high - low) * (place - (double)k));
}

void load_lengths_draw(struct lengths *l, struct load_request *r)
{
	const struct load_profile *p = l->joint;
	size_t first;

	if (p == NULL) {
		r->input_tokens =
			draw_one(&l->input_dist, &l->input, r->number);
		r->output.sealed_ =
			draw_one(&l->output_dist, &l->output, r->number);
		return;
	}
	assert(p->bins > 0);
	stream_seek(&l->input, r->number);
	stream_seek(&l->output, r->number);
	first = (size_t)stream_below(&l->input, p->bins) * p->points;
	r->input_tokens =
		quantile(p->input + first, p->points, stream_unit(&l->input));
	r->output.sealed_ =
		quantile(p->output + first, p->points, stream_unit(&l->output));
}
