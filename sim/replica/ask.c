/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replica/replica_int.h"

enum replica_state replica_state_of(const struct replica *r)
{
	return r->state;
}

void *replica_owner(const struct replica *r)
{
	return r->p.owner;
}

uint32_t replica_waiting(const struct replica *r)
{
	return r->waiting.n;
}

uint32_t replica_running(const struct replica *r)
{
	return r->running.n;
}

uint32_t replica_preparing(const struct replica *r)
{
	return r->preparing.n;
}

uint64_t replica_stalls(const struct replica *r)
{
	return r->b.hold.stalls;
}

void replica_report(struct replica *r)
{
	r->p.config->engine->report(r);
}

uint32_t replica_generated(const struct replica *r,
                           const struct replica_work *w)
{
	if (w->place == WORK_OUT)
		return w->generated;
	assert(w->in == r);
	return r->p.config->engine->generated(r, w);
}

uint64_t replica_kv_used(const struct replica *r)
{
	return r->p.config->engine->kv_used(r);
}

uint64_t replica_steps_run(const struct replica *r)
{
	return r->p.config->engine->steps_run(r);
}

int64_t replica_cold_start_ns(const struct replica *r)
{
	return r->cold_start_ns;
}

void replica_busy_from(struct replica *r, int64_t ticks)
{
	assert(!r->busy);
	r->busy = true;
	r->busy_since_ticks = ticks;
}

void replica_busy_until(struct replica *r, int64_t ticks)
{
	assert(r->busy);
	r->busy = false;
	/* It may be lost within the half ns by which a start is seen early. */
	if (ticks > r->busy_since_ticks)
		r->busy_ticks += ticks - r->busy_since_ticks;
}

int64_t replica_busy_ns(const struct replica *r)
{
	int64_t now, ticks = r->busy_ticks;

	now = replica_ticks(r->p.calendar->now_ns);
	if (r->busy && now > r->busy_since_ticks)
		ticks += now - r->busy_since_ticks;
	return replica_ns(ticks);
}
