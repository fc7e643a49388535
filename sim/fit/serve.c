/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What vLLM's load tester and those that grew out of it have in common: how
 * the load is said, and lengths as totals.
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "fit/read_int.h"

/* A rate that is a number and finite; "inf" is all at once. */
static int read_rate(struct fit_reading *r, const struct fit_doc *d,
                     double *rate)
{
	const json_t *said = fit_json(d->json, "request_rate");
	const char *word = json_string_value(said);

	*rate = (double)NAN;
	if (word != NULL && (strcasecmp(word, "inf") == 0 ||
	                     strcasecmp(word, "infinity") == 0 ||
	                     strcasecmp(word, "trace") == 0))
		return 0;
	return fit_json_number(r, d, "request_rate", rate);
}

static int open_loop(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double burstiness = 1;

	if (fit_json_number(r, d, "burstiness", &burstiness) < 0)
		return -1;
	row->load = FIT_OPEN_POISSON;
	if (fabs(burstiness - 1) > 1e-9)
		fit_remark(r,
		           "arrivals of burstiness %g are no Poisson process, "
		           "but taken as one",
		           burstiness);
	return 0;
}

int fit_serve_load(struct fit_reading *r, const struct fit_doc *d,
                   const char *concurrency)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double clients = (double)NAN, rate, busy;

	assert(r->sweep->n > 0 && concurrency != NULL);
	if (fit_json_number(r, d, concurrency, &clients) < 0 ||
	    read_rate(r, d, &rate) < 0)
		return -1;
	row->offered_rps = rate;
	if (isnan(rate)) {
		row->load = isnan(clients) ? FIT_BURST : FIT_CLOSED;
		row->concurrency = clients;
		return 0;
	}
	busy = row->achieved_rps * fit_middle(&row->e2e) / 1000;
	if (busy < 0.9 * clients || isnan(clients) || isnan(busy))
		return open_loop(r, d);
	/* The cap was reached: clients wait for each other. */
	row->load = FIT_CLOSED;
	row->concurrency = clients;
	row->offered_rps = (double)NAN;
	fit_remark(r,
	           "the cap of %g in flight was reached at %g/s: a closed loop "
	           "of %g",
	           clients, rate, clients);
	return 0;
}

/* Answers that are empty, yet counted. */
static void count_empty(struct fit_reading *r, const struct fit_doc *d)
{
	const json_t *lens = fit_json(d->json, "output_lens");
	size_t n = json_array_size(lens), empty = 0;

	for (size_t i = 0; i < n; i++)
		if (json_is_integer(json_array_get(lens, i)) &&
		    json_integer_value(json_array_get(lens, i)) == 0)
			empty++;
	if (empty > 0)
		fit_remark(r,
		           "%zu of %zu answers are empty, yet may be counted "
		           "as completed",
		           empty, n);
}

static void count_failed(struct fit_reading *r, double failed, double completed)
{
	if (failed > 0)
		fit_remark(r, "%g of %g requests failed", failed,
		           failed + completed);
}

int fit_serve_lengths(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double input = (double)NAN, output = (double)NAN, failed = (double)NAN;
	double completed = (double)NAN, prompts = (double)NAN;

	assert(r->sweep->n > 0);
	if (fit_json_number(r, d, "total_input_tokens", &input) < 0 ||
	    fit_json_number(r, d, "total_output_tokens", &output) < 0 ||
	    fit_json_number(r, d, "completed", &completed) < 0 ||
	    fit_json_number(r, d, "num_prompts", &prompts) < 0 ||
	    fit_json_number(r, d, "failed", &failed) < 0)
		return -1;
	row->n_requests = completed;
	if (completed > 0 && input > 0)
		row->isl = input / completed;
	if (completed > 0 && output > 0)
		row->osl = output / completed;
	if (isnan(failed) && prompts > completed)
		failed = prompts - completed;
	count_failed(r, failed, completed);
	count_empty(r, d);
	return 0;
}

int fit_serve_each(struct fit_reading *r, bool (*is_result)(const json_t *json),
                   int (*read_one)(struct fit_reading *r,
                                   const struct fit_doc *d))
{
	for (uint32_t i = 0; i < r->in->n_docs; i++) {
		const struct fit_doc *d = &r->in->doc[i];

		if (!is_result(d->json))
			return err_set(r->e, r->in->path, (int)d->line, 0,
			               d->at,
			               "is no result like the first one");
		if (read_one(r, d) < 0)
			return -1;
	}
	return 0;
}
