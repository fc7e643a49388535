/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "load/load_int.h"

/* One row in the order of (input, output, row). */
struct pair {
	uint32_t input;
	uint32_t output;
	uint64_t row;
};

struct rows {
	struct pair *at;
	size_t n;
	size_t capacity;
	struct tokens counts; /* rows in each interval */
};

static int by_lengths(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->input != y->input)
		return x->input < y->input ? -1 : 1;
	if (x->output != y->output)
		return x->output < y->output ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* False when the trace has more intervals than a profile may. */
static bool rows_add(struct rows *r, const struct load_row *row,
                     int64_t interval_ns)
{
	int64_t interval = row->at_ns / interval_ns;

	if (interval >= LOAD_INTERVALS_MAX)
		return false;
	while (r->counts.n <= (size_t)interval)
		load_tokens_add(&r->counts, 0);
	r->counts.at[interval]++;
	if (r->n == r->capacity) {
		r->capacity = r->capacity ? 2 * r->capacity : 4096;
		r->at = mem_grow(r->at, r->capacity, sizeof(*r->at));
	}
	r->at[r->n] = (struct pair){row->input_tokens, row->output_tokens,
	                            (uint64_t)r->n};
	r->n++;
	return true;
}

static int rows_read(struct rows *r, const char *path,
                     const struct load_columns *columns, int64_t interval_ns,
                     struct err *e)
{
	struct load_trace *t = load_trace_open(path, columns, e);
	struct load_row row;
	int got;

	if (t == NULL)
		return -1;
	while ((got = load_trace_next(t, &row, e)) > 0) {
		if (!rows_add(r, &row, interval_ns)) {
			got = err_set(e, path, 0, 0, NULL,
			              "more than %d intervals; take longer "
			              "ones",
			              LOAD_INTERVALS_MAX);
			break;
		}
	}
	if (got == 0 && r->n == 0)
		got = err_set(e, path, 0, 0, NULL, "no rows below the header");
	load_trace_close(t);
	return got;
}

/* The end of a line from `low` whose mean is that of the values above. */
static uint32_t last_point(uint32_t low, const uint32_t *above, size_t n)
{
	uint32_t most = above[n - 1];
	double sum = 0, end;

	for (size_t i = 0; i < n; i++)
		sum += above[i];
	end = 2 * sum / (double)n - low + 0.5;
	assert(end >= low);
	return end < most ? (uint32_t)end : most;
}

/* Evenly spaced quantiles of sorted values, each the smallest value with
 * rank >= p n, but for the last. */
static void put_points(uint32_t *points, const uint32_t *sorted, size_t n)
{
	size_t last = LOAD_PROFILE_POINTS - 1, from;

	assert(n > 0);
	points[0] = sorted[0];
	for (size_t k = 1; k <= last; k++)
		points[k] = sorted[(k * n + last - 1) / last - 1];
	from = ((last - 1) * n + last - 1) / last;
	if (from < n)
		points[last] =
			last_point(points[last - 1], sorted + from, n - from);
}

static void put_lengths(struct rows *r, struct arena *arena,
                        struct load_profile *out)
{
	size_t bins = r->n < LOAD_PROFILE_BINS ? r->n : LOAD_PROFILE_BINS;
	uint32_t *values = mem_new(r->n, sizeof(*values));

	assert(r->n > 0 && r->at != NULL);
	out->bins = bins;
	out->points = LOAD_PROFILE_POINTS;
	out->input = arena_new(arena, bins * out->points, sizeof(*out->input));
	out->output =
		arena_new(arena, bins * out->points, sizeof(*out->output));
	qsort(r->at, r->n, sizeof(*r->at), by_lengths);
	for (size_t b = 0; b < bins; b++) {
		size_t from = b * r->n / bins;
		size_t n = (b + 1) * r->n / bins - from;

		for (size_t i = 0; i < n; i++)
			values[i] = r->at[from + i].input;
		put_points(out->input + b * out->points, values, n);
		for (size_t i = 0; i < n; i++)
			values[i] = r->at[from + i].output;
		load_tokens_sort(values, n);
		put_points(out->output + b * out->points, values, n);
	}
	mem_free(values);
}

static void put_rates(const struct rows *r, struct arena *arena,
                      struct load_profile *out)
{
	double interval_s = (double)out->interval_ns / (double)NS_PER_S;

	out->intervals = r->counts.n;
	out->rates_rps =
		arena_new(arena, out->intervals, sizeof(*out->rates_rps));
	for (size_t i = 0; i < out->intervals; i++)
		out->rates_rps[i] = r->counts.at[i] / interval_s;
}

/* The file's name without directories and ending. */
static char *name_of(const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t n = dot != NULL && dot != name ? (size_t)(dot - name)
	                                      : strlen(name);
	char *copy = arena_new(arena, n + 1, 1);

	memcpy(copy, name, n);
	return copy;
}

int load_profile_make(const char *path, const struct load_columns *columns,
                      int64_t interval_ns, struct arena *arena,
                      struct load_profile *out, struct err *e)
{
	struct rows r = {0};
	int got;

	assert(interval_ns > 0);
	got = rows_read(&r, path, columns, interval_ns, e);
	if (got == 0) {
		*out = (struct load_profile){
			.name = name_of(path, arena),
			.source = "",
			.interval_ns = interval_ns,
			.requests = r.n,
		};
		put_rates(&r, arena, out);
		put_lengths(&r, arena, out);
	}
	mem_free(r.at);
	mem_free(r.counts.at);
	return got;
}
