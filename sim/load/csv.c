/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records by RFC 4180: fields between commas, quotes around a field that
 * holds commas, quotes (doubled) or line ends; lines end with LF or CR LF.
 * One record is held at a time, however large the file.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "load/load_int.h"

enum { END = -1, BAD = -2 }; /* beside the bytes 0 .. 255 */

static int csv_peek(struct csv *c)
{
	if (c->at == c->filled) {
		errno = 0;
		c->filled = fread(c->buffer, 1, CSV_BUFFER, c->file);
		c->at = 0;
		if (c->filled == 0) {
			if (ferror(c->file))
				c->trouble = errno;
			return END;
		}
	}
	return c->buffer[c->at];
}

static int csv_byte(struct csv *c)
{
	int b = csv_peek(c);

	if (b == END)
		return END;
	c->at++;
	if (b == '\n' && c->line < INT_MAX)
		c->line++;
	return b;
}

static int complain(const struct csv *c, struct err *e, const char *text)
{
	err_set(e, c->path, c->record_line, 0, NULL, "%s", text);
	return BAD;
}

static int keep(struct csv *c, int b, struct err *e)
{
	if (b == 0)
		return complain(c, e, "a NUL byte; this is not text");
	if (c->used == CSV_RECORD_MAX - 1)
		return complain(c, e, "a record longer than 4095 bytes");
	c->text[c->used++] = (char)b;
	return 0;
}

/* At a CR: is it the first half of a line's end? */
static bool line_ends(struct csv *c)
{
	int b = csv_peek(c);

	if (b == '\n')
		(void)csv_byte(c);
	return b == '\n' || b == END;
}

/* Reads a field that begins with byte b; returns the byte that ended it. */
static int read_plain(struct csv *c, int b, struct err *e)
{
	for (;; b = csv_byte(c)) {
		if (b == ',' || b == '\n' || b == END)
			return b;
		if (b == '\r' && line_ends(c))
			return '\n';
		if (b == '"')
			return complain(c, e,
			                "a quote inside a field that does "
			                "not begin with one");
		if (keep(c, b, e) != 0)
			return BAD;
	}
}

/* After a closing quote. */
static int read_rest(struct csv *c, int b, struct err *e)
{
	if (b == ',' || b == '\n' || b == END)
		return b;
	if (b == '\r' && line_ends(c))
		return '\n';
	return complain(c, e, "text after a closing quote");
}

static int read_quoted(struct csv *c, struct err *e)
{
	for (;;) {
		int b = csv_byte(c);

		if (b == END)
			return complain(c, e, "a quote that never closes");
		if (b == '"') {
			b = csv_byte(c);
			if (b != '"')
				return read_rest(c, b, e);
		}
		if (keep(c, b, e) != 0)
			return BAD;
	}
}

static int read_field(struct csv *c, struct err *e)
{
	int b = csv_byte(c);

	if (c->n == CSV_FIELDS_MAX)
		return complain(c, e, "more than 64 columns");
	c->field[c->n] = c->text + c->used;
	if (c->n == 0)
		c->quoted = b == '"';
	b = b == '"' ? read_quoted(c, e) : read_plain(c, b, e);
	if (b == BAD)
		return BAD;
	/* Keeping one byte less than there are leaves room for this. */
	assert(c->used < CSV_RECORD_MAX);
	c->text[c->used] = '\0';
	if (c->used < CSV_RECORD_MAX - 1)
		c->used++;
	else if (b == ',')
		return complain(c, e, "a record longer than 4095 bytes");
	c->n++;
	return b;
}

int load_csv_next(struct csv *c, struct err *e)
{
	int b;

	do {
		c->record_line = c->line;
		c->used = 0;
		c->n = 0;
		do
			b = read_field(c, e);
		while (b == ',');
		if (b == BAD)
			return -1;
		if (c->trouble != 0)
			return err_set(e, c->path, c->record_line, 0, NULL,
			               "cannot be read: %s",
			               strerror(c->trouble));
		if (c->n > 1 || c->quoted || c->field[0][0] != '\0')
			return 1;
	} while (b != END);
	return 0;
}

static void skip_mark(struct csv *c)
{
	static const unsigned char mark[3] = {0xEF, 0xBB, 0xBF};

	(void)csv_peek(c);
	if (c->filled >= 3 && memcmp(c->buffer, mark, 3) == 0)
		c->at = 3;
}

int load_csv_open(struct csv *c, const char *path, struct err *e)
{
	c->path = path;
	c->line = 1;
	c->at = 0;
	c->filled = 0;
	c->trouble = 0;
	c->file = fopen(path, "rb");
	if (c->file == NULL)
		return err_set(e, path, 0, 0, NULL, "cannot be opened: %s",
		               strerror(errno));
	/* The buffer is ours: stdio takes no memory of its own. */
	(void)setvbuf(c->file, NULL, _IONBF, 0);
	skip_mark(c);
	return 0;
}

void load_csv_close(struct csv *c)
{
	if (c->file != NULL)
		(void)fclose(c->file);
	c->file = NULL;
}
