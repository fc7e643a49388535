/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TAP 13, JUnit XML, and the workflow commands of GitHub Actions. */
#include "test_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what did not hold, whoever shows it ------------------------------- */

/* Takes a failure of a trial: its rule (NULL: none) and a line that says it. */
struct failure_sink {
	FILE *to;
	const struct trial *trial;
	void (*take)(const struct failure_sink *s, const char *rule,
	             const char *line);
};

static void each_rule(const struct failure_sink *s, struct arena *a)
{
	const struct trial *t = s->trial;

	for (size_t i = 0; t->ran && i < t->cells.n; i++) {
		const struct outcome *o = &t->outcome[i];
		const char *cell = t->cells.cell[i].name;

		for (uint32_t k = 0; k < o->scenario->n_rules; k++) {
			const struct measure_rule *r = &o->scenario->rules[k];
			const char *line;

			if (o->judgement[k].verdict == VERDICT_PASS)
				continue;
			line = test_rule_line(a, r, &o->judgement[k]);
			s->take(s, r->text,
			        arena_printf(a, "%s%s%s", cell,
			                     cell[0] ? ": " : "", line));
		}
	}
}

/* All that is wrong with a trial, in order. */
static void each_failure(const struct failure_sink *s)
{
	const struct trial *t = s->trial;
	struct arena a = {0};
	char text[1200], was[40], is[40];

	if (t->e.set)
		s->take(s, NULL, err_format(&t->e, text, sizeof(text)));
	else if (!t->ran)
		s->take(s, NULL, "interrupted");
	else
		each_rule(s, &a);
	if (!t->e.set && t->missing)
		s->take(s, NULL,
		        arena_printf(&a, "there is no baseline %s",
		                     t->baseline));
	for (size_t i = 0; i < t->n_changes; i++) {
		const struct change *c = &t->change[i];

		s->take(s, NULL,
		        arena_printf(&a, "%s%s%s was %s, is %s", c->cell,
		                     c->cell[0] ? ": " : "", c->metric,
		                     test_show_number(c->was, was, sizeof(was)),
		                     test_show_number(c->is, is, sizeof(is))));
	}
	arena_fini(&a);
}

static void nothing(FILE *to, const struct trials *t)
{
	(void)to;
	(void)t;
}

/* ---- TAP --------------------------------------------------------------- */

static void tap_begin(FILE *to, const struct trials *t)
{
	fprintf(to, "TAP version 13\n1..%zu\n", t->n);
}

static void tap_take(const struct failure_sink *s, const char *rule,
                     const char *line)
{
	char plain[1200];

	(void)rule;
	fprintf(s->to, "# %s\n", show_text(line, plain, sizeof(plain)));
}

static void tap_trial(FILE *to, const struct trial *t, size_t number,
                      bool color)
{
	struct failure_sink sink = {to, t, tap_take};
	char name[128];

	(void)color;
	fprintf(to, "%sok %zu - %s\n", trial_exit(t) == EXIT_HELD ? "" : "not ",
	        number, show_text(t->name, name, sizeof(name)));
	each_failure(&sink);
}

const struct test_format test_tap = {tap_begin, tap_trial, nothing};

/* ---- JUnit ------------------------------------------------------------- */

static void put_xml(FILE *to, const char *text)
{
	char plain[1200];

	for (const char *s = show_text(text, plain, sizeof(plain)); *s; s++)
		switch (*s) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			fputc(*s, to);
		}
}

static void junit_begin(FILE *to, const struct trials *t)
{
	size_t failures = 0, errors = 0;

	for (size_t i = 0; i < t->n; i++) {
		int exit = trial_exit(&t->trial[i]);

		failures += exit == EXIT_RULE;
		errors += exit > EXIT_RULE;
	}
	fprintf(to,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	        "<testsuites>\n<testsuite name=\"weir\" tests=\"%zu\" "
	        "failures=\"%zu\" errors=\"%zu\">\n",
	        t->n, failures, errors);
}

static void junit_take(const struct failure_sink *s, const char *rule,
                       const char *line)
{
	(void)rule;
	put_xml(s->to, line);
	fputc('\n', s->to);
}

static void junit_trial(FILE *to, const struct trial *t, size_t number,
                        bool color)
{
	struct failure_sink sink = {to, t, junit_take};
	int exit = trial_exit(t);
	const char *kind = exit == EXIT_RULE ? "failure" : "error";

	(void)number;
	(void)color;
	fputs("<testcase classname=\"", to);
	put_xml(to, t->file);
	fputs("\" name=\"", to);
	put_xml(to, t->name);
	if (exit == EXIT_HELD) {
		fputs("\"/>\n", to);
		return;
	}
	fprintf(to, "\">\n<%s message=\"%s\">\n", kind,
	        exit == EXIT_RULE ? "a rule or a baseline did not hold"
	                          : "could not be run");
	each_failure(&sink);
	fprintf(to, "</%s>\n</testcase>\n", kind);
}

static void junit_end(FILE *to, const struct trials *t)
{
	(void)t;
	fputs("</testsuite>\n</testsuites>\n", to);
}

const struct test_format test_junit = {junit_begin, junit_trial, junit_end};

/* ---- GitHub Actions ---------------------------------------------------- */

/* Escaped as workflow commands want it; in a property more than in a text. */
static void put_command(FILE *to, const char *text, bool property)
{
	for (; *text; text++)
		if (*text == '%' || *text == '\n' || *text == '\r' ||
		    (property && (*text == ':' || *text == ',')))
			fprintf(to, "%%%02X", (unsigned)(unsigned char)*text);
		else
			fputc(*text, to);
}

/* The line of a scenario's file where the rule stands; 0: in an include. */
static int line_of(const char *file, const char *rule)
{
	json_t *value = json_string(rule);
	char *quoted = json_dumps(value, JSON_ENCODE_ANY);
	FILE *f = fopen(file, "r");
	char *line = NULL;
	size_t size = 0;
	int at = 0, found = 0;

	while (f && quoted && !found && getline(&line, &size, f) >= 0) {
		at++;
		if (strstr(line, quoted))
			found = at;
	}
	if (f)
		fclose(f);
	free(line);
	free(quoted);
	json_decref(value);
	return found;
}

static void github_take(const struct failure_sink *s, const char *rule,
                        const char *line)
{
	const struct err *e = &s->trial->e;
	int at = rule ? line_of(s->trial->file, rule) : e->line;

	fputs("::error file=", s->to);
	put_command(s->to, e->set && e->where[0] ? e->where : s->trial->file,
	            true);
	if (at > 0)
		fprintf(s->to, ",line=%d", at);
	if (!rule && e->col > 0)
		fprintf(s->to, ",col=%d", e->col);
	fputs(",title=", s->to);
	put_command(s->to, s->trial->name, true);
	fputs("::", s->to);
	put_command(s->to, line, false);
	fputc('\n', s->to);
}

static void github_trial(FILE *to, const struct trial *t, size_t number,
                         bool color)
{
	struct failure_sink sink = {to, t, github_take};

	(void)number;
	(void)color;
	each_failure(&sink);
}

const struct test_format test_github = {nothing, github_trial, nothing};
