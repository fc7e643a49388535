/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of study: an expression's values, and the judges by kind of rule.
 * A judge looks at one relation over some replications: the rule's over all
 * of them or, inside prob(...) and `in >= m of n reps`, over one.
 */
#ifndef WEIR_STUDY_INT_H
#define WEIR_STUDY_INT_H

#include "study/study.h"

/* ---- stats.c ----------------------------------------------------------- */

/* Two-sided: twice the smaller tail. */
double study_chi_square_p(double x, double df);
/*
 * Student's interval around `centre` with `tail` outside on either side:
 * around an estimate from all of a run it is the interval by sections, which
 * lacks the bias that a percentile of a small section has.
 */
void study_centred_interval(const double *values, size_t n, double centre,
                            double tail, double *low, double *high);

/*
 * The largest of the smallest deviations, up and down, that the two-sided
 * test of p over n keys at `confidence` catches with `power`; exact. What
 * cannot be caught upwards or downwards counts as far as a share goes; INFINITY
 * when nothing can be caught at all.
 */
double study_binomial_sees(uint64_t n, double p, double confidence,
                           double power);

/* ---- parts.c ----------------------------------------------------------- */

/* What one run's parts, in order, and all of it come to. */
struct study_parts {
	const double *value;
	size_t n; /* 4 .. 64 */
	double whole;
	double least; /* nothing lies below: 0 or -INFINITY */
};

/* Whether the parts can say how sure the whole is. */
enum study_steadiness { PARTS_STEADY, PARTS_DRIFT, PARTS_APART };

/*
 * One-sided p of neighbours that are as much alike as these or more, were the
 * order nothing but chance: von Neumann's ratio of the ranks (Bartels, JASA
 * 77, 1982), which is normal for so many.
 */
double study_neighbours_p(const double *values, size_t n);
/*
 * The interval by sections or, where the parts are not steady, a wider one:
 * of a random walk when they drift, over all of them when they do not add up.
 */
enum study_steadiness study_parts_interval(const struct study_parts *p,
                                           double tail, double *low,
                                           double *high);

/* ---- eval.c ------------------------------------------------------------ */

/* What a judge works on. */
struct judge {
	const struct measure_rule *rule;
	const struct measure_terms *terms;
	const struct measure_result *result;
	uint32_t relation; /* its node */
	uint32_t first;    /* replications first .. end-1 */
	uint32_t end;
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

/* An expression's value; NAN when something in it is missing, or divided by
 * nothing. */
double judge_eval(const struct judge *j, uint32_t node,
                  const struct judge_place *at);
/* The value of a node without terms. */
double judge_constant(const struct judge *j, uint32_t node);
/* True when a comparison holds between two values; never with a NAN, nor
 * between two that are both infinite. */
bool judge_holds(double a, enum measure_compare compare, double b);
/* Batches that all terms below a node share in one run; 0: none, UINT32_MAX:
 * there is no term. */
uint32_t judge_batches(const struct judge *j, uint32_t node);
/* The same of two nodes, 0 when there is no term below either. */
uint32_t judge_shared_batches(const struct judge *j, uint32_t a, uint32_t b);
/* True when nothing below a node is subject to chance in a way that an
 * interval speaks of: counts, states and extremes. */
bool judge_is_exact(const struct judge *j, uint32_t node);
/* True when there is no term below a node. */
bool judge_is_constant(const struct judge *j, uint32_t node);
/* True when a node has no value below 0. */
bool judge_is_positive(const struct judge *j, uint32_t node);
/*
 * rate_per_replica(a), or that times or by a constant above 0: its node and
 * the factor. NULL when a node is something else.
 */
const struct measure_node *judge_rate(const struct judge *j, uint32_t node,
                                      double *factor);

/* ---- judge.c ----------------------------------------------------------- */

/* The judge of one relation in one replication, at the default confidence. */
struct judge judge_of_one(const struct judge *j, uint32_t relation,
                          uint32_t replication);
/* Judges an == that has a test of its own; false when it has none. */
bool judge_by_test(struct judge *j);
void judge_say(struct judge *j, enum study_verdict verdict, const char *note);
/* FAIL, for a term saw nothing in that replication. */
void judge_missing(struct judge *j, uint32_t replication);
/*
 * Replications, of a variance as seen, after which an interval with that half
 * width would no longer reach over that distance; 0: too many.
 */
uint32_t judge_more(const struct judge *j, double distance, double half);

/* ---- judge_share.c: exact tests of fractions --------------------------- */

/* x of n against a constant: == by its test, others by the interval. */
void judge_binomial(struct judge *j, double x, double n,
                    enum measure_compare compare, double bound);
void judge_share(struct judge *j);
void judge_moved(struct judge *j);
void judge_dispersion(struct judge *j);
void judge_rates(struct judge *j);

/* ---- judge_each.c: relations in each replication by itself ------------- */

/* What a relation comes to in one replication. */
enum judge_once { ONCE_MISSING = -1, ONCE_BROKEN, ONCE_HELD };
/* By its test where it has one, else by the values; *seen: the left side. */
enum judge_once judge_once(const struct judge *j, uint32_t relation,
                           uint32_t replication, double *seen);
void judge_exact(struct judge *j);
void judge_prob(struct judge *j);
void judge_reps(struct judge *j);

/* ---- judge_value.c: latencies, means and quotients --------------------- */

void judge_interval(struct judge *j);
void judge_within(struct judge *j);

#endif
