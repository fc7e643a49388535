/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The replica policies, each against what it says of itself. */
#include "unit/route_fixture.h"

#define ALPHA 0.001
#define RING (16 * ROUTE_RING_POINTS)

/* A ring made by hand: points in no order, looked at one by one. */
struct hand_ring {
	uint32_t position[RING];
	uint32_t owner[RING];
	uint32_t n;
};

static void hand_ring_add(struct hand_ring *ring, const char *id, size_t len,
                          uint32_t owner)
{
	uint64_t h = route_hash(id, len);
	for (uint32_t k = 1; k <= ROUTE_RING_POINTS; k++) {
		assert_true(ring->n < RING);
		ring->position[ring->n] =
			(uint32_t)(route_mix(h + k * ROUTE_GOLDEN) >> 32);
		ring->owner[ring->n++] = owner;
	}
}

/* The next point at or after a position; equal ones by owner. */
static uint32_t hand_ring_next(const struct hand_ring *ring, uint64_t from)
{
	uint64_t nearest = UINT64_MAX;
	uint32_t found = 0;
	for (uint32_t i = 0; i < ring->n; i++) {
		uint64_t point =
			(uint64_t)ring->position[i] << 32 | ring->owner[i];
		uint64_t distance = point - from;
		if (distance < nearest) {
			nearest = distance;
			found = i;
		}
	}
	return found;
}

static uint64_t start_of(uint64_t key)
{
	return route_stage_hash(key, ROUTE_STAGE_REPLICA) >> 32 << 32;
}

static struct hand_ring *hand_ring_of(const struct fixture *f)
{
	struct hand_ring *ring = calloc(1, sizeof(*ring));
	assert_non_null(ring);
	for (uint32_t j = 0; j < f->deployments[0].n_replicas; j++)
		hand_ring_add(ring, f->replicas[0][j].id, 10, j);
	return ring;
}

static struct fixture *one_deployment(uint32_t n_replicas, const char *policy)
{
	struct fixture *f = fixture_new(1, policy);
	f->deployments[0].n_replicas = n_replicas;
	fixture_build(f);
	return f;
}

static void ring_is_the_next_point_clockwise(void **unused)
{
	(void)unused;
	for (uint32_t n = 1; n <= 16; n++) {
		struct fixture *f = one_deployment(n, "ring");
		struct hand_ring *ring = hand_ring_of(f);
		for (uint64_t k = 0; k < 1000; k++) {
			uint64_t key = fixture_key(k);
			uint32_t at = hand_ring_next(ring, start_of(key));
			struct route_decision d = fixture_decide(f, key, 0);
			assert_int_equal(d.replica, ring->owner[at]);
			assert_int_equal(d.slot, d.replica);
			assert_false(d.spilled);
		}
		free(ring);
		fixture_free(f);
	}
}

/*
 * Slots of HAProxy, haproxy/haproxy src/lb_chash.c,
 * chash_server_is_eligible: worked out from its formula.
 */
static void slots_are_haproxys(void **unused)
{
	(void)unused;
	static const struct {
		uint64_t served;
		uint32_t percent;
		uint32_t n;
		uint32_t weights[4];
		uint64_t slots[4];
	} cases[] = {
		{0, 150, 4, {16, 16, 16, 16}, {1, 1, 1, 1}},
		{9, 150, 4, {16, 16, 16, 16}, {3, 4, 4, 4}},
		{99, 125, 3, {16, 32, 48, 0}, {20, 42, 63, 0}},
		{6, 200, 3, {1, 1, 1, 0}, {4, 5, 5, 0}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t total =
			route_bounded_total(cases[i].served, cases[i].percent);
		uint32_t all = 0;
		uint32_t before = 0;
		for (uint32_t j = 0; j < cases[i].n; j++)
			all += cases[i].weights[j];
		for (uint32_t j = 0; j < cases[i].n; j++) {
			uint32_t weight = cases[i].weights[j];
			assert_true(route_bounded_slots(total, weight, before,
			                                all) ==
			            cases[i].slots[j]);
			before += weight;
		}
	}
	assert_true(route_bounded_total(UINT64_MAX / 2, 200) == UINT64_MAX);
}

/* Draws one of few hot keys, so that some replica is always full. */
static uint64_t hot_key(uint64_t *seed)
{
	uint64_t r = fixture_random(seed);
	return fixture_key(r % 4 ? r >> 32 & 3 : r >> 32);
}

/*
 * Requests come and go; each goes to the first replica clockwise with
 * fewer in flight than its slots, and is marked as spilled just when that
 * is not the key's own.
 */
static void bounded_ring_spills_only_over_slots(void **unused)
{
	(void)unused;
	static const uint32_t percents[] = {101, 125, 200, 1000, UINT32_MAX};
	uint64_t seed = 6;
	uint32_t spilled = 0;
	for (uint32_t round = 0; round < 30; round++) {
		uint32_t n = 1 + round % 8;
		struct fixture *f = one_deployment(n, NULL);
		uint32_t percent = percents[round % 5];
		f->spec.load_factor_percent = percent == 200 ? 0 : percent;
		fixture_build(f);
		struct hand_ring *ring = hand_ring_of(f);
		struct route_ticket open[100];
		uint64_t busy = 0;
		for (int step = 0; step < 400; step++) {
			if (busy == 100 ||
			    (busy > 0 && fixture_random(&seed) % 5 < 2)) {
				uint64_t i = fixture_random(&seed) % busy;
				assert_true(route_release(f->state, open[i]));
				open[i] = open[--busy];
				continue;
			}
			uint64_t key = hot_key(&seed);
			struct route_decision d = fixture_decide(f, key, 0);
			uint64_t total = route_bounded_total(busy, percent);
			uint64_t from = start_of(key);
			uint32_t at = hand_ring_next(ring, from);
			uint32_t own = ring->owner[at];
			while (route_in_flight(f->state, ring->owner[at]) >=
			       route_bounded_slots(total, 1, ring->owner[at],
			                           n)) {
				from = ((uint64_t)ring->position[at] << 32 |
				        ring->owner[at]) +
				       1;
				at = hand_ring_next(ring, from);
			}
			assert_int_equal(d.replica, ring->owner[at]);
			assert_int_equal(d.spilled, ring->owner[at] != own);
			spilled += d.spilled;
			open[busy++] = route_take(f->state, &d);
			assert_true(route_in_flight_of(f->state, 0) == busy);
		}
		free(ring);
		fixture_free(f);
	}
	assert_true(spilled > 100);
}

/* A draining replica is busy, but no measure for those that are ready. */
static void bounded_ring_counts_ready_replicas_only(void **unused)
{
	(void)unused;
	struct fixture *f = one_deployment(3, NULL);
	struct route_decision leaving = {.deployment = 0, .slot = 2};
	for (int i = 0; i < 1000; i++)
		route_take(f->state, &leaving);
	f->deployments[0].n_replicas = 2;
	fixture_build(f);
	/* One key alone: (b + 1) x 200 % by two is b + 1 slots a replica,
	 * more than its own will ever have; unless another takes some. */
	for (int i = 0; i < 10; i++) {
		struct route_decision d = fixture_decide(f, 1, 0);
		assert_false(d.spilled);
		route_take(f->state, &d);
	}
	f->spec.load_factor_percent = 125;
	fixture_build(f);
	assert_true(fixture_decide(f, 1, 0).spilled);
	fixture_free(f);
}

/* Keys move to a replica that came, or from one that went; no others. */
static void check_movement(const char *policy)
{
	struct fixture *f = one_deployment(9, policy);
	struct fixture *g = fixture_new(1, policy);
	uint32_t moved = 0;
	uint32_t wrong = 0;
	/* The newcomer's id sorts first: every other one changes its place. */
	g->deployments[0].n_replicas = 10;
	for (uint32_t j = 1; j < 10; j++)
		g->replicas[0][j] = f->replicas[0][j - 1];
	g->replicas[0][0].id = "dep-00-a";
	g->replicas[0][0].slot = 9;
	fixture_build(g);
	for (uint64_t n = 0; n < 100000; n++) {
		uint64_t key = fixture_key(n);
		uint32_t before = fixture_decide(f, key, 0).slot;
		uint32_t after = fixture_decide(g, key, 0).slot;
		moved += before != after;
		wrong += before != after && after != 9;
	}
	print_message("%s: %u of 100000 keys moved to one of ten\n", policy,
	              moved);
	assert_int_equal(wrong, 0);
	assert_true(moved > 5000 && moved < 15000);
	fixture_free(f);
	fixture_free(g);
}

static void replicas_move_only_their_own_keys(void **unused)
{
	(void)unused;
	check_movement("bounded_ring");
	check_movement("ring");
	check_movement("rendezvous");
}

static void count_replicas(const struct fixture *f, uint32_t n_keys,
                           uint32_t *counts)
{
	for (uint32_t j = 0; j < f->deployments[0].n_replicas; j++)
		counts[j] = 0;
	for (uint64_t n = 0; n < n_keys; n++)
		counts[fixture_decide(f, fixture_key(n), 0).replica]++;
}

static void rendezvous_is_even(void **unused)
{
	(void)unused;
	uint32_t counts[16];
	struct fixture *f = one_deployment(16, "rendezvous");
	count_replicas(f, 200000, counts);
	assert_true(even_p(counts, 16) > ALPHA);
	fixture_free(f);
}

static void least_inflight_takes_the_least(void **unused)
{
	(void)unused;
	uint64_t seed = 7;
	struct fixture *f = one_deployment(8, "least_inflight");
	for (uint64_t n = 0; n < 20000; n++) {
		struct route_decision d = fixture_decide(f, fixture_key(n), 0);
		for (uint32_t j = 0; j < 8; j++)
			assert_true(route_in_flight(f->state, d.slot) <=
			            route_in_flight(f->state, j));
		if (fixture_random(&seed) % 3 == 0)
			d.slot = (uint32_t)(fixture_random(&seed) % 8);
		route_take(f->state, &d);
	}
	fixture_free(f);
}

/* An idle deployment, also one with a busy replica, favours nobody. */
static void least_inflight_ties_rotate(void **unused)
{
	(void)unused;
	uint32_t counts[8];
	struct fixture *f = one_deployment(8, "least_inflight");
	count_replicas(f, 100000, counts);
	assert_true(even_p(counts, 8) > ALPHA / 2);
	struct route_decision busy = {.deployment = 0, .slot = 0};
	route_take(f->state, &busy);
	count_replicas(f, 100000, counts);
	assert_int_equal(counts[0], 0);
	assert_true(even_p(counts + 1, 7) > ALPHA / 2);
	fixture_free(f);
}

static void round_robin_goes_round_when_taken(void **unused)
{
	(void)unused;
	struct fixture *f = one_deployment(5, "round_robin");
	/* Listed backwards, yet in order of id. */
	for (uint32_t j = 0; j < 5; j++)
		f->replicas[0][j].id = f->replica_ids[0][4 - j];
	fixture_build(f);
	for (uint32_t i = 0; i < 23; i++) {
		struct route_decision d = fixture_decide(f, i, 0);
		assert_int_equal(d.replica, 4 - i % 5);
		d = fixture_decide(f, i + 1, 0);
		assert_int_equal(d.replica, 4 - i % 5);
		route_take(f->state, &d);
	}
	fixture_free(f);
}

static uint32_t random_pick(const struct fixture *f, uint64_t draw)
{
	struct route_request request = {.draw = draw, .deployment = 0};
	struct route_decision d;
	assert_int_equal(route_decide(f->table, f->state, &request, &d),
	                 ROUTE_OK);
	return d.replica;
}

static void random_follows_the_draw(void **unused)
{
	(void)unused;
	uint64_t seed = 8;
	uint32_t counts[7] = {0};
	struct fixture *f = one_deployment(3, "random");
	assert_int_equal(random_pick(f, 1), 0);
	assert_int_equal(random_pick(f, UINT64_MAX / 3), 0);
	assert_int_equal(random_pick(f, UINT64_MAX / 3 + 1), 1);
	assert_int_equal(random_pick(f, UINT64_MAX), 2);
	/* 2^64 is 1 more than a multiple of 3: one draw is drawn again. */
	uint64_t again = route_mix(ROUTE_GOLDEN);
	assert_int_equal(random_pick(f, 0), random_pick(f, again));
	assert_int_not_equal(random_pick(f, 0), 0);
	f->deployments[0].n_replicas = 7;
	fixture_build(f);
	for (int i = 0; i < 70000; i++)
		counts[random_pick(f, fixture_random(&seed))]++;
	assert_true(even_p(counts, 7) > ALPHA);
	fixture_free(f);
}

/*
 * Over many tables, whatever the load: a key has one deployment, and unless
 * it spilled one replica.
 */
static void a_key_stays_where_it_is(void **unused)
{
	(void)unused;
	static const char *const sticky[] = {"bounded_ring", "ring",
	                                     "rendezvous"};
	uint64_t seed = 9;
	uint32_t spilled = 0;
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t n = 1 + (uint32_t)(fixture_random(&seed) % 6);
		struct fixture *f = fixture_new(n, sticky[round % 3]);
		uint32_t home[64];
		for (uint32_t i = 0; i < n; i++) {
			f->deployments[i].weight =
				1 + fixture_random(&seed) % 9;
			f->deployments[i].n_replicas =
				1 + (uint32_t)(fixture_random(&seed) % 9);
		}
		fixture_build(f);
		for (uint64_t k = 0; k < 64; k++)
			home[k] = fixture_decide(f, fixture_key(k), ROUTE_NONE)
			                  .slot;
		for (int step = 0; step < 500; step++) {
			uint64_t k = fixture_random(&seed) % 64;
			k = step % 2 ? k % 3 : k;
			struct route_decision d =
				fixture_decide(f, fixture_key(k), ROUTE_NONE);
			assert_int_equal(d.deployment,
			                 home[k] / FIXTURE_REPLICAS);
			assert_int_equal(d.spilled, d.slot != home[k]);
			assert_true(!d.spilled || round % 3 == 0);
			spilled += d.spilled;
			route_take(f->state, &d);
		}
		fixture_free(f);
	}
	assert_true(spilled > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_is_the_next_point_clockwise),
		cmocka_unit_test(slots_are_haproxys),
		cmocka_unit_test(bounded_ring_spills_only_over_slots),
		cmocka_unit_test(bounded_ring_counts_ready_replicas_only),
		cmocka_unit_test(replicas_move_only_their_own_keys),
		cmocka_unit_test(rendezvous_is_even),
		cmocka_unit_test(least_inflight_takes_the_least),
		cmocka_unit_test(least_inflight_ties_rotate),
		cmocka_unit_test(round_robin_goes_round_when_taken),
		cmocka_unit_test(random_follows_the_draw),
		cmocka_unit_test(a_key_stays_where_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
