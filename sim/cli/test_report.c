/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct test_format *format_of(enum cli_format format)
{
	switch (format) {
	case FORMAT_TAP:
		return &test_tap;
	case FORMAT_JUNIT:
		return &test_junit;
	case FORMAT_GITHUB:
		return &test_github;
	case FORMAT_TEXT:
	case FORMAT_JSON:
	case CLI_FORMATS:
		break;
	}
	return &test_text;
}

void test_print(FILE *to, const struct trials *t, enum cli_format format,
                bool color)
{
	const struct test_format *f = format_of(format);

	f->begin(to, t);
	for (size_t i = 0; i < t->n; i++)
		f->trial(to, &t->trial[i], i + 1, color);
	f->end(to, t);
}

void test_print_failures(FILE *to, const struct trials *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (trial_exit(&t->trial[i]) != EXIT_HELD)
			test_text.trial(to, &t->trial[i], i + 1, false);
}

/* The lines of the screen, with single blanks. */
const char *test_rule_line(struct arena *a, const struct measure_rule *rule,
                           const struct study_judgement *j)
{
	char *text = NULL, *copy, *to;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	assert(f);
	text_rule(f, rule, j, false);
	fclose(f);
	copy = arena_strdup(a, text);
	free(text);
	to = copy;
	for (const char *s = copy; *s; s++) {
		bool blank = *s == ' ' || *s == '\n';

		if (!blank)
			*to++ = *s;
		else if (to > copy && to[-1] != ' ')
			*to++ = ' ';
	}
	while (to > copy && to[-1] == ' ')
		to--;
	*to = '\0';
	return copy;
}

const char *test_show_number(const json_t *value, char *buf, size_t size)
{
	if (json_is_integer(value))
		snprintf(buf, size, "%lld",
		         (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(buf, size, "%.9g", json_real_value(value));
	else if (json_is_string(value))
		show_text(json_string_value(value), buf, size);
	else
		snprintf(buf, size, "-");
	return buf;
}
