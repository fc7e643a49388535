/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cases of k8s_hpa_replica_calculator.json: what one metric proposes to
 * Kubernetes' autoscaler.
 */
#include "vectors/vec_scale.h"

#define PATH "tests/vectors/k8s_hpa_replica_calculator.json"
#define SUITE "Kubernetes HPA replica calculator"

enum { PODS_MAX = 32 };

static struct scale_tolerance tolerance(const json_t *input)
{
	return (struct scale_tolerance){
		.down = vec_number(input, "tolerance_down"),
		.up = vec_number(input, "tolerance_up"),
	};
}

static uint32_t current(const json_t *input)
{
	return (uint32_t)vec_integer(input, "current_replicas");
}

static int64_t element(const json_t *array, size_t i)
{
	assert_true(json_is_integer(json_array_get(array, i)));
	return json_integer_value(json_array_get(array, i));
}

/* Pods without a sample come last, as in the cases. */
static uint32_t pods_of(const json_t *input, struct scale_pod *pods)
{
	const json_t *requests =
		json_object_get(input, "request_milli_per_container");
	const json_t *usages =
		json_object_get(input, "usage_milli_per_container");
	const json_t *ready = json_object_get(input, "pod_ready");
	const json_t *young = json_object_get(
		input, "pod_started_within_initialization_period");
	int64_t containers = vec_integer(input, "containers_per_pod");
	size_t i, n = json_array_size(requests);

	assert_true(n > 0 && n <= PODS_MAX);
	for (i = 0; i < n; i++) {
		bool up = strcmp(json_string_value(json_array_get(ready, i)),
		                 "True") == 0;

		pods[i] = (struct scale_pod){
			.state = up && !json_is_true(json_array_get(young, i))
		                         ? SCALE_POD_READY
		                         : SCALE_POD_WARMING,
			.missing = i >= json_array_size(usages),
			.request_milli = containers * element(requests, i),
		};
		if (!pods[i].missing)
			pods[i].usage_milli = containers * element(usages, i);
	}
	return (uint32_t)n;
}

static void utilization(const json_t *input, const json_t *expected)
{
	struct scale_pod pods[PODS_MAX];
	uint32_t n = pods_of(input, pods);
	struct scale_proposal p = scale_calc_utilization(
		current(input), vec_integer(input, "target_utilization_pct"),
		pods, n, tolerance(input));

	assert_false(p.failed);
	assert_int_equal(p.replicas, vec_integer(expected, "replicas"));
	assert_int_equal(p.usage, vec_integer(expected, "utilization_pct"));
}

static void pods_average_value(const json_t *input, const json_t *expected)
{
	const json_t *metric = json_object_get(input, "metric_milli_per_pod");
	struct scale_pod pods[PODS_MAX];
	size_t i, n = (size_t)vec_integer(input, "pods");
	struct scale_proposal p;

	assert_true(n > 0 && n <= PODS_MAX);
	for (i = 0; i < n; i++) {
		pods[i] = (struct scale_pod){
			.missing = i >= json_array_size(metric)};
		if (!pods[i].missing)
			pods[i].usage_milli = element(metric, i);
	}
	p = scale_calc_pods(current(input), vec_integer(input, "target_milli"),
	                    pods, (uint32_t)n, tolerance(input));
	assert_false(p.failed);
	assert_int_equal(p.replicas, vec_integer(expected, "replicas"));
	assert_int_equal(p.usage, vec_integer(expected, "average_milli"));
}

static void value(const json_t *input, const json_t *expected)
{
	struct scale_proposal p = scale_calc_value(
		current(input), (uint32_t)vec_integer(input, "ready_pods"),
		vec_integer(input, "metric_milli"),
		vec_integer(input, "target_milli"), tolerance(input));

	assert_int_equal(p.replicas, vec_integer(expected, "replicas"));
}

static void average_value(const json_t *input, const json_t *expected)
{
	struct scale_proposal p = scale_calc_average(
		current(input), vec_integer(input, "metric_milli"),
		vec_integer(input, "target_milli_per_pod"), tolerance(input));

	assert_int_equal(p.replicas, vec_integer(expected, "replicas"));
	assert_int_equal(p.usage, vec_integer(expected, "average_milli"));
}

static void one_case(void **state)
{
	struct vec_case c = vec_case(state);

	if (strcmp(c.kind, "utilization") == 0)
		utilization(c.input, c.expected);
	else if (strcmp(c.kind, "pods_average_value") == 0)
		pods_average_value(c.input, c.expected);
	else if (strcmp(c.kind, "object_or_external_value") == 0)
		value(c.input, c.expected);
	else if (strcmp(c.kind, "object_or_external_average_value") == 0)
		average_value(c.input, c.expected);
	else
		fail_msg("a kind that nobody asks for: %s", c.kind);
}

int main(void)
{
	return vec_run(PATH, SUITE, one_case);
}
