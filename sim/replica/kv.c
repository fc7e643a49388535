/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replica/replica_int.h"

void replica_kv_init(struct replica_kv *kv, const struct replica_config *config)
{
	assert(config->block_tokens >= 1);
	kv->total = config->kv_blocks;
	kv->used = 0;
	kv->block_tokens = config->block_tokens;
	kv->decodes = 0;
	kv->due = mem_new(config->block_tokens, sizeof *kv->due);
}

void replica_kv_fini(struct replica_kv *kv)
{
	mem_free(kv->due);
	kv->due = NULL;
}

uint64_t replica_kv_blocks(const struct replica_kv *kv, uint64_t tokens)
{
	return (tokens + kv->block_tokens - 1) / kv->block_tokens;
}

uint64_t replica_kv_free(const struct replica_kv *kv)
{
	if (kv->total == 0)
		return UINT64_MAX;
	assert(kv->used <= kv->total);
	return kv->total - kv->used;
}

/* Where a decode with so many tokens held is counted. */
static uint32_t due_place(const struct replica_kv *kv, uint64_t tokens,
                          uint64_t done)
{
	uint32_t n = kv->block_tokens;

	return (uint32_t)((tokens % n + n - done % n) % n);
}

/* The place whose decodes take a block in the step after `done` steps. */
static uint32_t due_next(const struct replica_kv *kv, uint64_t done)
{
	return due_place(kv, 0, done);
}

void replica_kv_join(struct replica_kv *kv, uint64_t tokens, uint64_t done)
{
	assert(kv->decodes < UINT32_MAX);
	kv->due[due_place(kv, tokens, done)]++;
	kv->decodes++;
}

void replica_kv_leave(struct replica_kv *kv, uint64_t tokens, uint64_t done)
{
	uint32_t place = due_place(kv, tokens, done);

	assert(kv->decodes > 0 && kv->due[place] > 0);
	kv->due[place]--;
	kv->decodes--;
}

uint64_t replica_kv_taken(const struct replica_kv *kv, uint64_t done,
                          uint64_t steps)
{
	/* In block_tokens steps each decode takes exactly one. */
	uint64_t taken = steps / kv->block_tokens * kv->decodes;
	uint64_t left = steps % kv->block_tokens;
	uint32_t place = due_next(kv, done);

	for (; left > 0; left--) {
		taken += kv->due[place];
		place = place > 0 ? place - 1 : kv->block_tokens - 1;
	}
	return taken;
}

uint64_t replica_kv_steps(const struct replica_kv *kv, uint64_t done,
                          uint64_t most)
{
	uint64_t left = replica_kv_free(kv), steps;
	uint32_t place = due_next(kv, done);

	if (kv->decodes == 0 ||
	    left / kv->decodes >= most / kv->block_tokens + 1)
		return most;
	steps = left / kv->decodes * kv->block_tokens;
	left %= kv->decodes;
	/* Fewer than a whole round's, so this ends within a round. */
	while (steps < most && kv->due[place] <= left) {
		left -= kv->due[place];
		place = place > 0 ? place - 1 : kv->block_tokens - 1;
		steps++;
	}
	return steps < most ? steps : most;
}
