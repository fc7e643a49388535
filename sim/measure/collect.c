/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure_int.h"

#include <string.h>

struct measure_cell *measure_probe_cell(struct measure *m,
                                        struct measure_probe *p,
                                        const struct measure_place *place)
{
	const struct measure_term *t = p->term;
	if (t->endpoint != place->endpoint)
		return NULL;
	if (t->deployment != MEASURE_NONE && t->deployment != place->deployment)
		return NULL;
	uint32_t at = 0;
	if (p->by_replica) {
		if (place->replica == MEASURE_NONE)
			return NULL;
		at = m->replica[place->replica]->place;
	}
	return at < p->n_cells && p->cell[at].present ? &p->cell[at] : NULL;
}

static struct measure_cell *cell_of(struct measure *m, struct measure_probe *p,
                                    const struct measure_request *r)
{
	struct measure_place at = {r->endpoint, r->deployment, r->replica};
	return measure_probe_cell(m, p, &at);
}

/* A key counts once a window, where its first request went. */
static void collect_key(struct measure_probe *p, struct measure_cell *c,
                        const struct measure_request *r)
{
	if (p->term->metric == METRIC_SHARE) {
		bool first = measure_keys_add(&p->keys, r->key, NULL);
		if (first && c)
			c->keys++;
	} else if (p->term->metric == METRIC_KEYS_ON_TWO) {
		uint32_t *owner;
		bool first = measure_keys_add(&p->keys, r->key, &owner);
		if (first) {
			*owner = r->deployment;
		} else if (*owner != r->deployment && *owner != MEASURE_NONE) {
			p->twice++;
			*owner = MEASURE_NONE; /* counted */
		}
	}
}

void measure_collect_arrival(struct measure *m, struct measure_request *r)
{
	r->windows = m->open & m->of_endpoint[r->endpoint] &
	             m->of_traffic[r->traffic];
	uint64_t left = r->windows & m->at_arrival;
	for (; left; left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		struct measure_cell *c = cell_of(m, p, r);
		p->arrivals++;
		if (c)
			c->requests++;
		if (r->deployment == MEASURE_NONE)
			continue;
		p->routed++;
		collect_key(p, c, r);
	}
}

/* Whether a count counts the end of this request. */
static bool counts(const struct measure_term *t,
                   const struct measure_request *r)
{
	bool refused = r->outcome == OUTCOME_REJECTED;
	bool late = r->outcome == OUTCOME_TIMED_OUT;
	bool failed = r->outcome == OUTCOME_FAILED;
	switch (t->metric) {
	case METRIC_COMPLETED:
		return r->outcome == OUTCOME_COMPLETED;
	case METRIC_ERRORS:
		return (refused || late || failed) &&
		       (t->error == ERROR_NONE || t->error == r->error);
	case METRIC_TIMEOUTS:
		return late;
	case METRIC_UNFINISHED:
		return r->outcome == OUTCOME_IN_SYSTEM;
	case METRIC_DROPPED:
		return refused || failed;
	default:
		return false;
	}
}

static void collect_latency(struct measure_probe *p, struct measure_cell *c,
                            const struct measure_request *r)
{
	int64_t value =
		measure_request_latency(r, measure_latency_of(p->term->metric));
	if (value < 0)
		return;
	uint32_t at = p->batch ? measure_batch_of(p, r->arrived_ns, r->batch)
	                       : MEASURE_NONE;
	struct measure_hist *batch = at == MEASURE_NONE ? NULL : &p->batch[at];
	if (value == TIME_NEVER) {
		measure_hist_add_infinite(&c->hist, 1);
		if (batch)
			measure_hist_add_infinite(batch, 1);
		return;
	}
	struct measure_sample s = measure_sample_of(value);
	measure_hist_count(&c->hist, &s);
	if (batch)
		measure_hist_count(batch, &s);
}

void measure_collect_end(struct measure *m, const struct measure_request *r)
{
	uint64_t left = r->windows & m->at_end;
	for (; left; left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		enum measure_metric metric = p->term->metric;
		struct measure_cell *c = cell_of(m, p, r);
		bool tokens = metric == METRIC_TOKEN_SHARE ||
		              metric == METRIC_THROUGHPUT;
		if (tokens && p->term->traffic != MEASURE_NONE) {
			p->traffic_tokens += r->output_tokens;
			if (c)
				c->tokens += r->output_tokens;
		} else if (c &&
		           measure_latency_of(metric) < MEASURE_LATENCIES) {
			collect_latency(p, c, r);
		} else if (c) {
			c->x += counts(p->term, r);
		}
	}
}

/* A value that lasted no time is not seen. */
void measure_collect_cell_level(struct measure_probe *p, struct measure_cell *c,
                                enum measure_level_kind kind, int64_t now_ns)
{
	const struct measure_level *l = &c->tally->level[kind];
	int64_t since = l->since_ns > p->from_ns ? l->since_ns : p->from_ns;
	if (now_ns <= since)
		return;
	if (l->value < c->least)
		c->least = l->value;
	if (l->value > c->most)
		c->most = l->value;
}

void measure_collect_level(struct measure *m, enum measure_level_kind kind,
                           const struct measure_place *place)
{
	uint64_t left = m->of_level[kind] & m->open;
	for (; left; left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		struct measure_cell *c = measure_probe_cell(m, p, place);
		if (c)
			measure_collect_cell_level(p, c, kind, m->now_ns);
	}
}

void measure_event(struct measure *m, const char *type, uint32_t endpoint,
                   uint32_t deployment, int64_t now_ns)
{
	assert(type);
	measure_clock(m, now_ns);
	uint64_t left = m->of_metric[METRIC_COUNT] & m->open;
	for (; left; left &= left - 1) {
		struct measure_probe *p = &m->probe[__builtin_ctzll(left)];
		const struct measure_term *t = p->term;
		if (t->endpoint == endpoint &&
		    (t->deployment == MEASURE_NONE ||
		     t->deployment == deployment) &&
		    strcmp(t->event, type) == 0)
			p->events++;
	}
}
