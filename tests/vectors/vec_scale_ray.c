/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cases of ray_serve.json: single decisions and sequences with delays. */
#include "vectors/vec_scale.h"

#define PATH "tests/vectors/ray_serve.json"
#define SUITE "Ray Serve request-based autoscaling policy"

static void settings(struct scale_policy *policy, const json_t *input)
{
	const json_t *zero =
		json_object_get(input, "downscale_to_zero_delay_s");
	struct scale_ray *r = &policy->ray;

	scale_defaults(SCALE_RAY, policy);
	policy->min = 0;
	policy->max = (uint32_t)vec_number_or(input, "max_replicas", 1000);
	policy->metrics[0].target =
		vec_number_or(input, "target_ongoing_requests", 1);
	r->up_factor = vec_number_or(input, "upscaling_factor", 1);
	r->down_factor = vec_number_or(input, "downscaling_factor", 1);
	r->up_delay_ns = vec_ns(vec_number_or(input, "upscale_delay_s", 0));
	r->down_delay_ns = vec_ns(vec_number_or(input, "downscale_delay_s", 0));
	/* null: as the delay of every other step down. */
	r->zero_delay_ns = json_is_number(zero)
	                           ? vec_ns(json_number_value(zero))
	                           : r->down_delay_ns;
}

static struct scale_wish look(const struct scale_policy *policy,
                              struct scale_state *s, const json_t *step,
                              double t_s, uint32_t running)
{
	struct scale_signal signal = {
		.value = vec_number(step, "total_requests")};
	struct scale_snapshot snap = {
		.now_ns = vec_ns(t_s),
		.ready = running,
		.wanted = (uint32_t)vec_number_or(step, "target", running),
		.signals = &signal,
	};

	return scale_tick(policy, s, &snap);
}

static void step_case(const struct vec_case *c, bool before_delay)
{
	struct scale_policy policy;
	struct scale_state *s;
	struct scale_wish w;

	settings(&policy, c->input);
	/* The delay of 30 s shows that it is passed by. */
	policy.ray.up_delay_ns = 30 * NS_PER_S;
	s = vec_state(&policy);
	w = look(&policy, s, c->input, 0,
	         (uint32_t)vec_integer(c->input, "current"));
	assert_int_equal(before_delay ? w.recommendation : w.wanted,
	                 vec_integer(c->expected, "replicas"));
	free(s);
}

static void sequence(const struct vec_case *c)
{
	struct scale_policy policy;
	struct scale_state *s;
	size_t i;

	settings(&policy, c->input);
	s = vec_state(&policy);
	assert_true(json_array_size(c->steps) > 0);
	for (i = 0; i < json_array_size(c->steps); i++) {
		const json_t *step = json_array_get(c->steps, i);
		struct scale_wish w = look(
			&policy, s, step, vec_number_or(step, "t_s", (double)i),
			(uint32_t)vec_integer(step, "current"));

		if (w.wanted != (uint32_t)vec_integer(step, "expected"))
			fail_msg("step %zu: %u", i, w.wanted);
	}
	free(s);
}

/* The same load again and again, from what the last look wished. */
static void descent(const struct vec_case *c)
{
	const json_t *after =
		json_object_get(c->expected, "replicas_after_each");
	uint32_t now = (uint32_t)vec_integer(c->input, "start");
	struct scale_policy policy;
	struct scale_state *s;
	size_t i;

	settings(&policy, c->input);
	s = vec_state(&policy);
	assert_int_equal(json_array_size(after),
	                 vec_integer(c->input, "iterations"));
	for (i = 0; i < json_array_size(after); i++) {
		now = look(&policy, s, c->input, (double)i, now).wanted;
		assert_int_equal(now,
		                 json_integer_value(json_array_get(after, i)));
	}
	free(s);
}

static void one_case(void **state)
{
	struct vec_case c = vec_case(state);

	if (strcmp(c.kind, "step") == 0)
		step_case(&c, false);
	else if (strcmp(c.kind, "desired_before_delay") == 0)
		step_case(&c, true);
	else if (strcmp(c.kind, "sequence") == 0 && c.steps)
		sequence(&c);
	else if (strcmp(c.kind, "sequence") == 0)
		descent(&c);
	else
		fail_msg("a kind that nobody asks for: %s", c.kind);
}

int main(void)
{
	return vec_run(PATH, SUITE, one_case);
}
