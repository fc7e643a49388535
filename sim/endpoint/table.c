/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table is a snapshot: it is built when something changes, travels to the
 * router for one propagation delay, and lives as long as somebody decides by
 * it. Changes arrive in the order in which they were made, also when a later
 * one drew a shorter delay.
 */
#include "endpoint_int.h"

#include <assert.h>
#include <math.h>

/* A century is as good as never. */
#define SETTLE_MAX_NS 3.2e18

static void drop(struct snapshot *s)
{
	if (s == NULL || --s->holders > 0)
		return;
	mem_free(s->table);
	mem_free(s->instance);
	mem_free(s->first);
	mem_free(s);
}

static struct snapshot *hold(struct snapshot *s)
{
	s->holders++;
	return s;
}

static uint32_t count_ready(const struct endpoint *e)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < e->spec->n_deployments; d++)
		n += e->deployment[d].ready;
	return n;
}

/* Lists the ready instances and says how route shall see them. */
static void list_ready(const struct endpoint *e, struct snapshot *s,
                       struct route_replica_spec *replica,
                       struct route_deployment_spec *deployment)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < e->spec->n_deployments; i++) {
		const struct deployment *d = &e->deployment[i];

		s->first[i] = at;
		deployment[i].id = d->spec->id;
		deployment[i].weight = d->in_split ? d->weight : 0;
		deployment[i].replicas = replica + at;
		deployment[i].policy = d->spec->replica_choice;
		for (uint32_t k = 0; k < d->n_instances; k++) {
			struct instance *x = d->instance[k];

			if (!x->ready)
				continue;
			s->instance[at] = x;
			replica[at].id = x->ring_id;
			replica[at].slot = x->slot;
			at++;
		}
		deployment[i].n_replicas = at - s->first[i];
		assert(deployment[i].n_replicas == d->ready);
	}
}

static struct snapshot *build(const struct endpoint *e)
{
	uint32_t n = count_ready(e);
	struct snapshot *s = mem_new(1, sizeof(*s));
	struct route_replica_spec *replica = mem_new(n + 1, sizeof(*replica));
	struct route_deployment_spec *deployment =
		mem_new(e->spec->n_deployments, sizeof(*deployment));
	struct route_table_spec spec = {
		.deployments = deployment,
		.n_deployments = e->spec->n_deployments,
		.load_factor_percent = e->spec->router.load_factor_percent,
	};
	enum route_status status;
	size_t bytes;

	s->instance = mem_new(n + 1, sizeof(struct instance *));
	s->first = mem_new(e->spec->n_deployments, sizeof(*s->first));
	list_ready(e, s, replica, deployment);
	bytes = route_table_bytes(&spec);
	status = route_table_build(&spec, mem_new(1, bytes), bytes, &s->table);
	assert(status == ROUTE_OK);
	mem_free(replica);
	mem_free(deployment);
	return s;
}

static void apply(struct endpoint *e, struct snapshot *s)
{
	struct snapshot *old = e->applied;

	e->applied = s;
	measure_table(e->world->measure, e->number, e->spec->first, s->table,
	              e->world->calendar.now_ns);
	drop(old);
}

/* The first transfer reaches the router, and all others of its moment. */
static void arrive(void *self)
{
	struct endpoint *e = self;
	int64_t now_ns = e->world->calendar.now_ns;

	while (e->first_transfer && e->first_transfer->at_ns == now_ns) {
		struct transfer *t = e->first_transfer;

		e->first_transfer = t->next;
		apply(e, t->snapshot);
		pool_put(&e->world->transfers, t);
	}
	if (e->first_transfer)
		event_schedule(&e->world->calendar, &e->arrival,
		               e->first_transfer->at_ns);
	else
		e->last_transfer = NULL;
	feed_tell(e->world,
	          &(struct feed){.level = LEVEL_DEBUG,
	                         .type = "router.table_applied",
	                         .endpoint = e,
	                         .old_replicas = -1,
	                         .new_replicas = -1},
	          "the router decides by the table of now");
}

static void send(struct endpoint *e, struct snapshot *s)
{
	struct world *w = e->world;
	struct transfer *t = pool_get(&w->transfers);
	double delay =
		dist_draw(&e->spec->router.propagation_ns, &e->propagation);

	assert(delay >= 0 && delay < 0x1p62);
	t->snapshot = s;
	t->at_ns = w->calendar.now_ns + (int64_t)floor(delay + 0.5);
	if (e->last_transfer && e->last_transfer->at_ns > t->at_ns)
		t->at_ns = e->last_transfer->at_ns;
	if (e->last_transfer) {
		e->last_transfer->next = t;
	} else {
		e->first_transfer = t;
		event_schedule(&w->calendar, &e->arrival, t->at_ns);
	}
	e->last_transfer = t;
}

void table_change(struct endpoint *e, bool now)
{
	struct snapshot *s = hold(build(e));

	drop(e->truth);
	e->truth = s;
	if (now)
		apply(e, hold(s));
	else
		send(e, hold(s));
}

struct instance *table_instance(const struct snapshot *s,
                                const struct route_decision *d)
{
	return s->instance[s->first[d->deployment] + d->replica];
}

/*
 * A slot is never given twice, so that a decision by an old table cannot
 * reach a newcomer by mistake: as many slots as there can be starts.
 */
static uint32_t count_slots(const struct endpoint *e)
{
	const struct world_spec *spec = e->world->spec;
	uint32_t slots = 0;

	for (uint32_t i = 0; i < e->spec->n_deployments; i++) {
		uint32_t most = e->deployment[i].spec->replicas;
		uint32_t times = 1;

		for (uint32_t k = 0; k < spec->n_actions; k++) {
			const struct world_action *a = &spec->actions[k];

			if (a->deployment != e->deployment[i].number)
				continue;
			times++;
			if (a->operation == WORLD_SET_REPLICAS &&
			    a->replicas > most)
				most = a->replicas;
		}
		slots += most * times;
	}
	return slots + 1;
}

void table_init(struct endpoint *e)
{
	struct world *w = e->world;
	size_t bytes;
	enum route_status status;

	e->max_slots = count_slots(e);
	bytes = route_state_bytes(e->max_slots, e->spec->n_deployments);
	status = route_state_init(arena_new(&w->arena, 1, bytes), bytes,
	                          e->max_slots, e->spec->n_deployments,
	                          &e->state);
	assert(status == ROUTE_OK);
	e->propagation = stream_open(w->seed, w->replication, e->number,
	                             STREAM_PROPAGATION);
	event_init(&e->arrival, EVENT_TRANSFER,
	           EVENT_ENTITY(ENTITY_ROUTER, e->number), arrive, e);
}

void table_fini(struct endpoint *e)
{
	while (e->first_transfer) {
		struct transfer *t = e->first_transfer;

		e->first_transfer = t->next;
		drop(t->snapshot);
	}
	drop(e->truth);
	drop(e->applied);
}

/*
 * Draws are made of units no nearer to 0 or 1 than 2^-53: exponentials end
 * at 53 ln 2 means, normals at 8.3 deviations.
 */
static double longest_draw(const struct dist *d)
{
	double most = 0, square = 1 + d->b * d->b;

	switch (d->kind) {
	case DIST_CONSTANT:
		return d->a;
	case DIST_UNIFORM:
		return d->b;
	case DIST_EXPONENTIAL:
		return 36.8 * d->a;
	case DIST_LOGNORMAL:
		return d->a / sqrt(square) *
		       det_exp(8.3 * sqrt(det_log(square)));
	case DIST_EMPIRICAL:
		for (size_t i = 0; i < d->n; i++)
			if (d->values[i] > most)
				most = d->values[i];
		break;
	}
	return most;
}

int64_t table_settle_ns(const struct world_spec *spec)
{
	double longest = 0;

	for (uint32_t i = 0; i < spec->n_endpoints; i++) {
		const struct dist *d =
			&spec->endpoints[i].router.propagation_ns;
		double most = longest_draw(d);

		if (most > d->max)
			most = d->max;
		if (most > longest)
			longest = most;
	}
	return longest < SETTLE_MAX_NS ? (int64_t)floor(longest + 0.5)
	                               : (int64_t)SETTLE_MAX_NS;
}
