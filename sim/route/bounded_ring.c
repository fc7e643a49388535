/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* Load and bound of a deployment, all replicas of equal weight. */
struct bound {
	uint64_t slots; /* to share out */
	uint64_t each;  /* a replica has this many, or one more */
};

static bool eligible(const struct route_view *view, const struct bound *bound,
                     uint32_t replica)
{
	const struct route_deployment *d = view->deployment;
	uint32_t in_flight = view->in_flight[d->replicas[replica].slot];
	if (in_flight < bound->each || in_flight == 0)
		return true;
	return in_flight <
	       route_bounded_slots(bound->slots, 1, replica, d->n_replicas);
}

/*
 * Only ready replicas count, so the slots add up to more than what is in
 * flight on them (the factor is above 100 %), and one of them has a free
 * slot: the walk ends before it is round.
 */
struct route_choice route_pick_bounded_ring(const struct route_view *view)
{
	const struct route_deployment *d = view->deployment;
	const struct route_ring *ring = &d->ring;
	uint64_t busy = 0;
	for (uint32_t i = 0; i < d->n_replicas; i++)
		busy += view->in_flight[d->replicas[i].slot];
	struct bound bound;
	assert(d->n_replicas > 0);
	bound.slots = route_bounded_total(busy, view->load_factor_percent);
	bound.each = bound.slots / d->n_replicas;

	uint32_t at = route_ring_find(ring, view->hash);
	uint32_t own = route_ring_owner(ring, at);
	uint32_t replica = own;
	for (uint32_t step = 1; !eligible(view, &bound, replica); step++) {
		assert(step < ring->n_points);
		at = at + 1 < ring->n_points ? at + 1 : 0;
		replica = route_ring_owner(ring, at);
	}
	struct route_choice choice = {.replica = replica,
	                              .spilled = replica != own};
	return choice;
}
