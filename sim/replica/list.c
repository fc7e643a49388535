/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replica/replica_int.h"

void replica_list_append(struct replica_list *l, struct replica_work *w)
{
	assert(l->n < UINT32_MAX);
	w->prev = l->last;
	w->next = NULL;
	if (l->last)
		l->last->next = w;
	else
		l->first = w;
	l->last = w;
	l->n++;
}

void replica_list_prepend(struct replica_list *l, struct replica_work *w)
{
	assert(l->n < UINT32_MAX);
	w->prev = NULL;
	w->next = l->first;
	if (l->first)
		l->first->prev = w;
	else
		l->last = w;
	l->first = w;
	l->n++;
}

void replica_list_remove(struct replica_list *l, struct replica_work *w)
{
	assert(l->n > 0);
	if (w->prev)
		w->prev->next = w->next;
	else
		l->first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		l->last = w->prev;
	w->next = NULL;
	w->prev = NULL;
	l->n--;
	assert((l->n == 0) == (l->first == NULL));
}
