/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A reader remembers every file and change that the JSON was made of, so
 * that an error can be placed in the one that had the last word.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

void reader_init(struct reader *r, const char *file, struct arena *arena,
                 const struct scenario_places *places, struct err *err)
{
	assert(file != NULL && arena != NULL && err != NULL);
	memset(r, 0, sizeof *r);
	arena_init(&r->scratch);
	r->arena = arena;
	r->err = err;
	r->file = file;
	r->places = places;
	r->kept = json_array();
}

void reader_fini(struct reader *r)
{
	json_decref(r->kept);
	mem_free(r->layers);
	arena_fini(&r->scratch);
	memset(r, 0, sizeof *r);
}

bool reader_failed(const struct reader *r)
{
	return r->err->set;
}

struct layer *reader_layer(struct reader *r)
{
	struct layer *layer;

	r->layers = mem_grow(r->layers, r->n_layers + 1, sizeof *r->layers);
	layer = &r->layers[r->n_layers++];
	memset(layer, 0, sizeof *layer);
	return layer;
}

json_t *reader_keep(struct reader *r, json_t *value)
{
	assert(value != NULL);
	json_array_append_new(r->kept, value);
	return value;
}

/* The whole file as text, or NULL with the reader's err set. */
static char *read_text(struct reader *r, const char *file, size_t *size)
{
	FILE *stream = fopen(file, "rb");
	char *text = NULL;
	size_t n = 0, got, room = 0;
	int trouble;

	if (stream == NULL) {
		err_set(r->err, file, 0, 0, NULL, "cannot be opened: %s",
		        strerror(errno));
		return NULL;
	}
	do {
		if (n == room) {
			room = room == 0 ? 1 << 16 : 2 * room;
			text = mem_grow(text, room, 1);
		}
		errno = 0;
		got = fread(text + n, 1, room - n, stream);
		n += got;
	} while (got > 0 && n <= LIMIT_FILE_BYTES);
	trouble = ferror(stream) ? errno : 0;
	fclose(stream);
	if (trouble != 0)
		err_set(r->err, file, 0, 0, NULL, "cannot be read: %s",
		        strerror(trouble));
	else if (n > LIMIT_FILE_BYTES)
		err_set(r->err, file, 0, 0, NULL, "larger than %d MiB",
		        LIMIT_FILE_BYTES >> 20);
	if (reader_failed(r)) {
		mem_free(text);
		return NULL;
	}
	*size = n;
	return text;
}

/* What is no JSON at all is said in our own words. */
static int looks_like_json(struct reader *r, const char *file, const char *text,
                           size_t size)
{
	size_t blank = strspn(text, " \t\r\n");

	if (blank == size)
		return err_set(r->err, file, 1, 1, NULL,
		               "is empty: an object { ... } is wanted");
	if (strlen(text) < size)
		return err_set(r->err, file, 1, 1, NULL,
		               "is not a text file: JSON is wanted");
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		return err_set(r->err, file, 1, 1, NULL,
		               "begins with a byte order mark: save it as "
		               "UTF-8 without one");
	return 0;
}

json_t *reader_parse(struct reader *r, const char *file)
{
	struct tidy_trouble trouble = {.n = 0};
	json_error_t error;
	struct layer *layer;
	size_t size = 0;
	char *text, *copy;
	json_t *root;

	text = read_text(r, file, &size);
	if (text == NULL)
		return NULL;
	layer = reader_layer(r);
	layer->file = arena_strdup(&r->scratch, file);
	copy = arena_new(&r->scratch, size + 1, 1);
	memcpy(copy, text, size);
	layer->text = copy;
	layer->size = size;
	mem_free(text);
	if (looks_like_json(r, file, copy, size) != 0)
		return NULL;
	root = json_loadb(copy, size, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL) {
		err_set(r->err, file, error.line > 0 ? error.line : 1,
		        error.column > 0 ? error.column : 1, NULL, "%s",
		        error.text);
		return NULL;
	}
	reader_keep(r, root);
	if (!json_is_object(root)) {
		reader_error(r, NULL, 0, false, "must be an object, { ... }");
		return NULL;
	}
	if (tidy_keys(root, &r->scratch, &trouble) != 0) {
		reader_error(r, trouble.steps, trouble.n, true, trouble.text);
		return NULL;
	}
	return root;
}

const char *path_format(const struct step *steps, size_t n, char *buf,
                        size_t size)
{
	size_t at = 1, i;
	int wrote;

	assert(size > 1);
	snprintf(buf, size, "$");
	for (i = 0; i < n && at < size; i++) {
		const char *key = steps[i].key;

		if (key == NULL)
			wrote = snprintf(buf + at, size - at, "[%zu]",
			                 steps[i].index);
		else if (strpbrk(key, ".[]\" ") != NULL || *key == '\0')
			wrote = snprintf(buf + at, size - at, "[\"%s\"]", key);
		else
			wrote = snprintf(buf + at, size - at, ".%s", key);
		if (wrote < 0)
			break;
		at += (size_t)wrote;
	}
	return buf;
}

static bool same_step(const struct step *a, const struct step *b)
{
	if (a->key == NULL || b->key == NULL)
		return a->key == b->key && a->index == b->index;
	return strcmp(a->key, b->key) == 0;
}

/* Whether a change is of that path or of something it is inside of. */
static bool covers(const struct layer *set, const struct step *steps, size_t n)
{
	size_t i;

	if (set->n_target == 0 || set->n_target > n)
		return false;
	for (i = 0; i < set->n_target; i++)
		if (!same_step(&set->target[i], &steps[i]))
			return false;
	return true;
}

/* A place of a file. */
struct spot {
	const char *file;
	struct place place;
};

/* The best place for steps among the files below layer `top`. */
static struct spot in_files(const struct reader *r, size_t top,
                            const struct step *steps, size_t n, bool at_key)
{
	struct spot best = {r->file, {0, 0, 0}};
	const struct layer *layer;
	struct place place;

	while (top-- > 0) {
		layer = &r->layers[top];
		if (layer->is_set)
			continue;
		place = place_find(layer->text, layer->size, steps, n, at_key);
		if (best.place.line == 0 || place.walked > best.place.walked)
			best = (struct spot){layer->file, place};
		if (place.walked == n)
			break;
	}
	return best;
}

static int spot_error(struct reader *r, const struct spot *spot,
                      const char *path, const char *text)
{
	return err_set(r->err, spot->file, spot->place.line, spot->place.col,
	               path, "%s", text);
}

/* The topmost layer that says something of the path; SIZE_MAX: none. */
static size_t last_word(const struct reader *r, const struct step *steps,
                        size_t n)
{
	const struct layer *layer;
	size_t i;

	for (i = r->n_layers; i-- > 0;) {
		layer = &r->layers[i];
		if (layer->is_set ? covers(layer, steps, n)
		                  : place_find(layer->text, layer->size, steps,
		                               n, false)
		                                    .walked == n)
			return i;
	}
	return SIZE_MAX;
}

int reader_error(struct reader *r, const struct step *steps, size_t n,
                 bool at_key, const char *text)
{
	size_t top = last_word(r, steps, n);
	const struct layer *set;
	struct spot spot;
	char path[256];

	path_format(steps, n, path, sizeof path);
	if (top == SIZE_MAX || !r->layers[top].is_set) {
		top = top == SIZE_MAX ? r->n_layers : top + 1;
		spot = in_files(r, top, steps, n, at_key);
		return spot_error(r, &spot, path, text);
	}
	set = &r->layers[top];
	if (set->origin != NULL)
		return err_set(r->err, set->origin, 0, 0, path, "%s", text);
	spot = in_files(r, top, set->alias, set->n_alias, false);
	return spot_error(r, &spot, path, text);
}

int reader_layer_error(struct reader *r, size_t layer, const char *text)
{
	const struct layer *set = &r->layers[layer];
	struct spot spot;
	char path[256];

	assert(layer < r->n_layers && set->is_set);
	if (set->origin != NULL)
		return err_set(r->err, set->origin, 0, 0, NULL, "%s", text);
	spot = in_files(r, layer, set->alias, set->n_alias, true);
	path_format(set->alias, set->n_alias, path, sizeof path);
	return spot_error(r, &spot, path, text);
}
