/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpu_conc, a script of one page: milliseconds, closed loops, nominal
 * lengths, the speed of a query's tokens in place of their distance.
 */
#include <math.h>

#include "fit/read_int.h"

static const struct fit_field fields[] = {
	{"concurrency", FIT_AT(concurrency), 1},
	{"requests_per_second", FIT_AT(achieved_rps), 1},
	{"system_output_throughput", FIT_AT(out_tok_s), 1},
	{"successful_requests", FIT_AT(n_requests), 1},
	{"test_config.input_tokens", FIT_AT(isl), 1},
	{"average_ttft", FIT_AT(ttft.mean), 1},
	{"median_ttft", FIT_AT(ttft.p50), 1},
	{"p95_ttft", FIT_AT(ttft.p95), 1},
	{"p99_ttft", FIT_AT(ttft.p99), 1},
	{"average_latency_per_request", FIT_AT(e2e.mean), 1},
	{"median_end_to_end_latency", FIT_AT(e2e.p50), 1},
	{"p95_end_to_end_latency", FIT_AT(e2e.p95), 1},
	{"p99_end_to_end_latency", FIT_AT(e2e.p99), 1},
};

static bool detects(const struct fit_input *in)
{
	const json_t *json = fit_first(in);

	return fit_has_number(json, "system_output_throughput") &&
	       fit_has_number(json, "median_end_to_end_latency");
}

static int reads(struct fit_reading *r)
{
	const struct fit_doc *d = r->in->doc;
	struct fit_row *row = fit_reading_row(r, d->line);
	double failed = 0;

	if (row == NULL)
		return -1;
	fit_json_text(d->json, "model", row->model, sizeof row->model);
	fit_json_text(d->json, "gpu_info.model", row->gpu, sizeof row->gpu);
	if (fit_json_fields(r, d, fields, FIT_COUNT(fields)) < 0 ||
	    fit_json_whole(r, d, "gpu_info.count", &row->num_gpus) < 0 ||
	    fit_json_number(r, d, "failed_requests", &failed) < 0)
		return -1;
	/* Answers end before the most that was allowed. */
	if (row->achieved_rps > 0 && row->out_tok_s > 0)
		row->osl = row->out_tok_s / row->achieved_rps;
	if (failed > 0)
		fit_remark(r, "%g of %g requests failed", failed,
		           failed + row->n_requests);
	return 0;
}

const struct fit_format fit_gpu_conc = {"gpu_conc", detects, reads};
