/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

static const char *verdict_color(enum study_verdict v, bool color)
{
	if (!color)
		return "";
	return v == VERDICT_PASS ? GREEN : v == VERDICT_FAIL ? RED : YELLOW;
}

/* What a rule saw, in as few words as tell it. */
static void rule_detail(const struct study_judgement *j, char *buf, size_t size)
{
	char a[48], b[48], c[48];
	int n = snprintf(buf, size, "%s",
	                 show_value(j->seen, j->unit, a, sizeof(a)));
	bool tested = isfinite(j->p);

	if (n > 0 && (size_t)n < size && tested)
		n += snprintf(buf + n, size - (size_t)n, "   n %s, p %s",
		              show_count((uint64_t)j->n, a, sizeof(a)),
		              j->p < 1e-6 ? "< 1e-6"
		                          : show_number(j->p, 2, b, sizeof(b)));
	if (n > 0 && (size_t)n < size && tested && !isnan(j->sees))
		n += snprintf(buf + n, size - (size_t)n,
		              isinf(j->sees) ? ", sees nothing"
		                             : ", sees %.2g %%",
		              100 * j->sees);
	if (n > 0 && (size_t)n < size && !tested && isfinite(j->low) &&
	    isfinite(j->high))
		n += snprintf(buf + n, size - (size_t)n, "   (%s .. %s)",
		              show_value(j->low, j->unit, a, sizeof(a)),
		              show_value(j->high, j->unit, b, sizeof(b)));
	if (n > 0 && (size_t)n < size && j->verdict != VERDICT_PASS &&
	    isfinite(j->bound))
		n += snprintf(buf + n, size - (size_t)n, "   bound %s",
		              show_value(j->bound, j->unit, a, sizeof(a)));
	if (n > 0 && (size_t)n < size && isfinite(j->request_share) &&
	    fabs(j->request_share - j->seen) > 0.0005)
		n += snprintf(buf + n, size - (size_t)n, "   of requests %s",
		              show_value(j->request_share, UNIT_FRACTION, c,
		                         sizeof(c)));
	if (n > 0 && (size_t)n < size && j->verdict == VERDICT_UNDECIDED)
		snprintf(buf + n, size - (size_t)n,
		         j->reps_needed ? "   undecided: --reps %" PRIu32
		                        : "   undecided",
		         j->reps_needed);
}

enum { WIDTH = 80, RULE_COLUMN = 49, INDENT = 9 };

void text_rule(FILE *to, const struct measure_rule *rule,
               const struct study_judgement *j, bool color)
{
	char detail[400];
	char plain[512];
	size_t text =
		INDENT + strlen(show_text(rule->text, plain, sizeof(plain)));
	size_t at = text + 2 < RULE_COLUMN ? RULE_COLUMN : text + 2;

	rule_detail(j, detail, sizeof(detail));
	fprintf(to, "  %s%-4s%s   %s", verdict_color(j->verdict, color),
	        study_verdict_name(j->verdict), color ? PLAIN : "", plain);
	if (at + strlen(detail) <= WIDTH)
		fprintf(to, "%*s%s\n", (int)(at - text), "", detail);
	else
		fprintf(to, "\n%*s%s\n", INDENT, "", detail);
	if (j->note[0])
		fprintf(to, "%*s%s\n", INDENT, "", j->note);
}

void text_failures(FILE *to, const struct outcome *o, const struct cell *cell)
{
	const struct scenario *s = o->scenario;
	char detail[400], a[256], b[256], c[512], d[160];

	for (uint32_t i = 0; i < s->n_rules; i++) {
		const struct study_judgement *j = &o->judgement[i];

		if (j->verdict == VERDICT_PASS)
			continue;
		rule_detail(j, detail, sizeof(detail));
		fprintf(to, "%s%s%s: %s %s   %s%s%s\n",
		        show_text(s->name, a, sizeof(a)),
		        cell->name[0] ? " " : "",
		        show_text(cell->name, b, sizeof(b)),
		        study_verdict_name(j->verdict),
		        show_text(s->rules[i].text, c, sizeof(c)), detail,
		        j->note[0] ? "   " : "",
		        show_text(j->note, d, sizeof(d)));
	}
}
