/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replica/replica_int.h"

#define ARITY 4u
#define FIRST_CAPACITY 64u

static bool ends_before(const struct replica_ending *a,
                        const struct replica_ending *b)
{
	if (a->step != b->step)
		return a->step < b->step;
	return a->rank < b->rank;
}

/* Lets an ending rise from the hole at `i`. */
static void sift_up(struct replica_endings *e,
                    const struct replica_ending *ending, uint32_t i)
{
	uint32_t parent;

	while (i > 0) {
		parent = (i - 1) / ARITY;
		if (!ends_before(ending, &e->heap[parent]))
			break;
		e->heap[i] = e->heap[parent];
		i = parent;
	}
	e->heap[i] = *ending;
}

/* Lets an ending sink from the hole at `i`. */
static void sift_down(struct replica_endings *e,
                      const struct replica_ending *ending, uint32_t i)
{
	uint32_t child, end, least;

	for (;;) {
		child = ARITY * i + 1;
		if (child >= e->n)
			break;
		end = child + ARITY < e->n ? child + ARITY : e->n;
		least = child;
		while (++child < end)
			if (ends_before(&e->heap[child], &e->heap[least]))
				least = child;
		if (!ends_before(&e->heap[least], ending))
			break;
		e->heap[i] = e->heap[least];
		i = least;
	}
	e->heap[i] = *ending;
}

void replica_endings_push(struct replica_endings *e,
                          const struct replica_ending *ending)
{
	assert(ending->work != NULL);
	if (e->n == e->capacity) {
		assert(e->capacity <= UINT32_MAX / 8);
		e->capacity = e->capacity ? 2 * e->capacity : FIRST_CAPACITY;
		e->heap = mem_grow(e->heap, e->capacity, sizeof *e->heap);
	}
	e->n++;
	sift_up(e, ending, e->n - 1);
}

/* Closes the hole at `i` with the last one. */
static void take_out(struct replica_endings *e, uint32_t i)
{
	struct replica_ending last;

	assert(i < e->n);
	last = e->heap[--e->n];
	if (i == e->n)
		return;
	if (i > 0 && ends_before(&last, &e->heap[(i - 1) / ARITY]))
		sift_up(e, &last, i);
	else
		sift_down(e, &last, i);
}

struct replica_work *replica_endings_pop(struct replica_endings *e)
{
	struct replica_work *w;

	assert(e->n > 0);
	w = e->heap[0].work;
	take_out(e, 0);
	return w;
}

/*
 * A search, since only those that are thrown out or give up leave before
 * their end, and a batch is no longer than the engine's limit.
 */
void replica_endings_remove(struct replica_endings *e,
                            const struct replica_work *w)
{
	uint32_t i = e->n;

	while (i > 0 && e->heap[i - 1].work != w)
		i--;
	assert(i > 0);
	take_out(e, i - 1);
}
