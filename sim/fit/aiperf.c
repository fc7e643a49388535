/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * aiperf's profile_export_aiperf, as JSON and as CSV. A run has phases; those
 * that are excluded from results (warm-up) say nothing of the load. The CSV
 * does not hold the load at all.
 */
#include <math.h>
#include <string.h>

#include "fit/read_int.h"

static bool detects(const struct fit_input *in)
{
	const json_t *json = fit_first(in);

	return fit_has_number(json, "request_latency.avg") &&
	       (fit_json(json, "aiperf_version") != NULL ||
	        fit_json(json, "schema_version") != NULL);
}

/* The phase that was measured: "profiling", or the first that counts. */
static const json_t *measured_phase(const json_t *phases)
{
	const json_t *first = NULL, *phase;
	const char *name;

	for (size_t i = 0; i < json_array_size(phases); i++) {
		phase = json_array_get(phases, i);
		if (json_is_true(fit_json(phase, "exclude_from_results")))
			continue;
		name = json_string_value(fit_json(phase, "name"));
		if (name != NULL && strcmp(name, "profiling") == 0)
			return phase;
		if (first == NULL)
			first = phase;
	}
	return first;
}

/* Whether any of the words that name arrivals says "constant". */
static bool evenly_spaced(const json_t *load)
{
	static const char *const key[] = {"type", "arrival_pattern",
	                                  "request_rate_mode"};
	const char *word;

	for (size_t i = 0; i < FIT_COUNT(key); i++) {
		word = json_string_value(fit_json(load, key[i]));
		if (word != NULL && strstr(word, "constant") != NULL)
			return true;
	}
	return false;
}

static int read_load(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	struct fit_doc load = {.line = d->line};
	double rate = (double)NAN;

	load.json = measured_phase(fit_json(d->json, "input_config.phases"));
	memcpy(load.at, "$.input_config.phases[]",
	       sizeof "$.input_config.phases[]");
	if (load.json == NULL) {
		load.json = fit_json(d->json, "input_config.loadgen");
		memcpy(load.at, "$.input_config.loadgen",
		       sizeof "$.input_config.loadgen");
	}
	if (fit_json_number(r, &load, "concurrency", &row->concurrency) < 0 ||
	    fit_json_number(r, &load, "request_rate", &rate) < 0 ||
	    fit_json_number(r, &load, "rate", &rate) < 0)
		return -1;
	if (isnan(rate))
		return 0;
	row->load =
		evenly_spaced(load.json) ? FIT_OPEN_CONSTANT : FIT_OPEN_POISSON;
	row->offered_rps = rate;
	row->concurrency = (double)NAN;
	return 0;
}

static void read_model(struct fit_row *row, const json_t *json)
{
	const json_t *names = fit_json(json, "input_config.models.items");

	if (json_array_size(names) > 0)
		fit_json_text(json_array_get(names, 0), "name", row->model,
		              sizeof row->model);
	names = fit_json(json, "input_config.endpoint.model_names");
	if (row->model[0] == '\0' && json_is_string(json_array_get(names, 0)))
		fit_text(row->model, sizeof row->model,
		         json_string_value(json_array_get(names, 0)));
}

static int reads(struct fit_reading *r)
{
	const struct fit_doc *d = r->in->doc;
	struct fit_row *row = fit_reading_row(r, d->line);

	if (row == NULL)
		return -1;
	read_model(row, d->json);
	if (fit_nvidia_json(r, d) < 0 || read_load(r, d) < 0)
		return -1;
	if (json_is_true(fit_json(d->json, "was_cancelled")))
		fit_remark(r, "the run was cancelled");
	return 0;
}

static bool detects_csv(const struct fit_input *in)
{
	return fit_column(&in->header, "Metric") == 0 &&
	       fit_column(&in->header, "avg") > 0 &&
	       fit_column(&in->header, "sum") > 0;
}

const struct fit_format fit_aiperf = {"aiperf JSON", detects, reads};
const struct fit_format fit_aiperf_csv = {"aiperf CSV", detects_csv,
                                          fit_nvidia_csv};
