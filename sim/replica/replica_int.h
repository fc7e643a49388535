/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside a replica: its lists, its batch, the run of steps it is in, and
 * what an engine must do. Only sim/replica and tests include this.
 *
 * A request that decodes is never touched while it does: it carries the
 * number of the step at whose end its last token comes (end_step), and all
 * else follows from that number and the number of steps done. The batch
 * holds sums: decodes, their contexts, and how many of them need a new KV
 * block at which step. So a step costs nothing for each decode, and a run of
 * equal steps no more than one.
 */
#ifndef WEIR_REPLICA_INT_H
#define WEIR_REPLICA_INT_H

#include <assert.h>

#include "replica/replica.h"

/* ---- time -------------------------------------------------------------- */

/* A step is shorter, and a run has no more steps: their product fits. */
#define REPLICA_STEP_TICKS_MAX (INT64_C(1) << 50)
#define REPLICA_RUN_STEPS_MAX (UINT64_C(1) << 12)
/* What a token of context costs is less: times the decodes it fits too. */
#define REPLICA_CONTEXT_TICKS_MAX (INT64_C(1) << 40)

/* The ns at which a moment of the replica's clock is seen: the nearest. */
static inline int64_t replica_ns(int64_t ticks)
{
	return (ticks + REPLICA_TICKS_PER_NS / 2) >> 10;
}

static inline int64_t replica_ticks(int64_t ns)
{
	assert(ns >= 0 && ns <= INT64_MAX / REPLICA_TICKS_PER_NS - 1);
	return ns * REPLICA_TICKS_PER_NS;
}

/* A drawn duration in whole ns: 0 at least, about 104 days at most. */
int64_t replica_draw_ns(const struct dist *d, struct stream *s);

/* ---- curve ------------------------------------------------------------- */

/* Equal steps: step i (from 0) lasts first_ticks + i * growth_ticks. */
struct replica_pace {
	int64_t first_ticks;
	int64_t growth_ticks;
	uint64_t steps_max; /* so many follow the form */
};

/* The pace of a batch of decodes alone, from contexts as in `batch`. */
struct replica_pace replica_curve_pace(const struct replica_curve *curve,
                                       const struct replica_batch *batch);
/* How long `steps` steps last, in closed form. */
int64_t replica_pace_sum(const struct replica_pace *pace, uint64_t steps);
/* The least number of steps, 1 at least, that last `ticks` or longer; `most`
 * when that many do not. */
uint64_t replica_pace_steps(const struct replica_pace *pace, uint64_t most,
                            int64_t ticks);

/* ---- lists ------------------------------------------------------------- */

struct replica_list {
	struct replica_work *first;
	struct replica_work *last;
	uint32_t n;
};

void replica_list_append(struct replica_list *l, struct replica_work *w);
void replica_list_prepend(struct replica_list *l, struct replica_work *w);
void replica_list_remove(struct replica_list *l, struct replica_work *w);

/* ---- endings ----------------------------------------------------------- */

/* When a decode ends; at one step, in the order of the batch. */
struct replica_ending {
	uint64_t step;
	uint64_t rank;
	struct replica_work *work;
};

/* A 4-ary heap of the decodes by their endings. */
struct replica_endings {
	struct replica_ending *heap;
	uint32_t n;
	uint32_t capacity;
};

void replica_endings_push(struct replica_endings *e,
                          const struct replica_ending *ending);
/* Takes out the first; there must be one. */
struct replica_work *replica_endings_pop(struct replica_endings *e);
/* Takes out w, wherever it is. */
void replica_endings_remove(struct replica_endings *e,
                            const struct replica_work *w);

/* ---- KV ---------------------------------------------------------------- */

/*
 * Blocks by counts. `used` is what is held between two steps, without the
 * blocks that decodes take in the run under way. A decode with c tokens held
 * when s steps are done takes a block in the next step if block_tokens
 * divides c: due[(c - s) mod block_tokens] counts it.
 */
struct replica_kv {
	uint64_t total; /* 0: never short */
	uint64_t used;
	uint32_t block_tokens;
	uint32_t decodes;
	uint32_t *due;
};

void replica_kv_init(struct replica_kv *kv,
                     const struct replica_config *config);
void replica_kv_fini(struct replica_kv *kv);
/* Blocks that hold so many tokens. */
uint64_t replica_kv_blocks(const struct replica_kv *kv, uint64_t tokens);
/* Blocks not held, before the run under way. */
uint64_t replica_kv_free(const struct replica_kv *kv);
/* A request with so many tokens held begins to decode, or no longer does. */
void replica_kv_join(struct replica_kv *kv, uint64_t tokens, uint64_t done);
void replica_kv_leave(struct replica_kv *kv, uint64_t tokens, uint64_t done);
/* Blocks that the decodes take in the next `steps` steps. */
uint64_t replica_kv_taken(const struct replica_kv *kv, uint64_t done,
                          uint64_t steps);
/* How many of the next `most` steps find their blocks. */
uint64_t replica_kv_steps(const struct replica_kv *kv, uint64_t done,
                          uint64_t most);

/* ---- hold: when the queue is not looked at, or no step begins ----------- */

struct replica_hold {
	int64_t join_ns;       /* from then on the waiting may join */
	struct stream stream;  /* of the stalls */
	int64_t exposed_ticks; /* steps that may breed stalls, so far */
	int64_t next_ticks;    /* of them, when the next stall comes */
	int64_t until_ns;      /* no step begins before */
	uint64_t stalls;
};

void replica_hold_init(struct replica *r);
/* True when a step that begins now may look at the queue. */
bool replica_hold_joins(const struct replica *r);
/* Somebody joined a step that begins now. */
void replica_hold_joined(struct replica *r);
/* True when the steps of the batch as it is may breed stalls, if any. */
bool replica_hold_exposed(const struct replica *r);
/* How many of `most` steps may be run until the next stall begins. */
uint64_t replica_hold_steps(const struct replica *r,
                            const struct replica_pace *pace, uint64_t most);
/* Exposed steps are over, the last of them in this ns: a stall may begin. */
void replica_hold_expose(struct replica *r, int64_t ticks);

/* ---- cache: blocks by name --------------------------------------------- */

enum replica_chain { CHAIN_NONE, CHAIN_PREFIX, CHAIN_SESSION, CHAIN_OWN };

/* What a full block holds: the index-th of a chain. */
struct replica_name {
	uint64_t owner;
	uint32_t index;
	enum replica_chain chain;
};

struct replica_block {
	struct replica_name name;
	uint32_t holders;
	uint32_t chained; /* the next of its bucket */
	uint32_t prev;    /* in the queue, while nobody holds it */
	uint32_t next;
};

/* Blocks in a request's order; the first `named` of them have names. */
struct replica_table {
	struct replica_table *next; /* of those not in use */
	uint32_t *at;
	uint32_t n;
	uint32_t named;
	uint32_t capacity;
};

struct replica_cache {
	struct replica_block *block;
	uint32_t *bucket;
	uint32_t mask;
	uint32_t fresh; /* from here on they were never used */
	uint32_t first; /* the queue: the one that was free for longest */
	uint32_t last;
	uint64_t paid; /* taken for the step under way, not booked yet */
	struct replica_table *held; /* of decodes; whose, is not settled */
	struct replica_table *tables;
};

void replica_cache_open(struct replica *r);
void replica_cache_close(struct replica *r);
/* How many of w's blocks are found, and how many of those nobody holds. */
uint64_t replica_cache_find(const struct replica *r,
                            const struct replica_work *w, uint64_t *free);
/* w joins the batch with the blocks found. */
void replica_cache_join(struct replica *r, struct replica_work *w,
                        uint64_t found);
/* w takes blocks until it has so many; those that so many tokens fill get
 * their names. */
void replica_cache_take(struct replica *r, struct replica_work *w,
                        uint64_t blocks, uint64_t tokens);
/* The decodes take so many for the step under way, no more and no less. */
void replica_cache_pay(struct replica *r, uint64_t blocks);
/* Steps are over for which the decodes took so many, those paid included. */
void replica_cache_book(struct replica *r, uint64_t blocks);
/* w gives its blocks back; `used` falls by those that nobody else holds. */
void replica_cache_leave(struct replica *r, struct replica_work *w);

/* ---- batch ------------------------------------------------------------- */

/* Steps under way: one with prefill, or `steps` equal ones of decodes. */
struct replica_run {
	bool open;
	bool pure; /* decodes alone */
	int64_t begin_ticks;
	struct replica_pace pace;
	bool exposed; /* its steps may breed stalls */
	bool late;    /* one step, whose tokens are told by late_token */
	uint64_t steps;
	uint64_t told;   /* of them, told to the `steps` hook */
	uint32_t tokens; /* decodes that get one at the end of each */
	struct replica_batch batch;
};

/* The state of engine `batching`. */
struct replica_batching {
	struct event start;
	struct event end;
	int64_t clock_ticks; /* where the last booked step ended */
	int64_t token_ticks; /* where the last one with decodes did */
	struct replica_hold hold;
	uint64_t steps;    /* booked, all before the run under way */
	uint64_t joined;   /* the batch so far: the next one's rank */
	uint64_t contexts; /* of the decodes, after the booked steps */
	struct replica_endings endings;
	struct replica_kv kv;
	struct replica_cache *cache;     /* NULL: none */
	struct replica_work *prefilling; /* the first that prefills */
	struct stream drafts;            /* which of them are right */
	struct replica_run run;
};

/* The state of engine `service`. */
struct replica_service {
	struct stream stream;
};

/* ---- replica ----------------------------------------------------------- */

enum { REPLICA_COLD_PHASES = 4 };

struct replica {
	struct replica_params p;
	enum replica_state state;
	struct event life;
	int64_t phase_ns[REPLICA_COLD_PHASES];
	int64_t cold_start_ns; /* 0 until it is ready */
	struct event prepared; /* the first of `preparing` is */
	struct replica_list preparing;
	struct replica_list waiting;
	struct replica_list running; /* in the order in which they joined */
	bool busy;
	int64_t busy_since_ticks;
	int64_t busy_ticks; /* without the time since busy_since_ticks */
	struct replica_batching b;
	struct replica_service s;
};

struct replica_engine {
	const char *name;
	void (*open)(struct replica *r);
	void (*close)(struct replica *r);
	void (*admit)(struct replica *r, struct replica_work *w);
	void (*abort)(struct replica *r, struct replica_work *w);
	/* Drops everything inside as LOST, the batch before the queue. */
	void (*lose)(struct replica *r);
	void (*report)(struct replica *r);
	uint32_t (*generated)(const struct replica *r,
	                      const struct replica_work *w);
	uint64_t (*kv_used)(const struct replica *r);
	uint64_t (*steps_run)(const struct replica *r);
};

extern const struct replica_engine replica_engine_batching;
extern const struct replica_engine replica_engine_service;

/* The drop of a request that is in no list (any more). */
void replica_drop(struct replica *r, struct replica_work *w,
                  enum replica_drop why);
/* True, and w is dropped, when the queue holds all it may. */
bool replica_refuse_full(struct replica *r, struct replica_work *w);
/* w joins the queue, and the owner is told. */
void replica_queue(struct replica *r, struct replica_work *w);
/* Nobody is inside. */
bool replica_empty(const struct replica *r);
/* A request left: a draining replica may be GONE now. */
void replica_left(struct replica *r);
/* The times between which it is not idle. */
void replica_busy_from(struct replica *r, int64_t ticks);
void replica_busy_until(struct replica *r, int64_t ticks);

/* ---- leap: the run of steps under way ---------------------------------- */

struct replica_plan;

/* Opens a run of at most `most` steps where the last step ended. */
void replica_run_open(struct replica *r, const struct replica_plan *plan,
                      uint64_t most);
/*
 * Steps of the run that are over now. Those with prefill or at whose end a
 * request ends are not over before their event.
 */
uint64_t replica_run_over(const struct replica *r);
/* Tells the hook of the first `steps` steps, as far as it was not told. */
void replica_run_tell(struct replica *r, uint64_t steps);
/* Tells and books the first `steps` steps; the rest of the run goes on. */
void replica_run_book(struct replica *r, uint64_t steps);
/* Lets the run end at the first end of a step at `at_ns` or later; a moment
 * that is over stands for now. */
void replica_run_until(struct replica *r, int64_t at_ns);
/* Lets the run end at the first end of a step from now on. */
void replica_run_cut(struct replica *r);
/*
 * Books what is over and leaves at most the step under way, which then keeps
 * its batch and its length: true when there is one. A step that would begin
 * in this ns has not begun, since it begins last.
 */
bool replica_run_settle(struct replica *r);
/* Forgets the rest of the run. */
void replica_run_drop(struct replica *r);
/* KV blocks that its decodes took in it, the step under way included. */
uint64_t replica_run_kv(const struct replica *r);

/* ---- step: what vLLM's scheduler does ---------------------------------- */

/* The batch as it is made up. */
struct replica_plan {
	struct replica_batch batch;
	uint32_t budget;  /* tokens left */
	uint32_t on_time; /* with drafts: decodes that sat out no step */
	bool preempted;   /* somebody was thrown out: nobody joins */
};

/* Makes up the batch and begins its step, or several, or is idle. */
void replica_step_begin(struct replica *r);
/* The next chunk of w's prompt, of so many tokens at most. */
uint32_t replica_step_chunk(const struct replica *r,
                            const struct replica_work *w, uint32_t budget);
/* Gives w its next n tokens of prompt. */
void replica_step_prefill(struct replica *r, struct replica_work *w, uint32_t n,
                          struct replica_plan *plan);
/* Throws out the last of the batch; it will be first of the queue. */
void replica_step_preempt(struct replica *r, struct replica_plan *plan);

/* ---- draft: decodes that guess ----------------------------------------- */

/* True when the config has drafts. */
static inline bool replica_drafts(const struct replica *r)
{
	return r->p.config->draft.tokens > 0;
}

/* KV slots that a request needs beyond its tokens. */
static inline uint32_t replica_draft_slots(const struct replica *r)
{
	return r->p.config->draft.lookahead;
}

/* Puts the running into the step, one by one. */
void replica_draft_schedule(struct replica *r, struct replica_plan *plan);
/* How long drafting takes in a step of so many decodes. */
int64_t replica_draft_ticks(const struct replica *r);
/* True when w's token at the end of this step comes one step after its
 * last. */
bool replica_draft_on_time(const struct replica *r,
                           const struct replica_work *w);
/* The step is over: the decodes before that rank get their tokens, and who
 * has all of them is done. */
void replica_draft_book(struct replica *r, uint64_t before);

/* ---- batch: who is in, and the sums ------------------------------------ */

/* True when w is past its prompt. */
bool replica_decodes(const struct replica_work *w);
/* The first from w on that prefills, or NULL. */
struct replica_work *replica_prefilling(struct replica_work *w);
/* A decode's output tokens after the booked steps. */
uint32_t replica_decode_generated(const struct replica *r,
                                  const struct replica_work *w);
/* When the decode w got its last token, before the run under way. */
int64_t replica_decode_ticks(const struct replica *r,
                             const struct replica_work *w);
/* w's prompt is computed; it decodes from the next step on. */
void replica_batch_decode(struct replica *r, struct replica_work *w);
/*
 * Takes w out of the batch and its sums, and frees its KV; what it had
 * generated is written down in it.
 */
void replica_batch_remove(struct replica *r, struct replica_work *w);
/* w has all its tokens and left the batch. */
void replica_finish(struct replica *r, struct replica_work *w);
/* Takes out the next of those that end with the booked steps and have a rank
 * below `before`, or NULL. */
struct replica_work *replica_batch_ended(struct replica *r, uint64_t before);

#endif
