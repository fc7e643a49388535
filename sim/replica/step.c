/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step of vLLM v1's scheduler: the running in the order in which they
 * joined, the last thrown out while blocks are short, then the waiting, first
 * come first served, while budget and places last.
 *
 * Two facts make it cheap. Each running request gets a token at least: each
 * took one in the step in which the last of them joined, so that they are no
 * more than the budget. And one prompt at most is left over from the step
 * before, the last of the batch: it used the budget up. So the decodes are a
 * number, and only prompts are looked at.
 */
#include "replica/replica_int.h"

/* The batch as it is made up. */
struct plan {
	struct replica_batch batch;
	uint32_t budget; /* tokens left */
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Tokens it must have computed to give its next token. */
static uint32_t wanted(const struct replica_work *w)
{
	return w->input_tokens + w->generated;
}

/* The next chunk of the prompt left over, within the budget. */
static uint32_t next_chunk(const struct replica *r,
                           const struct replica_work *w)
{
	uint32_t budget = r->p.config->max_num_batched_tokens;

	assert(r->b.kv.decodes < budget);
	return least(wanted(w) - w->computed, budget - r->b.kv.decodes);
}

/* Blocks that the running take in the next step. */
static uint64_t running_need(const struct replica *r)
{
	const struct replica_batching *b = &r->b;
	const struct replica_work *w = b->prefilling;
	uint64_t need = replica_kv_taken(&b->kv, b->steps, 1);

	if (w)
		need += replica_kv_blocks(&b->kv,
		                          w->computed + next_chunk(r, w)) -
		        w->blocks;
	return need;
}

/* Throws out the last of the batch; it will be first of the queue. */
static void preempt_last(struct replica *r)
{
	struct replica_work *w = r->running.last;

	/* A decode got its last token at the end of the step before. */
	if (replica_decodes(w))
		w->token_ticks = r->b.clock_ticks;
	replica_batch_remove(r, w);
	w->computed = 0;
	w->preemptions++;
	replica_list_prepend(&r->waiting, w);
	w->place = WORK_WAITING;
	r->p.hooks->preempted(r->p.self, r, w);
}

/*
 * Throws out until the running find their blocks. vLLM goes through the
 * batch in order and throws out the last whenever one finds none; who remains
 * is the same. It then lets nobody join in this step. That needs no rule of
 * its own: when the first in line was thrown out, the blocks that it held and
 * all that were free were too few for it and those before it, so that it does
 * not pass the gate until one of them ends.
 */
static void make_room(struct replica *r)
{
	if (r->b.kv.total == 0)
		return;
	while (running_need(r) > replica_kv_free(&r->b.kv)) {
		/* One alone always fits, or it was refused at the door. */
		assert(r->running.n > 1);
		preempt_last(r);
	}
}

/* Gives w its next n tokens of prompt. */
static void take_chunk(struct replica *r, struct replica_work *w, uint32_t n,
                       struct plan *plan)
{
	struct replica_kv *kv = &r->b.kv;
	uint64_t blocks = replica_kv_blocks(kv, w->computed + n);

	assert(n >= 1 && n <= plan->budget && blocks >= w->blocks);
	plan->budget -= n;
	plan->batch.prefill_tokens += n;
	plan->batch.pairs +=
		(uint64_t)n * w->computed + (uint64_t)n * (n + UINT64_C(1)) / 2;
	kv->used += blocks - w->blocks;
	w->blocks = blocks;
	w->computed += n;
}

/* Lets the waiting join while there is budget, a place, and room for all
 * of the first one's tokens. */
static void join_waiting(struct replica *r, struct plan *plan)
{
	struct replica_batching *b = &r->b;
	uint64_t reserved = replica_kv_taken(&b->kv, b->steps, 1);
	struct replica_work *w;

	while ((w = r->waiting.first) && plan->budget > 0 &&
	       r->running.n < r->p.config->max_num_seqs) {
		if (replica_kv_blocks(&b->kv, wanted(w)) >
		    replica_kv_free(&b->kv) - reserved)
			break;
		replica_list_remove(&r->waiting, w);
		replica_list_append(&r->running, w);
		w->place = WORK_RUNNING;
		if (!b->prefilling)
			b->prefilling = w;
		take_chunk(r, w, least(wanted(w), plan->budget), plan);
		r->p.hooks->started(r->p.self, r, w);
	}
}

/* How many steps may pass before the batch can change. */
static uint64_t steps_alike(const struct replica *r)
{
	const struct replica_batching *b = &r->b;
	uint64_t most = REPLICA_RUN_STEPS_MAX, to_end;

	if (r->p.config->exact_steps)
		return 1;
	assert(b->endings.n > 0 && b->endings.heap[0].step > b->steps);
	to_end = b->endings.heap[0].step - b->steps;
	if (to_end < most)
		most = to_end;
	most = replica_kv_steps(&b->kv, b->steps, most);
	assert(most >= 1);
	return most;
}

void replica_step_begin(struct replica *r)
{
	struct replica_batching *b = &r->b;
	struct plan plan = {{0, 0, 0, 0}, 0};
	int64_t now_ns = r->p.calendar->now_ns;
	uint64_t most = 1;

	assert(!b->run.open);
	/* From idle it starts now; within one ns it has not been idle. */
	if (!r->busy && now_ns > replica_ns(b->clock_ticks))
		b->clock_ticks = replica_ticks(now_ns);
	make_room(r);
	assert(b->kv.decodes <= r->p.config->max_num_batched_tokens);
	plan.budget = r->p.config->max_num_batched_tokens - b->kv.decodes;
	if (b->prefilling)
		take_chunk(r, b->prefilling, next_chunk(r, b->prefilling),
		           &plan);
	join_waiting(r, &plan);
	if (r->running.n == 0) {
		assert(r->waiting.n == 0);
		if (r->busy)
			replica_busy_until(r, b->clock_ticks);
		return;
	}
	if (!r->busy)
		replica_busy_from(r, b->clock_ticks);
	plan.batch.decodes = b->kv.decodes;
	plan.batch.contexts = b->contexts;
	if (plan.batch.prefill_tokens == 0)
		most = steps_alike(r);
	replica_run_open(r, &plan.batch, most);
}
