/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replications pooled: counts add up, gauges are weighted by the time they
 * were measured over, values and batches stand one after the other.
 */
#include "measure/measure_int.h"

#include <math.h>
#include <string.h>

/* The mean over both times; a part that measured no time says nothing. */
static double pooled(double a, double a_s, double b, double b_s)
{
	if (b_s <= 0)
		return a;
	if (a_s <= 0)
		return b;
	return (a * a_s + b * b_s) / (a_s + b_s);
}

static void merge_gauges(struct measure_scope_result *a,
                         const struct measure_scope_result *b)
{
	double as = a->seconds, bs = b->seconds;
	a->queue = pooled(a->queue, as, b->queue, bs);
	a->batch = pooled(a->batch, as, b->batch, bs);
	a->in_flight = pooled(a->in_flight, as, b->in_flight, bs);
	a->ready = pooled(a->ready, as, b->ready, bs);
	a->wanted = pooled(a->wanted, as, b->wanted, bs);
	a->seconds = as + bs;
	/* first and last stay those of the first replication */
	if (b->ready_peak > a->ready_peak)
		a->ready_peak = b->ready_peak;
}

static void merge_scope(struct measure_scope_result *a,
                        const struct measure_scope_result *b)
{
	a->arrived += b->arrived;
	for (int i = 0; i < MEASURE_OUTCOMES; i++)
		a->ended[i] += b->ended[i];
	for (int i = 0; i < MEASURE_ERRORS; i++)
		a->errors[i] += b->errors[i];
	a->requests += b->requests;
	a->completed += b->completed;
	a->input_tokens += b->input_tokens;
	a->output_tokens += b->output_tokens;
	a->expected_requests += b->expected_requests;
	merge_gauges(a, b);
	measure_hist_merge(&a->ttft, &b->ttft);
	measure_hist_merge(&a->tpot, &b->tpot);
	measure_hist_merge(&a->itl, &b->itl);
	measure_hist_merge(&a->e2e, &b->e2e);
	measure_hist_merge(&a->queue_time, &b->queue_time);
}

static void append_values(struct measure_result *into,
                          const struct measure_result *from)
{
	size_t had = (size_t)into->replications * into->n_terms;
	size_t more = (size_t)from->replications * from->n_terms;
	if (more == 0)
		return;
	into->value = mem_grow(into->value, had + more, sizeof *into->value);
	for (size_t i = 0; i < more; i++) {
		struct measure_value *v = &into->value[had + i];
		*v = from->value[i];
		if (!v->each)
			continue;
		v->each = mem_new(v->n_each, sizeof *v->each);
		if (v->n_each > 0)
			memcpy(v->each, from->value[i].each,
			       v->n_each * sizeof *v->each);
	}
}

/* Lengthens every line of batches; returns the new table. */
static double *join(double *a, uint32_t n_a, const double *b, uint32_t n_b,
                    size_t lines)
{
	double *out = mem_new(lines * (n_a + n_b), sizeof *out);
	for (size_t i = 0; i < lines; i++) {
		double *line = out + i * (n_a + n_b);
		if (n_a > 0)
			memcpy(line, a + i * n_a, n_a * sizeof *line);
		if (n_b > 0)
			memcpy(line + n_a, b + i * n_b, n_b * sizeof *line);
	}
	mem_free(a);
	return out;
}

void measure_result_merge(struct measure_result *into,
                          const struct measure_result *from)
{
	assert(into != from && into->n_terms == from->n_terms);
	size_t endpoints = 0;
	for (uint32_t i = 0; i < into->n_scopes; i++) {
		struct measure_scope_result *s = &into->scope[i];
		if (s->scope == SCOPE_REPLICA)
			break;
		endpoints += s->scope == SCOPE_ENDPOINT;
		const struct measure_scope_result *other =
			measure_result_scope(from, s->scope, s->number);
		assert(other);
		merge_scope(s, other);
	}
	append_values(into, from);
	size_t lines = endpoints * BATCH_LATENCIES;
	uint32_t a = into->n_batches, b = from->n_batches;
	if (a + b > 0) {
		into->batch_p95 =
			join(into->batch_p95, a, from->batch_p95, b, lines);
		into->batch_mean =
			join(into->batch_mean, a, from->batch_mean, b, lines);
	}
	into->n_batches = a + b;
	into->replications += from->replications;
	if (from->end_s > into->end_s)
		into->end_s = from->end_s;
}
