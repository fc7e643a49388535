/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load profiles as JSON and back. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "scenario/scenario_int.h"

/* Classes of lengths, and quantiles of each. */
enum { LIMIT_BINS = 1000, LIMIT_POINTS = 1000 };

static json_t *grid(const uint32_t *values, size_t bins, size_t points)
{
	json_t *rows = json_array(), *row;
	size_t b, k;

	for (b = 0; b < bins; b++) {
		row = json_array();
		for (k = 0; k < points; k++)
			json_array_append_new(
				row, json_integer(values[b * points + k]));
		json_array_append_new(rows, row);
	}
	return rows;
}

json_t *scenario_profile_json(const struct load_profile *p)
{
	json_t *root = json_object(), *lengths = json_object();
	json_t *rates = json_array();
	char text[32];
	size_t i;

	assert(p != NULL && p->bins > 0);
	json_object_set_new(root, "name", json_string(p->name));
	if (p->source != NULL && p->source[0] != '\0')
		json_object_set_new(root, "source", json_string(p->source));
	units_write_duration(p->interval_ns, text, sizeof text);
	json_object_set_new(root, "interval", json_string(text));
	json_object_set_new(root, "requests",
	                    json_integer((json_int_t)p->requests));
	for (i = 0; i < p->intervals; i++)
		json_array_append_new(rates, json_real(p->rates_rps[i]));
	json_object_set_new(root, "rates_rps", rates);
	json_object_set_new(lengths, "input",
	                    grid(p->input, p->bins, p->points));
	json_object_set_new(lengths, "output",
	                    grid(p->output, p->bins, p->points));
	json_object_set_new(root, "lengths", lengths);
	return root;
}

/* One class: whole numbers that never fall. */
static void read_row(struct cursor *row, struct load_profile *p, size_t b,
                     uint32_t *out)
{
	size_t n = cursor_items(row, LIMIT_POINTS), k;
	struct cursor *item;

	if (reader_failed(row->reader))
		return;
	if (n != p->points) {
		cursor_error(row,
		             "must have %zu entries as the first class "
		             "has",
		             p->points);
		return;
	}
	for (k = 0; k < n; k++) {
		item = cursor_item(row, k);
		out[b * n + k] = (uint32_t)cursor_integer(item);
		if (reader_failed(row->reader))
			return;
		if (k > 0 && out[b * n + k] < out[b * n + k - 1]) {
			cursor_error(item, "is less than the quantile before "
			                   "it");
			return;
		}
	}
}

static uint32_t *read_grid(struct cursor *c, struct load_profile *p)
{
	size_t n = cursor_items(c, LIMIT_BINS), b;
	uint32_t *out;

	if (c == NULL || reader_failed(c->reader))
		return NULL;
	if (p->bins == 0 && n > 0) {
		p->bins = n;
		p->points = cursor_items(cursor_item(c, 0), LIMIT_POINTS);
	}
	if (reader_failed(c->reader))
		return NULL;
	if (n == 0 || n != p->bins || p->points < 2) {
		cursor_error(c, "must be one or more classes of at least two "
		                "quantiles, as many for input as for output");
		return NULL;
	}
	out = arena_new(c->reader->arena, n * p->points, sizeof *out);
	for (b = 0; b < n && !reader_failed(c->reader); b++)
		read_row(cursor_item(c, b), p, b, out);
	return out;
}

static void read_rates(struct cursor *c, struct load_profile *p)
{
	size_t n = cursor_items(c, LIMIT_INTERVALS), i;
	double most = 0;

	if (c == NULL || reader_failed(c->reader))
		return;
	p->rates_rps = arena_new(c->reader->arena, n + 1, sizeof *p->rates_rps);
	p->intervals = n;
	for (i = 0; i < n; i++) {
		p->rates_rps[i] = cursor_number(cursor_item(c, i));
		if (p->rates_rps[i] > most)
			most = p->rates_rps[i];
	}
	if (!reader_failed(c->reader) && !(most > 0))
		cursor_error(c, "must have a rate above 0");
}

static void read_profile(struct cursor *c, struct load_profile *p)
{
	struct cursor *source, *lengths;

	if (!cursor_object(c, "profile"))
		return;
	p->name = cursor_text(cursor_member(c, "name"));
	source = cursor_member(c, "source");
	p->source = source != NULL ? cursor_text(source) : "";
	p->interval_ns = cursor_duration(cursor_member(c, "interval"));
	p->requests = cursor_integer(cursor_member(c, "requests"));
	read_rates(cursor_member(c, "rates_rps"), p);
	lengths = cursor_member(c, "lengths");
	if (!cursor_object(lengths, "profile.lengths"))
		return;
	p->input = read_grid(cursor_member(lengths, "input"), p);
	p->output = read_grid(cursor_member(lengths, "output"), p);
}

struct load_profile *scenario_profile_read(const char *file,
                                           struct arena *arena, struct err *e)
{
	struct load_profile *p = arena_new(arena, 1, sizeof *p);
	struct reader r;
	json_t *root;

	reader_init(&r, file, arena, NULL, e);
	root = reader_parse(&r, file);
	if (root != NULL)
		read_profile(cursor_root(&r, root), p);
	reader_fini(&r);
	return e->set ? NULL : p;
}

const struct load_profile *build_profile(struct build *b, struct cursor *c)
{
	const char *name = cursor_text(c), *file, *near;

	if (name == NULL)
		return NULL;
	file = reader_find(b->reader, name, ".json");
	if (file != NULL)
		return scenario_profile_read(file, b->reader->arena,
		                             b->reader->err);
	near = reader_near(b->reader, name, ".json");
	if (near != NULL)
		cursor_error(c,
		             "there is no profile \"%s\"; did you mean "
		             "\"%s\"?",
		             name, near);
	else
		cursor_error(c,
		             "there is no file \"%s.json\" beside the "
		             "scenario, in the data directories or in "
		             "scenarios/data/",
		             name);
	return NULL;
}
