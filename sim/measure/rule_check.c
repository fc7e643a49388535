/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a rule may not say: compare a time with a number, or claim what no
 * run can break or none can keep.
 */
#include <assert.h>
#include <math.h>

#include "measure/rule_int.h"

bool rule_constant(const struct rule_reader *r, int node, double *value)
{
	const struct measure_node *n = &r->node[node];
	double a, b;

	if (n->kind == NODE_NUMBER) {
		*value = n->number;
		return true;
	}
	if (n->kind == NODE_NEG) {
		if (!rule_constant(r, (int)n->a, &a))
			return false;
		*value = -a;
		return true;
	}
	if (n->kind != NODE_ADD && n->kind != NODE_SUB && n->kind != NODE_MUL &&
	    n->kind != NODE_DIV)
		return false;
	if (!rule_constant(r, (int)n->a, &a) ||
	    !rule_constant(r, (int)n->b, &b))
		return false;
	*value = n->kind == NODE_ADD   ? a + b
	         : n->kind == NODE_SUB ? a - b
	         : n->kind == NODE_MUL ? a * b
	                               : a / b;
	return true;
}

static const struct measure_term *term_of(const struct rule_reader *r, int node)
{
	const struct measure_node *n = &r->node[node];

	return n->kind == NODE_TERM ? &r->terms->term[n->term] : NULL;
}

/* ---- units ------------------------------------------------------------- */

static const char *unit_name(enum measure_unit unit)
{
	static const char *const names[] = {
		[UNIT_PLAIN] = "a number",   [UNIT_NS] = "a time",
		[UNIT_RATIO] = "a fraction", [UNIT_COUNT] = "a count",
		[UNIT_PER_S] = "a rate",
	};

	assert((unsigned)unit <= UNIT_PER_S);
	return names[unit];
}

/* timeouts <= 0.1%: of the requests with the same selectors. */
static int part_of_requests(struct rule_reader *r, int a)
{
	struct measure_term all = *term_of(r, a);
	int requests;

	all.metric = METRIC_REQUESTS;
	all.error = ERROR_NONE;
	requests = rule_term_node(r, &all, r->place[a]);
	if (requests < 0)
		return -1;
	return rule_join(r, NODE_DIV, UNIT_RATIO, a, requests);
}

int rule_units(struct rule_reader *r, int *a, int b)
{
	enum measure_unit left = r->node[*a].unit, right = r->node[b].unit;
	const struct measure_term *t = term_of(r, *a);
	double value;

	if (left == right)
		return 0;
	if (left == UNIT_NS && right == UNIT_PLAIN &&
	    rule_constant(r, b, &value))
		return rule_fail_at(r, r->place[b],
		                    "a time is compared with a time: write "
		                    "%gms or %gs",
		                    value, value);
	if (left == UNIT_COUNT && right == UNIT_RATIO && t && !t->replicas &&
	    (rule_metric_of(t->metric)->takes & OF_REQUESTS)) {
		*a = part_of_requests(r, *a);
		return *a < 0 ? -1 : 0;
	}
	if ((left == UNIT_PLAIN && right != UNIT_NS) ||
	    (right == UNIT_PLAIN && left != UNIT_NS))
		return 0;
	return rule_fail_at(r, r->place[b], "%s is compared with %s",
	                    unit_name(left), unit_name(right));
}

/* ---- relations that say nothing ---------------------------------------- */

/* The values that a node can have in any run; false: any at all. */
static bool range_of(const struct rule_reader *r, int node, double *most)
{
	const struct measure_node *n = &r->node[node];

	*most = INFINITY;
	if (n->kind == NODE_MAX || n->kind == NODE_MIN || n->kind == NODE_SUM)
		return true;
	if (n->kind == NODE_PROB) {
		*most = 1;
		return true;
	}
	if (n->kind == NODE_TERM ||
	    (n->kind == NODE_DIV && term_of(r, (int)n->a) &&
	     term_of(r, (int)n->b))) {
		if (n->unit == UNIT_RATIO)
			*most = 1;
		return true;
	}
	return false;
}

/* Whether every value, or none, from 0 to `most` compares so with b. */
static void extremes(enum measure_compare compare, double most, double b,
                     bool *every, bool *none)
{
	*every = *none = false;
	switch (compare) {
	case COMPARE_EQ:
		*none = b < 0 || b > most;
		break;
	case COMPARE_NE:
		*every = b < 0 || b > most;
		break;
	case COMPARE_LT:
		*every = b > most;
		*none = b <= 0;
		break;
	case COMPARE_LE:
		*every = b >= most;
		*none = b < 0;
		break;
	case COMPARE_GT:
		*every = b < 0;
		*none = b >= most;
		break;
	case COMPARE_GE:
		*every = b <= 0;
		*none = b > most;
		break;
	}
}

/* share(dep_a) == 50 */
static bool is_bare_percent(const struct rule_reader *r,
                            const struct measure_node *n)
{
	const struct measure_node *b = &r->node[n->b];

	return r->node[n->a].unit == UNIT_RATIO && b->kind == NODE_NUMBER &&
	       b->unit == UNIT_PLAIN && b->number > 1 && b->number <= 100;
}

static int check_range(struct rule_reader *r, const struct measure_node *n)
{
	double most, low, high;
	bool every = false, none = false;

	if (!range_of(r, (int)n->a, &most) || n->kind == NODE_WITHIN ||
	    !rule_constant(r, (int)n->b, &low))
		return 0;
	if (!isfinite(low))
		return rule_fail_at(r, r->place[n->b], "this is too large");
	if (n->kind == NODE_COMPARE) {
		extremes(n->compare, most, low, &every, &none);
	} else if (rule_constant(r, (int)n->c, &high)) {
		if (high < low)
			return rule_fail_at(r, r->place[n->b],
			                    "this range ends before it "
			                    "begins");
		every = low <= 0 && high >= most;
		none = low > most || high < 0;
	}
	if ((every || none) && is_bare_percent(r, n))
		return rule_fail_at(r, r->place[n->b],
		                    "a fraction lies between 0 and 1: write "
		                    "%g%%",
		                    low);
	if (every)
		return rule_fail_at(r, r->place[n->a],
		                    "this rule can never fail");
	if (none)
		return rule_fail_at(r, r->place[n->a],
		                    "this rule can never hold");
	return 0;
}

/* ---- words that stand in one place only -------------------------------- */

static bool has(const struct rule_reader *r, uint32_t node,
                enum measure_node_kind kind)
{
	const struct measure_node *n = &r->node[node];

	if (n->kind == kind)
		return true;
	if (n->kind == NODE_NUMBER || n->kind == NODE_TERM ||
	    n->kind == NODE_LEAST)
		return false;
	return has(r, n->a, kind) || (n->b > 0 && has(r, n->b, kind)) ||
	       (n->c > 0 && has(r, n->c, kind));
}

/* A part that must be all of the left side, beside a constant. */
static int check_left(struct rule_reader *r, const struct measure_node *n,
                      enum measure_node_kind kind, const char *wanted)
{
	bool left = has(r, n->a, kind), right = n->b > 0 && has(r, n->b, kind);
	double value;

	if (n->kind == NODE_IN || n->kind == NODE_WITHIN)
		right |= has(r, n->c, kind);
	if (!left && !right)
		return 0;
	if (right || r->node[n->a].kind != kind || n->kind != NODE_COMPARE ||
	    !rule_constant(r, (int)n->b, &value))
		return rule_fail_at(r, r->place[n->a], "%s", wanted);
	return 0;
}

static int check_dispersion(struct rule_reader *r, const struct measure_node *n)
{
	double p;

	if (r->node[n->a].kind != NODE_DISPERSION)
		return 0;
	if (n->compare != COMPARE_EQ || !rule_constant(r, (int)n->b, &p) ||
	    !(p > 0 && p < 1))
		return rule_fail_at(r, r->place[n->b],
		                    "dispersion stands before == and the "
		                    "share that is expected, between 0 and 1");
	return 0;
}

/* `least` belongs to a moment, and is equalled or is not. */
static int check_least(struct rule_reader *r, const struct measure_node *n)
{
	const struct measure_term *t = term_of(r, (int)n->a);
	bool moved = t && t->metric == METRIC_MOVED_KEYS;
	double value;

	for (uint32_t i = 1; !moved && i < r->n_nodes; i++)
		if (r->node[i].kind == NODE_LEAST)
			return rule_fail_at(r, r->place[i],
			                    "least stands in moved_keys(...) "
			                    "== least");
	if (!moved)
		return 0;
	if (n->kind == NODE_COMPARE && r->node[n->b].kind == NODE_LEAST &&
	    n->compare == COMPARE_EQ)
		return 0;
	if (n->kind == NODE_COMPARE && rule_constant(r, (int)n->b, &value))
		return 0;
	return rule_fail_at(r, r->place[n->b],
	                    "moved_keys(...) is compared with a number, or "
	                    "== least");
}

static bool is_state(const struct rule_reader *r, uint32_t node)
{
	const struct measure_term *t = term_of(r, (int)node);

	return t && t->statistic == STAT_DEFAULT &&
	       (t->metric == METRIC_READY || t->metric == METRIC_WANTED);
}

/* The first state at or below a node, 0: none; prob() was looked at. */
static uint32_t state_in(const struct rule_reader *r, uint32_t node)
{
	const struct measure_node *n = &r->node[node];
	uint32_t found;

	if (node == 0 || n->kind == NODE_PROB || n->kind == NODE_NUMBER)
		return 0;
	if (n->kind == NODE_TERM)
		return is_state(r, node) ? node : 0;
	found = state_in(r, n->a);
	if (found == 0)
		found = state_in(r, n->b);
	return found;
}

/*
 * replicas.ready(dep_a) == 2 is said of every moment of a window, by the
 * least and the greatest; arithmetic would want one number.
 */
static int check_state(struct rule_reader *r, const struct measure_node *n)
{
	uint32_t found = is_state(r, n->a) ? 0 : state_in(r, n->a);

	if (found == 0)
		found = state_in(r, n->b);
	if (found == 0)
		found = state_in(r, n->c);
	if (found == 0 && is_state(r, n->a) &&
	    (n->kind == NODE_WITHIN ||
	     (n->kind == NODE_COMPARE && n->compare == COMPARE_NE)))
		found = n->a;
	if (found == 0)
		return 0;
	return rule_fail_at(
		r, r->place[found],
		"of every moment only ==, <, <=, >, >= and in can "
		"be said, on the left side; choose %s.mean, .min, "
		".max or .at",
		rule_metric_of(term_of(r, (int)found)->metric)->name);
}

int rule_check(struct rule_reader *r, int relation)
{
	const struct measure_node *n = &r->node[relation];
	const struct measure_node *a = &r->node[n->a], *b = &r->node[n->b];
	double value;

	assert(n->kind == NODE_COMPARE || n->kind == NODE_IN ||
	       n->kind == NODE_WITHIN);
	if (rule_constant(r, (int)n->a, &value))
		return rule_fail_at(r, r->place[n->a],
		                    "a metric is wanted on the left");
	if (a->kind == NODE_TERM && b->kind == NODE_TERM && a->term == b->term)
		return rule_fail_at(r, r->place[n->b],
		                    "both sides are the same");
	if (check_left(r, n, NODE_PROB,
	               "prob(...) is compared with a number: "
	               "prob(requests(dep_a) > 9) >= 0.01") != 0 ||
	    check_left(r, n, NODE_DISPERSION,
	               "dispersion(share(dep_a)) == 1/2 says which share is "
	               "expected") != 0)
		return -1;
	if (check_dispersion(r, n) != 0 || check_least(r, n) != 0 ||
	    check_state(r, n) != 0)
		return -1;
	return check_range(r, n);
}
