/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine against the rules written out: a scheduler that visits each
 * request in each step and allocates block by block, as vLLM v1 does
 * (vllm/v1/core/sched/scheduler.py), over random loads. First and last token
 * of each request, its preemptions, and each step must be the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

#define LOADS 1500u
#define REQUESTS 60u

struct naive_request {
	int64_t at_ns;
	uint32_t input, output;
	uint32_t computed, generated, scheduled, preemptions;
	uint64_t blocks;
	int64_t first_ns, done_ns;
	bool decodes; /* gave a token and was not thrown out since */
};

struct naive {
	struct replica_config config;
	struct naive_request q[REQUESTS];
	size_t arrived; /* requests are in the order of arrival */
	uint32_t waiting[REQUESTS], n_waiting; /* the first is waiting[0] */
	uint32_t running[REQUESTS], n_running;
	uint64_t free_blocks;
	bool preempted; /* in this step */
	int64_t clock_ticks;
	uint64_t steps, given, decoded;
};

static uint64_t blocks_for(const struct naive *n, uint64_t tokens)
{
	uint64_t size = n->config.block_tokens;

	return tokens / size + (tokens % size > 0);
}

/* vLLM's allocate_slots without prefix cache. */
static bool allocate(struct naive *n, struct naive_request *q, uint32_t tokens)
{
	uint64_t slots = n->config.draft.lookahead;
	uint64_t all = blocks_for(n, q->computed + tokens + slots), need = 0;

	if (all > q->blocks)
		need = all - q->blocks;
	if (need > n->free_blocks)
		return false;
	n->free_blocks -= need;
	q->blocks += need;
	return true;
}

static void preempt(struct naive *n)
{
	uint32_t last = n->running[--n->n_running];
	struct naive_request *q = &n->q[last];

	n->free_blocks += q->blocks;
	q->blocks = 0;
	q->computed = 0;
	q->scheduled = 0;
	q->decodes = false;
	q->preemptions++;
	memmove(n->waiting + 1, n->waiting,
	        n->n_waiting * sizeof n->waiting[0]);
	n->waiting[0] = last;
	n->n_waiting++;
	n->preempted = true;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What q may have of the budget, with drafts when it decodes. */
static uint32_t share(const struct naive *n, const struct naive_request *q,
                      uint32_t budget)
{
	uint32_t want = q->input + q->generated - q->computed;
	uint32_t most = n->config.long_prefill_tokens;

	if (q->decodes)
		want += n->config.draft.tokens;
	else if (most > 0 && want > most)
		want = most;
	return smaller(want, budget);
}

/* Returns false when the batch ended before `i` could be scheduled. */
static bool schedule_one(struct naive *n, uint32_t i, uint32_t *budget)
{
	struct naive_request *q = &n->q[n->running[i]];
	uint32_t tokens = share(n, q, *budget);

	while (!allocate(n, q, tokens)) {
		preempt(n);
		if (i == n->n_running)
			return false;
	}
	q->scheduled = tokens;
	*budget -= tokens;
	return true;
}

static void schedule(struct naive *n)
{
	uint32_t budget = n->config.max_num_batched_tokens, i;
	struct naive_request *q;

	n->preempted = false;
	for (i = 0; i < n->n_running; i++)
		n->q[n->running[i]].scheduled = 0;
	for (i = 0; i < n->n_running && budget > 0; i++)
		if (!schedule_one(n, i, &budget))
			break;
	while (!n->preempted && n->n_waiting > 0 && budget > 0 &&
	       n->n_running < n->config.max_num_seqs) {
		q = &n->q[n->waiting[0]];
		if (blocks_for(n, q->input + q->generated) +
		            (n->n_running > 0 ? n->config.watermark_blocks
		                              : 0) >
		    n->free_blocks)
			break;
		q->scheduled = share(n, q, budget);
		if (blocks_for(n, q->scheduled + n->config.draft.lookahead) +
		            (n->n_running > 0 ? n->config.watermark_blocks
		                              : 0) >
		    n->free_blocks)
			break;
		assert_true(allocate(n, q, q->scheduled));
		budget -= q->scheduled;
		n->running[n->n_running++] = n->waiting[0];
		n->n_waiting--;
		memmove(n->waiting, n->waiting + 1,
		        n->n_waiting * sizeof n->waiting[0]);
	}
}

/* What the step costs: each decode's token, and the chunks of prompts. */
static int64_t cost(const struct naive *n)
{
	const struct replica_draft *draft = &n->config.draft;
	struct replica_batch batch = {0, 0, 0, 0};
	int64_t drafted = 0, ticks = 0;
	uint32_t i, j;

	for (i = 0; i < n->n_running; i++) {
		const struct naive_request *q = &n->q[n->running[i]];

		if (q->decodes && q->scheduled > 0) {
			batch.decodes += q->scheduled;
			batch.contexts += q->computed;
			drafted += q->scheduled > 1;
			continue;
		}
		batch.prefill_tokens += q->scheduled;
		for (j = 0; j < q->scheduled; j++)
			batch.pairs += q->computed + j + 1;
	}
	if (drafted > 0)
		ticks = draft->step_ticks + draft->per_decode_ticks * drafted;
	return ticks + replica_step_ticks(&n->config.curve, &batch);
}

/* How many tokens a decode's step gives: drafts in order, while right. */
static uint32_t given(const struct naive *n, const struct naive_request *q)
{
	struct stream s = stream_open(1, 0, EVENT_ENTITY(LAB_WORK, 0),
	                              REPLICA_STREAM_DRAFT);
	uint32_t tokens = 1;
	double right = 1, luck;

	if (q->scheduled <= 1)
		return 1;
	stream_seek(&s, (uint64_t)(q - n->q));
	s.block = q->generated;
	luck = stream_unit(&s);
	for (; tokens < q->scheduled; tokens++) {
		right *= n->config.draft.acceptance[tokens - 1];
		if (luck >= right)
			break;
	}
	return smaller(tokens, q->output - q->generated);
}

static void update(struct naive *n)
{
	int64_t now_ns = replica_ns(n->clock_ticks);
	uint32_t i, kept = 0;

	for (i = 0; i < n->n_running; i++) {
		struct naive_request *q = &n->q[n->running[i]];

		if (q->decodes && q->scheduled > 0) {
			uint32_t tokens = given(n, q);

			q->generated += tokens;
			q->computed += tokens;
			n->given += tokens;
			n->decoded++;
		} else {
			q->computed += q->scheduled;
		}
		if (!q->decodes && q->scheduled > 0 &&
		    q->computed == q->input + q->generated) {
			q->generated++;
			q->decodes = true;
			if (q->generated == 1)
				q->first_ns = now_ns;
		}
		if (q->generated == q->output) {
			q->done_ns = now_ns;
			n->free_blocks += q->blocks;
			continue;
		}
		n->running[kept++] = n->running[i];
	}
	n->n_running = kept;
}

static bool too_long(const struct naive *n, const struct naive_request *q)
{
	uint32_t beyond = n->config.draft.tokens + n->config.draft.lookahead;

	return n->config.kv_blocks > 0 &&
	       blocks_for(n, q->input + q->output - 1 + beyond) >
	               n->config.kv_blocks;
}

static void arrive(struct naive *n)
{
	while (n->arrived < REQUESTS &&
	       n->q[n->arrived].at_ns <= replica_ns(n->clock_ticks)) {
		if (!too_long(n, &n->q[n->arrived]))
			n->waiting[n->n_waiting++] = (uint32_t)n->arrived;
		n->arrived++;
	}
}

static void naive_run(struct naive *n)
{
	n->free_blocks =
		n->config.kv_blocks > 0 ? n->config.kv_blocks : UINT64_MAX / 2;
	for (;;) {
		arrive(n);
		if (n->n_running + n->n_waiting == 0) {
			if (n->arrived == REQUESTS)
				break;
			if (n->q[n->arrived].at_ns * 1024 > n->clock_ticks)
				n->clock_ticks = n->q[n->arrived].at_ns * 1024;
			continue;
		}
		schedule(n);
		assert_true(n->n_running > 0);
		n->clock_ticks += cost(n);
		n->steps++;
		update(n);
	}
}

/* ---- loads ------------------------------------------------------------- */

static uint32_t between(struct stream *s, uint32_t low, uint32_t high)
{
	return low + (uint32_t)stream_below(s, (uint64_t)(high - low) + 1);
}

static void random_draft(struct stream *s, struct replica_draft *draft)
{
	uint32_t i;

	draft->tokens = between(s, 1, 5);
	draft->lookahead = between(s, 0, 1) * draft->tokens;
	draft->step_ticks = between(s, 0, 5000);
	draft->per_decode_ticks = between(s, 0, 500);
	for (i = 0; i < draft->tokens; i++)
		draft->acceptance[i] = stream_unit(s);
}

static void random_load(struct stream *s, struct naive *n)
{
	uint32_t input_max = between(s, 1, 100), spread = between(s, 0, 900);
	uint32_t output_max = between(s, 1, 60), i;
	int64_t at_ns = 0;

	memset(n, 0, sizeof *n);
	n->config = lab_config();
	n->config.max_num_seqs = between(s, 1, 30);
	n->config.max_num_batched_tokens = between(s, 1, 200);
	n->config.block_tokens = between(s, 1, 20);
	n->config.kv_blocks = between(s, 0, 3) ? between(s, 5, 60) : 0;
	n->config.curve = lab_linear(between(s, 1, 900), between(s, 0, 9),
	                             between(s, 0, 9));
	if (between(s, 0, 1))
		n->config.long_prefill_tokens = between(s, 1, 60);
	if (between(s, 0, 1))
		n->config.watermark_blocks = between(s, 0, 4);
	if (between(s, 0, 1))
		random_draft(s, &n->config.draft);
	n->config.curve.piece[0].base_ticks += between(s, 0, 1023);
	n->config.curve.piece[0].per_context_ticks = between(s, 0, 300);
	n->config.curve.piece[0].per_pair_ticks = between(s, 0, 300);
	for (i = 0; i < REQUESTS; i++) {
		struct naive_request *q = &n->q[i];

		at_ns += between(s, 0, spread);
		q->at_ns = at_ns;
		q->input = between(s, 1, input_max);
		q->output = between(s, 1, output_max);
		q->first_ns = q->done_ns = TIME_NEVER;
	}
}

static void engine_is_the_rules(void **state)
{
	struct stream s = stream_open(7, 0, 0, STREAM_ARRIVAL);
	uint64_t preemptions = 0, refused = 0, given_more = 0;
	struct naive *n = mem_new(1, sizeof *n);
	struct lab lab;
	unsigned i, j;

	(void)state;
	for (i = 0; i < LOADS; i++) {
		stream_seek(&s, i);
		random_load(&s, n);
		lab_init(&lab, &n->config, REQUESTS);
		replica_start(lab.replica, NULL);
		for (j = 0; j < REQUESTS; j++)
			lab_request(&lab, j, n->q[j].at_ns, n->q[j].input,
			            n->q[j].output);
		naive_run(n);
		lab_run(&lab);
		for (j = 0; j < REQUESTS; j++) {
			const struct lab_request *q = &lab.requests[j];

			if (q->first_ns != n->q[j].first_ns ||
			    q->done_ns != n->q[j].done_ns ||
			    q->work.preemptions != n->q[j].preemptions)
				fail_msg("load %u, request %u", i, j);
			preemptions += n->q[j].preemptions;
			refused += q->dropped;
		}
		assert_int_equal(replica_steps_run(lab.replica), n->steps);
		given_more += n->given - n->decoded;
		assert_int_equal(lab.calendar.now_ns,
		                 replica_ns(n->clock_ticks));
		lab_fini(&lab);
	}
	mem_free(n);
	print_message("%u loads, %llu preemptions, %llu refused, %llu drafts "
	              "were right\n",
	              LOADS, (unsigned long long)preemptions,
	              (unsigned long long)refused,
	              (unsigned long long)given_more);
	assert_true(preemptions > 1000 && refused > 100 && given_more > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_is_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
