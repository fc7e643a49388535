/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where in a file a path leads. The parser keeps no places, so this scans
 * the text again; only errors come here. The text parsed before, so that a
 * string ends and brackets match.
 */
#include <assert.h>
#include <string.h>

#include "scenario/scenario_int.h"

struct scan {
	const char *text;
	size_t size;
	size_t at;
};

static char look(const struct scan *s)
{
	return s->at < s->size ? s->text[s->at] : '\0';
}

static void skip_space(struct scan *s)
{
	while (s->at < s->size && strchr(" \t\r\n", s->text[s->at]) != NULL)
		s->at++;
}

static void skip_string(struct scan *s)
{
	assert(look(s) == '"');
	for (s->at++; s->at < s->size && look(s) != '"'; s->at++)
		if (look(s) == '\\')
			s->at++;
	s->at++;
}

static void skip_value(struct scan *s)
{
	size_t depth = 0;

	skip_space(s);
	do {
		switch (look(s)) {
		case '"':
			skip_string(s);
			break;
		case '{':
		case '[':
			depth++;
			s->at++;
			break;
		case '}':
		case ']':
			depth--;
			s->at++;
			break;
		default:
			s->at++;
		}
		if (depth == 0 && strchr(",]} \t\r\n", look(s)) != NULL)
			return;
	} while (s->at < s->size);
}

/* Whether the string from `begin` to s->at is that key, in either case. */
static bool is_key(const struct scan *s, size_t begin, const char *key)
{
	json_t *name = json_loadb(s->text + begin, s->at - begin,
	                          JSON_DECODE_ANY, NULL);
	const char *written = json_string_value(name);
	char snake[128];
	bool same = false;

	if (written != NULL) {
		same = strcmp(written, key) == 0 ||
		       (tidy_snake(written, snake, sizeof snake) &&
		        strcmp(snake, key) == 0);
	}
	json_decref(name);
	return same;
}

/* Enters the member of that name; *key_at is where its name stands. */
static bool enter_member(struct scan *s, const char *key, size_t *key_at)
{
	size_t begin;
	bool found;

	skip_space(s);
	if (look(s) != '{')
		return false;
	s->at++;
	for (skip_space(s); look(s) == '"'; skip_space(s)) {
		begin = s->at;
		skip_string(s);
		found = is_key(s, begin, key);
		skip_space(s);
		assert(look(s) == ':');
		s->at++;
		skip_space(s);
		if (found) {
			*key_at = begin;
			return true;
		}
		skip_value(s);
		skip_space(s);
		if (look(s) == ',')
			s->at++;
	}
	return false;
}

static bool enter_element(struct scan *s, size_t index)
{
	skip_space(s);
	if (look(s) != '[')
		return false;
	s->at++;
	for (skip_space(s); look(s) != ']' && s->at < s->size; skip_space(s)) {
		if (index-- == 0)
			return true;
		skip_value(s);
		skip_space(s);
		if (look(s) == ',')
			s->at++;
	}
	return false;
}

/* A column is a character, not a byte. */
static struct place count(const struct scan *s, size_t to, size_t walked)
{
	struct place place = {1, 1, walked};
	size_t i;

	for (i = 0; i < to && i < s->size; i++) {
		if (s->text[i] == '\n') {
			place.line++;
			place.col = 1;
		} else if (((unsigned char)s->text[i] & 0xc0u) != 0x80u) {
			place.col++;
		}
	}
	return place;
}

struct place place_find(const char *text, size_t size, const struct step *steps,
                        size_t n, bool at_key)
{
	struct scan s = {text, size, 0};
	size_t i, at, key_at;
	bool found;

	assert(text != NULL && (steps != NULL || n == 0));
	skip_space(&s);
	at = s.at;
	for (i = 0; i < n; i++) {
		key_at = s.at;
		found = steps[i].key != NULL
		                ? enter_member(&s, steps[i].key, &key_at)
		                : enter_element(&s, steps[i].index);
		if (!found)
			break;
		at = at_key && i + 1 == n && steps[i].key != NULL ? key_at
		                                                  : s.at;
	}
	return count(&s, at, i);
}
