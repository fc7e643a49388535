/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a --vary: a list, or evenly spaced ones. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_int.h"

enum { LIMIT_VARY = 10000 };

/* A number and what is written behind it. */
struct end {
	double value;
	char unit[16];
};

static bool read_end(const char *text, size_t n, struct end *out)
{
	char copy[64], *rest;

	if (n == 0 || n >= sizeof copy)
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	if (strchr("0123456789.+-", copy[0]) == NULL)
		return false;
	out->value = strtod(copy, &rest);
	if (rest == copy || strlen(rest) >= sizeof out->unit ||
	    !isfinite(out->value))
		return false;
	snprintf(out->unit, sizeof out->unit, "%s", rest);
	return true;
}

/* 0.30000000000000004 came from the steps, not from the user. */
static void write_step(double v, char *buf, size_t size)
{
	snprintf(buf, size, "%.12g", v);
}

static int range_error(const char *text, struct err *e)
{
	return err_set(e, NULL, 0, 0, NULL,
	               "\"%s\" is not LO..HI/STEPS, such as 10..40/4 or "
	               "10s..60s/6 (both ends in one unit, at least 2 steps)",
	               text);
}

/* LO..HI/STEPS. */
static int range(const char *text, const char *dots, struct arena *arena,
                 const char *const **values, struct err *e)
{
	const char *slash = strrchr(dots, '/'), **out;
	struct end low, high;
	char *rest, number[64];
	long steps, i;

	if (slash == NULL || !read_end(text, (size_t)(dots - text), &low) ||
	    !read_end(dots + 2, (size_t)(slash - dots - 2), &high))
		return range_error(text, e);
	if (low.unit[0] == '\0')
		memcpy(low.unit, high.unit, sizeof low.unit);
	steps = strtol(slash + 1, &rest, 10);
	if (*rest != '\0' || steps < 2 || strcmp(low.unit, high.unit) != 0)
		return range_error(text, e);
	if (steps > LIMIT_VARY)
		return err_set(e, NULL, 0, 0, NULL, "at most %d values",
		               LIMIT_VARY);
	out = arena_new(arena, (size_t)steps, sizeof *out);
	for (i = 0; i < steps; i++) {
		write_step(low.value + (high.value - low.value) * (double)i /
		                               (double)(steps - 1),
		           number, sizeof number);
		out[i] = arena_printf(arena, "%s%s", number, low.unit);
	}
	*values = out;
	return (int)steps;
}

/* The length of the first value: up to a comma outside of JSON. */
static size_t value_length(const char *text)
{
	bool quoted = false;
	int depth = 0;
	size_t n;

	for (n = 0; text[n] != '\0'; n++) {
		if (quoted && text[n] == '\\' && text[n + 1] != '\0')
			n++;
		else if (text[n] == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (text[n] == '{' || text[n] == '[')
			depth++;
		else if (text[n] == '}' || text[n] == ']')
			depth--;
		else if (text[n] == ',' && depth == 0)
			break;
	}
	return n;
}

static int list(const char *text, struct arena *arena,
                const char *const **values, struct err *e)
{
	const char **out = arena_new(arena, strlen(text) + 1, sizeof *out);
	size_t length;
	int n = 0;

	for (;;) {
		length = value_length(text);
		if (length == 0)
			return err_set(e, NULL, 0, 0, NULL,
			               "a value is empty; write a,b,c or "
			               "LO..HI/STEPS");
		if (n == LIMIT_VARY)
			return err_set(e, NULL, 0, 0, NULL, "at most %d values",
			               LIMIT_VARY);
		out[n++] = arena_printf(arena, "%.*s", (int)length, text);
		text += length;
		if (*text == '\0')
			break;
		text++;
	}
	*values = out;
	return n;
}

int scenario_vary(const char *text, struct arena *arena,
                  const char *const **values, struct err *e)
{
	const char *dots;

	assert(text != NULL && arena != NULL && values != NULL);
	dots = strstr(text, "..");
	/* Dots inside of quotes or of a file's name are not a range. */
	if (dots != NULL && strchr("0123456789+-.", text[0]) != NULL &&
	    strncmp(text, "..", 2) != 0)
		return range(text, dots, arena, values, e);
	return list(text, arena, values, e);
}
