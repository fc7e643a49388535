/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of the rule reader. rule_lex.c cuts words; rule_metric.c knows what
 * each metric is; rule_term.c reads what is measured, rule_name.c of whom,
 * rule_window.c when; rule_sum.c the arithmetic around it; rule_check.c says
 * what makes no sense; rule.c puts a rule together.
 */
#ifndef WEIR_RULE_INT_H
#define WEIR_RULE_INT_H

#include "measure/measure.h"

enum rule_token {
	TOKEN_END,
	TOKEN_NUMBER, /* number and unit */
	TOKEN_WORD,   /* ttft.p95, dep_a, within */
	TOKEN_SIGN,   /* ( ) , .. + - * / and comparisons; text in sign */
};

enum { RULE_WORD_MAX = 64, RULE_DEPTH_MAX = 24, RULE_NODES_MAX = 64 };

struct rule_reader {
	const char *text;
	const char *at; /* behind the token */
	enum rule_token token;
	size_t begin; /* of the token in text */
	char word[RULE_WORD_MAX];
	char sign[3];
	double number;
	enum measure_unit unit;
	int depth;
	struct measure_node node[RULE_NODES_MAX];
	size_t place[RULE_NODES_MAX]; /* of a node's text */
	uint32_t n_nodes;
	const struct measure_names *names;
	struct arena *arena;
	struct measure_terms *terms;
	struct err *err;
};

/* ---- rule_lex.c -------------------------------------------------------- */

/* Reads the next token. -1 with the error set when there is none such. */
int rule_next(struct rule_reader *r);
/* Sets the error at the token's column and returns -1. */
int rule_fail(struct rule_reader *r, const char *fmt, ...) BASE_PRINTF(2, 3);
/* The same at a place in the text. */
int rule_fail_at(struct rule_reader *r, size_t place, const char *fmt, ...)
	BASE_PRINTF(3, 4);
/* True when the token is this sign or word. */
bool rule_is(const struct rule_reader *r, const char *text);
/* Moves over this sign or word, or says that it is wanted. */
int rule_want(struct rule_reader *r, const char *text);
/* The comparison that the token is; -1 when it is none. */
int rule_compare(const struct rule_reader *r);

/* ---- rule_metric.c ----------------------------------------------------- */

/* What a metric is: how rules may use it. */
struct rule_metric {
	const char *name;
	enum measure_unit unit;
	enum {
		KIND_COUNT,
		KIND_LATENCY,
		KIND_GAUGE,
		KIND_SHARE,
		KIND_RATE,
		KIND_MOVED
	} kind;
	unsigned takes;
};

/* What may be told apart, what must be, and what is part of the requests. */
enum {
	TAKES_DEPLOYMENT = 1,
	WANTS_DEPLOYMENT = 2,
	TAKES_TRAFFIC = 4,
	TAKES_REPLICA = 8,
	OF_REQUESTS = 16,
};

const struct rule_metric *rule_metric_of(enum measure_metric metric);
/* The metric a word begins with, or -1; *rest is what follows its dot, or
 * NULL. */
int rule_metric_find(const char *word, const char **rest);
/* Says that the word is no metric. */
int rule_metric_unknown(struct rule_reader *r);
/* Reads "p95" or "max" into t, if its metric has such a thing; begin is its
 * place in the text. */
int rule_statistic(struct rule_reader *r, const char *text, size_t begin,
                   struct measure_term *t);

/* ---- rule_term.c, rule_name.c, rule_window.c --------------------------- */

/* A metric with its selectors, from the current token: a NODE_TERM. Returns
 * the node's number, or -1. */
int rule_term(struct rule_reader *r);
/* A node for a term, which is added unless it is there already. */
int rule_term_node(struct rule_reader *r, const struct measure_term *t,
                   size_t place);
/* True when a is some of the requests that b counts. */
bool rule_part(const struct rule_reader *r, int a, int b);
/* One selector that is a name: of a deployment, an endpoint, a traffic, an
 * error or a type of event. */
int rule_name(struct rule_reader *r, struct measure_term *t);
/* replicas(dep_a), or replica N. */
int rule_replicas(struct rule_reader *r, struct measure_term *t);
int rule_replica(struct rule_reader *r, struct measure_term *t);
/* True when the token begins a window or moment. */
bool rule_window_begins(const struct rule_reader *r);
int rule_window(struct rule_reader *r, struct measure_term *t);

/* ---- rule_sum.c -------------------------------------------------------- */

/* Adds a node with two children; its number, or -1. */
int rule_join(struct rule_reader *r, enum measure_node_kind kind,
              enum measure_unit unit, int a, int b);
int rule_node(struct rule_reader *r, enum measure_node_kind kind,
              enum measure_unit unit, size_t place);
/* Arithmetic; its node's number, or -1. */
int rule_sum(struct rule_reader *r);

/* ---- rule_check.c ------------------------------------------------------ */

/* The value of a node without terms; false when there are some. */
bool rule_constant(const struct rule_reader *r, int node, double *value);
/*
 * Whether *a may be compared with b. A count of requests that is compared
 * with a percent becomes that part of the requests.
 */
int rule_units(struct rule_reader *r, int *a, int b);
/* Whether a relation can fail, can hold, and says what it may say. */
int rule_check(struct rule_reader *r, int relation);

/* ---- rule.c ------------------------------------------------------------ */

int rule_relation(struct rule_reader *r);

#endif
