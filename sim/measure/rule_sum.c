/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arithmetic of a rule, by recursive descent; see rule.c for the grammar.
 */
#include <assert.h>

#include "measure/rule_int.h"

int rule_node(struct rule_reader *r, enum measure_node_kind kind,
              enum measure_unit unit, size_t place)
{
	if (r->n_nodes == RULE_NODES_MAX)
		return rule_fail(r, "a rule of more than %d parts",
		                 RULE_NODES_MAX - 1);
	r->node[r->n_nodes] = (struct measure_node){.kind = kind, .unit = unit};
	r->place[r->n_nodes] = place;
	return (int)r->n_nodes++;
}

int rule_join(struct rule_reader *r, enum measure_node_kind kind,
              enum measure_unit unit, int a, int b)
{
	int node;

	assert(a > 0 && b >= 0);
	node = rule_node(r, kind, unit, r->place[a]);
	if (node < 0)
		return -1;
	r->node[node].a = (uint32_t)a;
	r->node[node].b = (uint32_t)b;
	return node;
}

/* ---- factors ----------------------------------------------------------- */

static int read_number(struct rule_reader *r)
{
	int node = rule_node(r, NODE_NUMBER, r->unit, r->begin);

	if (node < 0)
		return -1;
	r->node[node].number = r->number;
	return rule_next(r) != 0 ? -1 : node;
}

/* A word around something: prob(a); the word is at `place`. */
static int wrap(struct rule_reader *r, enum measure_node_kind kind, int a,
                size_t place)
{
	enum measure_unit unit =
		kind == NODE_PROB ? UNIT_RATIO : r->node[a].unit;
	int node = rule_join(r, kind, unit, a, 0);

	if (node >= 0)
		r->place[node] = place;
	return node;
}

/* max(...), min(...), sum(...) over the replicas of a term. */
static int read_over_replicas(struct rule_reader *r,
                              enum measure_node_kind kind)
{
	size_t word = r->begin, place;
	int a;

	if (rule_next(r) != 0 || rule_want(r, "(") != 0)
		return -1;
	place = r->begin;
	if (r->token != TOKEN_WORD)
		return rule_fail(r, "a metric is wanted");
	a = rule_term(r);
	if (a < 0)
		return -1;
	if (!r->terms->term[r->node[a].term].replicas)
		return rule_fail_at(r, place,
		                    "a metric of replicas(...) is wanted, such "
		                    "as requests(replicas(dep_a))");
	if (rule_want(r, ")") != 0)
		return -1;
	return wrap(r, kind, a, word);
}

static int read_prob(struct rule_reader *r)
{
	size_t word = r->begin, place;
	int a;

	if (rule_next(r) != 0 || rule_want(r, "(") != 0)
		return -1;
	place = r->begin;
	a = rule_relation(r);
	if (a < 0 || rule_want(r, ")") != 0)
		return -1;
	if (r->node[r->node[a].a].kind == NODE_PROB ||
	    r->node[r->node[a].a].kind == NODE_DISPERSION)
		return rule_fail_at(r, place,
		                    "this is of all replications, not of one");
	return wrap(r, NODE_PROB, a, word);
}

static int read_dispersion(struct rule_reader *r)
{
	size_t word = r->begin, place;
	int a;

	if (rule_next(r) != 0 || rule_want(r, "(") != 0)
		return -1;
	place = r->begin;
	if (r->token != TOKEN_WORD)
		return rule_fail(r, "share(...) is wanted");
	a = rule_term(r);
	if (a < 0 || rule_want(r, ")") != 0)
		return -1;
	if (r->terms->term[r->node[a].term].metric != METRIC_SHARE ||
	    r->terms->term[r->node[a].term].replicas)
		return rule_fail_at(r, place,
		                    "dispersion(...) wants share(dep_a)");
	return wrap(r, NODE_DISPERSION, a, word);
}

static int read_term(struct rule_reader *r)
{
	size_t place = r->begin;
	int a = rule_term(r);

	if (a >= 0 && r->terms->term[r->node[a].term].replicas)
		return rule_fail_at(r, place,
		                    "replicas(...) gives one value a replica: "
		                    "put max(...), min(...) or sum(...) around "
		                    "it");
	return a;
}

static int read_parentheses(struct rule_reader *r)
{
	int node;

	if (rule_next(r) != 0)
		return -1;
	node = rule_sum(r);
	return node < 0 || rule_want(r, ")") != 0 ? -1 : node;
}

static int read_negative(struct rule_reader *r);

static int read_word(struct rule_reader *r)
{
	if (rule_is(r, "least")) {
		int node = rule_node(r, NODE_LEAST, UNIT_RATIO, r->begin);

		return node < 0 || rule_next(r) != 0 ? -1 : node;
	}
	if (rule_is(r, "max"))
		return read_over_replicas(r, NODE_MAX);
	if (rule_is(r, "min"))
		return read_over_replicas(r, NODE_MIN);
	if (rule_is(r, "sum"))
		return read_over_replicas(r, NODE_SUM);
	if (rule_is(r, "prob"))
		return read_prob(r);
	if (rule_is(r, "dispersion"))
		return read_dispersion(r);
	return read_term(r);
}

static int read_factor(struct rule_reader *r)
{
	if (r->token == TOKEN_WORD)
		return read_word(r);
	if (r->token == TOKEN_NUMBER)
		return read_number(r);
	if (r->token == TOKEN_END)
		return rule_fail(r, "the rule ends where a value is wanted");
	if (rule_is(r, "("))
		return read_parentheses(r);
	if (rule_is(r, "-"))
		return read_negative(r);
	return rule_fail(r, "a value is wanted before \"%s\"", r->sign);
}

static int read_deeper(struct rule_reader *r)
{
	int node;

	if (++r->depth > RULE_DEPTH_MAX)
		return rule_fail(r, "nested more than %d deep", RULE_DEPTH_MAX);
	node = read_factor(r);
	r->depth--;
	return node;
}

static int read_negative(struct rule_reader *r)
{
	int a;

	if (rule_next(r) != 0)
		return -1;
	a = read_deeper(r);
	return a < 0 ? -1 : rule_join(r, NODE_NEG, r->node[a].unit, a, 0);
}

/* ---- products and sums ------------------------------------------------- */

static bool has_unit(enum measure_unit unit)
{
	return unit == UNIT_NS || unit == UNIT_PER_S;
}

/* What a product is measured in; -1: in nothing that a rule speaks of. */
static int unit_of_product(enum measure_unit a, enum measure_unit b)
{
	if (has_unit(a) && has_unit(b))
		return -1;
	if (has_unit(a) || b == UNIT_PLAIN)
		return (int)a;
	if (has_unit(b) || a == UNIT_PLAIN)
		return (int)b;
	return a == b ? (int)a : UNIT_COUNT;
}

static int unit_of_quotient(enum measure_unit a, enum measure_unit b)
{
	if (a == b)
		return UNIT_PLAIN;
	if (has_unit(b))
		return -1;
	return b == UNIT_COUNT && !has_unit(a) ? UNIT_PLAIN : (int)a;
}

static int multiply(struct rule_reader *r, bool times, int a, size_t place)
{
	int b = read_deeper(r);
	double value;
	int unit;

	if (b < 0)
		return -1;
	unit = times ? unit_of_product(r->node[a].unit, r->node[b].unit)
	             : unit_of_quotient(r->node[a].unit, r->node[b].unit);
	if (unit < 0)
		return rule_fail_at(
			r, place,
			times ? "a time or rate times a time or rate"
			      : "this is divided by a time or rate");
	if (!times && rule_constant(r, b, &value) && value == 0)
		return rule_fail_at(r, r->place[b], "divided by nothing");
	if (!times && rule_part(r, a, b))
		unit = UNIT_RATIO;
	return rule_join(r, times ? NODE_MUL : NODE_DIV,
	                 (enum measure_unit)unit, a, b);
}

static int read_product(struct rule_reader *r)
{
	int a = read_deeper(r);

	while (a >= 0 && (rule_is(r, "*") || rule_is(r, "/"))) {
		bool times = rule_is(r, "*");
		size_t place = r->begin;

		if (rule_next(r) != 0)
			return -1;
		a = multiply(r, times, a, place);
	}
	return a;
}

int rule_sum(struct rule_reader *r)
{
	int a = read_product(r);

	while (a >= 0 && (rule_is(r, "+") || rule_is(r, "-"))) {
		bool plus = rule_is(r, "+");
		enum measure_unit unit;
		size_t place = r->begin;
		int b;

		if (rule_next(r) != 0)
			return -1;
		b = read_product(r);
		if (b < 0)
			return -1;
		unit = r->node[a].unit;
		if (unit == UNIT_PLAIN)
			unit = r->node[b].unit;
		if ((r->node[a].unit == UNIT_NS) !=
		    (r->node[b].unit == UNIT_NS))
			return rule_fail_at(r, place,
			                    "a time and a number do not add");
		a = rule_join(r, plus ? NODE_ADD : NODE_SUB, unit, a, b);
	}
	return a;
}
