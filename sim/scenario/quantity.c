/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single values: a quantity with a dimension carries its unit, an id its
 * prefix, and the range is the one that the table states.
 */
#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_int.h"

/* Whole numbers that a double holds exactly. */
#define EXACT_MAX 9007199254740992.0

static bool usable(const struct cursor *c)
{
	return c != NULL && !reader_failed(c->reader);
}

/* A bound as the table writes it ("0", "1ms", "101%"): its value. */
static double bound(const char *text, size_t n)
{
	char word[32];
	double value;
	int64_t ns;

	assert(n > 0 && n < sizeof word);
	memcpy(word, text, n);
	word[n] = '\0';
	if (word[n - 1] == '%')
		return units_fraction(word, &value) == 0 ? value : 0;
	if (islower((unsigned char)word[n - 1]) &&
	    units_duration(word, &ns) == 0)
		return (double)ns;
	return strtod(word, NULL);
}

/*
 * The part of a range ("above A", "at least A", "at most B", "A to B", joined
 * by ", ") that v breaks, as words in buf; false when v is in it.
 */
static bool breaks(const char *range, double v, char *buf, size_t size)
{
	size_t n = strcspn(range, ",");
	const char *to = strstr(range, " to ");
	int length = (int)n;
	bool held;

	if (range[0] == '\0')
		return false;
	if (to != NULL && v < bound(range, (size_t)(to - range))) {
		snprintf(buf, size, "at least %.*s", (int)(to - range), range);
		return true;
	}
	if (to != NULL) {
		length = (int)(range + n - to - 4);
		held = v <= bound(to + 4, (size_t)length);
		snprintf(buf, size, "at most %.*s", length, to + 4);
		return !held;
	}
	if (strncmp(range, "above ", 6) == 0)
		held = v > bound(range + 6, n - 6);
	else if (strncmp(range, "at least ", 9) == 0)
		held = v >= bound(range + 9, n - 9);
	else
		held = v <= bound(range + 8, n - 8);
	if (held)
		return range[n] == ',' && breaks(range + n + 2, v, buf, size);
	snprintf(buf, size, "%.*s", length, range);
	return true;
}

bool cursor_in_range(const struct cursor *c, const struct scenario_field *field,
                     double v)
{
	char text[64], right[64];

	if (!usable(c))
		return false;
	assert(isfinite(v));
	if (!breaks(field->range, v, right, sizeof right))
		return true;
	cursor_error(c, "must be %s, not %s", right,
	             cursor_show(c, text, sizeof text));
	return false;
}

static void wrong_type(const struct cursor *c, const char *right)
{
	char text[64];

	cursor_error(c, "must be %s, not %s", right,
	             cursor_show(c, text, sizeof text));
}

const char *cursor_text(struct cursor *c)
{
	if (!usable(c))
		return NULL;
	if (!json_is_string(c->value)) {
		wrong_type(c, "text in quotes");
		return NULL;
	}
	if (json_string_length(c->value) == 0) {
		cursor_error(c, "must not be empty");
		return NULL;
	}
	return arena_strdup(c->reader->arena, json_string_value(c->value));
}

uint64_t cursor_integer(struct cursor *c)
{
	double v;

	if (!usable(c))
		return 0;
	/* 1e6 is a whole number too. */
	v = json_number_value(c->value);
	if (!json_is_number(c->value) || floor(v) != v ||
	    (json_is_real(c->value) && fabs(v) > EXACT_MAX)) {
		wrong_type(c, "a whole number");
		return 0;
	}
	if (!cursor_in_range(c, c->field, v))
		return 0;
	assert(v >= 0);
	if (json_is_integer(c->value))
		return (uint64_t)json_integer_value(c->value);
	return (uint64_t)v;
}

double cursor_number(struct cursor *c)
{
	double v;

	if (!usable(c))
		return 0;
	if (!json_is_number(c->value)) {
		wrong_type(c, "a number");
		return 0;
	}
	v = json_number_value(c->value);
	return cursor_in_range(c, c->field, v) ? v : 0;
}

bool cursor_boolean(struct cursor *c)
{
	if (!usable(c))
		return false;
	if (!json_is_boolean(c->value))
		wrong_type(c, "true or false");
	return json_is_true(c->value);
}

int64_t cursor_duration(struct cursor *c)
{
	const char *text;
	char number[64];
	int64_t ns;

	if (!usable(c))
		return 0;
	if (json_is_number(c->value)) {
		cursor_show(c, number, sizeof number);
		if (json_number_value(c->value) < 0)
			cursor_error(c,
			             "must be a duration, such as \"30s\", "
			             "not %s",
			             number);
		else
			cursor_error(c,
			             "needs its unit: write \"%ss\" or "
			             "\"%sms\"",
			             number, number);
		return 0;
	}
	text = json_string_value(c->value);
	if (text == NULL || units_duration(text, &ns) != 0) {
		wrong_type(c, "a duration, such as \"30s\", \"250ms\" or "
		              "\"1h30m\"");
		return 0;
	}
	return cursor_in_range(c, c->field, (double)ns) ? ns : 0;
}

double cursor_rate(struct cursor *c)
{
	const char *text;
	double v;

	if (!usable(c))
		return 0;
	text = json_string_value(c->value);
	if (json_is_number(c->value)) {
		v = json_number_value(c->value);
	} else if (text == NULL || units_rate(text, &v) != 0) {
		wrong_type(c, "a rate, such as 20 (per second) or \"1200/m\"");
		return 0;
	}
	return cursor_in_range(c, c->field, v) ? v : 0;
}

double cursor_fraction(struct cursor *c)
{
	const char *text;
	char number[64];
	double v;

	if (!usable(c))
		return 0;
	text = json_string_value(c->value);
	if (json_is_number(c->value)) {
		cursor_error(c, "needs its unit: write \"%s%%\"",
		             cursor_show(c, number, sizeof number));
		return 0;
	}
	if (text == NULL || strchr(text, '%') == NULL ||
	    units_fraction(text, &v) != 0) {
		wrong_type(c, "a percentage, such as \"200%\"");
		return 0;
	}
	return cursor_in_range(c, c->field, v) ? v : 0;
}

/* The words of a range as an array; returns their number. */
static size_t words(struct cursor *c, const char *range, const char **out,
                    size_t max)
{
	size_t n = 0, length;

	while (*range != '\0') {
		length = strcspn(range, ",");
		assert(n < max);
		out[n++] = arena_printf(&c->reader->scratch, "%.*s",
		                        (int)length, range);
		range += length;
		if (*range != '\0')
			range += 2;
	}
	return n;
}

size_t cursor_choice(struct cursor *c)
{
	const char *names[16], *text, *near;
	char shown[64];
	size_t n, i;

	if (!usable(c))
		return 0;
	n = words(c, c->field->range, names, 16);
	text = json_string_value(c->value);
	/* update_mask names a field, which may be in camelCase too. */
	if (text != NULL && tidy_snake(text, shown, sizeof shown))
		text = arena_strdup(&c->reader->scratch, shown);
	for (i = 0; text != NULL && i < n; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	cursor_show(c, shown, sizeof shown);
	near = text != NULL && n > 2 ? base_nearest(text, names, n) : NULL;
	cursor_error(c, "must be %s%s, not %s%s%s%s", n > 1 ? "one of " : "",
	             c->field->range, shown,
	             near != NULL ? "; did you mean \"" : "",
	             near != NULL ? near : "", near != NULL ? "\"?" : "");
	return 0;
}

/* Letters, digits and those of `more`; at most LIMIT_ID of them. */
static bool well_formed(const struct cursor *c, const char *text,
                        const char *more)
{
	size_t n;

	for (n = 0; text[n] != '\0'; n++) {
		if (isalnum((unsigned char)text[n]) ||
		    strchr(more, text[n]) != NULL)
			continue;
		wrong_type(c, "made of letters, digits, _, - and .");
		return false;
	}
	if (n > LIMIT_ID) {
		cursor_error(c, "has %zu characters; at most %d are read", n,
		             LIMIT_ID);
		return false;
	}
	return true;
}

static bool starts_with(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 && text[n] != '\0';
}

const char *cursor_id(struct cursor *c, const char *prefix, const char *earlier)
{
	const char *text = cursor_text(c);
	char shown[64];

	if (text == NULL)
		return NULL;
	if (!starts_with(text, prefix) &&
	    (earlier == NULL || !starts_with(text, earlier))) {
		cursor_error(c, "must begin with \"%s\", not %s", prefix,
		             cursor_show(c, shown, sizeof shown));
		return NULL;
	}
	return well_formed(c, text, "_-.") ? text : NULL;
}

const char *cursor_file_name(struct cursor *c)
{
	const char *text = cursor_text(c);
	char shown[64];

	if (text == NULL || !well_formed(c, text, "_-."))
		return NULL;
	if (text[0] != '.')
		return text;
	cursor_error(c, "names files, and must not begin with a dot: %s",
	             cursor_show(c, shown, sizeof shown));
	return NULL;
}

const char *cursor_name(struct cursor *c, bool slash)
{
	static const char *const prefixes[] = {"dep_", "ep_", "endpoint_"};
	const char *text = cursor_text(c);
	char shown[64];
	size_t i;

	if (text == NULL || !well_formed(c, text, slash ? "_-./" : "_-."))
		return NULL;
	cursor_show(c, shown, sizeof shown);
	for (i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) != 0)
			continue;
		cursor_error(c,
		             "is a name, and must not begin with \"%s\" as "
		             "ids do: %s",
		             prefixes[i], shown);
		return NULL;
	}
	if (!isalpha((unsigned char)text[0])) {
		cursor_error(c, "must begin with a letter, not %s", shown);
		return NULL;
	}
	return text;
}
