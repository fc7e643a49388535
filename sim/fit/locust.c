/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locust's _stats.csv: one line an endpoint and one that adds them up; ms,
 * percentiles rounded to two digits, failures counted among the requests.
 * Users are not in the file, and they think: rate x average is in the system.
 * No token is counted, so the user gives the lengths.
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "fit/read_int.h"

enum { NAME, COUNT, FAILED, MEAN, RATE, P50, P90, P95, P99, COLUMNS };

static const char *const columns[COLUMNS] = {
	"Name",       "Request Count", "Failure Count", "Average Response Time",
	"Requests/s", "50%",           "90%",           "95%",
	"99%",
};

static bool is_history(const struct fit_record *header)
{
	return fit_column(header, "User Count") >= 0 &&
	       fit_column(header, "Timestamp") >= 0;
}

static bool detects(const struct fit_input *in)
{
	return fit_column(&in->header, "Requests/s") >= 0 &&
	       (fit_column(&in->header, "Request Count") >= 0 ||
	        is_history(&in->header));
}

static bool contains(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; *text != '\0'; text++)
		if (strncasecmp(text, word, n) == 0)
			return true;
	return false;
}

/* An endpoint that answers with tokens, by its name. */
static bool is_completion(const char *name)
{
	static const char *const word[] = {"completion", "chat",
	                                   "generate",   "messages",
	                                   "responses",  "infer"};

	for (size_t i = 0; i < FIT_COUNT(word); i++)
		if (contains(name, word[i]))
			return true;
	return false;
}

/* The one line to read; 0 with *e when it is not clear which. */
static uint32_t choose(struct fit_reading *r, const struct fit_table *t,
                       int name)
{
	uint32_t only = 0, named = 0, n = 0, n_named = 0;

	for (uint32_t i = 1; i < t->n; i++) {
		const char *endpoint = (uint32_t)name < t->record[i].n
		                               ? t->record[i].field[name]
		                               : "Aggregated";

		if (strcmp(endpoint, "Aggregated") == 0)
			continue;
		n++;
		only = i;
		if (is_completion(endpoint)) {
			n_named++;
			named = i;
		}
	}
	if (n == 1)
		return only;
	if (n_named == 1)
		return named;
	err_set(r->e, r->in->path, 0, 0, "Name",
	        n_named > 1 ? "%u endpoints may answer with tokens: keep the "
	                      "line of one"
	                    : "none of %u endpoints is named like one that "
	                      "answers with tokens",
	        n_named > 1 ? n_named : n);
	return 0;
}

static int read_cells(struct fit_reading *r, const struct fit_record *line,
                      const int *at, double *value)
{
	int read;

	for (int i = COUNT; i < COLUMNS; i++) {
		value[i] = (double)NAN;
		if (at[i] < 0)
			continue;
		if ((uint32_t)at[i] >= line->n)
			return err_set(r->e, r->in->path, (int)line->line, 0,
			               columns[i], "is missing");
		if (line->field[at[i]][0] == '\0' ||
		    strcmp(line->field[at[i]], "N/A") == 0)
			continue;
		read = fit_number(line->field[at[i]], &value[i]);
		if (read < 0 || value[i] < 0)
			return err_set(r->e, r->in->path, (int)line->line, 0,
			               columns[i],
			               "must be a number of at least 0");
	}
	return 0;
}

static int read_line(struct fit_reading *r, const struct fit_record *line,
                     const int *at)
{
	struct fit_row *row = fit_reading_row(r, line->line);
	double value[COLUMNS] = {0};

	if (row == NULL || read_cells(r, line, at, value) < 0)
		return -1;
	fit_text(row->variant, sizeof row->variant, line->field[at[NAME]]);
	row->n_requests = value[COUNT];
	row->achieved_rps = value[RATE];
	row->e2e.mean = value[MEAN];
	row->e2e.p50 = value[P50];
	row->e2e.p90 = value[P90];
	row->e2e.p95 = value[P95];
	row->e2e.p99 = value[P99];
	if (value[FAILED] > 0 && value[COUNT] >= value[FAILED]) {
		row->n_requests -= value[FAILED];
		row->achieved_rps *= row->n_requests / value[COUNT];
		fit_remark(r,
		           "%g of %g requests failed; the latencies are of all",
		           value[FAILED], value[COUNT]);
	}
	return 0;
}

static int reads(struct fit_reading *r)
{
	struct fit_table table;
	int at[COLUMNS];
	uint32_t line;

	if (is_history(&r->in->header))
		return err_set(r->e, r->in->path, 0, 0, NULL,
		               "is locust's history: give the file that ends "
		               "in _stats.csv");
	if (fit_lengths_needed(r, "locust") < 0 ||
	    fit_table(r->in, &table, r->e) < 0)
		return -1;
	for (int i = 0; i < COLUMNS; i++)
		at[i] = fit_column(&table.record[0], columns[i]);
	if (at[NAME] < 0)
		return err_set(r->e, r->in->path, 1, 0, "Name", "is missing");
	line = choose(r, &table, at[NAME]);
	return line == 0 ? -1 : read_line(r, &table.record[line], at);
}

const struct fit_format fit_locust = {"locust", detects, reads};
