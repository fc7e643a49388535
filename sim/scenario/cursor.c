/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cursor is a JSON value that knows how it was reached. Paths are put
 * together only when something is wrong.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

static struct cursor *cursor_new(struct reader *r, json_t *value)
{
	struct cursor *c = arena_new(&r->scratch, 1, sizeof *c);

	assert(value != NULL);
	c->reader = r;
	c->value = value;
	return c;
}

struct cursor *cursor_root(struct reader *r, json_t *value)
{
	return cursor_new(r, value);
}

/* The steps from the root to c, and `extra` (may be NULL) behind them. */
static struct step *steps_to(const struct cursor *c, const char *extra,
                             size_t *n)
{
	const struct cursor *at;
	struct step *steps;
	size_t i = extra != NULL ? 1 : 0;

	for (at = c; at->up != NULL; at = at->up)
		i++;
	*n = i;
	steps = arena_new(&c->reader->scratch, i + 1, sizeof *steps);
	if (extra != NULL)
		steps[--i].key = extra;
	for (at = c; at->up != NULL; at = at->up)
		steps[--i] = (struct step){at->key, at->index};
	assert(i == 0);
	return steps;
}

int cursor_error(const struct cursor *c, const char *fmt, ...)
{
	struct step *steps;
	char text[512];
	va_list args;
	size_t n;

	if (reader_failed(c->reader))
		return -1;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	steps = steps_to(c, NULL, &n);
	return reader_error(c->reader, steps, n, false, text);
}

const char *cursor_path(const struct cursor *c, char *buf, size_t size)
{
	size_t n;
	const struct step *steps = steps_to(c, NULL, &n);

	return path_format(steps, n, buf, size);
}

const char *cursor_show(const struct cursor *c, char *buf, size_t size)
{
	const char *text = write_canonical(c->value, &c->reader->scratch);
	size_t n = strlen(text);

	assert(size > 16);
	if (n < size && n <= 40) {
		memcpy(buf, text, n + 1);
		return buf;
	}
	n = size - 4 < 36 ? size - 4 : 36;
	/* Not within a character. */
	while (n > 0 && ((unsigned char)text[n] & 0xc0u) == 0x80u)
		n--;
	memcpy(buf, text, n);
	memcpy(buf + n, "...", 4);
	return buf;
}

bool cursor_object(struct cursor *c, const char *object)
{
	struct step *steps;
	const char *key;
	char text[512];
	json_t *value;
	size_t n;

	if (c == NULL || reader_failed(c->reader))
		return false;
	if (!json_is_object(c->value)) {
		cursor_error(c, "must be an object, not %s",
		             cursor_show(c, text, 64));
		return false;
	}
	c->object = object;
	json_object_foreach(c->value, key, value)
	{
		if (strcmp(key, "$comment") == 0 ||
		    field_find(object, key) != NULL)
			continue;
		field_unknown(object, key, text, sizeof text);
		steps = steps_to(c, key, &n);
		reader_error(c->reader, steps, n, true, text);
		return false;
	}
	return true;
}

bool cursor_has(const struct cursor *c, const char *name)
{
	return c != NULL && json_object_get(c->value, name) != NULL;
}

/* A fallback that is JSON is a default; other words only describe it. */
static json_t *fallback(struct reader *r, const struct scenario_field *field)
{
	json_t *value = json_loads(field->fallback, JSON_DECODE_ANY, NULL);

	return value != NULL ? reader_keep(r, value) : NULL;
}

struct cursor *cursor_member(struct cursor *c, const char *name)
{
	const struct scenario_field *field;
	struct cursor *member;
	json_t *value;

	if (c == NULL || reader_failed(c->reader))
		return NULL;
	assert(c->object != NULL);
	field = field_find(c->object, name);
	assert(field != NULL);
	value = json_object_get(c->value, name);
	if (value == NULL && field->fallback[0] == '\0') {
		cursor_error(c, "needs \"%s\": %s", name, field->sentence);
		return NULL;
	}
	if (value == NULL)
		value = fallback(c->reader, field);
	if (value == NULL)
		return NULL;
	member = cursor_new(c->reader, value);
	member->up = c;
	member->key = field->name;
	member->field = field;
	return member;
}

size_t cursor_items(const struct cursor *c, size_t max)
{
	char text[64];
	size_t n;

	if (c == NULL || reader_failed(c->reader))
		return 0;
	if (!json_is_array(c->value)) {
		cursor_error(c, "must be a list, [ ... ], not %s",
		             cursor_show(c, text, sizeof text));
		return 0;
	}
	n = json_array_size(c->value);
	if (n > max) {
		cursor_error(c, "has %zu entries; at most %zu are read", n,
		             max);
		return 0;
	}
	return n;
}

struct cursor *cursor_item(struct cursor *c, size_t i)
{
	struct cursor *item;

	if (c == NULL || reader_failed(c->reader))
		return NULL;
	assert(i < json_array_size(c->value));
	item = cursor_new(c->reader, json_array_get(c->value, i));
	item->up = c;
	item->index = i;
	item->field = c->field;
	return item;
}

size_t cursor_one_of(const struct cursor *c, const char *const *names, size_t n)
{
	size_t i, found = n, second = n, at = 0;
	char text[256] = "";

	assert(n > 1);
	if (c == NULL || reader_failed(c->reader))
		return n;
	for (i = 0; i < n; i++) {
		if (!cursor_has(c, names[i]))
			continue;
		if (found == n)
			found = i;
		else if (second == n)
			second = i;
	}
	if (found < n && second == n)
		return found;
	if (found < n) {
		cursor_error(c, "\"%s\" and \"%s\" exclude each other",
		             names[found], names[second]);
		return n;
	}
	for (i = 0; i < n && at < sizeof text; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s\"%s\"",
		                       i == 0      ? ""
		                       : i + 1 < n ? ", "
		                                   : " or ",
		                       names[i]);
	cursor_error(c, "needs %s", text);
	return n;
}
