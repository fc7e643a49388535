/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run's parts: when they speak for the whole, and what is said if not. */
#include "unit/study_lab.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "study/study_int.h"

#define PASS VERDICT_PASS
#define FAIL VERDICT_FAIL
#define UNDECIDED VERDICT_UNDECIDED
#define MS 1e6
#define S 1e9

enum { N = MEASURE_BATCHES };

/* ---- are neighbours alike? --------------------------------------------- */

static void test_neighbours(void **state)
{
	double up[N], turns[N], same[N];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		up[i] = exp((double)i);
		turns[i] = i % 2 ? 9 : (double)i / 100;
		same[i] = 5;
	}
	assert_true(study_neighbours_p(up, N) < 1e-4);
	assert_true(study_neighbours_p(turns, N) > 0.99);
	assert_true(study_neighbours_p(same, N) == 1);
}

/* 1 % of steady runs is called unsteady, whatever their law: of 20 000, 200,
 * 5 sigma being 70 and what the normal law is off by 30. */
static void test_false_alarms(void **state)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	double value[N];
	int alarms = 0;

	(void)state;
	for (int run = 0; run < 20000; run++) {
		for (size_t i = 0; i < N; i++)
			value[i] = gsl_ran_pareto(random, 1.1, 1);
		alarms += study_neighbours_p(value, N) < 0.01;
	}
	assert_in_range(alarms, 100, 270);
	gsl_rng_free(random);
}

/* How often the interval at 95 % misses the truth, 0, of a process of which
 * each part keeps `kept` of the one before. */
static double misses(gsl_rng *random, double kept)
{
	int missed = 0;

	for (int run = 0; run < 5000; run++) {
		struct study_parts p = {.n = N, .least = -INFINITY};
		double value[N], low, high;
		double at = gsl_ran_gaussian(random, 1 / sqrt(1 - kept * kept));

		p.value = value;
		for (size_t i = 0; i < N; i++) {
			at = kept * at + gsl_ran_gaussian(random, 1);
			value[i] = at;
			p.whole += at / N;
		}
		(void)study_parts_interval(&p, 0.025, &low, &high);
		missed += low > 0 || high < 0;
	}
	return missed / 5000.0;
}

/* The plain interval misses 5 %, 54 % and 79 %. */
static void test_coverage(void **state)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

	(void)state;
	assert_true(misses(random, 0) < 0.06);
	assert_true(misses(random, 0.8) < 0.20);
	assert_true(misses(random, 0.95) < 0.15);
	gsl_rng_free(random);
}

/* ---- rules ------------------------------------------------------------- */

/* Ups and downs that do not hang together. */
static double wobble(size_t i)
{
	return (double)(i * 7 % 5);
}

/* Shapes of a run in time, from part 0 to N - 1. */
static double overload(size_t i)
{
	return (0.3 + 3 * (double)i + 0.2 * wobble(i)) * S;
}

static double burst(size_t i)
{
	return i == 11 ? 60 * S : (300 + 10 * wobble(i)) * MS;
}

static double jump(size_t i)
{
	return (i < 10 ? 0.3 : 5) * S + wobble(i) * MS;
}

static double noisy(size_t i)
{
	return (i * 7 % 20 > 16 ? 9 : 0.1) * S + wobble(i) * MS;
}

static double broken(size_t i)
{
	return i > 17 ? (double)INFINITY : (300 + 10 * wobble(i)) * MS;
}

static double steady(size_t i)
{
	return (300 + 20 * wobble(i)) * MS;
}

static const struct {
	double (*part)(size_t);
	double whole;
} runs[] = {{overload, 56 * S}, {burst, 31 * S},  {jump, 5 * S},
            {noisy, 9 * S},     {broken, 20 * S}, {steady, 350 * MS}};

enum { OVERLOAD, BURST, JUMP, NOISY, BROKEN, STEADY, RUNS };

static void run_of(struct lab *lab, const char *rule, size_t run)
{
	lab_begin(lab, rule, 1);
	lab->value[0] = (struct measure_value){.value = runs[run].whole,
	                                       .n_batches = N};
	for (size_t i = 0; i < N; i++)
		lab->value[0].batch[i] = runs[run].part(i);
}

/* No bound passes against what was measured, none fails with it. */
static void test_never_against_the_value(void **state)
{
	static const char *const rules[] = {
		"ttft.p95 < %.0fms", "ttft.p95 >= %.0fms",
		"ttft.p95 in 1ns..%.0fms", "ttft.p95 within 50%% of %.0fms"};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) * RUNS; i++) {
		double whole = runs[i % RUNS].whole;

		for (double ms = 1; ms < 1e6; ms *= 1.3) {
			double bound = floor(ms) * MS;
			bool holds[] = {whole < bound, whole >= bound,
			                whole <= bound,
			                fabs(whole - bound) <= bound / 2};
			char rule[64];

			snprintf(rule, sizeof(rule), rules[i / RUNS],
			         floor(ms));
			run_of(lab, rule, i % RUNS);
			lab->out = study_judge(&lab->rig.rule, &lab->rig.terms,
			                       &lab->result);
			assert_int_not_equal(lab->out.verdict,
			                     holds[i / RUNS] ? FAIL : PASS);
			assert_true(lab->out.low >= 0);
			assert_true(lab->out.low <= whole);
			assert_true(lab->out.high >= whole);
		}
	}
}

static void unsteady(struct lab *lab, const char *rule, size_t run,
                     enum study_verdict verdict)
{
	run_of(lab, rule, run);
	lab_expect(lab, verdict);
	lab_note(lab, verdict == UNDECIDED ? ": use --reps"
	                                   : ": judged by a wider interval");
	assert_int_equal(lab->out.reps_needed, verdict == UNDECIDED ? 10 : 0);
}

static void test_unsteady(void **state)
{
	struct lab *lab = *state;

	unsteady(lab, "ttft.p95 < 500ms", OVERLOAD, FAIL);
	lab_note(lab, "load is not steady");
	unsteady(lab, "ttft.p95 < 50s", OVERLOAD, UNDECIDED);
	unsteady(lab, "ttft.p95 < 60s", OVERLOAD, UNDECIDED);
	unsteady(lab, "ttft.p95 < 600s", OVERLOAD, PASS);
	unsteady(lab, "ttft.p95 < 10s", JUMP, UNDECIDED);
	lab_note(lab, "load is not steady");
	unsteady(lab, "ttft.p95 == 5s", JUMP, UNDECIDED);
	unsteady(lab, "ttft.p95 != 5100ms", JUMP, UNDECIDED);
	unsteady(lab, "ttft.p95 in 1s..9s", JUMP, UNDECIDED);
	unsteady(lab, "ttft.p95 within 50% of 5s", JUMP, UNDECIDED);
	unsteady(lab, "ttft.p95 < 40s", BURST, UNDECIDED);
	lab_note(lab, "parts of the run differ too much");
	unsteady(lab, "ttft.p95 < 200ms", BURST, FAIL);
	unsteady(lab, "ttft.p95 < 200s", BURST, PASS);
	unsteady(lab, "ttft.p95 < 10s", NOISY, UNDECIDED);
	unsteady(lab, "ttft.p95 < 1000s", BROKEN, UNDECIDED);
	unsteady(lab, "ttft.p95 < 200ms", BROKEN, FAIL);
	run_of(lab, "ttft.p95 < 500ms", STEADY);
	lab_expect(lab, PASS);
	assert_string_equal(lab->out.note, "");
}

/* Replications are independent: their order says nothing. */
static void test_replications_may_rise(void **state)
{
	struct lab *lab = *state;

	lab_begin(lab, "ttft.p95 < 500ms", 20);
	for (uint32_t r = 0; r < 20; r++)
		lab_value(lab, r, 0, (300 + r) * MS);
	lab_expect(lab, PASS);
	assert_string_equal(lab->out.note, "");
}

/* ---- the table --------------------------------------------------------- */

static bool has_interval(size_t run, double whole, uint32_t reps)
{
	struct measure_scope_result scope = {.scope = SCOPE_ENDPOINT};
	double batch[4 * N], low, high;
	struct measure_result r = {.replications = reps,
	                           .n_scopes = 1,
	                           .scope = &scope,
	                           .n_batches = N,
	                           .batch_p95 = batch};
	bool known;

	for (size_t i = 0; i < sizeof(batch) / sizeof(batch[0]); i++)
		batch[i] = runs[run].part(i % N);
	measure_hist_init(&scope.ttft);
	measure_hist_add(&scope.ttft, (int64_t)whole, 100);
	known = study_p95_interval(&r, 0, STUDY_TTFT, 0.95, &low, &high);
	measure_hist_fini(&scope.ttft);
	return known;
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < RUNS; i++)
		assert_int_equal(has_interval(i, runs[i].whole, 1),
		                 i == STEADY);
	assert_true(has_interval(JUMP, 5 * S, N));
	assert_false(has_interval(BROKEN, 5 * S, N));
	assert_false(has_interval(NOISY, 0.1 * S, N));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_coverage),
		LAB_TEST(test_never_against_the_value),
		LAB_TEST(test_unsteady),
		LAB_TEST(test_replications_may_rise),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
