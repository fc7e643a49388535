/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_int - what the files of this room share: a source and its parts, the
 * functions that make a kind of source, and the reader of CSV records.
 */
#ifndef WEIR_LOAD_INT_H
#define WEIR_LOAD_INT_H

#include <stdio.h>

#include "load/load.h"

/* ---- a rate and its integral ------------------------------------------- */

/* A stretch of time over which the rate goes in a straight line. */
struct ramp_piece {
	int64_t length_ns; /* TIME_NEVER: without end, the rate is constant */
	double rate_rps;
	double target_rps;
};

/* Piece i of a source's rate; false after the last one. */
typedef bool ramp_piece_fn(const struct load_spec *spec, size_t i,
                           struct ramp_piece *p);

/* A place on the integral of a rate, moving forward only. */
struct ramp {
	ramp_piece_fn *piece_fn;
	const struct load_spec *spec;
	size_t i;
	int64_t start_ns; /* of piece i, from the first one's start */
	struct ramp_piece piece;
	double total; /* requests in piece i */
	double done;  /* requests of it that lie behind */
};

void load_ramp_init(struct ramp *r, ramp_piece_fn *piece_fn,
                    const struct load_spec *spec);
/*
 * Moves on by `gap` requests of the integral; returns that moment, from the
 * first piece's start, or TIME_NEVER when the rate's whole rest is less.
 */
int64_t load_ramp_next(struct ramp *r, double gap);

/* ---- lengths and keys -------------------------------------------------- */

struct lengths {
	const struct load_profile *joint; /* NULL: the two dists */
	struct dist input_dist;
	struct dist output_dist;
	struct stream input;
	struct stream output;
};

/* Draws both lengths of request r->number. */
void load_lengths_draw(struct lengths *l, struct load_request *r);

struct keys {
	enum load_key_kind kind;
	bool has_user;
	bool has_key;
	uint8_t stem_len;
	char stem[LOAD_KEY_MAX]; /* "-SEED-REPLICATION-SOURCE-" */
	struct zipf users;
	struct zipf prompt_cache_keys;
	struct stream stream;
};

void load_keys_init(struct keys *k, const struct load_keys *spec,
                    const char *stem, struct stream stream);
/* Writes the text fields of request r->number; `own` is a trace's key. */
void load_keys_make(struct keys *k, struct load_request *r, const char *own);

/* ---- prefixes ---------------------------------------------------------- */

struct prefixes {
	uint32_t tokens; /* 0: none */
	struct zipf groups;
	struct stream stream;
};

void load_prefix_init(struct prefixes *p, const struct load_spec *spec,
                      struct stream stream);
/* Draws the prefix of request r->number, whose length is known. */
void load_prefix_draw(struct prefixes *p, struct load_request *r);

/* ---- sources ----------------------------------------------------------- */

struct source;

struct client {
	struct source *source;
	struct event event; /* pending: between two requests */
	struct stream think;
	uint32_t number;
};

struct source {
	struct load *load;
	const struct load_spec *spec;
	const struct load_kind_ops *ops;
	uint64_t sent;
	struct event event; /* the next arrival; closed loops have clients */
	struct lengths lengths;
	struct keys keys;
	struct prefixes prefixes;
	struct load_request request;

	struct stream arrival; /* open, profile */
	struct ramp ramp;
	struct client *clients; /* closed */
	struct load_trace *trace;
	struct load_row row;
};

/* What makes a kind of source; one file and one constant for each. */
struct load_kind_ops {
	/* Schedules the first arrivals. Returns 0 or -1 with *e. */
	int (*start)(struct source *s, struct err *e);
	void (*stop)(struct source *s);
	void (*fire)(void *self);
	void (*ended)(struct source *s, uint32_t client, bool refused);
	double (*rate_rps)(const struct load_spec *spec, int64_t at_ns);
};

extern const struct load_kind_ops load_kind_open;
extern const struct load_kind_ops load_kind_closed;
extern const struct load_kind_ops load_kind_replay;
extern const struct load_kind_ops load_kind_profile;

struct load {
	struct calendar *calendar;
	struct source *sources;
	uint32_t n;
	uint8_t kind;
	uint64_t seed;
	uint64_t replication;
	struct load_sink sink;
	uint64_t pending; /* events of ours on the calendar */
	struct err trouble;
};

/* The null entries of the table: nothing to stop, an end changes nothing. */
void load_stop_nothing(struct source *s);
void load_ended_nothing(struct source *s, uint32_t client, bool refused);
double load_rate_none(const struct load_spec *spec, int64_t at_ns);

/* The source's index, which names its streams and events. */
uint32_t load_index(const struct source *s);
/* True when the limit of requests is reached. */
bool load_spent(const struct source *s);
/*
 * Schedules an event of the source, not before now; false, and nothing, when
 * the source has stopped sending by then.
 */
bool load_schedule(struct source *s, struct event *ev, int64_t at_ns);
/*
 * Numbers the source's next request; load_send hands it to the sink. Between
 * the two the source schedules its next one, so that the sink sees what is
 * still to come.
 */
struct load_request *load_prepare(struct source *s, uint32_t client);
void load_send(struct source *s);

/* The nearest ns; TIME_NEVER when it is later than every time. */
int64_t load_round_ns(double ns);
/* a + b, both at least 0; TIME_NEVER when that is later than every time. */
int64_t load_time_add(int64_t a, int64_t b);

/* ---- records of a CSV --------------------------------------------------- */

enum {
	CSV_BUFFER = 65536,
	CSV_RECORD_MAX = 4096, /* bytes of one record */
	CSV_FIELDS_MAX = 64,
};

struct csv {
	FILE *file;
	const char *path;
	int line;        /* being read, from 1 */
	int record_line; /* where the record began */
	int trouble;     /* errno of a failed read */
	size_t at, filled;
	size_t used; /* bytes of `text` */
	size_t n;    /* fields of the record */
	bool quoted; /* the record's first field was */
	char *field[CSV_FIELDS_MAX];
	char text[CSV_RECORD_MAX];
	unsigned char buffer[CSV_BUFFER];
};

/* Opens a file and skips a byte order mark. Returns 0 or -1 with *e. */
int load_csv_open(struct csv *c, const char *path, struct err *e);
/* 1: field[0..n-1] is the next record, 0: the end, -1: *e. Empty lines do not
 * count. */
int load_csv_next(struct csv *c, struct err *e);
void load_csv_close(struct csv *c);

/* ---- fields of a trace -------------------------------------------------- */

enum { TRACE_SHOWN = 48 }; /* a field in a message, cut to this */

/* "azure2023" or "weir". */
const char *load_trace_format(const struct load_trace *t);

/* Digits only; too many of them give UINT64_MAX. Returns 0 or -1. */
int load_read_whole(const char *text, uint64_t *n);
/*
 * "YYYY-MM-DD HH:MM:SS", then a fraction of up to 9 digits or none, then an
 * offset (+HH:MM, -HH:MM, Z) or none, in years 1970 to 2199, as ns since
 * 1970. Returns 0 or -1.
 */
int load_read_time(const char *text, int64_t *ns);
/* Copies text for a message: printable ASCII only, cut with "...". */
void load_show_text(const char *text, char shown[TRACE_SHOWN]);

/* Numbers that are collected. */
struct tokens {
	uint32_t *at;
	size_t n;
	size_t capacity;
};

void load_tokens_add(struct tokens *t, uint32_t value);
void load_tokens_sort(uint32_t *at, size_t n);

#endif
