/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of one run say about its value. Their spread gives an
 * interval as long as they are exchangeable: where neighbours are alike the
 * load drifts or goes in waves, and the spread says too little; where the
 * whole lies outside what they average to, or the interval below what can
 * be, they are too few or too different. Then a wider interval takes its
 * place, with which little can be decided, but nothing wrongly.
 */
#include "study/study_int.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* Of steady runs, so many are taken for drifting ones. */
#define DRIFT_LEVEL 0.01
/* Of runs whose parts average to the whole, so many seem not to. */
#define APART_LEVEL 0.001
/* A percentile is not known better than this. */
#define BUCKET 0.001

enum { MOST_PARTS = 64 };

/* The rank of a value, from 1; of equal ones, the mean of theirs. */
static double rank_of(const double *values, size_t n, size_t i)
{
	double below = 0, equal = 0;

	for (size_t k = 0; k < n; k++) {
		below += values[k] < values[i];
		equal += values[k] == values[i];
	}
	return below + (equal + 1) / 2;
}

double study_neighbours_p(const double *values, size_t n)
{
	double m = (double)n;
	double steps = 0, all = 0, before = 0;
	double variance = 4 * (m - 2) * (5 * m * m - 2 * m - 9) /
	                  (5 * m * (m + 1) * (m - 1) * (m - 1));

	assert(n >= 4 && n <= MOST_PARTS);
	for (size_t i = 0; i < n; i++) {
		double rank = rank_of(values, n, i);
		double off = rank - (m + 1) / 2;

		if (i > 0)
			steps += (rank - before) * (rank - before);
		all += off * off;
		before = rank;
	}
	if (all == 0)
		return 1;
	return gsl_cdf_gaussian_P(steps / all - 2, sqrt(variance));
}

/*
 * How far a random walk with steps like those from part to part, less their
 * common drift, gets in as many steps: a path with such steps strays no
 * further, however alike its neighbours are.
 */
static double walk_half(const double *values, size_t n, double tail)
{
	double steps[MOST_PARTS];

	assert(n >= 4 && n <= MOST_PARTS);
	for (size_t i = 1; i < n; i++)
		steps[i - 1] = values[i] - values[i - 1];
	return gsl_stats_sd(steps, 1, n - 1) * sqrt((double)n) *
	       gsl_cdf_tdist_Qinv(tail, (double)n - 2);
}

static void widen(double *low, double *high, double value)
{
	/* a NAN is a value that nobody knows */
	if (!(value >= *low))
		*low = isnan(value) ? -INFINITY : value;
	if (!(value <= *high))
		*high = isnan(value) ? INFINITY : value;
}

static bool all_finite(const struct study_parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!isfinite(p->value[i]))
			return false;
	return true;
}

enum study_steadiness study_parts_interval(const struct study_parts *p,
                                           double tail, double *low,
                                           double *high)
{
	double from, to, half, slack;
	bool apart;

	assert(p->n >= 4 && isfinite(p->whole));
	if (!all_finite(p)) {
		*low = *high = p->whole;
		for (size_t i = 0; i < p->n; i++)
			widen(low, high, p->value[i]);
		return PARTS_APART;
	}
	study_centred_interval(p->value, p->n,
	                       gsl_stats_mean(p->value, 1, p->n),
	                       APART_LEVEL / 2, &from, &to);
	study_centred_interval(p->value, p->n, p->whole, tail, low, high);
	slack = BUCKET * fabs(p->whole);
	apart = p->whole < from - slack || p->whole > to + slack ||
	        *low < p->least;
	if (study_neighbours_p(p->value, p->n) < DRIFT_LEVEL) {
		half = walk_half(p->value, p->n, tail);
		widen(low, high, p->whole - half);
		widen(low, high, p->whole + half);
		return PARTS_DRIFT;
	}
	if (!apart)
		return PARTS_STEADY;
	for (size_t i = 0; i < p->n; i++)
		widen(low, high, p->value[i]);
	return PARTS_APART;
}
