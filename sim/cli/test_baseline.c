/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Baselines: a scenario's numbers as they once were, DIR/NAME.json. The same
 * version, seed and replications give the same numbers, so these are compared
 * exactly; with another seed, shares and p95 by their intervals: they changed
 * when the intervals do not meet.
 */
#include "test_int.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef WEIR_VERSION
#define WEIR_VERSION "0.1.0"
#endif

/* Of the intervals that are compared. */
#define CONFIDENCE 0.999

/* ---- the numbers ------------------------------------------------------- */

/* Objects below members, and elements of lists by their id. */
static void flatten(json_t *out, const char *prefix, json_t *value)
{
	const char *key;
	json_t *member;
	char path[400];

	json_object_foreach(value, key, member)
	{
		if (json_is_array(member)) {
			bool parts = strcmp(key, "traffic") == 0;

			for (size_t i = 0; i < json_array_size(member); i++) {
				json_t *x = json_array_get(member, i);
				const char *id = json_string_value(
					json_object_get(x, "id"));

				snprintf(path, sizeof(path), "%s%s%.64s.",
				         prefix, parts ? "traffic." : "",
				         id ? id : "");
				flatten(out, path, x);
			}
			continue;
		}
		snprintf(path, sizeof(path), "%s%s", prefix, key);
		if (json_is_object(member)) {
			snprintf(path, sizeof(path), "%s%s.", prefix, key);
			flatten(out, path, member);
		} else if (strcmp(key, "id") != 0 && strcmp(key, "name") != 0) {
			json_object_set(out, path, member);
		}
	}
}

json_t *baseline_numbers(const struct outcome *o, const struct cell *cell)
{
	static const char *const parts[] = {"simulated_s", "endpoints",
	                                    "traffic"};
	json_t *summary = summary_json(o, cell);
	json_t *chosen = json_object();
	json_t *out = json_object();

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		json_object_set(chosen, parts[i],
		                json_object_get(summary, parts[i]));
	flatten(out, "", chosen);
	json_decref(chosen);
	json_decref(summary);
	return out;
}

static json_t *baseline_json(const struct trial *t)
{
	json_t *all = json_object();
	json_t *cells = json_array();

	json_object_set_new(all, "weir", json_string(WEIR_VERSION));
	json_object_set_new(all, "scenario", json_string(t->name));
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct scenario *s = t->outcome[i].scenario;
		json_t *c = json_object();

		json_object_set_new(c, "cell",
		                    json_string(t->cells.cell[i].name));
		json_object_set_new(c, "seed",
		                    json_integer((json_int_t)s->seed));
		json_object_set_new(c, "reps", json_integer(s->reps));
		json_object_set(c, "numbers", t->numbers[i]);
		json_array_append_new(cells, c);
	}
	json_object_set_new(all, "cells", cells);
	return all;
}

static int write_baseline(const struct trial *t, const char *dir, struct err *e)
{
	json_t *json = baseline_json(t);
	struct outfile f = {0};
	int bad = outdir_make(dir, e) != 0 ||
	          outfile_open(&f, NULL, t->baseline, e) != 0;

	if (!bad) {
		json_dumpf(json, f.f,
		           JSON_INDENT(1) | JSON_PRESERVE_ORDER |
		                   JSON_REAL_PRECISION(17));
		fputc('\n', f.f);
		bad = outfile_commit(&f, e) != 0;
	}
	json_decref(json);
	return bad ? EXIT_MACHINE : 0;
}

/* ---- comparing --------------------------------------------------------- */

static void add_change(struct trial *t, const char *cell, const char *metric,
                       json_t *was, json_t *is)
{
	struct change *c;

	if ((t->n_changes & (t->n_changes - 1)) == 0)
		t->change =
			mem_grow(t->change, t->n_changes ? 2 * t->n_changes : 1,
		                 sizeof(*t->change));
	c = &t->change[t->n_changes++];
	*c = (struct change){.was = json_incref(was), .is = json_incref(is)};
	snprintf(c->cell, sizeof(c->cell), "%.63s", cell);
	snprintf(c->metric, sizeof(c->metric), "%.159s", metric);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static double number_of(const json_t *numbers, const char *metric, size_t keep,
                        const char *rest, bool *there)
{
	char path[400];
	const json_t *value;

	snprintf(path, sizeof(path), "%.*s%s", (int)keep, metric, rest);
	value = json_object_get(numbers, path);
	*there = *there && json_is_number(value);
	return json_number_value(value);
}

/* The interval of a share or a p95; false when it has none. */
static bool interval(const json_t *numbers, const char *metric, double *low,
                     double *high)
{
	size_t n = strlen(metric);
	bool there = true;
	double x, all, share;

	if (ends_with(metric, ".p95_ms")) {
		*low = number_of(numbers, metric, n - 3, "_low_ms", &there);
		*high = number_of(numbers, metric, n - 3, "_high_ms", &there);
		return there;
	}
	if (!ends_with(metric, ".share"))
		return false;
	x = number_of(numbers, metric, n - 5, "requests", &there);
	share = number_of(numbers, metric, n - 5, "share", &there);
	if (!there || !(share > 0))
		return false;
	all = x / share + 0.5;
	study_binomial_interval((uint64_t)x, (uint64_t)all, CONFIDENCE, low,
	                        high);
	return true;
}

static bool differs(const json_t *was, const json_t *is, const char *metric,
                    bool exact)
{
	double a, b, c, d;

	if (exact)
		return !json_equal(json_object_get(was, metric),
		                   json_object_get(is, metric));
	return interval(was, metric, &a, &b) && interval(is, metric, &c, &d) &&
	       (b < c || d < a);
}

static void compare_numbers(struct trial *t, const char *cell, json_t *was,
                            json_t *is, bool exact)
{
	const char *metric;
	json_t *value;

	json_object_foreach(is, metric,
	                    value) if (differs(was, is, metric, exact))
		add_change(t, cell, metric, json_object_get(was, metric),
	                   value);
	json_object_foreach(was, metric,
	                    value) if (exact &&
	                               json_object_get(is, metric) == NULL)
		add_change(t, cell, metric, value, NULL);
}

static json_t *cell_of(const json_t *baseline, const char *name)
{
	const json_t *cells = json_object_get(baseline, "cells");

	for (size_t i = 0; i < json_array_size(cells); i++) {
		json_t *c = json_array_get(cells, i);
		const char *its = json_string_value(json_object_get(c, "cell"));

		if (its && strcmp(its, name) == 0)
			return c;
	}
	return NULL;
}

/* Cells that the baseline has and the scenario has not. */
static void compare_gone(struct trial *t, const json_t *baseline)
{
	const json_t *cells = json_object_get(baseline, "cells");

	for (size_t i = 0; i < json_array_size(cells); i++) {
		const json_t *c = json_array_get(cells, i);
		json_t *name = json_object_get(c, "cell");
		size_t k = 0;

		while (k < t->cells.n &&
		       strcmp(t->cells.cell[k].name,
		              json_is_string(name) ? json_string_value(name)
		                                   : "") != 0)
			k++;
		if (k == t->cells.n)
			add_change(t, "", "cell", name, NULL);
	}
}

static void compare_cells(struct trial *t, const json_t *baseline)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct scenario *s = t->outcome[i].scenario;
		const char *name = t->cells.cell[i].name;
		const json_t *was = cell_of(baseline, name);
		json_t *label = json_string(name);
		bool exact = json_integer_value(json_object_get(was, "seed")) ==
		                     (json_int_t)s->seed &&
		             json_integer_value(json_object_get(was, "reps")) ==
		                     (json_int_t)s->reps;

		if (was == NULL)
			add_change(t, "", "cell", NULL, label);
		else
			compare_numbers(t, name,
			                json_object_get(was, "numbers"),
			                t->numbers[i], exact);
		json_decref(label);
	}
	compare_gone(t, baseline);
}

/* The baseline's file, read; NULL when there is none, or with t->e filled. */
static json_t *read_baseline(struct trial *t)
{
	json_error_t wrong;
	json_t *json;
	const char *version;

	if (access(t->baseline, F_OK) != 0 && errno == ENOENT)
		return NULL;
	json = json_load_file(t->baseline, JSON_REJECT_DUPLICATES, &wrong);
	if (json == NULL) {
		err_set(&t->e, t->baseline, wrong.line, wrong.column, NULL,
		        "%s", wrong.text);
		return NULL;
	}
	version = json_string_value(json_object_get(json, "weir"));
	if (version && strcmp(version, WEIR_VERSION) == 0 &&
	    json_is_array(json_object_get(json, "cells")))
		return json;
	err_set(&t->e, t->baseline, 0, 0, "$.weir",
	        version ? "a baseline of weir %.40s, and this is weir %s; "
	                  "--accept takes the numbers of now"
	                : "%sis no baseline of weir %s",
	        version ? version : "", WEIR_VERSION);
	json_decref(json);
	return NULL;
}

/* ---- what the options ask ---------------------------------------------- */

/* The directory of a trial's baseline: named, or beside the scenario. */
static void directory(const struct trial *t, const struct options *o, char *buf,
                      size_t size)
{
	const char *named = o->record ? o->record : o->baseline;
	const char *slash = strrchr(t->file, '/');

	if (named)
		snprintf(buf, size, "%s", named);
	else
		snprintf(buf, size, "%.*sbaselines",
		         slash ? (int)(slash - t->file) + 1 : 0, t->file);
}

/* Two scenarios of one name would have one baseline. */
static bool taken(struct trials *all, size_t n)
{
	struct trial *t = &all->trial[n];

	for (size_t i = 0; i < n; i++) {
		if (strcmp(all->trial[i].baseline, t->baseline) != 0)
			continue;
		err_set(&t->e, t->file, 0, 0, NULL,
		        "would have the baseline %.200s, as %.200s has; give "
		        "them different names",
		        t->baseline, all->trial[i].file);
		return true;
	}
	return false;
}

static int baseline_of(struct trials *all, size_t n, const struct options *o)
{
	struct trial *t = &all->trial[n];
	char dir[1024], word[200];
	struct err e = {0};
	json_t *json;
	int bad = 0;

	directory(t, o, dir, sizeof(dir));
	snprintf(t->baseline, sizeof(t->baseline), "%.900s/%.190s.json", dir,
	         outdir_word(t->name, word, sizeof(word)));
	if (taken(all, n))
		return 0;
	if (o->record || o->accept) {
		bad = write_baseline(t, dir, &e);
		if (bad)
			cli_wrong(&e);
		return bad;
	}
	json = read_baseline(t);
	if (json)
		compare_cells(t, json);
	else if (!t->e.set && o->baseline)
		t->missing = true;
	else if (!t->e.set)
		t->baseline[0] = '\0';
	json_decref(json);
	return 0;
}

int trials_baselines(struct trials *t, const struct options *o)
{
	int worst = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->trial[i].ran && baseline_of(t, i, o) != 0)
			worst = EXIT_MACHINE;
	return worst;
}
