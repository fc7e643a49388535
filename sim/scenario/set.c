/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changes by path: traffic[0].rate, endpoint.deployments[dep_a].replicas.
 * An element is found by its index, or by its id or name. The last member of
 * a path is made when it is missing, what leads to it is not: a slip of the
 * pen must not become a field that nobody reads.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_int.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What an element of a list goes by. */
static const char *const handles[] = {"id", "name", "deployment_id"};

static const char *handle_of(const json_t *element)
{
	const char *text;
	size_t i;

	for (i = 0; i < sizeof handles / sizeof handles[0]; i++) {
		text = json_string_value(json_object_get(element, handles[i]));
		if (text != NULL)
			return text;
	}
	return NULL;
}

/*
 * Cuts a path into steps whose elements are still words (index SIZE_MAX, the
 * word in key) where they are not numbers. Returns their number, 0 when it is
 * not a path.
 */
struct word {
	const char *text;
	bool is_element;
};

static size_t cut(struct arena *a, const char *path, struct word *words)
{
	const char *p = path;
	char snake[128];
	size_t n = 0, length;

	if (*p == '$')
		p += p[1] == '.' ? 2 : 1;
	while (*p != '\0') {
		if (n == LIMIT_DEPTH)
			return 0;
		words[n].is_element = *p == '[';
		if (*p == '[') {
			length = strcspn(p + 1, "]");
			if (length == 0 || p[1 + length] != ']')
				return 0;
			words[n].text =
				arena_printf(a, "%.*s", (int)length, p + 1);
			p += length + 2;
		} else {
			length = strcspn(p, ".[");
			if (length == 0)
				return 0;
			words[n].text = arena_printf(a, "%.*s", (int)length, p);
			if (tidy_snake(words[n].text, snake, sizeof snake))
				words[n].text = arena_strdup(a, snake);
			p += length;
		}
		n++;
		if (*p == '.' && p[1] != '\0' && p[1] != '[')
			p++;
		else if (*p != '\0' && *p != '[')
			return 0;
	}
	return n;
}

/* Appends `"a", "b"`, cut where the room ends. */
static void add_name(char *buf, size_t size, const char *name, size_t i)
{
	size_t at = strlen(buf);

	snprintf(buf + at, size - at, "%s\"%s\"", i > 0 ? ", " : "", name);
}

/* Says what is there instead of a step that could not be taken. */
static void what_is_there(const json_t *at, const struct word *word, char *buf,
                          size_t size)
{
	const char *names[64], *near, *key;
	size_t i, n = 0, shown;
	json_t *value;

	if (word->is_element && !json_is_array(at)) {
		snprintf(buf, size, "is not a list");
		return;
	}
	if (!word->is_element && !json_is_object(at)) {
		snprintf(buf, size,
		         json_is_array(at) ? "is a list; write [0] or [name]"
		                           : "is not an object");
		return;
	}
	json_object_foreach((json_t *)at, key, value)
	{
		if (n < 64)
			names[n++] = key;
	}
	json_array_foreach(at, i, value)
	{
		key = handle_of(value);
		if (n < 64 && key != NULL)
			names[n++] = key;
	}
	if (word->is_element && (n == 0 || is_digit(word->text[0]))) {
		n = json_array_size(at);
		snprintf(buf, size, "has %zu entr%s; there is no [%s]", n,
		         n == 1 ? "y" : "ies", word->text);
		return;
	}
	snprintf(buf, size, "has no \"%s\"", word->text);
	near = base_nearest(word->text, names, n);
	i = strlen(buf);
	if (near != NULL) {
		snprintf(buf + i, size - i, "; did you mean \"%s\"?", near);
		return;
	}
	snprintf(buf + i, size - i, n > 0 ? "; it has " : "; it is empty");
	for (shown = 0; shown < n && shown < 16; shown++)
		add_name(buf, size, names[shown], shown);
}

/* The element a word names: its index, or the array's size. */
static size_t element(const json_t *array, const char *word)
{
	size_t size = json_array_size(array), i;
	const char *handle;
	char *end;
	unsigned long v;

	if (is_digit(word[0])) {
		v = strtoul(word, &end, 10);
		if (*end == '\0')
			return v < size ? v : size;
	}
	for (i = 0; i < size; i++) {
		handle = handle_of(json_array_get(array, i));
		if (handle != NULL && strcmp(handle, word) == 0)
			return i;
	}
	return size;
}

/* Takes one step; NULL when there is nothing. */
static json_t *take(json_t *at, const struct word *word, struct step *step)
{
	if (word->is_element) {
		*step = (struct step){NULL, element(at, word->text)};
		return json_array_get(at, step->index);
	}
	*step = (struct step){word->text, 0};
	return json_object_get(at, word->text);
}

/* Puts the value where the last word says; false when that cannot be. */
static bool put(json_t *at, const struct word *word, const struct step *step,
                json_t *value)
{
	if (word->is_element) {
		if (step->index >= json_array_size(at))
			return false;
		if (json_is_null(value))
			json_array_remove(at, step->index);
		else
			json_array_set(at, step->index, value);
		return true;
	}
	if (!json_is_object(at))
		return false;
	if (json_is_null(value))
		json_object_del(at, word->text);
	else
		json_object_set(at, word->text, value);
	return true;
}

int set_apply(struct reader *r, json_t *root, size_t layer, const char *path,
              json_t *value)
{
	struct word words[LIMIT_DEPTH];
	size_t n = cut(&r->scratch, path, words), i;
	json_t *at = root, *next;
	char text[512], there[400], where[256];
	struct step *steps;

	if (n == 0) {
		snprintf(text, sizeof text,
		         "\"%s\" is not a path such as traffic[0].rate", path);
		return reader_layer_error(r, layer, text);
	}
	if (strcmp(words[0].text, "include") == 0 ||
	    strcmp(words[0].text, "set") == 0 ||
	    strcmp(words[0].text, "variants") == 0) {
		snprintf(text, sizeof text, "%s cannot be changed by path",
		         words[0].text);
		return reader_layer_error(r, layer, text);
	}
	steps = arena_new(&r->scratch, n, sizeof *steps);
	for (i = 0; i < n; i++) {
		next = take(at, &words[i], &steps[i]);
		if (i + 1 == n && put(at, &words[i], &steps[i], value))
			break;
		if (next == NULL) {
			what_is_there(at, &words[i], there, sizeof there);
			snprintf(text, sizeof text, "%s %s",
			         path_format(steps, i, where, sizeof where),
			         there);
			return reader_layer_error(r, layer, text);
		}
		at = next;
	}
	r->layers[layer].target = steps;
	r->layers[layer].n_target = n;
	return 0;
}

/* The value of a change given as text. */
static json_t *text_value(struct reader *r, size_t layer, const char *text)
{
	struct tidy_trouble trouble = {.n = 0};
	char message[400];
	json_error_t error;
	json_t *value;

	value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES,
	                   &error);
	if (value == NULL && strchr("{[\"", text[0]) != NULL &&
	    text[0] != '\0') {
		snprintf(message, sizeof message, "not JSON: %s", error.text);
		reader_layer_error(r, layer, message);
		return NULL;
	}
	if (value == NULL)
		value = json_string(text);
	if (value == NULL) {
		reader_layer_error(r, layer, "not UTF-8");
		return NULL;
	}
	reader_keep(r, value);
	if (tidy_keys(value, &r->scratch, &trouble) != 0) {
		reader_layer_error(r, layer, trouble.text);
		return NULL;
	}
	return value;
}

/*
 * What errors call a change: an option that is named after its field by its
 * name alone, a value that is long by its path alone.
 */
static char *text_origin(struct arena *scratch, const struct scenario_set *set)
{
	const char *origin = set->origin != NULL ? set->origin : "--set";

	if (strncmp(origin, "--", 2) == 0 && strcmp(origin + 2, set->path) == 0)
		return arena_strdup(scratch, origin);
	if (strlen(set->value) > 40)
		return arena_printf(scratch, "%s %s", origin, set->path);
	return arena_printf(scratch, "%s %s=%s", origin, set->path, set->value);
}

int set_apply_text(struct reader *r, json_t *root,
                   const struct scenario_set *set)
{
	size_t layer = r->n_layers;
	struct layer *l = reader_layer(r);
	json_t *value;

	assert(set->path != NULL && set->value != NULL);
	l->is_set = true;
	l->origin = text_origin(&r->scratch, set);
	value = text_value(r, layer, set->value);
	if (value == NULL)
		return -1;
	return set_apply(r, root, layer, set->path, value);
}

int set_apply_object(struct reader *r, json_t *root, json_t *set,
                     const struct step *alias, size_t n_alias)
{
	struct step *steps;
	struct layer *layer;
	const char *path;
	json_t *value;

	if (!json_is_object(set))
		return reader_error(r, alias, n_alias, false,
		                    "must be an object of paths and values");
	json_object_foreach(set, path, value)
	{
		if (strcmp(path, "$comment") == 0)
			continue;
		steps = arena_new(&r->scratch, n_alias + 1, sizeof *steps);
		memcpy(steps, alias, n_alias * sizeof *steps);
		steps[n_alias].key = arena_strdup(&r->scratch, path);
		layer = reader_layer(r);
		layer->is_set = true;
		layer->alias = steps;
		layer->n_alias = n_alias + 1;
		if (set_apply(r, root, r->n_layers - 1, path,
		              reader_keep(r, json_deep_copy(value))) != 0)
			return -1;
	}
	return 0;
}
