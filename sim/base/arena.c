/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* Small enough that a tiny scenario stays tiny; large takes get their own. */
#define CHUNK_SIZE ((size_t)64 * 1024)

/* The takes follow their chunk's header. */
struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	max_align_t data[];
};

static size_t round_up(size_t bytes)
{
	const size_t align = _Alignof(max_align_t);

	assert(bytes <= SIZE_MAX / 2);
	return (bytes + align - 1) / align * align;
}

static struct arena_chunk *chunk_new(size_t bytes)
{
	struct arena_chunk *k;

	k = mem_new(1, sizeof *k + bytes);
	k->size = bytes;
	return k;
}

void arena_init(struct arena *a)
{
	assert(a != NULL);
	a->head = NULL;
	a->used = 0;
}

void arena_fini(struct arena *a)
{
	struct arena_chunk *k;

	assert(a != NULL);
	while (a->head != NULL) {
		k = a->head;
		a->head = k->next;
		mem_free(k);
	}
	a->used = 0;
}

/* A take that would waste a chunk's rest goes into one of its own. */
static void *take_large(struct arena *a, size_t bytes)
{
	struct arena_chunk *k = chunk_new(bytes);

	if (a->head == NULL) {
		a->head = k;
		a->used = bytes;
		return k->data;
	}
	/* Behind the head, so that the head's rest is used up first. */
	k->next = a->head->next;
	a->head->next = k;
	return k->data;
}

void *arena_new(struct arena *a, size_t n, size_t size)
{
	struct arena_chunk *k;
	size_t bytes;
	void *p;

	assert(a != NULL && size > 0);
	if (n > SIZE_MAX / 4 / size)
		return mem_new(n, size); /* never returns: no such memory */
	bytes = round_up(n > 0 ? n * size : 1);
	if (bytes > CHUNK_SIZE / 4)
		return take_large(a, bytes);
	if (a->head == NULL || a->head->size - a->used < bytes) {
		k = chunk_new(CHUNK_SIZE);
		k->next = a->head;
		a->head = k;
		a->used = 0;
	}
	p = (char *)a->head->data + a->used;
	a->used += bytes;
	assert(a->used <= a->head->size);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n;
	char *t;

	if (s == NULL)
		return NULL;
	n = strlen(s) + 1;
	t = arena_new(a, n, 1);
	memcpy(t, s, n);
	return t;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args;
	char *t;
	int n;

	assert(fmt != NULL);
	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	assert(n >= 0);
	t = arena_new(a, (size_t)n + 1, 1);
	va_start(args, fmt);
	vsnprintf(t, (size_t)n + 1, fmt, args);
	va_end(args);
	return t;
}
