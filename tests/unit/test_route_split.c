/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The split: exact shares, ratios only, and who gets nothing. */
#include "unit/route_fixture.h"

#define KEYS 1000000u
#define SETS 40u
#define ALPHA 0.001 /* 99.9 % over all intervals of one test, by Holm */

static void count_split(const struct fixture *f, uint32_t *counts)
{
	for (uint32_t i = 0; i < f->spec.n_deployments; i++)
		counts[i] = 0;
	for (uint64_t n = 0; n < KEYS; n++)
		counts[route_split(f->table, fixture_key(n))]++;
}

/* Adds a probability for each deployment to p; returns the new length. */
static size_t test_shares(struct fixture *f, double *p, size_t n_p)
{
	uint32_t counts[FIXTURE_DEPLOYMENTS];
	fixture_build(f);
	count_split(f, counts);
	double total = (double)route_table_total(f->table);
	for (uint32_t i = 0; i < f->spec.n_deployments; i++) {
		double capacity = (double)route_table_capacity(f->table, i);
		if (capacity > 0)
			p[n_p++] =
				binomial_p(counts[i], capacity / total, KEYS);
		else
			assert_int_equal(counts[i], 0);
	}
	return n_p;
}

static void shares_are_exact(void **unused)
{
	(void)unused;
	static const uint64_t skewed[] = {1, 999, 9000};
	static const uint64_t steep[] = {1, 100000, 3, 70000};
	double p[SETS * 12 + 16];
	size_t n_p = 0;
	struct fixture *f = fixture_new(3, NULL);
	for (uint32_t i = 0; i < 3; i++)
		f->deployments[i].weight = skewed[i];
	n_p = test_shares(f, p, n_p);
	f->spec.n_deployments = 4;
	for (uint32_t i = 0; i < 4; i++)
		f->deployments[i].weight = steep[i];
	n_p = test_shares(f, p, n_p);
	uint64_t seed = 4;
	for (uint32_t set = 0; set < SETS; set++) {
		uint32_t n = 2 + (uint32_t)(fixture_random(&seed) % 11);
		f->spec.n_deployments = n;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t r = fixture_random(&seed);
			/* From none to 2^40, all magnitudes alike. */
			f->deployments[i].weight = r >> (24 + r % 40);
			f->deployments[i].n_replicas = (uint32_t)(r >> 8) % 4;
		}
		f->deployments[0].weight |= 1;
		f->deployments[0].n_replicas |= 1;
		n_p = test_shares(f, p, n_p);
	}
	fixture_free(f);
	double least = 1;
	for (size_t i = 0; i < n_p; i++)
		least = p[i] < least ? p[i] : least;
	print_message("%zu shares, least probability %.2e\n", n_p, least);
	assert_false(holm_rejects(p, n_p, ALPHA));
}

static void ratios_alone_decide(void **unused)
{
	(void)unused;
	static const uint64_t scales[] = {10, 100, UINT64_C(1) << 58};
	struct fixture *a = fixture_new(2, NULL);
	a->deployments[0].weight = 7;
	a->deployments[1].weight = 3;
	fixture_build(a);
	for (int s = 0; s < 3; s++) {
		struct fixture *b = fixture_new(2, NULL);
		b->deployments[0].weight = 7 * scales[s];
		b->deployments[1].weight = 3 * scales[s];
		fixture_build(b);
		for (uint64_t n = 0; n < KEYS; n++)
			assert_int_equal(route_split(a->table, fixture_key(n)),
			                 route_split(b->table, fixture_key(n)));
		fixture_free(b);
	}
	fixture_free(a);
}

static void weight_and_replicas_trade_alike(void **unused)
{
	(void)unused;
	struct fixture *a = fixture_new(2, NULL);
	struct fixture *b = fixture_new(2, NULL);
	a->deployments[0].n_replicas = 2;
	b->deployments[0].weight = 2;
	fixture_build(a);
	fixture_build(b);
	for (uint64_t n = 0; n < KEYS / 10; n++)
		assert_int_equal(route_split(a->table, fixture_key(n)),
		                 route_split(b->table, fixture_key(n)));
	fixture_free(a);
	fixture_free(b);
}

static void nothing_routable_is_not_configured(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(3, NULL);
	f->deployments[0].weight = 0;
	f->deployments[1].n_replicas = 0;
	fixture_build(f);
	for (uint64_t n = 0; n < 10000; n++)
		assert_int_equal(route_split(f->table, fixture_key(n)), 2);

	f->deployments[2].weight = 0;
	fixture_build(f);
	struct route_request request = {.deployment = ROUTE_NONE};
	struct route_decision d = {.slot = 77};
	assert_true(route_split(f->table, 1) == ROUTE_NONE);
	assert_int_equal(route_decide(f->table, f->state, &request, &d),
	                 ROUTE_NOT_CONFIGURED);
	assert_int_equal(d.slot, 77);

	f->spec.n_deployments = 0;
	fixture_build(f);
	assert_int_equal(route_decide(f->table, f->state, &request, &d),
	                 ROUTE_NOT_CONFIGURED);
	fixture_free(f);
}

static void a_lone_deployment_takes_everything(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(3, NULL);
	f->deployments[0].weight = 0;
	f->deployments[1].weight = 1;
	f->deployments[2].weight = UINT64_C(1000000000000);
	f->deployments[2].n_replicas = 0;
	fixture_build(f);
	for (uint64_t n = 0; n < 10000; n++)
		assert_int_equal(route_split(f->table, fixture_key(n)), 1);
	fixture_free(f);
}

static void a_named_deployment_bypasses_the_split(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(3, NULL);
	f->deployments[1].weight = 0;
	f->deployments[2].n_replicas = 0;
	fixture_build(f);
	struct route_decision d;
	struct route_request request = {.deployment = 2};
	for (uint64_t n = 0; n < 1000; n++)
		assert_int_equal(fixture_decide(f, n, 1).deployment, 1);
	assert_int_equal(route_decide(f->table, f->state, &request, &d),
	                 ROUTE_NO_REPLICA);
	request.deployment = 3;
	assert_int_equal(route_decide(f->table, f->state, &request, &d),
	                 ROUTE_BAD_ARGUMENT);
	fixture_free(f);
}

/* Independence of a 2 x 4 table of counts, as a probability. */
static double independence_p(uint32_t counts[2][4])
{
	double row[2] = {0, 0};
	double column[4] = {0, 0, 0, 0};
	double chi2 = 0;
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 4; j++) {
			row[i] += counts[i][j];
			column[j] += counts[i][j];
		}
	}
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 4; j++) {
			double want = row[i] * column[j] / (row[0] + row[1]);
			double off = counts[i][j] - want;
			chi2 += off * off / want;
		}
	}
	return gsl_cdf_chisq_Q(chi2, 3);
}

/* Every stage picks among targets of the very ids that the split has. */
static void stages_are_independent_of_the_split(void **unused)
{
	(void)unused;
	struct fixture *f = fixture_new(2, "ring");
	struct route_target members[4];
	double p[ROUTE_STAGES];
	size_t n_p = 0;
	f->deployments[0].weight = 3;
	f->deployments[0].n_replicas = 4;
	f->deployments[1].weight = 28;
	for (uint32_t i = 0; i < 4; i++)
		members[i] = (struct route_target){
			.id_hash = route_hash(f->ids[i], 6),
			.capacity = i + 1,
			.rank = i,
		};
	fixture_build(f);
	for (int s = ROUTE_STAGE_AB; s <= ROUTE_STAGES; s++) {
		uint32_t counts[2][4] = {{0}};
		for (uint64_t n = 0; n < KEYS; n++) {
			uint64_t key = fixture_key(n);
			uint32_t row = route_split(f->table, key);
			uint32_t column = 0;
			if (s < ROUTE_STAGES)
				column = route_rendezvous(
					members, 4,
					route_stage_hash(key,
				                         (enum route_stage)s));
			else /* the ring itself */
				column = fixture_decide(f, key, 0).replica;
			counts[row][column]++;
		}
		p[n_p++] = independence_p(counts);
	}
	fixture_free(f);
	assert_int_equal(n_p, ROUTE_STAGES);
	assert_false(holm_rejects(p, n_p, ALPHA));
}

/* The short cut never says anything but what the long way says. */
static void the_screen_agrees_with_all_scores(void **unused)
{
	(void)unused;
	uint64_t seed = 5;
	for (uint32_t round = 0; round < 400; round++) {
		uint32_t n = 2 + (uint32_t)(fixture_random(&seed) %
		                            (round % 69 + 1));
		struct fixture *f = fixture_new(n, "random");
		uint64_t ceiling = UINT64_MAX / n >> round % 64;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t r = fixture_random(&seed);
			f->deployments[i].weight =
				1 + (r >> r % 64) % (ceiling | 1);
		}
		if (round % 3 == 0)
			f->deployments[1].weight = ceiling | 1;
		fixture_build(f);
		for (uint64_t k = 0; k < 3000; k++) {
			uint64_t h = fixture_random(&seed);
			assert_int_equal(route_screen(f->table, h),
			                 route_rendezvous(f->table->targets,
			                                  f->table->n_targets,
			                                  h));
		}
		fixture_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_exact),
		cmocka_unit_test(ratios_alone_decide),
		cmocka_unit_test(weight_and_replicas_trade_alike),
		cmocka_unit_test(nothing_routable_is_not_configured),
		cmocka_unit_test(a_lone_deployment_takes_everything),
		cmocka_unit_test(a_named_deployment_bypasses_the_split),
		cmocka_unit_test(stages_are_independent_of_the_split),
		cmocka_unit_test(the_screen_agrees_with_all_scores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
