/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speculative decoding. How many tokens a decode gives in a step is its own
 * luck, so each is visited in each step, as vLLM does. Which drafts are right
 * is drawn from the request's own substream, by the place of the token in the
 * answer: it does not depend on where or with whom the request runs.
 */
#include "replica/replica_int.h"

double replica_draft_mean(const struct replica_draft *draft)
{
	double all = 1, mean = 1;
	uint32_t i;

	assert(draft->tokens <= REPLICA_DRAFT_MAX);
	for (i = 0; i < draft->tokens; i++) {
		all *= draft->acceptance[i];
		mean += all;
	}
	return mean;
}

/* What a request wants in this step, drafts included. */
static uint32_t wish(const struct replica *r, const struct replica_work *w,
                     uint32_t budget)
{
	const struct replica_config *config = r->p.config;
	uint32_t n = 1 + config->draft.tokens;

	if (!replica_decodes(w))
		return replica_step_chunk(r, w, budget);
	if (config->max_model_len > 0 &&
	    n > config->max_model_len - 1 - w->computed)
		n = config->max_model_len - 1 - w->computed;
	assert(n >= 1);
	return n < budget ? n : budget;
}

/* Finds the blocks for w's next n tokens; false when w was thrown out. */
static bool find_blocks(struct replica *r, const struct replica_work *w,
                        uint32_t n, struct replica_plan *plan)
{
	const struct replica_kv *kv = &r->b.kv;
	uint64_t tokens = (uint64_t)w->computed + n + replica_draft_slots(r);
	uint64_t blocks = replica_kv_blocks(kv, tokens);

	while (w->place == WORK_RUNNING && blocks > w->blocks &&
	       blocks - w->blocks > replica_kv_free(kv))
		replica_step_preempt(r, plan);
	return w->place == WORK_RUNNING;
}

static void take_decode(struct replica *r, struct replica_work *w, uint32_t n,
                        struct replica_plan *plan)
{
	struct replica_kv *kv = &r->b.kv;
	uint64_t tokens = (uint64_t)w->computed + n + replica_draft_slots(r);
	uint64_t blocks = replica_kv_blocks(kv, tokens);

	assert(n >= 1 && n <= plan->budget);
	plan->budget -= n;
	plan->batch.decodes += n;
	plan->batch.contexts += w->computed;
	if (blocks > w->blocks) {
		kv->used += blocks - w->blocks;
		w->blocks = blocks;
	}
	/* Drafts may be wrong: they fill no block yet. */
	if (r->b.cache)
		replica_cache_take(r, w, w->blocks, w->computed + UINT64_C(1));
	w->scheduled = n;
	plan->on_time += replica_draft_on_time(r, w);
}

void replica_draft_schedule(struct replica *r, struct replica_plan *plan)
{
	struct replica_work *w;
	uint32_t n;

	for (w = r->running.first; w; w = w->next)
		w->scheduled = 0;
	for (w = r->running.first; w && plan->budget > 0; w = w->next) {
		n = wish(r, w, plan->budget);
		if (!find_blocks(r, w, n, plan))
			break;
		if (replica_decodes(w))
			take_decode(r, w, n, plan);
		else
			replica_step_prefill(r, w, n, plan);
	}
}

int64_t replica_draft_ticks(const struct replica *r)
{
	const struct replica_draft *draft = &r->p.config->draft;
	const struct replica_work *w;
	int64_t decodes = 0;

	for (w = r->running.first; w; w = w->next)
		decodes += replica_decodes(w) && w->scheduled > 1;
	if (decodes == 0)
		return 0;
	return draft->step_ticks + draft->per_decode_ticks * decodes;
}

bool replica_draft_on_time(const struct replica *r,
                           const struct replica_work *w)
{
	return w->scheduled > 0 && w->token_ticks == r->b.clock_ticks;
}

/* How many of w's drafts are right. */
static uint32_t accepted(struct replica *r, const struct replica_work *w)
{
	const struct replica_draft *draft = &r->p.config->draft;
	uint32_t right = 0;
	double all, luck;

	stream_seek(&r->b.drafts, w->id);
	r->b.drafts.block = w->generated;
	luck = stream_unit(&r->b.drafts);
	all = draft->acceptance[0];
	while (right + 1 < w->scheduled && luck < all) {
		right++;
		if (right < draft->tokens)
			all *= draft->acceptance[right];
	}
	return right;
}

/* w gets its tokens; those beyond its last are of no use. */
static void give(struct replica *r, struct replica_work *w, int64_t begin_ticks)
{
	const struct replica_hooks *h = r->p.hooks;
	uint32_t n = 1 + accepted(r, w), i;
	int64_t gap = r->b.clock_ticks - w->token_ticks;

	if (n > w->output.sealed_ - w->generated)
		n = w->output.sealed_ - w->generated;
	assert(n >= 1);
	if (w->token_ticks != begin_ticks)
		h->late_token(r->p.self, r, w, replica_ns(gap));
	for (i = 1; i < n; i++)
		h->late_token(r->p.self, r, w, 0);
	w->generated += n;
	w->computed += n;
	w->token_ticks = r->b.clock_ticks;
}

void replica_draft_book(struct replica *r, uint64_t before)
{
	int64_t begin_ticks = r->b.run.begin_ticks;
	struct replica_work *w, *next;

	for (w = r->running.first; w && w->rank < before; w = next) {
		next = w->next;
		if (!replica_decodes(w) || w->scheduled == 0)
			continue;
		give(r, w, begin_ticks);
		w->scheduled = 0;
		if (w->generated == w->output.sealed_) {
			replica_batch_remove(r, w);
			replica_finish(r, w);
		}
	}
}
