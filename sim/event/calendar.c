/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "event/event.h"

/*
 * A 4-ary heap from position 1, so that 0 can say "not scheduled": half as
 * deep as a binary one, and the four children of a place lie side by side.
 */
#define ARITY 4u
#define FIRST_CAPACITY 64u

static uint32_t parent_of(uint32_t position)
{
	return (position + ARITY - 2) / ARITY;
}

static uint32_t first_child_of(uint32_t position)
{
	return ARITY * position - (ARITY - 2);
}

/* At one time: two pending events that tie in all of the order are a bug. */
static bool tie_is_before(const struct event *a, const struct event *b)
{
	if (a->phase != b->phase)
		return a->phase < b->phase;
	assert(a->entity != b->entity);
	return a->entity < b->entity;
}

static bool is_before(struct calendar_slot a, struct calendar_slot b)
{
	if (a.at_ns == b.at_ns)
		return tie_is_before(a.event, b.event);
	return a.at_ns < b.at_ns;
}

static struct calendar_slot slot_of(struct event *e)
{
	return (struct calendar_slot){e->at_ns, e};
}

static void put(struct calendar *c, struct calendar_slot s, uint32_t position)
{
	c->heap[position] = s;
	s.event->position = position;
}

/* Lets s rise from the hole at `position`. */
static void sift_up(struct calendar *c, struct calendar_slot s,
                    uint32_t position)
{
	uint32_t parent;

	assert(position >= 1 && position <= c->count);
	while (position > 1) {
		parent = parent_of(position);
		if (!is_before(s, c->heap[parent]))
			break;
		put(c, c->heap[parent], position);
		position = parent;
	}
	put(c, s, position);
}

/* Lets s sink from the hole at `position`. */
static void sift_down(struct calendar *c, struct calendar_slot s,
                      uint32_t position)
{
	uint32_t child, end, least_at;
	struct calendar_slot least;
	bool less;

	assert(position >= 1 && position <= c->count);
	for (;;) {
		child = first_child_of(position);
		if (child > c->count)
			break;
		end = child + ARITY - 1;
		if (end > c->count)
			end = c->count;
		least = c->heap[child];
		least_at = child;
		/* Selected, not branched on: which is least is a coin toss. */
		while (++child <= end) {
			less = is_before(c->heap[child], least);
			least = less ? c->heap[child] : least;
			least_at = less ? child : least_at;
		}
		if (!is_before(least, s))
			break;
		put(c, least, position);
		position = least_at;
	}
	put(c, s, position);
}

/* Puts s where it belongs, from the hole at `position`. */
static void settle(struct calendar *c, struct calendar_slot s,
                   uint32_t position)
{
	if (position > 1 && is_before(s, c->heap[parent_of(position)]))
		sift_up(c, s, position);
	else
		sift_down(c, s, position);
}

void calendar_init(struct calendar *c)
{
	assert(c != NULL);
	memset(c, 0, sizeof *c);
}

void calendar_fini(struct calendar *c)
{
	assert(c != NULL);
	mem_free(c->heap);
	memset(c, 0, sizeof *c);
}

void event_init(struct event *e, enum event_phase phase, uint64_t entity,
                void (*fire)(void *self), void *self)
{
	assert(e != NULL && fire != NULL);
	assert(phase <= EVENT_OPERATOR);
	e->at_ns = 0;
	e->entity = entity;
	e->fire = fire;
	e->self = self;
	e->position = 0;
	e->phase = phase;
}

void event_schedule(struct calendar *c, struct event *e, int64_t at_ns)
{
	assert(e->position == 0 && e->fire != NULL);
	assert(at_ns >= c->now_ns && at_ns < TIME_NEVER);
	if (c->count + 1 >= c->capacity) {
		assert(c->capacity < UINT32_MAX / 8);
		c->capacity =
			c->capacity > 0 ? 2 * c->capacity : FIRST_CAPACITY;
		c->heap = mem_grow(c->heap, c->capacity, sizeof *c->heap);
	}
	e->at_ns = at_ns;
	c->count++;
	sift_up(c, slot_of(e), c->count);
}

void event_cancel(struct calendar *c, struct event *e)
{
	struct calendar_slot last;
	uint32_t hole = e->position;

	if (hole == 0)
		return;
	assert(hole <= c->count && c->heap[hole].event == e);
	last = c->heap[c->count];
	c->count--;
	e->position = 0;
	if (last.event != e)
		settle(c, last, hole);
}

void event_move(struct calendar *c, struct event *e, int64_t at_ns)
{
	if (e->position == 0) {
		event_schedule(c, e, at_ns);
		return;
	}
	assert(c->heap[e->position].event == e);
	assert(at_ns >= c->now_ns && at_ns < TIME_NEVER);
	e->at_ns = at_ns;
	settle(c, slot_of(e), e->position);
}

int64_t calendar_next(const struct calendar *c)
{
	return c->count > 0 ? c->heap[1].at_ns : TIME_NEVER;
}

bool calendar_step(struct calendar *c, int64_t until_ns)
{
	struct calendar_slot last;
	struct event *e;

	if (c->count == 0)
		return false;
	e = c->heap[1].event;
	assert(e->position == 1 && e->at_ns >= c->now_ns);
	if (e->at_ns > until_ns)
		return false;
	last = c->heap[c->count];
	c->count--;
	e->position = 0;
	if (last.event != e)
		sift_down(c, last, 1);
	c->now_ns = e->at_ns;
	c->fired++;
	e->fire(e->self);
	return true;
}

void calendar_advance(struct calendar *c, int64_t to_ns)
{
	assert(to_ns >= c->now_ns);
	assert(calendar_next(c) >= to_ns);
	c->now_ns = to_ns;
}
