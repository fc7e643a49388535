/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "load/load_int.h"

int load_read_whole(const char *text, uint64_t *n)
{
	uint64_t sum = 0;

	assert(text != NULL);
	if (*text == '\0')
		return -1;
	for (; *text != '\0'; text++) {
		uint64_t digit = (uint64_t)(unsigned char)*text - '0';

		if (*text < '0' || *text > '9')
			return -1;
		if (sum > (UINT64_MAX - digit) / 10)
			sum = UINT64_MAX;
		else
			sum = sum * 10 + digit;
	}
	*n = sum;
	return 0;
}

/* Reads exactly `n` digits and moves on; -1 when they are not there. */
static int64_t digits(const char **p, int n)
{
	int64_t sum = 0;

	for (int i = 0; i < n; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		sum = sum * 10 + (**p - '0');
	}
	return sum;
}

static bool skip(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

static bool leap(int64_t y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

/* Days since 1970, or -1 when there is no such day. */
static int64_t read_date(const char **p)
{
	static const int before[13] = {0,   31,  59,  90,  120, 151, 181,
	                               212, 243, 273, 304, 334, 365};
	int64_t y, m, d, length, past;

	y = digits(p, 4);
	if (y < 1970 || y > 2199 || !skip(p, '-'))
		return -1;
	m = digits(p, 2);
	if (m < 1 || m > 12 || !skip(p, '-'))
		return -1;
	d = digits(p, 2);
	length = before[m] - before[m - 1] + (m == 2 && leap(y));
	if (d < 1 || d > length)
		return -1;
	past = y - 1;
	/* 719162 days lie before 1970 by the same rule. */
	return past * 365 + past / 4 - past / 100 + past / 400 - 719162 +
	       before[m - 1] + (m > 2 && leap(y)) + d - 1;
}

/* Seconds since midnight, or -1. */
static int64_t read_clock(const char **p)
{
	int64_t h, m, s;

	h = digits(p, 2);
	if (h < 0 || h > 23 || !skip(p, ':'))
		return -1;
	m = digits(p, 2);
	if (m < 0 || m > 59 || !skip(p, ':'))
		return -1;
	s = digits(p, 2);
	if (s < 0 || s > 59)
		return -1;
	return (h * 60 + m) * 60 + s;
}

/* Nanoseconds after the second, or -1; no fraction is 0. */
static int64_t read_fraction(const char **p)
{
	int64_t sum = 0, grain = NS_PER_S;

	if (!skip(p, '.'))
		return 0;
	if (**p < '0' || **p > '9')
		return -1;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		if (grain == 1)
			return -1;
		grain /= 10;
		sum += (**p - '0') * grain;
	}
	return sum;
}

/* Seconds to take off for UTC; false when it is no offset. */
static bool read_offset(const char **p, int64_t *offset_s)
{
	int64_t sign = **p == '-' ? -1 : 1, h, m;

	*offset_s = 0;
	if (**p == '\0' || skip(p, 'Z'))
		return true;
	if (!skip(p, '+') && !skip(p, '-'))
		return false;
	h = digits(p, 2);
	if (h < 0 || h > 23 || !skip(p, ':'))
		return false;
	m = digits(p, 2);
	if (m < 0 || m > 59)
		return false;
	*offset_s = sign * (h * 60 + m) * 60;
	return true;
}

int load_read_time(const char *text, int64_t *ns)
{
	const char *p = text;
	int64_t day, second, fraction, offset_s;

	assert(text != NULL && ns != NULL);
	day = read_date(&p);
	if (day < 0 || !skip(&p, ' '))
		return -1;
	second = read_clock(&p);
	if (second < 0)
		return -1;
	fraction = read_fraction(&p);
	if (fraction < 0 || !read_offset(&p, &offset_s) || *p != '\0')
		return -1;
	*ns = (day * 86400 + second - offset_s) * NS_PER_S + fraction;
	return 0;
}

void load_show_text(const char *text, char shown[TRACE_SHOWN])
{
	size_t n = strlen(text), cut = TRACE_SHOWN - 1;

	if (n > cut)
		n = cut - 3;
	for (size_t i = 0; i < n; i++)
		shown[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
	memcpy(shown + n, "...", 4);
	if (text[n] == '\0')
		shown[n] = '\0';
}
