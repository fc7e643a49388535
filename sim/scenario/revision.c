/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Config revisions in files. A revision never changes: its id ends in the
 * first 6 hex digits of the XXH64 of its content (compact JSON, keys sorted,
 * without the id), and a file that was edited under its old id is refused.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

/* Digits of the digest that an id carries. */
enum { DIGEST = 6 };

/* A revision that was read already. */
struct config_known {
	const char *id;
	const char *model;
	const struct replica_config *config;
	struct config_known *next;
};

static struct config_known *known(const struct build *b, const char *id)
{
	struct config_known *k;

	for (k = b->configs; k != NULL; k = k->next)
		if (strcmp(k->id, id) == 0)
			return k;
	return NULL;
}

static struct config_known *known_new(struct build *b, const char *id)
{
	struct config_known *k = arena_new(b->reader->arena, 1, sizeof *k);

	k->id = id;
	k->next = b->configs;
	b->configs = k;
	return k;
}

static const char *model_of(struct build *b, const json_t *config)
{
	return arena_strdup(b->reader->arena, json_string_value(json_object_get(
						      config, "model")));
}

/* STEM-DIGEST of a content, without the id that may be in it. */
static const char *digested(json_t *content, size_t stem, const char *id,
                            struct arena *arena)
{
	json_t *rest = json_copy(content);
	const char *text;
	char hex[17];

	json_object_del(rest, "id");
	text = write_canonical(rest, arena);
	json_decref(rest);
	snprintf(hex, sizeof hex, "%016" PRIx64,
	         route_hash(text, strlen(text)));
	return arena_printf(arena, "%.*s-%.*s", (int)stem, id, DIGEST, hex);
}

const char *scenario_revision_id(json_t *content, const char *name,
                                 struct arena *arena)
{
	const char *id = arena_printf(arena, "cr_%s", name);

	assert(json_is_object(content));
	return digested(content, strlen(id), id, arena);
}

/* The id that a content should have, by the name in the one it has. */
static const char *true_id(struct reader *r, json_t *content, const char *id)
{
	size_t stem = strlen(id);

	if (stem > DIGEST && id[stem - DIGEST - 1] == '-')
		stem -= DIGEST + 1;
	return digested(content, stem, id, &r->scratch);
}

/*
 * Reads the one revision of a file, whose id must be `named` and follow from
 * its content. NULL on error; the value belongs to the reader.
 */
static json_t *read_content(struct reader *r, const char *named,
                            struct replica_config *config)
{
	json_t *json = reader_parse(r, r->file);
	struct cursor *root, *id;
	const char *text, *right;

	if (json == NULL)
		return NULL;
	root = cursor_root(r, json);
	config_read(root, config);
	if (reader_failed(r))
		return NULL;
	id = cursor_member(root, "id");
	text = id != NULL ? cursor_text(id) : "";
	right = true_id(r, json, named);
	if (id == NULL)
		cursor_error(root, "needs \"id\"; its content makes it \"%s\"",
		             right);
	else if (strcmp(text, named) != 0)
		cursor_error(id, "\"%s\" is not the name of the file", text);
	else if (strcmp(text, right) != 0)
		cursor_error(id,
		             "\"%s\" is not the id of this content, which "
		             "makes it \"%s\": a revision is not edited but "
		             "followed by another",
		             text, right);
	return reader_failed(r) ? NULL : json;
}

/* Reads one file; the revision in it must be out's. */
static void read_file(struct build *b, const char *file,
                      struct config_known *out)
{
	struct replica_config *config =
		arena_new(b->reader->arena, 1, sizeof *config);
	const json_t *json;
	struct reader r;

	reader_init(&r, file, b->reader->arena, b->reader->places,
	            b->reader->err);
	json = read_content(&r, out->id, config);
	if (json != NULL)
		out->model = model_of(b, json);
	out->config = config;
	reader_fini(&r);
}

static const char *label(struct arena *arena, const json_t *object,
                         const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? arena_strdup(arena, text) : "";
}

static void read_labels(struct arena *arena, const json_t *json,
                        struct scenario_revision *out)
{
	const json_t *gpu = json_object_get(json, "gpu");
	const json_t *count = json_object_get(gpu, "count");

	out->id = label(arena, json, "id");
	out->model = label(arena, json, "model");
	out->profile = label(arena, json, "profile");
	out->engine = label(arena, json, "engine");
	out->engine_version = label(arena, json, "engine_version");
	out->precision = label(arena, json, "precision");
	out->source = label(arena, json, "source");
	out->error = label(arena, json, "error");
	out->gpu = label(arena, gpu, "type");
	out->gpus = count != NULL ? (uint32_t)json_integer_value(count)
	                          : (gpu != NULL ? 1 : 0);
}

int scenario_revision_read(const char *file,
                           const struct scenario_places *places,
                           struct arena *arena, struct scenario_revision *out,
                           struct err *e)
{
	struct replica_config *config = arena_new(arena, 1, sizeof *config);
	const char *name = strrchr(file, '/');
	const json_t *json;
	struct reader r;
	size_t n;

	assert(out != NULL && e != NULL);
	memset(out, 0, sizeof *out);
	name = name != NULL ? name + 1 : file;
	n = strlen(name);
	if (n > 5 && strcmp(name + n - 5, ".json") == 0)
		n -= 5;
	reader_init(&r, file, arena, places, e);
	json = read_content(&r, arena_printf(arena, "%.*s", (int)n, name),
	                    config);
	if (json != NULL)
		read_labels(arena, json, out);
	out->config = config;
	reader_fini(&r);
	return e->set ? -1 : 0;
}

/* Puts the full id where a name without digest was. */
static const char *pin(struct build *b, struct cursor *c, const char *name)
{
	struct reader *r = b->reader;
	const char *found[2];
	size_t n;

	if (strncmp(name, "cr_", 3) == 0)
		return name;
	n = reader_revisions(r, arena_printf(&r->scratch, "cr_%s-", name),
	                     found, 2);
	if (n == 0)
		return name;
	if (n > 1) {
		cursor_error(c, "\"%s\" may be \"%s\" or \"%s\"; write which",
		             name, found[0], found[1]);
		return name;
	}
	reader_keep(r, json_incref(c->value));
	json_object_set_new(c->up->value, c->key, json_string(found[0]));
	return found[0];
}

static void not_found(struct build *b, struct cursor *c, const char *name)
{
	const char *near = reader_near(b->reader, name, ".json");

	if (near != NULL)
		cursor_error(c,
		             "there is no config \"%s\"; did you mean "
		             "\"%s\"?",
		             name, near);
	else
		cursor_error(c,
		             "there is no file \"%s.json\" beside the "
		             "scenario, in the data directories or in "
		             "models/",
		             name);
}

static struct config_known *by_name(struct build *b, struct cursor *c)
{
	const char *name = cursor_text(c), *file;
	struct config_known *k;

	if (name == NULL)
		return NULL;
	name = pin(b, c, name);
	if (reader_failed(b->reader))
		return NULL;
	k = known(b, name);
	if (k != NULL)
		return k;
	file = reader_find(b->reader,
	                   arena_printf(&b->reader->scratch, "%s.json", name),
	                   "");
	if (strncmp(name, "cr_", 3) != 0 || file == NULL) {
		not_found(b, c, name);
		return NULL;
	}
	k = known_new(b, name);
	read_file(b, file, k);
	return k;
}

const struct replica_config *build_config(struct build *b, struct cursor *c,
                                          const char **id, const char **model)
{
	struct replica_config *config;
	struct config_known *k;
	const char *text;

	if (c == NULL || reader_failed(b->reader))
		return NULL;
	if (json_is_object(c->value)) {
		config = arena_new(b->reader->arena, 1, sizeof *config);
		config_read(c, config);
		text = json_string_value(json_object_get(c->value, "id"));
		*id = text != NULL ? arena_strdup(b->reader->arena, text)
		                   : "inline";
		*model = model_of(b, c->value);
		return config;
	}
	k = by_name(b, c);
	if (k == NULL)
		return NULL;
	assert(k->config != NULL || reader_failed(b->reader));
	*id = k->id;
	*model = k->model;
	return k->config;
}
