/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON as text, with numbers as short as they read back. For people: what
 * fits on a line stays on one. Canonical: compact, keys sorted; what digests
 * are made of.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_int.h"

enum { LINE = 80, INDENT = 2 };

struct out {
	char *text;
	size_t n;
	size_t room;
	bool canonical;
};

static void put(struct out *o, const char *text, size_t n)
{
	while (o->n + n + 1 > o->room) {
		o->room = o->room == 0 ? 4096 : 2 * o->room;
		o->text = mem_grow(o->text, o->room, 1);
	}
	memcpy(o->text + o->n, text, n);
	o->n += n;
	o->text[o->n] = '\0';
}

static void puts_to(struct out *o, const char *text)
{
	put(o, text, strlen(text));
}

static void spaces(struct out *o, size_t n)
{
	while (n-- > 0)
		put(o, " ", 1);
}

/* The shortest decimal that reads back as the same double. */
static void shortest(double value, char *buf, size_t size)
{
	int digits;

	assert(size >= 32);
	for (digits = 1; digits <= 17; digits++) {
		snprintf(buf, size, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
}

/* A real stays one: 1.0, not 1. Tens are not written 1e+01. */
static void put_real(struct out *o, double value)
{
	char text[64];

	if (value > -1e15 && value < 1e15 && (double)(int64_t)value == value)
		snprintf(text, sizeof text, "%.1f", value);
	else
		shortest(value, text, sizeof text);
	puts_to(o, text);
	if (strpbrk(text, ".e") == NULL)
		puts_to(o, ".0");
}

static void put_string(struct out *o, const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY);

	assert(text != NULL);
	puts_to(o, text);
	free(text);
}

static void put_scalar(struct out *o, const json_t *value)
{
	char text[32];

	switch (json_typeof(value)) {
	case JSON_INTEGER:
		snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT,
		         json_integer_value(value));
		puts_to(o, text);
		break;
	case JSON_REAL:
		put_real(o, json_real_value(value));
		break;
	case JSON_STRING:
		put_string(o, value);
		break;
	default:
		puts_to(o, json_is_true(value)    ? "true"
		           : json_is_false(value) ? "false"
		                                  : "null");
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of an object, sorted when canonical; to be freed. */
static const char **keys_of(const json_t *object, bool sorted, size_t *n)
{
	const char **keys, *key;
	json_t *value;
	size_t i = 0;

	*n = json_object_size(object);
	keys = mem_new(*n + 1, sizeof *keys);
	json_object_foreach((json_t *)object, key, value)
	{
		keys[i++] = key;
	}
	if (sorted)
		qsort(keys, *n, sizeof *keys, by_text);
	return keys;
}

static void put_key(struct out *o, const char *key)
{
	json_t *name = json_string(key);

	put_string(o, name);
	puts_to(o, o->canonical ? ":" : ": ");
	json_decref(name);
}

/* Everything on one line. */
static void put_flat(struct out *o, const json_t *value)
{
	const char *comma = o->canonical ? "," : ", ";
	const char *pad = o->canonical ? "" : " ";
	const char **keys;
	json_t *child;
	size_t i, n;

	if (json_is_array(value)) {
		puts_to(o, "[");
		json_array_foreach(value, i, child)
		{
			puts_to(o, i > 0 ? comma : "");
			put_flat(o, child);
		}
		puts_to(o, "]");
	} else if (json_is_object(value)) {
		keys = keys_of(value, o->canonical, &n);
		puts_to(o, "{");
		for (i = 0; i < n; i++) {
			puts_to(o, i > 0 ? comma : pad);
			put_key(o, keys[i]);
			put_flat(o, json_object_get(value, keys[i]));
		}
		puts_to(o, n > 0 ? pad : "");
		puts_to(o, "}");
		mem_free(keys);
	} else {
		put_scalar(o, value);
	}
}

/* Whether it fits into what is left of a line. */
static bool fits(const json_t *value, size_t left)
{
	struct out flat = {.canonical = false};
	bool result;

	put_flat(&flat, value);
	result = flat.n <= left;
	mem_free(flat.text);
	return result;
}

static void put_pretty(struct out *o, const json_t *value, size_t indent,
                       size_t used)
{
	size_t inner = indent + INDENT, i, n, before;
	const char **keys;
	json_t *child;

	if ((!json_is_array(value) && !json_is_object(value)) ||
	    (indent > 0 && used < LINE && fits(value, LINE - used))) {
		put_flat(o, value);
		return;
	}
	puts_to(o, json_is_array(value) ? "[\n" : "{\n");
	json_array_foreach(value, i, child)
	{
		puts_to(o, i > 0 ? ",\n" : "");
		spaces(o, inner);
		put_pretty(o, child, inner, inner + 1);
	}
	keys = keys_of(value, false, &n);
	for (i = 0; i < n; i++) {
		puts_to(o, i > 0 ? ",\n" : "");
		spaces(o, inner);
		before = o->n;
		put_key(o, keys[i]);
		put_pretty(o, json_object_get(value, keys[i]), inner,
		           inner + 1 + (o->n - before));
	}
	mem_free(keys);
	puts_to(o, "\n");
	spaces(o, indent);
	puts_to(o, json_is_array(value) ? "]" : "}");
}

static const char *finish(struct out *o, struct arena *arena)
{
	char *text = arena_strdup(arena, o->text);

	mem_free(o->text);
	return text;
}

const char *write_pretty(const json_t *value, struct arena *arena)
{
	struct out o = {.canonical = false};

	put_pretty(&o, value, 0, 0);
	puts_to(&o, "\n");
	return finish(&o, arena);
}

const char *write_canonical(const json_t *value, struct arena *arena)
{
	struct out o = {.canonical = true};

	put_flat(&o, value);
	return finish(&o, arena);
}
