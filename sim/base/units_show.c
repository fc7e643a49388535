/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* a / b to the nearest, halves up. */
static uint64_t divide(uint64_t a, uint64_t b)
{
	assert(b > 0);
	return a / b + (a % b >= b - b / 2 ? 1 : 0);
}

/* Two parts, "2m 26s"; the lesser one is left out when it is 0. */
static void show_parts(uint64_t count, uint64_t each, const char *names,
                       char *buf, size_t size)
{
	assert(each > 0 && strlen(names) == 2);
	if (count % each == 0)
		snprintf(buf, size, "%" PRIu64 "%c", count / each, names[0]);
	else
		snprintf(buf, size, "%" PRIu64 "%c %" PRIu64 "%c", count / each,
		         names[0], count % each, names[1]);
}

/* From a minute on. A part that rounds up to a whole carries over. */
static void show_long(uint64_t ns, char *buf, size_t size)
{
	uint64_t seconds = divide(ns, (uint64_t)NS_PER_S);
	uint64_t minutes = divide(ns, (uint64_t)NS_PER_MIN);
	uint64_t hours = divide(ns, (uint64_t)NS_PER_MIN * 60);

	if (seconds < 3600)
		show_parts(seconds, 60, "ms", buf, size);
	else if (minutes < 60 * UINT64_C(24))
		show_parts(minutes, 60, "hm", buf, size);
	else
		show_parts(hours, 24, "dh", buf, size);
}

/* Below a minute: ns are rounded to three digits already. */
static void show_short(uint64_t ns, char *buf, size_t size)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"s", (uint64_t)NS_PER_S},
		{"ms", (uint64_t)NS_PER_MS},
		{"us", (uint64_t)NS_PER_US},
	};
	uint64_t unit, whole, rest;
	size_t i;

	for (i = 0; i < LENGTH(units); i++) {
		unit = units[i].ns;
		if (ns < unit)
			continue;
		whole = ns / unit;
		rest = ns % unit;
		if (whole >= 100)
			snprintf(buf, size, "%" PRIu64 " %s", whole,
			         units[i].name);
		else if (whole >= 10)
			snprintf(buf, size, "%" PRIu64 ".%" PRIu64 " %s", whole,
			         rest / (unit / 10), units[i].name);
		else
			snprintf(buf, size, "%" PRIu64 ".%02" PRIu64 " %s",
			         whole, rest / (unit / 100), units[i].name);
		return;
	}
	snprintf(buf, size, "%" PRIu64 " ns", ns);
}

const char *units_show_duration(int64_t ns, char *buf, size_t size)
{
	uint64_t magnitude, rounded, step = 1;
	char *p = buf;

	assert(buf != NULL && size > 1);
	if (ns == TIME_NEVER) {
		snprintf(buf, size, "never");
		return buf;
	}
	if (ns == 0) {
		snprintf(buf, size, "0 s");
		return buf;
	}
	magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	if (ns < 0) {
		*p++ = '-';
		size--;
	}
	while (magnitude / step >= 1000)
		step *= 10;
	rounded = step > 1 ? divide(magnitude, step) * step : magnitude;
	if (rounded >= (uint64_t)NS_PER_MIN)
		show_long(magnitude, p, size);
	else
		show_short(rounded, p, size);
	return buf;
}

const char *units_write_duration(int64_t ns, char *buf, size_t size)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{"d", NS_PER_MIN * 60 * 24},
		{"h", NS_PER_MIN * 60},
		{"m", NS_PER_MIN},
		{"s", NS_PER_S},
		{"ms", NS_PER_MS},
		{"us", NS_PER_US},
		{"ns", 1},
	};
	size_t i = 0;

	assert(ns >= 0 && ns != TIME_NEVER);
	assert(buf != NULL && size > 0);
	if (ns == 0) {
		snprintf(buf, size, "0s");
		return buf;
	}
	while (ns % units[i].ns != 0)
		i++;
	assert(i < LENGTH(units));
	snprintf(buf, size, "%" PRId64 "%s", ns / units[i].ns, units[i].name);
	return buf;
}
