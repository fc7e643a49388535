/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building a table: what is refused, and what order does not matter. */
#include "unit/route_fixture.h"

#include <string.h>

static enum route_status build_status(struct fixture *f)
{
	size_t bytes = route_table_bytes(&f->spec);
	void *memory = malloc(bytes);
	struct route_table *table = NULL;
	enum route_status status =
		route_table_build(&f->spec, memory, bytes, &table);
	assert_int_equal(table != NULL, status == ROUTE_OK);
	free(memory);
	return status;
}

static void broken_specs_are_refused(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(3, NULL);
	f->deployments[1].n_replicas = 3;
	assert_int_equal(build_status(f), ROUTE_OK);

	f->spec.load_factor_percent = 100;
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	f->spec.load_factor_percent = 101;
	assert_int_equal(build_status(f), ROUTE_OK);

	f->deployments[2].id = "";
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	f->deployments[2].id = NULL;
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	f->deployments[2].id = "dep-00";
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	f->deployments[2].id = "dep-0";
	assert_int_equal(build_status(f), ROUTE_OK);

	f->replicas[1][2].id = f->replicas[1][0].id;
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	f->replicas[1][2].id = "";
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	f->replicas[1][2].id = NULL;
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	/* Only within a deployment must replicas' ids differ. */
	f->replicas[1][2].id = f->replicas[0][0].id;
	assert_int_equal(build_status(f), ROUTE_OK);

	f->replicas[1][2].slot = f->replicas[0][0].slot;
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	f->replicas[1][2].slot = 5;
	f->deployments[1].replicas = NULL;
	assert_int_equal(build_status(f), ROUTE_BAD_ARGUMENT);
	fixture_free(f);
}

static void sums_beyond_64_bits_are_refused(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(2, "random");
	f->deployments[0].weight = UINT64_MAX;
	f->deployments[1].weight = 0;
	assert_int_equal(build_status(f), ROUTE_OK);
	f->deployments[1].weight = 1;
	assert_int_equal(build_status(f), ROUTE_OVERFLOW);
	f->deployments[1].weight = 0;
	f->deployments[0].n_replicas = 2;
	assert_int_equal(build_status(f), ROUTE_OVERFLOW);
	f->deployments[0].weight = UINT64_MAX / 2;
	assert_int_equal(build_status(f), ROUTE_OK);
	/* More replicas than a ring can number: refused before any is read. */
	f->deployments[0].weight = 1;
	f->deployments[0].n_replicas = UINT32_MAX / ROUTE_RING_POINTS + 1;
	struct route_table *table;
	size_t bytes = 64;
	void *memory = malloc(bytes);
	assert_int_equal(route_table_build(&f->spec, memory, bytes, &table),
	                 ROUTE_OVERFLOW);
	free(memory);
	fixture_free(f);
}

static void one_byte_less_is_too_small(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(3, NULL);
	f->deployments[1].n_replicas = 7;
	f->deployments[2].n_replicas = 0;
	size_t bytes = route_table_bytes(&f->spec);
	char *memory = malloc(bytes - 1);
	struct route_table *table = NULL;
	assert_int_equal(route_table_build(&f->spec, memory, bytes - 1, &table),
	                 ROUTE_TOO_SMALL);
	assert_null(table);
	assert_int_equal(route_table_build(&f->spec, NULL, bytes, &table),
	                 ROUTE_TOO_SMALL);
	free(memory);
	fixture_free(f);
}

static void capacities_are_weight_times_ready(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(4, NULL);
	f->deployments[1].n_replicas = 3;
	f->deployments[2].weight = 0;
	f->deployments[2].n_replicas = 5;
	f->deployments[3].weight = 9;
	f->deployments[3].n_replicas = 0;
	fixture_build(f);
	/* Nothing of the spec is kept. */
	memset(f->ids, 0, sizeof(f->ids));
	memset(f->replica_ids, 0, sizeof(f->replica_ids));
	memset(f->replicas, 0xff, sizeof(f->replicas));
	assert_int_equal(route_table_deployments(f->table), 4);
	assert_true(route_table_capacity(f->table, 0) == 1);
	assert_true(route_table_capacity(f->table, 1) == 3);
	assert_true(route_table_capacity(f->table, 2) == 0);
	assert_true(route_table_capacity(f->table, 3) == 0);
	assert_true(route_table_total(f->table) == 4);
	assert_int_equal(route_table_replicas(f->table, 2), 5);
	assert_int_equal(route_table_replicas(f->table, 3), 0);
	fixture_free(f);
}

static void shuffle(uint32_t *items, uint32_t n, uint64_t *seed)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)(fixture_random(seed) % i);
		uint32_t t = items[i - 1];
		items[i - 1] = items[j];
		items[j] = t;
	}
}

/* Lists f's deployments and replicas in another order; says which. */
static struct fixture *permuted(const struct fixture *f, uint64_t *seed,
                                uint32_t *deployment)
{
	uint32_t n = f->spec.n_deployments;
	struct fixture *g = fixture_new(n, NULL);
	for (uint32_t i = 0; i < n; i++)
		deployment[i] = i;
	shuffle(deployment, n, seed);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = deployment[i];
		uint32_t places[FIXTURE_REPLICAS];
		uint32_t n_replicas = f->deployments[from].n_replicas;
		g->deployments[i] = f->deployments[from];
		g->deployments[i].replicas = g->replicas[i];
		for (uint32_t j = 0; j < n_replicas; j++)
			places[j] = j;
		shuffle(places, n_replicas, seed);
		for (uint32_t j = 0; j < n_replicas; j++)
			g->replicas[i][j] = f->replicas[from][places[j]];
	}
	return g;
}

static void listing_order_decides_nothing(void **unused)
{
	(void)unused;
	uint64_t seed = 3;
	for (int round = 0; round < 60; round++) {
		struct fixture *f =
			fixture_new(5, route_policy_name((size_t)round % 6));
		for (uint32_t i = 0; i < 5; i++) {
			f->deployments[i].weight = fixture_random(&seed) % 5;
			f->deployments[i].n_replicas =
				1 + (uint32_t)(fixture_random(&seed) % 9);
		}
		f->deployments[0].weight = 1;
		uint32_t deployment[5];
		struct fixture *g = permuted(f, &seed, deployment);
		fixture_build(f);
		fixture_build(g);
		for (uint64_t n = 0; n < 2000; n++) {
			struct route_decision a =
				fixture_decide(f, fixture_key(n), ROUTE_NONE);
			struct route_request request = {
				.key = fixture_key(n),
				.deployment = ROUTE_NONE,
			};
			struct route_decision b;
			/* One state for both; it counts by slot. */
			assert_int_equal(
				route_decide(g->table, f->state, &request, &b),
				ROUTE_OK);
			assert_int_equal(a.deployment,
			                 deployment[b.deployment]);
			if (round % 6 == 4)
				continue; /* cursors go by number */
			assert_int_equal(a.slot, b.slot);
			assert_int_equal(a.spilled, b.spilled);
			assert_int_equal(
				g->replicas[b.deployment][b.replica].slot,
				b.slot);
			route_take(f->state, &a);
		}
		fixture_free(f);
		fixture_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_specs_are_refused),
		cmocka_unit_test(sums_beyond_64_bits_are_refused),
		cmocka_unit_test(one_byte_less_is_too_small),
		cmocka_unit_test(capacities_are_weight_times_ready),
		cmocka_unit_test(listing_order_decides_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
