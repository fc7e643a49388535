/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define DAY_NS (24 * 60 * NS_PER_MIN)

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{"30s", 30 * NS_PER_S},
		{"250ms", 250 * NS_PER_MS},
		{"1h30m", 90 * NS_PER_MIN},
		{"2m26s", 146 * NS_PER_S},
		{"1d2h3m4s5ms6us7ns", INT64_C(93784005006007)},
		{"5us", 5000},
		{"10ns", 10},
		{"2m", 2 * NS_PER_MIN},
		{"1d", DAY_NS},
		{"1.5s", 1500 * NS_PER_MS},
		{"0.5ms", 500 * NS_PER_US},
		{"1h1.5m", 61 * NS_PER_MIN + 30 * NS_PER_S},
		{"0", 0},
		{"0s", 0},
		{"0.0ns", 0},
		{"007s", 7 * NS_PER_S},
		{"90m", 90 * NS_PER_MIN},
		{"0.5ns", 1},
		{"1.4999ns", 1},
		{"0.1s", 100 * NS_PER_MS},
		{"0.333333333333333333s", 333333333},
		{"9223372036854775806ns", INT64_MAX - 1},
		{"106751d", 106751 * DAY_NS},
	};
	static const char *const bad[] = {
		"",
		" ",
		"s",
		"1",
		"30",
		"-1s",
		"+1s",
		" 1s",
		"1s ",
		"1 s",
		"1x",
		"1S",
		"1sec",
		"1.s",
		".5s",
		"1..5s",
		"1.5.5s",
		"1e3s",
		"1,5s",
		"0x1s",
		"inf",
		"nan",
		"1m1h",
		"1s1s",
		"1s1",
		"1.5h30m",
		"0s0",
		"00",
		"0.0",
		"1h 30m",
		"1ms1s",
		"0.1ns",
		"0.0000000001s",
		"9223372036854775807ns",
		"106752d",
		"106751d24h",
		"99999999999999999999s",
		"18446744073709551615s",
		"18446744073709551616ns",
		"1.0000000000000000000s",
		"s1",
	};
	int64_t ns;
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(good); i++) {
		ns = -1;
		if (units_duration(good[i].text, &ns) != 0)
			fail_msg("%s is refused", good[i].text);
		if (ns != good[i].ns)
			fail_msg("%s reads as %" PRId64, good[i].text, ns);
	}
	for (i = 0; i < LENGTH(bad); i++) {
		ns = -77;
		if (units_duration(bad[i], &ns) != -1 || ns != -77)
			fail_msg("\"%s\" reads as %" PRId64, bad[i], ns);
	}
}

static void test_bytes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"24GiB", UINT64_C(24) << 30},
		{"512MB", UINT64_C(512000000)},
		{"16B", 16},
		{"0", 0},
		{"0B", 0},
		{"1.5GiB", UINT64_C(3) << 29},
		{"3kB", 3000},
		{"3KB", 3000},
		{"3KiB", 3072},
		{"7MiB", 7 << 20},
		{"2TB", UINT64_C(2000000000000)},
		{"2TiB", UINT64_C(2) << 40},
		{"80GB", UINT64_C(80000000000)},
		{"1PB", UINT64_C(1000000000000000)},
		{"1PiB", UINT64_C(1) << 50},
		{"18446744073709551615B", UINT64_MAX},
		{"16383PiB", UINT64_C(16383) << 50},
	};
	static const char *const bad[] = {
		"",         "16",
		"-1B",      "1b",
		"GiB",      "1 GiB",
		"1GiB ",    "1gib",
		"1Gi",      "1GiBB",
		"1GiB1MiB", "1e3B",
		"0.1B",     "1.GB",
		"nan",      "18446744073709551616B",
		"16384PiB", "99999999999999999999GB",
	};
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(good); i++) {
		bytes = 99;
		if (units_bytes(good[i].text, &bytes) != 0)
			fail_msg("%s is refused", good[i].text);
		if (bytes != good[i].bytes)
			fail_msg("%s reads as %" PRIu64, good[i].text, bytes);
	}
	for (i = 0; i < LENGTH(bad); i++) {
		bytes = 77;
		if (units_bytes(bad[i], &bytes) != -1 || bytes != 77)
			fail_msg("\"%s\" reads as %" PRIu64, bad[i], bytes);
	}
}

struct number {
	const char *text;
	double value;
};

/* Exact equality: these are the doubles nearest to what is written. */
static void check_numbers(int (*read)(const char *, double *),
                          const struct number *good, size_t n_good,
                          const char *const *bad, size_t n_bad)
{
	double v;
	size_t i;

	for (i = 0; i < n_good; i++) {
		v = -1;
		if (read(good[i].text, &v) != 0)
			fail_msg("%s is refused", good[i].text);
		if (v < good[i].value || v > good[i].value)
			fail_msg("%s reads as %.17g", good[i].text, v);
	}
	for (i = 0; i < n_bad; i++) {
		v = -77;
		if (read(bad[i], &v) != -1 || v > -77)
			fail_msg("\"%s\" reads as %.17g", bad[i], v);
	}
}

static void test_rate(void **state)
{
	static const struct number good[] = {
		{"20", 20},         {"20/s", 20},      {"1200/m", 20},
		{"3600/h", 1},      {"86400/d", 1},    {"0.5", 0.5},
		{"0", 0},           {"0.1/s", 0.1},    {"1e3", 1000},
		{"2.5e-1/s", 0.25}, {"1/m", 1.0 / 60}, {"5.38", 5.38},
	};
	static const char *const bad[] = {
		"",
		" 20",
		"20 ",
		"20 /s",
		"20/",
		"20/ms",
		"20/x",
		"/s",
		"-1",
		"+1",
		"-1/s",
		"nan",
		"inf",
		"0x10",
		"1e",
		"1e+",
		"1e999",
		"1e-999",
		".5",
		"5.",
		"20/s/s",
		"20s",
		"20%",
		/* 65 digits. */
		("111111111111111111111111111111111111111111111111111111111111"
	         "11111"),
	};

	(void)state;
	check_numbers(units_rate, good, LENGTH(good), bad, LENGTH(bad));
}

static void test_fraction(void **state)
{
	static const struct number good[] = {
		{"10%", 0.1},     {"1/2", 0.5},    {"0.25", 0.25},
		{"2/3", 2.0 / 3}, {"0.7%", 0.007}, {"33.3%", 0.333},
		{"100%", 1},      {"200%", 2},     {"0", 0},
		{"0%", 0},        {"0/5", 0},      {"1", 1},
		{"1e-3", 1e-3},   {"1.5/3", 0.5},  {"99.99%", 0.9999},
	};
	static const char *const bad[] = {
		"",     "%",     "10 %",         "10%%",  "1/0",  "1/",
		"/2",   "1/2/3", "1/2%",         "10%/2", "-1/2", "1/-2",
		"-10%", "nan",   "inf",          "nan%",  " 1",   "1 ",
		"1e1%", "1/0.0", "1e300/1e-300", "0x1",   "half",
	};

	(void)state;
	check_numbers(units_fraction, good, LENGTH(good), bad, LENGTH(bad));
}

static void test_show(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} shown[] = {
		{0, "0 s"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{12345, "12.3 us"},
		{131 * NS_PER_MS, "131 ms"},
		{131499999, "131 ms"},
		{999499999, "999 ms"},
		{999500000, "1.00 s"},
		{9995 * NS_PER_US, "10.0 ms"},
		{9994 * NS_PER_US, "9.99 ms"},
		{2710 * NS_PER_MS, "2.71 s"},
		{2050 * NS_PER_MS, "2.05 s"},
		{59949 * NS_PER_MS, "59.9 s"},
		{59950 * NS_PER_MS, "1m"},
		{60 * NS_PER_S, "1m"},
		{146 * NS_PER_S, "2m 26s"},
		{3599 * NS_PER_S, "59m 59s"},
		{3599500 * NS_PER_MS, "1h"},
		{3600 * NS_PER_S, "1h"},
		{5400 * NS_PER_S, "1h 30m"},
		{DAY_NS - 31 * NS_PER_S, "23h 59m"},
		{DAY_NS - 30 * NS_PER_S, "1d"},
		{DAY_NS + 90 * NS_PER_MIN, "1d 2h"},
		{-131 * NS_PER_MS, "-131 ms"},
		{-146 * NS_PER_S, "-2m 26s"},
		{TIME_NEVER, "never"},
		{TIME_NEVER - 1, "106752d"},
		{INT64_MIN, "-106752d"},
	};
	char buf[40];
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(shown); i++) {
		assert_string_equal(
			units_show_duration(shown[i].ns, buf, sizeof buf),
			shown[i].text);
	}
	assert_string_equal(units_show_duration(146 * NS_PER_S, buf, 4), "2m ");
}

static void test_write(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} written[] = {
		{0, "0s"},
		{90 * NS_PER_S, "90s"},
		{250 * NS_PER_MS, "250ms"},
		{120 * NS_PER_S, "2m"},
		{90 * NS_PER_MIN, "90m"},
		{60 * NS_PER_MIN, "1h"},
		{2 * DAY_NS, "2d"},
		{1500, "1500ns"},
		{7000, "7us"},
		{TIME_NEVER - 1, "9223372036854775806ns"},
	};
	uint64_t x = 1;
	char buf[40];
	int64_t ns, back;
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(written); i++)
		assert_string_equal(
			units_write_duration(written[i].ns, buf, sizeof buf),
			written[i].text);
	for (i = 0; i < 100000; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		ns = (int64_t)(x >> (1 + i % 60));
		if (i % 3 == 0)
			ns = ns / NS_PER_MS * NS_PER_MS;
		if (ns == TIME_NEVER)
			continue;
		units_write_duration(ns, buf, sizeof buf);
		assert_int_equal(units_duration(buf, &back), 0);
		assert_int_equal(back, ns);
	}
}

static void test_decimal(void **state)
{
	static const struct {
		double value;
		uint64_t digits;
		int exponent;
	} good[] = {
		{0, 0, 0},
		{-0.0, 0, 0},
		{1, 1, 0},
		{0.7, 7, -1},
		{700, 7, 2},
		{0.1, 1, -1},
		{123456789, 123456789, 0},
		{1.23456789e300, 123456789, 292},
		{5e-324, 5, -324},
		{1e22, 1, 22},
		{1e23, 1, 23},
		{9.99999999, 999999999, -8},
		{1000000010, 100000001, 1},
	};
	static const double bad[] = {-1,       1.0 / 3,   1234567891,
	                             DBL_MAX,  -5e-324,   0.1 + 0.2,
	                             INFINITY, -INFINITY, NAN};
	uint64_t digits;
	int exponent;
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(good); i++) {
		assert_int_equal(
			units_decimal(good[i].value, &digits, &exponent), 0);
		assert_int_equal(digits, good[i].digits);
		assert_int_equal(exponent, good[i].exponent);
	}
	for (i = 0; i < LENGTH(bad); i++)
		assert_int_equal(units_decimal(bad[i], &digits, &exponent), -1);
}

static void test_ratio(void **state)
{
	static const struct {
		double in[4];
		int result;
		uint64_t out[4];
	} rows[] = {
		{{0.7, 0.3, 0, 0}, 0, {7, 3, 0, 0}},
		{{700, 300, 0, 0}, 0, {7, 3, 0, 0}},
		{{1e-300, 2e-300, 4e-300, 0}, 0, {1, 2, 4, 0}},
		{{1e300, 2.5e300, 0, 1e300}, 0, {2, 5, 0, 2}},
		{{0, 0, 0, 0}, 0, {0, 0, 0, 0}},
		{{0, 42, 0, 0}, 0, {0, 1, 0, 0}},
		{{1, 1e9, 0, 0}, 0, {1, 1000000000, 0, 0}},
		{{1, 1e10, 0, 0}, -2, {0}},
		{{1, 1.00000001e9, 0, 0}, -2, {0}},
		{{0.999999999, 1e9, 0, 0}, -2, {0}},
		{{1.00000001, 1.00000001e9, 1, 1e9}, -2, {0}},
		{{1.00000001, 1.00000001e9, 0, 0}, 0, {1, 1000000000, 0, 0}},
		/* The finest last place beside the widest span. */
		{{1.00000001, 1e9, 0, 0},
	         0,
	         {100000001, UINT64_C(100000000000000000), 0, 0}},
		{{9.99999999, 9.99999998e9, 0, 0},
	         0,
	         {999999999, UINT64_C(999999998000000000), 0, 0}},
		{{1e-300, 1e300, 0, 0}, -2, {0}},
		{{1, -1, 0, 0}, -1, {0}},
		{{1, NAN, 0, 0}, -1, {0}},
		{{1, INFINITY, 0, 0}, -1, {0}},
		{{1.0 / 3, 1, 0, 0}, -1, {0}},
	};
	uint64_t out[4];
	size_t i, j;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++) {
		if (units_ratio(rows[i].in, 4, out) != rows[i].result)
			fail_msg("row %zu", i);
		for (j = 0; j < 4 && rows[i].result == 0; j++)
			if (out[j] != rows[i].out[j])
				fail_msg("row %zu: [%zu] is %" PRIu64, i, j,
				         out[j]);
	}
	assert_int_equal(units_ratio(NULL, 0, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_fraction),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_decimal),
		cmocka_unit_test(test_ratio),
	};

	return cmocka_run_group_tests_name("base units", tests, NULL, NULL);
}
