/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The prefix cache: KV blocks by name. A full block is named by its chain, of
 * a shared prefix or of one session, and its place in it; so that it can be
 * found again while it is held and until it is taken for something else. What
 * nobody holds stands in a queue from which blocks are taken; a request's are
 * put at its end from the last to the first, so that the tail of a prompt is
 * forgotten first, as in vLLM (vllm/v1/core/block_pool.py).
 *
 * While a request decodes, the blocks it takes have no names: nobody else
 * could ask for them. They are taken for the batch as a whole, and it gets its
 * share, with names, when it leaves. So a run of steps needs only their count.
 */
#include "replica/replica_int.h"

#define NO_BLOCK UINT32_MAX

/* ---- names ------------------------------------------------------------- */

/* The name of w's i-th block. */
static struct replica_name name_of(const struct replica *r,
                                   const struct replica_work *w, uint64_t i)
{
	struct replica_name name = {w->session, (uint32_t)i, CHAIN_SESSION};

	if ((i + 1) * r->b.kv.block_tokens <= w->prefix_tokens) {
		name.owner = w->prefix_group;
		name.chain = CHAIN_PREFIX;
	} else if (w->session == 0) {
		name.owner = w->id;
		name.chain = CHAIN_OWN;
	}
	return name;
}

static bool same_name(const struct replica_name *a,
                      const struct replica_name *b)
{
	return a->owner == b->owner && a->index == b->index &&
	       a->chain == b->chain;
}

static uint32_t *bucket_of(const struct replica_cache *c,
                           const struct replica_name *name)
{
	uint64_t x = name->owner * 4 + (uint64_t)name->chain;

	/* The finaliser of SplitMix64: variant 13 of Stafford's mixers. */
	x += name->index * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return &c->bucket[(x ^ (x >> 31)) & c->mask];
}

/* The block of that name that got it first, or NO_BLOCK. */
static uint32_t find(const struct replica_cache *c,
                     const struct replica_name *name)
{
	uint32_t at = *bucket_of(c, name);

	while (at != NO_BLOCK && !same_name(&c->block[at].name, name))
		at = c->block[at].chained;
	return at;
}

static void give_name(struct replica_cache *c, uint32_t at,
                      const struct replica_name *name)
{
	uint32_t *link = bucket_of(c, name);

	assert(c->block[at].name.chain == CHAIN_NONE);
	while (*link != NO_BLOCK)
		link = &c->block[*link].chained;
	*link = at;
	c->block[at].chained = NO_BLOCK;
	c->block[at].name = *name;
}

static void take_name(struct replica_cache *c, uint32_t at)
{
	uint32_t *link;

	if (c->block[at].name.chain == CHAIN_NONE)
		return;
	link = bucket_of(c, &c->block[at].name);
	while (*link != at)
		link = &c->block[*link].chained;
	*link = c->block[at].chained;
	c->block[at].name.chain = CHAIN_NONE;
}

/* ---- the queue of those that nobody holds ------------------------------ */

static void put_last(struct replica_cache *c, uint32_t at)
{
	struct replica_block *b = &c->block[at];

	assert(b->holders == 0);
	b->prev = c->last;
	b->next = NO_BLOCK;
	if (c->last != NO_BLOCK)
		c->block[c->last].next = at;
	else
		c->first = at;
	c->last = at;
}

static void pull_out(struct replica_cache *c, uint32_t at)
{
	struct replica_block *b = &c->block[at];

	if (b->prev != NO_BLOCK)
		c->block[b->prev].next = b->next;
	else
		c->first = b->next;
	if (b->next != NO_BLOCK)
		c->block[b->next].prev = b->prev;
	else
		c->last = b->prev;
}

/* Takes the one that was free for longest, and its name with it. */
static uint32_t take_first(struct replica *r)
{
	struct replica_cache *c = r->b.cache;
	uint32_t at = c->fresh;

	/* Those that were never used stand before all that were. */
	if (c->fresh < r->b.kv.total) {
		c->fresh++;
		return at;
	}
	at = c->first;
	assert(at != NO_BLOCK);
	pull_out(c, at);
	take_name(c, at);
	return at;
}

/* ---- tables ------------------------------------------------------------ */

static struct replica_table *table_new(struct replica_cache *c)
{
	struct replica_table *t = c->tables;

	if (t)
		c->tables = t->next;
	else
		t = mem_new(1, sizeof *t);
	t->n = 0;
	t->named = 0;
	return t;
}

static void table_add(struct replica_table *t, uint32_t at)
{
	if (t->n == t->capacity) {
		assert(t->capacity <= UINT32_MAX / 4);
		t->capacity = t->capacity ? 2 * t->capacity : 64;
		t->at = mem_grow(t->at, t->capacity, sizeof *t->at);
	}
	t->at[t->n++] = at;
}

/* Names w's blocks that are full with so many tokens. */
static void name_full(struct replica *r, const struct replica_work *w,
                      uint64_t tokens)
{
	struct replica_table *t = w->table;
	uint64_t full = tokens / r->b.kv.block_tokens;
	struct replica_name name;

	assert(full <= t->n);
	for (; t->named < full; t->named++) {
		name = name_of(r, w, t->named);
		give_name(r->b.cache, t->at[t->named], &name);
	}
}

/* ---- what the engine does ---------------------------------------------- */

void replica_cache_open(struct replica *r)
{
	struct replica_cache *c;
	uint32_t buckets = 1, i;

	if (!r->p.config->prefix_cache)
		return;
	assert(r->b.kv.total > 0 && r->b.kv.total < UINT32_MAX / 4);
	while (buckets < r->b.kv.total)
		buckets *= 2;
	c = mem_new(1, sizeof *c);
	c->block = mem_new(r->b.kv.total, sizeof *c->block);
	c->bucket = mem_new(buckets, sizeof *c->bucket);
	for (i = 0; i < buckets; i++)
		c->bucket[i] = NO_BLOCK;
	c->mask = buckets - 1;
	c->first = NO_BLOCK;
	c->last = NO_BLOCK;
	c->held = table_new(c);
	r->b.cache = c;
}

static void table_free(struct replica_table *t)
{
	mem_free(t->at);
	mem_free(t);
}

void replica_cache_close(struct replica *r)
{
	struct replica_cache *c = r->b.cache;
	struct replica_work *w;
	struct replica_table *t;

	if (!c)
		return;
	for (w = r->running.first; w; w = w->next)
		table_free(w->table);
	while ((t = c->tables)) {
		c->tables = t->next;
		table_free(t);
	}
	table_free(c->held);
	mem_free(c->bucket);
	mem_free(c->block);
	mem_free(c);
	r->b.cache = NULL;
}

uint64_t replica_cache_find(const struct replica *r,
                            const struct replica_work *w, uint64_t *free)
{
	uint64_t most = w->input_tokens + w->generated - 1, i;

	*free = 0;
	/* The last token is computed always: it gives the next one. */
	most /= r->b.kv.block_tokens;
	for (i = 0; i < most; i++) {
		struct replica_name name = name_of(r, w, i);
		uint32_t at = find(r->b.cache, &name);

		if (at == NO_BLOCK)
			break;
		*free += r->b.cache->block[at].holders == 0;
	}
	/* A draft head needs the last block's states, which nobody kept. */
	if (i > 0 && replica_draft_slots(r) > 0) {
		struct replica_name name = name_of(r, w, --i);

		*free -=
			r->b.cache->block[find(r->b.cache, &name)].holders == 0;
	}
	return i;
}

void replica_cache_join(struct replica *r, struct replica_work *w,
                        uint64_t found)
{
	struct replica_cache *c = r->b.cache;
	uint64_t i;

	w->table = table_new(c);
	for (i = 0; i < found; i++) {
		struct replica_name name = name_of(r, w, i);
		uint32_t at = find(c, &name);

		if (c->block[at].holders++ == 0) {
			pull_out(c, at);
			r->b.kv.used++;
		}
		table_add(w->table, at);
	}
	w->table->named = (uint32_t)found;
	w->blocks = found;
}

void replica_cache_take(struct replica *r, struct replica_work *w,
                        uint64_t blocks, uint64_t tokens)
{
	struct replica_cache *c = r->b.cache;

	while (w->table->n < blocks) {
		uint32_t at = take_first(r);

		c->block[at].holders = 1;
		table_add(w->table, at);
	}
	name_full(r, w, tokens);
}

void replica_cache_pay(struct replica *r, uint64_t blocks)
{
	struct replica_cache *c = r->b.cache;
	uint32_t at;

	for (; c->paid < blocks; c->paid++) {
		at = take_first(r);
		c->block[at].holders = 1;
		table_add(c->held, at);
	}
	for (; c->paid > blocks; c->paid--) {
		assert(c->held->n > 0);
		at = c->held->at[--c->held->n];
		c->block[at].holders = 0;
		put_last(c, at);
	}
}

void replica_cache_book(struct replica *r, uint64_t blocks)
{
	replica_cache_pay(r, blocks);
	r->b.cache->paid = 0;
}

/* What w's decodes took comes out of what the batch took. */
static void share(struct replica_cache *c, struct replica_work *w)
{
	while (w->table->n < w->blocks) {
		assert(c->held->n > 0);
		table_add(w->table, c->held->at[--c->held->n]);
	}
}

void replica_cache_leave(struct replica *r, struct replica_work *w)
{
	struct replica_cache *c = r->b.cache;
	struct replica_table *t = w->table;

	share(c, w);
	/* Blocks that right drafts filled would get theirs in the next step. */
	if (!replica_drafts(r))
		name_full(r, w, w->computed);
	assert(t->n == w->blocks);
	while (t->n > 0) {
		uint32_t at = t->at[--t->n];

		assert(c->block[at].holders > 0);
		if (--c->block[at].holders > 0)
			continue;
		put_last(c, at);
		r->b.kv.used--;
	}
	t->next = c->tables;
	c->tables = t;
	w->table = NULL;
}
