/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cases of vllm_scheduler_and_kv.json that speak of what a replica does:
 * `schedule_steps`, who gets how many tokens in which step, and
 * `allocate_slots`, whether the first in line is let in. What a replica does
 * not model is skipped with the reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>
#include <cmocka.h>

#include "replica_lab.h"

#define PATH "tests/vectors/vllm_scheduler_and_kv.json"

enum { CASES_MAX = 64, REQUESTS_MAX = 16, BLOCK = 16 };

static int64_t number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static void skip_because(const char *why)
{
	print_message("skipped: %s\n", why);
	skip();
}

/* ---- schedule_steps ---------------------------------------------------- */

/* What w gets in the step under way, if it has `before` of its prompt. */
static uint32_t scheduled(const struct replica_work *w, uint32_t before)
{
	if (w->place != WORK_RUNNING)
		return 0;
	return replica_decodes(w) ? 1 : w->computed - before;
}

static void expect_step(struct lab *l, const json_t *step, uint32_t *before)
{
	char name[24];
	size_t i;

	assert_true(l->replica->b.run.open);
	for (i = 0; i < l->n; i++) {
		const struct replica_work *w = &l->requests[i].work;
		const json_t *want;

		snprintf(name, sizeof name, "%zu", i);
		want = json_object_get(step, name);
		assert_int_equal(scheduled(w, before[i]),
		                 json_integer_value(want));
		before[i] = w->computed;
	}
}

static void schedule_steps(const json_t *input, const json_t *expected)
{
	const json_t *prompts = json_object_get(input, "prompt_tokens");
	const json_t *steps =
		json_object_get(expected, "scheduled_tokens_per_step");
	struct replica_config config = lab_config();
	uint32_t before[REQUESTS_MAX] = {0};
	struct lab l;
	size_t i;

	if (number(input, "long_prefill_token_threshold") != 0)
		skip_because("no long_prefill_token_threshold");
	assert_true(json_is_true(json_object_get(input, "chunked_prefill")));
	config.max_num_batched_tokens =
		(uint32_t)number(input, "max_num_batched_tokens");
	config.max_num_seqs = (uint32_t)number(input, "max_num_seqs");
	config.curve = lab_linear(1000, 0, 0);
	config.exact_steps = true;
	assert_true(json_array_size(prompts) <= REQUESTS_MAX);
	lab_init(&l, &config, json_array_size(prompts));
	replica_start(l.replica, NULL);
	for (i = 0; i < l.n; i++)
		lab_request(&l, i, 0,
		            (uint32_t)json_integer_value(
				    json_array_get(prompts, i)),
		            1000);
	assert_true(json_array_size(steps) > 0);
	for (i = 0; i < json_array_size(steps); i++) {
		lab_run_until(&l, (int64_t)i * 1000);
		expect_step(&l, json_array_get(steps, i), before);
	}
	lab_fini(&l);
}

/* ---- allocate_slots ---------------------------------------------------- */

/*
 * Request 0 runs and holds `held` blocks, which leaves the free ones of the
 * case. Request 1 comes, and the budget lets its first chunk be as many
 * blocks as it needs now. Is it let in by the next step?
 */
static bool let_in(uint32_t free_blocks, uint32_t now, uint32_t full)
{
	struct replica_config config = lab_config();
	uint32_t held = full > free_blocks ? full - free_blocks : 1;
	struct lab l;
	bool in;

	config.block_tokens = BLOCK;
	config.kv_blocks = held + free_blocks;
	config.max_num_batched_tokens = BLOCK * now + 1;
	config.curve = lab_linear(1000, 0, 0);
	lab_init(&l, &config, 2);
	replica_start(l.replica, NULL);
	/* Not a whole number of blocks, so that it takes no new one. */
	lab_request(&l, 0, 0, BLOCK * held - 4, 4);
	lab_request(&l, 1, 500, BLOCK * full, 1);
	lab_run_until(&l, 999);
	assert_int_equal(replica_kv_free(&l.replica->b.kv), free_blocks);
	lab_run_until(&l, 1000);
	in = l.requests[1].work.place == WORK_RUNNING;
	if (in)
		assert_int_equal(l.requests[1].work.blocks, now);
	lab_fini(&l);
	return in;
}

static void allocate_slots(const json_t *input, const json_t *expected)
{
	const json_t *full =
		json_object_get(input, "blocks_needed_for_full_sequence");
	int64_t now = number(input, "blocks_needed_now");
	const json_t *allocated = json_object_get(expected, "allocated");

	if (number(input, "watermark_blocks") != 0)
		skip_because("no watermark (vLLM's default is none)");
	if (number(input, "reserved_blocks") != 0)
		skip_because("no reserved blocks");
	assert_true(json_is_true(
		json_object_get(input, "some_request_already_running")));
	assert_true(json_is_boolean(allocated));
	assert_int_equal(let_in((uint32_t)number(input, "free_blocks"),
	                        (uint32_t)now,
	                        json_is_integer(full)
	                                ? (uint32_t)json_integer_value(full)
	                                : (uint32_t)now),
	                 json_is_true(allocated));
}

/* ---- all of them ------------------------------------------------------- */

static void one_case(void **state)
{
	const json_t *c = *state;
	const char *kind = json_string_value(json_object_get(c, "kind"));
	const json_t *input = json_object_get(c, "input");
	const json_t *expected = json_object_get(c, "expected");

	assert_non_null(kind);
	if (strcmp(kind, "schedule_steps") == 0)
		schedule_steps(input, expected);
	else if (strcmp(kind, "allocate_slots") == 0)
		allocate_slots(input, expected);
	else if (strcmp(kind, "kv_block_pool") == 0 ||
	         strcmp(kind, "block_hash_count") == 0 ||
	         strcmp(kind, "cached_tokens") == 0)
		skip_because("no prefix cache");
	else if (strcmp(kind, "accept_tokens") == 0 ||
	         strcmp(kind, "expected_tokens_per_step") == 0)
		skip_because("one token a step: no speculative decoding");
	else
		fail_msg("a kind that nobody asks for: %s", kind);
}

int main(void)
{
	struct CMUnitTest tests[CASES_MAX];
	json_t *root = json_load_file(PATH, 0, NULL);
	const json_t *cases = json_object_get(root, "cases");
	size_t i, n = json_array_size(cases);
	int failed;

	if (n == 0 || n > CASES_MAX) {
		fprintf(stderr, "%s: %zu cases\n", PATH, n);
		return 1;
	}
	memset(tests, 0, sizeof tests);
	for (i = 0; i < n; i++) {
		json_t *c = json_array_get(cases, i);

		tests[i].name = json_string_value(json_object_get(c, "id"));
		tests[i].test_func = one_case;
		tests[i].initial_state = c;
	}
	failed =
		_cmocka_run_group_tests("vllm_scheduler", tests, n, NULL, NULL);
	json_decref(root);
	return failed;
}
