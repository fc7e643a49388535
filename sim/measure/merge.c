/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replications pooled: counts add up, gauges are weighted by the time they
 * were measured over, values stand one after the other. Batches of one run
 * give way to the replications' own values: those are independent, and there
 * when no run could be cut.
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

/* The histogram that a line of batches is of; endpoints are first. */
static const struct measure_hist *hist_of(const struct measure_result *r,
                                          size_t line)
{
	const struct measure_scope_result *s =
		&r->scope[line / BATCH_LATENCIES];
	const struct measure_hist *const hist[BATCH_LATENCIES] = {
		[LATENCY_TTFT] = &s->ttft,
		[LATENCY_TPOT] = &s->tpot,
		[LATENCY_ITL] = &s->itl,
		[LATENCY_E2E] = &s->e2e,
	};
	assert(s->scope == SCOPE_ENDPOINT);
	return hist[line % BATCH_LATENCIES];
}

static double p95_of(const struct measure_hist *h)
{
	int64_t p95 = measure_hist_quantile(h, 0.95);
	if (p95 < 0)
		return (double)NAN;
	return p95 == TIME_NEVER ? (double)INFINITY : (double)p95;
}

/* Writes the values of r's replications to a line. */
static void put_own(const struct measure_result *r, size_t line, double *p95,
                    double *mean)
{
	uint32_t n = r->replications;
	if (n == 1) {
		*p95 = p95_of(hist_of(r, line));
		*mean = measure_hist_mean(hist_of(r, line));
		return;
	}
	assert(r->n_batches == n);
	memcpy(p95, r->batch_p95 + line * n, n * sizeof *p95);
	memcpy(mean, r->batch_mean + line * n, n * sizeof *mean);
}

/* To be called before histograms are pooled. */
static void merge_batches(struct measure_result *into,
                          const struct measure_result *from, size_t lines)
{
	uint32_t had = into->replications;
	uint32_t n = had + from->replications;
	double *p95 = mem_new(lines * n, sizeof *p95);
	double *mean = mem_new(lines * n, sizeof *mean);
	for (size_t i = 0; i < lines; i++) {
		put_own(into, i, p95 + i * n, mean + i * n);
		put_own(from, i, p95 + i * n + had, mean + i * n + had);
	}
	mem_free(into->batch_p95);
	mem_free(into->batch_mean);
	into->batch_p95 = p95;
	into->batch_mean = mean;
	into->n_batches = n;
}

void measure_result_merge(struct measure_result *into,
                          const struct measure_result *from)
{
	assert(into != from && into->n_terms == from->n_terms);
	size_t endpoints = 0;
	while (endpoints < into->n_scopes &&
	       into->scope[endpoints].scope == SCOPE_ENDPOINT)
		endpoints++;
	merge_batches(into, from, endpoints * BATCH_LATENCIES);
	for (uint32_t i = 0; i < into->n_scopes; i++) {
		struct measure_scope_result *s = &into->scope[i];
		if (s->scope == SCOPE_REPLICA)
			break;
		const struct measure_scope_result *other =
			measure_result_scope(from, s->scope, s->number);
		assert(other);
		merge_scope(s, other);
	}
	append_values(into, from);
	into->replications += from->replications;
	if (from->end_s > into->end_s)
		into->end_s = from->end_s;
}
