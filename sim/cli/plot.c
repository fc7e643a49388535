/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir plot: gnuplot is told what a chart needs and loads its script. Files
 * are drawn under another name first and renamed when they are whole.
 */
#include "fit_int.h"
#include "plot_int.h"

#include <errno.h>
#include <signal.h>
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
	plot_put_text(to, variable, path);
}

static void begin(FILE *to, const char *dir, const char *picture)
{
	char plots[1100];
	char part[300];

	places_shipped("plots", plots, sizeof(plots));
	snprintf(part, sizeof(part), ".%s", picture);
	put_path(to, "style", plots, "style.gp");
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
		if (!outfile_replaceable(to)) {
			fprintf(stderr, "%s: is no regular file\n", to);
			unlink(from);
			good = false;
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
	char word[65];
	FILE *to = popen("gnuplot", "w");

	if (d->n_endpoints > 1)
		snprintf(picture, sizeof(picture), "%s-%s", chart->name,
		         outdir_word(e->id, word, sizeof(word)));
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

static bool scripts_are_there(void)
{
	struct err e = {0};

	if (places_check("plots", &e) == 0)
		return true;
	cli_wrong(&e);
	return false;
}

int plot_fit(const char *dir, const char *title, const struct options *o)
{
	FILE *to;

	if (!scripts_are_there())
		return EXIT_MACHINE;
	to = popen("gnuplot", "w");
	if (to == NULL) {
		fprintf(stderr, "weir: gnuplot: %s\n", strerror(errno));
		return EXIT_MACHINE;
	}
	begin(to, dir, "fit");
	put_path(to, "fit", dir, "fit.csv");
	plot_put_text(to, "title", title);
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

static int draw_cells(const char *dir, const struct options *o)
{
	struct err e = {0};
	FILE *to = popen("gnuplot", "w");

	if (to == NULL) {
		fprintf(stderr, "weir: gnuplot: %s\n", strerror(errno));
		return EXIT_MACHINE;
	}
	begin(to, dir, "cells");
	if (plot_cells(to, dir, &e) != 0) {
		pclose(to);
		return cli_wrong(&e);
	}
	finish(to, "cells");
	return close_gnuplot(to, dir, "cells", o);
}

static int draw_any(const char *dir, const struct options *o)
{
	if (access(dir, R_OK) != 0)
		return cli_usage("%s: %s", dir, strerror(errno));
	if (exists(dir, "cells.csv"))
		return draw_cells(dir, o);
	if (exists(dir, "summary.json"))
		return draw_run(dir, o);
	return cli_usage("%s: holds no results; weir run SCENARIO --dir DIR "
	                 "leaves some",
	                 dir);
}

int verb_plot(const struct options *o)
{
	int wrong = 0;

	if (o->n_files == 0)
		return cli_usage("plot: a directory that run --dir left is "
		                 "missing");
	if (!scripts_are_there())
		return EXIT_MACHINE;
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < o->n_files && !wrong; i++)
		wrong = draw_any(o->file[i], o);
	return wrong;
}
