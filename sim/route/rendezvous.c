/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/*
 * Compares score / capacity by products, which are exact, so that the order
 * of two targets never depends on a third: a change of one capacity moves
 * keys to or from that target alone.
 */
uint32_t route_rendezvous(const struct route_target *targets, uint32_t n,
                          uint64_t stage_hash)
{
	assert(targets || n == 0);
	uint32_t best = ROUTE_NONE;
	uint64_t best_score = 1;
	uint64_t best_capacity = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t capacity = targets[i].capacity;
		uint64_t h = route_mix(stage_hash ^ targets[i].id_hash);
		uint64_t score = route_score(h);
		u128 mine = (u128)score * best_capacity;
		u128 theirs = (u128)best_score * capacity;
		bool wins = mine < theirs;
		if (__builtin_expect(mine == theirs && capacity > 0, 0))
			wins = targets[i].rank < targets[best].rank;
		best = wins ? i : best;
		best_score = wins ? score : best_score;
		best_capacity = wins ? capacity : best_capacity;
	}
	return best;
}
