/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inference-perf: one file a stage, in seconds; arrivals are evenly spaced
 * unless its configuration, which is not in the file, says otherwise. The
 * Prometheus view of a stage is the server's: rates over a window of its own,
 * and no load.
 */
#include <math.h>

#include "fit/read_int.h"

static const struct fit_field client[] = {
	{"load_summary.requested_rate", FIT_AT(offered_rps), 1},
	{"successes.count", FIT_AT(n_requests), 1},
	{"successes.throughput.requests_per_sec", FIT_AT(achieved_rps), 1},
	{"successes.throughput.output_tokens_per_sec", FIT_AT(out_tok_s), 1},
	{"successes.prompt_len.mean", FIT_AT(isl), 1},
	{"successes.output_len.mean", FIT_AT(osl), 1},
};

static const struct fit_field server[] = {
	{"successes.count", FIT_AT(n_requests), 1},
	{"successes.rate", FIT_AT(achieved_rps), 1},
	{"successes.output_len.rate", FIT_AT(out_tok_s), 1},
};

static const struct fit_field client_latencies[] = {
	{"successes.latency.time_to_first_token", FIT_AT(ttft), 1000},
	{"successes.latency.inter_token_latency", FIT_AT(itl), 1000},
	{"successes.latency.time_per_output_token", FIT_AT(itl), 1000},
	{"successes.latency.request_latency", FIT_AT(e2e), 1000},
};

static const struct fit_field server_latencies[] = {
	{"successes.time_to_first_token", FIT_AT(ttft), 1000},
	{"successes.time_per_output_token", FIT_AT(itl), 1000},
	{"successes.request_latency", FIT_AT(e2e), 1000},
};

static const char *const keys[] = {"mean", "median", "p90", "p95", "p99"};

static bool is_server(const json_t *json)
{
	return fit_has_number(json, "successes.rate");
}

static bool detects(const struct fit_input *in)
{
	const json_t *json = fit_first(in);

	return fit_json(json, "load_summary") != NULL &&
	       json_is_object(fit_json(json, "successes")) &&
	       (is_server(json) ||
	        json_is_object(fit_json(json, "successes.throughput")));
}

/* The means of lengths there are sums of something else. */
static int server_lengths(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double input = (double)NAN;

	if (fit_json_number(r, d, "successes.prompt_len.rate", &input) < 0)
		return -1;
	if (row->achieved_rps > 0) {
		row->isl = input / row->achieved_rps;
		row->osl = row->out_tok_s / row->achieved_rps;
	}
	fit_remark(r, "the server's view by Prometheus: its rates are of a "
	              "window of its own, the load is not said");
	return 0;
}

static int read_server(struct fit_reading *r, const struct fit_doc *d)
{
	if (fit_json_fields(r, d, server, FIT_COUNT(server)) < 0 ||
	    fit_json_latencies(r, d, server_latencies,
	                       FIT_COUNT(server_latencies), keys) < 0)
		return -1;
	return server_lengths(r, d);
}

static int read_client(struct fit_reading *r, const struct fit_doc *d)
{
	if (fit_json_fields(r, d, client, FIT_COUNT(client)) < 0)
		return -1;
	return fit_json_latencies(r, d, client_latencies,
	                          FIT_COUNT(client_latencies), keys);
}

static int read_one(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = fit_reading_row(r, d->line);
	double failed = 0;

	if (row == NULL)
		return -1;
	row->load = FIT_OPEN_CONSTANT;
	if ((is_server(d->json) ? read_server(r, d) : read_client(r, d)) < 0)
		return -1;
	if (fit_json_number(r, d, "failures.count", &failed) < 0)
		return -1;
	if (failed > 0)
		fit_remark(r, "%g of %g requests failed", failed,
		           failed + row->n_requests);
	return 0;
}

static int reads(struct fit_reading *r)
{
	for (uint32_t i = 0; i < r->in->n_docs; i++)
		if (read_one(r, &r->in->doc[i]) < 0)
			return -1;
	return 0;
}

const struct fit_format fit_inference_perf = {"inference-perf", detects, reads};
