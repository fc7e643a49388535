/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>

const struct measure_value *judge_value(const struct judge *j, uint32_t term,
                                        uint32_t replication)
{
	assert(term < j->result->n_terms &&
	       replication < j->result->replications);
	return &j->result->value[(size_t)replication * j->result->n_terms +
	                         term];
}

/* Counts of replicas hold throughout a window, or do not. */
static bool is_state(const struct measure_term *t)
{
	return (t->metric == METRIC_READY || t->metric == METRIC_WANTED) &&
	       t->statistic == STAT_DEFAULT;
}

static double eval_term(const struct judge *j, const struct measure_node *n,
                        const struct judge_place *at)
{
	const struct measure_value *v =
		judge_value(j, n->term, at->replication);

	if (v->missing)
		return NAN;
	if (at->batch != UINT32_MAX)
		return at->batch < v->n_batches ? v->batch[at->batch] : NAN;
	if (is_state(judge_term(j, n)) && at->side == SIDE_LOW)
		return v->low;
	if (is_state(judge_term(j, n)) && at->side == SIDE_HIGH)
		return v->high;
	return v->value;
}

/* The largest, least or sum of one value a replica. */
static double eval_each(const struct judge *j, const struct measure_node *n,
                        uint32_t replication)
{
	const struct measure_node *a = judge_node(j, n->a);
	const struct measure_value *v = judge_value(j, a->term, replication);
	double result = n->kind == NODE_SUM   ? 0
	                : n->kind == NODE_MAX ? -INFINITY
	                                      : INFINITY;

	if (v->missing || v->n_each == 0)
		return NAN;
	for (uint32_t i = 0; i < v->n_each; i++) {
		if (n->kind == NODE_SUM)
			result += v->each[i];
		else if (n->kind == NODE_MAX ? v->each[i] > result
		                             : v->each[i] < result)
			result = v->each[i];
	}
	return result;
}

double judge_eval(const struct judge *j, uint32_t node,
                  const struct judge_place *at)
{
	const struct measure_node *n = judge_node(j, node);
	double right;

	switch (n->kind) {
	case NODE_NUMBER:
		return n->number;
	case NODE_TERM:
		return eval_term(j, n, at);
	case NODE_ADD:
		return judge_eval(j, n->a, at) + judge_eval(j, n->b, at);
	case NODE_SUB:
		return judge_eval(j, n->a, at) - judge_eval(j, n->b, at);
	case NODE_MUL:
		return judge_eval(j, n->a, at) * judge_eval(j, n->b, at);
	case NODE_DIV:
		right = judge_eval(j, n->b, at);
		return right == 0 ? NAN : judge_eval(j, n->a, at) / right;
	case NODE_NEG:
		return -judge_eval(j, n->a, at);
	case NODE_MAX:
	case NODE_MIN:
	case NODE_SUM:
		return eval_each(j, n, at->replication);
	default:
		return NAN;
	}
}

double judge_constant(const struct judge *j, uint32_t node)
{
	struct judge_place at = {0, UINT32_MAX, SIDE_MEAN};

	assert(judge_is_constant(j, node));
	return judge_eval(j, node, &at);
}

bool judge_holds(double a, enum measure_compare compare, double b)
{
	if (isnan(a) || isnan(b) || (isinf(a) && isinf(b)))
		return false;
	switch (compare) {
	case COMPARE_EQ:
		return a == b;
	case COMPARE_NE:
		return a != b;
	case COMPARE_LT:
		return a < b;
	case COMPARE_LE:
		return a <= b;
	case COMPARE_GT:
		return a > b;
	case COMPARE_GE:
		return a >= b;
	}
	return false;
}

static bool has_children(const struct measure_node *n)
{
	return n->kind == NODE_ADD || n->kind == NODE_SUB ||
	       n->kind == NODE_MUL || n->kind == NODE_DIV;
}

uint32_t judge_batches(const struct judge *j, uint32_t node)
{
	const struct measure_node *n = judge_node(j, node);
	uint32_t a, b;

	if (n->kind == NODE_NUMBER)
		return UINT32_MAX;
	if (n->kind == NODE_TERM)
		return judge_value(j, n->term, j->first)->n_batches;
	if (n->kind == NODE_NEG)
		return judge_batches(j, n->a);
	if (!has_children(n))
		return 0;
	a = judge_batches(j, n->a);
	b = judge_batches(j, n->b);
	if (a == UINT32_MAX || b == UINT32_MAX)
		return a < b ? a : b;
	return a == b ? a : 0;
}

uint32_t judge_shared_batches(const struct judge *j, uint32_t a, uint32_t b)
{
	uint32_t x = judge_batches(j, a);
	uint32_t y = judge_batches(j, b);

	if (x == UINT32_MAX || y == UINT32_MAX)
		x = x < y ? x : y;
	else if (x != y)
		x = 0;
	return x == UINT32_MAX ? 0 : x;
}

/* The mean of a batch's maxima is no maximum, so that extremes have no
 * interval. */
static bool term_is_exact(const struct measure_term *t)
{
	switch (t->metric) {
	case METRIC_REQUESTS:
	case METRIC_COMPLETED:
	case METRIC_ERRORS:
	case METRIC_TIMEOUTS:
	case METRIC_UNFINISHED:
	case METRIC_DROPPED:
	case METRIC_COUNT:
	case METRIC_KEYS_ON_TWO:
		return t->statistic != STAT_RATE;
	default:
		break;
	}
	return is_state(t) || t->statistic == STAT_MIN ||
	       t->statistic == STAT_MAX || t->statistic == STAT_AT;
}

bool judge_is_exact(const struct judge *j, uint32_t node)
{
	const struct measure_node *n = judge_node(j, node);

	if (n->kind == NODE_TERM)
		return term_is_exact(judge_term(j, n));
	if (n->kind == NODE_NEG || n->kind == NODE_MAX || n->kind == NODE_MIN ||
	    n->kind == NODE_SUM)
		return judge_is_exact(j, n->a);
	/* a part of something, timeouts / requests, is an estimate */
	if (n->kind == NODE_DIV && !judge_is_constant(j, n->b))
		return false;
	if (has_children(n))
		return judge_is_exact(j, n->a) && judge_is_exact(j, n->b);
	return n->kind == NODE_NUMBER;
}

bool judge_is_constant(const struct judge *j, uint32_t node)
{
	const struct measure_node *n = judge_node(j, node);

	if (n->kind == NODE_NEG)
		return judge_is_constant(j, n->a);
	if (has_children(n))
		return judge_is_constant(j, n->a) && judge_is_constant(j, n->b);
	return n->kind == NODE_NUMBER;
}

bool judge_is_positive(const struct judge *j, uint32_t node)
{
	const struct measure_node *n = judge_node(j, node);

	if (n->kind == NODE_ADD || n->kind == NODE_MUL || n->kind == NODE_DIV)
		return judge_is_positive(j, n->a) && judge_is_positive(j, n->b);
	if (n->kind == NODE_NUMBER)
		return n->number >= 0;
	return n->kind != NODE_SUB && n->kind != NODE_NEG;
}

const struct measure_node *judge_rate(const struct judge *j, uint32_t node,
                                      double *factor)
{
	const struct measure_node *n = judge_node(j, node);

	*factor = 1;
	if (n->kind == NODE_MUL && judge_is_constant(j, n->a)) {
		*factor = judge_constant(j, n->a);
		n = judge_node(j, n->b);
	} else if (n->kind == NODE_MUL && judge_is_constant(j, n->b)) {
		*factor = judge_constant(j, n->b);
		n = judge_node(j, n->a);
	} else if (n->kind == NODE_DIV && judge_is_constant(j, n->b)) {
		*factor = 1 / judge_constant(j, n->b);
		n = judge_node(j, n->a);
	}
	if (!(*factor > 0) || !isfinite(*factor) || n->kind != NODE_TERM)
		return NULL;
	return judge_term(j, n)->metric == METRIC_RATE_PER_REPLICA ? n : NULL;
}
