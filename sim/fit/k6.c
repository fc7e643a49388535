/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * k6: handleSummary(data), and --summary-export of older versions; ms. The
 * one keeps numbers below `values`, the other flat. In a rate metric the
 * passes are the values that were true: http_req_failed's passes are the
 * failures. No token is counted, so the user gives the lengths. A threshold
 * says {"ok": true} in the one when it held, and true in the other when it
 * was crossed: neither is read.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/read_int.h"

/* Below a metric, for the new and the old layout. */
static const struct {
	const char *metric, *key;
	size_t at;
} numbers[] = {
	{"http_reqs", "rate", FIT_AT(achieved_rps)},
	{"http_reqs", "count", FIT_AT(n_requests)},
	{"vus_max", "value", FIT_AT(concurrency)},
	{"http_req_waiting", "avg", FIT_AT(ttft.mean)},
	{"http_req_waiting", "med", FIT_AT(ttft.p50)},
	{"http_req_waiting", "p(90)", FIT_AT(ttft.p90)},
	{"http_req_waiting", "p(95)", FIT_AT(ttft.p95)},
	{"http_req_waiting", "p(99)", FIT_AT(ttft.p99)},
	{"http_req_duration", "avg", FIT_AT(e2e.mean)},
	{"http_req_duration", "med", FIT_AT(e2e.p50)},
	{"http_req_duration", "p(90)", FIT_AT(e2e.p90)},
	{"http_req_duration", "p(95)", FIT_AT(e2e.p95)},
	{"http_req_duration", "p(99)", FIT_AT(e2e.p99)},
};

#define SUCCESSFUL "http_req_duration{expected_response:true}"

static bool is_new(const json_t *json)
{
	return fit_has_number(json, "metrics.http_reqs.values.rate");
}

static bool detects(const struct fit_input *in)
{
	const json_t *json = fit_first(in);

	return is_new(json) || fit_has_number(json, "metrics.http_reqs.rate");
}

static int number_of(struct fit_reading *r, const struct fit_doc *d,
                     const char *metric, const char *key, double *out)
{
	char path[128];

	snprintf(path, sizeof path, "metrics.%s%s.%s", metric,
	         is_new(d->json) ? ".values" : "", key);
	return fit_json_number(r, d, path, out);
}

/* The share of requests that failed, and the latency of those that did not. */
static int read_failures(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double failed = 0, all = row->n_requests;
	double e2e = (double)NAN;

	if (number_of(r, d, "http_req_failed",
	              is_new(d->json) ? "rate" : "value", &failed) < 0 ||
	    number_of(r, d, SUCCESSFUL, "avg", &e2e) < 0)
		return -1;
	if (failed <= 0 || failed > 1)
		return 0;
	row->n_requests = all * (1 - failed);
	row->achieved_rps *= 1 - failed;
	if (!isnan(e2e)) {
		row->e2e = (struct fit_latency){e2e, (double)NAN, (double)NAN,
		                                (double)NAN, (double)NAN};
		if (number_of(r, d, SUCCESSFUL, "med", &row->e2e.p50) < 0 ||
		    number_of(r, d, SUCCESSFUL, "p(90)", &row->e2e.p90) < 0 ||
		    number_of(r, d, SUCCESSFUL, "p(95)", &row->e2e.p95) < 0 ||
		    number_of(r, d, SUCCESSFUL, "p(99)", &row->e2e.p99) < 0)
			return -1;
	}
	fit_remark(r, "%.0f of %.0f requests failed%s", all * failed, all,
	           isnan(e2e) ? "; the latencies are of all" : "");
	return 0;
}

/* The first byte is the first token's only when the answer streams. */
static void read_streaming(struct fit_reading *r)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];

	if (!(row->ttft.mean > 0.9 * row->e2e.mean))
		return;
	row->ttft = (struct fit_latency){(double)NAN, (double)NAN, (double)NAN,
	                                 (double)NAN, (double)NAN};
	fit_remark(r, "answers came whole, not as streams: no TTFT");
}

static int reads(struct fit_reading *r)
{
	const struct fit_doc *d = r->in->doc;
	struct fit_row *row;
	double v;

	if (fit_lengths_needed(r, "k6") < 0)
		return -1;
	row = fit_reading_row(r, d->line);
	if (row == NULL)
		return -1;
	for (size_t i = 0; i < FIT_COUNT(numbers); i++) {
		v = (double)NAN;
		if (number_of(r, d, numbers[i].metric, numbers[i].key, &v) < 0)
			return -1;
		memcpy((char *)row + numbers[i].at, &v, sizeof v);
	}
	if (read_failures(r, d) < 0)
		return -1;
	read_streaming(r);
	return 0;
}

const struct fit_format fit_k6 = {"k6", detects, reads};
