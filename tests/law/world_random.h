/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * world_random - a world out of a seed: deployments, loads and a timeline by
 * chance, two seconds long, small enough that hundreds run in a moment; and
 * hashes of what it told.
 */
#ifndef WEIR_TESTS_WORLD_RANDOM_H
#define WEIR_TESTS_WORLD_RANDOM_H

#include "unit/endpoint_rig.h"

/* What a world may not have, or must be. */
enum {
	RANDOM_ANYTHING = 0,
	RANDOM_TIMED = 1,     /* no conditions, one delay everywhere */
	RANDOM_PATIENT = 2,   /* nothing is sent again after a crash */
	RANDOM_UNCHANGED = 4, /* no timeline, no cold starts */
	RANDOM_HASHED = 8,    /* replicas by key only */
	RANDOM_ONE_ENDPOINT = 16,
	RANDOM_OPEN = 32, /* open loops only */
};

static inline uint32_t random_below(struct stream *s, uint32_t n)
{
	return (uint32_t)stream_below(s, n);
}

static inline void random_config(struct replica_config *c, struct stream *s)
{
	struct replica_curve_piece *p = c->curve.piece;

	c->queue_cap = random_below(s, 3) == 0 ? 1 + random_below(s, 4) : 0;
	if (random_below(s, 2) == 0) {
		c->servers = 1 + random_below(s, 8);
		c->service_ns = rig_dist(DIST_EXPONENTIAL, 60e6);
		return;
	}
	c->engine = replica_engine_find("batching");
	c->max_num_seqs = 1 + random_below(s, 8);
	c->max_num_batched_tokens = 16 + random_below(s, 200);
	c->block_tokens = 16;
	c->kv_blocks = random_below(s, 2) ? 0 : 12 + random_below(s, 30);
	c->max_model_len = random_below(s, 2) ? 0 : 200;
	c->curve.n = 1;
	p->upto_tokens = UINT32_MAX;
	p->base_ticks = (1 + random_below(s, 5)) * 1000000LL * 1024;
	p->per_prefill_ticks = 20000LL * 1024;
	p->per_decode_ticks = 100000LL * 1024;
	p->per_context_ticks = 500LL * 1024;
}

static inline void random_deployment(struct rig *rig, struct stream *s,
                                     unsigned flags)
{
	static const char *const ids[] = {"dep_a", "dep_b", "dep_c",
	                                  "dep_d", "dep_e", "dep_f"};
	static const char *const hashed[] = {"bounded_ring", "ring",
	                                     "rendezvous"};
	uint32_t i = rig->spec.n_deployments;
	struct world_deployment *d =
		rig_deployment(rig, ids[i], random_below(s, 4));
	const char *policy = hashed[random_below(s, 3)];

	random_config(&rig->config[i], s);
	if (!(flags & RANDOM_HASHED))
		policy = route_policy_name(random_below(s, 6));
	d->replica_choice = route_policy_find(policy);
	d->weight = random_below(s, 4);
	d->in_split = random_below(s, 8) > 0;
	d->cold_at_start =
		!(flags & RANDOM_UNCHANGED) && random_below(s, 4) == 0;
	d->cold_start.weights_ns = rig_dist(DIST_EXPONENTIAL, 200e6);
	d->cold_start.start_ns = dist_constant(0);
	d->cold_start.image_pull_ns = dist_constant(0);
	d->cold_start.warmup_ns = dist_constant(50e6);
}

static inline void random_load(struct rig *rig, struct stream *s,
                               unsigned flags, uint32_t endpoint)
{
	static const char *const names[] = {"t0", "t1", "t2", "t3", "t4"};
	struct load_spec *l = rig_load(rig, names[rig->spec.n_loads]);
	const struct world_endpoint *e = &rig->endpoint[endpoint];

	l->target = endpoint;
	rig->traffic_endpoint[rig->spec.n_loads - 1] = endpoint;
	l->process = random_below(s, 2) ? LOAD_POISSON : LOAD_CONSTANT;
	l->rate_rps = 5 + random_below(s, 60);
	if (!(flags & RANDOM_OPEN) && random_below(s, 3) == 0) {
		l->kind = LOAD_CLOSED;
		l->concurrency = 1 + random_below(s, 12);
		l->think_ns = rig_dist(DIST_EXPONENTIAL, 30e6);
		l->error_pause_ns = 100 * MS;
	}
	l->input_tokens = rig_dist(DIST_EXPONENTIAL, 60);
	l->output_tokens = rig_dist(DIST_EXPONENTIAL, 30);
	l->input_tokens.max = 300;
	l->keys.kind = (enum load_key_kind)random_below(s, 4);
	if (l->keys.kind == LOAD_KEYS_DRAWN) {
		l->keys.users = 5;
		l->keys.prompt_cache_keys = random_below(s, 2) ? 20 : 0;
		l->keys.zipf = 1;
	}
	if (random_below(s, 3) == 0)
		l->timeout_ns = 100 * MS;
	if (!(flags & RANDOM_UNCHANGED) && random_below(s, 6) == 0)
		l->pinned = e->first + random_below(s, e->n_deployments);
	if (random_below(s, 6) == 0)
		l->requests = random_below(s, 20);
}

static inline void random_action(struct rig *rig, struct stream *s,
                                 unsigned flags)
{
	static const uint64_t splits[2][4] = {{1, 0, 5, 2}, {3, 2, 0, 1}};
	static const bool listed[2][4] = {{true, true, false, true},
	                                  {false, true, true, false}};
	uint32_t d = random_below(s, rig->spec.n_deployments);
	int64_t at_ns = (int64_t)random_below(s, 20) * 100 * MS;
	struct world_action *a = rig_action(rig, at_ns, WORLD_SET_WEIGHT, d);

	a->operation = (enum world_operation)random_below(s, 7);
	a->weights = splits[random_below(s, 2)];
	a->listed = listed[random_below(s, 2)];
	a->weight = random_below(s, 3);
	a->in_split = random_below(s, 4) > 0;
	a->replicas = random_below(s, 5);
	a->retry_in_flight =
		!(flags & RANDOM_PATIENT) && random_below(s, 2) == 0;
	a->on_condition = !(flags & RANDOM_TIMED) && random_below(s, 4) == 0;
	a->when = (struct measure_condition){
		.metric = random_below(s, 2) ? METRIC_READY : METRIC_QUEUE,
		.endpoint = a->endpoint,
		.deployment = d,
		.compare = COMPARE_GE,
		.value = 1 + random_below(s, 3),
	};
}

/* The delay of every endpoint of a RANDOM_TIMED world. */
static inline int64_t random_delay_ns(const struct rig *rig)
{
	return (int64_t)rig->endpoint[0].router.propagation_ns.a;
}

static inline void random_world(struct rig *rig, uint64_t seed, unsigned flags)
{
	struct stream s = stream_open(seed, 0, 4711, STREAM_BOOTSTRAP);
	uint32_t endpoints =
		flags & RANDOM_ONE_ENDPOINT ? 1 : 1 + random_below(&s, 2);
	uint32_t n, delay_ms = random_below(&s, 500);

	rig_init(rig);
	rig->spec.duration_ns = random_below(&s, 8) ? 2 * S : 1999999999;
	rig->spec.warmup_ns = random_below(&s, 2) * 300 * MS;
	rig->spec.interval_ns = 250 * MS;
	for (uint32_t i = 0; i < endpoints; i++) {
		struct world_router *router =
			i ? &rig_endpoint(rig, "ep2")->router
			  : &rig->endpoint[0].router;

		rig->endpoint[i].earlier_errors = random_below(&s, 4) == 0;
		router->propagation_ns = dist_constant(delay_ms * 1e6);
		if (!(flags & RANDOM_TIMED) && random_below(&s, 2))
			router->propagation_ns =
				rig_dist(DIST_EXPONENTIAL, 100e6);
		for (n = 1 + random_below(&s, 3); n > 0; n--)
			random_deployment(rig, &s, flags);
	}
	for (n = 1 + random_below(&s, 3); n > 0; n--)
		random_load(rig, &s, flags, random_below(&s, endpoints));
	n = flags & RANDOM_UNCHANGED ? 0 : random_below(&s, 12);
	for (; n > 0; n--)
		random_action(rig, &s, flags);
}

/* Forgets what was heard, to run again. */
static inline void random_clear(struct rig *rig)
{
	measure_result_free(rig->result);
	rig->result = NULL;
	rig->n_requests = 0;
	rig->n_events = 0;
}

static inline void random_free(struct rig *rig)
{
	rig_fini(rig);
}

/* ---- hashes ------------------------------------------------------------ */

static inline uint64_t random_mix(uint64_t h, const void *bytes, size_t n)
{
	return route_stage_hash(h ^ route_hash(bytes, n), ROUTE_STAGE_SPLIT);
}

/* One request without what measure keeps in it for itself. */
static inline uint64_t random_mix_request(uint64_t h,
                                          const struct rig_request *q)
{
	const struct measure_request *r = &q->r;
	const int64_t parts[] = {
		r->traffic,      (int64_t)r->number, (int64_t)r->key,
		r->input_tokens, r->output_tokens,   r->preemptions,
		r->spilled,      r->outcome,         r->error,
		r->arrived_ns,   r->started_ns,      r->first_ns,
		r->done_ns,
	};

	h = random_mix(h, parts, sizeof(parts));
	h = random_mix(h, q->deployment, sizeof(q->deployment));
	return random_mix(h, q->replica, sizeof(q->replica));
}

/* Of the requests of the first n traffics. */
static inline uint64_t random_requests_hash(const struct rig *rig, uint32_t n)
{
	uint64_t h = 0;

	for (size_t i = 0; i < rig->n_requests; i++)
		if (rig->request[i].r.traffic < n)
			h = random_mix_request(h, &rig->request[i]);
	return h;
}

/* Of what was asked for: who, when, how long a prompt. */
static inline uint64_t random_offered_hash(const struct rig *rig)
{
	uint64_t h = 0;

	for (size_t i = 0; i < rig->n_requests; i++) {
		const struct measure_request *r = &rig->request[i].r;
		const uint64_t parts[] = {r->traffic, r->number, r->key,
		                          r->input_tokens,
		                          (uint64_t)r->arrived_ns};

		h = random_mix(h, parts, sizeof(parts));
	}
	return h;
}

struct random_ear {
	struct rig *rig;
	uint64_t hash;
};

static inline void random_hear_row(void *self, uint32_t replication,
                                   const struct measure_row *row)
{
	struct random_ear *ear = self;
	struct measure_row r;

	(void)replication;
	/* padding and pointers are nobody's business */
	memset(&r, 0, sizeof(r));
	r.from_ns = row->from_ns;
	r.to_ns = row->to_ns;
	r.scope = row->scope;
	r.arrived = row->arrived;
	r.completed = row->completed;
	r.rejected = row->rejected;
	r.timed_out = row->timed_out;
	r.failed = row->failed;
	r.output_token_rate = row->output_token_rate;
	r.share = row->share;
	r.expected_share = row->expected_share;
	r.token_share = row->token_share;
	r.ttft_p95_ns = row->ttft_p95_ns;
	r.e2e_p95_ns = row->e2e_p95_ns;
	r.tpot_mean_ns = row->tpot_mean_ns;
	r.itl_mean_ns = row->itl_mean_ns;
	r.queue = row->queue;
	r.batch = row->batch;
	r.in_flight = row->in_flight;
	r.ready = row->ready;
	r.kv_used = row->kv_used;
	ear->hash = random_mix(ear->hash, &r, sizeof(r));
	ear->hash = random_mix(ear->hash, row->id, strlen(row->id));
}

static inline void random_hear_request(void *self, uint32_t replication,
                                       const struct measure_request *r,
                                       const char *traffic,
                                       const char *deployment,
                                       const char *replica)
{
	struct random_ear *ear = self;
	struct rig *rig = ear->rig;

	rig->n_requests = 0;
	rig_hear_request(rig, replication, r, traffic, deployment, replica);
	ear->hash = random_mix_request(ear->hash, &rig->request[0]);
}

static inline void random_hear_event(void *self, uint32_t replication,
                                     const struct world_event *event)
{
	struct random_ear *ear = self;
	struct rig *rig = ear->rig;

	rig->n_events = 0;
	rig_hear_event(rig, replication, event);
	ear->hash =
		random_mix(ear->hash, &rig->event[0], sizeof(rig->event[0]));
	ear->hash =
		random_mix(ear->hash, event->message, strlen(event->message));
}

/* Of all rows, events and requests in the order in which they were told. */
static inline uint64_t random_hash(struct rig *rig, uint64_t seed)
{
	struct random_ear ear = {.rig = rig};
	struct world_observer observer = {.self = &ear,
	                                  .event = random_hear_event,
	                                  .row = random_hear_row,
	                                  .request = random_hear_request};
	struct world *w;
	struct err e;

	err_clear(&e);
	rig_close(rig);
	w = world_new(&rig->spec, seed, 0, &observer, &e);
	assert_non_null(w);
	assert_true(world_run(w, &e));
	world_free(w);
	return ear.hash;
}

#endif
