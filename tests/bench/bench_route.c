/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a routing decision costs. One line a figure, `name value unit`: the
 * median of several rounds, each the mean over many keys of 32 bytes, their
 * hashing included.
 */
#include "route/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS 4096u
#define KEY_BYTES 32u
#define PASSES 64u
#define ROUNDS 15
#define IDS 64u

struct bench {
	char keys[KEYS][KEY_BYTES];
	char ids[IDS][16];
	struct route_table *table;
	struct route_state *state;
	uint64_t sink;
};

static void *must(void *memory)
{
	if (!memory) {
		perror("bench_route");
		exit(3);
	}
	return memory;
}

static void must_be_ok(enum route_status status)
{
	if (status != ROUTE_OK) {
		fprintf(stderr, "bench_route: %s\n", route_status_name(status));
		exit(3);
	}
}

static uint64_t key_of(const struct bench *b, uint32_t i)
{
	const struct route_key_fields fields = {
		.prompt_cache_key = b->keys[i],
		.prompt_cache_key_len = KEY_BYTES,
	};
	return route_key(&fields);
}

static void set_up(struct bench *b, uint32_t n_deployments, uint32_t n_replicas,
                   const char *policy)
{
	struct route_deployment_spec *d =
		must(calloc(n_deployments, sizeof(*d)));
	struct route_replica_spec *r =
		must(calloc((size_t)n_deployments * n_replicas, sizeof(*r)));
	for (uint32_t i = 0; i < n_deployments * n_replicas; i++) {
		r[i].id = b->ids[i % n_replicas];
		r[i].slot = i;
	}
	for (uint32_t i = 0; i < n_deployments; i++) {
		d[i].id = b->ids[i];
		d[i].weight = 1 + i % 7;
		d[i].replicas = r + (size_t)i * n_replicas;
		d[i].n_replicas = n_replicas;
		d[i].policy = policy ? route_policy_find(policy) : NULL;
	}
	struct route_table_spec spec = {.deployments = d,
	                                .n_deployments = n_deployments};
	size_t bytes = route_table_bytes(&spec);
	must_be_ok(route_table_build(&spec, must(malloc(bytes)), bytes,
	                             &b->table));
	uint32_t n_slots = n_deployments * n_replicas;
	bytes = route_state_bytes(n_slots, n_deployments);
	must_be_ok(route_state_init(must(malloc(bytes)), bytes, n_slots,
	                            n_deployments, &b->state));
	for (uint32_t i = 0; i < n_slots; i++)
		must_be_ok(route_slot_open(b->state, i, i / n_replicas));
	free(r);
	free(d);
}

static void tear_down(struct bench *b)
{
	free(b->table);
	free(b->state);
}

static void split_once(struct bench *b)
{
	for (uint32_t i = 0; i < KEYS; i++)
		b->sink += route_split(b->table, key_of(b, i));
}

static void decide_once(struct bench *b)
{
	struct route_decision decision;
	for (uint32_t i = 0; i < KEYS; i++) {
		const struct route_request request = {
			.key = key_of(b, i),
			.draw = b->sink * 0x9e3779b97f4a7c15u,
			.deployment = ROUTE_NONE,
		};
		must_be_ok(
			route_decide(b->table, b->state, &request, &decision));
		b->sink += decision.slot;
	}
}

/* Two requests in flight a replica, as uneven as the keys are. */
static void load_replicas(struct bench *b, uint32_t n)
{
	struct route_decision decision;
	for (uint32_t i = 0; i < n; i++) {
		const struct route_request request = {
			.key = key_of(b, i % KEYS),
			.deployment = ROUTE_NONE,
		};
		must_be_ok(
			route_decide(b->table, b->state, &request, &decision));
		route_take(b->state, &decision);
	}
}

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;
	return (*x > *y) - (*x < *y);
}

static void report(struct bench *b, const char *name,
                   void (*once)(struct bench *))
{
	double ns[ROUNDS];
	once(b);
	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns();
		for (unsigned pass = 0; pass < PASSES; pass++)
			once(b);
		ns[round] = (now_ns() - start) / (PASSES * KEYS);
	}
	qsort(ns, ROUNDS, sizeof(ns[0]), by_value);
	printf("%s %.2f ns\n", name, ns[ROUNDS / 2]);
}

int main(void)
{
	static const uint32_t sizes[] = {2, 8, 64};
	struct bench *b = must(calloc(1, sizeof(*b)));
	char name[64];
	for (uint32_t i = 0; i < IDS; i++)
		snprintf(b->ids[i], sizeof(b->ids[i]), "id-%u", i);
	for (uint32_t i = 0; i < KEYS; i++) {
		char text[KEY_BYTES + 1];
		snprintf(text, sizeof(text), "session-%024u", i);
		memcpy(b->keys[i], text, KEY_BYTES);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_up(b, sizes[i], 1, NULL);
		snprintf(name, sizeof(name), "route_split_%u", sizes[i]);
		report(b, name, split_once);
		tear_down(b);
	}
	for (size_t i = 0; route_policy_name(i); i++) {
		set_up(b, 4, 16, route_policy_name(i));
		load_replicas(b, 128);
		snprintf(name, sizeof(name), "route_decide_4x16_%s",
		         route_policy_name(i));
		report(b, name, decide_once);
		tear_down(b);
	}
	uint64_t sink = b->sink;
	free(b);
	return sink == 1;
}
