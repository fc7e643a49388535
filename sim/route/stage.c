/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* First 64-bit words of the fraction of pi: nothing was up anyone's sleeve. */
static const uint64_t salts[ROUTE_STAGES] = {
	[ROUTE_STAGE_SPLIT] = 0x243f6a8885a308d3u,
	[ROUTE_STAGE_AB] = 0x13198a2e03707344u,
	[ROUTE_STAGE_ROLLOUT] = 0xa4093822299f31d0u,
	[ROUTE_STAGE_CLUSTER] = 0x082efa98ec4e6c89u,
	[ROUTE_STAGE_REPLICA] = 0x452821e638d01377u,
	[ROUTE_STAGE_SHADOW] = 0xbe5466cf34e90c6cu,
};

uint64_t route_stage_hash(uint64_t key, enum route_stage stage)
{
	assert((unsigned)stage < ROUTE_STAGES);
	return route_mix(key ^ salts[stage]);
}
