/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir plot: gnuplot is told what a chart needs and loads its script. Files
 * are drawn under another name first and renamed when they are whole.
 */
#include "plot_int.h"
#include "fit_int.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct chart {
	const char *name; /* of the script and of the picture */
	void (*tell)(FILE *to, const struct plot_data *d,
	             const struct plot_endpoint *e);
};

static const struct chart charts[] = {
	{"share", plot_share},
	{"ttft", plot_ttft},
	{"replicas", plot_replicas},
	{"queue", plot_queue},
};

static bool exists(const char *dir, const char *name)
{
	char path[1200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, R_OK) == 0;
}

static void put_path(FILE *to, const char *variable, const char *dir,
                     const char *name)
{
	char path[1200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fprintf(to, "%s = ", variable);
	plot_quote(to, path);
	fputc('\n', to);
}

static void begin(FILE *to, const char *dir, const char *picture)
{
	char plots[1100];
	char part[300];

	places_shipped("plots", plots, sizeof(plots));
	snprintf(part, sizeof(part), ".%s", picture);
	put_path(to, "style", plots, "style.gp");
	put_path(to, "series", dir, "series.csv");
	put_path(to, "cells", dir, "cells.csv");
	put_path(to, "out", dir, part);
	put_path(to, "colours", plots, "colours.gp");
	fputs("load colours\n", to);
}

static void finish(FILE *to, const char *script)
{
	char plots[1100];
	char path[1200];

	places_shipped("plots", plots, sizeof(plots));
	snprintf(path, sizeof(path), "%s/%s.gp", plots, script);
	fputs("load ", to);
	plot_quote(to, path);
	fputc('\n', to);
}

/* Renames DIR/.PICTURE.{svg,png} to DIR/PICTURE.{svg,png}. */
static int settle(const char *dir, const char *picture, bool good,
                  const struct options *o)
{
	static const char *const kind[] = {"svg", "png"};
	char from[1400], to[1400];

	for (size_t i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/.%s.%s", dir, picture,
		         kind[i]);
		snprintf(to, sizeof(to), "%s/%s.%s", dir, picture, kind[i]);
		if (!good) {
			unlink(from);
			continue;
		}
		if (rename(from, to) != 0) {
			fprintf(stderr, "%s: %s\n", to, strerror(errno));
			return EXIT_MACHINE;
		}
		if (!o->quiet)
			printf("%s\n", to);
	}
	return good ? 0 : EXIT_MACHINE;
}

static int close_gnuplot(FILE *to, const char *dir, const char *picture,
                         const struct options *o)
{
	int status = pclose(to);

	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		fputs("weir: gnuplot is not installed: apt install "
		      "gnuplot-nox; the results are kept\n",
		      stderr);
		return EXIT_MACHINE;
	}
	if (status != 0)
		fprintf(stderr, "weir: gnuplot could not draw %s/%s\n", dir,
		        picture);
	return settle(dir, picture, status == 0, o);
}

static int draw(const struct plot_data *d, const struct plot_endpoint *e,
                const struct chart *chart, const struct options *o)
{
	char picture[200];
	FILE *to = popen("gnuplot", "w");

	if (d->n_endpoints > 1)
		snprintf(picture, sizeof(picture), "%s-%.64s", chart->name,
		         e->id);
	else
		snprintf(picture, sizeof(picture), "%s", chart->name);
	if (to == NULL) {
		fprintf(stderr, "weir: gnuplot: %s\n", strerror(errno));
		return EXIT_MACHINE;
	}
	begin(to, d->dir, picture);
	chart->tell(to, d, e);
	finish(to, chart->name);
	return close_gnuplot(to, d->dir, picture, o);
}

int plot_fit(const char *dir, const char *title, const struct options *o)
{
	FILE *to = popen("gnuplot", "w");

	if (to == NULL) {
		fprintf(stderr, "weir: gnuplot: %s\n", strerror(errno));
		return EXIT_MACHINE;
	}
	begin(to, dir, "fit");
	put_path(to, "fit", dir, "fit.csv");
	fputs("title = ", to);
	plot_quote(to, title);
	fputc('\n', to);
	finish(to, "fit");
	return close_gnuplot(to, dir, "fit", o);
}

static int draw_run(const char *dir, const struct options *o)
{
	struct plot_data d = {0};
	struct err e = {0};
	int wrong = 0;

	if (plot_read(&d, dir, &e) != 0)
		wrong = cli_wrong(&e);
	for (size_t k = 0; k < d.n_endpoints && !wrong; k++)
		for (size_t i = 0;
		     i < sizeof(charts) / sizeof(charts[0]) && !wrong; i++)
			wrong = draw(&d, &d.endpoint[k], &charts[i], o);
	plot_data_free(&d);
	return wrong;
}

/* ---- a grid ------------------------------------------------------------ */

/* What the chart of a grid needs to know of cells.csv. */
struct grid {
	size_t n;
	char axis[256];            /* its one axis, else "cell" */
	double tokens[2], ttft[2]; /* of the first and the last cell */
};

/* The field of that name in a row cut like the header; NAN: none. */
static double field_of(const char *header, const char *row, const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		size_t h = strcspn(header, ",\n");
		size_t r = strcspn(row, ",\n");

		if (h == len && strncmp(header, name, len) == 0)
			return r > 0 ? strtod(row, NULL) : (double)NAN;
		if (header[h] != ',' || row[r] != ',')
			return (double)NAN;
		header += h + 1;
		row += r + 1;
	}
}

/* The one axis of a grid is its second column, when replications follow. */
static void read_axis(struct grid *g, const char *header)
{
	const char *second = header + strcspn(header, ",");
	const char *third = second + (*second ? 1 : 0);
	size_t len = strcspn(third, ",");

	if (strncmp(third + len, ",replications,", 14) == 0)
		snprintf(g->axis, sizeof(g->axis), "%.*s", (int)len, third);
	else
		snprintf(g->axis, sizeof(g->axis), "cell");
}

static int look_at_cells(const char *dir, struct grid *g, struct err *e)
{
	char path[1200];
	char header[8192] = "";
	char row[8192];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cells.csv", dir);
	f = fopen(path, "r");
	if (f == NULL)
		return err_set(e, path, 0, 0, NULL, "%s", strerror(errno));
	if (fgets(header, sizeof(header), f))
		read_axis(g, header);
	while (fgets(row, sizeof(row), f)) {
		size_t at = g->n++ > 0;

		for (; at < 2; at++) {
			g->tokens[at] =
				field_of(header, row, "output_tokens_per_s");
			g->ttft[at] = field_of(header, row, "ttft_p95_ms");
		}
	}
	fclose(f);
	if (g->n == 0)
		return err_set(e, path, 0, 0, NULL, "holds no cells");
	return 0;
}

static int draw_cells(const char *dir, const struct options *o)
{
	struct grid g = {0};
	char title[200];
	struct err e = {0};
	FILE *to;

	if (look_at_cells(dir, &g, &e) != 0)
		return cli_wrong(&e);
	to = popen("gnuplot", "w");
	if (to == NULL) {
		fprintf(stderr, "weir: gnuplot: %s\n", strerror(errno));
		return EXIT_MACHINE;
	}
	begin(to, dir, "cells");
	snprintf(title, sizeof(title),
	         "%.4g to %.4g output tokens/s, first token p95 %.3g to %.3g "
	         "ms",
	         g.tokens[0], g.tokens[1], g.ttft[0], g.ttft[1]);
	fprintf(to, "n = %zu\ntitle = ", g.n);
	plot_quote(to, title);
	fputs("\naxis = ", to);
	plot_quote(to, g.axis);
	fputs("\nlabels = ", to);
	plot_quote(to, g.axis);
	fputc('\n', to);
	finish(to, "cells");
	return close_gnuplot(to, dir, "cells", o);
}

int verb_plot(const struct options *o)
{
	int wrong = 0;

	if (o->n_files == 0)
		return cli_usage("plot: a directory that run --dir left is "
		                 "missing");
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < o->n_files && !wrong; i++) {
		const char *dir = o->file[i];

		if (exists(dir, "cells.csv"))
			wrong = draw_cells(dir, o);
		else
			wrong = draw_run(dir, o);
	}
	return wrong;
}
