/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "replica/replica_int.h"

/* 2^53 ns, about 104 days: exact in a double, and within the ticks. */
#define DRAW_NS_MAX 0x1p53

int64_t replica_draw_ns(const struct dist *d, struct stream *s)
{
	double ns = dist_draw(d, s);

	if (!(ns > 0))
		return 0;
	return ns < DRAW_NS_MAX ? (int64_t)floor(ns + 0.5)
	                        : (int64_t)DRAW_NS_MAX;
}

const char *replica_state_name(enum replica_state state)
{
	static const char *const names[] = {
		[REPLICA_PLACING] = "placing",   [REPLICA_PULLING] = "pulling",
		[REPLICA_STARTING] = "starting", [REPLICA_LOADING] = "loading",
		[REPLICA_WARMING] = "warming",   [REPLICA_READY] = "ready",
		[REPLICA_DRAINING] = "draining", [REPLICA_GONE] = "gone",
	};

	assert(state <= REPLICA_GONE);
	return names[state];
}

static void enter(struct replica *r, enum replica_state state)
{
	assert(r->state < state);
	r->state = state;
	r->p.hooks->lived(r->p.self, r);
}

/* Enters the next phase of the cold start, or is ready. */
static void next_phase(struct replica *r)
{
	enum replica_state next = r->state + 1;
	int64_t ns;
	int i;

	assert(r->state < REPLICA_READY);
	if (next < REPLICA_READY) {
		ns = r->phase_ns[next - REPLICA_PULLING];
		event_schedule(r->p.calendar, &r->life,
		               r->p.calendar->now_ns + ns);
	} else {
		for (i = 0; i < REPLICA_COLD_PHASES; i++)
			r->cold_start_ns += r->phase_ns[i];
	}
	enter(r, next);
}

/* A phase of the cold start is over. */
static void phase_over(void *self)
{
	struct replica *r = self;

	assert(r->state >= REPLICA_PULLING && r->state <= REPLICA_WARMING);
	next_phase(r);
}

/* Overheads are all alike: who came first is first to be prepared. */
static void await_prepared(struct replica *r)
{
	const struct replica_work *w = r->preparing.first;

	if (w && !event_pending(&r->prepared))
		event_schedule(r->p.calendar, &r->prepared, w->queued_ns);
}

/* The overheads that end in this ns are over. */
static void prepared(void *self)
{
	struct replica *r = self;
	struct replica_work *w;

	while ((w = r->preparing.first) &&
	       w->queued_ns <= r->p.calendar->now_ns) {
		replica_list_remove(&r->preparing, w);
		w->place = WORK_OUT;
		r->p.config->engine->admit(r, w);
	}
	await_prepared(r);
	replica_left(r);
}

struct replica *replica_new(const struct replica_params *params)
{
	const struct replica_hooks *h = params->hooks;
	struct replica *r = mem_new(1, sizeof *r);

	assert(params->calendar && params->config && params->config->engine);
	assert(h->lived && h->started && h->preempted);
	assert(h->first_token);
	assert(h->done && h->dropped && h->steps && h->late_token);
	r->p = *params;
	r->state = REPLICA_PLACING;
	event_init(&r->life, EVENT_READY, params->entity, phase_over, r);
	event_init(&r->prepared, EVENT_ADMISSION, params->entity, prepared, r);
	params->config->engine->open(r);
	return r;
}

void replica_free(struct replica *r)
{
	if (!r)
		return;
	event_cancel(r->p.calendar, &r->life);
	event_cancel(r->p.calendar, &r->prepared);
	r->p.config->engine->close(r);
	mem_free(r);
}

void replica_start(struct replica *r, const struct replica_cold_start *cold)
{
	struct stream s;

	assert(r->state == REPLICA_PLACING);
	if (!cold) {
		enter(r, REPLICA_READY);
		return;
	}
	s = stream_open(r->p.seed, r->p.replication, r->p.entity,
	                STREAM_COLD_START);
	r->phase_ns[0] = replica_draw_ns(&cold->image_pull_ns, &s);
	r->phase_ns[1] = replica_draw_ns(&cold->start_ns, &s);
	r->phase_ns[2] = replica_draw_ns(&cold->weights_ns, &s);
	r->phase_ns[3] = replica_draw_ns(&cold->warmup_ns, &s);
	next_phase(r);
}

void replica_drain(struct replica *r)
{
	if (r->state >= REPLICA_DRAINING)
		return;
	if (r->state < REPLICA_READY || replica_empty(r)) {
		replica_kill(r);
		return;
	}
	enter(r, REPLICA_DRAINING);
}

void replica_kill(struct replica *r)
{
	struct replica_work *w;

	if (r->state == REPLICA_GONE)
		return;
	replica_report(r);
	event_cancel(r->p.calendar, &r->life);
	event_cancel(r->p.calendar, &r->prepared);
	enter(r, REPLICA_GONE);
	r->p.config->engine->lose(r);
	while ((w = r->preparing.first)) {
		replica_list_remove(&r->preparing, w);
		replica_drop(r, w, REPLICA_DROP_LOST);
	}
	assert(replica_empty(r));
}

bool replica_empty(const struct replica *r)
{
	return r->waiting.n + r->running.n + r->preparing.n == 0;
}

void replica_left(struct replica *r)
{
	if (r->state == REPLICA_DRAINING && replica_empty(r))
		replica_kill(r);
}

void replica_admit(struct replica *r, struct replica_work *w)
{
	assert(r->state == REPLICA_READY);
	assert(w->input_tokens >= 1 && w->output.sealed_ >= 1);
	w->cached = 0;
	w->table = NULL;
	w->computed = 0;
	w->generated = 0;
	w->preemptions = 0;
	w->blocks = 0;
	w->end_step = 0;
	w->token_ticks = 0;
	w->place = WORK_OUT;
	w->queued = false;
	w->queued_ns = r->p.calendar->now_ns + r->p.config->overhead_ns;
	w->in = r;
	if (r->p.config->overhead_ns == 0) {
		r->p.config->engine->admit(r, w);
		return;
	}
	replica_list_append(&r->preparing, w);
	w->place = WORK_PREPARING;
	await_prepared(r);
}

void replica_queue(struct replica *r, struct replica_work *w)
{
	replica_list_append(&r->waiting, w);
	w->place = WORK_WAITING;
	w->queued = true;
	if (r->p.hooks->queued)
		r->p.hooks->queued(r->p.self, r, w);
}

void replica_abort(struct replica *r, struct replica_work *w)
{
	assert(w->in == r && w->place != WORK_OUT);
	if (w->place == WORK_PREPARING) {
		replica_list_remove(&r->preparing, w);
		w->place = WORK_OUT;
		if (r->preparing.n == 0)
			event_cancel(r->p.calendar, &r->prepared);
	} else {
		r->p.config->engine->abort(r, w);
	}
	assert(w->place == WORK_OUT);
	w->in = NULL;
	replica_left(r);
}

void replica_drop(struct replica *r, struct replica_work *w,
                  enum replica_drop why)
{
	w->place = WORK_OUT;
	w->in = NULL;
	r->p.hooks->dropped(r->p.self, r, w, why);
}

bool replica_refuse_full(struct replica *r, struct replica_work *w)
{
	uint64_t cap = r->p.config->queue_cap;

	if (cap == 0 || r->waiting.n < cap)
		return false;
	replica_drop(r, w, REPLICA_DROP_QUEUE_FULL);
	return true;
}
