/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load - makes requests: who, when, how many tokens, under which key.
 *
 * A source is an open loop (arrivals by the clock: constant or Poisson gaps
 * under a rate that may ramp by stages), a closed loop (so many clients, each
 * sending its next request when the last has ended and its think time is
 * over), a replayed trace, or a profile: rates per interval and joint
 * quantiles of lengths taken from a trace. Arrivals, lengths and keys come
 * from streams of their own, lengths and keys by the request's number, so
 * that two policies see the same requests.
 *
 * A ramp's arrivals invert the integral of the rate, which is exact for
 * rates that are linear in pieces (Lewis and Shedler's time-scale
 * transformation, Naval Res. Logist. Q. 26, 1979).
 *
 * What it does not do: know where a request goes or how long it takes.
 */
#ifndef WEIR_LOAD_H
#define WEIR_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "event/event.h"

/* ---- what is asked for ------------------------------------------------- */

enum load_kind {
	LOAD_OPEN,    /* rate, process, stages */
	LOAD_CLOSED,  /* concurrency, think */
	LOAD_TRACE,   /* path, speed, columns */
	LOAD_PROFILE, /* profile, speed */
};

enum load_process { LOAD_POISSON, LOAD_CONSTANT };

/* The rate goes in a straight line to target_rps during duration_ns. */
struct load_stage {
	int64_t duration_ns;
	double target_rps;
};

/*
 * UNIQUE: every request has a prompt_cache_key of its own. CONTENT: no key,
 * contents all differ (a trace's own key column, where there is one, is its
 * prompt_cache_key). SAME: no key, one content for all. DRAWN: a user out of
 * `users` and/or a prompt_cache_key out of `prompt_cache_keys` (0: that field
 * is absent), each by its Zipf exponent.
 */
enum load_key_kind {
	LOAD_KEYS_UNIQUE,
	LOAD_KEYS_CONTENT,
	LOAD_KEYS_SAME,
	LOAD_KEYS_DRAWN
};

struct load_keys {
	enum load_key_kind kind;
	uint64_t users;
	uint64_t prompt_cache_keys;
	double zipf;
};

/*
 * Prompts that begin alike: the first `tokens` of each input, or all of a
 * shorter one, are those of one of `groups` texts, drawn by its Zipf exponent
 * (0: each as often). They are part of the input's length. groups 0: none. A
 * trace's rows have none.
 */
struct load_prefix {
	uint64_t groups;
	uint32_t tokens;
	double zipf;
};

/*
 * A load profile: what is left of a trace when its rows are dropped.
 * Arrivals are Poisson with rate rates[i] in interval i. Lengths: requests
 * are cut by input length into `bins` classes of equal number; within a class
 * both lengths are drawn from `points` evenly spaced quantiles (ranks 0, 1/
 * (points-1), ..., 1), linear between them, input and output by independent
 * draws. input[b * points + k] and output[b * points + k].
 */
struct load_profile {
	const char *name;
	const char *source; /* where the trace came from, its licence */
	int64_t interval_ns;
	size_t intervals;
	double *rates_rps;
	size_t bins;
	size_t points;
	uint32_t *input;
	uint32_t *output;
	uint64_t requests; /* rows it was made of */
};

/* Names of the columns of a CSV of one's own; NULL: the default name. */
struct load_columns {
	const char *arrival_us;    /* "arrival_us" */
	const char *input_tokens;  /* "input_tokens" */
	const char *output_tokens; /* "output_tokens" */
	const char *key;           /* "key", may be absent */
	const char *session;       /* "session", may be absent */
};

/*
 * One entry of `traffic`. Everything it points to belongs to the caller and
 * outlives the load. Lengths: a trace has its own; else `lengths` (joint)
 * when set, else a profile's own, else the two dists (in tokens; draws are
 * rounded to the nearest whole number, at least 1).
 *
 * With constant gaps request k goes out when the integral of the rate from
 * from_ns leaves k: the first at from_ns (or when the rate first rises above
 * 0), as load testers do, and none at the very moment the rate falls to 0.
 */
struct load_spec {
	const char *name;
	enum load_kind kind;
	uint32_t target;  /* the endpoint's number, for the caller */
	uint32_t pinned;  /* a deployment named by the request, UINT32_MAX: none
	                   */
	int64_t from_ns;  /* first moment of sending */
	int64_t until_ns; /* nothing is sent at or after; TIME_NEVER: open */
	uint64_t requests; /* at most so many; UINT64_MAX: no limit */

	enum load_process process;
	double rate_rps; /* at from_ns */
	const struct load_stage *stages;
	size_t n_stages;

	uint32_t concurrency;
	struct dist think_ns;
	int64_t error_pause_ns; /* a client's wait after a refused request */

	const char *trace; /* a path that can be opened */
	struct load_columns columns;
	const struct load_profile *profile;
	double speed; /* of trace or profile; 2: twice as fast */

	struct dist input_tokens;
	struct dist output_tokens;
	const struct load_profile *lengths;
	struct load_keys keys;
	struct load_prefix prefix;
	int64_t timeout_ns; /* the client gives up; TIME_NEVER: patient */
};

/* ---- what comes out ---------------------------------------------------- */

enum { LOAD_KEY_MAX = 56 }; /* with the closing 0 */

/* What fits in such a key in the worst case; asserted. */
#define LOAD_SOURCES_MAX 65536u
#define LOAD_REPLICATION_MAX UINT32_MAX
#define LOAD_REQUESTS_MAX UINT64_C(1000000000000000)

/* One request. Text fields are as in the request's body; empty: absent. */
struct load_request {
	uint32_t source; /* which load_spec */
	uint32_t client; /* of a closed loop, from 0 */
	uint64_t number; /* within the source, from 0 */
	uint32_t input_tokens;
	struct sealed_tokens output;
	uint64_t prefix_group;  /* of the source's, from 0 */
	uint32_t prefix_tokens; /* 0: it begins like no other */
	uint8_t prompt_cache_key_len;
	uint8_t user_len;
	uint8_t content_len;
	char prompt_cache_key[LOAD_KEY_MAX];
	char user[LOAD_KEY_MAX];
	char content[LOAD_KEY_MAX]; /* stands for the body */
};

/* Called at the moment of arrival; *r is valid during the call. */
struct load_sink {
	void *self;
	void (*arrive)(void *self, const struct load_request *r);
};

struct load;

/*
 * Sources begin to schedule themselves on the calendar from their from_ns;
 * events use EVENT_ENTITY(kind, source or client). A trace's file is opened
 * here. Returns NULL with *e filled when it cannot be read; the rows were
 * checked by load_trace_check before.
 */
struct load *load_new(struct calendar *calendar, const struct load_spec *specs,
                      uint32_t n, uint8_t kind, uint64_t seed,
                      uint64_t replication, struct load_sink sink,
                      struct err *e);
/* Takes what is pending off the calendar, which must still be there. */
void load_free(struct load *l);
/*
 * Request `number` of a source ended (however it did): a closed loop's client
 * thinks and sends its next one; `refused` adds the error pause.
 */
void load_ended(struct load *l, uint32_t source, uint32_t client, bool refused);
/* True when no source will send another request by itself and no client of
 * a closed loop is between two requests. */
bool load_exhausted(const struct load *l);
/* Requests sent so far by a source. */
uint64_t load_sent(const struct load *l, uint32_t source);
/*
 * NULL, or why a trace's rows ended early: the file changed after it was
 * checked. The source sends nothing more.
 */
const struct err *load_trouble(const struct load *l);
/* Offered rate of a source at a time, 0 for closed loops and traces. */
double load_rate_rps(const struct load_spec *spec, int64_t at_ns);

/* ---- traces ------------------------------------------------------------ */

/*
 * Formats, told by the header line: Azure LLM inference 2023
 * (TIMESTAMP,ContextTokens,GeneratedTokens) and a CSV of one's own
 * (arrival_us,input_tokens,output_tokens[,key,session]), columns in any order
 * and others between them; quoting by RFC 4180. Azure's times may carry an
 * offset and any number of fraction digits up to 9, as its files of 2024 do.
 */
struct load_row {
	int64_t at_ns; /* from the first row */
	uint32_t input_tokens;
	uint32_t output_tokens;
	/* The key or, where that is absent or empty, the session; or "". */
	char key[LOAD_KEY_MAX];
};

struct load_trace;

/*
 * Opens and reads the header; NULL and *e ("FILE:1: ...") on trouble. The
 * path and the columns' names outlive the trace.
 */
struct load_trace *load_trace_open(const char *path,
                                   const struct load_columns *columns,
                                   struct err *e);
/* 1: a row, 0: the end, -1: *e says file, line, column's name and trouble
 * (not a whole number, time goes back, 0 tokens, wrong number of columns). */
int load_trace_next(struct load_trace *t, struct load_row *row, struct err *e);
void load_trace_close(struct load_trace *t);

/*
 * What a trace is like; rates in requests per second, lengths in tokens.
 * Seconds and minutes are counted from the first arrival; the trough is that
 * of whole minutes. Variances are those of the rows as a whole population.
 */
struct load_trace_stats {
	const char *format; /* "azure2023" or "weir" */
	uint64_t rows;
	int64_t span_ns; /* first to last arrival */
	double rate_rps;
	double gap_cv;        /* of inter-arrival times */
	double dispersion_1s; /* variance / mean of counts per second */
	uint64_t peak_1s;     /* busiest second */
	double peak_minute_rps;
	double trough_minute_rps;
	double input_mean, output_mean;
	uint32_t input_p[5]; /* p50 p90 p95 p99 max */
	uint32_t output_p[5];
	uint64_t keys; /* distinct, 0 without a key column */
};

/*
 * Reads a whole trace: there must be a row, and every row must be right.
 * Returns 0 or -1. `stats` may be NULL.
 */
int load_trace_check(const char *path, const struct load_columns *columns,
                     struct load_trace_stats *stats, struct err *e);
enum { LOAD_PROFILE_BINS = 16, LOAD_PROFILE_POINTS = 33 };
#define LOAD_INTERVALS_MAX 1000000

/*
 * Makes a profile of a trace, its arrays from the arena; fewer bins than
 * LOAD_PROFILE_BINS only when there are fewer rows. A class's last point is
 * not its greatest length but what gives the stretch below it the mean of its
 * rows: a line to an outlier would add tokens that nobody sent (the p99 of
 * Azure's conversations would be 686 instead of 601). Its name is the file's,
 * its source "": that is the caller's to say. Returns 0 or -1.
 */
int load_profile_make(const char *path, const struct load_columns *columns,
                      int64_t interval_ns, struct arena *arena,
                      struct load_profile *out, struct err *e);

#endif
