/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Batch means: the run after its warm-up, and each window whose end is known
 * when it opens, are cut into twenty equal parts, so that one run can say how
 * sure it is. Requests fall into the part in which they arrived. When only
 * the number of requests is known, parts are of equal numbers of those that
 * arrive from the warm-up on.
 */
#include "measure/measure_int.h"

#include <math.h>

enum measure_latency measure_latency_of(enum measure_metric metric)
{
	switch (metric) {
	case METRIC_TTFT:
		return LATENCY_TTFT;
	case METRIC_TPOT:
		return LATENCY_TPOT;
	case METRIC_ITL:
		return LATENCY_ITL;
	case METRIC_E2E:
		return LATENCY_E2E;
	case METRIC_QUEUE_TIME:
		return LATENCY_QUEUE;
	default:
		return MEASURE_LATENCIES;
	}
}

/* Requests that are to come from the warm-up on; known when it is over. */
static uint64_t expected(const struct measure *m)
{
	uint64_t all = m->config.expected_requests;

	return all > m->arrivals_before ? all - m->arrivals_before : 0;
}

bool measure_batches_known(const struct measure *m)
{
	if (m->config.duration_ns != TIME_NEVER)
		return m->config.duration_ns - m->config.warmup_ns >=
		       MEASURE_BATCHES;
	return expected(m) >= MEASURE_BATCHES;
}

/* Which of twenty parts of [from, to) a time is in. */
static uint32_t part(int64_t at_ns, int64_t from_ns, int64_t to_ns)
{
	if (at_ns < from_ns || at_ns >= to_ns)
		return MEASURE_NONE;
	return (uint32_t)((i128)(at_ns - from_ns) * MEASURE_BATCHES /
	                  (to_ns - from_ns));
}

/* The first moment of the part after the one that now is in. */
static int64_t next_part(int64_t now_ns, int64_t from_ns, int64_t to_ns)
{
	uint32_t at = part(now_ns, from_ns, to_ns);
	if (at == MEASURE_NONE)
		return TIME_NEVER;
	i128 whole = to_ns - from_ns;
	i128 up = whole * (at + 1) + MEASURE_BATCHES - 1;
	return from_ns + (int64_t)(up / MEASURE_BATCHES);
}

int64_t measure_batch_next(const struct measure *m)
{
	int64_t next = TIME_NEVER;
	if (m->warm && measure_batches_known(m) &&
	    m->config.duration_ns != TIME_NEVER)
		next = next_part(m->now_ns, m->config.warmup_ns,
		                 m->config.duration_ns);
	uint64_t left = m->of_metric[METRIC_ITL] & m->open;
	for (; left; left &= left - 1) {
		const struct measure_probe *p =
			&m->probe[__builtin_ctzll(left)];
		if (!p->batch || p->batch_to_ns == TIME_NEVER)
			continue;
		int64_t at = next_part(m->now_ns, p->from_ns, p->batch_to_ns);
		next = at < next ? at : next;
	}
	return next;
}

uint32_t measure_batch_now(const struct measure *m)
{
	if (!m->warm || !measure_batches_known(m))
		return MEASURE_NONE;
	if (m->config.duration_ns != TIME_NEVER)
		return part(m->now_ns, m->config.warmup_ns,
		            m->config.duration_ns);
	uint64_t all = expected(m);
	uint64_t at = m->arrivals - m->arrivals_before;
	if (at >= all)
		at = all - 1;
	return (uint32_t)((u128)at * MEASURE_BATCHES / all);
}

uint32_t measure_batch_of(const struct measure_probe *p, int64_t at_ns,
                          uint32_t run_batch)
{
	if (p->batch_to_ns == TIME_NEVER)
		return run_batch;
	return part(at_ns, p->from_ns, p->batch_to_ns);
}

/* Whether a mean over parts of the window estimates the statistic. */
static bool divisible(const struct measure_term *t)
{
	if (t->replicas || t->replica != MEASURE_NONE)
		return false;
	return t->statistic == STAT_DEFAULT || t->statistic == STAT_MEAN ||
	       t->statistic == STAT_QUANTILE;
}

static void read_batch(struct measure_probe *p, int64_t now_ns)
{
	const struct measure_cell *c = &p->cell[0];
	enum measure_level_kind kind = measure_level_of(p->term->metric);
	if (p->term->metric == METRIC_RATE_PER_REPLICA)
		kind = LEVEL_READY;
	if (kind < MEASURE_LEVELS)
		p->batch_area =
			measure_level_area(&c->tally->level[kind], now_ns);
	p->batch_count = p->term->metric == METRIC_THROUGHPUT
	                         ? c->tally->counts.output_tokens
	                         : c->requests;
	p->batch_from_ns = now_ns;
}

void measure_batch_begin(struct measure *m, struct measure_probe *p)
{
	const struct measure_term *t = p->term;
	bool latency = measure_latency_of(t->metric) < MEASURE_LATENCIES;
	bool rate = (t->metric == METRIC_THROUGHPUT &&
	             t->traffic == MEASURE_NONE) ||
	            t->metric == METRIC_RATE ||
	            t->metric == METRIC_RATE_PER_REPLICA;
	bool gauge = measure_level_of(t->metric) < MEASURE_LEVELS;
	if (!divisible(t) || !(latency || rate || gauge))
		return;
	if (t->bounded && t->to.is_condition)
		return;
	int64_t to = p->to_ns < m->config.duration_ns ? p->to_ns
	                                              : m->config.duration_ns;
	bool by_number = to == TIME_NEVER && latency && !t->bounded &&
	                 measure_batches_known(m);
	if (!by_number &&
	    (to == TIME_NEVER || to - p->from_ns < MEASURE_BATCHES))
		return;
	p->batch_to_ns = to;
	if (!latency) {
		p->timed = true;
		read_batch(p, m->now_ns);
		return;
	}
	p->batch = mem_new(MEASURE_BATCHES, sizeof *p->batch);
	for (int b = 0; b < MEASURE_BATCHES; b++)
		measure_hist_init(&p->batch[b]);
}

int64_t measure_batch_bound(const struct measure_probe *p)
{
	if (!p->timed || p->n_batches == MEASURE_BATCHES)
		return TIME_NEVER;
	i128 whole = p->batch_to_ns - p->from_ns;
	return p->from_ns +
	       (int64_t)(whole * (p->n_batches + 1) / MEASURE_BATCHES);
}

void measure_batch_end(struct measure_probe *p, int64_t now_ns)
{
	assert(p->timed && p->n_batches < MEASURE_BATCHES);
	assert(now_ns > p->batch_from_ns);
	i128 area = p->batch_area;
	uint64_t count = p->batch_count;
	double seconds = (double)(now_ns - p->batch_from_ns) / (double)NS_PER_S;
	read_batch(p, now_ns);
	double grown = (double)(p->batch_area - area) / (double)NS_PER_S;
	double counted = (double)(p->batch_count - count);
	double value = grown / seconds;
	if (p->term->metric == METRIC_RATE_PER_REPLICA)
		value = grown > 0 ? counted / grown : (double)NAN;
	else if (measure_level_of(p->term->metric) == MEASURE_LEVELS)
		value = counted / seconds;
	p->batch_value[p->n_batches++] = value;
}
