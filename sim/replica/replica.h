/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replica - one engine on its GPUs: its life, its queue and its batch.
 *
 * A replica cold-starts through its phases, serves, drains and is gone. While
 * it serves, one of two engines works: `batching` runs vLLM v1's step (the
 * running first, then the waiting, under a token budget and a sequence limit,
 * with chunked prefill, KV blocks and preemption by recompute), each step as
 * long as the config's curve says of its tokens; `service` is a plain queue
 * with so many servers and a drawn service time, against which closed forms
 * can be checked. Between two changes of a batch nothing is stepped: the
 * replica leaps to the next change, with the same result as stepping.
 *
 * Its clock is integer, in units of 2^-10 ns: within one piece of the curve a
 * step's length is an integer linear form of (prefill tokens, decodes, sum of
 * contexts), so that many steps sum exactly; times that anyone sees are
 * rounded once, to the nearest ns.
 *
 * What it does not do: know other replicas, who sent a request, or money.
 */
#ifndef WEIR_REPLICA_H
#define WEIR_REPLICA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "event/event.h"

/* Fixed-point time: 1 ns is 1024 ticks. */
#define REPLICA_TICKS_PER_NS INT64_C(1024)

/* ---- config ------------------------------------------------------------ */

/*
 * One piece of a batching curve, for steps of up to `upto_tokens` tokens
 * (prefill and decode together; the last piece has UINT32_MAX). Step length
 * in ticks = base + per_prefill P + per_decode D + per_context S + per_pair A
 * where P = prefill tokens, D = decodes, S = sum of the decodes' contexts and
 * A = attended pairs of the prefill chunks, n (past + (n + 1) / 2) each. A
 * decode's context is what it finds in the KV cache: the tokens before the
 * one it computes. A step of 2^50 ticks (18 minutes) or more asserts. The
 * form: flat, then affine, with context-linear decode and
 * quadratic prefill (DistServe, arXiv 2401.09670, section 4).
 */
struct replica_curve_piece {
	uint32_t upto_tokens;
	int64_t base_ticks;
	int64_t per_prefill_ticks;
	int64_t per_decode_ticks;
	int64_t per_context_ticks;
	int64_t per_pair_ticks;
};

enum { REPLICA_CURVE_PIECES = 16 };

/*
 * With a floor, a step lasts the longer of its piece's form and the floor's,
 * whose upto_tokens is not read: computing and moving memory overlap.
 */
struct replica_curve {
	uint32_t n; /* 1 .. REPLICA_CURVE_PIECES */
	struct replica_curve_piece piece[REPLICA_CURVE_PIECES];
	bool has_floor;
	struct replica_curve_piece floor;
};

/* What a step holds. */
struct replica_batch {
	uint32_t prefill_tokens;
	uint32_t decodes;
	uint64_t contexts; /* sum over decodes */
	uint64_t pairs;    /* sum over prefill chunks */
};

/* Length of one step in ticks; at least a ns. */
int64_t replica_step_ticks(const struct replica_curve *curve,
                           const struct replica_batch *batch);

struct replica_table;
struct replica_engine; /* a table entry; see replica_engine_find */

/* By name: "batching", "service". NULL when there is none such. */
const struct replica_engine *replica_engine_find(const char *name);
/* The i-th engine's name, NULL past the last. */
const char *replica_engine_name(size_t i);

/*
 * The queue is looked at by steps that begin wait_ns or later after one that
 * let somebody join, or when `count` or more wait (0: their number does not
 * matter). wait_ns 0: by every step. An idle replica waits too.
 */
struct replica_join_wait {
	int64_t wait_ns;
	uint32_t count;
};

/*
 * Stalls that are imposed, not computed: while more than above_batch requests
 * are in the batch, they come as a Poisson process of per_minute in the time
 * of its steps, and for so long the replica begins no step; the time inside
 * a stall breeds no further one. per_minute 0: none.
 */
struct replica_stall {
	double per_minute;
	uint32_t above_batch;
	struct dist duration_ns;
};

enum { REPLICA_DRAFT_MAX = 16 };

/*
 * Speculative decoding: for each decode `tokens` further ones are drafted,
 * which one step checks; acceptance[i] is the chance that the i-th is right
 * if those before it were. All 1 + tokens count against the token budget and
 * in the curve as decodes; they come together at the step's end. Where
 * `lookahead` slots of KV are kept beyond them, as draft heads need and
 * n-grams do not, a request holds more blocks. Rejected tokens keep theirs.
 * With drafts every step is run: their luck differs.
 */
struct replica_draft {
	uint32_t tokens; /* 0: no speculation */
	double acceptance[REPLICA_DRAFT_MAX];
	uint32_t lookahead;
	int64_t step_ticks;       /* that drafting adds to a step of decodes */
	int64_t per_decode_ticks; /* and for each decode that has drafts */
};

/* Tokens that a decode gives in a step, in the mean. */
double replica_draft_mean(const struct replica_draft *draft);

/*
 * An immutable configuration, shared by the replicas of a deployment and
 * owned by the caller. batching reads max_num_seqs, max_num_batched_tokens,
 * kv_blocks (0: never short), block_tokens, max_model_len (0: no limit) and
 * curve; service reads servers and service_ns.
 */
struct replica_config {
	const struct replica_engine *engine;
	uint32_t max_num_seqs;
	uint32_t max_num_batched_tokens;
	uint64_t kv_blocks;
	uint32_t block_tokens; /* tokens of a KV block, 16 */
	uint32_t max_model_len;
	struct replica_curve curve;
	uint32_t servers;
	struct dist service_ns;
	uint64_t queue_cap; /* waiting beyond it are refused; 0: no cap */
	bool exact_steps;   /* run every step instead of leaping */
	/*
	 * Both engines: what a request spends inside before it joins the
	 * queue (HTTP, tokens made of text): in flight, but not waiting.
	 */
	int64_t overhead_ns;
	struct replica_join_wait join_wait; /* batching */
	struct replica_stall stall;         /* batching */
	struct replica_draft draft;         /* batching */
	/*
	 * batching: full KV blocks stay known by their chain until they are
	 * taken for something else, and are found again; kv_blocks is not 0.
	 */
	bool prefix_cache;
	/* batching: most tokens of one prompt in a step; 0: no limit. */
	uint32_t long_prefill_tokens;
	/* batching: blocks that a request must leave free where it joins
	 * others. */
	uint64_t watermark_blocks;
};

/*
 * The phases of a cold start, each a distribution in ns. The names follow
 * the platform's events PullingImage, Starting, LoadingWeights and the
 * warm-up before StartupComplete.
 */
struct replica_cold_start {
	struct dist image_pull_ns;
	struct dist start_ns;
	struct dist weights_ns;
	struct dist warmup_ns;
};

/* ---- life -------------------------------------------------------------- */

enum replica_state {
	REPLICA_PLACING, /* made, not started */
	REPLICA_PULLING,
	REPLICA_STARTING,
	REPLICA_LOADING,
	REPLICA_WARMING,
	REPLICA_READY,
	REPLICA_DRAINING, /* finishes what it has, takes nothing new */
	REPLICA_GONE,
};

const char *replica_state_name(enum replica_state state);

/*
 * Why a request left a replica without finishing. The queue cap counts what
 * waits, a request that came in the middle of a step too.
 */
enum replica_drop {
	REPLICA_DROP_QUEUE_FULL, /* refused at the door */
	REPLICA_DROP_TOO_LONG,   /* can never fit KV or max_model_len */
	REPLICA_DROP_LOST,       /* the replica was killed under it */
};

/*
 * One request as a replica sees it; a member of the caller's request. The
 * first block is the caller's to fill before replica_admit; the rest is the
 * replica's. It must stay until done or dropped was called, or
 * replica_abort returned.
 */
struct replica_work {
	uint64_t id; /* unique in the run; the substream of its draws */
	uint32_t input_tokens;
	struct sealed_tokens output; /* at least 1 */
	/* The first so many tokens of its input are those of the group. */
	uint64_t prefix_group;
	uint32_t prefix_tokens;
	/*
	 * What follows is its own, or continues what the session's requests
	 * before it had, one after another; 0: no session.
	 */
	uint64_t session;
	void *owner;

	int64_t queued_ns; /* when it joins the queue, after the overhead */
	bool queued;       /* it did */
	uint32_t cached;   /* tokens found in the cache when it started */
	struct replica_table *table; /* its blocks, with a prefix cache */
	uint32_t computed;           /* tokens whose KV is held */
	uint32_t generated;   /* output tokens so far (see replica_generated) */
	uint32_t preemptions; /* times it was thrown out and recomputed */
	uint64_t blocks;      /* KV blocks held */
	uint32_t scheduled;   /* tokens in this step, with drafts */
	uint64_t rank;        /* in which it joined the batch */
	uint64_t end_step;    /* step at whose end its last token comes */
	int64_t token_ticks;  /* when its last token came */
	struct replica_work *next;
	struct replica_work *prev;
	enum {
		WORK_OUT,
		WORK_PREPARING, /* in its overhead */
		WORK_WAITING,
		WORK_RUNNING
	} place;
	struct replica *in;   /* where it is, NULL when it is out */
	struct event service; /* engine `service` only */
};

/*
 * `steps` equal steps of one batch, from `begin_ticks`: step i (from 0)
 * lasts first_ticks + i * growth_ticks, and gives each of `tokens` requests
 * one further token. A token's ITL is the length of its step; where a request
 * sat out steps (preempted, no budget) or a stall its gap comes by
 * late_token; and so do tokens that come together with another, gap 0.
 */
struct replica_steps {
	int64_t begin_ticks;
	int64_t first_ticks;
	int64_t growth_ticks;
	uint64_t steps;
	uint32_t tokens;
	struct replica_batch batch; /* of the first of them */
};

struct replica;

/*
 * What the owner is told, at the simulated moment it happens. Within a call
 * the owner may admit to other replicas and schedule events, but not touch
 * this replica. All must be set, save one.
 */
struct replica_hooks {
	/* It changed its state of life (replica_state_of says to what). */
	void (*lived)(void *self, struct replica *r);
	/* It joined the queue: at once, or after the overhead. May be NULL. */
	void (*queued)(void *self, struct replica *r, struct replica_work *w);
	/* The request left the queue and its first chunk starts now. */
	void (*started)(void *self, struct replica *r, struct replica_work *w);
	/* It went back to the queue; it will be started again. */
	void (*preempted)(void *self, struct replica *r,
	                  struct replica_work *w);
	void (*first_token)(void *self, struct replica *r,
	                    struct replica_work *w);
	/* The last token came (after first_token, also when there is one). */
	void (*done)(void *self, struct replica *r, struct replica_work *w);
	void (*dropped)(void *self, struct replica *r, struct replica_work *w,
	                enum replica_drop why);
	/* Steps were run; called when they are over. */
	void (*steps)(void *self, struct replica *r,
	              const struct replica_steps *steps);
	/* One token came gap_ns after its predecessor, not one step. */
	void (*late_token)(void *self, struct replica *r,
	                   struct replica_work *w, int64_t gap_ns);
};

/*
 * A replica in state PLACING. `entity` is its EVENT_ENTITY, used for its
 * events: a step's end is of phase COMPLETION, a phase of life of READY, a
 * step's start of OPERATOR and of kind 0xff, last of its moment. Events of a
 * single request use `work_kind` with the work's id.
 * `seed` and `replication` name its streams. calendar, config and hooks stay
 * the caller's and must outlive it.
 */
struct replica_params {
	struct calendar *calendar;
	const struct replica_config *config;
	const struct replica_hooks *hooks;
	void *self; /* first argument of every hook */
	void *owner;
	uint64_t entity;
	uint8_t work_kind;
	uint64_t seed;
	uint64_t replication;
};

struct replica *replica_new(const struct replica_params *params);
/* Frees it; requests still inside are forgotten, not dropped. */
void replica_free(struct replica *r);

/*
 * Begins the cold start, phase by phase, drawn from its own stream by its
 * entity; NULL: ready at once (`lived` is called before it returns).
 */
void replica_start(struct replica *r, const struct replica_cold_start *cold);
/*
 * Stops taking requests; GONE when the last has left, at once when there is
 * none or it had not been ready.
 */
void replica_drain(struct replica *r);
/*
 * GONE now: the steps that are over are told, then `lived` is called, then
 * every request inside is dropped as LOST: the batch in its order, the queue
 * in its, and those in their overhead. A step that is not over is not told.
 */
void replica_kill(struct replica *r);

/*
 * A request arrives; the replica must be READY. Its overhead begins; without
 * one it joins the queue, or is dropped (hook), before this returns. In a batch
 * it may join the first step that starts at this ns or later: a step starts
 * after all else that happens at its ns, so that requests of one moment share a
 * step. Call it from events, not from `started` or `preempted`.
 */
void replica_admit(struct replica *r, struct replica_work *w);
/*
 * The client gave up: takes w out wherever it is, without a hook of its own.
 * A step that is under way keeps its length. Its KV is free at once.
 */
void replica_abort(struct replica *r, struct replica_work *w);

/*
 * Tells the `steps` hook of the steps that are over but not told yet: at the
 * end of an interval of the series, so that a leap's tokens fall where they
 * came. Changes nothing else.
 */
void replica_report(struct replica *r);

/* ---- what can be asked ------------------------------------------------- */

enum replica_state replica_state_of(const struct replica *r);
void *replica_owner(const struct replica *r);
uint32_t replica_waiting(const struct replica *r);
uint32_t replica_running(const struct replica *r);
/* Requests in their overhead. */
uint32_t replica_preparing(const struct replica *r);
/* Imposed stalls that have begun so far. */
uint64_t replica_stalls(const struct replica *r);
/* Output tokens w has given up to now, within a leap too. */
uint32_t replica_generated(const struct replica *r,
                           const struct replica_work *w);
/* KV blocks in use now, within a leap too; 0 for `service`. */
uint64_t replica_kv_used(const struct replica *r);
/* Steps that are over; 0 for `service`. */
uint64_t replica_steps_run(const struct replica *r);
/* Time not idle so far: inside steps, or with a server at work. */
int64_t replica_busy_ns(const struct replica *r);
/* How long the four phases of this cold start were (0 before they end). */
int64_t replica_cold_start_ns(const struct replica *r);

#endif
