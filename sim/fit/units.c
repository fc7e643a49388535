/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Seconds that are called milliseconds, and the like: a thousand between two
 * numbers that the laws of queues and of arithmetic tie together. Nothing is
 * put right by guessing; the row is refused and the column named.
 */
#include <assert.h>
#include <math.h>

#include "fit/read_int.h"

/* A token takes longer than this, whatever serves it, and less than that. */
#define TOKEN_LEAST_MS 0.1
#define TOKEN_MOST_MS 20000.0

bool fit_thousand(double x)
{
	return x > 500 && x < 2000;
}

static bool refuse(struct fit_sweep *s, uint32_t i, const char *what,
                   double value, const char *unit)
{
	fit_warn(s, i, true,
	         "unit mix-up: %s of %.4g ms is off by 1000: it looks like %s "
	         "labelled ms",
	         what, value, unit);
	return true;
}

/* Off by a thousand one way: seconds; the other way: microseconds. */
static bool off(struct fit_sweep *s, uint32_t i, const char *what, double value,
                double too_small, double too_large)
{
	if (fit_thousand(too_small))
		return refuse(s, i, what, value, "s");
	if (fit_thousand(too_large))
		return refuse(s, i, what, value, "us");
	return false;
}

/* Mean and percentiles of one latency, one of them in another unit. */
static bool check_latency(struct fit_sweep *s, uint32_t i, const char *what,
                          const struct fit_latency *l)
{
	const double rising[] = {l->p50, l->p90, l->p95, l->p99};
	double last = 0;

	if (off(s, i, what, l->mean, l->p50 / l->mean, l->mean / l->p50))
		return true;
	for (size_t k = 0; k < FIT_COUNT(rising); k++) {
		if (isnan(rising[k]))
			continue;
		if (rising[k] < last * (1 - 1e-6)) {
			fit_warn(s, i, true,
			         "%s's percentiles fall: %.4g ms after %.4g ms",
			         what, rising[k], last);
			return true;
		}
		last = rising[k];
	}
	return false;
}

/* E2E against TTFT and ITL, and these against each other. */
static bool check_parts(struct fit_sweep *s, uint32_t i)
{
	const struct fit_row *row = &s->row[i];
	double e = fit_middle(&row->e2e), t = fit_middle(&row->ttft);
	double itl = fit_middle(&row->itl);
	double decode = (row->osl - 1) * itl;
	double rest = e - decode;

	if (!(decode > 0) || isnan(e) || isnan(t))
		return false;
	if (off(s, i, "E2E", e, (t + decode) / e, 0))
		return true;
	if (fit_thousand(e / (t + decode)))
		return refuse(s, i, "TTFT + (osl - 1) x ITL", t + decode, "s");
	if (off(s, i, "ITL", itl, (e - t) / decode, 0))
		return true;
	if (t > 2 * e && off(s, i, "TTFT", t, 0, t / (rest > 0 ? rest : e)))
		return true;
	return t < 2 && rest > 0.02 * e && off(s, i, "TTFT", t, rest / t, 0);
}

/* What no server does. */
static bool check_token(struct fit_sweep *s, uint32_t i, double token)
{
	if (token >= 0 && token < TOKEN_LEAST_MS)
		fit_warn(s, i, true,
		         "unit mix-up: %.4g ms a token is too short, it looks "
		         "like s labelled ms",
		         token);
	else if (token > TOKEN_MOST_MS && token < HUGE_VAL)
		fit_warn(s, i, true,
		         "unit mix-up: %.4g ms a token is too long, it looks "
		         "like us or ns labelled ms",
		         token);
	return s->row[i].refused;
}

/* All latencies in one wrong unit: only the clients, or nature, tell. */
static bool check_whole(struct fit_sweep *s, uint32_t i)
{
	const struct fit_row *row = &s->row[i];
	double e = fit_middle(&row->e2e), t = fit_middle(&row->ttft);
	double itl = fit_middle(&row->itl);
	double sum = isnan(e) ? t + (row->osl - 1) * itl : e;
	double share = row->achieved_rps * sum / 1000 / row->concurrency;
	double token =
		isnan(itl) ? (e - (isnan(t) ? 0 : t)) / (row->osl - 1) : itl;
	bool closed = row->load == FIT_CLOSED;

	/* Slow arrivals explain little in the system, if a token takes what a
	 * token takes. */
	if (closed && (isnan(itl) || itl < 5 * TOKEN_LEAST_MS) &&
	    off(s, i, isnan(e) ? "TTFT + (osl - 1) x ITL" : "E2E", sum,
	        1 / share, 0))
		return true;
	if (closed && off(s, i, isnan(e) ? "TTFT + (osl - 1) x ITL" : "E2E",
	                  sum, 0, share))
		return true;
	return check_token(s, i, token);
}

bool fit_check_units(struct fit_sweep *s, uint32_t row)
{
	const struct fit_row *r = &s->row[row];

	assert(row < s->n && !r->refused);
	return check_latency(s, row, "TTFT", &r->ttft) ||
	       check_latency(s, row, "ITL", &r->itl) ||
	       check_latency(s, row, "E2E", &r->e2e) || check_parts(s, row) ||
	       check_whole(s, row);
}
