/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tests of measure share: a run of two endpoints, acme/chat with
 * dep_a and dep_b, acme/code with dep_c, and two traffics; one replica each;
 * requests made of times; rows and tables kept for looking at.
 */
#ifndef WEIR_TESTS_MEASURE_RIG_H
#define WEIR_TESTS_MEASURE_RIG_H

#include "measure/measure_int.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS NS_PER_MS
#define S NS_PER_S

enum { RIG_ROWS = 64, RIG_TERMS = 16, RIG_TABLES = 16 };

struct rig {
	struct measure *m;
	struct measure_config config;
	struct measure_terms terms;
	struct measure_term term[RIG_TERMS];
	uint32_t replica[3];
	struct measure_row row[RIG_ROWS];
	uint32_t n_rows;
	uint32_t n_requests; /* told to the sink */
	char last_replica[16];
	void *table[RIG_TABLES];
	uint32_t n_tables;
};

static inline void rig_row(void *self, const struct measure_row *row)
{
	struct rig *rig = self;
	assert_true(rig->n_rows < RIG_ROWS);
	rig->row[rig->n_rows++] = *row;
}

static inline void rig_request(void *self, const struct measure_request *r,
                               const char *deployment, const char *replica)
{
	struct rig *rig = self;
	assert_true((deployment == NULL) == (r->deployment == MEASURE_NONE));
	rig->n_requests++;
	if (replica)
		strncpy(rig->last_replica, replica, 15);
}

/* A term over everything of the first endpoint, not bounded. */
static inline struct measure_term rig_term(enum measure_metric metric)
{
	return (struct measure_term){.metric = metric,
	                             .deployment = MEASURE_NONE,
	                             .traffic = MEASURE_NONE,
	                             .replica = MEASURE_NONE,
	                             .to = {.at_ns = TIME_NEVER}};
}

/* The same, from a to b. */
static inline struct measure_term rig_between(enum measure_metric metric,
                                              int64_t from_ns, int64_t to_ns)
{
	struct measure_term t = rig_term(metric);
	t.bounded = true;
	t.from.at_ns = from_ns;
	t.to.at_ns = to_ns;
	return t;
}

/* replicas.ready(deployment) == value */
static inline struct measure_moment rig_ready(uint32_t deployment, double value,
                                              bool settled)
{
	return (struct measure_moment){
		.is_condition = true,
		.settled = settled,
		.condition = {METRIC_READY, 0, deployment, COMPARE_EQ, value}};
}

/* A rig of so long a run, without terms; not yet running. */
static inline struct rig *rig_new(int64_t warmup_ns, int64_t duration_ns)
{
	static const char *const endpoints[] = {"ep_chat", "ep_code"};
	static const char *const names[] = {"acme/chat", "acme/code"};
	static const char *const deployments[] = {"dep_a", "dep_b", "dep_c"};
	static const char *const traffics[] = {"chat", "bench"};
	static const uint32_t endpoint_of[] = {0, 0, 1};
	struct rig *rig = calloc(1, sizeof *rig);
	assert_non_null(rig);
	rig->terms.term = rig->term;
	rig->config =
		(struct measure_config){.names = {.n_endpoints = 2,
	                                          .endpoints = endpoints,
	                                          .n_deployments = 3,
	                                          .deployments = deployments,
	                                          .endpoint_of = endpoint_of,
	                                          .n_traffics = 2,
	                                          .traffics = traffics},
	                                .endpoint_names = names,
	                                .terms = &rig->terms,
	                                .warmup_ns = warmup_ns,
	                                .duration_ns = duration_ns,
	                                .sink = {rig, rig_row, rig_request}};
	return rig;
}

static inline void rig_add(struct rig *rig, struct measure_term term)
{
	assert_true(rig->terms.n < RIG_TERMS);
	rig->term[rig->terms.n++] = term;
}

/* Time 0: a replica for each deployment, told to be ready. */
static inline void rig_start(struct rig *rig)
{
	static const char *const names[] = {"a-0", "b-0", "c-0"};
	rig->m = measure_new(&rig->config);
	for (uint32_t d = 0; d < 3; d++) {
		rig->replica[d] = measure_replica_new(rig->m, d, names[d], 0);
		measure_replicas(rig->m, d, 1, 1, 0);
	}
}

/* A request to deployment d's first replica; not told to measure. */
static inline struct measure_request rig_made(struct rig *rig, uint32_t d,
                                              int64_t at_ns, uint64_t key)
{
	return (struct measure_request){
		.endpoint = rig->config.names.endpoint_of[d],
		.deployment = d,
		.replica = rig->replica[d],
		.key = key,
		.input_tokens = 100,
		.arrived_ns = at_ns,
		.started_ns = -1,
		.first_ns = -1,
		.done_ns = -1};
}

static inline struct measure_request rig_arrive(struct rig *rig, uint32_t d,
                                                int64_t at_ns, uint64_t key)
{
	struct measure_request r = rig_made(rig, d, at_ns, key);
	measure_arrived(rig->m, &r);
	return r;
}

/* It starts, gives its first of 11 tokens and is done, at these times. */
static inline void rig_complete(struct rig *rig, struct measure_request *r,
                                int64_t started_ns, int64_t first_ns,
                                int64_t done_ns)
{
	r->started_ns = started_ns;
	measure_started(rig->m, r);
	r->first_ns = first_ns;
	measure_first_token(rig->m, r);
	r->done_ns = done_ns;
	r->output_tokens = 11;
	r->outcome = OUTCOME_COMPLETED;
	measure_ended(rig->m, r);
}

static inline void rig_fail(struct rig *rig, struct measure_request *r,
                            enum measure_outcome outcome,
                            enum measure_error error, int64_t done_ns)
{
	r->outcome = outcome;
	r->error = error;
	r->done_ns = done_ns;
	measure_ended(rig->m, r);
}

/* A request that is over at once: all latencies are `ns`. */
static inline void rig_pass(struct rig *rig, uint32_t d, int64_t at_ns,
                            uint64_t key, int64_t ns)
{
	struct measure_request r = rig_arrive(rig, d, at_ns, key);
	rig_complete(rig, &r, at_ns + ns, at_ns + ns, at_ns + ns);
}

/* The chat endpoint's router applies weights of dep_a and dep_b. */
static inline const struct route_table *rig_table(struct rig *rig, uint64_t a,
                                                  uint64_t b, int64_t now_ns)
{
	struct route_replica_spec ra = {"a-0", 0}, rb = {"b-0", 1};
	struct route_deployment_spec d[] = {
		{.id = "dep_a", .weight = a, .replicas = &ra, .n_replicas = 1},
		{.id = "dep_b", .weight = b, .replicas = &rb, .n_replicas = 1}};
	struct route_table_spec spec = {.deployments = d, .n_deployments = 2};
	size_t bytes = route_table_bytes(&spec);
	struct route_table *table;
	assert_true(rig->n_tables < RIG_TABLES);
	void *memory = malloc(bytes);
	rig->table[rig->n_tables++] = memory;
	assert_int_equal(route_table_build(&spec, memory, bytes, &table),
	                 ROUTE_OK);
	measure_table(rig->m, 0, 0, table, now_ns);
	return table;
}

static inline void rig_free(struct rig *rig)
{
	measure_free(rig->m);
	for (uint32_t i = 0; i < rig->n_tables; i++)
		free(rig->table[i]);
	free(rig);
}

/* 64 bits that look random, the i-th of a fixed sequence (SplitMix64). */
static inline uint64_t rig_bits(uint64_t i)
{
	uint64_t x = i * UINT64_C(0x9e3779b97f4a7c15) + 12345;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.12g is not %.12g", a, b);
}

#endif
