/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>

#include "event/event.h"

/*
 * Rejection-inversion: Hoermann and Derflinger, "Rejection-inversion to
 * generate variates from monotone discrete distributions", ACM TOMACS 6(3),
 * 1996, pp. 169-184. H is an integral of h(x) = x^-s,
 *
 *	H(x) = (x^(1-s) - 1) / (1 - s),  ln x when s = 1
 *
 * Both H and its inverse are written by functions that have no hole at
 * s = 1.
 */

/* Ranks are held as doubles on the way. */
#define RANKS_MAX (UINT64_C(1) << 53)
/* Below it the series is closer than the difference of two near numbers. */
#define SMALL 1e-4

/* (e^x - 1) / x */
static double exp_slope(double x)
{
	if (fabs(x) > SMALL)
		return (det_exp(x) - 1) / x;
	return 1 + x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24)));
}

/* ln(1 + x) / x, for x > -1 */
static double log_slope(double x)
{
	if (fabs(x) > SMALL)
		return det_log(1 + x) / x;
	return 1 - x * (0.5 - x * (1.0 / 3 - x * 0.25));
}

static double h(const struct zipf *z, double x)
{
	return det_exp(-z->s * det_log(x));
}

static double h_integral(const struct zipf *z, double x)
{
	double ln = det_log(x);

	return exp_slope((1 - z->s) * ln) * ln;
}

static double h_inverse(const struct zipf *z, double y)
{
	double t = y * (1 - z->s);

	/* Only rounding takes it to -1 or below, at the far end of s > 1. */
	if (t <= -1)
		return (double)z->n + 0.5;
	return det_exp(log_slope(t) * y);
}

void zipf_init(struct zipf *z, uint64_t n, double s)
{
	assert(n > 0 && n <= RANKS_MAX);
	assert(s >= 0 && isfinite(s));
	z->n = n;
	z->s = s;
	z->h_x1 = h_integral(z, 1.5) - 1;
	z->h_n = h_integral(z, (double)n + 0.5);
	z->cut = 2 - h_inverse(z, h_integral(z, 2.5) - h(z, 2));
}

uint64_t zipf_draw(const struct zipf *z, struct stream *st)
{
	double u, x, k;

	assert(z->n > 0);
	if (!(z->s > 0))
		return stream_below(st, z->n);
	/* More than half of the tries succeed, whatever n and s. */
	for (;;) {
		u = z->h_n + stream_unit(st) * (z->h_x1 - z->h_n);
		x = h_inverse(z, u);
		k = floor(x + 0.5);
		if (!(k > 1))
			k = 1;
		else if (k > (double)z->n)
			k = (double)z->n;
		if (k - x <= z->cut || u >= h_integral(z, k + 0.5) - h(z, k))
			break;
	}
	assert(k >= 1 && k <= (double)z->n);
	return (uint64_t)k - 1;
}
