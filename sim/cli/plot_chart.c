/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each chart is told before its script is loaded: a title that is the
 * answer, labels at the ends of the curves, and the marks of events.
 */
#include "plot_int.h"

#include <math.h>
#include <string.h>

void plot_quote(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', to);
		fputc(*text, to);
	}
	fputc('\'', to);
}

void plot_spread(struct plot_label *label, size_t n, double gap)
{
	for (size_t i = 1; i < n; i++) {
		struct plot_label x = label[i];
		size_t k = i;

		for (; k > 0 && label[k - 1].y > x.y; k--)
			label[k] = label[k - 1];
		label[k] = x;
	}
	for (size_t i = 1; i < n; i++)
		if (label[i].y < label[i - 1].y + gap)
			label[i].y = label[i - 1].y + gap;
}

static void put_title(FILE *to, const char *title)
{
	fputs("title = ", to);
	plot_quote(to, title);
	fputc('\n', to);
}

static void put_who(FILE *to, const struct plot_data *d,
                    const struct plot_endpoint *e)
{
	fprintf(to, "xmax = %.9g\nendpoint = ", d->end_s / 60);
	plot_quote(to, e->id);
	fprintf(to, "\nn = %zu\narray ids[n]\n", e->n_deployments);
	for (size_t i = 0; i < e->n_deployments; i++) {
		fprintf(to, "ids[%zu] = ", i + 1);
		plot_quote(to, e->deployment[i]);
		fputc('\n', to);
	}
}

/* Marks that stand close to the one before lose their word to it. */
static void put_marks(FILE *to, const struct plot_data *d)
{
	double last = -INFINITY;
	int row = 0;

	for (size_t i = 0; i < d->n_marks; i++) {
		double x = d->mark[i].at_s / 60;

		if (d->mark[i].at_s == 0)
			continue;
		row = x - last < 0.12 * d->end_s / 60 ? (row + 1) % 4 : 0;
		last = x;
		fprintf(to,
		        "set arrow from first %.9g, graph 0 to first %.9g, "
		        "graph 1 nohead lc rgb '#999999' lw 0.8 back\n"
		        "set label at first %.9g, graph %.3g noenhanced "
		        "textcolor rgb '#555555' font ',12' offset 0.4,0 ",
		        x, x, x, 0.97 - 0.05 * row);
		plot_quote(to, d->mark[i].word);
		fputc('\n', to);
	}
}

static void put_labels(FILE *to, const struct plot_data *d,
                       struct plot_label *label, size_t n, double top)
{
	plot_spread(label, n, 0.055 * top);
	for (size_t i = 0; i < n; i++) {
		fprintf(to,
		        "set label at first %.9g, first %.9g noenhanced "
		        "textcolor lt %zu offset 0.7,0 ",
		        d->end_s / 60, label[i].y, label[i].line);
		plot_quote(to, label[i].text);
		fputc('\n', to);
	}
}

/* First and last row of a deployment. */
static void ends(const struct plot_data *d, const char *id,
                 const struct plot_row **first, const struct plot_row **last)
{
	*first = *last = NULL;
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct plot_row *r = &d->row[i];

		if (r->endpoint || strcmp(r->id, id) != 0)
			continue;
		if (*first == NULL)
			*first = r;
		*last = r;
	}
}

static double nan_as_0(double value)
{
	return isfinite(value) ? value : 0;
}

/* ---- share ------------------------------------------------------------- */

/* Mean distance between share and expected share, weighing rows alike. */
static double distance(const struct plot_data *d, const char *id)
{
	double sum = 0;
	double n = 0;

	for (size_t i = 0; i < d->n_rows; i++) {
		const struct plot_row *r = &d->row[i];

		if (r->endpoint || strcmp(r->id, id) != 0 ||
		    !isfinite(r->share) || !isfinite(r->expected_share))
			continue;
		sum += r->share - r->expected_share;
		n++;
	}
	return n > 0 ? fabs(sum / n) : 0;
}

void plot_share(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e)
{
	struct plot_label label[16];
	char title[256];
	size_t n = e->n_deployments < 16 ? e->n_deployments : 16;
	size_t at;
	double worst = 0;

	for (size_t i = 0; i < n; i++)
		worst = fmax(worst, distance(d, e->deployment[i]));
	at = (size_t)snprintf(title, sizeof(title), "Traffic %s capacity:",
	                      worst < 0.02 ? "follows" : "departs from");
	for (size_t i = 0; i < n; i++) {
		const struct plot_row *first, *last;
		double was, is;

		ends(d, e->deployment[i], &first, &last);
		was = first ? 100 * nan_as_0(first->expected_share) : 0;
		is = last ? 100 * nan_as_0(last->expected_share) : 0;
		snprintf(label[i].text, sizeof(label[i].text), "%s",
		         e->deployment[i]);
		label[i].y = last ? 100 * nan_as_0(last->share) : 0;
		label[i].line = i + 1;
		if (at >= sizeof(title) || i >= 4)
			continue;
		at += (size_t)snprintf(title + at, sizeof(title) - at,
		                       fabs(was - is) < 0.5
		                               ? "%s %s %.0f %%"
		                               : "%s %s %.0f to %.0f %%",
		                       i ? "," : "", e->deployment[i], was, is);
	}
	put_who(to, d, e);
	put_title(to, title);
	put_marks(to, d);
	put_labels(to, d, label, n, 100);
}

/* ---- ttft -------------------------------------------------------------- */

void plot_ttft(FILE *to, const struct plot_data *d,
               const struct plot_endpoint *e)
{
	static const char *const name[] = {"p50", "p95", "p99"};
	struct plot_label label[3] = {{{0}, 0, 0}};
	char title[256];
	double worst[3] = {0, 0, 0};
	double top;

	for (size_t i = 0; i < d->n_rows; i++) {
		const struct plot_row *r = &d->row[i];

		if (!r->endpoint || strcmp(r->id, e->id) != 0)
			continue;
		for (size_t k = 0; k < 3; k++) {
			if (!isfinite(r->ttft_ms[k]))
				continue;
			worst[k] = fmax(worst[k], r->ttft_ms[k]);
			label[k].y = r->ttft_ms[k];
		}
	}
	for (size_t k = 0; k < 3; k++) {
		snprintf(label[k].text, sizeof(label[k].text), "%s", name[k]);
		label[k].line = k + 1;
	}
	top = worst[2] > 0 ? 1.15 * worst[2] : 1;
	snprintf(
		title, sizeof(title),
		"First token: p95 at most %.0f ms in any interval, p99 %.0f ms",
		worst[1], worst[2]);
	put_who(to, d, e);
	put_title(to, title);
	fprintf(to, "ymax = %.9g\n", top);
	put_marks(to, d);
	put_labels(to, d, label, 3, top);
}

/* ---- replicas ---------------------------------------------------------- */

void plot_replicas(FILE *to, const struct plot_data *d,
                   const struct plot_endpoint *e)
{
	struct plot_label label[16];
	char title[256] = "Ready replicas:";
	size_t at = strlen(title);
	size_t n = e->n_deployments < 16 ? e->n_deployments : 16;
	double most = 1;

	for (size_t i = 0; i < d->n_rows; i++)
		if (!d->row[i].endpoint)
			most = fmax(most, fmax(nan_as_0(d->row[i].ready),
			                       nan_as_0(d->row[i].wanted)));
	for (size_t i = 0; i < n; i++) {
		const struct plot_row *first, *last;
		double was, is;

		ends(d, e->deployment[i], &first, &last);
		was = first ? nan_as_0(first->ready) : 0;
		is = last ? nan_as_0(last->ready) : 0;
		snprintf(label[i].text, sizeof(label[i].text), "%s",
		         e->deployment[i]);
		label[i].y = is;
		label[i].line = i + 1;
		if (at >= sizeof(title) || i >= 4)
			continue;
		at += (size_t)snprintf(title + at, sizeof(title) - at,
		                       was == is ? "%s %s stays at %.0f"
		                                 : "%s %s from %.0f to %.0f",
		                       i ? "," : "", e->deployment[i], was, is);
	}
	put_who(to, d, e);
	put_title(to, title);
	fprintf(to, "ymax = %.9g\nystep = %.0f\n", 1.25 * most, ceil(most / 8));
	put_marks(to, d);
	put_labels(to, d, label, n, 1.25 * most);
}

/* ---- queue ------------------------------------------------------------- */

void plot_queue(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e)
{
	struct plot_label label[32];
	char title[256];
	size_t n = 0;
	double queue = 0;
	double batch = 0;
	double top;

	for (size_t i = 0; i < d->n_rows; i++) {
		if (d->row[i].endpoint)
			continue;
		queue = fmax(queue, nan_as_0(d->row[i].queue));
		batch = fmax(batch, nan_as_0(d->row[i].batch));
	}
	for (size_t i = 0; i < e->n_deployments && n < 30; i++) {
		const struct plot_row *first, *last;

		ends(d, e->deployment[i], &first, &last);
		snprintf(label[n].text, sizeof(label[n].text), "%s run",
		         e->deployment[i]);
		label[n].y = last ? nan_as_0(last->batch) : 0;
		label[n++].line = i + 1;
		snprintf(label[n].text, sizeof(label[n].text), "%s wait",
		         e->deployment[i]);
		label[n].y = last ? nan_as_0(last->queue) : 0;
		label[n++].line = i + 1;
	}
	top = 1.15 * fmax(1, fmax(queue, batch));
	snprintf(title, sizeof(title),
	         "A deployment runs up to %.1f requests together, up to %.1f "
	         "wait (means of intervals)",
	         batch, queue);
	put_who(to, d, e);
	put_title(to, title);
	fprintf(to, "ymax = %.9g\n", top);
	put_marks(to, d);
	put_labels(to, d, label, n, top);
}
