/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cases of k8s_hpa_behavior.json: policies over a history of changes,
 * stabilization, and which changes a period holds.
 */
#include "vectors/vec_scale.h"

#define PATH "tests/vectors/k8s_hpa_behavior.json"
#define SUITE "Kubernetes HPA scaling policies and stabilization"

/* Late enough for every age of the cases. */
#define NOW (1000 * NS_PER_S)

static void rules(struct scale_direction *d, const json_t *input,
                  const char *key)
{
	const json_t *list = json_object_get(input, key);
	size_t i;

	d->n = (uint32_t)json_array_size(list);
	assert_true(d->n > 0 && d->n <= SCALE_RULES_MAX);
	for (i = 0; i < d->n; i++) {
		const json_t *rule = json_array_get(list, i);
		const char *type =
			json_string_value(json_object_get(rule, "type"));

		d->rules[i] = (struct scale_rule){
			.type = strcmp(type, "Pods") == 0 ? SCALE_PODS
		                                          : SCALE_PERCENT,
			.value = (uint32_t)vec_integer(rule, "value"),
			.period_ns = vec_integer(rule, "period_s") * NS_PER_S,
		};
	}
}

/* History, into a log. */
static void history(struct scale_state *s, struct scale_log *log,
                    const json_t *list)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *e = json_array_get(list, i);

		scale_log_add(s, log, NOW - vec_integer(e, "age_s") * NS_PER_S,
		              vec_number(e, "replicas"));
	}
}

/* Kubernetes' name of a reason. */
static const char *kubernetes_name(enum scale_reason reason)
{
	switch (reason) {
	case SCALE_AT_MIN:
		return "TooFewReplicas";
	case SCALE_AT_MAX:
		return "TooManyReplicas";
	case SCALE_UP_LIMIT:
		return "ScaleUpLimit";
	case SCALE_DOWN_LIMIT:
		return "ScaleDownLimit";
	default:
		return "DesiredWithinRange";
	}
}

static void rate_limit(const json_t *input, const json_t *expected)
{
	struct scale_snapshot snap = {.now_ns = NOW};
	struct scale_wish w = {.reason = SCALE_AS_RECOMMENDED};
	struct scale_policy policy;
	struct scale_state *s;

	scale_defaults(SCALE_HPA, &policy);
	policy.min = (uint32_t)vec_integer(input, "min");
	policy.max = (uint32_t)vec_integer(input, "max");
	policy.down.window_ns = 0;
	rules(&policy.up, input, "scale_up_policies");
	rules(&policy.down, input, "scale_down_policies");
	assert_string_equal(
		json_string_value(json_object_get(input, "select_policy")),
		"Max");
	s = vec_state(&policy);
	history(s, &s->ups, json_object_get(input, "scale_up_events"));
	history(s, &s->downs, json_object_get(input, "scale_down_events"));
	snap.wanted = (uint32_t)vec_integer(input, "current");
	w.before = snap.wanted;
	w.recommendation = (uint32_t)vec_integer(input, "desired");
	scale_hpa_normalize(&policy, s, &snap, &w);
	assert_int_equal(w.stable, w.recommendation);
	assert_int_equal(w.wanted, vec_integer(expected, "replicas"));
	assert_string_equal(
		kubernetes_name(w.reason),
		json_string_value(json_object_get(expected, "reason")));
	free(s);
}

static void downscale_stabilization(const json_t *input, const json_t *expected)
{
	struct scale_snapshot snap = {.now_ns = NOW};
	struct scale_wish w = {.reason = SCALE_AS_RECOMMENDED};
	struct scale_policy policy;
	struct scale_state *s;

	scale_defaults(SCALE_HPA, &policy);
	policy.hpa.behavior = false;
	policy.max = 100;
	policy.down.window_ns = vec_integer(input, "window_s") * NS_PER_S;
	s = vec_state(&policy);
	history(s, &s->log, json_object_get(input, "recommendations"));
	w.recommendation = (uint32_t)vec_integer(input, "desired");
	scale_hpa_normalize(&policy, s, &snap, &w);
	assert_int_equal(w.stable, vec_integer(expected, "replicas"));
	assert_int_equal(s->log.n, vec_integer(expected, "log_length_after"));
	free(s);
}

static void change_in_period(const json_t *input, const json_t *expected)
{
	int64_t period_ns = vec_integer(input, "period_s") * NS_PER_S;
	struct scale_policy policy;
	struct scale_state *s;

	scale_defaults(SCALE_HPA, &policy);
	policy.up.rules[0].period_ns = period_ns;
	s = vec_state(&policy);
	history(s, &s->ups, json_object_get(input, "events"));
	assert_int_equal(scale_changed(s, &s->ups, NOW, period_ns),
	                 vec_integer(expected, "total"));
	free(s);
}

static void one_case(void **state)
{
	struct vec_case c = vec_case(state);

	if (strcmp(c.kind, "rate_limit") == 0)
		rate_limit(c.input, c.expected);
	else if (strcmp(c.kind, "downscale_stabilization") == 0)
		downscale_stabilization(c.input, c.expected);
	else if (strcmp(c.kind, "replica_change_in_period") == 0)
		change_in_period(c.input, c.expected);
	else
		fail_msg("a kind that nobody asks for: %s", c.kind);
}

int main(void)
{
	return vec_run(PATH, SUITE, one_case);
}
