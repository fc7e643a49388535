/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which test a rule asks for, by the shape of its tree. */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>

/* Of all statistical rules, unless one says otherwise. */
#define DEFAULT_CONFIDENCE 0.999

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

static bool is_term(const struct judge *j, const struct measure_node *n,
                    enum measure_metric metric)
{
	return n->kind == NODE_TERM && judge_term(j, n)->metric == metric &&
	       !judge_term(j, n)->replicas;
}

/* rate_per_replica(a), or a number times it. */
static bool is_rate(const struct judge *j, const struct measure_node *n)
{
	if (n->kind == NODE_MUL) {
		const struct measure_node *a = judge_node(j, n->a);
		const struct measure_node *b = judge_node(j, n->b);

		return (a->kind == NODE_NUMBER &&
		        is_term(j, b, METRIC_RATE_PER_REPLICA)) ||
		       (b->kind == NODE_NUMBER &&
		        is_term(j, a, METRIC_RATE_PER_REPLICA));
	}
	return is_term(j, n, METRIC_RATE_PER_REPLICA);
}

static void judge_comparison(struct judge *j)
{
	const struct measure_node *root = judge_node(j, 0);
	const struct measure_node *a = judge_node(j, root->a);
	const struct measure_node *b = judge_node(j, root->b);

	if (b->kind == NODE_LEAST)
		judge_moved(j);
	else if (a->kind == NODE_DISPERSION)
		judge_dispersion(j);
	else if (a->kind == NODE_PROB)
		judge_prob(j);
	else if (is_term(j, a, METRIC_SHARE) && judge_is_constant(j, root->b))
		judge_share(j);
	else if (root->compare == COMPARE_EQ &&
	         is_term(j, a, METRIC_RATE_PER_REPLICA) && is_rate(j, b))
		judge_rates(j);
	else if (judge_is_exact(j, root->a) && judge_is_exact(j, root->b))
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

struct study_judgement study_judge(const struct measure_rule *rule,
                                   const struct measure_terms *terms,
                                   const struct measure_result *result)
{
	struct judge j = {
		.rule = rule,
		.terms = terms,
		.result = result,
		.confidence = rule->confidence > 0 ? rule->confidence
	                                           : DEFAULT_CONFIDENCE,
		.out = {.seen = NAN,
	                .bound = NAN,
	                .low = NAN,
	                .high = NAN,
	                .p = NAN,
	                .request_share = NAN,
	                .unit = unit_of(&rule->nodes[0])},
	};
	const struct measure_node *root = judge_node(&j, 0);

	assert(result->replications > 0 && rule->n_nodes > 0);
	switch (root->kind) {
	case NODE_COMPARE:
		judge_comparison(&j);
		break;
	case NODE_IN:
		if (judge_is_exact(&j, root->a))
			judge_exact(&j);
		else
			judge_interval(&j);
		break;
	case NODE_WITHIN:
		judge_within(&j);
		break;
	default:
		judge_reps(&j);
		break;
	}
	return j.out;
}
