/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *show_time(int64_t ns, char *buf, size_t size)
{
	if (ns == TIME_NEVER)
		snprintf(buf, size, "inf");
	else if (ns < 0)
		snprintf(buf, size, "-");
	else
		units_show_duration(ns, buf, size);
	return buf;
}

const char *show_count(uint64_t n, char *buf, size_t size)
{
	char plain[24];
	int digits = snprintf(plain, sizeof(plain), "%" PRIu64, n);
	size_t at = 0;

	for (int i = 0; i < digits && at + 2 < size; i++) {
		if (i > 0 && (digits - i) % 3 == 0)
			buf[at++] = ' ';
		buf[at++] = plain[i];
	}
	buf[at] = '\0';
	return buf;
}

const char *show_number(double value, int digits, char *buf, size_t size)
{
	double large = fabs(value);
	char text[40];

	snprintf(buf, size, "%.*g", digits, value);
	if (strchr(buf, 'e') == NULL || large >= 1e15)
		return buf;
	if (large >= 1)
		snprintf(buf, size, "%s%s", value < 0 ? "-" : "",
		         show_count((uint64_t)(large + 0.5), text,
		                    sizeof(text)));
	else if (large >= 1e-6)
		snprintf(buf, size, "%.*f",
		         digits - 1 - (int)floor(log10(large)), value);
	else
		snprintf(buf, size, "%s", value < 0 ? "> -1e-6" : "< 1e-6");
	return buf;
}

const char *show_text(const char *text, char *buf, size_t size)
{
	size_t n = 0;

	for (; text[n] && n + 1 < size; n++) {
		unsigned char c = (unsigned char)text[n];
		unsigned char before = n ? (unsigned char)text[n - 1] : 0;

		buf[n] = text[n];
		if (c == '\n' || c == '\t')
			buf[n] = ' ';
		else if (c < 0x20 || c == 0x7f)
			buf[n] = '?';
		else if (before == 0xc2 && c < 0xa0) /* U+0080 to U+009F */
			buf[n - 1] = buf[n] = '?';
	}
	buf[n] = '\0';
	return buf;
}

const char *show_value(double value, enum study_unit unit, char *buf,
                       size_t size)
{
	char text[40];

	if (isnan(value))
		snprintf(buf, size, "-");
	else if (isinf(value))
		snprintf(buf, size, value > 0 ? "inf" : "-inf");
	else if (unit == UNIT_TIME_NS && value < 0)
		snprintf(buf, size, "%s ms",
		         show_number(value / 1e6, 4, text, sizeof(text)));
	else if (unit == UNIT_TIME_NS)
		show_time((int64_t)(value + 0.5), buf, size);
	else if (unit == UNIT_FRACTION)
		snprintf(buf, size, "%s %%",
		         show_number(100 * value, 4, text, sizeof(text)));
	else
		show_number(value, 6, buf, size);
	return buf;
}

void put_ms(FILE *f, int64_t ns)
{
	if (ns == TIME_NEVER)
		fputs("inf", f);
	else if (ns >= 0)
		fprintf(f, "%" PRId64 ".%06" PRId64, ns / NS_PER_MS,
		        ns % NS_PER_MS);
}
