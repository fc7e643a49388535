/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "base/base.h"

/* An item that was put back holds the pointer to the next such item. */

void pool_init(struct pool *p, size_t size)
{
	assert(p != NULL && size > 0);
	memset(p, 0, sizeof *p);
	arena_init(&p->arena);
	p->size = size < sizeof(void *) ? sizeof(void *) : size;
}

void pool_fini(struct pool *p)
{
	assert(p != NULL);
	arena_fini(&p->arena);
	p->free = NULL;
	p->live = 0;
}

void *pool_get(struct pool *p)
{
	void *item;

	assert(p != NULL && p->size >= sizeof(void *));
	item = p->free;
	if (item == NULL) {
		item = arena_new(&p->arena, 1, p->size);
	} else {
		memcpy(&p->free, item, sizeof p->free);
		memset(item, 0, p->size);
	}
	p->live++;
	if (p->live > p->peak)
		p->peak = p->live;
	return item;
}

void pool_put(struct pool *p, void *item)
{
	assert(p != NULL && item != NULL);
	assert(p->live > 0);
	memcpy(item, &p->free, sizeof p->free);
	p->free = item;
	p->live--;
}
