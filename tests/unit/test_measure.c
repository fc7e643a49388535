/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histograms against sorted arrays, steps against loops, sets of keys. */
#include "measure_rig.h"

#include <float.h>

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static const double probabilities[] = {0.001, 0.01, 0.07, 0.25,  0.5,
                                       0.9,   0.95, 0.99, 0.999, 1.0};

/* The smallest value with rank >= p n. */
static int64_t exact(const int64_t *sorted, uint64_t n, double p)
{
	uint64_t rank = 1;
	while ((double)rank < p * (double)n - 1e-6)
		rank++;
	return sorted[rank - 1];
}

static void test_quantiles_are_within_a_thousandth(void **state)
{
	(void)state;
	enum { N = 10000 };
	int64_t *values = malloc(N * sizeof *values);
	for (uint32_t bits = 8; bits <= 62; bits += 6) {
		struct measure_hist h;
		measure_hist_init(&h);
		double sum = 0;
		for (uint64_t i = 0; i < N; i++) {
			/* many magnitudes, not one octave */
			uint32_t shift =
				64 - bits + (uint32_t)(rig_bits(i) % 7);
			values[i] = (int64_t)(rig_bits(i + N) >> shift);
			sum += (double)values[i];
			measure_hist_add(&h, values[i], 1);
		}
		qsort(values, N, sizeof *values, by_value);
		for (size_t i = 0; i < 10; i++) {
			double p = probabilities[i];
			int64_t want = exact(values, N, p);
			int64_t got = measure_hist_quantile(&h, p);
			assert_near((double)got, (double)want,
			            (double)want * 0.0005 + 1e-9);
		}
		assert_near(measure_hist_mean(&h), sum / N, sum * 1e-12);
		assert_int_equal(h.min, values[0]);
		assert_int_equal(h.max, values[N - 1]);
		measure_hist_fini(&h);
	}
	free(values);
}

static void test_buckets_are_a_partition(void **state)
{
	(void)state;
	uint32_t bucket = 0;
	for (int64_t v = 0; v < 100000; v++) {
		uint32_t b = measure_hist_bucket(v);
		assert_true(b == bucket || b == bucket + 1);
		assert_true(v <= measure_hist_top(b));
		assert_true(b == 0 || v > measure_hist_top(b - 1));
		bucket = b;
	}
	assert_int_equal(measure_hist_bucket(INT64_MAX),
	                 HIST_PAGE * HIST_PAGES - 1);
	assert_true(measure_hist_top(HIST_PAGE * HIST_PAGES - 1) == INT64_MAX);
	for (uint32_t b = 2048; b < HIST_PAGE * HIST_PAGES; b++) {
		double low = (double)measure_hist_top(b - 1) + 1;
		double top = (double)measure_hist_top(b);
		assert_true((top - low + 1) / low <= 0.001);
	}
}

static void test_ranks_are_exact(void **state)
{
	(void)state;
	struct measure_hist h;
	measure_hist_init(&h);
	assert_int_equal(measure_hist_quantile(&h, 0.5), -1);
	assert_true(isnan(measure_hist_mean(&h)));
	for (int64_t v = 1; v <= 100; v++)
		measure_hist_add(&h, v, 1);
	for (int64_t v = 1; v <= 100; v++)
		assert_int_equal(measure_hist_quantile(&h, (double)v / 100), v);
	assert_int_equal(measure_hist_quantile(&h, 0.071), 8);
	assert_int_equal(measure_hist_quantile(&h, 1e-9), 1);
	measure_hist_fini(&h);
}

static void test_what_never_ended_ranks_last(void **state)
{
	(void)state;
	struct measure_hist h;
	measure_hist_init(&h);
	measure_hist_add_infinite(&h, 5);
	assert_true(measure_hist_quantile(&h, 0.01) == TIME_NEVER);
	measure_hist_add(&h, 1000, 94);
	measure_hist_add(&h, 2000, 1);
	assert_int_equal(measure_hist_quantile(&h, 0.94), 1000);
	assert_int_equal(measure_hist_quantile(&h, 0.95), 2000);
	assert_true(measure_hist_quantile(&h, 0.96) == TIME_NEVER);
	assert_near(measure_hist_mean(&h), 96000.0 / 95, 1e-9);
	measure_hist_fini(&h);
}

static void test_merged_is_as_if_counted_together(void **state)
{
	(void)state;
	struct measure_hist a, b, both;
	measure_hist_init(&a);
	measure_hist_init(&b);
	measure_hist_init(&both);
	for (uint64_t i = 0; i < 5000; i++) {
		int64_t v = (int64_t)(rig_bits(i) >> (20 + i % 30));
		measure_hist_add(i % 3 ? &a : &b, v, 1 + i % 4);
		measure_hist_add(&both, v, 1 + i % 4);
	}
	measure_hist_add_infinite(&b, 100);
	measure_hist_add_infinite(&both, 100);
	measure_hist_merge(&a, &b);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(
			measure_hist_quantile(&a, probabilities[i]),
			measure_hist_quantile(&both, probabilities[i]));
	assert_true(a.n == both.n && a.infinite == 100);
	assert_true(a.min == both.min && a.max == both.max);
	struct measure_hist empty;
	measure_hist_init(&empty);
	measure_hist_merge(&a, &empty);
	measure_hist_merge(&empty, &a);
	assert_int_equal(measure_hist_quantile(&empty, 0.5),
	                 measure_hist_quantile(&a, 0.5));
	measure_hist_fini(&a);
	measure_hist_fini(&b);
	measure_hist_fini(&both);
	measure_hist_fini(&empty);
}

static void test_a_cleared_one_is_empty(void **state)
{
	(void)state;
	struct measure_hist h;
	measure_hist_init(&h);
	measure_hist_clear(&h);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(measure_hist_quantile(&h, 0.5), -1);
		for (uint64_t i = 0; i < 1000; i++)
			measure_hist_add(&h, (int64_t)(rig_bits(i) >> 30), 1);
		measure_hist_add_infinite(&h, 7);
		measure_hist_clear(&h);
	}
	measure_hist_add(&h, 123456789, 3);
	measure_hist_add(&h, 223456789, 3);
	assert_int_equal(measure_hist_quantile(&h, 0.16), 123456789);
	assert_near((double)measure_hist_quantile(&h, 0.5), 123456789, 61729);
	measure_hist_fini(&h);
}

static uint64_t in_bucket(const struct measure_hist *h, uint32_t bucket)
{
	const uint64_t *page = h->pages ? h->pages[bucket / HIST_PAGE] : NULL;
	return page ? page[bucket % HIST_PAGE] : 0;
}

/* The ITLs of steps, counted one by one. */
static void loop(struct measure_hist *h, int64_t first, int64_t growth,
                 uint64_t steps, uint32_t tokens)
{
	for (uint64_t i = 0; i < steps; i++)
		measure_hist_add(h, (first + (int64_t)i * growth + 512) >> 10,
		                 tokens);
}

static void test_steps_are_gaps_of_each_step(void **state)
{
	(void)state;
	static const struct {
		int64_t first, growth;
		uint64_t steps;
		uint32_t tokens;
	} c[] = {{20000000 * 1024LL, 0, 500, 8},
	         {20000000 * 1024LL, 1500, 3000, 8},
	         {20000000 * 1024LL, 90 * 1024 * 1024LL, 300, 3},
	         {900 * 1024, 7, 100000, 2},
	         {512, 1, 3000, 1},
	         {0, 0, 2, 1},
	         {30000000 * 1024LL, -1024 * 1000, 20000, 5},
	         {12345, 3, 1, 9},
	         {12345, 3, 0, 9}};
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		struct rig *rig = rig_new(0, 100 * S);
		struct measure_hist want;
		rig_start(rig);
		measure_clock(rig->m, S);
		measure_steps(rig->m, rig->replica[0], c[i].first, c[i].growth,
		              c[i].steps, c[i].tokens);
		measure_hist_init(&want);
		loop(&want, c[i].first, c[i].growth, c[i].steps, c[i].tokens);
		struct measure_result *r = measure_finish(rig->m, 100 * S);
		const struct measure_scope_result *s =
			measure_result_scope(r, SCOPE_DEPLOYMENT, 0);
		assert_int_equal(s->output_tokens, want.n);
		assert_int_equal(s->itl.n, want.n);
		assert_true(s->itl.min == want.min && s->itl.max == want.max);
		for (size_t j = 0; j < 10; j++)
			assert_int_equal(
				measure_hist_quantile(&s->itl,
			                              probabilities[j]),
				measure_hist_quantile(&want, probabilities[j]));
		for (uint32_t b = 0; b < HIST_PAGE * HIST_PAGES; b++)
			assert_int_equal(in_bucket(&s->itl, b),
			                 in_bucket(&want, b));
		if (want.n > 0)
			assert_near(measure_hist_mean(&s->itl),
			            measure_hist_mean(&want), 0.5);
		measure_hist_fini(&want);
		measure_result_free(r);
		rig_free(rig);
	}
}

static void test_a_key_is_new_once(void **state)
{
	(void)state;
	struct measure_keys k;
	measure_keys_init(&k, true);
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 20000; i++) {
			uint32_t *owner = NULL;
			uint64_t key = i < 10 ? i << 60 : rig_bits(i);
			bool first = measure_keys_add(&k, key, &owner);
			assert_int_equal(first, round == 0);
			if (first)
				*owner = (uint32_t)i;
			assert_int_equal(*owner, i);
		}
	assert_int_equal(k.n, 20000);
	measure_keys_fini(&k);
}

static void test_names_are_those_of_files(void **state)
{
	(void)state;
	assert_string_equal(measure_outcome_name(OUTCOME_TIMED_OUT),
	                    "timed_out");
	for (int i = 0; i < MEASURE_OUTCOMES; i++)
		assert_non_null(measure_outcome_name((enum measure_outcome)i));
	for (int i = 0; i < MEASURE_ERRORS; i++)
		assert_non_null(measure_error_name((enum measure_error)i));
	assert_string_equal(measure_error_name(ERROR_ENDPOINT_NOT_CONFIGURED),
	                    "endpoint_not_configured");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles_are_within_a_thousandth),
		cmocka_unit_test(test_buckets_are_a_partition),
		cmocka_unit_test(test_ranks_are_exact),
		cmocka_unit_test(test_what_never_ended_ranks_last),
		cmocka_unit_test(test_merged_is_as_if_counted_together),
		cmocka_unit_test(test_a_cleared_one_is_empty),
		cmocka_unit_test(test_steps_are_gaps_of_each_step),
		cmocka_unit_test(test_a_key_is_new_once),
		cmocka_unit_test(test_names_are_those_of_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
