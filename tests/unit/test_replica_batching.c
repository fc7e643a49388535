/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vLLM's step worked out by hand: who is in which step, with how many
 * tokens. Most curves make each step 1000 ns long, so that a time is a step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

static struct replica_config flat_config(void)
{
	struct replica_config config = lab_config();

	config.curve = lab_linear(1000, 0, 0);
	return config;
}

static void start(struct lab *l, const struct replica_config *config, size_t n)
{
	lab_init(l, config, n);
	replica_start(l->replica, NULL);
}

static void expect(const struct lab *l, size_t i, int64_t started,
                   int64_t first, int64_t done)
{
	assert_int_equal(l->requests[i].started_ns, started);
	assert_int_equal(l->requests[i].first_ns, first);
	assert_int_equal(l->requests[i].done_ns, done);
}

static void expect_step(const struct lab *l, size_t i, uint32_t prefill,
                        uint32_t decodes, uint64_t contexts, uint64_t pairs)
{
	assert_true(i < l->stepped);
	assert_int_equal(l->steps[i].batch.prefill_tokens, prefill);
	assert_int_equal(l->steps[i].batch.decodes, decodes);
	assert_int_equal(l->steps[i].batch.contexts, contexts);
	assert_int_equal(l->steps[i].batch.pairs, pairs);
	assert_int_equal(l->steps[i].tokens, decodes);
}

/* Those of a kind come in the order of the requests. */
static void expect_order(const struct lab *l, enum lab_kind kind, uint64_t n)
{
	uint64_t next = 0;
	size_t i;

	for (i = 0; i < l->logged; i++)
		if (l->log[i].kind == kind)
			assert_int_equal(l->log[i].id, next++);
	assert_int_equal(next, n);
}

/* ---- steps ------------------------------------------------------------- */

static void one_request_alone(void **state)
{
	struct replica_config config = lab_config();
	struct lab l;

	(void)state;
	start(&l, &config, 1);
	lab_request(&l, 0, 7, 512, 3);
	lab_run(&l);
	/* 3000 + 18 x 512 us, then two of 3000 + 15 us. */
	expect(&l, 0, 7, 7 + 12216000, 7 + 12216000 + 2 * 3015000);
	expect_step(&l, 0, 512, 0, 0, 512 * 513 / 2);
	expect_step(&l, 1, 0, 1, 512, 0);
	expect_step(&l, 2, 0, 1, 513, 0);
	assert_int_equal(l.stepped, 3);
	assert_int_equal(replica_busy_ns(l.replica), 12216000 + 6030000);
	lab_fini(&l);
}

static void an_answer_of_one_token_is_its_first(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;

	(void)state;
	start(&l, &config, 1);
	lab_request(&l, 0, 0, 5, 1);
	lab_run(&l);
	expect(&l, 0, 0, 1000, 1000);
	assert_int_equal(l.logged, 4);
	assert_int_equal(l.log[2].kind, LAB_FIRST);
	assert_int_equal(l.log[3].kind, LAB_DONE);
	lab_fini(&l);
}

static void arrivals_of_one_moment_share_a_step(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;
	size_t i;

	(void)state;
	start(&l, &config, 5);
	for (i = 0; i < 3; i++)
		lab_request(&l, i, 50, 10, 2);
	/* During a step: the next. With the end of one: that which follows. */
	lab_request(&l, 3, 51, 10, 2);
	lab_request(&l, 4, 2050, 10, 2);
	lab_run(&l);
	for (i = 0; i < 3; i++)
		expect(&l, i, 50, 1050, 2050);
	expect(&l, 3, 1050, 2050, 3050);
	expect(&l, 4, 2050, 3050, 4050);
	expect_step(&l, 0, 30, 0, 0, 3 * 55);
	expect_step(&l, 1, 10, 3, 30, 55);
	expect_order(&l, LAB_STARTED, 5);
	expect_order(&l, LAB_FIRST, 5);
	expect_order(&l, LAB_DONE, 5);
	lab_fini(&l);
}

/* Three prompts of 800 with 1024 tokens a step: 800 + 224, then a decode,
 * the rest of the second and a part of the third, then the rest of that. */
static void prompts_are_cut_to_the_budget(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;
	size_t i;

	(void)state;
	config.max_num_batched_tokens = 1024;
	start(&l, &config, 3);
	for (i = 0; i < 3; i++)
		lab_request(&l, i, 0, 800, 4);
	lab_run(&l);
	expect_step(&l, 0, 1024, 0, 0, 800 * 801 / 2 + 224 * 225 / 2);
	expect_step(&l, 1, 576 + 447, 1, 800,
	            576 * 224 + 576 * 577 / 2 + 447 * 448 / 2);
	expect_step(&l, 2, 353, 2, 801 + 800, 353 * 447 + 353 * 354 / 2);
	expect_step(&l, 3, 0, 3, 802 + 801 + 800, 0);
	expect(&l, 0, 0, 1000, 4000);
	expect(&l, 1, 0, 2000, 5000);
	expect(&l, 2, 1000, 3000, 6000);
	lab_fini(&l);
}

static void a_long_prompt_takes_many_steps(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;

	(void)state;
	config.max_num_batched_tokens = 10;
	start(&l, &config, 2);
	lab_request(&l, 0, 0, 1, 10);
	lab_request(&l, 1, 10, 30, 1);
	lab_run(&l);
	/* Nine tokens a step beside the decode: 9 + 9 + 9 + 3. */
	expect(&l, 1, 1000, 5000, 5000);
	expect_step(&l, 4, 3, 1, 4, 3 * 27 + 6);
	lab_fini(&l);
}

static void places_are_limited(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;
	size_t i;

	(void)state;
	config.max_num_seqs = 2;
	start(&l, &config, 4);
	for (i = 0; i < 4; i++)
		lab_request(&l, i, (int64_t)i, 10, 3 + (uint32_t)i);
	lab_run(&l);
	expect(&l, 0, 0, 1000, 3000);
	expect(&l, 1, 1000, 2000, 5000);
	expect(&l, 2, 3000, 4000, 8000);
	expect(&l, 3, 5000, 6000, 11000);
	lab_fini(&l);
}

/* ---- KV ---------------------------------------------------------------- */

static struct replica_config small_config(uint64_t blocks)
{
	struct replica_config config = flat_config();

	config.block_tokens = 4;
	config.kv_blocks = blocks;
	return config;
}

/* The gate asks for the whole prompt, and the first in line blocks all. */
static void the_first_in_line_blocks(void **state)
{
	struct replica_config config = small_config(6);
	struct lab l;

	(void)state;
	start(&l, &config, 3);
	lab_request(&l, 0, 0, 8, 5);
	lab_request(&l, 1, 1, 17, 2); /* 5 blocks; 4 are free, then 3 */
	lab_request(&l, 2, 2, 4, 1);
	lab_run(&l);
	expect(&l, 0, 0, 1000, 5000);
	expect(&l, 1, 5000, 6000, 7000);
	expect(&l, 2, 5000, 6000, 6000);
	lab_fini(&l);
}

static void who_gives_up_in_line_lets_others_pass(void **state)
{
	struct replica_config config = small_config(6);
	struct lab l;

	(void)state;
	start(&l, &config, 3);
	lab_request(&l, 0, 0, 8, 9);
	lab_request(&l, 1, 1, 17, 2);
	lab_request(&l, 2, 2, 4, 2);
	event_schedule(&l.calendar, &l.requests[1].give_up, 3500);
	lab_run(&l);
	expect(&l, 0, 0, 1000, 9000);
	expect(&l, 1, TIME_NEVER, TIME_NEVER, TIME_NEVER);
	expect(&l, 2, 4000, 5000, 6000);
	lab_fini(&l);
}

/*
 * Two of 4 + 8 tokens on 5 blocks of 4. Both hold 2 blocks when in step 6
 * both want a third: the first takes it, the last is thrown out with 5
 * tokens given. It needs 3 blocks for its 9 and comes back when the first is
 * done, in step 9, which gives its sixth.
 */
static void the_last_is_thrown_out_and_computed_again(void **state)
{
	struct replica_config config = small_config(5);
	struct lab l;
	size_t i;
	bool late = false;

	(void)state;
	start(&l, &config, 2);
	lab_request(&l, 0, 0, 4, 8);
	lab_request(&l, 1, 0, 4, 8);
	lab_run_until(&l, 4999);
	calendar_advance(&l.calendar, 4999);
	assert_int_equal(replica_kv_used(l.replica), 4);
	lab_run_until(&l, 5001);
	calendar_advance(&l.calendar, 5001);
	assert_int_equal(replica_kv_used(l.replica), 3);
	assert_int_equal(replica_waiting(l.replica), 1);
	lab_run(&l);
	expect(&l, 0, 0, 1000, 8000);
	expect(&l, 1, 8000, 1000, 11000);
	assert_int_equal(l.requests[0].work.preemptions, 0);
	assert_int_equal(l.requests[1].work.preemptions, 1);
	for (i = 0; i < l.logged; i++) {
		const struct lab_entry *e = &l.log[i];

		if (e->kind == LAB_PREEMPTED) {
			assert_int_equal(e->at_ns, 5000);
			assert_int_equal(e->a, 5);
		}
		if (e->kind == LAB_LATE) {
			assert_int_equal(e->at_ns, 9000);
			assert_int_equal(e->a, 4000);
			late = true;
		}
	}
	assert_true(late);
	expect_step(&l, 8, 9, 0, 0, 45);
	lab_fini(&l);
}

static void what_can_never_fit_is_refused(void **state)
{
	struct replica_config config = small_config(5);
	struct lab l;
	size_t i;

	(void)state;
	config.max_model_len = 30;
	config.queue_cap = 1;
	start(&l, &config, 3);
	/* The last token's KV is never computed: 20 fit with 21 tokens. */
	lab_request(&l, 0, 0, 11, 10);
	lab_request(&l, 1, 100000, 11, 11);
	lab_request(&l, 2, 100000, UINT32_MAX, 1);
	lab_run(&l);
	assert_int_equal(l.requests[0].done_ns, 10000);
	assert_true(l.requests[1].dropped && l.requests[2].dropped);
	lab_fini(&l);
	config.kv_blocks = 0;
	start(&l, &config, 3);
	lab_request(&l, 0, 0, 15, 16);
	lab_request(&l, 1, 0, 15, 15);
	lab_request(&l, 2, 0, 15, 15);
	lab_run(&l);
	for (i = 0; i < l.logged; i++)
		if (l.log[i].kind == LAB_DROPPED)
			assert_int_equal(l.log[i].a,
			                 l.log[i].id == 2
			                         ? REPLICA_DROP_QUEUE_FULL
			                         : REPLICA_DROP_TOO_LONG);
	assert_true(l.requests[0].dropped && !l.requests[1].dropped);
	assert_true(l.requests[2].dropped);
	lab_fini(&l);
}

/* ---- giving up --------------------------------------------------------- */

static void a_prompt_can_be_given_up(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;

	(void)state;
	start(&l, &config, 2);
	lab_request(&l, 0, 0, 32, 3);
	lab_request(&l, 1, 0, 16, 3);
	event_schedule(&l.calendar, &l.requests[0].give_up, 500);
	lab_run_until(&l, 499);
	calendar_advance(&l.calendar, 499);
	assert_int_equal(replica_kv_used(l.replica), 3);
	lab_run_until(&l, 500);
	assert_int_equal(replica_kv_used(l.replica), 1);
	lab_run(&l);
	/* The step under way keeps its length and its tokens. */
	expect_step(&l, 0, 48, 0, 0, 32 * 33 / 2 + 16 * 17 / 2);
	expect(&l, 0, 0, TIME_NEVER, TIME_NEVER);
	expect(&l, 1, 0, 1000, 3000);
	lab_fini(&l);
}

static void a_decode_can_be_given_up(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;
	size_t i;

	(void)state;
	start(&l, &config, 2);
	lab_request(&l, 0, 0, 16, 50);
	lab_request(&l, 1, 0, 16, 10);
	event_schedule(&l.calendar, &l.requests[0].give_up, 4500);
	lab_run(&l);
	assert_int_equal(replica_generated(l.replica, &l.requests[0].work), 4);
	expect(&l, 1, 0, 1000, 10000);
	assert_int_equal(l.stepped, 10);
	/* It was in the fifth step, and got nothing from it. */
	for (i = 1; i < 10; i++) {
		assert_int_equal(l.steps[i].batch.decodes, i < 5 ? 2 : 1);
		assert_int_equal(l.steps[i].tokens, i < 4 ? 2 : 1);
	}
	lab_fini(&l);
}

/* In the ns of an end the next step has not begun: it is not run. */
static void giving_up_with_an_end_leaves_it_idle(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;

	(void)state;
	start(&l, &config, 2);
	lab_request(&l, 0, 0, 16, 50);
	event_schedule(&l.calendar, &l.requests[0].give_up, 4000);
	lab_request(&l, 1, 4600, 16, 1);
	lab_run(&l);
	assert_int_equal(replica_generated(l.replica, &l.requests[0].work), 4);
	expect(&l, 1, 4600, 5600, 5600);
	assert_int_equal(l.stepped, 5);
	lab_fini(&l);
}

/* It gives up in the ns of an end of a step, but before it. */
static void giving_up_just_before_an_end(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;

	(void)state;
	start(&l, &config, 2);
	lab_request(&l, 0, 0, 16, 3);
	lab_request(&l, 1, 0, 16, 50);
	l.requests[1].give_up.phase = EVENT_COMPLETION;
	l.requests[1].give_up.entity = EVENT_ENTITY(0, 1);
	event_schedule(&l.calendar, &l.requests[1].give_up, 3000);
	lab_run(&l);
	expect(&l, 0, 0, 1000, 3000);
	assert_int_equal(replica_generated(l.replica, &l.requests[1].work), 2);
	assert_int_equal(l.stepped, 3);
	assert_int_equal(l.steps[1].tokens, 2);
	assert_int_equal(l.steps[2].tokens, 1);
	lab_fini(&l);
}

static void the_only_one_gives_up(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;

	(void)state;
	start(&l, &config, 2);
	lab_request(&l, 0, 0, 16, 50);
	event_schedule(&l.calendar, &l.requests[0].give_up, 4500);
	lab_request(&l, 1, 4600, 16, 1);
	lab_run(&l);
	/* The engine is in its step until 5000. */
	expect(&l, 1, 5000, 6000, 6000);
	assert_int_equal(l.steps[4].tokens, 0);
	assert_int_equal(replica_busy_ns(l.replica), 6000);
	lab_fini(&l);
}

/* ---- within a leap ----------------------------------------------------- */

static void a_leap_can_be_asked_and_told_in_parts(void **state)
{
	struct replica_config config = flat_config();
	struct lab l;

	(void)state;
	start(&l, &config, 1);
	lab_request(&l, 0, 0, 16, 40);
	lab_run_until(&l, 1500);
	calendar_advance(&l.calendar, 20500);
	assert_int_equal(calendar_next(&l.calendar), 40000);
	assert_int_equal(replica_steps_run(l.replica), 20);
	assert_int_equal(replica_generated(l.replica, &l.requests[0].work), 20);
	/* 35 held, and a block for the 36th, which is being computed. */
	assert_int_equal(replica_kv_used(l.replica), 3);
	assert_int_equal(replica_busy_ns(l.replica), 20500);
	assert_int_equal(l.stepped, 1);
	replica_report(l.replica);
	replica_report(l.replica);
	assert_int_equal(l.stepped, 20);
	lab_run(&l);
	assert_int_equal(l.stepped, 40);
	expect_step(&l, 39, 0, 1, 16 + 38, 0);
	assert_int_equal(l.steps[39].begin_ticks, 39000 * 1024);
	lab_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_request_alone),
		cmocka_unit_test(an_answer_of_one_token_is_its_first),
		cmocka_unit_test(arrivals_of_one_moment_share_a_step),
		cmocka_unit_test(prompts_are_cut_to_the_budget),
		cmocka_unit_test(a_long_prompt_takes_many_steps),
		cmocka_unit_test(places_are_limited),
		cmocka_unit_test(the_first_in_line_blocks),
		cmocka_unit_test(who_gives_up_in_line_lets_others_pass),
		cmocka_unit_test(the_last_is_thrown_out_and_computed_again),
		cmocka_unit_test(what_can_never_fit_is_refused),
		cmocka_unit_test(a_prompt_can_be_given_up),
		cmocka_unit_test(a_decode_can_be_given_up),
		cmocka_unit_test(giving_up_with_an_end_leaves_it_idle),
		cmocka_unit_test(giving_up_just_before_an_end),
		cmocka_unit_test(the_only_one_gives_up),
		cmocka_unit_test(a_leap_can_be_asked_and_told_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
