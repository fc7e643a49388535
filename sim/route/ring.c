/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* The owner of the first point clockwise from the key, however busy. */
struct route_choice route_pick_ring(const struct route_view *view)
{
	const struct route_ring *ring = &view->deployment->ring;
	struct route_choice choice = {
		.replica = route_ring_owner(ring,
	                                    route_ring_find(ring, view->hash)),
	};
	return choice;
}
