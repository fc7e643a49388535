/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/*
 * The replica with the fewest requests in flight. Among equals the key's
 * rendezvous decides: over keys each gets its even share, which "the first
 * one" does not give, nor a rotating cursor when some replica is always
 * busy; and an idle deployment serves a key again where its cache is warm.
 */
struct route_choice route_pick_least_inflight(const struct route_view *view)
{
	const struct route_deployment *d = view->deployment;
	struct route_choice choice = {.replica = 0};
	uint64_t best = UINT64_MAX;
	for (uint32_t i = 0; i < d->n_replicas; i++) {
		const struct route_replica *r = &d->replicas[i];
		uint64_t h = route_mix(view->hash ^ r->id_hash);
		/* Load above, what the hash lacks to the top below. */
		uint64_t order =
			(uint64_t)view->in_flight[r->slot] << 32 | ~h >> 32;
		choice.replica = order < best ? i : choice.replica;
		best = order < best ? order : best;
	}
	return choice;
}
