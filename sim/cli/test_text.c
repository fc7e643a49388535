/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line a scenario; below it what did not hold, and what changed. */
#include "test_int.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RED "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

enum { CHANGES_SHOWN = 20, INDENT = 9 };

static void nothing(FILE *to, const struct trials *t)
{
	(void)to;
	(void)t;
}

static uint32_t count_rules(const struct trial *t)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->cells.n; i++)
		n += t->outcome[i].scenario->n_rules;
	return n;
}

/* As `weir run` shows it, set in. */
static void print_rule(FILE *to, const struct measure_rule *rule,
                       const struct study_judgement *j, bool color)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	assert(f);
	text_rule(f, rule, j, color);
	fclose(f);
	for (char *line = text, *end; (end = strchr(line, '\n'));
	     line = end + 1)
		fprintf(to, "%*s%.*s\n", INDENT - 2, "", (int)(end - line),
		        line);
	free(text);
}

static void print_rules(FILE *to, const struct trial *t, bool color)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct outcome *o = &t->outcome[i];
		char name[256];
		bool said = t->cells.n == 1;

		for (uint32_t k = 0; k < o->scenario->n_rules; k++) {
			if (o->judgement[k].verdict == VERDICT_PASS)
				continue;
			if (!said)
				fprintf(to, "%*s%s\n", INDENT, "",
				        show_text(t->cells.cell[i].name, name,
				                  sizeof(name)));
			said = true;
			print_rule(to, &o->scenario->rules[k], &o->judgement[k],
			           color);
		}
	}
}

static const char *show_difference(const struct change *c, char *buf,
                                   size_t size)
{
	double was = json_number_value(c->was), is = json_number_value(c->is);

	buf[0] = '\0';
	if (!json_is_number(c->was) || !json_is_number(c->is))
		return buf;
	if (was != 0)
		snprintf(buf, size, "%+.4g (%+.3g %%)", is - was,
		         100 * (is - was) / fabs(was));
	else
		snprintf(buf, size, "%+.4g", is - was);
	return buf;
}

static void print_changes(FILE *to, const struct trial *t)
{
	char was[40], is[40], difference[60], path[256];
	size_t shown =
		t->n_changes < CHANGES_SHOWN ? t->n_changes : CHANGES_SHOWN;
	size_t width = strlen("metric");

	for (size_t i = 0; i < shown; i++)
		if (strlen(t->change[i].metric) > width)
			width = strlen(t->change[i].metric);
	fprintf(to, "%*s%s: other numbers: %zu\n", INDENT, "",
	        show_text(t->baseline, path, sizeof(path)), t->n_changes);
	fprintf(to, "%*s%-*s  %14s  %14s  %s\n", INDENT, "", (int)width,
	        "metric", "was", "is", "difference");
	for (size_t i = 0; i < shown; i++) {
		const struct change *c = &t->change[i];

		if (c->cell[0] &&
		    (i == 0 || strcmp(c->cell, t->change[i - 1].cell) != 0))
			fprintf(to, "%*s%s\n", INDENT, "", c->cell);
		fprintf(to, "%*s%-*s  %14s  %14s  %s\n", INDENT, "", (int)width,
		        c->metric, test_show_number(c->was, was, sizeof(was)),
		        test_show_number(c->is, is, sizeof(is)),
		        show_difference(c, difference, sizeof(difference)));
	}
	if (shown < t->n_changes)
		fprintf(to, "%*sand %zu more\n", INDENT, "",
		        t->n_changes - shown);
}

static void print_trial(FILE *to, const struct trial *t, size_t number,
                        bool color)
{
	int exit = trial_exit(t);
	const char *word = exit == EXIT_HELD   ? "pass"
	                   : exit == EXIT_RULE ? "FAIL"
	                   : t->e.set          ? "ERR "
	                                       : "?   ";
	const char *paint = !color ? "" : exit == EXIT_HELD ? GREEN : RED;
	char name[128], text[1200], plain[1200];

	(void)number;
	fprintf(to, "  %s%s%s   %s", paint, word, color ? PLAIN : "",
	        show_text(t->name, name, sizeof(name)));
	if (t->e.set) {
		err_format(&t->e, text, sizeof(text));
		fprintf(to, "\n%*s%s\n", INDENT, "",
		        show_text(text, plain, sizeof(plain)));
		return;
	}
	if (!t->ran) {
		fputs("  interrupted\n", to);
		return;
	}
	fprintf(to, "%*s  %" PRIu32 " rule%s",
	        strlen(name) < 32 ? 32 - (int)strlen(name) : 0, "",
	        count_rules(t), count_rules(t) == 1 ? "" : "s");
	if (t->cells.n > 1)
		fprintf(to, " in %zu cells", t->cells.n);
	fputc('\n', to);
	print_rules(to, t, color);
	if (t->missing)
		fprintf(to,
		        "%*sthere is no baseline %s; --accept takes the "
		        "numbers of now\n",
		        INDENT, "", show_text(t->baseline, text, sizeof(text)));
	if (t->n_changes > 0)
		print_changes(to, t);
}

static void print_end(FILE *to, const struct trials *t)
{
	size_t held = 0, wrong = 0;

	for (size_t i = 0; i < t->n; i++) {
		int exit = trial_exit(&t->trial[i]);

		held += exit == EXIT_HELD;
		wrong += exit == EXIT_INPUT;
	}
	fprintf(to, "\n%zu scenario%s: %zu pass, %zu do not", t->n,
	        t->n == 1 ? "" : "s", held, t->n - held - wrong);
	if (wrong > 0)
		fprintf(to, ", %zu could not be run", wrong);
	fprintf(to, "; %" PRIu32 " exact test%s, Holm's correction\n",
	        t->n_tests, t->n_tests == 1 ? "" : "s");
}

const struct test_format test_text = {nothing, print_trial, print_end};
