/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fit/fit.h"

void fit_sweep_init(struct fit_sweep *s)
{
	assert(s != NULL);
	memset(s, 0, sizeof *s);
	arena_init(&s->arena);
}

void fit_sweep_fini(struct fit_sweep *s)
{
	assert(s != NULL);
	assert(s->n <= s->capacity);
	arena_fini(&s->arena);
	memset(s, 0, sizeof *s);
}

/* An array of twice the room in the arena; the old one dies with it. */
static void *grown(struct arena *a, const void *old, uint32_t *capacity,
                   size_t size)
{
	uint32_t wanted = *capacity == 0 ? 16 : 2 * *capacity;
	void *made = arena_new(a, wanted, size);

	assert(wanted > *capacity);
	if (*capacity > 0)
		memcpy(made, old, *capacity * size);
	*capacity = wanted;
	return made;
}

static const struct fit_latency unknown = {
	(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};

struct fit_row *fit_row_add(struct fit_sweep *s)
{
	struct fit_row *row;

	assert(s != NULL && s->n < FIT_ROWS_MAX);
	if (s->n == s->capacity)
		s->row = grown(&s->arena, s->row, &s->capacity, sizeof *s->row);
	row = &s->row[s->n++];
	memset(row, 0, sizeof *row);
	row->params_b = (double)NAN;
	row->isl = (double)NAN;
	row->osl = (double)NAN;
	row->concurrency = (double)NAN;
	row->offered_rps = (double)NAN;
	row->achieved_rps = (double)NAN;
	row->out_tok_s = (double)NAN;
	row->ttft = unknown;
	row->itl = unknown;
	row->e2e = unknown;
	row->n_requests = (double)NAN;
	row->littles_l = (double)NAN;
	return row;
}

void fit_warn(struct fit_sweep *s, uint32_t row, bool refused, const char *fmt,
              ...)
{
	struct fit_warning *w;
	va_list args;

	assert(s != NULL && fmt != NULL);
	assert(row < s->n || row == UINT32_MAX);
	if (refused && row < s->n)
		s->row[row].refused = true;
	if (!refused && s->n_warnings >= FIT_WARNINGS_MAX) {
		s->n_remarks_lost++;
		return;
	}
	if (s->n_warnings == s->warning_capacity)
		s->warning = grown(&s->arena, s->warning, &s->warning_capacity,
		                   sizeof *s->warning);
	w = &s->warning[s->n_warnings++];
	w->row = row;
	w->refused = refused;
	va_start(args, fmt);
	vsnprintf(w->text, sizeof w->text, fmt, args);
	va_end(args);
}
