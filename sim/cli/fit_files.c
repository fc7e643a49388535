/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fit in files: JSON, a config revision, the rows as CSV for the chart. */
#include "fit_int.h"

#include <math.h>
#include <string.h>

static const char *const metric_name[FIT_METRICS] = {
	[FIT_RPS] = "requests_per_s",
	[FIT_E2E] = "e2e_mean_ms",
	[FIT_TPOT] = "tpot_mean_ms",
	[FIT_TTFT] = "ttft_mean_ms",
};

static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *curve_json(const struct fit_report *r, uint32_t g)
{
	const struct fit_row *row = &r->fitted.sweep.row[r->group[g].row[0]];
	const struct fit_curve *c = &r->curve[g];
	json_t *o = json_pack("{s:s,s:s,s:s,s:i,s:s,s:s,s:i}", "model",
	                      row->model, "precision", row->precision, "gpu",
	                      row->gpu, "num_gpus", (int)row->num_gpus,
	                      "engine", row->engine, "engine_version",
	                      row->engine_version, "rows", (int)r->group[g].n);
	json_t *list = json_array();

	json_object_set_new(o, "parameters", list);
	if (!r->good[g])
		return o;
	for (int p = 0; p < FIT_PARAMETERS; p++) {
		enum fit_parameter q = (enum fit_parameter)p;

		if (!(c->value[p] > 0))
			continue;
		json_array_append_new(
			list, json_pack("{s:s,s:o,s:o,s:s}", "name",
		                        fit_parameter_name(q), "value",
		                        real(c->value[p]), "standard_error",
		                        real(c->error[p]), "unit",
		                        fit_parameter_unit(q)));
	}
	json_object_set_new(o, "rows_used", json_integer(c->n));
	json_object_set_new(o, "residual", real(c->residual));
	json_object_set_new(o, "max_num_seqs", json_integer(c->max_num_seqs));
	json_object_set_new(o, "max_num_batched_tokens",
	                    json_integer(c->max_num_batched_tokens));
	json_object_set_new(o, "length_spread", real(c->length_spread));
	return o;
}

static json_t *row_json(const struct fit_side *side, uint32_t i)
{
	const struct fit_row *row = &side->sweep.row[i];
	json_t *o = json_pack(
		"{s:s,s:i,s:o,s:o,s:o,s:o,s:o}", "file", row->file, "line",
		(int)row->line, "isl", real(row->isl), "osl", real(row->osl),
		"concurrency", real(row->concurrency), "offered_rps",
		real(row->offered_rps), "littles_l", real(row->littles_l));

	for (int m = 0; m < FIT_METRICS; m++) {
		enum fit_metric k = (enum fit_metric)m;
		const struct fit_prediction *p = &side->predicted[i];
		bool known = side->curve[i] != UINT32_MAX;

		json_object_set_new(
			o, metric_name[m],
			json_pack("{s:o,s:o,s:o}", "measured",
		                  real(fit_measured(row, k)), "simulated",
		                  real(known ? fit_predicted(p, k) : NAN),
		                  "error",
		                  real(known ? fit_error(row, p, k) : NAN)));
	}
	return o;
}

static json_t *side_json(const struct fit_side *side)
{
	json_t *o = json_object(), *rows = json_array();
	json_t *mape = json_object(), *warnings = json_array();

	for (uint32_t i = 0; i < side->sweep.n; i++)
		json_array_append_new(rows, row_json(side, i));
	for (int m = 0; m < FIT_METRICS; m++) {
		uint32_t n;
		double x = fit_report_mape(side, UINT32_MAX, (enum fit_metric)m,
		                           &n);

		json_object_set_new(mape, metric_name[m], real(x));
	}
	for (uint32_t i = 0; i < side->sweep.n_warnings; i++) {
		const struct fit_warning *w = &side->sweep.warning[i];

		json_array_append_new(
			warnings,
			json_pack("{s:o,s:b,s:s}", "row",
		                  w->row == UINT32_MAX
		                          ? json_null()
		                          : json_integer(w->row + 1),
		                  "left_out", w->refused, "text", w->text));
	}
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "mean_absolute_error", mape);
	json_object_set_new(o, "warnings", warnings);
	return o;
}

json_t *fit_json_report(const struct fit_report *r, bool against)
{
	json_t *o = json_object(), *groups = json_array();

	for (uint32_t g = 0; g < r->n; g++)
		json_array_append_new(groups, curve_json(r, g));
	json_object_set_new(o, "curves", groups);
	json_object_set_new(o, "fitted", side_json(&r->fitted));
	if (against)
		json_object_set_new(o, "against", side_json(&r->against));
	return o;
}

/* ---- a config revision ------------------------------------------------- */

/* us with the ns in it: what is written is what is run. */
static json_t *us(int64_t ticks)
{
	double ns = (double)ticks / (double)REPLICA_TICKS_PER_NS;

	return json_real(round(ns * 1000) / 1e6);
}

static json_t *pieces_json(const struct replica_curve *curve)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < curve->n; i++) {
		const struct replica_curve_piece *p = &curve->piece[i];
		json_t *o = json_object();

		if (i + 1 < curve->n)
			json_object_set_new(o, "upto_tokens",
			                    json_integer(p->upto_tokens));
		json_object_set_new(o, "base_us", us(p->base_ticks));
		json_object_set_new(o, "prefill_token_us",
		                    us(p->per_prefill_ticks));
		json_object_set_new(o, "decode_token_us",
		                    us(p->per_decode_ticks));
		json_object_set_new(o, "context_token_us",
		                    us(p->per_context_ticks));
		json_object_set_new(o, "pair_us", us(p->per_pair_ticks));
		json_array_append_new(list, o);
	}
	return json_pack("{s:o}", "pieces", list);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* NAME of a path DIR/cr_NAME.json; -1 when it is another. */
static int revision_name(const char *path, char *out, size_t size,
                         struct err *e)
{
	const char *base = base_name(path);
	size_t n = strlen(base);

	if (n < 9 || n >= size || strncmp(base, "cr_", 3) != 0 ||
	    strcmp(base + n - 5, ".json") != 0)
		return err_set(e, "--out", 0, 0, NULL,
		               "must be a file cr_NAME.json, not %s", path);
	snprintf(out, size, "%.*s", (int)(n - 8), base + 3);
	return 0;
}

static json_t *revision_json(const struct fit_report *r, struct arena *a)
{
	const struct fit_curve *c = &r->curve[0];
	const struct fit_row *row = &r->fitted.sweep.row[r->group[0].row[0]];
	uint32_t n;
	double rps = fit_report_mape(&r->fitted, 0, FIT_RPS, &n);
	double tpot = fit_report_mape(&r->fitted, 0, FIT_TPOT, &n);
	uint64_t kv = c->engine.config.kv_blocks * 16;
	char text[48];
	json_t *o = json_pack(
		"{s:s,s:s,s:s,s:{s:s,s:i},s:s,s:s,s:i,s:i,s:I,s:i}", "model",
		row->model, "engine", "batching", "engine_version",
		arena_printf(a, "%s %s", row->engine, row->engine_version),
		"gpu", "type", row->gpu, "count", (int)row->num_gpus,
		"precision", row->precision, "parallelism",
		arena_printf(a, "tp%u", row->tp), "max_num_seqs",
		(int)c->max_num_seqs, "max_num_batched_tokens",
		(int)c->max_num_batched_tokens, "kv_cache_tokens",
		(json_int_t)kv, "block_tokens", 16);

	if (c->engine.request_overhead_ns > 0)
		json_object_set_new(o, "overhead",
		                    json_string(units_write_duration(
					    c->engine.request_overhead_ns, text,
					    sizeof(text))));
	if (row->num_gpus == 0)
		json_object_del(o, "gpu");
	if (kv == 0)
		json_object_del(o, "kv_cache_tokens");
	json_object_set_new(o, "curve", pieces_json(&c->engine.config.curve));
	json_object_set_new(
		o, "source",
		json_string(arena_printf(a, "weir fit, %u rows of %s", c->n,
	                                 base_name(row->file))));
	json_object_set_new(
		o, "error",
		json_string(arena_printf(
			a,
			"Mean absolute error on the fitted rows: throughput "
			"%.1f %%, TPOT %.1f %%.",
			100 * rps, 100 * tpot)));
	return o;
}

int fit_write_revision(const struct fit_report *r, const char *path,
                       struct err *e)
{
	struct outfile f = {0};
	struct arena a = {0};
	char name[200], file[1024];
	json_t *o, *whole;
	const char *id;
	int wrong;

	if (revision_name(path, name, sizeof(name), e) != 0)
		return -1;
	arena_init(&a);
	o = revision_json(r, &a);
	id = scenario_revision_id(o, name, &a);
	whole = json_pack("{s:s}", "id", id);
	json_object_update(whole, o);
	snprintf(file, sizeof(file), "%.*s%s.json",
	         (int)(base_name(path) - path), path, id);
	wrong = outfile_open(&f, NULL, file, e);
	if (!wrong) {
		json_dumpf(whole, f.f,
		           JSON_INDENT(2) | JSON_PRESERVE_ORDER |
		                   JSON_REAL_PRECISION(12));
		fputc('\n', f.f);
		wrong = outfile_commit(&f, e);
	}
	if (!wrong)
		fprintf(stderr, "weir: wrote %s\n", file);
	json_decref(whole);
	json_decref(o);
	arena_fini(&a);
	return wrong;
}

/* ---- fit.csv ----------------------------------------------------------- */

static void csv_number(FILE *f, double v)
{
	if (isfinite(v))
		fprintf(f, ",%.9g", v);
	else
		fputc(',', f);
}

static void csv_rows(FILE *f, const struct fit_side *side, const char *set)
{
	for (uint32_t i = 0; i < side->sweep.n; i++) {
		const struct fit_row *row = &side->sweep.row[i];
		bool known = side->curve[i] != UINT32_MAX;

		fprintf(f, "%s,%u", set, row->line);
		csv_number(f, row->isl);
		csv_number(f, row->osl);
		csv_number(f, row->concurrency);
		csv_number(f, row->offered_rps);
		csv_number(f, row->littles_l);
		for (int m = 0; m < FIT_METRICS; m++) {
			double x = known ? fit_predicted(&side->predicted[i],
			                                 (enum fit_metric)m)
			                 : NAN;

			csv_number(f, fit_measured(row, (enum fit_metric)m));
			csv_number(f, x);
		}
		fputc('\n', f);
	}
}

int fit_write_csv(const struct fit_report *r, const char *dir, struct err *e)
{
	struct outfile f = {0};

	if (outfile_open(&f, dir, "fit.csv", e) != 0)
		return -1;
	fputs("set,line,isl,osl,concurrency,offered_rps,littles_l", f.f);
	for (int m = 0; m < FIT_METRICS; m++)
		fprintf(f.f, ",%s,%s_simulated", metric_name[m],
		        metric_name[m]);
	fputc('\n', f.f);
	csv_rows(f.f, &r->fitted, "fitted");
	csv_rows(f.f, &r->against, "against");
	return outfile_commit(&f, e);
}
