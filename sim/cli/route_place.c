/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jansson keeps no places, so the text is walked again; only errors come
 * here. It parsed before: a string ends and brackets match.
 */
#include "route_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static const char *skip_string(const char *s)
{
	assert(*s == '"');
	for (s++; *s && *s != '"'; s++)
		if (*s == '\\' && s[1])
			s++;
	return *s ? s + 1 : s;
}

static const char *skip_value(const char *s)
{
	int depth = 0;

	for (s = skip_space(s); *s; s = skip_space(s)) {
		if (*s == '"') {
			s = skip_string(s);
		} else if (*s == '{' || *s == '[') {
			depth++;
			s++;
		} else if (*s == '}' || *s == ']') {
			if (depth == 0)
				return s;
			depth--;
			s++;
		} else if (depth > 0) {
			s++;
		} else {
			return s + strcspn(s, ",]} \t\r\n");
		}
		if (depth == 0)
			return s;
	}
	return s;
}

/* The member's value, NULL when there is none of that name. */
static const char *member(const char *s, const char *name, size_t n)
{
	s = skip_space(s);
	if (*s != '{')
		return NULL;
	for (s = skip_space(s + 1); *s == '"';) {
		const char *key = s + 1;
		bool same;

		s = skip_string(s);
		same = (size_t)(s - 1 - key) == n && strncmp(key, name, n) == 0;
		s = skip_space(skip_space(s) + 1);
		if (same)
			return s;
		s = skip_space(skip_value(s));
		if (*s == ',')
			s = skip_space(s + 1);
	}
	return NULL;
}

static const char *element(const char *s, unsigned long index)
{
	s = skip_space(s);
	if (*s != '[')
		return NULL;
	for (s = skip_space(s + 1); *s && *s != ']'; s = skip_space(s)) {
		if (index-- == 0)
			return s;
		s = skip_space(skip_value(s));
		if (*s == ',')
			s++;
	}
	return NULL;
}

void json_place(const char *text, const char *path, int *line, int *col)
{
	const char *at = skip_space(text);

	assert(path[0] == '$');
	for (path++; *path;) {
		const char *next;

		if (*path == '[') {
			char *end;
			unsigned long i = strtoul(path + 1, &end, 10);

			next = element(at, i);
			path = end + 1;
		} else {
			size_t n = strcspn(path + 1, ".[");

			next = member(at, path + 1, n);
			path += 1 + n;
		}
		if (next == NULL)
			break;
		at = next;
	}
	*line = 1;
	*col = 1;
	for (const char *s = text; s < at; s++) {
		if (*s == '\n') {
			++*line;
			*col = 1;
		} else if (((unsigned char)*s & 0xc0u) != 0x80u) {
			/* a column is a character, not a byte */
			++*col;
		}
	}
}
