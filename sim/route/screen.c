/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

#define FLOOR_BITS 12
#define INVERSE_BITS 48

/* Bits that hold a target's place. */
static uint32_t place_bits(uint32_t n)
{
	uint32_t bits = 0;
	while ((UINT64_C(1) << bits) < n)
		bits++;
	return bits;
}

/* floor(2^bits * least / capacity) by long division, bit after bit. */
static uint64_t inverse(uint64_t least, uint64_t capacity, uint32_t bits)
{
	assert(least > 0 && least <= capacity);
	uint64_t quotient = least == capacity;
	uint64_t rest = least == capacity ? 0 : least;
	for (uint32_t i = 0; i < bits; i++) {
		bool carry = rest >> 63 != 0;
		rest <<= 1;
		quotient <<= 1;
		if (carry || rest >= capacity) {
			rest -= capacity;
			quotient |= 1;
		}
	}
	return quotient;
}

uint32_t route_screen_build(struct route_screened *screened,
                            const struct route_target *targets, uint32_t n)
{
	uint32_t bits = place_bits(n);
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++)
		if (targets[i].capacity < least)
			least = targets[i].capacity;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t units = inverse(least, targets[i].capacity,
		                         INVERSE_BITS - bits);
		screened[i].id_hash = targets[i].id_hash;
		screened[i].inverse = units << bits;
	}
	return bits;
}

/*
 * The first bound's exact score against the second bound; when that is not
 * enough either, all scores. inverse + 1, for it is rounded down.
 */
static __attribute__((noinline)) uint32_t
settle(const struct route_table *table, uint64_t hash, uint32_t at,
       uint64_t second)
{
	const struct route_screened *s = &table->screened[at];
	uint64_t score = route_score(route_mix(hash ^ s->id_hash));
	uint64_t inverse = (s->inverse >> table->screen_bits) + 1;
	u128 limit = (u128)second << (ROUTE_LOG_BITS - FLOOR_BITS);
	if ((u128)score * inverse < limit)
		return at;
	return route_rendezvous(table->targets, table->n_targets, hash);
}

/*
 * Of each target only a lower bound of score / capacity is taken, with its
 * place in the low bits: one load, one product. The smallest bound wins for
 * certain when its target's upper bound is below the second. That fails for
 * about n keys in 500, and they alone are settled by logarithms.
 */
uint32_t route_screen(const struct route_table *table, uint64_t hash)
{
	const struct route_screened *s = table->screened;
	uint32_t bits = table->screen_bits;
	uint64_t first = UINT64_MAX;
	uint64_t second = UINT64_MAX;
	assert(table->n_targets > 0);
	for (uint32_t i = 0; i < table->n_targets; i++) {
		uint64_t h = route_mix(hash ^ s[i].id_hash);
		uint64_t bound = route_score_floor[h >> 53] * s[i].inverse + i;
		uint64_t higher = bound < first ? first : bound;
		first = bound < first ? bound : first;
		second = higher < second ? higher : second;
	}
	uint32_t at = (uint32_t)(first & ((UINT64_C(1) << bits) - 1));
	uint64_t cell = route_mix(hash ^ s[at].id_hash) >> 53;
	second >>= bits;
	if (cell > 0) {
		uint64_t above = (uint64_t)route_score_floor[cell - 1] + 1;
		if (above * ((s[at].inverse >> bits) + 1) < second)
			return at;
	}
	return settle(table, hash, at, second);
}
