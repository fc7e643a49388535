/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_rig - a calendar, a load on it, and every request that came out.
 */
#ifndef WEIR_TESTS_LOAD_RIG_H
#define WEIR_TESTS_LOAD_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load/load.h"

#define S NS_PER_S
#define MS NS_PER_MS
enum { RIG_KIND = 4 };

struct arrival {
	int64_t at_ns;
	struct load_request r;
};

struct rig {
	struct calendar calendar;
	struct load *load;
	struct arrival *at;
	size_t n;
	size_t capacity;
};

static inline void rig_arrive(void *self, const struct load_request *r)
{
	struct rig *rig = self;

	if (rig->n == rig->capacity) {
		rig->capacity = rig->capacity ? 2 * rig->capacity : 1024;
		rig->at = mem_grow(rig->at, rig->capacity, sizeof(*rig->at));
	}
	rig->at[rig->n].at_ns = rig->calendar.now_ns;
	rig->at[rig->n].r = *r;
	rig->n++;
}

/* Runs sources until none has anything to send, or to 2^62 ns. */
static inline void rig_run(struct rig *rig, const struct load_spec *specs,
                           uint32_t n, uint64_t seed, uint64_t replication)
{
	struct load_sink sink = {rig, rig_arrive};
	struct err e;

	err_clear(&e);
	*rig = (struct rig){0};
	calendar_init(&rig->calendar);
	rig->load = load_new(&rig->calendar, specs, n, RIG_KIND, seed,
	                     replication, sink, &e);
	assert_non_null(rig->load);
	while (calendar_step(&rig->calendar, INT64_C(1) << 62))
		;
	assert_true(load_exhausted(rig->load));
}

static inline void rig_fini(struct rig *rig)
{
	load_free(rig->load);
	calendar_fini(&rig->calendar);
	mem_free(rig->at);
}

/* An open loop of constant gaps, 100 tokens in, 10 out, unique keys. */
static inline struct load_spec rig_open(double rate_rps)
{
	return (struct load_spec){
		.name = "open",
		.kind = LOAD_OPEN,
		.pinned = UINT32_MAX,
		.until_ns = TIME_NEVER,
		.requests = UINT64_MAX,
		.process = LOAD_CONSTANT,
		.rate_rps = rate_rps,
		.speed = 1,
		.think_ns = dist_constant(0),
		.input_tokens = dist_constant(100),
		.output_tokens = dist_constant(10),
		.timeout_ns = TIME_NEVER,
	};
}

static inline struct dist rig_dist(enum dist_kind kind, double a, double b)
{
	struct dist d = dist_constant(a);

	d.kind = kind;
	d.b = b;
	return d;
}

/*
 * The Kolmogorov-Smirnov distance of sorted u[] from the uniform on (0, 1),
 * times sqrt(n); under the hypothesis above 1.95 in 0.1 % of the cases.
 */
static inline double rig_ks(const double *u, size_t n)
{
	double worst = 0;

	for (size_t i = 0; i < n; i++) {
		double low = u[i] - (double)i / (double)n;
		double high = (double)(i + 1) / (double)n - u[i];

		worst = fmax(worst, fmax(low, high));
	}
	return worst * sqrt((double)n);
}

static inline int rig_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A temporary file with that content; the caller unlinks and frees it. */
static inline char *rig_file(const void *bytes, size_t n)
{
	const char *dir = getenv("TMPDIR");
	char *path = mem_new(1, 256);
	FILE *f;
	int fd;

	snprintf(path, 256, "%s/weir-load-XXXXXX", dir ? dir : P_tmpdir);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return path;
}

static inline void rig_unlink(char *path)
{
	remove(path);
	mem_free(path);
}

#endif
