/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * endpoint - the world: endpoints, their deployments and replicas, one clock.
 *
 * Introduces the rooms below to one another. A request's walk: load makes
 * it, the endpoint asks route for a deployment and a replica, the replica
 * queues and runs it, measure counts what the client saw, load makes the
 * next. Beside it the timeline acts; every change of weights or of ready
 * replicas makes a new routing table, which the endpoint's router applies
 * after one propagation delay. Until then the router decides by the old one;
 * a request it would give to a replica that is not ready any more is decided
 * again by the newest table, as a gateway does that finds nobody there.
 *
 * What it does not do: read JSON, print, or keep anything outside the world
 * it was given; two worlds live side by side.
 */
#ifndef WEIR_ENDPOINT_H
#define WEIR_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "event/event.h"
#include "load/load.h"
#include "measure/measure.h"
#include "replica/replica.h"
#include "route/route.h"

/* ---- what is asked for ------------------------------------------------- */

/* A deployment: a config, a weight per ready replica, a replica count. */
struct world_deployment {
	const char *id;
	const char *config_id; /* of the config revision, for messages */
	const struct replica_config *config;
	struct replica_cold_start cold_start;
	uint32_t replicas;
	bool in_split;   /* listed in traffic_split */
	uint64_t weight; /* integer, in the ratio of the scenario's decimals */
	const struct route_policy *replica_choice;
	bool cold_at_start; /* its first replicas cold-start too */
};

/* How an endpoint's router learns of a change. */
struct world_router {
	struct dist propagation_ns;
	uint32_t load_factor_percent;
};

struct world_endpoint {
	const char *id;
	const char *name;
	uint32_t first; /* number of its first deployment in the world */
	uint32_t n_deployments;
	struct world_router router;
	/* Earlier platform rules: routing_error (503) instead of
	 * endpoint_not_configured (400). */
	bool earlier_errors;
};

enum world_operation {
	WORLD_SET_WEIGHT,      /* deployment, weight */
	WORLD_SET_REPLICAS,    /* deployment, replicas */
	WORLD_SET_SPLIT,       /* weights of all deployments of the endpoint */
	WORLD_STOP_DEPLOYMENT, /* drain to 0, weight remembered */
	WORLD_RESTART_DEPLOYMENT, /* back to its replicas before the stop */
	WORLD_CRASH,              /* lose so many replicas */
	WORLD_RESTORE,            /* what was lost starts again */
};

/* One action of the timeline; its place in the array orders equal times. */
struct world_action {
	bool on_condition;
	int64_t at_ns;
	struct measure_condition when;
	enum world_operation operation;
	uint32_t endpoint;
	uint32_t deployment;
	bool in_split;
	uint64_t weight;
	uint32_t replicas;    /* UINT32_MAX in WORLD_CRASH and RESTORE: all */
	bool retry_in_flight; /* WORLD_CRASH: reroute what was inside */
	const uint64_t *weights; /* WORLD_SET_SPLIT, by deployment */
	const bool *listed;      /* WORLD_SET_SPLIT: is in the new split */
};

/* The whole scenario as the simulator sees it; owned by the caller. */
struct world_spec {
	const char *name;
	int64_t duration_ns; /* TIME_NEVER: until every load is exhausted */
	int64_t warmup_ns;
	int64_t interval_ns; /* of the series */
	uint32_t n_endpoints;
	const struct world_endpoint *endpoints;
	uint32_t n_deployments; /* of all endpoints, in their order */
	const struct world_deployment *deployments;
	uint32_t n_loads;
	const struct load_spec *loads;
	uint32_t n_actions;
	const struct world_action *actions;
	bool exact_steps; /* replicas run every step instead of leaping */
	const struct measure_terms *terms; /* of the rules */
	struct measure_names names;
};

/* ---- what can be watched ----------------------------------------------- */

enum world_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARN, LEVEL_ERROR };

/* One event of the feed, in simulated time, by the platform's names. */
struct world_event {
	int64_t at_ns;
	enum world_level level;
	const char *type; /* "deployment.scaled" */
	const char *endpoint;
	const char *deployment; /* NULL: of the endpoint */
	const char *replica;    /* NULL: of the deployment */
	int64_t old_replicas;   /* -1: does not apply */
	int64_t new_replicas;
	const char *reason;  /* may be NULL */
	const char *message; /* one sentence */
};

struct world_observer {
	void *self;
	/* Each may be NULL. */
	void (*event)(void *self, uint32_t replication,
	              const struct world_event *event);
	void (*row)(void *self, uint32_t replication,
	            const struct measure_row *row);
	void (*request)(void *self, uint32_t replication,
	                const struct measure_request *r, const char *traffic,
	                const char *deployment, const char *replica);
	/* Asked now and then, at the simulated time; true stops the run, which
	 * is thrown away. */
	bool (*stop)(void *self, int64_t now_ns);
};

/* ---- a run ------------------------------------------------------------- */

struct world;

/* Builds one replication; NULL and *e when a trace cannot be opened. */
struct world *world_new(const struct world_spec *spec, uint64_t seed,
                        uint32_t replication,
                        const struct world_observer *observer, struct err *e);
void world_free(struct world *w);
/*
 * Runs to the end. False when the observer stopped it, or, with *e filled,
 * when a trace changed under the run.
 */
bool world_run(struct world *w, struct err *e);
/* After world_run: the measurements, owned by the caller from now on. */
struct measure_result *world_result(struct world *w);
/* Events executed, for the bench. */
uint64_t world_events(const struct world *w);

#endif
