/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names, defaults, what is refused and with which words, and the record. */
#include <math.h>

#include "unit/scale_rig.h"

static const struct scale_entry entries[] = {{0, 1}, {NS_PER_S, 2}};

static struct scale_policy settings(enum scale_kind kind)
{
	struct scale_policy p;

	scale_defaults(kind, &p);
	if (kind == SCALE_SCHEDULE || kind == SCALE_ORACLE) {
		p.timetable.entries = entries;
		p.timetable.n = 2;
	}
	return p;
}

static void every_default_passes(void **state)
{
	enum scale_kind kind;

	(void)state;
	for (kind = SCALE_FIXED; kind < SCALE_KINDS; kind++) {
		struct scale_policy p = settings(kind);
		struct err err = {.set = false};
		enum scale_kind found;

		if (scale_check(&p, "$", &err) != 0)
			fail_msg("%s: %s %s", scale_name(kind), err.path,
			         err.text);
		assert_int_equal(p.kind, kind);
		assert_true(scale_state_size(&p) > 0);
		assert_int_equal(
			scale_find(scale_name(kind), "$", &found, &err), 0);
		assert_int_equal(found, kind);
		assert_true(strlen(scale_about(kind)) > 0);
	}
}

static void defaults_of_others_are_those_of_their_projects(void **state)
{
	struct scale_policy p = settings(SCALE_HPA);

	(void)state;
	assert_int_equal(p.tick_ns, 15 * NS_PER_S);
	assert_float_equal(p.metrics[0].tolerance_up, 0.1, 0);
	assert_int_equal(p.down.window_ns, 300 * NS_PER_S);
	p = settings(SCALE_KPA);
	assert_int_equal(p.tick_ns, 2 * NS_PER_S);
	assert_int_equal(p.metrics[0].window_ns, 60 * NS_PER_S);
	assert_int_equal(p.metrics[0].recent_ns, 6 * NS_PER_S);
	assert_float_equal(p.kpa.target_burst, 211, 0);
	p = settings(SCALE_KEDA);
	assert_int_equal(p.keda.poll_ns, 30 * NS_PER_S);
	assert_int_equal(p.keda.cooldown_ns, 300 * NS_PER_S);
	p = settings(SCALE_RAY);
	assert_int_equal(p.ray.up_delay_ns, 30 * NS_PER_S);
	assert_int_equal(p.ray.down_delay_ns, 600 * NS_PER_S);
	assert_float_equal(p.metrics[0].target, 2, 0);
	p = settings(SCALE_KUBEAI);
	assert_int_equal(p.tick_ns, 10 * NS_PER_S);
	assert_int_equal(p.kubeai.mean_window_ns, 600 * NS_PER_S);
}

static void names_are_found_or_the_nearest_is_suggested(void **state)
{
	enum scale_metric_id id;
	enum scale_kind kind;
	struct err err = {.set = false};

	(void)state;
	for (id = SCALE_INFLIGHT; id < SCALE_METRIC_IDS; id++) {
		enum scale_metric_id found;

		assert_int_equal(scale_metric_find(scale_metric_info(id)->name,
		                                   "$", &found, &err),
		                 0);
		assert_int_equal(found, id);
	}
	assert_int_equal(
		scale_metric_find("inflight_request", "$.metric", &id, &err),
		-1);
	assert_string_equal(err.path, "$.metric");
	assert_non_null(strstr(err.text, "did you mean \"inflight_requests\""));
	err_clear(&err);
	assert_int_equal(
		scale_metric_find("vllm:num_requests_waiting", "$", &id, &err),
		-1);
	assert_non_null(strstr(err.text, "there are inflight_requests"));
	err_clear(&err);
	assert_int_equal(scale_find("plattform", "$", &kind, &err), -1);
	assert_non_null(strstr(err.text, "did you mean \"platform\""));
}

/* The catalogue: who streams, who has percentiles, whose target is known. */
static void the_catalogue_is_the_platforms(void **state)
{
	static const struct {
		const char *name;
		enum scale_metric_type type;
		bool streaming, percentile;
	} want[] = {
		{"inflight_requests", SCALE_AVERAGE_VALUE, false, false},
		{"gpu_utilization", SCALE_UTILIZATION, false, false},
		{"token_utilization", SCALE_UTILIZATION, false, false},
		{"cache_hit_rate", SCALE_UTILIZATION, false, false},
		{"throughput_per_replica", SCALE_AVERAGE_VALUE, true, false},
		{"ttft", SCALE_VALUE, true, true},
		{"decoding_speed", SCALE_VALUE, true, true},
		{"e2e_latency", SCALE_VALUE, false, true},
	};
	size_t i;

	(void)state;
	assert_int_equal(sizeof want / sizeof want[0], SCALE_METRIC_IDS);
	for (i = 0; i < SCALE_METRIC_IDS; i++) {
		const struct scale_metric_info *info =
			scale_metric_info((enum scale_metric_id)i);
		struct scale_policy p = settings(SCALE_PLATFORM);

		assert_string_equal(info->name, want[i].name);
		assert_int_equal(info->type, want[i].type);
		assert_int_equal(info->streaming, want[i].streaming);
		assert_int_equal(info->percentile, want[i].percentile);
		scale_metric_set(&p, 0, (enum scale_metric_id)i);
		assert_int_equal(p.metrics[0].percentile * 100 + 0.5,
		                 want[i].percentile ? 95 : 0);
	}
}

/* One setting at a time is wrong; where it is said and with which words. */
static void refused(const struct scale_policy *p, const char *path,
                    const char *words)
{
	struct err err = {.set = false};

	assert_int_equal(scale_check(p, "$.x", &err), -1);
	if (strcmp(err.path, path) != 0 || !strstr(err.text, words))
		fail_msg("%s: %s", err.path, err.text);
}

static void what_is_out_of_range_is_refused_at_its_path(void **state)
{
	struct scale_policy p = settings(SCALE_PLATFORM);

	(void)state;
	p.min = 3;
	refused(&p, "$.x.min", "3 is above max, which is 1");
	p = settings(SCALE_PLATFORM);
	p.min = 0;
	refused(&p, "$.x.min", "at least 1");
	p = settings(SCALE_PLATFORM);
	p.metrics[0].target = 0;
	refused(&p, "$.x.target", "above 0");
	p.metrics[0].target = -1;
	refused(&p, "$.x.target", "above 0");
	p.metrics[0].target = (double)NAN;
	refused(&p, "$.x.target", "above 0");
	p = settings(SCALE_PLATFORM);
	p.metrics[0].percentile = 0.95;
	refused(&p, "$.x.percentile", "inflight_requests has no percentile");
	scale_metric_set(&p, 0, SCALE_TTFT);
	refused(&p, "$.x.target", "ttft needs a target");
	p.metrics[0].target = 300;
	p.metrics[0].percentile = 0.75;
	refused(&p, "$.x.percentile", "p50, p90, p95 or p99");
	p = settings(SCALE_PLATFORM);
	p.down.window_ns = 3601 * NS_PER_S;
	refused(&p, "$.x.scale_down.window", "is not from 0s to");
	p.down.window_ns = -1;
	refused(&p, "$.x.scale_down.window", "negative");
	p = settings(SCALE_PLATFORM);
	p.up.rules[1].period_ns = 1801 * NS_PER_S;
	refused(&p, "$.x.scale_up.policies[1]", "is not from 1s");
	p.up.rules[1].period_ns = NS_PER_S;
	p.up.rules[0].value = 0;
	refused(&p, "$.x.scale_up.policies[0]", "from 1");
	p = settings(SCALE_PLATFORM);
	scale_metric_set(&p, 1, SCALE_INFLIGHT);
	refused(&p, "$.x.metric", "there must be 1");
}

static void the_others_refuse_too(void **state)
{
	static const struct scale_entry disorder[] = {{5, 1}, {5, 2}};
	struct scale_policy p = settings(SCALE_SCHEDULE);

	(void)state;
	p.timetable.entries = disorder;
	refused(&p, "$.x.schedule[1]", "not later");
	p.timetable.n = 0;
	refused(&p, "$.x.schedule", "no entry");
	p = settings(SCALE_ORACLE);
	p.timetable.repeat_ns = NS_PER_S;
	refused(&p, "$.x.repeat", "longer");
	p = settings(SCALE_FIXED);
	p.max = 2;
	refused(&p, "$.x.max", "equal to min");
	p = settings(SCALE_KPA);
	p.kpa.panic_threshold = 1;
	refused(&p, "$.x.panic_threshold", "above 1");
	p = settings(SCALE_KPA);
	p.kpa.max_down_rate = 1;
	refused(&p, "$.x.max_down_rate", "above 1");
	p = settings(SCALE_KPA);
	p.kpa.target_burst = -2;
	refused(&p, "$.x.target_burst", "-1");
	p = settings(SCALE_KPA);
	p.metrics[0].recent_ns = 61 * NS_PER_S;
	refused(&p, "$.x.panic_window", "stable window");
	p = settings(SCALE_KEDA);
	p.keda.idle = true;
	p.keda.idle_replicas = 1;
	refused(&p, "$.x.idle_replicas", "below min");
	p = settings(SCALE_KEDA);
	p.keda.fallback_replicas = 2;
	refused(&p, "$.x.fallback_replicas", "above max");
	p = settings(SCALE_RAY);
	p.ray.up_factor = 0;
	refused(&p, "$.x.up_factor", "above 0");
	p = settings(SCALE_KUBEAI);
	p.kubeai.mean_window_ns = NS_PER_S;
	refused(&p, "$.x.mean_window", "is not from 10s");
}

static void every_reason_has_a_name_and_a_sentence(void **state)
{
	enum scale_reason a, b;

	(void)state;
	for (a = SCALE_AS_RECOMMENDED; a < SCALE_REASONS; a++) {
		assert_non_null(scale_reason_name(a));
		assert_true(strlen(scale_reason_text(a)) > 10);
		for (b = SCALE_AS_RECOMMENDED; b < a; b++)
			assert_string_not_equal(scale_reason_name(a),
			                        scale_reason_name(b));
	}
}

static void the_record_reads_as_a_sentence(void **state)
{
	struct rig r;
	char text[256];

	(void)state;
	r.policy = settings(SCALE_PLATFORM);
	r.policy.max = 10;
	rig_begin(&r, 2);
	r.cold = true;
	r.starting = 1;
	(void)rig_look(&r, 100);
	assert_string_equal(
		scale_explain(&r.policy, &r.last, text, sizeof text),
		"inflight_requests 100 in all against 8 requests per replica "
		"with 2 ready and 1 starting: recommends 13, 13 after windows, "
		"4 after limits; now 4: the rate of growth is limited.");
	r.signal.missing = true;
	(void)rig_look(&r, 100);
	assert_true(isnan(r.last.signal));
	assert_string_equal(
		scale_explain(&r.policy, &r.last, text, sizeof text),
		"inflight_requests unknown with 2 ready and 1 starting: "
		"recommends 4, 4 after windows, 4 after limits; stays at 4: "
		"the metric cannot be read, so it stays.");
	assert_string_equal(r.last.why, scale_reason_text(r.last.reason));
	rig_end(&r);
}

/* A state is bytes: a copy goes on as the original does. */
static void a_state_may_be_copied(void **state)
{
	struct rig a, b;
	void *copy;
	int i;

	(void)state;
	a.policy = settings(SCALE_HPA);
	a.policy.max = 20;
	rig_begin(&a, 4);
	for (i = 0; i < 30; i++)
		(void)rig_look(&a, (i * 37) % 150);
	b = a;
	copy = malloc(scale_state_size(&a.policy));
	assert_non_null(copy);
	memcpy(copy, a.state, scale_state_size(&a.policy));
	b.state = copy;
	for (i = 0; i < 60; i++)
		assert_int_equal(rig_look(&a, (i * 53) % 150),
		                 rig_look(&b, (i * 53) % 150));
	free(copy);
	rig_end(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_default_passes),
		cmocka_unit_test(
			defaults_of_others_are_those_of_their_projects),
		cmocka_unit_test(names_are_found_or_the_nearest_is_suggested),
		cmocka_unit_test(the_catalogue_is_the_platforms),
		cmocka_unit_test(what_is_out_of_range_is_refused_at_its_path),
		cmocka_unit_test(the_others_refuse_too),
		cmocka_unit_test(every_reason_has_a_name_and_a_sentence),
		cmocka_unit_test(the_record_reads_as_a_sentence),
		cmocka_unit_test(a_state_may_be_copied),
	};

	return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
