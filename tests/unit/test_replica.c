/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The curve, the life of a replica, and the engine `service`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

static void engines_have_names(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; replica_engine_name(i); i++)
		assert_non_null(replica_engine_find(replica_engine_name(i)));
	assert_int_equal(i, 2);
	assert_non_null(replica_engine_find("batching"));
	assert_non_null(replica_engine_find("service"));
	assert_null(replica_engine_find("batch"));
}

/* ---- curve ------------------------------------------------------------- */

static void a_step_is_as_long_as_its_piece_says(void **state)
{
	struct replica_curve curve = {
		.n = 2,
		.piece = {{8, 10000, 0, 0, 0, 0},
	                  {UINT32_MAX, 500, 10, 7, 3, 2}},
	};
	struct replica_batch batch = {4, 4, 1000, 10};

	(void)state;
	/* Eight tokens are the flat piece's, nine are not. */
	assert_int_equal(replica_step_ticks(&curve, &batch), 10000);
	batch.decodes = 5;
	assert_int_equal(replica_step_ticks(&curve, &batch),
	                 500 + 10 * 4 + 7 * 5 + 3 * 1000 + 2 * 10);
	curve.piece[1].base_ticks = -1000000;
	/* A ns at least. */
	assert_int_equal(replica_step_ticks(&curve, &batch), 1024);
}

static void check_pace(const struct replica_curve *curve,
                       struct replica_batch batch, uint64_t steps)
{
	struct replica_pace pace = replica_curve_pace(curve, &batch);
	int64_t sum = 0, step;
	uint64_t i;

	assert_true(pace.steps_max >= 1);
	if (steps > pace.steps_max)
		steps = pace.steps_max;
	for (i = 1; i <= steps; i++) {
		step = replica_step_ticks(curve, &batch);
		/* The first end at or after a moment, around each end. */
		assert_int_equal(replica_pace_steps(&pace, steps, sum + 1), i);
		sum += step;
		assert_int_equal(replica_pace_sum(&pace, i), sum);
		assert_int_equal(replica_pace_steps(&pace, steps, sum), i);
		batch.contexts += batch.decodes;
	}
	assert_int_equal(replica_pace_steps(&pace, steps, sum + 1), steps);
	assert_int_equal(replica_pace_steps(&pace, steps, -5), 1);
}

static void many_steps_sum_in_closed_form(void **state)
{
	struct stream s = stream_open(3, 0, 0, STREAM_SERVICE);
	struct replica_curve curve = {.n = 1};
	struct replica_batch batch = {0, 0, 0, 0};
	int i;

	(void)state;
	curve.piece[0].upto_tokens = UINT32_MAX;
	for (i = 0; i < 300; i++) {
		batch.decodes = 1 + (uint32_t)stream_below(&s, 300);
		batch.contexts = stream_below(&s, 100000);
		curve.piece[0].base_ticks = (int64_t)stream_below(&s, 1000000);
		curve.piece[0].per_decode_ticks =
			(int64_t)stream_below(&s, 1000);
		curve.piece[0].per_context_ticks =
			(int64_t)stream_below(&s, 40) - 10;
		check_pace(&curve, batch, 1 + stream_below(&s, 200));
	}
}

/* ---- life -------------------------------------------------------------- */

static void expect_lived(const struct lab *l, size_t i, enum replica_state to,
                         int64_t at_ns)
{
	assert_true(i < l->logged);
	assert_int_equal(l->log[i].kind, LAB_LIVED);
	assert_int_equal(l->log[i].a, to);
	assert_int_equal(l->log[i].at_ns, at_ns);
}

static struct replica_cold_start cold_of(double pull, double start,
                                         double weights, double warmup)
{
	struct replica_cold_start cold = {
		dist_constant(pull), dist_constant(start),
		dist_constant(weights), dist_constant(warmup)};

	return cold;
}

static void cold_start_goes_phase_by_phase(void **state)
{
	struct replica_config config = lab_config();
	struct replica_cold_start cold = cold_of(5, 0, 70, 11.6);
	struct lab l;

	(void)state;
	lab_init(&l, &config, 0);
	assert_int_equal(replica_state_of(l.replica), REPLICA_PLACING);
	assert_ptr_equal(replica_owner(l.replica), &l);
	replica_start(l.replica, &cold);
	lab_run_until(&l, 80);
	assert_int_equal(replica_cold_start_ns(l.replica), 0);
	lab_run(&l);
	assert_int_equal(l.logged, 5);
	expect_lived(&l, 0, REPLICA_PULLING, 0);
	expect_lived(&l, 1, REPLICA_STARTING, 5);
	expect_lived(&l, 2, REPLICA_LOADING, 5);
	expect_lived(&l, 3, REPLICA_WARMING, 75);
	expect_lived(&l, 4, REPLICA_READY, 87);
	assert_int_equal(replica_cold_start_ns(l.replica), 87);
	assert_string_equal(replica_state_name(REPLICA_READY), "ready");
	lab_fini(&l);
}

/* Its own stream: the same replica starts alike, whatever else is drawn. */
static void cold_start_is_drawn_by_name(void **state)
{
	struct replica_config config = lab_config();
	struct replica_cold_start cold = cold_of(0, 0, 0, 0);
	struct lab a, b;

	(void)state;
	cold.weights_ns.kind = DIST_LOGNORMAL;
	cold.weights_ns.a = 1e9;
	cold.weights_ns.b = 0.5;
	lab_init(&a, &config, 0);
	lab_init(&b, &config, 0);
	replica_start(a.replica, &cold);
	replica_start(b.replica, &cold);
	lab_run(&a);
	lab_run(&b);
	assert_true(replica_cold_start_ns(a.replica) > 0);
	assert_int_equal(replica_cold_start_ns(a.replica),
	                 replica_cold_start_ns(b.replica));
	lab_fini(&a);
	lab_fini(&b);
}

static void stopped_before_ready_is_gone(void **state)
{
	struct replica_config config = lab_config();
	struct replica_cold_start cold = cold_of(5, 5, 5, 5);
	struct lab l;
	int kills;

	(void)state;
	for (kills = 0; kills < 2; kills++) {
		lab_init(&l, &config, 0);
		replica_start(l.replica, &cold);
		lab_run_until(&l, 7);
		if (kills)
			replica_kill(l.replica);
		else
			replica_drain(l.replica);
		lab_run(&l);
		assert_int_equal(l.logged, 3);
		expect_lived(&l, 2, REPLICA_GONE, 5);
		assert_int_equal(replica_cold_start_ns(l.replica), 0);
		lab_fini(&l);
	}
}

static void draining_finishes_what_it_has(void **state)
{
	struct replica_config config = lab_config();
	struct lab l;

	(void)state;
	config.max_num_seqs = 1;
	config.curve = lab_linear(100, 0, 0);
	lab_init(&l, &config, 3);
	replica_start(l.replica, NULL);
	lab_request(&l, 0, 0, 8, 3);
	lab_request(&l, 1, 10, 8, 2);
	lab_request(&l, 2, 60, 8, 2);
	lab_run_until(&l, 50);
	replica_drain(l.replica);
	replica_drain(l.replica);
	assert_int_equal(replica_state_of(l.replica), REPLICA_DRAINING);
	lab_run(&l);
	assert_int_equal(l.requests[0].done_ns, 300);
	assert_int_equal(l.requests[1].done_ns, 500);
	assert_true(l.requests[2].dropped);
	expect_lived(&l, 2, REPLICA_DRAINING, 10);
	expect_lived(&l, l.logged - 1, REPLICA_GONE, 500);
	assert_int_equal(replica_busy_ns(l.replica), 500);
	lab_fini(&l);
}

static void draining_ends_when_the_last_gives_up(void **state)
{
	struct replica_config config = lab_config();
	struct lab l;

	(void)state;
	config.curve = lab_linear(100, 0, 0);
	lab_init(&l, &config, 1);
	replica_start(l.replica, NULL);
	lab_request(&l, 0, 0, 8, 30);
	event_schedule(&l.calendar, &l.requests[0].give_up, 450);
	lab_run_until(&l, 420);
	replica_drain(l.replica);
	lab_run(&l);
	assert_int_equal(replica_state_of(l.replica), REPLICA_GONE);
	assert_int_equal(l.calendar.now_ns, 450);
	/* Its four tokens were told; the step under way was not over. */
	assert_int_equal(l.stepped, 4);
	assert_int_equal(replica_kv_used(l.replica), 0);
	lab_fini(&l);
}

static void killing_loses_batch_then_queue(void **state)
{
	struct replica_config config = lab_config();
	struct lab l;
	uint64_t i;

	(void)state;
	config.max_num_seqs = 2;
	config.curve = lab_linear(100, 0, 0);
	lab_init(&l, &config, 4);
	replica_start(l.replica, NULL);
	for (i = 0; i < 4; i++)
		lab_request(&l, i, (int64_t)i, 20, 30);
	lab_run_until(&l, 349);
	calendar_advance(&l.calendar, 350);
	replica_kill(l.replica);
	replica_kill(l.replica);
	assert_int_equal(l.log[l.logged - 5].a, REPLICA_GONE);
	assert_int_equal(l.log[l.logged - 5].b, 3);
	for (i = 0; i < 4; i++) {
		const struct lab_entry *e = &l.log[l.logged - 4 + i];

		assert_int_equal(e->kind, LAB_DROPPED);
		assert_int_equal(e->id, i);
		assert_int_equal(e->a, REPLICA_DROP_LOST);
		/* Request 0 from the first step, 1 from the second. */
		assert_int_equal(e->b, i < 2 ? 3 - i : 0);
	}
	assert_int_equal(l.stepped, 3);
	assert_int_equal(replica_steps_run(l.replica), 3);
	assert_int_equal(replica_busy_ns(l.replica), 350);
	assert_int_equal(replica_kv_used(l.replica), 0);
	lab_fini(&l);
}

/* ---- service ----------------------------------------------------------- */

static struct replica_config service_config(uint32_t servers, double ns)
{
	struct replica_config config = lab_config();

	config.engine = replica_engine_find("service");
	config.servers = servers;
	config.service_ns = dist_constant(ns);
	return config;
}

static void servers_take_turns(void **state)
{
	struct replica_config config = service_config(2, 100);
	struct lab l;
	size_t i;

	(void)state;
	config.queue_cap = 2;
	lab_init(&l, &config, 6);
	l.quiet = true;
	replica_start(l.replica, NULL);
	for (i = 0; i < 6; i++)
		lab_request(&l, i, (int64_t)i * 10, 5, 7);
	event_schedule(&l.calendar, &l.requests[2].give_up, 45);
	event_schedule(&l.calendar, &l.requests[1].give_up, 50);
	lab_run(&l);
	/* 2 and 3 wait; 4 is refused; 2 gives up, then 1, whose place 3
	 * takes; 5 waits for 0. */
	assert_int_equal(l.requests[0].started_ns, 0);
	assert_int_equal(l.requests[0].first_ns, 100);
	assert_int_equal(l.requests[0].done_ns, 100);
	assert_int_equal(l.requests[1].done_ns, TIME_NEVER);
	assert_int_equal(l.requests[2].started_ns, TIME_NEVER);
	assert_int_equal(l.requests[3].started_ns, 50);
	assert_int_equal(l.requests[3].done_ns, 150);
	assert_true(l.requests[4].dropped);
	assert_int_equal(l.requests[5].started_ns, 100);
	assert_int_equal(l.requests[5].done_ns, 200);
	assert_int_equal(replica_busy_ns(l.replica), 200);
	assert_int_equal(replica_kv_used(l.replica), 0);
	lab_fini(&l);
}

/* A request's service time is its own, whoever was served before. */
static void service_time_goes_by_id(void **state)
{
	struct replica_config config = service_config(1, 0);
	struct lab all, one;
	size_t i;

	(void)state;
	config.service_ns.kind = DIST_EXPONENTIAL;
	config.service_ns.a = 1e6;
	lab_init(&all, &config, 4);
	lab_init(&one, &config, 4);
	all.quiet = one.quiet = true;
	replica_start(all.replica, NULL);
	replica_start(one.replica, NULL);
	for (i = 0; i < 4; i++)
		lab_request(&all, i, 0, 1, 1);
	lab_request(&one, 3, 12345, 1, 1);
	lab_run(&all);
	lab_run(&one);
	assert_int_equal(all.requests[3].done_ns - all.requests[3].started_ns,
	                 one.requests[3].done_ns - one.requests[3].started_ns);
	lab_fini(&all);
	lab_fini(&one);
}

static void a_service_can_drain_and_die(void **state)
{
	struct replica_config config = service_config(1, 100);
	struct lab l;

	(void)state;
	lab_init(&l, &config, 2);
	l.quiet = true;
	replica_start(l.replica, NULL);
	lab_request(&l, 0, 0, 1, 1);
	lab_request(&l, 1, 0, 1, 1);
	lab_run_until(&l, 0);
	replica_drain(l.replica);
	lab_run_until(&l, 150);
	assert_int_equal(l.requests[0].done_ns, 100);
	assert_int_equal(replica_state_of(l.replica), REPLICA_DRAINING);
	calendar_advance(&l.calendar, 160);
	replica_kill(l.replica);
	assert_true(l.requests[1].dropped);
	assert_int_equal(replica_state_of(l.replica), REPLICA_GONE);
	assert_int_equal(calendar_next(&l.calendar), TIME_NEVER);
	assert_int_equal(replica_busy_ns(l.replica), 160);
	lab_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_have_names),
		cmocka_unit_test(a_step_is_as_long_as_its_piece_says),
		cmocka_unit_test(many_steps_sum_in_closed_form),
		cmocka_unit_test(cold_start_goes_phase_by_phase),
		cmocka_unit_test(cold_start_is_drawn_by_name),
		cmocka_unit_test(stopped_before_ready_is_gone),
		cmocka_unit_test(draining_finishes_what_it_has),
		cmocka_unit_test(draining_ends_when_the_last_gives_up),
		cmocka_unit_test(killing_loses_batch_then_queue),
		cmocka_unit_test(servers_take_turns),
		cmocka_unit_test(service_time_goes_by_id),
		cmocka_unit_test(a_service_can_drain_and_die),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
