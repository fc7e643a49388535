/* SPDX-License-Identifier: MIT */
/*
 * Inside of route: the two integer functions that everything hashes and
 * scores with, the layout of table and state, and what a replica policy is.
 * Included by sim/route and by tests.
 */
#ifndef WEIR_ROUTE_INT_H
#define WEIR_ROUTE_INT_H

#include "route/route.h"

#include <assert.h>

__extension__ typedef unsigned __int128 u128;

/* 2^64 / golden ratio, odd: steps of it spread evenly over 64 bits. */
#define ROUTE_GOLDEN 0x9e3779b97f4a7c15u

/*
 * A bijection of 64 bits in which each input bit moves about half of the
 * output's: the finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable
 * pseudorandom number generators, OOPSLA 2014; constants by D. Stafford).
 */
static inline uint64_t route_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* ---- log.c ------------------------------------------------------------- */

#define ROUTE_LOG_BITS 57 /* fraction bits of a score */

/* round(2^32 * log2(1 + i/1024)); the last one, 2^32, is kept modulo 2^32. */
extern const uint32_t route_log2_table[1025];

/* route_score for h within 2^54 of 2^64, where a table is too coarse. */
uint64_t route_score_near_one(uint64_t h);

/*
 * 2^57 * -log2(h / 2^64), 1 to 2^63; h = 0 counts as 1. From the table the
 * error is below 1.8e-7 in log2; near the top, where the winner of a large
 * capacity lies, below 1e-9 of the value, until the last bit counts.
 */
static inline uint64_t route_score(uint64_t h)
{
	if (h >= UINT64_MAX - (UINT64_C(1) << 54) + 1)
		return route_score_near_one(h);
	h |= h == 0;
	unsigned shift = (unsigned)__builtin_clzll(h);
	uint64_t m = h << shift;
	uint32_t i = (uint32_t)(m >> 53) & 1023;
	uint64_t rest = (m >> 21) & UINT32_MAX;
	uint32_t low = route_log2_table[i];
	uint32_t step = route_log2_table[i + 1] - low;
	uint64_t fraction = ((uint64_t)low << 25) + ((step * rest) >> 7);
	return ((uint64_t)(shift + 1) << ROUTE_LOG_BITS) - fraction;
}

/* ---- table ------------------------------------------------------------- */

struct route_replica {
	uint64_t id_hash;
	uint32_t slot;
	uint32_t place; /* in the caller's list */
};

/* A target as the screen sees it. */
struct route_screened {
	uint64_t id_hash;
	uint64_t inverse; /* least capacity / its own, scaled */
};

/* Points of a ring: position in the high half, replica in the low half. */
struct route_ring {
	const uint64_t *points; /* ascending, then one of UINT64_MAX */
	const uint32_t *starts; /* first point at or after each stretch */
	uint32_t n_points;      /* 0: the policy has no use for a ring */
	uint32_t shift;         /* position >> shift = number of its stretch */
};

struct route_deployment {
	const struct route_policy *policy;
	const struct route_replica *replicas; /* in order of id */
	struct route_ring ring;
	uint64_t id_hash;
	uint64_t capacity;
	uint32_t n_replicas;
};

struct route_table {
	const struct route_deployment *deployments;
	const struct route_target *targets; /* capacity > 0, in order of id */
	const struct route_screened *screened; /* by target */
	const uint32_t *target_deployment;     /* by target */
	uint64_t total;
	uint32_t n_deployments;
	uint32_t n_targets;
	uint32_t screen_bits; /* of a place among the targets */
	uint32_t load_factor_percent;
};

/* ---- screen.c ---------------------------------------------------------- */

/*
 * A lower bound of 2^12 * -log2(u), and of route_score in that unit, for
 * all u from i/2048 up to (i + 1)/2048.
 */
extern const uint16_t route_score_floor[2048];

/* Fills the screen of n targets; returns the table's screen_bits. */
uint32_t route_screen_build(struct route_screened *screened,
                            const struct route_target *targets, uint32_t n);
/* What route_rendezvous says of the table's targets, mostly sooner. */
uint32_t route_screen(const struct route_table *table, uint64_t hash);

/* ---- spec.c ------------------------------------------------------------ */

/* What can be told of a spec without sorting it. */
enum route_status route_spec_check(const struct route_table_spec *spec);

/* ---- ring_points.c ----------------------------------------------------- */

/* Stretches that a ring of n points is cut into: a power of two >= n. */
uint32_t route_ring_bits(uint64_t n_points);
/* Fills `points` (n + 1) and `starts` (2^bits) and ties them to the ring. */
void route_ring_build(struct route_ring *ring, uint64_t *points,
                      uint32_t *starts, const struct route_replica *replicas,
                      uint32_t n_replicas);

/* The first point clockwise from a hash. */
static inline uint32_t route_ring_find(const struct route_ring *ring,
                                       uint64_t hash)
{
	uint64_t position = hash & ~(uint64_t)UINT32_MAX;
	uint32_t at = ring->starts[(hash >> 32) >> ring->shift];
	while (ring->points[at] < position)
		at++;
	return at == ring->n_points ? 0 : at;
}

/* The replica that owns a point, by its place in order of id. */
static inline uint32_t route_ring_owner(const struct route_ring *ring,
                                        uint32_t at)
{
	return (uint32_t)ring->points[at];
}

/* ---- state ------------------------------------------------------------- */

/* A slot is open while its generation is odd. */
struct route_state {
	uint32_t *in_flight;  /* by slot */
	uint32_t *generation; /* by slot */
	uint32_t *owner;      /* by slot: its deployment */
	uint64_t *total;      /* by deployment: requests in flight */
	uint64_t *cursor;     /* by deployment: requests taken */
	uint32_t n_slots;
	uint32_t n_deployments;
};

/* ---- caller's memory --------------------------------------------------- */

/* A cursor over caller's memory; with base NULL it only counts. */
struct route_carve {
	unsigned char *base;
	size_t used; /* SIZE_MAX: more than there are addresses */
};

/* Room for count things of a size, aligned for any type. */
void *route_carve(struct route_carve *carve, uint64_t count, size_t size);

/* Sorts items by heapsort; before(self, a, b) is a strict order. */
void route_sort(uint32_t *items, uint32_t n,
                bool (*before)(const void *self, uint32_t a, uint32_t b),
                const void *self);

/* ---- replica policies -------------------------------------------------- */

/* What a policy may look at. */
struct route_view {
	const struct route_deployment *deployment;
	const uint32_t *in_flight; /* by slot */
	uint64_t hash;             /* of the replica stage */
	uint64_t draw;
	uint64_t cursor;
	uint32_t load_factor_percent;
};

struct route_choice {
	uint32_t replica; /* place in order of id */
	bool spilled;
};

/* `pick` is called with at least one replica. */
struct route_policy {
	const char *name;
	bool has_ring;
	struct route_choice (*pick)(const struct route_view *view);
};

const struct route_policy *route_policy_default(void);

struct route_choice route_pick_bounded_ring(const struct route_view *view);
struct route_choice route_pick_ring(const struct route_view *view);
struct route_choice route_pick_rendezvous(const struct route_view *view);
struct route_choice route_pick_least_inflight(const struct route_view *view);
struct route_choice route_pick_round_robin(const struct route_view *view);
struct route_choice route_pick_random(const struct route_view *view);

/*
 * Slots of a server under bounded load (HAProxy's src/lb_chash.c): its part
 * of `slots` by weight, at least 1. `before` is the weight of the servers
 * before it, `all` of all; the remainders add up to what was shared.
 */
static inline uint64_t route_bounded_slots(uint64_t slots, uint32_t weight,
                                           uint32_t before, uint32_t all)
{
	uint64_t each = slots / all;
	uint64_t rest = slots % all;
	uint64_t upto = ((uint64_t)before + weight) * rest / all;
	uint64_t n = weight * each + (upto - before * rest / all);
	return n > 0 ? n : 1;
}

/* Slots to share out when `busy` requests are in flight and one comes. */
static inline uint64_t route_bounded_total(uint64_t busy, uint32_t percent)
{
	uint64_t product;
	if (__builtin_mul_overflow(busy + 1, (uint64_t)percent, &product) ||
	    product > UINT64_MAX - 99)
		return UINT64_MAX;
	return (product + 99) / 100;
}

#endif
