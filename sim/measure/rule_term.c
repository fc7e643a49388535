/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metric[.statistic](selector, ...): what a probe of the run collects. Equal
 * terms, of one rule or of several, share a probe.
 */
#include <assert.h>
#include <string.h>

#include "measure/rule_int.h"

static int selectors(struct rule_reader *r, struct measure_term *t)
{
	do {
		int wrong;

		if (rule_next(r) != 0)
			return -1;
		if (rule_window_begins(r))
			wrong = rule_window(r, t);
		else if (rule_is(r, "replicas"))
			wrong = rule_replicas(r, t);
		else if (rule_is(r, "replica"))
			wrong = rule_replica(r, t);
		else if (r->token == TOKEN_WORD)
			wrong = rule_name(r, t);
		else
			wrong = rule_fail(r, "a name or a window is wanted");
		if (wrong)
			return -1;
	} while (rule_is(r, ","));
	return rule_want(r, ")");
}

/* What a metric cannot be told apart by. */
static int too_much(struct rule_reader *r, const struct measure_term *t,
                    size_t place)
{
	const struct rule_metric *m = rule_metric_of(t->metric);

	if (t->deployment != MEASURE_NONE && !(m->takes & TAKES_DEPLOYMENT))
		return rule_fail_at(r, place,
		                    "%s is of an endpoint, not of a "
		                    "deployment",
		                    m->name);
	if (t->traffic != MEASURE_NONE && !(m->takes & TAKES_TRAFFIC))
		return rule_fail_at(r, place, "%s is not told apart by traffic",
		                    m->name);
	if ((t->replicas || t->replica != MEASURE_NONE) &&
	    !(m->takes & TAKES_REPLICA))
		return rule_fail_at(r, place, "%s is not told apart by replica",
		                    m->name);
	return 0;
}

/* What a metric cannot do without. */
static int too_little(struct rule_reader *r, struct measure_term *t,
                      size_t place)
{
	const struct rule_metric *m = rule_metric_of(t->metric);

	if ((m->takes & WANTS_DEPLOYMENT) && t->deployment == MEASURE_NONE)
		return rule_fail_at(r, place,
		                    "%s wants a deployment: "
		                    "%s(dep_a)",
		                    m->name, m->name);
	if (t->replica != MEASURE_NONE && t->deployment == MEASURE_NONE)
		return rule_fail_at(r, place,
		                    "replica N wants a deployment: "
		                    "%s(dep_a, replica 0)",
		                    m->name);
	if (t->endpoint == MEASURE_NONE && r->names->n_endpoints > 1)
		return rule_fail_at(r, place,
		                    "%s wants an endpoint, deployment or "
		                    "traffic, for there are several endpoints",
		                    m->name);
	if (t->endpoint == MEASURE_NONE)
		t->endpoint = 0;
	if (t->metric == METRIC_MOVED_KEYS && !t->bounded)
		return rule_fail_at(r, place,
		                    "moved_keys wants a moment: "
		                    "moved_keys(60s)");
	if (t->metric == METRIC_COUNT && t->event[0] == '\0')
		return rule_fail_at(r, place,
		                    "count wants a type of event: "
		                    "count(deployment.scaled)");
	return 0;
}

/* ---- terms ------------------------------------------------------------- */

static bool same_moment(const struct measure_moment *a,
                        const struct measure_moment *b)
{
	const struct measure_condition *x = &a->condition, *y = &b->condition;

	if (a->is_condition != b->is_condition || a->settled != b->settled)
		return false;
	if (!a->is_condition)
		return a->at_ns == b->at_ns;
	return x->metric == y->metric && x->endpoint == y->endpoint &&
	       x->deployment == y->deployment && x->compare == y->compare &&
	       x->value == y->value;
}

static bool same(const struct measure_term *a, const struct measure_term *b)
{
	return a->metric == b->metric && a->statistic == b->statistic &&
	       a->quantile == b->quantile && a->endpoint == b->endpoint &&
	       a->deployment == b->deployment && a->traffic == b->traffic &&
	       a->replica == b->replica && a->replicas == b->replicas &&
	       a->error == b->error && a->bounded == b->bounded &&
	       strcmp(a->event, b->event) == 0 &&
	       same_moment(&a->from, &b->from) && same_moment(&a->to, &b->to);
}

/* Everything that b counts is in what a counts. */
static bool covers(const struct measure_term *a, const struct measure_term *b)
{
	struct measure_term narrow = *a;

	narrow.metric = b->metric;
	narrow.error = b->error;
	if (a->deployment == MEASURE_NONE)
		narrow.deployment = b->deployment;
	if (a->traffic == MEASURE_NONE)
		narrow.traffic = b->traffic;
	return same(&narrow, b) && a->statistic == STAT_DEFAULT;
}

bool rule_part(const struct rule_reader *r, int a, int b)
{
	const struct measure_node *x = &r->node[a], *y = &r->node[b];
	const struct measure_term *part, *all;

	if (x->kind != NODE_TERM || y->kind != NODE_TERM)
		return false;
	part = &r->terms->term[x->term];
	all = &r->terms->term[y->term];
	return (rule_metric_of(part->metric)->takes & OF_REQUESTS) &&
	       all->metric == METRIC_REQUESTS && covers(all, part);
}

static void grow(struct rule_reader *r)
{
	struct measure_terms *all = r->terms;
	uint32_t capacity = all->capacity ? 2 * all->capacity : 16;
	struct measure_term *term =
		arena_new(r->arena, capacity, sizeof(*term));

	if (all->n > 0)
		memcpy(term, all->term, all->n * sizeof(*term));
	all->term = term;
	all->capacity = capacity;
}

/* The term's number among all, added when it is new; -1: too many. */
static int number_of(struct rule_reader *r, const struct measure_term *t,
                     size_t place)
{
	struct measure_terms *all = r->terms;

	assert(all->n <= MEASURE_MAX_TERMS);
	for (uint32_t i = 0; i < all->n; i++)
		if (same(&all->term[i], t))
			return (int)i;
	if (all->n == MEASURE_MAX_TERMS)
		return rule_fail_at(r, place,
		                    "the rules name more than %d different "
		                    "metrics, selectors and windows",
		                    MEASURE_MAX_TERMS);
	if (all->n == all->capacity)
		grow(r);
	all->term[all->n] = *t;
	return (int)all->n++;
}

/* A mean has digits behind its point, a count or a state has none. */
static enum measure_unit unit_of(const struct measure_term *t)
{
	const struct rule_metric *m = rule_metric_of(t->metric);
	bool state = t->metric == METRIC_READY || t->metric == METRIC_WANTED;

	if (t->statistic == STAT_RATE)
		return UNIT_PER_S;
	if (m->kind == KIND_GAUGE && (t->statistic == STAT_MEAN ||
	                              (t->statistic == STAT_DEFAULT && !state)))
		return UNIT_PLAIN;
	return m->unit;
}

int rule_term_node(struct rule_reader *r, const struct measure_term *t,
                   size_t place)
{
	int number = number_of(r, t, place);
	int node = number < 0 ? -1 : rule_node(r, NODE_TERM, unit_of(t), place);

	if (node >= 0)
		r->node[node].term = (uint32_t)number;
	return node;
}

int rule_term(struct rule_reader *r)
{
	struct measure_term t = {
		.endpoint = MEASURE_NONE,
		.deployment = MEASURE_NONE,
		.traffic = MEASURE_NONE,
		.replica = MEASURE_NONE,
		.to = {.at_ns = TIME_NEVER},
	};
	const char *rest = NULL;
	size_t place = r->begin;
	int metric;

	assert(r->token == TOKEN_WORD);
	metric = rule_metric_find(r->word, &rest);
	if (metric < 0)
		return rule_metric_unknown(r);
	t.metric = (enum measure_metric)metric;
	if (rest &&
	    rule_statistic(r, rest, place + (size_t)(rest - r->word), &t) != 0)
		return -1;
	if (rule_next(r) != 0)
		return -1;
	if (rule_is(r, "(") && selectors(r, &t) != 0)
		return -1;
	if (too_much(r, &t, place) != 0 || too_little(r, &t, place) != 0)
		return -1;
	return rule_term_node(r, &t, place);
}
