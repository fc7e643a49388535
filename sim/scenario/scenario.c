/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario as a whole: changes first, then its parts in order. */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

/* What one variant is, found in the list. */
static int apply_variant(struct reader *r, json_t *root, json_t *variants,
                         size_t i)
{
	struct step *alias = arena_new(&r->scratch, 3, sizeof *alias);
	json_t *set = json_object_get(json_array_get(variants, i), "set");

	alias[0].key = "variants";
	alias[1].index = i;
	alias[2].key = "set";
	return set_apply_object(r, root, set, alias, 3);
}

/* Reads the variants' names and shapes. */
static void read_variants(struct reader *r, struct scenario *s, json_t *root)
{
	struct cursor *top = cursor_root(r, root), *list, *c, *name, *set;
	const char **names;
	size_t n, i, k;

	top->object = "scenario";
	list = cursor_member(top, "variants");
	n = cursor_items(list, LIMIT_VARIANTS);
	names = arena_new(r->arena, n + 1, sizeof *names);
	for (i = 0; i < n && !reader_failed(r); i++) {
		c = cursor_item(list, i);
		if (!cursor_object(c, "variants[]"))
			return;
		name = cursor_member(c, "name");
		names[i] = cursor_name(name, false);
		for (k = 0; k < i && !reader_failed(r); k++)
			if (strcmp(names[k], names[i]) == 0)
				cursor_error(name,
				             "there is a variant \"%s\" "
				             "already",
				             names[i]);
		set = cursor_member(c, "set");
		if (set != NULL && !json_is_object(set->value))
			cursor_error(set, "must be an object of paths and "
			                  "values");
	}
	s->n_variants = (uint32_t)n;
	s->variants = names;
}

static void choose_variant(struct reader *r, struct scenario *s, json_t *root,
                           const char *variant)
{
	json_t *variants = json_object_get(root, "variants");
	const char *near;
	size_t i;

	if (variant == NULL || reader_failed(r))
		return;
	for (i = 0; i < s->n_variants; i++)
		if (strcmp(s->variants[i], variant) == 0)
			break;
	if (i < s->n_variants) {
		apply_variant(r, root, variants, i);
		return;
	}
	near = base_nearest(variant, s->variants, s->n_variants);
	if (near != NULL)
		err_set(r->err, r->file, 0, 0, NULL,
		        "there is no variant \"%s\"; did you mean \"%s\"?",
		        variant, near);
	else
		err_set(r->err, r->file, 0, 0, NULL,
		        s->n_variants > 0 ? "there is no variant \"%s\""
		                          : "there is no variant \"%s\", nor "
		                            "any other",
		        variant);
}

/* A scenario without a name is called like its file. */
static void give_name(struct reader *r, json_t *root)
{
	const char *slash = strrchr(r->file, '/');
	const char *base = slash != NULL ? slash + 1 : r->file;
	const char *dot = strrchr(base, '.');
	size_t n = dot != NULL && dot != base ? (size_t)(dot - base)
	                                      : strlen(base);
	json_t *name;
	char *text;

	if (json_object_get(root, "name") != NULL)
		return;
	text = arena_printf(&r->scratch, "%.*s", (int)n, base);
	for (size_t i = 0; text[i] != '\0'; i++)
		if (!isalnum((unsigned char)text[i]) &&
		    strchr(i > 0 ? "_-." : "_-", text[i]) == NULL)
			text[i] = '-';
	name = json_string(text);
	if (name != NULL)
		json_object_set_new(root, "name", name);
}

static void read_slo(struct scenario *s, struct cursor *c)
{
	struct cursor *ttft, *tpot;

	s->slo_ttft_ns = TIME_NEVER;
	s->slo_tpot_ns = TIME_NEVER;
	if (!cursor_object(c, "slo"))
		return;
	ttft = cursor_member(c, "ttft");
	tpot = cursor_member(c, "tpot");
	if (ttft != NULL)
		s->slo_ttft_ns = cursor_duration(ttft);
	if (tpot != NULL)
		s->slo_tpot_ns = cursor_duration(tpot);
}

static void read_times(struct scenario *s, struct cursor *root)
{
	struct world_spec *w = &s->world;
	struct cursor *duration = cursor_member(root, "duration");
	struct cursor *warmup = cursor_member(root, "warmup");
	struct cursor *interval = cursor_member(root, "interval");

	w->duration_ns =
		duration != NULL ? cursor_duration(duration) : TIME_NEVER;
	w->warmup_ns = cursor_duration(warmup);
	w->interval_ns = cursor_duration(interval);
	if (reader_failed(root->reader) || duration == NULL)
		return;
	if (w->warmup_ns >= w->duration_ns)
		cursor_error(warmup, "must be shorter than the duration");
	else if (w->duration_ns / w->interval_ns > LIMIT_INTERVALS)
		cursor_error(interval, "makes more than %d intervals",
		             LIMIT_INTERVALS);
}

static void read_all(struct build *b, struct cursor *root)
{
	struct scenario *s = b->scenario;
	struct cursor *name;

	if (!cursor_object(root, "scenario"))
		return;
	name = cursor_member(root, "name");
	s->name = cursor_file_name(name);
	s->world.name = s->name;
	s->comment = arena_strdup(
		b->reader->arena,
		json_string_value(json_object_get(root->value, "$comment")));
	s->seed = cursor_integer(cursor_member(root, "seed"));
	s->reps = (uint32_t)cursor_integer(cursor_member(root, "reps"));
	read_times(s, root);
	read_slo(s, cursor_member(root, "slo"));
	build_endpoints(b, root);
	build_traffic(b, root);
	if (reader_failed(b->reader))
		return;
	build_names(b);
	build_timeline(b, root);
	build_scale_weights(b);
	build_rules(b, root);
	s->world.terms = &s->terms;
	if (!reader_failed(b->reader))
		build_warnings(b);
}

static void finish(struct reader *r, struct scenario *s, json_t *root)
{
	const char *canonical = write_canonical(root, &r->scratch);

	s->effective = json_incref(root);
	s->effective_text = write_pretty(root, r->arena);
	snprintf(s->digest, sizeof s->digest, "%016" PRIx64,
	         route_hash(canonical, strlen(canonical)));
}

static void load(struct reader *r, struct scenario *s, const char *variant,
                 const struct scenario_set *sets, size_t n_sets)
{
	struct build b = {.reader = r, .scenario = s};
	json_t *root = include_load(r, s->file);
	size_t i;

	if (root == NULL)
		return;
	read_variants(r, s, root);
	choose_variant(r, s, root, variant);
	for (i = 0; i < n_sets && !reader_failed(r); i++)
		set_apply_text(r, root, &sets[i]);
	if (reader_failed(r))
		return;
	json_object_del(root, "variants");
	give_name(r, root);
	read_all(&b, cursor_root(r, root));
	mem_free(b.weights);
	if (!reader_failed(r))
		finish(r, s, root);
}

struct scenario *scenario_load(const char *file, const char *variant,
                               const struct scenario_set *sets, size_t n_sets,
                               const struct scenario_places *places,
                               struct err *e)
{
	struct scenario *s;
	struct reader r;

	assert(file != NULL && e != NULL);
	assert(!e->set && (sets != NULL || n_sets == 0));
	s = mem_new(1, sizeof *s);
	arena_init(&s->arena);
	s->file = arena_strdup(&s->arena, file);
	reader_init(&r, s->file, &s->arena, places, e);
	load(&r, s, variant, sets, n_sets);
	reader_fini(&r);
	if (!e->set)
		return s;
	scenario_free(s);
	return NULL;
}

void scenario_free(struct scenario *s)
{
	if (s == NULL)
		return;
	json_decref(s->effective);
	arena_fini(&s->arena);
	mem_free(s);
}
