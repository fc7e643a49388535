/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a replica costs, one line a figure, `name value unit`: workload W1
 * (Poisson, 20 requests a second of 512 and 128 tokens, at most 256 running,
 * 2048 tokens a step, steps of 3000 + 18 P + 15 D us), 100,000 requests on
 * one replica, leaping and stepping; and one synchronised batch of 32
 * requests with 500 output tokens, again and again. The median of several
 * rounds; the arrivals are drawn before the clock starts. Hooks count and do
 * no more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replica/replica.h"

#define W1_REQUESTS 100000u
#define ROUNDS 7
#define BATCH 32u
#define BATCHES 500u

enum { REPLICA = 1, ARRIVAL, WORK };

struct bench {
	struct calendar calendar;
	struct replica *replica;
	struct replica_work *works;
	const int64_t *at_ns;
	size_t n, next;
	struct event arrive;
	uint64_t done;
	uint64_t tokens;
	uint64_t sum_ns;
};

struct result {
	double seconds;
	double events;
	double steps;
	uint64_t sum_ns; /* of all hooks' times: both ways must agree */
};

/* ---- hooks ------------------------------------------------------------- */

static void lived(void *self, struct replica *r)
{
	(void)self;
	(void)r;
}

static void seen(void *self, struct replica *r, struct replica_work *w)
{
	struct bench *b = self;

	(void)r;
	(void)w;
	b->sum_ns += (uint64_t)b->calendar.now_ns;
}

static void done(void *self, struct replica *r, struct replica_work *w)
{
	struct bench *b = self;

	seen(self, r, w);
	b->done++;
}

static void dropped(void *self, struct replica *r, struct replica_work *w,
                    enum replica_drop why)
{
	(void)self;
	(void)r;
	(void)w;
	fprintf(stderr, "bench_replica: dropped (%d)\n", (int)why);
	exit(3);
}

static void stepped(void *self, struct replica *r,
                    const struct replica_steps *steps)
{
	struct bench *b = self;

	(void)r;
	b->tokens += steps->steps * steps->tokens;
}

static void late(void *self, struct replica *r, struct replica_work *w,
                 int64_t gap_ns)
{
	(void)gap_ns;
	seen(self, r, w);
}

static const struct replica_hooks hooks = {
	.lived = lived,
	.queued = seen,
	.started = seen,
	.preempted = seen,
	.first_token = seen,
	.done = done,
	.dropped = dropped,
	.steps = stepped,
	.late_token = late,
};

/* ---- runs -------------------------------------------------------------- */

static struct replica_config w1_config(bool exact)
{
	struct replica_config c;

	memset(&c, 0, sizeof c);
	c.engine = replica_engine_find("batching");
	c.max_num_seqs = 256;
	c.max_num_batched_tokens = 2048;
	c.block_tokens = 16;
	c.kv_blocks = 410000 / 16;
	c.curve.n = 1;
	c.curve.piece[0].upto_tokens = UINT32_MAX;
	c.curve.piece[0].base_ticks = 3000 * NS_PER_US * REPLICA_TICKS_PER_NS;
	c.curve.piece[0].per_prefill_ticks =
		18 * NS_PER_US * REPLICA_TICKS_PER_NS;
	c.curve.piece[0].per_decode_ticks =
		15 * NS_PER_US * REPLICA_TICKS_PER_NS;
	c.exact_steps = exact;
	return c;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void arrive(void *self)
{
	struct bench *b = self;
	struct replica_work *w = &b->works[b->next++];

	if (b->next < b->n)
		event_schedule(&b->calendar, &b->arrive, b->at_ns[b->next]);
	replica_admit(b->replica, w);
}

static struct result run(const struct replica_config *config,
                         const int64_t *at_ns, size_t n, uint32_t output)
{
	struct bench b;
	struct replica_params params;
	struct result result;
	double begin;
	size_t i;

	memset(&b, 0, sizeof b);
	memset(&params, 0, sizeof params);
	begin = seconds_now();
	calendar_init(&b.calendar);
	params.calendar = &b.calendar;
	params.config = config;
	params.hooks = &hooks;
	params.self = &b;
	params.entity = EVENT_ENTITY(REPLICA, 0);
	params.work_kind = WORK;
	b.replica = replica_new(&params);
	replica_start(b.replica, NULL);
	b.works = mem_new(n, sizeof *b.works);
	b.at_ns = at_ns;
	b.n = n;
	for (i = 0; i < n; i++) {
		b.works[i].id = i;
		b.works[i].input_tokens = 512;
		b.works[i].output.sealed_ = output;
	}
	event_init(&b.arrive, EVENT_ADMISSION, EVENT_ENTITY(ARRIVAL, 0), arrive,
	           &b);
	event_schedule(&b.calendar, &b.arrive, at_ns[0]);
	while (calendar_step(&b.calendar, TIME_NEVER))
		;
	result.seconds = seconds_now() - begin;
	result.events = (double)b.calendar.fired;
	result.steps = (double)replica_steps_run(b.replica);
	result.sum_ns = b.sum_ns;
	if (b.done != n || b.tokens != (output - 1) * (uint64_t)n) {
		fprintf(stderr, "bench_replica: not all tokens came\n");
		exit(3);
	}
	replica_free(b.replica);
	calendar_fini(&b.calendar);
	mem_free(b.works);
	return result;
}

static int by_seconds(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static struct result median(const struct replica_config *config,
                            const int64_t *at_ns, size_t n, uint32_t output)
{
	struct result results[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++)
		results[i] = run(config, at_ns, n, output);
	qsort(results, ROUNDS, sizeof results[0], by_seconds);
	return results[ROUNDS / 2];
}

static double compare(const char *name, const int64_t *at_ns, size_t n,
                      uint32_t output)
{
	struct replica_config leaping = w1_config(false);
	struct replica_config stepping = w1_config(true);
	struct result l, s;

	leaping.max_num_batched_tokens = stepping.max_num_batched_tokens =
		n == W1_REQUESTS ? 2048 : 512 * BATCH;
	l = median(&leaping, at_ns, n, output);
	s = median(&stepping, at_ns, n, output);
	if (l.sum_ns != s.sum_ns) {
		fprintf(stderr, "bench_replica: leaping is not stepping\n");
		exit(3);
	}
	printf("%s_seconds %.6f s\n", name, l.seconds);
	printf("%s_requests %.0f 1/s\n", name, (double)n / l.seconds);
	printf("%s_events %.3f 1/request\n", name, l.events / (double)n);
	printf("%s_steps %.0f 1/s\n", name, l.steps / l.seconds);
	printf("%s_stepping_seconds %.6f s\n", name, s.seconds);
	printf("%s_stepping_steps %.0f 1/s\n", name, s.steps / s.seconds);
	printf("%s_leaping_gain %.2f ratio\n", name, s.seconds / l.seconds);
	return l.seconds;
}

int main(void)
{
	int64_t *at_ns = mem_new(W1_REQUESTS, sizeof *at_ns);
	struct stream s = stream_open(1, 0, 0, STREAM_ARRIVAL);
	struct dist gap = dist_constant(1e9 / 20);
	int64_t now_ns = 0;
	size_t i;

	gap.kind = DIST_EXPONENTIAL;
	for (i = 0; i < W1_REQUESTS; i++) {
		now_ns += (int64_t)dist_draw(&gap, &s);
		at_ns[i] = now_ns;
	}
	compare("w1", at_ns, W1_REQUESTS, 128);
	/* Batches of 32 at once, far enough apart. */
	for (i = 0; i < BATCHES * BATCH; i++)
		at_ns[i] = (int64_t)(i / BATCH) * 10 * NS_PER_S;
	compare("batch32", at_ns, (size_t)BATCHES * BATCH, 500);
	mem_free(at_ns);
	return 0;
}
