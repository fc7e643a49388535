/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event - the clock, its queue, named random streams and draws from them.
 *
 * The calendar is an intrusive 4-ary heap: an event is a member of the thing
 * it happens to, so that scheduling allocates nothing once the heap has
 * grown. Order is total and written down: time, phase, entity; two pending
 * events with the same three are a bug and assert, so that the order of
 * insertion can never show in a result.
 *
 * Chance is counter-based (Philox 4x32-10, Salmon et al., SC 2011): a stream
 * is a pure function of (seed, replication, entity, purpose), so that one
 * more consumer of chance leaves every other stream's draws as they were.
 * Draws use IEEE add, multiply, divide and sqrt only, with log and exp of
 * our own, so that a seed gives the same run on every machine.
 *
 * What it does not do: know what an event means.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- calendar ---------------------------------------------------------- */

/* At equal times, the written order in which things happen. */
enum event_phase {
	EVENT_COMPLETION, /* a step ends, a request leaves */
	EVENT_READY,      /* a replica changes its state of life */
	EVENT_TRANSFER,   /* a table reaches a router, a client gives up */
	EVENT_ADMISSION,  /* a request arrives */
	EVENT_TELEMETRY,  /* an interval of the series ends */
	EVENT_SCALING,    /* an autoscaler looks */
	EVENT_OPERATOR,   /* the scenario's timeline acts */
};

/*
 * Entities: a kind in the top byte, a number below it. Kinds only keep the
 * numbers of different things apart.
 */
#define EVENT_ENTITY(kind, number)                                             \
	(((uint64_t)(kind) << 56) | (uint64_t)(number))

struct event {
	int64_t at_ns;
	uint64_t entity;
	void (*fire)(void *self);
	void *self;
	uint32_t position; /* in the heap, from 1; 0: not scheduled */
	enum event_phase phase;
};

/* A place of the heap: with the time beside it, few events are looked at. */
struct calendar_slot {
	int64_t at_ns;
	struct event *event;
};

struct calendar {
	struct calendar_slot *heap;
	uint32_t count;
	uint32_t capacity;
	int64_t now_ns;
	uint64_t fired; /* events executed */
};

void calendar_init(struct calendar *c);
/* Frees the heap; the events belong to their owners. */
void calendar_fini(struct calendar *c);

/* Sets what happens, to whom, and the event's place among equals. */
void event_init(struct event *e, enum event_phase phase, uint64_t entity,
                void (*fire)(void *self), void *self);
/* Schedules e at `at_ns`, now <= at_ns < TIME_NEVER; it must not be pending. */
void event_schedule(struct calendar *c, struct event *e, int64_t at_ns);
/* Takes e out; nothing happens when it is not pending. */
void event_cancel(struct calendar *c, struct event *e);
/* Moves a pending e, or schedules it. */
void event_move(struct calendar *c, struct event *e, int64_t at_ns);
static inline bool event_pending(const struct event *e)
{
	return e->position != 0;
}

/* The time of the next event, TIME_NEVER when there is none. */
int64_t calendar_next(const struct calendar *c);
/*
 * Fires the next event if it is due at or before `until_ns`, moving the
 * clock to it; returns false when there is none such (the clock stays).
 */
bool calendar_step(struct calendar *c, int64_t until_ns);
/* Moves the clock forward to `to_ns`; no event may be due before it. */
void calendar_advance(struct calendar *c, int64_t to_ns);

/* ---- streams ----------------------------------------------------------- */

/* One purpose, one stream: part of a stream's name, never renumbered. */
enum stream_purpose {
	STREAM_ARRIVAL = 1,
	STREAM_INPUT_TOKENS = 2,
	STREAM_OUTPUT_TOKENS = 3,
	STREAM_KEY = 4,
	STREAM_ROUTE = 5,
	STREAM_SERVICE = 6,
	STREAM_COLD_START = 7,
	STREAM_PROPAGATION = 8,
	STREAM_THINK = 9,
	STREAM_BOOTSTRAP = 10,
	STREAM_STALL = 32,
	STREAM_DRAFT = 33,
	STREAM_PREFIX = 34,
};

struct stream {
	uint32_t key[2];
	uint64_t index; /* which substream, e.g. the number of a request */
	uint64_t block; /* blocks drawn from it */
	uint32_t buffer[4];
	uint32_t left; /* words of the buffer not yet used */
};

/* The stream of that name, at substream 0. */
struct stream stream_open(uint64_t seed, uint64_t replication, uint64_t entity,
                          enum stream_purpose purpose);
/*
 * Moves to the start of substream `index`: what is drawn for request 7 does
 * not depend on how much was drawn for request 6.
 */
void stream_seek(struct stream *s, uint64_t index);
uint64_t stream_u64(struct stream *s);
/* Uniform on the middles of 2^52 equal parts of (0, 1): never 0 or 1. */
double stream_unit(struct stream *s);
/* Uniform in 0 .. n-1, without bias; n > 0. */
uint64_t stream_below(struct stream *s, uint64_t n);

/* ln and e^x by IEEE operations only, within 1 ulp, the same everywhere. */
double det_log(double x);
double det_exp(double x);
/* x^y for x > 0 as det_exp(y det_log(x)); not correctly rounded. */
double det_pow(double x, double y);
/* The standard normal quantile, for p in (0, 1); error below 1e-14. */
double det_normal_quantile(double p);

/* ---- distributions ----------------------------------------------------- */

enum dist_kind {
	DIST_CONSTANT,    /* a */
	DIST_UNIFORM,     /* from a to b */
	DIST_EXPONENTIAL, /* mean a */
	DIST_LOGNORMAL,   /* mean a, coefficient of variation b */
	DIST_EMPIRICAL,   /* values[i] with weights[i] */
};

/*
 * A distribution by its own mean and cv. min and max truncate by redrawing;
 * the mean is the one before truncation. Values are in the unit of whoever
 * holds it (ns, tokens). The arrays belong to the holder.
 */
struct dist {
	enum dist_kind kind;
	double a;
	double b;
	double min; /* -INFINITY when not given */
	double max; /* INFINITY when not given */
	const double *values;
	const double *cumulative; /* rising, the last is 1 */
	size_t n;
};

/* The constant v, without bounds. */
struct dist dist_constant(double v);
/*
 * One draw. After 1000 redraws outside [min, max] the nearer bound is taken
 * (scenario refuses bounds that leave so little).
 */
double dist_draw(const struct dist *d, struct stream *s);
/* Mean before truncation. */
double dist_mean(const struct dist *d);
/* A name for messages: "lognormal". */
const char *dist_name(enum dist_kind kind);
/* True when draws never differ. */
bool dist_is_constant(const struct dist *d);

/*
 * Zipf over 1..n with exponent s >= 0 (0: uniform): P(k) ~ k^-s, by
 * rejection-inversion (Hoermann and Derflinger, ACM TOMACS 6(3), 1996).
 */
struct zipf {
	uint64_t n;
	double s;
	double h_x1;
	double h_n;
	double cut;
};

void zipf_init(struct zipf *z, uint64_t n, double s);
/* A rank in 0 .. n-1, 0 the most frequent. */
uint64_t zipf_draw(const struct zipf *z, struct stream *st);

#endif
