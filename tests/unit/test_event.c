/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base.h"
#include "event/event.h"

#define EVENTS 100000

/* What is scheduled, and the list that it writes itself to when it fires. */
struct thing {
	struct event event;
	struct log *log;
};

struct log {
	struct calendar calendar;
	struct thing *thing;
	uint32_t *order;
	uint32_t count;
};

static void note(void *self)
{
	struct thing *t = self;
	struct log *l = t->log;

	assert_int_equal(t->event.position, 0);
	assert_int_equal(l->calendar.now_ns, t->event.at_ns);
	l->order[l->count++] = (uint32_t)(t - l->thing);
}

/* Events with many ties in time and in phase, but no full tie. */
static void log_init(struct log *l, uint32_t n)
{
	struct stream s = stream_open(7, 0, 0, STREAM_ARRIVAL);
	enum event_phase phase;
	uint32_t i;

	memset(l, 0, sizeof *l);
	calendar_init(&l->calendar);
	l->thing = mem_new(n, sizeof *l->thing);
	l->order = mem_new(n, sizeof *l->order);
	for (i = 0; i < n; i++) {
		phase = (enum event_phase)stream_below(&s, 7);
		event_init(&l->thing[i].event, phase, EVENT_ENTITY(3, i), note,
		           &l->thing[i]);
		l->thing[i].event.at_ns = (int64_t)stream_below(&s, 2000);
		l->thing[i].log = l;
	}
}

static void log_fini(struct log *l)
{
	calendar_fini(&l->calendar);
	mem_free(l->thing);
	mem_free(l->order);
}

static void shuffle(uint32_t *order, uint32_t n, struct stream *s)
{
	uint32_t i, j, swap;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n; i > 1; i--) {
		j = (uint32_t)stream_below(s, i);
		swap = order[i - 1];
		order[i - 1] = order[j];
		order[j] = swap;
	}
}

static int compare(const struct event *a, const struct event *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	return a->entity < b->entity ? -1 : a->entity > b->entity;
}

/* Every place knows its event and no child comes before its parent. */
static void check_heap(const struct calendar *c)
{
	uint32_t i;

	for (i = 1; i <= c->count; i++) {
		assert_int_equal(c->heap[i].event->position, i);
		assert_true(c->heap[i].at_ns == c->heap[i].event->at_ns);
		if (i > 1)
			assert_true(compare(c->heap[(i + 2) / 4].event,
			                    c->heap[i].event) < 0);
	}
}

/* The order of firing is the written one, however events were put in. */
static void test_permuted_insertion(void **state)
{
	struct stream s = stream_open(8, 0, 0, STREAM_ARRIVAL);
	uint32_t *order = mem_new(EVENTS, sizeof *order), *first;
	struct log l;
	uint32_t i;
	int round;

	(void)state;
	log_init(&l, EVENTS);
	first = mem_new(EVENTS, sizeof *first);
	for (round = 0; round < 3; round++) {
		shuffle(order, EVENTS, &s);
		calendar_fini(&l.calendar);
		l.count = 0;
		for (i = 0; i < EVENTS; i++)
			event_schedule(&l.calendar, &l.thing[order[i]].event,
			               l.thing[order[i]].event.at_ns);
		check_heap(&l.calendar);
		while (calendar_step(&l.calendar, TIME_NEVER))
			continue;
		assert_int_equal(l.count, EVENTS);
		assert_int_equal(l.calendar.fired, EVENTS);
		for (i = 1; i < EVENTS; i++)
			assert_true(compare(&l.thing[l.order[i - 1]].event,
			                    &l.thing[l.order[i]].event) < 0);
		if (round == 0)
			memcpy(first, l.order, EVENTS * sizeof *first);
		assert_memory_equal(first, l.order, EVENTS * sizeof *first);
	}
	mem_free(first);
	mem_free(order);
	log_fini(&l);
}

/* Moves, cancels and steps at random, beside a plain list. */
static void test_cancel_and_move(void **state)
{
	enum { N = 300, ACTS = 60000 };
	struct stream s = stream_open(9, 0, 0, STREAM_ARRIVAL);
	struct event *e, *next;
	uint32_t pending, i, j;
	struct log l;
	int64_t at;

	(void)state;
	log_init(&l, N);
	for (i = 0; i < ACTS; i++) {
		l.count = 0;
		e = &l.thing[stream_below(&s, N)].event;
		at = l.calendar.now_ns + (int64_t)stream_below(&s, 50);
		switch (stream_below(&s, 4)) {
		case 0:
			event_cancel(&l.calendar, e);
			assert_false(event_pending(e));
			break;
		case 1:
		case 2:
			event_move(&l.calendar, e, at);
			assert_true(event_pending(e));
			assert_true(e->at_ns == at);
			break;
		default:
			next = NULL;
			for (j = 0; j < N; j++) {
				e = &l.thing[j].event;
				if (!event_pending(e))
					continue;
				if (next == NULL || compare(e, next) < 0)
					next = e;
			}
			if (next == NULL) {
				assert_true(calendar_next(&l.calendar) ==
				            TIME_NEVER);
				break;
			}
			assert_true(calendar_next(&l.calendar) == next->at_ns);
			assert_true(calendar_step(&l.calendar, next->at_ns));
			assert_ptr_equal(&l.thing[l.order[0]].event, next);
		}
		pending = 0;
		for (j = 0; j < N; j++)
			pending += event_pending(&l.thing[j].event);
		assert_int_equal(pending, l.calendar.count);
		check_heap(&l.calendar);
	}
	log_fini(&l);
}

static void test_clock(void **state)
{
	struct calendar *c;
	struct log l;

	(void)state;
	log_init(&l, 2);
	c = &l.calendar;
	assert_true(calendar_next(c) == TIME_NEVER);
	assert_false(calendar_step(c, TIME_NEVER));
	event_schedule(c, &l.thing[0].event, 100);
	event_schedule(c, &l.thing[1].event, 200);
	assert_false(calendar_step(c, 99));
	assert_int_equal(c->now_ns, 0);
	calendar_advance(c, 100);
	assert_int_equal(c->now_ns, 100);
	assert_true(calendar_step(c, 100));
	assert_false(calendar_step(c, 199));
	assert_int_equal(c->now_ns, 100);
	calendar_advance(c, 150);
	event_cancel(c, &l.thing[1].event);
	event_cancel(c, &l.thing[1].event);
	assert_true(calendar_next(c) == TIME_NEVER);
	calendar_advance(c, 1000);
	event_move(c, &l.thing[1].event, 1000);
	assert_true(calendar_step(c, 1000));
	assert_int_equal(c->fired, 2);
	log_fini(&l);
}

/* An event may schedule itself and cancel others while it fires. */
struct chain {
	struct event self;
	struct event victim;
	struct calendar calendar;
	int left;
};

static void go_on(void *self)
{
	struct chain *ch = self;

	event_cancel(&ch->calendar, &ch->victim);
	if (--ch->left > 0) {
		event_schedule(&ch->calendar, &ch->victim, ch->calendar.now_ns);
		event_schedule(&ch->calendar, &ch->self, ch->calendar.now_ns);
	}
}

static void never(void *self)
{
	(void)self;
	fail_msg("a cancelled event fired");
}

static void test_rescheduling_while_firing(void **state)
{
	struct chain ch;

	(void)state;
	calendar_init(&ch.calendar);
	event_init(&ch.self, EVENT_COMPLETION, 1, go_on, &ch);
	event_init(&ch.victim, EVENT_READY, 1, never, &ch);
	ch.left = 1000;
	event_schedule(&ch.calendar, &ch.self, 5);
	while (calendar_step(&ch.calendar, 5))
		continue;
	assert_int_equal(ch.left, 0);
	assert_int_equal(ch.calendar.fired, 1000);
	assert_int_equal(ch.calendar.now_ns, 5);
	calendar_fini(&ch.calendar);
}

/* ---- misuse asserts ---------------------------------------------------- */

static bool aborts(void (*f)(struct log *l))
{
	struct log l;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(99);
		signal(SIGABRT, SIG_DFL);
		log_init(&l, 10);
		f(&l);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void set(struct log *l, int i, enum event_phase phase, uint64_t entity)
{
	event_init(&l->thing[i].event, phase, entity, note, &l->thing[i]);
}

/* The tie is between the two that are put in last, amid eight others. */
static void equal_keys(struct log *l)
{
	int i;

	for (i = 0; i < 8; i++) {
		set(l, i, EVENT_READY, (uint64_t)i);
		event_schedule(&l->calendar, &l->thing[i].event, i);
	}
	for (; i < 10; i++) {
		set(l, i, EVENT_READY, 77);
		event_schedule(&l->calendar, &l->thing[i].event, 100);
	}
	while (calendar_step(&l->calendar, TIME_NEVER))
		continue;
}

static void nearly_equal_keys(struct log *l)
{
	set(l, 0, EVENT_READY, 5);
	set(l, 1, EVENT_READY, 6);
	set(l, 2, EVENT_TRANSFER, 5);
	event_schedule(&l->calendar, &l->thing[0].event, 5);
	event_schedule(&l->calendar, &l->thing[1].event, 5);
	event_schedule(&l->calendar, &l->thing[2].event, 5);
	while (calendar_step(&l->calendar, TIME_NEVER))
		continue;
}

static void schedule_twice(struct log *l)
{
	event_schedule(&l->calendar, &l->thing[0].event, 5);
	event_schedule(&l->calendar, &l->thing[0].event, 6);
}

static void schedule_in_the_past(struct log *l)
{
	calendar_advance(&l->calendar, 10);
	event_schedule(&l->calendar, &l->thing[0].event, 9);
}

static void schedule_never(struct log *l)
{
	event_schedule(&l->calendar, &l->thing[0].event, TIME_NEVER);
}

static void move_to_the_past(struct log *l)
{
	event_schedule(&l->calendar, &l->thing[0].event, 20);
	calendar_advance(&l->calendar, 10);
	event_move(&l->calendar, &l->thing[0].event, 9);
}

static void advance_past_an_event(struct log *l)
{
	event_schedule(&l->calendar, &l->thing[0].event, 20);
	calendar_advance(&l->calendar, 21);
}

static void clock_goes_back(struct log *l)
{
	calendar_advance(&l->calendar, 10);
	calendar_advance(&l->calendar, 9);
}

static void test_misuse_aborts(void **state)
{
	(void)state;
	assert_true(aborts(equal_keys));
	assert_false(aborts(nearly_equal_keys));
	assert_true(aborts(schedule_twice));
	assert_true(aborts(schedule_in_the_past));
	assert_true(aborts(schedule_never));
	assert_true(aborts(move_to_the_past));
	assert_true(aborts(advance_past_an_event));
	assert_true(aborts(clock_goes_back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permuted_insertion),
		cmocka_unit_test(test_cancel_and_move),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_rescheduling_while_firing),
		cmocka_unit_test(test_misuse_aborts),
	};

	return cmocka_run_group_tests_name("event calendar", tests, NULL, NULL);
}
