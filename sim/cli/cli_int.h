/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cli, inside - verbs, options and reports; the only room that prints.
 *
 * main.c picks a verb, options.c reads its words against one table, each verb
 * is a file. A run writes its answer to stdout, byte-identical for equal
 * input, and everything else (progress, warnings, wall time) to stderr.
 */
#ifndef WEIR_CLI_INT_H
#define WEIR_CLI_INT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "scenario/scenario.h"
#include "study/study.h"

enum cli_exit {
	EXIT_HELD = 0,
	EXIT_RULE = 1,
	EXIT_INPUT = 2,
	EXIT_MACHINE = 3,
	EXIT_INTERRUPTED = 130,
};

enum cli_when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };
enum cli_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_TAP,
	FORMAT_JUNIT,
	FORMAT_GITHUB,
	CLI_FORMATS,
};

enum {
	CLI_MAX_SETS = 64,
	CLI_MAX_VARY = 8,
	CLI_MAX_PLACES = 16,
	CLI_MAX_AGAINST = 64
};

/* What the words of a command line said. Texts point into argv. */
struct options {
	const char *file[256]; /* the words that are not options */
	size_t n_files;
	struct scenario_set set[CLI_MAX_SETS];
	size_t n_sets;
	const char *vary[CLI_MAX_VARY]; /* PATH=VALUES */
	size_t n_vary;
	const char *data[CLI_MAX_PLACES];
	size_t n_data;
	const char *reps, *seed, *duration, *warmup;
	const char *dir;
	enum cli_format format;
	const char *output; /* of -o FORMAT=FILE; NULL: stdout */
	bool log_all;
	bool quiet;
	bool exact_steps;
	enum cli_when progress;
	enum cli_when color;
	const char *profile;
	const char *interval;
	const char *columns;
	/* fit */
	const char *against[CLI_MAX_AGAINST];
	size_t n_against;
	const char *isl, *osl, *concurrency;
	const char *out;
	/* route */
	const char *csv, *diff;
	const char *decisions[2];
	size_t n_decisions;
	bool json_bodies, count;
	/* test */
	const char *filter, *record, *baseline, *jobs;
	bool accept;
	bool help;
};

struct verb {
	const char *name;
	const char *words; /* what stands after it */
	const char *sentence;
	const char *options; /* letters of the option table it takes */
	int (*run)(const struct options *o);
};

const struct verb *cli_verb(const char *name);
const struct verb *cli_verb_at(size_t i);

/* options.c: fills o from the words after the verb; EXIT_INPUT after having
 * said what is wrong, else 0. */
int options_read(struct options *o, const struct verb *verb, int argc,
                 char **argv);
void options_help(FILE *to, const struct verb *verb);

/* Says an error and returns EXIT_INPUT. */
int cli_wrong(const struct err *e);
/* Same for a command line. */
int cli_usage(const char *fmt, ...) BASE_PRINTF(1, 2);
/* Flushes stdout; false, after having said so, when it took not all. */
bool cli_stdout_whole(void);

/* places.c: directories where named files are looked for. */
enum { PLACES_SHIPPED = 3 };
struct places {
	const char *directory[CLI_MAX_PLACES + 2 + 2 * PLACES_SHIPPED];
	char text[1 + 2 * PLACES_SHIPPED][1100];
	size_t n;
};

void places_fill(struct places *p, const struct options *o);
/*
 * DIR of the data that ships with weir ("models", "plots"): in the current
 * directory when it is a source tree, beside the program, or where it is
 * installed; the last one when none of them is there.
 */
const char *places_shipped(const char *name, char *buf, size_t size);
/* 0, or -1 with *e, which names the directories, when none is there. */
int places_check(const char *name, struct err *e);

/* signals.c: SIGINT sets a flag; a second one ends at once. */
void signals_catch(void);
bool signals_stop(void);

/*
 * outdir.c: files that appear whole or not at all. What is there and is no
 * regular file (a device, a pipe, a link) is written to as it stands.
 */
struct outfile {
	FILE *f;
	char path[1024];
	char temporary[1040]; /* "" when the file is written to directly */
};

/* Makes DIR (and parents) when needed. 0 or -1 with *e. */
int outdir_make(const char *dir, struct err *e);
/* How many bytes of DIR name a directory that is there already. */
size_t outdir_kept(const char *dir);
/* Removes DIR and its parents beyond `kept` bytes, as far as empty. */
void outdir_unmake(const char *dir, size_t kept);
/* A name as one word of a path. Returns buf. */
const char *outdir_word(const char *name, char *buf, size_t size);
/* Whether PATH may be replaced by a rename: new, or a regular file. */
bool outfile_replaceable(const char *path);
int outfile_open(struct outfile *o, const char *dir, const char *name,
                 struct err *e);
/* Flushes, closes and puts it in place; -1 with *e (the temporary file is
 * gone). */
int outfile_commit(struct outfile *o, struct err *e);
/* Throws the temporary file away. */
void outfile_abandon(struct outfile *o);

/* answer.c: stdout, or the file of -o FORMAT=FILE. */
struct answer {
	FILE *to;
	struct outfile file;
};

int answer_open(struct answer *a, const struct options *o, struct err *e);
/* 0, or EXIT_MACHINE after having said why. */
int answer_close(struct answer *a);

/* cells.c: the grid of variants and --vary. */
struct cell {
	const char *variant; /* NULL: none */
	struct scenario_set *set;
	size_t n_sets;
	char name[256];     /* "concurrency=4", "inflight" */
	char folder[256];   /* the name as one word of a path */
	const char **value; /* by axis */
};

struct cells {
	struct arena arena;
	const char *file;
	struct cell *cell;
	size_t n;
	const char **axis; /* names of the axes: paths, "variant" */
	size_t n_axes;
};

int cells_make(struct cells *c, const char *file, const struct options *o,
               const struct places *p, struct err *e);
void cells_free(struct cells *c);

/* What a cell came to; owns its parts. */
struct outcome {
	struct scenario *scenario;
	struct measure_result *result;
	struct study_judgement *judgement; /* by rule */
	double wall_s;
	bool interrupted;
};

void outcome_free(struct outcome *o);
/* The worst of its rules: EXIT_HELD or EXIT_RULE. */
int outcome_exit(const struct outcome *o);

/* csv.c: rows of series.csv and requests.csv. */
void csv_series_header(FILE *f);
void csv_series_row(FILE *f, const char *variant, uint32_t replication,
                    const struct measure_row *row);
void csv_requests_header(FILE *f);
void csv_request_row(FILE *f, const char *variant, uint32_t replication,
                     const struct measure_request *r, const char *traffic,
                     const char *deployment, const char *replica);
/* One row a cell. */
void csv_cells(FILE *f, const struct cells *c, const struct outcome *o);

/* events.c: one JSON object a line. */
void events_line(FILE *f, const char *variant, uint32_t replication,
                 const struct world_event *e);

/* files.c: what --dir leaves of a cell while it runs. */
struct run_files {
	const char *variant;
	struct progress *progress;
	struct outfile series, requests, events;
};

int run_files_open(struct run_files *f, const char *dir, struct err *e);
int run_files_commit(struct run_files *f, struct err *e);
void run_files_abandon(struct run_files *f);
/* An observer that writes into those that are open, and shows progress. */
struct world_observer run_files_observer(struct run_files *f);

/*
 * stale.c: removes what an earlier run, or its charts, left in DIR and this
 * one does not write; by names of weir's own only. `grid`: the cells that DIR
 * holds from now on; NULL: it holds one run.
 */
void stale_clear(const char *dir, const struct cells *grid);

/* summary.c */
json_t *summary_json(const struct outcome *o, const struct cell *cell);
/* text.c: the screen of one cell; colour by `color`. */
void text_report(FILE *to, const struct outcome *o, const struct cell *cell,
                 bool color);
/* The table of a grid. */
void text_cells(FILE *to, const struct cells *c, const struct outcome *o,
                bool color);

/* text_rules.c: a rule, its verdict and what it saw. */
void text_rule(FILE *to, const struct measure_rule *rule,
               const struct study_judgement *j, bool color);
/* The rules of a cell that did not hold, one line each. */
void text_failures(FILE *to, const struct outcome *o, const struct cell *cell);

/* crossing.c: which choice leads where, in a grid of a choice and a number. */
void text_crossing(FILE *to, const struct cells *c, const struct outcome *o);

/* numbers.c: how values are shown. */
/* "131 ms", "2.71 s", "inf" (TIME_NEVER), "-" (negative). */
const char *show_time(int64_t ns, char *buf, size_t size);
/* "13 970" */
const char *show_count(uint64_t n, char *buf, size_t size);
/* A value of a rule in its unit. */
const char *show_value(double value, enum study_unit unit, char *buf,
                       size_t size);
/* So many significant digits, and no exponent. */
const char *show_number(double value, int digits, char *buf, size_t size);
/* A text of the user's without control characters, cut to size. */
const char *show_text(const char *text, char *buf, size_t size);
/* ms with ns precision, "" for negative, "inf" for TIME_NEVER. */
void put_ms(FILE *f, int64_t ns);

/* progress.c */
struct progress {
	bool on;
	const char *what;
	size_t cell, cells;
	uint32_t finished, of; /* replications of this cell */
	int64_t duration_ns;   /* of one; TIME_NEVER: not known */
	double begun;
	double last;
};

void progress_begin(struct progress *p, const struct options *o, size_t cells);
void progress_cell(struct progress *p, size_t cell, const char *what,
                   const struct scenario *s);
/* For study_progress; false when a signal came. */
bool progress_done(void *self, uint32_t finished, uint32_t of);
/* Within a replication, at its simulated time. */
void progress_tick(struct progress *p, int64_t now_ns);
void progress_end(struct progress *p);
double cli_now(void);
bool cli_color(const struct options *o, FILE *to);

int verb_run(const struct options *o);
int verb_validate(const struct options *o);
int verb_plot(const struct options *o);
int verb_trace(const struct options *o);
int verb_fit(const struct options *o);
int verb_explain(const struct options *o);
int verb_route(const struct options *o);
int verb_test(const struct options *o);
int verb_help(const struct options *o);

#endif
