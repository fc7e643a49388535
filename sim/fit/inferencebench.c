/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * InferenceBench's envelope: milliseconds, medians and p99 only; clients and
 * lengths are the suite's, and not in the file.
 */
#include <math.h>

#include "fit/read_int.h"

static const struct fit_field fields[] = {
	{"metrics.req_per_s_all", FIT_AT(achieved_rps), 1},
	{"metrics.throughput_tok_per_s", FIT_AT(out_tok_s), 1},
	{"metrics.ttft_p50_ms", FIT_AT(ttft.p50), 1},
	{"metrics.ttft_p99_ms", FIT_AT(ttft.p99), 1},
	{"metrics.tpot_p50_ms", FIT_AT(itl.p50), 1},
	{"metrics.tpot_p99_ms", FIT_AT(itl.p99), 1},
	{"metrics.total_p50_ms", FIT_AT(e2e.p50), 1},
	{"metrics.total_p99_ms", FIT_AT(e2e.p99), 1},
};

static bool detects(const struct fit_input *in)
{
	const json_t *json = fit_first(in);

	return fit_json(json, "envelope_version") != NULL &&
	       json_is_object(fit_json(json, "metrics"));
}

static int reads(struct fit_reading *r)
{
	const struct fit_doc *d = r->in->doc;
	struct fit_row *row = fit_reading_row(r, d->line);
	const json_t *gpus;
	double ok = 1;

	if (row == NULL)
		return -1;
	gpus = fit_json(d->json, "hardware_fingerprint.gpus");
	fit_json_text(d->json, "model.id", row->model, sizeof row->model);
	fit_json_text(d->json, "engine.name", row->engine, sizeof row->engine);
	fit_json_text(d->json, "engine.version", row->engine_version,
	              sizeof row->engine_version);
	fit_json_text(d->json, "quantization.format", row->precision,
	              sizeof row->precision);
	fit_json_text(d->json, "suite_id", row->variant, sizeof row->variant);
	fit_json_text(json_array_get(gpus, 0), "model", row->gpu,
	              sizeof row->gpu);
	if (fit_json_fields(r, d, fields, FIT_COUNT(fields)) < 0 ||
	    fit_json_number(r, d, "metrics.ok_rate", &ok) < 0)
		return -1;
	if (row->achieved_rps > 0 && row->out_tok_s > 0)
		row->osl = row->out_tok_s / row->achieved_rps;
	if (ok < 1)
		fit_remark(r, "%.3g %% of the requests failed", 100 * (1 - ok));
	return 0;
}

const struct fit_format fit_inferencebench = {"InferenceBench", detects, reads};
