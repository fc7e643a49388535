/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The members of a JSON object on one line, without building it. Only plain
 * lines are taken: what has escapes or bytes beyond ASCII in a string of the
 * object itself, unusual numbers, or an error, is left to the JSON library,
 * which then says what is wrong.
 */
#include "route_int.h"

#include <string.h>

enum { DEPTH_MAX = 64, DIGITS_MAX = 17 };

/* Where reading stands. */
struct flat {
	const char *s;
	const char *end;
};

static char look(const struct flat *f)
{
	return f->s < f->end ? *f->s : '\0';
}

static void skip_space(struct flat *f)
{
	while (f->s < f->end && (*f->s == ' ' || *f->s == '\t'))
		f->s++;
}

static bool take(struct flat *f, char c)
{
	if (look(f) != c)
		return false;
	f->s++;
	return true;
}

/* A string's inside; with `escapes`, those of one letter are passed over. */
static bool string(struct flat *f, bool escapes, const char **text, size_t *n)
{
	if (!take(f, '"'))
		return false;
	*text = f->s;
	for (; f->s < f->end; f->s++) {
		unsigned char c = (unsigned char)*f->s;

		if (c == '"') {
			*n = (size_t)(f->s++ - *text);
			return true;
		}
		if (c < 0x20 || c >= 0x7f)
			return false;
		if (c == '\\' &&
		    (!escapes || ++f->s == f->end || *f->s == '\0' ||
		     !strchr("\"\\/bfnrt", *f->s)))
			return false;
	}
	return false;
}

static bool digits(struct flat *f)
{
	const char *from = f->s;

	while (f->s < f->end && *f->s >= '0' && *f->s <= '9')
		f->s++;
	return f->s > from && f->s - from <= DIGITS_MAX;
}

static bool number(struct flat *f)
{
	take(f, '-');
	if (look(f) == '0')
		f->s++;
	else if (!digits(f))
		return false;
	return !take(f, '.') || digits(f);
}

static bool word(struct flat *f, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(f->end - f->s) < n || memcmp(f->s, text, n) != 0)
		return false;
	f->s += n;
	return true;
}

static bool skip_value(struct flat *f, int depth);

/* The inside of a list or an object, behind its bracket. */
static bool skip_inside(struct flat *f, char close, int depth)
{
	const char *text;
	size_t n;

	skip_space(f);
	if (take(f, close))
		return true;
	do {
		skip_space(f);
		if (close == '}') {
			if (!string(f, true, &text, &n))
				return false;
			skip_space(f);
			if (!take(f, ':'))
				return false;
			skip_space(f);
		}
		if (!skip_value(f, depth))
			return false;
		skip_space(f);
	} while (take(f, ','));
	return take(f, close);
}

static bool skip_value(struct flat *f, int depth)
{
	const char *text;
	size_t n;

	if (depth == DEPTH_MAX)
		return false;
	switch (look(f)) {
	case '"':
		return string(f, true, &text, &n);
	case '[':
		f->s++;
		return skip_inside(f, ']', depth + 1);
	case '{':
		f->s++;
		return skip_inside(f, '}', depth + 1);
	case 't':
		return word(f, "true");
	case 'f':
		return word(f, "false");
	case 'n':
		return word(f, "null");
	default:
		return number(f);
	}
}

static bool member(struct flat *f, struct flat_member *m)
{
	skip_space(f);
	if (!string(f, false, &m->name, &m->name_len))
		return false;
	skip_space(f);
	if (!take(f, ':'))
		return false;
	skip_space(f);
	m->is_string = look(f) == '"';
	return m->is_string ? string(f, false, &m->text, &m->len)
	                    : skip_value(f, 1);
}

static bool same_name(const struct flat_member *a, const struct flat_member *b)
{
	return a->name_len == b->name_len &&
	       memcmp(a->name, b->name, a->name_len) == 0;
}

int flat_read(const char *text, size_t n, struct flat_member *m)
{
	struct flat f = {text, text + n};
	int members = 0;

	skip_space(&f);
	if (!take(&f, '{'))
		return -1;
	do {
		if (members == FLAT_MEMBERS || !member(&f, &m[members]))
			return -1;
		for (int i = 0; i < members; i++)
			if (same_name(&m[i], &m[members]))
				return -1;
		members++;
		skip_space(&f);
	} while (take(&f, ','));
	if (!take(&f, '}'))
		return -1;
	skip_space(&f);
	return f.s == f.end ? members : -1;
}

const struct flat_member *flat_find(const struct flat_member *m, int n,
                                    const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < n; i++)
		if (m[i].name_len == len && memcmp(m[i].name, name, len) == 0)
			return &m[i];
	return NULL;
}
