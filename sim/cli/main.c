/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifndef WEIR_VERSION
#define WEIR_VERSION "0.1.0"
#endif

static const struct verb verbs[] = {
	{"run", "SCENARIO...",
         "simulate; print the summary; judge the scenario's rules",
         "svrSDdoqPCluwx", verb_run},
	{"validate", "SCENARIO...", "read and check, run nothing", "sdq",
         verb_validate},
	{"plot", "DIR...", "draw the charts of an earlier run as SVG and PNG",
         "q", verb_plot},
	{"trace", "FILE", "describe a trace; --profile writes a load profile",
         "pico", verb_trace},
	{"fit", "SWEEP...", "a batching curve from a measured sweep",
         "aILnODoq", verb_fit},
	{"route", "TABLE [KEYS-FILE]",
         "the routing core alone: keys in, decisions out", "kjNfedoq",
         verb_route},
	{"test", "PATH...",
         "run scenarios side by side; judge rules and baselines",
         "srSduwFJRBAtqC", verb_test},
	{"explain", "[NAME...]", "what a field, metric, policy or model is",
         "od", verb_explain},
	{"help", "[VERB]", "say how weir, or a verb of it, is used", "",
         verb_help},
};

const struct verb *cli_verb_at(size_t i)
{
	return i < sizeof(verbs) / sizeof(verbs[0]) ? &verbs[i] : NULL;
}

const struct verb *cli_verb(const char *name)
{
	const struct verb *v;

	for (size_t i = 0; (v = cli_verb_at(i)) != NULL; i++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

static int unknown(const char *word)
{
	const char *names[sizeof(verbs) / sizeof(verbs[0])];
	size_t n = sizeof(verbs) / sizeof(verbs[0]);
	const char *near;

	for (size_t i = 0; i < n; i++)
		names[i] = verbs[i].name;
	near = base_nearest(word, names, n);
	if (near)
		return cli_usage("%s: no such command; did you mean \"%s\"?",
		                 word, near);
	return cli_usage("%s: no such command; weir help lists them", word);
}

bool cli_stdout_whole(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fputs("weir: standard output: cannot be written\n", stderr);
	return false;
}

/* Lest a file that is opened later takes the place of a closed stdout. */
static void hold_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

static int work(int argc, char **argv)
{
	struct options options = {0};
	const struct verb *verb;
	int wrong;

	if (argc < 2) {
		options_help(stderr, NULL);
		return EXIT_INPUT;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("weir " WEIR_VERSION);
		return EXIT_HELD;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		options_help(stdout, NULL);
		return EXIT_HELD;
	}
	verb = cli_verb(argv[1]);
	if (verb == NULL)
		return unknown(argv[1]);
	wrong = options_read(&options, verb, argc - 2, argv + 2);
	if (wrong)
		return wrong;
	if (options.help) {
		options_help(stdout, verb);
		return EXIT_HELD;
	}
	return verb->run(&options);
}

int main(int argc, char **argv)
{
	int result;

	hold_standard_streams();
	result = work(argc, argv);
	if (result != EXIT_MACHINE && !cli_stdout_whole())
		result = EXIT_MACHINE;
	return result;
}
