/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a closed probe saw, as one number and what a test needs beside it.
 */
#include "measure/measure_int.h"

#include <math.h>

static double finite_or_infinite(int64_t ns)
{
	return ns == TIME_NEVER ? (double)INFINITY : (double)ns;
}

/* A statistic of a latency; NAN when there is none. */
static double latency_value(const struct measure_term *t,
                            const struct measure_hist *h)
{
	if (h->n + h->infinite == 0)
		return (double)NAN;
	switch (t->statistic) {
	case STAT_QUANTILE:
		return finite_or_infinite(
			measure_hist_quantile(h, t->quantile));
	case STAT_MIN:
		return h->n ? (double)h->min : (double)INFINITY;
	case STAT_MAX:
		return h->infinite ? (double)INFINITY : (double)h->max;
	case STAT_SUM:
		return (double)h->sum / 1024;
	case STAT_DEFAULT:
	case STAT_MEAN:
		return measure_hist_mean(h);
	default:
		return (double)NAN;
	}
}

static double gauge_value(const struct measure_term *t,
                          const struct measure_cell *c, double window_s)
{
	double area_s = (double)c->area / (double)NS_PER_S;
	switch (t->statistic) {
	case STAT_MIN:
		return c->most < 0 ? (double)NAN : (double)c->least;
	case STAT_MAX:
		return c->most < 0 ? (double)NAN : (double)c->most;
	case STAT_AT:
		return (double)c->at;
	case STAT_SUM:
		return area_s;
	case STAT_DEFAULT:
	case STAT_MEAN:
		return window_s > 0 ? area_s / window_s : (double)NAN;
	default:
		return (double)NAN;
	}
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

/* Value, x and n of a cell. */
static double cell_value(const struct measure_probe *p,
                         const struct measure_cell *c, struct measure_value *v)
{
	const struct measure_term *t = p->term;
	bool by_traffic = t->traffic != MEASURE_NONE;
	v->n = (double)p->arrivals;
	v->x = (double)c->requests;
	switch (t->metric) {
	case METRIC_SHARE:
		v->x = (double)c->keys;
		v->n = (double)p->keys.n;
		v->request_share =
			ratio((double)c->requests, (double)p->routed);
		return ratio(v->x, v->n);
	case METRIC_TOKEN_SHARE:
		v->x = (double)c->tokens;
		v->n = (double)(by_traffic ? p->traffic_tokens : p->tokens);
		return ratio(v->x, v->n);
	case METRIC_THROUGHPUT:
		v->x = (double)c->tokens;
		return ratio(v->x, v->window_s);
	case METRIC_RATE:
		return ratio(v->x, v->window_s);
	case METRIC_RATE_PER_REPLICA:
		v->replica_s = (double)c->area / (double)NS_PER_S;
		return ratio(v->x, v->replica_s);
	case METRIC_KEYS_ON_TWO:
		v->x = (double)p->twice;
		v->n = (double)p->keys.n;
		return v->x;
	case METRIC_MOVED_KEYS:
		v->x = (double)p->moved.x;
		v->n = (double)p->moved.n;
		v->least = p->moved.least;
		v->wrong = (double)p->moved.wrong;
		return ratio(v->x, v->n);
	case METRIC_REQUESTS:
		break;
	case METRIC_COUNT:
		v->x = (double)p->events;
		v->n = 0;
		break;
	default:
		v->x = (double)c->x;
		break;
	}
	return t->statistic == STAT_RATE ? ratio(v->x, v->window_s) : v->x;
}

static double any_value(const struct measure_probe *p,
                        const struct measure_cell *c, struct measure_value *v)
{
	const struct measure_term *t = p->term;
	/* Whose tokens a step gives, and what waits, no traffic can say. */
	bool blind = t->traffic != MEASURE_NONE &&
	             (t->metric == METRIC_ITL ||
	              measure_level_of(t->metric) < MEASURE_LEVELS);
	if (blind)
		return (double)NAN;
	if (measure_latency_of(t->metric) < MEASURE_LATENCIES) {
		v->n = (double)(c->hist.n + c->hist.infinite);
		return latency_value(t, &c->hist);
	}
	if (measure_level_of(t->metric) < MEASURE_LEVELS) {
		v->low = c->most < 0 ? (double)NAN : (double)c->least;
		v->high = c->most < 0 ? (double)NAN : (double)c->most;
		return gauge_value(t, c, v->window_s);
	}
	return cell_value(p, c, v);
}

static void put_batches(const struct measure_probe *p, struct measure_value *v)
{
	for (uint32_t b = 0; b < MEASURE_BATCHES; b++) {
		double value = (double)NAN;
		if (p->batch)
			value = latency_value(p->term, &p->batch[b]);
		else if (p->n_batches == MEASURE_BATCHES)
			value = p->batch_value[b];
		if (isnan(value))
			return;
		v->batch[b] = value;
	}
	v->n_batches = MEASURE_BATCHES;
}

/* One value a replica; x and n are those of all of them. */
static void put_each(const struct measure_probe *p, struct measure_value *v)
{
	double sum = 0, x = 0, n = 0, request_share = 0, replica_s = 0;
	v->each = mem_new(p->n_cells, sizeof *v->each);
	for (uint32_t i = 0; i < p->n_cells; i++) {
		if (!p->cell[i].present)
			continue;
		struct measure_value one = {.window_s = v->window_s};
		double value = any_value(p, &p->cell[i], &one);
		if (isnan(value))
			continue;
		v->each[v->n_each++] = value;
		sum += value;
		x += one.x;
		n = measure_latency_of(p->term->metric) < MEASURE_LATENCIES
		            ? n + one.n
		            : one.n;
		request_share += one.request_share;
		replica_s += one.replica_s;
	}
	v->missing = v->n_each == 0;
	v->value = v->missing ? 0 : sum / v->n_each;
	v->x = x;
	v->n = n;
	v->request_share = request_share;
	v->replica_s = replica_s;
}

void measure_probe_value(const struct measure_probe *p, struct measure_value *v)
{
	*v = (struct measure_value){.missing = true};
	if (p->stage != PROBE_CLOSED || p->to_ns <= p->from_ns)
		return;
	v->window_s = (double)(p->to_ns - p->from_ns) / (double)NS_PER_S;
	if (p->term->replicas) {
		put_each(p, v);
		return;
	}
	uint32_t at = p->by_replica ? p->term->replica : 0;
	if (at >= p->n_cells || !p->cell[at].present)
		return;
	double value = any_value(p, &p->cell[at], v);
	v->missing = isnan(value);
	v->value = v->missing ? 0 : value;
	put_batches(p, v);
}
