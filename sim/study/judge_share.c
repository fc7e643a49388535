/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact tests, pooled over replications: shares of keys, keys that moved,
 * how evenly shares vary, and rates of arrival per ready replica. Each
 * replication must have something to show.
 */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* From so many on the sum over replications is as good as continuous. */
enum { DISPERSION_REPS = 10 };

static enum study_verdict by_p(const struct judge *j)
{
	return j->out.p >= 1 - j->confidence ? VERDICT_PASS : VERDICT_FAIL;
}

/* Sums x and n of a term's probe; false, and judged, when one is missing. */
static bool pool(struct judge *j, uint32_t term, double *x, double *n)
{
	*x = *n = 0;
	for (uint32_t r = j->first; r < j->end; r++) {
		const struct measure_value *v = judge_value(j, term, r);

		if (v->missing || !(v->n > 0)) {
			judge_missing(j, r);
			return false;
		}
		*x += v->x;
		*n += v->n;
	}
	return true;
}

static double mean_request_share(const struct judge *j, uint32_t term)
{
	double sum = 0;

	for (uint32_t r = j->first; r < j->end; r++)
		sum += judge_value(j, term, r)->request_share;
	return sum / (double)(j->end - j->first);
}

/* ---- a fraction against a constant ------------------------------------- */

static void put_interval(struct judge *j, double x, double n)
{
	j->out.seen = x / n;
	j->out.n = n;
	study_binomial_interval((uint64_t)x, (uint64_t)n, j->confidence,
	                        &j->out.low, &j->out.high);
}

/* By the interval; 0 and 1 are reached, or are not. */
static void by_interval(struct judge *j, enum measure_compare compare,
                        double bound)
{
	double low = j->out.low;
	double high = j->out.high;

	if (bound <= 0 || bound >= 1) {
		low = j->out.seen;
		high = j->out.seen;
	}
	if (compare == COMPARE_NE)
		j->out.verdict = bound < low || bound > high ? VERDICT_PASS
		                                             : VERDICT_FAIL;
	else if (judge_holds(low, compare, bound) &&
	         judge_holds(high, compare, bound))
		j->out.verdict = VERDICT_PASS;
	else if (!judge_holds(low, compare, bound) &&
	         !judge_holds(high, compare, bound))
		j->out.verdict = VERDICT_FAIL;
	else
		j->out.verdict = VERDICT_UNDECIDED;
	if (j->out.verdict == VERDICT_UNDECIDED)
		j->out.reps_needed =
			judge_more(j, j->out.seen - bound, (high - low) / 2);
}

void judge_binomial(struct judge *j, double x, double n,
                    enum measure_compare compare, double bound)
{
	put_interval(j, x, n);
	j->out.bound = bound;
	if (compare != COMPARE_EQ) {
		by_interval(j, compare, bound);
		return;
	}
	if (!(bound >= 0 && bound <= 1)) {
		judge_say(j, VERDICT_FAIL, "a share lies between 0 and 1");
		return;
	}
	j->out.p = study_binomial_p((uint64_t)x, (uint64_t)n, bound);
	j->out.verdict = by_p(j);
}

/* Both ends of a range; the one that is not met is shown. */
static void by_range(struct judge *j, double x, double n, double from,
                     double to)
{
	struct study_judgement low;

	judge_binomial(j, x, n, COMPARE_GE, from);
	if (j->out.verdict == VERDICT_FAIL)
		return;
	low = j->out;
	j->out.reps_needed = 0;
	judge_binomial(j, x, n, COMPARE_LE, to);
	if (j->out.verdict == VERDICT_FAIL || low.verdict != VERDICT_UNDECIDED)
		return;
	if (j->out.verdict == VERDICT_PASS ||
	    low.reps_needed > j->out.reps_needed)
		j->out = low;
}

void judge_share(struct judge *j)
{
	const struct measure_node *root = judge_node(j, j->relation);
	uint32_t term = judge_node(j, root->a)->term;
	double x, n;

	j->out.bound = judge_constant(j, root->b);
	if (!pool(j, term, &x, &n))
		return;
	if (j->terms->term[term].metric == METRIC_SHARE)
		j->out.request_share = mean_request_share(j, term);
	if (root->kind == NODE_IN)
		by_range(j, x, n, j->out.bound, judge_constant(j, root->c));
	else
		judge_binomial(j, x, n, root->compare, j->out.bound);
}

/* ---- keys that moved --------------------------------------------------- */

/*
 * Each replication has a least of its own; by the mean of these the test is a
 * little too kind, never too strict: p (1 - p) is concave.
 */
void judge_moved(struct judge *j)
{
	const struct measure_node *root = judge_node(j, j->relation);
	const struct measure_node *a = judge_node(j, root->a);
	double x, n, least = 0, wrong = 0;

	if (!pool(j, a->term, &x, &n))
		return;
	for (uint32_t r = j->first; r < j->end; r++) {
		const struct measure_value *v = judge_value(j, a->term, r);

		least += v->least * v->n;
		wrong += v->wrong;
	}
	/* The sum of weights may pass 1 by a rounding. */
	judge_binomial(j, x, n, COMPARE_EQ, fmin(1, least / n));
	if (wrong <= 0)
		return;
	j->out.verdict = VERDICT_FAIL;
	snprintf(j->out.note, sizeof(j->out.note),
	         "%.0f keys moved between deployments that did not change",
	         wrong);
}

/* ---- how shares vary --------------------------------------------------- */

/*
 * Sum of (x - np)^2 / (np(1-p)) over replications against chi-square with as
 * many degrees of freedom: catches shares that vary too much or too little.
 */
void judge_dispersion(struct judge *j)
{
	const struct measure_node *root = judge_node(j, j->relation);
	uint32_t term = judge_node(j, judge_node(j, root->a)->a)->term;
	double p = judge_constant(j, root->b);
	double df = j->end - j->first;
	double sum = 0;

	assert(p > 0 && p < 1);
	j->out.unit = UNIT_NUMBER;
	j->out.bound = 1;
	for (uint32_t r = j->first; r < j->end; r++) {
		const struct measure_value *v = judge_value(j, term, r);
		double off = v->x - v->n * p;

		if (v->missing || !(v->n > 0)) {
			judge_missing(j, r);
			return;
		}
		sum += off * off / (v->n * p * (1 - p));
	}
	j->out.seen = sum / df;
	j->out.n = df;
	judge_say(j, VERDICT_UNDECIDED,
	          "variance over the binomial one; 1 is expected");
	if (df < DISPERSION_REPS) {
		j->out.reps_needed = DISPERSION_REPS;
		return;
	}
	j->out.p = study_chi_square_p(sum, df);
	j->out.verdict = by_p(j);
}

/* ---- rates ------------------------------------------------------------- */

/* Arrivals and ready replica-seconds, over replications. */
static bool pool_rate(struct judge *j, uint32_t term, double *x, double *s)
{
	*x = *s = 0;
	for (uint32_t r = j->first; r < j->end; r++) {
		const struct measure_value *v = judge_value(j, term, r);

		if (v->missing || !(v->replica_s > 0)) {
			judge_missing(j, r);
			return false;
		}
		*x += v->x;
		*s += v->replica_s;
	}
	return true;
}

/*
 * Two rates of Poisson arrivals by exposure: given the sum, the one is
 * binomial with its part of the expected arrivals (Przyborowski and
 * Wilenski, Biometrika 31, 1940). Where f a == g b, an arrival at a weighs
 * f and one at b weighs g, so that a expects s_a / f of s_a / f + s_b / g.
 */
void judge_rates(struct judge *j)
{
	const struct measure_node *root = judge_node(j, j->relation);
	double f, g, x_a, s_a, x_b, s_b;
	const struct measure_node *a = judge_rate(j, root->a, &f);
	const struct measure_node *b = judge_rate(j, root->b, &g);

	assert(a && b);
	if (!pool_rate(j, a->term, &x_a, &s_a) ||
	    !pool_rate(j, b->term, &x_b, &s_b))
		return;
	if (x_a + x_b <= 0) {
		judge_say(j, VERDICT_FAIL, "nothing arrived at either");
		return;
	}
	j->out.seen = f * x_a / s_a;
	j->out.bound = g * x_b / s_b;
	j->out.n = x_a + x_b;
	j->out.p = study_binomial_p((uint64_t)x_a, (uint64_t)(x_a + x_b),
	                            g * s_a / (g * s_a + f * s_b));
	j->out.verdict = by_p(j);
}
