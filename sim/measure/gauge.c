/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure_int.h"

#include <math.h>

enum measure_level_kind measure_level_of(enum measure_metric metric)
{
	switch (metric) {
	case METRIC_QUEUE:
		return LEVEL_QUEUE;
	case METRIC_BATCH:
		return LEVEL_BATCH;
	case METRIC_IN_FLIGHT:
		return LEVEL_IN_FLIGHT;
	case METRIC_READY:
		return LEVEL_READY;
	case METRIC_WANTED:
		return LEVEL_WANTED;
	default:
		return MEASURE_LEVELS;
	}
}

double measure_level_mean(const struct measure_level *l, i128 area,
                          int64_t from_ns, int64_t now_ns)
{
	if (now_ns <= from_ns)
		return (double)NAN;
	i128 grown = measure_level_area(l, now_ns) - area;
	return (double)grown / (double)(now_ns - from_ns);
}

static void move(struct measure_level *l, int64_t delta, int64_t now_ns)
{
	l->area = measure_level_area(l, now_ns);
	l->since_ns = now_ns;
	l->value += delta;
	assert(l->value >= 0);
}

static void watch(struct measure *m, enum measure_metric metric)
{
	if (m->watch_metrics >> metric & 1)
		measure_probes_watch(m, metric);
}

void measure_gauge(struct measure *m, uint32_t replica,
                   enum measure_gauge gauge, int32_t delta, int64_t now_ns)
{
	static const enum measure_metric metrics[MEASURE_GAUGES] = {
		[GAUGE_QUEUE] = METRIC_QUEUE,
		[GAUGE_BATCH] = METRIC_BATCH,
		[GAUGE_IN_FLIGHT] = METRIC_IN_FLIGHT,
	};
	assert(replica < m->n_replicas && (unsigned)gauge < MEASURE_GAUGES);
	measure_clock(m, now_ns);
	struct measure_replica *r = m->replica[replica];
	uint32_t endpoint = m->config.names.endpoint_of[r->deployment];
	if (m->of_level[gauge] & m->open) {
		struct measure_place at = {endpoint, r->deployment, replica};
		measure_collect_level(m, (enum measure_level_kind)gauge, &at);
	}
	move(&r->tally.level[gauge], delta, now_ns);
	move(&m->deployment[r->deployment].level[gauge], delta, now_ns);
	move(&m->endpoint[endpoint].tally.level[gauge], delta, now_ns);
	watch(m, metrics[gauge]);
}

static void peak(struct measure *m, struct measure_tally *t)
{
	uint32_t ready = (uint32_t)t->level[LEVEL_READY].value;
	if (m->warm && ready > t->ready_peak)
		t->ready_peak = ready;
}

void measure_replicas(struct measure *m, uint32_t deployment, uint32_t ready,
                      uint32_t wanted, int64_t now_ns)
{
	assert(deployment < m->config.names.n_deployments);
	measure_clock(m, now_ns);
	uint32_t endpoint = m->config.names.endpoint_of[deployment];
	struct measure_tally *d = &m->deployment[deployment];
	struct measure_tally *e = &m->endpoint[endpoint].tally;
	struct measure_place at = {endpoint, deployment, MEASURE_NONE};
	measure_collect_level(m, LEVEL_READY, &at);
	measure_collect_level(m, LEVEL_WANTED, &at);
	int64_t more = (int64_t)ready - d->level[LEVEL_READY].value;
	move(&d->level[LEVEL_READY], more, now_ns);
	move(&e->level[LEVEL_READY], more, now_ns);
	more = (int64_t)wanted - d->level[LEVEL_WANTED].value;
	move(&d->level[LEVEL_WANTED], more, now_ns);
	move(&e->level[LEVEL_WANTED], more, now_ns);
	d->counted = true;
	peak(m, d);
	peak(m, e);
	watch(m, METRIC_READY);
	watch(m, METRIC_WANTED);
}

void measure_replica_ready(struct measure *m, uint32_t replica, bool ready,
                           int64_t now_ns)
{
	assert(replica < m->n_replicas && !m->replica[replica]->gone);
	measure_clock(m, now_ns);
	struct measure_replica *r = m->replica[replica];
	for (uint64_t left = m->of_level[LEVEL_READY] & m->open; left;
	     left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		struct measure_place at = {p->term->endpoint, r->deployment,
		                           replica};
		if (p->by_replica && measure_probe_cell(m, p, &at))
			measure_collect_cell_level(
				p, measure_probe_cell(m, p, &at), LEVEL_READY,
				now_ns);
	}
	struct measure_level *l = &r->tally.level[LEVEL_READY];
	move(l, (int64_t)ready - l->value, now_ns);
	r->tally.counted = true;
	peak(m, &r->tally);
}

void measure_kv(struct measure *m, uint32_t replica, double used)
{
	assert(replica < m->n_replicas && used >= 0);
	const struct measure_replica *r = m->replica[replica];
	uint32_t endpoint = m->config.names.endpoint_of[r->deployment];
	struct measure_tally *tally[] = {&m->replica[replica]->tally,
	                                 &m->deployment[r->deployment],
	                                 &m->endpoint[endpoint].tally};
	for (int i = 0; i < 3; i++) {
		tally[i]->row.kv_sum += used;
		tally[i]->row.kv_n++;
	}
}

bool measure_condition_holds(const struct measure *m,
                             const struct measure_condition *condition)
{
	enum measure_level_kind kind = measure_level_of(condition->metric);
	assert(kind < MEASURE_LEVELS);
	const struct measure_endpoint *e = &m->endpoint[condition->endpoint];
	/* At time 0 replicas are told of one by one; then comes a table. */
	if (kind >= LEVEL_READY && m->now_ns == 0 && !e->now.applied)
		return false;
	const struct measure_tally *t =
		condition->deployment == MEASURE_NONE
			? &e->tally
			: &m->deployment[condition->deployment];
	double value = (double)t->level[kind].value;
	switch (condition->compare) {
	case COMPARE_EQ:
		return value == condition->value;
	case COMPARE_NE:
		return value != condition->value;
	case COMPARE_LT:
		return value < condition->value;
	case COMPARE_LE:
		return value <= condition->value;
	case COMPARE_GT:
		return value > condition->value;
	case COMPARE_GE:
		return value >= condition->value;
	}
	return false;
}
