/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir run: every cell of every scenario is read before anything runs, so
 * that bad input leaves nothing behind; then cells run one after another.
 * With --dir a single cell's files stand in DIR, those of a grid in a folder
 * a cell under it, beside cells.csv; what an earlier run left there goes.
 */
#include "cli_int.h"

#include <stdlib.h>
#include <string.h>

struct job {
	struct cells cells;
	struct outcome *outcome;
	char dir[1024]; /* "" when nothing is written */
};

void outcome_free(struct outcome *o)
{
	measure_result_free(o->result);
	scenario_free(o->scenario);
	mem_free(o->judgement);
}

int outcome_exit(const struct outcome *o)
{
	for (uint32_t i = 0; o->judgement && i < o->scenario->n_rules; i++)
		if (o->judgement[i].verdict != VERDICT_PASS)
			return EXIT_RULE;
	return EXIT_HELD;
}

static void job_free(struct job *job)
{
	for (size_t i = 0; job->outcome && i < job->cells.n; i++)
		outcome_free(&job->outcome[i]);
	mem_free(job->outcome);
	cells_free(&job->cells);
}

static void warn(const struct scenario *s)
{
	char text[600];

	for (uint32_t i = 0; i < s->n_warnings; i++)
		fprintf(stderr, "warning: %s\n",
		        show_text(s->warnings[i].text, text, sizeof(text)));
}

static int job_read(struct job *job, const char *file, const struct options *o,
                    const struct places *p, struct err *e)
{
	struct scenario_places places = {p->directory, p->n};

	if (cells_make(&job->cells, file, o, p, e) != 0)
		return -1;
	job->outcome = mem_new(job->cells.n, sizeof(*job->outcome));
	for (size_t i = 0; i < job->cells.n; i++) {
		const struct cell *c = &job->cells.cell[i];

		job->outcome[i].scenario = scenario_load(
			file, c->variant, c->set, c->n_sets, &places, e);
		if (job->outcome[i].scenario == NULL)
			return -1;
		job->outcome[i].scenario->world.exact_steps = o->exact_steps;
	}
	if (!o->quiet)
		warn(job->outcome[0].scenario);
	return 0;
}

/* Where a cell's files go: DIR, or DIR/<its name>. */
static void cell_dir(const struct job *job, size_t i, char *buf, size_t size)
{
	bool grid = job->cells.n > 1;

	snprintf(buf, size, "%s%s%s", job->dir, grid ? "/" : "",
	         grid ? job->cells.cell[i].folder : "");
}

static void judge(struct outcome *o)
{
	const struct scenario *s = o->scenario;

	o->judgement = mem_new(s->n_rules + 1, sizeof(*o->judgement));
	for (uint32_t i = 0; i < s->n_rules; i++)
		o->judgement[i] =
			study_judge(&s->rules[i], &s->terms, o->result);
}

static int write_json(const char *dir, const char *name, json_t *json,
                      struct err *e)
{
	struct outfile f = {0};

	if (outfile_open(&f, dir, name, e) != 0)
		return -1;
	json_dumpf(json, f.f,
	           JSON_INDENT(2) | JSON_PRESERVE_ORDER |
	                   JSON_REAL_PRECISION(15));
	fputc('\n', f.f);
	return outfile_commit(&f, e);
}

static int write_summary(const char *dir, const struct outcome *o,
                         const struct cell *cell, struct err *e)
{
	json_t *summary = summary_json(o, cell);
	struct outfile f = {0};
	int wrong = write_json(dir, "summary.json", summary, e);

	json_decref(summary);
	if (wrong || outfile_open(&f, dir, "scenario.json", e) != 0)
		return -1;
	fputs(o->scenario->effective_text, f.f);
	return outfile_commit(&f, e);
}

static int write_files(const struct job *job, size_t i, const char *dir,
                       struct run_files *files)
{
	struct err e = {0};

	stale_clear(dir, NULL);
	if (run_files_commit(files, &e) == 0 &&
	    write_summary(dir, &job->outcome[i], &job->cells.cell[i], &e) == 0)
		return 0;
	cli_wrong(&e);
	return EXIT_MACHINE;
}

/* Runs one cell; 0, or EXIT_* when it could not finish. */
static int run_cell(struct job *job, size_t i, const struct options *o,
                    struct progress *progress)
{
	struct outcome *out = &job->outcome[i];
	struct run_files files = {.variant = job->cells.cell[i].variant,
	                          .progress = progress};
	struct study_runs runs = {
		.world = &out->scenario->world,
		.seed = out->scenario->seed,
		.reps = out->scenario->reps,
		.log_all = o->log_all,
		.progress = {progress, progress_done},
	};
	struct err e = {0};
	char dir[1300] = "";
	double begun = cli_now();
	size_t kept;
	int wrong = 0;

	cell_dir(job, i, dir, sizeof(dir));
	kept = outdir_kept(dir);
	if (job->dir[0] && run_files_open(&files, dir, &e) != 0) {
		outdir_unmake(dir, kept);
		return cli_wrong(&e);
	}
	runs.observer = run_files_observer(&files);
	out->result = study_run(&runs, &out->interrupted, &e);
	out->wall_s = cli_now() - begun;
	if (out->result == NULL) {
		run_files_abandon(&files);
		if (job->dir[0])
			outdir_unmake(dir, kept);
		return out->interrupted ? EXIT_INTERRUPTED : cli_wrong(&e);
	}
	judge(out);
	if (job->dir[0])
		wrong = write_files(job, i, dir, &files);
	return wrong ? wrong : out->interrupted ? EXIT_INTERRUPTED : 0;
}

static int write_cells(const struct job *job)
{
	struct outfile f = {0};
	struct err e = {0};

	if (outfile_open(&f, job->dir, "cells.csv", &e) != 0)
		return cli_wrong(&e);
	stale_clear(job->dir, &job->cells);
	csv_cells(f.f, &job->cells, job->outcome);
	if (outfile_commit(&f, &e) != 0) {
		cli_wrong(&e);
		return EXIT_MACHINE;
	}
	return 0;
}

static int run_job(struct job *job, const struct options *o)
{
	struct progress progress = {0};
	int wrong = 0;

	progress_begin(&progress, o, job->cells.n);
	for (size_t i = 0; i < job->cells.n && !wrong; i++) {
		const char *name = job->cells.cell[i].name;

		progress_cell(&progress, i,
		              name[0] ? name : job->outcome[i].scenario->name,
		              job->outcome[i].scenario);
		wrong = run_cell(job, i, o, &progress);
	}
	progress_end(&progress);
	if (job->dir[0] && job->cells.n > 1 && job->outcome[0].result) {
		int bad = write_cells(job);

		wrong = wrong ? wrong : bad;
	}
	return wrong;
}

/* ---- printing ---------------------------------------------------------- */

static void print_text(FILE *to, const struct job *job, const struct options *o)
{
	bool color = cli_color(o, to);

	for (size_t i = 0; i < job->cells.n; i++) {
		if (job->outcome[i].result == NULL)
			continue;
		if (job->cells.n == 1)
			text_report(to, &job->outcome[i], &job->cells.cell[i],
			            color);
	}
	if (job->cells.n > 1)
		text_cells(to, &job->cells, job->outcome, color);
}

static void print_json(FILE *to, struct job *jobs, size_t n)
{
	json_t *all = json_array();

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < jobs[k].cells.n; i++)
			if (jobs[k].outcome[i].result)
				json_array_append_new(
					all,
					summary_json(&jobs[k].outcome[i],
				                     &jobs[k].cells.cell[i]));
	json_dumpf(json_array_size(all) == 1 ? json_array_get(all, 0) : all, to,
	           JSON_INDENT(2) | JSON_PRESERVE_ORDER |
	                   JSON_REAL_PRECISION(15));
	fputc('\n', to);
	json_decref(all);
}

/* Who asked for quiet still wants to know what did not hold. */
static void print_failures(const struct job *jobs, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < jobs[k].cells.n; i++)
			if (jobs[k].outcome[i].result)
				text_failures(stderr, &jobs[k].outcome[i],
				              &jobs[k].cells.cell[i]);
}

static bool anything_finished(const struct job *jobs, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < jobs[k].cells.n; i++)
			if (jobs[k].outcome[i].result)
				return true;
	return false;
}

static int print(struct job *jobs, size_t n, const struct options *o)
{
	struct answer answer;
	struct err e = {0};

	if (!anything_finished(jobs, n))
		return 0;
	if (o->quiet)
		print_failures(jobs, n);
	if (o->quiet && o->output == NULL && o->format == FORMAT_TEXT)
		return 0;
	if (answer_open(&answer, o, &e) != 0)
		return cli_wrong(&e);
	if (o->format == FORMAT_JSON)
		print_json(answer.to, jobs, n);
	else
		for (size_t i = 0; i < n; i++) {
			if (i > 0)
				fputc('\n', answer.to);
			print_text(answer.to, &jobs[i], o);
		}
	return answer_close(&answer);
}

/* ---- the verb ---------------------------------------------------------- */

static int place_job(struct job *job, const struct options *o, struct err *e)
{
	char name[256];
	int n;

	if (o->dir == NULL)
		return 0;
	if (o->n_files == 1)
		n = snprintf(job->dir, sizeof(job->dir), "%s", o->dir);
	else
		n = snprintf(job->dir, sizeof(job->dir), "%s/%s", o->dir,
		             outdir_word(job->outcome[0].scenario->name, name,
		                         sizeof(name)));
	if (n <= 0 || (size_t)n >= sizeof(job->dir))
		return err_set(e, "--dir", 0, 0, NULL,
		               n ? "the path is too long"
		                 : "a directory's name is missing");
	return 0;
}

/* Two scenarios of one name would write one directory. */
static int check_dirs(const struct job *jobs, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i && jobs[i].dir[0]; k++)
			if (strcmp(jobs[i].dir, jobs[k].dir) == 0)
				return err_set(e, jobs[i].cells.file, 0, 0,
				               NULL,
				               "would write %s, as %s does; "
				               "give them different names",
				               jobs[i].dir, jobs[k].cells.file);
	return 0;
}

static int verdict(const struct job *jobs, size_t n)
{
	int worst = EXIT_HELD;

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < jobs[k].cells.n; i++)
			if (jobs[k].outcome[i].result &&
			    outcome_exit(&jobs[k].outcome[i]) > worst)
				worst = EXIT_RULE;
	return worst;
}

static int read_jobs(struct job *jobs, const struct options *o)
{
	struct places places;
	struct err e = {0};

	places_fill(&places, o);
	for (size_t i = 0; i < o->n_files; i++)
		if (job_read(&jobs[i], o->file[i], o, &places, &e) != 0 ||
		    place_job(&jobs[i], o, &e) != 0)
			return cli_wrong(&e);
	return check_dirs(jobs, o->n_files, &e) != 0 ? cli_wrong(&e) : 0;
}

/* DIR holds one folder a scenario now, and no results of its own. */
static void clear_above(const struct job *jobs, const struct options *o)
{
	struct cells held = {.n = o->n_files};

	held.cell = mem_new(held.n, sizeof(*held.cell));
	for (size_t i = 0; i < held.n; i++)
		outdir_word(jobs[i].outcome[0].scenario->name,
		            held.cell[i].folder, sizeof(held.cell[i].folder));
	stale_clear(o->dir, &held);
	mem_free(held.cell);
}

static void say_interrupted(const struct job *jobs, size_t n)
{
	fputs(anything_finished(jobs, n)
	              ? "weir: interrupted; what was finished is kept\n"
	              : "weir: interrupted before anything was finished\n",
	      stderr);
}

int verb_run(const struct options *o)
{
	struct job *jobs = mem_new(o->n_files + 1, sizeof(*jobs));
	double begun = cli_now();
	int result = 0;
	size_t ran = 0;

	if (o->n_files == 0)
		result = cli_usage("run: a scenario file is missing");
	if (!result)
		result = read_jobs(jobs, o);
	if (result)
		goto out;
	signals_catch();
	for (; ran < o->n_files && !result; ran++)
		result = run_job(&jobs[ran], o);
	if (result == 0 && o->dir && o->n_files > 1)
		clear_above(jobs, o);
	if (result == 0 || result == EXIT_INTERRUPTED) {
		int bad = print(jobs, ran, o);

		result = bad ? bad : result ? result : verdict(jobs, ran);
	}
	if (result == EXIT_INTERRUPTED)
		say_interrupted(jobs, ran);
	if (!o->quiet)
		fprintf(stderr, "wall time %.2f s\n", cli_now() - begun);
out:
	for (size_t i = 0; i < o->n_files; i++)
		job_free(&jobs[i]);
	mem_free(jobs);
	return result;
}
