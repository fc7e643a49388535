/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the vectors do not ask of the other algorithms: whole looks of
 * Kubernetes' autoscaler, KEDA's rules, Knative's way to zero, and the ones
 * that go by a timetable.
 */
#include "unit/scale_rig.h"

static void settings(struct rig *r, enum scale_kind kind, uint32_t min,
                     uint32_t max)
{
	memset(r, 0, sizeof *r);
	scale_defaults(kind, &r->policy);
	r->policy.min = min;
	r->policy.max = max;
}

/* ---- Kubernetes -------------------------------------------------------- */

static void hpa_comes_down_after_300_s_all_at_once(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_HPA, 1, 20);
	rig_begin(&r, 10);
	assert_int_equal(rig_look(&r, 80), 10);
	assert_int_equal(rig_until(&r, 300 * NS_PER_S, 8), 10);
	assert_int_equal(r.last.reason, SCALE_DOWN_WINDOW);
	/* The look at 0 is not younger than 300 s any more. */
	assert_int_equal(rig_look(&r, 8), 1);
	rig_end(&r);
}

static void hpa_remembers_what_was_there_before_its_first_look(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_HPA, 1, 20);
	rig_begin(&r, 10);
	assert_int_equal(rig_look(&r, 0), 10);
	rig_end(&r);
}

static void hpa_doubles_or_adds_four(void **state)
{
	static const uint32_t want[] = {5, 10, 20, 40, 64};
	struct rig r;
	size_t i;

	(void)state;
	settings(&r, SCALE_HPA, 1, 100);
	rig_begin(&r, 1);
	for (i = 0; i < 5; i++)
		assert_int_equal(rig_look(&r, 8 * 64), want[i]);
	rig_end(&r);
	/* Without behavior: to 4, then double. */
	r.policy.hpa.behavior = false;
	rig_begin(&r, 1);
	for (i = 0; i < 5; i++)
		assert_int_equal(rig_look(&r, 8 * 64), 4 << i);
	rig_end(&r);
}

static void hpa_at_zero_is_off_unless_its_minimum_is_zero(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_HPA, 1, 10);
	rig_begin(&r, 0);
	assert_int_equal(rig_look(&r, 80), 0);
	assert_int_equal(r.last.reason, SCALE_STOPPED);
	rig_end(&r);
	r.policy.min = 0;
	rig_begin(&r, 0);
	assert_int_equal(rig_look(&r, 20), 3);
	rig_end(&r);
}

/* Two metrics: the larger; one unknown: up yes, down no; both: nothing. */
static void hpa_takes_the_largest_of_what_it_can_read(void **state)
{
	struct scale_signal signals[2] = {{.value = 20}, {.value = 90}};
	struct scale_snapshot snap = {
		.ready = 4, .wanted = 4, .signals = signals};
	struct scale_wish w;
	struct rig r;

	(void)state;
	settings(&r, SCALE_HPA, 1, 50);
	r.policy.down.window_ns = 0;
	scale_metric_set(&r.policy, 1, SCALE_GPU_UTILIZATION);
	r.policy.metrics[1].target = 60;
	rig_begin(&r, 4);
	w = scale_tick(&r.policy, r.state, &snap);
	assert_int_equal(w.wanted, 6);
	assert_int_equal(w.metric, 1);
	assert_float_equal(w.target, 60, 0);
	snap.now_ns = 60 * NS_PER_S;
	signals[1].missing = true;
	w = scale_tick(&r.policy, r.state, &snap);
	assert_int_equal(w.wanted, 4);
	assert_int_equal(w.reason, SCALE_NO_METRIC);
	snap.now_ns = 120 * NS_PER_S;
	signals[0].value = 40;
	w = scale_tick(&r.policy, r.state, &snap);
	assert_int_equal(w.wanted, 5);
	assert_int_equal(w.metric, 0);
	snap.now_ns = 180 * NS_PER_S;
	signals[0].missing = true;
	assert_int_equal(scale_tick(&r.policy, r.state, &snap).wanted, 4);
	snap.now_ns = 240 * NS_PER_S;
	signals[0] = signals[1] = (struct scale_signal){.value = 1};
	assert_int_equal(scale_tick(&r.policy, r.state, &snap).wanted, 1);
	rig_end(&r);
}

/* Pods that are starting count as 0 on the way up: 2 busy ones at twice the
   target and 2 starting are 4 at the target. */
static void hpa_counts_starting_pods_on_the_way_up(void **state)
{
	struct scale_pod pods[4] = {
		{.usage_milli = 16000},
		{.usage_milli = 16000},
		{.state = SCALE_POD_PENDING, .missing = true},
		{.state = SCALE_POD_WARMING, .missing = true},
	};
	struct rig r;

	(void)state;
	settings(&r, SCALE_HPA, 1, 50);
	rig_begin(&r, 4);
	r.cold = true;
	r.ready = 2;
	r.starting = 2;
	r.signal.pods = pods;
	r.signal.pods_n = 4;
	assert_int_equal(rig_look(&r, 32), 4);
	assert_int_equal(r.last.reason, SCALE_IN_TOLERANCE);
	rig_end(&r);
}

/* ---- KEDA -------------------------------------------------------------- */

static void keda_wakes_at_a_poll_and_only_above_its_activation(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 0, 10);
	r.policy.keda.activation = 5;
	rig_begin(&r, 0);
	assert_int_equal(rig_look(&r, 5), 0);   /* 0 s, a poll */
	assert_int_equal(rig_look(&r, 100), 0); /* 15 s, none */
	assert_int_equal(rig_look(&r, 6), 1);   /* 30 s */
	assert_int_equal(r.last.reason, SCALE_FROM_ZERO);
	assert_int_equal(scale_wake(&r.policy), 0);
	/* From there on it is Kubernetes' autoscaler. */
	assert_int_equal(rig_look(&r, 24), 3);
	rig_end(&r);
}

static void keda_wakes_to_the_minimum(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 3, 10);
	rig_begin(&r, 0);
	assert_int_equal(rig_look(&r, 1), 3);
	rig_end(&r);
	/* And without work too, since the minimum is above what there is. */
	rig_begin(&r, 0);
	assert_int_equal(rig_look(&r, 0), 3);
	assert_int_equal(r.last.reason, SCALE_AT_MIN);
	rig_end(&r);
}

static void keda_goes_to_zero_after_its_cooldown(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 0, 10);
	rig_begin(&r, 2);
	assert_int_equal(rig_look(&r, 16), 2); /* active at 0 s */
	assert_int_equal(rig_until(&r, 300 * NS_PER_S, 0), 2);
	assert_int_equal(rig_look(&r, 0), 0); /* 300 s: now >= 0 + 300 */
	assert_int_equal(r.last.reason, SCALE_TO_ZERO);
	assert_int_equal(rig_look(&r, 0), 0);
	rig_end(&r);
}

static void keda_with_a_minimum_never_goes_to_zero(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 1, 10);
	rig_begin(&r, 2);
	assert_int_equal(rig_until(&r, 3600 * NS_PER_S, 0), 1);
	rig_end(&r);
}

static void keda_that_was_never_active_has_a_cooldown_of_its_own(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 0, 10);
	rig_begin(&r, 2);
	assert_int_equal(rig_look(&r, 0), 0);
	rig_end(&r);
	r.policy.keda.initial_cooldown_ns = 90 * NS_PER_S;
	rig_begin(&r, 2);
	assert_int_equal(rig_until(&r, 90 * NS_PER_S, 0), 2);
	assert_int_equal(rig_look(&r, 0), 0);
	rig_end(&r);
}

static void keda_rests_at_its_idle_replicas_instead_of_zero(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 3, 10);
	r.policy.keda.idle = true;
	r.policy.keda.idle_replicas = 1;
	rig_begin(&r, 3);
	assert_int_equal(rig_look(&r, 24), 3);
	assert_int_equal(rig_until(&r, 300 * NS_PER_S, 0), 3);
	assert_int_equal(rig_look(&r, 0), 1);
	assert_int_equal(rig_until(&r, 600 * NS_PER_S, 0), 1);
	assert_int_equal(rig_look(&r, 1), 3);
	rig_end(&r);
}

static void keda_keeps_what_there_is_when_the_metric_fails(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 0, 10);
	rig_begin(&r, 4);
	assert_int_equal(rig_look(&r, 32), 4);
	r.signal.missing = true;
	assert_int_equal(rig_until(&r, 3600 * NS_PER_S, 0), 4);
	assert_int_equal(r.last.reason, SCALE_NO_METRIC);
	rig_end(&r);
}

static void keda_falls_back_after_failures_in_a_row(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KEDA, 0, 10);
	r.policy.keda.fallback_replicas = 6;
	rig_begin(&r, 4);
	assert_int_equal(rig_look(&r, 32), 4);
	r.signal.missing = true;
	/* Polls at 30, 60 and 90 s fail. */
	assert_int_equal(rig_until(&r, 90 * NS_PER_S, 0), 4);
	assert_int_equal(rig_look(&r, 0), 6);
	assert_int_equal(r.last.reason, SCALE_FALLBACK);
	rig_end(&r);
}

/* ---- Knative ----------------------------------------------------------- */

static void kpa_keeps_what_it_finds_until_it_knows_more(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KPA, 0, 100);
	rig_begin(&r, 8);
	assert_int_equal(rig_look(&r, 70), 8);
	assert_true(r.last.panic);
	assert_int_equal(r.last.reason, SCALE_PANIC);
	/* After more than the stable window: half at a time. */
	assert_int_equal(rig_until(&r, 62 * NS_PER_S, 70), 8);
	assert_int_equal(rig_look(&r, 70), 4);
	assert_int_equal(r.last.reason, SCALE_DOWN_LIMIT);
	rig_end(&r);
}

/* Active for the stable window, then inactive for the grace period. */
static void kpa_takes_stable_window_and_grace_to_zero(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KPA, 0, 10);
	rig_begin(&r, 1);
	assert_int_equal(rig_look(&r, 1), 1);
	assert_int_equal(rig_until(&r, 90 * NS_PER_S, 0), 1);
	assert_int_equal(r.last.reason, SCALE_ZERO_WAIT);
	assert_int_equal(rig_look(&r, 0), 0);
	assert_int_equal(r.last.reason, SCALE_TO_ZERO);
	r.signal.recent = 1;
	assert_int_equal(rig_look(&r, 1), 1);
	assert_int_equal(r.last.reason, SCALE_FROM_ZERO);
	rig_end(&r);
	r.policy.kpa.retention_ns = 120 * NS_PER_S;
	rig_begin(&r, 1);
	assert_int_equal(rig_until(&r, 180 * NS_PER_S, 0), 1);
	assert_int_equal(rig_look(&r, 0), 0);
	rig_end(&r);
	r.policy.kpa.scale_to_zero = false;
	rig_begin(&r, 1);
	assert_int_equal(rig_until(&r, 3600 * NS_PER_S, 0), 1);
	rig_end(&r);
}

static void kpa_gives_up_a_start_that_never_ends(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KPA, 0, 10);
	rig_begin(&r, 0);
	r.cold = true;
	assert_int_equal(rig_look(&r, 1), 1);
	r.starting = 1;
	assert_int_equal(rig_until(&r, 600 * NS_PER_S, 0), 1);
	assert_int_equal(rig_look(&r, 0), 0);
	rig_end(&r);
}

static void kpa_without_data_stays(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KPA, 0, 10);
	rig_begin(&r, 3);
	r.signal.missing = true;
	assert_int_equal(rig_until(&r, 600 * NS_PER_S, 0), 3);
	assert_int_equal(r.last.reason, SCALE_NO_METRIC);
	rig_end(&r);
}

/* ---- Ray, KubeAI ------------------------------------------------------- */

static void ray_waits_for_replicas_that_start(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_RAY, 0, 10);
	rig_begin(&r, 0);
	r.cold = true;
	assert_int_equal(rig_look(&r, 40), 1);
	r.starting = 1;
	assert_int_equal(rig_until(&r, 60 * NS_PER_S, 40), 1);
	r.ready = 1;
	assert_int_equal(rig_look(&r, 40), 1);
	assert_int_equal(rig_until(&r, 91 * NS_PER_S, 40), 10);
	rig_end(&r);
}

static void kubeai_is_woken_by_a_request_and_ramps_slowly(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_KUBEAI, 0, 10);
	assert_int_equal(scale_wake(&r.policy), 1);
	rig_begin(&r, 1);
	/* 600 requests want 6, but the mean grows by 10 a look. */
	assert_int_equal(rig_until(&r, 100 * NS_PER_S, 600), 1);
	assert_int_equal(rig_look(&r, 600), 2);
	assert_int_equal(rig_until(&r, 600 * NS_PER_S, 600), 6);
	/* Its mean is at 500 after ten zeros, at 690 s. Three lower results,
	   and the fourth acts. */
	assert_int_equal(rig_until(&r, 690 * NS_PER_S, 0), 6);
	assert_int_equal(r.last.reason, SCALE_STEADY);
	assert_int_equal(rig_until(&r, 720 * NS_PER_S, 0), 6);
	assert_int_equal(r.last.reason, SCALE_DOWN_WINDOW);
	assert_int_equal(rig_look(&r, 0), 5);
	r.signal.missing = true;
	assert_int_equal(rig_until(&r, 790 * NS_PER_S, 0), 5);
	assert_int_equal(r.last.reason, SCALE_NO_METRIC);
	rig_end(&r);
}

/* ---- by a timetable ---------------------------------------------------- */

static const struct scale_entry day[] = {
	{0, 1}, {60 * NS_PER_S, 4}, {120 * NS_PER_S, 2}};

static void a_schedule_is_followed_and_begins_anew(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_SCHEDULE, 0, 3);
	r.policy.timetable = (struct scale_timetable){
		.entries = day, .n = 3, .repeat_ns = 180 * NS_PER_S};
	rig_begin(&r, 9);
	assert_int_equal(rig_until(&r, 60 * NS_PER_S, 0), 1);
	assert_int_equal(rig_look(&r, 0), 3);
	assert_int_equal(r.last.reason, SCALE_AT_MAX);
	assert_int_equal(r.last.recommendation, 4);
	assert_int_equal(rig_until(&r, 121 * NS_PER_S, 0), 2);
	assert_int_equal(r.last.reason, SCALE_TIMETABLE);
	assert_int_equal(rig_until(&r, 181 * NS_PER_S, 0), 1);
	rig_end(&r);
	/* Before the first entry of a later round the last one holds. */
	r.policy.timetable.entries = day + 1;
	r.policy.timetable.n = 2;
	rig_begin(&r, 1);
	assert_int_equal(rig_look(&r, 0), 1);
	assert_int_equal(rig_until(&r, 181 * NS_PER_S, 0), 2);
	rig_end(&r);
}

static void
the_oracle_is_ready_in_time_and_keeps_what_it_will_need(void **state)
{
	static const struct scale_entry need[] = {
		{0, 1},
		{100 * NS_PER_S, 5},
		{150 * NS_PER_S, 2},
		{190 * NS_PER_S, 5},
		{200 * NS_PER_S, 0},
	};
	struct rig r;

	(void)state;
	settings(&r, SCALE_ORACLE, 0, 10);
	r.policy.timetable = (struct scale_timetable){
		.entries = need, .n = 5, .lead_ns = 60 * NS_PER_S};
	rig_begin(&r, 1);
	assert_int_equal(rig_until(&r, 39 * NS_PER_S, 0), 1);
	assert_int_equal(rig_look(&r, 0), 5);
	/* A trough of 40 s is shorter than a start. */
	assert_int_equal(rig_until(&r, 200 * NS_PER_S, 0), 5);
	assert_int_equal(rig_look(&r, 0), 0);
	rig_end(&r);
	/* It looks across the end of a round. */
	r.policy.timetable.repeat_ns = 240 * NS_PER_S;
	rig_begin(&r, 1);
	assert_int_equal(rig_until(&r, 240 * NS_PER_S, 0), 1);
	assert_int_equal(rig_until(&r, 280 * NS_PER_S, 0), 5);
	rig_end(&r);
}

static void fixed_is_fixed(void **state)
{
	struct rig r;

	(void)state;
	settings(&r, SCALE_FIXED, 4, 4);
	rig_begin(&r, 1);
	assert_int_equal(rig_look(&r, 0), 4);
	assert_int_equal(rig_look(&r, 1e9), 4);
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hpa_comes_down_after_300_s_all_at_once),
		cmocka_unit_test(
			hpa_remembers_what_was_there_before_its_first_look),
		cmocka_unit_test(hpa_doubles_or_adds_four),
		cmocka_unit_test(hpa_at_zero_is_off_unless_its_minimum_is_zero),
		cmocka_unit_test(hpa_takes_the_largest_of_what_it_can_read),
		cmocka_unit_test(hpa_counts_starting_pods_on_the_way_up),
		cmocka_unit_test(
			keda_wakes_at_a_poll_and_only_above_its_activation),
		cmocka_unit_test(keda_wakes_to_the_minimum),
		cmocka_unit_test(keda_goes_to_zero_after_its_cooldown),
		cmocka_unit_test(keda_with_a_minimum_never_goes_to_zero),
		cmocka_unit_test(
			keda_that_was_never_active_has_a_cooldown_of_its_own),
		cmocka_unit_test(
			keda_rests_at_its_idle_replicas_instead_of_zero),
		cmocka_unit_test(
			keda_keeps_what_there_is_when_the_metric_fails),
		cmocka_unit_test(keda_falls_back_after_failures_in_a_row),
		cmocka_unit_test(kpa_keeps_what_it_finds_until_it_knows_more),
		cmocka_unit_test(kpa_takes_stable_window_and_grace_to_zero),
		cmocka_unit_test(kpa_gives_up_a_start_that_never_ends),
		cmocka_unit_test(kpa_without_data_stays),
		cmocka_unit_test(ray_waits_for_replicas_that_start),
		cmocka_unit_test(kubeai_is_woken_by_a_request_and_ramps_slowly),
		cmocka_unit_test(a_schedule_is_followed_and_begins_anew),
		cmocka_unit_test(
			the_oracle_is_ready_in_time_and_keeps_what_it_will_need),
		cmocka_unit_test(fixed_is_fixed),
	};

	return cmocka_run_group_tests_name("scale_others", tests, NULL, NULL);
}
