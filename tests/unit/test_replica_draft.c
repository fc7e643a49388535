/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speculative decoding, worked out by hand and against its closed form. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

static struct replica_config drafting(uint32_t tokens, double acceptance)
{
	struct replica_config config = lab_config();
	uint32_t i;

	config.curve = lab_linear(1000, 0, 0);
	config.draft.tokens = tokens;
	for (i = 0; i < tokens; i++)
		config.draft.acceptance[i] = acceptance;
	return config;
}

static void begin(struct lab *l, const struct replica_config *config, size_t n)
{
	lab_init(l, config, n);
	replica_start(l->replica, NULL);
}

/* All drafts right: four tokens a step, the last step's rest dropped. */
static void right_drafts_come_together(void **state)
{
	struct replica_config config = drafting(3, 1);
	struct lab l;
	size_t i, together = 0;

	(void)state;
	config.draft.step_ticks = 500 * REPLICA_TICKS_PER_NS;
	config.draft.per_decode_ticks = 100 * REPLICA_TICKS_PER_NS;
	begin(&l, &config, 1);
	lab_request(&l, 0, 0, 10, 7);
	lab_run(&l);
	/* 1 by the prompt's step, 4, and 2 of 4. */
	assert_int_equal(l.requests[0].first_ns, 1000);
	assert_int_equal(l.requests[0].done_ns, 1000 + 2 * 1600);
	assert_int_equal(l.stepped, 3);
	assert_int_equal(l.steps[1].batch.decodes, 4);
	assert_int_equal(l.steps[1].batch.contexts, 10);
	assert_int_equal(l.steps[2].batch.contexts, 14);
	assert_int_equal(l.steps[1].tokens, 1);
	for (i = 0; i < l.logged; i++)
		if (l.log[i].kind == LAB_LATE) {
			assert_int_equal(l.log[i].a, 0);
			together++;
		}
	assert_int_equal(together, 3 + 1);
	lab_fini(&l);
}

static void wrong_drafts_cost_and_give_nothing(void **state)
{
	struct replica_config config = drafting(3, 0);
	struct lab l;

	(void)state;
	config.curve = lab_linear(1000, 0, 10);
	begin(&l, &config, 1);
	lab_request(&l, 0, 0, 10, 4);
	lab_run(&l);
	assert_int_equal(l.requests[0].done_ns, 1000 + 3 * 1040);
	lab_fini(&l);
}

/* Drafts count against the budget: the second decode gets what is left, the
 * third sits out, and its token is late. */
static void drafts_use_the_budget_up(void **state)
{
	struct replica_config config = drafting(3, 0);
	struct lab l;
	size_t i, late = 0;

	(void)state;
	config.max_num_batched_tokens = 6;
	begin(&l, &config, 3);
	for (i = 0; i < 3; i++)
		lab_request(&l, i, 0, 2, 3);
	lab_run(&l);
	assert_int_equal(l.steps[0].batch.prefill_tokens, 6);
	assert_int_equal(l.steps[1].batch.decodes, 4 + 2);
	assert_int_equal(l.steps[1].tokens, 2);
	assert_int_equal(l.requests[0].done_ns, 3000);
	assert_int_equal(l.requests[1].done_ns, 3000);
	assert_int_equal(l.requests[2].done_ns, 5000);
	for (i = 0; i < l.logged; i++)
		if (l.log[i].kind == LAB_LATE) {
			assert_int_equal(l.log[i].id, 2);
			assert_int_equal(l.log[i].a, 3000);
			late++;
		}
	assert_int_equal(late, 1);
	lab_fini(&l);
}

/* 16 tokens of prompt are one block; the four slots beyond are another. */
static void lookahead_takes_blocks(void **state)
{
	struct replica_config config = drafting(3, 0);
	struct lab l;

	(void)state;
	config.kv_blocks = 10;
	config.draft.lookahead = 3;
	begin(&l, &config, 2);
	lab_request(&l, 0, 0, 16, 2);
	lab_run_until(&l, 500);
	assert_int_equal(replica_kv_used(l.replica), 2);
	lab_run(&l);
	assert_int_equal(replica_kv_used(l.replica), 0);
	/* 149 + 3 + 3 tokens fit in ten blocks, with two more they do not. */
	lab_request(&l, 0, l.calendar.now_ns, 150, 5);
	lab_request(&l, 1, l.calendar.now_ns, 152, 5);
	l.requests[0].first_ns = TIME_NEVER;
	lab_run(&l);
	assert_false(l.requests[0].dropped);
	assert_true(l.requests[1].dropped);
	lab_fini(&l);
}

/* Tokens per step are the closed form's, within four standard errors. */
static void the_mean_is_the_closed_form(void **state)
{
	struct replica_config config = drafting(4, 0.7);
	double mean = replica_draft_mean(&config.draft), error;
	struct lab l;
	const uint32_t tokens = 200000;

	(void)state;
	assert_true(fabs(mean - (1 - pow(0.7, 5)) / (1 - 0.7)) < 1e-12);
	config.draft.acceptance[2] = 0.2;
	mean = replica_draft_mean(&config.draft);
	assert_true(fabs(mean - (1 + 0.7 + 0.49 + 0.098 + 0.0686)) < 1e-12);
	begin(&l, &config, 1);
	l.quiet = true;
	lab_request(&l, 0, 0, 1, tokens);
	lab_run(&l);
	/* A step's tokens lie in 1 .. 5: their deviation is 2 at most. */
	error = 4 * 2 / sqrt((double)replica_steps_run(l.replica));
	assert_true(fabs((double)tokens / (double)replica_steps_run(l.replica) -
	                 mean) < error);
	lab_fini(&l);
}

/* The same draws alone and in company. */
static void luck_is_its_own(void **state)
{
	struct replica_config config = drafting(4, 0.6);
	struct lab alone, together;
	size_t i;

	(void)state;
	begin(&alone, &config, 6);
	lab_request(&alone, 5, 0, 8, 300);
	lab_run(&alone);
	begin(&together, &config, 6);
	for (i = 0; i < 6; i++)
		lab_request(&together, i, 0, 8, 300);
	lab_run(&together);
	assert_int_equal(alone.requests[5].done_ns,
	                 together.requests[5].done_ns);
	assert_int_not_equal(together.requests[4].done_ns,
	                     together.requests[5].done_ns);
	lab_fini(&alone);
	lab_fini(&together);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_drafts_come_together),
		cmocka_unit_test(wrong_drafts_cost_and_give_nothing),
		cmocka_unit_test(drafts_use_the_budget_up),
		cmocka_unit_test(lookahead_takes_blocks),
		cmocka_unit_test(the_mean_is_the_closed_form),
		cmocka_unit_test(luck_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
