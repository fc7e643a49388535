/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* In order of id; route_take moves on. */
struct route_choice route_pick_round_robin(const struct route_view *view)
{
	assert(view->deployment->n_replicas > 0);
	struct route_choice choice = {
		.replica =
			(uint32_t)(view->cursor % view->deployment->n_replicas),
	};
	return choice;
}
