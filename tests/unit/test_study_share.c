/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules with a test of their own: shares, moved keys, dispersion, rates. */
#include "unit/study_lab.h"

#include <gsl/gsl_randist.h>

#define PASS VERDICT_PASS
#define FAIL VERDICT_FAIL
#define UNDECIDED VERDICT_UNDECIDED

static void one_share(struct lab *lab, const char *rule, double x, double n,
                      enum study_verdict verdict)
{
	lab_begin(lab, rule, 1);
	lab_share(lab, 0, x, n);
	lab_expect(lab, verdict);
}

static double binomial(unsigned x, double p, double n)
{
	return gsl_ran_binomial_pdf(x, p, (unsigned)n);
}

/* ---- shares ------------------------------------------------------------ */

static void test_share_equal(void **state)
{
	struct lab *lab = *state;

	one_share(lab, "share(dep_a) == 1/4", 250, 1000, PASS);
	assert_true(lab->out.seen == 0.25 && lab->out.bound == 0.25);
	assert_true(lab->out.n == 1000 && lab->out.p == 1);
	assert_true(lab->out.request_share == 0.25);
	assert_int_equal(lab->out.unit, UNIT_FRACTION);
	one_share(lab, "share(dep_a) == 1/4", 290, 1000, PASS);
	assert_true(lab->out.p == study_binomial_p(290, 1000, 0.25));
	one_share(lab, "share(dep_a) == 1/4 confidence 99%", 290, 1000, FAIL);
	one_share(lab, "share(dep_a) == 1/4", 300, 1000, FAIL);
	one_share(lab, "share(dep_a) == 1/4", 200, 1000, FAIL);
	one_share(lab, "share(dep_a) == 1", 1000, 1000, PASS);
	one_share(lab, "share(dep_a) == 1", 999, 1000, FAIL);
	one_share(lab, "share(dep_a) == 0", 0, 1000, PASS);
	one_share(lab, "share(dep_a) == 0", 1, 1000, FAIL);
}

/* What the test of n keys rejects at all, has the power that is promised. */
static void test_share_sees(void **state)
{
	static const struct {
		const char *rule;
		double n, p;
	} all[] = {{"share(dep_a) == 1/2", 1000, 0.5},
	           {"share(dep_a) == 1/4", 24000, 0.25},
	           {"share(dep_a) == 1%", 500, 0.01},
	           {"share(dep_a) == 0", 1000, 0},
	           {"moved_keys(1m) == 2/3", 600, 2.0 / 3}};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		double n = all[i].n, p = all[i].p, sees, above = 0, below = 0;

		one_share(lab, all[i].rule, floor(n * p), n, PASS);
		sees = lab->out.sees;
		for (unsigned x = 0; x <= n; x++) {
			if (study_binomial_p(x, (uint64_t)n, p) >= 1 - 0.999)
				continue;
			above += binomial(x, p + sees, n);
			if (p >= sees)
				below += binomial(x, p - sees, n);
		}
		if (p < sees)
			below = 1;
		assert_true(above > 0.9899 && below > 0.9899);
		assert_true(above < 0.9901 || below < 0.9901);
	}
	one_share(lab, "share(dep_a) == 1/2", 5, 9, PASS);
	assert_true(isinf(lab->out.sees));
	one_share(lab, "share(dep_a) < 1/2", 4000, 9000, PASS);
	assert_true(isnan(lab->out.sees));
}

/* Of the table in the README. */
static void test_keys_needed(void **state)
{
	static const struct {
		double sees, keys, keys_99;
	} table[] = {{0.005, 315706, 240607},
	             {0.01, 78950, 60151},
	             {0.02, 19762, 15076},
	             {0.05, 3160, 2420}};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double n = table[i].keys, few = table[i].keys_99;

		one_share(lab, "share(dep_a) == 50%", floor(n / 2), n, PASS);
		assert_true(lab->out.sees <= table[i].sees);
		assert_true(lab->out.sees > 0.98 * table[i].sees);
		one_share(lab, "share(dep_a) == 50% confidence 99%",
		          floor(few / 2), few, PASS);
		assert_true(lab->out.sees <= table[i].sees);
		assert_true(lab->out.sees > 0.98 * table[i].sees);
	}
}

/* What one replication does not show, four do. */
static void test_share_pooled(void **state)
{
	struct lab *lab = *state;

	one_share(lab, "share(dep_a) == 1/4", 285, 1000, PASS);
	lab_begin(lab, "share(dep_a) == 1/4", 4);
	for (uint32_t r = 0; r < 4; r++)
		lab_share(lab, r, 285, 1000);
	lab_expect(lab, FAIL);
	assert_true(lab->out.n == 4000);
	assert_true(lab->out.p == study_binomial_p(1140, 4000, 0.25));
}

static void test_share_below(void **state)
{
	struct lab *lab = *state;
	uint32_t more;

	one_share(lab, "share(dep_a) < 30%", 240, 1000, PASS);
	one_share(lab, "share(dep_a) < 30%", 360, 1000, FAIL);
	one_share(lab, "share(dep_a) > 30%", 360, 1000, PASS);
	one_share(lab, "share(dep_a) > 30%", 240, 1000, FAIL);
	one_share(lab, "share(dep_a) > 30%", 300, 1000, UNDECIDED);
	assert_int_equal(lab->out.reps_needed, 0);
	one_share(lab, "share(dep_a) < 30%", 280, 1000, UNDECIDED);
	assert_true(lab->out.low < 0.28 && lab->out.high > 0.30);
	more = lab->out.reps_needed;
	assert_in_range(more, 2, LAB_REPS);
	lab_begin(lab, "share(dep_a) < 30%", more);
	for (uint32_t r = 0; r < more; r++)
		lab_share(lab, r, 280, 1000);
	lab_expect(lab, PASS);
	one_share(lab, "share(dep_a) != 30%", 200, 1000, PASS);
	one_share(lab, "share(dep_a) != 30%", 310, 1000, FAIL);
}

/* An interval always reaches over 0 or 1; what was seen decides. */
static void test_share_ends(void **state)
{
	struct lab *lab = *state;

	one_share(lab, "share(dep_a) <= 0", 0, 1000, PASS);
	one_share(lab, "share(dep_a) <= 0", 1, 1000, FAIL);
	one_share(lab, "share(dep_a) > 0", 1, 1000, PASS);
	one_share(lab, "share(dep_a) > 0", 0, 1000, FAIL);
	one_share(lab, "share(dep_a) < 1", 999, 1000, PASS);
	one_share(lab, "share(dep_a) < 1", 1000, 1000, FAIL);
	one_share(lab, "share(dep_a) >= 100%", 1000, 1000, PASS);
	one_share(lab, "share(dep_a) != 0", 0, 1000, FAIL);
}

static void test_share_in(void **state)
{
	struct lab *lab = *state;

	one_share(lab, "share(dep_a) in 20%..30%", 2500, 10000, PASS);
	one_share(lab, "share(dep_a) in 20%..30%", 2980, 10000, UNDECIDED);
	assert_true(lab->out.bound == 0.3);
	one_share(lab, "share(dep_a) in 20%..30%", 2020, 10000, UNDECIDED);
	assert_true(lab->out.bound == 0.2);
	assert_true(lab->out.reps_needed > 1);
	one_share(lab, "share(dep_a) in 20%..30%", 3300, 10000, FAIL);
	assert_true(lab->out.bound == 0.3);
	one_share(lab, "share(dep_a) in 20%..30%", 1700, 10000, FAIL);
	assert_true(lab->out.bound == 0.2);
	one_share(lab, "share(dep_a) in 0..30%", 0, 10000, PASS);
}

/* ---- keys that moved --------------------------------------------------- */

static void moved(struct lab *lab, double x, double least, double wrong,
                  enum study_verdict verdict)
{
	lab_begin(lab, "moved_keys(1m) == least", 1);
	lab_share(lab, 0, x, 1000);
	lab->value[0].least = least;
	lab->value[0].wrong = wrong;
	lab_expect(lab, verdict);
}

static void test_moved(void **state)
{
	struct lab *lab = *state;

	moved(lab, 250, 0.25, 0, PASS);
	assert_true(lab->out.bound == 0.25 && lab->out.seen == 0.25);
	assert_true(isnan(lab->out.request_share));
	moved(lab, 400, 0.25, 0, FAIL);
	moved(lab, 100, 0.25, 0, FAIL);
	moved(lab, 0, 0, 0, PASS);
	moved(lab, 1, 0, 0, FAIL);
	moved(lab, 1000, 1 + 1e-15, 0, PASS);
	moved(lab, 250, 0.25, 1, FAIL);
	lab_note(lab, "1 keys moved between deployments that did not change");
	one_share(lab, "moved_keys(1m) < 20%", 100, 1000, PASS);
	one_share(lab, "moved_keys(1m) < 20%", 195, 1000, UNDECIDED);
	one_share(lab, "moved_keys(1m) < 20%", 400, 1000, FAIL);
	one_share(lab, "moved_keys(1m) == 20%", 200, 1000, PASS);
	one_share(lab, "moved_keys(1m) == 20%", 400, 1000, FAIL);
}

/* Each replication has a least of its own, weighted by its keys. */
static void test_moved_pooled(void **state)
{
	struct lab *lab = *state;

	lab_begin(lab, "moved_keys(1m) == least", 2);
	lab_share(lab, 0, 100, 1000);
	lab->value[0].least = 0.1;
	lab_share(lab, 1, 1200, 3000);
	lab->value[1].least = 0.4;
	lab_expect(lab, PASS);
	assert_true(fabs(lab->out.bound - 0.325) < 1e-12);
	lab->value[1].wrong = 2;
	lab_expect(lab, FAIL);
	lab_note(lab, "2 keys");
}

/* ---- dispersion -------------------------------------------------------- */

/* Shares off by so many standard deviations, half of them each way. */
static void dispersion(struct lab *lab, uint32_t reps, double off,
                       enum study_verdict verdict)
{
	lab_begin(lab, "dispersion(share(dep_a)) == 1/5", reps);
	for (uint32_t r = 0; r < reps; r++)
		lab_share(lab, r, 500 + (r % 2 ? off : -off) * 20, 2500);
	lab_expect(lab, verdict);
}

static void test_dispersion(void **state)
{
	struct lab *lab = *state;

	dispersion(lab, 30, 1, PASS);
	assert_true(fabs(lab->out.seen - 1) < 1e-12);
	assert_true(lab->out.bound == 1 && lab->out.n == 30);
	assert_int_equal(lab->out.unit, UNIT_NUMBER);
	dispersion(lab, 30, 0, FAIL);
	dispersion(lab, 30, 0.3, FAIL);
	dispersion(lab, 30, 2, FAIL);
	dispersion(lab, 9, 1, UNDECIDED);
	assert_int_equal(lab->out.reps_needed, 10);
	dispersion(lab, 10, 1, PASS);
}

/* ---- rates ------------------------------------------------------------- */

static void rates(struct lab *lab, const char *rule, const double x[2],
                  enum study_verdict verdict)
{
	lab_begin(lab, rule, 1);
	for (uint32_t i = 0; i < 2; i++)
		*lab_at(lab, 0, i) =
			(struct measure_value){.x = x[i],
		                               .replica_s = i ? 300 : 100,
		                               .value = x[i] / 100};
	lab_expect(lab, verdict);
}

#define A "rate_per_replica(dep_a)"
#define B "rate_per_replica(dep_b)"

/* A factor on the right once weighed the wrong side: twice b's rate passed
 * at half of it. */
static void test_rates_factor(void **state)
{
	static const double same[2] = {400, 1200}, twice[2] = {800, 1200};
	static const char *const forms[] = {
		A " == 2 * " B,        A " == " B " * 2",   A " / 2 == " B,
		A " == 4/2 * " B,      "0.5 * " A " == " B, A " == " B " / 0.5",
		"3 * " A " == 6 * " B,
	};
	struct lab *lab = *state;

	rates(lab, A " == " B, same, PASS);
	assert_true(lab->out.seen == 4 && lab->out.bound == 4);
	assert_true(lab->out.n == 1600 && lab->out.p == 1);
	rates(lab, A " == " B, twice, FAIL);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		rates(lab, forms[i], twice, PASS);
		assert_true(lab->out.p > 0.9);
		assert_true(fabs(lab->out.seen - lab->out.bound) < 1e-9);
		rates(lab, forms[i], same, FAIL);
	}
}

static void test_rates_nothing(void **state)
{
	static const double none[2] = {0, 0};
	struct lab *lab = *state;

	rates(lab, A " == " B, none, FAIL);
	lab_note(lab, "nothing arrived");
	lab_begin(lab, A " == " B, 1);
	lab_expect(lab, FAIL);
	lab_note(lab, "nothing was in it");
}

/* ---- what saw nothing -------------------------------------------------- */

static void test_missing(void **state)
{
	static const char *const rules[] = {
		"share(dep_a) == 1/2",
		"share(dep_a) != 1/4",
		"share(dep_a) < 99%",
		"share(dep_a) in 1%..99%",
		"moved_keys(1m) == least",
		"moved_keys(1m) < 99%",
		"moved_keys(1m) == 1/2",
		"dispersion(share(dep_a)) == 1/2",
		"prob(share(dep_a) == 1/2) > 1%",
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		lab_begin(lab, rules[i], 12);
		for (uint32_t r = 0; r < 12; r++) {
			lab_share(lab, r, r % 2 ? 50 : 45, 100);
			lab_at(lab, r, 0)->least = 0.5;
		}
		lab_expect(lab, PASS);
		lab_missing(lab, 7, 0);
		lab_expect(lab, FAIL);
		lab_note(lab, "in replication 7");
		for (uint32_t r = 0; r < 12; r++)
			lab_missing(lab, r, 0);
		lab_expect(lab, FAIL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_share_equal),  LAB_TEST(test_share_pooled),
		LAB_TEST(test_share_below),  LAB_TEST(test_share_ends),
		LAB_TEST(test_share_in),     LAB_TEST(test_moved),
		LAB_TEST(test_moved_pooled), LAB_TEST(test_dispersion),
		LAB_TEST(test_rates_factor), LAB_TEST(test_rates_nothing),
		LAB_TEST(test_missing),      LAB_TEST(test_share_sees),
		LAB_TEST(test_keys_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
