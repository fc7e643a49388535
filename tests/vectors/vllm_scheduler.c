/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cases of vllm_scheduler_and_kv.json that speak of what a replica does:
 * who gets how many tokens in which step, whether blocks are given, and what
 * drafts are kept, what the prefix cache finds and forgets. What a replica does
 * not model is skipped with the reason.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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

	config.long_prefill_tokens =
		(uint32_t)number(input, "long_prefill_token_threshold");
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

struct slots {
	uint32_t free_blocks;
	uint32_t now;
	uint32_t full;
	uint32_t watermark;
	bool running;
};

/*
 * Request 0 runs, unless nothing does, and holds `held` blocks, which leaves
 * the free ones of the case. Request 1 comes, and the budget lets its first
 * chunk be as many blocks as it needs now. Is it let in by the next step?
 */
static bool let_in(const struct slots *slots)
{
	uint32_t free_blocks = slots->free_blocks;
	uint32_t now = slots->now, full = slots->full;
	struct replica_config config = lab_config();
	uint32_t held = full > free_blocks ? full - free_blocks : 1;
	struct lab l;
	bool in;

	config.block_tokens = BLOCK;
	config.kv_blocks = slots->running ? held + free_blocks : free_blocks;
	config.watermark_blocks = slots->watermark;
	config.max_num_batched_tokens = BLOCK * now + 1;
	config.curve = lab_linear(1000, 0, 0);
	lab_init(&l, &config, 2);
	replica_start(l.replica, NULL);
	/* Not a whole number of blocks, so that it takes no new one. */
	if (slots->running)
		lab_request(&l, 0, 0, BLOCK * held - 4, 4);
	lab_request(&l, 1, 500, BLOCK * full, 1);
	lab_run_until(&l, slots->running ? 999 : 499);
	assert_int_equal(replica_kv_free(&l.replica->b.kv), free_blocks);
	lab_run_until(&l, 1000);
	in = l.requests[1].work.place == WORK_RUNNING;
	if (in)
		assert_int_equal(l.requests[1].work.blocks, now);
	lab_fini(&l);
	return in;
}

/* Request 0 runs, and its next chunk needs blocks: does it get them? */
static bool gets_more(const struct slots *slots)
{
	struct replica_config config = lab_config();
	struct lab l;
	bool got;

	config.block_tokens = BLOCK;
	config.kv_blocks = slots->now + slots->free_blocks;
	config.watermark_blocks = slots->watermark;
	config.max_num_batched_tokens = BLOCK * slots->now;
	config.curve = lab_linear(1000, 0, 0);
	lab_init(&l, &config, 1);
	replica_start(l.replica, NULL);
	lab_request(&l, 0, 0, 2 * BLOCK * slots->now, 1);
	lab_run_until(&l, 999);
	assert_int_equal(replica_kv_free(&l.replica->b.kv), slots->free_blocks);
	lab_run_until(&l, 1000);
	got = l.requests[0].work.blocks == 2 * slots->now;
	lab_fini(&l);
	return got;
}

static bool flag(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	assert_true(json_is_boolean(v));
	return json_is_true(v);
}

static void allocate_slots(const json_t *input, const json_t *expected)
{
	const json_t *full =
		json_object_get(input, "blocks_needed_for_full_sequence");
	struct slots slots = {
		.free_blocks = (uint32_t)number(input, "free_blocks"),
		.now = (uint32_t)number(input, "blocks_needed_now"),
		.watermark = (uint32_t)number(input, "watermark_blocks"),
		.running = flag(input, "some_request_already_running"),
	};
	bool waits = flag(input, "request_is_waiting_or_preempted");

	if (number(input, "reserved_blocks") != 0)
		skip_because("no reserved blocks");
	slots.full = json_is_integer(full) ? (uint32_t)json_integer_value(full)
	                                   : slots.now;
	assert_int_equal(waits ? let_in(&slots) : gets_more(&slots),
	                 flag(expected, "allocated"));
}

/* ---- speculation ------------------------------------------------------- */

/*
 * A decode of so many tokens still to come gets those sampled, all drafts
 * right, in one step after its prompt's.
 */
static void accept_tokens(const json_t *input, const json_t *expected)
{
	size_t sampled = json_array_size(json_object_get(input, "sampled"));
	size_t kept = json_array_size(json_object_get(expected, "kept")), i;
	bool finished = !json_is_null(json_object_get(expected, "finished"));
	struct replica_config config = lab_config();
	struct lab l;

	config.curve = lab_linear(1000, 0, 0);
	config.draft.tokens = (uint32_t)sampled - 1;
	for (i = 0; i + 1 < sampled; i++)
		config.draft.acceptance[i] = 1;
	lab_init(&l, &config, 1);
	replica_start(l.replica, NULL);
	lab_request(&l, 0, 0, 8, 1 + (uint32_t)number(input, "max_tokens"));
	lab_run_until(&l, 2000);
	assert_int_equal(l.requests[0].work.generated, 1 + kept);
	assert_int_equal(l.requests[0].done_ns == 2000, finished);
	lab_fini(&l);
}

static void expected_tokens(const json_t *input, const json_t *expected)
{
	struct replica_draft draft = {
		.tokens = (uint32_t)number(input, "draft_tokens"),
	};
	double want = json_number_value(json_object_get(expected, "tokens"));
	uint32_t i;

	for (i = 0; i < draft.tokens; i++)
		draft.acceptance[i] = json_number_value(
			json_object_get(input, "per_token_acceptance"));
	assert_true(fabs(replica_draft_mean(&draft) - want) < 1e-9);
}

/* ---- prefix cache ------------------------------------------------------ */

static struct replica_config caching(uint64_t blocks)
{
	struct replica_config config = lab_config();

	config.block_tokens = BLOCK;
	config.kv_blocks = blocks;
	config.prefix_cache = true;
	config.curve = lab_linear(1000, 0, 0);
	return config;
}

/* Request i comes now with so many tokens, and a step begins with it. */
static void allocate(struct lab *l, size_t i, uint32_t tokens, uint32_t common)
{
	l->requests[i].work.prefix_tokens = common;
	/* As many further ones as there is room for. */
	lab_request(l, i, l->calendar.now_ns, tokens,
	            BLOCK * (uint32_t)l->config.kv_blocks - tokens + 1);
	lab_run_until(l, l->calendar.now_ns);
	if (l->requests[i].work.place == WORK_WAITING)
		lab_run_until(l, l->calendar.now_ns + 1000);
	assert_int_equal(l->requests[i].work.place, WORK_RUNNING);
}

/* It goes at once, from the midst of a step. */
static void give_back(struct lab *l, size_t i)
{
	event_schedule(&l->calendar, &l->requests[i].give_up,
	               l->calendar.now_ns);
	lab_run_until(l, l->calendar.now_ns);
}

/* "48 common (...) + 7 x [3]" or "160 x [99]" */
static void read_tokens(const char *text, uint32_t *tokens, uint32_t *common)
{
	unsigned shared = 0, own = 0;

	if (strstr(text, "common")) {
		assert_int_equal(sscanf(text, "%u common", &shared), 1);
		text = strstr(text, "+ ");
		assert_non_null(text);
		text += 2;
	}
	assert_int_equal(sscanf(text, "%u x", &own), 1);
	*tokens = shared + own;
	*common = shared;
}

/* The vector counts blocks from 1, since 0 is vLLM's null block. */
static void expect_blocks(const json_t *want, const uint32_t *at, size_t n)
{
	size_t i;

	assert_int_equal(json_array_size(want), n);
	for (i = 0; i < n; i++)
		assert_int_equal(json_integer_value(json_array_get(want, i)),
		                 at[i] + 1);
}

static void expect_queue(const json_t *want, const struct replica *r)
{
	const struct replica_cache *c = r->b.cache;
	uint32_t queue[CASES_MAX], n = 0, i;

	for (i = c->fresh; i < r->b.kv.total; i++)
		queue[n++] = i;
	for (i = c->first; i != UINT32_MAX; i = c->block[i].next)
		queue[n++] = i;
	expect_blocks(want, queue, n);
}

static void one_operation(struct lab *l, const json_t *op, const json_t *want)
{
	const json_t *hit = json_object_get(want, "hit_blocks");
	size_t i =
		(size_t)atoi(json_string_value(json_object_get(op, "request")));
	size_t found = json_array_size(hit);
	const struct replica_table *t;
	uint32_t tokens, common;

	if (strcmp(json_string_value(json_object_get(op, "op")), "free") == 0) {
		give_back(l, i);
	} else {
		read_tokens(json_string_value(json_object_get(op, "tokens")),
		            &tokens, &common);
		allocate(l, i, tokens, common);
		t = l->requests[i].work.table;
		assert_int_equal(l->requests[i].work.cached, found * BLOCK);
		expect_blocks(hit, t->at, found);
		expect_blocks(json_object_get(want, "new_blocks"),
		              t->at + found, t->n - found);
		if (json_object_get(want, "full_block_hashes"))
			assert_int_equal(number(want, "full_block_hashes"),
			                 t->named);
	}
	if (json_object_get(want, "free_after"))
		assert_int_equal(number(want, "free_after"),
		                 replica_kv_free(&l->replica->b.kv));
	if (json_object_get(want, "free_queue"))
		expect_queue(json_object_get(want, "free_queue"), l->replica);
}

static void kv_block_pool(const json_t *input, const json_t *expected)
{
	const json_t *ops = json_object_get(input, "operations");
	const json_t *steps = json_object_get(expected, "by_step");
	struct replica_config config =
		caching((uint64_t)number(input, "usable_blocks"));
	struct lab l;
	size_t i;

	assert_int_equal(number(input, "block_size"), BLOCK);
	assert_int_equal(number(input, "first_block_id"), 1);
	assert_int_equal(json_array_size(ops), json_array_size(steps));
	lab_init(&l, &config, REQUESTS_MAX);
	replica_start(l.replica, NULL);
	for (i = 0; i < json_array_size(ops); i++)
		one_operation(&l, json_array_get(ops, i),
		              json_array_get(steps, i));
	lab_fini(&l);
}

static void block_hash_count(const json_t *input, const json_t *expected)
{
	struct replica_config config = caching(100);
	struct lab l;

	lab_init(&l, &config, 1);
	replica_start(l.replica, NULL);
	allocate(&l, 0, (uint32_t)number(input, "tokens"), 0);
	assert_int_equal(l.requests[0].work.table->named,
	                 number(expected, "full_blocks_hashed"));
	assert_false(flag(expected, "partial_block_hashed"));
	lab_fini(&l);
}

static void cached_tokens(const json_t *input, const json_t *expected)
{
	uint32_t tokens = (uint32_t)number(input, "prompt_tokens");
	struct replica_config config = caching(100);
	struct lab l;

	lab_init(&l, &config, 2);
	replica_start(l.replica, NULL);
	allocate(&l, 0, tokens, tokens);
	assert_int_equal(l.requests[0].work.table->named,
	                 number(input, "blocks_in_cache"));
	give_back(&l, 0);
	allocate(&l, 1, tokens, tokens);
	assert_int_equal(l.requests[1].work.cached,
	                 number(expected, "cached_tokens"));
	lab_fini(&l);
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
	else if (strcmp(kind, "kv_block_pool") == 0)
		kv_block_pool(input, expected);
	else if (strcmp(kind, "block_hash_count") == 0)
		block_hash_count(input, expected);
	else if (strcmp(kind, "cached_tokens") == 0)
		cached_tokens(input, expected);
	else if (strcmp(kind, "accept_tokens") == 0)
		accept_tokens(input, expected);
	else if (strcmp(kind, "expected_tokens_per_step") == 0)
		expected_tokens(input, expected);
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
