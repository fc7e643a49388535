/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* With equal weights the largest hash has the smallest score: no logarithm. */
struct route_choice route_pick_rendezvous(const struct route_view *view)
{
	const struct route_deployment *d = view->deployment;
	struct route_choice choice = {.replica = 0};
	uint64_t best = route_mix(view->hash ^ d->replicas[0].id_hash);
	for (uint32_t i = 1; i < d->n_replicas; i++) {
		uint64_t h = route_mix(view->hash ^ d->replicas[i].id_hash);
		choice.replica = h > best ? i : choice.replica;
		best = h > best ? h : best;
	}
	return choice;
}
