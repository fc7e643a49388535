/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "route_int.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { LINES_BUFFER = 1 << 20, LINES_LONGEST = 1 << 28 };

int lines_open(struct lines *l, const char *file, struct err *e)
{
	*l = (struct lines){.name = "stdin", .fd = STDIN_FILENO};
	if (file && strcmp(file, "-") != 0) {
		l->name = file;
		l->fd = open(file, O_RDONLY | O_CLOEXEC);
		if (l->fd < 0)
			return err_set(e, file, 0, 0, NULL, "%s",
			               strerror(errno));
	}
	l->size = LINES_BUFFER;
	l->buf = mem_new(l->size, 1);
	return 0;
}

void lines_close(struct lines *l)
{
	if (l->buf && l->fd != STDIN_FILENO)
		close(l->fd);
	mem_free(l->buf);
	l->buf = NULL;
}

int lines_error(const struct lines *l, int col, const char *path, struct err *e,
                const char *text)
{
	int line = l->number < INT_MAX ? (int)l->number : 0;

	return err_set(e, l->name, line, col, path, "%s", text);
}

/* More bytes behind those that are there; -1 with *e. */
static int refill(struct lines *l, struct err *e)
{
	ssize_t n;

	if (l->begin > 0) {
		memmove(l->buf, l->buf + l->begin, l->end - l->begin);
		l->end -= l->begin;
		l->begin = 0;
	}
	if (l->end == l->size) {
		if (l->size >= LINES_LONGEST) {
			l->number++;
			return lines_error(l, 0, NULL, e,
			                   "the line is longer than 256 MiB");
		}
		l->size *= 2;
		l->buf = mem_grow(l->buf, l->size, 1);
	}
	do
		n = read(l->fd, l->buf + l->end, l->size - l->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(e, l->name, 0, 0, NULL, "%s", strerror(errno));
	l->ended = n == 0;
	l->end += (size_t)n;
	return 0;
}

/* The end of the line, from `from` on: true when it is in the buffer. */
static bool line_end(struct lines *l, bool quotes, size_t *from, bool *open)
{
	while (*from < l->end) {
		char *s = l->buf + *from;
		char *end = memchr(s, '\n', l->end - *from);
		size_t n = end ? (size_t)(end - s) : l->end - *from;

		if (quotes)
			for (char *q = s;
			     (q = memchr(q, '"', n - (size_t)(q - s))); q++)
				*open = !*open;
		*from += n;
		if (end == NULL)
			return false;
		if (!*open)
			return true;
		l->number++;
		++*from;
	}
	return false;
}

int lines_next(struct lines *l, bool quotes, char **text, size_t *n,
               struct err *e)
{
	size_t from = l->begin;
	uint64_t first = l->number + 1;
	bool open = false;

	assert(l->buf);
	while (!line_end(l, quotes, &from, &open)) {
		size_t seen = from - l->begin;

		if (l->ended)
			break;
		if (refill(l, e) != 0)
			return -1;
		from = l->begin + seen;
	}
	if (l->begin == l->end)
		return 0;
	*text = l->buf + l->begin;
	*n = from - l->begin;
	l->begin = from < l->end ? from + 1 : from;
	l->number++;
	if (open) {
		l->number = first;
		return lines_error(l, 0, NULL, e,
		                   "the file ends inside of a quoted field");
	}
	if (*n > 0 && (*text)[*n - 1] == '\r')
		--*n;
	return 1;
}
