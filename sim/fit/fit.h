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
	char model[96], precision[64], gpu[64], engine[64], engine_version[64];
	char flag[96], variant[384];
	double params_b;
	uint32_t num_gpus, tp; /* 0: not said */
	double isl, osl;       /* tokens a request, mean */
	enum fit_load load;
	double concurrency;
	double offered_rps, achieved_rps;
	double out_tok_s;
	struct fit_latency ttft, itl, e2e;
	double n_requests;
	double littles_l; /* achieved_rps x mean E2E (median: where no mean) */
	bool refused;     /* a warning says why; it is not to be used */
	char file[256];
	uint32_t line;         /* in file, 0: not a file of lines */
	uint32_t max_num_seqs; /* of the server, 0: not said */
};

/*
 * Remarks beyond this many are counted, not kept; a refusal is always kept.
 */
enum { FIT_WARNINGS_MAX = 256 };

/* Rows of one sweep, and bytes of one file. */
enum { FIT_ROWS_MAX = 20000, FIT_FILE_MAX = 256 * 1024 * 1024 };

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
	uint32_t n_warnings, warning_capacity;
	uint32_t n_remarks_lost;
	char format[48]; /* of the last file read, by its tool's name */
};

void fit_sweep_init(struct fit_sweep *s);
void fit_sweep_fini(struct fit_sweep *s);
/*
 * A row of NANs and empty texts, added to the sweep, which must hold fewer
 * than FIT_ROWS_MAX. Moves the rows.
 */
struct fit_row *fit_row_add(struct fit_sweep *s);
/* Adds a remark; a refusal marks the row as well. */
void fit_warn(struct fit_sweep *s, uint32_t row, bool refused, const char *fmt,
              ...) BASE_PRINTF(4, 5);

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

/* ---- engines and what they would do ------------------------------------ */

/*
 * A replica as it is fitted. The overhead is spent outside the engine
 * (tokenizer, HTTP): it is added to TTFT and E2E, and in a closed loop it
 * passes before the client sends again.
 */
struct fit_engine {
	struct replica_config config;
	int64_t request_overhead_ns;
	double length_spread;
};

/* What a load point measures, as the simulator has it. */
struct fit_prediction {
	double rps, out_tok_s;
	double in_system;                  /* rps x mean E2E */
	struct fit_latency ttft, itl, e2e; /* ms; itl is TPOT, E2E over steps */
};

/*
 * Runs a row's load against one replica: a closed loop of its clients, all
 * sending at once at the start, or an open loop at its offered rate. A closed
 * loop is measured from the second request of its clients on, a static batch
 * and a burst over their one wave, an open loop over all its requests. Where
 * Little's law shows another number in the system than clients were asked
 * for, or an open loop did not keep up, the loop is one of that number. Needs
 * lengths and a load; -1 and *e when the row lacks them.
 */
int fit_predict(const struct fit_engine *engine, const struct fit_row *row,
                struct fit_prediction *out, struct err *e);
/* Why a row cannot be predicted or fitted, NULL when it can. */
const char *fit_unusable(const struct fit_row *row);
/* The number in the system that fit_predict would hold, NAN: an open loop. */
double fit_clients(const struct fit_row *row);

/* ---- groups ------------------------------------------------------------ */

/*
 * The rows of one thing: same model, precision, GPU, engine, version, number
 * of GPUs, TP and sequence limit. A curve is fitted to one group.
 */
struct fit_group {
	uint32_t *row; /* indices, in the order of the sweep */
	uint32_t n;
};

/* Whether two rows belong to one group. */
bool fit_same(const struct fit_row *a, const struct fit_row *b);
/* In the order of their first rows, from the sweep's arena. */
uint32_t fit_groups(struct fit_sweep *s, struct fit_group **out);

/* ---- curves ------------------------------------------------------------ */

/*
 * A step's length in us = floor + decode D + prefill P + context S + pair A,
 * the terms of struct replica_curve_piece. While tokens in a step
 * are no more than the knee, prefill and decode cost nothing but the floor.
 */
enum fit_parameter {
	FIT_FLOOR,    /* us a step */
	FIT_DECODE,   /* us a sequence that decodes */
	FIT_CONTEXT,  /* us a token of context */
	FIT_PREFILL,  /* us a prompt token */
	FIT_LONE,     /* us a token of mean context */
	FIT_KNEE,     /* tokens */
	FIT_PAIR,     /* us a pair of prompt tokens */
	FIT_OVERHEAD, /* us a request, outside the engine */
	FIT_KV,       /* tokens of KV cache; fitted where rows show a queue */
	FIT_PARAMETERS,
};

/* "floor", "us a step". */
const char *fit_parameter_name(enum fit_parameter p);
const char *fit_parameter_unit(enum fit_parameter p);

struct fit_curve {
	double value[FIT_PARAMETERS];
	double error[FIT_PARAMETERS]; /* standard errors; NAN: not fitted */
	uint32_t max_num_seqs;
	uint32_t max_num_batched_tokens;
	double length_spread;
	double residual;          /* sqrt of chi square per degree of freedom */
	uint32_t n;               /* rows used */
	struct fit_engine engine; /* the same, as the simulator takes it */
};

/*
 * Fits a group: the closed formula E2E = osl (floor + decode N + context N
 * (isl + osl/2)) + N (isl prefill + q) gives the start, the rest is least
 * squares (Levenberg-Marquardt) of the simulator's own predictions. -1 and *e
 * when there are fewer usable rows than parameters of the formula.
 */
int fit_curve(const struct fit_sweep *s, const struct fit_group *group,
              struct fit_curve *out, struct err *e);

/* ---- errors ------------------------------------------------------------ */

enum fit_metric { FIT_RPS, FIT_E2E, FIT_TPOT, FIT_TTFT, FIT_METRICS };

/* Means of rows, by the metric; NAN where not published or predicted. */
double fit_measured(const struct fit_row *row, enum fit_metric metric);
double fit_predicted(const struct fit_prediction *p, enum fit_metric metric);
/* predicted / measured - 1, NAN where one is missing. */
double fit_error(const struct fit_row *row, const struct fit_prediction *p,
                 enum fit_metric metric);

#endif
