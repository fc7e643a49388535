/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules judged by values and intervals, and by replications. */
#include "unit/study_lab.h"

#define PASS VERDICT_PASS
#define FAIL VERDICT_FAIL
#define UNDECIDED VERDICT_UNDECIDED
#define MS 1e6

/* One value a replication. */
static void values(struct lab *lab, const char *rule, const double *value,
                   uint32_t reps, enum study_verdict verdict)
{
	lab_begin(lab, rule, reps);
	for (uint32_t r = 0; r < reps; r++)
		lab_value(lab, r, 0, value[r]);
	lab_expect(lab, verdict);
}

static void one_value(struct lab *lab, const char *rule, double value,
                      enum study_verdict verdict)
{
	values(lab, rule, &value, 1, verdict);
}

/* ---- counts and states ------------------------------------------------- */

static void test_counts(void **state)
{
	static const double same[] = {599, 599, 599}, off[] = {599, 600, 599};
	struct lab *lab = *state;

	one_value(lab, "requests == 599", 599, PASS);
	assert_true(lab->out.seen == 599 && lab->out.bound == 599);
	assert_string_equal(lab->out.note, "");
	one_value(lab, "requests == 599", 598, FAIL);
	one_value(lab, "requests != 599", 598, PASS);
	one_value(lab, "requests in 1..5", 5, PASS);
	one_value(lab, "requests in 1..5", 6, FAIL);
	assert_true(lab->out.bound == 5);
	one_value(lab, "requests in 1..5", 0, FAIL);
	assert_true(lab->out.bound == 1);
	values(lab, "requests == 599", same, 3, PASS);
	assert_true(lab->out.n == 3);
	values(lab, "requests == 599", off, 3, FAIL);
	assert_true(lab->out.seen == 600);
	lab_note(lab, "in replication 1");
}

static void held(struct lab *lab, const char *rule, double low, double high,
                 enum study_verdict verdict)
{
	lab_begin(lab, rule, 1);
	*lab_at(lab, 0, 0) = (struct measure_value){
		.low = low, .high = high, .value = (low + high) / 2};
	lab_expect(lab, verdict);
}

/* A state is said of every moment, also where its mean is right. */
static void test_states(void **state)
{
	struct lab *lab = *state;

	held(lab, "replicas.ready(dep_a) == 2", 2, 2, PASS);
	held(lab, "replicas.ready(dep_a) == 2", 1, 2, FAIL);
	assert_true(lab->out.seen == 1);
	held(lab, "replicas.ready(dep_a) == 2", 2, 3, FAIL);
	assert_true(lab->out.seen == 3);
	held(lab, "replicas.ready(dep_a) == 2", 1, 3, FAIL);
	held(lab, "replicas.ready(dep_a) <= 2", 1, 2, PASS);
	held(lab, "replicas.ready(dep_a) <= 2", 1, 3, FAIL);
	held(lab, "replicas.ready(dep_a) >= 2", 2, 9, PASS);
	held(lab, "replicas.ready(dep_a) >= 2", 1, 9, FAIL);
	held(lab, "replicas.ready(dep_a) in 1..2", 1, 2, PASS);
	held(lab, "replicas.ready(dep_a) in 1..2", 0, 2, FAIL);
	held(lab, "replicas.ready(dep_a) in 1..2", 1, 3, FAIL);
	held(lab, "replicas.ready.mean(dep_a) == 2", 1, 3, PASS);
	lab_begin(lab, "prob(replicas.ready(dep_a) == 2) >= 1", 1);
	*lab_at(lab, 0, 0) =
		(struct measure_value){.low = 1, .high = 3, .value = 2};
	lab_expect(lab, FAIL);
}

/* A mean of batches' maxima lies below the maximum, which counts. */
static void test_maximum(void **state)
{
	struct lab *lab = *state;

	lab_begin(lab, "ttft.max < 1s", 1);
	lab_batches(lab, 0, 100 * MS, 10 * MS);
	lab->value[0].value = 2000 * MS;
	lab_expect(lab, FAIL);
	lab->value[0].value = 900 * MS;
	lab_expect(lab, PASS);
}

static void test_replicas(void **state)
{
	double each[] = {3, 9, 6};
	struct lab *lab = *state;
	static const char *const rules[] = {
		"max(requests(replicas(dep_a))) == 9",
		"min(requests(replicas(dep_a))) == 3",
		"sum(requests(replicas(dep_a))) == 18",
	};

	for (size_t i = 0; i < 3; i++) {
		lab_begin(lab, rules[i], 1);
		lab->value[0] =
			(struct measure_value){.n_each = 3, .each = each};
		lab_expect(lab, PASS);
		lab->value[0].n_each = 0;
		lab_expect(lab, FAIL);
		lab_note(lab, "nothing was in it");
	}
}

/* ---- intervals of one run ---------------------------------------------- */

static void batches(struct lab *lab, const char *rule, double mean,
                    double spread, enum study_verdict verdict)
{
	lab_begin(lab, rule, 1);
	lab_batches(lab, 0, mean * MS, spread * MS);
	lab_expect(lab, verdict);
}

static void test_batches(void **state)
{
	struct lab *lab = *state;

	batches(lab, "ttft.p95 < 500ms", 300, 20, PASS);
	assert_true(lab->out.low < 300 * MS && 300 * MS < lab->out.high);
	assert_int_equal(lab->out.unit, UNIT_TIME_NS);
	batches(lab, "ttft.p95 < 500ms", 700, 20, FAIL);
	batches(lab, "ttft.p95 < 500ms", 495, 20, UNDECIDED);
	assert_true(lab->out.reps_needed > 1);
	batches(lab, "ttft.p95 < 500ms confidence 60%", 495, 20, PASS);
	batches(lab, "ttft.p95 > 500ms", 505, 20, UNDECIDED);
	batches(lab, "ttft.p95 > 500ms", 700, 20, PASS);
	batches(lab, "ttft.p95 == 500ms", 505, 20, PASS);
	batches(lab, "ttft.p95 == 500ms", 700, 20, FAIL);
	batches(lab, "ttft.p95 != 500ms", 505, 20, FAIL);
	batches(lab, "ttft.p95 != 500ms", 700, 20, PASS);
	batches(lab, "ttft.p95 in 400ms..500ms", 450, 20, PASS);
	batches(lab, "ttft.p95 in 400ms..500ms", 495, 20, UNDECIDED);
	assert_true(lab->out.bound == 500 * MS);
	batches(lab, "ttft.p95 in 400ms..500ms", 405, 20, UNDECIDED);
	assert_true(lab->out.bound == 400 * MS);
	batches(lab, "ttft.p95 in 400ms..500ms", 300, 20, FAIL);
	assert_true(lab->out.bound == 400 * MS);
	batches(lab, "ttft.p95 in 400ms..500ms", 600, 20, FAIL);
	assert_true(lab->out.bound == 500 * MS);
	batches(lab, "ttft.p95 <= 500ms", 500, 0, PASS);
	batches(lab, "ttft.p95 < 500ms", 500, 0, FAIL);
}

/* The interval lies around the run's value, not around the batches'. */
static void test_sections(void **state)
{
	struct lab *lab = *state;

	lab_begin(lab, "ttft.p99 < 500ms", 1);
	lab_batches(lab, 0, 300 * MS, 10 * MS);
	lab->value[0].value = 302 * MS;
	lab_expect(lab, PASS);
	assert_string_equal(lab->out.note, "");
	assert_true(fabs(lab->out.low + lab->out.high - 604 * MS) < 1);
	assert_true(lab->out.seen == 302 * MS);
}

static void test_one_value(void **state)
{
	struct lab *lab = *state;

	one_value(lab, "ttft.p95 < 500ms", 499 * MS, PASS);
	lab_note(lab, "no interval from this run");
	assert_true(isnan(lab->out.low));
	one_value(lab, "ttft.p95 < 500ms", 501 * MS, FAIL);
	one_value(lab, "ttft.p95 in 1ms..2ms", 1.5 * MS, PASS);
	one_value(lab, "ttft.p95 in 1ms..2ms", 3 * MS, FAIL);
	lab_begin(lab, "ttft.p95 < 500ms", 1);
	lab_batches(lab, 0, 300 * MS, 10 * MS);
	lab->value[0].batch[19] = INFINITY;
	lab_expect(lab, UNDECIDED);
	lab_note(lab, "parts of the run differ too much");
}

/* ---- intervals over replications --------------------------------------- */

static void spread(struct lab *lab, const char *rule, double mean, double off,
                   enum study_verdict verdict)
{
	double value[10];

	for (size_t i = 0; i < 10; i++)
		value[i] = (mean + (i % 2 ? off : -off)) * MS;
	values(lab, rule, value, 10, verdict);
}

static void test_replications(void **state)
{
	double many[LAB_REPS];
	struct lab *lab = *state;
	uint32_t more;

	spread(lab, "ttft.p95 < 500ms", 300, 20, PASS);
	assert_true(fabs(lab->out.seen - 300 * MS) < 1);
	spread(lab, "ttft.p95 < 500ms", 700, 20, FAIL);
	spread(lab, "ttft.p95 < 500ms", 490, 20, UNDECIDED);
	more = lab->out.reps_needed;
	assert_in_range(more, 11, LAB_REPS);
	for (size_t i = 0; i < more; i++)
		many[i] = (490 + (i % 2 ? 20 : -20)) * MS;
	values(lab, "ttft.p95 < 500ms", many, more, PASS);
}

/* One that is infinite makes the mean infinite, wherever it stands. */
static void test_infinite_mean(void **state)
{
	static const double first[] = {INFINITY, 1, 2},
			    last[] = {1, 2, INFINITY};
	struct lab *lab = *state;

	values(lab, "ttft.p95 < 500ms", first, 3, FAIL);
	assert_true(isinf(lab->out.seen));
	values(lab, "ttft.p95 > 0ms", last, 3, PASS);
	assert_true(isinf(lab->out.seen));
	lab_note(lab, "inf: too many did not finish");
}

/* A part of the requests is an estimate, a number of them is not. */
static void test_part_of_requests(void **state)
{
	struct lab *lab = *state;

	for (uint32_t wrong = 0; wrong < 10; wrong++) {
		lab_begin(lab, "timeouts <= 1%", 10);
		for (uint32_t r = 0; r < 10; r++) {
			lab_value(lab, r, 0, r < wrong ? 30 : 0);
			lab_value(lab, r, 1, 1000);
		}
		lab_expect(lab, wrong == 0  ? PASS
		                : wrong < 9 ? UNDECIDED
		                            : FAIL);
	}
	lab_begin(lab, "timeouts <= 1%", 1);
	lab_value(lab, 0, 0, 10);
	lab_value(lab, 0, 1, 1000);
	lab_expect(lab, PASS);
	lab_value(lab, 0, 0, 11);
	lab_expect(lab, FAIL);
}

/* ---- two metrics ------------------------------------------------------- */

#define LESS "ttft.p95(dep_b) < 1.25 * ttft.p95(dep_a)"

/* Term 0 is dep_b's; both move together, so that their difference shows. */
static void pairs(struct lab *lab, const char *rule, double b, double a,
                  enum study_verdict verdict)
{
	lab_begin(lab, rule, 10);
	for (uint32_t r = 0; r < 10; r++) {
		lab_value(lab, r, 0, (b + 40 * r + (r % 2)) * MS);
		lab_value(lab, r, 1, (a + 32 * r) * MS);
	}
	lab_expect(lab, verdict);
}

static void test_two_metrics(void **state)
{
	struct lab *lab = *state;

	pairs(lab, LESS, 110, 100, PASS);
	pairs(lab, LESS, 140, 100, FAIL);
	pairs(lab, LESS, 124.5, 100, UNDECIDED);
	lab_begin(lab, LESS, 1);
	lab_batches(lab, 0, 100 * MS, 10 * MS);
	lab_batches(lab, 1, 100 * MS, 10 * MS);
	lab_expect(lab, PASS);
	lab_batches(lab, 0, 200 * MS, 10 * MS);
	lab_expect(lab, FAIL);
	lab_batches(lab, 0, 125 * MS, 10 * MS);
	lab_expect(lab, UNDECIDED);
}

static void within(struct lab *lab, double a, double off,
                   enum study_verdict verdict)
{
	batches(lab, "ttft.p50 within 10% of 100ms", a, off, verdict);
	lab_begin(lab, "ttft.p50(dep_b) within 10% of ttft.p50(dep_a)", 10);
	for (uint32_t r = 0; r < 10; r++) {
		double c = 80 + 40 * (r % 2);

		lab_value(lab, r, 0,
		          (a / 100 * c + (r % 4 < 2 ? off : -off)) * MS);
		lab_value(lab, r, 1, c * MS);
	}
	lab_expect(lab, verdict);
}

static void test_within(void **state)
{
	struct lab *lab = *state;

	within(lab, 100, 2, PASS);
	within(lab, 105, 2, PASS);
	within(lab, 95, 2, PASS);
	within(lab, 109.5, 3, UNDECIDED);
	assert_true(lab->out.reps_needed > 10);
	within(lab, 91, 3, UNDECIDED);
	within(lab, 130, 2, FAIL);
	within(lab, 70, 2, FAIL);
	one_value(lab, "ttft.p50 within 10% of 100ms", 110 * MS, PASS);
	one_value(lab, "ttft.p50 within 10% of 100ms", 111 * MS, FAIL);
}

/* ---- over replications ------------------------------------------------- */

static void prob(struct lab *lab, const char *rule, uint32_t hits,
                 enum study_verdict verdict)
{
	lab_begin(lab, rule, 100);
	for (uint32_t r = 0; r < 100; r++)
		lab_value(lab, r, 0, r < hits ? 10 : 0);
	lab_expect(lab, verdict);
}

static void test_prob(void **state)
{
	struct lab *lab = *state;

	prob(lab, "prob(requests > 9) >= 0.1", 40, PASS);
	assert_string_equal(lab->out.note, "");
	assert_true(lab->out.seen == 0.4 && lab->out.bound == 0.1);
	prob(lab, "prob(requests > 9) >= 0.1", 12, PASS);
	lab_note(lab, "inside the interval");
	prob(lab, "prob(requests > 9) >= 0.1", 8, FAIL);
	prob(lab, "prob(requests > 9) >= 0.1 confidence 95%", 40, PASS);
	prob(lab, "prob(requests > 9) >= 0.1 confidence 95%", 12, UNDECIDED);
	assert_true(lab->out.reps_needed > 100);
	prob(lab, "prob(requests > 9) >= 0.1 confidence 95%", 8, UNDECIDED);
	prob(lab, "prob(requests > 9) >= 0.1 confidence 95%", 1, FAIL);
	prob(lab, "prob(requests > 9) < 0.01", 0, PASS);
	lab_note(lab, "inside the interval");
	prob(lab, "prob(requests > 9) == 0.1", 12, PASS);
	prob(lab, "prob(requests > 9) == 0.1", 40, FAIL);
	prob(lab, "prob(requests > 9) >= 1 confidence 95%", 100, PASS);
	prob(lab, "prob(requests > 9) >= 1 confidence 95%", 99, FAIL);
	prob(lab, "prob(requests in 5..15) >= 0.3", 40, PASS);
	prob(lab, "prob(requests in 5..15) >= 0.3", 20, FAIL);
	prob(lab, "prob(requests within 10% of 11) >= 0.3", 40, PASS);
	prob(lab, "prob(requests within 5% of 11) >= 0.3", 40, FAIL);
}

/* So few that the rarer outcome is not even expected once tell nothing. */
static void test_prob_of_few(void **state)
{
	static const struct {
		const char *rule;
		double value;
		uint32_t reps, needed;
	} few[] = {
		{"prob(dropped > 0) < 0.01", 0, 1, 100},
		{"prob(dropped > 0) < 0.01", 0, 99, 100},
		{"prob(dropped > 0) < 10%", 0, 9, 10},
		{"prob(dropped == 0) >= 0.99", 0, 1, 100},
		{"prob(dropped == 0) >= 0.9", 0, 9, 10},
		{"prob(dropped > 0) == 0.01", 0, 1, 100},
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		lab_begin(lab, few[i].rule, few[i].reps);
		for (uint32_t r = 0; r < few[i].reps; r++)
			lab_value(lab, r, 0, few[i].value);
		lab_expect(lab, UNDECIDED);
		assert_int_equal(lab->out.reps_needed, few[i].needed);
		lab_begin(lab, few[i].rule, few[i].needed);
		for (uint32_t r = 0; r < few[i].needed; r++)
			lab_value(lab, r, 0, few[i].value);
		lab_expect(lab, PASS);
	}
	/* 0 and 1 are reached or not, and what is clear is clear at once */
	one_value(lab, "prob(dropped == 0) >= 1", 0, PASS);
	one_value(lab, "prob(dropped == 0) >= 1", 1, FAIL);
	one_value(lab, "prob(dropped > 0) < 0.0001", 1, FAIL);
	one_value(lab, "prob(dropped == 0) >= 0.9999", 1, FAIL);
}

static void reps(struct lab *lab, uint32_t run, uint32_t hits,
                 enum study_verdict verdict)
{
	lab_begin(lab, "rate(dep_a) > rate(dep_b) in >= 8 of 10 reps", run);
	for (uint32_t r = 0; r < run; r++) {
		lab_value(lab, r, 0, r < hits ? 10 : 1);
		lab_value(lab, r, 1, 5);
	}
	lab_expect(lab, verdict);
}

static void test_reps(void **state)
{
	struct lab *lab = *state;

	reps(lab, 10, 8, PASS);
	assert_true(lab->out.seen == 8 && lab->out.bound == 8);
	reps(lab, 10, 7, FAIL);
	reps(lab, 9, 7, UNDECIDED);
	assert_int_equal(lab->out.reps_needed, 10);
	reps(lab, 9, 8, PASS);
	reps(lab, 3, 0, FAIL);
	reps(lab, 20, 8, PASS);
	assert_true(lab->out.n == 10);
	reps(lab, 20, 7, FAIL);
}

/* Where an == has a test of its own, that is what holds or does not. */
static void test_reps_of_tests(void **state)
{
	static const char *const rules[] = {
		"share(dep_a) == 1/2 in >= 3 of 4 reps",
		"moved_keys(1m) == least in >= 3 of 4 reps",
		"share(dep_a) in 40%..60% in >= 3 of 4 reps",
		"share(dep_a) within 10% of 50% in >= 3 of 4 reps",
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		lab_begin(lab, rules[i], 4);
		for (uint32_t r = 0; r < 4; r++) {
			lab_share(lab, r, 49 + r, 100);
			lab_at(lab, r, 0)->least = 0.5;
		}
		lab_expect(lab, PASS);
		lab_share(lab, 2, 90, 100);
		lab_at(lab, 2, 0)->least = 0.5;
		lab_expect(lab, PASS);
		lab_missing(lab, 0, 0);
		lab_expect(lab, FAIL);
		assert_true(lab->out.seen == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_counts),           LAB_TEST(test_states),
		LAB_TEST(test_maximum),          LAB_TEST(test_replicas),
		LAB_TEST(test_batches),          LAB_TEST(test_sections),
		LAB_TEST(test_one_value),        LAB_TEST(test_replications),
		LAB_TEST(test_part_of_requests), LAB_TEST(test_two_metrics),
		LAB_TEST(test_within),           LAB_TEST(test_prob),
		LAB_TEST(test_prob_of_few),      LAB_TEST(test_reps),
		LAB_TEST(test_reps_of_tests),    LAB_TEST(test_infinite_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
