/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vLLM `bench serve --save-result` (one object, or with --append-result one a
 * line), and benchmark_serving of 0.5 and 0.6 before it: milliseconds, mean
 * and percentiles under keys of their own. TPOT is of requests, ITL of stream
 * chunks: TPOT is read.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "fit/read_int.h"

static const struct fit_field shared[] = {
	{"request_throughput", FIT_AT(achieved_rps), 1},
	{"output_throughput", FIT_AT(out_tok_s), 1},
	{"mean_ttft_ms", FIT_AT(ttft.mean), 1},
	{"median_ttft_ms", FIT_AT(ttft.p50), 1},
	{"p50_ttft_ms", FIT_AT(ttft.p50), 1},
	{"p90_ttft_ms", FIT_AT(ttft.p90), 1},
	{"p95_ttft_ms", FIT_AT(ttft.p95), 1},
	{"p99_ttft_ms", FIT_AT(ttft.p99), 1},
	{"mean_tpot_ms", FIT_AT(itl.mean), 1},
	{"median_tpot_ms", FIT_AT(itl.p50), 1},
	{"p50_tpot_ms", FIT_AT(itl.p50), 1},
	{"p90_tpot_ms", FIT_AT(itl.p90), 1},
	{"p95_tpot_ms", FIT_AT(itl.p95), 1},
	{"p99_tpot_ms", FIT_AT(itl.p99), 1},
};

static const struct fit_field e2e[] = {
	{"mean_e2el_ms", FIT_AT(e2e.mean), 1},
	{"median_e2el_ms", FIT_AT(e2e.p50), 1},
	{"p50_e2el_ms", FIT_AT(e2e.p50), 1},
	{"p90_e2el_ms", FIT_AT(e2e.p90), 1},
	{"p95_e2el_ms", FIT_AT(e2e.p95), 1},
	{"p99_e2el_ms", FIT_AT(e2e.p99), 1},
};

static const struct fit_field e2e_old[] = {
	{"mean_latency_ms", FIT_AT(e2e.mean), 1},
	{"median_latency_ms", FIT_AT(e2e.p50), 1},
	{"p50_latency_ms", FIT_AT(e2e.p50), 1},
	{"p90_latency_ms", FIT_AT(e2e.p90), 1},
	{"p95_latency_ms", FIT_AT(e2e.p95), 1},
	{"p99_latency_ms", FIT_AT(e2e.p99), 1},
};

static bool is_serve(const json_t *json)
{
	return fit_has_number(json, "request_throughput") &&
	       fit_json(json, "mean_e2e_latency_ms") == NULL &&
	       (fit_has_number(json, "mean_ttft_ms") ||
	        fit_has_number(json, "median_ttft_ms"));
}

static bool is_old(const json_t *json)
{
	return is_serve(json) && fit_has_number(json, "mean_latency_ms");
}

static bool detects(const struct fit_input *in)
{
	return is_serve(fit_first(in)) && !is_old(fit_first(in));
}

static bool detects_old(const struct fit_input *in)
{
	return is_old(fit_first(in));
}

/* Several tokens a chunk: the two differ, and one is right. */
static int compare_itl(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double itl = (double)NAN;

	if (fit_json_number(r, d, "mean_itl_ms", &itl) < 0)
		return -1;
	if (itl > 1.5 * row->itl.mean)
		fit_remark(
			r,
			"ITL of %.4g ms is of stream chunks, TPOT of %.4g ms "
			"of tokens: TPOT is read",
			itl, row->itl.mean);
	return 0;
}

static int read_one(struct fit_reading *r, const struct fit_doc *d, bool old)
{
	struct fit_row *row = fit_reading_row(r, d->line);

	if (row == NULL)
		return -1;
	fit_json_text(d->json, "model_id", row->model, sizeof row->model);
	fit_json_text(d->json, "backend", row->engine, sizeof row->engine);
	/* A protocol, not an engine. */
	if (strncmp(row->engine, "openai", 6) == 0)
		row->engine[0] = '\0';
	if (fit_json_fields(r, d, shared, FIT_COUNT(shared)) < 0 ||
	    fit_json_fields(r, d, old ? e2e_old : e2e,
	                    old ? FIT_COUNT(e2e_old) : FIT_COUNT(e2e)) < 0 ||
	    fit_serve_lengths(r, d) < 0 ||
	    fit_serve_load(r, d, "max_concurrency") < 0 ||
	    compare_itl(r, d) < 0)
		return -1;
	if (isnan(fit_middle(&row->e2e)))
		fit_remark(r, "no E2E in the file (--percentile-metrics with "
		              "e2el writes it): Little's law is not looked "
		              "at");
	return 0;
}

static int reads_all(struct fit_reading *r, bool old)
{
	for (uint32_t i = 0; i < r->in->n_docs; i++) {
		const struct fit_doc *d = &r->in->doc[i];

		if (!is_serve(d->json) || is_old(d->json) != old)
			return err_set(r->e, r->in->path, (int)d->line, 0,
			               d->at,
			               "is no result like the first one");
		if (read_one(r, d, old) < 0)
			return -1;
	}
	return 0;
}

static int reads(struct fit_reading *r)
{
	return reads_all(r, false);
}

static int reads_old(struct fit_reading *r)
{
	return reads_all(r, true);
}

const struct fit_format fit_vllm = {"vLLM bench serve", detects, reads};
const struct fit_format fit_vllm_old = {"vLLM 0.5 benchmark_serving",
                                        detects_old, reads_old};
