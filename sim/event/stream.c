/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "event/event.h"

__extension__ typedef unsigned __int128 u128;

/*
 * Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011, table 2 and section 3.3. The multipliers, and
 * the Weyl increments of the key, are the paper's.
 */
#define PHILOX_ROUNDS 10
#define PHILOX_M0 UINT32_C(0xd2511f53)
#define PHILOX_M1 UINT32_C(0xcd9e8d57)
#define PHILOX_W0 UINT32_C(0x9e3779b9)
#define PHILOX_W1 UINT32_C(0xbb67ae85)

/* Fills the buffer from the next block; the block's number is its counter. */
static void refill(struct stream *s)
{
	uint32_t c0 = (uint32_t)s->index, c1 = (uint32_t)(s->index >> 32);
	uint32_t c2 = (uint32_t)s->block, c3 = (uint32_t)(s->block >> 32);
	uint32_t k0 = s->key[0], k1 = s->key[1];
	uint64_t p0, p1;
	int round;

	for (round = 0; round < PHILOX_ROUNDS; round++) {
		p0 = (uint64_t)PHILOX_M0 * c0;
		p1 = (uint64_t)PHILOX_M1 * c2;
		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += PHILOX_W0;
		k1 += PHILOX_W1;
	}
	s->buffer[0] = c0;
	s->buffer[1] = c1;
	s->buffer[2] = c2;
	s->buffer[3] = c3;
	s->left = 4;
	s->block++;
}

/*
 * Takes one more word of the name into the key. The finaliser is variant 13
 * of David Stafford, "Better bit mixing" (2011), as in SplitMix64. Each step
 * is a bijection of the word, so that names that differ in one part only
 * never share a key.
 */
static uint64_t absorb(uint64_t key, uint64_t word)
{
	key = (key ^ word) + UINT64_C(0x9e3779b97f4a7c15);
	key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
	return key ^ (key >> 31);
}

struct stream stream_open(uint64_t seed, uint64_t replication, uint64_t entity,
                          enum stream_purpose purpose)
{
	struct stream s;
	uint64_t key;

	assert(purpose >= STREAM_ARRIVAL);
	memset(&s, 0, sizeof s);
	key = absorb(0, seed);
	key = absorb(key, replication);
	key = absorb(key, entity);
	key = absorb(key, (uint64_t)purpose);
	s.key[0] = (uint32_t)key;
	s.key[1] = (uint32_t)(key >> 32);
	return s;
}

void stream_seek(struct stream *s, uint64_t index)
{
	assert(s != NULL);
	s->index = index;
	s->block = 0;
	s->left = 0;
}

uint64_t stream_u64(struct stream *s)
{
	uint32_t at;

	/* Two words are taken at a time: never an odd one left. */
	assert(s->left % 2 == 0 && s->left <= 4);
	if (s->left == 0)
		refill(s);
	at = 4 - s->left;
	s->left -= 2;
	return s->buffer[at] | ((uint64_t)s->buffer[at + 1] << 32);
}

double stream_unit(struct stream *s)
{
	/* An odd number below 2^53: exact, and neither 0 nor 1. */
	return (double)(stream_u64(s) >> 11 | 1) * 0x1p-53;
}

uint64_t stream_below(struct stream *s, uint64_t n)
{
	u128 product;
	uint64_t low;

	assert(n > 0);
	/*
	 * Lemire, "Fast random integer generation in an interval", ACM
	 * TOMACS 29(1), 2019. Of 2^64 draws, fewer than n are refused.
	 */
	product = (u128)stream_u64(s) * n;
	if ((uint64_t)product < n) {
		low = (0 - n) % n;
		while ((uint64_t)product < low)
			product = (u128)stream_u64(s) * n;
	}
	assert(product >> 64 < n);
	return (uint64_t)(product >> 64);
}
