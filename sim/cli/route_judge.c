/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact tests over distinct keys, at 99.9 %: a deployment's keys are binomial
 * by its part of the capacity, those that move by the variation distance of
 * the two tables. Shares are tested together, with Holm's correction.
 */
#include "route_int.h"

#include <assert.h>
#include <math.h>

__extension__ typedef unsigned __int128 u128;

#define CONFIDENCE 0.999

static double total_of(const struct ledger *l, int side)
{
	double total = 0;

	for (uint32_t i = 0; i < l->n_names; i++)
		total += (double)l->name[i].capacity[side];
	return total;
}

/* The place of share i among those by p, ties by number. */
static uint32_t rank_of(const struct share_verdict *v, uint32_t n, uint32_t i)
{
	uint32_t rank = 0;

	for (uint32_t k = 0; k < n; k++)
		rank += v[k].p < v[i].p || (v[k].p == v[i].p && k < i);
	return rank;
}

/*
 * Holm: the smallest p must not be below alpha / n, the next below alpha /
 * (n - 1), and so on; the first that is not rejected ends it.
 */
static bool holm(struct share_verdict *v, uint32_t n)
{
	uint32_t first_kept = n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t rank = rank_of(v, n, i);

		if (!(v[i].p < (1 - CONFIDENCE) / (double)(n - rank)) &&
		    rank < first_kept)
			first_kept = rank;
	}
	for (uint32_t i = 0; i < n; i++)
		v[i].holds = rank_of(v, n, i) >= first_kept;
	return first_kept == 0;
}

bool judge_shares(const struct ledger *l, int side, struct share_verdict *out)
{
	double total = total_of(l, side);
	uint64_t n = l->distinct[side];

	assert(total > 0 && n > 0);
	for (uint32_t i = 0; i < l->n_names; i++) {
		const struct ledger_name *name = &l->name[i];
		struct share_verdict *v = &out[i];

		v->keys = name->keys[side];
		v->expected = (double)name->capacity[side] / total;
		v->seen = (double)v->keys / (double)n;
		v->p = study_binomial_p(v->keys, n, v->expected);
		study_binomial_interval(v->keys, n, CONFIDENCE, &v->low,
		                        &v->high);
	}
	return holm(out, l->n_names);
}

/* Whether `to` did not grow against `from`, so that no key had to move. */
static bool needless(const struct ledger_name *from,
                     const struct ledger_name *to)
{
	return (u128)to->capacity[1] * from->capacity[0] <=
	       (u128)to->capacity[0] * from->capacity[1];
}

static double variation(const struct ledger *l)
{
	double before = total_of(l, 0), after = total_of(l, 1), sum = 0;

	assert(before > 0 && after > 0);
	for (uint32_t i = 0; i < l->n_names; i++)
		sum += fabs((double)l->name[i].capacity[0] / before -
		            (double)l->name[i].capacity[1] / after);
	return fmin(1, sum / 2);
}

struct moved_verdict judge_moved_keys(const struct ledger *l)
{
	struct moved_verdict v = {.least = variation(l), .p = 1, .high = 1};

	for (size_t i = 0; i < l->n_slots; i++) {
		const struct ledger_key *k = &l->slot[i];

		if (!k->used || k->where[0] == ROUTE_NONE ||
		    k->where[1] == ROUTE_NONE)
			continue;
		v.keys++;
		if (k->where[0] == k->where[1])
			continue;
		v.moved++;
		v.wrong +=
			needless(&l->name[k->where[0]], &l->name[k->where[1]]);
	}
	if (v.keys == 0)
		return v;
	v.seen = (double)v.moved / (double)v.keys;
	v.p = study_binomial_p(v.moved, v.keys, v.least);
	study_binomial_interval(v.moved, v.keys, CONFIDENCE, &v.low, &v.high);
	v.holds = v.wrong == 0 && !(v.seen > v.least && v.p < 1 - CONFIDENCE);
	return v;
}
