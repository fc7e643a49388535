/* SPDX-License-Identifier: GPL-3.0-or-later */
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

/*
 * The last x in (below, n], counted from the mode outwards, that is at most
 * as likely as `limit`: the pmf falls on either side of the mode, so that the
 * place is found by bisection.
 */
static uint64_t first_unlikely_above(uint64_t mode, uint64_t n, double p,
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
static uint64_t end_unlikely_below(uint64_t mode, uint64_t n, double p,
                                   double limit)
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
		return (double)x == p * (double)n ? 1 : 0;
	mode = (uint64_t)floor((double)(n + 1) * p);
	if (mode > n)
		mode = n;
	limit = pmf(x, n, p) * (1 + SLACK);
	if (pmf(mode, n, p) <= limit)
		return 1;
	below = end_unlikely_below(mode, n, p, limit);
	above = first_unlikely_above(mode, n, p, limit);
	if (below > 0)
		sum += gsl_cdf_binomial_P((unsigned)(below - 1), p,
		                          (unsigned)n);
	if (above <= n)
		sum += gsl_cdf_binomial_Q((unsigned)(above - 1), p,
		                          (unsigned)n);
	return sum < 1 ? sum : 1;
}

/*
 * The p at which the beta distribution (a, b) has `tail` below it, by
 * bisection: GSL's own inverse does not converge for large counts.
 */
static double beta_quantile(double tail, double a, double b)
{
	double low = 0;
	double high = 1;

	for (int i = 0; i < 60; i++) {
		double middle = low + (high - low) / 2;

		if (gsl_cdf_beta_P(middle, a, b) < tail)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

void study_binomial_interval(uint64_t x, uint64_t n, double confidence,
                             double *low, double *high)
{
	double tail = (1 - confidence) / 2;
	double a = (double)x;
	double b = (double)(n - x);

	assert(x <= n && confidence > 0 && confidence < 1);
	*low = x == 0 ? 0 : beta_quantile(tail, a, b + 1);
	*high = x == n ? 1 : beta_quantile(1 - tail, a + 1, b);
}

void study_mean_interval(const double *values, size_t n, double confidence,
                         double *low, double *high)
{
	double mean = gsl_stats_mean(values, 1, n);
	double half = gsl_stats_sd(values, 1, n) / sqrt((double)n) *
	              gsl_cdf_tdist_Qinv((1 - confidence) / 2,
	                                 (double)n - 1);

	assert(n >= 2 && confidence > 0 && confidence < 1);
	*low = mean - half;
	*high = mean + half;
}

double study_chi_square_p(double x, double df)
{
	double below = gsl_cdf_chisq_P(x, df);
	double above = gsl_cdf_chisq_Q(x, df);
	double p = 2 * (below < above ? below : above);

	return p < 1 ? p : 1;
}
