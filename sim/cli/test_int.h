/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir test, inside - many scenarios side by side, and what became of each.
 *
 * A trial is one scenario's file: it is read, run and judged by one thread,
 * which shares nothing with the others, so that neither the order nor the
 * bytes of the report depend on how many there are. What goes wrong in one
 * trial is kept in it.
 */
#ifndef WEIR_CLI_TEST_INT_H
#define WEIR_CLI_TEST_INT_H

#include "cli_int.h"

/* A number that is not what the baseline has. */
struct change {
	char cell[64];
	char metric[160];
	json_t *was; /* NULL: is new */
	json_t *is;  /* NULL: is gone */
};

struct trial {
	char *file;
	char name[128]; /* the scenario's or, while it is not known, the file */
	struct cells cells;
	struct outcome *outcome; /* by cell; their results are gone */
	json_t **numbers;        /* by cell: metric -> value */
	bool ran;
	bool interrupted;
	struct err e; /* why it could not be read or run */

	char baseline[1200]; /* the file it was compared with; "": none */
	bool missing;        /* there is no such file */
	struct change *change;
	size_t n_changes;
};

struct trials {
	struct trial *trial;
	size_t n;
	uint32_t n_tests; /* statistical rules, for Holm's correction */
};

/* test_find.c: the scenarios below those words, in order. 0 or EXIT_INPUT. */
int trials_find(struct trials *t, const struct options *o);
void trials_free(struct trials *t);

/* test_run.c */
/* Reads, runs and judges; by one thread at a time. */
void trial_run(struct trial *t, const struct options *o,
               const struct places *p);
/* Runs all of them, so many at a time. */
void trials_run(struct trials *t, const struct options *o, unsigned threads);
/*
 * Holm's correction over the tests of all trials, each at its own
 * confidence: a rule that fails by a p not small enough among so many passes.
 */
void trials_correct(struct trials *t);
/* EXIT_HELD, _RULE, _INPUT or _INTERRUPTED. */
int trial_exit(const struct trial *t);

/* test_baseline.c */
/* The numbers of a cell, flat: "ep_demo.dep_a.ttft.p95_ms". */
json_t *baseline_numbers(const struct outcome *o, const struct cell *cell);
/* Compares, records and accepts, as the options ask; 0 or EXIT_MACHINE. */
int trials_baselines(struct trials *t, const struct options *o);

/* test_report.c */
struct test_format {
	void (*begin)(FILE *to, const struct trials *t);
	void (*trial)(FILE *to, const struct trial *t, size_t number,
	              bool color);
	void (*end)(FILE *to, const struct trials *t);
};

void test_print(FILE *to, const struct trials *t, enum cli_format format,
                bool color);
/* Those that did not hold, as text. */
void test_print_failures(FILE *to, const struct trials *t);
/* test_text.c: the formats for people. */
extern const struct test_format test_text;
/* test_ci.c: those for machines. */
extern const struct test_format test_tap, test_junit, test_github;

/* A rule that did not hold, on one line, in the arena. */
const char *test_rule_line(struct arena *a, const struct measure_rule *rule,
                           const struct study_judgement *j);
/* A number of a baseline; "-" for NULL. */
const char *test_show_number(const json_t *value, char *buf, size_t size);

#endif
