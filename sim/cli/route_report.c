/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares, stickiness and movement, as text or as one JSON object. */
#include "route_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *verdict(bool holds)
{
	return holds ? "pass" : "FAIL";
}

/* ---- text -------------------------------------------------------------- */

static void text_shares(FILE *to, const struct ledger *l,
                        const struct share_verdict *v)
{
	char a[40];
	int width = 10;

	for (uint32_t i = 0; i < l->n_names; i++)
		if ((int)strlen(l->name[i].id) > width)
			width = (int)strlen(l->name[i].id);
	fprintf(to, "%-*s  %9s  %9s  %21s  %11s  %8s\n", width, "deployment",
	        "expected", "share", "99.9 %", "keys", "p");
	for (uint32_t i = 0; i < l->n_names; i++) {
		char id[80];

		fprintf(to,
		        "%-*s  %7.3f %%  %7.3f %%  %7.3f .. %7.3f %%  "
		        "%11s  %8.2g%s\n",
		        width, show_text(l->name[i].id, id, sizeof(id)),
		        100 * v[i].expected, 100 * v[i].seen, 100 * v[i].low,
		        100 * v[i].high, show_count(v[i].keys, a, sizeof(a)),
		        v[i].p, v[i].holds ? "" : "  FAIL");
	}
	fputc('\n', to);
}

static void text_moved(FILE *to, const struct moved_verdict *v)
{
	char a[40], b[40];

	fprintf(to,
	        "  %s   moved: %.4g %% of %s keys (%.4g .. %.4g %%), least "
	        "%.4g %%, p %.2g\n",
	        verdict(v->holds), 100 * v->seen,
	        show_count(v->keys, a, sizeof(a)), 100 * v->low, 100 * v->high,
	        100 * v->least, v->p);
	if (v->wrong > 0)
		fprintf(to,
		        "         %s of them to a deployment that did not "
		        "grow against the one they left\n",
		        show_count(v->wrong, b, sizeof(b)));
}

static void text_sticky(FILE *to, const struct ledger *l, int sides)
{
	uint64_t two = l->on_two[0] + (sides > 1 ? l->on_two[1] : 0);
	char a[40], example[256];

	fprintf(to, "  %s   stickiness: keys on two deployments: %s\n",
	        verdict(two == 0), show_count(two, a, sizeof(a)));
	if (two > 0)
		fprintf(to, "         %s\n",
		        show_text(l->example, example, sizeof(example)));
}

static void text_report_of(FILE *to, const struct route_report *r,
                           const struct share_verdict *shares, bool hold,
                           const struct moved_verdict *moved)
{
	const struct ledger *l = r->ledger;
	char a[40], b[40];

	if (r->shares)
		text_shares(to, l, shares);
	fprintf(to, "  keys   %s distinct of %s\n",
	        show_count(l->distinct[0], a, sizeof(a)),
	        show_count(l->decisions[0], b, sizeof(b)));
	if (r->shares)
		fprintf(to, "  %s   shares: as %s has them\n", verdict(hold),
		        r->table[0]);
	if (r->foreign)
		text_sticky(to, l, r->moved ? 2 : 1);
	if (r->moved)
		text_moved(to, moved);
}

/* ---- JSON -------------------------------------------------------------- */

static void put(json_t *o, const char *name, json_t *value)
{
	json_object_set_new(o, name, value);
}

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *json_shares(const struct ledger *l,
                           const struct share_verdict *v)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < l->n_names; i++) {
		json_t *x = json_object();

		put(x, "deployment", json_string(l->name[i].id));
		put(x, "capacity", count(l->name[i].capacity[0]));
		put(x, "keys", count(v[i].keys));
		put(x, "expected", json_real(v[i].expected));
		put(x, "share", json_real(v[i].seen));
		put(x, "low", json_real(v[i].low));
		put(x, "high", json_real(v[i].high));
		put(x, "p", json_real(v[i].p));
		put(x, "holds", json_boolean(v[i].holds));
		json_array_append_new(list, x);
	}
	return list;
}

static json_t *json_moved(const struct moved_verdict *v)
{
	json_t *x = json_object();

	put(x, "keys", count(v->keys));
	put(x, "moved", count(v->moved));
	put(x, "wrong", count(v->wrong));
	put(x, "share", json_real(v->seen));
	put(x, "low", json_real(v->low));
	put(x, "high", json_real(v->high));
	put(x, "least", json_real(v->least));
	put(x, "p", json_real(v->p));
	put(x, "holds", json_boolean(v->holds));
	return x;
}

static void json_report(FILE *to, const struct route_report *r,
                        const struct share_verdict *shares,
                        const struct moved_verdict *moved)
{
	const struct ledger *l = r->ledger;
	json_t *all = json_object();

	put(all, "table", json_string(r->table[0]));
	put(all, "decisions", count(l->decisions[0]));
	put(all, "keys", count(l->distinct[0]));
	if (r->shares)
		put(all, "shares", json_shares(l, shares));
	if (r->foreign) {
		put(all, "keys_on_two",
		    count(l->on_two[0] + (r->moved ? l->on_two[1] : 0)));
		put(all, "example",
		    l->example[0] ? json_string(l->example) : json_null());
	}
	if (r->moved) {
		put(all, "table_after", json_string(r->table[1]));
		put(all, "moved_keys", json_moved(moved));
	}
	json_dumpf(all, to,
	           JSON_INDENT(2) | JSON_PRESERVE_ORDER |
	                   JSON_REAL_PRECISION(15));
	fputc('\n', to);
	json_decref(all);
}

bool route_report_print(FILE *to, const struct route_report *r,
                        enum cli_format format)
{
	const struct ledger *l = r->ledger;
	struct share_verdict *shares = mem_new(l->n_names, sizeof(*shares));
	struct moved_verdict moved = {.holds = true};
	bool hold = true, sticky = true;

	if (r->shares)
		hold = judge_shares(l, 0, shares);
	if (r->moved)
		moved = judge_moved_keys(l);
	if (r->foreign)
		sticky = l->on_two[0] == 0 && l->on_two[1] == 0;
	if (format == FORMAT_JSON)
		json_report(to, r, shares, &moved);
	else
		text_report_of(to, r, shares, hold, &moved);
	mem_free(shares);
	return hold && moved.holds && sticky;
}
