/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "load/load_int.h"

enum column { ARRIVAL, INPUT, OUTPUT, KEY, SESSION, COLUMNS };

struct load_trace {
	bool azure;
	size_t columns;            /* of the header */
	size_t at[COLUMNS];        /* where each is; SIZE_MAX: absent */
	const char *name[COLUMNS]; /* as the header and messages have it */
	int64_t first;             /* ns or us, as the format counts */
	int64_t last;
	uint64_t rows;
	struct csv csv;
};

static const char *const own_names[COLUMNS] = {
	"arrival_us", "input_tokens", "output_tokens", "key", "session",
};

static const char *const azure_names[COLUMNS] = {
	"TIMESTAMP", "ContextTokens", "GeneratedTokens", "key", "session",
};

static size_t find(const struct csv *c, const char *name, size_t from)
{
	for (size_t i = from; i < c->n; i++)
		if (strcmp(c->field[i], name) == 0)
			return i;
	return SIZE_MAX;
}

/* Azure's header line, unless a column was named otherwise. */
static bool is_azure(const struct load_trace *t, const char *const *asked)
{
	for (int i = ARRIVAL; i <= OUTPUT; i++)
		if (asked[i] != NULL ||
		    find(&t->csv, azure_names[i], 0) == SIZE_MAX)
			return false;
	return true;
}

static int no_column(const struct load_trace *t, const char *name,
                     struct err *e)
{
	const struct csv *c = &t->csv;
	const char *near =
		base_nearest(name, (const char *const *)c->field, c->n);
	char shown[TRACE_SHOWN];

	if (near == NULL)
		return err_set(e, c->path, c->record_line, 0, name,
		               "no such column in the header");
	load_show_text(near, shown);
	return err_set(e, c->path, c->record_line, 0, name,
	               "no such column in the header; it has \"%s\"", shown);
}

static int read_header(struct load_trace *t, const struct load_columns *names,
                       struct err *e)
{
	const char *const asked[COLUMNS] = {
		names ? names->arrival_us : NULL,
		names ? names->input_tokens : NULL,
		names ? names->output_tokens : NULL,
		names ? names->key : NULL,
		names ? names->session : NULL,
	};
	struct csv *c = &t->csv;
	int got = load_csv_next(c, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return err_set(e, c->path, 1, 0, NULL, "no header line");
	t->columns = c->n;
	t->azure = is_azure(t, asked);
	for (int i = 0; i < COLUMNS; i++) {
		const char *const *usual = t->azure ? azure_names : own_names;

		t->name[i] = asked[i] != NULL ? asked[i] : usual[i];
		t->at[i] = find(c, t->name[i], 0);
		if (t->at[i] == SIZE_MAX && (i <= OUTPUT || asked[i] != NULL))
			return no_column(t, t->name[i], e);
		if (t->at[i] != SIZE_MAX &&
		    find(c, t->name[i], t->at[i] + 1) != SIZE_MAX)
			return err_set(e, c->path, c->record_line, 0,
			               t->name[i], "two columns of this name");
	}
	return 0;
}

struct load_trace *load_trace_open(const char *path,
                                   const struct load_columns *columns,
                                   struct err *e)
{
	struct load_trace *t = mem_new(1, sizeof(*t));

	assert(path != NULL);
	if (load_csv_open(&t->csv, path, e) == 0 &&
	    read_header(t, columns, e) == 0)
		return t;
	load_trace_close(t);
	return NULL;
}

void load_trace_close(struct load_trace *t)
{
	if (t == NULL)
		return;
	load_csv_close(&t->csv);
	mem_free(t);
}

const char *load_trace_format(const struct load_trace *t)
{
	return t->azure ? "azure2023" : "weir";
}

static int bad_field(const struct load_trace *t, enum column i,
                     const char *trouble, struct err *e)
{
	char shown[TRACE_SHOWN];

	load_show_text(t->csv.field[t->at[i]], shown);
	return err_set(e, t->csv.path, t->csv.record_line, 0, t->name[i],
	               "\"%s\" %s", shown, trouble);
}

static int read_tokens(const struct load_trace *t, enum column i,
                       uint32_t *tokens, struct err *e)
{
	uint64_t n;

	if (load_read_whole(t->csv.field[t->at[i]], &n) != 0)
		return bad_field(t, i, "is not a whole number", e);
	if (n == 0)
		return bad_field(t, i, "tokens; a request has at least 1", e);
	if (n > UINT32_MAX)
		return bad_field(t, i, "is more than 4294967295 tokens", e);
	*tokens = (uint32_t)n;
	return 0;
}

/* Time in the format's own unit: ns since 1970, or us since any moment. */
static int read_arrival(struct load_trace *t, int64_t *at_ns, struct err *e)
{
	const char *text = t->csv.field[t->at[ARRIVAL]];
	int64_t at;

	if (t->azure) {
		if (load_read_time(text, &at) != 0)
			return bad_field(t, ARRIVAL,
			                 "is not a time like "
			                 "2023-11-16 18:15:46.6805900",
			                 e);
	} else {
		uint64_t us;

		if (load_read_whole(text, &us) != 0)
			return bad_field(t, ARRIVAL, "is not a whole number",
			                 e);
		if (us > (uint64_t)(INT64_MAX / NS_PER_US))
			return bad_field(t, ARRIVAL,
			                 "is more than 9223372036854775 us", e);
		at = (int64_t)us * NS_PER_US;
	}
	if (t->rows == 0)
		t->first = at;
	else if (at < t->last)
		return bad_field(t, ARRIVAL,
		                 "is before the row above; time goes back", e);
	t->last = at;
	*at_ns = at - t->first;
	return 0;
}

static int read_key(const struct load_trace *t, struct load_row *row,
                    struct err *e)
{
	row->key[0] = '\0';
	for (int i = KEY; i <= SESSION; i++) {
		const char *text;
		size_t n;

		if (t->at[i] == SIZE_MAX || row->key[0] != '\0')
			continue;
		text = t->csv.field[t->at[i]];
		n = strlen(text);
		if (n >= LOAD_KEY_MAX)
			return bad_field(t, (enum column)i,
			                 "is longer than 55 bytes", e);
		memcpy(row->key, text, n + 1);
	}
	return 0;
}

int load_trace_next(struct load_trace *t, struct load_row *row, struct err *e)
{
	const struct csv *c = &t->csv;
	int got = load_csv_next(&t->csv, e);

	if (got <= 0)
		return got;
	if (c->n != t->columns)
		return err_set(e, c->path, c->record_line, 0, NULL,
		               "%zu column%s, where the header has %zu", c->n,
		               c->n == 1 ? "" : "s", t->columns);
	if (read_arrival(t, &row->at_ns, e) != 0 ||
	    read_tokens(t, INPUT, &row->input_tokens, e) != 0 ||
	    read_tokens(t, OUTPUT, &row->output_tokens, e) != 0 ||
	    read_key(t, row, e) != 0)
		return -1;
	t->rows++;
	return 1;
}
