/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The forms of step time, the GPUs and models they are made from, and what
 * memory is left for KV. Expected numbers are counted here by hand, from the
 * shape of the model, not by the code that is tested.
 */
#include <inttypes.h>

#include "unit/scenario_rig.h"

/* A GPU and a model whose counts come out round. */
#define GPUS                                                                   \
	"{ \"types\": [ { \"name\": \"Round GPU\", \"short\": \"Round\", "     \
	"\"memory_gib\": 80, \"bandwidth_tb_s\": 2, \"bf16_tflops\": 500, "    \
	"\"fp8_tflops\": 1000, \"nvlink_gb_s\": 100, "                         \
	"\"source\": \"Made up.\" } ] }"
#define SHAPE                                                                  \
	"\"hidden_size\": 1000, \"num_hidden_layers\": 10, "                   \
	"\"num_attention_heads\": 10, \"intermediate_size\": 2000, "           \
	"\"vocab_size\": 50000"
#define MODEL                                                                  \
	"{ " SHAPE ", \"num_key_value_heads\": 5, \"head_dim\": 100, "         \
	"\"parameters\": 190000000 }"
#define LIMITS "\"max_num_seqs\": 64, \"max_num_batched_tokens\": 8192, "
#define ROUND "\"model\": \"ml_round\", \"precision\": \"bf16\", "
#define GPU(n) "\"gpu\": { \"type\": \"Round\", \"count\": " #n " }, "

/* A layer: hidden (2 q + 2 kv) + 3 hidden intermediate. */
#define LAYER_WEIGHTS (1000.0 * (2000 + 1000) + 3 * 1000.0 * 2000)
#define OUTPUT_WEIGHTS (50000.0 * 1000)

static const double ticks_us = 1024.0 * 1000;

/* Reads a scenario whose only deployment has a config of those members. */
static const struct replica_config *config(void **state, const char *members)
{
	char body[4096];

	rig_write(*state, "gpus.json", GPUS);
	rig_write(*state, "ml_round.json", MODEL);
	snprintf(body, sizeof body,
	         RIG_DURATION ", " RIG_TRAFFIC
	                      ", \"endpoint\": { \"id\": \"ep_x\", "
	                      "\"traffic_split\": [{ \"deployment_id\": "
	                      "\"dep_a\", \"weight\": 1 }], "
	                      "\"deployments\": [{ \"id\": \"dep_a\", "
	                      "\"config\": { " LIMITS "%s } }] }",
	         members);
	return rig_read(state, body)->world.deployments[0].config;
}

static double step_us(const struct replica_config *c, uint32_t prefill,
                      uint32_t decodes, uint64_t contexts)
{
	const struct replica_batch batch = {
		.prefill_tokens = prefill,
		.decodes = decodes,
		.contexts = contexts,
	};

	return (double)replica_step_ticks(&c->curve, &batch) / ticks_us;
}

/* Within a part in 10^5: coefficients are rounded to ticks. */
static void near(double seen, double expected)
{
	if (fabs(seen / expected - 1) > 1e-5)
		fail_msg("%.6f is not near %.6f", seen, expected);
}

/* ---- forms ------------------------------------------------------------- */

static void test_linear(void **state)
{
	const struct replica_config *c =
		config(state, "\"linear\": { \"base_us\": 7052, "
	                      "\"prefill_token_us\": 19.54, "
	                      "\"decode_token_us\": 25.43 }");

	assert_int_equal(c->curve.n, 1);
	assert_false(c->curve.has_floor);
	near(step_us(c, 0, 1, 0), 7052 + 25.43);
	near(step_us(c, 2048, 10, 1000000), 7052 + 2048 * 19.54 + 254.3);
	/* No GPU is named: KV is never short. */
	assert_int_equal(c->kv_blocks, 0);
}

static void test_curve_with_floor(void **state)
{
	const struct replica_config *c = config(
		state, "\"curve\": { \"pieces\": [ { \"base_us\": 1000, "
		       "\"prefill_token_us\": 50, \"decode_token_us\": 60 } ], "
		       "\"floor\": { \"base_us\": 9000, "
		       "\"context_token_us\": 0.5 } }");

	assert_true(c->curve.has_floor);
	near(step_us(c, 0, 1, 100), 9050);
	near(step_us(c, 0, 1, 0), 9000);
	near(step_us(c, 400, 0, 0), 21000);
	near(step_us(c, 400, 2, 30000), 24000);
}

static void test_floor_alone_may_take_the_time(void **state)
{
	const struct replica_config *c =
		config(state, "\"curve\": { \"pieces\": [ { \"base_us\": 0, "
	                      "\"decode_token_us\": 60 } ], "
	                      "\"floor\": { \"base_us\": 9000 } }");

	near(step_us(c, 10, 0, 0), 9000);
}

static void test_roofline_moves_and_computes(void **state)
{
	const struct replica_config *c =
		config(state, ROUND GPU(1) "\"roofline\": { \"mfu\": 0.5, "
	                                   "\"bandwidth_efficiency\": 0.5, "
	                                   "\"base_us\": 100, \"layer_us\": 3, "
	                                   "\"request_us\": 7 }");
	const double weights = 10 * LAYER_WEIGHTS + OUTPUT_WEIGHTS;
	/* 1 TB/s and 250 TFLOP/s are left; bf16 has 2 bytes. */
	const double move = weights * 2 / 1e6;
	const double kv = 2.0 * 10 * 5 * 100 * 2 / 1e6;
	const double token = 2 * 10 * LAYER_WEIGHTS / 250e6;
	const double pair = 4.0 * 10 * 10 * 100 / 250e6;

	/* One decode moves the weights, its context and itself. */
	near(step_us(c, 0, 1, 999), 130 + 7 + move + 1000 * kv);
	/* A long prompt computes; the weights hide behind it. */
	near(step_us(c, 4096, 0, 0), 130 + 4096 * token);
	/* Both together are one pass. */
	near(step_us(c, 4096, 2, 2000),
	     130 + 14 + 4098 * token + 2 * (2 * OUTPUT_WEIGHTS / 250e6) +
	             2000 * pair);
	/* Coefficients are whole ticks, about 10^-6 us. */
	assert_int_equal(c->curve.piece[0].per_pair_ticks,
	                 (int64_t)(pair * ticks_us + 0.5));
	assert_int_equal(c->curve.floor.per_pair_ticks, 0);
}

static void test_roofline_over_gpus(void **state)
{
	const char *form = "\"roofline\": { \"mfu\": 0.5, "
			   "\"bandwidth_efficiency\": 0.5, \"base_us\": 0, "
			   "\"layer_us\": 0, \"request_us\": 0, "
			   "\"allreduce_us\": 11 }";
	char members[512];
	const struct replica_config *c;
	double one, two, moved;

	snprintf(members, sizeof members, ROUND GPU(1) "%s", form);
	one = step_us(config(state, members), 0, 1, 0);
	snprintf(members, sizeof members, ROUND GPU(2) "%s", form);
	c = config(state, members);
	two = step_us(c, 0, 1, 0);
	/* 20 all-reduces: 11 us each, and 2000 bytes once there and back. */
	moved = 20 * 2000 * 2 * 0.5 / 100e3;
	near(two, one / 2 + 220 + moved);
}

static void test_roofline_by_precision(void **state)
{
	const char *form = "\"roofline\": { \"base_us\": 0, \"layer_us\": 0, "
			   "\"request_us\": 0 }";
	char members[512];
	double bf16, fp8;

	snprintf(members, sizeof members, ROUND GPU(1) "%s", form);
	bf16 = step_us(config(state, members), 4096, 0, 0);
	snprintf(
		members, sizeof members,
		"\"model\": \"ml_round\", \"precision\": \"fp8\", " GPU(1) "%s",
		form);
	fp8 = step_us(config(state, members), 4096, 0, 0);
	near(bf16, 2 * fp8);
}

static void test_waits_and_stalls(void **state)
{
	const struct replica_config *c = config(
		state, "\"overhead\": \"15ms\", \"join_wait\": { \"wait\": "
		       "\"50ms\", \"count\": 8 }, \"stall\": { "
		       "\"per_minute\": 1.5, \"above_batch\": 4, "
		       "\"duration\": \"31s\" }, \"linear\": { "
		       "\"base_us\": 1, \"prefill_token_us\": 1, "
		       "\"decode_token_us\": 1 }");

	assert_int_equal(c->overhead_ns, 15 * NS_PER_MS);
	assert_int_equal(c->join_wait.wait_ns, 50 * NS_PER_MS);
	assert_int_equal(c->join_wait.count, 8);
	assert_true(c->stall.per_minute == 1.5);
	assert_int_equal(c->stall.above_batch, 4);
	assert_true(dist_mean(&c->stall.duration_ns) == 31e9);
	c = config(state, "\"linear\": { \"base_us\": 1, "
	                  "\"prefill_token_us\": 1, "
	                  "\"decode_token_us\": 1 }");
	assert_int_equal(c->overhead_ns, 0);
	assert_int_equal(c->join_wait.wait_ns, 0);
	assert_true(c->stall.per_minute == 0);
}

#define ONE_EACH                                                               \
	"\"linear\": { \"base_us\": 1, \"prefill_token_us\": 1, "              \
	"\"decode_token_us\": 1 }"

static void test_drafts(void **state)
{
	const struct replica_config *c = config(
		state, "\"draft\": { \"tokens\": 3, \"acceptance\": [ 0.9, "
		       "0.5, 0 ], \"lookahead\": 2, \"step_us\": 900, "
		       "\"per_decode_us\": 0.5 }, " ONE_EACH);

	assert_int_equal(c->draft.tokens, 3);
	assert_true(c->draft.acceptance[0] == 0.9);
	assert_true(c->draft.acceptance[1] == 0.5);
	assert_true(c->draft.acceptance[2] == 0);
	assert_int_equal(c->draft.lookahead, 2);
	near((double)c->draft.step_ticks, 900 * ticks_us);
	near((double)c->draft.per_decode_ticks, 0.5 * ticks_us);
	c = config(state, "\"draft\": { \"tokens\": 2, \"acceptance\": 0.7, "
	                  "\"lookahead\": 0 }, " ONE_EACH);
	assert_true(c->draft.acceptance[0] == 0.7);
	assert_true(c->draft.acceptance[1] == 0.7);
	assert_true(c->draft.acceptance[2] == 0);
	assert_int_equal(c->draft.step_ticks, 0);
	assert_int_equal(config(state, ONE_EACH)->draft.tokens, 0);
}

static void test_cache_and_chunks(void **state)
{
	const struct replica_config *c = config(
		state,
		"\"prefix_cache\": true, \"kv_blocks\": 250, "
		"\"watermark\": 0.01, \"long_prefill_tokens\": 512, " ONE_EACH);

	assert_true(c->prefix_cache);
	assert_int_equal(c->watermark_blocks, 2);
	assert_int_equal(c->long_prefill_tokens, 512);
	c = config(state, "\"prefix_cache\": false, " ONE_EACH);
	assert_false(c->prefix_cache);
	assert_int_equal(c->watermark_blocks, 0);
	assert_int_equal(c->long_prefill_tokens, 0);
}

/* ---- models and memory ------------------------------------------------- */

static void test_kv_from_memory(void **state)
{
	/* 2 x 10 layers x 5 heads x 100 x 2 bytes a token, 16 a block. */
	const double block = 2.0 * 10 * 5 * 100 * 2 * 16;
	const double gib = 1024.0 * 1024 * 1024;
	const struct replica_config *c =
		config(state, ROUND GPU(1) "\"linear\": { \"base_us\": 1, "
	                                   "\"prefill_token_us\": 1, "
	                                   "\"decode_token_us\": 1 }");

	assert_int_equal(
		c->kv_blocks,
		(uint64_t)floor(((72 - 5.65) * gib - 190e6 * 2) / block));
	c = config(state,
	           ROUND "\"kv_precision\": \"fp8\", \"gpu\": { \"type\": "
	                 "\"Round GPU\", \"count\": 2, "
	                 "\"memory_utilization\": 0.5, \"reserved_gib\": 1 }, "
	                 "\"roofline\": {}");
	assert_int_equal(c->kv_blocks,
	                 (uint64_t)floor((2 * (40 - 1) * gib - 190e6 * 2) /
	                                 (block / 2)));
	/* What is written down wins. */
	c = config(state, ROUND GPU(1) "\"kv_blocks\": 77, \"roofline\": {}");
	assert_int_equal(c->kv_blocks, 77);
}

/* With all numbers written down GPU and model are labels. */
static void test_labels_are_not_looked_up(void **state)
{
	const struct replica_config *c = config(
		state, "\"model\": \"ml_nowhere\", \"gpu\": { \"type\": "
		       "\"Abacus\" }, \"kv_cache_tokens\": 1600, "
		       "\"linear\": { \"base_us\": 1, "
		       "\"prefill_token_us\": 1, \"decode_token_us\": 1 }");

	assert_int_equal(c->kv_blocks, 100);
}

static void test_hugging_face(void **state)
{
	struct rig *rig = *state;
	const struct replica_config *a, *b;
	struct replica_curve curve;
	uint64_t blocks;

	rig_write(rig, "own.json",
	          "{ \"architectures\": [ \"X\" ], " SHAPE
	          ", \"num_key_value_heads\": 5, \"head_dim\": null, "
	          "\"tie_word_embeddings\": true, \"rope_scaling\": null }");
	a = config(state, "\"hf_config\": \"own.json\", \"precision\": "
	                  "\"bf16\", " GPU(1) "\"roofline\": {}");
	curve = a->curve;
	blocks = a->kv_blocks;
	b = config(state, ROUND GPU(1) "\"roofline\": {}");
	assert_memory_equal(&curve, &b->curve, sizeof curve);
	/* 190 million by the file; by the shape 140 and the norms. */
	assert_true(blocks > b->kv_blocks);
	/* Where text and images share a model, the text's part counts. */
	rig_write(rig, "both.json",
	          "{ \"vision_config\": { \"hidden_size\": 7 }, "
	          "\"text_config\": { " SHAPE ", \"num_key_value_heads\": 5, "
	          "\"tie_word_embeddings\": true } }");
	b = config(state, "\"hf_config\": \"both.json\", \"precision\": "
	                  "\"bf16\", " GPU(1) "\"roofline\": {}");
	assert_memory_equal(&curve, &b->curve, sizeof curve);
	assert_int_equal(blocks, b->kv_blocks);
}

static const char *shipped(char *buf, size_t size, const char *name)
{
	const char *tests = getenv("WEIR_TESTS");

	snprintf(buf, size, "%s/../models/%s", tests != NULL ? tests : "tests",
	         name);
	return buf;
}

/* Weights as their publishers count them: 8.03, 32.8, 70.6 billion. */
static void test_shipped_models(void **state)
{
	static const struct {
		const char *file;
		double weights;
	} model[] = {{"ml_llama-3.1-8b.json", 8.03e9},
	             {"ml_qwen3-32b.json", 32.76e9},
	             {"ml_llama-3.3-70b.json", 70.55e9}};
	char path[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof model / sizeof model[0]; i++) {
		json_t *json = json_load_file(
			shipped(path, sizeof path, model[i].file), 0, NULL);

		assert_non_null(json);
		assert_true(fabs(json_number_value(
					 json_object_get(json, "parameters")) /
		                         model[i].weights -
		                 1) < 1e-3);
		json_decref(json);
	}
}

/* ---- revisions --------------------------------------------------------- */

static void test_revision_for_the_reader(void **state)
{
	struct rig *rig = *state;
	struct scenario_revision r;
	struct arena arena;
	char path[512];

	arena_init(&arena);
	shipped(path, sizeof path, "cr_8b-h100-latency-bb3317.json");
	assert_int_equal(
		scenario_revision_read(path, NULL, &arena, &r, &rig->err), 0);
	assert_string_equal(r.id, "cr_8b-h100-latency-bb3317");
	assert_string_equal(r.model, "ml_llama-3.1-8b");
	assert_string_equal(r.profile, "latency");
	assert_string_equal(r.gpu, "H100 SXM 80 GB");
	assert_int_equal(r.gpus, 1);
	assert_int_equal(r.config->max_num_seqs, 16);
	assert_int_equal(r.config->curve.n, 2);
	rig_write(rig, "cr_x-000000.json", "{ \"id\": \"cr_x-000000\" }");
	snprintf(path, sizeof path, "%s/cr_x-000000.json", rig->dir);
	assert_int_equal(
		scenario_revision_read(path, NULL, &arena, &r, &rig->err), -1);
	assert_string_equal(rig->err.path, "$");
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_linear),
		RIG_TEST(test_curve_with_floor),
		RIG_TEST(test_floor_alone_may_take_the_time),
		RIG_TEST(test_roofline_moves_and_computes),
		RIG_TEST(test_roofline_over_gpus),
		RIG_TEST(test_roofline_by_precision),
		RIG_TEST(test_waits_and_stalls),
		RIG_TEST(test_drafts),
		RIG_TEST(test_cache_and_chunks),
		RIG_TEST(test_kv_from_memory),
		RIG_TEST(test_labels_are_not_looked_up),
		RIG_TEST(test_hugging_face),
		cmocka_unit_test(test_shipped_models),
		RIG_TEST(test_revision_for_the_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
