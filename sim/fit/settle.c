/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is done to every row, whatever tool wrote it: hints where the file
 * says nothing, Little's law, and a look at whether the numbers can be true.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "fit/read_int.h"

double fit_middle(const struct fit_latency *l)
{
	return isnan(l->mean) ? l->p50 : l->mean;
}

int fit_lengths_needed(struct fit_reading *r, const char *tool)
{
	assert(r != NULL && tool != NULL);
	if (r->hints->isl > 0 && r->hints->osl > 0)
		return 0;
	return err_set(r->e, r->in->path, 0, 0, NULL,
	               "%s counts no tokens: give the lengths of its requests "
	               "by --isl and --osl",
	               tool);
}

static void fill(double *value, double hint)
{
	if (isnan(*value) && hint > 0)
		*value = hint;
}

static void take_hints(struct fit_row *row, const struct fit_hints *h)
{
	fill(&row->isl, h->isl);
	fill(&row->osl, h->osl);
	if (row->load == FIT_CLOSED || row->load == FIT_STATIC_BATCH)
		fill(&row->concurrency, h->concurrency);
	if (row->num_gpus == 0)
		row->num_gpus = h->num_gpus;
	if (row->tp == 0)
		row->tp = h->tp;
}

/* "max_num_seqs=128", "--max-num-seqs 128" in a text: the server's limit. */
static uint32_t max_num_seqs(const char *text)
{
	static const char *const name[] = {"max_num_seqs", "max-num-seqs"};
	const char *at;
	uint32_t n = 0;

	for (size_t i = 0; i < FIT_COUNT(name); i++) {
		at = strstr(text, name[i]);
		if (at == NULL)
			continue;
		at += strlen(name[i]);
		at += strspn(at, "= ");
		while (*at >= '0' && *at <= '9' && n < 1000000)
			n = 10 * n + (uint32_t)(*at++ - '0');
		if (n > 0)
			return n;
	}
	return 0;
}

/* What cannot be: an error with the row's place. */
static int check_zero(struct fit_reading *r, const struct fit_row *row)
{
	const struct {
		const char *name;
		double value;
	} positive[] = {
		{"concurrency", row->concurrency},
		{"offered_rps", row->offered_rps},
		{"isl", row->isl},
		{"osl", row->osl},
	};

	for (size_t i = 0; i < FIT_COUNT(positive); i++)
		if (positive[i].value <= 0)
			return err_set(r->e, r->in->path, (int)row->line, 0,
			               positive[i].name,
			               "must be above 0, not %g",
			               positive[i].value);
	return 0;
}

static void compute_l(struct fit_sweep *s, uint32_t i)
{
	struct fit_row *row = &s->row[i];
	double said = row->littles_l;
	double l = row->achieved_rps * fit_middle(&row->e2e) / 1000;

	/* A batch has no arrivals, and a burst no steady state. */
	if (isnan(l) || row->load == FIT_STATIC_BATCH || row->load == FIT_BURST)
		return;
	row->littles_l = l;
	if (isnan(row->e2e.mean))
		fit_warn(s, i, false,
		         "no mean E2E: in Little's law its median stands for "
		         "it");
	if (!isnan(said) && fabs(said - l) > 0.05 * fmax(said, l))
		fit_warn(s, i, false,
		         "the file says %.4g in the system, rate x E2E is "
		         "%.4g/s x %.5g ms = %.4g",
		         said, row->achieved_rps, fit_middle(&row->e2e), l);
}

/* Closed loops: as many in the system as there are clients. */
static void check_clients(struct fit_sweep *s, uint32_t i)
{
	const struct fit_row *row = &s->row[i];
	double c = row->concurrency, l = row->littles_l;
	double e2e = fit_middle(&row->e2e);

	if (row->load != FIT_CLOSED || isnan(l) || isnan(e2e))
		return;
	if (isnan(c))
		fit_warn(s, i, false,
		         "the file does not say how many clients "
		         "(--concurrency does): %.4g were in the system",
		         l);
	else if (l > 2 * c)
		fit_warn(s, i, true,
		         "%.4g/s x %.5g ms = %.4g in the system of %g clients: "
		         "rate or E2E is not what it is called",
		         row->achieved_rps, e2e, l, c);
	else if (l > 1.1 * c)
		fit_warn(s, i, false,
		         "%.4g/s x %.5g ms = %.4g in the system, more than its "
		         "%g clients",
		         row->achieved_rps, e2e, l, c);
	else if (l < 0.95 * c && row->n_requests < 10 * c &&
	         l > c - c * c / row->n_requests)
		fit_warn(s, i, false,
		         "%.4g/s x %.5g ms = %.4g in the system, not %g: with "
		         "%g requests the start and the end weigh",
		         row->achieved_rps, e2e, l, c, row->n_requests);
	else if (l < 0.9 * c)
		fit_warn(s, i, false,
		         "client-limited: %.4g/s x %.5g ms = %.4g in the "
		         "system, not %g",
		         row->achieved_rps, e2e, l, c);
}

static void check_rate(struct fit_sweep *s, uint32_t i)
{
	const struct fit_row *row = &s->row[i];
	double tokens = row->achieved_rps * row->osl;
	bool open =
		row->load == FIT_OPEN_CONSTANT || row->load == FIT_OPEN_POISSON;

	if (open && row->achieved_rps < 0.9 * row->offered_rps)
		fit_warn(s, i, false,
		         "saturated, or held back by its client: %.4g/s of "
		         "%.4g/s were answered",
		         row->achieved_rps, row->offered_rps);
	if (!isnan(tokens) && fabs(row->out_tok_s / tokens - 1) > 0.15)
		fit_warn(s, i, false,
		         "%.5g output tokens a second are not %.4g/s x %.4g "
		         "tokens = %.5g",
		         row->out_tok_s, row->achieved_rps, row->osl, tokens);
}

/* E2E = TTFT + (osl - 1) x ITL; else the ITL is of chunks, not of tokens. */
static void check_chunks(struct fit_sweep *s, uint32_t i)
{
	struct fit_row *row = &s->row[i];
	double per_token, was = row->itl.mean, ratio;

	if (isnan(row->e2e.mean) || isnan(row->ttft.mean) || isnan(was) ||
	    !(row->osl >= 4) || was <= 0)
		return;
	per_token = (row->e2e.mean - row->ttft.mean) / (row->osl - 1);
	ratio = per_token / was;
	if (ratio > 1.7 || (ratio > 0 && ratio < 0.6)) {
		row->itl = (struct fit_latency){per_token, (double)NAN,
		                                (double)NAN, (double)NAN,
		                                (double)NAN};
		fit_warn(s, i, false,
		         "ITL of %.4g ms is a chunk's, not a token's: (E2E - "
		         "TTFT) / (osl - 1) = %.4g ms is taken",
		         was, per_token);
	} else if (fabs(ratio - 1) > 0.15) {
		fit_warn(s, i, false,
		         "E2E of %.5g ms is not TTFT + (osl - 1) x ITL = "
		         "%.5g ms",
		         row->e2e.mean, row->ttft.mean + (row->osl - 1) * was);
	}
}

static bool same_number(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

static bool same_latency(const struct fit_latency *a,
                         const struct fit_latency *b)
{
	return same_number(a->mean, b->mean) && same_number(a->p50, b->p50) &&
	       same_number(a->p90, b->p90) && same_number(a->p95, b->p95) &&
	       same_number(a->p99, b->p99);
}

/* The same point with the same measurements, to the last digit. */
static bool same_row(const struct fit_row *a, const struct fit_row *b)
{
	return same_number(a->achieved_rps, b->achieved_rps) &&
	       same_number(a->out_tok_s, b->out_tok_s) &&
	       same_latency(&a->ttft, &b->ttft) &&
	       same_latency(&a->itl, &b->itl) &&
	       same_latency(&a->e2e, &b->e2e) && a->load == b->load &&
	       same_number(a->concurrency, b->concurrency) &&
	       same_number(a->offered_rps, b->offered_rps) &&
	       same_number(a->isl, b->isl) && same_number(a->osl, b->osl) &&
	       a->num_gpus == b->num_gpus && a->tp == b->tp &&
	       strcmp(a->model, b->model) == 0 &&
	       strcmp(a->precision, b->precision) == 0 &&
	       strcmp(a->gpu, b->gpu) == 0 &&
	       strcmp(a->engine, b->engine) == 0 &&
	       strcmp(a->engine_version, b->engine_version) == 0 &&
	       strcmp(a->variant, b->variant) == 0;
}

static void check_duplicate(struct fit_sweep *s, uint32_t i)
{
	const struct fit_row *row = s->row;

	for (uint32_t k = 0; k < i; k++) {
		if (!same_row(&row[k], &row[i]))
			continue;
		if (row[k].line > 0)
			fit_warn(s, i, true,
			         "the same measurement as %.150s:%u: counted "
			         "once",
			         row[k].file, row[k].line);
		else
			fit_warn(s, i, true,
			         "the same measurement as %.150s: counted once",
			         row[k].file);
		return;
	}
}

static void check_empty(struct fit_sweep *s, uint32_t i)
{
	const struct fit_row *row = &s->row[i];

	if (row->n_requests <= 0 || row->achieved_rps <= 0)
		fit_warn(s, i, true, "no request was completed");
	else if (isnan(row->achieved_rps) && isnan(row->out_tok_s) &&
	         isnan(fit_middle(&row->ttft)) &&
	         isnan(fit_middle(&row->itl)) && isnan(fit_middle(&row->e2e)))
		fit_warn(s, i, true, "nothing was measured");
}

int fit_settle(struct fit_reading *r, uint32_t first)
{
	struct fit_sweep *s = r->sweep;

	assert(first <= s->n);
	for (uint32_t i = first; i < s->n; i++) {
		take_hints(&s->row[i], r->hints);
		if (check_zero(r, &s->row[i]) < 0)
			return -1;
		if (s->row[i].max_num_seqs == 0)
			s->row[i].max_num_seqs =
				max_num_seqs(s->row[i].variant);
		check_duplicate(s, i);
		check_empty(s, i);
		if (s->row[i].refused)
			continue;
		compute_l(s, i);
		if (fit_check_units(s, i))
			continue;
		check_clients(s, i);
		check_rate(s, i);
		check_chunks(s, i);
	}
	return 0;
}
