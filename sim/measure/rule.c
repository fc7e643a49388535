/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grammar of rules, read by recursive descent:
 *
 *   rule      = relation [ "in" ">=" N "of" N "reps" ]
 *               [ "confidence" PERCENT ]
 *   relation  = sum compare sum | sum "in" sum ".." sum
 *             | sum "within" PERCENT "of" sum
 *   compare   = "==" | "!=" | "<" | "<=" | ">" | ">="
 *   sum       = product { ("+" | "-") product }
 *   product   = factor { ("*" | "/") factor }
 *   factor    = NUMBER | "-" factor | "(" sum ")" | "least" | term
 *             | ("max" | "min" | "sum") "(" term ")"
 *             | "prob" "(" relation ")" | "dispersion" "(" term ")"
 *   term      = metric [ "." statistic ] [ "(" selector { "," selector } ")" ]
 *   selector  = DEPLOYMENT | ENDPOINT | TRAFFIC | ERROR | EVENT | window
 *             | "replica" N | "replicas" "(" DEPLOYMENT ")"
 *   window    = moment ".." [ moment ] | ".." [ moment ]
 *             | moment                        (moved_keys)
 *   moment    = TIME | condition | "settled" "(" moment ")"
 *   condition = gauge "(" DEPLOYMENT | ENDPOINT ")" compare NUMBER
 *
 * A number may carry a unit of time (500ms, 1h30m), "%", or "/s", "/m", "/h".
 * Examples:
 *
 *   share(dep_a, settled(replicas.ready(dep_a) == 2)..12m) == 2/3
 *   ttft.p95(chat, 0s..10m) < 500ms confidence 99%
 *   ttft.p95(dep_b) < 1.25 * ttft.p95(dep_a)
 *   timeouts <= 0.1%
 *   moved_keys(replicas.ready(dep_a) == 2) == least
 *   prob(max(requests(replicas(dep_a))) >= 237) >= 0.01
 *   throughput(dep_a) > throughput(dep_b) in >= 99 of 100 reps
 *
 * A number of requests of some kind that is compared with a percent is that
 * part of the requests with the same selectors. Units must agree; a rule that
 * can never fail, or never hold, is refused.
 */
#include <assert.h>
#include <string.h>

#include "measure/rule_int.h"

/* ---- relations --------------------------------------------------------- */

static int read_comparison(struct rule_reader *r, int a, int compare)
{
	int b, node;

	if (rule_next(r) != 0)
		return -1;
	b = rule_sum(r);
	if (b < 0 || rule_units(r, &a, b) != 0)
		return -1;
	node = rule_join(r, NODE_COMPARE, r->node[a].unit, a, b);
	if (node >= 0)
		r->node[node].compare = (enum measure_compare)compare;
	return node;
}

static int read_in(struct rule_reader *r, int a)
{
	int low, high, node;

	if (rule_next(r) != 0)
		return -1;
	if (rule_is(r, ">="))
		return rule_fail(r, "a comparison is wanted before \"in >= N "
		                    "of N reps\"");
	low = rule_sum(r);
	if (low < 0 || rule_units(r, &a, low) != 0 || rule_want(r, "..") != 0)
		return -1;
	high = rule_sum(r);
	if (high < 0 || rule_units(r, &a, high) != 0)
		return -1;
	node = rule_join(r, NODE_IN, r->node[a].unit, a, low);
	if (node >= 0)
		r->node[node].c = (uint32_t)high;
	return node;
}

static int read_within(struct rule_reader *r, int a)
{
	int part, of, node;

	if (rule_next(r) != 0)
		return -1;
	if (r->token != TOKEN_NUMBER || r->unit != UNIT_RATIO ||
	    !(r->number > 0))
		return rule_fail(r,
		                 "within wants a percent: a within 5%% of b");
	part = rule_node(r, NODE_NUMBER, UNIT_RATIO, r->begin);
	if (part < 0)
		return -1;
	r->node[part].number = r->number;
	if (rule_next(r) != 0 || rule_want(r, "of") != 0)
		return -1;
	of = rule_sum(r);
	if (of < 0 || rule_units(r, &a, of) != 0)
		return -1;
	node = rule_join(r, NODE_WITHIN, r->node[a].unit, a, part);
	if (node >= 0)
		r->node[node].c = (uint32_t)of;
	return node;
}

int rule_relation(struct rule_reader *r)
{
	int a = rule_sum(r), node;
	int compare = rule_compare(r);

	if (a < 0)
		return -1;
	if (compare >= 0)
		node = read_comparison(r, a, compare);
	else if (rule_is(r, "in"))
		node = read_in(r, a);
	else if (rule_is(r, "within"))
		node = read_within(r, a);
	else
		return rule_fail(r, "a comparison is wanted: ==, !=, <, <=, >, "
		                    ">=, in or within");
	return node < 0 || rule_check(r, node) != 0 ? -1 : node;
}

/* ---- the whole --------------------------------------------------------- */

static int read_whole(struct rule_reader *r, uint64_t *to)
{
	if (r->token != TOKEN_NUMBER || r->unit != UNIT_PLAIN ||
	    r->number < 1 || r->number > 1e9 ||
	    r->number != (double)(uint64_t)r->number)
		return rule_fail(r, "a whole number is wanted");
	*to = (uint64_t)r->number;
	return rule_next(r);
}

/* in >= 199 of 200 reps */
static int read_reps(struct rule_reader *r, int a)
{
	int node = rule_join(r, NODE_REPS, UNIT_PLAIN, a, 0);
	struct measure_node *n;
	size_t place;

	if (node < 0 || rule_next(r) != 0 || rule_want(r, ">=") != 0)
		return -1;
	n = &r->node[node];
	place = r->begin;
	if (read_whole(r, &n->at_least) != 0 || rule_want(r, "of") != 0 ||
	    read_whole(r, &n->out_of) != 0)
		return -1;
	if (n->at_least > n->out_of)
		return rule_fail_at(r, place, "more than there are");
	if (rule_want(r, "reps") != 0)
		return -1;
	if (rule_is(r, "confidence"))
		return rule_fail(r, "replications are counted, with no "
		                    "confidence");
	if (r->node[r->node[a].a].kind == NODE_PROB ||
	    r->node[r->node[a].a].kind == NODE_DISPERSION)
		return rule_fail_at(r, r->place[a],
		                    "this is of all replications, not of one");
	return node;
}

static int read_confidence(struct rule_reader *r, double *confidence)
{
	if (rule_next(r) != 0)
		return -1;
	if (r->token == TOKEN_NUMBER && r->unit == UNIT_PLAIN &&
	    r->number >= 50 && r->number < 100)
		return rule_fail(r, "confidence wants a percent: write %g%%",
		                 r->number);
	if (r->token != TOKEN_NUMBER || r->unit != UNIT_RATIO ||
	    !(r->number >= 0.5 && r->number < 1))
		return rule_fail(r, "confidence wants 50%% to below 100%%");
	*confidence = r->number;
	return rule_next(r);
}

/* The root's number; -1 with the error set. */
static int read_rule(struct rule_reader *r, double *confidence)
{
	int root;

	/* The root is made last, and moved here. */
	if (rule_node(r, NODE_NUMBER, UNIT_PLAIN, 0) < 0 || rule_next(r) != 0)
		return -1;
	if (r->token == TOKEN_END)
		return rule_fail(r, "a rule is wanted, such as "
		                    "ttft.p95 < 500ms");
	root = rule_relation(r);
	if (root >= 0 && rule_is(r, "in"))
		root = read_reps(r, root);
	if (root < 0)
		return -1;
	if (rule_is(r, "confidence") && read_confidence(r, confidence) != 0)
		return -1;
	if (r->token != TOKEN_END)
		return rule_fail(r, "\"%.20s\" is too much",
		                 r->text + r->begin);
	return root;
}

int measure_rule_parse(const char *text, const struct measure_names *names,
                       struct arena *arena, struct measure_terms *terms,
                       struct measure_rule *out, struct err *e)
{
	struct rule_reader r = {.text = text,
	                        .at = text,
	                        .names = names,
	                        .arena = arena,
	                        .terms = terms,
	                        .err = e};
	uint32_t n_terms = terms->n;
	struct measure_node *nodes;
	double confidence = 0;
	int root;

	assert(text && names && arena && terms && out && e);
	assert(names->n_endpoints > 0);
	root = read_rule(&r, &confidence);
	if (root < 0) {
		terms->n = n_terms;
		return -1;
	}
	r.node[0] = r.node[root];
	nodes = arena_new(arena, r.n_nodes, sizeof(*nodes));
	memcpy(nodes, r.node, r.n_nodes * sizeof(*nodes));
	*out = (struct measure_rule){.text = arena_strdup(arena, text),
	                             .confidence = confidence,
	                             .n_nodes = r.n_nodes,
	                             .nodes = nodes};
	return 0;
}
