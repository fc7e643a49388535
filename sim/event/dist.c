/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "event/event.h"

#define REDRAWS_MAX 1000

struct dist dist_constant(double v)
{
	struct dist d;

	memset(&d, 0, sizeof d);
	d.kind = DIST_CONSTANT;
	d.a = v;
	d.min = -INFINITY;
	d.max = INFINITY;
	return d;
}

/* exp(mu + sigma z) whose mean is a and whose deviation is a b. */
static double draw_lognormal(const struct dist *d, struct stream *s)
{
	double variance, mu, z;

	z = det_normal_quantile(stream_unit(s));
	if (!(d->b > 0) || !(d->a > 0))
		return d->a;
	variance = det_log(1 + d->b * d->b);
	mu = det_log(d->a) - variance / 2;
	return det_exp(mu + sqrt(variance) * z);
}

/* The first value whose cumulative share is above u. */
static double draw_empirical(const struct dist *d, struct stream *s)
{
	double u = stream_unit(s);
	size_t low = 0, high = d->n - 1, middle;

	assert(d->n > 0 && d->cumulative[d->n - 1] >= 1);
	while (low < high) {
		middle = low + (high - low) / 2;
		if (u < d->cumulative[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return d->values[low];
}

static double draw_unbounded(const struct dist *d, struct stream *s)
{
	switch (d->kind) {
	case DIST_CONSTANT:
		return d->a;
	case DIST_UNIFORM:
		return d->a + (d->b - d->a) * stream_unit(s);
	case DIST_EXPONENTIAL:
		return -d->a * det_log(stream_unit(s));
	case DIST_LOGNORMAL:
		return draw_lognormal(d, s);
	case DIST_EMPIRICAL:
		return draw_empirical(d, s);
	}
	assert(d->kind <= DIST_EMPIRICAL && "no such distribution");
	return 0;
}

double dist_draw(const struct dist *d, struct stream *s)
{
	double v;
	int i;

	assert(d != NULL && s != NULL);
	assert(d->min <= d->max);
	v = draw_unbounded(d, s);
	for (i = 0; i < REDRAWS_MAX && (v < d->min || v > d->max); i++)
		v = draw_unbounded(d, s);
	if (v < d->min)
		return d->min;
	return v > d->max ? d->max : v;
}

double dist_mean(const struct dist *d)
{
	double sum = 0, below = 0;
	size_t i;

	assert(d != NULL && d->kind <= DIST_EMPIRICAL);
	if (d->kind == DIST_UNIFORM)
		return d->a / 2 + d->b / 2;
	if (d->kind != DIST_EMPIRICAL)
		return d->a;
	for (i = 0; i < d->n; i++) {
		sum += d->values[i] * (d->cumulative[i] - below);
		below = d->cumulative[i];
	}
	return sum;
}

const char *dist_name(enum dist_kind kind)
{
	static const char *const names[] = {
		[DIST_CONSTANT] = "constant",
		[DIST_UNIFORM] = "uniform",
		[DIST_EXPONENTIAL] = "exponential",
		[DIST_LOGNORMAL] = "lognormal",
		[DIST_EMPIRICAL] = "empirical",
	};

	assert(kind <= DIST_EMPIRICAL);
	return names[kind];
}

bool dist_is_constant(const struct dist *d)
{
	size_t i;

	assert(d != NULL);
	switch (d->kind) {
	case DIST_CONSTANT:
		return true;
	case DIST_UNIFORM:
		return d->a >= d->b;
	case DIST_EXPONENTIAL:
		return !(d->a > 0);
	case DIST_LOGNORMAL:
		return !(d->a > 0) || !(d->b > 0);
	case DIST_EMPIRICAL:
		for (i = 1; i < d->n; i++)
			if (d->values[i] > d->values[0] ||
			    d->values[i] < d->values[0])
				return false;
		return true;
	}
	return false;
}
