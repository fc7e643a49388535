/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a name means: a field of the language, a metric, a policy, an engine.
 * Fields come from the table that reads them. Models and config revisions
 * are in explain_models.c.
 */
#include "explain_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Names that a word may have meant. */
enum { NAMES_MAX = 1024, PATH_SIZE = 160 };

enum { WIDTH = 80 };

/* ---- what is known ----------------------------------------------------- */

/* Latencies are of requests that completed; the rest counts as infinite. */
static const char *const metrics[MEASURE_METRICS] = {
	[METRIC_SHARE] = "A deployment's part of its endpoint's requests.",
	[METRIC_TOKEN_SHARE] = "Its part of the endpoint's output tokens.",
	[METRIC_REQUESTS] = "Requests that arrived.",
	[METRIC_COMPLETED] = "Requests that were answered whole.",
	[METRIC_ERRORS] = "Rejected, timed out or failed, or one error code.",
	[METRIC_TIMEOUTS] = "Requests whose client gave up.",
	[METRIC_UNFINISHED] = "Requests still inside at the end.",
	[METRIC_DROPPED] = "Requests rejected or failed.",
	[METRIC_TTFT] = "Time from arrival to the first token.",
	[METRIC_TPOT] = "(E2E - TTFT) over the further output tokens.",
	[METRIC_ITL] = "Time between two tokens.",
	[METRIC_E2E] = "Time from arrival to the last token.",
	[METRIC_QUEUE_TIME] = "Time from arrival to the start of prefill.",
	[METRIC_THROUGHPUT] = "Output tokens a second.",
	[METRIC_RATE] = "Arrivals a second.",
	[METRIC_RATE_PER_REPLICA] = "Arrivals a second and ready replica.",
	[METRIC_READY] = "Replicas that are ready.",
	[METRIC_WANTED] = "Replicas that are wanted.",
	[METRIC_QUEUE] = "Requests that wait, mean over time.",
	[METRIC_BATCH] = "Requests that run, mean over time.",
	[METRIC_IN_FLIGHT] = "Requests inside, mean over time.",
	[METRIC_MOVED_KEYS] = "Keys whose deployment changed.",
	[METRIC_COUNT] = "Events of a type.",
	[METRIC_KEYS_ON_TWO] = "Keys that two deployments served.",
};

static const char *policy_name(size_t i)
{
	return route_policy_name(i);
}

static const char *engine_name(size_t i)
{
	return replica_engine_name(i);
}

static const char *metric_name(size_t i)
{
	return i < MEASURE_METRICS ? measure_metric_name((enum measure_metric)i)
	                           : NULL;
}

/* Lists of names beside the fields. */
static const struct list {
	const char *plural;
	const char *what;
	const char *(*name)(size_t i);
} lists[] = {
	{"metrics", "A metric of rules and reports.", metric_name},
	{"policies",
         "A policy that picks a replica: a value of "
         "endpoint.deployments[].replica_choice.",
         policy_name},
	{"engines", "How a replica works: a value of config.engine.",
         engine_name},
};

enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

/* "traffic[3].rate" and "$.traffic[].rate" are "traffic[].rate". */
static void plain_path(const char *word, char *buf, size_t size)
{
	size_t at = 0;

	if (strncmp(word, "$.", 2) == 0)
		word += 2;
	while (*word && at + 1 < size) {
		buf[at++] = *word;
		if (*word++ != '[')
			continue;
		while (*word && *word != ']')
			word++;
	}
	buf[at] = '\0';
}

static void field_path(const struct scenario_field *f, char *buf, size_t size)
{
	if (strcmp(f->object, "scenario") == 0)
		snprintf(buf, size, "%s", f->name);
	else
		snprintf(buf, size, "%s.%s", f->object, f->name);
}

static bool field_meant(const struct scenario_field *f, const char *word)
{
	char path[PATH_SIZE], wanted[PATH_SIZE];

	field_path(f, path, sizeof(path));
	plain_path(word, wanted, sizeof(wanted));
	return strcmp(wanted, path) == 0 || strcmp(wanted, f->name) == 0;
}

/* ---- saying it --------------------------------------------------------- */

static json_t *field_json(const struct scenario_field *f)
{
	char path[PATH_SIZE];

	field_path(f, path, sizeof(path));
	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:s}", "field", path, "type",
	                 f->type, "range", f->range, "default", f->fallback,
	                 "required", f->fallback[0] == '\0', "sentence",
	                 f->sentence);
}

static void field_text(FILE *to, const struct scenario_field *f)
{
	char path[PATH_SIZE];

	field_path(f, path, sizeof(path));
	fprintf(to, "%s\n", path);
	explain_wrapped(to, "  ", f->sentence);
	fprintf(to, "  type     %s\n", f->type);
	if (f->range[0])
		fprintf(to, "  range    %s\n", f->range);
	fprintf(to, "  default  %s\n",
	        f->fallback[0] ? f->fallback : "none, it is required");
}

static const char *sentence_of(const struct list *l, size_t i)
{
	if (l->name == metric_name && metrics[i] != NULL)
		return metrics[i];
	return l->what;
}

static json_t *word_json(const struct list *l, size_t i)
{
	return json_pack("{s:s,s:s,s:s}", "name", l->name(i), "kind", l->plural,
	                 "sentence", sentence_of(l, i));
}

static void word_text(FILE *to, const struct list *l, size_t i)
{
	fprintf(to, "%s\n", l->name(i));
	explain_wrapped(to, "  ", l->what);
	if (sentence_of(l, i) != l->what)
		explain_wrapped(to, "  ", sentence_of(l, i));
}

/* Says all that a word means; the number of meanings. */
static size_t say_word(FILE *to, const char *word, json_t *json)
{
	const struct scenario_field *f;
	size_t n = 0;

	for (size_t i = 0; (f = scenario_field(i)) != NULL; i++) {
		if (!field_meant(f, word))
			continue;
		if (json)
			json_array_append_new(json, field_json(f));
		else
			field_text(to, f);
		n++;
	}
	for (size_t k = 0; k < LISTS; k++)
		for (size_t i = 0; lists[k].name(i) != NULL; i++) {
			if (strcmp(lists[k].name(i), word) != 0 &&
			    strcmp(lists[k].plural, word) != 0)
				continue;
			if (json)
				json_array_append_new(json,
				                      word_json(&lists[k], i));
			else
				word_text(to, &lists[k], i);
			n++;
		}
	return n;
}

void explain_wrapped(FILE *to, const char *indent, const char *text)
{
	size_t room = WIDTH - strlen(indent);

	while (strlen(text) > room) {
		size_t cut = room;

		while (cut > 0 && text[cut] != ' ')
			cut--;
		if (cut == 0)
			cut = room;
		fprintf(to, "%s%.*s\n", indent, (int)cut, text);
		text += cut;
		text += strspn(text, " ");
	}
	fprintf(to, "%s%s\n", indent, text);
}

/* ---- all of it --------------------------------------------------------- */

/* The names of one list or object, wrapped. */
static void say_names(FILE *to, const char *head, const char *const *names,
                      size_t n)
{
	size_t at = 0;

	fprintf(to, "%s\n", head);
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(names[i]);

		if (at > 0 && at + length + 3 > WIDTH) {
			fputs(",\n", to);
			at = 0;
		}
		at += (size_t)fprintf(to, "%s%s", at > 0 ? ", " : "  ",
		                      names[i]);
	}
	fputc('\n', to);
}

static void overview(FILE *to)
{
	const char *names[NAMES_MAX];
	const struct scenario_field *f, *next;
	size_t n = 0;

	fputs("weir explain NAME says more of each of these.\n\n", to);
	fputs("models\n  config revisions by model, what they reach and how "
	      "far they are off\n",
	      to);
	for (size_t i = 0; (f = scenario_field(i)) != NULL; i++) {
		if (n < NAMES_MAX)
			names[n++] = f->name;
		next = scenario_field(i + 1);
		if (next && strcmp(next->object, f->object) == 0)
			continue;
		say_names(to, f->object, names, n);
		n = 0;
	}
	for (size_t k = 0; k < LISTS; k++) {
		for (n = 0; n < NAMES_MAX && lists[k].name(n) != NULL; n++)
			names[n] = lists[k].name(n);
		say_names(to, lists[k].plural, names, n);
	}
}

static int unknown(const char *word, const struct options *o)
{
	static const char *const topics[] = {"models", "metrics", "policies",
	                                     "engines"};
	const char *names[NAMES_MAX], *near;
	const struct scenario_field *f;
	struct arena arena;
	char path[PATH_SIZE];
	size_t n = 0;
	int wrong;

	arena_init(&arena);
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		names[n++] = topics[i];
	for (size_t k = 0; k < LISTS; k++)
		for (size_t i = 0; n < NAMES_MAX && lists[k].name(i) != NULL;
		     i++)
			names[n++] = lists[k].name(i);
	for (size_t i = 0; n + 2 < NAMES_MAX && (f = scenario_field(i)) != NULL;
	     i++) {
		field_path(f, path, sizeof(path));
		names[n++] = f->name;
		names[n++] = arena_strdup(&arena, path);
	}
	n += explain_model_names(o, &arena, names + n, NAMES_MAX - n);
	plain_path(word, path, sizeof(path));
	near = base_nearest(path, names, n);
	wrong = near ? cli_usage("explain: %s: no such name; did you mean "
	                         "\"%s\"?",
	                         word, near)
	             : cli_usage("explain: %s: no such name; weir explain "
	                         "lists them",
	                         word);
	arena_fini(&arena);
	return wrong;
}

static int say_all(const struct options *o, FILE *to, json_t *json)
{
	for (size_t i = 0; i < o->n_files; i++) {
		const char *word = o->file[i];
		int found = explain_models(o, word, to, json);

		if (found < 0)
			return EXIT_INPUT;
		if (found == 0 && say_word(to, word, json) == 0)
			return unknown(word, o);
	}
	if (o->n_files == 0 && json == NULL)
		overview(to);
	for (size_t i = 0; o->n_files == 0 && json && scenario_field(i); i++)
		json_array_append_new(json, field_json(scenario_field(i)));
	return EXIT_HELD;
}

int verb_explain(const struct options *o)
{
	json_t *json = o->format == FORMAT_JSON ? json_array() : NULL;
	struct answer answer;
	struct err e = {0};
	char *text = NULL;
	size_t size = 0;
	/* Nothing is said before all names are known. */
	FILE *to = open_memstream(&text, &size);
	int result;

	assert(to);
	result = say_all(o, to, json);
	if (json && result == EXIT_HELD) {
		json_dumpf(json, to, JSON_INDENT(2));
		fputc('\n', to);
	}
	json_decref(json);
	fclose(to);
	if (result == EXIT_HELD && answer_open(&answer, o, &e) != 0) {
		result = cli_wrong(&e);
	} else if (result == EXIT_HELD) {
		fputs(text, answer.to);
		result = answer_close(&answer);
	}
	free(text);
	return result;
}
