/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the readers of fit share: a file as JSON documents or as a table, a
 * format as a constant, and the checks that every row goes through.
 *
 * A reader adds rows with what its file says, in the units of struct fit_row,
 * and remarks on what is peculiar to its tool; hints, Little's law, units and
 * duplicates are the same for all and looked at afterwards (fit_settle).
 */
#ifndef WEIR_FIT_READ_INT_H
#define WEIR_FIT_READ_INT_H

#include <jansson.h>

#include "fit/fit.h"

/* One JSON value that holds load points, and where it stands. */
struct fit_doc {
	const json_t *json;
	uint32_t line; /* 0: the file is one document */
	char at[64];   /* its path: "$", "$.benchmarks[1]" */
};

/* One record of a CSV; fields are never NULL. */
struct fit_record {
	char **field;
	uint32_t n, line;
};

struct fit_table {
	struct fit_record *record;
	uint32_t n, capacity;
};

struct fit_input {
	struct arena arena; /* owns records and documents' places */
	const char *path, *text;
	size_t size;
	struct fit_doc *doc; /* of a JSON file */
	uint32_t n_docs, doc_capacity;
	json_t **root;
	uint32_t n_roots, root_capacity;
	struct fit_record header; /* of another file: its first record */
};

struct fit_reading {
	struct fit_sweep *sweep;
	struct fit_input *in;
	const struct fit_hints *hints;
	struct err *e;
};

struct fit_format {
	const char *name;
	/* True of a file of this format, and of no other. */
	bool (*detects)(const struct fit_input *in);
	/* Adds the file's rows; 0, or -1 with *e. */
	int (*reads)(struct fit_reading *r);
};
/* The i-th format, in the order in which a file is held against them; NULL past
 * the last. */
const struct fit_format *fit_format_at(size_t i);

extern const struct fit_format fit_csv, fit_vllm, fit_vllm_old, fit_sglang,
	fit_inferencex, fit_genai_perf, fit_genai_perf_csv, fit_aiperf,
	fit_aiperf_csv, fit_guidellm, fit_genai_bench, fit_inference_perf,
	fit_mlperf, fit_k6, fit_locust, fit_inferencebench, fit_gpu_conc;

/* fit_read of a text that is in memory; `path` is for messages. */
int fit_read_text(struct fit_sweep *s, const char *path, const char *text,
                  size_t size, const struct fit_hints *hints, struct err *e);

/* A row of the file at a line (0: none); NULL with *e when full. */
struct fit_row *fit_reading_row(struct fit_reading *r, uint32_t line);
/* A remark on the row that was added last. */
void fit_remark(struct fit_reading *r, const char *fmt, ...) BASE_PRINTF(2, 3);
/* k6 and locust know no lengths: -1 with *e unless the user gives both. */
int fit_lengths_needed(struct fit_reading *r, const char *tool);
/* Hints, Little's law, units, duplicates of the rows from `first` on. */
int fit_settle(struct fit_reading *r, uint32_t first);
/* True when a row is refused because its units cannot be right. */
bool fit_check_units(struct fit_sweep *s, uint32_t row);
/* Whether x is about 1000. */
bool fit_thousand(double x);
/* The mean, or the median where there is no mean. */
double fit_middle(const struct fit_latency *l);

/* ---- text -------------------------------------------------------------- */

/* Copies as UTF-8 without control characters, cut where the room ends. */
void fit_text(char *to, size_t size, const char *from);
/*
 * A number as tools write it: decimal, perhaps with an exponent, perhaps with
 * commas between thousands ("1,916.33"). Returns -1 when it is not one, -2
 * when it says NaN or infinity.
 */
int fit_number(const char *text, double *value);

/* Records from *at on (an offset, with its line); empty lines are skipped.
 * Returns 1, 0 at the end, -1 with *e. */
int fit_record(struct fit_input *in, size_t *at, uint32_t *line,
               struct fit_record *out, struct err *e);
/* All records. */
int fit_table(struct fit_input *in, struct fit_table *out, struct err *e);
/* The column of a name in a record, case aside; -1: none. */
int fit_column(const struct fit_record *header, const char *name);

/* ---- JSON -------------------------------------------------------------- */

/* Documents of a text: one value, an array of them, or one a line. */
int fit_docs(struct fit_input *in, struct err *e);
void fit_docs_free(struct fit_input *in);
/* The value at "a.b.c" below json, NULL when there is none. */
const json_t *fit_json(const json_t *json, const char *path);
/* The first document, when it is an object; else NULL. */
const json_t *fit_first(const struct fit_input *in);
/* Whether there is a number (or a text for it) at a path. */
bool fit_has_number(const json_t *json, const char *path);
/* Leaves *out alone where nothing or null is; -1 with *e on nonsense. */
int fit_json_number(struct fit_reading *r, const struct fit_doc *d,
                    const char *path, double *out);
/* The same of a whole number above 0. */
int fit_json_whole(struct fit_reading *r, const struct fit_doc *d,
                   const char *path, uint32_t *out);
/* Copies a text that is there. */
void fit_json_text(const json_t *json, const char *path, char *out,
                   size_t size);

/* A number of a document, and where in struct fit_row it belongs. */
struct fit_field {
	const char *path;
	size_t at;
	double scale;
};

int fit_json_fields(struct fit_reading *r, const struct fit_doc *d,
                    const struct fit_field *field, size_t n);

/*
 * Latencies of a document: of each its path and its place in struct fit_row;
 * below a path are the mean and the percentiles 50, 90, 95 and 99 by `key`.
 */
int fit_json_latencies(struct fit_reading *r, const struct fit_doc *d,
                       const struct fit_field *latency, size_t n,
                       const char *const key[5]);

#define FIT_AT(member) offsetof(struct fit_row, member)
#define FIT_COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- what several tools write ------------------------------------------ */

/* vLLM's and its relatives' request_rate, max_concurrency, burstiness. */
int fit_serve_load(struct fit_reading *r, const struct fit_doc *d,
                   const char *concurrency);
/* Reads each document of the file, which must all be results of one kind. */
int fit_serve_each(struct fit_reading *r, bool (*is_result)(const json_t *json),
                   int (*read_one)(struct fit_reading *r,
                                   const struct fit_doc *d));
/* Their lengths: totals over completed requests. */
int fit_serve_lengths(struct fit_reading *r, const struct fit_doc *d);

/* One file of NVIDIA's {"unit", "avg", "p50", ...} metrics. */
int fit_nvidia_json(struct fit_reading *r, const struct fit_doc *d);
int fit_nvidia_csv(struct fit_reading *r);

#endif
