/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * genai-bench: one file a run, in seconds, with requests a minute. The
 * experiment's metadata, beside them, hold no results.
 */
#include <math.h>

#include "fit/read_int.h"

#define STATS "aggregated_metrics.stats."
static const struct fit_field fields[] = {
	{"aggregated_metrics.num_concurrency", FIT_AT(concurrency), 1},
	{"aggregated_metrics.requests_per_minute", FIT_AT(achieved_rps),
         1.0 / 60},
	{"aggregated_metrics.mean_output_throughput_tokens_per_s",
         FIT_AT(out_tok_s), 1},
	{"aggregated_metrics.num_completed_requests", FIT_AT(n_requests), 1},
	{STATS "num_input_tokens.mean", FIT_AT(isl), 1},
	{STATS "num_output_tokens.mean", FIT_AT(osl), 1},
};

static const struct fit_field latencies[] = {
	{STATS "ttft", FIT_AT(ttft), 1000},
	{STATS "tpot", FIT_AT(itl), 1000},
	{STATS "e2e_latency", FIT_AT(e2e), 1000},
};

static const char *const keys[] = {"mean", "p50", "p90", "p95", "p99"};

static bool is_metadata(const json_t *json)
{
	return fit_json(json, "traffic_scenario") != NULL &&
	       fit_json(json, "benchmark_version") != NULL;
}

static bool detects(const struct fit_input *in)
{
	const json_t *json = fit_first(in);

	return json_is_object(fit_json(json, "aggregated_metrics.stats")) ||
	       is_metadata(json);
}

static int reads(struct fit_reading *r)
{
	const struct fit_doc *d = r->in->doc;
	double failed = 0, all = (double)NAN;
	struct fit_row *row;

	if (is_metadata(d->json))
		return err_set(r->e, r->in->path, 0, 0, NULL,
		               "describes an experiment of genai-bench: give "
		               "the files of its runs");
	row = fit_reading_row(r, d->line);
	if (row == NULL)
		return -1;
	fit_json_text(d->json, "aggregated_metrics.scenario", row->variant,
	              sizeof row->variant);
	if (fit_json_fields(r, d, fields, FIT_COUNT(fields)) < 0 ||
	    fit_json_latencies(r, d, latencies, FIT_COUNT(latencies), keys) <
	            0 ||
	    fit_json_number(r, d, "aggregated_metrics.num_error_requests",
	                    &failed) < 0 ||
	    fit_json_number(r, d, "aggregated_metrics.num_requests", &all) < 0)
		return -1;
	if (failed > 0)
		fit_remark(r, "%g of %g requests failed", failed, all);
	return 0;
}

const struct fit_format fit_genai_bench = {"genai-bench", detects, reads};
