/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* The first is the default. */
static const struct route_policy policies[] = {
	{"bounded_ring", true, route_pick_bounded_ring},
	{"ring", true, route_pick_ring},
	{"rendezvous", false, route_pick_rendezvous},
	{"least_inflight", false, route_pick_least_inflight},
	{"round_robin", false, route_pick_round_robin},
	{"random", false, route_pick_random},
};

#define N_POLICIES (sizeof(policies) / sizeof(policies[0]))

static bool same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct route_policy *route_policy_find(const char *name)
{
	assert(name);
	for (size_t i = 0; i < N_POLICIES; i++)
		if (same(policies[i].name, name))
			return &policies[i];
	return NULL;
}

const char *route_policy_name(size_t i)
{
	return i < N_POLICIES ? policies[i].name : NULL;
}

const struct route_policy *route_policy_default(void)
{
	return &policies[0];
}
