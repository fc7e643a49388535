/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replica/replica_int.h"

bool replica_decodes(const struct replica_work *w)
{
	return w->end_step != 0;
}

struct replica_work *replica_prefilling(struct replica_work *w)
{
	while (w && replica_decodes(w))
		w = w->next;
	return w;
}

uint32_t replica_decode_generated(const struct replica *r,
                                  const struct replica_work *w)
{
	uint64_t left = w->end_step - r->b.steps;

	if (replica_drafts(r))
		return w->generated;
	assert(w->end_step >= r->b.steps && left < w->output.sealed_);
	return w->output.sealed_ - (uint32_t)left;
}

int64_t replica_decode_ticks(const struct replica *r,
                             const struct replica_work *w)
{
	assert(replica_decodes(w));
	if (replica_drafts(r))
		return w->token_ticks;
	return w->token_ticks > r->b.token_ticks ? w->token_ticks
	                                         : r->b.token_ticks;
}

void replica_batch_decode(struct replica *r, struct replica_work *w)
{
	struct replica_batching *b = &r->b;
	struct replica_ending ending;

	assert(w->computed == w->input_tokens + w->generated - 1);
	assert(w->generated < w->output.sealed_);
	if (replica_drafts(r)) {
		w->end_step = UINT64_MAX;
		return;
	}
	w->end_step = b->steps + (w->output.sealed_ - w->generated);
	b->contexts += w->computed;
	replica_kv_join(&b->kv, w->computed, b->steps);
	ending.step = w->end_step;
	ending.rank = w->rank;
	ending.work = w;
	replica_endings_push(&b->endings, &ending);
}

/* Writes down where w is, and takes it out of the sums of the decodes. */
static void leave_decodes(struct replica *r, struct replica_work *w)
{
	struct replica_batching *b = &r->b;

	w->generated = replica_decode_generated(r, w);
	w->computed = w->input_tokens + w->generated - 1;
	w->blocks = replica_kv_blocks(&b->kv, w->computed);
	w->end_step = 0;
	assert(b->contexts >= w->computed);
	b->contexts -= w->computed;
	replica_kv_leave(&b->kv, w->computed, b->steps);
}

static void leave(struct replica *r, struct replica_work *w)
{
	struct replica_batching *b = &r->b;

	if (b->prefilling == w)
		b->prefilling = replica_prefilling(w->next);
	w->end_step = 0;
	assert(b->kv.used >= w->blocks || b->cache);
	if (b->cache)
		replica_cache_leave(r, w);
	else
		b->kv.used -= w->blocks;
	w->blocks = 0;
	replica_list_remove(&r->running, w);
	w->place = WORK_OUT;
}

void replica_batch_remove(struct replica *r, struct replica_work *w)
{
	assert(w->place == WORK_RUNNING);
	if (replica_decodes(w) && !replica_drafts(r)) {
		replica_endings_remove(&r->b.endings, w);
		leave_decodes(r, w);
	}
	leave(r, w);
}

struct replica_work *replica_batch_ended(struct replica *r, uint64_t before)
{
	struct replica_endings *e = &r->b.endings;
	struct replica_work *w;

	if (e->n == 0 || e->heap[0].step != r->b.steps ||
	    e->heap[0].rank >= before)
		return NULL;
	w = replica_endings_pop(e);
	leave_decodes(r, w);
	assert(w->generated == w->output.sealed_);
	leave(r, w);
	return w;
}
