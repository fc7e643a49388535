/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <gsl/gsl_cdf.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "event/event.h"

/* Refused when the chance of worse is below 0.1 %. */
#define CONFIDENCE 0.999

/*
 * The known answers of Random123 (its tests/kat_vectors) for
 * philox4x32 with 10 rounds: counter, key, result.
 */
static void test_philox_known_answers(void **state)
{
	static const struct {
		uint64_t index, block;
		uint32_t key[2], out[4];
	} kat[] = {
		{0,
	         0,
	         {0, 0},
	         {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{UINT64_MAX,
	         UINT64_MAX,
	         {0xffffffff, 0xffffffff},
	         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{UINT64_C(0x85a308d3243f6a88),
	         UINT64_C(0x0370734413198a2e),
	         {0xa4093822, 0x299f31d0},
	         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	struct stream s;
	size_t i, j;
	uint64_t v;

	(void)state;
	for (i = 0; i < 3; i++) {
		memset(&s, 0, sizeof s);
		s.index = kat[i].index;
		s.block = kat[i].block;
		memcpy(s.key, kat[i].key, sizeof s.key);
		for (j = 0; j < 4; j += 2) {
			v = stream_u64(&s);
			assert_int_equal((uint32_t)v, kat[i].out[j]);
			assert_int_equal(v >> 32, kat[i].out[j + 1]);
		}
	}
}

/* What a name yields is fixed for ever: results of old seeds stay valid. */
static void test_names_are_fixed(void **state)
{
	struct stream s = stream_open(1, 0, 0, STREAM_ARRIVAL);

	(void)state;
	assert_int_equal(s.key[0], 0x57e024c1);
	assert_int_equal(s.key[1], 0x3fa25e16);
	s = stream_open(42, 3, EVENT_ENTITY(2, 9), STREAM_COLD_START);
	stream_seek(&s, 5);
	assert_true(stream_u64(&s) == UINT64_C(0xc54e400f641871cd));
	assert_true(stream_u64(&s) == UINT64_C(0x75bfec45b3f106cb));
	assert_true(stream_u64(&s) == UINT64_C(0x4d05dcf74f6fdb9f));
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t key_of(const struct stream *s)
{
	return s->key[0] | (uint64_t)s->key[1] << 32;
}

/* Neighbouring names, and names whose parts changed places, are apart. */
static void test_names_are_distinct(void **state)
{
	enum { SIDE = 12, PURPOSES = 10 };
	const size_t n = SIDE * SIDE * SIDE * PURPOSES;
	uint64_t *key = calloc(n, sizeof *key);
	uint64_t seed, replication, entity;
	struct stream s;
	size_t i = 0;
	int purpose;

	(void)state;
	assert_non_null(key);
	for (seed = 0; seed < SIDE; seed++)
		for (replication = 0; replication < SIDE; replication++)
			for (entity = 0; entity < SIDE; entity++)
				for (purpose = 1; purpose <= PURPOSES;
				     purpose++) {
					s = stream_open(
						seed, replication, entity,
						(enum stream_purpose)purpose);
					key[i++] = key_of(&s);
				}
	assert_int_equal(i, n);
	qsort(key, n, sizeof *key, compare_u64);
	for (i = 1; i < n; i++)
		assert_true(key[i - 1] != key[i]);
	free(key);
}

/* One bit of a name changes half of the key's bits. */
static void test_names_avalanche(void **state)
{
	enum { NAMES = 200 };
	uint64_t part[3], base, flipped;
	long changed = 0, bits = 0;
	struct stream s, r;
	int i, which, bit;

	(void)state;
	r = stream_open(4, 0, 0, STREAM_KEY);
	for (i = 0; i < NAMES; i++) {
		for (which = 0; which < 3; which++)
			part[which] = stream_u64(&r);
		s = stream_open(part[0], part[1], part[2], STREAM_THINK);
		base = key_of(&s);
		for (which = 0; which < 3; which++)
			for (bit = 0; bit < 64; bit++) {
				part[which] ^= UINT64_C(1) << bit;
				s = stream_open(part[0], part[1], part[2],
				                STREAM_THINK);
				part[which] ^= UINT64_C(1) << bit;
				flipped = key_of(&s) ^ base;
				changed += __builtin_popcountll(flipped);
				bits += 64;
			}
	}
	/* The deviation of 2.4 million coins is 0.03 %. */
	assert_true(labs(2 * changed - bits) < bits / 500);
}

/* Substreams are worlds of their own, wherever one was before. */
static void test_seek(void **state)
{
	struct stream a = stream_open(1, 2, 3, STREAM_SERVICE), b = a, other;
	uint64_t first[5];
	int i;

	(void)state;
	stream_seek(&a, 7);
	for (i = 0; i < 5; i++)
		first[i] = stream_u64(&a);
	stream_seek(&b, 6);
	for (i = 0; i < 3; i++)
		stream_u64(&b);
	stream_seek(&b, 7);
	for (i = 0; i < 5; i++)
		assert_true(stream_u64(&b) == first[i]);
	stream_seek(&b, 8);
	assert_true(stream_u64(&b) != first[0]);
	other = stream_open(1, 2, 3, STREAM_THINK);
	stream_seek(&other, 7);
	assert_true(stream_u64(&other) != first[0]);
}

static void test_unit(void **state)
{
	enum { CELLS = 1024 };
	struct stream s = stream_open(5, 0, 0, STREAM_SERVICE);
	static double count[CELLS];
	const long n = 4000000;
	double u, chi = 0, sum = 0, expected = (double)n / CELLS;
	long i;

	(void)state;
	for (i = 0; i < n; i++) {
		u = stream_unit(&s);
		assert_true(u > 0 && u < 1);
		count[(int)(u * CELLS)]++;
		sum += u;
	}
	for (i = 0; i < CELLS; i++)
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	assert_true(chi < gsl_cdf_chisq_Pinv(CONFIDENCE, CELLS - 1));
	/* Not suspiciously even, either. */
	assert_true(chi > gsl_cdf_chisq_Pinv(1 - CONFIDENCE, CELLS - 1));
	sum = sum / (double)n - 0.5;
	assert_true(sum * sum * 12 * (double)n < 3.29 * 3.29);
	/* The extreme words stay inside. */
	memset(&s, 0, sizeof s);
	s.left = 4;
	memset(&s.buffer[2], 0xff, 8);
	assert_true(stream_unit(&s) == 0x1p-53);
	assert_true(stream_unit(&s) == 1 - 0x1p-53);
}

static void check_below(uint64_t n, uint64_t cells)
{
	struct stream s = stream_open(6, 0, n, STREAM_ROUTE);
	static double count[1000];
	const long draws = 1000000;
	double chi = 0, expected = (double)draws / (double)cells, off;
	uint64_t v;
	long i;

	memset(count, 0, sizeof count);
	for (i = 0; i < draws; i++) {
		v = stream_below(&s, n);
		assert_true(v < n);
		count[v % cells]++;
	}
	for (i = 0; i < (long)cells; i++) {
		off = count[i] - expected;
		chi += off * off / expected;
	}
	assert_true(chi < gsl_cdf_chisq_Pinv(CONFIDENCE, (double)(cells - 1)));
}

static void test_below(void **state)
{
	struct stream s = stream_open(6, 0, 0, STREAM_ROUTE);
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_int_equal(stream_below(&s, 1), 0);
	check_below(2, 2);
	check_below(3, 3);
	check_below(10, 10);
	check_below(1000, 1000);
	/* Without redraws every third value would come twice as often. */
	check_below(UINT64_C(3) << 62, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_philox_known_answers),
		cmocka_unit_test(test_names_are_fixed),
		cmocka_unit_test(test_names_are_distinct),
		cmocka_unit_test(test_names_avalanche),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_below),
	};

	return cmocka_run_group_tests_name("event streams", tests, NULL, NULL);
}
