/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* A copy that is cut where the room ends. */
static void copy(char *to, size_t size, const char *from)
{
	size_t n = 0;

	assert(to != NULL && size > 0);
	if (from != NULL) {
		n = strlen(from);
		if (n >= size)
			n = size - 1;
		memcpy(to, from, n);
	}
	to[n] = '\0';
}

void err_clear(struct err *e)
{
	assert(e != NULL);
	memset(e, 0, sizeof *e);
}

int err_set(struct err *e, const char *where, int line, int col,
            const char *path, const char *fmt, ...)
{
	va_list args;

	assert(e != NULL && fmt != NULL);
	assert(line >= 0 && col >= 0);
	if (e->set)
		return -1;
	e->set = true;
	e->line = line;
	e->col = col;
	copy(e->where, sizeof e->where, where);
	copy(e->path, sizeof e->path, path);
	va_start(args, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, args);
	va_end(args);
	return -1;
}

/* Appends s at *at, cut where the room ends; keeps the terminator. */
static void append(char *buf, size_t size, size_t *at, const char *s)
{
	assert(*at < size);
	copy(buf + *at, size - *at, s);
	*at += strlen(buf + *at);
}

const char *err_format(const struct err *e, char *buf, size_t size)
{
	char number[32];
	size_t at = 0;

	assert(e != NULL && buf != NULL);
	assert(size > 0);
	buf[0] = '\0';
	append(buf, size, &at, e->where);
	if (e->line > 0) {
		snprintf(number, sizeof number, at > 0 ? ":%d" : "%d", e->line);
		append(buf, size, &at, number);
		if (e->col > 0) {
			snprintf(number, sizeof number, ":%d", e->col);
			append(buf, size, &at, number);
		}
	}
	if (at > 0)
		append(buf, size, &at, ": ");
	if (e->path[0] != '\0') {
		append(buf, size, &at, e->path);
		append(buf, size, &at, ": ");
	}
	append(buf, size, &at, e->text);
	return buf;
}
