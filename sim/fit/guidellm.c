/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guidellm's report: one load point a benchmark, each metric split into
 * successful, errored and incomplete requests. Latencies are milliseconds,
 * but request_latency, which is seconds. time_per_output_token counts the
 * first token too: inter_token_latency is read.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/read_int.h"

static const struct fit_field fields[] = {
	{"metrics.requests_per_second.successful.mean", FIT_AT(achieved_rps),
         1},
	{"metrics.output_tokens_per_second.successful.mean", FIT_AT(out_tok_s),
         1},
	{"metrics.prompt_token_count.successful.mean", FIT_AT(isl), 1},
	{"metrics.output_token_count.successful.mean", FIT_AT(osl), 1},
	{"metrics.request_concurrency.successful.mean", FIT_AT(littles_l), 1},
	{"metrics.request_totals.successful", FIT_AT(n_requests), 1},
};

static const struct fit_field latencies[] = {
	{"metrics.time_to_first_token_ms.successful", FIT_AT(ttft), 1},
	{"metrics.inter_token_latency_ms.successful", FIT_AT(itl), 1},
	{"metrics.request_latency.successful", FIT_AT(e2e), 1000},
};

static const char *const keys[] = {"mean", "median", "percentiles.p90",
                                   "percentiles.p95", "percentiles.p99"};

static bool detects(const struct fit_input *in)
{
	const json_t *list = fit_json(fit_first(in), "benchmarks");

	return json_is_array(list) &&
	       json_is_object(fit_json(json_array_get(list, 0), "metrics")) &&
	       fit_json(json_array_get(list, 0),
	                "metrics.requests_per_second") != NULL;
}

static int unknown_strategy(struct fit_reading *r, const struct fit_doc *d,
                            const char *type)
{
	char shown[48];

	fit_text(shown, sizeof shown, type);
	return err_set(r->e, r->in->path, (int)d->line, 0, d->at,
	               "strategy must be constant, poisson, concurrent, "
	               "throughput or synchronous, not %s",
	               shown);
}

/* Older reports do not name the strategy: what it holds tells. */
static const char *type_of(const json_t *strategy)
{
	static const char *const key[] = {"type_", "type", "kind"};
	const char *name;

	for (size_t i = 0; i < FIT_COUNT(key); i++) {
		name = json_string_value(fit_json(strategy, key[i]));
		if (name != NULL)
			return name;
	}
	if (fit_json(strategy, "streams") != NULL)
		return "concurrent";
	return fit_json(strategy, "rate") != NULL ? "constant" : "synchronous";
}

static int read_strategy(struct fit_reading *r, const struct fit_doc *d,
                         const char *type)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double rate = (double)NAN, most = (double)NAN, streams = (double)NAN;

	if (fit_json_number(r, d, "rate", &rate) < 0 ||
	    fit_json_number(r, d, "max_concurrency", &most) < 0 ||
	    fit_json_number(r, d, "streams", &streams) < 0)
		return -1;
	if (strcmp(type, "constant") == 0 || strcmp(type, "poisson") == 0) {
		row->load = *type == 'c' ? FIT_OPEN_CONSTANT : FIT_OPEN_POISSON;
		row->offered_rps = rate;
		return 0;
	}
	row->load = FIT_CLOSED;
	if (strcmp(type, "concurrent") == 0) {
		row->concurrency = isnan(streams) ? most : streams;
	} else if (strcmp(type, "synchronous") == 0) {
		row->concurrency = 1;
	} else if (strcmp(type, "throughput") == 0) {
		row->load = isnan(most) ? FIT_BURST : FIT_CLOSED;
		row->concurrency = most;
	} else {
		return unknown_strategy(r, d, type);
	}
	return 0;
}

static int count_failures(struct fit_reading *r, const struct fit_doc *d)
{
	double all = (double)NAN, errored = 0, cut = 0;

	if (fit_json_number(r, d, "metrics.request_totals.errored", &errored) <
	            0 ||
	    fit_json_number(r, d, "metrics.request_totals.incomplete", &cut) <
	            0 ||
	    fit_json_number(r, d, "metrics.request_totals.total", &all) < 0)
		return -1;
	if (errored > 0)
		fit_remark(r, "%g of %g requests failed", errored, all);
	if (cut > 0.1 * all)
		fit_remark(r, "%g of %g requests were cut off at the end", cut,
		           all);
	return 0;
}

static int read_benchmark(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = fit_reading_row(r, d->line);
	const json_t *file = fit_first(r->in);
	struct fit_doc strategy = *d;

	if (row == NULL)
		return -1;
	fit_json_text(file, "config.spec.backend.model", row->model,
	              sizeof row->model);
	fit_json_text(d->json, "worker.backend_model", row->model,
	              sizeof row->model);
	fit_json_text(d->json, "config.backend.model", row->model,
	              sizeof row->model);
	strategy.json = fit_json(d->json, "config.strategy");
	if (strategy.json == NULL)
		strategy.json = fit_json(d->json, "args.strategy");
	if (fit_json_fields(r, d, fields, FIT_COUNT(fields)) < 0 ||
	    fit_json_latencies(r, d, latencies, FIT_COUNT(latencies), keys) <
	            0 ||
	    read_strategy(r, &strategy, type_of(strategy.json)) < 0)
		return -1;
	return count_failures(r, d);
}

static int reads(struct fit_reading *r)
{
	const json_t *list = fit_json(fit_first(r->in), "benchmarks");
	struct fit_doc d = {.line = r->in->doc[0].line};

	assert(json_is_array(list));
	for (size_t i = 0; i < json_array_size(list); i++) {
		d.json = json_array_get(list, i);
		snprintf(d.at, sizeof d.at, "$.benchmarks[%zu]", i);
		if (read_benchmark(r, &d) < 0)
			return -1;
	}
	return 0;
}

const struct fit_format fit_guidellm = {"guidellm", detects, reads};
