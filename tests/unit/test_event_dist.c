/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "event/event.h"

/* Refused when the chance of worse is below 0.1 %. */
#define CONFIDENCE 0.999
#define DRAWS 200000

static struct dist make(enum dist_kind kind, double a, double b)
{
	struct dist d = dist_constant(a);

	d.kind = kind;
	d.b = b;
	return d;
}

/* The distribution function of d, by GSL, before truncation. */
static double cdf(const struct dist *d, double x)
{
	double sigma;

	if (d->kind == DIST_UNIFORM)
		return gsl_cdf_flat_P(x, d->a, d->b);
	if (d->kind == DIST_EXPONENTIAL)
		return gsl_cdf_exponential_P(x, d->a);
	assert_int_equal(d->kind, DIST_LOGNORMAL);
	sigma = sqrt(log1p(d->b * d->b));
	return gsl_cdf_lognormal_P(x, log(d->a) - sigma * sigma / 2, sigma);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Kolmogorov-Smirnov: the largest gap between the draws and the cdf given
 * min <= x <= max. Kolmogorov's limit law puts it beyond
 * sqrt(ln(2 / (1 - CONFIDENCE)) / 2 n) with the chance 1 - CONFIDENCE.
 */
static void check_ks(const struct dist *d, uint64_t entity)
{
	struct stream s = stream_open(11, 0, entity, STREAM_SERVICE);
	double *x = malloc(DRAWS * sizeof *x), gap = 0, p, low, high, limit;
	int i;

	assert_non_null(x);
	for (i = 0; i < DRAWS; i++) {
		x[i] = dist_draw(d, &s);
		assert_true(x[i] >= d->min && x[i] <= d->max);
	}
	qsort(x, DRAWS, sizeof *x, compare);
	low = isfinite(d->min) ? cdf(d, d->min) : 0;
	high = isfinite(d->max) ? cdf(d, d->max) : 1;
	for (i = 0; i < DRAWS; i++) {
		p = (cdf(d, x[i]) - low) / (high - low);
		gap = fmax(gap, fabs(p - (double)i / DRAWS));
		gap = fmax(gap, fabs(p - (double)(i + 1) / DRAWS));
	}
	limit = sqrt(log(2 / (1 - CONFIDENCE)) / (2.0 * DRAWS));
	if (!(gap < limit))
		fail_msg("%s(%g, %g): %g, not below %g", dist_name(d->kind),
		         d->a, d->b, gap, limit);
	free(x);
}

static void test_continuous(void **state)
{
	static const struct {
		enum dist_kind kind;
		double a, b, mean;
	} rows[] = {
		{DIST_UNIFORM, 0, 1, 0.5},
		{DIST_UNIFORM, -3, 8, 2.5},
		{DIST_EXPONENTIAL, 1, 0, 1},
		{DIST_EXPONENTIAL, 2.5e9, 0, 2.5e9},
		{DIST_LOGNORMAL, 1, 1, 1},
		{DIST_LOGNORMAL, 1155, 0.95, 1155},
		{DIST_LOGNORMAL, 200, 4, 200},
		{DIST_LOGNORMAL, 1e9, 0.01, 1e9},
	};
	struct dist d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		d = make(rows[i].kind, rows[i].a, rows[i].b);
		check_ks(&d, i);
		assert_true(dist_mean(&d) == rows[i].mean);
	}
}

static void test_truncated(void **state)
{
	struct dist d;

	(void)state;
	d = make(DIST_EXPONENTIAL, 10, 0);
	d.min = 5;
	check_ks(&d, 20);
	d.max = 12;
	check_ks(&d, 21);
	d = make(DIST_LOGNORMAL, 1000, 2);
	d.min = 1;
	d.max = 4096;
	check_ks(&d, 22);
	d = make(DIST_UNIFORM, 0, 10);
	d.max = 0.5;
	check_ks(&d, 23);
}

/* The mean and the cv that were asked for, within 3.29 standard errors. */
static void test_lognormal_moments(void **state)
{
	struct stream s = stream_open(12, 0, 0, STREAM_INPUT_TOKENS);
	struct dist d = make(DIST_LOGNORMAL, 1155, 0.5);
	const double n = 2e6, c2 = 0.25;
	double sum = 0, squares = 0, x, mean, variance, m4, se;
	int i;

	(void)state;
	for (i = 0; i < (int)n; i++) {
		x = dist_draw(&d, &s) / d.a - 1;
		sum += x;
		squares += x * x;
	}
	mean = sum / n;
	assert_true(fabs(mean) < 3.29 * 0.5 / sqrt(n));
	variance = squares / n - mean * mean;
	/* The fourth central moment of a lognormal of mean 1, w = 1 + c^2. */
	x = 1 + c2;
	m4 = c2 * c2 * (x * x * x * x + 2 * x * x * x + 3 * x * x - 3);
	se = sqrt((m4 - c2 * c2) / n);
	assert_true(fabs(variance - c2) < 3.29 * se);
}

/* Bounds that leave nothing give the nearer one. */
static void test_bounds_without_room(void **state)
{
	struct stream s = stream_open(13, 0, 0, STREAM_SERVICE);
	struct dist d = make(DIST_UNIFORM, 0, 1);

	(void)state;
	d.min = 5;
	assert_true(dist_draw(&d, &s) == 5);
	d.min = -INFINITY;
	d.max = -2;
	assert_true(dist_draw(&d, &s) == -2);
	d = dist_constant(7);
	d.max = 6;
	assert_true(dist_draw(&d, &s) == 6);
}

static void test_constant(void **state)
{
	static const double same[] = {4, 4, 4}, other[] = {4, 4, 5};
	static const double cumulative[] = {0.2, 0.5, 1};
	struct stream s = stream_open(14, 0, 0, STREAM_SERVICE);
	struct dist d = dist_constant(42), e;

	(void)state;
	assert_true(dist_draw(&d, &s) == 42 && dist_mean(&d) == 42);
	assert_true(dist_is_constant(&d));
	assert_true(d.min == -INFINITY && d.max == INFINITY);
	d = make(DIST_LOGNORMAL, 1155, 0);
	assert_true(dist_is_constant(&d) && dist_draw(&d, &s) == 1155);
	d = make(DIST_LOGNORMAL, 0, 2);
	assert_true(dist_is_constant(&d) && dist_draw(&d, &s) == 0);
	d = make(DIST_EXPONENTIAL, 0, 0);
	assert_true(dist_is_constant(&d) && dist_draw(&d, &s) == 0);
	d = make(DIST_UNIFORM, 3, 3);
	assert_true(dist_is_constant(&d) && dist_draw(&d, &s) == 3);
	e = make(DIST_EMPIRICAL, 0, 0);
	e.values = same;
	e.cumulative = cumulative;
	e.n = 3;
	assert_true(dist_is_constant(&e) && dist_draw(&e, &s) == 4);
	e.values = other;
	assert_false(dist_is_constant(&e));
	d = make(DIST_LOGNORMAL, 1, 0.1);
	assert_false(dist_is_constant(&d));
	d = make(DIST_EXPONENTIAL, 1, 0);
	assert_false(dist_is_constant(&d));
	d = make(DIST_UNIFORM, 1, 2);
	assert_false(dist_is_constant(&d));
}

static void test_empirical(void **state)
{
	static const double values[] = {10, 20, 25, 30, 30.5, 1000};
	/* The third weighs nothing. */
	static const double weight[] = {0.3, 0.2, 0, 0.4, 0.09, 0.01};
	static const double cumulative[] = {0.3, 0.5, 0.5, 0.9, 0.99, 1};
	static const double edge[] = {0x1p-53, 1};
	struct stream s = stream_open(15, 0, 0, STREAM_SERVICE);
	struct dist d = make(DIST_EMPIRICAL, 0, 0);
	double count[6] = {0}, mean = 0, chi = 0, x;
	int i, j;

	(void)state;
	d.values = values;
	d.cumulative = cumulative;
	d.n = 6;
	for (i = 0; i < DRAWS; i++) {
		x = dist_draw(&d, &s);
		for (j = 0; j < 5 && values[j] < x; j++)
			continue;
		assert_true(values[j] == x);
		count[j]++;
	}
	assert_true(count[2] == 0);
	for (j = 0; j < 6; j++) {
		mean += weight[j] * values[j];
		x = weight[j] * DRAWS;
		if (x > 0)
			chi += (count[j] - x) * (count[j] - x) / x;
	}
	assert_true(chi < gsl_cdf_chisq_Pinv(CONFIDENCE, 4));
	assert_true(fabs(dist_mean(&d) - mean) < 1e-12);
	d.n = 1;
	d.cumulative = &cumulative[5];
	assert_true(dist_draw(&d, &s) == 10);
	/* A share that equals the draw is not above it. */
	memset(&s, 0, sizeof s);
	s.left = 4;
	d.n = 2;
	d.cumulative = edge;
	assert_true(dist_draw(&d, &s) == 20);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(dist_name(DIST_CONSTANT), "constant");
	assert_string_equal(dist_name(DIST_UNIFORM), "uniform");
	assert_string_equal(dist_name(DIST_EXPONENTIAL), "exponential");
	assert_string_equal(dist_name(DIST_LOGNORMAL), "lognormal");
	assert_string_equal(dist_name(DIST_EMPIRICAL), "empirical");
}

/*
 * Chi-square against k^-s / sum: the first ranks each a cell of its own, the
 * others in cells that reach up to a power of 1.3.
 */
static void check_zipf(uint64_t n, double s)
{
	enum { OWN = 40, CELLS = 200 };
	double count[CELLS] = {0}, p[CELLS] = {0}, total = 0, chi = 0, off;
	struct stream st = stream_open(16, 0, n, STREAM_KEY);
	int cell = 0, used = 0, i, *of;
	double end = OWN;
	struct zipf z;
	uint64_t k;

	of = calloc(n, sizeof *of);
	assert_non_null(of);
	for (k = 0; k < n; k++) {
		if (k > 0 && (k < OWN || (double)k >= end)) {
			cell++;
			end = fmax(end, (double)k * 1.3);
		}
		assert_true(cell < CELLS);
		of[k] = cell;
		p[cell] += pow((double)k + 1, -s);
		total += pow((double)k + 1, -s);
	}
	zipf_init(&z, n, s);
	for (i = 0; i < DRAWS; i++) {
		k = zipf_draw(&z, &st);
		assert_true(k < n);
		count[of[k]]++;
	}
	/* Cells that expect fewer than 5 join the next ones. */
	for (i = 0, off = 0, end = 0; i <= cell; i++) {
		off += count[i];
		end += p[i] / total * DRAWS;
		if (end < 5 && i < cell)
			continue;
		if (end > 0)
			chi += (off - end) * (off - end) / end;
		used++;
		off = end = 0;
	}
	free(of);
	if (used > 1 &&
	    !(chi < gsl_cdf_chisq_Pinv(CONFIDENCE, (double)(used - 1))))
		fail_msg("n %d s %g: %g of %d cells", (int)n, s, chi, used);
}

static void test_zipf(void **state)
{
	static const uint64_t sizes[] = {1, 2, 3, 10, 1000, 100000};
	static const double exponents[] = {0,   0.3,     0.9, 0.9999999, 1,
	                                   1.1, 1.00001, 1.5, 2,         3};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (j = 0; j < sizeof exponents / sizeof exponents[0]; j++)
			check_zipf(sizes[i], exponents[j]);
}

/* The far corners: a rank always comes, and soon. */
static void test_zipf_extremes(void **state)
{
	static const uint64_t sizes[] = {1, 2, 1000000, UINT64_C(1) << 53};
	static const double exponents[] = {1e-12, 0.5, 1 - 1e-12, 1 + 1e-9,
	                                   5,     40,  700};
	const uint64_t draws = 20000;
	struct stream st;
	struct zipf z;
	uint64_t words;
	size_t i, j, k;

	(void)state;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		for (j = 0; j < sizeof exponents / sizeof exponents[0]; j++) {
			st = stream_open(17, i, j, STREAM_KEY);
			zipf_init(&z, sizes[i], exponents[j]);
			for (k = 0; k < draws; k++)
				assert_true(zipf_draw(&z, &st) < sizes[i]);
			words = 2 * st.block - st.left / 2;
			assert_true(words < 2 * draws);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_continuous),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_lognormal_moments),
		cmocka_unit_test(test_bounds_without_room),
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_empirical),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_zipf),
		cmocka_unit_test(test_zipf_extremes),
	};

	return cmocka_run_group_tests_name("event draws", tests, NULL, NULL);
}
