/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir fit: reads measured sweeps, fits a curve to each group of rows, and
 * says how far the simulator is from what was measured, on those rows and on
 * the rows of other files.
 */
#include "fit_int.h"

#include <math.h>
#include <stdlib.h>

/* ---- the words --------------------------------------------------------- */

static int number(const char *name, const char *text, double *out)
{
	char *end;

	*out = NAN;
	if (text == NULL)
		return 0;
	*out = strtod(text, &end);
	if (*end != '\0' || end == text || !(*out >= 1) || !(*out < 1e9))
		return cli_usage("--%s: must be a number from 1 on, not %s",
		                 name, text);
	return 0;
}

static int read_hints(struct fit_hints *h, const struct options *o)
{
	int wrong = number("isl", o->isl, &h->isl);

	if (!wrong)
		wrong = number("osl", o->osl, &h->osl);
	if (!wrong)
		wrong = number("concurrency", o->concurrency, &h->concurrency);
	return wrong;
}

/* ---- the work ---------------------------------------------------------- */

static int read_side(struct fit_side *side, const char *const *file, size_t n,
                     const struct fit_hints *hints, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (fit_read(&side->sweep, file[i], hints, e) != 0)
			return -1;
	side->predicted = mem_new(side->sweep.n + 1, sizeof(*side->predicted));
	side->curve = mem_new(side->sweep.n + 1, sizeof(*side->curve));
	return 0;
}

/* Fits the groups; *first is why the first of them has no curve. */
static uint32_t fit_all(struct fit_report *r, struct err *first)
{
	uint32_t good = 0;

	r->n = fit_groups(&r->fitted.sweep, &r->group);
	r->curve = mem_new(r->n + 1, sizeof(*r->curve));
	r->good = mem_new(r->n + 1, sizeof(*r->good));
	for (uint32_t g = 0; g < r->n; g++) {
		struct err e = {0};

		r->good[g] = fit_curve(&r->fitted.sweep, &r->group[g],
		                       &r->curve[g], &e) == 0;
		good += r->good[g];
		if (!r->good[g] && !first->set)
			*first = e;
	}
	return good;
}

/* The curve that a row goes with: its group's, or the only one there is. */
static uint32_t curve_for(const struct fit_report *r, const struct fit_row *row)
{
	for (uint32_t g = 0; g < r->n; g++)
		if (r->good[g] &&
		    fit_same(&r->fitted.sweep.row[r->group[g].row[0]], row))
			return g;
	return r->n == 1 && r->good[0] ? 0 : UINT32_MAX;
}

static void predict(const struct fit_report *r, struct fit_side *side)
{
	for (uint32_t i = 0; i < side->sweep.n; i++) {
		const struct fit_row *row = &side->sweep.row[i];
		uint32_t g = curve_for(r, row);
		struct err e = {0};

		side->curve[i] = UINT32_MAX;
		if (row->refused)
			continue;
		if (g == UINT32_MAX)
			fit_warn(&side->sweep, i, true,
			         "no curve of its model, GPU, engine, version "
			         "and TP");
		else if (fit_predict(&r->curve[g].engine, row,
		                     &side->predicted[i], &e) != 0)
			fit_warn(&side->sweep, i, true, "%.200s", e.text);
		else
			side->curve[i] = g;
	}
}

double fit_report_mape(const struct fit_side *side, uint32_t curve,
                       enum fit_metric metric, uint32_t *n)
{
	double sum = 0;

	*n = 0;
	for (uint32_t i = 0; i < side->sweep.n; i++) {
		double x;

		if (side->curve[i] == UINT32_MAX ||
		    (curve != UINT32_MAX && side->curve[i] != curve))
			continue;
		x = fit_error(&side->sweep.row[i], &side->predicted[i], metric);
		if (isfinite(x)) {
			sum += fabs(x);
			++*n;
		}
	}
	return *n > 0 ? sum / *n : NAN;
}

/* ---- the answer -------------------------------------------------------- */

static int say(const struct fit_report *r, const struct options *o)
{
	struct answer answer;
	struct err e = {0};
	json_t *json;

	if (o->quiet && o->output == NULL)
		return EXIT_HELD;
	if (answer_open(&answer, o, &e) != 0)
		return cli_wrong(&e);
	if (o->format == FORMAT_JSON) {
		json = fit_json_report(r, o->n_against > 0);
		json_dumpf(json, answer.to,
		           JSON_INDENT(2) | JSON_PRESERVE_ORDER |
		                   JSON_REAL_PRECISION(8));
		fputc('\n', answer.to);
		json_decref(json);
	} else {
		fit_text_report(answer.to, r, o->n_against > 0);
	}
	return answer_close(&answer);
}

static int leave(const struct fit_report *r, const struct options *o)
{
	const struct fit_row *row = &r->fitted.sweep.row[r->group[0].row[0]];
	struct err e = {0};
	char title[200];

	if (o->out && fit_write_revision(r, o->out, &e) != 0)
		return cli_wrong(&e);
	if (o->dir == NULL)
		return EXIT_HELD;
	if (outdir_make(o->dir, &e) != 0 || fit_write_csv(r, o->dir, &e) != 0)
		return cli_wrong(&e);
	snprintf(title, sizeof(title),
	         "%.60s on %u x %.30s: measured (circles), simulated (crosses)",
	         row->model, row->num_gpus, row->gpu);
	return plot_fit(o->dir, title, o);
}

static int work(struct fit_report *r, const struct options *o)
{
	struct fit_hints hints = {0};
	struct err e = {0}, first = {0};
	int wrong = read_hints(&hints, o);

	if (wrong)
		return wrong;
	if (read_side(&r->fitted, o->file, o->n_files, &hints, &e) != 0 ||
	    read_side(&r->against, o->against, o->n_against, &hints, &e) != 0)
		return cli_wrong(&e);
	if (r->fitted.sweep.n == 0)
		return cli_usage("%s: has no rows", o->file[0]);
	if (fit_all(r, &first) == 0) {
		/* What was read is shown all the same: there may be one load
		 * point in each of many files. */
		for (uint32_t i = 0; i < r->fitted.sweep.n; i++)
			r->fitted.curve[i] = UINT32_MAX;
		say(r, o);
		return cli_wrong(&first);
	}
	if (o->out && r->n > 1)
		return cli_usage("--out: these are %u groups; a revision is "
		                 "of one model, GPU, engine, version and TP",
		                 r->n);
	predict(r, &r->fitted);
	predict(r, &r->against);
	wrong = say(r, o);
	return wrong ? wrong : leave(r, o);
}

int verb_fit(const struct options *o)
{
	struct fit_report r = {0};
	int status;

	if (o->n_files == 0)
		return cli_usage("fit: a sweep is wanted");
	fit_sweep_init(&r.fitted.sweep);
	fit_sweep_init(&r.against.sweep);
	status = work(&r, o);
	mem_free(r.fitted.predicted);
	mem_free(r.fitted.curve);
	mem_free(r.against.predicted);
	mem_free(r.against.curve);
	mem_free(r.curve);
	mem_free(r.good);
	fit_sweep_fini(&r.fitted.sweep);
	fit_sweep_fini(&r.against.sweep);
	return status;
}
