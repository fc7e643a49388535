/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many keys a change of the table moves, counted by deciding each key
 * that was seen under both tables. Deployments are told apart by the hash of
 * their id, capacities compared as ratios: two tables may scale weights
 * differently.
 */
#include "measure/measure_int.h"

#include <math.h>

void measure_moved_begin(struct measure *m, struct measure_moved *moved,
                         uint32_t endpoint, int64_t at_ns)
{
	const struct measure_endpoint *e = &m->endpoint[endpoint];
	bool earlier = e->now.at_ns >= at_ns && e->before.applied;
	measure_split_copy(&moved->before, earlier ? &e->before : &e->now);
}

static uint64_t capacity_of(const struct measure_split *s, uint64_t id_hash)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->target[i].id_hash == id_hash)
			return s->target[i].capacity;
	return 0;
}

static double total_of(const struct measure_split *s)
{
	u128 total = 0;
	for (uint32_t i = 0; i < s->n; i++)
		total += s->target[i].capacity;
	return (double)total;
}

/* Half the sum of differences of the shares. */
static double variation(const struct measure_split *a,
                        const struct measure_split *b)
{
	double total_a = total_of(a), total_b = total_of(b);
	if (total_a == 0 || total_b == 0)
		return total_a == total_b ? 0 : 1;
	double sum = 0;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct route_target *t = &a->target[i];
		sum += fabs((double)t->capacity / total_a -
		            (double)capacity_of(b, t->id_hash) / total_b);
	}
	for (uint32_t i = 0; i < b->n; i++) {
		const struct route_target *t = &b->target[i];
		if (capacity_of(a, t->id_hash) == 0)
			sum += (double)t->capacity / total_b;
	}
	return sum / 2;
}

bool measure_needless(const struct measure_split *before,
                      const struct measure_split *after,
                      const struct route_target *from,
                      const struct route_target *to)
{
	u128 grown = (u128)to->capacity * from->capacity;
	u128 was = (u128)capacity_of(before, to->id_hash) *
	           capacity_of(after, from->id_hash);
	return grown <= was;
}

static void count_key(struct measure_moved *moved,
                      const struct measure_split *after, uint64_t key)
{
	const struct measure_split *before = &moved->before;
	uint64_t hash = route_stage_hash(key, ROUTE_STAGE_SPLIT);
	uint32_t from = route_rendezvous(before->target, before->n, hash);
	uint32_t to = route_rendezvous(after->target, after->n, hash);
	moved->n++;
	if (from == ROUTE_NONE || to == ROUTE_NONE) {
		moved->x += from != to;
		return;
	}
	const struct route_target *old = &before->target[from];
	const struct route_target *new = &after->target[to];
	if (old->id_hash == new->id_hash)
		return;
	moved->x++;
	moved->wrong += measure_needless(before, after, old, new);
}

void measure_moved_end(struct measure *m, struct measure_moved *moved,
                       uint32_t endpoint)
{
	struct measure_endpoint *e = &m->endpoint[endpoint];
	assert(e->moving > 0 && !moved->done);
	moved->least = variation(&moved->before, &e->now);
	for (uint64_t i = 0; i < e->keys.capacity; i++)
		if (e->keys.slot[i])
			count_key(moved, &e->now, e->keys.slot[i]);
	if (e->keys.has_zero)
		count_key(moved, &e->now, 0);
	moved->done = true;
	if (--e->moving == 0)
		measure_keys_fini(&e->keys);
}
