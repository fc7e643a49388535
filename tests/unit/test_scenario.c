/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read, and the structs it becomes. */
#include "unit/scenario_rig.h"

static void test_defaults(void **state)
{
	const struct scenario *s = rig_read(state, RIG_WHOLE);
	const struct world_deployment *d = s->world.deployments;
	const struct load_spec *t = s->world.loads;

	assert_string_equal(s->name, "s");
	assert_null(s->comment);
	assert_int_equal(s->seed, 1);
	assert_int_equal(s->reps, 1);
	assert_int_equal(s->world.duration_ns, 600 * NS_PER_S);
	assert_int_equal(s->world.warmup_ns, 0);
	assert_int_equal(s->world.interval_ns, 10 * NS_PER_S);
	assert_int_equal(s->slo_ttft_ns, TIME_NEVER);
	assert_int_equal(s->world.n_endpoints, 1);
	assert_int_equal(s->world.endpoints[0].router.load_factor_percent, 200);
	assert_true(s->world.endpoints[0].router.propagation_ns.a == 30e9);
	assert_false(s->world.endpoints[0].earlier_errors);
	assert_int_equal(s->world.n_deployments, 2);
	assert_string_equal(d[0].id, "dep_a");
	assert_string_equal(d[0].config_id, "inline");
	assert_int_equal(d[0].replicas, 1);
	assert_int_equal(d[1].replicas, 3);
	assert_ptr_equal(d[0].replica_choice,
	                 route_policy_find("bounded_ring"));
	assert_true(d[0].cold_start.image_pull_ns.a == 30e9);
	assert_true(d[0].cold_start.start_ns.a == 30e9);
	assert_true(d[0].cold_start.weights_ns.a == 26e9);
	assert_true(d[0].cold_start.warmup_ns.a == 0);
	assert_false(d[0].cold_at_start);
	assert_int_equal(s->world.n_loads, 1);
	assert_int_equal(t->kind, LOAD_OPEN);
	assert_int_equal(t->process, LOAD_POISSON);
	assert_true(t->rate_rps == 2);
	assert_int_equal(t->target, 0);
	assert_int_equal(t->pinned, UINT32_MAX);
	assert_int_equal(t->from_ns, 0);
	assert_int_equal(t->until_ns, TIME_NEVER);
	assert_true(t->requests == UINT64_MAX);
	assert_int_equal(t->keys.kind, LOAD_KEYS_UNIQUE);
	assert_int_equal(t->timeout_ns, 60 * NS_PER_S);
	assert_true(t->input_tokens.a == 10 && t->output_tokens.a == 5);
	assert_int_equal(s->n_warnings, 0);
}

static void test_deployment(void **state)
{
	const struct scenario *s = rig_read(
		state,
		"\"$comment\": \"one idea\", \"name\": \"n\", \"seed\": 7, "
		"\"reps\": 3, " RIG_DURATION ", " RIG_TRAFFIC
		", \"slo\": { \"ttft\": \"500ms\", \"tpot\": \"50ms\" }, "
		"\"endpoint\": { \"id\": \"endpoint_old\", \"errors\": "
		"\"earlier\", \"routers\": { \"propagation\": { \"uniform\": "
		"[ \"10s\", \"1m\" ] }, \"load_factor\": \"150%\" }, "
		"\"traffic_split\": [{ \"deployment_id\": \"dep_a\", "
		"\"weight\": 0.5 }], \"deployments\": [{ \"id\": \"dep_a\", "
		"\"model\": \"ml_x\", \"config\": " RIG_CONFIG
		", \"replica_choice\": \"least_inflight\", \"start\": "
		"\"cold\", \"cold_start\": { \"weights\": { \"lognormal\": { "
		"\"mean\": \"26s\", \"cv\": 0.2, \"max\": \"2m\" } } } }] }");
	const struct world_endpoint *e = s->world.endpoints;
	const struct world_deployment *d = s->world.deployments;

	assert_string_equal(s->comment, "one idea");
	assert_string_equal(s->name, "n");
	assert_string_equal(s->world.name, "n");
	assert_int_equal(s->seed, 7);
	assert_int_equal(s->reps, 3);
	assert_int_equal(s->slo_ttft_ns, 500 * NS_PER_MS);
	assert_int_equal(s->slo_tpot_ns, 50 * NS_PER_MS);
	assert_string_equal(e->id, "endpoint_old");
	assert_string_equal(e->name, "endpoint_old");
	assert_true(e->earlier_errors);
	assert_int_equal(e->router.propagation_ns.kind, DIST_UNIFORM);
	assert_true(e->router.propagation_ns.a == 10e9);
	assert_true(e->router.propagation_ns.b == 60e9);
	assert_int_equal(e->router.load_factor_percent, 150);
	assert_ptr_equal(d->replica_choice,
	                 route_policy_find("least_inflight"));
	assert_true(d->cold_at_start);
	assert_int_equal(d->cold_start.weights_ns.kind, DIST_LOGNORMAL);
	assert_true(d->cold_start.weights_ns.a == 26e9);
	assert_true(d->cold_start.weights_ns.b == 0.2);
	assert_true(d->cold_start.weights_ns.max == 120e9);
	assert_true(d->cold_start.weights_ns.min == -INFINITY);
	assert_true(s->weights[0] == 0.5);
}

static void test_several_endpoints(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_DURATION
		", \"endpoints\": [ { \"id\": \"ep_x\", \"name\": "
		"\"acme/x\", " RIG_SPLIT ", " RIG_DEPLOYMENTS
		" }, { \"id\": \"ep_y\", \"name\": \"acme/x/y\", "
		"\"traffic_split\": [{ \"deployment_id\": \"dep_c\", "
		"\"weight\": 1 }], \"deployments\": [{ \"id\": \"dep_c\", "
		"\"config\": " RIG_CONFIG " }] } ], \"traffic\": [ "
		"{ \"name\": \"one\", \"model\": \"acme/x/y\", \"rate\": 1, "
		"\"input_tokens\": 1, \"output_tokens\": 1 }, "
		"{ \"name\": \"two\", \"model\": \"acme/x/dep_b\", "
		"\"rate\": 1, \"input_tokens\": 1, \"output_tokens\": 1 } ]");

	assert_int_equal(s->world.n_endpoints, 2);
	assert_int_equal(s->world.endpoints[1].first, 2);
	assert_int_equal(s->world.endpoints[1].n_deployments, 1);
	assert_int_equal(s->world.loads[0].target, 1);
	assert_int_equal(s->world.loads[0].pinned, UINT32_MAX);
	assert_int_equal(s->world.loads[1].target, 0);
	assert_int_equal(s->world.loads[1].pinned, 1);
	assert_int_equal(s->world.names.endpoint_of[1], 0);
	assert_int_equal(s->world.names.endpoint_of[2], 1);
	assert_string_equal(s->world.names.traffics[1], "two");
}

static void test_loads(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_ENDPOINT
		", \"duration\": \"1h\", \"traffic\": [ { \"name\": \"ramp\", "
		"\"rate\": \"1200/m\", \"process\": \"constant\", \"stages\": "
		"[ { \"duration\": \"10m\", \"target\": 20 }, { \"duration\": "
		"\"0s\", \"target\": \"60/m\" } ], \"lengths\": { "
		"\"profile\": \"p\" }, \"keys\": { \"users\": 1e5, "
		"\"zipf\": 1.1 }, \"timeout\": \"never\" }, "
		"{ \"name\": \"bench\", \"concurrency\": 16, \"think\": { "
		"\"exponential\": { \"mean\": \"2s\", \"max\": \"1m\" } }, "
		"\"requests\": 500, \"from\": \"5m\", \"until\": \"6m\", "
		"\"inputTokens\": { \"empirical\": { \"values\": [1, 2, 3], "
		"\"weights\": [1, 0, 3] } }, \"output_tokens\": { "
		"\"empirical\": [7, 8] }, \"keys\": \"same\", \"prefix\": "
		"{ \"groups\": 40, \"tokens\": 512, \"zipf\": 1.1 } }, "
		"{ \"name\": \"replayed\", \"trace\": \"t.csv\", \"speed\": 2, "
		"\"columns\": { \"key\": \"who\" } }, "
		"{ \"name\": \"hour\", \"profile\": \"p.json\" } ]");
	const struct load_spec *t;

	(void)s;
	t = s->world.loads;
	assert_true(t->rate_rps == 20);
	assert_int_equal(t->process, LOAD_CONSTANT);
	assert_int_equal(t->n_stages, 2);
	assert_int_equal(t->stages[0].duration_ns, 600 * NS_PER_S);
	assert_true(t->stages[1].target_rps == 1);
	assert_string_equal(t->lengths->name, "p");
	assert_int_equal(t->keys.kind, LOAD_KEYS_DRAWN);
	assert_int_equal(t->keys.users, 100000);
	assert_int_equal(t->keys.prompt_cache_keys, 0);
	assert_true(t->keys.zipf == 1.1);
	assert_int_equal(t->prefix.groups, 0);
	assert_int_equal(t->timeout_ns, TIME_NEVER);
	t++;
	assert_int_equal(t->kind, LOAD_CLOSED);
	assert_int_equal(t->concurrency, 16);
	assert_int_equal(t->think_ns.kind, DIST_EXPONENTIAL);
	assert_true(t->think_ns.a == 2e9 && t->think_ns.max == 60e9);
	assert_int_equal(t->error_pause_ns, NS_PER_S);
	assert_int_equal(t->requests, 500);
	assert_int_equal(t->from_ns, 300 * NS_PER_S);
	assert_int_equal(t->until_ns, 360 * NS_PER_S);
	assert_int_equal(t->input_tokens.kind, DIST_EMPIRICAL);
	assert_int_equal(t->input_tokens.n, 3);
	assert_true(t->input_tokens.cumulative[0] == 0.25);
	assert_true(t->input_tokens.cumulative[1] == 0.25);
	assert_true(t->input_tokens.cumulative[2] == 1);
	assert_true(t->output_tokens.cumulative[0] == 0.5);
	assert_int_equal(t->keys.kind, LOAD_KEYS_SAME);
	assert_int_equal(t->prefix.groups, 40);
	assert_int_equal(t->prefix.tokens, 512);
	assert_true(t->prefix.zipf == 1.1);
	t++;
	assert_int_equal(t->kind, LOAD_TRACE);
	assert_non_null(strstr(t->trace, "/t.csv"));
	assert_true(t->speed == 2);
	assert_string_equal(t->columns.key, "who");
	assert_null(t->columns.session);
	assert_int_equal(t->keys.kind, LOAD_KEYS_CONTENT);
	t++;
	assert_int_equal(t->kind, LOAD_PROFILE);
	assert_true(t->speed == 1);
	assert_int_equal(t->profile->intervals, 2);
	assert_int_equal(t->keys.kind, LOAD_KEYS_UNIQUE);
}

static void write_load_files(void **state)
{
	rig_write(*state, "t.csv",
	          "arrival_us,input_tokens,output_tokens,who\n0,5,6,a\n");
	rig_write(*state, "p.json",
	          "{ \"name\": \"p\", \"interval\": \"60s\", \"requests\": 9, "
	          "\"rates_rps\": [0.1, 0.05], \"lengths\": { "
	          "\"input\": [[1, 5], [5, 9]], "
	          "\"output\": [[2, 2], [1, 40]] } }");
}

static void test_loads_with_files(void **state)
{
	write_load_files(state);
	test_loads(state);
}

static void test_finite_without_duration(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_ENDPOINT
		", \"traffic\": [{ \"name\": \"t\", \"rate\": 1, "
		"\"requests\": 10, \"input_tokens\": 1, \"output_tokens\": 1 "
		"}]");

	assert_int_equal(s->world.duration_ns, TIME_NEVER);
	assert_int_equal(s->world.loads[0].requests, 10);
}

static void test_timeline(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_WHOLE
		", \"timeline\": [ "
		"{ \"at\": \"5m\", \"update_deployment\": { \"id\": \"dep_a\", "
		"\"replicas\": 2 } }, "
		"{ \"at\": \"1m\", \"set_weight\": { \"deployment_id\": "
		"\"dep_b\", \"weight\": 0 } }, "
		"{ \"at\": \"2m\", \"updateEndpoint\": { \"updateMask\": "
		"\"trafficSplit\", \"trafficSplit\": [{ \"deploymentId\": "
		"\"dep_b\", \"weight\": 6 }] } }, "
		"{ \"at\": \"3m\", \"stop_deployment\": \"dep_b\" }, "
		"{ \"when\": \"replicas.ready(dep_b) == 0\", "
		"\"restart_deployment\": \"dep_b\" }, "
		"{ \"at\": \"4m\", \"fault\": { \"crash\": { \"deployment\": "
		"\"dep_a\", \"replicas\": 1, \"in_flight\": \"retry\" } } }, "
		"{ \"at\": \"4m\", \"fault\": { \"crash\": { \"deployment\": "
		"\"dep_b\" } } }, "
		"{ \"at\": \"4m\", \"fault\": { \"restore\": { "
		"\"deployment\": \"dep_a\" } } } ]");
	const struct world_action *a = s->world.actions;

	assert_int_equal(s->world.n_actions, 8);
	assert_int_equal(a[0].operation, WORLD_SET_REPLICAS);
	assert_int_equal(a[0].at_ns, 300 * NS_PER_S);
	assert_int_equal(a[0].replicas, 2);
	assert_int_equal(a[1].operation, WORLD_SET_WEIGHT);
	assert_int_equal(a[1].deployment, 1);
	assert_int_equal(a[1].weight, 0);
	assert_int_equal(a[2].operation, WORLD_SET_SPLIT);
	assert_false(a[2].listed[0]);
	assert_true(a[2].listed[1]);
	assert_int_equal(a[2].weights[1], 6);
	assert_int_equal(a[3].operation, WORLD_STOP_DEPLOYMENT);
	assert_int_equal(a[4].operation, WORLD_RESTART_DEPLOYMENT);
	assert_true(a[4].on_condition);
	assert_int_equal(a[4].when.metric, METRIC_READY);
	assert_int_equal(a[4].when.deployment, 1);
	assert_int_equal(a[4].when.compare, COMPARE_EQ);
	assert_true(a[4].when.value == 0);
	assert_int_equal(a[5].operation, WORLD_CRASH);
	assert_int_equal(a[5].replicas, 1);
	assert_true(a[5].retry_in_flight);
	assert_int_equal(a[6].replicas, UINT32_MAX);
	assert_false(a[6].retry_in_flight);
	assert_int_equal(a[7].operation, WORLD_RESTORE);
	assert_int_equal(a[7].replicas, UINT32_MAX);
}

static void test_rules(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_WHOLE ", \"expect\": [ \"share(dep_a) == 1/10\", "
				 "\"replicas.ready(dep_b) == 3\" ]");

	assert_int_equal(s->n_rules, 2);
	assert_string_equal(s->rules[1].text, "replicas.ready(dep_b) == 3");
	assert_int_equal(s->terms.n, 2);
	assert_ptr_equal(s->world.terms, &s->terms);
}

static void test_warnings(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_DURATION
		", " RIG_TRAFFIC
		", \"endpoint\": { \"id\": \"ep_x\", \"traffic_split\": [{ "
		"\"deployment_id\": \"dep_a\", \"weight\": 0 "
		"}], " RIG_DEPLOYMENTS " }, \"timeline\": [{ \"at\": \"11m\", "
		"\"update_deployment\": { \"id\": \"dep_a\", \"replicas\": 2 "
		"} }], \"expect\": [ \"share(dep_a, 0s..99h) == 0\" ]");
	static const char *const parts[] = {
		"/s.json: $.endpoint.deployments[0]: \"dep_a\" has replicas "
		"but weighs 0",
		"/s.json: $.endpoint.deployments[1]: \"dep_b\" has replicas "
		"but is not in traffic_split",
		"/s.json: $.endpoint.traffic_split: nothing can be routed on "
		"\"ep_x\"",
		"/s.json: $.expect[0]: a window of this rule ends after the "
		"run",
		"/s.json: $.timeline[0]: this is after the end of the run",
	};

	assert_int_equal(s->n_warnings, 5);
	for (size_t i = 0; i < 5; i++)
		assert_non_null(strstr(s->warnings[i].text, parts[i]));
}

static void test_no_warning_when_weight_comes_later(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_DURATION
		", " RIG_TRAFFIC
		", \"endpoint\": { \"id\": \"ep_x\", \"traffic_split\": [{ "
		"\"deployment_id\": \"dep_a\", \"weight\": 1 "
		"}], " RIG_DEPLOYMENTS " }, \"timeline\": [{ \"at\": \"1m\", "
		"\"set_weight\": { \"deployment_id\": \"dep_b\", \"weight\": 1 "
		"} }]");

	assert_int_equal(s->n_warnings, 0);
}

/* Every default of the table that is a value must be one that is read. */
static void test_fields(void **state)
{
	const struct scenario_field *f;
	size_t i, k;

	(void)state;
	for (i = 0; (f = scenario_field(i)) != NULL; i++) {
		assert_true(strlen(f->name) > 0 && strlen(f->type) > 0);
		assert_true(strlen(f->sentence) > 0);
		for (k = 0; k < i; k++)
			assert_false(
				strcmp(scenario_field(k)->object, f->object) ==
					0 &&
				strcmp(scenario_field(k)->name, f->name) == 0);
	}
	assert_true(i > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_defaults),
		RIG_TEST(test_deployment),
		RIG_TEST(test_several_endpoints),
		RIG_TEST(test_loads_with_files),
		RIG_TEST(test_finite_without_duration),
		RIG_TEST(test_timeline),
		RIG_TEST(test_rules),
		RIG_TEST(test_warnings),
		RIG_TEST(test_no_warning_when_weight_comes_later),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
