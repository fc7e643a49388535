/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Relations that are looked at in each replication by itself: counts, states
 * and extremes, which must hold in every one; prob(...), in what part of
 * them; and `in >= m of n reps`, in how many.
 */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* ---- one replication --------------------------------------------------- */

/* Both sides at one of a state's extremes. */
static enum judge_once compare_at(const struct judge *j,
                                  const struct measure_node *n,
                                  const struct judge_place *at, double *seen)
{
	double right = judge_eval(j, n->b, at);

	*seen = judge_eval(j, n->a, at);
	if (isnan(*seen) || isnan(right))
		return ONCE_MISSING;
	return judge_holds(*seen, n->compare, right) ? ONCE_HELD : ONCE_BROKEN;
}

/* By the extreme that a comparison is hardest for, an == by both. */
static enum judge_once compare_once(const struct judge *j,
                                    const struct measure_node *n,
                                    uint32_t replication, double *seen)
{
	bool less = n->compare == COMPARE_LT || n->compare == COMPARE_LE;
	struct judge_place at = {replication, UINT32_MAX,
	                         less ? SIDE_HIGH : SIDE_LOW};
	enum judge_once once = compare_at(j, n, &at, seen);

	if (once != ONCE_HELD || n->compare != COMPARE_EQ)
		return once;
	at.side = SIDE_HIGH;
	return compare_at(j, n, &at, seen);
}

static enum judge_once range_once(const struct judge *j,
                                  const struct measure_node *n,
                                  uint32_t replication, double *seen)
{
	struct judge_place at = {replication, UINT32_MAX, SIDE_LOW};
	double from = judge_eval(j, n->b, &at);
	double to = judge_eval(j, n->c, &at);

	*seen = judge_eval(j, n->a, &at);
	if (isnan(*seen) || isnan(from) || isnan(to))
		return ONCE_MISSING;
	if (!judge_holds(*seen, COMPARE_GE, from))
		return ONCE_BROKEN;
	at.side = SIDE_HIGH;
	*seen = judge_eval(j, n->a, &at);
	return judge_holds(*seen, COMPARE_LE, to) ? ONCE_HELD : ONCE_BROKEN;
}

static enum judge_once within_once(const struct judge *j,
                                   const struct measure_node *n,
                                   uint32_t replication, double *seen)
{
	struct judge_place at = {replication, UINT32_MAX, SIDE_MEAN};
	double of = judge_eval(j, n->c, &at);
	double margin = judge_constant(j, n->b) * fabs(of);

	*seen = judge_eval(j, n->a, &at);
	if (isnan(*seen) || isnan(of))
		return ONCE_MISSING;
	return judge_holds(fabs(*seen - of), COMPARE_LE, margin) ? ONCE_HELD
	                                                         : ONCE_BROKEN;
}

enum judge_once judge_once(const struct judge *j, uint32_t relation,
                           uint32_t replication, double *seen)
{
	const struct measure_node *n = judge_node(j, relation);
	struct judge one = judge_of_one(j, relation, replication);

	if (judge_by_test(&one)) {
		*seen = one.out.seen;
		if (isnan(*seen))
			return ONCE_MISSING;
		return one.out.verdict == VERDICT_PASS ? ONCE_HELD
		                                       : ONCE_BROKEN;
	}
	if (n->kind == NODE_IN)
		return range_once(j, n, replication, seen);
	if (n->kind == NODE_WITHIN)
		return within_once(j, n, replication, seen);
	return compare_once(j, n, replication, seen);
}

/* ---- all of them ------------------------------------------------------- */

void judge_exact(struct judge *j)
{
	const struct measure_node *n = judge_node(j, j->relation);
	struct judge_place at = {j->first, UINT32_MAX, SIDE_MEAN};
	enum judge_once once = ONCE_HELD;
	uint32_t r;

	for (r = j->first; r < j->end && once == ONCE_HELD; r++) {
		once = judge_once(j, j->relation, r, &j->out.seen);
		at.replication = r;
	}
	j->out.n = j->end - j->first;
	j->out.bound = judge_eval(j, n->b, &at);
	if (n->kind == NODE_IN && once == ONCE_BROKEN &&
	    !(j->out.seen < j->out.bound))
		j->out.bound = judge_eval(j, n->c, &at);
	j->out.verdict = once == ONCE_HELD ? VERDICT_PASS : VERDICT_FAIL;
	if (once == ONCE_MISSING)
		judge_missing(j, at.replication);
	else if (once == ONCE_BROKEN && j->end - j->first > 1)
		snprintf(j->out.note, sizeof(j->out.note), "in replication %u",
		         (unsigned)at.replication);
}

/*
 * Replications of which one that is otherwise would be expected, were the
 * probability its bound: fewer cannot tell a rare event from none.
 */
static double least_reps(double bound)
{
	double rarer = fmin(bound, 1 - bound);

	/* 1 / 0.1 is 10, and so is 1 / (1 - 0.9) */
	return rarer > 0 ? ceil(1 / rarer - 1e-9) : 0;
}

/*
 * By the fraction itself, if there are replications enough; a note says when
 * others could have come out otherwise. The interval speaks when it is clear.
 */
static void by_fraction(struct judge *j, enum measure_compare compare,
                        double bound)
{
	double least = least_reps(bound);

	if (j->out.n < least) {
		if (j->out.verdict == VERDICT_UNDECIDED)
			j->out.reps_needed = (uint32_t)fmin(least, 1e9);
		return;
	}
	j->out.verdict = judge_holds(j->out.seen, compare, bound)
	                         ? VERDICT_PASS
	                         : VERDICT_FAIL;
	j->out.reps_needed = 0;
	if (j->out.low <= bound && bound <= j->out.high)
		judge_say(j, j->out.verdict,
		          "the bound lies inside the interval");
}

/*
 * A probability is estimated by the fraction of replications. Where the rule
 * states a confidence, and for == and !=, the fraction's interval or test
 * decides.
 */
void judge_prob(struct judge *j)
{
	const struct measure_node *root = judge_node(j, j->relation);
	uint32_t inner = judge_node(j, root->a)->a;
	double bound = judge_constant(j, root->b);
	double seen, x = 0;

	for (uint32_t r = j->first; r < j->end; r++) {
		enum judge_once once = judge_once(j, inner, r, &seen);

		if (once == ONCE_MISSING) {
			j->out.bound = bound;
			judge_missing(j, r);
			return;
		}
		x += once == ONCE_HELD;
	}
	judge_binomial(j, x, j->end - j->first, root->compare, bound);
	if (root->compare == COMPARE_EQ) {
		if (j->out.n >= least_reps(bound) ||
		    j->out.verdict != VERDICT_PASS)
			return;
		j->out.verdict = VERDICT_UNDECIDED;
		j->out.reps_needed = (uint32_t)fmin(least_reps(bound), 1e9);
	} else if (root->compare != COMPARE_NE && !(j->rule->confidence > 0)) {
		by_fraction(j, root->compare, bound);
	}
}

/* Of more replications than the rule speaks of, the first count. */
void judge_reps(struct judge *j)
{
	const struct measure_node *root = judge_node(j, j->relation);
	uint64_t n = j->end - j->first;
	uint64_t held = 0;

	if (n > root->out_of)
		n = root->out_of;
	for (uint32_t r = 0; r < n; r++) {
		double seen;

		held += judge_once(j, root->a, j->first + r, &seen) ==
		        ONCE_HELD;
	}
	j->out.unit = UNIT_NUMBER;
	j->out.seen = (double)held;
	j->out.bound = (double)root->at_least;
	j->out.n = (double)n;
	if (held >= root->at_least) {
		j->out.verdict = VERDICT_PASS;
	} else if (n - held > root->out_of - root->at_least) {
		j->out.verdict = VERDICT_FAIL;
	} else {
		j->out.verdict = VERDICT_UNDECIDED;
		j->out.reps_needed = (uint32_t)root->out_of;
	}
}
