/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact tests and intervals. Tails of the binomial are summed term by term:
 * GSL's incomplete beta gives up its continued fraction near the mode from
 * about 10^7 trials on.
 */
#include "study/study_int.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* Relative slack when likelihoods are compared, as R's binom.test has it. */
#define SLACK 1e-7

static double pmf(uint64_t x, uint64_t n, double p)
{
	return gsl_ran_binomial_pdf((unsigned)x, p, (unsigned)n);
}

/* ---- tails ------------------------------------------------------------- */

/* P(X >= x), for an x not below the mode: the terms only fall. */
static double upper_tail(uint64_t x, uint64_t n, double p)
{
	double odds = p / (1 - p);
	double term = pmf(x, n, p);
	double sum = 0;

	while (term > sum * 1e-17) {
		sum += term;
		term *= (double)(n - x) / (double)(x + 1) * odds;
		x++;
	}
	return sum;
}

/* P(X <= x), for an x not above the mode. */
static double lower_tail(uint64_t x, uint64_t n, double p)
{
	double odds = (1 - p) / p;
	double term = pmf(x, n, p);
	double sum = 0;

	while (term > sum * 1e-17) {
		sum += term;
		if (x == 0)
			break;
		term *= (double)x / (double)(n - x + 1) * odds;
		x--;
	}
	return sum;
}

/* P(X >= x) for any x >= 1, by the side that is the smaller one. */
static double at_least(uint64_t x, uint64_t n, double p)
{
	return (double)x > (double)n * p ? upper_tail(x, n, p)
	                                 : 1 - lower_tail(x - 1, n, p);
}

/* ---- the binomial test ------------------------------------------------- */

/* The first x from the mode on that is at most as likely as `limit`; n + 1
 * when there is none: above the mode the likelihood falls. */
static uint64_t first_unlikely(uint64_t mode, uint64_t n, double p,
                               double limit)
{
	uint64_t low = mode;
	uint64_t high = n + 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (pmf(middle, n, p) <= limit)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* One above the last x below the mode that is at most as likely: 0 when
 * there is none. */
static uint64_t end_unlikely(uint64_t mode, uint64_t n, double p, double limit)
{
	uint64_t low = 0;
	uint64_t high = mode + 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (pmf(middle, n, p) <= limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double study_binomial_p(uint64_t x, uint64_t n, double p)
{
	uint64_t mode, below, above;
	double limit, sum = 0;

	assert(x <= n && n < UINT32_MAX && p >= 0 && p <= 1);
	if (n == 0)
		return 1;
	if (p == 0 || p == 1)
		return x == (p == 0 ? 0 : n) ? 1 : 0;
	mode = (uint64_t)floor((double)(n + 1) * p);
	if (mode > n)
		mode = n;
	limit = pmf(x, n, p) * (1 + SLACK);
	if (pmf(mode, n, p) <= limit)
		return 1;
	below = end_unlikely(mode, n, p, limit);
	above = first_unlikely(mode, n, p, limit);
	if (below > 0)
		sum += lower_tail(below - 1, n, p);
	if (above <= n)
		sum += upper_tail(above, n, p);
	assert(sum >= 0);
	return sum < 1 ? sum : 1;
}

/* ---- intervals --------------------------------------------------------- */

/* The p below x/n at which x or more has probability `tail`. */
static double lower_limit(uint64_t x, uint64_t n, double tail)
{
	double low = 0;
	double high = (double)x / (double)n;

	if (x == 0)
		return 0;
	for (int i = 0; i < 60; i++) {
		double middle = low + (high - low) / 2;

		if (at_least(x, n, middle) < tail)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void study_binomial_interval(uint64_t x, uint64_t n, double confidence,
                             double *low, double *high)
{
	double tail = (1 - confidence) / 2;

	assert(n > 0 && n < UINT32_MAX && x <= n);
	assert(confidence > 0 && confidence < 1);
	*low = lower_limit(x, n, tail);
	*high = 1 - lower_limit(n - x, n, tail);
}

void study_centred_interval(const double *values, size_t n, double centre,
                            double tail, double *low, double *high)
{
	double df = (double)n - 1;
	double half, variance;

	assert(n >= 2 && tail > 0 && tail <= 0.5);
	variance = gsl_stats_variance_with_fixed_mean(values, 1, n, centre) *
	           (double)n / df;
	half = sqrt(variance / (double)n) * gsl_cdf_tdist_Qinv(tail, df);
	*low = centre - half;
	*high = centre + half;
}

void study_mean_interval(const double *values, size_t n, double confidence,
                         double *low, double *high)
{
	assert(n >= 2 && confidence > 0 && confidence < 1);
	study_centred_interval(values, n, gsl_stats_mean(values, 1, n),
	                       (1 - confidence) / 2, low, high);
}

double study_chi_square_p(double x, double df)
{
	double below = gsl_cdf_chisq_P(x, df);
	double above = gsl_cdf_chisq_Q(x, df);
	double p = 2 * (below < above ? below : above);

	assert(x >= 0 && df > 0);
	return p < 1 ? p : 1;
}

/* ---- what a test sees --------------------------------------------------- */

static bool rejects(uint64_t x, uint64_t n, double p, double confidence)
{
	return study_binomial_p(x, n, p) < 1 - confidence;
}

/* The least x from the mode on that the test rejects; n + 1: none. */
static uint64_t first_rejected(uint64_t n, double p, double confidence)
{
	uint64_t low = (uint64_t)((double)n * p);
	uint64_t high = n + 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (rejects(middle, n, p, confidence))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* How far above p a share must lie to be caught, 1 - p when nowhere is. */
static double sees_above(uint64_t n, double p, double confidence, double power)
{
	uint64_t x = first_rejected(n, p, confidence);

	if (x > n)
		return 1 - p;
	/* the share at which fewer than x keys are 1 - power likely */
	return 1 - lower_limit(n - x + 1, n, 1 - power) - p;
}

double study_binomial_sees(uint64_t n, double p, double confidence,
                           double power)
{
	bool up = p < 1 && rejects(n, n, p, confidence);
	bool down = p > 0 && rejects(0, n, p, confidence);
	double above, below;

	assert(n > 0 && p >= 0 && p <= 1 && power > 0.5 && power < 1);
	if (!up && !down)
		return (double)INFINITY;
	above = sees_above(n, p, confidence, power);
	below = sees_above(n, 1 - p, confidence, power);
	return above > below ? above : below;
}
