/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights, config revisions, profiles, and what is written back. */
#include "unit/scenario_rig.h"

/* Weights of dep_a and dep_b as integers, under two edits of the timeline. */
static void weights(void **state, const char *a, const char *b,
                    const char *later, uint64_t out[3])
{
	const struct scenario *s;
	char body[4096];

	snprintf(body, sizeof body,
	         RIG_DURATION
	         ", " RIG_TRAFFIC
	         ", \"endpoint\": { \"id\": \"ep_x\", \"traffic_split\": [ { "
	         "\"deployment_id\": \"dep_a\", \"weight\": %s }, { "
	         "\"deployment_id\": \"dep_b\", \"weight\": %s } "
	         "], " RIG_DEPLOYMENTS " }, \"timeline\": [{ \"at\": \"1m\", "
	         "\"set_weight\": { \"deployment_id\": \"dep_a\", \"weight\": "
	         "%s } }]",
	         a, b, later);
	s = rig_read(state, body);
	out[0] = s->world.deployments[0].weight;
	out[1] = s->world.deployments[1].weight;
	out[2] = s->world.actions[0].weight;
}

static void test_weights_keep_their_ratio(void **state)
{
	uint64_t w[3], v[3];

	weights(state, "0.7", "0.3", "0.7", w);
	weights(state, "700", "300", "700", v);
	assert_int_equal(w[0], 7);
	assert_int_equal(w[1], 3);
	assert_memory_equal(w, v, sizeof w);
	/* An edit of the timeline counts in the common scale. */
	weights(state, "1", "2", "0.5", w);
	assert_int_equal(w[0], 2);
	assert_int_equal(w[1], 4);
	assert_int_equal(w[2], 1);
	weights(state, "1", "0", "1e9", w);
	assert_int_equal(w[0], 1);
	assert_int_equal(w[1], 0);
	assert_int_equal(w[2], 1000000000);
}

static void test_endpoints_scale_apart(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_DURATION
		", \"endpoints\": [ { \"id\": \"ep_x\", " RIG_SPLIT
		", " RIG_DEPLOYMENTS
		" }, { \"id\": \"ep_y\", \"traffic_split\": [{ "
		"\"deployment_id\": \"dep_c\", \"weight\": 1e-30 }], "
		"\"deployments\": [{ \"id\": \"dep_c\", \"config\": " RIG_CONFIG
		" }] } ], \"traffic\": [{ \"name\": \"t\", "
		"\"model\": \"ep_y\", \"rate\": 1, \"input_tokens\": 1, "
		"\"output_tokens\": 1 }]");

	assert_int_equal(s->world.deployments[1].weight, 3);
	assert_int_equal(s->world.deployments[2].weight, 1);
	assert_true(s->weights[2] == 1e-30);
}

#define CURVE                                                                  \
	"\"curve\": { \"pieces\": [ { \"upto_tokens\": 64, \"base_us\": "      \
	"7000 }, { \"base_us\": 5500.5, \"prefill_token_us\": 23.6, "          \
	"\"decode_token_us\": 20, \"context_token_us\": 0.0391, "              \
	"\"pair_us\": 0.001 } ] }"

static void test_batching_config(void **state)
{
	const struct scenario *s = rig_read(
		state, RIG_DURATION
		", " RIG_TRAFFIC
		", \"endpoint\": { \"id\": \"ep_x\", \"traffic_split\": [{ "
		"\"deployment_id\": \"dep_a\", \"weight\": 1 }], "
		"\"deployments\": [{ \"id\": \"dep_a\", \"model\": \"ml_y\", "
		"\"config\": { \"id\": \"cr_mine\", \"model\": \"ml_x\", "
		"\"engine\": \"batching\", \"gpu\": { \"type\": \"H100\", "
		"\"count\": 2 }, \"max_num_seqs\": 64, "
		"\"max_num_batched_tokens\": 8192, \"max_model_len\": 4096, "
		"\"kv_cache_tokens\": 410000, \"queue_cap\": 9, " CURVE
		" } }] }");
	const struct replica_config *c = s->world.deployments[0].config;

	assert_string_equal(s->world.deployments[0].config_id, "cr_mine");
	assert_ptr_equal(c->engine, replica_engine_find("batching"));
	assert_int_equal(c->max_num_seqs, 64);
	assert_int_equal(c->max_num_batched_tokens, 8192);
	assert_int_equal(c->max_model_len, 4096);
	assert_int_equal(c->block_tokens, 16);
	assert_int_equal(c->kv_blocks, 25625);
	assert_int_equal(c->queue_cap, 9);
	assert_int_equal(c->curve.n, 2);
	assert_int_equal(c->curve.piece[0].upto_tokens, 64);
	assert_int_equal(c->curve.piece[0].base_ticks, INT64_C(7168000000));
	assert_int_equal(c->curve.piece[1].upto_tokens, UINT32_MAX);
	assert_int_equal(c->curve.piece[1].base_ticks, INT64_C(5632512000));
	assert_int_equal(c->curve.piece[1].per_prefill_ticks, 24166400);
	assert_int_equal(c->curve.piece[1].per_decode_ticks, 20480000);
	assert_int_equal(c->curve.piece[1].per_context_ticks, 40038);
	assert_int_equal(c->curve.piece[1].per_pair_ticks, 1024);
	/* The label says another model than the config. */
	assert_int_equal(s->n_warnings, 1);
	assert_non_null(strstr(s->warnings[0].text,
	                       "the config \"cr_mine\" is of \"ml_x\""));
}

static void load_with_config(struct rig *rig, const char *config)
{
	const struct scenario_set set = {"endpoint.deployments[0].config",
	                                 config, "--set"};

	rig_write(rig, "s.json", "{ " RIG_WHOLE " }");
	rig_load(rig, "s.json", NULL, &set, 1);
}

/* A revision is made with the id that the refusal names, and then read. */
static void test_revision_in_a_file(void **state)
{
	static const char format[] =
		"{ \"id\": \"%s\", \"service_time\": \"2s\", \"engine\": "
		"\"service\" }";
	struct rig *rig = *state;
	char text[512], id[64], file[80];
	const char *end;

	snprintf(text, sizeof text, format, "cr_mine-000000");
	rig_write(rig, "cr_mine-000000.json", text);
	load_with_config(rig, "cr_mine-000000");
	rig_refused(rig, "$.id", "is not the id of this content");
	end = strstr(rig->err.text, "makes it \"");
	assert_non_null(end);
	snprintf(id, sizeof id, "%.14s", end + strlen("makes it \""));
	snprintf(file, sizeof file, "%s.json", id);
	snprintf(text, sizeof text, format, id);
	rig_write(rig, file, text);
	load_with_config(rig, id);
	assert_non_null(rig->s);
	assert_true(rig->s->world.deployments[0].config->service_ns.a == 2e9);
	/* The file under a name that is not its own. */
	rig_write(rig, "cr_mine-000000.json", text);
	load_with_config(rig, "cr_mine-000000");
	assert_null(rig->s);
}

/* XXH64 of {"engine":"service","service_time":"2s"}, by xxhsum. */
static void test_revision_digest(void **state)
{
	static const char content[] =
		"{\"engine\":\"service\",\"service_time\":\"2s\"}";
	struct rig *rig = *state;
	char right[64];

	rig_write(rig, "cr_x-000000.json",
	          "{ \"service_time\": \"2s\", \"engine\": \"service\", "
	          "\"id\": \"cr_x-000000\" }");
	load_with_config(rig, "cr_x-000000");
	snprintf(right, sizeof right, "makes it \"cr_x-%06llx\"",
	         (unsigned long long)(route_hash(content, sizeof content - 1) >>
	                              40));
	rig_refused(rig, "$.id", right);
}

/* Shipped revisions are read, and pinned when named without digest. */
static void test_shipped_revisions(void **state)
{
	static const char *const profiles[] = {"balanced", "latency",
	                                       "throughput"};
	static const uint32_t seqs[] = {64, 16, 256};
	const char *tests = getenv("WEIR_TESTS");
	const char *directory;
	struct scenario_places places = {&directory, 1};
	struct rig *rig = *state;
	char models[512], name[64], path[512], value[128];
	struct scenario_set set = {"endpoint.deployments[0].config", name,
	                           "--set"};

	snprintf(models, sizeof models, "%s/../models",
	         tests != NULL ? tests : "tests");
	directory = models;
	rig_write(rig, "s.json", "{ " RIG_WHOLE " }");
	snprintf(path, sizeof path, "%s/s.json", rig->dir);
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "8b-h100-%s", profiles[i]);
		scenario_free(rig->s);
		rig->s = scenario_load(path, NULL, &set, 1, &places, &rig->err);
		if (rig->s == NULL)
			fail_msg("%s: %s", rig->err.path, rig->err.text);
		assert_int_equal(
			rig->s->world.deployments[0].config->max_num_seqs,
			seqs[i]);
		snprintf(value, sizeof value, "\"config\": \"cr_%s-", name);
		assert_non_null(strstr(rig->s->effective_text, value));
	}
}

/* The effective scenario, run again, is itself; its digest too. */
static void test_round_trip(void **state)
{
	const struct scenario_set sets[] = {
		{"traffic[0].rate", "0.1", "--set"},
		{"endpoint.trafficSplit[0].weight", "1e-7", "--set"},
		{"endpoint.deployments[dep_b].replicas", "1e3", "--set"},
		{"seed", "9007199254740993", "--seed"},
	};
	struct rig *rig = *state;
	char *text, digest[17];

	rig_write(rig, "s.json",
	          "{ \"$comment\": \"\\u00e4\\n\\\"\", " RIG_WHOLE
	          ", \"variants\": [{ \"name\": \"v\", \"set\": { \"reps\": 2 "
	          "} }], \"set\": { \"interval\": \"5s\" }, \"slo\": {} }");
	rig_load(rig, "s.json", "v", sets, 4);
	assert_non_null(rig->s);
	assert_int_equal(rig->s->seed, UINT64_C(9007199254740993));
	text = strdup(rig->s->effective_text);
	memcpy(digest, rig->s->digest, sizeof digest);
	rig_write(rig, "scenario.json", text);
	rig_load(rig, "scenario.json", NULL, NULL, 0);
	assert_non_null(rig->s);
	assert_string_equal(rig->s->effective_text, text);
	assert_string_equal(rig->s->digest, digest);
	assert_string_equal(rig->s->name, "s");
	assert_int_equal(rig->s->reps, 2);
	assert_true(rig->s->world.loads[0].rate_rps == 0.1);
	assert_true(rig->s->weights[0] == 1e-7);
	assert_int_equal(rig->s->world.deployments[1].replicas, 1000);
	assert_int_equal(strlen(digest), 16);
	free(text);
}

static void test_digest_follows_content(void **state)
{
	struct rig *rig = *state;
	char first[17];

	rig_read(state, RIG_WHOLE);
	memcpy(first, rig->s->digest, sizeof first);
	/* Order and spaces do not count, values do. */
	rig_read(state, RIG_TRAFFIC ",\n" RIG_ENDPOINT ",\n" RIG_DURATION);
	assert_string_equal(rig->s->digest, first);
	rig_read(state, RIG_WHOLE ", \"seed\": 2");
	assert_string_not_equal(rig->s->digest, first);
}

static void test_profile_round_trip(void **state)
{
	uint32_t input[] = {1, 50, 50, 9000}, output[] = {2, 3, 1, 700};
	double rates[] = {0.1, 1.0 / 3, 0};
	const struct load_profile p = {
		.name = "p",
		.source = "s",
		.interval_ns = 90 * NS_PER_S,
		.intervals = 3,
		.rates_rps = rates,
		.bins = 2,
		.points = 2,
		.input = input,
		.output = output,
		.requests = 39,
	};
	struct err e = {.set = false};
	struct rig *rig = *state;
	struct load_profile *q;
	struct arena arena;
	char path[512], *text;
	json_t *json;

	json = scenario_profile_json(&p);
	text = json_dumps(json, JSON_INDENT(1));
	rig_write(rig, "p.json", text);
	free(text);
	json_decref(json);
	snprintf(path, sizeof path, "%s/p.json", rig->dir);
	arena_init(&arena);
	q = scenario_profile_read(path, &arena, &e);
	assert_non_null(q);
	assert_string_equal(q->name, "p");
	assert_string_equal(q->source, "s");
	assert_int_equal(q->interval_ns, p.interval_ns);
	assert_int_equal(q->requests, 39);
	assert_int_equal(q->intervals, 3);
	assert_memory_equal(q->rates_rps, rates, sizeof rates);
	assert_int_equal(q->bins, 2);
	assert_int_equal(q->points, 2);
	assert_memory_equal(q->input, input, sizeof input);
	assert_memory_equal(q->output, output, sizeof output);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_weights_keep_their_ratio),
		RIG_TEST(test_endpoints_scale_apart),
		RIG_TEST(test_batching_config),
		RIG_TEST(test_revision_in_a_file),
		RIG_TEST(test_revision_digest),
		RIG_TEST(test_shipped_revisions),
		RIG_TEST(test_round_trip),
		RIG_TEST(test_digest_follows_content),
		RIG_TEST(test_profile_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
