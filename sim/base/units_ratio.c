/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

#define DIGITS_MAX 9
/* The largest over the smallest, and its power of ten. */
#define SPAN_MAX UINT64_C(1000000000)
#define SPAN_DIGITS 9

int units_decimal(double value, uint64_t *digits, int *exponent)
{
	char text[40];
	uint64_t d = 0;
	int n, power;
	char *p;

	assert(digits != NULL && exponent != NULL);
	if (!isfinite(value) || value < 0)
		return -1;
	if (value == 0) {
		*digits = 0;
		*exponent = 0;
		return 0;
	}
	for (n = 1; n <= DIGITS_MAX; n++) {
		snprintf(text, sizeof text, "%.*e", n - 1, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (n > DIGITS_MAX)
		return -1;
	/* The shortest has no zeros at its end: one digit less would do. */
	for (p = text; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			d = d * 10 + (unsigned)(*p - '0');
	power = (int)strtol(p + 1, NULL, 10);
	assert(d > 0 && (n == 1 || d % 10 != 0));
	*digits = d;
	*exponent = power - (n - 1);
	return 0;
}

/* The power of ten of the first digit of digits * 10^exponent. */
static int magnitude(uint64_t digits, int exponent)
{
	assert(digits > 0);
	for (; digits >= 10; digits /= 10)
		exponent++;
	return exponent;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	uint64_t rest;

	while (b > 0) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

int units_ratio(const double *values, size_t n, uint64_t *out)
{
	int low = INT_MAX, small = INT_MAX, large = INT_MIN, e, m;
	uint64_t d, least = UINT64_MAX, most = 0, common = 0;
	size_t i;

	assert((values != NULL && out != NULL) || n == 0);
	for (i = 0; i < n; i++) {
		if (units_decimal(values[i], &d, &e) != 0)
			return -1;
		if (d == 0)
			continue;
		m = magnitude(d, e);
		low = e < low ? e : low;
		small = m < small ? m : small;
		large = m > large ? m : large;
	}
	if (large > INT_MIN && large - small > SPAN_DIGITS)
		return -2;
	for (i = 0; i < n; i++) {
		units_decimal(values[i], &d, &e);
		/*
		 * Below 10^18: the first digit stands at most 9 places above
		 * the smallest one's, the last place at most 8 below it.
		 */
		for (; d > 0 && e > low; e--) {
			assert(d < UINT64_C(100000000000000000));
			d *= 10;
		}
		out[i] = d;
		if (d == 0)
			continue;
		least = d < least ? d : least;
		most = d > most ? d : most;
		common = divisor(d, common);
	}
	if (most > 0 && (most - 1) / SPAN_MAX >= least)
		return -2;
	for (i = 0; i < n && common > 0; i++)
		out[i] /= common;
	return 0;
}
