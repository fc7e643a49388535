/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "event/event.h"

/* Half of it is the one rounding that cannot be avoided. */
#define ULP_MAX 0.6L
/* A subnormal result is rounded twice. */
#define ULP_MAX_SUBNORMAL 0.8L

/* The distance of got from want, in units of want's last place. */
static long double ulps(double got, long double want)
{
	double near = fabs((double)want), ulp;

	if (near < DBL_MIN)
		ulp = DBL_TRUE_MIN;
	else
		ulp = nextafter(near, INFINITY) - near;
	return fabsl((long double)got - want) / (long double)ulp;
}

static double from_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static void check_log(double x, long double *worst)
{
	long double off = ulps(det_log(x), logl((long double)x));

	if (!(off <= ULP_MAX))
		fail_msg("ln %a is off by %.3Lf ulp", x, off);
	if (off > *worst)
		*worst = off;
}

static void test_log(void **state)
{
	struct stream s = stream_open(1, 0, 0, STREAM_SERVICE);
	const int n = 1000000;
	long double worst = 0;
	double u, around;
	uint64_t bits;
	int i;

	(void)state;
	if (LDBL_MANT_DIG <= DBL_MANT_DIG)
		skip();
	for (i = 0; i < n; i++) {
		u = stream_unit(&s);
		check_log(u, &worst);
		check_log(0.5 + u, &worst);
		/* At every distance from 1, above and below. */
		around = ldexp(u, -(i % 53));
		check_log(1 + around, &worst);
		check_log(1 - around / 2, &worst);
		/* Every positive double. */
		bits = stream_below(&s, UINT64_C(0x7ff0000000000000) - 1) + 1;
		check_log(from_bits(bits), &worst);
	}
	/* Both sides of every boundary of a table. */
	for (i = -256; i <= 512; i++) {
		around = 1 + (double)i / 512;
		if (around > 0)
			check_log(around, &worst);
		check_log(nextafter(around, 0) + DBL_MIN, &worst);
		check_log(nextafter(around, 9), &worst);
	}
	check_log(DBL_TRUE_MIN, &worst);
	check_log(nextafter(DBL_MIN, 0), &worst);
	check_log(DBL_MIN, &worst);
	check_log(DBL_MAX, &worst);
	print_message("det_log: at most %.4Lf ulp\n", worst);
}

static void check_exp(double x, long double *worst)
{
	long double want = expl((long double)x), off = ulps(det_exp(x), want);

	if (!(off <= (want < DBL_MIN ? ULP_MAX_SUBNORMAL : ULP_MAX)))
		fail_msg("e^%a is off by %.3Lf ulp", x, off);
	if (off > *worst)
		*worst = off;
}

static void test_exp(void **state)
{
	struct stream s = stream_open(2, 0, 0, STREAM_SERVICE);
	const int n = 1000000;
	long double worst = 0;
	double u;
	int i;

	(void)state;
	if (LDBL_MANT_DIG <= DBL_MANT_DIG)
		skip();
	for (i = 0; i < n; i++) {
		u = 2 * stream_unit(&s) - 1;
		check_exp(u, &worst);
		check_exp(10 * u, &worst);
		check_exp(709.7 * u, &worst);
		check_exp(ldexp(u, -(i % 60)), &worst);
		/* The subnormal results. */
		check_exp(-727 + 18 * u, &worst);
	}
	check_exp(0x1.62e42fefa39efp+9, &worst); /* the last below 2^1024 */
	check_exp(709.0895657128241, &worst);
	print_message("det_exp: at most %.4Lf ulp\n", worst);
}

static void test_special_values(void **state)
{
	(void)state;
	assert_true(det_log(1) == 0 && !signbit(det_log(1)));
	assert_true(det_log(0) == -INFINITY);
	assert_true(det_log(-0.0) == -INFINITY);
	assert_true(isnan(det_log(-1)));
	assert_true(isnan(det_log(-INFINITY)));
	assert_true(isnan(det_log(NAN)));
	assert_true(det_log(INFINITY) == INFINITY);
	assert_true(det_exp(0) == 1 && det_exp(-0.0) == 1);
	assert_true(det_exp(0x1.62e42fefa39fp+9) == INFINITY);
	assert_true(det_exp(709.8) == INFINITY);
	assert_true(det_exp(INFINITY) == INFINITY);
	assert_true(det_exp(-745.2) == 0);
	assert_true(det_exp(-745.1333) == 0);
	assert_true(det_exp(-745.1332) == DBL_TRUE_MIN);
	assert_true(det_exp(-INFINITY) == 0);
	assert_true(isnan(det_exp(NAN)));
	assert_true(det_pow(7, 0) == 1);
	assert_true(fabs(det_pow(2, 10) - 1024) < 1e-11);
	assert_true(fabs(det_pow(9, 0.5) - 3) < 1e-14);
	assert_true(fabs(det_pow(10, -2) - 0.01) < 1e-16);
}

/* The same bits on every machine: a digest of many results. */
static void test_same_everywhere(void **state)
{
	struct stream s = stream_open(3, 0, 0, STREAM_SERVICE);
	uint64_t digest = 0, bits;
	double v[3], u;
	int i, j;

	(void)state;
	for (i = 0; i < 100000; i++) {
		u = stream_unit(&s);
		v[0] = det_log(u);
		v[1] = det_exp(20 * u - 10);
		v[2] = det_normal_quantile(u);
		for (j = 0; j < 3; j++) {
			memcpy(&bits, &v[j], sizeof bits);
			digest = (digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
			digest ^= digest >> 29;
		}
	}
	if (digest != UINT64_C(0xb969d4f89ffb43b6))
		fail_msg("the digest is %016llx", (unsigned long long)digest);
}

/*
 * GSL's quantile is the other implementation of the same article, with
 * libm's logarithm. That the value is the quantile at all is checked by
 * GSL's distribution function, which is not: how far p and P(z) differ,
 * divided by the density, is how far z is off.
 */
static void test_normal_quantile(void **state)
{
	struct stream s = stream_open(4, 0, 0, STREAM_SERVICE);
	double p, z, want, off, worst = 0, back, worst_back = 0;
	int i;

	(void)state;
	for (i = 0; i < 1000000; i++) {
		p = stream_unit(&s);
		if (i % 3 == 1)
			p = ldexp(p, -(i % 1000));
		if (i % 3 == 2)
			p = 1 - ldexp(p, -(i % 50));
		if (!(p > 0 && p < 1))
			continue;
		z = det_normal_quantile(p);
		want = gsl_cdf_ugaussian_Pinv(p);
		off = fabs(z - want) / fmax(1, fabs(want));
		worst = fmax(worst, off);
		if (p > 1e-290 && p < 0.5) {
			back = fabs(gsl_cdf_ugaussian_P(z) / p - 1);
			/* d ln P / dz is about |z| in the tail. */
			back /= fmax(1, fabs(z)) * fmax(1, fabs(z));
			worst_back = fmax(worst_back, back);
		}
	}
	print_message("quantile: %.2g from GSL's, %.2g by its P\n", worst,
	              worst_back);
	assert_true(worst < 1e-14);
	assert_true(worst_back < 1e-14);
	assert_true(det_normal_quantile(0.5) == 0);
	/* NIST: the 97.5 % point, 1.959963984540054. */
	assert_true(fabs(det_normal_quantile(0.975) - 1.959963984540054) <
	            2e-15);
	for (p = 0x1p-30; p < 0.5; p *= 1.37)
		assert_true(fabs(det_normal_quantile(p) +
		                 det_normal_quantile(1 - p)) < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_exp),
		cmocka_unit_test(test_special_values),
		cmocka_unit_test(test_same_everywhere),
		cmocka_unit_test(test_normal_quantile),
	};

	return cmocka_run_group_tests_name("event math", tests, NULL, NULL);
}
