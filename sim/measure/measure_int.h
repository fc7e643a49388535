/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of measure: what a run keeps per scope, what a probe keeps per
 * window, and who calls whom between the files of this directory.
 *
 * Counters and integrals only ever grow; an interval of the series, the time
 * after the warm-up and a probe's window are differences of two readings.
 */
#ifndef WEIR_MEASURE_INT_H
#define WEIR_MEASURE_INT_H

#include <assert.h>

#include "measure/measure.h"

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

/* ---- hist.c ------------------------------------------------------------ */

enum {
	HIST_PAGE = 128, /* buckets of a page; its total follows them */
	HIST_PAGES = 432,
};

/* Exact to 2047, then 1024 buckets an octave. */
static inline uint32_t measure_hist_bucket(int64_t value)
{
	if (value < 2048)
		return (uint32_t)value;
	uint32_t shift = 53 - (uint32_t)__builtin_clzll((uint64_t)value);
	return shift * 1024 + (uint32_t)((uint64_t)value >> shift);
}

/* The largest value of a bucket. */
int64_t measure_hist_top(uint32_t bucket);
/* Makes the page that holds a bucket. */
uint64_t *measure_hist_page(struct measure_hist *h, uint32_t page);

/* `times` values of one bucket, from least to most, with this sum. */
struct measure_sample {
	uint32_t bucket;
	int64_t least;
	int64_t most;
	uint64_t times;
	measure_wide sum; /* in 2^-10 ns */
};

static inline struct measure_sample measure_sample_of(int64_t value)
{
	assert(value >= 0);
	return (struct measure_sample){measure_hist_bucket(value), value, value,
	                               1, (measure_wide)value * 1024};
}

static inline void measure_hist_count(struct measure_hist *h,
                                      const struct measure_sample *s)
{
	uint32_t at = s->bucket / HIST_PAGE;
	uint64_t *page = h->pages ? h->pages[at] : NULL;
	if (!page)
		page = measure_hist_page(h, at);
	page[s->bucket % HIST_PAGE] += s->times;
	page[HIST_PAGE] += s->times;
	h->n += s->times;
	h->sum += s->sum;
	if (s->least < h->min)
		h->min = s->least;
	if (s->most > h->max)
		h->max = s->most;
}

/* ---- keys.c ------------------------------------------------------------ */

/* A set of 64-bit hashes, open addressing; `owner` is there when asked. */
struct measure_keys {
	uint64_t *slot; /* 0: free */
	uint32_t *owner;
	uint64_t capacity; /* a power of two */
	uint64_t n;
	bool owned;
	bool has_zero; /* the hash 0 has no slot */
	uint32_t zero_owner;
};

void measure_keys_init(struct measure_keys *k, bool owned);
void measure_keys_fini(struct measure_keys *k);
/* Adds a key; true when it is new. *owner (may be NULL) gets its place. */
bool measure_keys_add(struct measure_keys *k, uint64_t key, uint32_t **owner);

/* ---- gauge.c ----------------------------------------------------------- */

/* The gauges of a replica, then those of a deployment. */
enum measure_level_kind {
	LEVEL_QUEUE = GAUGE_QUEUE,
	LEVEL_BATCH = GAUGE_BATCH,
	LEVEL_IN_FLIGHT = GAUGE_IN_FLIGHT,
	LEVEL_READY,
	LEVEL_WANTED,
	MEASURE_LEVELS,
};

/* A gauge and its integral up to since_ns. */
struct measure_level {
	int64_t value;
	int64_t since_ns;
	i128 area;
};

static inline i128 measure_level_area(const struct measure_level *l,
                                      int64_t now_ns)
{
	return l->area + (i128)l->value * (now_ns - l->since_ns);
}

/* The level a metric reads, MEASURE_LEVELS for the others. */
enum measure_level_kind measure_level_of(enum measure_metric metric);
/* The mean of a level since its integral was `area` at from_ns. */
double measure_level_mean(const struct measure_level *l, i128 area,
                          int64_t from_ns, int64_t now_ns);

/* ---- one scope --------------------------------------------------------- */

enum measure_latency {
	LATENCY_TTFT,
	LATENCY_TPOT,
	LATENCY_ITL,
	LATENCY_E2E,
	LATENCY_QUEUE,
	MEASURE_LATENCIES,
	BATCH_LATENCIES = LATENCY_QUEUE, /* those before it have batches */
};

struct measure_counts {
	uint64_t arrived;
	uint64_t ended[MEASURE_OUTCOMES];
	uint64_t input_tokens;
	uint64_t output_tokens; /* generated */
};

/* What is left of the interval when it ends. */
struct measure_row_state {
	struct measure_counts before; /* at its beginning */
	i128 area[MEASURE_LEVELS];
	double expected; /* requests, by the shares of the table */
	double tpot_sum;
	measure_wide itl_sum; /* in 2^-10 ns */
	uint64_t itl_n;
	uint64_t tpot_n;
	double kv_sum;
	uint64_t kv_n;
	struct measure_hist ttft, e2e;
};

struct measure_tally {
	struct measure_counts counts;
	int64_t moved; /* rerouted to it, less rerouted from it */
	uint64_t errors[MEASURE_ERRORS];
	struct measure_level level[MEASURE_LEVELS];
	struct measure_row_state row;
	bool counted; /* its ready and wanted replicas were told */

	/* from the warm-up on */
	uint64_t requests;
	uint64_t completed;
	uint64_t input_tokens;
	uint64_t tokens_before; /* output tokens up to the warm-up */
	i128 area_before[MEASURE_LEVELS];
	double expected;
	double share; /* by the table that is applied now */
	uint32_t ready_first;
	uint32_t ready_peak;
	struct measure_hist latency[MEASURE_LATENCIES];
};

void measure_tally_init(struct measure_tally *t);
void measure_tally_fini(struct measure_tally *t);

struct measure_replica {
	struct measure_tally tally;
	uint32_t deployment;
	uint32_t place; /* within it, in order of beginning */
	bool gone;
	char *name;
};

/* ---- moved.c ----------------------------------------------------------- */

/* The split of a table, kept after the table. */
struct measure_split {
	struct route_target *target;
	uint32_t n;
	bool applied;
	int64_t at_ns;
};

struct measure_moved {
	struct measure_split before;
	uint64_t x;
	uint64_t n;
	uint64_t wrong;
	double least;
	bool done;
};

/* ---- one endpoint ------------------------------------------------------ */

struct measure_endpoint {
	struct measure_tally tally;
	uint32_t first; /* its table's deployments */
	uint32_t n;
	uint64_t arrivals;           /* since expected shares were added up */
	struct measure_split now;    /* the table that is applied */
	struct measure_split before; /* the one at an earlier time */
	struct measure_keys keys;    /* seen, for moved_keys */
	uint32_t moving;             /* moved_keys probes not done */
	struct measure_hist batch[BATCH_LATENCIES][MEASURE_BATCHES];
};

/* Puts the arrivals since the last call to the deployments' expectation. */
void measure_expect(struct measure *m, uint32_t endpoint);
/* The table before a moment. */
void measure_moved_begin(struct measure *m, struct measure_moved *moved,
                         uint32_t endpoint, int64_t at_ns);
/* Compares it with the table that is applied now, key by key. */
void measure_moved_end(struct measure *m, struct measure_moved *moved,
                       uint32_t endpoint);
/*
 * A key may only move to a deployment that grew against the one it left.
 * `from` is of the table before, `to` of the one after.
 */
bool measure_needless(const struct measure_split *before,
                      const struct measure_split *after,
                      const struct route_target *from,
                      const struct route_target *to);
void measure_split_fini(struct measure_split *s);
void measure_split_copy(struct measure_split *to,
                        const struct measure_split *from);

/* ---- probes ------------------------------------------------------------ */

/* What a probe collects of one thing: its scope, or one of its replicas. */
struct measure_cell {
	bool present;
	struct measure_tally *tally;
	uint64_t requests; /* arrivals */
	uint64_t keys;     /* distinct ones */
	uint64_t x;        /* ends that the metric counts */
	uint64_t tokens;   /* at opening, then the window's */
	i128 area;         /* at opening, then the window's */
	int64_t least, most, at;
	struct measure_hist hist;
};

struct measure_probe {
	const struct measure_term *term;
	uint64_t bit;
	enum { PROBE_WAITING, PROBE_OPEN, PROBE_CLOSED } stage;
	int64_t from_ns; /* TIME_NEVER: not known */
	int64_t to_ns;
	bool by_replica; /* cells by place, else one */
	uint32_t n_cells;
	struct measure_cell *cell;
	uint64_t arrivals; /* of the endpoint and traffic */
	uint64_t routed;   /* of these */
	uint64_t tokens;   /* of the endpoint: at opening, then the window's */
	uint64_t traffic_tokens; /* of requests, when a traffic is asked for */
	uint64_t events;
	uint64_t twice; /* keys on two deployments */
	struct measure_keys keys;
	struct measure_moved moved;

	int64_t batch_to_ns;        /* TIME_NEVER: batches by number or none */
	struct measure_hist *batch; /* of a latency */
	bool timed; /* a gauge or rate, whose batches end by the clock */
	uint32_t n_batches; /* of these, closed so far */
	double batch_value[MEASURE_BATCHES];
	i128 batch_area;
	uint64_t batch_count;
	int64_t batch_from_ns;
};

struct measure {
	struct measure_config config;
	int64_t now_ns;
	int64_t next_ns; /* the next bound, TIME_NEVER when none is known */
	bool warm;       /* past the warm-up */
	bool started;    /* past time 0 */
	bool first_seen; /* ready_first is taken */
	bool series;
	int64_t row_from_ns;
	uint64_t arrivals;
	uint64_t arrivals_before; /* of these, before the warm-up was over */

	struct measure_endpoint *endpoint;
	struct measure_tally *deployment;
	struct measure_tally *traffic;
	uint32_t *places; /* replicas begun, by deployment */
	struct measure_replica **replica;
	uint32_t n_replicas;
	uint32_t room;

	uint32_t n_probes;
	struct measure_probe *probe;
	uint64_t open;          /* probes whose window is open */
	uint64_t watching;      /* probes that wait for a condition */
	uint32_t watch_metrics; /* the metrics of these, a bit each */
	uint64_t of_metric[MEASURE_METRICS];
	uint64_t at_arrival; /* by what they collect */
	uint64_t at_end;
	uint64_t of_level[MEASURE_LEVELS];
	uint64_t *of_endpoint;
	uint64_t *of_traffic;
};

/* ---- run.c ------------------------------------------------------------- */

/* Takes every scope's first number of ready replicas, as it is now. */
void measure_first_seen(struct measure *m);
/* A bound may have come up that lies at the clock's time. */
void measure_clock_again(struct measure *m);

/* ---- request.c, scope.c ------------------------------------------------ */

/* Who a request or replica belongs to, for matching with terms. */
struct measure_place {
	uint32_t endpoint;
	uint32_t deployment;
	uint32_t replica;
};

/* The scopes a request counts in: traffic, endpoint, deployment, replica. */
uint32_t measure_tallies(struct measure *m, const struct measure_request *r,
                         struct measure_tally *out[4]);
/* One request's latencies; TIME_NEVER: infinite, -1: it has none. */
int64_t measure_request_latency(const struct measure_request *r,
                                enum measure_latency latency);

/* ---- probe.c: windows -------------------------------------------------- */

void measure_probes_init(struct measure *m);
void measure_probes_fini(struct measure *m);
/* The earliest time at which a window must be looked at. */
int64_t measure_probes_next(const struct measure *m);
/* Opens and closes what is due at the clock's time. */
void measure_probes_bound(struct measure *m);
/* Looks at the conditions that wait for a metric; MEASURE_METRICS: all. */
void measure_probes_watch(struct measure *m, enum measure_metric metric);
/* A replica began. */
void measure_probes_replica(struct measure *m, uint32_t replica);
/* Closes what is open, the run is over. */
void measure_probes_finish(struct measure *m);

/* ---- collect.c: what falls into windows -------------------------------- */

void measure_collect_arrival(struct measure *m, struct measure_request *r);
void measure_collect_end(struct measure *m, const struct measure_request *r);
/* A level of replica's scopes is about to move (replica MEASURE_NONE: of a
 * deployment). */
void measure_collect_level(struct measure *m, enum measure_level_kind kind,
                           const struct measure_place *place);
void measure_collect_cell_level(struct measure_probe *p, struct measure_cell *c,
                                enum measure_level_kind kind, int64_t now_ns);
/* The cell of a probe that collects from a place, NULL when none does. */
struct measure_cell *measure_probe_cell(struct measure *m,
                                        struct measure_probe *p,
                                        const struct measure_place *place);

/* ---- value.c ----------------------------------------------------------- */

void measure_probe_value(const struct measure_probe *p,
                         struct measure_value *v);
/* ---- batch.c ----------------------------------------------------------- */

/* The batch of what happens now, MEASURE_NONE when there is none. */
uint32_t measure_batch_now(const struct measure *m);
/* Cuts a window that opens into batches, if its end is known. */
void measure_batch_begin(struct measure *m, struct measure_probe *p);
/* The next moment at which a gap between tokens falls into another batch. */
int64_t measure_batch_next(const struct measure *m);
/* The end of the timed batch a probe is in, TIME_NEVER when in none. */
int64_t measure_batch_bound(const struct measure_probe *p);
void measure_batch_end(struct measure_probe *p, int64_t now_ns);
/* A probe's batch of what began at at_ns, in a batch of the run. */
uint32_t measure_batch_of(const struct measure_probe *p, int64_t at_ns,
                          uint32_t run_batch);
/* The latency a metric means, MEASURE_LATENCIES for the others. */
enum measure_latency measure_latency_of(enum measure_metric metric);
/* Whether the run's length is known, so that it can be cut. */
bool measure_batches_known(const struct measure *m);

#endif
