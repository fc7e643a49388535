/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prompts that begin alike: which group, how many tokens, and whose chance. */
#include "unit/load_rig.h"

enum { N = 20000 };

static void group_and_length(void **state)
{
	struct load_spec spec = rig_open(100);
	uint64_t seen[4] = {0};
	struct rig rig;

	(void)state;
	spec.requests = N;
	spec.input_tokens = rig_dist(DIST_UNIFORM, 1, 200);
	spec.prefix = (struct load_prefix){.groups = 4, .tokens = 100};
	rig_run(&rig, &spec, 1, 5, 0);
	assert_int_equal(rig.n, N);
	for (size_t i = 0; i < rig.n; i++) {
		const struct load_request *r = &rig.at[i].r;
		uint32_t most = r->input_tokens < 100 ? r->input_tokens : 100;

		assert_true(r->prefix_group < 4);
		assert_int_equal(r->prefix_tokens, most);
		seen[r->prefix_group]++;
	}
	/* Each N / 4, within four standard deviations. */
	for (size_t i = 0; i < 4; i++)
		assert_true(fabs((double)seen[i] - N / 4.0) <
		            4 * sqrt(N * 0.25 * 0.75));
	rig_fini(&rig);
}

static void groups_by_their_exponent(void **state)
{
	struct load_spec spec = rig_open(100);
	double first = 0, p = 1 / (1 + 0.5 + 1 / 3.0);
	struct rig rig;

	(void)state;
	spec.requests = N;
	spec.prefix = (struct load_prefix){.groups = 3, .tokens = 8, .zipf = 1};
	rig_run(&rig, &spec, 1, 6, 0);
	for (size_t i = 0; i < rig.n; i++)
		first += rig.at[i].r.prefix_group == 0;
	assert_true(fabs(first - N * p) < 4 * sqrt(N * p * (1 - p)));
	rig_fini(&rig);
}

/* With prefixes a request has the same arrival, lengths and key as without;
 * and without, no prefix. */
static void nobody_elses_chance(void **state)
{
	struct load_spec spec = rig_open(100);
	struct rig with, without;

	(void)state;
	spec.requests = 500;
	spec.process = LOAD_POISSON;
	spec.input_tokens = rig_dist(DIST_EXPONENTIAL, 300, 0);
	spec.output_tokens = rig_dist(DIST_EXPONENTIAL, 50, 0);
	spec.keys = (struct load_keys){LOAD_KEYS_DRAWN, 50, 50, 1.1};
	rig_run(&without, &spec, 1, 7, 0);
	spec.prefix =
		(struct load_prefix){.groups = 10, .tokens = 64, .zipf = 1.2};
	rig_run(&with, &spec, 1, 7, 0);
	for (size_t i = 0; i < 500; i++) {
		const struct load_request *a = &with.at[i].r;
		const struct load_request *b = &without.at[i].r;

		assert_int_equal(with.at[i].at_ns, without.at[i].at_ns);
		assert_int_equal(a->input_tokens, b->input_tokens);
		assert_int_equal(a->output.sealed_, b->output.sealed_);
		assert_string_equal(a->user, b->user);
		assert_int_equal(b->prefix_tokens, 0);
	}
	rig_fini(&with);
	rig_fini(&without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_and_length),
		cmocka_unit_test(groups_by_their_exponent),
		cmocka_unit_test(nobody_elses_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
