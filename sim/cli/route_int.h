/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir route, inside - the routing core alone: tables, keys, and what becomes
 * of shares, stickiness and movement.
 *
 * A table is read from JSON with every replica ready and nothing in flight.
 * Keys come from lines, a CSV column or request bodies, by large buffers.
 * Tests count distinct keys, each once.
 */
#ifndef WEIR_CLI_ROUTE_INT_H
#define WEIR_CLI_ROUTE_INT_H

#include "cli_int.h"

/* ---- route_table.c ----------------------------------------------------- */

/* One deployment as the table has it. */
struct router_deployment {
	const char *id;
	uint64_t weight;
	uint32_t replicas;
	const struct route_policy *policy;
};

struct router {
	struct arena arena;
	const char *file;
	uint32_t n;
	struct router_deployment *deployment;
	uint32_t *first; /* by deployment, the slot of its first replica */
	uint32_t n_slots;
	struct route_table *table;
	struct route_state *state;
};

/*
 * Reads a table: an endpoint object, {"endpoint": ...}, {"endpoints": [...]}
 * (the first counts), or a whole scenario. 0, or -1 with *e.
 */
int router_read(struct router *r, const char *file, const struct options *o,
                struct err *e);
void router_free(struct router *r);
/* "dep_a-0", as in a run. */
void router_replica_name(const struct router *r, uint32_t deployment,
                         uint32_t replica, char *buf, size_t size);

/* ---- route_place.c ----------------------------------------------------- */

/*
 * Where "$.deployments[0].id" stands in a JSON text that parses: line and
 * column from 1, as far as the path leads.
 */
void json_place(const char *text, const char *path, int *line, int *col);

/* ---- route_lines.c ----------------------------------------------------- */

/* Lines of a file or of stdin, read by large buffers. */
struct lines {
	const char *name; /* for messages */
	int fd;
	bool ended;
	char *buf;
	size_t size, begin, end;
	uint64_t number; /* of the line given last, from 1 */
};

int lines_open(struct lines *l, const char *file, struct err *e);
void lines_close(struct lines *l);
/*
 * The next line without its end, valid until the next call; with `quotes`,
 * one whose double quotes are open goes on behind the line's end. 1, 0 at
 * the end, -1 with *e.
 */
int lines_next(struct lines *l, bool quotes, char **text, size_t *n,
               struct err *e);
/* Fills *e at the last line; returns -1. */
int lines_error(const struct lines *l, int col, const char *path, struct err *e,
                const char *text);

/* ---- route_keys.c ------------------------------------------------------ */

enum keys_form { KEYS_PLAIN, KEYS_CSV, KEYS_JSON };

struct keys_reader {
	struct lines lines;
	enum keys_form form;
	size_t column; /* of KEYS_CSV */
	char *made;    /* KEYS_JSON: text of the content */
	size_t made_size;
};

struct sampled_key {
	const char *text; /* not terminated */
	size_t len;
	uint64_t hash;
	bool of_content; /* too long to be shown: show its hash */
};

/* FILE NULL or "-": stdin. `column` is the CSV's. */
int keys_open(struct keys_reader *k, const char *file, enum keys_form form,
              const char *column, struct err *e);
void keys_close(struct keys_reader *k);
/* 1, 0 at the end, -1 with *e. */
int keys_next(struct keys_reader *k, struct sampled_key *key, struct err *e);

/* ---- route_flat.c ------------------------------------------------------ */

enum { FLAT_MEMBERS = 24 };

/* A member of an object: where its name and, of a string, its text stand. */
struct flat_member {
	const char *name, *text;
	size_t name_len, len;
	bool is_string;
};

/*
 * The members of the object that a line is, `m` having room for FLAT_MEMBERS;
 * -1: it is not plain, or wrong, and the JSON library must look.
 */
int flat_read(const char *text, size_t n, struct flat_member *m);
/* The member of that name, NULL when there is none. */
const struct flat_member *flat_find(const struct flat_member *m, int n,
                                    const char *name);

/* ---- route_body.c ------------------------------------------------------ */

/*
 * The sampling key of a request body, by the platform's order:
 * prompt_cache_key, else user, else its content. 0 or -1 with *e.
 */
int body_key(struct keys_reader *k, const char *text, size_t n,
             struct sampled_key *key, struct err *e);

/* ---- route_ledger.c ---------------------------------------------------- */

enum { LEDGER_SIDES = 2 };

/* A deployment of either table, or one that a decision named. */
struct ledger_name {
	const char *id;
	uint64_t capacity[LEDGER_SIDES];
	uint64_t
		keys[LEDGER_SIDES]; /* distinct ones, by their first decision */
};

struct ledger_key {
	uint64_t hash;
	uint32_t where[LEDGER_SIDES]; /* ROUTE_NONE: not decided there */
	bool on_two[LEDGER_SIDES];
	bool used;
};

/* Where each distinct key went, under one table or two. */
struct ledger {
	struct arena arena;
	struct ledger_name *name;
	uint32_t n_names;
	struct ledger_key *slot;
	size_t n_slots, n_keys;
	uint64_t decisions[LEDGER_SIDES];
	uint64_t distinct[LEDGER_SIDES];
	uint64_t on_two[LEDGER_SIDES]; /* keys */
	char example[256];             /* the first of them, in words */
};

void ledger_init(struct ledger *l);
void ledger_free(struct ledger *l);
/* The number of a deployment's id, a new one when there is none. */
uint32_t ledger_name(struct ledger *l, const char *id, size_t n);
/* Takes a table's deployments as those of a side. */
void ledger_table(struct ledger *l, int side, const struct router *r);
/* A key was decided: 0, or 1 when it was elsewhere before on that side. */
int ledger_put(struct ledger *l, int side, uint64_t hash, uint32_t name);
/* Reads decisions (JSON Lines: key, deployment) as those of a side. */
int ledger_decisions(struct ledger *l, int side, const char *file,
                     struct err *e);

/* ---- route_judge.c ----------------------------------------------------- */

struct share_verdict {
	uint64_t keys;
	double expected, seen, low, high, p;
	bool holds;
};

struct moved_verdict {
	uint64_t keys, moved, wrong;
	double least, seen, low, high, p;
	bool holds;
};

/* Against the table's shares, by exact tests at 99.9 % with Holm's
 * correction; `out` has room for l->n_names. False when one does not hold. */
bool judge_shares(const struct ledger *l, int side, struct share_verdict *out);
/* Keys that were decided on both sides. */
struct moved_verdict judge_moved_keys(const struct ledger *l);

/* ---- route_report.c ---------------------------------------------------- */

struct route_report {
	const struct ledger *ledger;
	bool shares;  /* of the first side */
	bool moved;   /* between the sides */
	bool foreign; /* decisions of another router: stickiness too */
	const char *table[LEDGER_SIDES];
};

/* Prints it, as text or JSON; true when all holds. */
bool route_report_print(FILE *to, const struct route_report *r,
                        enum cli_format format);

#endif
