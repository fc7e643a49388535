/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a run: what it counted becomes a result that outlives it.
 */
#include "measure/measure_int.h"

#include <math.h>
#include <stdio.h>

/* Law L1. `ended` holds what is inside at the end, too. */
static void conserve(const struct measure_tally *t)
{
	uint64_t ended = 0;
	for (int i = 0; i < MEASURE_OUTCOMES; i++)
		ended += t->counts.ended[i];
	assert(t->counts.arrived + (uint64_t)t->moved == ended);
}

static double mean_of(const struct measure *m, const struct measure_tally *t,
                      enum measure_level_kind kind)
{
	return measure_level_mean(&t->level[kind], t->area_before[kind],
	                          m->config.warmup_ns, m->now_ns);
}

static void put_gauges(const struct measure *m, const struct measure_tally *t,
                       struct measure_scope_result *s)
{
	s->queue = mean_of(m, t, LEVEL_QUEUE);
	s->batch = mean_of(m, t, LEVEL_BATCH);
	s->in_flight = mean_of(m, t, LEVEL_IN_FLIGHT);
	s->ready = mean_of(m, t, LEVEL_READY);
	s->wanted = mean_of(m, t, LEVEL_WANTED);
	s->ready_first = t->ready_first;
	s->ready_last = (uint32_t)t->level[LEVEL_READY].value;
	s->ready_peak = t->ready_peak;
	/* What nobody told, and what a traffic cannot say. */
	if (s->scope == SCOPE_TRAFFIC)
		s->queue = s->batch = s->in_flight = (double)NAN;
	if (s->scope != SCOPE_ENDPOINT && !t->counted)
		s->ready = s->wanted = (double)NAN;
	if (s->scope == SCOPE_REPLICA)
		s->wanted = (double)NAN;
}

/* Moves a hist; the scope is left empty. */
static void take(struct measure_hist *to, struct measure_hist *from)
{
	*to = *from;
	measure_hist_init(from);
}

static void put_scope(const struct measure *m, struct measure_tally *t,
                      const char *id, struct measure_scope_result *s)
{
	conserve(t);
	snprintf(s->id, sizeof s->id, "%s", id);
	s->arrived = t->counts.arrived + (uint64_t)t->moved;
	for (int i = 0; i < MEASURE_OUTCOMES; i++)
		s->ended[i] = t->counts.ended[i];
	for (int i = 0; i < MEASURE_ERRORS; i++)
		s->errors[i] = t->errors[i];
	s->requests = t->requests;
	s->completed = t->completed;
	s->input_tokens = t->input_tokens;
	s->output_tokens = t->counts.output_tokens - t->tokens_before;
	s->expected_requests = t->expected;
	s->seconds =
		(double)(m->now_ns - m->config.warmup_ns) / (double)NS_PER_S;
	if (!m->warm)
		s->output_tokens = 0, s->seconds = 0;
	put_gauges(m, t, s);
	take(&s->ttft, &t->latency[LATENCY_TTFT]);
	take(&s->tpot, &t->latency[LATENCY_TPOT]);
	take(&s->itl, &t->latency[LATENCY_ITL]);
	take(&s->e2e, &t->latency[LATENCY_E2E]);
	take(&s->queue_time, &t->latency[LATENCY_QUEUE]);
}

static struct measure_scope_result *
next_scope(struct measure_result *r, enum measure_scope scope, uint32_t number,
           uint32_t endpoint, uint32_t deployment)
{
	struct measure_scope_result *s = &r->scope[r->n_scopes++];
	s->scope = scope;
	s->number = number;
	s->endpoint = endpoint;
	s->deployment = deployment;
	return s;
}

static void put_scopes(struct measure *m, struct measure_result *r)
{
	const struct measure_names *names = &m->config.names;
	const uint32_t none = MEASURE_NONE;
	r->scope = mem_new(names->n_endpoints + names->n_deployments +
	                           names->n_traffics + m->n_replicas,
	                   sizeof *r->scope);
	for (uint32_t i = 0; i < names->n_endpoints; i++)
		put_scope(m, &m->endpoint[i].tally, names->endpoints[i],
		          next_scope(r, SCOPE_ENDPOINT, i, i, none));
	for (uint32_t i = 0; i < names->n_deployments; i++)
		put_scope(m, &m->deployment[i], names->deployments[i],
		          next_scope(r, SCOPE_DEPLOYMENT, i,
		                     names->endpoint_of[i], i));
	for (uint32_t i = 0; i < names->n_traffics; i++)
		put_scope(m, &m->traffic[i], names->traffics[i],
		          next_scope(r, SCOPE_TRAFFIC, i,
		                     names->traffic_endpoint
		                             ? names->traffic_endpoint[i]
		                             : none,
		                     none));
	for (uint32_t i = 0; i < m->n_replicas; i++) {
		struct measure_replica *replica = m->replica[i];
		uint32_t d = replica->deployment;
		put_scope(m, &replica->tally, replica->name,
		          next_scope(r, SCOPE_REPLICA, i, names->endpoint_of[d],
		                     d));
	}
}

static void put_batches(const struct measure *m, struct measure_result *r)
{
	uint32_t n = m->config.names.n_endpoints;
	if (!measure_batches_known(m))
		return;
	size_t cells = (size_t)n * BATCH_LATENCIES * MEASURE_BATCHES;
	r->n_batches = MEASURE_BATCHES;
	r->batch_p95 = mem_new(cells, sizeof *r->batch_p95);
	r->batch_mean = mem_new(cells, sizeof *r->batch_mean);
	for (size_t i = 0; i < cells; i++) {
		size_t l = i / MEASURE_BATCHES;
		const struct measure_endpoint *e =
			&m->endpoint[l / BATCH_LATENCIES];
		const struct measure_hist *h =
			&e->batch[l % BATCH_LATENCIES][i % MEASURE_BATCHES];
		int64_t p95 = measure_hist_quantile(h, 0.95);
		r->batch_p95[i] = p95 < 0             ? (double)NAN
		                  : p95 == TIME_NEVER ? (double)INFINITY
		                                      : (double)p95;
		r->batch_mean[i] = measure_hist_mean(h);
	}
}

struct measure_result *measure_finish(struct measure *m, int64_t now_ns)
{
	measure_interval(m, now_ns);
	if (!m->first_seen && m->warm)
		measure_first_seen(m);
	measure_probes_finish(m);
	for (uint32_t i = 0; i < m->config.names.n_endpoints; i++)
		measure_expect(m, i);
	struct measure_result *r = mem_new(1, sizeof *r);
	r->replications = 1;
	r->end_s = (double)now_ns / (double)NS_PER_S;
	put_scopes(m, r);
	r->n_terms = m->n_probes;
	r->value = mem_new(r->n_terms, sizeof *r->value);
	for (uint32_t i = 0; i < r->n_terms; i++)
		measure_probe_value(&m->probe[i], &r->value[i]);
	put_batches(m, r);
	return r;
}

const struct measure_scope_result *
measure_result_scope(const struct measure_result *r, enum measure_scope scope,
                     uint32_t number)
{
	for (uint32_t i = 0; i < r->n_scopes; i++)
		if (r->scope[i].scope == scope && r->scope[i].number == number)
			return &r->scope[i];
	return NULL;
}

void measure_result_free(struct measure_result *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n_scopes; i++) {
		struct measure_scope_result *s = &r->scope[i];
		measure_hist_fini(&s->ttft);
		measure_hist_fini(&s->tpot);
		measure_hist_fini(&s->itl);
		measure_hist_fini(&s->e2e);
		measure_hist_fini(&s->queue_time);
	}
	for (size_t i = 0; i < (size_t)r->replications * r->n_terms; i++)
		mem_free(r->value[i].each);
	mem_free(r->scope);
	mem_free(r->value);
	mem_free(r->batch_p95);
	mem_free(r->batch_mean);
	mem_free(r);
}
