/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a fit begins: the closed formula, and where its coefficients cannot
 * be (one shape only, too few rows), what the latencies say directly.
 */
#include "fit/fit_int.h"

#include <math.h>

struct rows {
	const struct fit_sweep *sweep;
	const uint32_t *row;
	uint32_t n;
};

/* Least over the rows of a metric, divided by the prompt where asked. */
static double least(const struct rows *f, enum fit_metric metric,
                    bool per_prompt_token)
{
	double min = NAN;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct fit_row *row = &f->sweep->row[f->row[i]];
		double v = fit_measured(row, metric);

		min = fmin(min, per_prompt_token ? v / row->isl : v);
	}
	return min;
}

/* The most tokens of KV that a row shows to have been held at once. */
static double most_held(const struct rows *f)
{
	double most = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct fit_row *row = &f->sweep->row[f->row[i]];
		double waits = fit_measured(row, FIT_TTFT) /
		               fit_measured(row, FIT_E2E);
		double n = fit_clients(row);

		if (isfinite(n) && isfinite(waits))
			most = fmax(most, n * (1 - waits) *
			                          (row->isl + row->osl / 2));
	}
	return most;
}

/*
 * Whether requests queued: of two rows of one shape TTFT grew twice as much
 * as the clients did, and to more than a twentieth of E2E.
 */
static bool queued(const struct rows *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t j = 0; j < f->n; j++) {
			const struct fit_row *a = &f->sweep->row[f->row[i]];
			const struct fit_row *b = &f->sweep->row[f->row[j]];
			double clients = fit_clients(b) / fit_clients(a);
			double ttft = b->ttft.mean / a->ttft.mean;

			if (a->isl == b->isl && a->osl == b->osl &&
			    clients > 1 && ttft > 2 * clients &&
			    b->ttft.mean > fit_measured(b, FIT_E2E) / 20)
				return true;
		}
	return false;
}

void fit_begin(const struct fit_sweep *s, const uint32_t *row, uint32_t n,
               double v[FIT_PARAMETERS])
{
	const struct rows rows = {s, row, n};
	double formula[FIT_FORMULA];
	double tpot_us = 1000 * least(&rows, FIT_TPOT, false);
	double ttft_us = 1000 * least(&rows, FIT_TTFT, true);

	fit_formula(s, row, n, formula);
	v[FIT_FLOOR] = formula[0];
	v[FIT_DECODE] = formula[1];
	v[FIT_CONTEXT] = formula[2];
	v[FIT_PREFILL] = formula[3];
	if (isfinite(tpot_us) &&
	    (v[FIT_FLOOR] > tpot_us || v[FIT_FLOOR] < 0.3 * tpot_us))
		v[FIT_FLOOR] = 0.9 * tpot_us;
	if (isfinite(ttft_us) &&
	    (v[FIT_PREFILL] > ttft_us || v[FIT_PREFILL] < 0.2 * ttft_us))
		v[FIT_PREFILL] = 0.7 * ttft_us;
	v[FIT_PREFILL] = fmax(v[FIT_PREFILL], v[FIT_FLOOR] * 1e-4);
	v[FIT_DECODE] = fmax(v[FIT_DECODE], v[FIT_FLOOR] * 2e-3);
	v[FIT_CONTEXT] = fmax(v[FIT_CONTEXT], v[FIT_FLOOR] * 1e-6);
	v[FIT_LONE] = v[FIT_FLOOR] * 1e-5;
	v[FIT_KNEE] = 64;
	/* Attention's share of a prompt token's work, per token it looks at,
	 * is 2e-5 to 3e-5 for dense models from 8B to 70B, by their widths. */
	v[FIT_PAIR] = 2e-5 * v[FIT_PREFILL];
	v[FIT_OVERHEAD] = 2000;
	v[FIT_KV] = queued(&rows) ? most_held(&rows) : 0;
}
