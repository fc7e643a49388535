/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result directory as charts need it: who is in it, its events, and the
 * numbers of series.csv that curves, titles and labels are made of.
 */
#ifndef WEIR_PLOT_INT_H
#define WEIR_PLOT_INT_H

#include "cli_int.h"

/* One row of series.csv, replication 0. NAN where the field is empty. */
struct plot_row {
	double from_s, to_s;
	bool endpoint; /* else a deployment */
	const char *id;
	double arrived;
	double rejected, timed_out, failed;
	double share, expected_share; /* NAN when nothing was routed */
	double ttft_ms[3];            /* p50, p95, p99 */
	double queue, batch, wanted;
};

struct plot_mark {
	double at_s;
	const char *deployment; /* NULL: of the endpoint */
	const char *word;
};

/* A change of a deployment's replicas, at its exact time. */
struct plot_step {
	double at_s;
	const char *deployment;
	double ready, wanted; /* NAN: as before */
	double was_wanted;    /* NAN: does not say */
	bool lost;            /* by a crash */
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
	struct plot_step *step;
	size_t n_steps;
};

/* plot_data.c: reads summary.json, series.csv and events.jsonl of DIR. */
int plot_read(struct plot_data *d, const char *dir, struct err *e);
void plot_data_free(struct plot_data *d);
/* plot_events.c: the part of events.jsonl. */
int plot_read_events(struct plot_data *d, struct err *e);
bool plot_has(const struct plot_endpoint *e, const char *deployment);
/* Cuts a CSV line at its commas, in place; returns how many fields. */
size_t plot_cut(char *line, char **field, size_t most);
/* A field as a number: NAN when empty or none. */
double plot_number(const char *text);

/* A curve's label: at its last value, moved apart from the others. */
struct plot_label {
	char text[80];
	double y;
	size_t line; /* linetype, from 1; 0: none */
};

enum { PLOT_LABELS = 8 };

struct plot_labels {
	struct plot_label label[PLOT_LABELS + 1];
	size_t n, more;
};

/* A title that grows by parts until it is as wide as the picture. */
struct plot_title {
	char text[400];
	bool full;
};

/* plot_frame.c: what every chart needs. */
/* At most so many characters of text: of a longer one, an ellipsis between
 * its two ends, since names tend to differ at the end. Returns buf. */
const char *plot_short(const char *text, size_t most, char *buf, size_t size);
/* A string as gnuplot reads it. */
void plot_quote(FILE *to, const char *text);
void plot_put_text(FILE *to, const char *variable, const char *text);
void plot_title_add(struct plot_title *t, const char *fmt, ...)
	BASE_PRINTF(2, 3);
/* The end of a title: what clients were refused or lost. */
void plot_title_dropped(struct plot_title *t, const struct plot_data *d,
                        const struct plot_endpoint *e);
/* Adds a label, or counts it when there are many; NAN: adds nothing. */
void plot_label_add(struct plot_labels *l, double y, size_t line,
                    const char *fmt, ...) BASE_PRINTF(4, 5);
/* Title, width, marks and labels; `top` is the chart's largest y. */
void plot_put_frame(FILE *to, const struct plot_data *d,
                    const struct plot_endpoint *e, double top);
void plot_put_title(FILE *to, const struct plot_title *t);
void plot_put_labels(FILE *to, const struct plot_data *d, struct plot_labels *l,
                     double top);

/* plot_chart.c, plot_replicas.c: what a script is told before it is loaded. */
void plot_share(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e);
void plot_ttft(FILE *to, const struct plot_data *d,
               const struct plot_endpoint *e);
void plot_replicas(FILE *to, const struct plot_data *d,
                   const struct plot_endpoint *e);
void plot_queue(FILE *to, const struct plot_data *d,
                const struct plot_endpoint *e);
/* plot_cells.c: the same of a grid. 0 or -1 with *e. */
int plot_cells(FILE *to, const char *dir, struct err *e);

#endif
