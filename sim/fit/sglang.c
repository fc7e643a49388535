/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SGLang bench_serving: one object a line, milliseconds. `concurrency` is the
 * mean number in flight that was measured, `max_concurrency` the clients.
 */
#include <math.h>

#include "fit/read_int.h"

static const struct fit_field fields[] = {
	{"request_throughput", FIT_AT(achieved_rps), 1},
	{"output_throughput", FIT_AT(out_tok_s), 1},
	{"concurrency", FIT_AT(littles_l), 1},
	{"mean_ttft_ms", FIT_AT(ttft.mean), 1},
	{"median_ttft_ms", FIT_AT(ttft.p50), 1},
	{"p90_ttft_ms", FIT_AT(ttft.p90), 1},
	{"p95_ttft_ms", FIT_AT(ttft.p95), 1},
	{"p99_ttft_ms", FIT_AT(ttft.p99), 1},
	{"mean_tpot_ms", FIT_AT(itl.mean), 1},
	{"median_tpot_ms", FIT_AT(itl.p50), 1},
	{"p90_tpot_ms", FIT_AT(itl.p90), 1},
	{"p95_tpot_ms", FIT_AT(itl.p95), 1},
	{"p99_tpot_ms", FIT_AT(itl.p99), 1},
	{"mean_e2e_latency_ms", FIT_AT(e2e.mean), 1},
	{"median_e2e_latency_ms", FIT_AT(e2e.p50), 1},
	{"p90_e2e_latency_ms", FIT_AT(e2e.p90), 1},
	{"p95_e2e_latency_ms", FIT_AT(e2e.p95), 1},
	{"p99_e2e_latency_ms", FIT_AT(e2e.p99), 1},
};

static bool is_result(const json_t *json)
{
	return fit_has_number(json, "mean_e2e_latency_ms") &&
	       fit_has_number(json, "request_throughput");
}

static bool detects(const struct fit_input *in)
{
	return is_result(fit_first(in));
}

/* Aborted requests are counted, with the one token that ends them. */
static int check_aborted(struct fit_reading *r, const struct fit_doc *d)
{
	const struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double real = (double)NAN;

	if (fit_json_number(r, d, "total_output_tokens_retokenized", &real) < 0)
		return -1;
	if (real <= row->n_requests && row->osl > 2)
		fit_warn(r->sweep, r->sweep->n - 1, true,
		         "%g answers hold %g tokens: they were aborted",
		         row->n_requests, real);
	return 0;
}

static int read_one(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = fit_reading_row(r, d->line);

	if (row == NULL)
		return -1;
	fit_json_text(d->json, "server_info.model_path", row->model,
	              sizeof row->model);
	fit_json_text(d->json, "model_id", row->model, sizeof row->model);
	fit_json_text(d->json, "server_info.version", row->engine_version,
	              sizeof row->engine_version);
	fit_json_text(d->json, "backend", row->engine, sizeof row->engine);
	if (fit_json_whole(r, d, "server_info.tp_size", &row->tp) < 0 ||
	    fit_json_whole(r, d, "server_info.max_running_requests",
	                   &row->max_num_seqs) < 0 ||
	    fit_json_fields(r, d, fields, FIT_COUNT(fields)) < 0 ||
	    fit_serve_lengths(r, d) < 0 ||
	    fit_serve_load(r, d, "max_concurrency") < 0)
		return -1;
	return check_aborted(r, d);
}

static int reads(struct fit_reading *r)
{
	return fit_serve_each(r, is_result, read_one);
}

const struct fit_format fit_sglang = {"SGLang bench_serving", detects, reads};
