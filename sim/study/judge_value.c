/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts and states must hold in every replication as they are; latencies
 * and means are judged by their interval, from the batches of one run or
 * from the values of the replications. Without an interval the value counts.
 */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include <gsl/gsl_statistics_double.h>

static const char missing[] = "its window never opened, or nothing was in it";

/* ---- exact ------------------------------------------------------------- */

/* A state's side that a comparison is hardest for. */
static enum judge_side hardest(enum measure_compare compare)
{
	if (compare == COMPARE_LT || compare == COMPARE_LE)
		return SIDE_HIGH;
	return SIDE_LOW;
}

static bool holds_at(const struct judge *j, const struct measure_node *n,
                     uint32_t replication, double *seen)
{
	struct judge_place at = {replication, UINT32_MAX,
	                         hardest(n->compare)};
	double left = judge_eval(j, n->a, &at);
	double right = judge_eval(j, n->b, &at);
	bool holds = judge_holds(left, n->compare, right);

	*seen = left;
	if (n->compare == COMPARE_EQ || n->compare == COMPARE_NE) {
		at.side = SIDE_HIGH;
		left = judge_eval(j, n->a, &at);
		right = judge_eval(j, n->b, &at);
		if (holds && !judge_holds(left, n->compare, right)) {
			*seen = left;
			holds = false;
		}
	}
	return holds;
}

static bool in_at(const struct judge *j, const struct measure_node *n,
                  uint32_t replication, double *seen)
{
	struct judge_place low = {replication, UINT32_MAX, SIDE_LOW};
	struct judge_place high = {replication, UINT32_MAX, SIDE_HIGH};
	double least = judge_eval(j, n->a, &low);
	double most = judge_eval(j, n->a, &high);
	bool under = least < judge_eval(j, n->b, &low);

	*seen = under ? least : most;
	return !under && least >= judge_eval(j, n->b, &low) &&
	       most <= judge_eval(j, n->c, &high);
}

void judge_exact(struct judge *j)
{
	const struct measure_node *n = judge_node(j, 0);
	struct judge_place at = {0, UINT32_MAX, SIDE_MEAN};
	uint32_t reps = j->result->replications;

	j->out.verdict = VERDICT_PASS;
	for (uint32_t r = 0; r < reps; r++) {
		double seen;
		bool holds = n->kind == NODE_IN ? in_at(j, n, r, &seen)
		                                : holds_at(j, n, r, &seen);

		j->out.seen = seen;
		at.replication = r;
		if (holds)
			continue;
		j->out.verdict = VERDICT_FAIL;
		if (isnan(seen))
			snprintf(j->out.note, sizeof(j->out.note), "%s",
			         missing);
		else if (reps > 1)
			snprintf(j->out.note, sizeof(j->out.note),
			         "in replication %u", (unsigned)r);
		break;
	}
	j->out.n = reps;
	j->out.bound = judge_eval(j, n->b, &at);
}

void judge_reps(struct judge *j)
{
	const struct measure_node *root = judge_node(j, 0);
	const struct measure_node *n = judge_node(j, root->a);
	uint32_t reps = j->result->replications;
	uint64_t held = 0;

	for (uint32_t r = 0; r < reps; r++) {
		double seen;

		held += holds_at(j, n, r, &seen);
	}
	j->out.unit = UNIT_NUMBER;
	j->out.seen = (double)held;
	j->out.bound = (double)root->at_least;
	j->out.n = reps;
	if (reps != root->out_of) {
		j->out.verdict = VERDICT_UNDECIDED;
		j->out.reps_needed = (uint32_t)root->out_of;
		return;
	}
	j->out.verdict =
		held >= root->at_least ? VERDICT_PASS : VERDICT_FAIL;
}

/* ---- by interval ------------------------------------------------------- */

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
	uint32_t reps = j->result->replications;

	s->n = reps > 1 ? reps : batches;
	s->value = mem_new(s->n + 1, sizeof(double));
	s->finite = true;
	for (uint32_t i = 0; i < s->n; i++) {
		struct judge_place at = {reps > 1 ? i : 0,
		                         reps > 1 ? UINT32_MAX : i, SIDE_MEAN};

		s->value[i] = judge_eval(j, node, &at);
		s->finite &= isfinite(s->value[i]) != 0;
	}
	if (reps == 1) {
		struct judge_place at = {0, UINT32_MAX, SIDE_MEAN};

		s->whole = judge_eval(j, node, &at);
	} else {
		s->whole = gsl_stats_mean(s->value, 1, s->n);
	}
}

static uint32_t shared_batches(const struct judge *j, uint32_t a, uint32_t b)
{
	uint32_t x = judge_batches(j, a);
	uint32_t y = judge_batches(j, b);

	if (x == UINT32_MAX || y == UINT32_MAX)
		x = x < y ? x : y;
	else if (x != y)
		x = 0;
	return x == UINT32_MAX ? 0 : x;
}

/* Replications of such variance that would take the interval off 0. */
static uint32_t needed(const struct judge *j, double mean, double half)
{
	double n = j->result->replications;
	double ratio = half / fabs(mean);
	double more = ceil(n * ratio * ratio) + 1;

	return more > n && more < 1e6 ? (uint32_t)more : 0;
}

/* Verdict on the difference a - b from its interval. */
static void decide(struct judge *j, enum measure_compare compare,
                   const struct sample *difference)
{
	double low, high, mean;
	bool below, above;

	study_mean_interval(difference->value, difference->n, j->confidence,
	                    &low, &high);
	mean = (low + high) / 2;
	below = high < 0;
	above = low > 0;
	switch (compare) {
	case COMPARE_EQ:
		j->out.verdict = below || above ? VERDICT_FAIL : VERDICT_PASS;
		return;
	case COMPARE_NE:
		j->out.verdict = below || above ? VERDICT_PASS : VERDICT_FAIL;
		return;
	case COMPARE_LT:
	case COMPARE_LE:
		j->out.verdict = below   ? VERDICT_PASS
		                 : above ? VERDICT_FAIL
		                         : VERDICT_UNDECIDED;
		break;
	case COMPARE_GT:
	case COMPARE_GE:
		j->out.verdict = above   ? VERDICT_PASS
		                 : below ? VERDICT_FAIL
		                         : VERDICT_UNDECIDED;
		break;
	}
	/* no spread at all: the values themselves decide */
	if (low == high && j->out.verdict == VERDICT_UNDECIDED)
		j->out.verdict = judge_holds(mean, compare, 0) ? VERDICT_PASS
		                                               : VERDICT_FAIL;
	if (j->out.verdict == VERDICT_UNDECIDED)
		j->out.reps_needed = needed(j, mean, (high - low) / 2);
}

static void decide_by_value(struct judge *j, enum measure_compare compare)
{
	j->out.verdict = judge_holds(j->out.seen, compare, j->out.bound)
	                         ? VERDICT_PASS
	                         : VERDICT_FAIL;
	if (isnan(j->out.seen) || isnan(j->out.bound))
		snprintf(j->out.note, sizeof(j->out.note), "%s", missing);
	else if (isinf(j->out.seen))
		snprintf(j->out.note, sizeof(j->out.note),
		         "inf: too many did not finish");
	else
		snprintf(j->out.note, sizeof(j->out.note),
		         "judged on the value: one run without batches");
}

static void compare(struct judge *j, uint32_t a, enum measure_compare how,
                    uint32_t b)
{
	uint32_t batches = shared_batches(j, a, b);
	struct sample left, right, difference;

	take(&left, j, a, batches);
	take(&right, j, b, batches);
	take(&difference, j, a, batches);
	for (size_t i = 0; i < difference.n; i++)
		difference.value[i] = left.value[i] - right.value[i];
	j->out.seen = left.whole;
	j->out.bound = right.whole;
	if (left.n >= 2 && left.finite && right.finite) {
		study_mean_interval(left.value, left.n, j->confidence,
		                    &j->out.low, &j->out.high);
		decide(j, how, &difference);
	} else {
		decide_by_value(j, how);
	}
	mem_free(left.value);
	mem_free(right.value);
	mem_free(difference.value);
}

void judge_interval(struct judge *j)
{
	const struct measure_node *n = judge_node(j, 0);
	enum study_verdict low;

	if (n->kind == NODE_COMPARE) {
		compare(j, n->a, n->compare, n->b);
		return;
	}
	compare(j, n->a, COMPARE_GE, n->b);
	low = j->out.verdict;
	compare(j, n->a, COMPARE_LE, n->c);
	if (low == VERDICT_FAIL ||
	    (low == VERDICT_UNDECIDED && j->out.verdict == VERDICT_PASS))
		j->out.verdict = low;
}

/* Equivalence by two one-sided tests at 5 %: a 90 % interval inside. */
void judge_within(struct judge *j)
{
	const struct measure_node *n = judge_node(j, 0);
	double part = judge_node(j, n->b)->number;
	uint32_t batches = shared_batches(j, n->a, n->c);
	struct sample a, c;
	double margin;

	take(&a, j, n->a, batches);
	take(&c, j, n->c, batches);
	j->out.seen = a.whole;
	j->out.bound = c.whole;
	margin = part * fabs(c.whole);
	if (a.n >= 2 && a.finite && c.finite) {
		double low, high;

		for (size_t i = 0; i < a.n; i++)
			a.value[i] -= c.value[i];
		study_mean_interval(a.value, a.n, 0.90, &low, &high);
		j->out.low = c.whole + low;
		j->out.high = c.whole + high;
		j->out.verdict = low > -margin && high < margin ? VERDICT_PASS
		                 : low > margin || high < -margin
		                         ? VERDICT_FAIL
		                         : VERDICT_UNDECIDED;
		if (j->out.verdict == VERDICT_UNDECIDED)
			j->out.reps_needed =
				needed(j, margin - fabs((low + high) / 2),
			               (high - low) / 2);
	} else {
		j->out.verdict = fabs(a.whole - c.whole) <= margin
		                         ? VERDICT_PASS
		                         : VERDICT_FAIL;
		snprintf(j->out.note, sizeof(j->out.note),
		         "judged on the value: one run without batches");
	}
	mem_free(a.value);
	mem_free(c.value);
}
