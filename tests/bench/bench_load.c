/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a request of an open loop costs, from the calendar to the sink, and
 * how fast traces are read. One line a figure, `name value unit`: the best of
 * several rounds, since what disturbs only adds.
 */
#include "load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REQUESTS = 1000000, ROWS = 1000000, ROUNDS = 5 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int ok, const struct err *e)
{
	char text[1200];

	if (ok)
		return;
	fprintf(stderr, "bench_load: %s\n", err_format(e, text, sizeof(text)));
	exit(3);
}

/* What came out must be looked at, or it need not be made. */
static void arrive(void *self, const struct load_request *r)
{
	uint64_t *sum = self;

	*sum += r->number + r->input_tokens + r->content_len +
	        (unsigned char)r->user[0];
}

static double one_round(const struct load_spec *spec)
{
	struct calendar calendar;
	struct load *load;
	struct err e;
	uint64_t sum = 0;
	double begin;

	err_clear(&e);
	calendar_init(&calendar);
	load = load_new(&calendar, spec, 1, 1, 1, 0,
	                (struct load_sink){&sum, arrive}, &e);
	must(load != NULL, &e);
	begin = now_s();
	while (calendar_step(&calendar, TIME_NEVER))
		;
	begin = now_s() - begin;
	must(sum > 0 && load_sent(load, 0) == REQUESTS, &e);
	load_free(load);
	calendar_fini(&calendar);
	return begin * 1e9 / REQUESTS;
}

static void bench_open(const char *name, const struct load_spec *spec)
{
	double best = one_round(spec);

	for (int i = 1; i < ROUNDS; i++) {
		double ns = one_round(spec);

		if (ns < best)
			best = ns;
	}
	printf("%s %.1f ns/request\n", name, best);
}

/* A thousand rows a second. */
static void write_trace(FILE *f, bool azure)
{
	fputs(azure ? "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
	            : "arrival_us,input_tokens,output_tokens\n",
	      f);
	for (int i = 0; i < ROWS; i++) {
		int in = 100 + i % 4000, out = 1 + i % 500;
		int s = i / 1000, us = i % 1000 * 1000;

		if (azure)
			fprintf(f, "2023-11-16 %02d:%02d:%02d.%06d0,%d,%d\r\n",
			        s / 3600, s / 60 % 60, s % 60, us, in, out);
		else
			fprintf(f, "%d%06d,%d,%d\n", s + 1, us, in, out);
	}
}

static double read_trace(const char *path)
{
	struct load_trace *t;
	struct load_row row;
	struct err e;
	double begin = now_s();
	int rows = 0, got;

	err_clear(&e);
	t = load_trace_open(path, NULL, &e);
	must(t != NULL, &e);
	while ((got = load_trace_next(t, &row, &e)) > 0)
		rows++;
	must(got == 0 && rows == ROWS, &e);
	load_trace_close(t);
	return ROWS / (now_s() - begin);
}

static void bench_trace(const char *name, bool azure)
{
	char path[] = P_tmpdir "/weir-bench-load-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
	double best = 0;

	if (f == NULL) {
		perror("bench_load");
		exit(3);
	}
	write_trace(f, azure);
	fclose(f);
	for (int i = 0; i < ROUNDS; i++) {
		double rows = read_trace(path);

		if (rows > best)
			best = rows;
	}
	remove(path);
	printf("%s %.0f rows/s\n", name, best);
}

int main(void)
{
	struct load_spec spec = {
		.name = "bench",
		.kind = LOAD_OPEN,
		.until_ns = TIME_NEVER,
		.requests = REQUESTS,
		.process = LOAD_CONSTANT,
		.rate_rps = 1000,
		.input_tokens = dist_constant(1000),
		.output_tokens = dist_constant(200),
		.keys = {.kind = LOAD_KEYS_UNIQUE},
	};

	bench_open("load_open_constant", &spec);
	spec.process = LOAD_POISSON;
	spec.input_tokens.kind = DIST_LOGNORMAL;
	spec.input_tokens.b = 1;
	spec.output_tokens.kind = DIST_LOGNORMAL;
	spec.output_tokens.b = 1;
	bench_open("load_open_poisson_lognormal", &spec);
	spec.keys = (struct load_keys){LOAD_KEYS_DRAWN, 100000, 0, 1.1};
	bench_open("load_open_poisson_lognormal_users", &spec);
	bench_trace("load_trace_azure2023", true);
	bench_trace("load_trace_weir", false);
	return 0;
}
