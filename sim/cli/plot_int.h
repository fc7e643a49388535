/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result directory as charts need it: who is in it, its events, and the
 * few numbers of series.csv that titles and labels are made of.
 */
#ifndef WEIR_PLOT_INT_H
#define WEIR_PLOT_INT_H

#include "cli_int.h"

/* One row of series.csv, replication 0. NAN where the field is empty. */
struct plot_row {
	double to_s;
	bool endpoint; /* else a deployment */
	const char *id;
	double share, expected_share;
	double ttft_ms[3]; /* p50, p95, p99 */
	double queue, batch, ready, wanted;
};

struct plot_mark {
	double at_s;
	const char *word;
};

struct plot_endpoint {
	const char *id;
	const char **deployment;
	size_t n_deployments;
};

struct plot_data {
	struct arena arena;
	const char *dir;
	double end_s;
	struct plot_endpoint *endpoint;
	size_t n_endpoints;
	struct plot_row *row;
	size_t n_rows;
	struct plot_mark *mark;
	size_t n_marks;
};

/* Reads summary.json, series.csv and events.jsonl of DIR. */
int plot_read(struct plot_data *d, const char *dir, struct err *e);
void plot_data_free(struct plot_data *d);

/* A curve's label: at its last value, moved apart from the others. */
struct plot_label {
	char text[80];
	double y;
	size_t line; /* linetype, from 1 */
};

/* Moves labels (n of them) at least `gap` apart, in the order of y. */
void plot_spread(struct plot_label *label, size_t n, double gap);

/* Writes what a script needs to know before it is loaded. */
void plot_share(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e);
void plot_ttft(FILE *to, const struct plot_data *d,
               const struct plot_endpoint *e);
void plot_replicas(FILE *to, const struct plot_data *d,
                   const struct plot_endpoint *e);
void plot_queue(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e);
/* A string as gnuplot reads it. */
void plot_quote(FILE *to, const char *text);

#endif
