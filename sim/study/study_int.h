/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of study: an expression's values, and the judges by kind of rule.
 */
#ifndef WEIR_STUDY_INT_H
#define WEIR_STUDY_INT_H

#include "study/study.h"

/* Two-sided: twice the smaller tail. */
double study_chi_square_p(double x, double df);

/* What a judge works on. */
struct judge {
	const struct measure_rule *rule;
	const struct measure_terms *terms;
	const struct measure_result *result;
	double confidence;
	struct study_judgement out;
};

static inline const struct measure_node *judge_node(const struct judge *j,
                                                    uint32_t i)
{
	return &j->rule->nodes[i];
}

static inline const struct measure_term *
judge_term(const struct judge *j, const struct measure_node *n)
{
	return &j->terms->term[n->term];
}

/* What a term's probe saw in one replication. */
const struct measure_value *judge_value(const struct judge *j, uint32_t term,
                                        uint32_t replication);

/* Which value of a gauge without a statistic: its mean, or the extremes. */
enum judge_side { SIDE_MEAN, SIDE_LOW, SIDE_HIGH };

/* Where an expression is looked at: a replication, or a batch of it. */
struct judge_place {
	uint32_t replication;
	uint32_t batch; /* UINT32_MAX: the whole run */
	enum judge_side side;
};

/* An expression's value; NAN when something in it is missing. */
double judge_eval(const struct judge *j, uint32_t node,
                  const struct judge_place *at);
/* True when a comparison holds between two values. */
bool judge_holds(double a, enum measure_compare compare, double b);
/* Batches that all terms below a node share in one run; 0: none. */
uint32_t judge_batches(const struct judge *j, uint32_t node);
/* True when nothing below a node is subject to chance in a way that an
 * interval speaks of: counts, states and extremes. */
bool judge_is_exact(const struct judge *j, uint32_t node);
/* True when there is no term below a node. */
bool judge_is_constant(const struct judge *j, uint32_t node);

/* judge_share.c: exact tests of fractions of keys. */
void judge_share(struct judge *j);
void judge_moved(struct judge *j);
void judge_dispersion(struct judge *j);
void judge_prob(struct judge *j);
void judge_rates(struct judge *j);

/* judge_value.c: counts, states, latencies. */
void judge_exact(struct judge *j);
void judge_reps(struct judge *j);
void judge_interval(struct judge *j);
void judge_within(struct judge *j);

#endif
