/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bench for one replica: requests that arrive and give up by events of a
 * calendar, and a log of all that its hooks say. Runs of equal steps are
 * written down one by one, so that the logs of leaping and of stepping can
 * be compared entry by entry.
 */
#ifndef WEIR_TESTS_REPLICA_LAB_H
#define WEIR_TESTS_REPLICA_LAB_H

#include <assert.h>
#include <string.h>

#include "replica/replica_int.h"

enum { LAB_REPLICA = 1, LAB_REQUEST, LAB_GIVE_UP, LAB_WORK, LAB_OTHER };

enum lab_kind {
	LAB_LIVED, /* a: the state, b: steps told when it is gone */
	LAB_QUEUED,
	LAB_STARTED,
	LAB_PREEMPTED,
	LAB_FIRST,
	LAB_DONE,
	LAB_DROPPED, /* a: why, b: tokens it had */
	LAB_LATE,    /* a: the gap */
	LAB_NOTE,    /* what a test writes itself */
};

struct lab_entry {
	enum lab_kind kind;
	int64_t at_ns;
	uint64_t id;
	int64_t a;
	int64_t b;
};

/* One step. */
struct lab_step {
	int64_t begin_ticks;
	int64_t ticks;
	uint32_t tokens;
	struct replica_batch batch;
};

struct lab;

struct lab_request {
	struct replica_work work;
	struct lab *lab;
	struct event arrive;
	struct event give_up;
	int64_t arrived_ns;
	int64_t started_ns; /* the last time */
	int64_t first_ns;
	int64_t done_ns;
	bool dropped;
	bool inside;
};

struct lab {
	struct calendar calendar;
	struct replica_config config;
	struct replica *replica;
	struct lab_request *requests;
	size_t n;
	bool quiet; /* keep no log */
	struct lab_entry *log;
	size_t logged, log_capacity;
	struct lab_step *steps;
	size_t stepped, step_capacity;
};

static inline void lab_note(struct lab *l, enum lab_kind kind, uint64_t id,
                            int64_t a, int64_t b)
{
	struct lab_entry e;

	if (l->quiet)
		return;
	if (l->logged == l->log_capacity) {
		l->log_capacity = 2 * l->log_capacity + 64;
		l->log = mem_grow(l->log, l->log_capacity, sizeof *l->log);
	}
	memset(&e, 0, sizeof e);
	e.kind = kind;
	e.at_ns = l->calendar.now_ns;
	e.id = id;
	e.a = a;
	e.b = b;
	l->log[l->logged++] = e;
}

/* KV in use by the requests' own account: law L4. */
static inline uint64_t lab_blocks_held(const struct lab *l)
{
	const struct replica_kv *kv = &l->replica->b.kv;
	uint64_t blocks = 0, tokens;
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct replica_work *w = &l->requests[i].work;

		if (!l->requests[i].inside || w->place != WORK_RUNNING)
			continue;
		if (l->config.draft.tokens > 0) {
			blocks += w->blocks;
			continue;
		}
		tokens = w->computed;
		if (replica_decodes(w))
			tokens = w->input_tokens +
			         replica_decode_generated(l->replica, w) - 1;
		blocks += replica_kv_blocks(kv, tokens);
	}
	return blocks;
}

/* Blocks with a holder are used or paid for; the rest stand in the queue. */
static inline void lab_check_cache(const struct replica *r)
{
	const struct replica_cache *c = r->b.cache;
	uint64_t held = 0, queued = 0;
	uint32_t i;

	for (i = 0; i < c->fresh; i++)
		held += c->block[i].holders > 0;
	for (i = c->first; i != UINT32_MAX; i = c->block[i].next) {
		assert(c->block[i].holders == 0);
		queued++;
	}
	assert(held + queued == c->fresh);
	assert(held == r->b.kv.used + c->paid);
}

/* At every hook: used blocks are what the requests hold, within the total. */
static inline void lab_check(struct lab *l)
{
	uint64_t used = replica_kv_used(l->replica);

	if (l->config.kv_blocks > 0)
		assert(used <= l->config.kv_blocks);
	if (!l->quiet && l->replica->b.cache)
		lab_check_cache(l->replica);
	else if (!l->quiet && l->replica->b.kv.due)
		assert(l->replica->b.kv.used == lab_blocks_held(l));
}

static inline void lab_lived(void *self, struct replica *r)
{
	const struct lab *l = self;
	bool gone = replica_state_of(r) == REPLICA_GONE;

	lab_note(self, LAB_LIVED, 0, (int64_t)replica_state_of(r),
	         gone ? (int64_t)l->stepped : 0);
}

static inline void lab_queued(void *self, struct replica *r,
                              struct replica_work *w)
{
	assert(w->queued && w->queued_ns == r->p.calendar->now_ns);
	/* Without an overhead that is its arrival. */
	if (r->p.config->overhead_ns > 0)
		lab_note(self, LAB_QUEUED, w->id, 0, 0);
}

static inline void lab_started(void *self, struct replica *r,
                               struct replica_work *w)
{
	struct lab_request *q = w->owner;

	(void)r;
	q->started_ns = q->lab->calendar.now_ns;
	lab_note(self, LAB_STARTED, w->id, 0, 0);
	if (replica_engine_find("batching") == q->lab->config.engine)
		lab_check(self);
}

static inline void lab_preempted(void *self, struct replica *r,
                                 struct replica_work *w)
{
	lab_note(self, LAB_PREEMPTED, w->id, replica_generated(r, w),
	         w->preemptions);
	lab_check(self);
}

static inline void lab_first(void *self, struct replica *r,
                             struct replica_work *w)
{
	struct lab_request *q = w->owner;

	assert(q->first_ns == TIME_NEVER);
	assert(q->started_ns <= q->lab->calendar.now_ns);
	(void)r;
	q->first_ns = q->lab->calendar.now_ns;
	lab_note(self, LAB_FIRST, w->id, 0, 0);
}

static inline void lab_done(void *self, struct replica *r,
                            struct replica_work *w)
{
	struct lab_request *q = w->owner;

	assert(q->inside && q->first_ns <= q->lab->calendar.now_ns);
	assert(replica_generated(r, w) == w->output.sealed_);
	q->done_ns = q->lab->calendar.now_ns;
	q->inside = false;
	lab_note(self, LAB_DONE, w->id, w->cached, w->preemptions);
	lab_check(self);
}

static inline void lab_dropped(void *self, struct replica *r,
                               struct replica_work *w, enum replica_drop why)
{
	struct lab_request *q = w->owner;

	q->dropped = true;
	q->inside = false;
	lab_note(self, LAB_DROPPED, w->id, why, replica_generated(r, w));
}

static inline void lab_stepped(void *self, struct replica *r,
                               const struct replica_steps *steps)
{
	struct lab *l = self;
	struct lab_step s;
	uint64_t i;

	(void)r;
	if (l->quiet)
		return;
	memset(&s, 0, sizeof s);
	s.begin_ticks = steps->begin_ticks;
	s.ticks = steps->first_ticks;
	s.tokens = steps->tokens;
	s.batch = steps->batch;
	for (i = 0; i < steps->steps; i++) {
		if (l->stepped == l->step_capacity) {
			l->step_capacity = 2 * l->step_capacity + 64;
			l->steps = mem_grow(l->steps, l->step_capacity,
			                    sizeof *l->steps);
		}
		l->steps[l->stepped++] = s;
		s.begin_ticks += s.ticks;
		s.ticks += steps->growth_ticks;
		s.batch.contexts += s.batch.decodes;
	}
}

static inline void lab_late(void *self, struct replica *r,
                            struct replica_work *w, int64_t gap_ns)
{
	(void)r;
	lab_note(self, LAB_LATE, w->id, gap_ns, 0);
}

static inline const struct replica_hooks *lab_hooks(void)
{
	static const struct replica_hooks hooks = {
		.lived = lab_lived,
		.queued = lab_queued,
		.started = lab_started,
		.preempted = lab_preempted,
		.first_token = lab_first,
		.done = lab_done,
		.dropped = lab_dropped,
		.steps = lab_stepped,
		.late_token = lab_late,
	};

	return &hooks;
}

/* ---- config ------------------------------------------------------------ */

/* A curve of one piece, in ns. */
static inline struct replica_curve
lab_linear(int64_t base_ns, int64_t prefill_ns, int64_t decode_ns)
{
	struct replica_curve curve;

	memset(&curve, 0, sizeof curve);
	curve.n = 1;
	curve.piece[0].upto_tokens = UINT32_MAX;
	curve.piece[0].base_ticks = base_ns * REPLICA_TICKS_PER_NS;
	curve.piece[0].per_prefill_ticks = prefill_ns * REPLICA_TICKS_PER_NS;
	curve.piece[0].per_decode_ticks = decode_ns * REPLICA_TICKS_PER_NS;
	return curve;
}

/* The engine and the curve of the workload W1, KV without end. */
static inline struct replica_config lab_config(void)
{
	struct replica_config config;

	memset(&config, 0, sizeof config);
	config.engine = replica_engine_find("batching");
	config.max_num_seqs = 256;
	config.max_num_batched_tokens = 2048;
	config.block_tokens = 16;
	config.curve =
		lab_linear(3000 * NS_PER_US, 18 * NS_PER_US, 15 * NS_PER_US);
	return config;
}

/* ---- life -------------------------------------------------------------- */

static inline void lab_arrive(void *self)
{
	struct lab_request *q = self;
	struct lab *l = q->lab;

	if (replica_state_of(l->replica) != REPLICA_READY) {
		q->dropped = true;
		return;
	}
	q->inside = true;
	q->arrived_ns = l->calendar.now_ns;
	replica_admit(l->replica, &q->work);
}

static inline void lab_give_up(void *self)
{
	struct lab_request *q = self;

	if (!q->inside)
		return;
	replica_abort(q->lab->replica, &q->work);
	q->inside = false;
	q->dropped = true;
	lab_note(q->lab, LAB_NOTE, q->work.id,
	         replica_generated(q->lab->replica, &q->work), 0);
	lab_check(q->lab);
}

/* A replica that was not started, for `n` requests. */
static inline void lab_replicate(struct lab *l,
                                 const struct replica_config *config, size_t n,
                                 uint64_t replication)
{
	struct replica_params params;
	size_t i;

	memset(l, 0, sizeof *l);
	memset(&params, 0, sizeof params);
	l->config = *config;
	l->n = n;
	l->requests = mem_new(n > 0 ? n : 1, sizeof *l->requests);
	calendar_init(&l->calendar);
	params.calendar = &l->calendar;
	params.config = &l->config;
	params.hooks = lab_hooks();
	params.self = l;
	params.owner = l;
	params.entity = EVENT_ENTITY(LAB_REPLICA, 7);
	params.work_kind = LAB_WORK;
	params.seed = 1;
	params.replication = replication;
	l->replica = replica_new(&params);
	for (i = 0; i < n; i++) {
		struct lab_request *q = &l->requests[i];

		q->lab = l;
		q->work.id = i;
		q->work.owner = q;
		q->arrived_ns = q->started_ns = TIME_NEVER;
		q->first_ns = q->done_ns = TIME_NEVER;
		event_init(&q->arrive, EVENT_ADMISSION,
		           EVENT_ENTITY(LAB_REQUEST, i), lab_arrive, q);
		event_init(&q->give_up, EVENT_TRANSFER,
		           EVENT_ENTITY(LAB_GIVE_UP, i), lab_give_up, q);
	}
}

static inline void lab_init(struct lab *l, const struct replica_config *config,
                            size_t n)
{
	lab_replicate(l, config, n, 0);
}

static inline void lab_fini(struct lab *l)
{
	replica_free(l->replica);
	calendar_fini(&l->calendar);
	mem_free(l->requests);
	mem_free(l->log);
	mem_free(l->steps);
}

/* Request i comes at `at_ns` with so many tokens. */
static inline void lab_request(struct lab *l, size_t i, int64_t at_ns,
                               uint32_t input, uint32_t output)
{
	assert(i < l->n);
	l->requests[i].work.input_tokens = input;
	l->requests[i].work.output.sealed_ = output;
	event_schedule(&l->calendar, &l->requests[i].arrive, at_ns);
}

static inline void lab_run_until(struct lab *l, int64_t until_ns)
{
	while (calendar_step(&l->calendar, until_ns))
		;
}

static inline void lab_run(struct lab *l)
{
	lab_run_until(l, TIME_NEVER);
}

#endif
