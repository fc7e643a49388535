/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step of vLLM v1's scheduler: the running in the order in which they
 * joined, the last thrown out while blocks are short, then the waiting, first
 * come first served, while budget and places last.
 *
 * A fact makes it cheap: without drafts, each running request gets all that
 * it wants, and the last of them a token at least. For each took as much in
 * the step in which the last of them joined, and since then wants no more; so
 * that they are no more than the budget. So the decodes are a number, and
 * only prompts are looked at: one at most, which used the budget up, if the
 * length of a chunk has no limit of its own.
 */
#include "replica/replica_int.h"

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Tokens it must have computed to give its next token. */
static uint32_t wanted(const struct replica_work *w)
{
	return w->input_tokens + w->generated;
}

uint32_t replica_step_chunk(const struct replica *r,
                            const struct replica_work *w, uint32_t budget)
{
	uint32_t most = r->p.config->long_prefill_tokens;
	uint32_t n = least(wanted(w) - w->computed, budget);

	assert(n >= 1);
	return most > 0 ? least(n, most) : n;
}

/* Blocks with which w has so many tokens, and the slots of drafts. */
static uint64_t blocks_with(const struct replica *r, uint64_t tokens)
{
	return replica_kv_blocks(&r->b.kv, tokens + replica_draft_slots(r));
}

/* Blocks that the running take in the next step. */
static uint64_t running_need(const struct replica *r)
{
	const struct replica_batching *b = &r->b;
	uint32_t left = r->p.config->max_num_batched_tokens - b->kv.decodes, n;
	uint64_t need = replica_kv_taken(&b->kv, b->steps, 1);
	struct replica_work *w = b->prefilling;

	for (; w && left > 0; w = replica_prefilling(w->next)) {
		n = replica_step_chunk(r, w, left);
		need += replica_kv_blocks(&b->kv, w->computed + n) - w->blocks;
		left -= n;
	}
	return need;
}

void replica_step_preempt(struct replica *r, struct replica_plan *plan)
{
	struct replica_work *w = r->running.last;

	/* One alone always fits, or it was refused at the door. */
	assert(r->running.n > 1);
	if (replica_decodes(w))
		w->token_ticks = replica_decode_ticks(r, w);
	replica_batch_remove(r, w);
	w->computed = 0;
	w->preemptions++;
	plan->preempted = true;
	replica_list_prepend(&r->waiting, w);
	w->place = WORK_WAITING;
	r->p.hooks->preempted(r->p.self, r, w);
}

/*
 * Throws out until the running find their blocks. vLLM goes through the
 * batch in order and throws out the last whenever one finds none; who remains
 * is the same.
 */
static void make_room(struct replica *r, struct replica_plan *plan)
{
	if (r->b.kv.total == 0)
		return;
	while (running_need(r) > replica_kv_free(&r->b.kv))
		replica_step_preempt(r, plan);
}

void replica_step_prefill(struct replica *r, struct replica_work *w, uint32_t n,
                          struct replica_plan *plan)
{
	struct replica_kv *kv = &r->b.kv;
	uint64_t blocks = blocks_with(r, w->computed + n);

	assert(n >= 1 && n <= plan->budget && blocks >= w->blocks);
	plan->budget -= n;
	plan->batch.prefill_tokens += n;
	plan->batch.pairs +=
		(uint64_t)n * w->computed + (uint64_t)n * (n + UINT64_C(1)) / 2;
	kv->used += blocks - w->blocks;
	w->blocks = blocks;
	w->computed += n;
	if (r->b.cache)
		replica_cache_take(r, w, blocks, w->computed);
}

/* The decodes, and the prompts left over, in the order of the batch. */
static void take_running(struct replica *r, struct replica_plan *plan)
{
	struct replica_batching *b = &r->b;
	struct replica_work *w;

	make_room(r, plan);
	assert(b->kv.decodes <= plan->budget);
	plan->budget -= b->kv.decodes;
	plan->batch.decodes = b->kv.decodes;
	plan->batch.contexts = b->contexts;
	if (b->cache)
		replica_cache_pay(r, replica_kv_taken(&b->kv, b->steps, 1));
	for (w = b->prefilling; w && plan->budget > 0;
	     w = replica_prefilling(w->next))
		replica_step_prefill(
			r, w, replica_step_chunk(r, w, plan->budget), plan);
}

/* What the cache has of the first in line. */
struct found {
	uint64_t blocks;
	uint64_t free; /* of them, held by nobody */
};

/*
 * True when there is room for all tokens of the first in line. Blocks that
 * are found and free are no longer free when it has them.
 */
static bool fits(const struct replica *r, const struct replica_work *w,
                 uint32_t chunk, const struct found *found)
{
	const struct replica_batching *b = &r->b;
	uint64_t need = replica_kv_blocks(&b->kv, wanted(w));
	uint64_t now = blocks_with(r, w->computed + chunk), left;

	if (b->kv.total == 0)
		return true;
	left = replica_kv_free(&b->kv) - replica_kv_taken(&b->kv, b->steps, 1);
	if (now > need)
		need = now;
	if (r->running.n > 0)
		need += r->p.config->watermark_blocks;
	return need - found->blocks + found->free <= left;
}

/* The first in line joins with its first chunk. */
static void join(struct replica *r, uint32_t chunk, const struct found *found,
                 struct replica_plan *plan)
{
	struct replica_batching *b = &r->b;
	struct replica_work *w = r->waiting.first;

	replica_list_remove(&r->waiting, w);
	replica_list_append(&r->running, w);
	w->place = WORK_RUNNING;
	w->rank = b->joined++;
	w->scheduled = 0;
	if (!b->prefilling)
		b->prefilling = w;
	if (b->cache)
		replica_cache_join(r, w, found->blocks);
	if (w->preemptions == 0)
		w->cached = w->computed;
	replica_step_prefill(r, w, chunk, plan);
	replica_hold_joined(r);
	r->p.hooks->started(r->p.self, r, w);
}

/* Lets the waiting join while there is budget, a place, and room. */
static void join_waiting(struct replica *r, struct replica_plan *plan)
{
	struct found found = {0, 0};
	struct replica_work *w;
	uint32_t n;

	if (r->waiting.n == 0 || plan->preempted || !replica_hold_joins(r))
		return;
	while ((w = r->waiting.first) && plan->budget > 0 &&
	       r->running.n < r->p.config->max_num_seqs) {
		if (r->b.cache)
			found.blocks = replica_cache_find(r, w, &found.free);
		w->computed = (uint32_t)found.blocks * r->b.kv.block_tokens;
		n = replica_step_chunk(r, w, plan->budget);
		if (!fits(r, w, n, &found)) {
			w->computed = 0;
			break;
		}
		join(r, n, &found, plan);
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
	struct replica_plan plan = {.batch = {0, 0, 0, 0}};
	int64_t now_ns = r->p.calendar->now_ns;
	uint64_t most = 1;

	assert(!b->run.open && now_ns >= b->hold.until_ns);
	/* From idle it starts now; within one ns it has not been idle. */
	if (!r->busy && now_ns > replica_ns(b->clock_ticks))
		b->clock_ticks = replica_ticks(now_ns);
	plan.budget = r->p.config->max_num_batched_tokens;
	if (replica_drafts(r))
		replica_draft_schedule(r, &plan);
	else
		take_running(r, &plan);
	join_waiting(r, &plan);
	if (r->running.n == 0) {
		if (r->busy)
			replica_busy_until(r, b->clock_ticks);
		assert(r->waiting.n == 0 || !replica_hold_joins(r));
		if (r->waiting.n > 0)
			event_schedule(r->p.calendar, &b->start,
			               b->hold.join_ns);
		return;
	}
	if (!r->busy)
		replica_busy_from(r, b->clock_ticks);
	if (plan.batch.prefill_tokens == 0 && !plan.preempted &&
	    !replica_drafts(r))
		most = steps_alike(r);
	replica_run_open(r, &plan, most);
	if (r->waiting.n > 0 && !replica_hold_joins(r))
		replica_run_until(r, b->hold.join_ns);
}
