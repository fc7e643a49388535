/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, hashes, logarithms and the two tables of names. */
#include "unit/route_fixture.h"

#include <math.h>
#include <string.h>

static uint64_t hash_of(const char *text)
{
	return route_hash(text, strlen(text));
}

/* Values of the reference implementation, xxHash's XXH64 with seed 0. */
static void hash_is_xxh64(void **unused)
{
	(void)unused;
	assert_true(route_hash(NULL, 0) == 0xef46db3751d8e999u);
	assert_true(hash_of("") == 0xef46db3751d8e999u);
	assert_true(hash_of("a") == 0xd24ec4f1a98c6e5bu);
	assert_true(hash_of("abc") == 0x44bc2cf5ad770999u);
	assert_true(hash_of("Nobody inspects the spammish repetition") ==
	            0xfbcea83c8a378bf1u);
}

static void key_prefers_cache_key_then_user_then_content(void **unused)
{
	(void)unused;
	struct route_key_fields f = {
		.prompt_cache_key = "session-7",
		.prompt_cache_key_len = 9,
		.user = "ada",
		.user_len = 3,
		.content = "hello",
		.content_len = 5,
	};
	assert_true(route_key(&f) == hash_of("session-7"));
	f.prompt_cache_key_len = 0;
	assert_true(route_key(&f) == hash_of("ada"));
	f.user = NULL;
	assert_true(route_key(&f) == hash_of("hello"));
	f.content = NULL;
	assert_true(route_key(&f) == hash_of(""));
	f.prompt_cache_key = NULL;
	f.prompt_cache_key_len = 9;
	assert_true(route_key(&f) == hash_of(""));
	/* Bytes, not strings: a zero byte is a byte like others. */
	f.user = "a\0b";
	f.user_len = 3;
	assert_true(route_key(&f) == route_hash("a\0b", 3));
	assert_true(route_key(&f) != hash_of("a"));
}

static void stages_differ_on_every_key(void **unused)
{
	(void)unused;
	for (uint64_t n = 0; n < 10000; n++) {
		uint64_t key = n < 2 ? n : fixture_key(n);
		uint64_t h[ROUTE_STAGES];
		for (int s = 0; s < ROUTE_STAGES; s++) {
			h[s] = route_stage_hash(key, (enum route_stage)s);
			for (int t = 0; t < s; t++)
				assert_true(h[s] != h[t]);
		}
	}
}

static long double true_neg_log2(uint64_t h)
{
	if (h < UINT64_C(1) << 63)
		return 64 - log2l((long double)h);
	long double d = (long double)(UINT64_MAX - h) + 1;
	return -log1pl(-d / 18446744073709551616.0L) / logl(2);
}

static void neg_log2_knows_its_corners(void **unused)
{
	(void)unused;
	assert_true(route_neg_log2(0) == UINT64_C(1) << 38);
	assert_true(route_neg_log2(1) == UINT64_C(1) << 38);
	assert_true(route_neg_log2(UINT64_MAX) == 1);
	for (unsigned i = 0; i < 64; i++)
		assert_true(route_neg_log2(UINT64_C(1) << i) ==
		            (uint64_t)(64 - i) << 32);
}

/*
 * Stated error: 1.8e-7 in log2 and half a unit of 2^-32; within 2^-10 of
 * the top a relative 1e-9 and one unit of 2^-57.
 */
static void logarithms_are_as_close_as_stated(void **unused)
{
	(void)unused;
	uint64_t seed = 1;
	long double worst = 0;
	long double worst_top = 0;
	for (int i = 0; i < 4000000; i++) {
		uint64_t r = fixture_random(&seed);
		uint64_t h = r >> (i % 64);
		long double unit = 1 / 144115188075855872.0L;
		if (i % 2 == 1)
			h = UINT64_MAX - (r >> (10 + i % 54));
		if (h == 0)
			continue;
		long double want = true_neg_log2(h);
		long double got = route_score(h) * unit;
		long double off = fabsl(got - want);
		worst = off > worst ? off : worst;
		if (h >= UINT64_MAX - (UINT64_C(1) << 54) + 1) {
			off = (off > unit ? off - unit : 0) / want;
			worst_top = off > worst_top ? off : worst_top;
		}
		off = fabsl(route_neg_log2(h) / 4294967296.0L - want);
		assert_true(off < 1.8e-7L + 1 / 4294967296.0L);
	}
	print_message("log2: error %.3Le; near the top, relative %.3Le\n",
	              worst, worst_top);
	assert_true(worst < 1.8e-7L);
	assert_true(worst_top < 1e-9L);
}

/* To the last bit of each constant; no true value lies near a half. */
static void constants_are_the_rounded_logarithms(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i <= 1024; i++) {
		long double log2_of = log1pl(i / 1024.0L) / logl(2);
		uint64_t want = (uint64_t)llroundl(log2_of * 4294967296.0L);
		assert_int_equal(route_log2_table[i], (uint32_t)want);
	}
	for (uint32_t i = 0; i < 2048; i++) {
		long double log2_of = log2l((i + 1) / 2048.0L);
		uint64_t want = (uint64_t)floorl(-log2_of * 4096);
		assert_int_equal(route_score_floor[i], want);
	}
}

/* What the screen of a split rests on. */
static void floors_are_bounds_and_scores_fall(void **unused)
{
	(void)unused;
	uint64_t seed = 2;
	for (uint32_t i = 0; i < 2048; i++) {
		uint64_t low = (uint64_t)i << 53;
		uint64_t high = low + (UINT64_C(1) << 53) - 1;
		uint64_t floor_score = (uint64_t)route_score_floor[i] << 45;
		assert_true(floor_score <= route_score(high));
		if (i > 0)
			assert_true((uint64_t)(route_score_floor[i - 1] + 1)
			                    << 45 >
			            route_score(low));
		for (int k = 0; k < 1000; k++) {
			uint64_t h = low + (fixture_random(&seed) >> 11);
			assert_true(route_score(h) <= route_score(low | 1));
			assert_true(route_score(h) >= route_score(high));
		}
	}
}

static void names_are_words(void **unused)
{
	(void)unused;
	assert_string_equal(route_status_name(ROUTE_NOT_CONFIGURED),
	                    "endpoint_not_configured");
	for (int i = 0; i <= ROUTE_OVERFLOW; i++)
		assert_true(strlen(route_status_name((enum route_status)i)) >
		            1);
}

static void policies_are_found_by_name(void **unused)
{
	(void)unused;
	static const char *const names[] = {
		"bounded_ring",   "ring",        "rendezvous",
		"least_inflight", "round_robin", "random",
	};
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(route_policy_name(i), names[i]);
		assert_non_null(route_policy_find(names[i]));
	}
	assert_null(route_policy_name(6));
	assert_null(route_policy_find("ring "));
	assert_null(route_policy_find("rin"));
	assert_null(route_policy_find(""));
	assert_ptr_equal(route_policy_default(),
	                 route_policy_find("bounded_ring"));
}

/* Ties happen once in 2^50 keys; two targets of one hash always tie. */
static void smaller_rank_wins_a_tie(void **unused)
{
	(void)unused;
	struct route_target t[3] = {
		{.id_hash = 7, .capacity = 5, .rank = 2},
		{.id_hash = 7, .capacity = 5, .rank = 0},
		{.id_hash = 7, .capacity = 5, .rank = 1},
	};
	for (uint64_t n = 0; n < 100; n++)
		assert_int_equal(route_rendezvous(t, 3, fixture_key(n)), 1);
	t[1].capacity = 0;
	assert_int_equal(route_rendezvous(t, 3, 1), 2);
	t[0].capacity = 0;
	t[2].capacity = 0;
	assert_true(route_rendezvous(t, 3, 1) == ROUTE_NONE);
	assert_true(route_rendezvous(NULL, 0, 1) == ROUTE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_is_xxh64),
		cmocka_unit_test(key_prefers_cache_key_then_user_then_content),
		cmocka_unit_test(stages_differ_on_every_key),
		cmocka_unit_test(neg_log2_knows_its_corners),
		cmocka_unit_test(logarithms_are_as_close_as_stated),
		cmocka_unit_test(constants_are_the_rounded_logarithms),
		cmocka_unit_test(floors_are_bounds_and_scores_fall),
		cmocka_unit_test(names_are_words),
		cmocka_unit_test(policies_are_found_by_name),
		cmocka_unit_test(smaller_rank_wins_a_tie),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
