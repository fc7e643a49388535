/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replicas change at events, not at ends of intervals: the curves are drawn
 * from events.jsonl, at their exact times.
 */
#include "plot_int.h"

#include <math.h>
#include <string.h>

enum { TITLE_NAME = 16 };

/* How many there were, from its first to its last moment. */
struct life {
	double first, last, low, high;
	bool lost;
};

/* Wanted before the first event: what the first change came from. */
static double wanted_at_start(const struct plot_data *d, const char *id)
{
	double wanted = 0;

	for (size_t i = 0; i < d->n_steps; i++)
		if (strcmp(d->step[i].deployment, id) == 0 &&
		    isfinite(d->step[i].was_wanted))
			return d->step[i].was_wanted;
	for (size_t i = 0; i < d->n_rows; i++)
		if (!d->row[i].endpoint && strcmp(d->row[i].id, id) == 0)
			wanted = d->row[i].wanted;
	return isfinite(wanted) ? wanted : 0;
}

/* At a change for less, those that serve go only when no others are left. */
static double ready_after(const struct plot_step *s, double ready)
{
	if (isfinite(s->ready))
		return s->ready;
	return isfinite(s->wanted) ? fmin(ready, s->wanted) : ready;
}

static double wanted_after(const struct plot_step *s, double wanted)
{
	return isfinite(s->wanted) ? s->wanted : wanted;
}

static void put_point(FILE *to, double at_s, double y)
{
	fprintf(to, "%.9g,%.9g\n", at_s / 60, y);
}

static struct life put_steps(FILE *to, const struct plot_data *d,
                             const char *id, double now,
                             double after(const struct plot_step *, double))
{
	struct life x = {NAN, now, INFINITY, -INFINITY, false};

	for (size_t i = 0; i < d->n_steps; i++) {
		const struct plot_step *s = &d->step[i];

		if (strcmp(s->deployment, id) != 0)
			continue;
		if (s->at_s > 0 && isnan(x.first)) {
			x.first = x.low = x.high = now;
			put_point(to, 0, now);
		}
		if (s->at_s > 0)
			put_point(to, s->at_s, now);
		now = after(s, now);
		x.lost |= s->lost;
		if (s->at_s > 0) {
			put_point(to, s->at_s, now);
			x.low = fmin(x.low, now);
			x.high = fmax(x.high, now);
		}
	}
	if (isnan(x.first)) {
		x.first = x.low = x.high = now;
		put_point(to, 0, now);
	}
	put_point(to, d->end_s, now);
	fputs("\n\n", to);
	x.last = now;
	return x;
}

static void tell(struct plot_title *t, const struct life *x, const char *name,
                 bool first)
{
	char id[80];
	const char *comma = first ? "" : ",";

	plot_short(name, TITLE_NAME, id, sizeof(id));
	if (x->low == x->high)
		plot_title_add(t, "%s %s stays at %.0f", comma, id, x->last);
	else if (x->low < fmin(x->first, x->last) && x->low == 0)
		plot_title_add(t, "%s %s %.0f, %s, %.0f%s", comma, id, x->first,
		               x->lost ? "lost" : "none", x->last,
		               x->first == x->last ? " again" : "");
	else if (x->low < fmin(x->first, x->last))
		plot_title_add(t, "%s %s %.0f, down to %.0f, %.0f%s", comma, id,
		               x->first, x->low, x->last,
		               x->first == x->last ? " again" : "");
	else if (x->high > fmax(x->first, x->last))
		plot_title_add(t, "%s %s %.0f, up to %.0f, %.0f%s", comma, id,
		               x->first, x->high, x->last,
		               x->first == x->last ? " again" : "");
	else
		plot_title_add(t, "%s %s from %.0f to %.0f", comma, id,
		               x->first, x->last);
}

void plot_replicas(FILE *to, const struct plot_data *d,
                   const struct plot_endpoint *e)
{
	struct plot_labels labels = {.n = 0};
	struct plot_title title = {.full = false};
	double most = 1;

	plot_title_add(&title, "Ready replicas:");
	fputs("$curves << EOD\n", to);
	for (size_t i = 0; i < e->n_deployments; i++) {
		const char *id = e->deployment[i];
		struct life ready = put_steps(to, d, id, 0, ready_after);
		struct life wanted = put_steps(
			to, d, id, wanted_at_start(d, id), wanted_after);

		most = fmax(most, fmax(ready.high, wanted.high));
		plot_label_add(&labels, ready.last, i + 1, "%s", id);
		tell(&title, &ready, id, i == 0);
	}
	fputs("EOD\n", to);
	fprintf(to, "ystep = %.0f\n", ceil(most / 8));
	plot_put_frame(to, d, e, 1.4 * most);
	plot_put_title(to, &title);
	plot_put_labels(to, d, &labels, 1.4 * most);
}
