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
	COLUMN_TO,
	COLUMN_SCOPE,
	COLUMN_ID,
	COLUMN_SHARE,
	COLUMN_EXPECTED,
	COLUMN_P50,
	COLUMN_P95,
	COLUMN_P99,
	COLUMN_QUEUE,
	COLUMN_BATCH,
	COLUMN_READY,
	COLUMN_WANTED,
	COLUMNS,
};

static const char *const column_names[COLUMNS] = {
	"replication",    "to_s",        "scope",       "id",          "share",
	"expected_share", "ttft_p50_ms", "ttft_p95_ms", "ttft_p99_ms", "queue",
	"batch",          "ready",       "wanted",
};

enum { MAX_FIELDS = 64 };

/* Cuts a line at its commas; names of weir's own hold none. */
static size_t cut(char *line, char **field)
{
	size_t n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	for (char *at = line; n < MAX_FIELDS;) {
		size_t len = strcspn(at, ",");
		bool last = at[len] == '\0';

		field[n++] = at;
		at[len] = '\0';
		at += len + 1;
		if (last)
			break;
	}
	return n;
}

static double number(const char *text)
{
	char *end;
	double value;

	if (text[0] == '\0')
		return NAN;
	value = strtod(text, &end);
	return *end == '\0' ? value : NAN;
}

static bool fill_row(struct plot_data *d, struct plot_row *row, char **field,
                     const size_t *place)
{
	const char *scope = field[place[COLUMN_SCOPE]];

	if (number(field[place[COLUMN_REPLICATION]]) > 0)
		return false;
	row->endpoint = strcmp(scope, "endpoint") == 0;
	if (!row->endpoint && strcmp(scope, "deployment") != 0)
		return false;
	row->id = arena_strdup(&d->arena, field[place[COLUMN_ID]]);
	row->to_s = number(field[place[COLUMN_TO]]);
	row->share = number(field[place[COLUMN_SHARE]]);
	row->expected_share = number(field[place[COLUMN_EXPECTED]]);
	for (size_t i = 0; i < 3; i++)
		row->ttft_ms[i] = number(field[place[COLUMN_P50 + i]]);
	row->queue = number(field[place[COLUMN_QUEUE]]);
	row->batch = number(field[place[COLUMN_BATCH]]);
	row->ready = number(field[place[COLUMN_READY]]);
	row->wanted = number(field[place[COLUMN_WANTED]]);
	return true;
}

static int find_columns(char *line, size_t *place, size_t *fields)
{
	char *field[MAX_FIELDS] = {0};

	*fields = cut(line, field);
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

		if (cut(line, field) != fields) {
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

/* ---- events.jsonl ------------------------------------------------------ */

/* The word of a mark, NULL for events that charts leave out. */
static const char *mark_word(struct arena *a, json_t *event)
{
	const char *type = json_string_value(json_object_get(event, "type"));
	const char *dep =
		json_string_value(json_object_get(event, "deploymentId"));
	const char *message =
		json_string_value(json_object_get(event, "message"));
	const char *replica =
		json_string_value(json_object_get(event, "replicaId"));

	if (type == NULL || message == NULL)
		return NULL;
	if (strcmp(type, "deployment.scaled") == 0)
		return arena_printf(a, "%s wants %d", dep,
		                    (int)json_integer_value(json_object_get(
					    event, "newReplicas")));
	if (strcmp(type, "endpoint.updated") == 0)
		return arena_strdup(a, "weights");
	if (strcmp(type, "deployment.status_updated") == 0 && !replica)
		return arena_printf(a, "%s: %s", dep,
		                    strstr(message, "lost replicas start")
		                            ? "restored"
		                            : "lost");
	return NULL;
}

static int read_events(struct plot_data *d, struct err *e)
{
	char path[1200];
	FILE *f = fopen(in_dir(d, "events.jsonl", path, sizeof(path)), "r");
	char *line = NULL;
	size_t size = 0;
	size_t capacity = 0;

	if (f == NULL)
		return err_set(e, path, 0, 0, NULL, "%s", strerror(errno));
	while (getline(&line, &size, f) >= 0) {
		json_t *event = json_loads(line, 0, NULL);
		const char *at =
			json_string_value(json_object_get(event, "at_s"));
		const char *word = mark_word(&d->arena, event);
		bool first = json_integer_value(json_object_get(
				     event, "replication")) == 0;

		if (at && word && first) {
			if (d->n_marks == capacity) {
				capacity = capacity ? 2 * capacity : 16;
				d->mark = mem_grow(d->mark, capacity,
				                   sizeof(*d->mark));
			}
			d->mark[d->n_marks++] =
				(struct plot_mark){number(at), word};
		}
		json_decref(event);
	}
	free(line);
	fclose(f);
	return 0;
}

int plot_read(struct plot_data *d, const char *dir, struct err *e)
{
	memset(d, 0, sizeof(*d));
	arena_init(&d->arena);
	d->dir = dir;
	if (read_summary(d, e) != 0 || read_series(d, e) != 0)
		return -1;
	return read_events(d, e);
}

void plot_data_free(struct plot_data *d)
{
	mem_free(d->row);
	mem_free(d->mark);
	arena_fini(&d->arena);
}
