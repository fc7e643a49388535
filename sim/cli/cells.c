/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A grid: every variant of the scenario under every combination of the
 * varied fields, the last one fastest. Without either, one cell.
 */
#include "cli_int.h"

#include <string.h>

struct axis {
	const char *path;
	const char *const *value;
	int n;
};

/* The last member of a path, for a short name: "concurrency". */
static const char *last_member(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

static int read_axes(struct cells *c, const struct options *o,
                     struct axis *axis, struct err *e)
{
	for (size_t i = 0; i < o->n_vary; i++) {
		char *path = arena_strdup(&c->arena, o->vary[i]);
		char *equals = strchr(path, '=');

		*equals = '\0';
		axis[i].path = path;
		axis[i].n =
			scenario_vary(equals + 1, &c->arena, &axis[i].value, e);
		if (axis[i].n < 0)
			return -1;
	}
	return 0;
}

/* Changes that every cell shares: the options that are fields too. */
static size_t common_sets(const struct options *o, struct scenario_set *set)
{
	const struct {
		const char *path, *value, *origin;
	} field[] = {
		{"reps", o->reps, "--reps"},
		{"seed", o->seed, "--seed"},
		{"duration", o->duration, "--duration"},
		{"warmup", o->warmup, "--warmup"},
	};
	size_t n = 0;

	for (size_t i = 0; i < o->n_sets; i++)
		set[n++] = o->set[i];
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		if (field[i].value)
			set[n++] = (struct scenario_set){
				field[i].path, field[i].value, field[i].origin};
	return n;
}

static void name_cell(struct cell *cell, const struct axis *axis,
                      const struct options *o)
{
	size_t at = 0;

	cell->name[0] = '\0';
	if (cell->variant)
		at = (size_t)snprintf(cell->name, sizeof(cell->name), "%.100s",
		                      cell->variant);
	for (size_t i = 0; i < o->n_vary && at < sizeof(cell->name); i++) {
		const char *value = cell->value[i + (cell->variant != NULL)];
		int n = snprintf(cell->name + at, sizeof(cell->name) - at,
		                 "%s%s=%s", at ? " " : "",
		                 last_member(axis[i].path), value);

		at += n > 0 ? (size_t)n : 0;
	}
	outdir_word(cell->name, cell->folder, sizeof(cell->folder));
}

static void fill_cell(struct cells *c, size_t index, const struct axis *axis,
                      const struct options *o, const char *variant)
{
	struct cell *cell = &c->cell[index];
	size_t combination = index;
	size_t shift = variant != NULL;

	cell->variant = variant;
	cell->set = arena_new(&c->arena, o->n_sets + o->n_vary + 4,
	                      sizeof(*cell->set));
	cell->value = arena_new(&c->arena, c->n_axes + 1, sizeof(char *));
	cell->n_sets = common_sets(o, cell->set);
	if (variant)
		cell->value[0] = variant;
	for (size_t i = o->n_vary; i-- > 0;) {
		size_t pick = combination % (size_t)axis[i].n;

		combination /= (size_t)axis[i].n;
		cell->value[i + shift] = axis[i].value[pick];
		cell->set[cell->n_sets++] = (struct scenario_set){
			axis[i].path, axis[i].value[pick], "--vary"};
	}
	name_cell(cell, axis, o);
}

/* Two cells of one name would write one folder, and nobody could tell. */
static int check_names(const struct cells *c, struct err *e)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(c->cell[i].folder, c->cell[k].folder) == 0)
				return err_set(e, c->file, 0, 0, NULL,
				               "two cells are called %s",
				               c->cell[i].name);
	return 0;
}

int cells_make(struct cells *c, const char *file, const struct options *o,
               const struct places *p, struct err *e)
{
	struct scenario_places places = {p->directory, p->n};
	struct axis axis[CLI_MAX_VARY];
	struct scenario *s;
	size_t per_variant = 1;
	size_t variants;

	memset(c, 0, sizeof(*c));
	arena_init(&c->arena);
	c->file = file;
	if (read_axes(c, o, axis, e) != 0)
		return -1;
	s = scenario_load(file, NULL, NULL, 0, &places, e);
	if (s == NULL)
		return -1;
	variants = s->n_variants;
	for (size_t i = 0; i < o->n_vary; i++)
		per_variant *= (size_t)axis[i].n;
	c->n = (variants ? variants : 1) * per_variant;
	c->n_axes = (variants > 0) + o->n_vary;
	c->axis = arena_new(&c->arena, c->n_axes + 1, sizeof(char *));
	if (variants)
		c->axis[0] = "variant";
	for (size_t i = 0; i < o->n_vary; i++)
		c->axis[i + (variants > 0)] = axis[i].path;
	c->cell = arena_new(&c->arena, c->n, sizeof(*c->cell));
	for (size_t i = 0; i < c->n; i++)
		fill_cell(c, i, axis, o,
		          variants ? arena_strdup(&c->arena,
		                                  s->variants[i / per_variant])
		                   : NULL);
	scenario_free(s);
	return check_names(c, e);
}

void cells_free(struct cells *c)
{
	arena_fini(&c->arena);
}
