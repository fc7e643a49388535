/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tests of route share: tables made of plain numbers, keys, and two
 * statistics. Deployment i is called "dep-<i>", its replica j "dep-<i>-r<j>"
 * with two digits each, so that places and ids sort alike; slots count up.
 */
#ifndef WEIR_TESTS_ROUTE_FIXTURE_H
#define WEIR_TESTS_ROUTE_FIXTURE_H

#include "route/route_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <cmocka.h>

#define FIXTURE_DEPLOYMENTS 70u
#define FIXTURE_REPLICAS 40u

struct fixture {
	struct route_table_spec spec;
	struct route_deployment_spec deployments[FIXTURE_DEPLOYMENTS];
	struct route_replica_spec replicas[FIXTURE_DEPLOYMENTS]
					  [FIXTURE_REPLICAS];
	char ids[FIXTURE_DEPLOYMENTS][16];
	char replica_ids[FIXTURE_DEPLOYMENTS][FIXTURE_REPLICAS][24];
	struct route_table *table;
	struct route_state *state;
};

/* A spec of n deployments, each with one replica and weight 1. */
static inline struct fixture *fixture_new(uint32_t n, const char *policy)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	assert_true(n <= FIXTURE_DEPLOYMENTS);
	f->spec.deployments = f->deployments;
	f->spec.n_deployments = n;
	for (uint32_t i = 0; i < FIXTURE_DEPLOYMENTS; i++) {
		snprintf(f->ids[i], sizeof(f->ids[i]), "dep-%02u", i);
		f->deployments[i].id = f->ids[i];
		f->deployments[i].weight = 1;
		f->deployments[i].n_replicas = 1;
		f->deployments[i].replicas = f->replicas[i];
		f->deployments[i].policy =
			policy ? route_policy_find(policy) : NULL;
		for (uint32_t j = 0; j < FIXTURE_REPLICAS; j++) {
			char *id = f->replica_ids[i][j];
			snprintf(id, sizeof(f->replica_ids[i][j]),
			         "dep-%02u-r%02u", i, j);
			f->replicas[i][j].id = id;
			f->replicas[i][j].slot = i * FIXTURE_REPLICAS + j;
		}
	}
	return f;
}

/* (Re)builds the table of the spec as it stands, and a state once. */
static inline void fixture_build(struct fixture *f)
{
	size_t bytes = route_table_bytes(&f->spec);
	free(f->table);
	void *memory = malloc(bytes);
	assert_int_equal(route_table_build(&f->spec, memory, bytes, &f->table),
	                 ROUTE_OK);
	assert_ptr_equal(f->table, memory);
	if (f->state)
		return;
	const uint32_t slots = FIXTURE_DEPLOYMENTS * FIXTURE_REPLICAS;
	bytes = route_state_bytes(slots, FIXTURE_DEPLOYMENTS);
	assert_int_equal(route_state_init(malloc(bytes), bytes, slots,
	                                  FIXTURE_DEPLOYMENTS, &f->state),
	                 ROUTE_OK);
	for (uint32_t i = 0; i < slots; i++)
		assert_int_equal(
			route_slot_open(f->state, i, i / FIXTURE_REPLICAS),
			ROUTE_OK);
}

static inline void fixture_free(struct fixture *f)
{
	free(f->table);
	free(f->state);
	free(f);
}

static inline struct route_decision
fixture_decide(const struct fixture *f, uint64_t key, uint32_t deployment)
{
	struct route_decision decision;
	const struct route_request request = {.key = key,
	                                      .deployment = deployment};
	assert_int_equal(route_decide(f->table, f->state, &request, &decision),
	                 ROUTE_OK);
	return decision;
}

/* The n-th key of a test, as if n were a user's name. */
static inline uint64_t fixture_key(uint64_t n)
{
	return route_hash(&n, sizeof(n));
}

/* A sequence of numbers that only looks random. */
static inline uint64_t fixture_random(uint64_t *state)
{
	*state += ROUTE_GOLDEN;
	return route_mix(*state);
}

/* Exact two-sided probability of k or rarer of n, by doubling. */
static inline double binomial_p(uint32_t k, double p, uint32_t n)
{
	double low = gsl_cdf_binomial_P(k, p, n);
	double high = k > 0 ? gsl_cdf_binomial_Q(k - 1, p, n) : 1.0;
	double twice = 2 * (low < high ? low : high);
	return twice < 1 ? twice : 1;
}

/* Chi-square of counts against even ones, as a probability. */
static inline double even_p(const uint32_t *counts, uint32_t n)
{
	double sum = 0;
	double chi2 = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += counts[i];
	for (uint32_t i = 0; i < n; i++) {
		double off = counts[i] - sum / n;
		chi2 += off * off / (sum / n);
	}
	return gsl_cdf_chisq_Q(chi2, n - 1);
}

/* Holm's procedure rejects something just when it rejects the smallest. */
static inline bool holm_rejects(const double *p, size_t n, double alpha)
{
	double least = 1;
	for (size_t i = 0; i < n; i++)
		least = p[i] < least ? p[i] : least;
	return least * (double)n < alpha;
}

#endif
