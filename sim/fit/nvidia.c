/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The metrics of genai-perf and of aiperf, its successor: each an object of
 * unit, avg and percentiles, or a line of a table with the unit in its name.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fit/read_int.h"

/* A metric by its key and its line's name; latencies have a `unit`. */
static const struct metric {
	const char *key, *line;
	size_t at;
	bool latency;
} metrics[] = {
	{"request_throughput", "Request Throughput", FIT_AT(achieved_rps),
         false},
	{"output_token_throughput", "Output Token Throughput",
         FIT_AT(out_tok_s), false},
	{"input_sequence_length", "Input Sequence Length", FIT_AT(isl), false},
	{"output_sequence_length", "Output Sequence Length", FIT_AT(osl),
         false},
	{"request_count", "Request Count", FIT_AT(n_requests), false},
	{"time_to_first_token", "Time to First Token", FIT_AT(ttft), true},
	{"inter_token_latency", "Inter Token Latency", FIT_AT(itl), true},
	{"request_latency", "Request Latency", FIT_AT(e2e), true},
};

static const struct {
	const char *key;
	size_t at;
} statistics[] = {
	{"avg", offsetof(struct fit_latency, mean)},
	{"p50", offsetof(struct fit_latency, p50)},
	{"p90", offsetof(struct fit_latency, p90)},
	{"p95", offsetof(struct fit_latency, p95)},
	{"p99", offsetof(struct fit_latency, p99)},
};

/* Milliseconds in a unit; 0: it is none of time. */
static double unit_ms(const char *unit, size_t n)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {
		{"ms", 1},        {"s", 1e3},   {"sec", 1e3},
		{"seconds", 1e3}, {"us", 1e-3}, {"ns", 1e-6},
	};

	for (size_t i = 0; i < FIT_COUNT(units); i++)
		if (strlen(units[i].name) == n &&
		    strncasecmp(units[i].name, unit, n) == 0)
			return units[i].ms;
	return 0;
}

/* Nothing said is milliseconds. */
static int scale_of(struct fit_reading *r, const struct fit_doc *d,
                    const struct metric *m, double *scale)
{
	const json_t *metric = fit_json(d->json, m->key);
	const char *unit = json_string_value(fit_json(metric, "unit"));
	char at[128], shown[32];

	*scale = 1;
	if (!m->latency || unit == NULL)
		return 0;
	*scale = unit_ms(unit, strlen(unit));
	if (*scale > 0)
		return 0;
	fit_text(shown, sizeof shown, unit);
	snprintf(at, sizeof at, "%s.%s.unit", d->at, m->key);
	return err_set(r->e, r->in->path, (int)d->line, 0, at,
	               "must be s, ms, us or ns, not %s", shown);
}

static int read_metric(struct fit_reading *r, const struct fit_doc *d,
                       const struct metric *m)
{
	static const char *const keys[] = {"avg", "p50", "p90", "p95", "p99"};
	struct fit_field field = {m->key, m->at, 1};
	char path[64];

	if (scale_of(r, d, m, &field.scale) < 0)
		return -1;
	if (m->latency)
		return fit_json_latencies(r, d, &field, 1, keys);
	snprintf(path, sizeof path, "%s.avg", m->key);
	field.path = path;
	return fit_json_fields(r, d, &field, 1);
}

int fit_nvidia_json(struct fit_reading *r, const struct fit_doc *d)
{
	double failed = (double)NAN;

	assert(r->sweep->n > 0);
	for (size_t i = 0; i < FIT_COUNT(metrics); i++)
		if (read_metric(r, d, &metrics[i]) < 0)
			return -1;
	if (fit_json_number(r, d, "error_request_count.avg", &failed) < 0)
		return -1;
	if (failed > 0)
		fit_remark(r, "%g requests failed", failed);
	return 0;
}

/* The metric of a line's name, "Request Latency (ms)", and its unit. */
static const struct metric *metric_of(const char *name, double *scale)
{
	size_t n;

	for (size_t i = 0; i < FIT_COUNT(metrics); i++) {
		n = strlen(metrics[i].line);
		if (strncasecmp(name, metrics[i].line, n) != 0 ||
		    (name[n] != '\0' && strncmp(name + n, " (", 2) != 0))
			continue;
		*scale = 1;
		if (metrics[i].latency && name[n] != '\0')
			*scale = unit_ms(name + n + 2,
			                 strcspn(name + n + 2, ")"));
		return &metrics[i];
	}
	return NULL;
}

static int read_cell(struct fit_reading *r, const struct fit_record *line,
                     uint32_t column, double scale, size_t at)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	char name[64];
	double v = 0;
	int read;

	if (column >= line->n || line->field[column][0] == '\0')
		return 0;
	read = fit_number(line->field[column], &v);
	fit_text(name, sizeof name, line->field[0]);
	if (scale <= 0)
		return err_set(r->e, r->in->path, (int)line->line, 0, name,
		               "has no unit of time that is known");
	if (read < 0 || v < 0)
		return err_set(r->e, r->in->path, (int)line->line, 0, name,
		               read == -2 ? "is NaN or infinite"
		               : read < 0 ? "must be a number"
		                          : "must not be below 0");
	v *= scale;
	memcpy((char *)row + at, &v, sizeof v);
	return 0;
}

/* One line, by the header of the table it stands in. */
static int read_line(struct fit_reading *r, const struct fit_record *header,
                     const struct fit_record *line)
{
	const struct metric *m;
	double scale = 1;
	int column;

	m = metric_of(line->field[0], &scale);
	if (m == NULL)
		return 0;
	for (size_t i = 0; i < FIT_COUNT(statistics); i++) {
		column = fit_column(header, statistics[i].key);
		if (i == 0 && column < 0)
			column = fit_column(header, "Value");
		if (column < 0 || (i > 0 && !m->latency))
			continue;
		if (read_cell(r, line, (uint32_t)column, scale,
		              m->at + (m->latency ? statistics[i].at : 0)) < 0)
			return -1;
	}
	return 0;
}

int fit_nvidia_csv(struct fit_reading *r)
{
	const struct fit_record *header = NULL;
	struct fit_table table;

	if (fit_table(r->in, &table, r->e) < 0 || fit_reading_row(r, 0) == NULL)
		return -1;
	for (uint32_t i = 0; i < table.n; i++) {
		const struct fit_record *line = &table.record[i];

		if (strcasecmp(line->field[0], "Metric") == 0)
			header = line;
		else if (strcasecmp(line->field[0], "Endpoint") == 0)
			break; /* the GPUs' table */
		else if (header != NULL && read_line(r, header, line) < 0)
			return -1;
	}
	return 0;
}
