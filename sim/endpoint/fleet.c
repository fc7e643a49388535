/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replicas come through a cold start and go by draining or by a crash. When
 * fewer are wanted, those that are lost go first, then those that still
 * start, then the youngest that serve: what Kubernetes' ReplicaSet does with
 * pods that are not ready and with younger ones.
 */
#include "endpoint_int.h"

#include <assert.h>
#include <stdio.h>

/* Starts of one deployment in a run. */
#define FLEET_STARTS_MAX (UINT32_C(1) << 31)

static void tell(struct deployment *d, const char *type, int64_t from,
                 int64_t to, const char *message)
{
	feed_tell(d->world,
	          &(struct feed){.level = LEVEL_INFO,
	                         .type = type,
	                         .endpoint = d->endpoint,
	                         .deployment = d,
	                         .old_replicas = from,
	                         .new_replicas = to},
	          "%s", message);
}

static void count(struct deployment *d)
{
	measure_replicas(d->world->measure, d->number, d->ready, d->wanted,
	                 d->world->calendar.now_ns);
}

static struct instance *instance_new(struct deployment *d)
{
	struct world *w = d->world;
	struct instance *x = arena_new(&w->arena, 1, sizeof(*x));
	uint32_t n = d->started++;

	assert(n < FLEET_STARTS_MAX);

	if (d->n_instances == d->capacity) {
		d->capacity = d->capacity ? 2 * d->capacity : 8;
		d->instance = mem_grow(d->instance, d->capacity,
		                       sizeof(struct instance *));
	}
	d->instance[d->n_instances++] = x;
	x->deployment = d;
	x->place = n;
	snprintf(x->name, sizeof(x->name), "%.64s-%u", d->spec->id, n);
	snprintf(x->ring_id, sizeof(x->ring_id), "%s@%u", x->name,
	         w->replication);
	assert(d->endpoint->n_slots < d->endpoint->max_slots);
	x->slot = d->endpoint->n_slots++;
	return x;
}

/*
 * A replica's chance hangs from its deployment and its place in it: what
 * starts elsewhere leaves its cold start as it was.
 */
static uint64_t entity_of(const struct instance *x)
{
	uint64_t first = (uint64_t)x->deployment->number * FLEET_STARTS_MAX;

	return EVENT_ENTITY(ENTITY_REPLICA, first + x->place);
}

void fleet_start(struct deployment *d, bool cold)
{
	struct world *w = d->world;
	struct instance *x = instance_new(d);
	struct replica_params params = {
		.calendar = &w->calendar,
		.config = &d->config,
		.hooks = &w->hooks,
		.self = w,
		.owner = x,
		.entity = entity_of(x),
		.work_kind = ENTITY_WORK,
		.seed = w->seed,
		.replication = w->replication,
	};

	x->number = measure_replica_new(w->measure, d->number, x->name,
	                                w->calendar.now_ns);
	x->replica = replica_new(&params);
	replica_start(x->replica, cold ? &d->spec->cold_start : NULL);
}

static void became_ready(struct instance *x)
{
	struct deployment *d = x->deployment;
	enum route_status status;

	x->ready = true;
	x->served = true;
	d->ready++;
	status = route_slot_open(d->endpoint->state, x->slot,
	                         d->number - d->endpoint->spec->first);
	assert(status == ROUTE_OK);
	measure_replica_ready(d->world->measure, x->number, true,
	                      d->world->calendar.now_ns);
	count(d);
	/* before the run begins the router is told once, of all */
	if (d->endpoint->applied)
		table_change(d->endpoint, false);
	feed_tell(d->world,
	          &(struct feed){.level = LEVEL_INFO,
	                         .type = "deployment.status_updated",
	                         .endpoint = d->endpoint,
	                         .deployment = d,
	                         .instance = x,
	                         .old_replicas = d->ready - 1,
	                         .new_replicas = d->ready,
	                         .reason = d->ready == d->wanted
	                                           ? "AllReplicasReady"
	                                           : "ReplicasProgressing"},
	          "%s is ready, %u of %u", x->name, d->ready, d->wanted);
}

static void left(struct instance *x)
{
	struct deployment *d = x->deployment;

	x->gone = true;
	x->leaving = true;
	assert(!x->ready);
	/* one that never was ready has no slot open */
	if (x->served)
		route_slot_close(d->endpoint->state, x->slot);
	measure_replica_gone(d->world->measure, x->number,
	                     d->world->calendar.now_ns);
	feed_tell(d->world,
	          &(struct feed){.level = LEVEL_INFO,
	                         .type = "deployment.status_updated",
	                         .endpoint = d->endpoint,
	                         .deployment = d,
	                         .instance = x,
	                         .old_replicas = -1,
	                         .new_replicas = -1},
	          "%s is gone", x->name);
}

void fleet_lived(void *self, struct replica *r)
{
	struct world *w = self;
	struct instance *x = replica_owner(r);
	enum replica_state state = replica_state_of(r);

	if (state == REPLICA_READY) {
		became_ready(x);
	} else if (state == REPLICA_GONE) {
		/* a killed one is told before its requests are dropped */
		if (!x->killed)
			left(x);
	} else if (state > REPLICA_PLACING && state < REPLICA_READY) {
		feed_tell(w,
		          &(struct feed){.level = LEVEL_DEBUG,
		                         .type = "pod.startup_phase_changed",
		                         .endpoint = x->deployment->endpoint,
		                         .deployment = x->deployment,
		                         .instance = x,
		                         .old_replicas = -1,
		                         .new_replicas = -1,
		                         .reason = replica_state_name(state)},
		          "%s: %s", x->name, replica_state_name(state));
	}
}

/* The replica gets no request from now on. */
static void withdraw(struct instance *x)
{
	x->leaving = true;
	if (!x->ready)
		return;
	x->ready = false;
	x->deployment->ready--;
	measure_replica_ready(x->deployment->world->measure, x->number, false,
	                      x->deployment->world->calendar.now_ns);
}

static uint32_t staying(const struct deployment *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_instances; i++)
		n += !d->instance[i]->leaving;
	return n;
}

/* Whom to end next: youngest first, those not ready before those ready. */
static struct instance *youngest(const struct deployment *d, bool ready)
{
	for (uint32_t i = d->n_instances; i-- > 0;) {
		struct instance *x = d->instance[i];

		if (!x->leaving && x->ready == ready)
			return x;
	}
	return NULL;
}

static void shrink(struct deployment *d, uint32_t n)
{
	struct instance **out = mem_new(n + 1, sizeof(struct instance *));
	uint32_t served = d->ready;

	for (uint32_t i = 0; i < n; i++) {
		out[i] = youngest(d, false);
		if (out[i] == NULL)
			out[i] = youngest(d, true);
		assert(out[i] != NULL);
		withdraw(out[i]);
	}
	count(d);
	if (d->ready != served)
		table_change(d->endpoint, false);
	for (uint32_t i = 0; i < n; i++)
		replica_drain(out[i]->replica);
	mem_free(out);
}

void fleet_scale(struct deployment *d, uint32_t wanted)
{
	uint32_t old = d->wanted;
	uint32_t have = staying(d);

	if (wanted == old)
		return;
	d->wanted = wanted;
	tell(d, "deployment.scaled", old, wanted,
	     wanted > old ? "more replicas are wanted"
	                  : "fewer replicas are wanted");
	if (d->lost > wanted)
		d->lost = wanted;
	while (have + d->lost > wanted && d->lost > 0)
		d->lost--;
	count(d);
	if (have > wanted)
		shrink(d, have - wanted);
	for (; have + d->lost < wanted; have++)
		fleet_start(d, true);
}

void fleet_stop(struct deployment *d)
{
	if (d->stopped)
		return;
	d->before_stop = d->wanted;
	d->stopped = true;
	fleet_scale(d, 0);
}

/* Stopped, and the last replica has drained. */
static bool has_stopped(const struct deployment *d)
{
	for (uint32_t i = 0; i < d->n_instances; i++)
		if (!d->instance[i]->gone)
			return false;
	return d->stopped;
}

void fleet_restart(struct deployment *d)
{
	if (!has_stopped(d)) {
		feed_tell(d->world,
		          &(struct feed){.level = LEVEL_ERROR,
		                         .type = "deployment.updated",
		                         .endpoint = d->endpoint,
		                         .deployment = d,
		                         .old_replicas = -1,
		                         .new_replicas = -1,
		                         .reason = "400"},
		          "restart refused: %s is not STOPPED; stop it and "
		          "wait until its replicas have drained",
		          d->spec->id);
		return;
	}
	d->stopped = false;
	fleet_scale(d, d->before_stop);
}

void fleet_crash(struct deployment *d, uint32_t n, bool reroute)
{
	struct instance **out;

	if (n > d->ready)
		n = d->ready;
	out = mem_new(n + 1, sizeof(struct instance *));
	for (uint32_t i = 0; i < n; i++) {
		out[i] = youngest(d, true);
		out[i]->killed = true;
		out[i]->rerouting = reroute;
		withdraw(out[i]);
	}
	d->lost += n;
	tell(d, "deployment.status_updated", (int64_t)d->ready + n, d->ready,
	     "replicas were lost");
	count(d);
	if (n > 0)
		table_change(d->endpoint, false);
	for (uint32_t i = 0; i < n; i++) {
		replica_kill(out[i]->replica);
		left(out[i]);
	}
	mem_free(out);
}

void fleet_restore(struct deployment *d, uint32_t n)
{
	if (n > d->lost)
		n = d->lost;
	d->lost -= n;
	/* how many are ready is told when they are */
	tell(d, "deployment.status_updated", -1, -1,
	     "lost replicas start again");
	for (uint32_t i = 0; i < n; i++)
		fleet_start(d, true);
}
