/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of comma-separated values by RFC 4180: quotes around a field let it
 * hold commas, line ends and, doubled, quotes. LF and CRLF end a record.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "fit/read_int.h"

/* No tool writes wider tables. */
enum { FIELDS_MAX = 512 };

static bool ends_record(char c)
{
	return c == '\n' || c == '\r';
}

/* Skips what ends a record. */
static void skip_end(const struct fit_input *in, size_t *at, uint32_t *line)
{
	assert(*at < in->size && ends_record(in->text[*at]));
	if (in->text[*at] == '\r' && *at + 1 < in->size &&
	    in->text[*at + 1] == '\n')
		(*at)++;
	(*at)++;
	(*line)++;
}

/* A quoted field; *at is behind the opening quote. */
static char *quoted(struct fit_input *in, size_t *at, uint32_t *line,
                    struct err *e)
{
	const char *t = in->text;
	uint32_t opened = *line;
	size_t end = *at, n = 0;
	char *out;

	while (end < in->size &&
	       (t[end] != '"' || (end + 1 < in->size && t[end + 1] == '"')))
		end += t[end] == '"' ? 2 : 1;
	if (end >= in->size) {
		err_set(e, in->path, (int)opened, 0, NULL,
		        "a quote that is not closed");
		return NULL;
	}
	out = arena_new(&in->arena, end - *at + 1, 1);
	for (size_t i = *at; i < end; i++) {
		*line += t[i] == '\n';
		out[n++] = t[i];
		i += t[i] == '"';
	}
	out[n] = '\0';
	*at = end + 1;
	if (*at < in->size && t[*at] != ',' && !ends_record(t[*at])) {
		err_set(e, in->path, (int)*line, 0, NULL,
		        "text behind a closing quote");
		return NULL;
	}
	return out;
}

static char *plain(struct fit_input *in, size_t *at)
{
	size_t from = *at;
	char *out;

	while (*at < in->size && in->text[*at] != ',' &&
	       !ends_record(in->text[*at]))
		(*at)++;
	out = arena_new(&in->arena, *at - from + 1, 1);
	memcpy(out, in->text + from, *at - from);
	return out;
}

int fit_record(struct fit_input *in, size_t *at, uint32_t *line,
               struct fit_record *out, struct err *e)
{
	char *field[FIELDS_MAX];
	uint32_t n = 0;

	assert(in != NULL && out != NULL);
	while (*at < in->size && ends_record(in->text[*at]))
		skip_end(in, at, line);
	if (*at >= in->size)
		return 0;
	out->line = *line;
	for (;;) {
		if (n == FIELDS_MAX)
			return err_set(e, in->path, (int)*line, 0, NULL,
			               "more than %d fields", FIELDS_MAX);
		if (*at < in->size && in->text[*at] == '"') {
			(*at)++;
			field[n] = quoted(in, at, line, e);
		} else {
			field[n] = plain(in, at);
		}
		if (field[n++] == NULL)
			return -1;
		if (*at >= in->size || in->text[*at] != ',')
			break;
		(*at)++;
	}
	if (*at < in->size)
		skip_end(in, at, line);
	out->n = n;
	out->field = arena_new(&in->arena, n, sizeof *field);
	memcpy(out->field, field, n * sizeof *field);
	return 1;
}

int fit_table(struct fit_input *in, struct fit_table *out, struct err *e)
{
	struct fit_record record, *more;
	uint32_t line = 1;
	size_t at = 0;
	int got;

	assert(in != NULL && out != NULL);
	memset(out, 0, sizeof *out);
	while ((got = fit_record(in, &at, &line, &record, e)) > 0) {
		if (out->n == out->capacity) {
			out->capacity = out->n == 0 ? 64 : 2 * out->n;
			more = arena_new(&in->arena, out->capacity,
			                 sizeof *more);
			if (out->n > 0)
				memcpy(more, out->record,
				       out->n * sizeof *more);
			out->record = more;
		}
		out->record[out->n++] = record;
	}
	return got;
}

int fit_column(const struct fit_record *header, const char *name)
{
	assert(header != NULL && name != NULL);
	for (uint32_t i = 0; i < header->n; i++)
		if (strcasecmp(header->field[i], name) == 0)
			return (int)i;
	return -1;
}
