/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A curve by least squares over runs of the simulator. What is fitted is the
 * logarithm of each parameter, so that none can become negative; what counts
 * are relative errors of rate, TPOT and TTFT. TTFT weighs least: it is small
 * against E2E and carries what a benchmark does at its start.
 */
#include "fit/fit_int.h"

#include <assert.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

/* Step of the numeric derivatives, in logarithms: the simulator answers in
 * small leaps, over which a smaller step would trip. */
static const double STEP = 0.02;
static const double FAR = 4;
static const double SPREAD[FIT_METRICS] = {
	[FIT_RPS] = 0.02,
	[FIT_E2E] = 0.02,
	[FIT_TPOT] = 0.03,
	[FIT_TTFT] = 0.5,
};
/* Priors: how far, in logarithms, a parameter may be from its start before
 * it counts as much as one residual. Wide, but where rows do not tell two
 * parameters apart (one shape only) they settle it. */
static const double PRIOR[FIT_PARAMETERS] = {
	[FIT_FLOOR] = 2,   [FIT_DECODE] = 2, [FIT_CONTEXT] = 2,
	[FIT_PREFILL] = 2, [FIT_PAIR] = 0.7, [FIT_OVERHEAD] = 2,
	[FIT_KV] = 0.5,    [FIT_LONE] = 2,   [FIT_KNEE] = 1,
};
enum { TRY_ITERATIONS = 4, ITERATIONS = 12 };
/* Sequences at once where no row says: more than any row has, as a rule. */
enum { SEQS = 256 };

/* One fit on its way. */
struct fitting {
	const struct fit_sweep *sweep;
	uint32_t *row;
	uint32_t n;
	size_t residuals;
	struct fit_curve curve; /* limits, and what is not free */
	double start[FIT_PARAMETERS];
	double kv_least; /* what every row needs to run at all */
	enum fit_parameter free[FIT_PARAMETERS];
	size_t n_free;
	struct err *e;
};

/* ---- residuals --------------------------------------------------------- */

/* Whether a row's metric is fitted: of a static batch its TPOT only. */
static bool counts(const struct fit_row *row, enum fit_metric metric)
{
	double v = fit_measured(row, metric);

	if (!(v > 0) || !isfinite(v))
		return false;
	if (row->load == FIT_STATIC_BATCH)
		return metric == FIT_TPOT;
	if (row->load == FIT_BURST)
		return metric == FIT_RPS;
	if (metric == FIT_E2E) /* a closed loop's rate says it already */
		return isnan(fit_clients(row));
	if (metric == FIT_RPS)
		return !isnan(fit_clients(row));
	return true;
}

/* A trial far off stays where steps are still of a length to run. */
static void take(struct fitting *f, const gsl_vector *x)
{
	for (size_t i = 0; i < f->n_free; i++) {
		double start = log(f->start[f->free[i]]);
		double at = fmin(gsl_vector_get(x, i), start + FAR);

		f->curve.value[f->free[i]] = exp(fmax(at, start - 2 * FAR));
	}
	if (f->curve.value[FIT_KV] > 0)
		f->curve.value[FIT_KV] =
			fmax(f->curve.value[FIT_KV], f->kv_least);
	fit_engine_make(&f->curve, &f->curve.engine);
}

/* Beyond a few spreads a residual counts by its root (pseudo-Huber): one
 * odd row does not pull the curve. */
static double tamed(double r)
{
	double k = 2;

	return copysign(k * sqrt(2 * (sqrt(1 + r * r / (k * k)) - 1)), r);
}

static int residuals(const gsl_vector *x, void *self, gsl_vector *out)
{
	struct fitting *f = self;
	size_t k = 0;

	take(f, x);
	for (uint32_t i = 0; i < f->n; i++) {
		const struct fit_row *row = &f->sweep->row[f->row[i]];
		struct fit_prediction p;

		if (fit_predict(&f->curve.engine, row, &p, f->e) != 0)
			return GSL_EBADFUNC;
		for (int m = 0; m < FIT_METRICS; m++)
			if (counts(row, (enum fit_metric)m))
				gsl_vector_set(
					out, k++,
					tamed(log1p(fit_error(
						      row, &p,
						      (enum fit_metric)m)) /
				              SPREAD[m]));
	}
	for (size_t i = 0; i < f->n_free; i++)
		gsl_vector_set(
			out, k++,
			(gsl_vector_get(x, i) - log(f->start[f->free[i]])) /
				PRIOR[f->free[i]]);
	assert(k == f->residuals);
	return GSL_SUCCESS;
}

static int slopes(const gsl_vector *x, void *self, gsl_matrix *out)
{
	struct fitting *f = self;
	gsl_vector *at = gsl_vector_alloc(f->n_free);
	gsl_vector *up = gsl_vector_alloc(f->residuals);
	gsl_vector *down = gsl_vector_alloc(f->residuals);
	int wrong = 0;

	for (size_t j = 0; j < f->n_free && !wrong; j++) {
		gsl_vector_memcpy(at, x);
		gsl_vector_set(at, j, gsl_vector_get(x, j) + STEP);
		wrong = residuals(at, self, up);
		gsl_vector_set(at, j, gsl_vector_get(x, j) - STEP);
		if (!wrong)
			wrong = residuals(at, self, down);
		gsl_vector_sub(up, down);
		gsl_vector_scale(up, 0.5 / STEP);
		gsl_matrix_set_col(out, j, up);
	}
	gsl_vector_free(at);
	gsl_vector_free(up);
	gsl_vector_free(down);
	return wrong;
}

/* ---- the fit ----------------------------------------------------------- */

/* Standard errors of the parameters, scaled by what the residuals say. */
static void errors(struct fitting *f, gsl_multifit_nlinear_workspace *w,
                   double chi2)
{
	gsl_matrix *cov = gsl_matrix_alloc(f->n_free, f->n_free);
	size_t spare = f->residuals > f->n_free ? f->residuals - f->n_free : 1;

	f->curve.residual = sqrt(chi2 / (double)spare);
	gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 1e-8, cov);
	for (size_t i = 0; i < f->n_free; i++) {
		enum fit_parameter p = f->free[i];
		double var = gsl_matrix_get(cov, i, i);

		f->curve.error[p] = var > 0 ? f->curve.value[p] * sqrt(var) *
		                                      f->curve.residual
		                            : NAN;
	}
	gsl_matrix_free(cov);
}

static int refine(struct fitting *f, int iterations)
{
	gsl_multifit_nlinear_parameters how =
		gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_fdf fdf = {.f = residuals,
	                                .df = slopes,
	                                .n = f->residuals,
	                                .p = f->n_free,
	                                .params = f};
	gsl_vector *x = gsl_vector_alloc(f->n_free);
	gsl_multifit_nlinear_workspace *w;
	double chi2 = INFINITY;
	int wrong, why = 0;

	for (size_t i = 0; i < f->n_free; i++)
		gsl_vector_set(x, i, log(f->curve.value[f->free[i]]));
	how.scale = gsl_multifit_nlinear_scale_levenberg;
	w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how,
	                               f->residuals, f->n_free);
	wrong = gsl_multifit_nlinear_init(x, &fdf, w);
	if (!wrong)
		gsl_multifit_nlinear_driver((size_t)iterations, 1e-3, 1e-6,
		                            1e-4, NULL, NULL, &why, w);
	if (!f->e->set) {
		gsl_blas_ddot(gsl_multifit_nlinear_residual(w),
		              gsl_multifit_nlinear_residual(w), &chi2);
		take(f, gsl_multifit_nlinear_position(w));
		errors(f, w, chi2);
	}
	gsl_multifit_nlinear_free(w);
	gsl_vector_free(x);
	return f->e->set ? -1 : 0;
}

/* ---- all of it --------------------------------------------------------- */

static void select_rows(struct fitting *f, const struct fit_group *group)
{
	f->row = mem_new(group->n + 1, sizeof(*f->row));
	f->curve.max_num_seqs = f->sweep->row[group->row[0]].max_num_seqs;
	if (f->curve.max_num_seqs == 0)
		f->curve.max_num_seqs = SEQS;
	for (uint32_t i = 0; i < group->n; i++) {
		const struct fit_row *row = &f->sweep->row[group->row[i]];

		if (row->refused || fit_unusable(row) != NULL)
			continue;
		f->row[f->n++] = group->row[i];
		/* Lengths that are spread, and some room. */
		f->kv_least = fmax(f->kv_least, 1.3 * (row->isl + row->osl));
	}
}

static void set_free(struct fitting *f)
{
	f->n_free = 0;
	for (int p = 0; p < FIT_PARAMETERS; p++) {
		f->start[p] = f->curve.value[p];
		f->curve.error[p] = NAN;
		if (f->start[p] > 0)
			f->free[f->n_free++] = (enum fit_parameter)p;
	}
	f->residuals = f->n_free;
	for (uint32_t i = 0; i < f->n; i++)
		for (int m = 0; m < FIT_METRICS; m++)
			f->residuals += counts(&f->sweep->row[f->row[i]],
			                       (enum fit_metric)m);
}

/* What sweeps do not say of themselves: tried one by one, a few iterations
 * each, and the best of them fitted to the end. */
static int search(struct fitting *f)
{
	static const struct {
		uint32_t budget;
		double spread;
	} way[] = {{8192, 0}, {8192, 0.1}, {2048, 0}, {2048, 0.1}};
	struct fit_curve best = f->curve;

	best.residual = INFINITY;
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		for (int p = 0; p < FIT_PARAMETERS; p++)
			f->curve.value[p] = f->start[p];
		f->curve.max_num_batched_tokens = way[i].budget;
		f->curve.length_spread = way[i].spread;
		if (refine(f, TRY_ITERATIONS) != 0)
			return -1;
		if (f->curve.residual < best.residual)
			best = f->curve;
	}
	f->curve = best;
	return refine(f, ITERATIONS);
}

int fit_curve(const struct fit_sweep *s, const struct fit_group *group,
              struct fit_curve *out, struct err *e)
{
	struct fitting f = {.sweep = s, .e = e};
	int wrong;

	assert(group->n > 0);
	select_rows(&f, group);
	if (f.n < FIT_FORMULA) {
		mem_free(f.row);
		return err_set(e, s->row[group->row[0]].file, 0, 0, NULL,
		               "has %u rows that can be used; a curve needs %d",
		               f.n, FIT_FORMULA);
	}
	fit_begin(s, f.row, f.n, f.curve.value);
	set_free(&f);
	wrong = search(&f);
	f.curve.n = f.n;
	*out = f.curve;
	mem_free(f.row);
	return wrong;
}
