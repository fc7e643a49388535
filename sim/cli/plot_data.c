/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot_int.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *in_dir(const struct plot_data *d, const char *name,
                          char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", d->dir, name);
	return buf;
}

/* ---- summary.json ------------------------------------------------------ */

static int broken(struct err *e, const char *path)
{
	return err_set(e, path, 0, 0, NULL,
	               "is not what weir run --dir leaves");
}

static int read_endpoint(struct plot_data *d, struct plot_endpoint *to,
                         json_t *from)
{
	json_t *list = json_object_get(from, "deployments");
	const char *id = json_string_value(json_object_get(from, "id"));

	if (id == NULL || !json_is_array(list))
		return -1;
	to->id = arena_strdup(&d->arena, id);
	to->n_deployments = json_array_size(list);
	to->deployment =
		arena_new(&d->arena, to->n_deployments + 1, sizeof(char *));
	for (size_t i = 0; i < to->n_deployments; i++) {
		id = json_string_value(
			json_object_get(json_array_get(list, i), "id"));
		if (id == NULL)
			return -1;
		to->deployment[i] = arena_strdup(&d->arena, id);
	}
	return 0;
}

static int read_summary(struct plot_data *d, struct err *e)
{
	char path[1200];
	json_error_t why;
	json_t *all = json_load_file(
		in_dir(d, "summary.json", path, sizeof(path)), 0, &why);
	json_t *list = json_object_get(all, "endpoints");
	int wrong = 0;

	if (all == NULL)
		return err_set(e, path, why.line > 0 ? why.line : 0,
		               why.line > 0 ? why.column : 0, NULL, "%s",
		               why.text);
	d->end_s = json_number_value(json_object_get(all, "simulated_s"));
	d->n_endpoints = json_array_size(list);
	d->endpoint =
		arena_new(&d->arena, d->n_endpoints + 1, sizeof(*d->endpoint));
	for (size_t i = 0; i < d->n_endpoints && !wrong; i++)
		wrong = read_endpoint(d, &d->endpoint[i],
		                      json_array_get(list, i));
	json_decref(all);
	if (wrong || d->n_endpoints == 0 || !(d->end_s > 0))
		return broken(e, path);
	return 0;
}

/* ---- series.csv -------------------------------------------------------- */

enum column {
	COLUMN_REPLICATION,
	COLUMN_FROM,
	COLUMN_TO,
	COLUMN_SCOPE,
	COLUMN_ID,
	COLUMN_ARRIVED,
	COLUMN_REJECTED,
	COLUMN_TIMED_OUT,
	COLUMN_FAILED,
	COLUMN_SHARE,
	COLUMN_EXPECTED,
	COLUMN_P50,
	COLUMN_P95,
	COLUMN_P99,
	COLUMN_QUEUE,
	COLUMN_BATCH,
	COLUMN_WANTED,
	COLUMNS,
};

static const char *const column_names[COLUMNS] = {
	"replication",    "from_s",      "to_s",        "scope",       "id",
	"arrived",        "rejected",    "timed_out",   "failed",      "share",
	"expected_share", "ttft_p50_ms", "ttft_p95_ms", "ttft_p99_ms", "queue",
	"batch",          "wanted",
};

enum { MAX_FIELDS = 64 };

size_t plot_cut(char *line, char **field, size_t most)
{
	char *from = line;
	size_t n = 0;

	while (n < most) {
		bool quoted = *from == '"';
		char *to = from += quoted;
		char end;

		field[n++] = to;
		while (*from && (quoted || strchr(",\r\n", *from) == NULL)) {
			if (quoted && *from == '"' && *++from != '"') {
				quoted = false;
				continue;
			}
			*to++ = *from++;
		}
		end = *from;
		*to = '\0';
		if (end != ',')
			break;
		from++;
	}
	return n;
}

double plot_number(const char *text)
{
	char *end;
	double value;

	if (text[0] == '\0')
		return NAN;
	value = strtod(text, &end);
	return *end == '\0' ? value : NAN;
}

static double numbered(char **field, const size_t *place, size_t column)
{
	return plot_number(field[place[column]]);
}

static bool fill_row(struct plot_data *d, struct plot_row *row, char **field,
                     const size_t *place)
{
	const char *scope = field[place[COLUMN_SCOPE]];

	if (numbered(field, place, COLUMN_REPLICATION) > 0)
		return false;
	row->endpoint = strcmp(scope, "endpoint") == 0;
	if (!row->endpoint && strcmp(scope, "deployment") != 0)
		return false;
	row->id = arena_strdup(&d->arena, field[place[COLUMN_ID]]);
	row->from_s = numbered(field, place, COLUMN_FROM);
	row->to_s = numbered(field, place, COLUMN_TO);
	row->arrived = numbered(field, place, COLUMN_ARRIVED);
	row->rejected = numbered(field, place, COLUMN_REJECTED);
	row->timed_out = numbered(field, place, COLUMN_TIMED_OUT);
	row->failed = numbered(field, place, COLUMN_FAILED);
	row->share = numbered(field, place, COLUMN_SHARE);
	row->expected_share = numbered(field, place, COLUMN_EXPECTED);
	for (size_t i = 0; i < 3; i++)
		row->ttft_ms[i] = numbered(field, place, COLUMN_P50 + i);
	row->queue = numbered(field, place, COLUMN_QUEUE);
	row->batch = numbered(field, place, COLUMN_BATCH);
	row->wanted = numbered(field, place, COLUMN_WANTED);
	return true;
}

bool plot_has(const struct plot_endpoint *e, const char *deployment)
{
	for (size_t i = 0; i < e->n_deployments; i++)
		if (strcmp(e->deployment[i], deployment) == 0)
			return true;
	return false;
}

/* Rows first .. last - 1 are of one interval. Of nothing there is no share. */
static void blank_shares(struct plot_data *d, const struct plot_endpoint *e,
                         size_t first, size_t last)
{
	double routed = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = first; i < last; i++) {
			struct plot_row *r = &d->row[i];

			if (r->endpoint || !plot_has(e, r->id))
				continue;
			if (pass == 0)
				routed += r->arrived;
			else if (!(routed > 0))
				r->share = r->expected_share = NAN;
		}
}

static void blank_all_shares(struct plot_data *d)
{
	size_t first = 0;

	for (size_t i = 1; i <= d->n_rows; i++) {
		if (i < d->n_rows && d->row[i].to_s == d->row[first].to_s)
			continue;
		for (size_t k = 0; k < d->n_endpoints; k++)
			blank_shares(d, &d->endpoint[k], first, i);
		first = i;
	}
}

static int find_columns(char *line, size_t *place, size_t *fields)
{
	char *field[MAX_FIELDS] = {0};

	*fields = plot_cut(line, field, MAX_FIELDS);
	for (size_t c = 0; c < COLUMNS; c++) {
		place[c] = MAX_FIELDS;
		for (size_t i = 0; i < *fields; i++)
			if (strcmp(field[i], column_names[c]) == 0)
				place[c] = i;
		if (place[c] == MAX_FIELDS)
			return -1;
	}
	return 0;
}

static int read_series(struct plot_data *d, struct err *e)
{
	char path[1200];
	FILE *f = fopen(in_dir(d, "series.csv", path, sizeof(path)), "r");
	char *line = NULL;
	size_t size = 0;
	size_t capacity = 0;
	size_t place[COLUMNS] = {0};
	size_t fields = 0;
	int wrong = 0;

	if (f == NULL)
		return err_set(e, path, 0, 0, NULL, "%s", strerror(errno));
	if (getline(&line, &size, f) < 0 ||
	    find_columns(line, place, &fields) != 0)
		wrong = broken(e, path);
	while (!wrong && getline(&line, &size, f) >= 0) {
		char *field[MAX_FIELDS] = {0};

		if (plot_cut(line, field, MAX_FIELDS) != fields) {
			wrong = broken(e, path);
			break;
		}
		if (d->n_rows == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			d->row = mem_grow(d->row, capacity, sizeof(*d->row));
		}
		if (fill_row(d, &d->row[d->n_rows], field, place))
			d->n_rows++;
	}
	free(line);
	fclose(f);
	return wrong;
}

int plot_read(struct plot_data *d, const char *dir, struct err *e)
{
	memset(d, 0, sizeof(*d));
	arena_init(&d->arena);
	d->dir = dir;
	if (read_summary(d, e) != 0 || read_series(d, e) != 0)
		return -1;
	blank_all_shares(d);
	return plot_read_events(d, e);
}

void plot_data_free(struct plot_data *d)
{
	mem_free(d->row);
	mem_free(d->mark);
	mem_free(d->step);
	arena_fini(&d->arena);
}
