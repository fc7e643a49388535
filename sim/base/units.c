/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

__extension__ typedef unsigned __int128 u128;

/* Digits after the point that a duration or a size may have. */
#define FRACTION_MAX 18
/* The longest number that is read as a double. */
#define NUMBER_MAX 64

struct unit {
	const char *name;
	uint64_t factor;
};

/* From long to short: the parts of a compound duration come in this order. */
static const struct unit durations[] = {
	{"d", (uint64_t)NS_PER_MIN * 60 * 24},
	{"h", (uint64_t)NS_PER_MIN * 60},
	{"m", (uint64_t)NS_PER_MIN},
	{"s", (uint64_t)NS_PER_S},
	{"ms", (uint64_t)NS_PER_MS},
	{"us", (uint64_t)NS_PER_US},
	{"ns", 1},
};

static const struct unit sizes[] = {
	{"B", 1},
	{"kB", UINT64_C(1000)},
	{"KB", UINT64_C(1000)},
	{"MB", UINT64_C(1000000)},
	{"GB", UINT64_C(1000000000)},
	{"TB", UINT64_C(1000000000000)},
	{"PB", UINT64_C(1000000000000000)},
	{"KiB", UINT64_C(1) << 10},
	{"MiB", UINT64_C(1) << 20},
	{"GiB", UINT64_C(1) << 30},
	{"TiB", UINT64_C(1) << 40},
	{"PiB", UINT64_C(1) << 50},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* A decimal as written: whole + fraction / 10^digits. */
struct decimal {
	uint64_t whole;
	uint64_t fraction;
	int digits;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reads "12" or "12.5" and returns what follows, or NULL. */
static const char *read_decimal(const char *p, struct decimal *d)
{
	unsigned digit;

	assert(p != NULL && d != NULL);
	memset(d, 0, sizeof *d);
	if (!is_digit(*p))
		return NULL;
	for (; is_digit(*p); p++) {
		digit = (unsigned)(*p - '0');
		if (d->whole > (UINT64_MAX - digit) / 10)
			return NULL;
		d->whole = d->whole * 10 + digit;
	}
	if (*p != '.')
		return p;
	p++;
	if (!is_digit(*p))
		return NULL;
	for (; is_digit(*p); p++) {
		if (d->digits == FRACTION_MAX)
			return NULL;
		d->fraction = d->fraction * 10 + (unsigned)(*p - '0');
		d->digits++;
	}
	return p;
}

/* The unit that the letters at p spell, or NULL; *p moves behind it. */
static const struct unit *read_unit(const char **p, const struct unit *units,
                                    size_t n)
{
	size_t i, length = 0;

	while (is_letter((*p)[length]))
		length++;
	for (i = 0; i < n; i++) {
		if (strlen(units[i].name) != length ||
		    memcmp(units[i].name, *p, length) != 0)
			continue;
		*p += length;
		return &units[i];
	}
	return NULL;
}

/*
 * d times factor to the nearest integer, halves up. Returns -1 when it does
 * not fit or when something would be rounded away to nothing.
 */
static int scale(const struct decimal *d, uint64_t factor, uint64_t *out)
{
	u128 total, power = 1;
	int i;

	assert(d->digits <= FRACTION_MAX && factor > 0);
	for (i = 0; i < d->digits; i++)
		power *= 10;
	total = (u128)d->whole * factor +
	        ((u128)d->fraction * factor + power / 2) / power;
	if (total > UINT64_MAX)
		return -1;
	if (total == 0 && (d->whole > 0 || d->fraction > 0))
		return -1;
	*out = (uint64_t)total;
	return 0;
}

int units_duration(const char *text, int64_t *ns)
{
	const struct unit *unit, *previous = NULL;
	struct decimal d = {0};
	uint64_t total = 0, part;
	const char *p = text;

	assert(text != NULL && ns != NULL);
	if (strcmp(text, "0") == 0) {
		*ns = 0;
		return 0;
	}
	do {
		/* Only the last part may be broken: "1h1.5m". */
		if (d.digits > 0)
			return -1;
		p = read_decimal(p, &d);
		if (p == NULL)
			return -1;
		unit = read_unit(&p, durations, LENGTH(durations));
		if (unit == NULL || (previous != NULL && unit <= previous))
			return -1;
		previous = unit;
		if (scale(&d, unit->factor, &part) != 0)
			return -1;
		if (part >= (uint64_t)TIME_NEVER - total)
			return -1;
		total += part;
	} while (*p != '\0');
	assert(total < (uint64_t)TIME_NEVER);
	*ns = (int64_t)total;
	return 0;
}

int units_bytes(const char *text, uint64_t *bytes)
{
	const struct unit *unit;
	struct decimal d;
	const char *p;

	assert(text != NULL && bytes != NULL);
	if (strcmp(text, "0") == 0) {
		*bytes = 0;
		return 0;
	}
	p = read_decimal(text, &d);
	if (p == NULL)
		return -1;
	unit = read_unit(&p, sizes, LENGTH(sizes));
	if (unit == NULL || *p != '\0')
		return -1;
	return scale(&d, unit->factor, bytes);
}

/*
 * Reads a non-negative double at *p and moves behind it; digits with an
 * optional point and exponent, nothing else of what strtod takes. A
 * following '%' is taken too where `percent` allows it: it shifts the point
 * in the text, so that "0.7%" is the double nearest to 0.007.
 */
static int read_double(const char **p, bool percent, double *out)
{
	char number[NUMBER_MAX + 4];
	const char *q = *p;
	bool exponent = false;
	size_t n;
	char *end;
	double v;

	if (!is_digit(*q))
		return -1;
	while (is_digit(*q))
		q++;
	if (*q == '.') {
		if (!is_digit(*++q))
			return -1;
		while (is_digit(*q))
			q++;
	}
	if (*q == 'e' || *q == 'E') {
		exponent = true;
		q++;
		if (*q == '+' || *q == '-')
			q++;
		if (!is_digit(*q))
			return -1;
		while (is_digit(*q))
			q++;
	}
	n = (size_t)(q - *p);
	if (n > NUMBER_MAX)
		return -1;
	memcpy(number, *p, n);
	if (percent && *q == '%') {
		if (exponent)
			return -1;
		memcpy(number + n, "e-2", 3);
		n += 3;
		q++;
	}
	number[n] = '\0';
	errno = 0;
	v = strtod(number, &end);
	if (*end != '\0' || errno == ERANGE)
		return -1;
	assert(isfinite(v) && v >= 0);
	*out = v;
	*p = q;
	return 0;
}

int units_rate(const char *text, double *per_second)
{
	const struct unit *unit;
	const char *p = text;
	double v, seconds = 1;

	assert(text != NULL && per_second != NULL);
	if (read_double(&p, false, &v) != 0)
		return -1;
	if (*p == '/') {
		p++;
		unit = read_unit(&p, durations, LENGTH(durations));
		if (unit == NULL || unit->factor < (uint64_t)NS_PER_S)
			return -1;
		seconds = (double)unit->factor / (double)NS_PER_S;
	}
	if (*p != '\0')
		return -1;
	*per_second = v / seconds;
	return 0;
}

int units_fraction(const char *text, double *fraction)
{
	const char *p = text;
	double v, below;

	assert(text != NULL && fraction != NULL);
	if (read_double(&p, true, &v) != 0)
		return -1;
	if (*p == '/' && p[-1] != '%') {
		p++;
		if (read_double(&p, false, &below) != 0 || !(below > 0))
			return -1;
		v /= below;
		if (!isfinite(v))
			return -1;
	}
	if (*p != '\0')
		return -1;
	*fraction = v;
	return 0;
}
