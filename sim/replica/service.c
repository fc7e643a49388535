/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Engine `service`: one queue, first come first served, before `servers`
 * servers that each serve one request at a time. A request's service time is
 * its own, by its id, on whatever replica it lands. Its first and last token
 * come together at its end.
 */
#include "replica/replica_int.h"

static void begin_next(struct replica *r);

/* A server is done with its request. */
static void served(void *self)
{
	struct replica_work *w = self;
	struct replica *r = w->in;
	const struct replica_hooks *h = r->p.hooks;

	assert(w->place == WORK_RUNNING);
	replica_list_remove(&r->running, w);
	w->place = WORK_OUT;
	w->in = NULL;
	w->generated = w->output.sealed_;
	h->first_token(r->p.self, r, w);
	h->done(r->p.self, r, w);
	begin_next(r);
	replica_left(r);
}

static void begin(struct replica *r, struct replica_work *w)
{
	struct calendar *c = r->p.calendar;
	const struct replica_config *config = r->p.config;
	uint64_t entity = EVENT_ENTITY(r->p.work_kind, w->id);

	assert(r->running.n < config->servers);
	if (!r->busy)
		replica_busy_from(r, replica_ticks(c->now_ns));
	replica_list_append(&r->running, w);
	w->place = WORK_RUNNING;
	stream_seek(&r->s.stream, w->id);
	event_init(&w->service, EVENT_COMPLETION, entity, served, w);
	event_schedule(
		c, &w->service,
		c->now_ns + replica_draw_ns(&config->service_ns, &r->s.stream));
	r->p.hooks->started(r->p.self, r, w);
}

/* After a server became free: the next one, or idle. */
static void begin_next(struct replica *r)
{
	struct replica_work *w = r->waiting.first;

	if (w && r->running.n < r->p.config->servers) {
		replica_list_remove(&r->waiting, w);
		begin(r, w);
	}
	if (r->running.n == 0 && r->busy)
		replica_busy_until(r, replica_ticks(r->p.calendar->now_ns));
}

static void service_open(struct replica *r)
{
	assert(r->p.config->servers >= 1);
	r->s.stream =
		stream_open(r->p.seed, r->p.replication,
	                    EVENT_ENTITY(r->p.work_kind, 0), STREAM_SERVICE);
}

static void service_close(struct replica *r)
{
	struct replica_work *w;

	for (w = r->running.first; w; w = w->next)
		event_cancel(r->p.calendar, &w->service);
}

static void service_admit(struct replica *r, struct replica_work *w)
{
	bool served = r->running.n < r->p.config->servers;

	assert(!served || r->waiting.n == 0);
	if (!served && replica_refuse_full(r, w))
		return;
	replica_queue(r, w);
	if (served)
		begin_next(r);
}

static void service_abort(struct replica *r, struct replica_work *w)
{
	if (w->place == WORK_WAITING) {
		replica_list_remove(&r->waiting, w);
		w->place = WORK_OUT;
		return;
	}
	event_cancel(r->p.calendar, &w->service);
	replica_list_remove(&r->running, w);
	w->place = WORK_OUT;
	begin_next(r);
}

static void service_lose(struct replica *r)
{
	struct replica_work *w;

	if (r->busy)
		replica_busy_until(r, replica_ticks(r->p.calendar->now_ns));
	service_close(r);
	while ((w = r->running.first)) {
		replica_list_remove(&r->running, w);
		replica_drop(r, w, REPLICA_DROP_LOST);
	}
	while ((w = r->waiting.first)) {
		replica_list_remove(&r->waiting, w);
		replica_drop(r, w, REPLICA_DROP_LOST);
	}
}

/* Nothing to tell: there are no steps. */
static void service_report(struct replica *r)
{
	assert(r->running.n <= r->p.config->servers);
}

static uint32_t service_generated(const struct replica *r,
                                  const struct replica_work *w)
{
	(void)r;
	return w->generated;
}

static uint64_t service_none(const struct replica *r)
{
	(void)r;
	return 0;
}

const struct replica_engine replica_engine_service = {
	.name = "service",
	.open = service_open,
	.close = service_close,
	.admit = service_admit,
	.abort = service_abort,
	.lose = service_lose,
	.report = service_report,
	.generated = service_generated,
	.kv_used = service_none,
	.steps_run = service_none,
};
