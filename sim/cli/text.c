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

static void print_stage(FILE *to, const struct load_stage *s)
{
	char rate[48], time[48];

	fprintf(to, ", to %s in %s",
	        show_number(s->target_rps, 6, rate, sizeof(rate)),
	        units_show_duration(s->duration_ns, time, sizeof(time)));
}

static void print_load(FILE *to, const struct load_spec *l)
{
	char text[48];
	char name[200];
	const char *slash;

	fprintf(to, "%15s%s: ", "", show_text(l->name, name, sizeof(name)));
	switch (l->kind) {
	case LOAD_OPEN:
		fprintf(to, "%s requests/s %s",
		        show_number(l->rate_rps, 6, text, sizeof(text)),
		        l->process == LOAD_POISSON ? "poisson" : "constant");
		for (size_t i = 0; i < l->n_stages && i < 3; i++)
			print_stage(to, &l->stages[i]);
		break;
	case LOAD_CLOSED:
		fprintf(to, "%" PRIu32 " clients", l->concurrency);
		break;
	case LOAD_TRACE:
		slash = strrchr(l->trace, '/');
		fprintf(to, "trace %s at speed %s",
		        show_text(slash ? slash + 1 : l->trace, name,
		                  sizeof(name)),
		        show_number(l->speed, 6, text, sizeof(text)));
		break;
	case LOAD_PROFILE:
		fprintf(to, "profile %s at speed %s",
		        show_text(l->profile->name, name, sizeof(name)),
		        show_number(l->speed, 6, text, sizeof(text)));
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

static void print_comment(FILE *to, const char *comment)
{
	size_t size = strlen(comment) + 1;
	char *plain = mem_new(size, 1);

	print_wrapped(to, show_text(comment, plain, size));
	mem_free(plain);
}

static void print_what(FILE *to, const struct outcome *o,
                       const struct cell *cell, bool color)
{
	const struct scenario *s = o->scenario;
	const struct world_spec *w = &s->world;
	char text[48], a[256], b[256], c[256];

	fprintf(to, "%s%s%s", color ? BOLD : "",
	        show_text(s->name, a, sizeof(a)), color ? PLAIN : "");
	if (cell->name[0])
		fprintf(to, "   %s", show_text(cell->name, a, sizeof(a)));
	fputc('\n', to);
	if (s->comment)
		print_comment(to, s->comment);
	for (uint32_t e = 0; e < w->n_endpoints; e++)
		for (uint32_t i = 0; i < w->endpoints[e].n_deployments; i++) {
			const struct world_deployment *d =
				&w->deployments[w->endpoints[e].first + i];

			fprintf(to, "%15s%s: %s %s\n", "",
			        show_text(w->endpoints[e].name, a, sizeof(a)),
			        show_text(d->id, b, sizeof(b)),
			        show_text(d->config_id, c, sizeof(c)));
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
	char a[6][40];

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
	        "load         %s requests/s   %s output tokens/s   "
	        "%s in flight\nreplicas     %s ready in the mean   "
	        "queue %s   batch %s\n",
	        show_number((double)e->requests / e->seconds, 4, a[0],
	                    sizeof(a[0])),
	        show_number((double)e->output_tokens / e->seconds, 5, a[1],
	                    sizeof(a[1])),
	        show_number(e->in_flight, 4, a[2], sizeof(a[2])),
	        show_number(e->ready, 4, a[3], sizeof(a[3])),
	        show_number(e->queue, 3, a[4], sizeof(a[4])),
	        show_number(e->batch, 3, a[5], sizeof(a[5])));
}

/* ---- all of it ---------------------------------------------------------- */

void text_report(FILE *to, const struct outcome *o, const struct cell *cell,
                 bool color)
{
	const struct scenario *s = o->scenario;
	char name[256];

	print_what(to, o, cell, color);
	for (uint32_t e = 0; e < s->world.n_endpoints; e++) {
		if (s->world.n_endpoints > 1)
			fprintf(to, "%s\n",
			        show_text(s->world.endpoints[e].name, name,
			                  sizeof(name)));
		print_latencies(to, o, e);
		fputc('\n', to);
		print_deployments(to, o, e);
		fputc('\n', to);
		print_requests(to, o, e);
	}
	if (s->n_rules > 0)
		fputc('\n', to);
	for (uint32_t i = 0; i < s->n_rules; i++)
		text_rule(to, &s->rules[i], &o->judgement[i], color);
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
	scols_line_set_data(line, 2,
	                    show_number((double)e->requests / e->seconds, 4,
	                                text, sizeof(text)));
	scols_line_set_data(line, 3,
	                    show_number((double)e->output_tokens / e->seconds,
	                                5, text, sizeof(text)));
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
	char name[256];

	fprintf(to, "%s%s%s   %zu cells\n\n", color ? BOLD : "",
	        show_text(o[0].scenario->name, name, sizeof(name)),
	        color ? PLAIN : "", c->n);
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
		fprintf(to, "\n%s\n",
		        show_text(c->cell[i].name, name, sizeof(name)));
		for (uint32_t k = 0; k < s->n_rules; k++)
			text_rule(to, &s->rules[k], &o[i].judgement[k], color);
	}
}
