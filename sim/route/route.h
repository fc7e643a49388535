/* SPDX-License-Identifier: MIT */
/*
 * route - where a request goes: the core that a real router would link.
 *
 * A table holds the deployments of one endpoint with their weights and ready
 * replicas. A decision first picks a deployment with probability
 * weight x ready replicas / sum, by weighted rendezvous hashing of the
 * request's sampling key, then a replica of the winner by that deployment's
 * policy. It is a pure function of (table, state, request): no clock, no
 * random draw (the caller hands one in where a policy wants it), no heap, no
 * floating point, so that the same input decides alike on every machine.
 *
 * Weighted rendezvous: every target i scores -log2(u_i) / capacity_i with
 * u_i = hash(key, id_i) / 2^64, the smallest wins; shares are exact, and when
 * one capacity changes only as many keys move as must. Logarithms are fixed
 * point from a table, products 128 bits wide.
 *
 * What it does not do: know time, health checks, retries, or a request's
 * output length. Table and state live in memory of the caller's.
 */
#ifndef WEIR_ROUTE_H
#define WEIR_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROUTE_NONE UINT32_MAX

/* Points of a replica on its deployment's ring. */
#define ROUTE_RING_POINTS 150u
/* Bounded load, percent of the mean, when the caller leaves it 0. */
#define ROUTE_LOAD_FACTOR_PERCENT 200u

enum route_status {
	ROUTE_OK = 0,
	ROUTE_NOT_CONFIGURED, /* no deployment has weight and a ready replica */
	ROUTE_NO_REPLICA,   /* deployment named by the request has none ready */
	ROUTE_BAD_ARGUMENT, /* a spec that breaks a rule stated here */
	ROUTE_TOO_SMALL,    /* caller's memory is smaller than asked for */
	ROUTE_OVERFLOW,     /* weights x replicas do not fit in 64 bits */
};

/* One word for each status, for logs: "endpoint_not_configured". */
const char *route_status_name(enum route_status status);

/* ---- the sampling key -------------------------------------------------- */

/* Fields of a request body; a NULL pointer or length 0 means absent. */
struct route_key_fields {
	const char *prompt_cache_key;
	size_t prompt_cache_key_len;
	const char *user;
	size_t user_len;
	const void *content;
	size_t content_len;
};

/*
 * The 64-bit sampling key: of prompt_cache_key, else user, else content
 * (XXH64, seed 0, of its bytes; no bytes at all hash as the empty string).
 */
uint64_t route_key(const struct route_key_fields *fields);
/* The same hash of any bytes. */
uint64_t route_hash(const void *bytes, size_t len);

/* ---- stages ------------------------------------------------------------ */

/*
 * Each stage hashes with its own salt: with one hash for two stages, the
 * second would see only a biased slice of the keys.
 */
enum route_stage {
	ROUTE_STAGE_SPLIT,
	ROUTE_STAGE_AB,
	ROUTE_STAGE_ROLLOUT,
	ROUTE_STAGE_CLUSTER,
	ROUTE_STAGE_REPLICA,
	ROUTE_STAGE_SHADOW,
	ROUTE_STAGES,
};

/* mix(key XOR salt of the stage), a bijection of 64-bit keys. */
uint64_t route_stage_hash(uint64_t key, enum route_stage stage);

/* 2^32 * -log2(h / 2^64), at least 1, at most 2^38; h = 0 counts as 1. */
uint64_t route_neg_log2(uint64_t h);

/* One candidate of a weighted rendezvous. */
struct route_target {
	uint64_t id_hash;  /* route_hash of its id */
	uint64_t capacity; /* 0: never picked */
	uint32_t rank;     /* its place by id; the smaller wins a tie */
};

/* The winner's index, ROUTE_NONE when no capacity is above 0. */
uint32_t route_rendezvous(const struct route_target *targets, uint32_t n,
                          uint64_t stage_hash);

/* ---- replica policies -------------------------------------------------- */

struct route_policy; /* a table entry; see route_policy_find */

/* By name: "bounded_ring" (the default), "ring", "rendezvous",
 * "least_inflight", "round_robin", "random". NULL when there is none such. */
const struct route_policy *route_policy_find(const char *name);
/* The i-th policy's name, NULL past the last. */
const char *route_policy_name(size_t i);

/* ---- the table --------------------------------------------------------- */

/* A ready replica. `slot` is its number in the state, unique in the state. */
struct route_replica_spec {
	const char *id;
	uint32_t slot;
};

/*
 * A deployment. Its place in the array is its number, the same in every
 * table that is used with one state. One that is absent from the split has
 * weight 0. policy NULL means the default.
 */
struct route_deployment_spec {
	const char *id;
	uint64_t weight;
	const struct route_replica_spec *replicas;
	uint32_t n_replicas;
	const struct route_policy *policy;
};

struct route_table_spec {
	const struct route_deployment_spec *deployments;
	uint32_t n_deployments;
	uint32_t load_factor_percent; /* 0: the default; else above 100 */
};

struct route_table;

/* Bytes of memory route_table_build needs for this spec. */
size_t route_table_bytes(const struct route_table_spec *spec);
/*
 * Builds a table inside `memory` (aligned for any type); nothing of the spec
 * is kept. Ids must be non-empty and differ (those of replicas within their
 * deployment; two ids with one hash count as equal), slots must differ:
 * ROUTE_BAD_ARGUMENT otherwise.
 */
enum route_status route_table_build(const struct route_table_spec *spec,
                                    void *memory, size_t bytes,
                                    struct route_table **table);

uint32_t route_table_deployments(const struct route_table *table);
/* weight x ready replicas of deployment d; 0: no traffic. */
uint64_t route_table_capacity(const struct route_table *table, uint32_t d);
/* Sum of all capacities. */
uint64_t route_table_total(const struct route_table *table);
uint32_t route_table_replicas(const struct route_table *table, uint32_t d);
/*
 * The candidates of the split: deployments with capacity, in order of id, *n
 * of them. They live as long as the table.
 */
const struct route_target *route_table_targets(const struct route_table *table,
                                               uint32_t *n);

/* ---- the state: in-flight counts by ticket ----------------------------- */

struct route_state;

size_t route_state_bytes(uint32_t n_slots, uint32_t n_deployments);
enum route_status route_state_init(void *memory, size_t bytes, uint32_t n_slots,
                                   uint32_t n_deployments,
                                   struct route_state **state);
/*
 * A replica of deployment d moves into a slot: count 0, a new generation.
 * The slot must be closed; returns ROUTE_BAD_ARGUMENT otherwise.
 */
enum route_status route_slot_open(struct route_state *state, uint32_t slot,
                                  uint32_t deployment);
/* The replica is gone and takes its tickets with it. */
void route_slot_close(struct route_state *state, uint32_t slot);

/* What an increment was; only it can undo it. */
struct route_ticket {
	uint32_t slot;
	uint32_t generation;
};

uint32_t route_in_flight(const struct route_state *state, uint32_t slot);
uint64_t route_in_flight_of(const struct route_state *state,
                            uint32_t deployment);

/* ---- decisions --------------------------------------------------------- */

struct route_request {
	uint64_t key;  /* route_key of the request */
	uint64_t draw; /* 64 random bits; read by the policy "random" only */
	uint32_t deployment; /* ROUTE_NONE: by the split; else this one */
};

struct route_decision {
	uint32_t deployment;
	uint32_t replica; /* place in the table's deployment */
	uint32_t slot;
	bool spilled; /* bounded load passed over the key's first choice */
};

/* The split alone: a deployment's number, ROUTE_NONE when none is routable. */
uint32_t route_split(const struct route_table *table, uint64_t key);

/*
 * Decides. On ROUTE_OK *decision is filled; otherwise it is untouched.
 * Neither table nor state change: call route_take when the request is sent.
 */
enum route_status route_decide(const struct route_table *table,
                               const struct route_state *state,
                               const struct route_request *request,
                               struct route_decision *decision);

/* Counts the request in; advances the deployment's round-robin cursor. */
struct route_ticket route_take(struct route_state *state,
                               const struct route_decision *decision);
/* Counts it out; false when the replica left meanwhile (nothing changes). */
bool route_release(struct route_state *state, struct route_ticket ticket);

#ifdef __cplusplus
}
#endif

#endif
