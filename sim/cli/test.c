/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir test: finds scenarios, runs them side by side, judges their rules and
 * compares their numbers with recorded ones. With -o FORMAT=FILE the machine's
 * report goes to the file, and the text still to stdout.
 */
#include "test_int.h"

#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

static int read_threads(const struct options *o, unsigned *threads)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	long n = cores;
	char *end;

	if (o->jobs) {
		n = strtol(o->jobs, &end, 10);
		if (*end != '\0' || end == o->jobs || n < 1 || n > THREADS_MAX)
			return cli_usage("--jobs: must be from 1 to %d, not %s",
			                 THREADS_MAX, o->jobs);
	}
	*threads = n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
	return 0;
}

static int check_words(const struct options *o)
{
	if (o->n_files == 0)
		return cli_usage("test: a scenario or a directory is missing");
	if (o->record && (o->baseline || o->accept))
		return cli_usage("--record: goes without --baseline and "
		                 "--accept");
	return 0;
}

static int print(const struct trials *t, const struct options *o)
{
	struct answer answer;
	struct err e = {0};

	if (o->quiet)
		test_print_failures(stderr, t);
	else if (o->output)
		test_print(stdout, t, FORMAT_TEXT, cli_color(o, stdout));
	if (o->quiet && o->output == NULL && o->format == FORMAT_TEXT)
		return 0;
	if (answer_open(&answer, o, &e) != 0) {
		cli_wrong(&e);
		return EXIT_MACHINE;
	}
	test_print(answer.to, t, o->format, cli_color(o, answer.to));
	return answer_close(&answer);
}

static int worst_of(const struct trials *t)
{
	int worst = EXIT_HELD;

	for (size_t i = 0; i < t->n; i++) {
		int exit = trial_exit(&t->trial[i]);

		worst = exit > worst ? exit : worst;
	}
	return worst;
}

int verb_test(const struct options *o)
{
	struct trials trials = {0};
	double begun = cli_now();
	unsigned threads = 1;
	int result = check_words(o);
	int bad;

	if (!result)
		result = read_threads(o, &threads);
	if (!result)
		result = trials_find(&trials, o);
	if (result)
		goto out;
	signals_catch();
	trials_run(&trials, o, threads);
	trials_correct(&trials);
	bad = trials_baselines(&trials, o);
	result = worst_of(&trials);
	if (bad && result != EXIT_INTERRUPTED)
		result = bad;
	bad = print(&trials, o);
	if (bad)
		result = bad;
	if (!o->quiet)
		fprintf(stderr, "wall time %.2f s\n", cli_now() - begun);
out:
	trials_free(&trials);
	return result;
}
