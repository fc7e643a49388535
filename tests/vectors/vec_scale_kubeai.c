/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cases of kubeai_chwbl_and_autoscaler.json that speak of its
 * autoscaler: how many samples a mean is of and how many lower results in a
 * row come before one acts. Both are asked of its behaviour, too.
 */
#include "vectors/vec_scale.h"

#define PATH "tests/vectors/kubeai_chwbl_and_autoscaler.json"
#define SUITE "KubeAI CHWBL routing and autoscaler arithmetic"

struct rig {
	struct scale_policy policy;
	struct scale_state *state;
	int64_t now_ns;
	uint32_t wanted;
};

static struct scale_wish look(struct rig *r, double requests)
{
	struct scale_signal signal = {.value = requests};
	struct scale_snapshot snap = {
		.now_ns = r->now_ns,
		.ready = r->wanted,
		.wanted = r->wanted,
		.signals = &signal,
	};
	struct scale_wish w = scale_tick(&r->policy, r->state, &snap);

	r->now_ns += r->policy.tick_ns;
	r->wanted = w.wanted;
	return w;
}

static void autoscaler_config(const json_t *input, const json_t *expected)
{
	uint32_t downs = (uint32_t)vec_integer(
		expected, "required_consecutive_scale_downs");
	uint32_t samples =
		(uint32_t)vec_integer(expected, "average_window_count");
	struct rig r = {.wanted = 0};
	uint32_t i;

	scale_defaults(SCALE_KUBEAI, &r.policy);
	r.policy.min = 0;
	r.policy.max = 1000;
	r.policy.tick_ns = vec_ns(vec_number(input, "interval_s"));
	r.policy.kubeai.mean_window_ns =
		vec_ns(vec_number(input, "time_window_s"));
	r.policy.kubeai.down_delay_ns =
		vec_ns(vec_number(input, "scale_down_delay_s"));
	r.policy.metrics[0].target = 1;
	r.state = vec_state(&r.policy);
	assert_int_equal(scale_kubeai_samples(&r.policy), samples);
	assert_int_equal(scale_kubeai_downs(&r.policy), downs);
	/* Full of zeros at first: it climbs by one a look. */
	for (i = 1; i <= samples; i++)
		assert_int_equal(look(&r, samples).wanted, i);
	assert_int_equal(look(&r, samples).wanted, samples);
	/* The next one after so many lower results acts. */
	for (i = 0; i < downs; i++)
		assert_int_equal(look(&r, 0).wanted, samples);
	assert_true(look(&r, 0).wanted < samples);
	free(r.state);
}

static void one_case(void **state)
{
	struct vec_case c = vec_case(state);

	if (strcmp(c.kind, "autoscaler_config") == 0)
		autoscaler_config(c.input, c.expected);
	else if (strcmp(c.kind, "sequence") == 0 ||
	         strcmp(c.kind, "load_ok") == 0 ||
	         strcmp(c.kind, "least_load_sequence") == 0)
		vec_skip("which replica gets a request is for route");
	else
		fail_msg("a kind that nobody asks for: %s", c.kind);
}

int main(void)
{
	return vec_run(PATH, SUITE, one_case);
}
