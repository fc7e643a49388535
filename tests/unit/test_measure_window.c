/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What falls into which window, and what a probe makes of it. */
#include "measure_rig.h"

static struct measure_result *finish(struct rig *rig, int64_t now_ns)
{
	return measure_finish(rig->m, now_ns);
}

static void done(struct rig *rig, struct measure_result *r)
{
	measure_result_free(r);
	rig_free(rig);
}

static void test_a_window_holds_its_beginning_not_its_end(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	rig_add(rig, rig_between(METRIC_REQUESTS, 10 * S, 20 * S));
	rig_add(rig, rig_between(METRIC_REQUESTS, 20 * S, TIME_NEVER));
	rig_add(rig, rig_between(METRIC_REQUESTS, 0, 10 * S));
	rig_add(rig, rig_between(METRIC_REQUESTS, 200 * S, 300 * S));
	rig_add(rig, rig_between(METRIC_REQUESTS, 30 * S, 30 * S));
	rig_start(rig);
	static const int64_t at[] = {0,      10 * S - 1, 10 * S, 20 * S - 1,
	                             20 * S, 20 * S,     99 * S};
	for (size_t i = 0; i < 7; i++)
		rig_pass(rig, 0, at[i], i, MS);
	struct measure_result *r = finish(rig, 100 * S);
	assert_near(r->value[0].value, 2, 0);
	assert_near(r->value[0].window_s, 10, 0);
	assert_near(r->value[1].value, 3, 0);
	assert_near(r->value[1].window_s, 80, 0);
	assert_near(r->value[2].value, 2, 0);
	assert_true(r->value[3].missing);
	assert_true(r->value[4].missing);
	done(rig, r);
}

/* A request counts where it arrived, whenever it ends. */
static void test_an_end_belongs_to_the_arrival(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	enum measure_metric counts[] = {METRIC_COMPLETED, METRIC_ERRORS,
	                                METRIC_TIMEOUTS,  METRIC_UNFINISHED,
	                                METRIC_DROPPED,   METRIC_REQUESTS};
	for (size_t i = 0; i < 6; i++)
		rig_add(rig, rig_between(counts[i], 10 * S, 20 * S));
	struct measure_term full = rig_between(METRIC_ERRORS, 10 * S, 20 * S);
	full.error = ERROR_QUEUE_FULL;
	rig_add(rig, full);
	rig_add(rig, rig_between(METRIC_COMPLETED, 20 * S, 90 * S));
	rig_start(rig);
	struct measure_request r[6];
	for (int i = 0; i < 6; i++)
		r[i] = rig_arrive(rig, 0, (11 + i) * S, 1);
	measure_clock(rig->m, 50 * S);
	rig_complete(rig, &r[0], 21 * S, 22 * S, 50 * S);
	rig_fail(rig, &r[1], OUTCOME_TIMED_OUT, ERROR_TIMEOUT, 51 * S);
	rig_fail(rig, &r[2], OUTCOME_FAILED, ERROR_REPLICA_LOST, 52 * S);
	rig_fail(rig, &r[3], OUTCOME_REJECTED, ERROR_QUEUE_FULL, 53 * S);
	rig_complete(rig, &r[4], 21 * S, 22 * S, 54 * S);
	measure_unfinished(rig->m, &r[5]);
	struct measure_result *m = finish(rig, 100 * S);
	static const double want[] = {2, 3, 1, 1, 2, 6, 1, 0};
	for (size_t i = 0; i < 8; i++) {
		assert_false(m->value[i].missing);
		assert_near(m->value[i].value, want[i], 0);
		assert_near(m->value[i].n, i == 7 ? 0 : 6, 0);
	}
	done(rig, m);
}

static void test_a_window_opens_when_its_condition_holds(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	rig->config.settle_ns = 5 * S;
	struct measure_term t = rig_between(METRIC_REQUESTS, 0, TIME_NEVER);
	t.from = rig_ready(0, 2, false);
	rig_add(rig, t);
	t.to = rig_ready(0, 1, false);
	rig_add(rig, t);
	t.from = rig_ready(0, 2, true);
	t.to = (struct measure_moment){.at_ns = 35 * S, .settled = true};
	rig_add(rig, t);
	t.from = rig_ready(0, 1, false);
	rig_add(rig, t);
	t.from = rig_ready(0, 7, false);
	rig_add(rig, t);
	t.from = rig_ready(MEASURE_NONE, 3, false); /* of the endpoint */
	rig_add(rig, t);
	rig_start(rig);
	rig_table(rig, 1, 1, 0);
	for (int64_t i = 0; i < 60; i++) {
		if (i == 20)
			measure_replicas(rig->m, 0, 2, 2, 20 * S);
		if (i == 30)
			measure_replicas(rig->m, 0, 1, 1, 30 * S);
		rig_pass(rig, 0, i * S, (uint64_t)i, MS);
	}
	struct measure_result *r = finish(rig, 100 * S);
	assert_near(r->value[0].value, 40, 0);
	assert_near(r->value[1].value, 10, 0);
	assert_near(r->value[1].window_s, 10, 0);
	assert_near(r->value[2].value, 15, 0); /* 25 .. 40 */
	assert_near(r->value[3].value, 40, 0); /* 0 .. 40 */
	assert_true(r->value[4].missing);
	assert_near(r->value[5].value, 20, 0);
	done(rig, r);
}

/* Told one by one, 2 replicas are not "1 ready" for no time at time 0. */
static void test_the_start_is_not_a_condition(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	struct measure_term t = rig_between(METRIC_REQUESTS, 0, TIME_NEVER);
	t.from = rig_ready(0, 1, false);
	rig_add(rig, t);
	t.from = rig_ready(0, 2, false);
	rig_add(rig, t);
	rig_start(rig);
	measure_replicas(rig->m, 0, 2, 2, 0);
	rig_table(rig, 2, 1, 0);
	rig_pass(rig, 0, 0, 1, MS);
	rig_pass(rig, 0, 5 * S, 1, MS);
	struct measure_result *r = finish(rig, 100 * S);
	assert_true(r->value[0].missing);
	assert_near(r->value[1].value, 2, 0);
	done(rig, r);
}

/* Without a table, a nanosecond later. */
static void test_a_condition_needs_no_table(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	struct measure_term t = rig_between(METRIC_REQUESTS, 0, TIME_NEVER);
	t.from = rig_ready(0, 1, false);
	rig_add(rig, t);
	t.from.condition.metric = METRIC_QUEUE;
	t.from.condition.value = 0;
	rig_add(rig, t);
	rig_start(rig);
	rig_pass(rig, 0, 0, 1, MS);
	rig_pass(rig, 0, 5 * S, 1, MS);
	struct measure_result *r = finish(rig, 100 * S);
	assert_near(r->value[0].value, 1, 0);
	assert_near(r->value[1].value, 2, 0);
	done(rig, r);
}

/* Keys are distinct within a window, and count where they went first. */
static void test_a_key_counts_once_a_window(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	struct measure_term t = rig_between(METRIC_SHARE, 0, 50 * S);
	t.deployment = 0;
	rig_add(rig, t);
	t.from.at_ns = 50 * S;
	t.to.at_ns = TIME_NEVER;
	rig_add(rig, t);
	rig_add(rig, rig_between(METRIC_KEYS_ON_TWO, 0, 50 * S));
	t.deployment = 2;
	t.endpoint = 1;
	rig_add(rig, t);
	rig_start(rig);
	/* key 1 four times to a, then once to b; 2 and 0 to b; 3 to a */
	for (int64_t i = 0; i < 4; i++)
		rig_pass(rig, 0, i * S, 1, MS);
	rig_pass(rig, 1, 10 * S, 1, MS);
	rig_pass(rig, 0, 11 * S, 1, MS);
	rig_pass(rig, 1, 11 * S, 1, MS);
	rig_pass(rig, 1, 12 * S, 2, MS);
	rig_pass(rig, 1, 13 * S, 0, MS);
	rig_pass(rig, 1, 14 * S, 0, MS);
	rig_pass(rig, 0, 15 * S, 3, MS);
	struct measure_request none = rig_made(rig, 0, 16 * S, 9);
	none.deployment = none.replica = MEASURE_NONE;
	measure_arrived(rig->m, &none);
	rig_fail(rig, &none, OUTCOME_REJECTED, ERROR_ENDPOINT_NOT_CONFIGURED,
	         16 * S);
	rig_pass(rig, 1, 60 * S, 1, MS);
	rig_pass(rig, 0, 61 * S, 1, MS);
	struct measure_result *r = finish(rig, 100 * S);
	assert_near(r->value[0].x, 2, 0);
	assert_near(r->value[0].n, 4, 0);
	assert_near(r->value[0].value, 0.5, 0);
	assert_near(r->value[0].request_share, 6 / 11.0, 1e-12);
	assert_near(r->value[1].x, 0, 0);
	assert_near(r->value[1].n, 1, 0);
	assert_near(r->value[2].value, 1, 0);
	assert_near(r->value[2].n, 4, 0);
	assert_true(r->value[3].missing);
	done(rig, r);
}

static void test_rates_and_tokens(void **state)
{
	(void)state;
	struct rig *rig = rig_new(10 * S, 110 * S);
	struct measure_term t = rig_term(METRIC_RATE);
	rig_add(rig, t);
	t.metric = METRIC_THROUGHPUT;
	rig_add(rig, t);
	t.metric = METRIC_TOKEN_SHARE;
	t.deployment = 1;
	rig_add(rig, t);
	t.metric = METRIC_RATE_PER_REPLICA;
	rig_add(rig, t);
	t.metric = METRIC_THROUGHPUT;
	t.deployment = MEASURE_NONE;
	t.traffic = 1;
	rig_add(rig, t);
	t = rig_term(METRIC_REQUESTS);
	t.statistic = STAT_RATE;
	rig_add(rig, t);
	rig_start(rig);
	rig_pass(rig, 1, 5 * S, 1, MS); /* before the warm-up */
	measure_steps(rig->m, rig->replica[1], 1024, 0, 500, 4);
	measure_clock(rig->m, 20 * S);
	measure_steps(rig->m, rig->replica[0], 1024, 0, 100, 3);
	measure_token(rig->m, rig->replica[1], -1);
	measure_steps(rig->m, rig->replica[1], 1024, 0, 99, 1);
	rig_pass(rig, 1, 20 * S, 1, MS);
	rig_pass(rig, 1, 21 * S, 1, MS);
	struct measure_request q = rig_made(rig, 0, 22 * S, 1);
	q.traffic = 1;
	measure_arrived(rig->m, &q);
	rig_complete(rig, &q, 22 * S, 22 * S, 23 * S);
	measure_replicas(rig->m, 1, 3, 3, 60 * S);
	struct measure_result *r = finish(rig, 110 * S);
	assert_near(r->value[0].value, 0.03, 1e-12);
	assert_near(r->value[1].value, 4, 1e-12);
	assert_near(r->value[2].value, 0.25, 1e-12);
	assert_near(r->value[3].replica_s, 50 + 150, 1e-9);
	assert_near(r->value[3].value, 2.0 / 200, 1e-12);
	assert_near(r->value[4].value, 11 / 100.0, 1e-12);
	assert_near(r->value[5].value, 0.03, 1e-12);
	done(rig, r);
}

static void test_each_replica_has_its_value(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	struct measure_term t = rig_between(METRIC_REQUESTS, 10 * S, 90 * S);
	t.deployment = 0;
	t.replicas = true;
	rig_add(rig, t);
	t.metric = METRIC_TTFT;
	rig_add(rig, t);
	t.replicas = false;
	t.replica = 2;
	t.metric = METRIC_REQUESTS;
	rig_add(rig, t);
	rig_start(rig);
	uint32_t gone = measure_replica_new(rig->m, 0, "a-1", 0);
	measure_replica_gone(rig->m, gone, 5 * S);
	rig_pass(rig, 0, 10 * S, 1, 20 * MS);
	rig->replica[0] = measure_replica_new(rig->m, 0, "a-2", 20 * S);
	for (int64_t i = 20; i < 25; i++)
		rig_pass(rig, 0, i * S, 1, 40 * MS);
	rig_pass(rig, 1, 30 * S, 1, MS);
	rig->replica[0] = measure_replica_new(rig->m, 0, "a-3", 40 * S);
	struct measure_result *r = finish(rig, 100 * S);
	assert_int_equal(r->value[0].n_each, 3);
	assert_near(r->value[0].each[0], 1, 0);
	assert_near(r->value[0].each[1], 5, 0);
	assert_near(r->value[0].each[2], 0, 0);
	assert_near(r->value[0].x, 6, 0);
	assert_int_equal(r->value[1].n_each, 2);
	assert_near(r->value[1].each[1], 40e6, 0);
	assert_near(r->value[2].value, 5, 0);
	done(rig, r);
}

static void test_latency_statistics(void **state)
{
	(void)state;
	static const struct {
		enum measure_statistic statistic;
		double quantile, want;
	} c[] = {{STAT_DEFAULT, 0, 5.5},   {STAT_MEAN, 0, 5.5},
	         {STAT_QUANTILE, 0.5, 6},  {STAT_QUANTILE, 0.9, 10},
	         {STAT_QUANTILE, 0.99, 0}, {STAT_MIN, 0, 1},
	         {STAT_MAX, 0, 0},         {STAT_SUM, 0, 55}};
	struct rig *rig = rig_new(0, 100 * S);
	for (size_t i = 0; i < 8; i++) {
		struct measure_term t = rig_term(METRIC_E2E);
		t.statistic = c[i].statistic;
		t.quantile = c[i].quantile;
		t.traffic = 0;
		rig_add(rig, t);
	}
	rig_start(rig);
	for (int64_t i = 1; i <= 10; i++)
		rig_pass(rig, 0, i * S, 1, i * MS);
	struct measure_request q = rig_arrive(rig, 0, 20 * S, 1);
	measure_unfinished(rig->m, &q);
	struct measure_result *r = finish(rig, 100 * S);
	for (size_t i = 0; i < 8; i++) {
		double want = c[i].want > 0 ? c[i].want * 1e6 : INFINITY;
		if (isinf(want))
			assert_true(isinf(r->value[i].value));
		else
			assert_near(r->value[i].value, want, want * 0.0005);
		assert_near(r->value[i].n, 11, 0);
	}
	done(rig, r);
}

static void test_gauges_are_seen_while_the_window_is_open(void **state)
{
	(void)state;
	enum measure_statistic s[] = {STAT_DEFAULT, STAT_MIN, STAT_MAX, STAT_AT,
	                              STAT_SUM};
	struct rig *rig = rig_new(0, 100 * S);
	for (size_t i = 0; i < 5; i++) {
		struct measure_term t =
			rig_between(METRIC_QUEUE, 10 * S, 20 * S);
		t.statistic = s[i];
		rig_add(rig, t);
	}
	struct measure_term t = rig_between(METRIC_READY, 0, 40 * S);
	t.deployment = 1;
	t.statistic = STAT_MAX;
	rig_add(rig, t);
	rig_start(rig);
	struct measure *m = rig->m;
	measure_gauge(m, rig->replica[0], GAUGE_QUEUE, 2, 4 * S);
	measure_gauge(m, rig->replica[1], GAUGE_QUEUE, 1, 12 * S);
	measure_gauge(m, rig->replica[1], GAUGE_QUEUE, 4, 15 * S);
	measure_gauge(m, rig->replica[1], GAUGE_QUEUE, 90, 17 * S);
	measure_gauge(m, rig->replica[1], GAUGE_QUEUE, -94, 17 * S);
	measure_gauge(m, rig->replica[0], GAUGE_QUEUE, -2, 18 * S);
	measure_gauge(m, rig->replica[1], GAUGE_QUEUE, 8, 20 * S);
	measure_replicas(m, 1, 4, 4, 39 * S);
	measure_replicas(m, 1, 9, 9, 40 * S);
	/* 2 for 2 s, 3 for 3 s, 7 for 2 s, 3 for 1 s, 1 for 2 s */
	struct measure_result *r = finish(rig, 100 * S);
	assert_near(r->value[0].value, 3.2, 1e-12);
	assert_near(r->value[1].value, 1, 0);
	assert_near(r->value[2].value, 7, 0);
	assert_near(r->value[3].value, 1, 0);
	assert_near(r->value[4].value, 32, 1e-9);
	assert_near(r->value[5].value, 4, 0);
	done(rig, r);
}

static void test_events_are_counted_by_type_and_place(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	struct measure_term t = rig_between(METRIC_COUNT, 10 * S, 20 * S);
	strcpy(t.event, "deployment.scaled");
	rig_add(rig, t);
	t.deployment = 1;
	rig_add(rig, t);
	rig_start(rig);
	const char *type = "deployment.scaled";
	measure_event(rig->m, type, 0, 0, 9 * S);
	measure_event(rig->m, type, 0, 0, 10 * S);
	measure_event(rig->m, type, 0, 1, 11 * S);
	measure_event(rig->m, type, 1, 2, 12 * S);
	measure_event(rig->m, "deployment.status_updated", 0, 1, 13 * S);
	measure_event(rig->m, type, 0, 1, 20 * S);
	struct measure_result *r = finish(rig, 100 * S);
	assert_near(r->value[0].value, 2, 0);
	assert_near(r->value[1].value, 1, 0);
	done(rig, r);
}

/* A warm-up's arrivals are in no part; the others make equal ones. */
static void test_batches_by_number_after_a_warm_up(void **state)
{
	(void)state;
	struct rig *rig = rig_new(30 * S, TIME_NEVER);
	rig->config.expected_requests = 100;
	rig_add(rig, rig_term(METRIC_E2E));
	rig_start(rig);
	for (int64_t i = 0; i < 100; i++)
		rig_pass(rig, 0, i * S, 1, (i < 60 ? 900 : 1) * MS);
	struct measure_result *r = measure_finish(rig->m, 100 * S);
	assert_int_equal(r->value[0].n_batches, MEASURE_BATCHES);
	/* 70 are left: 30 of the slow ones, then 40 fast ones */
	for (int b = 0; b < MEASURE_BATCHES; b++) {
		double *line = r->batch_mean + 3 * MEASURE_BATCHES;
		double ms = b < 8 ? 900 : b == 8 ? 450.5 : 1;
		assert_near(line[b], ms * 1e6, 1000);
		assert_near(r->value[0].batch[b], ms * 1e6, 1000);
	}
	measure_result_free(r);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_window_holds_its_beginning_not_its_end),
		cmocka_unit_test(test_an_end_belongs_to_the_arrival),
		cmocka_unit_test(test_a_window_opens_when_its_condition_holds),
		cmocka_unit_test(test_the_start_is_not_a_condition),
		cmocka_unit_test(test_a_condition_needs_no_table),
		cmocka_unit_test(test_a_key_counts_once_a_window),
		cmocka_unit_test(test_rates_and_tokens),
		cmocka_unit_test(test_each_replica_has_its_value),
		cmocka_unit_test(test_latency_statistics),
		cmocka_unit_test(test_gauges_are_seen_while_the_window_is_open),
		cmocka_unit_test(test_events_are_counted_by_type_and_place),
		cmocka_unit_test(test_batches_by_number_after_a_warm_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
