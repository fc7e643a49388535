/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir fit, inside - what was read, fitted and predicted, and its writers. */
#ifndef WEIR_CLI_FIT_INT_H
#define WEIR_CLI_FIT_INT_H

#include "cli_int.h"
#include "fit/fit.h"

/* A sweep and what the simulator says of each of its rows. */
struct fit_side {
	struct fit_sweep sweep;
	struct fit_prediction *predicted; /* by row */
	uint32_t *curve;                  /* by row; UINT32_MAX: none */
};

struct fit_report {
	struct fit_side fitted, against;
	struct fit_group *group;
	struct fit_curve *curve; /* by group */
	bool *good;              /* by group: it has a curve */
	uint32_t n;
};

/* Mean absolute error over the rows of a curve (UINT32_MAX: of any), NAN
 * when there is none; *n their number. */
double fit_report_mape(const struct fit_side *side, uint32_t curve,
                       enum fit_metric metric, uint32_t *n);

/* fit_text.c */
void fit_text_report(FILE *to, const struct fit_report *r, bool against);
/* fit_files.c: JSON, the config revision, fit.csv and its chart. */
json_t *fit_json_report(const struct fit_report *r, bool against);
int fit_write_revision(const struct fit_report *r, const char *path,
                       struct err *e);
int fit_write_csv(const struct fit_report *r, const char *dir, struct err *e);
/* plot.c: draws DIR/fit.svg and .png. */
int plot_fit(const char *dir, const char *title, const struct options *o);

#endif
