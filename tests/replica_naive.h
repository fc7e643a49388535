/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine's rules written out: a scheduler that visits each request in
 * each step and takes block by block, as vLLM v1 does
 * (vllm/v1/core/sched/scheduler.py), with its prefix cache, chunks of a
 * limited length, watermark and drafts.
 */
#ifndef WEIR_TESTS_REPLICA_NAIVE_H
#define WEIR_TESTS_REPLICA_NAIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

#define NAIVE_REQUESTS 60u
#define NAIVE_BLOCKS 80u

struct naive_request {
	int64_t at_ns;
	uint32_t input, output;
	uint32_t computed, generated, scheduled, preemptions;
	uint64_t blocks;
	uint32_t block[NAIVE_BLOCKS]; /* with a prefix cache */
	uint32_t group, prefix, cached;
	int64_t first_ns, done_ns;
	bool decodes; /* gave a token and was not thrown out since */
};

/* A block, and what it holds: the index-th of a group's or a request's. */
struct naive_block {
	bool named, of_group;
	uint32_t owner, index;
	uint32_t holders;
	uint64_t since; /* named */
};

struct naive {
	struct replica_config config;
	struct naive_request q[NAIVE_REQUESTS];
	size_t arrived; /* requests are in the order of arrival */
	uint32_t waiting[NAIVE_REQUESTS],
		n_waiting; /* the first is waiting[0] */
	uint32_t running[NAIVE_REQUESTS], n_running;
	uint64_t free_blocks;
	struct naive_block block[NAIVE_BLOCKS];
	uint32_t queue[NAIVE_BLOCKS],
		n_queue; /* the next to be taken is queue[0] */
	uint64_t names;
	bool preempted; /* in this step */
	int64_t clock_ticks;
	uint64_t steps, given, decoded;
};

static inline uint64_t blocks_for(const struct naive *n, uint64_t tokens)
{
	uint64_t size = n->config.block_tokens;

	return tokens / size + (tokens % size > 0);
}

/* ---- prefix cache ------------------------------------------------------ */

static inline void queue_remove(struct naive *n, uint32_t at)
{
	n->n_queue--;
	memmove(n->queue + at, n->queue + at + 1,
	        (n->n_queue - at) * sizeof n->queue[0]);
}

static inline struct naive_block
name_of(const struct naive *n, const struct naive_request *q, uint32_t i)
{
	struct naive_block b = {.index = i};

	b.of_group = (i + 1) * n->config.block_tokens <= q->prefix;
	b.owner = b.of_group ? q->group : (uint32_t)(q - n->q);
	return b;
}

/* The block of that name that has it for longest, or NAIVE_BLOCKS. */
static inline uint32_t lookup(const struct naive *n,
                              const struct naive_block *name)
{
	uint32_t i, best = NAIVE_BLOCKS;

	for (i = 0; i < NAIVE_BLOCKS; i++) {
		const struct naive_block *b = &n->block[i];

		if (b->named && b->of_group == name->of_group &&
		    b->owner == name->owner && b->index == name->index &&
		    (best == NAIVE_BLOCKS || b->since < n->block[best].since))
			best = i;
	}
	return best;
}

/* Blocks found for q into `at`; returns how many. */
static inline uint32_t hits(const struct naive *n,
                            const struct naive_request *q, uint32_t *at)
{
	uint32_t most = (q->input + q->generated - 1) / n->config.block_tokens;
	uint32_t i;

	if (!n->config.prefix_cache)
		return 0;
	for (i = 0; i < most; i++) {
		struct naive_block name = name_of(n, q, i);

		at[i] = lookup(n, &name);
		if (at[i] == NAIVE_BLOCKS)
			break;
	}
	return i > 0 && n->config.draft.lookahead > 0 ? i - 1 : i;
}

/* q holds the blocks found. */
static inline void hold(struct naive *n, struct naive_request *q,
                        const uint32_t *at, uint32_t found)
{
	uint32_t i, j;

	for (i = 0; i < found; i++) {
		if (n->block[at[i]].holders++ == 0) {
			for (j = 0; n->queue[j] != at[i]; j++)
				;
			queue_remove(n, j);
			n->free_blocks--;
		}
		q->block[i] = at[i];
	}
	q->blocks = found;
	q->computed = found * n->config.block_tokens;
}

/* q takes its next block, which forgets what it held. */
static inline void take_one(struct naive *n, struct naive_request *q,
                            uint64_t i)
{
	assert_true(n->n_queue > 0 && i < NAIVE_BLOCKS);
	q->block[i] = n->queue[0];
	n->block[q->block[i]].named = false;
	n->block[q->block[i]].holders = 1;
	queue_remove(n, 0);
}

/* q's blocks that are full with so many tokens get their names. */
static inline void name_full(struct naive *n, const struct naive_request *q,
                             uint32_t tokens)
{
	uint32_t i;

	for (i = 0; i < tokens / n->config.block_tokens; i++) {
		struct naive_block *b = &n->block[q->block[i]];

		if (b->named)
			continue;
		b->of_group = name_of(n, q, i).of_group;
		b->owner = name_of(n, q, i).owner;
		b->index = i;
		b->named = true;
		b->since = n->names++;
	}
}

static inline void release(struct naive *n, struct naive_request *q)
{
	if (!n->config.prefix_cache) {
		n->free_blocks += q->blocks;
		q->blocks = 0;
	}
	for (; q->blocks > 0; q->blocks--) {
		uint32_t at = q->block[q->blocks - 1];

		if (--n->block[at].holders > 0)
			continue;
		n->queue[n->n_queue++] = at;
		n->free_blocks++;
	}
}

/* ---- steps ------------------------------------------------------------- */

/* vLLM's allocate_slots. */
static inline bool allocate(struct naive *n, struct naive_request *q,
                            uint32_t tokens)
{
	uint64_t slots = n->config.draft.lookahead;
	uint64_t all = blocks_for(n, q->computed + tokens + slots), need = 0;

	if (all > q->blocks)
		need = all - q->blocks;
	if (need > n->free_blocks)
		return false;
	n->free_blocks -= need;
	if (n->config.prefix_cache) {
		for (; need > 0; need--)
			take_one(n, q, q->blocks++);
		/* Drafts may be wrong: they do not count yet. */
		name_full(n, q,
		          q->decodes ? q->computed + 1 : q->computed + tokens);
	}
	q->blocks += need;
	return true;
}

static inline void preempt(struct naive *n)
{
	uint32_t last = n->running[--n->n_running];
	struct naive_request *q = &n->q[last];

	release(n, q);
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

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What q may have of the budget, with drafts when it decodes. */
static inline uint32_t share(const struct naive *n,
                             const struct naive_request *q, uint32_t budget)
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
static inline bool schedule_one(struct naive *n, uint32_t i, uint32_t *budget)
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

static inline void schedule(struct naive *n)
{
	uint32_t budget = n->config.max_num_batched_tokens, i, found, free;
	uint32_t at[NAIVE_BLOCKS];
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
		found = hits(n, q, at);
		for (i = 0, free = 0; i < found; i++)
			free += n->block[at[i]].holders == 0;
		if (blocks_for(n, q->input + q->generated) - found + free +
		            (n->n_running > 0 ? n->config.watermark_blocks
		                              : 0) >
		    n->free_blocks)
			break;
		q->computed = found * n->config.block_tokens;
		q->scheduled = share(n, q, budget);
		if (blocks_for(n, q->computed + q->scheduled +
		                          n->config.draft.lookahead) -
		            found + free +
		            (n->n_running > 0 ? n->config.watermark_blocks
		                              : 0) >
		    n->free_blocks) {
			q->computed = 0;
			break;
		}
		hold(n, q, at, found);
		if (q->preemptions == 0)
			q->cached = q->computed;
		assert_true(allocate(n, q, q->scheduled));
		budget -= q->scheduled;
		n->running[n->n_running++] = n->waiting[0];
		n->n_waiting--;
		memmove(n->waiting, n->waiting + 1,
		        n->n_waiting * sizeof n->waiting[0]);
	}
}

/* What the step costs: each decode's token, and the chunks of prompts. */
static inline int64_t cost(const struct naive *n)
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
static inline uint32_t given(const struct naive *n,
                             const struct naive_request *q)
{
	struct stream s =
		stream_open(1, 0, EVENT_ENTITY(LAB_WORK, 0), STREAM_DRAFT);
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

static inline void update(struct naive *n)
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
			release(n, q);
			continue;
		}
		n->running[kept++] = n->running[i];
	}
	n->n_running = kept;
}

static inline bool too_long(const struct naive *n,
                            const struct naive_request *q)
{
	uint32_t beyond = n->config.draft.tokens + n->config.draft.lookahead;

	return n->config.kv_blocks > 0 &&
	       blocks_for(n, q->input + q->output - 1 + beyond) >
	               n->config.kv_blocks;
}

static inline void arrive(struct naive *n)
{
	while (n->arrived < NAIVE_REQUESTS &&
	       n->q[n->arrived].at_ns <= replica_ns(n->clock_ticks)) {
		if (!too_long(n, &n->q[n->arrived]))
			n->waiting[n->n_waiting++] = (uint32_t)n->arrived;
		n->arrived++;
	}
}

static inline void naive_run(struct naive *n)
{
	for (; n->n_queue < n->config.kv_blocks; n->n_queue++)
		n->queue[n->n_queue] = n->n_queue;
	n->free_blocks =
		n->config.kv_blocks > 0 ? n->config.kv_blocks : UINT64_MAX / 2;
	for (;;) {
		arrive(n);
		if (n->n_running + n->n_waiting == 0) {
			if (n->arrived == NAIVE_REQUESTS)
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

#endif
