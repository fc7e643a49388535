/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A probe and its window. It waits for its beginning, a time or the first
 * time a condition holds, is open, and closes at its end; an end that is a
 * condition is looked for from the opening on. A request belongs to the
 * windows that were open when it arrived, gauges, tokens and events to those
 * that are open when they happen.
 */
#include "measure/measure_int.h"

static int64_t moment_ns(const struct measure *m,
                         const struct measure_moment *moment)
{
	if (moment->is_condition || moment->at_ns == TIME_NEVER)
		return TIME_NEVER;
	return moment->at_ns + (moment->settled ? m->config.settle_ns : 0);
}

/* Which events of a run a metric needs. */
static void put_masks(struct measure *m, struct measure_probe *p)
{
	const struct measure_term *t = p->term;
	m->of_metric[t->metric] |= p->bit;
	for (uint32_t e = 0; e < m->config.names.n_endpoints; e++)
		if (t->endpoint == e)
			m->of_endpoint[e] |= p->bit;
	for (uint32_t i = 0; i < m->config.names.n_traffics; i++)
		if (t->traffic == MEASURE_NONE || t->traffic == i)
			m->of_traffic[i] |= p->bit;
	if (measure_level_of(t->metric) < MEASURE_LEVELS) {
		m->of_level[measure_level_of(t->metric)] |= p->bit;
		return;
	}
	switch (t->metric) {
	case METRIC_COMPLETED:
	case METRIC_ERRORS:
	case METRIC_TIMEOUTS:
	case METRIC_UNFINISHED:
	case METRIC_DROPPED:
		m->at_end |= p->bit;
		m->at_arrival |= p->bit;
		break;
	case METRIC_SHARE:
	case METRIC_REQUESTS:
	case METRIC_RATE:
	case METRIC_RATE_PER_REPLICA:
	case METRIC_KEYS_ON_TWO:
		m->at_arrival |= p->bit;
		break;
	case METRIC_MOVED_KEYS:
		m->endpoint[t->endpoint].moving++;
		break;
	case METRIC_ITL:
	case METRIC_COUNT:
		break;
	default: /* latencies, and tokens when a traffic is asked for */
		m->at_end |= p->bit;
		break;
	}
}

void measure_probes_init(struct measure *m)
{
	const struct measure_terms *terms = m->config.terms;
	m->of_endpoint = mem_new(m->config.names.n_endpoints, sizeof(uint64_t));
	m->of_traffic = mem_new(m->config.names.n_traffics, sizeof(uint64_t));
	m->n_probes = terms ? terms->n : 0;
	assert(m->n_probes <= MEASURE_MAX_TERMS);
	m->probe = mem_new(m->n_probes, sizeof *m->probe);
	for (uint32_t i = 0; i < m->n_probes; i++) {
		struct measure_probe *p = &m->probe[i];
		const struct measure_term *t = &terms->term[i];
		assert(t->endpoint < m->config.names.n_endpoints);
		p->term = t;
		p->bit = UINT64_C(1) << i;
		p->by_replica = t->replicas || t->replica != MEASURE_NONE;
		p->from_ns = t->bounded ? moment_ns(m, &t->from)
		                        : m->config.warmup_ns;
		p->to_ns = TIME_NEVER;
		p->batch_to_ns = TIME_NEVER;
		measure_keys_init(&p->keys, t->metric == METRIC_KEYS_ON_TWO);
		put_masks(m, p);
		if (t->bounded && t->from.is_condition) {
			m->watching |= p->bit;
			m->watch_metrics |= 1u << t->from.condition.metric;
		}
	}
	measure_probes_watch(m, MEASURE_METRICS);
}

void measure_probes_fini(struct measure *m)
{
	for (uint32_t i = 0; i < m->n_probes; i++) {
		struct measure_probe *p = &m->probe[i];
		for (uint32_t c = 0; c < p->n_cells; c++)
			if (p->cell[c].present)
				measure_hist_fini(&p->cell[c].hist);
		mem_free(p->cell);
		for (int b = 0; p->batch && b < MEASURE_BATCHES; b++)
			measure_hist_fini(&p->batch[b]);
		mem_free(p->batch);
		measure_keys_fini(&p->keys);
		measure_split_fini(&p->moved.before);
	}
	mem_free(m->probe);
	mem_free(m->of_endpoint);
	mem_free(m->of_traffic);
}

/* ---- cells ------------------------------------------------------------- */

/* The level whose integral a metric needs. */
static enum measure_level_kind area_of(enum measure_metric metric)
{
	return metric == METRIC_RATE_PER_REPLICA ? LEVEL_READY
	                                         : measure_level_of(metric);
}

static void cell_open(struct measure_probe *p, uint32_t at,
                      struct measure_tally *tally, int64_t now_ns)
{
	if (at >= p->n_cells) {
		p->cell = mem_grow(p->cell, at + 1, sizeof *p->cell);
		for (; p->n_cells <= at; p->n_cells++)
			p->cell[p->n_cells] = (struct measure_cell){0};
	}
	struct measure_cell *c = &p->cell[at];
	enum measure_level_kind kind = area_of(p->term->metric);
	*c = (struct measure_cell){.present = true,
	                           .tally = tally,
	                           .least = INT64_MAX,
	                           .most = -1};
	measure_hist_init(&c->hist);
	if (p->term->traffic == MEASURE_NONE)
		c->tokens = tally->counts.output_tokens;
	if (kind < MEASURE_LEVELS)
		c->area = measure_level_area(&tally->level[kind], now_ns);
}

static void cell_close(struct measure_probe *p, struct measure_cell *c,
                       int64_t now_ns)
{
	enum measure_level_kind kind = area_of(p->term->metric);
	if (p->term->traffic == MEASURE_NONE)
		c->tokens = c->tally->counts.output_tokens - c->tokens;
	if (kind == MEASURE_LEVELS)
		return;
	const struct measure_level *l = &c->tally->level[kind];
	measure_collect_cell_level(p, c, kind, now_ns);
	c->area = measure_level_area(l, now_ns) - c->area;
	c->at = l->value;
}

/* Whether a probe by replica wants this one. */
static bool wants(const struct measure_probe *p,
                  const struct measure_replica *r)
{
	const struct measure_term *t = p->term;
	return p->by_replica && r->deployment == t->deployment && !r->gone &&
	       (t->replica == MEASURE_NONE || t->replica == r->place);
}

void measure_probes_replica(struct measure *m, uint32_t replica)
{
	struct measure_replica *r = m->replica[replica];
	for (uint64_t left = m->open; left; left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		if (wants(p, r))
			cell_open(p, r->place, &r->tally, m->now_ns);
	}
}

/* ---- opening and closing ----------------------------------------------- */

static void open_cells(struct measure *m, struct measure_probe *p)
{
	const struct measure_term *t = p->term;
	if (!p->by_replica) {
		cell_open(p, 0,
		          t->deployment == MEASURE_NONE
		                  ? &m->endpoint[t->endpoint].tally
		                  : &m->deployment[t->deployment],
		          m->now_ns);
		return;
	}
	for (uint32_t i = 0; i < m->n_replicas; i++)
		if (wants(p, m->replica[i]))
			cell_open(p, m->replica[i]->place,
			          &m->replica[i]->tally, m->now_ns);
}

static void watch_end(struct measure *m, struct measure_probe *p)
{
	const struct measure_moment *to = &p->term->to;
	if (!p->term->bounded)
		return;
	if (!to->is_condition) {
		p->to_ns = moment_ns(m, to);
	} else if (measure_condition_holds(m, &to->condition)) {
		p->to_ns = m->now_ns + (to->settled ? m->config.settle_ns : 0);
	} else {
		m->watching |= p->bit;
	}
}

static void open_window(struct measure *m, struct measure_probe *p)
{
	const struct measure_term *t = p->term;
	p->stage = PROBE_OPEN;
	m->open |= p->bit;
	open_cells(m, p);
	p->tokens = m->endpoint[t->endpoint].tally.counts.output_tokens;
	if (t->metric == METRIC_MOVED_KEYS) {
		/* A table applied at the settled moment is after it. */
		if (t->bounded)
			p->to_ns = p->from_ns + m->config.settle_ns + 1;
		measure_moved_begin(m, &p->moved, t->endpoint, p->from_ns);
		return;
	}
	watch_end(m, p);
	measure_batch_begin(m, p);
}

static void close_window(struct measure *m, struct measure_probe *p)
{
	const struct measure_term *t = p->term;
	p->stage = PROBE_CLOSED;
	p->to_ns = m->now_ns;
	m->open &= ~p->bit;
	m->watching &= ~p->bit;
	for (uint32_t i = 0; i < p->n_cells; i++)
		if (p->cell[i].present)
			cell_close(p, &p->cell[i], m->now_ns);
	p->tokens =
		m->endpoint[t->endpoint].tally.counts.output_tokens - p->tokens;
	if (t->metric == METRIC_MOVED_KEYS)
		measure_moved_end(m, &p->moved, t->endpoint);
}

int64_t measure_probes_next(const struct measure *m)
{
	int64_t next = TIME_NEVER;
	for (uint32_t i = 0; i < m->n_probes; i++) {
		const struct measure_probe *p = &m->probe[i];
		int64_t at = TIME_NEVER;
		if (p->stage == PROBE_WAITING)
			at = p->from_ns;
		else if (p->stage == PROBE_OPEN)
			at = p->to_ns < measure_batch_bound(p)
			             ? p->to_ns
			             : measure_batch_bound(p);
		if (at < next)
			next = at;
	}
	return next;
}

/* The metrics of the conditions that are waited for. */
static void put_watch_metrics(struct measure *m)
{
	m->watch_metrics = 0;
	for (uint64_t left = m->watching; left; left &= left - 1) {
		const struct measure_probe *p =
			&m->probe[__builtin_ctzll(left)];
		bool waits = p->stage == PROBE_WAITING;
		m->watch_metrics |= 1u
		                    << (waits ? p->term->from.condition.metric
		                              : p->term->to.condition.metric);
	}
}

void measure_probes_bound(struct measure *m)
{
	for (uint32_t i = 0; i < m->n_probes; i++) {
		struct measure_probe *p = &m->probe[i];
		if (p->stage == PROBE_WAITING && p->from_ns <= m->now_ns)
			open_window(m, p);
		if (p->stage != PROBE_OPEN)
			continue;
		while (measure_batch_bound(p) <= m->now_ns)
			measure_batch_end(p, m->now_ns);
		if (p->to_ns <= m->now_ns)
			close_window(m, p);
	}
	put_watch_metrics(m);
}

void measure_probes_watch(struct measure *m, enum measure_metric metric)
{
	bool came = false;
	for (uint64_t left = m->watching; left; left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		bool waits = p->stage == PROBE_WAITING;
		const struct measure_moment *at =
			waits ? &p->term->from : &p->term->to;
		if ((metric != MEASURE_METRICS &&
		     at->condition.metric != metric) ||
		    !measure_condition_holds(m, &at->condition))
			continue;
		*(waits ? &p->from_ns : &p->to_ns) =
			m->now_ns + (at->settled ? m->config.settle_ns : 0);
		m->watching &= ~p->bit;
		came = true;
	}
	if (came)
		measure_clock_again(m);
}

void measure_probes_finish(struct measure *m)
{
	for (uint32_t i = 0; i < m->n_probes; i++) {
		struct measure_probe *p = &m->probe[i];
		bool moved = p->term->metric == METRIC_MOVED_KEYS;
		if (p->stage != PROBE_OPEN)
			continue;
		/* The table of a moment to come is not known. */
		if (moved && p->term->bounded && p->to_ns > m->now_ns + 1)
			continue;
		close_window(m, p);
	}
}
