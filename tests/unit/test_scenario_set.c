/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes: --set, `set`, variants, include, --vary. */
#include "unit/scenario_rig.h"

static struct scenario *with_set(void **state, const char *path,
                                 const char *value)
{
	const struct scenario_set set = {path, value, "--set"};
	struct rig *rig = *state;

	rig_write(rig, "s.json", "{ " RIG_WHOLE " }\n");
	rig_load(rig, "s.json", NULL, &set, 1);
	return rig->s;
}

static void test_set_by_index_id_and_name(void **state)
{
	struct scenario *s;

	s = with_set(state, "endpoint.deployments[1].replicas", "5");
	assert_int_equal(s->world.deployments[1].replicas, 5);
	s = with_set(state, "endpoint.deployments[dep_b].replicas", "6");
	assert_int_equal(s->world.deployments[1].replicas, 6);
	s = with_set(state, "traffic[t].rate", "120/m");
	assert_true(s->world.loads[0].rate_rps == 2);
	s = with_set(state, "$.traffic[0].rate", "7.5");
	assert_true(s->world.loads[0].rate_rps == 7.5);
	s = with_set(state, "endpoint.trafficSplit[dep_a].weight", "4");
	assert_true(s->weights[0] == 4);
}

static void test_set_values(void **state)
{
	struct scenario *s;

	s = with_set(state, "duration", "90s");
	assert_int_equal(s->world.duration_ns, 90 * NS_PER_S);
	s = with_set(state, "traffic[0].input_tokens",
	             "{ \"uniform\": [ 5, 6 ] }");
	assert_int_equal(s->world.loads[0].input_tokens.kind, DIST_UNIFORM);
	/* A last member that is missing is made. */
	s = with_set(state, "seed", "99");
	assert_int_equal(s->seed, 99);
	s = with_set(state, "endpoint.routers", "{\"loadFactor\": \"300%\"}");
	assert_int_equal(s->world.endpoints[0].router.load_factor_percent, 300);
	/* null takes out. */
	s = with_set(state, "endpoint.deployments[1].replicas", "null");
	assert_int_equal(s->world.deployments[1].replicas, 1);
}

static void test_null_swaps_a_kind(void **state)
{
	const struct scenario_set sets[] = {
		{"traffic[0].rate", "null", "--set"},
		{"traffic[0].concurrency", "8", "--set"},
	};
	struct rig *rig = *state;

	rig_write(rig, "s.json", "{ " RIG_WHOLE " }\n");
	rig_load(rig, "s.json", NULL, sets, 2);
	assert_non_null(rig->s);
	assert_int_equal(rig->s->world.loads[0].kind, LOAD_CLOSED);
}

static void test_set_errors(void **state)
{
	struct rig *rig = *state;

	assert_null(with_set(state, "endpoint.deploymnts[0].replicas", "2"));
	assert_string_equal(rig->err.where,
	                    "--set endpoint.deploymnts[0].replicas=2");
	assert_string_equal(rig->err.text,
	                    "$.endpoint has no \"deploymnts\"; did you mean "
	                    "\"deployments\"?");
	assert_null(with_set(state, "slo.ttft", "1s"));
	assert_string_equal(rig->err.text,
	                    "$ has no \"slo\"; it has \"duration\", "
	                    "\"endpoint\", \"traffic\"");
	assert_null(
		with_set(state, "endpoint.deployments[dep_x].replicas", "2"));
	assert_string_equal(rig->err.text,
	                    "$.endpoint.deployments has no \"dep_x\"; did you "
	                    "mean \"dep_a\"?");
	assert_null(with_set(state, "traffic.rate", "2"));
	assert_string_equal(rig->err.text,
	                    "$.traffic is a list; write [0] or [name]");
	assert_null(with_set(state, "duration[0]", "2"));
	assert_string_equal(rig->err.text, "$.duration is not a list");
	assert_null(with_set(state, "include", "x.json"));
	assert_string_equal(rig->err.text, "include cannot be changed by path");
	assert_null(with_set(state, "traffic..rate", "2"));
	assert_null(with_set(state, "", "2"));
	assert_null(with_set(state, "traffic[0].input_tokens", "{ 5"));
	assert_non_null(strstr(rig->err.text, "not JSON"));
}

/* A value that is wrong is placed where it was given. */
static void test_set_of_a_wrong_value(void **state)
{
	struct rig *rig = *state;
	char text[1024];

	assert_null(with_set(state, "traffic[t].rate", "-3"));
	assert_string_equal(err_format(&rig->err, text, sizeof text),
	                    "--set traffic[t].rate=-3: $.traffic[0].rate: must "
	                    "be at least 0, not -3");
	assert_null(with_set(state, "traffic[0].rat", "3"));
	assert_string_equal(err_format(&rig->err, text, sizeof text),
	                    "--set traffic[0].rat=3: $.traffic[0].rat: unknown "
	                    "field; did you mean \"rate\"?");
}

static void test_set_of_a_file(void **state)
{
	const struct scenario *s =
		rig_read(state, RIG_WHOLE ", \"set\": { \"$comment\": \"why\", "
	                                  "\"traffic[t].rate\": 9 }");

	assert_true(s->world.loads[0].rate_rps == 9);
	assert_null(json_object_get(s->effective, "set"));
}

static void test_include(void **state)
{
	struct rig *rig = *state;

	rig_write(rig, "base.json",
	          "{ \"$comment\": \"base\", \"seed\": 5, \"slo\": { \"ttft\": "
	          "\"1s\", \"tpot\": \"9ms\" }, \"set\": { \"reps\": 2 "
	          "}, " RIG_WHOLE " }");
	rig_write(rig, "over.json",
	          "{ \"include\": \"base.json\", \"seed\": 6, \"slo\": { "
	          "\"ttft\": \"2s\" }, \"traffic\": [{ \"name\": \"only\", "
	          "\"rate\": 1, \"input_tokens\": 1, \"output_tokens\": 1 }] "
	          "}");
	rig_write(
		rig, "top.json",
		"{ \"include\": \"over.json\", \"slo\": { \"tpot\": null } }");
	rig_load(rig, "top.json", NULL, NULL, 0);
	assert_non_null(rig->s);
	assert_string_equal(rig->s->name, "top");
	assert_null(rig->s->comment);
	assert_int_equal(rig->s->seed, 6);
	assert_int_equal(rig->s->reps, 2);
	assert_int_equal(rig->s->slo_ttft_ns, 2 * NS_PER_S);
	assert_int_equal(rig->s->slo_tpot_ns, TIME_NEVER);
	assert_int_equal(rig->s->world.n_loads, 1);
	assert_string_equal(rig->s->world.loads[0].name, "only");
	assert_int_equal(rig->s->world.n_deployments, 2);
	assert_null(json_object_get(rig->s->effective, "include"));
}

/* The file that had the last word is the one that is blamed. */
static void test_include_blames_the_right_file(void **state)
{
	struct rig *rig = *state;

	rig_write(rig, "base.json",
	          "{\n" RIG_ENDPOINT ",\n" RIG_TRAFFIC ",\n\"seed\": -1 }");
	rig_write(rig, "over.json",
	          "{ \"include\": \"base.json\",\n"
	          "  \"duration\": \"10\" }");
	rig_load(rig, "over.json", NULL, NULL, 0);
	rig_refused(rig, "$.seed", "must be at least 0");
	assert_non_null(strstr(rig->err.where, "/base.json"));
	assert_int_equal(rig->err.line, 4);
	assert_int_equal(rig->err.col, 9);
	rig_write(rig, "base.json",
	          "{\n" RIG_ENDPOINT ",\n" RIG_TRAFFIC ",\n\"seed\": 1 }");
	rig_load(rig, "over.json", NULL, NULL, 0);
	rig_refused(rig, "$.duration", "must be a duration");
	assert_non_null(strstr(rig->err.where, "/over.json"));
	assert_int_equal(rig->err.line, 2);
	assert_int_equal(rig->err.col, 15);
}

static void test_variants(void **state)
{
	const struct scenario_set set = {"traffic[0].rate", "9", "--set"};
	struct rig *rig = *state;

	rig_write(rig, "s.json",
	          "{ " RIG_WHOLE ",\n \"variants\": [ { \"name\": \"fast\", "
	          "\"set\": { \"traffic[t].rate\": 8, \"seed\": 3 } },\n"
	          "  { \"name\": \"wrong\", \"set\": {\n"
	          "    \"traffic[t].rate\": -8 } } ] }");
	rig_load(rig, "s.json", NULL, NULL, 0);
	assert_int_equal(rig->s->n_variants, 2);
	assert_string_equal(rig->s->variants[0], "fast");
	assert_true(rig->s->world.loads[0].rate_rps == 2);
	assert_null(json_object_get(rig->s->effective, "variants"));
	rig_load(rig, "s.json", "fast", NULL, 0);
	assert_true(rig->s->world.loads[0].rate_rps == 8);
	assert_int_equal(rig->s->seed, 3);
	/* What is asked for on the command line comes last. */
	rig_load(rig, "s.json", "fast", &set, 1);
	assert_true(rig->s->world.loads[0].rate_rps == 9);
	rig_load(rig, "s.json", "wrong", NULL, 0);
	rig_refused(rig, "$.traffic[0].rate", "must be at least 0, not -8");
	assert_int_equal(rig->err.line, 4);
	assert_int_equal(rig->err.col, 24);
	rig_load(rig, "s.json", "fasst", NULL, 0);
	rig_refused(rig, "", "did you mean \"fast\"?");
}

static void vary(const char *text, int n, const char *first, const char *last)
{
	struct err e = {.set = false};
	const char *const *values = NULL;
	struct arena arena;

	arena_init(&arena);
	assert_int_equal(scenario_vary(text, &arena, &values, &e), n);
	assert_int_equal(e.set, n < 0);
	if (n > 0) {
		assert_string_equal(values[0], first);
		assert_string_equal(values[n - 1], last);
	}
	arena_fini(&arena);
}

static void test_vary(void **state)
{
	(void)state;
	vary("4,8,16", 3, "4", "16");
	vary("one", 1, "one", "one");
	vary("{\"uniform\":[1,2]},5", 2, "{\"uniform\":[1,2]}", "5");
	vary("\"a,b\",c", 2, "\"a,b\"", "c");
	vary("10..40/4", 4, "10", "40");
	vary("0..1/11", 11, "0", "1");
	vary("0.1..0.3/3", 3, "0.1", "0.3");
	vary("10s..60s/6", 6, "10s", "60s");
	vary("10..60s/6", 6, "10s", "60s");
	vary("../x.json,y", 2, "../x.json", "y");
	vary("", -1, NULL, NULL);
	vary("1,,2", -1, NULL, NULL);
	vary("1,", -1, NULL, NULL);
	vary("1..2", -1, NULL, NULL);
	vary("1..2/1", -1, NULL, NULL);
	vary("1s..2m/3", -1, NULL, NULL);
	vary("1..2/99999999", -1, NULL, NULL);
	vary("1..x/3", -1, NULL, NULL);
}

/* Steps in between are what a person would write. */
static void test_vary_steps(void **state)
{
	struct err e = {.set = false};
	const char *const *values;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_int_equal(scenario_vary("0..1/11", &arena, &values, &e), 11);
	assert_string_equal(values[3], "0.3");
	assert_string_equal(values[7], "0.7");
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_set_by_index_id_and_name),
		RIG_TEST(test_set_values),
		RIG_TEST(test_null_swaps_a_kind),
		RIG_TEST(test_set_errors),
		RIG_TEST(test_set_of_a_wrong_value),
		RIG_TEST(test_set_of_a_file),
		RIG_TEST(test_include),
		RIG_TEST(test_include_blames_the_right_file),
		RIG_TEST(test_variants),
		cmocka_unit_test(test_vary),
		cmocka_unit_test(test_vary_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
