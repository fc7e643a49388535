/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `include` and `set`: a file is laid over the one it includes, then its own
 * changes are applied.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

/* An error at a member of the file that was parsed last. */
static int member_error(struct reader *r, const char *name, const char *text)
{
	const struct step step = {name, 0};

	return reader_error(r, &step, 1, false, text);
}

static const char *beside(struct reader *r, const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');

	if (slash == NULL || name[0] == '/')
		return name;
	return arena_printf(&r->scratch, "%.*s/%s", (int)(slash - file), file,
	                    name);
}

/* What is laid over brings its remark, and a remark stands first. */
static json_t *comment_first(json_t *base, json_t *root)
{
	json_t *result = json_object();

	json_object_set(result, "$comment", json_object_get(root, "$comment"));
	json_object_update_missing(result, base);
	return result;
}

static json_t *load(struct reader *r, const char *file, int depth)
{
	const struct step alias = {"set", 0};
	json_t *root, *include, *set, *base = NULL;
	size_t first = r->n_layers;
	struct layer own;
	const char *name;

	root = reader_parse(r, file);
	if (root == NULL)
		return NULL;
	include = json_object_get(root, "include");
	name = json_string_value(include);
	if (include != NULL && name == NULL) {
		member_error(r, "include", "must be a file's name in quotes");
		return NULL;
	}
	if (name != NULL && depth == LIMIT_INCLUDES) {
		member_error(r, "include",
		             "includes more than 8 deep; does a "
		             "file include itself?");
		return NULL;
	}
	if (name != NULL && !reader_is_file(beside(r, file, name))) {
		member_error(r, "include", "there is no such file beside it");
		return NULL;
	}
	if (name != NULL) {
		/* What is included lies below: its layers come first. */
		own = r->layers[first];
		r->n_layers = first;
		base = load(r, beside(r, file, name), depth + 1);
		if (base == NULL)
			return NULL;
		*reader_layer(r) = own;
		json_object_del(base, "$comment");
	} else {
		base = reader_keep(r, json_object());
	}
	set = json_object_get(root, "set");
	if (set != NULL)
		reader_keep(r, json_incref(set));
	json_object_del(root, "set");
	json_object_del(root, "include");
	base = reader_keep(r, comment_first(base, root));
	merge_json(base, root);
	if (set != NULL && set_apply_object(r, base, set, &alias, 1) != 0)
		return NULL;
	return base;
}

json_t *include_load(struct reader *r, const char *file)
{
	json_t *root;

	assert(r->n_layers == 0);
	root = load(r, file, 0);
	assert(root != NULL || reader_failed(r));
	return root;
}
