/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

#include <stdalign.h>

void *route_carve(struct route_carve *carve, uint64_t count, size_t size)
{
	const size_t align = alignof(max_align_t);
	size_t bytes;
	size_t end;
	assert(size > 0);
	if (__builtin_mul_overflow(count, size, &bytes) ||
	    __builtin_add_overflow(carve->used, bytes, &end) ||
	    end > SIZE_MAX - align) {
		carve->used = SIZE_MAX;
		return NULL;
	}
	void *at = carve->base ? carve->base + carve->used : NULL;
	carve->used = (end + align - 1) / align * align;
	assert((uintptr_t)at % align == 0);
	return at;
}
