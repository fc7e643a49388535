/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A request's walk. Its latencies are counted once, when it has ended or the
 * run has, by what the client saw in the end: a request that lost its
 * replica and began anew has one TTFT.
 */
#include "measure/measure_int.h"

int64_t measure_request_latency(const struct measure_request *r,
                                enum measure_latency latency)
{
	bool completed = r->outcome == OUTCOME_COMPLETED;
	int64_t gaps = (int64_t)r->output_tokens - 1;
	switch (latency) {
	case LATENCY_TTFT:
		return r->first_ns < 0 ? TIME_NEVER
		                       : r->first_ns - r->arrived_ns;
	case LATENCY_TPOT:
		if (!completed || gaps < 1)
			return -1;
		return (r->done_ns - r->first_ns + gaps / 2) / gaps;
	case LATENCY_E2E:
		return completed ? r->done_ns - r->arrived_ns : TIME_NEVER;
	case LATENCY_QUEUE:
		return r->started_ns < 0 ? TIME_NEVER
		                         : r->started_ns - r->arrived_ns;
	default:
		return -1;
	}
}

void measure_arrived(struct measure *m, struct measure_request *r)
{
	assert(r->outcome == OUTCOME_IN_SYSTEM);
	assert(r->deployment != MEASURE_NONE || r->replica == MEASURE_NONE);
	measure_clock(m, r->arrived_ns);
	r->batch = measure_batch_now(m);
	m->arrivals++;
	struct measure_tally *tally[4];
	uint32_t n = measure_tallies(m, r, tally);
	for (uint32_t i = 0; i < n; i++) {
		struct measure_tally *t = tally[i];
		t->counts.arrived++;
		t->counts.input_tokens += r->input_tokens;
		t->requests += m->warm;
		t->input_tokens += m->warm ? r->input_tokens : 0;
	}
	struct measure_endpoint *e = &m->endpoint[r->endpoint];
	e->arrivals++;
	if (e->moving)
		measure_keys_add(&e->keys, r->key, NULL);
	measure_collect_arrival(m, r);
}

/* Takes a request from one scope to another of the same kind. */
static void carry(const struct measure *m, const struct measure_request *r,
                  struct measure_tally *from, struct measure_tally *to)
{
	from->moved--;
	to->moved++;
	if (r->arrived_ns < m->config.warmup_ns)
		return;
	from->requests--;
	from->input_tokens -= r->input_tokens;
	to->requests++;
	to->input_tokens += r->input_tokens;
}

void measure_rerouted(struct measure *m, struct measure_request *r,
                      uint32_t old_deployment, uint32_t old_replica)
{
	assert(r->started_ns < 0 && r->first_ns < 0 && r->done_ns < 0);
	assert(r->deployment != MEASURE_NONE && r->replica != MEASURE_NONE);
	if (old_deployment != r->deployment)
		carry(m, r, &m->deployment[old_deployment],
		      &m->deployment[r->deployment]);
	if (old_replica != r->replica)
		carry(m, r, &m->replica[old_replica]->tally,
		      &m->replica[r->replica]->tally);
}

void measure_started(struct measure *m, const struct measure_request *r)
{
	assert(r->replica < m->n_replicas);
	assert(r->started_ns >= r->arrived_ns);
}

void measure_first_token(struct measure *m, const struct measure_request *r)
{
	assert(r->started_ns >= r->arrived_ns);
	assert(r->first_ns >= r->started_ns);
	if (!m->series)
		return;
	struct measure_sample s =
		measure_sample_of(r->first_ns - r->arrived_ns);
	struct measure_tally *tally[4];
	uint32_t n = measure_tallies(m, r, tally);
	for (uint32_t i = 1; i < n; i++)
		measure_hist_count(&tally[i]->row.ttft, &s);
}

static void count_latency(struct measure *m, const struct measure_request *r,
                          enum measure_latency latency,
                          struct measure_tally *const *tally, uint32_t n)
{
	int64_t value = measure_request_latency(r, latency);
	if (value < 0)
		return;
	struct measure_hist *batch = NULL;
	if (latency < BATCH_LATENCIES && r->batch != MEASURE_NONE)
		batch = &m->endpoint[r->endpoint].batch[latency][r->batch];
	if (value == TIME_NEVER) {
		for (uint32_t i = 0; i < n; i++)
			tally[i]->latency[latency].infinite++;
		if (batch)
			batch->infinite++;
		return;
	}
	struct measure_sample s = measure_sample_of(value);
	for (uint32_t i = 0; i < n; i++)
		measure_hist_count(&tally[i]->latency[latency], &s);
	if (batch)
		measure_hist_count(batch, &s);
}

/* The latencies of an interval are those of requests completed in it. */
static void count_row(const struct measure_request *r,
                      struct measure_tally *const *tally, uint32_t n)
{
	struct measure_sample s = measure_sample_of(r->done_ns - r->arrived_ns);
	int64_t tpot = measure_request_latency(r, LATENCY_TPOT);
	for (uint32_t i = 1; i < n; i++) {
		struct measure_row_state *row = &tally[i]->row;
		measure_hist_count(&row->e2e, &s);
		if (tpot >= 0) {
			row->tpot_sum += (double)tpot;
			row->tpot_n++;
		}
	}
}

static void over(struct measure *m, const struct measure_request *r)
{
	struct measure_tally *tally[4];
	uint32_t n = measure_tallies(m, r, tally);
	bool measured = r->arrived_ns >= m->config.warmup_ns;
	bool completed = r->outcome == OUTCOME_COMPLETED;
	for (uint32_t i = 0; i < n; i++) {
		tally[i]->counts.ended[r->outcome]++;
		tally[i]->errors[r->error]++;
		tally[i]->completed += measured && completed;
	}
	if (measured) {
		/* A step does not say whose tokens it gave. */
		tally[0]->counts.output_tokens += r->output_tokens;
		for (int i = 0; i < MEASURE_LATENCIES; i++)
			count_latency(m, r, (enum measure_latency)i, tally, n);
	}
	if (m->series && completed)
		count_row(r, tally, n);
	measure_collect_end(m, r);
	const struct measure_sink *sink = &m->config.sink;
	if (!sink->request)
		return;
	const char *deployment = NULL, *replica = NULL;
	if (r->deployment != MEASURE_NONE)
		deployment = m->config.names.deployments[r->deployment];
	if (r->replica != MEASURE_NONE)
		replica = m->replica[r->replica]->name;
	sink->request(sink->self, r, deployment, replica);
}

void measure_ended(struct measure *m, const struct measure_request *r)
{
	assert(r->outcome != OUTCOME_IN_SYSTEM);
	assert(r->done_ns >= r->arrived_ns);
	assert(r->started_ns < 0 || r->started_ns >= r->arrived_ns);
	assert(r->first_ns < 0 || r->first_ns >= r->started_ns);
	assert(r->done_ns >= r->started_ns && r->done_ns >= r->first_ns);
	bool completed = r->outcome == OUTCOME_COMPLETED;
	assert(completed == (r->error == ERROR_NONE));
	assert(!completed || (r->started_ns >= 0 && r->first_ns >= 0));
	over(m, r);
}

void measure_unfinished(struct measure *m, const struct measure_request *r)
{
	assert(r->outcome == OUTCOME_IN_SYSTEM && r->error == ERROR_NONE);
	assert(r->done_ns < 0);
	over(m, r);
}
