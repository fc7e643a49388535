/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file is told by its content: JSON is parsed once, of other files the
 * first record is looked at, and the first format that knows it reads it.
 */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fit/read_int.h"

static const struct fit_format *const formats[] = {
	&fit_csv,
	&fit_vllm,
	&fit_vllm_old,
	&fit_sglang,
	&fit_inferencex,
	&fit_genai_perf,
	&fit_genai_perf_csv,
	&fit_aiperf,
	&fit_aiperf_csv,
	&fit_guidellm,
	&fit_genai_bench,
	&fit_inference_perf,
	&fit_mlperf,
	&fit_k6,
	&fit_locust,
	&fit_inferencebench,
	&fit_gpu_conc,
};

const struct fit_format *fit_format_at(size_t i)
{
	return i < FIT_COUNT(formats) ? formats[i] : NULL;
}

const char *fit_format_name(size_t i)
{
	return i < FIT_COUNT(formats) ? formats[i]->name : NULL;
}

struct fit_row *fit_reading_row(struct fit_reading *r, uint32_t line)
{
	struct fit_row *row;

	assert(r != NULL && r->sweep != NULL);
	if (r->sweep->n == FIT_ROWS_MAX) {
		err_set(r->e, r->in->path, (int)line, 0, NULL,
		        "more than %d load points", FIT_ROWS_MAX);
		return NULL;
	}
	row = fit_row_add(r->sweep);
	fit_text(row->file, sizeof row->file, r->in->path);
	row->line = line;
	return row;
}

void fit_remark(struct fit_reading *r, const char *fmt, ...)
{
	char text[256];
	va_list args;

	assert(r != NULL && r->sweep->n > 0);
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	fit_warn(r->sweep, r->sweep->n - 1, false, "%s", text);
}

/* Names what would have been right. */
static int unknown_format(const struct fit_input *in, struct err *e)
{
	char names[384] = "";
	size_t n = 0;

	for (size_t i = 0; i < FIT_COUNT(formats); i++) {
		assert(n < sizeof names && formats[i] != NULL);
		n += (size_t)snprintf(names + n, sizeof names - n, "%s%s",
		                      i == 0 ? "" : ", ", formats[i]->name);
	}
	return err_set(e, in->path, 0, 0, NULL,
	               "no result file that is known; known are: %s", names);
}

static const struct fit_format *detect(const struct fit_input *in)
{
	for (size_t i = 0; i < FIT_COUNT(formats); i++)
		if (formats[i]->detects(in))
			return formats[i];
	return NULL;
}

/* Parses what all formats of a kind need. */
static int open_text(struct fit_input *in, struct err *e)
{
	struct err ignored = {0};
	uint32_t line = 1;
	size_t at = 0;

	if (in->size >= 3 && memcmp(in->text, "\xef\xbb\xbf", 3) == 0) {
		in->text += 3;
		in->size -= 3;
	}
	if (memchr(in->text, '\0', in->size) != NULL)
		return err_set(e, in->path, 0, 0, NULL,
		               "is no text: it holds a zero byte");
	at = strspn(in->text, " \t\r\n");
	if (at == in->size)
		return err_set(e, in->path, 0, 0, NULL, "is empty");
	if (in->text[at] == '{' || in->text[at] == '[')
		return fit_docs(in, e);
	at = 0;
	/* What is no table is some other text: its format will know. */
	if (fit_record(in, &at, &line, &in->header, &ignored) <= 0)
		memset(&in->header, 0, sizeof in->header);
	return 0;
}

static int read_open(struct fit_reading *r)
{
	struct fit_sweep *s = r->sweep;
	const struct fit_format *format = detect(r->in);
	uint32_t first = s->n, warnings = s->n_warnings;

	if (format == NULL)
		return unknown_format(r->in, r->e);
	if (format->reads(r) == 0 && fit_settle(r, first) == 0) {
		if (s->n == first)
			return err_set(r->e, r->in->path, 0, 0, NULL,
			               "holds no load points");
		snprintf(s->format, sizeof s->format, "%s", format->name);
		return 0;
	}
	/* Half a file is none. */
	assert(r->e->set);
	s->n = first;
	s->n_warnings = warnings;
	return -1;
}

int fit_read_text(struct fit_sweep *s, const char *path, const char *text,
                  size_t size, const struct fit_hints *hints, struct err *e)
{
	struct fit_input in = {.path = path, .text = text, .size = size};
	struct fit_reading r = {s, &in, hints, e};
	int result;

	assert(s != NULL && path != NULL && text != NULL);
	assert(hints != NULL && e != NULL && text[size] == '\0');
	arena_init(&in.arena);
	result = open_text(&in, e);
	if (result == 0)
		result = read_open(&r);
	fit_docs_free(&in);
	arena_fini(&in.arena);
	return result;
}

/* The bytes of a file and a zero behind them; NULL with *e. */
static char *load(const char *path, size_t *size, struct err *e)
{
	size_t capacity = 65536, n = 0, got;
	FILE *f = fopen(path, "rb");
	char *text;

	if (f == NULL) {
		err_set(e, path, 0, 0, NULL, "cannot be opened: %s",
		        strerror(errno));
		return NULL;
	}
	text = mem_new(capacity, 1);
	while ((got = fread(text + n, 1, capacity - 1 - n, f)) > 0) {
		n += got;
		if (n == capacity - 1 && capacity <= FIT_FILE_MAX) {
			capacity *= 2;
			text = mem_grow(text, capacity, 1);
		}
	}
	text[n] = '\0';
	*size = n;
	if (ferror(f))
		err_set(e, path, 0, 0, NULL, "cannot be read: %s",
		        strerror(errno));
	else if (n > FIT_FILE_MAX)
		err_set(e, path, 0, 0, NULL, "is larger than %d MiB",
		        FIT_FILE_MAX / 1024 / 1024);
	fclose(f);
	if (!e->set)
		return text;
	mem_free(text);
	return NULL;
}

int fit_read(struct fit_sweep *s, const char *path,
             const struct fit_hints *hints, struct err *e)
{
	char *text;
	size_t size = 0;
	int result;

	assert(s != NULL && path != NULL);
	assert(hints != NULL && e != NULL && !e->set);
	text = load(path, &size, e);
	if (text == NULL)
		return -1;
	result = fit_read_text(s, path, text, size, hints, e);
	mem_free(text);
	return result;
}
