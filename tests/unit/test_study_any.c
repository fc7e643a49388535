/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every rule that sides, signs and forms make: where nothing was seen it does
 * not pass, and whatever was seen, it is judged.
 */
#include "unit/study_lab.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

static const char *const lefts[] = {
	"share(dep_a)",
	"token_share(dep_a)",
	"moved_keys(1m)",
	"dispersion(share(dep_a))",
	"requests",
	"timeouts",
	"requests(dep_a) / requests(dep_b)",
	"ttft.p95",
	"ttft.max(dep_a)",
	"2 * ttft.p95(dep_a) - ttft.mean(dep_b)",
	"-ttft.p95",
	"rate",
	"rate_per_replica(dep_a)",
	"2 * rate_per_replica(dep_a)",
	"replicas.ready(dep_a)",
	"replicas.ready.max(dep_a)",
	"queue",
	"max(requests(replicas(dep_a)))",
	"min(ttft.p95(replicas(dep_a)))",
	"keys_on_two",
	"1 / requests",
};

static const char *const rights[] = {
	"0",
	"1",
	"1/2",
	"3",
	"0s",
	"5ns",
	"5ns..9ns",
	"0..1",
	"1/4..3/4",
	"3..share(dep_b)",
	"5% of 3",
	"5% of 3ns",
	"20% of ttft.p95(dep_b)",
	"20% of requests(dep_b)",
	"least",
	"ttft.p95(dep_b)",
	"1.5 * ttft.p95(dep_b)",
	"share(dep_b)",
	"requests(dep_b)",
	"rate_per_replica(dep_b)",
	"rate_per_replica(dep_b) / 3",
	"-5",
};

static const char *const signs[] = {
	"==", "!=", "<", "<=", ">", ">=", "in", "within"};

static const char *const forms[] = {
	"%s %s %s",
	"%s %s %s confidence 60%%",
	"prob(%s %s %s) > 0.3",
	"prob(%s %s %s) <= 0.7",
	"prob(%s %s %s) == 0.5",
	"prob(%s %s %s) < 0.9 confidence 60%%",
	"%s %s %s in >= 2 of 3 reps",
};

static double each[] = {0, 1, INFINITY};

/* Plain values, and those that go wrong somewhere. */
static const double odd[] = {0,        1, 2,        0.5, 3, 1e300,
                             INFINITY, 7, INFINITY, NAN, 5, 0};

/* Counts are whole and x is at most n, as probes have them. Every other time
 * nothing is missing. */
static void fill(struct lab *lab, uint32_t from)
{
	uint32_t n = lab->result.replications * lab->result.n_terms;

	for (uint32_t i = 0; i < n; i++) {
		double value = odd[(from + 5 * i) % LENGTH(odd)];
		bool whole = from % 2 == 0;
		struct measure_value v = {
			.missing = !whole && (from + i) % 7 == 6,
			.value = whole && isnan(value) ? 4 : value,
			.x = (from + i) % 5,
			.n = !whole && (from + i) % 9 == 8 ? 0 : 5,
			.request_share = value,
			.least = 0.25 * ((from + i) % 5),
			.wrong = (from + i) % 4 == 3,
			.replica_s = (from + i) % 3,
			.low = value,
			.high = value + 1,
			.n_each = (from + i) % 4,
			.each = each,
		};

		if (v.n < v.x)
			v.x = 0;
		v.n_batches = (from + i) % 3 ? MEASURE_BATCHES : 0;
		for (uint32_t b = 0; b < MEASURE_BATCHES; b++)
			v.batch[b] =
				odd[(from + i + b * (i % 2)) % LENGTH(odd)];
		lab->value[i] = v;
	}
}

static struct study_judgement judged(struct lab *lab)
{
	struct study_judgement out =
		study_judge(&lab->rig.rule, &lab->rig.terms, &lab->result);

	assert_in_range(out.verdict, VERDICT_PASS, VERDICT_UNDECIDED);
	if (out.verdict == VERDICT_PASS)
		assert_false(isnan(out.seen) || isnan(out.bound));
	assert_false(out.p < 0 || out.p > 1 || out.low > out.high);
	return out;
}

static void nothing_seen(struct lab *lab)
{
	uint32_t n = lab->result.replications * lab->result.n_terms;

	for (uint32_t i = 0; i < n; i++)
		lab->value[i] = (struct measure_value){.missing = true};
	assert_int_not_equal(judged(lab).verdict, VERDICT_PASS);
	for (uint32_t i = 0; i < n; i++)
		lab->value[i] = (struct measure_value){
			.value = NAN, .low = NAN, .high = NAN};
	assert_int_not_equal(judged(lab).verdict, VERDICT_PASS);
}

/* True when the text is a rule. */
static bool one_rule(struct lab *lab, const char *text, unsigned *seen)
{
	struct rig *rig = &lab->rig;

	rig->terms = (struct measure_terms){0};
	err_clear(&rig->err);
	if (measure_rule_parse(text, &one, &rig->arena, &rig->terms, &rig->rule,
	                       &rig->err) != 0)
		return false;
	for (uint32_t reps = 1; reps <= 12; reps += 11) {
		lab_begin(lab, text, reps);
		nothing_seen(lab);
		for (uint32_t from = 0; from < 24; from++) {
			fill(lab, from);
			*seen |= 1u << judged(lab).verdict;
		}
	}
	return true;
}

static void test_any(void **state)
{
	size_t n = LENGTH(lefts) * LENGTH(rights) * LENGTH(signs);
	struct lab *lab = *state;

	for (size_t f = 0; f < LENGTH(forms); f++) {
		unsigned seen = 0;
		int good = 0;

		for (size_t i = 0; i < n; i++) {
			char text[200];
			size_t k = i / LENGTH(signs);

			snprintf(text, sizeof(text), forms[f],
			         lefts[k % LENGTH(lefts)],
			         signs[i % LENGTH(signs)],
			         rights[k / LENGTH(lefts)]);
			good += one_rule(lab, text, &seen);
			arena_fini(&lab->rig.arena);
			arena_init(&lab->rig.arena);
		}
		assert_true(good > 400);
		assert_true(seen & 1u << VERDICT_PASS);
		assert_true(seen & 1u << VERDICT_FAIL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {LAB_TEST(test_any)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
