/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>

#include "load/load_int.h"

void load_tokens_add(struct tokens *t, uint32_t value)
{
	assert(t->n <= t->capacity);
	if (t->n == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 4096;
		t->at = mem_grow(t->at, t->capacity, sizeof(*t->at));
	}
	t->at[t->n++] = value;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void load_tokens_sort(uint32_t *at, size_t n)
{
	assert(n > 0);
	qsort(at, n, sizeof(*at), by_value);
}
