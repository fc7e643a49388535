/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Latencies, means and quotients are judged by their interval, from the
 * batches of one run or from the values of the replications. Without an
 * interval the values count: the run's, or those of every replication.
 */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* After which the replications speak, where one run's parts do not. */
enum { UNSTEADY_REPS = 10 };

/* Values of an expression, by replication or, of one run, by batch. */
struct sample {
	double *value;
	size_t n;
	double whole; /* the value of it all: the run's, or the mean */
	bool usable;  /* an interval can be made of them */
	bool parts;   /* of one run */
	double least; /* nothing lies below */
};

/* One that is infinite makes it infinite. */
static double mean(const double *value, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += value[i];
	return sum / (double)n;
}

static void take(struct sample *s, const struct judge *j, uint32_t node,
                 uint32_t batches)
{
	uint32_t reps = j->end - j->first;
	struct judge_place at = {j->first, UINT32_MAX, SIDE_MEAN};

	s->parts = reps == 1;
	s->least = judge_is_positive(j, node) ? 0 : -INFINITY;
	s->n = reps > 1 ? reps : batches;
	s->value = mem_new(s->n + 1, sizeof(double));
	s->whole = judge_eval(j, node, &at);
	for (uint32_t i = 0; i < s->n; i++) {
		at.replication = reps > 1 ? j->first + i : j->first;
		at.batch = reps > 1 ? UINT32_MAX : i;
		s->value[i] = judge_eval(j, node, &at);
	}
	if (reps > 1)
		s->whole = mean(s->value, s->n);
	s->usable = s->n >= 2 && isfinite(s->whole);
	for (size_t i = 0; i < s->n && !s->parts; i++)
		s->usable &= isfinite(s->value[i]) != 0;
}

/* left + factor * right, value by value. */
static void combine(struct sample *to, const struct sample *left, double factor,
                    const struct sample *right)
{
	to->n = left->n;
	to->value = mem_new(left->n + 1, sizeof(double));
	to->whole = left->whole + factor * right->whole;
	to->usable = left->usable && right->usable;
	to->parts = left->parts;
	to->least = -INFINITY;
	for (size_t i = 0; i < left->n; i++)
		to->value[i] = left->value[i] + factor * right->value[i];
}

/* Replications are independent, whatever goes on in each. */
static enum study_steadiness interval(const struct sample *s, double tail,
                                      double *low, double *high)
{
	struct study_parts parts = {s->value, s->n, s->whole, s->least};

	assert(s->usable);
	if (s->parts)
		return study_parts_interval(&parts, tail, low, high);
	study_centred_interval(s->value, s->n, s->whole, tail, low, high);
	return PARTS_STEADY;
}

/* The interval of one side, as it is shown: of what can be. */
static enum study_steadiness side(const struct sample *s, double tail,
                                  double *low, double *high)
{
	enum study_steadiness steady = interval(s, tail, low, high);

	*low = fmax(*low, s->least);
	return steady;
}

static void say_unsteady(struct judge *j, enum study_steadiness steady)
{
	bool open = j->out.verdict == VERDICT_UNDECIDED;
	const char *why = steady == PARTS_DRIFT
	                          ? "load is not steady"
	                          : "parts of the run differ too much";

	snprintf(j->out.note, sizeof(j->out.note), "%s: %s", why,
	         open ? "use --reps" : "judged by a wider interval");
	if (open)
		j->out.reps_needed = UNSTEADY_REPS;
}

/* ---- comparisons ------------------------------------------------------- */

/* Verdict on the difference a - b, whose interval this is. */
static void decide(struct judge *j, enum measure_compare compare, double low,
                   double high)
{
	bool less = high < 0;
	bool more = low > 0;
	bool same = !less && !more;

	if (compare == COMPARE_EQ || compare == COMPARE_NE)
		j->out.verdict = same == (compare == COMPARE_EQ) ? VERDICT_PASS
		                                                 : VERDICT_FAIL;
	/* no spread at all, or off 0: any value of it decides */
	else if (!same || low == high)
		j->out.verdict = judge_holds(low, compare, 0) ? VERDICT_PASS
		                                              : VERDICT_FAIL;
	else
		j->out.verdict = VERDICT_UNDECIDED;
}

/* Without an interval: what holds, holds in every replication. */
static void by_values(struct judge *j)
{
	enum judge_once once = ONCE_HELD;
	double seen = 0;
	uint32_t r;

	for (r = j->first; r < j->end && once == ONCE_HELD; r++)
		once = judge_once(j, j->relation, r, &seen);
	j->out.verdict = once == ONCE_HELD ? VERDICT_PASS : VERDICT_FAIL;
	/* infinite ones of both signs have no mean */
	if (isnan(j->out.seen))
		j->out.seen = seen;
	if (once == ONCE_MISSING)
		judge_missing(j, r - 1);
	else if (isinf(j->out.seen) || isinf(j->out.bound))
		judge_say(j, j->out.verdict, "inf: too many did not finish");
	else
		judge_say(j, j->out.verdict,
		          "judged on the value: no interval from this run");
}

/* Two sides and what lies between them, with their intervals. */
static void compare_samples(struct judge *j, enum measure_compare how,
                            const struct sample *left,
                            const struct sample *right,
                            const struct sample *difference)
{
	double tail = (1 - j->confidence) / 2;
	double low, high, x, y;
	enum study_steadiness a = side(left, tail, &j->out.low, &j->out.high);
	enum study_steadiness steady = interval(difference, tail, &low, &high);

	/* a side may be cut off at 0 though the difference is not */
	if (steady == PARTS_STEADY && a == PARTS_APART)
		steady = a;
	if (steady == PARTS_STEADY && side(right, tail, &x, &y) == PARTS_APART)
		steady = PARTS_APART;
	decide(j, how, low, high);
	if (steady != PARTS_STEADY && low <= 0 && high >= 0)
		j->out.verdict = VERDICT_UNDECIDED;
	if (steady != PARTS_STEADY)
		say_unsteady(j, steady);
	else if (j->out.verdict == VERDICT_UNDECIDED)
		j->out.reps_needed =
			judge_more(j, difference->whole, (high - low) / 2);
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
	known = difference.usable;
	j->out.seen = left.whole;
	j->out.bound = right.whole;
	j->out.reps_needed = 0;
	j->out.note[0] = '\0';
	if (known)
		compare_samples(j, how, &left, &right, &difference);
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
		by_values(j);
}

/* ---- equivalence ------------------------------------------------------- */

/* How far above -margin and below +margin of its aim something lies. */
struct two_sided {
	struct sample above; /* a - (c - margin): wanted above 0 */
	struct sample below; /* a - (c + margin): wanted below 0 */
};

/* Two one-sided tests, each at the rule's confidence. */
static void decide_within(struct judge *j, const struct two_sided *t,
                          enum study_steadiness steady)
{
	double tail = 1 - j->confidence;
	double low, high, least, most, half;
	enum study_steadiness a = interval(&t->above, tail, &low, &most);
	enum study_steadiness b = interval(&t->below, tail, &least, &high);

	half = fmax(most - t->above.whole, high - t->below.whole);
	if (low >= 0 && high <= 0)
		j->out.verdict = VERDICT_PASS;
	else if (most < 0 || least > 0)
		j->out.verdict = VERDICT_FAIL;
	else
		j->out.verdict = VERDICT_UNDECIDED;
	if (a != PARTS_STEADY || b != PARTS_STEADY)
		steady = a != PARTS_STEADY ? a : b;
	if (steady != PARTS_STEADY)
		say_unsteady(j, steady);
	else if (j->out.verdict == VERDICT_UNDECIDED)
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
	if (t.above.usable)
		decide_within(
			j, &t,
			side(&a, 1 - j->confidence, &j->out.low, &j->out.high));
	else
		by_values(j);
	mem_free(t.above.value);
	mem_free(t.below.value);
	mem_free(a.value);
	mem_free(c.value);
}
