/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows a..b, whose ends may be left out, and moments: a time, a condition
 * such as replicas.ready(dep_a) == 2 (the first time it holds), or settled(...)
 * of either, that moment and the longest propagation.
 */
#include <assert.h>

#include "measure/rule_int.h"

static bool begins_condition(const struct rule_reader *r)
{
	const char *rest = NULL;
	int metric;

	if (r->token != TOKEN_WORD || *r->at != '(')
		return false;
	metric = rule_metric_find(r->word, &rest);
	return metric >= 0 && rest == NULL;
}

bool rule_window_begins(const struct rule_reader *r)
{
	return r->token == TOKEN_NUMBER || rule_is(r, "..") ||
	       rule_is(r, "settled") || begins_condition(r);
}

/* The deployment or endpoint of a condition, in parentheses. */
static int read_whose(struct rule_reader *r, struct measure_term *t)
{
	if (rule_next(r) != 0 || rule_want(r, "(") != 0)
		return -1;
	if (r->token != TOKEN_WORD)
		return rule_fail(r, "a deployment or endpoint is wanted");
	if (rule_name(r, t) != 0)
		return -1;
	if (t->traffic != MEASURE_NONE)
		return rule_fail(r, "%s is not told apart by traffic",
		                 rule_metric_of(t->metric)->name);
	return rule_want(r, ")");
}

static int read_condition(struct rule_reader *r, struct measure_moment *m)
{
	const char *rest = NULL;
	int metric = rule_metric_find(r->word, &rest);
	struct measure_term t = {.endpoint = MEASURE_NONE,
	                         .deployment = MEASURE_NONE,
	                         .traffic = MEASURE_NONE,
	                         .replica = MEASURE_NONE};
	int compare;

	assert(metric >= 0 && rest == NULL);
	t.metric = (enum measure_metric)metric;
	if (rule_metric_of(t.metric)->kind != KIND_GAUGE)
		return rule_fail(r, "a moment is the first time that "
		                    "replicas.ready, replicas.wanted, queue, "
		                    "batch or in_flight compares so");
	if (read_whose(r, &t) != 0)
		return -1;
	compare = rule_compare(r);
	if (compare < 0)
		return rule_fail(r, "a comparison is wanted, such as == 2");
	if (rule_next(r) != 0)
		return -1;
	if (r->token != TOKEN_NUMBER || r->unit != UNIT_PLAIN)
		return rule_fail(r, "a number is wanted");
	m->is_condition = true;
	m->condition.metric = t.metric;
	m->condition.endpoint = t.endpoint;
	m->condition.deployment = t.deployment;
	m->condition.compare = (enum measure_compare)compare;
	m->condition.value = r->number;
	return rule_next(r);
}

static int read_moment(struct rule_reader *r, struct measure_moment *m)
{
	if (rule_is(r, "settled")) {
		if (m->settled)
			return rule_fail(r, "settled of settled");
		m->settled = true;
		if (rule_next(r) != 0 || rule_want(r, "(") != 0)
			return -1;
		return read_moment(r, m) != 0 ? -1 : rule_want(r, ")");
	}
	if (begins_condition(r))
		return read_condition(r, m);
	if (r->token != TOKEN_NUMBER)
		return rule_fail(r, "a moment is wanted: a time such as 60s, "
		                    "or replicas.ready(dep_a) == 2");
	if (r->unit != UNIT_NS && r->number != 0)
		return rule_fail(r, "a time has a unit: write %gs or %gms",
		                 r->number, r->number);
	m->at_ns = (int64_t)r->number;
	return rule_next(r);
}

static bool is_time(const struct measure_moment *m)
{
	return !m->is_condition && !m->settled;
}

/* FROM.. or FROM..TO, from the two dots on. */
static int read_end(struct rule_reader *r, struct measure_term *t)
{
	if (rule_next(r) != 0)
		return -1;
	if (rule_is(r, ")") || rule_is(r, ","))
		return 0;
	t->to.at_ns = 0;
	return read_moment(r, &t->to);
}

int rule_window(struct rule_reader *r, struct measure_term *t)
{
	size_t place = r->begin;

	if (t->bounded)
		return rule_fail(r, "a second window");
	t->bounded = true;
	if (!rule_is(r, "..") && read_moment(r, &t->from) != 0)
		return -1;
	if (t->metric == METRIC_MOVED_KEYS && rule_is(r, ".."))
		return rule_fail(r, "moved_keys wants one moment, not a "
		                    "window");
	if (t->metric == METRIC_MOVED_KEYS)
		return 0;
	if (!rule_is(r, ".."))
		return rule_fail_at(r, place,
		                    "a window is written FROM..TO; "
		                    "either may be left out");
	if (read_end(r, t) != 0)
		return -1;
	if (is_time(&t->from) && is_time(&t->to) &&
	    t->to.at_ns <= t->from.at_ns)
		return rule_fail_at(r, place,
		                    t->to.at_ns == t->from.at_ns
		                            ? "this window is empty"
		                            : "this window ends before it "
		                              "begins");
	return 0;
}
