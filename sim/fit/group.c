/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit/fit_int.h"

#include <string.h>

bool fit_same(const struct fit_row *a, const struct fit_row *b)
{
	return strcmp(a->model, b->model) == 0 &&
	       strcmp(a->precision, b->precision) == 0 &&
	       strcmp(a->gpu, b->gpu) == 0 &&
	       strcmp(a->engine, b->engine) == 0 &&
	       strcmp(a->engine_version, b->engine_version) == 0 &&
	       a->num_gpus == b->num_gpus && a->tp == b->tp &&
	       a->max_num_seqs == b->max_num_seqs;
}

uint32_t fit_groups(struct fit_sweep *s, struct fit_group **out)
{
	struct fit_group *group =
		arena_new(&s->arena, s->n + 1, sizeof(*group));
	uint32_t n = 0, g;

	for (uint32_t i = 0; i < s->n; i++) {
		for (g = 0; g < n; g++)
			if (fit_same(&s->row[group[g].row[0]], &s->row[i]))
				break;
		if (g == n)
			group[n++].row = arena_new(&s->arena, s->n - i,
			                           sizeof(*group->row));
		group[g].row[group[g].n++] = i;
	}
	*out = group;
	return n;
}
