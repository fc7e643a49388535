/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which test a rule asks for, by the shape of its tree. */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Of all statistical rules, unless one says otherwise. */
#define DEFAULT_CONFIDENCE 0.999
/* With which what a test sees is seen. */
#define POWER 0.99

const char *study_verdict_name(enum study_verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_FAIL] = "FAIL",
		[VERDICT_UNDECIDED] = "?",
	};

	assert((unsigned)verdict <= VERDICT_UNDECIDED);
	return names[verdict];
}

void judge_say(struct judge *j, enum study_verdict verdict, const char *note)
{
	j->out.verdict = verdict;
	snprintf(j->out.note, sizeof(j->out.note), "%s", note);
}

void judge_missing(struct judge *j, uint32_t replication)
{
	static const char note[] =
		"its window never opened, or nothing was in it";

	judge_say(j, VERDICT_FAIL, note);
	if (j->result->replications > 1)
		snprintf(j->out.note, sizeof(j->out.note),
		         "%s, in replication %u", note, (unsigned)replication);
}

uint32_t judge_more(const struct judge *j, double distance, double half)
{
	double n = j->end - j->first;
	double ratio = half / fabs(distance);
	double more = ceil(n * ratio * ratio) + 1;

	return more > n && more < 1e6 ? (uint32_t)more : 0;
}

/* ---- by shape ---------------------------------------------------------- */

/* A fraction of keys, which the binomial knows. */
static bool is_fraction(const struct judge *j, uint32_t node)
{
	const struct measure_node *n = judge_node(j, node);
	enum measure_metric metric;

	if (n->kind != NODE_TERM || judge_term(j, n)->replicas)
		return false;
	metric = judge_term(j, n)->metric;
	return metric == METRIC_SHARE || metric == METRIC_MOVED_KEYS;
}

bool judge_by_test(struct judge *j)
{
	const struct measure_node *n = judge_node(j, j->relation);
	double factor;

	if (n->kind != NODE_COMPARE || n->compare != COMPARE_EQ)
		return false;
	if (judge_node(j, n->b)->kind == NODE_LEAST)
		judge_moved(j);
	else if (is_fraction(j, n->a) && judge_is_constant(j, n->b))
		judge_share(j);
	else if (judge_rate(j, n->a, &factor) && judge_rate(j, n->b, &factor))
		judge_rates(j);
	else
		return false;
	return true;
}

static void judge_relation(struct judge *j)
{
	const struct measure_node *n = judge_node(j, j->relation);
	const struct measure_node *a = judge_node(j, n->a);

	if (n->kind == NODE_WITHIN)
		judge_within(j);
	else if (a->kind == NODE_DISPERSION)
		judge_dispersion(j);
	else if (a->kind == NODE_PROB)
		judge_prob(j);
	else if (is_fraction(j, n->a) && judge_is_constant(j, n->b) &&
	         (n->kind != NODE_IN || judge_is_constant(j, n->c)))
		judge_share(j);
	else if (judge_is_exact(j, n->a) &&
	         (n->kind == NODE_IN || judge_is_exact(j, n->b)))
		judge_exact(j);
	else
		judge_interval(j);
}

static enum study_unit unit_of(const struct measure_node *root)
{
	return root->unit == UNIT_NS      ? UNIT_TIME_NS
	       : root->unit == UNIT_RATIO ? UNIT_FRACTION
	                                  : UNIT_NUMBER;
}

static struct study_judgement nothing_yet(const struct measure_node *root)
{
	return (struct study_judgement){
		.verdict = VERDICT_FAIL,
		.seen = NAN,
		.bound = NAN,
		.low = NAN,
		.high = NAN,
		.p = NAN,
		.request_share = NAN,
		.sees = NAN,
		.unit = unit_of(root),
	};
}

struct judge judge_of_one(const struct judge *j, uint32_t relation,
                          uint32_t replication)
{
	struct judge one = *j;

	one.relation = relation;
	one.first = replication;
	one.end = replication + 1;
	one.confidence = DEFAULT_CONFIDENCE;
	one.out = nothing_yet(judge_node(j, relation));
	return one;
}

/* What a share would have had to be for its test to catch it. */
static void put_sees(struct judge *j)
{
	const struct measure_node *n = judge_node(j, j->relation);

	if (n->kind != NODE_COMPARE || !isfinite(j->out.p))
		return;
	if (is_fraction(j, n->a) || judge_node(j, n->a)->kind == NODE_PROB)
		j->out.sees = study_binomial_sees(
			(uint64_t)j->out.n, j->out.bound, j->confidence, POWER);
}

struct study_judgement study_judge(const struct measure_rule *rule,
                                   const struct measure_terms *terms,
                                   const struct measure_result *result)
{
	struct judge j = {
		.rule = rule,
		.terms = terms,
		.result = result,
		.end = result->replications,
		.confidence = rule->confidence > 0 ? rule->confidence
	                                           : DEFAULT_CONFIDENCE,
		.out = nothing_yet(&rule->nodes[0]),
	};

	assert(result->replications > 0 && rule->n_nodes > 0);
	if (rule->nodes[0].kind == NODE_REPS)
		judge_reps(&j);
	else if (!judge_by_test(&j))
		judge_relation(&j);
	put_sees(&j);
	return j.out;
}
