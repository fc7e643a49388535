/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A request's walk: made by load, given by route to a replica, run there,
 * counted by measure, and back to load when it has ended. Every request ends
 * here exactly once.
 */
#include "endpoint_int.h"

#include <assert.h>
#include <string.h>

/* Traffics and numbers share the 56 bits of an entity's number. */
#define NUMBER_BITS 40

static void link_in(struct world *w, struct request *r)
{
	r->next = w->live;
	if (w->live)
		w->live->prev = r;
	w->live = r;
	w->n_live++;
}

static void link_out(struct world *w, struct request *r)
{
	if (r->prev)
		r->prev->next = r->next;
	else
		w->live = r->next;
	if (r->next)
		r->next->prev = r->prev;
	w->n_live--;
}

/* ---- ending ------------------------------------------------------------ */

static void leave_instance(struct request *r)
{
	struct world *w = r->world;
	struct instance *x = r->instance;
	int64_t now_ns = w->calendar.now_ns;

	if (r->running || r->work.queued)
		measure_gauge(w->measure, x->number,
		              r->running ? GAUGE_BATCH : GAUGE_QUEUE, -1,
		              now_ns);
	measure_gauge(w->measure, x->number, GAUGE_IN_FLIGHT, -1, now_ns);
	route_release(x->deployment->endpoint->state, r->ticket);
	r->running = false;
	r->instance = NULL;
}

static void end(struct request *r, enum measure_outcome outcome,
                enum measure_error error)
{
	struct world *w = r->world;
	uint32_t source = r->seen.traffic;
	uint32_t client = r->client;

	r->seen.outcome = outcome;
	r->seen.error = error;
	r->seen.done_ns = w->calendar.now_ns;
	r->seen.preemptions += r->work.preemptions;
	if (r->instance)
		leave_instance(r);
	event_cancel(&w->calendar, &r->timeout);
	measure_ended(w->measure, &r->seen);
	link_out(w, r);
	pool_put(&w->requests, r);
	load_ended(w->load, source, client, outcome == OUTCOME_REJECTED);
}

static void give_up(void *self)
{
	struct request *r = self;
	struct replica *rep = r->instance->replica;

	r->seen.output_tokens = replica_generated(rep, &r->work);
	/* first: a draining replica is gone with its last request */
	leave_instance(r);
	replica_abort(rep, &r->work);
	end(r, OUTCOME_TIMED_OUT, ERROR_TIMEOUT);
}

/* ---- routing ----------------------------------------------------------- */

static bool all_stopped(const struct endpoint *e)
{
	for (uint32_t i = 0; i < e->spec->n_deployments; i++)
		if (e->deployment[i].wanted > 0)
			return false;
	return true;
}

static enum measure_error refusal(const struct endpoint *e)
{
	if (e->spec->earlier_errors)
		return ERROR_ROUTING_ERROR;
	return all_stopped(e) ? ERROR_ENDPOINT_NOT_READY
	                      : ERROR_ENDPOINT_NOT_CONFIGURED;
}

/*
 * Decides by the router's table; when that names a replica that does not
 * serve any more, by the table of this moment. NULL: refused.
 */
static struct instance *choose(struct endpoint *e, struct request *r,
                               struct route_decision *decision)
{
	struct world *w = e->world;
	struct route_request ask = {
		.key = r->seen.key,
		.deployment = r->pinned,
	};
	struct instance *x;

	if (e->wants_draw) {
		struct stream *s = &w->route_draws[r->seen.traffic];

		stream_seek(s, r->seen.number);
		ask.draw = stream_u64(s);
	}
	if (route_decide(e->applied->table, e->state, &ask, decision) !=
	    ROUTE_OK)
		return NULL;
	x = table_instance(e->applied, decision);
	if (x->ready)
		return x;
	if (route_decide(e->truth->table, e->state, &ask, decision) != ROUTE_OK)
		return NULL;
	x = table_instance(e->truth, decision);
	assert(x->ready);
	return x;
}

static void place(struct request *r, struct instance *x,
                  const struct route_decision *decision)
{
	r->instance = x;
	r->seen.deployment = x->deployment->number;
	r->seen.replica = x->number;
	r->seen.spilled = decision->spilled;
	r->ticket = route_take(x->deployment->endpoint->state, decision);
}

/* Into the replica; it may be refused at the door before this returns. */
static void admit(struct request *r)
{
	struct world *w = r->world;
	struct instance *x = r->instance;
	int64_t now_ns = w->calendar.now_ns;

	measure_gauge(w->measure, x->number, GAUGE_IN_FLIGHT, 1, now_ns);
	replica_admit(x->replica, &r->work);
}

static void fill_key(struct request *r, const struct load_request *lr)
{
	struct route_key_fields fields = {
		.prompt_cache_key = lr->prompt_cache_key,
		.prompt_cache_key_len = lr->prompt_cache_key_len,
		.user = lr->user,
		.user_len = lr->user_len,
		.content = lr->content,
		.content_len = lr->content_len,
	};
	const char *text = lr->content;
	uint8_t len = lr->content_len;

	if (lr->prompt_cache_key_len) {
		text = lr->prompt_cache_key;
		len = lr->prompt_cache_key_len;
	} else if (lr->user_len) {
		text = lr->user;
		len = lr->user_len;
	}
	r->seen.key = route_key(&fields);
	memcpy(r->key, text, len);
	r->seen.key_text = r->key;
	r->seen.key_len = len;
}

static struct request *request_new(struct world *w,
                                   const struct load_request *lr)
{
	struct request *r = pool_get(&w->requests);
	const struct load_spec *load = &w->loads[lr->source];
	uint64_t id = ((uint64_t)lr->source << NUMBER_BITS) | lr->number;

	assert(lr->number >> NUMBER_BITS == 0);
	r->world = w;
	r->client = lr->client;
	r->pinned = ROUTE_NONE;
	r->seen.endpoint = load->target;
	r->seen.deployment = MEASURE_NONE;
	r->seen.replica = MEASURE_NONE;
	r->seen.traffic = lr->source;
	r->seen.number = lr->number;
	r->seen.input_tokens = lr->input_tokens;
	r->seen.arrived_ns = w->calendar.now_ns;
	r->seen.started_ns = -1;
	r->seen.first_ns = -1;
	r->seen.done_ns = -1;
	fill_key(r, lr);
	r->work.id = id;
	r->work.input_tokens = lr->input_tokens;
	r->work.output = lr->output;
	r->work.prefix_group =
		((uint64_t)lr->source << NUMBER_BITS) | lr->prefix_group;
	r->work.prefix_tokens = lr->prefix_tokens;
	r->work.owner = r;
	event_init(&r->timeout, EVENT_TRANSFER,
	           EVENT_ENTITY(ENTITY_TIMEOUT, id), give_up, r);
	link_in(w, r);
	return r;
}

void request_arrive(void *self, const struct load_request *lr)
{
	struct world *w = self;
	const struct load_spec *load = &w->loads[lr->source];
	struct endpoint *e = &w->endpoint[load->target];
	struct request *r = request_new(w, lr);
	struct route_decision decision;
	struct instance *x;

	if (load->pinned != UINT32_MAX)
		r->pinned = load->pinned - e->spec->first;
	x = choose(e, r, &decision);
	if (x == NULL) {
		measure_arrived(w->measure, &r->seen);
		end(r, OUTCOME_REJECTED, refusal(e));
		return;
	}
	place(r, x, &decision);
	measure_arrived(w->measure, &r->seen);
	if (load->timeout_ns != TIME_NEVER)
		event_schedule(&w->calendar, &r->timeout,
		               w->calendar.now_ns + load->timeout_ns);
	admit(r);
}

/* ---- what replicas tell ------------------------------------------------ */

static void queued(void *self, struct replica *rep, struct replica_work *work)
{
	struct world *w = self;
	struct instance *x = replica_owner(rep);

	(void)work;
	measure_gauge(w->measure, x->number, GAUGE_QUEUE, 1,
	              w->calendar.now_ns);
}

static void started(void *self, struct replica *rep, struct replica_work *work)
{
	struct world *w = self;
	struct request *r = work->owner;
	struct instance *x = replica_owner(rep);
	int64_t now_ns = w->calendar.now_ns;

	r->running = true;
	measure_gauge(w->measure, x->number, GAUGE_QUEUE, -1, now_ns);
	measure_gauge(w->measure, x->number, GAUGE_BATCH, 1, now_ns);
	if (r->seen.started_ns >= 0)
		return;
	r->seen.started_ns = now_ns;
	measure_started(w->measure, &r->seen);
}

static void preempted(void *self, struct replica *rep,
                      struct replica_work *work)
{
	struct world *w = self;
	struct request *r = work->owner;
	struct instance *x = replica_owner(rep);
	int64_t now_ns = w->calendar.now_ns;

	r->running = false;
	measure_gauge(w->measure, x->number, GAUGE_BATCH, -1, now_ns);
	measure_gauge(w->measure, x->number, GAUGE_QUEUE, 1, now_ns);
}

static void first_token(void *self, struct replica *rep,
                        struct replica_work *work)
{
	struct world *w = self;
	struct request *r = work->owner;
	struct instance *x = replica_owner(rep);

	measure_clock(w->measure, w->calendar.now_ns);
	measure_token(w->measure, x->number, -1);
	if (r->seen.first_ns >= 0)
		return;
	r->seen.first_ns = w->calendar.now_ns;
	measure_first_token(w->measure, &r->seen);
}

static void done(void *self, struct replica *rep, struct replica_work *work)
{
	struct request *r = work->owner;

	(void)self;
	r->seen.output_tokens = replica_generated(rep, work);
	end(r, OUTCOME_COMPLETED, ERROR_NONE);
}

/* Its replica was lost: it begins again elsewhere, its arrival unchanged. */
static void reroute(struct request *r)
{
	struct world *w = r->world;
	struct endpoint *e = &w->endpoint[r->seen.endpoint];
	uint32_t old_deployment = r->seen.deployment;
	uint32_t old_replica = r->seen.replica;
	struct replica_work again = {
		.id = r->work.id,
		.input_tokens = r->work.input_tokens,
		.output = r->work.output,
		.prefix_group = r->work.prefix_group,
		.prefix_tokens = r->work.prefix_tokens,
		.session = r->work.session,
		.owner = r,
	};
	struct route_decision decision;
	struct instance *x;

	leave_instance(r);
	x = choose(e, r, &decision);
	if (x == NULL) {
		end(r, OUTCOME_FAILED, ERROR_REPLICA_LOST);
		return;
	}
	r->seen.preemptions += r->work.preemptions;
	r->seen.output_tokens = 0;
	r->work = again;
	r->seen.started_ns = -1;
	r->seen.first_ns = -1;
	place(r, x, &decision);
	measure_rerouted(w->measure, &r->seen, old_deployment, old_replica);
	admit(r);
}

static void dropped(void *self, struct replica *rep, struct replica_work *work,
                    enum replica_drop why)
{
	struct request *r = work->owner;
	struct instance *x = replica_owner(rep);

	(void)self;
	r->seen.output_tokens = replica_generated(rep, work);
	if (why == REPLICA_DROP_QUEUE_FULL)
		end(r, OUTCOME_REJECTED, ERROR_QUEUE_FULL);
	else if (why == REPLICA_DROP_TOO_LONG)
		end(r, OUTCOME_REJECTED, ERROR_TOO_LONG);
	else if (x->rerouting)
		reroute(r);
	else
		end(r, OUTCOME_FAILED, ERROR_REPLICA_LOST);
}

static void steps(void *self, struct replica *rep,
                  const struct replica_steps *s)
{
	struct world *w = self;
	struct instance *x = replica_owner(rep);

	measure_clock(w->measure, w->calendar.now_ns);
	measure_steps(w->measure, x->number, s->first_ticks, s->growth_ticks,
	              s->steps, s->tokens);
}

static void late_token(void *self, struct replica *rep,
                       struct replica_work *work, int64_t gap_ns)
{
	struct world *w = self;
	struct instance *x = replica_owner(rep);

	(void)work;
	measure_clock(w->measure, w->calendar.now_ns);
	measure_token(w->measure, x->number, gap_ns);
}

struct replica_hooks request_hooks(void)
{
	struct replica_hooks hooks = {
		.lived = fleet_lived,
		.queued = queued,
		.started = started,
		.preempted = preempted,
		.first_token = first_token,
		.done = done,
		.dropped = dropped,
		.steps = steps,
		.late_token = late_token,
	};

	return hooks;
}

void request_close_all(struct world *w)
{
	for (struct request *r = w->live; r; r = r->next) {
		if (r->instance)
			r->seen.output_tokens = replica_generated(
				r->instance->replica, &r->work);
		r->seen.preemptions += r->work.preemptions;
		measure_unfinished(w->measure, &r->seen);
	}
}
