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

const char *show_value(double value, enum study_unit unit, char *buf,
                       size_t size)
{
	if (isnan(value))
		snprintf(buf, size, "-");
	else if (isinf(value))
		snprintf(buf, size, value > 0 ? "inf" : "-inf");
	else if (unit == UNIT_TIME_NS && value < 0)
		snprintf(buf, size, "%.4g ms", value / 1e6);
	else if (unit == UNIT_TIME_NS)
		show_time((int64_t)(value + 0.5), buf, size);
	else if (unit == UNIT_FRACTION)
		snprintf(buf, size, "%.4g %%", 100 * value);
	else
		snprintf(buf, size, "%.6g", value);
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
