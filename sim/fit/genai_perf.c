/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * genai-perf's profile_export_genai_perf, as JSON (with the load in
 * input_config) and as CSV (without it).
 */
#include <math.h>

#include "fit/read_int.h"

static bool detects(const struct fit_input *in)
{
	const json_t *json = fit_first(in);

	return fit_has_number(json, "request_latency.avg") &&
	       json_is_object(fit_json(json, "input_config")) &&
	       fit_json(json, "aiperf_version") == NULL &&
	       fit_json(json, "schema_version") == NULL;
}

/* Clients, or a rate: perf_analyzer spaces its requests evenly. */
static int read_load(struct fit_reading *r, const struct fit_doc *d)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double c = (double)NAN, rate = (double)NAN;

	if (fit_json_number(r, d, "input_config.concurrency", &c) < 0 ||
	    fit_json_number(r, d,
	                    "input_config.perf_analyzer.stimulus.concurrency",
	                    &c) < 0 ||
	    fit_json_number(r, d, "input_config.request_rate", &rate) < 0 ||
	    fit_json_number(r, d,
	                    "input_config.perf_analyzer.stimulus.request_rate",
	                    &rate) < 0)
		return -1;
	row->load = isnan(c) && !isnan(rate) ? FIT_OPEN_CONSTANT : FIT_CLOSED;
	row->concurrency = c;
	row->offered_rps = isnan(c) ? rate : (double)NAN;
	return 0;
}

static int reads(struct fit_reading *r)
{
	const struct fit_doc *d = r->in->doc;
	struct fit_row *row = fit_reading_row(r, d->line);
	const json_t *model = fit_json(d->json, "input_config.model");

	if (row == NULL)
		return -1;
	if (json_is_array(model))
		model = json_array_get(model, 0);
	if (json_is_string(model))
		fit_text(row->model, sizeof row->model,
		         json_string_value(model));
	fit_json_text(d->json, "input_config.backend", row->engine,
	              sizeof row->engine);
	return fit_nvidia_json(r, d) < 0 ? -1 : read_load(r, d);
}

static bool detects_csv(const struct fit_input *in)
{
	return fit_column(&in->header, "Metric") == 0 &&
	       fit_column(&in->header, "avg") > 0 &&
	       fit_column(&in->header, "sum") < 0;
}

const struct fit_format fit_genai_perf = {"genai-perf JSON", detects, reads};
const struct fit_format fit_genai_perf_csv = {"genai-perf CSV", detects_csv,
                                              fit_nvidia_csv};
