/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * study - replications, and what may be said after them.
 *
 * Runs a world so many times with streams that differ by replication, pools
 * the results, and judges rules. A share or fraction is tested by an exact
 * two-sided binomial test (minimum likelihood) over distinct keys; a latency,
 * mean or quotient by its confidence interval, from 20 batches of one run, if
 * they are steady, or from the values of the replications; counts, states and
 * extremes by what they are. What saw nothing fails. README.md says how, kind
 * by kind.
 *
 * What it does not do: read files or print.
 */
#ifndef WEIR_STUDY_H
#define WEIR_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "endpoint/endpoint.h"
#include "measure/measure.h"

/* ---- statistics -------------------------------------------------------- */

/* Exact two-sided binomial test by minimum likelihood: P(as likely or less). */
double study_binomial_p(uint64_t x, uint64_t n, double p);
/* Clopper-Pearson interval at `confidence` (0.95); n > 0. */
void study_binomial_interval(uint64_t x, uint64_t n, double confidence,
                             double *low, double *high);
/* Student's t interval of the mean of n >= 2 values. */
void study_mean_interval(const double *values, size_t n, double confidence,
                         double *low, double *high);

/* ---- latencies --------------------------------------------------------- */

enum study_latency { STUDY_TTFT, STUDY_TPOT, STUDY_ITL, STUDY_E2E };

/*
 * The interval of an endpoint's p95, in ns, around the p95 of all: from the
 * batches of the run, or of all replications. False when there is none (the
 * length was not known beforehand, or too many of a batch never ended), or none
 * that holds: the batches drift, do not add up to the p95 of all, or would
 * have it reach below 0.
 */
bool study_p95_interval(const struct measure_result *result, uint32_t endpoint,
                        enum study_latency latency, double confidence,
                        double *low, double *high);

/* ---- rules ------------------------------------------------------------- */

enum study_verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_UNDECIDED };

/* "pass", "FAIL", "?". */
const char *study_verdict_name(enum study_verdict verdict);

/* What one rule saw. NAN and 0 where a part has no meaning. */
struct study_judgement {
	enum study_verdict verdict;
	double seen;          /* left side, pooled */
	double bound;         /* right side */
	double low, high;     /* interval of seen at the rule's confidence */
	double p;             /* of a test */
	double n;             /* keys, requests or replications it rests on */
	double request_share; /* beside a tested share of keys */
	/* Of an == with a binomial test: a share so far from the bound, on
	 * either side, is caught with a power of 99 % (exact); INFINITY when
	 * so few keys catch none. */
	double sees;
	uint32_t reps_needed; /* undecided: replications that would decide */
	enum study_unit { UNIT_NUMBER, UNIT_TIME_NS, UNIT_FRACTION } unit;
	char note[160]; /* in words, what is not in the numbers; may be "" */
};

/* Judges a rule over the merged result of `result->replications` runs. */
struct study_judgement study_judge(const struct measure_rule *rule,
                                   const struct measure_terms *terms,
                                   const struct measure_result *result);

/* ---- replications ------------------------------------------------------ */

/* Called between replications; return false to stop after this one. */
struct study_progress {
	void *self;
	bool (*done)(void *self, uint32_t finished, uint32_t of);
};

/*
 * Runs replications 0 .. reps-1 of the world and merges them. `observer`
 * gets the feed of replication 0 only, unless log_all. NULL with *e filled
 * when a run could not be made; *interrupted when progress or the observer said
 * stop: what was finished is returned, NULL when that is nothing.
 */
struct study_runs {
	const struct world_spec *world;
	uint64_t seed;
	uint32_t reps;
	bool log_all;
	struct world_observer observer;
	struct study_progress progress;
};

struct measure_result *study_run(const struct study_runs *runs,
                                 bool *interrupted, struct err *e);

#endif
