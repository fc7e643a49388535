/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What keeps a request from a step that could take it: the overhead before
 * the queue, the wait to join, and imposed stalls.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

#define MS NS_PER_MS

/* Steps of 10 ms, whatever is in them. */
static struct replica_config steps_of_10_ms(void)
{
	struct replica_config config = lab_config();

	config.curve = lab_linear(10 * MS, 0, 0);
	return config;
}

static void begin(struct lab *l, const struct replica_config *config, size_t n)
{
	lab_init(l, config, n);
	replica_start(l->replica, NULL);
}

/* ---- overhead ---------------------------------------------------------- */

static void overhead_comes_before_the_queue(void **state)
{
	struct replica_config config = steps_of_10_ms();
	struct lab l;

	(void)state;
	config.overhead_ns = 3 * MS;
	begin(&l, &config, 2);
	lab_request(&l, 0, 0, 5, 2);
	lab_request(&l, 1, 1 * MS, 5, 1);
	lab_run_until(&l, 2 * MS);
	assert_int_equal(replica_preparing(l.replica), 2);
	assert_int_equal(replica_waiting(l.replica), 0);
	lab_run_until(&l, 4 * MS);
	assert_int_equal(replica_preparing(l.replica), 0);
	assert_int_equal(replica_waiting(l.replica), 1);
	lab_run(&l);
	assert_int_equal(l.requests[0].work.queued_ns, 3 * MS);
	assert_int_equal(l.requests[0].started_ns, 3 * MS);
	assert_int_equal(l.requests[0].first_ns, 13 * MS);
	assert_int_equal(l.requests[0].done_ns, 23 * MS);
	assert_int_equal(l.requests[1].work.queued_ns, 4 * MS);
	assert_int_equal(l.requests[1].started_ns, 13 * MS);
	lab_fini(&l);
}

static void overhead_before_servers_too(void **state)
{
	struct replica_config config;
	struct lab l;

	(void)state;
	memset(&config, 0, sizeof config);
	config.engine = replica_engine_find("service");
	config.servers = 1;
	config.service_ns = dist_constant((double)(10 * MS));
	config.overhead_ns = 3 * MS;
	begin(&l, &config, 2);
	lab_request(&l, 0, 0, 1, 1);
	lab_request(&l, 1, 0, 1, 1);
	lab_run(&l);
	assert_int_equal(l.requests[0].done_ns, 13 * MS);
	assert_int_equal(l.requests[1].done_ns, 23 * MS);
	lab_fini(&l);
}

/* In its overhead a request can give up, and be lost; and drains wait. */
static void overhead_can_be_left(void **state)
{
	struct replica_config config = steps_of_10_ms();
	struct lab l;

	(void)state;
	config.overhead_ns = 3 * MS;
	begin(&l, &config, 3);
	lab_request(&l, 0, 0, 5, 1);
	lab_request(&l, 1, 1 * MS, 5, 1);
	lab_request(&l, 2, 6 * MS, 5, 1);
	event_schedule(&l.calendar, &l.requests[0].give_up, 2 * MS);
	lab_run_until(&l, 2 * MS);
	assert_int_equal(replica_preparing(l.replica), 1);
	replica_drain(l.replica);
	assert_int_equal(replica_state_of(l.replica), REPLICA_DRAINING);
	lab_run(&l);
	assert_int_equal(l.requests[0].started_ns, TIME_NEVER);
	assert_int_equal(l.requests[1].done_ns, 14 * MS);
	assert_int_equal(replica_state_of(l.replica), REPLICA_GONE);
	lab_fini(&l);

	begin(&l, &config, 1);
	lab_request(&l, 0, 0, 5, 1);
	lab_run_until(&l, 1 * MS);
	replica_kill(l.replica);
	lab_run(&l);
	assert_true(l.requests[0].dropped);
	assert_int_equal(l.calendar.now_ns, 0);
	lab_fini(&l);
}

/* ---- wait to join ------------------------------------------------------ */

/* The first joins at once and opens the wait; 50 ms later comes the rest. */
static void the_queue_is_looked_at_after_the_wait(void **state)
{
	struct replica_config config = steps_of_10_ms();
	struct lab l;
	size_t i;

	(void)state;
	config.join_wait.wait_ns = 50 * MS;
	config.join_wait.count = 8;
	begin(&l, &config, 4);
	lab_request(&l, 0, 0, 5, 100);
	for (i = 1; i < 4; i++)
		lab_request(&l, i, (int64_t)i * 7 * MS, 5, 1);
	lab_run(&l);
	assert_int_equal(l.requests[0].started_ns, 0);
	for (i = 1; i < 4; i++)
		assert_int_equal(l.requests[i].started_ns, 50 * MS);
	lab_fini(&l);
}

/* An idle replica waits too, to the ns, and not for a step's end. */
static void an_idle_replica_waits(void **state)
{
	struct replica_config config = steps_of_10_ms();
	struct lab l;

	(void)state;
	config.join_wait.wait_ns = 55 * MS;
	begin(&l, &config, 2);
	lab_request(&l, 0, 0, 5, 1);
	lab_request(&l, 1, 20 * MS, 5, 1);
	lab_run(&l);
	assert_int_equal(l.requests[1].started_ns, 55 * MS);
	assert_int_equal(l.requests[1].done_ns, 65 * MS);
	assert_int_equal(replica_busy_ns(l.replica), 20 * MS);
	lab_fini(&l);
}

/* The eighth that waits lets all eight in with the next step. */
static void company_ends_the_wait(void **state)
{
	struct replica_config config = steps_of_10_ms();
	struct lab l;
	size_t i;

	(void)state;
	config.join_wait.wait_ns = 500 * MS;
	config.join_wait.count = 8;
	begin(&l, &config, 10);
	lab_request(&l, 0, 0, 5, 100);
	for (i = 1; i < 9; i++)
		lab_request(&l, i, (int64_t)i * 6 * MS, 5, 1);
	lab_request(&l, 9, 60 * MS, 5, 1);
	lab_run(&l);
	for (i = 1; i < 9; i++)
		assert_int_equal(l.requests[i].started_ns, 50 * MS);
	assert_int_equal(l.requests[9].started_ns, 550 * MS);
	lab_fini(&l);
}

/* ---- stalls ------------------------------------------------------------ */

/* Each step is sure to end in a stall; tokens come after step and stall. */
static void a_stall_runs_no_step(void **state)
{
	struct replica_config config = steps_of_10_ms();
	struct lab l;
	size_t i, late = 0;

	(void)state;
	config.stall.per_minute = 1e9;
	config.stall.above_batch = 1;
	config.stall.duration_ns = dist_constant((double)(1000 * MS));
	begin(&l, &config, 2);
	lab_request(&l, 0, 0, 5, 5);
	lab_request(&l, 1, 15 * MS, 5, 2);
	lab_run(&l);
	/* The second joins at 20 ms; from then on two are in the batch. */
	assert_int_equal(l.requests[1].first_ns, 30 * MS);
	assert_int_equal(l.requests[1].done_ns, 1040 * MS);
	/* That step ended in a stall too, and left one in the batch. */
	assert_int_equal(l.requests[0].done_ns, 2050 * MS);
	assert_int_equal(replica_stalls(l.replica), 2);
	assert_int_equal(replica_busy_ns(l.replica), 50 * MS);
	for (i = 0; i < l.logged; i++)
		if (l.log[i].kind == LAB_LATE) {
			assert_int_equal(l.log[i].a, 1010 * MS);
			late++;
		}
	assert_int_equal(late, 3);
	lab_fini(&l);
}

/* They come at their rate: Poisson, within four standard deviations. */
static void stalls_come_at_their_rate(void **state)
{
	struct replica_config config = steps_of_10_ms();
	double expected = 20000 * 0.010 * 60 / 60;
	struct lab l;

	(void)state;
	config.stall.per_minute = 60;
	config.stall.duration_ns = dist_constant((double)MS);
	begin(&l, &config, 1);
	l.quiet = true;
	lab_request(&l, 0, 0, 5, 20000);
	lab_run(&l);
	assert_true(fabs((double)replica_stalls(l.replica) - expected) <
	            4 * sqrt(expected));
	lab_fini(&l);

	config.stall.above_batch = 1;
	begin(&l, &config, 1);
	l.quiet = true;
	lab_request(&l, 0, 0, 5, 20000);
	lab_run(&l);
	assert_int_equal(replica_stalls(l.replica), 0);
	lab_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overhead_comes_before_the_queue),
		cmocka_unit_test(overhead_before_servers_too),
		cmocka_unit_test(overhead_can_be_left),
		cmocka_unit_test(the_queue_is_looked_at_after_the_wait),
		cmocka_unit_test(an_idle_replica_waits),
		cmocka_unit_test(company_ends_the_wait),
		cmocka_unit_test(a_stall_runs_no_step),
		cmocka_unit_test(stalls_come_at_their_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
