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

/* The id that a content should have, by the name in the one it has. */
static const char *true_id(struct reader *r, json_t *content, const char *id)
{
	json_t *rest = json_copy(content);
	const char *text;
	size_t stem = strlen(id);
	char hex[17];

	json_object_del(rest, "id");
	text = write_canonical(rest, &r->scratch);
	json_decref(rest);
	snprintf(hex, sizeof hex, "%016" PRIx64,
	         route_hash(text, strlen(text)));
	if (stem > DIGEST && id[stem - DIGEST - 1] == '-')
		stem -= DIGEST + 1;
	return arena_printf(&r->scratch, "%.*s-%.*s", (int)stem, id, DIGEST,
	                    hex);
}

/* Reads one file; the revision in it must be `id`. */
static void read_file(struct build *b, const char *file,
                      struct config_known *out)
{
	struct replica_config *config =
		arena_new(b->reader->arena, 1, sizeof *config);
	struct reader r;
	struct cursor *root, *id;
	json_t *json;
	const char *text, *right;

	reader_init(&r, file, b->reader->arena, NULL, b->reader->err);
	json = reader_parse(&r, file);
	if (json == NULL)
		goto out;
	root = cursor_root(&r, json);
	config_read(root, config);
	if (reader_failed(&r))
		goto out;
	id = cursor_member(root, "id");
	text = id != NULL ? cursor_text(id) : "";
	right = true_id(&r, json, out->id);
	if (id == NULL)
		cursor_error(root, "needs \"id\"; its content makes it \"%s\"",
		             right);
	else if (strcmp(text, out->id) != 0)
		cursor_error(id, "\"%s\" is not the name of the file", text);
	else if (strcmp(text, right) != 0)
		cursor_error(id,
		             "\"%s\" is not the id of this content, which "
		             "makes it \"%s\": a revision is not edited but "
		             "followed by another",
		             text, right);
	out->model = model_of(b, json);
	out->config = config;
out:
	reader_fini(&r);
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
