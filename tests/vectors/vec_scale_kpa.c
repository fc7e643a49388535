/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cases of knative_kpa.json: sequences of looks with what is wished
 * after each, before bounds and the way to zero.
 */
#include "vectors/vec_scale.h"

#define PATH "tests/vectors/knative_kpa.json"
#define SUITE "Knative pod autoscaler (KPA)"

/* The cases' time 0; some have a panic that began before it. */
#define START (100 * NS_PER_S)

/* A deployment that nothing else limits. */
static void settings(struct scale_policy *policy, const json_t *input)
{
	struct scale_kpa *k = &policy->kpa;
	double target = vec_number(input, "target");
	double total = vec_number_or(input, "total_capacity_per_pod", target);

	scale_defaults(SCALE_KPA, policy);
	policy->min = 0;
	policy->max = SCALE_REPLICAS_MAX;
	policy->metrics[0].target = total;
	policy->metrics[0].window_ns =
		vec_ns(vec_number_or(input, "stable_window_s", 60));
	k->utilization = target / total;
	k->max_up_rate = vec_number(input, "max_scale_up_rate");
	k->max_down_rate = vec_number(input, "max_scale_down_rate");
	k->target_burst = vec_number_or(input, "target_burst_capacity", 0);
	k->down_delay_ns =
		vec_ns(vec_number_or(input, "scale_down_delay_s", 0));
	k->activation_scale =
		(uint32_t)vec_number_or(input, "activation_scale", 1);
	/* The cases set a panic by themselves. */
	k->start_in_panic = false;
	assert_true(json_is_true(json_object_get(input, "reachable")));
}

static struct scale_wish look(const struct scale_policy *policy,
                              struct scale_state *s, const json_t *step,
                              uint32_t ready)
{
	struct scale_signal signal = {
		.value = vec_number(step, "stable"),
		.recent = vec_number(step, "panic"),
	};
	struct scale_snapshot snap = {
		.now_ns = START + vec_ns(vec_number(step, "t_s")),
		.ready = ready,
		.wanted = ready,
		.signals = &signal,
	};

	return scale_tick(policy, s, &snap);
}

static void sequence(const struct vec_case *c)
{
	struct scale_policy policy;
	struct scale_state *s;
	size_t i;

	settings(&policy, c->input);
	policy.kpa.panic_threshold = vec_number(c->input, "panic_threshold");
	s = vec_state(&policy);
	if (json_object_get(c->input, "initial_panic_started_s")) {
		s->panic = true;
		s->panic_ns =
			START - vec_ns(-vec_number(c->input,
		                                   "initial_panic_started_s"));
		s->panic_max = (uint32_t)vec_integer(c->input,
		                                     "initial_max_panic_pods");
	}
	assert_true(json_array_size(c->steps) > 0);
	for (i = 0; i < json_array_size(c->steps); i++) {
		const json_t *step = json_array_get(c->steps, i);
		const json_t *expected = json_object_get(step, "expected");
		struct scale_wish w =
			look(&policy, s, step,
		             (uint32_t)vec_integer(step, "ready_pods"));

		assert_int_equal(w.stable, vec_integer(expected, "desired"));
		assert_int_equal(
			w.excess_burst,
			vec_integer(expected, "excess_burst_capacity"));
		assert_true(w.buffer == (w.excess_burst < 0));
	}
	free(s);
}

/* One pod is ready throughout, and a threshold of 100 means no panic. */
static void delay_sequence(const struct vec_case *c)
{
	struct scale_policy policy;
	struct scale_state *s;
	size_t i;

	settings(&policy, c->input);
	policy.kpa.panic_threshold = 10;
	s = vec_state(&policy);
	for (i = 0; i < json_array_size(c->steps); i++) {
		const json_t *step = json_array_get(c->steps, i);
		struct scale_wish w = look(&policy, s, step, 1);

		assert_false(w.panic);
		assert_int_equal(w.stable, vec_integer(step, "expected"));
	}
	free(s);
}

static void one_case(void **state)
{
	struct vec_case c = vec_case(state);

	if (strcmp(c.kind, "sequence") == 0)
		sequence(&c);
	else if (strcmp(c.kind, "delay_sequence") == 0)
		delay_sequence(&c);
	else if (strcmp(c.kind, "activator_slice") == 0)
		vec_skip("which pods an activator owns is routing, and there "
		         "are no activators");
	else
		fail_msg("a kind that nobody asks for: %s", c.kind);
}

int main(void)
{
	return vec_run(PATH, SUITE, one_case);
}
