/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/rule_int.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int fail(struct rule_reader *r, size_t place, const char *fmt,
                va_list args)
{
	char text[480];

	assert(place <= strlen(r->text));
	vsnprintf(text, sizeof(text), fmt, args);
	return err_set(r->err, NULL, 0, (int)place + 1, NULL, "%s", text);
}

int rule_fail(struct rule_reader *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fail(r, r->begin, fmt, args);
	va_end(args);
	return -1;
}

int rule_fail_at(struct rule_reader *r, size_t place, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fail(r, place, fmt, args);
	va_end(args);
	return -1;
}

bool rule_is(const struct rule_reader *r, const char *text)
{
	if (r->token == TOKEN_SIGN)
		return strcmp(r->sign, text) == 0;
	return r->token == TOKEN_WORD && strcmp(r->word, text) == 0;
}

int rule_want(struct rule_reader *r, const char *text)
{
	if (rule_is(r, text))
		return rule_next(r);
	if (r->token == TOKEN_END)
		return rule_fail(r, "\"%s\" is missing at the end", text);
	return rule_fail(r, "\"%s\" is wanted before \"%.20s\"", text,
	                 r->text + r->begin);
}

#define DIGITS "0123456789"

/* A dot that begins ".." ends a number or word. */
static bool is_range(const char *at)
{
	return at[0] == '.' && at[1] == '.';
}

static bool is_word(const char *at, const char *begin)
{
	if (isalnum((unsigned char)*at) || *at == '_')
		return true;
	if (*at == '.')
		return !is_range(at);
	/* chat-eu is one word, a - b is not */
	return (*at == '-' || *at == ':') && at > begin &&
	       isalnum((unsigned char)at[1]);
}

static int lex_word(struct rule_reader *r)
{
	const char *begin = r->at;
	size_t n;

	while (is_word(r->at, begin))
		r->at++;
	n = (size_t)(r->at - begin);
	if (n >= sizeof(r->word))
		return rule_fail(r, "a word of more than %d letters",
		                 RULE_WORD_MAX - 1);
	memcpy(r->word, begin, n);
	r->word[n] = '\0';
	r->token = TOKEN_WORD;
	return 0;
}

/* The length of 12, 1.5 or 1e-3; a dot of ".." is not part of it. */
static size_t plain_length(const char *at)
{
	size_t n = strspn(at, DIGITS), sign;

	if (at[n] == '.' && isdigit((unsigned char)at[n + 1]))
		n += 1 + strspn(at + n + 1, DIGITS);
	if (at[n] != 'e' && at[n] != 'E')
		return n;
	sign = at[n + 1] == '-' || at[n + 1] == '+';
	if (!isdigit((unsigned char)at[n + 1 + sign]))
		return n;
	return n + 1 + sign + strspn(at + n + 1 + sign, DIGITS);
}

/* The length of what a number with a unit may be written in. */
static size_t united_length(const char *at, size_t plain)
{
	size_t n = plain;

	if (at[n] == '%')
		return n + 1;
	if (at[n] == '/' && at[n + 1] && strchr("smhd", at[n + 1]) &&
	    !isalnum((unsigned char)at[n + 2]) && at[n + 2] != '_')
		return n + 2;
	while (isalnum((unsigned char)at[n]) || at[n] == '_' ||
	       (at[n] == '.' && !is_range(at + n)))
		n++;
	return n;
}

/* 500 ms, 50 %: refused, for else only what follows would be. */
static int refuse_space(struct rule_reader *r, const char *number)
{
	static const char *const units[] = {"ns", "us", "ms", "s",
	                                    "m",  "h",  "d",  "%"};
	const char *at = r->at + strspn(r->at, " \t");

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i]);

		if (at > r->at && strncmp(at, units[i], n) == 0 &&
		    !is_word(at + n, at))
			return rule_fail(r, "write %s%s, without a space",
			                 number, units[i]);
	}
	return 0;
}

static int lex_number(struct rule_reader *r)
{
	char text[48];
	size_t plain = plain_length(r->at);
	size_t n = united_length(r->at, plain);
	int64_t ns = 0;
	int wrong;

	if (n >= sizeof(text))
		return rule_fail(r, "a number that long is not read");
	memcpy(text, r->at, n);
	text[n] = '\0';
	r->at += n;
	r->token = TOKEN_NUMBER;
	if (n == plain) {
		r->unit = UNIT_PLAIN;
		wrong = units_fraction(text, &r->number);
	} else if (text[plain] == '%') {
		r->unit = UNIT_RATIO;
		wrong = units_fraction(text, &r->number);
	} else if (text[plain] == '/') {
		r->unit = UNIT_PER_S;
		wrong = units_rate(text, &r->number);
	} else {
		r->unit = UNIT_NS;
		wrong = units_duration(text, &ns);
		r->number = (double)ns;
	}
	if (wrong)
		return rule_fail(r,
		                 "\"%s\" is neither a number nor a time "
		                 "such as 500ms",
		                 text);
	return n == plain ? refuse_space(r, text) : 0;
}

static int lex_sign(struct rule_reader *r)
{
	static const char *const signs[] = {"==", "!=", "<=", ">=", "..",
	                                    "<",  ">",  "(",  ")",  ",",
	                                    "+",  "-",  "*",  "/"};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t n = strlen(signs[i]);

		if (strncmp(r->at, signs[i], n) != 0)
			continue;
		memcpy(r->sign, signs[i], n + 1);
		r->token = TOKEN_SIGN;
		r->at += n;
		return 0;
	}
	if (strncmp(r->at, "=>", 2) == 0 || strncmp(r->at, "=<", 2) == 0)
		return rule_fail(r, "\"=%c\" is no comparison; write \"%c=\"",
		                 r->at[1], r->at[1]);
	if (*r->at == '=')
		return rule_fail(r, "\"=\" is no comparison; write \"==\"");
	if (!isprint((unsigned char)*r->at))
		return rule_fail(r, "only letters, digits and signs stand in "
		                    "a rule");
	return rule_fail(r, "\"%c\" has no meaning here", *r->at);
}

int rule_compare(const struct rule_reader *r)
{
	static const char *const signs[] = {
		[COMPARE_EQ] = "==", [COMPARE_NE] = "!=", [COMPARE_LT] = "<",
		[COMPARE_LE] = "<=", [COMPARE_GT] = ">",  [COMPARE_GE] = ">=",
	};

	if (r->token != TOKEN_SIGN)
		return -1;
	for (int i = 0; i <= COMPARE_GE; i++)
		if (strcmp(r->sign, signs[i]) == 0)
			return i;
	return -1;
}

int rule_next(struct rule_reader *r)
{
	assert(r->at >= r->text);
	while (isspace((unsigned char)*r->at))
		r->at++;
	r->begin = (size_t)(r->at - r->text);
	if (*r->at == '\0') {
		r->token = TOKEN_END;
		return 0;
	}
	if (isdigit((unsigned char)*r->at))
		return lex_number(r);
	if (isalpha((unsigned char)*r->at) || *r->at == '_')
		return lex_word(r);
	return lex_sign(r);
}
