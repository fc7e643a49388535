/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact tests, pooled over replications: shares of keys, keys that moved,
 * how evenly shares vary, how often something happens, and rates of arrival
 * per ready replica.
 */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static void say(struct judge *j, enum study_verdict verdict, const char *note)
{
	j->out.verdict = verdict;
	snprintf(j->out.note, sizeof(j->out.note), "%s", note);
}

/* The constant on the right side. */
static double bound_of(const struct judge *j, const struct measure_node *root)
{
	struct judge_place at = {0, UINT32_MAX, SIDE_MEAN};

	return judge_eval(j, root->b, &at);
}

/* Sums x and n of a term's probe; false when nothing was there. */
static bool pool(const struct judge *j, uint32_t term, double *x, double *n)
{
	*x = *n = 0;
	for (uint32_t r = 0; r < j->result->replications; r++) {
		const struct measure_value *v = judge_value(j, term, r);

		if (v->missing)
			continue;
		*x += v->x;
		*n += v->n;
	}
	return *n > 0;
}

static double mean_request_share(const struct judge *j, uint32_t term)
{
	double sum = 0;
	double n = 0;

	for (uint32_t r = 0; r < j->result->replications; r++) {
		const struct measure_value *v = judge_value(j, term, r);

		if (v->missing)
			continue;
		sum += v->request_share;
		n++;
	}
	return n > 0 ? sum / n : NAN;
}

/* A fraction against a bound, by its interval. */
static enum study_verdict by_interval(const struct judge *j,
                                      enum measure_compare compare)
{
	double low = j->out.low;
	double high = j->out.high;
	double bound = j->out.bound;
	bool all = judge_holds(low, compare, bound) &&
	           judge_holds(high, compare, bound);
	bool none = !judge_holds(low, compare, bound) &&
	            !judge_holds(high, compare, bound);

	if (compare == COMPARE_NE)
		return bound < low || bound > high ? VERDICT_PASS
		                                   : VERDICT_FAIL;
	return all ? VERDICT_PASS : none ? VERDICT_FAIL : VERDICT_UNDECIDED;
}

void judge_share(struct judge *j)
{
	const struct measure_node *root = judge_node(j, 0);
	const struct measure_node *a = judge_node(j, root->a);
	double x, n;

	j->out.bound = bound_of(j, root);
	if (!pool(j, a->term, &x, &n)) {
		say(j, VERDICT_FAIL, "no request fell into its window");
		return;
	}
	j->out.seen = x / n;
	j->out.n = n;
	j->out.request_share = mean_request_share(j, a->term);
	study_binomial_interval((uint64_t)x, (uint64_t)n, j->confidence,
	                        &j->out.low, &j->out.high);
	if (root->compare != COMPARE_EQ) {
		j->out.verdict = by_interval(j, root->compare);
		return;
	}
	if (!(j->out.bound >= 0 && j->out.bound <= 1)) {
		say(j, VERDICT_FAIL, "a share lies between 0 and 1");
		return;
	}
	j->out.p = study_binomial_p((uint64_t)x, (uint64_t)n, j->out.bound);
	j->out.verdict = j->out.p >= 1 - j->confidence ? VERDICT_PASS
	                                               : VERDICT_FAIL;
}

void judge_moved(struct judge *j)
{
	const struct measure_node *root = judge_node(j, 0);
	const struct measure_node *a = judge_node(j, root->a);
	double x, n, least = 0, wrong = 0;

	if (!pool(j, a->term, &x, &n)) {
		say(j, VERDICT_FAIL, "its moment never came, or no key was "
		                     "seen before it");
		return;
	}
	for (uint32_t r = 0; r < j->result->replications; r++) {
		const struct measure_value *v = judge_value(j, a->term, r);

		if (v->missing)
			continue;
		least += v->least * v->n;
		wrong += v->wrong;
	}
	j->out.seen = x / n;
	j->out.bound = least / n;
	j->out.n = n;
	study_binomial_interval((uint64_t)x, (uint64_t)n, j->confidence,
	                        &j->out.low, &j->out.high);
	j->out.p = study_binomial_p((uint64_t)x, (uint64_t)n,
	                            fmin(1, j->out.bound));
	j->out.verdict = wrong == 0 && j->out.p >= 1 - j->confidence
	                         ? VERDICT_PASS
	                         : VERDICT_FAIL;
	if (wrong > 0)
		snprintf(j->out.note, sizeof(j->out.note),
		         "%.0f keys moved between deployments that did not "
		         "change",
		         wrong);
}

/*
 * Sum of (x - np)^2 / (np(1-p)) over replications against chi-square with as
 * many degrees of freedom: catches shares that vary too much or too little.
 */
void judge_dispersion(struct judge *j)
{
	const struct measure_node *root = judge_node(j, 0);
	const struct measure_node *a =
		judge_node(j, judge_node(j, root->a)->a);
	double p = bound_of(j, root);
	double sum = 0;
	double df = 0;

	j->out.bound = p;
	if (!(p > 0 && p < 1)) {
		say(j, VERDICT_FAIL, "the share must lie between 0 and 1");
		return;
	}
	for (uint32_t r = 0; r < j->result->replications; r++) {
		const struct measure_value *v = judge_value(j, a->term, r);
		double off;

		if (v->missing || v->n == 0)
			continue;
		off = v->x - v->n * p;
		sum += off * off / (v->n * p * (1 - p));
		df++;
	}
	if (df == 0) {
		say(j, VERDICT_FAIL, "no request fell into its window");
		return;
	}
	j->out.unit = UNIT_NUMBER;
	j->out.seen = sum / df;
	j->out.n = df;
	j->out.p = study_chi_square_p(sum, df);
	j->out.verdict = j->out.p >= 1 - j->confidence ? VERDICT_PASS
	                                               : VERDICT_FAIL;
	say(j, j->out.verdict,
	    "variance over the binomial one; 1 is expected");
	j->out.bound = 1;
}

/*
 * A probability is estimated by the fraction of replications. It is judged
 * on that fraction; where the interval reaches over the bound, the note says
 * that other replications could have come out otherwise.
 */
void judge_prob(struct judge *j)
{
	const struct measure_node *root = judge_node(j, 0);
	const struct measure_node *inner =
		judge_node(j, judge_node(j, root->a)->a);
	uint32_t reps = j->result->replications;
	uint64_t x = 0;

	for (uint32_t r = 0; r < reps; r++) {
		struct judge_place at = {r, UINT32_MAX, SIDE_MEAN};
		double left = judge_eval(j, inner->a, &at);
		double right = judge_eval(j, inner->b, &at);

		x += judge_holds(left, inner->compare, right);
	}
	j->out.bound = bound_of(j, root);
	j->out.seen = (double)x / (double)reps;
	j->out.n = reps;
	study_binomial_interval(x, reps, j->confidence, &j->out.low,
	                        &j->out.high);
	j->out.verdict = judge_holds(j->out.seen, root->compare, j->out.bound)
	                         ? VERDICT_PASS
	                         : VERDICT_FAIL;
	if (j->out.low <= j->out.bound && j->out.bound <= j->out.high)
		say(j, j->out.verdict, "the bound lies inside the interval");
}

/*
 * Two rates of Poisson arrivals by exposure: given the sum, the one is
 * binomial with its part of the exposure (Przyborowski and Wilenski,
 * Biometrika 31, 1940). A factor k weighs the right side's exposure.
 */
void judge_rates(struct judge *j)
{
	const struct measure_node *root = judge_node(j, 0);
	const struct measure_node *a = judge_node(j, root->a);
	const struct measure_node *b = judge_node(j, root->b);
	double factor = 1;
	double x[2] = {0, 0}, s[2] = {0, 0};

	if (b->kind == NODE_MUL) {
		bool left = judge_node(j, b->a)->kind == NODE_NUMBER;

		factor = judge_node(j, left ? b->a : b->b)->number;
		b = judge_node(j, left ? b->b : b->a);
	}
	for (uint32_t r = 0; r < j->result->replications; r++) {
		const struct measure_value *v[2] = {
			judge_value(j, a->term, r), judge_value(j, b->term, r)};

		for (size_t i = 0; i < 2; i++) {
			if (v[i]->missing)
				continue;
			x[i] += v[i]->x;
			s[i] += v[i]->replica_s;
		}
	}
	if (x[0] + x[1] == 0 || s[0] <= 0 || s[1] <= 0 || !(factor > 0)) {
		say(j, VERDICT_FAIL, "no arrivals, or nobody was ready");
		return;
	}
	j->out.seen = x[0] / s[0];
	j->out.bound = factor * x[1] / s[1];
	j->out.n = x[0] + x[1];
	j->out.p = study_binomial_p((uint64_t)x[0],
	                            (uint64_t)(x[0] + x[1]),
	                            s[0] / (s[0] + factor * s[1]));
	j->out.verdict = j->out.p >= 1 - j->confidence ? VERDICT_PASS
	                                               : VERDICT_FAIL;
}
