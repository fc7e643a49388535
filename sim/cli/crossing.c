/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which choice leads where: in a grid of a choice and a number (a config and
 * a concurrency), the choice with the most output tokens a second for each
 * number, and the numbers at which the lead changes hands.
 */
#include "cli_int.h"

#include <stdlib.h>
#include <string.h>

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end != text && *end == '\0';
}

static double throughput(const struct outcome *o)
{
	const struct measure_scope_result *e =
		measure_result_scope(o->result, SCOPE_ENDPOINT, 0);

	return (double)e->output_tokens / e->seconds;
}

/* The axis whose values are all numbers, when the other one's are not. */
static bool find_axes(const struct cells *c, size_t *number, size_t *choice)
{
	bool all[2] = {true, true};

	if (c->n_axes != 2)
		return false;
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < 2; k++)
			all[k] &= is_number(c->cell[i].value[k]);
	*number = all[0] ? 0 : 1;
	*choice = 1 - *number;
	return all[0] != all[1];
}

/* The choice that leads at the number of cell `at`. */
static const char *leader(const struct cells *c, const struct outcome *o,
                          size_t at, size_t number, size_t choice)
{
	const char *value = c->cell[at].value[number];
	const char *best = NULL;
	double most = -1;

	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->cell[i].value[number], value) != 0 ||
		    o[i].result == NULL || throughput(&o[i]) <= most)
			continue;
		most = throughput(&o[i]);
		best = c->cell[i].value[choice];
	}
	return best;
}

/* The cell with the least number above `above`; c->n when there is none. */
static size_t next_number(const struct cells *c, size_t number, double above)
{
	size_t best = c->n;

	for (size_t i = 0; i < c->n; i++) {
		double x = strtod(c->cell[i].value[number], NULL);

		if (x > above &&
		    (best == c->n ||
		     x < strtod(c->cell[best].value[number], NULL)))
			best = i;
	}
	return best;
}

void text_crossing(FILE *to, const struct cells *c, const struct outcome *o)
{
	size_t number, choice, at;
	const char *was = NULL;
	const char *last = NULL;
	double above = -1e300;

	if (!find_axes(c, &number, &choice))
		return;
	fputs("\nmost output tokens/s:", to);
	while ((at = next_number(c, number, above)) < c->n) {
		const char *is = leader(c, o, at, number, choice);

		above = strtod(c->cell[at].value[number], NULL);
		if (is == NULL)
			continue;
		if (was == NULL)
			fprintf(to, " %s", is);
		else if (strcmp(is, was) != 0)
			fprintf(to, " up to %s, %s from %s", last, is,
			        c->cell[at].value[number]);
		was = is;
		last = c->cell[at].value[number];
	}
	fputs(was ? " on\n" : " -\n", to);
}
