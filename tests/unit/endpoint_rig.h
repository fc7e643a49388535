/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * endpoint_rig - a small world built by hand, and all that it tells.
 *
 * Deployments serve by engine `service` with so many servers and a constant
 * time, unless a test says otherwise; a load sends one request every 100 ms
 * to the endpoint that was added last.
 */
#ifndef WEIR_TESTS_ENDPOINT_RIG_H
#define WEIR_TESTS_ENDPOINT_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "endpoint/endpoint.h"

#define S NS_PER_S
#define MS NS_PER_MS
#define RIG_ALL UINT32_MAX
enum {
	RIG_ENDPOINTS = 4,
	RIG_DEPLOYMENTS = 8,
	RIG_LOADS = 8,
	RIG_ACTIONS = 32
};

struct rig_request {
	struct measure_request r;
	char key[LOAD_KEY_MAX];
	char deployment[32]; /* "": none */
	char replica[80];
};

struct rig_event {
	int64_t at_ns;
	enum world_level level;
	char type[48];
	char deployment[32];
	char replica[80];
	int64_t old_replicas;
	int64_t new_replicas;
	char reason[48];
};

struct rig {
	struct world_spec spec;
	struct world_endpoint endpoint[RIG_ENDPOINTS];
	struct world_deployment deployment[RIG_DEPLOYMENTS];
	struct replica_config config[RIG_DEPLOYMENTS];
	struct load_spec load[RIG_LOADS];
	struct world_action action[RIG_ACTIONS];
	struct measure_terms terms;
	const char *endpoint_id[RIG_ENDPOINTS];
	const char *deployment_id[RIG_DEPLOYMENTS];
	uint32_t endpoint_of[RIG_DEPLOYMENTS];
	const char *traffic[RIG_LOADS];
	uint32_t traffic_endpoint[RIG_LOADS];
	bool quiet; /* keep counts only */
	uint64_t seen;
	struct rig_request *request;
	size_t n_requests;
	size_t request_capacity;
	struct rig_event *event;
	size_t n_events;
	size_t event_capacity;
	struct measure_result *result;
};

/* ---- building ---------------------------------------------------------- */

static inline struct dist rig_dist(enum dist_kind kind, double a)
{
	struct dist d = dist_constant(a);

	d.kind = kind;
	return d;
}

static inline struct world_endpoint *rig_endpoint(struct rig *rig,
                                                  const char *id)
{
	uint32_t i = rig->spec.n_endpoints++;
	struct world_endpoint *e = &rig->endpoint[i];

	assert_true(i < RIG_ENDPOINTS);
	*e = (struct world_endpoint){
		.id = id,
		.name = id,
		.first = rig->spec.n_deployments,
		.router = {.propagation_ns = dist_constant(0)},
	};
	rig->endpoint_id[i] = id;
	return e;
}

static inline void rig_init(struct rig *rig)
{
	*rig = (struct rig){
		.spec = {.name = "rig",
	                 .duration_ns = 10 * S,
	                 .interval_ns = S,
	                 .endpoints = rig->endpoint,
	                 .deployments = rig->deployment,
	                 .loads = rig->load,
	                 .actions = rig->action,
	                 .terms = &rig->terms},
	};
	rig->spec.names = (struct measure_names){
		.endpoints = rig->endpoint_id,
		.deployments = rig->deployment_id,
		.endpoint_of = rig->endpoint_of,
		.traffics = rig->traffic,
		.traffic_endpoint = rig->traffic_endpoint,
	};
	rig_endpoint(rig, "ep");
}

/* One that serves `servers` at a time, 10 ms each; weight 1, in the split. */
static inline struct world_deployment *
rig_deployment(struct rig *rig, const char *id, uint32_t replicas)
{
	uint32_t i = rig->spec.n_deployments++;
	uint32_t e = rig->spec.n_endpoints - 1;
	struct world_deployment *d = &rig->deployment[i];

	assert_true(i < RIG_DEPLOYMENTS);
	rig->config[i] = (struct replica_config){
		.engine = replica_engine_find("service"),
		.servers = 64,
		.service_ns = dist_constant(10 * MS),
	};
	*d = (struct world_deployment){
		.id = id,
		.config_id = "cr_rig",
		.config = &rig->config[i],
		.cold_start = {dist_constant(100 * MS), dist_constant(200 * MS),
	                       dist_constant(300 * MS),
	                       dist_constant(400 * MS)},
		.replicas = replicas,
		.in_split = true,
		.weight = 1,
	};
	rig->deployment_id[i] = id;
	rig->endpoint_of[i] = e;
	rig->endpoint[e].n_deployments++;
	return d;
}

static inline struct load_spec *rig_load(struct rig *rig, const char *name)
{
	uint32_t i = rig->spec.n_loads++;
	struct load_spec *l = &rig->load[i];

	assert_true(i < RIG_LOADS);
	*l = (struct load_spec){
		.name = name,
		.kind = LOAD_OPEN,
		.target = rig->spec.n_endpoints - 1,
		.pinned = UINT32_MAX,
		.until_ns = TIME_NEVER,
		.requests = UINT64_MAX,
		.process = LOAD_CONSTANT,
		.rate_rps = 10,
		.speed = 1,
		.think_ns = dist_constant(0),
		.error_pause_ns = S,
		.input_tokens = dist_constant(100),
		.output_tokens = dist_constant(10),
		.timeout_ns = TIME_NEVER,
	};
	rig->traffic[i] = name;
	rig->traffic_endpoint[i] = l->target;
	return l;
}

static inline struct load_spec *rig_clients(struct rig *rig, uint32_t n)
{
	struct load_spec *l = rig_load(rig, "clients");

	l->kind = LOAD_CLOSED;
	l->concurrency = n;
	return l;
}

static inline struct world_action *rig_action(struct rig *rig, int64_t at_ns,
                                              enum world_operation operation,
                                              uint32_t deployment)
{
	struct world_action *a = &rig->action[rig->spec.n_actions++];

	assert_true(rig->spec.n_actions <= RIG_ACTIONS);
	*a = (struct world_action){
		.at_ns = at_ns,
		.operation = operation,
		.endpoint = rig->endpoint_of[deployment],
		.deployment = deployment,
		.in_split = true,
		.replicas = RIG_ALL,
	};
	return a;
}

static inline void rig_weight(struct rig *rig, int64_t at_ns,
                              uint32_t deployment, uint64_t weight)
{
	rig_action(rig, at_ns, WORLD_SET_WEIGHT, deployment)->weight = weight;
}

static inline void rig_scale(struct rig *rig, int64_t at_ns,
                             uint32_t deployment, uint32_t replicas)
{
	rig_action(rig, at_ns, WORLD_SET_REPLICAS, deployment)->replicas =
		replicas;
}

/* ---- listening --------------------------------------------------------- */

static inline void rig_copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

static inline void rig_hear_request(void *self, uint32_t replication,
                                    const struct measure_request *r,
                                    const char *traffic, const char *deployment,
                                    const char *replica)
{
	struct rig *rig = self;
	struct rig_request *q;

	(void)replication;
	assert_string_equal(traffic, rig->traffic[r->traffic]);
	rig->seen++;
	if (rig->quiet)
		return;
	if (rig->n_requests == rig->request_capacity) {
		rig->request_capacity = 2 * rig->request_capacity + 256;
		rig->request = mem_grow(rig->request, rig->request_capacity,
		                        sizeof(*rig->request));
	}
	q = &rig->request[rig->n_requests++];
	memset(q, 0, sizeof(*q));
	q->r = *r;
	memcpy(q->key, r->key_text, r->key_len);
	q->r.key_text = NULL;
	rig_copy(q->deployment, sizeof(q->deployment), deployment);
	rig_copy(q->replica, sizeof(q->replica), replica);
}

static inline void rig_hear_event(void *self, uint32_t replication,
                                  const struct world_event *event)
{
	struct rig *rig = self;
	struct rig_event *v;

	(void)replication;
	assert_true(strlen(event->message) > 0);
	if (rig->n_events == rig->event_capacity) {
		rig->event_capacity = 2 * rig->event_capacity + 64;
		rig->event = mem_grow(rig->event, rig->event_capacity,
		                      sizeof(*rig->event));
	}
	v = &rig->event[rig->n_events++];
	memset(v, 0, sizeof(*v));
	v->at_ns = event->at_ns;
	v->level = event->level;
	v->old_replicas = event->old_replicas;
	v->new_replicas = event->new_replicas;
	rig_copy(v->type, sizeof(v->type), event->type);
	rig_copy(v->deployment, sizeof(v->deployment), event->deployment);
	rig_copy(v->replica, sizeof(v->replica), event->replica);
	rig_copy(v->reason, sizeof(v->reason), event->reason);
}

/* ---- running ----------------------------------------------------------- */

static inline int rig_by_number(const void *a, const void *b)
{
	const struct measure_request *x = &((const struct rig_request *)a)->r;
	const struct measure_request *y = &((const struct rig_request *)b)->r;

	if (x->traffic != y->traffic)
		return x->traffic < y->traffic ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static inline struct world_observer rig_observer(struct rig *rig)
{
	return (struct world_observer){.self = rig,
	                               .event = rig_hear_event,
	                               .request = rig_hear_request};
}

/* Fills in what follows from the rest of the spec. */
static inline void rig_close(struct rig *rig)
{
	rig->spec.names.n_endpoints = rig->spec.n_endpoints;
	rig->spec.names.n_deployments = rig->spec.n_deployments;
	rig->spec.names.n_traffics = rig->spec.n_loads;
}

/* Runs; requests are in the order of traffic and number afterwards. */
static inline void rig_run(struct rig *rig, uint64_t seed)
{
	struct world_observer observer = rig_observer(rig);
	struct world *w;
	struct err e;

	err_clear(&e);
	rig_close(rig);
	w = world_new(&rig->spec, seed, 0, &observer, &e);
	assert_non_null(w);
	assert_true(world_run(w, &e));
	rig->result = world_result(w);
	world_free(w);
	if (rig->n_requests > 0)
		qsort(rig->request, rig->n_requests, sizeof(*rig->request),
		      rig_by_number);
}

static inline void rig_fini(struct rig *rig)
{
	measure_result_free(rig->result);
	mem_free(rig->request);
	mem_free(rig->event);
}

/* ---- looking ----------------------------------------------------------- */

/* Arrivals in [from, to) that went to a deployment; "": nowhere. */
static inline uint32_t rig_sent(const struct rig *rig, const char *deployment,
                                int64_t from_ns, int64_t to_ns)
{
	uint32_t n = 0;

	for (size_t i = 0; i < rig->n_requests; i++) {
		const struct rig_request *q = &rig->request[i];

		n += q->r.arrived_ns >= from_ns && q->r.arrived_ns < to_ns &&
		     strcmp(q->deployment, deployment) == 0;
	}
	return n;
}

/* The same for one replica. */
static inline uint32_t rig_served(const struct rig *rig, const char *replica,
                                  int64_t from_ns, int64_t to_ns)
{
	uint32_t n = 0;

	for (size_t i = 0; i < rig->n_requests; i++) {
		const struct rig_request *q = &rig->request[i];

		n += q->r.arrived_ns >= from_ns && q->r.arrived_ns < to_ns &&
		     strcmp(q->replica, replica) == 0;
	}
	return n;
}

static inline uint32_t rig_ended(const struct rig *rig,
                                 enum measure_outcome outcome,
                                 enum measure_error error)
{
	uint32_t n = 0;

	for (size_t i = 0; i < rig->n_requests; i++)
		n += rig->request[i].r.outcome == outcome &&
		     rig->request[i].r.error == error;
	return n;
}

/* The k-th event (from 0) of a type and a replica or, "", anyone. */
static inline const struct rig_event *rig_event(const struct rig *rig,
                                                const char *type,
                                                const char *replica, size_t k)
{
	for (size_t i = 0; i < rig->n_events; i++) {
		const struct rig_event *v = &rig->event[i];

		if (strcmp(v->type, type) != 0 ||
		    (replica[0] && strcmp(v->replica, replica) != 0))
			continue;
		if (k-- == 0)
			return v;
	}
	return NULL;
}

#endif
