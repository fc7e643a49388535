/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * endpoint, inside - the things a world is made of.
 *
 * world.c builds and runs it, request.c walks a request through, fleet.c
 * starts and ends replicas, table.c makes routing tables and hands them to
 * the router, timeline.c acts for the operator, feed.c tells.
 */
#ifndef WEIR_ENDPOINT_INT_H
#define WEIR_ENDPOINT_INT_H

#include "endpoint/endpoint.h"

/* Kinds of EVENT_ENTITY, so that different things never compare equal. */
enum entity_kind {
	ENTITY_SOURCE = 1,
	ENTITY_REPLICA,
	ENTITY_TIMEOUT,
	ENTITY_WORK,
	ENTITY_ROUTER,
	ENTITY_ACTION,
	ENTITY_INTERVAL,
};

/*
 * One replica with its place in routing. Instances are kept to the end of
 * the run, because a table that a router still uses may point to one that
 * is gone; their number is bounded by the starts of a run.
 */
struct instance {
	struct deployment *deployment;
	struct replica *replica;
	char name[80];    /* dep_a-0, for people */
	char ring_id[96]; /* with the replication, for the ring */
	uint32_t slot;    /* in the endpoint's routing state */
	uint32_t number;  /* in measure */
	uint32_t place;   /* among all that its deployment started */
	bool served;      /* was ready once */
	bool ready;       /* takes new requests */
	bool leaving;     /* draining, killed or gone */
	bool gone;
	bool killed;
	bool rerouting; /* killed: what was inside goes elsewhere */
};

struct deployment {
	struct world *world;
	struct endpoint *endpoint;
	const struct world_deployment *spec;
	struct replica_config config; /* the revision, and how it is run */
	uint32_t number;              /* in the world */
	bool in_split;
	uint64_t weight;
	uint32_t wanted;
	uint32_t before_stop; /* replicas to come back to */
	bool stopped;
	uint32_t lost; /* crashed and not restored */
	uint32_t ready;
	uint32_t started; /* names given so far */
	struct instance **instance;
	uint32_t n_instances;
	uint32_t capacity;
};

/* A routing table with what its places stand for. */
struct snapshot {
	struct route_table *table;
	struct instance **instance; /* of all deployments, one after another */
	uint32_t *first;            /* by deployment of the endpoint */
	uint32_t holders;
};

/* A snapshot on its way to the router. */
struct transfer {
	struct transfer *next;
	struct snapshot *snapshot;
	int64_t at_ns;
};

struct endpoint {
	struct world *world;
	const struct world_endpoint *spec;
	uint32_t number;
	struct deployment *deployment; /* the first of its own */
	struct route_state *state;
	uint32_t n_slots;
	uint32_t max_slots;
	bool wants_draw;          /* a deployment chooses replicas by chance */
	struct snapshot *truth;   /* of this moment */
	struct snapshot *applied; /* what the router decides by */
	struct transfer *first_transfer;
	struct transfer *last_transfer;
	struct event arrival; /* of the first transfer */
	struct stream propagation;
};

/* One request, from its arrival until it has ended. */
struct request {
	struct measure_request seen;
	struct replica_work work;
	struct world *world;
	struct instance *instance;
	struct route_ticket ticket;
	struct event timeout;
	struct request *next;
	struct request *prev;
	uint32_t client;
	uint32_t pinned;
	bool running;
	char key[LOAD_KEY_MAX];
};

struct action {
	struct world *world;
	const struct world_action *spec;
	struct event event;
	bool done;
};

struct world {
	const struct world_spec *spec;
	uint64_t seed;
	uint32_t replication;
	struct world_observer observer;
	struct calendar calendar;
	struct arena arena;
	struct pool requests;
	struct pool transfers;
	struct request *live; /* in no order that a result may depend on */
	uint64_t n_live;
	struct load *load;
	struct load_spec *loads;
	struct stream *route_draws; /* by load */
	struct measure *measure;
	struct endpoint *endpoint;
	struct deployment *deployment;
	struct action *action;
	uint32_t conditions; /* actions that still wait for theirs */
	struct event interval;
	int64_t interval_begin_ns;
	struct replica_hooks hooks;
	struct measure_result *result;
};

/* request.c */
void request_arrive(void *self, const struct load_request *lr);
/* The hooks of every replica; self is the world. */
struct replica_hooks request_hooks(void);
/* Tells measure of what is inside at the end of the run. */
void request_close_all(struct world *w);

/* fleet.c */
/* Starts one replica; cold: through its cold start. */
void fleet_start(struct deployment *d, bool cold);
/* Moves the number of replicas to `wanted`. */
void fleet_scale(struct deployment *d, uint32_t wanted);
void fleet_stop(struct deployment *d);
void fleet_restart(struct deployment *d);
/* Loses n replicas, the newest first. */
void fleet_crash(struct deployment *d, uint32_t n, bool reroute);
void fleet_restore(struct deployment *d, uint32_t n);
/* A replica changed its state of life (hook). */
void fleet_lived(void *self, struct replica *r);

/* table.c */
void table_init(struct endpoint *e);
void table_fini(struct endpoint *e);
/* Weights or ready replicas changed: a new truth, on its way to the router.
 * `now`: the router knows at once (before the run begins). */
void table_change(struct endpoint *e, bool now);
/* The instance a decision by this snapshot stands for. */
struct instance *table_instance(const struct snapshot *s,
                                const struct route_decision *d);
/* Longest propagation that can be drawn; for settled(...). */
int64_t table_settle_ns(const struct world_spec *spec);

/* timeline.c */
void timeline_init(struct world *w);
/* Looks at conditions; called after every event while some are open. */
void timeline_look(struct world *w);

/* feed.c */
struct feed {
	enum world_level level;
	const char *type;
	const struct endpoint *endpoint;
	const struct deployment *deployment;
	const struct instance *instance;
	int64_t old_replicas;
	int64_t new_replicas;
	const char *reason;
};

void feed_tell(struct world *w, const struct feed *f, const char *fmt, ...)
	BASE_PRINTF(3, 4);

#endif
