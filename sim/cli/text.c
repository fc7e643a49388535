/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen of a run: 80 columns, no boxes, colour for verdicts only. What
 * it says is in this order: what ran, how fast clients were served, by whom,
 * what became of the requests, and which rules held.
 */
#include "cli_int.h"

#include <inttypes.h>
#include <libsmartcols.h>
#include <math.h>
#include <string.h>

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

static struct libscols_table *table_new(FILE *to, const char *const *head,
                                        size_t n)
{
	struct libscols_table *t = scols_new_table();

	for (size_t i = 0; i < n; i++)
		scols_table_new_column(t, head[i], 0, i ? SCOLS_FL_RIGHT : 0);
	scols_table_set_column_separator(t, "   ");
	scols_table_set_stream(t, to);
	return t;
}

static void table_print(struct libscols_table *t)
{
	scols_print_table(t);
	scols_unref_table(t);
}

/* ---- what ran ---------------------------------------------------------- */

static void print_load(FILE *to, const struct load_spec *l)
{
	char text[48];

	fprintf(to, "%15s%s: ", "", l->name);
	switch (l->kind) {
	case LOAD_OPEN:
		fprintf(to, "%g requests/s %s", l->rate_rps,
		        l->process == LOAD_POISSON ? "poisson" : "constant");
		for (size_t i = 0; i < l->n_stages && i < 3; i++)
			fprintf(to, ", to %g in %s", l->stages[i].target_rps,
			        units_show_duration(l->stages[i].duration_ns,
			                            text, sizeof(text)));
		break;
	case LOAD_CLOSED:
		fprintf(to, "%" PRIu32 " clients", l->concurrency);
		break;
	case LOAD_TRACE:
		fprintf(to, "trace %s at speed %g",
		        strrchr(l->trace, '/') ? strrchr(l->trace, '/') + 1
		                               : l->trace,
		        l->speed);
		break;
	case LOAD_PROFILE:
		fprintf(to, "profile %s at speed %g", l->profile->name,
		        l->speed);
		break;
	}
	fputc('\n', to);
}

/* A sentence, cut at blanks so that no line is wider than the screen. */
static void print_wrapped(FILE *to, const char *text)
{
	while (strlen(text) > 79) {
		int cut = 79;

		while (cut > 0 && text[cut] != ' ')
			cut--;
		if (cut == 0)
			cut = 79;
		fprintf(to, "%.*s\n", cut, text);
		text += cut;
		while (*text == ' ')
			text++;
	}
	fprintf(to, "%s\n", text);
}

static void print_what(FILE *to, const struct outcome *o,
                       const struct cell *cell, bool color)
{
	const struct scenario *s = o->scenario;
	const struct world_spec *w = &s->world;
	char text[48];

	fprintf(to, "%s%s%s", color ? BOLD : "", s->name, color ? PLAIN : "");
	if (cell->name[0])
		fprintf(to, "   %s", cell->name);
	fputc('\n', to);
	if (s->comment)
		print_wrapped(to, s->comment);
	for (uint32_t e = 0; e < w->n_endpoints; e++)
		for (uint32_t i = 0; i < w->endpoints[e].n_deployments; i++) {
			const struct world_deployment *d =
				&w->deployments[w->endpoints[e].first + i];

			fprintf(to, "%15s%s: %s %s\n", "", w->endpoints[e].name,
			        d->id, d->config_id);
		}
	for (uint32_t i = 0; i < w->n_loads; i++)
		print_load(to, &w->loads[i]);
	fprintf(to, "%15s%s simulated, seed %" PRIu64, "",
	        show_time((int64_t)(o->result->end_s * NS_PER_S), text,
	                  sizeof(text)),
	        s->seed);
	if (o->result->replications > 1)
		fprintf(to, ", %" PRIu32 " replications",
		        o->result->replications);
	fputs("\n\n", to);
}

/* ---- how fast ---------------------------------------------------------- */

static void latency_line(struct libscols_table *t, const char *name,
                         const struct measure_hist *h, const struct outcome *o,
                         uint32_t endpoint, enum study_latency latency)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	char a[40], b[40], both[96];
	double low, high;
	double mean = measure_hist_mean(h);
	const double p[] = {0.50, 0.95, 0.99};

	scols_line_set_data(line, 0, name);
	scols_line_set_data(line, 1,
	                    show_value(mean, UNIT_TIME_NS, a, sizeof(a)));
	for (size_t i = 0; i < 3; i++)
		scols_line_set_data(line, i + 2,
		                    show_time(measure_hist_quantile(h, p[i]), a,
		                              sizeof(a)));
	if (!study_p95_interval(o->result, endpoint, latency, 0.95, &low,
	                        &high)) {
		scols_line_set_data(line, 5, "-");
		return;
	}
	snprintf(both, sizeof(both), "%s .. %s",
	         show_value(low, UNIT_TIME_NS, a, sizeof(a)),
	         show_value(high, UNIT_TIME_NS, b, sizeof(b)));
	scols_line_set_data(line, 5, both);
}

static void print_latencies(FILE *to, const struct outcome *o,
                            uint32_t endpoint)
{
	const struct measure_scope_result *s =
		measure_result_scope(o->result, SCOPE_ENDPOINT, endpoint);
	const char *const head[] = {"",    "mean", "p50",
	                            "p95", "p99",  "95 % of p95"};
	struct libscols_table *t = table_new(to, head, 6);

	latency_line(t, "ttft", &s->ttft, o, endpoint, STUDY_TTFT);
	latency_line(t, "tpot", &s->tpot, o, endpoint, STUDY_TPOT);
	latency_line(t, "itl", &s->itl, o, endpoint, STUDY_ITL);
	latency_line(t, "e2e", &s->e2e, o, endpoint, STUDY_E2E);
	table_print(t);
}

/* ---- by whom ----------------------------------------------------------- */

static void show_ready(const struct measure_scope_result *d, char *buf,
                       size_t size)
{
	if (d->ready_first == d->ready_last)
		snprintf(buf, size, "%" PRIu32, d->ready_last);
	else
		snprintf(buf, size, "%" PRIu32 " -> %" PRIu32, d->ready_first,
		         d->ready_last);
}

static void show_percent(double part, double whole, char *buf, size_t size)
{
	if (whole > 0)
		snprintf(buf, size, "%.1f %%", 100 * part / whole);
	else
		snprintf(buf, size, "-");
}

static void deployment_line(struct libscols_table *t,
                            const struct measure_scope_result *d,
                            const struct measure_scope_result *e)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	double all = (double)e->requests;
	char text[40];

	scols_line_set_data(line, 0, d->id);
	show_ready(d, text, sizeof(text));
	scols_line_set_data(line, 1, text);
	show_percent((double)d->requests, all, text, sizeof(text));
	scols_line_set_data(line, 2, text);
	show_percent(d->expected_requests, all, text, sizeof(text));
	scols_line_set_data(line, 3, text);
	scols_line_set_data(line, 4,
	                    show_count(d->requests, text, sizeof(text)));
	snprintf(text, sizeof(text), "%.0f",
	         (double)d->output_tokens / d->seconds);
	scols_line_set_data(line, 5, text);
	scols_line_set_data(line, 6,
	                    show_time(measure_hist_quantile(&d->ttft, 0.95),
	                              text, sizeof(text)));
}

static void print_deployments(FILE *to, const struct outcome *o,
                              uint32_t endpoint)
{
	const struct world_endpoint *w =
		&o->scenario->world.endpoints[endpoint];
	const struct measure_scope_result *e =
		measure_result_scope(o->result, SCOPE_ENDPOINT, endpoint);
	const char *const head[] = {"deployment", "ready",    "share",
	                            "expected",   "requests", "tokens/s",
	                            "ttft p95"};
	struct libscols_table *t = table_new(to, head, 7);

	for (uint32_t i = 0; i < w->n_deployments; i++)
		deployment_line(t,
		                measure_result_scope(o->result,
		                                     SCOPE_DEPLOYMENT,
		                                     w->first + i),
		                e);
	table_print(t);
}

static void print_requests(FILE *to, const struct outcome *o, uint32_t endpoint)
{
	const struct measure_scope_result *e =
		measure_result_scope(o->result, SCOPE_ENDPOINT, endpoint);
	char a[6][32];

	fprintf(to,
	        "requests     %s arrived   %s completed   %s rejected   "
	        "%s timed out\n             %s failed   %s in flight\n",
	        show_count(e->arrived, a[0], sizeof(a[0])),
	        show_count(e->ended[OUTCOME_COMPLETED], a[1], sizeof(a[1])),
	        show_count(e->ended[OUTCOME_REJECTED], a[2], sizeof(a[2])),
	        show_count(e->ended[OUTCOME_TIMED_OUT], a[3], sizeof(a[3])),
	        show_count(e->ended[OUTCOME_FAILED], a[4], sizeof(a[4])),
	        show_count(e->ended[OUTCOME_IN_SYSTEM], a[5], sizeof(a[5])));
	for (size_t i = ERROR_NONE + 1; i < MEASURE_ERRORS; i++)
		if (e->errors[i])
			fprintf(to, "             %s %s\n",
			        show_count(e->errors[i], a[0], sizeof(a[0])),
			        measure_error_name((enum measure_error)i));
	fprintf(to,
	        "load         %.4g requests/s   %.5g output tokens/s   "
	        "%.4g in flight\nreplicas     %.4g ready in the mean   "
	        "queue %.3g   batch %.3g\n",
	        (double)e->requests / e->seconds,
	        (double)e->output_tokens / e->seconds, e->in_flight, e->ready,
	        e->queue, e->batch);
}

/* ---- rules ------------------------------------------------------------- */

static const char *verdict_color(enum study_verdict v, bool color)
{
	if (!color)
		return "";
	return v == VERDICT_PASS ? GREEN : v == VERDICT_FAIL ? RED : YELLOW;
}

/* What a rule saw, in as few words as tell it. */
static void rule_detail(const struct study_judgement *j, char *buf, size_t size)
{
	char a[48], b[48], c[48];
	int n = snprintf(buf, size, "%s",
	                 show_value(j->seen, j->unit, a, sizeof(a)));
	bool tested = isfinite(j->p);

	if (n > 0 && (size_t)n < size && tested)
		n += snprintf(buf + n, size - (size_t)n, "   n %s, p %.2g",
		              show_count((uint64_t)j->n, a, sizeof(a)), j->p);
	if (n > 0 && (size_t)n < size && !tested && isfinite(j->low) &&
	    isfinite(j->high))
		n += snprintf(buf + n, size - (size_t)n, "   (%s .. %s)",
		              show_value(j->low, j->unit, a, sizeof(a)),
		              show_value(j->high, j->unit, b, sizeof(b)));
	if (n > 0 && (size_t)n < size && j->verdict != VERDICT_PASS &&
	    isfinite(j->bound))
		n += snprintf(buf + n, size - (size_t)n, "   bound %s",
		              show_value(j->bound, j->unit, a, sizeof(a)));
	if (n > 0 && (size_t)n < size && isfinite(j->request_share) &&
	    fabs(j->request_share - j->seen) > 0.0005)
		n += snprintf(buf + n, size - (size_t)n, "   of requests %s",
		              show_value(j->request_share, UNIT_FRACTION, c,
		                         sizeof(c)));
	if (n > 0 && (size_t)n < size && j->verdict == VERDICT_UNDECIDED)
		snprintf(buf + n, size - (size_t)n,
		         j->reps_needed ? "   undecided: --reps %" PRIu32
		                        : "   undecided",
		         j->reps_needed);
}

enum { WIDTH = 80, RULE_COLUMN = 49, INDENT = 9 };

static void print_rule(FILE *to, const struct measure_rule *rule,
                       const struct study_judgement *j, bool color)
{
	char detail[400];
	size_t text = INDENT + strlen(rule->text);
	size_t at = text + 2 < RULE_COLUMN ? RULE_COLUMN : text + 2;

	rule_detail(j, detail, sizeof(detail));
	fprintf(to, "  %s%-4s%s   %s", verdict_color(j->verdict, color),
	        study_verdict_name(j->verdict), color ? PLAIN : "", rule->text);
	if (at + strlen(detail) <= WIDTH)
		fprintf(to, "%*s%s\n", (int)(at - text), "", detail);
	else
		fprintf(to, "\n%*s%s\n", INDENT, "", detail);
	if (j->note[0])
		fprintf(to, "%*s%s\n", INDENT, "", j->note);
}

void text_report(FILE *to, const struct outcome *o, const struct cell *cell,
                 bool color)
{
	const struct scenario *s = o->scenario;

	print_what(to, o, cell, color);
	for (uint32_t e = 0; e < s->world.n_endpoints; e++) {
		if (s->world.n_endpoints > 1)
			fprintf(to, "%s\n", s->world.endpoints[e].name);
		print_latencies(to, o, e);
		fputc('\n', to);
		print_deployments(to, o, e);
		fputc('\n', to);
		print_requests(to, o, e);
	}
	if (s->n_rules > 0)
		fputc('\n', to);
	for (uint32_t i = 0; i < s->n_rules; i++)
		print_rule(to, &s->rules[i], &o->judgement[i], color);
}

/* ---- a grid ------------------------------------------------------------ */

static const char *cell_verdict(const struct outcome *o)
{
	unsigned n[3] = {0, 0, 0};

	if (o->scenario->n_rules == 0)
		return "-";
	for (uint32_t i = 0; i < o->scenario->n_rules; i++)
		n[o->judgement[i].verdict]++;
	return n[VERDICT_FAIL] ? "FAIL" : n[VERDICT_UNDECIDED] ? "?" : "pass";
}

static void cell_line(struct libscols_table *t, const struct cell *cell,
                      const struct outcome *o, uint32_t endpoint)
{
	const struct world_endpoint *w =
		&o->scenario->world.endpoints[endpoint];
	const struct measure_scope_result *e =
		measure_result_scope(o->result, SCOPE_ENDPOINT, endpoint);
	struct libscols_line *line = scols_table_new_line(t, NULL);
	char text[128];
	size_t at = 0;

	scols_line_set_data(line, 0, cell->name);
	scols_line_set_data(line, 1,
	                    show_count(e->requests, text, sizeof(text)));
	snprintf(text, sizeof(text), "%.4g", (double)e->requests / e->seconds);
	scols_line_set_data(line, 2, text);
	snprintf(text, sizeof(text), "%.5g",
	         (double)e->output_tokens / e->seconds);
	scols_line_set_data(line, 3, text);
	scols_line_set_data(line, 4,
	                    show_time(measure_hist_quantile(&e->ttft, 0.50),
	                              text, sizeof(text)));
	scols_line_set_data(line, 5,
	                    show_time(measure_hist_quantile(&e->ttft, 0.95),
	                              text, sizeof(text)));
	scols_line_set_data(line, 6,
	                    show_value(measure_hist_mean(&e->tpot),
	                               UNIT_TIME_NS, text, sizeof(text)));
	text[0] = '\0';
	for (uint32_t i = 0; i < w->n_deployments && at < 100; i++) {
		const struct measure_scope_result *d = measure_result_scope(
			o->result, SCOPE_DEPLOYMENT, w->first + i);

		at += (size_t)snprintf(
			text + at, sizeof(text) - at, "%s%.1f", i ? "/" : "",
			100 * (double)d->requests / (double)e->requests);
	}
	scols_line_set_data(line, 7, text);
	scols_line_set_data(line, 8, cell_verdict(o));
}

void text_cells(FILE *to, const struct cells *c, const struct outcome *o,
                bool color)
{
	const char *const head[] = {"",         "requests", "req/s",
	                            "tokens/s", "ttft p50", "ttft p95",
	                            "tpot",     "share %",  "rules"};
	struct libscols_table *t;

	fprintf(to, "%s%s%s   %zu cells\n\n", color ? BOLD : "",
	        o[0].scenario->name, color ? PLAIN : "", c->n);
	t = table_new(to, head, 9);
	for (size_t i = 0; i < c->n; i++) {
		if (o[i].result == NULL)
			continue;
		for (uint32_t e = 0; e < o[i].scenario->world.n_endpoints; e++)
			cell_line(t, &c->cell[i], &o[i], e);
	}
	table_print(t);
	text_crossing(to, c, o);
	for (size_t i = 0; i < c->n; i++) {
		const struct scenario *s = o[i].scenario;

		if (o[i].result == NULL || s->n_rules == 0)
			continue;
		fprintf(to, "\n%s\n", c->cell[i].name);
		for (uint32_t k = 0; k < s->n_rules; k++)
			print_rule(to, &s->rules[k], &o[i].judgement[k], color);
	}
}
