/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an endpoint's router decides by: the shares one expects while a table
 * is applied, and copies of the split for those who compare two tables.
 */
#include "measure/measure_int.h"

#include <string.h>

void measure_split_fini(struct measure_split *s)
{
	mem_free(s->target);
	*s = (struct measure_split){0};
}

void measure_split_copy(struct measure_split *to,
                        const struct measure_split *from)
{
	struct route_target *target = to->target;
	if (from->n > to->n)
		target = mem_grow(target, from->n, sizeof *target);
	if (from->n > 0)
		memcpy(target, from->target, from->n * sizeof *target);
	*to = *from;
	to->target = target;
}

void measure_expect(struct measure *m, uint32_t endpoint)
{
	struct measure_endpoint *e = &m->endpoint[endpoint];
	if (e->arrivals == 0)
		return;
	for (uint32_t d = e->first; d < e->first + e->n; d++) {
		struct measure_tally *t = &m->deployment[d];
		double expected = (double)e->arrivals * t->share;
		t->row.expected += expected;
		t->expected += m->warm ? expected : 0;
	}
	e->arrivals = 0;
}

/* Keeps the split of a table, and the one of an earlier time beside it. */
static void keep(struct measure *m, struct measure_endpoint *e,
                 const struct route_table *table)
{
	bool first = !e->now.applied;
	if (!first && e->now.at_ns < m->now_ns) {
		struct measure_split earlier = e->before;
		e->before = e->now;
		e->now = earlier;
	}
	uint32_t n = 0;
	const struct route_target *target = route_table_targets(table, &n);
	struct measure_split view = {(struct route_target *)target, n, true,
	                             m->now_ns};
	measure_split_copy(&e->now, &view);
	/* What was before the first table is that table. */
	uint64_t left = first ? m->of_metric[METRIC_MOVED_KEYS] & m->open : 0;
	for (; left; left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		if (&m->endpoint[p->term->endpoint] == e)
			measure_split_copy(&p->moved.before, &e->now);
	}
}

void measure_table(struct measure *m, uint32_t endpoint, uint32_t first,
                   const struct route_table *table, int64_t now_ns)
{
	assert(endpoint < m->config.names.n_endpoints && table);
	measure_clock(m, now_ns);
	measure_expect(m, endpoint);
	struct measure_endpoint *e = &m->endpoint[endpoint];
	e->first = first;
	e->n = route_table_deployments(table);
	assert(first + e->n <= m->config.names.n_deployments);
	uint64_t total = route_table_total(table);
	for (uint32_t d = 0; d < e->n; d++) {
		uint64_t capacity = route_table_capacity(table, d);
		m->deployment[first + d].share =
			total ? (double)capacity / (double)total : 0;
	}
	bool first_table = !e->now.applied;
	keep(m, e, table);
	if (first_table)
		measure_probes_watch(m, MEASURE_METRICS);
}
