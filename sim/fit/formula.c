/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The closed formula, E2E = osl (floor + decode N + context N (isl + osl/2))
 * + N (isl prefill + q) with N in the system: linear in its coefficients, so
 * it gives the simulator's fit a start without a guess.
 */
#include "fit/fit_int.h"

#include <assert.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

static double in_system(const struct fit_row *row)
{
	double l = fit_in_system(row);

	return isfinite(l) ? l : row->concurrency;
}

/* The five terms of a row, in us of E2E. */
static void terms(const struct fit_row *row, double x[FIT_FORMULA])
{
	double n = in_system(row);

	x[0] = row->osl;
	x[1] = row->osl * n;
	x[2] = row->osl * n * (row->isl + row->osl / 2);
	x[3] = n * row->isl;
	x[4] = n;
}

/* Least squares of relative errors over the terms that are free. */
static void solve(const struct fit_sweep *s, const uint32_t *row, uint32_t n,
                  const bool *is_free, double value[FIT_FORMULA])
{
	size_t p = 0;
	gsl_matrix *x, *cov;
	gsl_vector *y, *c;
	gsl_multifit_linear_workspace *work;
	double chi2;

	for (size_t k = 0; k < FIT_FORMULA; k++)
		p += is_free[k];
	x = gsl_matrix_alloc(n, p);
	y = gsl_vector_alloc(n);
	c = gsl_vector_alloc(p);
	cov = gsl_matrix_alloc(p, p);
	work = gsl_multifit_linear_alloc(n, p);
	for (uint32_t i = 0; i < n; i++) {
		const struct fit_row *r = &s->row[row[i]];
		double t[FIT_FORMULA];
		double e2e_us = 1000 * fit_measured(r, FIT_E2E);
		size_t j = 0;

		terms(r, t);
		for (size_t k = 0; k < FIT_FORMULA; k++)
			if (is_free[k])
				gsl_matrix_set(x, i, j++, t[k] / e2e_us);
		gsl_vector_set(y, i, 1);
	}
	gsl_multifit_linear(x, y, c, cov, &chi2, work);
	p = 0;
	for (size_t k = 0; k < FIT_FORMULA; k++)
		value[k] = is_free[k] ? gsl_vector_get(c, p++) : 0;
	gsl_multifit_linear_free(work);
	gsl_matrix_free(cov);
	gsl_matrix_free(x);
	gsl_vector_free(y);
	gsl_vector_free(c);
}

void fit_formula(const struct fit_sweep *s, const uint32_t *row, uint32_t n,
                 double v[FIT_FORMULA])
{
	bool is_free[FIT_FORMULA] = {true, true, true, true, true};
	size_t worst;

	assert(n >= FIT_FORMULA);
	/* The floor stays: something takes time. */
	do {
		solve(s, row, n, is_free, v);
		worst = 0;
		for (size_t k = 1; k < FIT_FORMULA; k++)
			if (v[k] < 0 && (worst == 0 || v[k] < v[worst]))
				worst = k;
		if (worst > 0)
			is_free[worst] = false;
	} while (worst > 0);
}
