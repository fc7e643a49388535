/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The prefix cache, worked out by hand: who finds how many tokens, and what
 * that saves. Blocks of 16 tokens, steps of 1000 ns and 10 a prompt token.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

static void begin(struct lab *l, uint64_t blocks, size_t n)
{
	struct replica_config config = lab_config();

	config.kv_blocks = blocks;
	config.prefix_cache = true;
	config.curve = lab_linear(1000, 10, 0);
	lab_init(l, &config, n);
	replica_start(l->replica, NULL);
}

/* Request i of a group, at a time when all before it are over. */
static void run_one(struct lab *l, size_t i, uint32_t input, uint32_t prefix,
                    uint64_t group)
{
	l->requests[i].work.prefix_tokens = prefix;
	l->requests[i].work.prefix_group = group;
	lab_request(l, i, l->calendar.now_ns, input, 1);
	lab_run(l);
}

static void expect_cached(const struct lab *l, size_t i, uint32_t cached)
{
	assert_int_equal(l->requests[i].work.cached, cached);
	/* What was found is not computed again. */
	assert_int_equal(
		l->requests[i].first_ns - l->requests[i].started_ns,
		1000 + 10 * (l->requests[i].work.input_tokens - cached));
}

static void a_prefix_is_found_by_its_group(void **state)
{
	struct lab l;

	(void)state;
	begin(&l, 100, 6);
	run_one(&l, 0, 100, 70, 1);
	run_one(&l, 1, 100, 70, 1);
	run_one(&l, 2, 100, 70, 2);
	run_one(&l, 3, 200, 70, 1);
	/* A prompt that is all prefix computes its last token. */
	run_one(&l, 4, 64, 64, 1);
	run_one(&l, 5, 65, 65, 1);
	expect_cached(&l, 0, 0);
	expect_cached(&l, 1, 64);
	expect_cached(&l, 2, 0);
	expect_cached(&l, 3, 64);
	expect_cached(&l, 4, 48);
	expect_cached(&l, 5, 64);
	assert_int_equal(replica_kv_used(l.replica), 0);
	lab_fini(&l);
}

/* In one step the second finds what the first begins to compute; shared
 * blocks are held once. */
static void shared_blocks_are_held_once(void **state)
{
	struct lab l;
	size_t i;

	(void)state;
	begin(&l, 100, 2);
	for (i = 0; i < 2; i++) {
		l.requests[i].work.prefix_tokens = 64;
		lab_request(&l, i, 0, 70, 2);
	}
	lab_run_until(&l, 0);
	assert_int_equal(l.requests[1].work.cached, 64);
	assert_int_equal(replica_kv_used(l.replica), 5 + 1);
	lab_run(&l);
	assert_int_equal(replica_kv_used(l.replica), 0);
	lab_fini(&l);
}

/* What was not used for longest is forgotten first, the tail before the
 * head. */
static void the_tail_is_forgotten_first(void **state)
{
	struct lab l;

	(void)state;
	begin(&l, 10, 4);
	run_one(&l, 0, 90, 80, 1);
	run_one(&l, 1, 128, 128, 2);
	/* 8 blocks: 4 never used, then the rest and the tail of group 1's. */
	run_one(&l, 2, 90, 80, 1);
	expect_cached(&l, 2, 32);
	lab_fini(&l);
}

/* A turn of a session finds the prompt and the answer of the one before. */
static void a_session_goes_on(void **state)
{
	struct lab l;

	(void)state;
	begin(&l, 100, 3);
	l.requests[0].work.session = 9;
	lab_request(&l, 0, 0, 40, 30);
	lab_run(&l);
	l.requests[1].work.session = 9;
	run_one(&l, 1, 100, 0, 0);
	l.requests[2].work.session = 8;
	run_one(&l, 2, 100, 0, 0);
	/* 69 tokens had their KV: four blocks. */
	expect_cached(&l, 1, 64);
	expect_cached(&l, 2, 0);
	lab_fini(&l);
}

/* A request that was thrown out finds its own blocks when it is back. */
static void what_was_thrown_out_stays(void **state)
{
	struct lab l;
	uint64_t tokens = 0;
	size_t i;

	(void)state;
	begin(&l, 9, 2);
	lab_request(&l, 0, 0, 64, 20);
	lab_request(&l, 1, 0, 60, 6);
	lab_run(&l);
	assert_int_equal(l.requests[1].work.preemptions, 1);
	assert_int_equal(l.requests[1].work.cached, 0);
	for (i = 0; i < l.stepped; i++)
		tokens += l.steps[i].batch.prefill_tokens;
	/* Less is computed again than the 64 that it held. */
	assert_true(tokens > 124 && tokens < 124 + 64);
	lab_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefix_is_found_by_its_group),
		cmocka_unit_test(shared_blocks_are_held_once),
		cmocka_unit_test(the_tail_is_forgotten_first),
		cmocka_unit_test(a_session_goes_on),
		cmocka_unit_test(what_was_thrown_out_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
