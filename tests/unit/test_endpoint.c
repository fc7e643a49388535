/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a router learns of a change, and what a request finds meanwhile. */
#include "unit/endpoint_rig.h"

/* Weights change at 5 s, the router knows at 7 s: to the request. */
static void old_shares_until_the_table_arrives(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.endpoint[0].router.propagation_ns = dist_constant((double)(2 * S));
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1)->weight = 0;
	rig_load(&rig, "t");
	rig_weight(&rig, 5 * S, 0, 0);
	rig_weight(&rig, 5 * S, 1, 3);
	rig_run(&rig, 1);
	assert_int_equal(rig.n_requests, 100);
	assert_int_equal(rig_sent(&rig, "dep_a", 0, 7 * S), 70);
	assert_int_equal(rig_sent(&rig, "dep_b", 7 * S, 10 * S), 30);
	rig_fini(&rig);
}

/* A table reaches the router before the requests of its moment. */
static void table_of_a_moment_comes_first(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.endpoint[0].router.propagation_ns = dist_constant(1);
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1)->weight = 0;
	rig_load(&rig, "t");
	rig_weight(&rig, 5 * S - 1, 1, 1);
	rig_weight(&rig, 5 * S - 1, 0, 0);
	rig_run(&rig, 1);
	assert_int_equal(rig_sent(&rig, "dep_a", 0, 5 * S), 50);
	assert_int_equal(rig_sent(&rig, "dep_b", 5 * S, 10 * S), 50);
	rig_fini(&rig);
}

/* The operator acts after the requests of his moment. */
static void action_of_a_moment_comes_last(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1)->weight = 0;
	rig_load(&rig, "t");
	rig_weight(&rig, 5 * S, 1, 1);
	rig_weight(&rig, 5 * S, 0, 0);
	rig_run(&rig, 1);
	assert_int_equal(rig_sent(&rig, "dep_a", 0, 5 * S + 1), 51);
	assert_int_equal(rig_sent(&rig, "dep_b", 5 * S + 1, 10 * S), 49);
	rig_fini(&rig);
}

/* A later change that drew a shorter delay does not overtake. */
static void tables_arrive_in_order(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct dist delay = rig_dist(DIST_UNIFORM, 0);
		const struct rig_event *v;
		struct rig rig;
		int64_t last_ns = 0;
		size_t k = 0;

		rig_init(&rig);
		delay.b = (double)(4 * S);
		rig.endpoint[0].router.propagation_ns = delay;
		rig_deployment(&rig, "dep_a", 1);
		rig_deployment(&rig, "dep_b", 1)->weight = 0;
		rig_load(&rig, "t");
		/* to and fro, and from 2 s on dep_b alone */
		for (uint32_t i = 0; i < 8; i++)
			rig_weight(&rig, S + i * 100 * MS, i & 1,
			           (i + 1) / 2 % 2);
		rig_weight(&rig, 2 * S, 0, 0);
		rig_weight(&rig, 2 * S, 1, 1);
		rig_run(&rig, seed);
		assert_int_equal(rig_sent(&rig, "dep_b", 6 * S, 10 * S), 40);
		while ((v = rig_event(&rig, "router.table_applied", "", k++))) {
			assert_true(v->at_ns > last_ns);
			last_ns = v->at_ns;
		}
		rig_fini(&rig);
	}
}

/*
 * The router does not know for 2 s that a replica drains: its share goes to
 * the other at once, by the newest table, and nothing is lost.
 */
static void decided_again_where_nobody_serves(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.endpoint[0].router.propagation_ns = dist_constant((double)(2 * S));
	rig_deployment(&rig, "dep_a", 2);
	rig_load(&rig, "t");
	rig_scale(&rig, 5 * S, 0, 1);
	rig_run(&rig, 1);
	assert_true(rig_served(&rig, "dep_a-1", 0, 5 * S) > 10);
	assert_int_equal(rig_served(&rig, "dep_a-1", 5 * S + 1, 10 * S), 0);
	assert_int_equal(rig_served(&rig, "dep_a-0", 5 * S + 1, 10 * S), 49);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 100);
	rig_fini(&rig);
}

/* A new replica is ready at 1 s and serves when the router knows, at 3 s. */
static void newcomer_waits_for_the_table(void **state)
{
	struct rig rig;
	const struct rig_event *v;

	(void)state;
	rig_init(&rig);
	rig.endpoint[0].router.propagation_ns = dist_constant((double)(2 * S));
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1)->cold_at_start = true;
	rig_load(&rig, "t");
	rig_run(&rig, 1);
	v = rig_event(&rig, "deployment.status_updated", "dep_b-0", 0);
	assert_int_equal(v->at_ns, S);
	assert_string_equal(v->reason, "AllReplicasReady");
	assert_int_equal(rig_sent(&rig, "dep_b", 0, 3 * S), 0);
	assert_true(rig_sent(&rig, "dep_b", 3 * S, 10 * S) > 20);
	assert_true(rig_sent(&rig, "dep_a", 3 * S, 10 * S) > 20);
	rig_fini(&rig);
}

/* Nothing routable, by both generations of the platform's rules. */
static void refused_with_the_code(void **state)
{
	(void)state;
	for (int earlier = 0; earlier < 2; earlier++) {
		struct rig rig;

		rig_init(&rig);
		rig.endpoint[0].earlier_errors = earlier;
		rig_deployment(&rig, "dep_a", 1)->weight = 0;
		rig_load(&rig, "t");
		rig_scale(&rig, 5 * S, 0, 0);
		rig_run(&rig, 1);
		assert_int_equal(rig.n_requests, 100);
		assert_int_equal(rig_sent(&rig, "", 0, 10 * S), 100);
		/* the operator acts after the request of 5 s */
		assert_int_equal(
			rig_ended(&rig, OUTCOME_REJECTED,
		                  earlier ? ERROR_ROUTING_ERROR
		                          : ERROR_ENDPOINT_NOT_CONFIGURED),
			earlier ? 100 : 51);
		assert_int_equal(rig_ended(&rig, OUTCOME_REJECTED,
		                           ERROR_ENDPOINT_NOT_READY),
		                 earlier ? 0 : 49);
		rig_fini(&rig);
	}
}

/* A request that names its deployment goes there, whatever its weight. */
static void pinned_deployment(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_endpoint(&rig, "other");
	rig_deployment(&rig, "dep_b", 1);
	rig_deployment(&rig, "dep_c", 1)->weight = 0;
	rig_load(&rig, "t")->pinned = 2;
	rig_scale(&rig, 5 * S, 2, 0);
	rig_run(&rig, 1);
	assert_int_equal(rig_sent(&rig, "dep_c", 0, 5 * S + 1), 51);
	assert_int_equal(rig_sent(&rig, "", 5 * S + 1, 10 * S), 49);
	assert_int_equal(rig_ended(&rig, OUTCOME_REJECTED,
	                           ERROR_ENDPOINT_NOT_CONFIGURED),
	                 49);
	rig_fini(&rig);
}

/* The whole split is replaced; who is not listed gets nothing. */
static void split_is_replaced(void **state)
{
	static const uint64_t weights[] = {5, 0, 2};
	static const bool listed[] = {false, false, true};
	struct rig rig;
	struct world_action *a;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1);
	rig_deployment(&rig, "dep_c", 1)->in_split = false;
	rig_load(&rig, "t");
	a = rig_action(&rig, 5 * S, WORLD_SET_SPLIT, 0);
	a->weights = weights;
	a->listed = listed;
	rig_run(&rig, 1);
	assert_int_equal(rig_sent(&rig, "dep_c", 0, 5 * S + 1), 0);
	assert_true(rig_sent(&rig, "dep_a", 0, 5 * S) > 10);
	assert_true(rig_sent(&rig, "dep_b", 0, 5 * S) > 10);
	assert_int_equal(rig_sent(&rig, "dep_c", 5 * S + 1, 10 * S), 49);
	assert_non_null(rig_event(&rig, "endpoint.updated", "", 0));
	rig_fini(&rig);
}

/*
 * One key for all: it stays with its replica while one request is inside at
 * a time, however many there were, and spills when they pile up.
 */
static void bounded_load_counts_what_is_inside(void **state)
{
	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		struct rig rig;
		uint32_t spilled = 0;

		rig_init(&rig);
		rig_deployment(&rig, "dep_a", 3);
		if (slow)
			rig.config[0].service_ns = dist_constant(1e9);
		rig_load(&rig, "t")->keys.kind = LOAD_KEYS_SAME;
		rig_run(&rig, 1);
		for (size_t i = 0; i < rig.n_requests; i++)
			spilled += rig.request[i].r.spilled;
		if (slow)
			assert_in_range(spilled, 10, 90);
		else
			assert_int_equal(spilled, 0);
		rig_fini(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_shares_until_the_table_arrives),
		cmocka_unit_test(table_of_a_moment_comes_first),
		cmocka_unit_test(action_of_a_moment_comes_last),
		cmocka_unit_test(tables_arrive_in_order),
		cmocka_unit_test(decided_again_where_nobody_serves),
		cmocka_unit_test(newcomer_waits_for_the_table),
		cmocka_unit_test(refused_with_the_code),
		cmocka_unit_test(pinned_deployment),
		cmocka_unit_test(split_is_replaced),
		cmocka_unit_test(bounded_load_counts_what_is_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
