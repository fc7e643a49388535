/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaping and stepping are the same: over random loads every hook comes at
 * the same ns with the same content, every step has the same length, tokens
 * and batch, and all that can be asked in between has the same answer. Half
 * the loads live on a coarse grid of times, where arrivals, those who give
 * up, looks from outside and ends of steps often fall on the same ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replica_lab.h"

#define LOADS 5000u
#define REQUESTS_MAX 120u
#define LOOKS_MAX 40u

struct load {
	struct replica_config config;
	size_t n;
	struct {
		int64_t at_ns;
		int64_t give_up_ns;
		uint32_t input;
		uint32_t output;
		uint32_t prefix;
		uint32_t group;
	} request[REQUESTS_MAX];
	size_t looks;
	struct {
		int64_t at_ns;
		enum event_phase phase;
		bool reports;
	} look[LOOKS_MAX];
	int64_t end_ns;
	bool drained;     /* otherwise killed, unless end_ns is TIME_NEVER */
	bool late_phase;  /* arrivals come in the operator's phase */
	bool early_phase; /* those who give up do before ends of steps */
};

/* ---- random loads ------------------------------------------------------ */

static uint32_t between(struct stream *s, uint32_t low, uint32_t high)
{
	return low + (uint32_t)stream_below(s, (uint64_t)(high - low) + 1);
}

static bool one_in(struct stream *s, uint32_t n)
{
	return stream_below(s, n) == 0;
}

static void random_piece(struct stream *s, struct replica_curve_piece *p,
                         uint32_t base_max, int64_t grid_ticks)
{
	p->base_ticks = between(s, 0, base_max) * grid_ticks;
	if (one_in(s, 2))
		p->per_prefill_ticks = between(s, 0, 5) * grid_ticks;
	if (one_in(s, 2))
		p->per_decode_ticks = between(s, 0, 20) * grid_ticks;
	if (one_in(s, 3))
		p->per_context_ticks = between(s, 0, 2) * grid_ticks;
	if (one_in(s, 6))
		p->per_context_ticks = -(int64_t)between(s, 0, 900);
	if (one_in(s, 3))
		p->per_pair_ticks = between(s, 0, 700);
}

static void random_curve(struct stream *s, struct replica_curve *curve,
                         int64_t grid_ticks)
{
	uint32_t upto = 0, base_max = one_in(s, 2) ? 8 : 400, i;

	memset(curve, 0, sizeof *curve);
	curve->n = between(s, 1, 5);
	for (i = 0; i < curve->n; i++) {
		struct replica_curve_piece *p = &curve->piece[i];

		upto += between(s, 1, 20);
		p->upto_tokens = i + 1 < curve->n ? upto : UINT32_MAX;
		random_piece(s, p, base_max, grid_ticks);
	}
	curve->has_floor = one_in(s, 3);
	if (curve->has_floor)
		random_piece(s, &curve->floor, base_max, grid_ticks);
}

static void random_stall(struct stream *s, struct replica_stall *stall,
                         int64_t grid_ticks)
{
	double grid_ns = (double)grid_ticks / 1024;

	stall->per_minute = 60e9 / (grid_ns * between(s, 1, 2000));
	stall->above_batch = between(s, 0, 8);
	stall->duration_ns = dist_constant(grid_ns * between(s, 0, 100));
	if (one_in(s, 2))
		stall->duration_ns.kind = DIST_EXPONENTIAL;
}

static void random_draft(struct stream *s, struct replica_draft *draft,
                         int64_t grid_ticks)
{
	uint32_t i;

	draft->tokens = between(s, 1, 4);
	draft->lookahead = between(s, 0, 4);
	draft->step_ticks = between(s, 0, 3) * grid_ticks;
	for (i = 0; i < draft->tokens; i++)
		draft->acceptance[i] = stream_unit(s);
}

static void random_config(struct stream *s, struct replica_config *c,
                          int64_t grid_ticks)
{
	*c = lab_config();
	c->max_num_seqs = between(s, 1, one_in(s, 2) ? 4 : 40);
	c->max_num_batched_tokens = between(s, 1, one_in(s, 2) ? 30 : 400);
	c->block_tokens = between(s, 1, 20);
	c->kv_blocks = one_in(s, 3) ? 0 : between(s, 2, 60);
	c->max_model_len = one_in(s, 4) ? between(s, 20, 200) : 0;
	c->queue_cap = one_in(s, 4) ? between(s, 1, 20) : 0;
	if (one_in(s, 4))
		c->overhead_ns = between(s, 1, 50) * grid_ticks / 512;
	if (one_in(s, 3)) {
		c->join_wait.wait_ns = between(s, 1, 60) * grid_ticks / 256;
		c->join_wait.count = between(s, 0, 8);
	}
	if (one_in(s, 4))
		random_stall(s, &c->stall, grid_ticks);
	c->prefix_cache = c->kv_blocks > 0 && one_in(s, 2);
	if (one_in(s, 3))
		c->long_prefill_tokens = between(s, 1, 60);
	if (one_in(s, 3))
		c->watermark_blocks = between(s, 0, 5);
	if (one_in(s, 8))
		random_draft(s, &c->draft, grid_ticks);
	random_curve(s, &c->curve, grid_ticks);
}

static void random_load(struct stream *s, struct load *l)
{
	int64_t grid_ns = one_in(s, 2) ? 1000 : 1;
	uint32_t spread = between(s, 1, 60000), i;
	uint32_t input_max = between(s, 1, 120), output_max;
	uint32_t patience_max;

	memset(l, 0, sizeof *l);
	output_max = between(s, 1, 90);
	patience_max = between(s, 1, 20000);
	random_config(s, &l->config,
	              grid_ns > 1 ? 1024000 : between(s, 1, 3000) * 100);
	l->n = between(s, 1, REQUESTS_MAX);
	for (i = 0; i < l->n; i++) {
		l->request[i].at_ns = between(s, 0, spread) * grid_ns;
		l->request[i].input = between(s, 1, input_max);
		l->request[i].output = between(s, 1, output_max);
		l->request[i].prefix = between(s, 0, l->request[i].input);
		l->request[i].group = between(s, 0, 3);
		l->request[i].give_up_ns = TIME_NEVER;
		if (one_in(s, 5))
			l->request[i].give_up_ns =
				l->request[i].at_ns +
				between(s, 0, patience_max) * grid_ns;
	}
	l->looks = between(s, 0, LOOKS_MAX);
	for (i = 0; i < l->looks; i++) {
		l->look[i].at_ns = between(s, 0, 2 * spread) * grid_ns;
		l->look[i].phase = EVENT_COMPLETION + between(s, 0, 6);
		l->look[i].reports = one_in(s, 2);
	}
	l->end_ns = TIME_NEVER;
	if (one_in(s, 3))
		l->end_ns = between(s, 0, 2 * spread) * grid_ns;
	l->drained = one_in(s, 2);
	l->late_phase = one_in(s, 4);
	l->early_phase = one_in(s, 4);
}

/* ---- runs -------------------------------------------------------------- */

struct look {
	struct event event;
	struct lab *lab;
	bool reports;
};

/* Writes down all that can be asked. */
static void ask(void *self)
{
	struct look *look = self;
	struct lab *l = look->lab;
	struct replica *r = l->replica;
	uint64_t tokens = 0, kv = replica_kv_used(r);
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->requests[i].inside)
			tokens += (i + 1) *
			          replica_generated(r, &l->requests[i].work);
	lab_note(l, LAB_NOTE, tokens, (int64_t)kv, replica_busy_ns(r));
	lab_note(l, LAB_NOTE, replica_steps_run(r), replica_waiting(r),
	         replica_running(r));
	lab_note(l, LAB_NOTE, replica_stalls(r), replica_preparing(r), 0);
	if (look->reports) {
		replica_report(r);
		/* What was told is what is over. */
		assert_int_equal(l->stepped, replica_steps_run(r));
	}
	assert_int_equal(kv, replica_kv_used(r));
}

static void kill_it(void *self)
{
	struct lab *l = self;

	replica_kill(l->replica);
}

static void drain_it(void *self)
{
	struct lab *l = self;

	replica_drain(l->replica);
}

static void run(const struct load *load, bool exact, struct lab *lab)
{
	struct look looks[LOOKS_MAX];
	struct event end;
	size_t i;

	lab_init(lab, &load->config, load->n);
	lab->config.exact_steps = exact;
	replica_start(lab->replica, NULL);
	for (i = 0; i < load->n; i++) {
		struct lab_request *q = &lab->requests[i];

		q->work.prefix_tokens = load->request[i].prefix;
		q->work.prefix_group = load->request[i].group;
		q->work.session = i % 5;
		if (load->late_phase)
			q->arrive.phase = EVENT_OPERATOR;
		if (load->early_phase)
			event_init(&q->give_up, EVENT_COMPLETION,
			           EVENT_ENTITY(0, LOOKS_MAX + i), lab_give_up,
			           q);
		lab_request(lab, i, load->request[i].at_ns,
		            load->request[i].input, load->request[i].output);
		if (load->request[i].give_up_ns < TIME_NEVER)
			event_schedule(&lab->calendar, &q->give_up,
			               load->request[i].give_up_ns);
	}
	for (i = 0; i < load->looks; i++) {
		looks[i].lab = lab;
		looks[i].reports = load->look[i].reports;
		event_init(&looks[i].event, load->look[i].phase,
		           EVENT_ENTITY(i % 2 ? LAB_OTHER : 0, i), ask,
		           &looks[i]);
		event_schedule(&lab->calendar, &looks[i].event,
		               load->look[i].at_ns);
	}
	event_init(&end, EVENT_OPERATOR, EVENT_ENTITY(LAB_OTHER, LOOKS_MAX),
	           load->drained ? drain_it : kill_it, lab);
	if (load->end_ns < TIME_NEVER)
		event_schedule(&lab->calendar, &end, load->end_ns);
	lab_run(lab);
	assert_int_equal(replica_waiting(lab->replica), 0);
	assert_int_equal(replica_running(lab->replica), 0);
	assert_int_equal(replica_kv_used(lab->replica), 0);
}

static void same(const struct lab *leaping, const struct lab *stepping,
                 unsigned load)
{
	size_t i;

	for (i = 0; i < leaping->logged && i < stepping->logged; i++)
		if (memcmp(&leaping->log[i], &stepping->log[i],
		           sizeof leaping->log[i]) != 0)
			fail_msg("load %u: entry %zu differs: kind %d at %lld "
			         "request %llu, not kind %d at %lld request "
			         "%llu",
			         load, i, (int)leaping->log[i].kind,
			         (long long)leaping->log[i].at_ns,
			         (unsigned long long)leaping->log[i].id,
			         (int)stepping->log[i].kind,
			         (long long)stepping->log[i].at_ns,
			         (unsigned long long)stepping->log[i].id);
	assert_int_equal(leaping->logged, stepping->logged);
	assert_int_equal(leaping->stepped, stepping->stepped);
	for (i = 0; i < leaping->stepped; i++)
		if (memcmp(&leaping->steps[i], &stepping->steps[i],
		           sizeof leaping->steps[i]) != 0)
			fail_msg("load %u: step %zu differs", load, i);
	assert_int_equal(replica_busy_ns(leaping->replica),
	                 replica_busy_ns(stepping->replica));
}

/* Each step begins where the one before ended, or after an idle time, and
 * is as long as the curve says of its batch. */
static void check_steps(const struct lab *l)
{
	size_t i;

	for (i = 0; i < l->stepped; i++) {
		const struct lab_step *s = &l->steps[i];
		int64_t drafting = 0;

		/* The rest of a step is what its drafts cost. */
		if (l->config.draft.tokens > 0 && s->batch.decodes > 1)
			drafting = l->config.draft.step_ticks;
		assert_in_range(s->ticks - replica_step_ticks(&l->config.curve,
		                                              &s->batch),
		                0, drafting);
		if (i > 0)
			assert_true(s->begin_ticks >=
			            s[-1].begin_ticks + s[-1].ticks);
		assert_true(s->batch.prefill_tokens + s->batch.decodes <=
		            l->config.max_num_batched_tokens);
	}
}

struct seen {
	uint64_t cached, steps, leaps, preempted, late, dropped, aborted,
		stalls;
};

static void count(const struct lab *l, struct seen *seen)
{
	size_t i;

	seen->steps += l->stepped;
	seen->stalls += replica_stalls(l->replica);
	for (i = 0; i < l->logged; i++) {
		seen->preempted += l->log[i].kind == LAB_PREEMPTED;
		seen->late += l->log[i].kind == LAB_LATE;
		seen->dropped += l->log[i].kind == LAB_DROPPED;
	}
	for (i = 0; i < l->n; i++) {
		seen->aborted += l->requests[i].dropped;
		seen->cached += l->requests[i].work.cached;
	}
}

static void leaping_is_stepping(void **state)
{
	struct stream s = stream_open(20260101, 0, 0, STREAM_ARRIVAL);
	struct lab leaping, stepping;
	struct seen seen;
	struct load *load = mem_new(1, sizeof *load);
	uint64_t fewer = 0;
	unsigned i;

	(void)state;
	memset(&seen, 0, sizeof seen);
	for (i = 0; i < LOADS; i++) {
		stream_seek(&s, i);
		random_load(&s, load);
		run(load, false, &leaping);
		run(load, true, &stepping);
		same(&leaping, &stepping, i);
		check_steps(&leaping);
		count(&leaping, &seen);
		fewer += stepping.calendar.fired > leaping.calendar.fired;
		lab_fini(&leaping);
		lab_fini(&stepping);
	}
	mem_free(load);
	print_message("%u loads, %llu steps, %llu preempted, %llu late "
	              "tokens, %llu dropped, %llu gave up or came too late, "
	              "%llu stalls, %llu tokens from the cache\n",
	              LOADS, (unsigned long long)seen.steps,
	              (unsigned long long)seen.preempted,
	              (unsigned long long)seen.late,
	              (unsigned long long)seen.dropped,
	              (unsigned long long)(seen.aborted - seen.dropped),
	              (unsigned long long)seen.stalls,
	              (unsigned long long)seen.cached);
	/* The loads reach what they are for. */
	assert_true(fewer > LOADS / 2);
	assert_true(seen.preempted > 1000 && seen.late > 1000);
	assert_true(seen.dropped > 1000 && seen.stalls > 1000);
	assert_true(seen.cached > 100000);
}

/* A synchronised batch costs an event for its prompts and one for the rest. */
static void one_batch_is_one_leap(void **state)
{
	struct replica_config config = lab_config();
	struct lab lab;
	size_t i;

	(void)state;
	config.max_num_batched_tokens = 32 * 512;
	lab_init(&lab, &config, 32);
	replica_start(lab.replica, NULL);
	for (i = 0; i < 32; i++)
		lab_request(&lab, i, 0, 512, 500);
	lab_run(&lab);
	assert_int_equal(replica_steps_run(lab.replica), 500);
	/* 32 arrivals, the start, the prompts' step, the leap. */
	assert_int_equal(lab.calendar.fired, 32 + 1 + 1 + 1);
	lab_fini(&lab);
}

/* A hundred times the same load grows nothing. */
static void nothing_grows_after_warm_up(void **state)
{
	struct replica_config config = lab_config();
	struct lab l;
	uint32_t capacity = 0;
	struct replica_ending *endings = NULL;
	int round;
	size_t i;

	(void)state;
	config.block_tokens = 4;
	config.kv_blocks = 60;
	config.curve = lab_linear(1000, 0, 0);
	lab_init(&l, &config, 100);
	replica_start(l.replica, NULL);
	l.quiet = true;
	for (round = 0; round < 100; round++) {
		int64_t now_ns = l.calendar.now_ns;

		for (i = 0; i < 100; i++) {
			l.requests[i].first_ns = TIME_NEVER;
			lab_request(&l, i, now_ns + 300 * (int64_t)i, 20, 30);
		}
		lab_run(&l);
		if (round == 0) {
			capacity = l.calendar.capacity;
			endings = l.replica->b.endings.heap;
		}
		assert_int_equal(l.calendar.capacity, capacity);
		assert_ptr_equal(l.replica->b.endings.heap, endings);
	}
	assert_int_equal(replica_kv_used(l.replica), 0);
	lab_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaping_is_stepping),
		cmocka_unit_test(one_batch_is_one_leap),
		cmocka_unit_test(nothing_grows_after_warm_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
