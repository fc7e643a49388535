/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir's own sweep CSV: one header for all files, columns in any order, an
 * empty field says nothing. What describes a point may be prose ("about 1100
 * tokens"): that too says nothing, and is remarked on. What was measured must
 * be a number.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fit/read_int.h"

enum kind { TEXT, WHOLE, LENGTH, POSITIVE, MEASURED, LOAD };

struct column {
	const char *name;
	enum kind kind;
	size_t at, size;
};

#define TEXT_OF(member)                                                        \
	TEXT, FIT_AT(member), sizeof(((struct fit_row *)NULL)->member)
#define NUMBER_OF(kind, member) kind, FIT_AT(member), 0

static const struct column columns[] = {
	{"model", TEXT_OF(model)},
	{"params_b", NUMBER_OF(LENGTH, params_b)},
	{"precision", TEXT_OF(precision)},
	{"gpu", TEXT_OF(gpu)},
	{"num_gpus", NUMBER_OF(WHOLE, num_gpus)},
	{"tp", NUMBER_OF(WHOLE, tp)},
	{"engine", TEXT_OF(engine)},
	{"engine_version", TEXT_OF(engine_version)},
	{"isl", NUMBER_OF(LENGTH, isl)},
	{"osl", NUMBER_OF(LENGTH, osl)},
	{"load_mode", NUMBER_OF(LOAD, load)},
	{"concurrency", NUMBER_OF(POSITIVE, concurrency)},
	{"offered_rps", NUMBER_OF(POSITIVE, offered_rps)},
	{"achieved_rps", NUMBER_OF(MEASURED, achieved_rps)},
	{"out_tok_s", NUMBER_OF(MEASURED, out_tok_s)},
	{"ttft_mean_ms", NUMBER_OF(MEASURED, ttft.mean)},
	{"ttft_p50_ms", NUMBER_OF(MEASURED, ttft.p50)},
	{"ttft_p90_ms", NUMBER_OF(MEASURED, ttft.p90)},
	{"ttft_p95_ms", NUMBER_OF(MEASURED, ttft.p95)},
	{"ttft_p99_ms", NUMBER_OF(MEASURED, ttft.p99)},
	{"itl_mean_ms", NUMBER_OF(MEASURED, itl.mean)},
	{"itl_p50_ms", NUMBER_OF(MEASURED, itl.p50)},
	{"itl_p90_ms", NUMBER_OF(MEASURED, itl.p90)},
	{"itl_p95_ms", NUMBER_OF(MEASURED, itl.p95)},
	{"itl_p99_ms", NUMBER_OF(MEASURED, itl.p99)},
	{"e2e_mean_ms", NUMBER_OF(MEASURED, e2e.mean)},
	{"e2e_p50_ms", NUMBER_OF(MEASURED, e2e.p50)},
	{"e2e_p90_ms", NUMBER_OF(MEASURED, e2e.p90)},
	{"e2e_p95_ms", NUMBER_OF(MEASURED, e2e.p95)},
	{"e2e_p99_ms", NUMBER_OF(MEASURED, e2e.p99)},
	{"n_requests", NUMBER_OF(MEASURED, n_requests)},
	{"littles_L", NUMBER_OF(MEASURED, littles_l)},
	{"flag", TEXT_OF(flag)},
	{"variant", TEXT_OF(variant)},
};

static const struct {
	const char *name;
	enum fit_load load;
} loads[] = {
	{"closed", FIT_CLOSED},
	{"open_constant", FIT_OPEN_CONSTANT},
	{"open_poisson", FIT_OPEN_POISSON},
	{"static_batch", FIT_STATIC_BATCH},
	{"burst", FIT_BURST},
};

/* What is said of a column once, however many rows it concerns. */
struct prose {
	uint32_t rows, line;
	char example[64];
};

struct csv {
	struct fit_reading *r;
	struct fit_table table;
	int index[FIT_COUNT(columns)];
	struct prose prose[FIT_COUNT(columns)];
};

static bool detects(const struct fit_input *in)
{
	size_t known = 0, measured = 0;

	for (size_t i = 0; i < FIT_COUNT(columns); i++) {
		if (fit_column(&in->header, columns[i].name) < 0)
			continue;
		known++;
		measured += columns[i].kind == MEASURED;
	}
	return known >= 3 && measured >= 1;
}

/* A column that is not known may be a slip of the pen. */
static void unknown_column(struct csv *c, const char *name)
{
	const char *names[FIT_COUNT(columns)], *near;
	char shown[64];

	for (size_t i = 0; i < FIT_COUNT(columns); i++)
		names[i] = columns[i].name;
	fit_text(shown, sizeof shown, name);
	near = base_nearest(shown, names, FIT_COUNT(names));
	if (near != NULL)
		fit_warn(c->r->sweep, UINT32_MAX, false,
		         "column %s is not known and not read; is it %s?",
		         shown, near);
	else
		fit_warn(c->r->sweep, UINT32_MAX, false,
		         "column %s is not known and not read", shown);
}

static int read_header(struct csv *c)
{
	const struct fit_record *header = &c->table.record[0];
	int at;

	assert(c->table.n > 0);
	for (size_t i = 0; i < FIT_COUNT(columns); i++)
		c->index[i] = fit_column(header, columns[i].name);
	for (uint32_t f = 0; f < header->n; f++) {
		at = fit_column(header, header->field[f]);
		if (at != (int)f)
			return err_set(c->r->e, c->r->in->path, 1, 0,
			               header->field[f], "is there twice");
		at = -1;
		for (size_t i = 0; i < FIT_COUNT(columns); i++)
			if (c->index[i] == (int)f)
				at = (int)i;
		if (at < 0)
			unknown_column(c, header->field[f]);
	}
	return 0;
}

static int bad_field(const struct csv *c, uint32_t line, const char *column,
                     const char *what, const char *field)
{
	char shown[64];

	fit_text(shown, sizeof shown, field);
	return err_set(c->r->e, c->r->in->path, (int)line, 0, column, "%s %s",
	               what, shown);
}

/* "closed(one wave)" is closed: what is in brackets explains. */
static int read_load(const struct csv *c, uint32_t line, const char *field,
                     enum fit_load *load)
{
	size_t n = strcspn(field, "( ");

	for (size_t i = 0; i < FIT_COUNT(loads); i++) {
		if (strlen(loads[i].name) == n &&
		    strncasecmp(field, loads[i].name, n) == 0) {
			*load = loads[i].load;
			return 0;
		}
	}
	return bad_field(c, line, "load_mode",
	                 "must be closed, open_constant, open_poisson, "
	                 "static_batch or burst, not",
	                 field);
}

static void note_prose(struct csv *c, size_t i, uint32_t line,
                       const char *field)
{
	if (c->prose[i].rows++ > 0)
		return;
	c->prose[i].line = line;
	fit_text(c->prose[i].example, sizeof c->prose[i].example, field);
}

static int read_number(struct csv *c, size_t i, uint32_t line,
                       const char *field)
{
	const struct column *k = &columns[i];
	struct fit_row *row = &c->r->sweep->row[c->r->sweep->n - 1];
	char *to = (char *)row + k->at;
	uint32_t whole;
	double v = 0;
	int read = fit_number(field, &v);

	if (read == -2)
		return bad_field(c, line, k->name, "must be finite, not",
		                 field);
	if (read < 0 && (k->kind == LENGTH || k->kind == WHOLE)) {
		note_prose(c, i, line, field);
		return 0;
	}
	if (read < 0)
		return bad_field(c, line, k->name, "must be a number, not",
		                 field);
	if (v < 0)
		return bad_field(c, line, k->name, "must not be below 0, not",
		                 field);
	if (k->kind != MEASURED && v <= 0)
		return bad_field(c, line, k->name, "must be above 0, not",
		                 field);
	if (k->kind != WHOLE) {
		memcpy(to, &v, sizeof v);
		return 0;
	}
	if (v != floor(v) || v > 1e6)
		return bad_field(c, line, k->name,
		                 "must be a whole number, not", field);
	whole = (uint32_t)v;
	memcpy(to, &whole, sizeof whole);
	return 0;
}

static int read_field(struct csv *c, size_t i, uint32_t line, const char *field)
{
	struct fit_row *row = &c->r->sweep->row[c->r->sweep->n - 1];

	field += strspn(field, " \t");
	if (*field == '\0')
		return 0;
	if (columns[i].kind == TEXT) {
		fit_text((char *)row + columns[i].at, columns[i].size, field);
		return 0;
	}
	if (columns[i].kind == LOAD)
		return read_load(c, line, field, &row->load);
	return read_number(c, i, line, field);
}

/* Without a load_mode, a rate alone makes an open loop of unknown kind. */
static int check_load(struct csv *c, const struct fit_record *record)
{
	struct fit_row *row = &c->r->sweep->row[c->r->sweep->n - 1];
	int at = -1;

	for (size_t i = 0; i < FIT_COUNT(columns); i++)
		if (columns[i].kind == LOAD)
			at = c->index[i];
	if (at >= 0 && record->field[at][0] != '\0')
		return 0;
	if (!isnan(row->concurrency) || isnan(row->offered_rps))
		return 0;
	return err_set(c->r->e, c->r->in->path, (int)record->line, 0,
	               "load_mode",
	               "must be open_constant or open_poisson where only "
	               "offered_rps is given");
}

/* What whoever made the file already knew of a row. */
static void repeat_flag(struct fit_reading *r)
{
	const struct fit_row *row = &r->sweep->row[r->sweep->n - 1];

	if (row->flag[0] == '\0' || strncmp(row->flag, "ok", 2) == 0 ||
	    strncmp(row->flag, "derived:", 8) == 0 ||
	    strcmp(row->flag, "static") == 0)
		return;
	fit_remark(r, "the file says of it: %s", row->flag);
}

static int read_row(struct csv *c, const struct fit_record *record)
{
	if (record->n != c->table.record[0].n)
		return err_set(c->r->e, c->r->in->path, (int)record->line, 0,
		               NULL, "has %u fields, the header %u", record->n,
		               c->table.record[0].n);
	if (fit_reading_row(c->r, record->line) == NULL)
		return -1;
	for (size_t i = 0; i < FIT_COUNT(columns); i++)
		if (c->index[i] >= 0 &&
		    read_field(c, i, record->line, record->field[c->index[i]]) <
		            0)
			return -1;
	repeat_flag(c->r);
	return check_load(c, record);
}

static void tell_prose(const struct csv *c)
{
	for (size_t i = 0; i < FIT_COUNT(columns); i++)
		if (c->prose[i].rows > 0)
			fit_warn(c->r->sweep, UINT32_MAX, false,
			         "%s is no number in %u rows, taken as not "
			         "said (line %u: %s)",
			         columns[i].name, c->prose[i].rows,
			         c->prose[i].line, c->prose[i].example);
}

static int reads(struct fit_reading *r)
{
	struct csv c;

	memset(&c, 0, sizeof c);
	c.r = r;
	if (fit_table(r->in, &c.table, r->e) < 0 || read_header(&c) < 0)
		return -1;
	for (uint32_t i = 1; i < c.table.n; i++)
		if (read_row(&c, &c.table.record[i]) < 0)
			return -1;
	tell_prose(&c);
	return 0;
}

const struct fit_format fit_csv = {"weir sweep CSV", detects, reads};
