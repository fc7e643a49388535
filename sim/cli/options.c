/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One table of options: reading and help come from it. A value follows as
 * the next word or after '='; words that are not options may stand anywhere;
 * "--" ends the options.
 */
#include "cli_int.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

struct option {
	const char *name;  /* without the dashes */
	const char *value; /* what stands after it; NULL: nothing */
	const char *sentence;
	char id;     /* the letter verbs name it by */
	char letter; /* -o; 0: none */
};

static const struct option table[] = {
	{"set", "PATH=VALUE", "change a field of the scenario", 's', 0},
	{"vary", "PATH=a,b,c|LO..HI/STEPS",
         "run a cell for each value; repeat it for a grid", 'v', 0},
	{"reps", "N", "replications to pool", 'r', 0},
	{"seed", "N", "seed of all random streams", 'S', 0},
	{"duration", "TIME", "simulated time, such as 20m", 'u', 0},
	{"warmup", "TIME", "time that latencies leave out", 'w', 0},
	{"dir", "DIR",
         "leave the results there: tables, events, the effective input", 'D',
         0},
	{"log", "all", "requests.csv of every replication", 'l', 0},
	{"data", "DIR", "look there too for files a scenario names", 'd', 0},
	{"output", "FORMAT[=FILE]", "text or json", 'o', 'o'},
	{"profile", "FILE", "write a load profile of the trace", 'p', 0},
	{"interval", "TIME", "of the profile's rates (1m)", 'i', 0},
	{"columns", "FIELD=COLUMN,...",
         "names of a CSV's columns: arrival_us, input_tokens, "
         "output_tokens, key",
         'c', 0},
	{"against", "SWEEP", "predict its rows by running them; repeatable",
         'a', 0},
	{"isl", "N", "input tokens a request, where the file does not say", 'I',
         0},
	{"osl", "N", "output tokens a request, where the file does not say",
         'L', 0},
	{"concurrency", "N", "clients, where the file does not say", 'n', 0},
	{"out", "FILE", "write the config revision: cr_NAME.json", 'O', 0},
	{"csv", "COLUMN", "keys are a column of a CSV with a header", 'k', 0},
	{"json", NULL,
         "keys are of request bodies, one a line: prompt_cache_key, else "
         "user, else content",
         'j', 0},
	{"count", NULL,
         "say only the shares of distinct keys, tested against the table", 'N',
         0},
	{"diff", "TABLE2",
         "say only which keys move to it, against the least possible", 'f', 0},
	{"decisions", "FILE",
         "judge another router: JSON Lines of key and deployment; twice "
         "with --diff",
         'e', 0},
	{"filter", "TEXT", "only scenarios with TEXT in their file or name",
         'F', 0},
	{"jobs", "N", "so many at a time (all cores); changes no answer", 'J',
         'j'},
	{"record", "DIR", "write the numbers of each scenario as its baseline",
         'R', 0},
	{"baseline", "DIR",
         "compare with these (baselines/ beside a scenario, if there)", 'B', 0},
	{"accept", NULL, "take the numbers of now into the baselines", 'A', 0},
	{"output", "FORMAT[=FILE]", "text, tap, junit or github", 't', 'o'},
	{"exact-steps", NULL, "run every step of a replica instead of leaping",
         'x', 0},
	{"quiet", NULL, "say only errors and rules that do not hold", 'q', 'q'},
	{"progress", "auto|always|never", "on stderr", 'P', 0},
	{"color", "auto|always|never", "of verdicts; see NO_COLOR", 'C', 0},
};

enum { OPTIONS = sizeof(table) / sizeof(table[0]) };

/* "--seed" has said what "$.seed" says. */
static bool says_it_twice(const struct err *e)
{
	return strncmp(e->where, "--", 2) == 0 &&
	       strncmp(e->path, "$.", 2) == 0 &&
	       strcmp(e->where + 2, e->path + 2) == 0;
}

int cli_wrong(const struct err *e)
{
	struct err once = *e;
	char text[1200];
	char plain[1200];

	if (says_it_twice(e))
		once.path[0] = '\0';
	err_format(&once, text, sizeof(text));
	fprintf(stderr, "%s\n", show_text(text, plain, sizeof(plain)));
	return EXIT_INPUT;
}

int cli_usage(const char *fmt, ...)
{
	char text[1200];
	char plain[1200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "weir: %s\n", show_text(text, plain, sizeof(plain)));
	return EXIT_INPUT;
}

/* ---- help -------------------------------------------------------------- */

static void help_verbs(FILE *to)
{
	const struct verb *v;

	fputs("usage: weir COMMAND [OPTION...] [WORD...]\n\n", to);
	for (size_t i = 0; (v = cli_verb_at(i)) != NULL; i++)
		fprintf(to, "  %-9s %-12s %s\n", v->name, v->words,
		        v->sentence);
	fputs("\n  weir COMMAND --help says more; weir --version\n"
	      "\nexit status: 0 all held, 1 a rule did not hold, 2 bad input,"
	      "\n3 could not finish, 130 interrupted\n",
	      to);
}

void options_help(FILE *to, const struct verb *verb)
{
	if (verb == NULL) {
		help_verbs(to);
		return;
	}
	fprintf(to, "usage: weir %s [OPTION...] %s\n%s\n", verb->name,
	        verb->words, verb->sentence);
	if (verb->options[0])
		fputc('\n', to);
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *t = &table[i];
		char left[64];

		if (!strchr(verb->options, t->id))
			continue;
		snprintf(left, sizeof(left), "%s%s%s%s%s",
		         t->letter == 'o' ? "-o" : "--",
		         t->letter == 'o' ? "" : t->name, t->value ? " " : "",
		         t->value ? t->value : "",
		         t->letter == 'q'   ? ", -q"
		         : t->letter == 'j' ? ", -j N"
		                            : "");
		if (strlen(left) > 20)
			fprintf(to, "  %s\n  %-20s %s\n", left, "",
			        t->sentence);
		else
			fprintf(to, "  %-20s %s\n", left, t->sentence);
	}
}

/* ---- reading ----------------------------------------------------------- */

static int set_when(enum cli_when *when, const char *name, const char *value)
{
	if (strcmp(value, "auto") == 0)
		*when = WHEN_AUTO;
	else if (strcmp(value, "always") == 0)
		*when = WHEN_ALWAYS;
	else if (strcmp(value, "never") == 0)
		*when = WHEN_NEVER;
	else
		return cli_usage("--%s: must be auto, always or never, not %s",
		                 name, value);
	return 0;
}

/* The formats of a verb are those that its option's sentence names. */
static int set_output(struct options *o, const struct option *t,
                      const char *value)
{
	static const char *const names[CLI_FORMATS] = {
		[FORMAT_TEXT] = "text",     [FORMAT_JSON] = "json",
		[FORMAT_TAP] = "tap",       [FORMAT_JUNIT] = "junit",
		[FORMAT_GITHUB] = "github",
	};
	const char *file = strchr(value, '=');
	size_t n = file ? (size_t)(file - value) : strlen(value);
	int i = 0;

	while (i < CLI_FORMATS &&
	       (strncmp(value, names[i], n) != 0 || names[i][n] != '\0' ||
	        strstr(t->sentence, names[i]) == NULL))
		i++;
	if (i == CLI_FORMATS)
		return cli_usage("-o: must be %s, not %.*s", t->sentence,
		                 (int)n, value);
	o->format = (enum cli_format)i;
	o->output = file ? file + 1 : NULL;
	if (file && file[1] == '\0')
		return cli_usage("-o %s: a file's name is missing", value);
	return 0;
}

static int add_set(struct options *o, char *value)
{
	char *equals = strchr(value, '=');

	if (equals == NULL || equals == value)
		return cli_usage("--set %s: must be PATH=VALUE", value);
	if (o->n_sets == CLI_MAX_SETS)
		return cli_usage("--set: at most %d", CLI_MAX_SETS);
	*equals = '\0';
	o->set[o->n_sets++] = (struct scenario_set){value, equals + 1, "--set"};
	return 0;
}

static int add_text(const char **list, size_t *n, size_t most, const char *name,
                    const char *value)
{
	if (*n == most)
		return cli_usage("--%s: at most %zu", name, most);
	list[(*n)++] = value;
	return 0;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int take(struct options *o, const struct option *t, char *value)
{
	if (t->value == NULL) {
		*(t->id == 'q'   ? &o->quiet
		  : t->id == 'j' ? &o->json_bodies
		  : t->id == 'N' ? &o->count
		  : t->id == 'A' ? &o->accept
		                 : &o->exact_steps) = true;
		return 0;
	}
	assert(value);
	switch (t->id) {
	case 's':
		return add_set(o, value);
	case 'v':
		if (strchr(value, '=') == NULL)
			return cli_usage("--vary %s: must be PATH=VALUES",
			                 value);
		return add_text(o->vary, &o->n_vary, CLI_MAX_VARY, t->name,
		                value);
	case 'd':
		if (!is_directory(value))
			return cli_usage("--data %s: not a directory", value);
		return add_text(o->data, &o->n_data, CLI_MAX_PLACES, t->name,
		                value);
	case 'a':
		return add_text(o->against, &o->n_against, CLI_MAX_AGAINST,
		                t->name, value);
	case 'e':
		return add_text(o->decisions, &o->n_decisions, 2, t->name,
		                value);
	case 'o':
	case 't':
		return set_output(o, t, value);
	case 'P':
		return set_when(&o->progress, t->name, value);
	case 'C':
		return set_when(&o->color, t->name, value);
	case 'l':
		if (strcmp(value, "all") != 0)
			return cli_usage("--log: must be all, not %s", value);
		o->log_all = true;
		return 0;
	default:
		break;
	}
	*(t->id == 'r'   ? &o->reps
	  : t->id == 'S' ? &o->seed
	  : t->id == 'u' ? &o->duration
	  : t->id == 'w' ? &o->warmup
	  : t->id == 'D' ? &o->dir
	  : t->id == 'p' ? &o->profile
	  : t->id == 'i' ? &o->interval
	  : t->id == 'I' ? &o->isl
	  : t->id == 'L' ? &o->osl
	  : t->id == 'n' ? &o->concurrency
	  : t->id == 'O' ? &o->out
	  : t->id == 'k' ? &o->csv
	  : t->id == 'f' ? &o->diff
	  : t->id == 'F' ? &o->filter
	  : t->id == 'J' ? &o->jobs
	  : t->id == 'R' ? &o->record
	  : t->id == 'B' ? &o->baseline
	                 : &o->columns) = value;
	return 0;
}

static const struct option *find(const struct verb *verb, const char *name,
                                 size_t n, char letter)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *t = &table[i];

		if (!strchr(verb->options, t->id))
			continue;
		if (letter ? t->letter == letter
		           : strlen(t->name) == n &&
		                     strncmp(t->name, name, n) == 0)
			return t;
	}
	return NULL;
}

static int unknown(const struct verb *verb, const char *word)
{
	const char *names[OPTIONS];
	size_t n = 0;
	const char *near;

	for (size_t i = 0; i < OPTIONS; i++)
		if (strchr(verb->options, table[i].id))
			names[n++] = table[i].name;
	near = base_nearest(word + 2, names, n);
	if (near)
		return cli_usage("%s: no such option of %s; did you mean "
		                 "--%s?",
		                 word, verb->name, near);
	return cli_usage("%s: no such option of %s; weir %s --help lists them",
	                 word, verb->name, verb->name);
}

/* Reads the option at argv[*i]; moves *i over its value. */
static int read_option(struct options *o, const struct verb *verb, int argc,
                       char **argv, int *i)
{
	char *word = argv[*i];
	char *value = NULL;
	const struct option *t;

	if (word[1] == '-') {
		size_t n = strcspn(word + 2, "=");

		t = find(verb, word + 2, n, 0);
		if (word[2 + n] == '=')
			value = word + 3 + n;
	} else {
		t = find(verb, NULL, 0, word[1]);
		if (word[2] != '\0')
			value = word + 2;
	}
	if (t == NULL)
		return unknown(verb, word);
	if (t->value == NULL) {
		if (value)
			return cli_usage("%s: takes no value", word);
		return take(o, t, NULL);
	}
	if (value == NULL && *i + 1 < argc)
		value = argv[++*i];
	if (value == NULL)
		return cli_usage("%s: %s is missing", word, t->value);
	return take(o, t, value);
}

int options_read(struct options *o, const struct verb *verb, int argc,
                 char **argv)
{
	bool words_only = false;
	int wrong = 0;

	for (int i = 0; i < argc && !wrong; i++) {
		char *word = argv[i];

		if (!words_only && strcmp(word, "--") == 0)
			words_only = true;
		else if (!words_only && (strcmp(word, "--help") == 0 ||
		                         strcmp(word, "-h") == 0))
			o->help = true;
		else if (!words_only && word[0] == '-' && word[1] != '\0')
			wrong = read_option(o, verb, argc, argv, &i);
		else
			wrong = add_text(o->file, &o->n_files,
			                 sizeof(o->file) / sizeof(o->file[0]),
			                 verb->words, word);
	}
	if (!wrong && o->log_all && o->dir == NULL && !o->help)
		return cli_usage("--log all: goes with --dir");
	return wrong;
}

int verb_help(const struct options *o)
{
	const struct verb *v = NULL;

	if (o->n_files > 0) {
		v = cli_verb(o->file[0]);
		if (v == NULL)
			return cli_usage("%s: no such command; weir help "
			                 "lists them",
			                 o->file[0]);
	}
	options_help(stdout, v);
	return EXIT_HELD;
}
