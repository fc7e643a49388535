/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/read_int.h"

/*
 * Python writes NaN and Infinity as bare words, which are no JSON. A copy of
 * the text has them in quotes: a reader that needs such a number says so, the
 * others pass it by.
 */
static char *with_words_quoted(const struct fit_input *in, size_t *size)
{
	static const char *const word[] = {"-Infinity", "Infinity", "NaN"};
	char *out = mem_new(2 * in->size + 1, 1);
	bool in_text = false;
	size_t n = 0, len;

	assert(in->text != NULL && size != NULL);
	for (size_t i = 0; i < in->size;) {
		len = 0;
		for (size_t w = 0; !in_text && w < FIT_COUNT(word); w++)
			if (strncmp(in->text + i, word[w], strlen(word[w])) ==
			    0) {
				len = strlen(word[w]);
				break;
			}
		if (len > 0) {
			out[n++] = '"';
			memcpy(out + n, in->text + i, len);
			n += len;
			out[n++] = '"';
			i += len;
			continue;
		}
		if (in->text[i] == '"')
			in_text = !in_text;
		out[n++] = in->text[i];
		if (in_text && in->text[i] == '\\' && i + 1 < in->size)
			out[n++] = in->text[++i];
		i++;
	}
	*size = n;
	return out;
}

static void doc_add(struct fit_input *in, const json_t *json, uint32_t line,
                    const char *at)
{
	struct fit_doc *more;

	if (in->n_docs == in->doc_capacity) {
		in->doc_capacity = in->n_docs == 0 ? 16 : 2 * in->n_docs;
		more = arena_new(&in->arena, in->doc_capacity, sizeof *more);
		if (in->n_docs > 0)
			memcpy(more, in->doc, in->n_docs * sizeof *more);
		in->doc = more;
	}
	in->doc[in->n_docs].json = json;
	in->doc[in->n_docs].line = line;
	snprintf(in->doc[in->n_docs].at, sizeof in->doc->at, "%s", at);
	in->n_docs++;
}

static void root_add(struct fit_input *in, json_t *json, uint32_t line)
{
	json_t **more;
	char at[64];

	if (in->n_roots == in->root_capacity) {
		in->root_capacity = in->n_roots == 0 ? 16 : 2 * in->n_roots;
		more = arena_new(&in->arena, in->root_capacity, sizeof *more);
		if (in->n_roots > 0)
			memcpy(more, in->root, in->n_roots * sizeof *more);
		in->root = more;
	}
	in->root[in->n_roots++] = json;
	if (!json_is_array(json)) {
		doc_add(in, json, line, "$");
		return;
	}
	for (size_t i = 0; i < json_array_size(json); i++) {
		snprintf(at, sizeof at, "$[%zu]", i);
		doc_add(in, json_array_get(json, i), line, at);
	}
}

/* Values one after the other, with white space between them. */
static int values(struct fit_input *in, const char *text, size_t size,
                  struct err *e)
{
	uint32_t line = 1;
	json_error_t bad;
	json_t *json;
	size_t at = 0;

	for (;;) {
		while (at < size && strchr(" \t\r\n", text[at]) != NULL)
			line += text[at++] == '\n';
		if (at >= size)
			return 0;
		json = json_loadb(text + at, size - at, JSON_DISABLE_EOF_CHECK,
		                  &bad);
		if (json == NULL)
			return err_set(e, in->path,
			               (int)line - 1 +
			                       (bad.line > 0 ? bad.line : 1),
			               0, NULL, "not JSON: %s", bad.text);
		root_add(in, json, line);
		if (in->n_docs > FIT_ROWS_MAX)
			return err_set(e, in->path, (int)line, 0, NULL,
			               "more than %d results", FIT_ROWS_MAX);
		for (int i = 0; i < bad.position; i++)
			line += text[at++] == '\n';
	}
}

int fit_docs(struct fit_input *in, struct err *e)
{
	size_t size;
	char *text = with_words_quoted(in, &size);
	int result = values(in, text, size, e);

	mem_free(text);
	/* A single value needs no line. */
	for (uint32_t i = 0; in->n_roots == 1 && i < in->n_docs; i++)
		in->doc[i].line = 0;
	return result;
}

void fit_docs_free(struct fit_input *in)
{
	assert(in != NULL);
	for (uint32_t i = 0; i < in->n_roots; i++)
		json_decref(in->root[i]);
	in->n_roots = 0;
	in->n_docs = 0;
}

const json_t *fit_json(const json_t *json, const char *path)
{
	char key[64];
	size_t n;

	assert(path != NULL);
	while (json != NULL && *path != '\0') {
		n = strcspn(path, ".");
		assert(n > 0 && n < sizeof key);
		memcpy(key, path, n);
		key[n] = '\0';
		json = json_object_get(json, key);
		path += n + (path[n] == '.');
	}
	return json_is_null(json) ? NULL : json;
}

const json_t *fit_first(const struct fit_input *in)
{
	assert(in != NULL);
	return in->n_docs > 0 && json_is_object(in->doc[0].json)
	               ? in->doc[0].json
	               : NULL;
}

bool fit_has_number(const json_t *json, const char *path)
{
	const json_t *value = fit_json(json, path);

	return json_is_number(value) || json_is_string(value);
}

static int complain(const struct fit_reading *r, const struct fit_doc *d,
                    const char *path, const char *what)
{
	char at[256];

	snprintf(at, sizeof at, "%s.%s", d->at, path);
	return err_set(r->e, r->in->path, (int)d->line, 0, at, "%s", what);
}

int fit_json_number(struct fit_reading *r, const struct fit_doc *d,
                    const char *path, double *out)
{
	const json_t *value = fit_json(d->json, path);
	char what[128];
	double v = 0;
	int read = 0;

	assert(r != NULL && out != NULL);
	if (value == NULL)
		return 0;
	if (json_is_number(value))
		v = json_number_value(value);
	else if (json_is_string(value))
		read = fit_number(json_string_value(value), &v);
	else
		read = -1;
	if (read == -2 || !isfinite(v))
		return complain(r, d, path, "is NaN or infinite");
	if (read < 0)
		return complain(r, d, path, "must be a number");
	if (v < 0) {
		snprintf(what, sizeof what, "must not be below 0, not %g", v);
		return complain(r, d, path, what);
	}
	*out = v;
	return 0;
}

int fit_json_whole(struct fit_reading *r, const struct fit_doc *d,
                   const char *path, uint32_t *out)
{
	double v = (double)NAN;

	if (fit_json_number(r, d, path, &v) < 0)
		return -1;
	if (isnan(v))
		return 0;
	if (v < 1 || v > 1e6 || v != floor(v))
		return complain(r, d, path, "must be a whole number above 0");
	*out = (uint32_t)v;
	return 0;
}

void fit_json_text(const json_t *json, const char *path, char *out, size_t size)
{
	const json_t *value = fit_json(json, path);

	assert(out != NULL);
	if (json_is_string(value))
		fit_text(out, size, json_string_value(value));
}

int fit_json_fields(struct fit_reading *r, const struct fit_doc *d,
                    const struct fit_field *field, size_t n)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	double v;

	assert(r->sweep->n > 0 && field != NULL);
	for (size_t i = 0; i < n; i++) {
		v = (double)NAN;
		if (fit_json_number(r, d, field[i].path, &v) < 0)
			return -1;
		if (isnan(v))
			continue;
		v *= field[i].scale;
		memcpy((char *)row + field[i].at, &v, sizeof v);
	}
	return 0;
}

int fit_json_latencies(struct fit_reading *r, const struct fit_doc *d,
                       const struct fit_field *latency, size_t n,
                       const char *const key[5])
{
	static const size_t at[5] = {offsetof(struct fit_latency, mean),
	                             offsetof(struct fit_latency, p50),
	                             offsetof(struct fit_latency, p90),
	                             offsetof(struct fit_latency, p95),
	                             offsetof(struct fit_latency, p99)};
	struct fit_field field;
	char path[128];

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < FIT_COUNT(at); k++) {
			snprintf(path, sizeof path, "%s.%s", latency[i].path,
			         key[k]);
			field.path = path;
			field.at = latency[i].at + at[k];
			field.scale = latency[i].scale;
			if (fit_json_fields(r, d, &field, 1) < 0)
				return -1;
		}
	}
	return 0;
}
