/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "load/load_int.h"

/* Counts of rows in windows of one length; only the last one is open. */
struct windows {
	int64_t length_ns;
	int64_t window; /* the open one */
	uint64_t count; /* in it */
	uint64_t peak;
	uint64_t trough; /* of those that are closed; UINT64_MAX: none */
	double sum_squares;
};

/* Distinct strings: a table with open addressing, never more than half full.
 */
struct names {
	struct arena arena;
	const char **at;
	size_t capacity;
	size_t n;
};

struct census {
	uint64_t rows;
	int64_t last_ns;
	double gap_mean; /* running, by Welford's update */
	double gap_m2;
	struct windows second;
	struct windows minute;
	struct tokens input;
	struct tokens output;
	struct names keys;
};

static void window_close(struct windows *w)
{
	double count = (double)w->count;

	w->sum_squares += count * count;
	if (w->count > w->peak)
		w->peak = w->count;
}

static void window_add(struct windows *w, int64_t at_ns)
{
	int64_t window = at_ns / w->length_ns;

	assert(window >= w->window);
	if (window > w->window) {
		window_close(w);
		if (w->count < w->trough)
			w->trough = w->count;
		if (window > w->window + 1)
			w->trough = 0;
		w->window = window;
		w->count = 0;
	}
	w->count++;
}

static size_t place(const struct names *k, const char *name)
{
	/* FNV-1a (Fowler, Noll, Vo; RFC 9923), 64 bits. */
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (const char *p = name; *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	i = (size_t)(h ^ h >> 32) & (k->capacity - 1);
	while (k->at[i] != NULL && strcmp(k->at[i], name) != 0)
		i = (i + 1) & (k->capacity - 1);
	return i;
}

static void names_grow(struct names *k)
{
	struct names old = *k;

	k->capacity = old.capacity ? 2 * old.capacity : 1024;
	k->at = mem_new(k->capacity, sizeof(*k->at));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.at[i] != NULL)
			k->at[place(k, old.at[i])] = old.at[i];
	mem_free(old.at);
}

static void names_add(struct names *k, const char *name)
{
	size_t i;

	if (2 * k->n >= k->capacity)
		names_grow(k);
	i = place(k, name);
	if (k->at[i] != NULL)
		return;
	k->at[i] = arena_strdup(&k->arena, name);
	k->n++;
}

static void census_init(struct census *c)
{
	*c = (struct census){
		.second = {.length_ns = NS_PER_S, .trough = UINT64_MAX},
		.minute = {.length_ns = NS_PER_MIN, .trough = UINT64_MAX},
	};
	arena_init(&c->keys.arena);
}

static void census_fini(struct census *c)
{
	mem_free(c->input.at);
	mem_free(c->output.at);
	mem_free(c->keys.at);
	arena_fini(&c->keys.arena);
}

static void census_add(struct census *c, const struct load_row *row)
{
	if (c->rows > 0) {
		double gap = (double)(row->at_ns - c->last_ns);
		double off = gap - c->gap_mean;

		c->gap_mean += off / (double)c->rows;
		c->gap_m2 += off * (gap - c->gap_mean);
	}
	c->rows++;
	c->last_ns = row->at_ns;
	window_add(&c->second, row->at_ns);
	window_add(&c->minute, row->at_ns);
	load_tokens_add(&c->input, row->input_tokens);
	load_tokens_add(&c->output, row->output_tokens);
	if (row->key[0] != '\0')
		names_add(&c->keys, row->key);
}

/* p50 p90 p95 p99 max, each the smallest value with rank >= p n; the mean. */
static void describe(const struct tokens *t, uint32_t p[5], double *mean)
{
	static const unsigned percent[5] = {50, 90, 95, 99, 100};
	double sum = 0;

	load_tokens_sort(t->at, t->n);
	for (size_t i = 0; i < 5; i++)
		p[i] = t->at[(t->n * percent[i] + 99) / 100 - 1];
	for (size_t i = 0; i < t->n; i++)
		sum += t->at[i];
	*mean = sum / (double)t->n;
}

static double dispersion(const struct windows *w, uint64_t rows)
{
	double windows = (double)(w->window + 1);
	double mean = (double)rows / windows;

	return (w->sum_squares / windows - mean * mean) / mean;
}

static void summarize(struct census *c, struct load_trace_stats *s)
{
	double gaps = (double)(c->rows - 1);
	double minute_s = 60;

	window_close(&c->second);
	window_close(&c->minute);
	s->rows = c->rows;
	s->span_ns = c->last_ns;
	if (c->last_ns > 0) {
		double span_s = (double)c->last_ns / (double)NS_PER_S;

		s->rate_rps = (double)c->rows / span_s;
		s->gap_cv = sqrt(c->gap_m2 / gaps) / c->gap_mean;
	}
	s->dispersion_1s = dispersion(&c->second, c->rows);
	s->peak_1s = c->second.peak;
	s->peak_minute_rps = (double)c->minute.peak / minute_s;
	s->trough_minute_rps = (double)c->minute.trough / minute_s;
	if (c->minute.trough == UINT64_MAX) {
		s->peak_minute_rps = s->rate_rps;
		s->trough_minute_rps = s->rate_rps;
	}
	describe(&c->input, s->input_p, &s->input_mean);
	describe(&c->output, s->output_p, &s->output_mean);
	s->keys = c->keys.n;
}

int load_trace_check(const char *path, const struct load_columns *columns,
                     struct load_trace_stats *stats, struct err *e)
{
	struct load_trace *t = load_trace_open(path, columns, e);
	struct census c;
	struct load_row row;
	int got;

	if (t == NULL)
		return -1;
	census_init(&c);
	while ((got = load_trace_next(t, &row, e)) > 0)
		census_add(&c, &row);
	if (got == 0 && c.rows == 0)
		got = err_set(e, path, 0, 0, NULL, "no rows below the header");
	if (got == 0 && stats != NULL) {
		*stats = (struct load_trace_stats){
			.format = load_trace_format(t)};
		summarize(&c, stats);
	}
	census_fini(&c);
	load_trace_close(t);
	return got;
}
