/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/*
 * Uniform by the caller's draw: D. Lemire, Fast random integer generation in
 * an interval, ACM TOMACS 29 (2019). The few draws that would tip the scale
 * are replaced by a hash of themselves.
 */
struct route_choice route_pick_random(const struct route_view *view)
{
	uint64_t n = view->deployment->n_replicas;
	uint64_t draw = view->draw;
	assert(n > 0);
	u128 product = (u128)draw * n;
	if ((uint64_t)product < n) {
		uint64_t surplus = -n % n;
		while ((uint64_t)product < surplus) {
			draw = route_mix(draw + ROUTE_GOLDEN);
			product = (u128)draw * n;
		}
	}
	struct route_choice choice = {.replica = (uint32_t)(product >> 64)};
	return choice;
}
