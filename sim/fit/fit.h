/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit - from measured sweeps to batching curves, and back to predictions.
 *
 * A sweep is a list of load points, read from weir's own CSV or from the
 * result files of load testers. Points are checked by Little's law (achieved
 * rate x mean E2E is the real number in the system) before a curve is fitted
 * to them by least squares; a prediction of a point is made by running the
 * simulator on it, never by the formula that was fitted.
 *
 * What it does not do: print, or guess what a file does not say.
 */
#ifndef WEIR_FIT_H
#define WEIR_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "endpoint/endpoint.h"
#include "replica/replica.h"

/* ---- sweeps ------------------------------------------------------------ */

enum fit_load {
	FIT_CLOSED,        /* so many clients */
	FIT_OPEN_CONSTANT, /* evenly spaced */
	FIT_OPEN_POISSON,
	FIT_STATIC_BATCH, /* one batch, no arrivals: shape only */
	FIT_BURST,        /* all at once: capacity only */
};

/* Mean and percentiles of a latency in ms; NAN where not published. */
struct fit_latency {
	double mean, p50, p90, p95, p99;
};

/* One load point. Numbers are NAN, texts "" where the file says nothing. */
struct fit_row {
	char model[96], precision[32], gpu[48], engine[32], engine_version[32];
	char flag[96], variant[128];
	double params_b;
	uint32_t num_gpus, tp; /* 0: not said */
	double isl, osl;       /* tokens a request, mean */
	enum fit_load load;
	double concurrency;
	double offered_rps, achieved_rps;
	double out_tok_s;
	struct fit_latency ttft, itl, e2e;
	double n_requests;
	double littles_l; /* achieved_rps x mean E2E */
	char file[256];
	uint32_t line; /* in file, 0: not a file of lines */
	uint32_t max_num_seqs; /* of the server, 0: not said */
};

enum { FIT_WARNINGS_MAX = 256 };

/* One remark on a file or a row: why it is not trusted, or not used. */
struct fit_warning {
	uint32_t row; /* UINT32_MAX: the whole file */
	bool refused; /* the row is left out */
	char text[256];
};

struct fit_sweep {
	struct arena arena; /* owns rows and warnings */
	struct fit_row *row;
	uint32_t n, capacity;
	struct fit_warning *warning;
	uint32_t n_warnings;
	char format[48]; /* of the last file read, by its tool's name */
};

void fit_sweep_init(struct fit_sweep *s);
void fit_sweep_fini(struct fit_sweep *s);
/* A row of NANs and empty texts, added to the sweep. */
struct fit_row *fit_row_add(struct fit_sweep *s);
void fit_warn(struct fit_sweep *s, uint32_t row, bool refused,
              const char *fmt, ...) BASE_PRINTF(4, 5);

/* What the user says where a file does not: lengths, GPUs; NAN or 0. */
struct fit_hints {
	double isl, osl;
	double concurrency;
	uint32_t num_gpus, tp;
};

/*
 * Reads one file of any known format, told by its content, and adds its
 * load points. Returns 0, or -1 with *e (file, line, path).
 */
int fit_read(struct fit_sweep *s, const char *path,
             const struct fit_hints *hints, struct err *e);
/* The i-th format's name, NULL past the last. */
const char *fit_format_name(size_t i);

#endif
