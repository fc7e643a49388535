/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What charts of the series are told before their script is loaded: a title
 * that is the answer, and a curve each by steps, one an interval, that have a
 * gap where an interval has no value.
 */
#include "plot_int.h"

#include <math.h>
#include <string.h>

enum { TITLE_NAME = 16 };

typedef double value_of(const struct plot_row *row);

static bool is_of(const struct plot_row *r, bool endpoint, const char *id)
{
	return r->endpoint == endpoint && strcmp(r->id, id) == 0;
}

/* A curve; a point below the chart where there is none, to keep its place. */
static void put_curve(FILE *to, const struct plot_data *d, bool endpoint,
                      const char *id, value_of *value)
{
	bool any = false;
	bool gap = false;

	for (size_t i = 0; i < d->n_rows; i++) {
		const struct plot_row *r = &d->row[i];
		double y;

		if (!is_of(r, endpoint, id))
			continue;
		y = value(r);
		if (!isfinite(y)) {
			gap = any;
			continue;
		}
		if (gap)
			fputc('\n', to);
		fprintf(to, "%.9g,%.9g\n%.9g,%.9g\n", r->from_s / 60, y,
		        r->to_s / 60, y);
		any = true;
		gap = false;
	}
	fputs(any ? "\n\n" : "0,-1\n\n\n", to);
}

struct range {
	double first, last, low, high;
	size_t n, infinite;
};

static struct range range_of(const struct plot_data *d, bool endpoint,
                             const char *id, value_of *value)
{
	struct range x = {NAN, NAN, INFINITY, -INFINITY, 0, 0};

	for (size_t i = 0; i < d->n_rows; i++) {
		double y;

		if (!is_of(&d->row[i], endpoint, id))
			continue;
		y = value(&d->row[i]);
		x.infinite += isinf(y) != 0;
		if (!isfinite(y))
			continue;
		if (x.n++ == 0)
			x.first = y;
		x.last = y;
		x.low = fmin(x.low, y);
		x.high = fmax(x.high, y);
	}
	return x;
}

/* ---- share ------------------------------------------------------------- */

static double share_of(const struct plot_row *r)
{
	return 100 * r->share;
}

static double expected_of(const struct plot_row *r)
{
	return 100 * r->expected_share;
}

static double gap_of(const struct plot_row *r)
{
	return r->share - r->expected_share;
}

/* Distance of the means of share and expected share, rows weighing alike. */
static double distance(const struct plot_data *d, const char *id)
{
	double sum = 0;
	double n = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		if (is_of(&d->row[i], false, id) &&
		    isfinite(gap_of(&d->row[i]))) {
			sum += gap_of(&d->row[i]);
			n++;
		}
	return n > 0 ? fabs(sum / n) : 0;
}

static void tell_share(struct plot_title *t, const struct range *x,
                       const char *name, bool first)
{
	char id[80];
	const char *comma = first ? "" : ",";
	bool same = fabs(x->first - x->last) < 0.5;

	plot_short(name, TITLE_NAME, id, sizeof(id));
	if (x->n == 0)
		plot_title_add(t, "%s %s nothing", comma, id);
	else if (fmin(x->first, x->last) > 1 && x->low == 0)
		plot_title_add(t, "%s %s %.0f, 0, %.0f %%%s", comma, id,
		               x->first, x->last, same ? " again" : "");
	else if (same && x->high > 99.5 && x->last < 95)
		plot_title_add(t, "%s %s %.0f, 100, %.0f %% again", comma, id,
		               x->first, x->last);
	else if (same)
		plot_title_add(t, "%s %s %.0f %%", comma, id, x->last);
	else
		plot_title_add(t, "%s %s %.0f to %.0f %%", comma, id, x->first,
		               x->last);
}

void plot_share(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e)
{
	struct plot_labels labels = {.n = 0};
	struct plot_title title = {.full = false};
	double worst = 0;
	size_t routed = 0;

	for (size_t i = 0; i < e->n_deployments; i++) {
		worst = fmax(worst, distance(d, e->deployment[i]));
		routed += range_of(d, false, e->deployment[i], share_of).n;
	}
	if (routed > 0)
		plot_title_add(&title, "Traffic %s:",
		               worst < 0.02 ? "follows capacity"
		                            : "departs from expected");
	else
		plot_title_add(&title, "No request reached a deployment");
	fputs("$curves << EOD\n", to);
	for (size_t i = 0; i < e->n_deployments; i++) {
		const char *id = e->deployment[i];
		struct range is = range_of(d, false, id, share_of);
		struct range due = range_of(d, false, id, expected_of);

		put_curve(to, d, false, id, share_of);
		put_curve(to, d, false, id, expected_of);
		plot_label_add(&labels, is.last, i + 1, "%s", id);
		if (routed > 0)
			tell_share(&title, &due, id, i == 0);
	}
	fputs("EOD\n", to);
	plot_title_dropped(&title, d, e);
	plot_put_frame(to, d, e, 115);
	plot_put_title(to, &title);
	plot_put_labels(to, d, &labels, 115);
}

/* ---- ttft -------------------------------------------------------------- */

static double p50_of(const struct plot_row *r)
{
	return r->ttft_ms[0];
}

static double p95_of(const struct plot_row *r)
{
	return r->ttft_ms[1];
}

static double p99_of(const struct plot_row *r)
{
	return r->ttft_ms[2];
}

static void show_most(const struct range *x, char *buf, size_t size)
{
	snprintf(buf, size, "inf");
	if (x->infinite == 0)
		show_count((uint64_t)(x->high + 0.5), buf, size);
}

void plot_ttft(FILE *to, const struct plot_data *d,
               const struct plot_endpoint *e)
{
	static const char *const name[] = {"p50", "p95", "p99"};
	static value_of *const value[] = {p50_of, p95_of, p99_of};
	struct plot_labels labels = {.n = 0};
	struct plot_title title = {.full = false};
	struct range x[3];
	char most[2][32];
	double top = 0;

	fputs("$curves << EOD\n", to);
	for (size_t k = 0; k < 3; k++) {
		put_curve(to, d, true, e->id, value[k]);
		x[k] = range_of(d, true, e->id, value[k]);
		top = fmax(top, 1.15 * x[k].high);
		if (x[k].n > 0)
			plot_label_add(&labels, x[k].last, k + 1, "%s",
			               name[k]);
	}
	fputs("EOD\n", to);
	top = top > 0 ? top : 1;
	show_most(&x[1], most[0], sizeof(most[0]));
	show_most(&x[2], most[1], sizeof(most[1]));
	if (x[1].n + x[1].infinite > 0)
		plot_title_add(&title,
		               "First token: p95 at most %s ms in any "
		               "interval, p99 %s ms",
		               most[0], most[1]);
	else
		plot_title_add(&title, "No request got a first token");
	plot_title_dropped(&title, d, e);
	plot_put_frame(to, d, e, top);
	plot_put_title(to, &title);
	plot_put_labels(to, d, &labels, top);
}

/* ---- queue ------------------------------------------------------------- */

static double queue_of(const struct plot_row *r)
{
	return r->queue;
}

static double batch_of(const struct plot_row *r)
{
	return r->batch;
}

void plot_queue(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e)
{
	struct plot_labels labels = {.n = 0};
	struct plot_title title = {.full = false};
	double queue = 0;
	double batch = 0;
	double top;

	fputs("$curves << EOD\n", to);
	for (size_t i = 0; i < e->n_deployments; i++) {
		const char *id = e->deployment[i];
		struct range run = range_of(d, false, id, batch_of);
		struct range wait = range_of(d, false, id, queue_of);
		char brief[80];

		put_curve(to, d, false, id, batch_of);
		put_curve(to, d, false, id, queue_of);
		batch = fmax(batch, run.high);
		queue = fmax(queue, wait.high);
		plot_short(id, 12, brief, sizeof(brief));
		plot_label_add(&labels, run.last, i + 1, "%s run", brief);
		if (wait.high > 0.05 * run.high)
			plot_label_add(&labels, wait.last, i + 1, "%s wait",
			               brief);
	}
	fputs("EOD\n", to);
	top = 1.15 * fmax(1, fmax(queue, batch));
	plot_title_add(&title,
	               "A deployment runs up to %.1f requests together, up to "
	               "%.1f wait (means of intervals)",
	               batch, queue);
	plot_put_frame(to, d, e, top);
	plot_put_title(to, &title);
	plot_put_labels(to, d, &labels, top);
}
