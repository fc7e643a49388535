/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chart of a grid: output tokens per second and TTFT p95 of each cell,
 * in the order of cells.csv. A p95 that never came is a bar of full height.
 */
#include "plot_int.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_FIELDS = 256,
	SLOTS_MOST = 30,    /* cells that each have their name */
	NUMBERS_MOST = 16,  /* cells that each have their numbers */
	LINE_LETTERS = 100, /* names side by side */
	NAME_SLANTED = 20,  /* characters of a name that is not */
};

struct cell_bar {
	const char *name;
	double tokens, ttft_ms;
};

struct grid {
	struct arena arena;
	const char *axis; /* its one axis, else "cell" */
	struct cell_bar *bar;
	size_t n;
};

struct span {
	double low, high;
	bool infinite;
};

/* ---- cells.csv --------------------------------------------------------- */

enum place { NAME, AXIS, ENDPOINT, TOKENS, TTFT, PLACES };

static size_t find(char **field, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && strcmp(field[i], name) != 0)
		i++;
	return i;
}

/* The one axis of a grid is its second column, when replications follow. */
static bool read_header(struct grid *g, char *line, size_t *place, size_t *n)
{
	char *field[MAX_FIELDS];

	*n = plot_cut(line, field, MAX_FIELDS);
	place[NAME] = find(field, *n, "cell");
	place[AXIS] = find(field, *n, "replications") == 2 ? 1 : place[NAME];
	place[ENDPOINT] = find(field, *n, "endpoint");
	place[TOKENS] = find(field, *n, "output_tokens_per_s");
	place[TTFT] = find(field, *n, "ttft_p95_ms");
	for (size_t i = 0; i < PLACES; i++)
		if (place[i] >= *n)
			return false;
	g->axis = arena_strdup(&g->arena, field[place[AXIS]]);
	return true;
}

static void add_bar(struct grid *g, size_t *capacity, char **field,
                    const size_t *place)
{
	const char *name = field[place[AXIS]];
	struct cell_bar *b;

	if (g->n == *capacity) {
		*capacity = *capacity ? 2 * *capacity : 64;
		g->bar = mem_grow(g->bar, *capacity, sizeof(*g->bar));
	}
	b = &g->bar[g->n++];
	b->name = arena_strdup(&g->arena, name);
	b->tokens = plot_number(field[place[TOKENS]]);
	b->ttft_ms = plot_number(field[place[TTFT]]);
	/* a cell of several endpoints has a row for each */
	if (g->n > 1 && strncmp(g->bar[g->n - 2].name, name, strlen(name)) == 0)
		b->name = arena_printf(&g->arena, "%s %s", name,
		                       field[place[ENDPOINT]]);
}

static int read_cells(struct grid *g, const char *dir, struct err *e)
{
	char path[1200];
	char *field[MAX_FIELDS];
	char *line = NULL;
	size_t place[PLACES];
	size_t size = 0, fields = 0, capacity = 0;
	bool whole;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cells.csv", dir);
	f = fopen(path, "r");
	if (f == NULL)
		return err_set(e, path, 0, 0, NULL, "%s", strerror(errno));
	whole = getline(&line, &size, f) >= 0 &&
	        read_header(g, line, place, &fields);
	while (whole && getline(&line, &size, f) >= 0) {
		whole = plot_cut(line, field, MAX_FIELDS) == fields;
		if (whole)
			add_bar(g, &capacity, field, place);
	}
	free(line);
	fclose(f);
	if (!whole || g->n == 0)
		return err_set(e, path, 0, 0, NULL,
		               "is not what weir run --dir leaves");
	return 0;
}

/* ---- the chart --------------------------------------------------------- */

static void widen(struct span *x, double value)
{
	x->infinite |= isinf(value) != 0;
	if (!isfinite(value))
		return;
	x->low = fmin(x->low, value);
	x->high = fmax(x->high, value);
}

static const char *show(double value, char *buf, size_t size)
{
	if (isnan(value))
		return "";
	if (isinf(value))
		return "inf";
	return value < 10 ? show_number(value, 2, buf, size)
	                  : show_count((uint64_t)(value + 0.5), buf, size);
}

static void show_span(const struct span *x, const char *unit, char *buf,
                      size_t size)
{
	double high = x->infinite ? INFINITY : x->high;
	char a[40], b[40];

	if (x->low > x->high)
		snprintf(buf, size, "%s", x->infinite ? "inf" : "never");
	else if (x->low == high)
		snprintf(buf, size, "%s %s", show(x->low, a, sizeof(a)), unit);
	else
		snprintf(buf, size, "%s to %s %s", show(x->low, a, sizeof(a)),
		         show(high, b, sizeof(b)), unit);
}

static void put_title(FILE *to, const struct span *tokens,
                      const struct span *ttft)
{
	char a[100], b[100], title[300];

	show_span(tokens, "output tokens/s", a, sizeof(a));
	show_span(ttft, "ms", b, sizeof(b));
	snprintf(title, sizeof(title), "%s, first token p95 %s", a, b);
	plot_put_text(to, "title", title);
}

/* Names stand side by side while they fit, else they are slanted. */
static bool is_slanted(const struct grid *g)
{
	char text[120];

	for (size_t i = 0; i < g->n; i++)
		if (strcmp(plot_short(g->bar[i].name, LINE_LETTERS / g->n, text,
		                      sizeof(text)),
		           g->bar[i].name) != 0)
			return true;
	return false;
}

/* A name as a field of gnuplot's data. */
static const char *show_name(const char *name, char *buf, size_t size)
{
	char whole[256];

	plot_short(show_text(name, whole, sizeof(whole)), NAME_SLANTED, buf,
	           size);
	for (char *at = buf; *at; at++)
		if (*at == '"')
			*at = '\'';
	return buf;
}

static void put_bars(FILE *to, const struct grid *g, double top)
{
	size_t every = (g->n + SLOTS_MOST - 1) / SLOTS_MOST;
	bool numbers = g->n <= NUMBERS_MOST;
	char a[40], b[40], name[120];

	fputs("$bars << EOD\n", to);
	for (size_t i = 0; i < g->n; i++) {
		const struct cell_bar *x = &g->bar[i];
		bool infinite = isinf(x->ttft_ms) != 0;

		fprintf(to, "%zu,%.9g,%.9g,%.9g,\"%s\",\"%s\",\"%s\"\n", i,
		        isfinite(x->tokens) ? x->tokens : 0,
		        isfinite(x->ttft_ms) ? x->ttft_ms : 0,
		        infinite ? top : 0,
		        numbers ? show(x->tokens, a, sizeof(a)) : "",
		        numbers || infinite ? show(x->ttft_ms, b, sizeof(b))
		                            : "",
		        i % every ? ""
		                  : show_name(x->name, name, sizeof(name)));
	}
	fputs("EOD\n", to);
}

int plot_cells(FILE *to, const char *dir, struct err *e)
{
	struct grid g = {.n = 0};
	struct span tokens = {INFINITY, -INFINITY, false};
	struct span ttft = tokens;
	double top;
	int wrong;

	arena_init(&g.arena);
	wrong = read_cells(&g, dir, e);
	if (!wrong) {
		for (size_t i = 0; i < g.n; i++) {
			widen(&tokens, g.bar[i].tokens);
			widen(&ttft, g.bar[i].ttft_ms);
		}
		top = ttft.high > 0 ? 1.2 * ttft.high : 1;
		put_title(to, &tokens, &ttft);
		plot_put_text(to, "axis", g.axis);
		fprintf(to,
		        "n = %zu\nslanted = %d\ntokens_top = %.9g\nttft_top = "
		        "%.9g\n",
		        g.n, is_slanted(&g),
		        tokens.high > 0 ? 1.2 * tokens.high : 1, top);
		put_bars(to, &g, top);
	}
	mem_free(g.bar);
	arena_fini(&g.arena);
	return wrong;
}
