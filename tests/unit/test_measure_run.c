/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole runs: series, gauges, conservation, moved keys, batches, merging. */
#include "measure_rig.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct measure_row *row_of(const struct rig *rig, uint32_t from,
                                        const char *id)
{
	for (uint32_t i = from; i < rig->n_rows; i++)
		if (strcmp(rig->row[i].id, id) == 0)
			return &rig->row[i];
	fail_msg("no row of %s", id);
	return NULL;
}

/* ---- series ------------------------------------------------------------ */

static void test_rows_come_in_order(void **state)
{
	(void)state;
	static const char *const want[] = {"ep_chat", "ep_code", "dep_a",
	                                   "dep_b",   "dep_c",   "a-0",
	                                   "b-0",     "c-0"};
	struct rig *rig = rig_new(0, 100 * S);
	rig_start(rig);
	measure_interval(rig->m, 10 * S);
	measure_interval(rig->m, 10 * S);
	assert_int_equal(rig->n_rows, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_string_equal(rig->row[i].id, want[i]);
	measure_replica_gone(rig->m, rig->replica[1], 15 * S);
	struct measure_result *r = measure_finish(rig->m, 20 * S);
	assert_int_equal(rig->n_rows, 15); /* the last interval, without b-0 */
	assert_string_equal(rig->row[14].id, "c-0");
	assert_true(rig->row[14].from_ns == 10 * S);
	assert_true(rig->row[14].to_ns == 20 * S);
	measure_result_free(r);
	rig_free(rig);
}

static void test_a_row_is_of_its_interval(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, 100 * S);
	rig_start(rig);
	measure_replica_ready(rig->m, rig->replica[0], true, 0);
	struct measure_request late = rig_arrive(rig, 0, 8 * S, 1);
	for (int64_t i = 0; i < 3; i++)
		rig_pass(rig, 1, 9 * S, 1, (10 + i) * MS);
	measure_kv(rig->m, rig->replica[0], 0.25);
	measure_kv(rig->m, rig->replica[1], 0.75);
	measure_interval(rig->m, 10 * S);
	rig_complete(rig, &late, 9 * S, 11 * S, 16 * S);
	measure_token(rig->m, rig->replica[0], -1);
	measure_steps(rig->m, rig->replica[0], 1024, 0, 10, 1);
	measure_interval(rig->m, 20 * S);
	const struct measure_row *e = row_of(rig, 0, "ep_chat");
	assert_true(e->arrived == 4 && e->completed == 3);
	assert_near(e->request_rate, 0.4, 1e-12);
	assert_near(e->input_token_rate, 40, 1e-12);
	assert_near((double)e->ttft_p50_ns, 11e6, 11e6 * 0.0005);
	assert_near((double)e->e2e_p95_ns, 12e6, 12e6 * 0.0005);
	assert_near(e->kv_used, 0.5, 1e-12);
	assert_true(isnan(e->share));
	assert_near(row_of(rig, 0, "dep_a")->share, 0.25, 0);
	assert_true(isnan(row_of(rig, 0, "dep_a")->token_share));
	assert_true(row_of(rig, 0, "dep_a")->ttft_p50_ns == -1);
	assert_near(row_of(rig, 0, "a-0")->ready, 1, 0);
	assert_true(isnan(row_of(rig, 0, "b-0")->ready));
	assert_near(row_of(rig, 0, "b-0")->kv_used, 0.75, 0);
	e = row_of(rig, 8, "dep_a");
	assert_true(e->arrived == 0 && e->completed == 1);
	assert_near((double)e->ttft_p99_ns, 3e9, 0);
	assert_near((double)e->e2e_p95_ns, 8e9, 0);
	assert_near(e->tpot_mean_ns, 0.5e9, 0);
	assert_near(e->output_token_rate, 1.1, 1e-12);
	assert_true(isnan(e->share) && isnan(e->kv_used));
	assert_near(e->token_share, 1, 0);
	assert_near(e->ready, 1, 0);
	measure_result_free(measure_finish(rig->m, 20 * S));
	rig_free(rig);
}

/* 3 arrivals under 1/4, 1 under 3/4: (3 / 4 + 3 / 4) / 4. */
static void test_expected_share_is_weighted_by_arrivals(void **state)
{
	(void)state;
	struct rig *rig = rig_new(5 * S, 100 * S);
	rig_start(rig);
	rig_table(rig, 1, 3, 0);
	for (int64_t i = 0; i < 3; i++)
		rig_pass(rig, 1, (4 + i) * S, 1, MS);
	rig_table(rig, 3, 1, 7 * S);
	rig_pass(rig, 0, 9 * S, 1, MS);
	measure_interval(rig->m, 10 * S);
	rig_pass(rig, 0, 19 * S, 1, MS);
	measure_interval(rig->m, 20 * S);
	assert_near(row_of(rig, 0, "dep_a")->expected_share, 0.375, 1e-12);
	assert_near(row_of(rig, 0, "dep_b")->expected_share, 0.625, 1e-12);
	assert_near(row_of(rig, 8, "dep_a")->expected_share, 0.75, 1e-12);
	struct measure_result *r = measure_finish(rig->m, 20 * S);
	/* since the warm-up: two under 1/4, two under 3/4 */
	assert_near(
		measure_result_scope(r, SCOPE_DEPLOYMENT, 0)->expected_requests,
		2.0, 1e-12);
	measure_result_free(r);
	rig_free(rig);
}

static void test_gauges_are_integrals(void **state)
{
	(void)state;
	struct rig *rig = rig_new(10 * S, 100 * S);
	rig_start(rig);
	struct measure *m = rig->m;
	measure_gauge(m, rig->replica[0], GAUGE_BATCH, 4, 5 * S);
	measure_gauge(m, rig->replica[1], GAUGE_BATCH, 2, 15 * S);
	measure_gauge(m, rig->replica[0], GAUGE_BATCH, -3, 18 * S);
	measure_interval(m, 20 * S);
	measure_replicas(m, 0, 3, 4, 25 * S);
	measure_gauge(m, rig->replica[0], GAUGE_BATCH, -1, 30 * S);
	measure_gauge(m, rig->replica[1], GAUGE_BATCH, -2, 30 * S);
	measure_replicas(m, 0, 2, 2, 40 * S);
	struct measure_result *r = measure_finish(m, 50 * S);
	assert_near(row_of(rig, 0, "a-0")->batch, (4 * 13 + 1 * 2) / 20.0,
	            1e-12);
	assert_near(row_of(rig, 0, "ep_chat")->batch, (54 + 10) / 20.0, 1e-12);
	const struct measure_scope_result *a =
		measure_result_scope(r, SCOPE_DEPLOYMENT, 0);
	assert_near(a->batch, (4 * 8 + 1 * 12) / 40.0, 1e-12);
	assert_near(a->ready, (15 * 1 + 15 * 3 + 10 * 2) / 40.0, 1e-12);
	assert_near(a->wanted, (15 * 1 + 15 * 4 + 10 * 2) / 40.0, 1e-12);
	assert_near(a->seconds, 40, 0);
	assert_int_equal(a->ready_first, 1);
	assert_int_equal(a->ready_last, 2);
	assert_int_equal(a->ready_peak, 3);
	const struct measure_scope_result *e =
		measure_result_scope(r, SCOPE_ENDPOINT, 0);
	assert_near(e->batch, (44 + 2 * 15) / 40.0, 1e-12);
	assert_int_equal(e->ready_peak, 4);
	measure_result_free(r);
	rig_free(rig);
}

/* ---- conservation ------------------------------------------------------ */

static void test_what_arrives_is_counted_once(void **state)
{
	(void)state;
	struct rig *rig = rig_new(10 * S, 100 * S);
	rig_start(rig);
	rig_pass(rig, 0, 5 * S, 1, 9 * MS); /* before the warm-up */
	struct measure_request q[5];
	for (int i = 0; i < 5; i++)
		q[i] = rig_arrive(rig, 0, (20 + i) * S, 1);
	rig_complete(rig, &q[0], 21 * S, 22 * S, 25 * S);
	q[1].started_ns = 22 * S;
	q[1].first_ns = 24 * S;
	rig_fail(rig, &q[1], OUTCOME_TIMED_OUT, ERROR_TIMEOUT, 80 * S);
	/* its replica is lost after the first token, another begins anew */
	q[2].deployment = 1;
	q[2].replica = rig->replica[1];
	measure_rerouted(rig->m, &q[2], 0, rig->replica[0]);
	rig_complete(rig, &q[2], 30 * S, 32 * S, 42 * S);
	rig_fail(rig, &q[3], OUTCOME_REJECTED, ERROR_QUEUE_FULL, 23 * S);
	assert_string_equal(rig->last_replica, "a-0");
	measure_unfinished(rig->m, &q[4]);
	struct measure_result *r = measure_finish(rig->m, 100 * S);
	assert_int_equal(rig->n_requests, 6);
	const struct measure_scope_result *a =
		measure_result_scope(r, SCOPE_DEPLOYMENT, 0);
	const struct measure_scope_result *b =
		measure_result_scope(r, SCOPE_REPLICA, rig->replica[1]);
	const struct measure_scope_result *t =
		measure_result_scope(r, SCOPE_TRAFFIC, 0);
	assert_true(a->arrived == 5 && a->requests == 4 && a->completed == 1);
	assert_true(a->input_tokens == 400 && b->input_tokens == 100);
	assert_true(b->arrived == 1 && b->completed == 1);
	assert_true(t->arrived == 6 && t->requests == 5 && t->completed == 2);
	assert_int_equal(t->output_tokens, 22);
	assert_int_equal(t->ended[OUTCOME_IN_SYSTEM], 1);
	assert_int_equal(t->errors[ERROR_QUEUE_FULL], 1);
	assert_int_equal(t->errors[ERROR_NONE], 4);
	assert_true(t->ttft.n == 3 && t->ttft.infinite == 2);
	assert_true(t->e2e.n == 2 && t->e2e.infinite == 3);
	assert_true(t->queue_time.n == 3 && t->queue_time.infinite == 2);
	assert_true(t->tpot.n == 2 && t->tpot.infinite == 0);
	assert_near((double)b->ttft.max, 10e9, 0);
	assert_near((double)b->tpot.max, 1e9, 0);
	assert_null(measure_result_scope(r, SCOPE_TRAFFIC, 2));
	measure_result_free(r);
	rig_free(rig);
}

/* True when `act` dies of an assert. */
static bool dies(void (*act)(struct rig *rig))
{
	pid_t child = fork();
	if (child == 0) {
		struct rig *rig = rig_new(0, 100 * S);
		/* The assert's message is expected, not news. */
		dup2(open("/dev/null", O_WRONLY), 2);
		rig_start(rig);
		act(rig);
		_exit(0);
	}
	int status = 0;
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void lose_a_request(struct rig *rig)
{
	rig_arrive(rig, 0, S, 1);
	measure_finish(rig->m, 100 * S);
}

static void finish_before_the_first_token(struct rig *rig)
{
	struct measure_request q = rig_arrive(rig, 0, S, 1);
	rig_complete(rig, &q, 2 * S, 4 * S, 3 * S);
}

static void go_back_in_time(struct rig *rig)
{
	rig_arrive(rig, 0, 2 * S, 1);
	rig_arrive(rig, 0, S, 1);
}

static void keep_a_queue(struct rig *rig)
{
	measure_gauge(rig->m, rig->replica[0], GAUGE_QUEUE, 1, S);
	measure_replica_gone(rig->m, rig->replica[0], 2 * S);
}

static void do_nothing(struct rig *rig)
{
	measure_result_free(measure_finish(rig->m, 100 * S));
}

static void test_laws_are_asserted(void **state)
{
	(void)state;
	assert_true(dies(lose_a_request));
	assert_true(dies(finish_before_the_first_token));
	assert_true(dies(go_back_in_time));
	assert_true(dies(keep_a_queue));
	assert_false(dies(do_nothing));
}

/* ---- moved keys -------------------------------------------------------- */

/* Keys that the two tables decide differently, by route itself. */
static uint64_t differ(const struct route_table *a, const struct route_table *b,
                       uint64_t n)
{
	uint64_t moved = 0;
	for (uint64_t i = 0; i < n; i++)
		moved += route_split(a, rig_bits(i)) !=
		         route_split(b, rig_bits(i));
	return moved;
}

static void test_moved_keys_are_those_that_route_moves(void **state)
{
	(void)state;
	enum { KEYS = 20000 };
	struct rig *rig = rig_new(0, 100 * S);
	rig->config.settle_ns = 10 * S;
	struct measure_term t =
		rig_between(METRIC_MOVED_KEYS, 50 * S, TIME_NEVER);
	rig_add(rig, t); /* 1:1 to 2:1, applied just in time */
	t.from.at_ns = 49 * S;
	rig_add(rig, t); /* too early: nothing */
	t.from.at_ns = 60 * S;
	rig_add(rig, t); /* 1:1 to 6:3, applied at its moment */
	t.from = rig_ready(0, 2, false);
	rig_add(rig, t); /* 2:1 to 2:0 */
	t.from = (struct measure_moment){.at_ns = 95 * S};
	rig_add(rig, t); /* not settled at the end */
	t.from.at_ns = 0;
	rig_add(rig, t); /* the first table, without keys */
	t.from = rig_ready(1, 5, false);
	rig_add(rig, t); /* as the fourth, told after two tables of its time */
	rig_start(rig);
	const struct route_table *even = rig_table(rig, 1, 1, 0);
	for (uint64_t i = 0; i < 2 * KEYS; i++)
		rig_pass(rig, 0, 20 * S, rig_bits(i % KEYS), MS);
	const struct route_table *two = rig_table(rig, 2, 1, 60 * S);
	rig_table(rig, 6, 3, 61 * S); /* the same shares */
	measure_replicas(rig->m, 0, 2, 2, 80 * S);
	rig_table(rig, 1, 50, 80 * S);
	const struct route_table *one = rig_table(rig, 2, 0, 80 * S);
	measure_replicas(rig->m, 1, 5, 5, 80 * S);
	struct measure_result *r = measure_finish(rig->m, 100 * S);
	double moved = (double)differ(even, two, KEYS);
	double back = (double)differ(two, one, KEYS);
	assert_near(r->value[0].n, KEYS, 0);
	assert_near(r->value[0].x, moved, 0);
	assert_near(r->value[0].value, moved / KEYS, 1e-12);
	assert_near(r->value[0].least, 1.0 / 6, 1e-12);
	/* 99.9 % of binomials lie within 3.3 of their deviations */
	assert_near(moved / KEYS, 1.0 / 6, 3.3 * sqrt(5.0 / 36 / KEYS));
	assert_near(r->value[1].x, 0, 0);
	assert_near(r->value[1].least, 0, 0);
	assert_near(r->value[2].x, moved, 0);
	assert_near(r->value[3].x, back, 0);
	assert_near(r->value[3].least, 1.0 / 3, 1e-12);
	assert_near(r->value[6].x, back, 0);
	assert_true(r->value[4].missing && r->value[5].missing);
	for (int i = 0; i < 4; i++)
		assert_near(r->value[i].wrong, 0, 0);
	measure_result_free(r);
	rig_free(rig);
}

/* What a sound router never does is tried on made-up tables. */
static void test_a_needless_move_is_told(void **state)
{
	(void)state;
	struct route_target old[] = {{7, 1, 0}, {8, 1, 1}, {9, 4, 2}};
	struct route_target new[] = {{7, 2, 0}, {8, 2, 1}, {9, 4, 2}};
	struct measure_split before = {old, 3, true, 0};
	struct measure_split after = {new, 3, true, 0};
	/* 7 and 8 doubled: between them, and away from them, nothing moves */
	assert_true(measure_needless(&before, &after, &old[0], &new[1]));
	assert_true(measure_needless(&before, &after, &old[0], &new[2]));
	assert_false(measure_needless(&before, &after, &old[2], &new[0]));
	/* new ones may take keys, and those that leave must give them */
	before.n = 2;
	assert_false(measure_needless(&before, &after, &old[0], &new[2]));
	before.n = 3;
	after.n = 2;
	assert_false(measure_needless(&before, &after, &old[2], &new[1]));
}

/* ---- batches and merging ----------------------------------------------- */

static void test_batches_are_by_arrival(void **state)
{
	(void)state;
	struct rig *rig = rig_new(10 * S, 210 * S);
	struct measure_term t = rig_between(METRIC_TTFT, 10 * S, 110 * S);
	t.statistic = STAT_QUANTILE;
	t.quantile = 0.95;
	rig_add(rig, t);
	rig_add(rig, rig_between(METRIC_QUEUE, 0, 200 * S));
	rig_add(rig, rig_between(METRIC_RATE, 10 * S, 110 * S));
	rig_add(rig, rig_between(METRIC_TTFT, 100 * S, 250 * S));
	rig_start(rig);
	struct measure_request first = rig_arrive(rig, 0, 10 * S, 1);
	for (int64_t i = 1; i < 200; i++) {
		if (i % 10 == 0)
			measure_gauge(rig->m, rig->replica[0], GAUGE_QUEUE, 1,
			              (10 + i) * S);
		rig_pass(rig, 0, (10 + i) * S, 1, (1 + i) * MS);
	}
	rig_complete(rig, &first, 209 * S, 209 * S, 209 * S);
	first = rig_arrive(rig, 0, 210 * S, 1); /* in none */
	measure_unfinished(rig->m, &first);
	struct measure_result *r = measure_finish(rig->m, 210 * S);
	assert_int_equal(r->n_batches, MEASURE_BATCHES);
	/* ten in each; the slow one is in the batch of its arrival */
	assert_near(r->batch_p95[0], 199e9, 0);
	assert_true(isfinite(r->batch_p95[MEASURE_BATCHES]));
	for (int b = 1; b < MEASURE_BATCHES; b++) {
		double last = (b + 1) * 10 * 1e6;
		assert_near(r->batch_p95[b], last, last * 0.0005);
		assert_near(r->batch_mean[b], last - 4.5e6, 1);
	}
	assert_int_equal(r->value[0].n_batches, MEASURE_BATCHES);
	assert_near(r->value[0].batch[3], 20e6, 20e6 * 0.0005);
	assert_int_equal(r->value[1].n_batches, MEASURE_BATCHES);
	assert_near(r->value[1].batch[0], 0, 0);
	assert_near(r->value[1].batch[5], 4, 1e-9);
	assert_near(r->value[2].batch[7], 1, 1e-9);
	assert_int_equal(r->value[3].n_batches, MEASURE_BATCHES);
	measure_result_free(r);
	rig_free(rig);
}

static void test_batches_by_number_when_time_is_open(void **state)
{
	(void)state;
	struct rig *rig = rig_new(0, TIME_NEVER);
	rig->config.expected_requests = 100;
	rig_add(rig, rig_term(METRIC_E2E));
	rig_add(rig, rig_between(METRIC_E2E, 0, TIME_NEVER));
	rig_start(rig);
	for (int64_t i = 0; i < 100; i++)
		rig_pass(rig, 0, i * i * MS, 1, (1 + i / 5) * MS);
	struct measure_result *r = measure_finish(rig->m, 100 * S);
	assert_int_equal(r->n_batches, MEASURE_BATCHES);
	assert_int_equal(r->value[0].n_batches, MEASURE_BATCHES);
	for (int b = 0; b < MEASURE_BATCHES; b++) {
		/* E2E is the fourth latency */
		double *line = r->batch_mean + 3 * MEASURE_BATCHES;
		assert_near(line[b], (b + 1) * 1e6, 0.001);
		assert_near(r->value[0].batch[b], (b + 1) * 1e6, 0.001);
	}
	assert_int_equal(r->value[1].n_batches, 0);
	measure_result_free(r);
	rig_free(rig);
}

/* n requests of so many ms; end_ns TIME_NEVER: of open length, 300 s. */
static struct measure_result *replication(int64_t n, int64_t ms, int64_t end_ns)
{
	struct rig *rig = rig_new(0, end_ns);
	rig_add(rig, rig_term(METRIC_REQUESTS));
	struct measure_term t = rig_term(METRIC_REQUESTS);
	t.deployment = 0;
	t.replicas = true;
	rig_add(rig, t);
	rig_start(rig);
	measure_replicas(rig->m, 0, (uint32_t)n, 1, 0);
	for (int64_t i = 0; i < n; i++)
		rig_pass(rig, 0, i * S, 1, ms * MS);
	struct measure_result *r =
		measure_finish(rig->m, end_ns == TIME_NEVER ? 300 * S : end_ns);
	rig_free(rig);
	return r;
}

static void test_replications_are_pooled(void **state)
{
	(void)state;
	struct measure_result *a = replication(2, 10, 100 * S);
	struct measure_result *b = replication(6, 20, 300 * S);
	measure_result_merge(a, b);
	measure_result_free(b);
	assert_int_equal(a->replications, 2);
	assert_near(a->end_s, 300, 0);
	const struct measure_scope_result *s =
		measure_result_scope(a, SCOPE_DEPLOYMENT, 0);
	assert_true(s->arrived == 8 && s->completed == 8);
	assert_near(s->seconds, 400, 0);
	assert_near(s->ready, (2 * 100 + 6 * 300) / 400.0, 1e-12);
	assert_int_equal(s->ready_peak, 6);
	assert_near((double)measure_hist_quantile(&s->ttft, 0.25), 10e6, 0);
	assert_near((double)measure_hist_quantile(&s->ttft, 0.26), 20e6, 10e3);
	s = measure_result_scope(a, SCOPE_REPLICA, 0);
	assert_int_equal(s->arrived, 2);
	assert_near(a->value[0].value, 2, 0);
	assert_near(a->value[2].value, 6, 0);
	assert_near(a->value[1].each[0], 2, 0);
	assert_near(a->value[3].each[0], 6, 0);
	measure_result_free(a);
}

/* Each replication's own value, whatever was merged before. */
static void test_an_interval_is_of_replications(void **state)
{
	(void)state;
	struct measure_result *a = replication(2, 10, 100 * S);
	struct measure_result *b = replication(6, 20, 300 * S);
	struct measure_result *c = replication(40, 30, 300 * S);
	struct measure_result *d = replication(1, 5, TIME_NEVER);
	assert_int_equal(d->n_batches, 0);
	measure_result_merge(a, b);
	measure_result_merge(c, d);
	measure_result_merge(a, c);
	assert_int_equal(a->n_batches, 4);
	static const double ms[] = {10, 20, 30, 5};
	for (size_t i = 0; i < 4; i++) {
		assert_near(a->batch_p95[i], ms[i] * 1e6, 0);
		assert_near(a->batch_mean[i], ms[i] * 1e6, 0);
		/* E2E, TPOT of what is done at once, ITL without steps */
		assert_near(a->batch_p95[3 * 4 + i], ms[i] * 1e6, 0);
		assert_near(a->batch_p95[1 * 4 + i], 0, 0);
		assert_true(isnan(a->batch_p95[2 * 4 + i]));
		assert_true(isnan(a->batch_p95[4 * 4 + i])); /* ep_code */
	}
	measure_result_free(a);
	measure_result_free(b);
	measure_result_free(c);
	measure_result_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_come_in_order),
		cmocka_unit_test(test_a_row_is_of_its_interval),
		cmocka_unit_test(test_expected_share_is_weighted_by_arrivals),
		cmocka_unit_test(test_gauges_are_integrals),
		cmocka_unit_test(test_what_arrives_is_counted_once),
		cmocka_unit_test(test_laws_are_asserted),
		cmocka_unit_test(test_moved_keys_are_those_that_route_moves),
		cmocka_unit_test(test_a_needless_move_is_told),
		cmocka_unit_test(test_batches_are_by_arrival),
		cmocka_unit_test(test_batches_by_number_when_time_is_open),
		cmocka_unit_test(test_replications_are_pooled),
		cmocka_unit_test(test_an_interval_is_of_replications),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
