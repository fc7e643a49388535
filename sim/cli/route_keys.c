/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys as plain lines, as a column of CSV (RFC 4180), or of request bodies. */
#include "route_int.h"

#include <string.h>

enum { COLUMNS_MAX = 1024 };

/* A field from `at` on, unquoted in place; *next: behind it, or past n. */
static char *field(char *line, size_t n, size_t at, size_t *len, size_t *next)
{
	char *begin = line + at;
	char *end = line + n;
	char *to;
	char *s;

	if (at == n || *begin != '"') {
		s = memchr(begin, ',', n - at);
		*len = s ? (size_t)(s - begin) : n - at;
		*next = at + *len + 1;
		return begin;
	}
	to = ++begin;
	for (s = begin; s < end; s++) {
		if (*s == '"' && (s + 1 == end || *++s != '"'))
			break;
		*to++ = *s;
	}
	*len = (size_t)(to - begin);
	s = s < end ? memchr(s, ',', (size_t)(end - s)) : NULL;
	*next = s ? (size_t)(s - line) + 1 : n + 1;
	return begin;
}

/* The header: which field is the column's. */
static int find_column(struct keys_reader *k, const char *column, struct err *e)
{
	const char *names[COLUMNS_MAX];
	struct arena arena = {0};
	char *line, said[400];
	const char *near;
	size_t n, at = 0, fields = 0;
	int got = lines_next(&k->lines, true, &line, &n, e);

	if (got <= 0)
		return got < 0 ? -1
		               : lines_error(&k->lines, 0, NULL, e,
		                             "is empty: a CSV begins with the "
		                             "names of its columns");
	if (n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	while (at <= n && fields < COLUMNS_MAX) {
		size_t len;
		char *s = field(line, n, at, &len, &at);

		names[fields] = arena_printf(&arena, "%.*s", (int)len, s);
		if (strcmp(names[fields], column) == 0) {
			k->column = fields;
			arena_fini(&arena);
			return 0;
		}
		fields++;
	}
	near = base_nearest(column, names, fields);
	snprintf(
		said, sizeof(said),
		near ? "there is no column \"%.100s\"; did you mean \"%.100s\"?"
		     : "there is no column \"%.100s\"",
		column, near);
	arena_fini(&arena);
	return lines_error(&k->lines, 0, NULL, e, said);
}

int keys_open(struct keys_reader *k, const char *file, enum keys_form form,
              const char *column, struct err *e)
{
	*k = (struct keys_reader){.form = form};
	if (lines_open(&k->lines, file, e) != 0)
		return -1;
	if (form == KEYS_CSV && find_column(k, column, e) != 0) {
		keys_close(k);
		return -1;
	}
	return 0;
}

void keys_close(struct keys_reader *k)
{
	lines_close(&k->lines);
	mem_free(k->made);
	k->made = NULL;
}

static int csv_key(const struct keys_reader *k, char *line, size_t n,
                   struct sampled_key *key, struct err *e)
{
	size_t at = 0, fields = 0;
	char said[120];

	while (at <= n) {
		key->text = field(line, n, at, &key->len, &at);
		if (fields++ == k->column)
			return 0;
	}
	snprintf(said, sizeof(said),
	         "the key is field %zu, and the line has %zu", k->column + 1,
	         fields);
	return lines_error(&k->lines, 0, NULL, e, said);
}

int keys_next(struct keys_reader *k, struct sampled_key *key, struct err *e)
{
	char *line;
	size_t n;
	int got;

	do
		got = lines_next(&k->lines, k->form == KEYS_CSV, &line, &n, e);
	while (got > 0 && n == 0 && k->form != KEYS_PLAIN);
	if (got <= 0)
		return got;
	*key = (struct sampled_key){.text = line, .len = n};
	if (k->form == KEYS_JSON)
		return body_key(k, line, n, key, e) == 0 ? 1 : -1;
	if (k->form == KEYS_CSV && csv_key(k, line, n, key, e) != 0)
		return -1;
	if (key->len == 0)
		return lines_error(&k->lines, 0, NULL, e,
		                   "is empty: a key has at least a byte");
	key->hash = route_hash(key->text, key->len);
	return 1;
}
