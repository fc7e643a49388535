/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen of a fit: for each group its curve, then its rows, measured
 * beside simulated, then what is said against them.
 */
#include "fit_int.h"

#include <libsmartcols.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static struct libscols_table *table_new(FILE *to, const char *const *head,
                                        size_t n)
{
	struct libscols_table *t = scols_new_table();

	for (size_t i = 0; i < n; i++)
		scols_table_new_column(t, head[i], 0, SCOLS_FL_RIGHT);
	scols_table_set_column_separator(t, " ");
	scols_table_set_stream(t, to);
	return t;
}

static void table_print(struct libscols_table *t)
{
	scols_print_table(t);
	scols_unref_table(t);
}

static void put(struct libscols_line *line, size_t column, const char *fmt, ...)
	BASE_PRINTF(3, 4);

static void put(struct libscols_line *line, size_t column, const char *fmt, ...)
{
	char text[64];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	scols_line_set_data(line, column, text);
}

static void put_number(struct libscols_line *line, size_t column, double v)
{
	if (isfinite(v))
		put(line, column, fabs(v) >= 10000 ? "%.0f" : "%.4g", v);
	else
		put(line, column, "-");
}

static void put_percent(struct libscols_line *line, size_t column, double v)
{
	if (isfinite(v))
		put(line, column, "%+.1f%%", 100 * v);
	else
		put(line, column, "-");
}

/* ---- curves ------------------------------------------------------------ */

static void print_curve(FILE *to, const struct fit_curve *c)
{
	static const char *const head[] = {"parameter", "value", "std error",
	                                   "unit"};
	struct libscols_table *t = table_new(to, head, 4);

	for (int p = 0; p < FIT_PARAMETERS; p++) {
		struct libscols_line *line;

		if (!(c->value[p] > 0))
			continue;
		line = scols_table_new_line(t, NULL);
		put(line, 0, "%s", fit_parameter_name((enum fit_parameter)p));
		put_number(line, 1, c->value[p]);
		put_number(line, 2, c->error[p]);
		put(line, 3, "%s", fit_parameter_unit((enum fit_parameter)p));
	}
	table_print(t);
	fprintf(to,
	        "\nresiduals are %.2f of their spread (rate 2%%, TPOT 3%%); at "
	        "most %u sequences,\n%u tokens a step; lengths %s\n\n",
	        c->residual, c->max_num_seqs, c->max_num_batched_tokens,
	        c->length_spread > 0 ? "uniform, 10% to either side"
	                             : "all the same");
}

static void print_group(FILE *to, const struct fit_report *r, uint32_t g)
{
	const struct fit_row *row = &r->fitted.sweep.row[r->group[g].row[0]];

	fprintf(to, "%s %s on %u x %s, %s %s", row->model, row->precision,
	        row->num_gpus, row->gpu, row->engine, row->engine_version);
	if (!r->good[g]) {
		fprintf(to, ": %u rows, too few for a curve\n\n",
		        r->group[g].n);
		return;
	}
	fprintf(to, ": %u of %u rows used\n\n", r->curve[g].n, r->group[g].n);
	print_curve(to, &r->curve[g]);
}

/* ---- rows -------------------------------------------------------------- */

static void put_load(struct libscols_line *line, const struct fit_row *row)
{
	switch (row->load) {
	case FIT_OPEN_CONSTANT:
	case FIT_OPEN_POISSON:
		put(line, 2, "%.4g/s", row->offered_rps);
		break;
	case FIT_STATIC_BATCH:
		put(line, 2, "batch %.4g", row->concurrency);
		break;
	case FIT_BURST:
		put(line, 2, "burst");
		break;
	case FIT_CLOSED:
	default:
		put(line, 2, "c %.4g", row->concurrency);
	}
}

static void print_rows(FILE *to, const struct fit_side *side)
{
	static const char *const head[] = {
		"isl",  "osl", "load", "L",    "req/s", "sim", "err",
		"TPOT", "sim", "err",  "TTFT", "sim",   "err"};
	static const enum fit_metric shown[] = {FIT_RPS, FIT_TPOT, FIT_TTFT};
	struct libscols_table *t = table_new(to, head, 13);

	for (uint32_t i = 0; i < side->sweep.n; i++) {
		const struct fit_row *row = &side->sweep.row[i];
		bool known = side->curve[i] != UINT32_MAX;
		struct libscols_line *line = scols_table_new_line(t, NULL);

		put_number(line, 0, row->isl);
		put_number(line, 1, row->osl);
		put_load(line, row);
		put_number(line, 3, row->littles_l);
		for (size_t k = 0; k < 3; k++) {
			const struct fit_prediction *p = &side->predicted[i];

			put_number(line, 4 + 3 * k,
			           fit_measured(row, shown[k]));
			put_number(line, 5 + 3 * k,
			           known ? fit_predicted(p, shown[k]) : NAN);
			put_percent(line, 6 + 3 * k,
			            known ? fit_error(row, p, shown[k]) : NAN);
		}
	}
	table_print(t);
}

static void print_mape(FILE *to, const struct fit_side *side)
{
	static const char *const name[FIT_METRICS] = {
		[FIT_RPS] = "throughput",
		[FIT_E2E] = "E2E",
		[FIT_TPOT] = "TPOT",
		[FIT_TTFT] = "TTFT",
	};

	fputs("\nmean absolute error:", to);
	for (int m = 0; m < FIT_METRICS; m++) {
		uint32_t n;
		double x = fit_report_mape(side, UINT32_MAX, (enum fit_metric)m,
		                           &n);

		if (n > 0)
			fprintf(to, "%s %s %.1f%% (%u rows)", m ? "," : "",
			        name[m], 100 * x, n);
	}
	fputs("\n", to);
}

static void print_warnings(FILE *to, const struct fit_sweep *s)
{
	for (uint32_t i = 0; i < s->n_warnings; i++) {
		const struct fit_warning *w = &s->warning[i];

		fprintf(to, "%s", w->refused ? "left out: " : "note: ");
		if (w->row != UINT32_MAX && s->row[w->row].line > 0)
			fprintf(to, "line %u: ", s->row[w->row].line);
		else if (w->row != UINT32_MAX)
			fprintf(to, "row %u: ", w->row + 1);
		fprintf(to, "%s\n", w->text);
	}
	if (s->n_remarks_lost > 0)
		fprintf(to, "note: and %u notes more\n", s->n_remarks_lost);
}

void fit_text_report(FILE *to, const struct fit_report *r, bool against)
{
	bool any = false;

	for (uint32_t g = 0; g < r->n; g++) {
		print_group(to, r, g);
		any = any || r->good[g];
	}
	fputs("latencies in ms; L is rate x E2E, the number in the system\n\n",
	      to);
	print_rows(to, &r->fitted);
	if (any)
		print_mape(to, &r->fitted);
	print_warnings(to, &r->fitted.sweep);
	if (!against)
		return;
	fputs("\nagainst rows that were not fitted:\n\n", to);
	print_rows(to, &r->against);
	print_mape(to, &r->against);
	print_warnings(to, &r->against.sweep);
}
