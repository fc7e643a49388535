/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

/* The one place where the machine gives up. */
static _Noreturn void out_of_memory(size_t n, size_t size)
{
	fprintf(stderr, "weir: out of memory (%zu x %zu bytes)\n", n, size);
	exit(3);
}

void *mem_new(size_t n, size_t size)
{
	void *p;

	assert(size > 0);
	/* calloc checks the product itself. */
	p = calloc(n > 0 ? n : 1, size);
	if (p == NULL)
		out_of_memory(n, size);
	return p;
}

void *mem_grow(void *p, size_t n, size_t size)
{
	void *q;

	assert(size > 0);
	if (n > SIZE_MAX / size)
		out_of_memory(n, size);
	q = realloc(p, n > 0 ? n * size : size);
	if (q == NULL)
		out_of_memory(n, size);
	assert(q != NULL);
	return q;
}

void mem_free(void *p)
{
	free(p);
}
