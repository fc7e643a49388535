/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Engine `batching`: continuous batching. A step's end is an event; after it
 * the next step begins, at the end of the same moment, so that whoever
 * arrives in it can join. When nothing else is due in that moment the next
 * step begins at once, which is the same.
 */
#include "replica/replica_int.h"

/* Kind of the entity of starts: the last of a moment. */
#define START_KIND 0xff
#define ENTITY_NUMBER (UINT64_MAX >> 8)

static void step_start(void *self)
{
	replica_step_begin(self);
}

/*
 * The next step begins when all else of this moment has happened, or of the
 * last one of a stall.
 */
static void begin_soon(struct replica *r)
{
	struct calendar *c = r->p.calendar;
	int64_t at_ns = c->now_ns;

	if (r->b.hold.until_ns > at_ns)
		at_ns = r->b.hold.until_ns;
	if (!event_pending(&r->b.start))
		event_schedule(c, &r->b.start, at_ns);
	else if (at_ns < r->b.start.at_ns)
		event_move(c, &r->b.start, at_ns);
}

void replica_finish(struct replica *r, struct replica_work *w)
{
	w->in = NULL;
	r->p.hooks->done(r->p.self, r, w);
}

/* w's prompt is computed, which gives a token. */
static void give_token(struct replica *r, struct replica_work *w)
{
	const struct replica_hooks *h = r->p.hooks;
	int64_t gap_ticks = r->b.clock_ticks - w->token_ticks;

	w->generated++;
	w->token_ticks = r->b.clock_ticks;
	if (w->generated == 1)
		h->first_token(r->p.self, r, w);
	else
		h->late_token(r->p.self, r, w, replica_ns(gap_ticks));
	if (w->generated < w->output.sealed_) {
		replica_batch_decode(r, w);
	} else {
		replica_batch_remove(r, w);
		replica_finish(r, w);
	}
}

/* The decodes before that rank which have their last token are done. */
static void finish_ended(struct replica *r, uint64_t before)
{
	struct replica_work *w;

	if (replica_drafts(r))
		replica_draft_book(r, before);
	while ((w = replica_batch_ended(r, before)))
		replica_finish(r, w);
}

/* Those whose prompts are computed get a token, and who has all of its
 * tokens is done, in the order of the batch. */
static void give_tokens(struct replica *r)
{
	struct replica_work *w = r->b.prefilling, *next;

	r->b.prefilling = NULL;
	for (; w; w = next) {
		next = replica_prefilling(w->next);
		if (w->computed == w->input_tokens + w->generated) {
			finish_ended(r, w->rank);
			give_token(r, w);
			continue;
		}
		if (!r->b.prefilling)
			r->b.prefilling = w;
		/* Behind one that used the budget up is nobody further. */
		if (r->p.config->long_prefill_tokens == 0)
			break;
	}
	finish_ended(r, UINT64_MAX);
}

static void run_end(void *self)
{
	struct replica *r = self;
	struct calendar *c = r->p.calendar;

	replica_run_book(r, r->b.run.steps);
	give_tokens(r);
	if (r->running.n + r->waiting.n == 0) {
		if (r->busy)
			replica_busy_until(r, r->b.clock_ticks);
		replica_left(r);
	} else if (calendar_next(c) > c->now_ns &&
	           r->b.hold.until_ns <= c->now_ns) {
		replica_step_begin(r);
	} else {
		begin_soon(r);
	}
}

static void batching_open(struct replica *r)
{
	const struct replica_config *config = r->p.config;
	uint64_t number = r->p.entity & ENTITY_NUMBER;

	assert(config->max_num_seqs >= 1);
	assert(config->max_num_batched_tokens >= 1);
	event_init(&r->b.end, EVENT_COMPLETION, r->p.entity, run_end, r);
	event_init(&r->b.start, EVENT_OPERATOR,
	           EVENT_ENTITY(START_KIND, number), step_start, r);
	replica_kv_init(&r->b.kv, config);
	replica_cache_open(r);
	if (replica_drafts(r))
		r->b.drafts = stream_open(r->p.seed, r->p.replication,
		                          EVENT_ENTITY(r->p.work_kind, 0),
		                          STREAM_DRAFT);
	replica_hold_init(r);
}

static void batching_close(struct replica *r)
{
	event_cancel(r->p.calendar, &r->b.start);
	event_cancel(r->p.calendar, &r->b.end);
	replica_cache_close(r);
	replica_kv_fini(&r->b.kv);
	mem_free(r->b.endings.heap);
}

/*
 * True when w could not even run alone. Its last token needs no KV, but
 * drafts beyond it do.
 */
static bool too_long(const struct replica *r, const struct replica_work *w)
{
	const struct replica_config *config = r->p.config;
	uint64_t tokens = (uint64_t)w->input_tokens + w->output.sealed_;

	if (tokens > UINT32_MAX)
		return true;
	if (config->max_model_len > 0 && tokens > config->max_model_len)
		return true;
	tokens += config->draft.tokens + replica_draft_slots(r);
	return config->kv_blocks > 0 &&
	       replica_kv_blocks(&r->b.kv, tokens - 1) > config->kv_blocks;
}

static void batching_admit(struct replica *r, struct replica_work *w)
{
	const struct replica_config *config = r->p.config;
	bool may_join;

	if (too_long(r, w)) {
		replica_drop(r, w, REPLICA_DROP_TOO_LONG);
		return;
	}
	if (replica_refuse_full(r, w))
		return;
	/* Who waits already cannot join before a run's end, nor can w; but
	 * where they wait for time or company, w may be that. */
	may_join = (r->waiting.n == 0 || config->join_wait.wait_ns > 0) &&
	           r->running.n < config->max_num_seqs &&
	           r->b.kv.decodes < config->max_num_batched_tokens;
	replica_queue(r, w);
	if (!r->b.run.open)
		begin_soon(r);
	else if (may_join && replica_hold_joins(r))
		replica_run_cut(r);
	else if (may_join)
		replica_run_until(r, r->b.hold.join_ns);
}

static void abort_waiting(struct replica *r, struct replica_work *w)
{
	bool was_first = r->waiting.first == w;

	replica_list_remove(&r->waiting, w);
	w->place = WORK_OUT;
	/* The one behind may fit where the first did not. */
	if (was_first)
		replica_run_cut(r);
}

static void abort_running(struct replica *r, struct replica_work *w)
{
	if (!replica_run_settle(r))
		begin_soon(r);
	else if (replica_decodes(w) &&
	         (replica_drafts(r) ? replica_draft_on_time(r, w)
	                            : !r->b.run.late))
		r->b.run.tokens--;
	replica_batch_remove(r, w);
}

static void batching_abort(struct replica *r, struct replica_work *w)
{
	if (w->place == WORK_WAITING)
		abort_waiting(r, w);
	else
		abort_running(r, w);
}

static void batching_lose(struct replica *r)
{
	struct replica_work *w;

	replica_run_book(r, replica_run_over(r));
	replica_run_drop(r);
	event_cancel(r->p.calendar, &r->b.start);
	if (r->busy)
		replica_busy_until(r, replica_ticks(r->p.calendar->now_ns));
	while ((w = r->running.first)) {
		replica_batch_remove(r, w);
		replica_drop(r, w, REPLICA_DROP_LOST);
	}
	while ((w = r->waiting.first)) {
		replica_list_remove(&r->waiting, w);
		replica_drop(r, w, REPLICA_DROP_LOST);
	}
	if (r->b.cache)
		replica_cache_pay(r, 0);
	assert(r->b.kv.used == 0 && r->b.contexts == 0);
}

static void batching_report(struct replica *r)
{
	replica_run_tell(r, replica_run_over(r));
}

static uint32_t batching_generated(const struct replica *r,
                                   const struct replica_work *w)
{
	if (!replica_decodes(w))
		return w->generated;
	return replica_decode_generated(r, w) + (uint32_t)replica_run_over(r);
}

static uint64_t batching_kv_used(const struct replica *r)
{
	return r->b.kv.used + replica_run_kv(r);
}

static uint64_t batching_steps_run(const struct replica *r)
{
	return r->b.steps + replica_run_over(r);
}

const struct replica_engine replica_engine_batching = {
	.name = "batching",
	.open = batching_open,
	.close = batching_close,
	.admit = batching_admit,
	.abort = batching_abort,
	.lose = batching_lose,
	.report = batching_report,
	.generated = batching_generated,
	.kv_used = batching_kv_used,
	.steps_run = batching_steps_run,
};
