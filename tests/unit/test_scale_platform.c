/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The platform's loop, number by number, and what went wrong elsewhere. */
#include "unit/scale_rig.h"

static void platform(struct rig *r, uint32_t min, uint32_t max,
                     uint32_t replicas)
{
	scale_defaults(SCALE_PLATFORM, &r->policy);
	r->policy.min = min;
	r->policy.max = max;
	rig_begin(r, replicas);
}

static void defaults_are_those_of_the_platform(void **state)
{
	struct scale_policy p;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &p);
	assert_int_equal(p.min, 1);
	assert_int_equal(p.max, 1);
	assert_int_equal(p.tick_ns, 60 * NS_PER_S);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.metrics[0].id, SCALE_INFLIGHT);
	assert_float_equal(p.metrics[0].target, 8, 0);
	assert_float_equal(p.metrics[0].tolerance_up, 0, 0);
	assert_float_equal(p.metrics[0].tolerance_down, 0, 0);
	assert_int_equal(p.metrics[0].window_ns, 60 * NS_PER_S);
	assert_int_equal(p.up.window_ns, 0);
	assert_int_equal(p.down.window_ns, 300 * NS_PER_S);
}

/* 16 in flight on each of N doubles N, at most by 4 a look. */
static void sixteen_a_replica_grows_to_the_maximum(void **state)
{
	static const uint32_t want[] = {2, 4, 8, 12, 16, 20, 24, 28, 30, 30};
	struct rig r;
	size_t i;

	(void)state;
	platform(&r, 1, 30, 1);
	for (i = 0; i < sizeof want / sizeof want[0]; i++) {
		uint32_t doubled = 2 * r.wanted;

		assert_int_equal(rig_look(&r, 16.0 * r.wanted), want[i]);
		assert_int_equal(r.last.recommendation, doubled);
	}
	assert_int_equal(r.last.reason, SCALE_AT_MAX);
	rig_end(&r);
}

static void twenty_four_targets_in_all_stop_at_24(void **state)
{
	static const uint32_t want[] = {12, 16, 20, 24, 24, 24};
	struct rig r;
	size_t i;

	(void)state;
	platform(&r, 1, 100, 8);
	for (i = 0; i < sizeof want / sizeof want[0]; i++) {
		assert_int_equal(rig_look(&r, 24 * 8), want[i]);
		assert_int_equal(r.last.recommendation, 24);
		assert_int_equal(r.last.reason, i < 3    ? SCALE_UP_LIMIT
		                                : i == 3 ? SCALE_AS_RECOMMENDED
		                                         : SCALE_STEADY);
	}
	rig_end(&r);
}

/* Load ends just after a look: 300 s later at the earliest, then one a
   minute, although 25 % of 8 would be 2. */
static void no_load_takes_300_s_and_then_one_a_minute(void **state)
{
	struct rig r;
	int64_t ended_ns;
	uint32_t n;

	(void)state;
	platform(&r, 1, 10, 8);
	(void)rig_until(&r, 600 * NS_PER_S, 64);
	assert_int_equal(r.wanted, 8);
	ended_ns = r.now_ns - r.policy.tick_ns;
	while (rig_look(&r, 0) == 8) {
		assert_int_equal(r.last.reason, SCALE_DOWN_WINDOW);
		assert_int_equal(r.last.recommendation, 0);
	}
	assert_true(r.last.at_ns - ended_ns >= 300 * NS_PER_S);
	assert_true(r.last.at_ns - ended_ns <= 360 * NS_PER_S);
	for (n = 7; n > 1; n--) {
		assert_int_equal(r.wanted, n);
		assert_int_equal(r.last.reason, SCALE_DOWN_LIMIT);
		(void)rig_look(&r, 0);
	}
	assert_int_equal(rig_look(&r, 0), 1);
	assert_int_equal(r.last.reason, SCALE_AT_MIN);
	rig_end(&r);
}

/* 25 % of 1, 2 or 3 is less than a replica, and still one may go. */
static void a_percentage_allows_at_least_one(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.min = 1;
	r.policy.max = 10;
	r.policy.down.window_ns = 0;
	r.policy.down.n = 1;
	r.policy.up.rules[0] =
		(struct scale_rule){SCALE_PERCENT, 10, 15 * NS_PER_S};
	r.policy.up.n = 1;
	rig_begin(&r, 3);
	assert_int_equal(rig_look(&r, 0), 2);
	assert_int_equal(rig_look(&r, 0), 1);
	assert_int_equal(rig_look(&r, 80), 2);
	assert_int_equal(rig_look(&r, 80), 3);
	rig_end(&r);
}

/* Percent is rounded off, never up: 25 % of 7 is 1, of 8 is 2. */
static void a_percentage_is_rounded_off(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.max = 10;
	r.policy.down.window_ns = 0;
	r.policy.down.n = 1;
	rig_begin(&r, 8);
	assert_int_equal(rig_look(&r, 0), 6);
	assert_int_equal(rig_look(&r, 0), 5);
	assert_int_equal(rig_look(&r, 0), 4);
	rig_end(&r);
}

/* percent:100:300 of the count when the period began, used up within it. */
static void a_budget_is_used_up_within_its_period(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.max = 100;
	r.policy.up.select = SCALE_SELECT_MAX;
	r.policy.up.n = 1;
	r.policy.up.rules[0] =
		(struct scale_rule){SCALE_PERCENT, 100, 300 * NS_PER_S};
	rig_begin(&r, 4);
	assert_int_equal(rig_look(&r, 8 * 6), 6);
	assert_int_equal(rig_look(&r, 8 * 50), 8);
	assert_int_equal(rig_until(&r, 300 * NS_PER_S, 8 * 50), 8);
	assert_int_equal(r.last.reason, SCALE_UP_LIMIT);
	/* At 300 s the first step is out of it: twice what was after it. */
	assert_int_equal(rig_look(&r, 8 * 50), 12);
	/* At 360 s the second: twice 8. */
	assert_int_equal(rig_look(&r, 8 * 50), 16);
	rig_end(&r);
}

/* pods:2:60 and percent:100:60 authored: the larger, MAX, by default. */
static void authored_policies_take_the_largest_or_the_smallest(void **state)
{
	static const uint32_t want[] = {[SCALE_SELECT_MAX] = 16,
	                                [SCALE_SELECT_MIN] = 10,
	                                [SCALE_SELECT_DISABLED] = 8};
	enum scale_select select;

	(void)state;
	for (select = SCALE_SELECT_MAX; select <= SCALE_SELECT_DISABLED;
	     select++) {
		struct rig r;

		scale_defaults(SCALE_PLATFORM, &r.policy);
		r.policy.max = 100;
		r.policy.up.select = select;
		r.policy.up.rules[0] =
			(struct scale_rule){SCALE_PODS, 2, 60 * NS_PER_S};
		r.policy.up.rules[1] =
			(struct scale_rule){SCALE_PERCENT, 100, 60 * NS_PER_S};
		rig_begin(&r, 8);
		assert_int_equal(rig_look(&r, 800), want[select]);
		rig_end(&r);
	}
}

static void a_disabled_direction_still_keeps_the_bounds(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.min = 3;
	r.policy.max = 5;
	r.policy.up.select = SCALE_SELECT_DISABLED;
	r.policy.down.select = SCALE_SELECT_DISABLED;
	r.policy.down.window_ns = 0;
	rig_begin(&r, 1);
	assert_int_equal(rig_look(&r, 0), 3);
	assert_int_equal(rig_look(&r, 80), 3);
	assert_int_equal(r.last.reason, SCALE_UP_DISABLED);
	r.wanted = 9;
	assert_int_equal(rig_look(&r, 0), 5);
	assert_int_equal(rig_look(&r, 0), 5);
	assert_int_equal(r.last.reason, SCALE_DOWN_DISABLED);
	rig_end(&r);
}

/* One high look among low ones does not move it when the window is 60 s. */
static void the_up_window_waits_for_the_load_to_last(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.max = 4;
	r.policy.up.window_ns = 60 * NS_PER_S;
	rig_begin(&r, 1);
	assert_int_equal(rig_look(&r, 8), 1);
	assert_int_equal(rig_look(&r, 16), 1);
	assert_int_equal(r.last.reason, SCALE_UP_WINDOW);
	assert_int_equal(rig_look(&r, 8), 1);
	assert_int_equal(rig_look(&r, 16), 1);
	assert_int_equal(rig_look(&r, 16), 2);
	rig_end(&r);
}

/* In all: ceil, and the metric's own kind decides what N is. */
static void n_is_ready_replicas_for_a_mean_or_a_percentile(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.max = 10;
	scale_metric_set(&r.policy, 0, SCALE_TTFT);
	r.policy.metrics[0].target = 300;
	rig_begin(&r, 3);
	(void)rig_look(&r, 301);
	assert_int_equal(r.last.recommendation, 4);
	(void)rig_look(&r, 300);
	assert_int_equal(r.last.recommendation, 4);
	rig_end(&r);

	scale_metric_set(&r.policy, 0, SCALE_GPU_UTILIZATION);
	r.policy.metrics[0].target = 75;
	rig_begin(&r, 4);
	(void)rig_look(&r, 50);
	assert_int_equal(r.last.recommendation, 3);
	rig_end(&r);
}

static void the_tolerance_is_a_band_both_ways(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.max = 20;
	r.policy.metrics[0].tolerance_up = 0.1;
	r.policy.metrics[0].tolerance_down = 0.1;
	rig_begin(&r, 10);
	(void)rig_look(&r, 88);
	assert_int_equal(r.last.recommendation, 10);
	assert_int_equal(r.last.reason, SCALE_IN_TOLERANCE);
	(void)rig_look(&r, 72);
	assert_int_equal(r.last.recommendation, 10);
	(void)rig_look(&r, 71.9);
	assert_int_equal(r.last.recommendation, 9);
	assert_int_equal(rig_look(&r, 88.1), 12);
	rig_end(&r);
}

static void zero_and_zero_stop_it_and_only_the_floor_wakes_it(void **state)
{
	struct rig r;

	(void)state;
	platform(&r, 0, 0, 3);
	assert_int_equal(rig_look(&r, 100), 0);
	assert_int_equal(r.last.reason, SCALE_STOPPED);
	assert_int_equal(rig_look(&r, 100), 0);
	assert_int_equal(scale_wake(&r.policy), 0);
	rig_end(&r);
	platform(&r, 1, 4, 0);
	assert_int_equal(rig_look(&r, 0), 1);
	rig_end(&r);
}

static void equal_bounds_fix_the_size(void **state)
{
	struct rig r;

	(void)state;
	platform(&r, 3, 3, 3);
	assert_int_equal(rig_look(&r, 1000), 3);
	assert_int_equal(rig_until(&r, 3600 * NS_PER_S, 0), 3);
	rig_end(&r);
}

/* ---- what went wrong elsewhere ----------------------------------------- */

/* Replicas that start were asked for again and again, since only the ready
   ones were counted. */
static void starting_replicas_are_not_asked_for_again(void **state)
{
	static const enum scale_metric_id ids[] = {SCALE_INFLIGHT,
	                                           SCALE_GPU_UTILIZATION};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct rig r;
		int looks;

		scale_defaults(SCALE_PLATFORM, &r.policy);
		r.policy.max = 50;
		scale_metric_set(&r.policy, 0, ids[i]);
		r.policy.metrics[0].target = i == 0 ? 8 : 50;
		rig_begin(&r, 2);
		r.cold = true;
		for (looks = 0; looks < 20; looks++) {
			(void)rig_look(&r, i == 0 ? 32 : 100);
			assert_int_equal(r.wanted, 4);
			r.starting = r.wanted - r.ready;
		}
		assert_int_equal(r.last.reason,
		                 i == 0 ? SCALE_STEADY : SCALE_COVERED);
		rig_end(&r);
	}
}

/* Without traffic a latency has no value, and it never came down. */
static void no_traffic_comes_down(void **state)
{
	struct rig r;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.max = 8;
	scale_metric_set(&r.policy, 0, SCALE_TTFT);
	r.policy.metrics[0].target = 300;
	rig_begin(&r, 4);
	assert_int_equal(rig_look(&r, 300), 4);
	r.signal.idle = true;
	assert_int_equal(rig_until(&r, 1200 * NS_PER_S, 0), 1);
	rig_end(&r);
}

/* An outage of metrics took it to the minimum, or below it. */
static void an_outage_of_metrics_changes_nothing_but_the_bounds(void **state)
{
	struct rig r;

	(void)state;
	platform(&r, 2, 10, 6);
	assert_int_equal(rig_look(&r, 48), 6);
	r.signal.missing = true;
	assert_int_equal(rig_until(&r, 3600 * NS_PER_S, 0), 6);
	assert_int_equal(r.last.reason, SCALE_NO_METRIC);
	/* When it is back, a lower recommendation has to hold anew. */
	r.signal.missing = false;
	assert_int_equal(rig_look(&r, 0), 6);
	assert_int_equal(r.last.reason, SCALE_DOWN_WINDOW);
	r.signal.missing = true;
	r.wanted = 1;
	assert_int_equal(rig_look(&r, 0), 2);
	rig_end(&r);
}

/* Under constant load it went 2, 1, 2, 1. */
static void constant_load_does_not_flap(void **state)
{
	struct rig r;
	double busy;

	(void)state;
	scale_defaults(SCALE_PLATFORM, &r.policy);
	r.policy.max = 10;
	r.policy.down.window_ns = 0;
	scale_metric_set(&r.policy, 0, SCALE_GPU_UTILIZATION);
	r.policy.metrics[0].target = 75;
	for (busy = 5; busy < 400; busy += 7) {
		uint32_t settled = 0, looks;

		rig_begin(&r, 2);
		for (looks = 0; looks < 40; looks++) {
			double each = busy / r.ready;

			(void)rig_look(&r, each < 100 ? each : 100);
			if (looks == 20)
				settled = r.wanted;
			if (looks > 20)
				assert_int_equal(r.wanted, settled);
		}
		rig_end(&r);
	}
}

/* While a start never ended, nothing was scaled down. */
static void a_start_that_never_ends_does_not_block_scaling_down(void **state)
{
	static const enum scale_metric_id ids[] = {SCALE_INFLIGHT, SCALE_TTFT};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct rig r;

		scale_defaults(SCALE_PLATFORM, &r.policy);
		r.policy.max = 8;
		scale_metric_set(&r.policy, 0, ids[i]);
		r.policy.metrics[0].target = 8;
		rig_begin(&r, 8);
		r.cold = true;
		r.ready = 0;
		r.starting = 8;
		r.signal.idle = true;
		assert_int_equal(rig_until(&r, 1800 * NS_PER_S, 0), 1);
		rig_end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_platform),
		cmocka_unit_test(sixteen_a_replica_grows_to_the_maximum),
		cmocka_unit_test(twenty_four_targets_in_all_stop_at_24),
		cmocka_unit_test(no_load_takes_300_s_and_then_one_a_minute),
		cmocka_unit_test(a_percentage_allows_at_least_one),
		cmocka_unit_test(a_percentage_is_rounded_off),
		cmocka_unit_test(a_budget_is_used_up_within_its_period),
		cmocka_unit_test(
			authored_policies_take_the_largest_or_the_smallest),
		cmocka_unit_test(a_disabled_direction_still_keeps_the_bounds),
		cmocka_unit_test(the_up_window_waits_for_the_load_to_last),
		cmocka_unit_test(
			n_is_ready_replicas_for_a_mean_or_a_percentile),
		cmocka_unit_test(the_tolerance_is_a_band_both_ways),
		cmocka_unit_test(
			zero_and_zero_stop_it_and_only_the_floor_wakes_it),
		cmocka_unit_test(equal_bounds_fix_the_size),
		cmocka_unit_test(starting_replicas_are_not_asked_for_again),
		cmocka_unit_test(no_traffic_comes_down),
		cmocka_unit_test(
			an_outage_of_metrics_changes_nothing_but_the_bounds),
		cmocka_unit_test(constant_load_does_not_flap),
		cmocka_unit_test(
			a_start_that_never_ends_does_not_block_scaling_down),
	};

	return cmocka_run_group_tests_name("scale_platform", tests, NULL, NULL);
}
