/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure_int.h"

#include <math.h>

static double per(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

/* What a scope's counters and gauges say of the interval. */
static struct measure_row row_of(const struct measure *m,
                                 const struct measure_tally *t)
{
	const struct measure_row_state *s = &t->row;
	const struct measure_counts *a = &s->before, *b = &t->counts;
	int64_t from = m->row_from_ns, now = m->now_ns;
	double seconds = (double)(now - from) / (double)NS_PER_S;
	struct measure_row row = {.from_ns = from, .to_ns = now};
	row.arrived = b->arrived - a->arrived;
	row.completed =
		b->ended[OUTCOME_COMPLETED] - a->ended[OUTCOME_COMPLETED];
	row.rejected = b->ended[OUTCOME_REJECTED] - a->ended[OUTCOME_REJECTED];
	row.timed_out =
		b->ended[OUTCOME_TIMED_OUT] - a->ended[OUTCOME_TIMED_OUT];
	row.failed = b->ended[OUTCOME_FAILED] - a->ended[OUTCOME_FAILED];
	row.request_rate = (double)row.arrived / seconds;
	row.input_token_rate =
		(double)(b->input_tokens - a->input_tokens) / seconds;
	row.output_token_rate =
		(double)(b->output_tokens - a->output_tokens) / seconds;
	row.share = row.expected_share = row.token_share = (double)NAN;
	row.ttft_p50_ns = measure_hist_quantile(&s->ttft, 0.5);
	row.ttft_p95_ns = measure_hist_quantile(&s->ttft, 0.95);
	row.ttft_p99_ns = measure_hist_quantile(&s->ttft, 0.99);
	row.e2e_p95_ns = measure_hist_quantile(&s->e2e, 0.95);
	row.tpot_mean_ns = per(s->tpot_sum, (double)s->tpot_n);
	row.itl_mean_ns = per((double)s->itl_sum / 1024, (double)s->itl_n);
	const struct measure_level *l = t->level;
	row.queue = measure_level_mean(&l[LEVEL_QUEUE], s->area[LEVEL_QUEUE],
	                               from, now);
	row.batch = measure_level_mean(&l[LEVEL_BATCH], s->area[LEVEL_BATCH],
	                               from, now);
	row.in_flight = measure_level_mean(&l[LEVEL_IN_FLIGHT],
	                                   s->area[LEVEL_IN_FLIGHT], from, now);
	row.ready = (double)l[LEVEL_READY].value;
	row.wanted = (double)l[LEVEL_WANTED].value;
	row.kv_used = per(s->kv_sum, (double)s->kv_n);
	return row;
}

static void begin_row(struct measure_tally *t, int64_t now_ns)
{
	struct measure_row_state *s = &t->row;
	s->before = t->counts;
	for (int i = 0; i < MEASURE_LEVELS; i++)
		s->area[i] = measure_level_area(&t->level[i], now_ns);
	s->expected = s->tpot_sum = s->kv_sum = 0;
	s->itl_sum = 0;
	s->tpot_n = s->kv_n = s->itl_n = 0;
	measure_hist_clear(&s->ttft);
	measure_hist_clear(&s->e2e);
}

static void put_row(const struct measure *m, struct measure_row *row,
                    enum measure_scope scope, const char *id)
{
	row->scope = scope;
	row->id = id;
	m->config.sink.row(m->config.sink.self, row);
}

static void put_deployment(const struct measure *m, uint32_t d)
{
	const struct measure_tally *t = &m->deployment[d];
	const struct measure_tally *e =
		&m->endpoint[m->config.names.endpoint_of[d]].tally;
	double arrived = (double)(e->counts.arrived - e->row.before.arrived);
	double tokens =
		(double)(e->counts.output_tokens - e->row.before.output_tokens);
	struct measure_row row = row_of(m, t);
	row.share = per((double)row.arrived, arrived);
	row.expected_share = per(t->row.expected, arrived);
	row.token_share = per(
		(double)(t->counts.output_tokens - t->row.before.output_tokens),
		tokens);
	put_row(m, &row, SCOPE_DEPLOYMENT, m->config.names.deployments[d]);
}

static void put_replica(const struct measure *m,
                        const struct measure_replica *r)
{
	struct measure_row row = row_of(m, &r->tally);
	row.wanted = row.ready;
	if (!r->tally.counted)
		row.ready = row.wanted = (double)NAN;
	put_row(m, &row, SCOPE_REPLICA, r->name);
}

void measure_interval(struct measure *m, int64_t now_ns)
{
	measure_clock(m, now_ns);
	if (!m->series || now_ns == m->row_from_ns)
		return;
	const struct measure_names *names = &m->config.names;
	for (uint32_t i = 0; i < names->n_endpoints; i++) {
		measure_expect(m, i);
		struct measure_row row = row_of(m, &m->endpoint[i].tally);
		put_row(m, &row, SCOPE_ENDPOINT, names->endpoints[i]);
	}
	for (uint32_t i = 0; i < names->n_deployments; i++)
		put_deployment(m, i);
	for (uint32_t i = 0; i < m->n_replicas; i++)
		if (!m->replica[i]->gone)
			put_replica(m, m->replica[i]);
	for (uint32_t i = 0; i < names->n_endpoints; i++)
		begin_row(&m->endpoint[i].tally, now_ns);
	for (uint32_t i = 0; i < names->n_deployments; i++)
		begin_row(&m->deployment[i], now_ns);
	for (uint32_t i = 0; i < m->n_replicas; i++)
		if (!m->replica[i]->gone)
			begin_row(&m->replica[i]->tally, now_ns);
	m->row_from_ns = now_ns;
}
