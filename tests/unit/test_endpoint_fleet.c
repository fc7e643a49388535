/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replicas that come, drain, crash, stop and come back; the events feed. */
#include "unit/endpoint_rig.h"

/* Ten long requests on one replica each way: 5 s of work. */
static void slow(struct rig *rig, double seconds)
{
	for (uint32_t i = 0; i < rig->spec.n_deployments; i++)
		rig->config[i].service_ns = dist_constant(seconds * 1e9);
}

static void youngest_goes_and_finishes(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 3);
	rig_load(&rig, "t")->until_ns = 8 * S;
	slow(&rig, 1.5);
	rig_scale(&rig, 4 * S, 0, 1);
	rig_run(&rig, 1);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 80);
	assert_true(rig_served(&rig, "dep_a-1", 0, 4 * S) > 0);
	assert_true(rig_served(&rig, "dep_a-2", 0, 4 * S) > 0);
	assert_int_equal(rig_served(&rig, "dep_a-1", 4 * S + 1, 8 * S), 0);
	assert_int_equal(rig_served(&rig, "dep_a-2", 4 * S + 1, 8 * S), 0);
	assert_int_equal(rig_served(&rig, "dep_a-0", 4 * S + 1, 8 * S), 39);
	/* gone when their last request was, not before */
	for (int i = 1; i < 3; i++) {
		const struct rig_event *v;
		int64_t last_ns = 0;

		for (size_t k = 0; k < rig.n_requests; k++)
			if (rig.request[k].replica[6] == '0' + i)
				last_ns = rig.request[k].r.done_ns;
		v = rig_event(&rig, "deployment.status_updated",
		              i == 1 ? "dep_a-1" : "dep_a-2", 1);
		assert_non_null(v);
		assert_int_equal(v->at_ns, last_ns);
		assert_true(last_ns > 4 * S);
	}
	rig_fini(&rig);
}

/* Whoever still starts goes first; its start is never finished. */
static void starting_ones_go_first(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "t");
	rig_scale(&rig, 2 * S, 0, 3);
	rig_scale(&rig, 2 * S + 500 * MS, 0, 1);
	rig_run(&rig, 1);
	assert_int_equal(rig_served(&rig, "dep_a-0", 0, 10 * S), 100);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 100);
	assert_int_equal(
		rig_event(&rig, "deployment.status_updated", "dep_a-2", 0)
			->at_ns,
		2 * S + 500 * MS);
	rig_fini(&rig);
}

static void scaled_up_through_a_cold_start(void **state)
{
	static const char *const phases[] = {"pulling", "starting", "loading",
	                                     "warming"};
	static const int64_t at_ms[] = {2000, 2100, 2300, 2600};
	struct rig rig;
	const struct rig_event *v;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "t");
	rig_scale(&rig, 2 * S, 0, 2);
	rig_run(&rig, 1);
	v = rig_event(&rig, "deployment.scaled", "", 0);
	assert_int_equal(v->at_ns, 2 * S);
	assert_int_equal(v->old_replicas, 1);
	assert_int_equal(v->new_replicas, 2);
	for (size_t i = 0; i < 4; i++) {
		v = rig_event(&rig, "pod.startup_phase_changed", "dep_a-1", i);
		assert_string_equal(v->reason, phases[i]);
		assert_int_equal(v->at_ns, at_ms[i] * MS);
		assert_int_equal(v->level, LEVEL_DEBUG);
	}
	v = rig_event(&rig, "deployment.status_updated", "dep_a-1", 0);
	assert_int_equal(v->at_ns, 3 * S);
	assert_int_equal(v->old_replicas, 1);
	assert_int_equal(v->new_replicas, 2);
	assert_int_equal(rig_served(&rig, "dep_a-1", 0, 3 * S), 0);
	assert_true(rig_served(&rig, "dep_a-1", 3 * S, 10 * S) > 10);
	for (size_t i = 1; i < rig.n_events; i++)
		assert_true(rig.event[i - 1].at_ns <= rig.event[i].at_ns);
	rig_fini(&rig);
}

static void crash_fails_what_was_inside(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 2);
	rig_load(&rig, "t")->until_ns = 8 * S;
	slow(&rig, 1);
	rig_action(&rig, 4 * S + 1, WORLD_CRASH, 0)->replicas = 1;
	rig_run(&rig, 1);
	for (size_t i = 0; i < rig.n_requests; i++) {
		const struct rig_request *q = &rig.request[i];
		bool lost = q->replica[6] == '1' && q->r.arrived_ns > 3 * S + 1;

		assert_int_equal(q->r.outcome,
		                 lost ? OUTCOME_FAILED : OUTCOME_COMPLETED);
		assert_int_equal(q->r.error,
		                 lost ? ERROR_REPLICA_LOST : ERROR_NONE);
		if (lost)
			assert_int_equal(q->r.done_ns, 4 * S + 1);
	}
	assert_true(rig_ended(&rig, OUTCOME_FAILED, ERROR_REPLICA_LOST) > 1);
	assert_int_equal(rig_served(&rig, "dep_a-1", 4 * S + 1, 10 * S), 0);
	rig_fini(&rig);
}

/* With retry they begin anew elsewhere, and the client's clock runs on. */
static void crash_reroutes_what_was_inside(void **state)
{
	struct rig rig;
	uint32_t again = 0;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1);
	rig_load(&rig, "t")->until_ns = 8 * S;
	slow(&rig, 1);
	rig_action(&rig, 4 * S + 1, WORLD_CRASH, 0)->retry_in_flight = true;
	rig_run(&rig, 1);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 80);
	for (size_t i = 0; i < rig.n_requests; i++) {
		const struct measure_request *r = &rig.request[i].r;
		int64_t took_ns = r->done_ns - r->arrived_ns;

		if (took_ns == S)
			continue;
		again++;
		assert_string_equal(rig.request[i].deployment, "dep_b");
		assert_int_equal(r->done_ns, 5 * S + 1);
		assert_int_equal(r->started_ns, 4 * S + 1);
		assert_true(r->arrived_ns <= 4 * S);
	}
	assert_true(again > 1);
	rig_fini(&rig);
}

/*
 * A request that is decided again takes no draw of another's: whom chance
 * sends where after the crash does not hang from it.
 */
static void rerouting_leaves_chance_alone(void **state)
{
	struct rig rig[2];

	(void)state;
	for (int retry = 0; retry < 2; retry++) {
		struct rig *r = &rig[retry];

		rig_init(r);
		rig_deployment(r, "dep_a", 3)->replica_choice =
			route_policy_find("random");
		rig_load(r, "t")->until_ns = 8 * S;
		slow(r, 1);
		rig_action(r, 4 * S, WORLD_CRASH, 0)->replicas = 1;
		r->action[0].retry_in_flight = retry;
		rig_run(r, 1);
		assert_int_equal(r->n_requests, 80);
	}
	assert_true(rig_ended(&rig[0], OUTCOME_FAILED, ERROR_REPLICA_LOST) > 0);
	for (size_t i = 41; i < 80; i++)
		assert_string_equal(rig[0].request[i].replica,
		                    rig[1].request[i].replica);
	rig_fini(&rig[0]);
	rig_fini(&rig[1]);
}

static void rerouted_to_nowhere(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "t")->until_ns = 4 * S;
	slow(&rig, 2);
	rig_action(&rig, 4 * S, WORLD_CRASH, 0)->retry_in_flight = true;
	rig_run(&rig, 1);
	/* sent at 0, 0.1, .. 2.0: done by 4 s, before the operator acts */
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 21);
	assert_int_equal(rig_ended(&rig, OUTCOME_FAILED, ERROR_REPLICA_LOST),
	                 19);
	rig_fini(&rig);
}

static void restored_through_a_cold_start(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 2);
	rig_load(&rig, "t");
	rig_action(&rig, 2 * S, WORLD_CRASH, 0);
	rig_action(&rig, 4 * S, WORLD_RESTORE, 0)->replicas = 1;
	rig_action(&rig, 6 * S, WORLD_RESTORE, 0);
	rig_action(&rig, 7 * S, WORLD_RESTORE, 0);
	rig_run(&rig, 1);
	/* wanted all the time, so that the endpoint is not stopped */
	assert_int_equal(rig_ended(&rig, OUTCOME_REJECTED,
	                           ERROR_ENDPOINT_NOT_CONFIGURED),
	                 29);
	assert_int_equal(rig_served(&rig, "dep_a-2", 5 * S, 7 * S), 20);
	assert_true(rig_served(&rig, "dep_a-3", 7 * S, 10 * S) > 0);
	assert_null(rig_event(&rig, "deployment.status_updated", "dep_a-4", 0));
	rig_fini(&rig);
}

/* Fewer are wanted while some are lost: the lost ones go first. */
static void lost_ones_go_first(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 3);
	rig_load(&rig, "t");
	rig_action(&rig, 2 * S + 50 * MS, WORLD_CRASH, 0)->replicas = 2;
	rig_scale(&rig, 3 * S, 0, 2);
	rig_action(&rig, 4 * S, WORLD_RESTORE, 0);
	rig_run(&rig, 1);
	assert_non_null(
		rig_event(&rig, "deployment.status_updated", "dep_a-3", 0));
	assert_null(rig_event(&rig, "deployment.status_updated", "dep_a-4", 0));
	assert_true(rig_served(&rig, "dep_a-0", 5 * S, 10 * S) > 0);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 100);
	rig_fini(&rig);
}

static void stopped_and_restarted(void **state)
{
	struct rig rig;
	const struct rig_event *v;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1)->weight = 50;
	rig_load(&rig, "t");
	slow(&rig, 1);
	rig_scale(&rig, 500 * MS, 1, 2);
	rig_action(&rig, 2 * S, WORLD_STOP_DEPLOYMENT, 1);
	/* it still drains: refused */
	rig_action(&rig, 2 * S + 500 * MS, WORLD_RESTART_DEPLOYMENT, 1);
	rig_action(&rig, 5 * S, WORLD_RESTART_DEPLOYMENT, 1);
	/* it runs: refused */
	rig_action(&rig, 7 * S, WORLD_RESTART_DEPLOYMENT, 1);
	rig_run(&rig, 1);
	v = rig_event(&rig, "deployment.updated", "", 0);
	assert_int_equal(v->at_ns, 2 * S + 500 * MS);
	assert_int_equal(v->level, LEVEL_ERROR);
	assert_string_equal(v->reason, "400");
	assert_int_equal(rig_event(&rig, "deployment.updated", "", 1)->at_ns,
	                 7 * S);
	assert_null(rig_event(&rig, "deployment.updated", "", 2));
	assert_int_equal(rig_sent(&rig, "dep_b", 2 * S + 1, 6 * S), 0);
	assert_int_equal(rig_sent(&rig, "dep_a", 2 * S + 1, 6 * S), 39);
	/* both replicas are back, and the weight: 100 of 101 */
	assert_true(rig_sent(&rig, "dep_b", 6 * S, 10 * S) >= 37);
	assert_true(rig_served(&rig, "dep_b-2", 6 * S, 10 * S) > 5);
	assert_true(rig_served(&rig, "dep_b-3", 6 * S, 10 * S) > 5);
	assert_int_equal(rig_ended(&rig, OUTCOME_FAILED, ERROR_REPLICA_LOST),
	                 0);
	rig_fini(&rig);
}

/* A deployment that never ran is not STOPPED: nothing to restart. */
static void restart_of_what_was_not_stopped(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 0);
	rig_load(&rig, "t");
	rig_action(&rig, S, WORLD_RESTART_DEPLOYMENT, 0);
	rig_run(&rig, 1);
	assert_non_null(rig_event(&rig, "deployment.updated", "", 0));
	rig_fini(&rig);
}

/*
 * The last request of a draining replica times out: the replica is gone at
 * that moment and nothing of it is left in the gauges.
 */
static void draining_ends_with_a_timeout(void **state)
{
	struct rig rig;

	(void)state;
	for (uint32_t servers = 1; servers <= 64; servers += 63) {
		struct load_spec *l;

		rig_init(&rig);
		rig_deployment(&rig, "dep_a", 1);
		slow(&rig, 100);
		rig.config[0].servers = servers;
		l = rig_load(&rig, "t");
		l->requests = 5;
		l->timeout_ns = 3 * S;
		rig_scale(&rig, S, 0, 0);
		rig_run(&rig, 1);
		assert_int_equal(
			rig_ended(&rig, OUTCOME_TIMED_OUT, ERROR_TIMEOUT), 5);
		assert_int_equal(rig_event(&rig, "deployment.status_updated",
		                           "dep_a-0", 1)
		                         ->at_ns,
		                 3 * S + 400 * MS);
		rig_fini(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(youngest_goes_and_finishes),
		cmocka_unit_test(starting_ones_go_first),
		cmocka_unit_test(scaled_up_through_a_cold_start),
		cmocka_unit_test(crash_fails_what_was_inside),
		cmocka_unit_test(crash_reroutes_what_was_inside),
		cmocka_unit_test(rerouting_leaves_chance_alone),
		cmocka_unit_test(rerouted_to_nowhere),
		cmocka_unit_test(restored_through_a_cold_start),
		cmocka_unit_test(lost_ones_go_first),
		cmocka_unit_test(stopped_and_restarted),
		cmocka_unit_test(restart_of_what_was_not_stopped),
		cmocka_unit_test(draining_ends_with_a_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
