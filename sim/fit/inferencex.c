/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * InferenceX's aggregated results: vLLM's keys without their "_ms", because
 * the values are seconds. Lengths that are only nominal were drawn from 0.8
 * to 1.0 times that.
 */
#include <math.h>
#include <string.h>

#include "fit/read_int.h"

static const struct fit_field fields[] = {
	{"request_throughput", FIT_AT(achieved_rps), 1},
	{"output_throughput", FIT_AT(out_tok_s), 1},
	{"mean_ttft", FIT_AT(ttft.mean), 1000},
	{"median_ttft", FIT_AT(ttft.p50), 1000},
	{"p90_ttft", FIT_AT(ttft.p90), 1000},
	{"p95_ttft", FIT_AT(ttft.p95), 1000},
	{"p99_ttft", FIT_AT(ttft.p99), 1000},
	{"mean_tpot", FIT_AT(itl.mean), 1000},
	{"median_tpot", FIT_AT(itl.p50), 1000},
	{"p90_tpot", FIT_AT(itl.p90), 1000},
	{"p95_tpot", FIT_AT(itl.p95), 1000},
	{"p99_tpot", FIT_AT(itl.p99), 1000},
	{"mean_e2el", FIT_AT(e2e.mean), 1000},
	{"median_e2el", FIT_AT(e2e.p50), 1000},
	{"p90_e2el", FIT_AT(e2e.p90), 1000},
	{"p95_e2el", FIT_AT(e2e.p95), 1000},
	{"p99_e2el", FIT_AT(e2e.p99), 1000},
};

static bool is_result(const json_t *json)
{
	return fit_has_number(json, "median_ttft") &&
	       (fit_has_number(json, "median_e2el") ||
	        fit_has_number(json, "median_tpot"));
}

static bool detects(const struct fit_input *in)
{
	return is_result(fit_first(in));
}

static void read_texts(struct fit_row *row, const json_t *json)
{
	fit_json_text(json, "model", row->model, sizeof row->model);
	fit_json_text(json, "model_id", row->model, sizeof row->model);
	fit_json_text(json, "hw", row->gpu, sizeof row->gpu);
	fit_json_text(json, "framework", row->engine, sizeof row->engine);
	fit_json_text(json, "precision", row->precision, sizeof row->precision);
	fit_json_text(json, "image", row->engine_version,
	              sizeof row->engine_version);
}

/* The mean of what is really sent is 0.9 of a nominal length. */
static int nominal_lengths(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double isl = (double)NAN, osl = (double)NAN;

	if (fit_json_number(r, d, "isl", &isl) < 0 ||
	    fit_json_number(r, d, "osl", &osl) < 0)
		return -1;
	if (!isnan(row->isl) || isnan(isl) || isnan(osl))
		return 0;
	row->isl = 0.9 * isl;
	row->osl = 0.9 * osl;
	fit_remark(r,
	           "lengths are drawn from 0.8 to 1.0 of the nominal %g and "
	           "%g: 0.9 is taken",
	           isl, osl);
	return 0;
}

/* Newer files count per GPU. */
static int tokens_per_gpu(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double per_gpu = (double)NAN;

	if (fit_json_number(r, d, "output_tput_per_gpu", &per_gpu) < 0)
		return -1;
	if (isnan(row->out_tok_s) && row->tp > 0)
		row->out_tok_s = per_gpu * row->tp;
	return 0;
}

static int read_one(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = fit_reading_row(r, d->line);
	const char *key = fit_has_number(d->json, "max_concurrency")
	                          ? "max_concurrency"
	                          : "conc";

	if (row == NULL)
		return -1;
	read_texts(row, d->json);
	if (fit_json_whole(r, d, "tp", &row->tp) < 0 ||
	    fit_json_fields(r, d, fields, FIT_COUNT(fields)) < 0 ||
	    fit_serve_lengths(r, d) < 0 || fit_serve_load(r, d, key) < 0 ||
	    nominal_lengths(r, d) < 0)
		return -1;
	return tokens_per_gpu(r, d);
}

static int reads(struct fit_reading *r)
{
	return fit_serve_each(r, is_result, read_one);
}

const struct fit_format fit_inferencex = {"InferenceX", detects, reads};
