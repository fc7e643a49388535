/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Latencies, means and quotients are judged by their interval, from the
 * batches of one run or from the values of the replications. Without an
 * interval the values count: the run's, or those of every replication.
 */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_statistics_double.h>

/* Values of an expression, by replication or, of one run, by batch. */
struct sample {
	double *value;
	size_t n;
	double whole; /* the value of it all: the run's, or the mean */
	bool finite;
};

static void take(struct sample *s, const struct judge *j, uint32_t node,
                 uint32_t batches)
{
	uint32_t reps = j->end - j->first;
	struct judge_place at = {j->first, UINT32_MAX, SIDE_MEAN};

	s->n = reps > 1 ? reps : batches;
	s->value = mem_new(s->n + 1, sizeof(double));
	s->whole = judge_eval(j, node, &at);
	for (uint32_t i = 0; i < s->n; i++) {
		at.replication = reps > 1 ? j->first + i : j->first;
		at.batch = reps > 1 ? UINT32_MAX : i;
		s->value[i] = judge_eval(j, node, &at);
	}
	if (reps > 1)
		s->whole = gsl_stats_mean(s->value, 1, s->n);
	s->finite = isfinite(s->whole) != 0;
	for (size_t i = 0; i < s->n; i++)
		s->finite &= isfinite(s->value[i]) != 0;
}

/* left + factor * right, value by value. */
static void combine(struct sample *to, const struct sample *left, double factor,
                    const struct sample *right)
{
	to->n = left->n;
	to->value = mem_new(left->n + 1, sizeof(double));
	to->whole = left->whole + factor * right->whole;
	to->finite = left->finite && right->finite;
	for (size_t i = 0; i < left->n; i++)
		to->value[i] = left->value[i] + factor * right->value[i];
}

static void interval(const struct sample *s, double tail, double *low,
                     double *high)
{
	study_centred_interval(s->value, s->n, s->whole, tail, low, high);
}

/* ---- comparisons ------------------------------------------------------- */

/* Verdict on the difference a - b from its interval. */
static void decide(struct judge *j, enum measure_compare compare,
                   const struct sample *difference)
{
	double low, high;
	bool same, less, more;

	interval(difference, (1 - j->confidence) / 2, &low, &high);
	less = high < 0;
	more = low > 0;
	same = !less && !more;
	if (compare == COMPARE_EQ || compare == COMPARE_NE) {
		j->out.verdict = same == (compare == COMPARE_EQ) ? VERDICT_PASS
		                                                 : VERDICT_FAIL;
		return;
	}
	/* no spread at all, or off 0: any value of it decides */
	if (!same || low == high) {
		j->out.verdict = judge_holds(low, compare, 0) ? VERDICT_PASS
		                                              : VERDICT_FAIL;
		return;
	}
	j->out.verdict = VERDICT_UNDECIDED;
	j->out.reps_needed = judge_more(j, difference->whole, (high - low) / 2);
}

/* Without an interval: what holds, holds in every replication. */
static void by_values(struct judge *j, bool batches)
{
	enum judge_once once = ONCE_HELD;
	double seen = 0;
	uint32_t r;

	for (r = j->first; r < j->end && once == ONCE_HELD; r++)
		once = judge_once(j, j->relation, r, &seen);
	j->out.verdict = once == ONCE_HELD ? VERDICT_PASS : VERDICT_FAIL;
	if (once == ONCE_MISSING)
		judge_missing(j, r - 1);
	else if (isinf(j->out.seen) || isinf(j->out.bound))
		judge_say(j, j->out.verdict, "inf: too many did not finish");
	else if (batches)
		judge_say(j, j->out.verdict,
		          "judged on the value: in a part of the run too few "
		          "finished for an interval");
	else
		judge_say(j, j->out.verdict,
		          "judged on the value: one run without batches");
}

/* False when there is no interval. */
static bool compare(struct judge *j, uint32_t a, enum measure_compare how,
                    uint32_t b)
{
	uint32_t batches = judge_shared_batches(j, a, b);
	struct sample left, right, difference;
	bool known;

	take(&left, j, a, batches);
	take(&right, j, b, batches);
	combine(&difference, &left, -1, &right);
	known = left.n >= 2 && difference.finite;
	j->out.seen = left.whole;
	j->out.bound = right.whole;
	j->out.reps_needed = 0;
	if (known) {
		interval(&left, (1 - j->confidence) / 2, &j->out.low,
		         &j->out.high);
		decide(j, how, &difference);
	}
	mem_free(left.value);
	mem_free(right.value);
	mem_free(difference.value);
	return known;
}

/* Both ends of a range; the one that is not met is shown. */
static bool compare_range(struct judge *j, const struct measure_node *n)
{
	struct study_judgement low;

	if (!compare(j, n->a, COMPARE_GE, n->b))
		return false;
	low = j->out;
	if (!compare(j, n->a, COMPARE_LE, n->c))
		return false;
	if (j->out.verdict == VERDICT_FAIL || low.verdict == VERDICT_PASS)
		return true;
	if (low.verdict == VERDICT_FAIL || j->out.verdict == VERDICT_PASS ||
	    low.reps_needed > j->out.reps_needed)
		j->out = low;
	return true;
}

void judge_interval(struct judge *j)
{
	const struct measure_node *n = judge_node(j, j->relation);
	bool known = n->kind == NODE_IN ? compare_range(j, n)
	                                : compare(j, n->a, n->compare, n->b);

	if (!known)
		by_values(j, judge_shared_batches(j, n->a, n->b) > 0);
}

/* ---- equivalence ------------------------------------------------------- */

/* How far above -margin and below +margin of its aim something lies. */
struct two_sided {
	struct sample above; /* a - (c - margin): wanted above 0 */
	struct sample below; /* a - (c + margin): wanted below 0 */
};

/* Two one-sided tests, each at the rule's confidence. */
static void decide_within(struct judge *j, const struct two_sided *t)
{
	double tail = 1 - j->confidence;
	double low, high, least, most, half;

	interval(&t->above, tail, &low, &most);
	half = most - t->above.whole;
	interval(&t->below, tail, &least, &high);
	if (high - t->below.whole > half)
		half = high - t->below.whole;
	if (low >= 0 && high <= 0)
		j->out.verdict = VERDICT_PASS;
	else if (most < 0 || least > 0)
		j->out.verdict = VERDICT_FAIL;
	else
		j->out.verdict = VERDICT_UNDECIDED;
	if (j->out.verdict == VERDICT_UNDECIDED)
		j->out.reps_needed = judge_more(
			j, fmin(fabs(t->above.whole), fabs(t->below.whole)),
			half);
}

void judge_within(struct judge *j)
{
	const struct measure_node *n = judge_node(j, j->relation);
	uint32_t batches = judge_shared_batches(j, n->a, n->c);
	double part = judge_constant(j, n->b);
	struct sample a, c;
	struct two_sided t;

	take(&a, j, n->a, batches);
	take(&c, j, n->c, batches);
	j->out.seen = a.whole;
	j->out.bound = c.whole;
	if (c.whole < 0)
		part = -part;
	combine(&t.above, &a, part - 1, &c);
	combine(&t.below, &a, -part - 1, &c);
	if (a.n >= 2 && a.finite && c.finite) {
		interval(&a, 1 - j->confidence, &j->out.low, &j->out.high);
		decide_within(j, &t);
	} else {
		by_values(j, batches > 0);
	}
	mem_free(t.above.value);
	mem_free(t.below.value);
	mem_free(a.value);
	mem_free(c.value);
}
