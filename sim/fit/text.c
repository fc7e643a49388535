/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fit/read_int.h"

/* Bytes of the UTF-8 character at s, 0 when it is none or a control. */
static size_t character(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n;

	assert(s != NULL);
	if (u[0] < 0x80)
		return u[0] >= 0x20 && u[0] != 0x7f ? 1 : 0;
	n = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong, a surrogate, or beyond the last plane. */
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n;
}

void fit_text(char *to, size_t size, const char *from)
{
	size_t at = 0, n;

	assert(to != NULL && from != NULL);
	assert(size > 4);
	while (*from != '\0') {
		n = character(from);
		if (at + (n == 0 ? 1 : n) >= size)
			break;
		if (n == 0) {
			to[at++] = '?';
			from++;
			continue;
		}
		memcpy(to + at, from, n);
		at += n;
		from += n;
	}
	to[at] = '\0';
}

/* Copies a number without its commas; false when they part no thousands. */
static bool without_commas(const char *s, size_t n, char *out)
{
	const char *comma = memchr(s, ',', n);
	size_t digits = 0, at = 0;
	bool grouped = false;

	assert(s != NULL && out != NULL);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == ',') {
			if (grouped ? digits != 3 : digits < 1 || digits > 3)
				return false;
			grouped = true;
			digits = 0;
			continue;
		}
		if (!isdigit((unsigned char)s[i]) && grouped) {
			if (digits != 3)
				return false;
			grouped = false;
		} else if (isdigit((unsigned char)s[i])) {
			digits++;
		} else if (comma != NULL && s + i < comma && i > 0) {
			return false;
		}
		out[at++] = s[i];
	}
	out[at] = '\0';
	return !grouped || digits == 3;
}

static bool says(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(s, word, n) == 0;
}

/* "nan", "-inf", "Infinity". */
static bool not_finite(const char *s, size_t n)
{
	if (n > 0 && (*s == '-' || *s == '+')) {
		s++;
		n--;
	}
	return says(s, n, "nan") || says(s, n, "inf") || says(s, n, "infinity");
}

int fit_number(const char *text, double *value)
{
	char number[64], *end;
	double v;
	size_t n;

	assert(text != NULL && value != NULL);
	while (isspace((unsigned char)*text))
		text++;
	n = strlen(text);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	if (not_finite(text, n))
		return -2;
	/* strtod would take hexadecimals and words as well. */
	if (n == 0 || n >= sizeof number ||
	    strspn(text, "0123456789+-.,eE") < n)
		return -1;
	if (!without_commas(text, n, number))
		return -1;
	v = strtod(number, &end);
	if (end == number || *end != '\0')
		return -1;
	if (!isfinite(v))
		return -2;
	*value = v;
	return 0;
}
