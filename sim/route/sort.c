/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;
	*a = *b;
	*b = t;
}

/* qsort may allocate, and a router's core has no heap. */
void route_sort(uint32_t *items, uint32_t n,
                bool (*before)(const void *self, uint32_t a, uint32_t b),
                const void *self)
{
	assert(items || n == 0);
	assert(before);
	uint32_t start = n / 2;
	uint32_t end = n;
	while (end > 1) {
		if (start > 0)
			start--;
		else
			swap(&items[0], &items[--end]);
		size_t root = start;
		for (;;) {
			size_t child = 2 * root + 1;
			if (child >= end)
				break;
			if (child + 1 < end &&
			    before(self, items[child], items[child + 1]))
				child++;
			if (!before(self, items[root], items[child]))
				break;
			swap(&items[root], &items[child]);
			root = child;
		}
	}
}
