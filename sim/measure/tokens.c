/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output tokens and the gaps between them. Steps come by thousands at once;
 * their lengths rise or fall evenly, so that those of one bucket are counted
 * together and the work is by buckets crossed, not by steps.
 */
#include "measure/measure_int.h"

/* A tick is 2^-10 ns; a gap is rounded once, to the nearest ns. */
static int64_t ticks_ns(int64_t ticks)
{
	return (ticks + 512) >> 10;
}

/* The histograms that a replica's gaps go to. */
struct gap_hists {
	uint32_t n;
	struct measure_hist *hist[4 + 2 * MEASURE_MAX_TERMS];
};

static void add_probe(struct measure *m, struct measure_probe *p,
                      const struct measure_place *at, struct gap_hists *out)
{
	struct measure_cell *c = measure_probe_cell(m, p, at);
	if (!c || p->term->traffic != MEASURE_NONE)
		return;
	out->hist[out->n++] = &c->hist;
	if (!p->batch)
		return;
	uint32_t batch = measure_batch_of(p, m->now_ns, measure_batch_now(m));
	if (batch != MEASURE_NONE)
		out->hist[out->n++] = &p->batch[batch];
}

static void gap_hists(struct measure *m, uint32_t replica,
                      struct gap_hists *out)
{
	struct measure_replica *r = m->replica[replica];
	uint32_t endpoint = m->config.names.endpoint_of[r->deployment];
	struct measure_endpoint *e = &m->endpoint[endpoint];
	out->n = 0;
	if (m->warm) {
		out->hist[out->n++] = &r->tally.latency[LATENCY_ITL];
		out->hist[out->n++] =
			&m->deployment[r->deployment].latency[LATENCY_ITL];
		out->hist[out->n++] = &e->tally.latency[LATENCY_ITL];
		uint32_t batch = measure_batch_now(m);
		if (batch != MEASURE_NONE)
			out->hist[out->n++] = &e->batch[LATENCY_ITL][batch];
	}
	struct measure_place at = {endpoint, r->deployment, replica};
	uint64_t left = m->of_metric[METRIC_ITL] & m->open;
	for (; left; left &= left - 1)
		add_probe(m, &m->probe[__builtin_ctzll(left)], &at, out);
}

/* first + (first + growth) + ..., n of them. */
static measure_wide sum_of(int64_t first, int64_t growth, uint64_t n)
{
	return (measure_wide)first * n +
	       (measure_wide)growth * ((measure_wide)n * (n - 1) / 2);
}

static void add_gaps(struct measure_tally *t, uint64_t n, measure_wide sum)
{
	t->row.itl_n += n;
	t->row.itl_sum += sum;
}

/* n gaps of this sum, for the rows of the interval. */
static void count_gaps(struct measure *m, uint32_t replica, uint64_t n,
                       measure_wide sum)
{
	struct measure_replica *r = m->replica[replica];
	uint32_t endpoint = m->config.names.endpoint_of[r->deployment];

	add_gaps(&r->tally, n, sum);
	add_gaps(&m->deployment[r->deployment], n, sum);
	add_gaps(&m->endpoint[endpoint].tally, n, sum);
}

static void count_tokens(struct measure *m, uint32_t replica, uint64_t tokens)
{
	struct measure_replica *r = m->replica[replica];
	uint32_t endpoint = m->config.names.endpoint_of[r->deployment];
	r->tally.counts.output_tokens += tokens;
	m->deployment[r->deployment].counts.output_tokens += tokens;
	m->endpoint[endpoint].tally.counts.output_tokens += tokens;
}

/* Steps from `ticks` on whose gap is in the same bucket, at most `steps`. */
static uint64_t alike(int64_t ticks, int64_t growth, uint64_t steps,
                      uint32_t bucket)
{
	if (growth == 0)
		return steps;
	int64_t last = measure_hist_top(bucket) * 1024 + 511;
	uint64_t n = (uint64_t)((last - ticks) / growth) + 1;
	return n < steps ? n : steps;
}

void measure_steps(struct measure *m, uint32_t replica, int64_t first,
                   int64_t growth, uint64_t steps, uint32_t tokens)
{
	assert(replica < m->n_replicas && first >= 0);
	if (steps == 0 || tokens == 0)
		return;
	count_tokens(m, replica, steps * tokens);
	count_gaps(m, replica, steps * tokens,
	           sum_of(first, growth, steps) * tokens);
	if (growth < 0) {
		/* Counted from the shortest. */
		first += growth * (int64_t)(steps - 1);
		growth = -growth;
	}
	assert(first >= 0);
	struct gap_hists out;
	gap_hists(m, replica, &out);
	while (out.n > 0 && steps > 0) {
		struct measure_sample s = measure_sample_of(ticks_ns(first));
		uint64_t n = alike(first, growth, steps, s.bucket);
		int64_t last = first + growth * (int64_t)(n - 1);
		s.most = ticks_ns(last);
		s.times = n * tokens;
		s.sum = sum_of(first, growth, n) * tokens;
		for (uint32_t i = 0; i < out.n; i++)
			measure_hist_count(out.hist[i], &s);
		first = last + growth;
		steps -= n;
	}
}

void measure_token(struct measure *m, uint32_t replica, int64_t gap_ns)
{
	assert(replica < m->n_replicas);
	count_tokens(m, replica, 1);
	if (gap_ns < 0)
		return;
	count_gaps(m, replica, 1, (measure_wide)gap_ns * 1024);
	struct gap_hists out;
	gap_hists(m, replica, &out);
	struct measure_sample s = measure_sample_of(gap_ns);
	for (uint32_t i = 0; i < out.n; i++)
		measure_hist_count(out.hist[i], &s);
}
