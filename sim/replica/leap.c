/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run of steps under way: one step, or as many as the same decodes do
 * with nobody else in sight. One event stands at its end. What happens in
 * between asks how many of its steps are over, and cuts it at the next end
 * of a step where the batch may change there.
 */
#include "replica/replica_int.h"

static int64_t end_ticks(const struct replica_run *run, uint64_t steps)
{
	return run->begin_ticks + replica_pace_sum(&run->pace, steps);
}

/* The first step that is seen to end at `at_ns` or later. */
static uint64_t first_end(const struct replica *r, int64_t at_ns)
{
	const struct replica_run *run = &r->b.run;

	return replica_pace_steps(&run->pace, run->steps,
	                          replica_ticks(at_ns) -
	                                  REPLICA_TICKS_PER_NS / 2 -
	                                  run->begin_ticks);
}

/* True when requests end with the run. */
static bool ends_requests(const struct replica *r)
{
	const struct replica_batching *b = &r->b;

	return b->endings.n > 0 &&
	       b->endings.heap[0].step == b->steps + b->run.steps;
}

void replica_run_open(struct replica *r, const struct replica_plan *plan,
                      uint64_t most)
{
	struct replica_run *run = &r->b.run;
	const struct replica_batch *batch = &plan->batch;
	bool drafts = replica_drafts(r);
	const struct replica_curve *curve = &r->p.config->curve;

	assert(!run->open && most >= 1);
	run->open = true;
	run->pure = batch->prefill_tokens == 0 && !drafts;
	run->begin_ticks = r->b.clock_ticks;
	if (run->pure) {
		run->pace = replica_curve_pace(curve, batch);
	} else {
		run->pace.first_ticks = replica_step_ticks(curve, batch);
		if (drafts)
			run->pace.first_ticks += replica_draft_ticks(r);
		run->pace.growth_ticks = 0;
		run->pace.steps_max = 1;
	}
	run->steps = most < run->pace.steps_max ? most : run->pace.steps_max;
	run->exposed =
		r->p.config->stall.per_minute > 0 && replica_hold_exposed(r);
	if (run->exposed)
		run->steps = replica_hold_steps(r, &run->pace, run->steps);
	run->late = !drafts && batch->decodes > 0 &&
	            r->b.token_ticks != r->b.clock_ticks;
	if (run->late)
		run->steps = 1;
	run->told = 0;
	run->tokens = drafts ? plan->on_time : run->late ? 0 : batch->decodes;
	run->batch = *batch;
	event_schedule(r->p.calendar, &r->b.end,
	               replica_ns(end_ticks(run, run->steps)));
}

uint64_t replica_run_over(const struct replica *r)
{
	const struct replica_run *run = &r->b.run;
	int64_t end_ns, now_ns = r->p.calendar->now_ns;
	uint64_t i;

	if (!run->open || !run->pure)
		return 0;
	i = first_end(r, now_ns);
	end_ns = replica_ns(end_ticks(run, i));
	assert(end_ns >= now_ns);
	if (end_ns > now_ns || (i == run->steps && ends_requests(r)))
		return i - 1;
	return i;
}

void replica_run_tell(struct replica *r, uint64_t steps)
{
	struct replica_run *run = &r->b.run;
	struct replica_steps told;
	uint64_t from = run->told;

	assert(steps <= run->steps);
	if (steps <= from)
		return;
	told.begin_ticks = end_ticks(run, from);
	told.first_ticks =
		run->pace.first_ticks + run->pace.growth_ticks * (int64_t)from;
	told.growth_ticks = run->pace.growth_ticks;
	told.steps = steps - from;
	told.tokens = run->tokens;
	told.batch = run->batch;
	told.batch.contexts += from * run->batch.decodes;
	run->told = steps;
	r->p.hooks->steps(r->p.self, r, &told);
}

/* Tells of each decode's token: some did not get one in the step before. */
static void tell_late(struct replica *r)
{
	int64_t end = end_ticks(&r->b.run, 1), gap;
	struct replica_work *w;

	for (w = r->running.first; w; w = w->next) {
		if (!replica_decodes(w))
			continue;
		gap = end - replica_decode_ticks(r, w);
		r->p.hooks->late_token(r->p.self, r, w, replica_ns(gap));
	}
}

void replica_run_book(struct replica *r, uint64_t steps)
{
	struct replica_batching *b = &r->b;
	struct replica_run *run = &b->run;
	int64_t begin_ticks = b->clock_ticks;
	uint64_t taken;

	assert(steps <= run->steps);
	if (steps == 0)
		return;
	replica_run_tell(r, steps);
	if (run->late)
		tell_late(r);
	b->clock_ticks = end_ticks(run, steps);
	b->token_ticks = b->clock_ticks;
	taken = replica_kv_taken(&b->kv, b->steps, steps);
	if (b->cache)
		replica_cache_book(r, taken);
	b->kv.used += taken;
	assert(b->kv.total == 0 || b->kv.used <= b->kv.total);
	b->contexts += steps * b->kv.decodes;
	b->steps += steps;
	if (run->exposed)
		replica_hold_expose(r, b->clock_ticks - begin_ticks);
	if (steps == run->steps) {
		replica_run_drop(r);
		return;
	}
	run->begin_ticks = b->clock_ticks;
	run->pace.first_ticks += run->pace.growth_ticks * (int64_t)steps;
	run->pace.steps_max -= steps;
	run->steps -= steps;
	run->told = 0;
	run->batch.contexts += steps * run->batch.decodes;
}

void replica_run_until(struct replica *r, int64_t at_ns)
{
	struct replica_run *run = &r->b.run;
	int64_t now_ns = r->p.calendar->now_ns;
	uint64_t i;

	if (!run->open || run->steps == 1)
		return;
	i = first_end(r, at_ns > now_ns ? at_ns : now_ns);
	assert(i >= run->told);
	if (i == run->steps)
		return;
	run->steps = i;
	event_move(r->p.calendar, &r->b.end, replica_ns(end_ticks(run, i)));
}

void replica_run_cut(struct replica *r)
{
	replica_run_until(r, r->p.calendar->now_ns);
}

void replica_run_drop(struct replica *r)
{
	event_cancel(r->p.calendar, &r->b.end);
	r->b.run.open = false;
}

bool replica_run_settle(struct replica *r)
{
	struct replica_run *run = &r->b.run;

	replica_run_book(r, replica_run_over(r));
	if (run->open && run->pure &&
	    replica_ns(run->begin_ticks) == r->p.calendar->now_ns)
		replica_run_drop(r);
	if (!run->open)
		return false;
	replica_run_cut(r);
	assert(run->steps == 1 && run->told == 0);
	/* Who leaves now took its part of this step when it began. */
	if (r->b.cache)
		replica_cache_pay(r, replica_kv_taken(&r->b.kv, r->b.steps, 1));
	return true;
}

/*
 * The blocks of a step are taken when it begins, at the end of its first
 * moment: within that ns they do not count yet.
 */
uint64_t replica_run_kv(const struct replica *r)
{
	const struct replica_batching *b = &r->b;
	uint64_t steps = replica_run_over(r);
	int64_t begin_ns;

	if (!b->run.open)
		return 0;
	begin_ns = replica_ns(end_ticks(&b->run, steps));
	if (!b->run.pure ||
	    (steps < b->run.steps && begin_ns < r->p.calendar->now_ns))
		steps++;
	return replica_kv_taken(&b->kv, b->steps, steps);
}
