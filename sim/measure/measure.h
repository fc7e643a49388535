/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * measure - counts what the client saw and what the replicas did.
 *
 * Latencies go into log-linear histograms whose buckets are at most 0.1 %
 * wide; a percentile is the smallest value with rank >= p n, and what did not
 * finish counts as infinite. Gauges (queue, batch, replicas) are integrals
 * over time. Everything is kept for the run, per endpoint, deployment,
 * traffic and replica, and per interval of the series, in memory that grows
 * with scopes, not with requests. Rules read as people write them; each of
 * their terms becomes a probe that collects during the run.
 *
 * Latency statistics count requests that arrived at or after the warm-up;
 * conservation counts all. Arrived = completed + rejected + timed out +
 * failed + in system, per endpoint and deployment (law L1), asserted at the
 * end of every run.
 *
 * What it does not do: judge a rule (study), draw, or print.
 */
#ifndef WEIR_MEASURE_H
#define WEIR_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "route/route.h"

#define MEASURE_NONE UINT32_MAX

/* Sums of times, in 2^-10 ns: exact, so that their order never shows. */
__extension__ typedef __int128 measure_wide;

/* ---- histograms -------------------------------------------------------- */

/*
 * Counts of non-negative int64 values: exact below 1024, above that 1024
 * buckets an octave; pages are allocated when first touched. `infinite`
 * counts what never ended.
 */
struct measure_hist {
	uint64_t **pages;
	uint64_t n; /* finite values */
	uint64_t infinite;
	measure_wide sum; /* of them, in 2^-10 ns */
	int64_t min;
	int64_t max;
};

void measure_hist_init(struct measure_hist *h);
void measure_hist_fini(struct measure_hist *h);
/* Forgets the values, keeps the pages. */
void measure_hist_clear(struct measure_hist *h);
void measure_hist_add(struct measure_hist *h, int64_t value, uint64_t times);
void measure_hist_add_infinite(struct measure_hist *h, uint64_t times);
void measure_hist_merge(struct measure_hist *into,
                        const struct measure_hist *from);
/*
 * The smallest value with rank >= p n, 0 < p <= 1, infinite ones ranked
 * last: TIME_NEVER when it falls among them, -1 when there is nothing. The
 * value of a bucket is its middle, and never outside [min, max].
 */
int64_t measure_hist_quantile(const struct measure_hist *h, double p);
/* Mean of the finite values, NAN when there is none. */
double measure_hist_mean(const struct measure_hist *h);

/* ---- one request, as the client saw it --------------------------------- */

enum measure_outcome {
	OUTCOME_IN_SYSTEM,
	OUTCOME_COMPLETED,
	OUTCOME_REJECTED,  /* refused: not configured, queue full, too long */
	OUTCOME_TIMED_OUT, /* the client gave up */
	OUTCOME_FAILED,    /* its replica was lost */
	MEASURE_OUTCOMES,
};

enum measure_error {
	ERROR_NONE,
	ERROR_ENDPOINT_NOT_CONFIGURED,
	ERROR_ENDPOINT_NOT_READY,
	ERROR_ROUTING_ERROR,
	ERROR_QUEUE_FULL,
	ERROR_TOO_LONG,
	ERROR_TIMEOUT,
	ERROR_REPLICA_LOST,
	MEASURE_ERRORS,
};

/* "completed"; "endpoint_not_configured". */
const char *measure_outcome_name(enum measure_outcome outcome);
const char *measure_error_name(enum measure_error error);

/*
 * A member of the endpoint's request. Times are -1 until they happen:
 * arrived <= started <= first <= done (law L3). The last block is measure's.
 */
struct measure_request {
	uint32_t endpoint;
	uint32_t deployment; /* MEASURE_NONE: none was found */
	uint32_t replica;    /* number given by measure_replica_new */
	uint32_t traffic;
	uint64_t number;      /* within its traffic */
	uint64_t key;         /* sampling key's hash */
	const char *key_text; /* valid while the request lives */
	uint32_t key_len;
	uint32_t input_tokens;
	uint32_t output_tokens; /* generated up to now */
	uint32_t preemptions;
	bool spilled;
	enum measure_outcome outcome;
	enum measure_error error;
	int64_t arrived_ns;
	int64_t started_ns;
	int64_t first_ns;
	int64_t done_ns;

	uint64_t windows; /* probes whose window it arrived in */
	uint32_t batch;
};

/* ---- rules ------------------------------------------------------------- */

enum measure_metric {
	METRIC_SHARE,       /* of the endpoint's requests, by deployment */
	METRIC_TOKEN_SHARE, /* of its output tokens */
	METRIC_REQUESTS,    /* arrivals */
	METRIC_COMPLETED,
	METRIC_ERRORS, /* rejected + timed out + failed, or one code */
	METRIC_TIMEOUTS,
	METRIC_UNFINISHED,
	METRIC_DROPPED,          /* rejected + failed */
	METRIC_TTFT,             /* ns from arrival at the endpoint */
	METRIC_TPOT,             /* ns, (E2E - TTFT) / (output tokens - 1) */
	METRIC_ITL,              /* ns between two tokens */
	METRIC_E2E,              /* ns from arrival to last token */
	METRIC_QUEUE_TIME,       /* ns from arrival to start */
	METRIC_THROUGHPUT,       /* output tokens per second */
	METRIC_RATE,             /* arrivals per second */
	METRIC_RATE_PER_REPLICA, /* arrivals per second and ready replica */
	METRIC_READY,            /* replicas.ready */
	METRIC_WANTED,           /* replicas.wanted */
	METRIC_QUEUE,            /* requests waiting, mean over time */
	METRIC_BATCH,            /* requests running, mean over time */
	METRIC_IN_FLIGHT,
	METRIC_MOVED_KEYS,
	METRIC_COUNT,       /* events of a type */
	METRIC_KEYS_ON_TWO, /* keys served by two deployments in the window */
	MEASURE_METRICS,
};

/* Names as rules write them, NULL past the last: "replicas.ready". */
const char *measure_metric_name(enum measure_metric metric);

enum measure_statistic {
	STAT_DEFAULT, /* mean for latencies and gauges, else the value */
	STAT_MEAN,
	STAT_QUANTILE,
	STAT_MIN,
	STAT_MAX,
	STAT_SUM,
	STAT_RATE, /* per second of the window */
	STAT_AT,   /* a gauge's value at the window's end */
};

/* The first time a comparison of a gauge holds: replicas.ready(dep_a) == 2. */
struct measure_condition {
	enum measure_metric metric; /* READY, WANTED, QUEUE, BATCH, IN_FLIGHT */
	uint32_t endpoint;
	uint32_t deployment; /* MEASURE_NONE: the endpoint */
	enum measure_compare {
		COMPARE_EQ,
		COMPARE_NE,
		COMPARE_LT,
		COMPARE_LE,
		COMPARE_GT,
		COMPARE_GE,
	} compare;
	double value;
};

/* A time or a condition; settled adds the longest propagation. */
struct measure_moment {
	bool is_condition;
	bool settled;
	int64_t at_ns;
	struct measure_condition condition;
};

/* A metric of something over a window: what a probe collects. */
struct measure_term {
	enum measure_metric metric;
	enum measure_statistic statistic;
	double quantile;     /* 0 .. 1 */
	uint32_t endpoint;   /* always set, by the deployment or the only one */
	uint32_t deployment; /* MEASURE_NONE: the endpoint */
	uint32_t traffic;    /* MEASURE_NONE: all */
	uint32_t replica;    /* place within deployment, MEASURE_NONE: all */
	bool replicas;       /* "replicas(dep)": one value a replica */
	enum measure_error error; /* ERROR_NONE: all */
	char event[48];           /* of METRIC_COUNT */
	bool bounded; /* has a window; else from warm-up to the end */
	struct measure_moment from;
	struct measure_moment to; /* at_ns TIME_NEVER: the end */
};

/*
 * What an expression of a rule is measured in: a bare number, ns, a fraction
 * of something, a whole number of things, or so many a second.
 */
enum measure_unit { UNIT_PLAIN, UNIT_NS, UNIT_RATIO, UNIT_COUNT, UNIT_PER_S };

/*
 * A rule's text, parsed. A tree in an array: node 0 is the root; children by
 * index. The text and nodes belong to the arena given to measure_rule_parse.
 */
struct measure_node {
	enum measure_node_kind {
		NODE_NUMBER, /* number: ns of a duration, a percent over 100 */
		NODE_TERM,   /* term: index of a probe of the run */
		NODE_LEAST,  /* the word `least` */
		NODE_ADD,
		NODE_SUB,
		NODE_MUL,
		NODE_DIV,
		NODE_NEG,
		NODE_MAX, /* max(a) of a term with one value a replica */
		NODE_MIN,
		NODE_SUM,
		NODE_COMPARE,    /* a OP b */
		NODE_IN,         /* a in b..c */
		NODE_PROB,       /* prob(COMPARE) : fraction of replications */
		NODE_DISPERSION, /* dispersion(share) against chi-square */
		NODE_WITHIN,     /* a within b of c: equivalence */
		NODE_REPS,       /* COMPARE in >= m of n reps */
	} kind;
	enum measure_compare compare;
	enum measure_unit unit;
	uint32_t a, b, c; /* children */
	double number;
	uint32_t term;
	uint64_t at_least, out_of; /* NODE_REPS */
};

struct measure_rule {
	const char *text;
	double confidence; /* 0: the default, 99.9 % */
	uint32_t n_nodes;
	const struct measure_node *nodes;
};

/* The names a rule may use; all arrays belong to the caller. */
struct measure_names {
	uint32_t n_endpoints;
	const char *const *endpoints;   /* ids */
	uint32_t n_deployments;         /* of all endpoints, numbered through */
	const char *const *deployments; /* ids */
	const uint32_t *endpoint_of;    /* by deployment */
	uint32_t n_traffics;
	const char *const *traffics;
	const uint32_t *traffic_endpoint; /* by traffic */
};

/* All terms of all rules of a scenario; a rule's NODE_TERM indexes it. */
struct measure_terms {
	uint32_t n;
	struct measure_term *term; /* in the arena */
	uint32_t capacity;
};

enum { MEASURE_MAX_TERMS = 64 };

/*
 * Parses one rule and adds those of its terms that are not there yet; the
 * grammar is in rule.c. On error returns -1, the terms are as before, and *e
 * has text and, in col, the column within the rule (from 1).
 */
int measure_rule_parse(const char *text, const struct measure_names *names,
                       struct arena *arena, struct measure_terms *terms,
                       struct measure_rule *out, struct err *e);

/* ---- what goes to files while a run goes on ---------------------------- */

enum measure_scope {
	SCOPE_ENDPOINT,
	SCOPE_DEPLOYMENT,
	SCOPE_REPLICA,
	SCOPE_TRAFFIC
};

/* One row of the series: one scope over one interval. NAN: nothing to say. */
struct measure_row {
	int64_t from_ns;
	int64_t to_ns;
	enum measure_scope scope;
	const char *id;
	uint64_t arrived, completed, rejected, timed_out, failed;
	double request_rate;                           /* arrivals per second */
	double input_token_rate;                       /* of the arrivals */
	double output_token_rate;                      /* generated */
	double share, expected_share, token_share;     /* deployments only */
	int64_t ttft_p50_ns, ttft_p95_ns, ttft_p99_ns; /* -1: none came */
	int64_t e2e_p95_ns;
	double tpot_mean_ns;
	double itl_mean_ns;             /* of the tokens that came in it */
	double queue, batch, in_flight; /* means over the interval */
	/* at its end; replicas: 0 or 1, NAN when never told */
	double ready, wanted;
	double kv_used; /* fraction at its end, NAN: no limit */
};

struct measure_sink {
	void *self;
	/* May be NULL. Called in order of time. */
	void (*row)(void *self, const struct measure_row *row);
	/* A request ended, or the run did. */
	void (*request)(void *self, const struct measure_request *r,
	                const char *deployment, const char *replica);
};

/* ---- a run ------------------------------------------------------------- */

struct measure;

/* All arrays belong to the caller and outlive the run. */
struct measure_config {
	struct measure_names names;
	const char *const *endpoint_names;
	const struct measure_terms *terms;
	int64_t warmup_ns;
	int64_t duration_ns;        /* TIME_NEVER: until the load is over */
	uint64_t expected_requests; /* for batches when duration is open */
	int64_t settle_ns;          /* longest propagation, for settled(...) */
	struct measure_sink sink;
};

struct measure *measure_new(const struct measure_config *config);
void measure_free(struct measure *m);

/* A replica begins; its number, used below. The name is copied. */
uint32_t measure_replica_new(struct measure *m, uint32_t deployment,
                             const char *name, int64_t now_ns);
/* It became ready, or stopped being it: the `ready` of its rows. */
void measure_replica_ready(struct measure *m, uint32_t replica, bool ready,
                           int64_t now_ns);
/* Its share of gauges must be back at 0; it has no rows from now on. */
void measure_replica_gone(struct measure *m, uint32_t replica, int64_t now_ns);

/*
 * Moves the clock, which every call with a time does by itself: windows
 * whose bounds have come are opened and closed. To be called before
 * measure_steps and measure_token, which have no time, when they come first.
 */
void measure_clock(struct measure *m, int64_t now_ns);
/*
 * The next time at which a window, the warm-up or a batch ends, TIME_NEVER
 * when none is known: whoever reports leaps of steps reports what is over by
 * then, so that their tokens fall on the right side. Changes when it was
 * reached or a condition came true.
 */
int64_t measure_next_bound(const struct measure *m);

/* A request arrived and was routed (or refused: measure_ended follows). */
void measure_arrived(struct measure *m, struct measure_request *r);
/* It goes to another replica after its own was lost (deployment and replica
 * are the new ones; started and first are back at -1). */
void measure_rerouted(struct measure *m, struct measure_request *r,
                      uint32_t old_deployment, uint32_t old_replica);
/* r->started_ns was set (again, after a preemption: ignored). */
void measure_started(struct measure *m, const struct measure_request *r);
/* r->first_ns was set. */
void measure_first_token(struct measure *m, const struct measure_request *r);
/* r->outcome, error, done_ns and output_tokens are final. */
void measure_ended(struct measure *m, const struct measure_request *r);
/* The run is over and r is still inside; call once for each. */
void measure_unfinished(struct measure *m, const struct measure_request *r);

/*
 * `steps` steps of a replica, the i-th lasting first + i * growth units of
 * 2^-10 ns, each giving `tokens` requests one token: tokens * steps ITLs.
 */
void measure_steps(struct measure *m, uint32_t replica, int64_t first,
                   int64_t growth, uint64_t steps, uint32_t tokens);
/* One token gap_ns after its predecessor (gap_ns < 0: a first token). */
void measure_token(struct measure *m, uint32_t replica, int64_t gap_ns);

/* A replica's gauge moves; its deployment's and endpoint's with it. */
enum measure_gauge {
	GAUGE_QUEUE,
	GAUGE_BATCH,
	GAUGE_IN_FLIGHT,
	MEASURE_GAUGES
};
void measure_gauge(struct measure *m, uint32_t replica,
                   enum measure_gauge gauge, int32_t delta, int64_t now_ns);
/* A deployment's counts changed: conditions are looked at. */
void measure_replicas(struct measure *m, uint32_t deployment, uint32_t ready,
                      uint32_t wanted, int64_t now_ns);
/* Fraction of KV in use, for the row of the interval that ends now. */
void measure_kv(struct measure *m, uint32_t replica, double used);
/*
 * The router of an endpoint applies a table (the first at the start). The
 * table's deployments are numbered within the endpoint; `first` is the
 * number of its first deployment. The table must live until the next call.
 */
void measure_table(struct measure *m, uint32_t endpoint, uint32_t first,
                   const struct route_table *table, int64_t now_ns);
/* An event of the feed. */
void measure_event(struct measure *m, const char *type, uint32_t endpoint,
                   uint32_t deployment, int64_t now_ns);
/* True when a condition holds now; used by the timeline. */
bool measure_condition_holds(const struct measure *m,
                             const struct measure_condition *condition);

/* An interval of the series ends: rows go to the sink. */
void measure_interval(struct measure *m, int64_t now_ns);

/* ---- what is left of a run --------------------------------------------- */

/* Value and interval of one latency; times in ns, TIME_NEVER: infinite. */
struct measure_scope_result {
	enum measure_scope scope;
	char id[64];
	uint32_t number;
	uint32_t endpoint;
	uint32_t deployment;
	/* whole run, for conservation */
	uint64_t arrived;
	uint64_t ended[MEASURE_OUTCOMES]; /* IN_SYSTEM: at the end */
	uint64_t errors[MEASURE_ERRORS];
	/* from the warm-up on */
	uint64_t requests;        /* arrivals */
	uint64_t completed;       /* of these */
	uint64_t input_tokens;    /* of these arrivals */
	uint64_t output_tokens;   /* generated since the warm-up */
	double expected_requests; /* deployments: sum of expected shares */
	double seconds;           /* measured time */
	double queue, batch, in_flight, ready, wanted; /* means over time */
	uint32_t ready_first, ready_last, ready_peak;
	struct measure_hist ttft, tpot, itl, e2e, queue_time;
};

enum { MEASURE_BATCHES = 20 };

/* What a probe saw in one replication. */
struct measure_value {
	bool missing; /* its window never opened, or nothing was in it */
	double value; /* INFINITY for a percentile among the unfinished;
	                 replicas(dep): the mean of `each` */
	/* What a test counts: distinct keys of n (share, moved_keys,
	 * keys_on_two), output tokens of n (token_share), requests of n
	 * arrivals (other counts and rates); latencies: n values. */
	double x, n;
	double request_share; /* METRIC_SHARE: by requests */
	double least; /* moved_keys: total variation distance of the tables */
	double wrong; /* moved_keys: to a deployment that did not grow against
	                 the one it left, unchanged ones among them */
	double window_s;
	double replica_s;   /* RATE_PER_REPLICA: ready replica-seconds */
	double low, high;   /* gauges: least and greatest over the window */
	uint32_t n_batches; /* 0: no interval from one run */
	double batch[MEASURE_BATCHES];
	uint32_t n_each; /* replicas(dep): one value a replica */
	double *each;
};

/* One replication's, or several merged. Owns itself. */
struct measure_result {
	uint32_t replications;
	uint32_t n_scopes;
	struct measure_scope_result *scope; /* endpoints, deployments, traffics,
	                                       replicas, in that order */
	uint32_t n_terms;
	struct measure_value *value; /* [replication * n_terms + term] */
	/* p95 and mean of TTFT, TPOT, ITL, E2E by batch in ns, for intervals,
	 * of endpoint scopes: [scope][latency][batch], 20 or, of a length not
	 * known beforehand, 0; merged: the replications' own values instead. */
	uint32_t n_batches;
	double *batch_p95;
	double *batch_mean; /* of the finite values; NAN: there is none */
	double end_s; /* simulated time at the end; the longest, when merged */
};

/* Closes the run at now_ns (after measure_unfinished) and hands over. */
struct measure_result *measure_finish(struct measure *m, int64_t now_ns);
void measure_result_free(struct measure_result *r);
/*
 * Adds another replication of the same scenario: histograms and counts are
 * pooled, replica scopes are dropped from the second on (their names differ),
 * values are appended.
 */
void measure_result_merge(struct measure_result *into,
                          const struct measure_result *from);
/* The scope of that kind and number, NULL when there is none. */
const struct measure_scope_result *
measure_result_scope(const struct measure_result *r, enum measure_scope scope,
                     uint32_t number);

#endif
