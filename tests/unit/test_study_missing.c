/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What saw nothing does not pass, nor do two that never ended compare. */
#include "unit/study_lab.h"

#define PASS VERDICT_PASS
#define FAIL VERDICT_FAIL
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

static const char *const any[] = {
	"requests > 5",
	"requests != 5",
	"requests in 5..15",
	"ttft.p95 < 500ms",
	"ttft.p95 > 5ns",
	"ttft.p95 != 5ns",
	"ttft.p95 in 5ns..15ns",
	"ttft.p95 within 20% of 10ns",
	"ttft.p95(dep_a) < 2 * ttft.p95(dep_b)",
	"ttft.p95(dep_a) / ttft.p95(dep_b) < 2",
	"replicas.ready(dep_a) <= 12",
	"replicas.ready(dep_a) == 10",
	"throughput > 5",
	"-(requests - 20) > 5",
	"prob(requests > 20) < 1",
	"prob(requests > 5) > 0.1 confidence 60%",
	"prob(ttft.p95 != 5ns) > 0",
};

static void fill(struct lab *lab, double value)
{
	for (uint32_t i = 0; i < lab->result.replications * lab->result.n_terms;
	     i++)
		lab->value[i] = (struct measure_value){
			.value = value, .low = value, .high = value};
}

static void test_missing(void **state)
{
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		for (uint32_t n = 1; n <= 8; n += 7) {
			lab_begin(lab, any[i], n);
			fill(lab, 10);
			lab_expect(lab, PASS);
			lab_missing(lab, n - 1, lab->result.n_terms - 1);
			lab_expect(lab, FAIL);
			lab_note(lab, "nothing was in it");
			fill(lab, NAN);
			lab_expect(lab, FAIL);
		}
	}
}

static void test_infinite(void **state)
{
	double some[] = {10 * MS, INFINITY, 10 * MS};
	double all[] = {INFINITY, INFINITY, INFINITY};
	struct lab *lab = *state;

	one_value(lab, "ttft.p95 < 500ms", INFINITY, FAIL);
	lab_note(lab, "inf: too many did not finish");
	one_value(lab, "ttft.p95 in 1ms..500ms", INFINITY, FAIL);
	one_value(lab, "ttft.p95 == 500ms", INFINITY, FAIL);
	one_value(lab, "ttft.p95 > 500ms", INFINITY, PASS);
	values(lab, "ttft.p95 < 500ms", some, 3, FAIL);
	values(lab, "ttft.p95 > 500ms", some, 3, FAIL);
	values(lab, "ttft.p95 > 500ms", all, 3, PASS);
}

/* Two that never ended are neither equal, nor one below the other. */
static void test_infinite_both(void **state)
{
	static const char *const rules[] = {
		"ttft.p95(dep_a) <= 1.25 * ttft.p95(dep_b)",
		"ttft.p95(dep_a) >= ttft.p95(dep_b)",
		"ttft.p95(dep_a) == ttft.p95(dep_b)",
		"ttft.p95(dep_a) != ttft.p95(dep_b)",
		"ttft.p95(dep_a) - ttft.p95(dep_b) < 1s",
		"ttft.p95(dep_a) / ttft.p95(dep_b) < 2",
		"ttft.p95(dep_a) within 20% of ttft.p95(dep_b)",
		"ttft.max(dep_a) <= ttft.max(dep_b)",
		"ttft.max(dep_a) == ttft.max(dep_b)",
		"prob(ttft.max(dep_a) <= ttft.max(dep_b)) > 0",
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		for (uint32_t n = 1; n <= 4; n += 3) {
			lab_begin(lab, rules[i], n);
			fill(lab, INFINITY);
			lab_expect(lab, FAIL);
		}
	}
	/* a bound that never ended says nothing about equivalence */
	lab_begin(lab, "ttft.p95(dep_a) within 20% of ttft.p95(dep_b)", 1);
	lab_value(lab, 0, 0, 5 * MS);
	lab_value(lab, 0, 1, INFINITY);
	lab_expect(lab, FAIL);
}

static void test_divided_by_nothing(void **state)
{
	struct lab *lab = *state;

	lab_begin(lab, "requests(dep_a) / requests(dep_b) > 2", 1);
	lab_value(lab, 0, 0, 5);
	lab_value(lab, 0, 1, 2);
	lab_expect(lab, PASS);
	lab_value(lab, 0, 1, 0);
	lab_expect(lab, FAIL);
	lab_note(lab, "nothing was in it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_missing),
		LAB_TEST(test_infinite),
		LAB_TEST(test_infinite_both),
		LAB_TEST(test_divided_by_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
