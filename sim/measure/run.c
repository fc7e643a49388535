/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run's birth and death, and its clock. Between two calls nothing happens,
 * so the clock moves lazily: a call with a later time first passes the bounds
 * that lie before it, each at its own time. Bounds are half open: what
 * happens at a window's beginning is in it, what happens at its end is not.
 */
#include "measure/measure_int.h"

static int64_t earliest(const struct measure *m)
{
	int64_t next = measure_probes_next(m);
	int64_t warm = m->config.warmup_ns;
	int64_t batch = measure_batch_next(m);
	if (next > batch)
		next = batch;
	if (!m->started && next > 1)
		next = 1;
	if (!m->warm && next > warm)
		next = warm;
	if (!m->first_seen && next > warm + 1)
		next = warm + 1;
	return next;
}

static void warm_tally(struct measure_tally *t, int64_t now_ns)
{
	t->tokens_before = t->counts.output_tokens;
	for (int i = 0; i < MEASURE_LEVELS; i++)
		t->area_before[i] = measure_level_area(&t->level[i], now_ns);
}

static void see_first(struct measure_tally *t)
{
	t->ready_first = (uint32_t)t->level[LEVEL_READY].value;
	if (t->ready_first > t->ready_peak)
		t->ready_peak = t->ready_first;
}

/* Does something to every scope. */
static void everywhere(struct measure *m,
                       void (*visit)(struct measure *m,
                                     struct measure_tally *t))
{
	for (uint32_t i = 0; i < m->config.names.n_endpoints; i++)
		visit(m, &m->endpoint[i].tally);
	for (uint32_t i = 0; i < m->config.names.n_deployments; i++)
		visit(m, &m->deployment[i]);
	for (uint32_t i = 0; i < m->config.names.n_traffics; i++)
		visit(m, &m->traffic[i]);
	for (uint32_t i = 0; i < m->n_replicas; i++)
		visit(m, &m->replica[i]->tally);
}

static void visit_warm(struct measure *m, struct measure_tally *t)
{
	warm_tally(t, m->now_ns);
}

static void visit_first(struct measure *m, struct measure_tally *t)
{
	assert(m->first_seen);
	see_first(t);
}

void measure_first_seen(struct measure *m)
{
	m->first_seen = true;
	everywhere(m, visit_first);
}

static void pass_bound(struct measure *m)
{
	if (!m->warm && m->now_ns >= m->config.warmup_ns) {
		for (uint32_t i = 0; i < m->config.names.n_endpoints; i++)
			measure_expect(m, i);
		everywhere(m, visit_warm);
		m->warm = true;
		m->arrivals_before = m->arrivals;
	}
	if (!m->first_seen && m->now_ns > m->config.warmup_ns)
		measure_first_seen(m);
	if (!m->started && m->now_ns > 0) {
		m->started = true;
		measure_probes_watch(m, MEASURE_METRICS);
	}
	measure_probes_bound(m);
}

void measure_clock(struct measure *m, int64_t now_ns)
{
	assert(now_ns >= m->now_ns);
	while (m->next_ns <= now_ns) {
		if (m->next_ns > m->now_ns)
			m->now_ns = m->next_ns;
		pass_bound(m);
		m->next_ns = earliest(m);
		assert(m->next_ns > m->now_ns);
	}
	m->now_ns = now_ns;
}

void measure_clock_again(struct measure *m)
{
	m->next_ns = earliest(m);
	measure_clock(m, m->now_ns);
}

int64_t measure_next_bound(const struct measure *m)
{
	return m->next_ns;
}

static void endpoint_init(struct measure_endpoint *e)
{
	measure_tally_init(&e->tally);
	measure_keys_init(&e->keys, false);
	for (int l = 0; l < BATCH_LATENCIES; l++)
		for (int b = 0; b < MEASURE_BATCHES; b++)
			measure_hist_init(&e->batch[l][b]);
}

static void endpoint_fini(struct measure_endpoint *e)
{
	measure_tally_fini(&e->tally);
	measure_keys_fini(&e->keys);
	measure_split_fini(&e->now);
	measure_split_fini(&e->before);
	for (int l = 0; l < BATCH_LATENCIES; l++)
		for (int b = 0; b < MEASURE_BATCHES; b++)
			measure_hist_fini(&e->batch[l][b]);
}

struct measure *measure_new(const struct measure_config *config)
{
	const struct measure_names *names = &config->names;
	assert(config->warmup_ns >= 0 && config->settle_ns >= 0);
	assert(names->n_endpoints > 0);
	struct measure *m = mem_new(1, sizeof *m);
	m->config = *config;
	m->series = config->sink.row != NULL;
	m->endpoint = mem_new(names->n_endpoints, sizeof *m->endpoint);
	m->deployment = mem_new(names->n_deployments, sizeof *m->deployment);
	m->places = mem_new(names->n_deployments, sizeof *m->places);
	m->traffic = mem_new(names->n_traffics, sizeof *m->traffic);
	for (uint32_t i = 0; i < names->n_endpoints; i++)
		endpoint_init(&m->endpoint[i]);
	for (uint32_t i = 0; i < names->n_deployments; i++)
		measure_tally_init(&m->deployment[i]);
	for (uint32_t i = 0; i < names->n_traffics; i++)
		measure_tally_init(&m->traffic[i]);
	measure_probes_init(m);
	m->next_ns = earliest(m);
	return m;
}

void measure_free(struct measure *m)
{
	if (!m)
		return;
	const struct measure_names *names = &m->config.names;
	measure_probes_fini(m);
	for (uint32_t i = 0; i < names->n_endpoints; i++)
		endpoint_fini(&m->endpoint[i]);
	for (uint32_t i = 0; i < names->n_deployments; i++)
		measure_tally_fini(&m->deployment[i]);
	for (uint32_t i = 0; i < names->n_traffics; i++)
		measure_tally_fini(&m->traffic[i]);
	for (uint32_t i = 0; i < m->n_replicas; i++) {
		measure_tally_fini(&m->replica[i]->tally);
		mem_free(m->replica[i]->name);
		mem_free(m->replica[i]);
	}
	mem_free(m->replica);
	mem_free(m->endpoint);
	mem_free(m->deployment);
	mem_free(m->traffic);
	mem_free(m->places);
	mem_free(m);
}
