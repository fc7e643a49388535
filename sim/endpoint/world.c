/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "endpoint_int.h"

#include <assert.h>
#include <string.h>

/* How many events pass between two looks at the observer. */
enum { LOOK_EVERY = 4096 };

/* ---- building ---------------------------------------------------------- */

static void add_row(void *self, const struct measure_row *row)
{
	struct world *w = self;

	w->observer.row(w->observer.self, w->replication, row);
}

static void add_request(void *self, const struct measure_request *r,
                        const char *deployment, const char *replica)
{
	struct world *w = self;

	w->observer.request(w->observer.self, w->replication, r,
	                    w->loads[r->traffic].name, deployment, replica);
}

static void make_loads(struct world *w)
{
	const struct world_spec *spec = w->spec;
	size_t bytes = sizeof(*w->loads);

	w->loads = arena_new(&w->arena, spec->n_loads + 1, bytes);
	w->route_draws =
		arena_new(&w->arena, spec->n_loads + 1, sizeof(struct stream));
	for (uint32_t i = 0; i < spec->n_loads; i++) {
		w->loads[i] = spec->loads[i];
		if (w->loads[i].until_ns > spec->duration_ns)
			w->loads[i].until_ns = spec->duration_ns;
		w->route_draws[i] =
			stream_open(w->seed, w->replication, i, STREAM_ROUTE);
	}
}

static uint64_t count_expected(const struct world *w)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < w->spec->n_loads; i++) {
		const struct load_spec *l = &w->loads[i];
		uint64_t most = l->requests;

		if (l->kind == LOAD_PROFILE && l->profile->requests < most)
			most = l->profile->requests;
		if (most == UINT64_MAX)
			return 0;
		sum += most;
	}
	return sum;
}

static void make_measure(struct world *w)
{
	const struct world_spec *spec = w->spec;
	const char **names =
		arena_new(&w->arena, spec->n_endpoints, sizeof(*names));
	struct measure_config config = {
		.names = spec->names,
		.endpoint_names = names,
		.terms = spec->terms,
		.warmup_ns = spec->warmup_ns,
		.duration_ns = spec->duration_ns,
		.expected_requests = count_expected(w),
		.settle_ns = table_settle_ns(spec),
		.sink = {.self = w},
	};

	for (uint32_t i = 0; i < spec->n_endpoints; i++)
		names[i] = spec->endpoints[i].name;
	if (w->observer.row)
		config.sink.row = add_row;
	if (w->observer.request)
		config.sink.request = add_request;
	w->measure = measure_new(&config);
}

static void make_endpoint(struct world *w, uint32_t i)
{
	struct endpoint *e = &w->endpoint[i];
	const struct route_policy *random = route_policy_find("random");

	e->world = w;
	e->spec = &w->spec->endpoints[i];
	e->number = i;
	e->deployment = &w->deployment[e->spec->first];
	for (uint32_t k = 0; k < e->spec->n_deployments; k++) {
		struct deployment *d = &e->deployment[k];

		d->world = w;
		d->endpoint = e;
		d->number = e->spec->first + k;
		d->spec = &w->spec->deployments[d->number];
		d->config = *d->spec->config;
		d->config.exact_steps |= w->spec->exact_steps;
		d->in_split = d->spec->in_split;
		d->weight = d->spec->weight;
		e->wants_draw |= d->spec->replica_choice == random;
	}
	table_init(e);
}

static void start_endpoint(struct endpoint *e)
{
	for (uint32_t k = 0; k < e->spec->n_deployments; k++) {
		struct deployment *d = &e->deployment[k];

		d->wanted = d->spec->replicas;
		d->before_stop = d->wanted;
		measure_replicas(e->world->measure, d->number, 0, d->wanted, 0);
		for (uint32_t i = 0; i < d->wanted; i++)
			fleet_start(d, d->spec->cold_at_start);
	}
	table_change(e, true);
}

/* ---- running ----------------------------------------------------------- */

/* Steps that are over are told; at an interval's end KV is looked at too. */
static void report_all(struct world *w, bool with_kv)
{
	for (uint32_t i = 0; i < w->spec->n_deployments; i++) {
		struct deployment *d = &w->deployment[i];
		double blocks = (double)d->spec->config->kv_blocks;

		for (uint32_t k = 0; k < d->n_instances; k++) {
			struct instance *x = d->instance[k];

			if (x->gone)
				continue;
			replica_report(x->replica);
			if (with_kv && blocks > 0)
				measure_kv(w->measure, x->number,
				           (double)replica_kv_used(x->replica) /
				                   blocks);
		}
	}
}

static void end_interval(struct world *w)
{
	report_all(w, true);
	measure_interval(w->measure, w->calendar.now_ns);
	w->interval_begin_ns = w->calendar.now_ns;
}

static void interval_over(void *self)
{
	struct world *w = self;

	end_interval(w);
	event_schedule(&w->calendar, &w->interval,
	               w->calendar.now_ns + w->spec->interval_ns);
}

struct world *world_new(const struct world_spec *spec, uint64_t seed,
                        uint32_t replication,
                        const struct world_observer *observer, struct err *e)
{
	struct world *w = mem_new(1, sizeof(*w));
	struct load_sink sink = {.self = w, .arrive = request_arrive};

	w->spec = spec;
	w->seed = seed;
	w->replication = replication;
	if (observer)
		w->observer = *observer;
	calendar_init(&w->calendar);
	arena_init(&w->arena);
	pool_init(&w->requests, sizeof(struct request));
	pool_init(&w->transfers, sizeof(struct transfer));
	w->hooks = request_hooks();
	w->endpoint =
		arena_new(&w->arena, spec->n_endpoints, sizeof(*w->endpoint));
	w->deployment = arena_new(&w->arena, spec->n_deployments,
	                          sizeof(*w->deployment));
	make_loads(w);
	make_measure(w);
	for (uint32_t i = 0; i < spec->n_endpoints; i++)
		make_endpoint(w, i);
	for (uint32_t i = 0; i < spec->n_endpoints; i++)
		start_endpoint(&w->endpoint[i]);
	event_init(&w->interval, EVENT_TELEMETRY,
	           EVENT_ENTITY(ENTITY_INTERVAL, 0), interval_over, w);
	event_schedule(&w->calendar, &w->interval, spec->interval_ns);
	timeline_init(w);
	w->load = load_new(&w->calendar, w->loads, spec->n_loads, ENTITY_SOURCE,
	                   seed, replication, sink, e);
	if (w->load == NULL) {
		world_free(w);
		return NULL;
	}
	return w;
}

void world_free(struct world *w)
{
	if (w == NULL)
		return;
	load_free(w->load);
	for (uint32_t i = 0; i < w->spec->n_deployments; i++) {
		struct deployment *d = &w->deployment[i];

		for (uint32_t k = 0; k < d->n_instances; k++)
			replica_free(d->instance[k]->replica);
		mem_free(d->instance);
	}
	for (uint32_t i = 0; i < w->spec->n_endpoints; i++)
		table_fini(&w->endpoint[i]);
	measure_free(w->measure);
	measure_result_free(w->result);
	pool_fini(&w->requests);
	pool_fini(&w->transfers);
	calendar_fini(&w->calendar);
	arena_fini(&w->arena);
	mem_free(w);
}

static bool over(const struct world *w)
{
	return w->spec->duration_ns == TIME_NEVER && w->n_live == 0 &&
	       load_exhausted(w->load);
}

static void finish(struct world *w)
{
	if (w->spec->duration_ns != TIME_NEVER)
		calendar_advance(&w->calendar, w->spec->duration_ns);
	if (w->calendar.now_ns > w->interval_begin_ns)
		end_interval(w);
	request_close_all(w);
	w->result = measure_finish(w->measure, w->calendar.now_ns);
}

/*
 * Windows that end before the next event see what the steps under way gave
 * until then: what happens at a window's end is not in it any more.
 */
static void pass_bounds(struct world *w, int64_t until_ns)
{
	int64_t bound_ns;

	while ((bound_ns = measure_next_bound(w->measure)) <= until_ns &&
	       bound_ns < TIME_NEVER) {
		if (bound_ns - 1 > w->calendar.now_ns)
			calendar_advance(&w->calendar, bound_ns - 1);
		report_all(w, false);
		if (bound_ns > w->calendar.now_ns)
			calendar_advance(&w->calendar, bound_ns);
		measure_clock(w->measure, bound_ns);
	}
}

/* The next event, when it is due by the end of the run. */
static bool step(struct world *w)
{
	int64_t until_ns = w->spec->duration_ns;
	int64_t next_ns = calendar_next(&w->calendar);

	pass_bounds(w, next_ns < until_ns ? next_ns : until_ns);
	return calendar_step(&w->calendar, until_ns);
}

bool world_run(struct world *w, struct err *e)
{
	uint64_t next_look = LOOK_EVERY;

	timeline_look(w);
	while (!over(w) && step(w)) {
		if (w->conditions > 0)
			timeline_look(w);
		if (w->calendar.fired < next_look)
			continue;
		next_look = w->calendar.fired + LOOK_EVERY;
		if (w->observer.stop &&
		    w->observer.stop(w->observer.self, w->calendar.now_ns))
			return false;
	}
	if (load_trouble(w->load)) {
		*e = *load_trouble(w->load);
		return false;
	}
	finish(w);
	return true;
}

struct measure_result *world_result(struct world *w)
{
	struct measure_result *result = w->result;

	w->result = NULL;
	return result;
}

uint64_t world_events(const struct world *w)
{
	return w->calendar.fired;
}
