/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What keeps an engine from doing what it could: the wait to join, which
 * lets the queue in by groups, and stalls that a config imposes.
 *
 * A stall comes when the time inside exposed steps reaches a drawn length,
 * and it begins at the end of the step in which that happens. Since the steps
 * of a run sum in closed form, the step is found without running them.
 */
#include "replica/replica_int.h"

#define NS_PER_MINUTE 60e9
/* Longer than any run may last. */
#define EXPOSURE_MAX_NS 0x1p52

/* How much more exposure the next stall needs. */
static void draw_next(struct replica *r)
{
	struct replica_hold *h = &r->b.hold;
	struct dist gap = dist_constant(0);
	int64_t ns;

	gap.kind = DIST_EXPONENTIAL;
	gap.a = NS_PER_MINUTE / r->p.config->stall.per_minute;
	gap.max = EXPOSURE_MAX_NS;
	ns = replica_draw_ns(&gap, &h->stream);
	h->next_ticks = h->exposed_ticks + replica_ticks(ns > 0 ? ns : 1);
}

void replica_hold_init(struct replica *r)
{
	const struct replica_stall *stall = &r->p.config->stall;
	struct replica_hold *h = &r->b.hold;

	assert(stall->per_minute >= 0);
	assert(r->p.config->join_wait.wait_ns >= 0);
	if (!(stall->per_minute > 0))
		return;
	h->stream = stream_open(r->p.seed, r->p.replication, r->p.entity,
	                        STREAM_STALL);
	draw_next(r);
}

bool replica_hold_joins(const struct replica *r)
{
	const struct replica_join_wait *wait = &r->p.config->join_wait;

	if (wait->wait_ns == 0 || r->p.calendar->now_ns >= r->b.hold.join_ns)
		return true;
	return wait->count > 0 && r->waiting.n >= wait->count;
}

void replica_hold_joined(struct replica *r)
{
	int64_t wait_ns = r->p.config->join_wait.wait_ns;

	if (wait_ns > 0)
		r->b.hold.join_ns = r->p.calendar->now_ns + wait_ns;
}

bool replica_hold_exposed(const struct replica *r)
{
	const struct replica_stall *stall = &r->p.config->stall;

	return r->running.n > stall->above_batch;
}

uint64_t replica_hold_steps(const struct replica *r,
                            const struct replica_pace *pace, uint64_t most)
{
	const struct replica_hold *h = &r->b.hold;

	assert(h->next_ticks > h->exposed_ticks);
	return replica_pace_steps(pace, most, h->next_ticks - h->exposed_ticks);
}

void replica_hold_expose(struct replica *r, int64_t ticks)
{
	struct replica_hold *h = &r->b.hold;
	int64_t now_ns = r->p.calendar->now_ns;

	assert(ticks > 0);
	h->exposed_ticks += ticks;
	if (h->exposed_ticks < h->next_ticks)
		return;
	h->until_ns = now_ns + replica_draw_ns(&r->p.config->stall.duration_ns,
	                                       &h->stream);
	h->stalls++;
	if (r->busy)
		replica_busy_until(r, r->b.clock_ticks);
	draw_next(r);
}
