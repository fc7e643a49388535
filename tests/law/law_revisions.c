/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The revisions that ship are as near to their measurements as they say:
 * every row of a sweep of closed loops is run against one replica, and the
 * mean error of inter-token latency and requests a second over the rows is
 * what models/README.md states. The clients' first requests are spread over
 * a fifth of a request's time; what is measured begins with the second.
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/scenario.h"

enum { REQUESTS = 6, ROWS_MAX = 64, CLIENT = 2 };

struct row {
	double isl, osl, concurrency, itl_ms, e2e_ms;
};

struct loop;

struct client {
	struct loop *loop;
	struct event send;
	struct replica_work work;
	struct stream lengths;
	int64_t arrived_ns;
	int64_t first_ns;
	uint32_t sent;
};

/* One closed loop, until each client has had its requests. */
struct loop {
	struct calendar calendar;
	struct replica *replica;
	struct client *client;
	const struct row *row;
	bool varied;   /* lengths from 0.8 to 1.0 of the nominal */
	uint32_t left; /* clients that have not had them all */
	double itl_ns, e2e_ns;
	uint32_t measured;
};

static uint32_t tokens(struct client *c, double mean)
{
	double part = c->loop->varied
	                      ? (0.8 + 0.2 * stream_unit(&c->lengths)) / 0.9
	                      : 1;

	return (uint32_t)(mean * part + 0.5);
}

static void send_request(void *self)
{
	struct client *c = self;

	memset(&c->work, 0, sizeof c->work);
	c->work.owner = c;
	c->work.id = (uint64_t)(c - c->loop->client) * 1000 + c->sent++;
	c->work.input_tokens = tokens(c, c->loop->row->isl);
	c->work.output.sealed_ = tokens(c, c->loop->row->osl);
	c->arrived_ns = c->loop->calendar.now_ns;
	replica_admit(c->loop->replica, &c->work);
}

static void ignore_life(void *self, struct replica *r)
{
	(void)self;
	(void)r;
}

static void ignore(void *self, struct replica *r, struct replica_work *w)
{
	(void)self;
	(void)r;
	(void)w;
}

static void first_token(void *self, struct replica *r, struct replica_work *w)
{
	struct client *c = w->owner;

	(void)self;
	(void)r;
	c->first_ns = c->loop->calendar.now_ns;
}

static void done(void *self, struct replica *r, struct replica_work *w)
{
	struct client *c = w->owner;
	struct loop *l = self;
	int64_t now_ns = l->calendar.now_ns;

	(void)r;
	if (c->sent > 1 && l->left > 0) {
		l->e2e_ns += (double)(now_ns - c->arrived_ns);
		l->itl_ns += (double)(now_ns - c->first_ns) /
		             (w->output.sealed_ - 1.0);
		l->measured++;
	}
	if (c->sent == REQUESTS)
		l->left--;
	if (l->left > 0)
		event_schedule(&l->calendar, &c->send, now_ns);
}

static void dropped(void *self, struct replica *r, struct replica_work *w,
                    enum replica_drop why)
{
	(void)self;
	(void)r;
	(void)w;
	fail_msg("a request was dropped: %d", (int)why);
}

static void ignore_steps(void *self, struct replica *r,
                         const struct replica_steps *steps)
{
	(void)self;
	(void)r;
	(void)steps;
}

static void ignore_gap(void *self, struct replica *r, struct replica_work *w,
                       int64_t gap_ns)
{
	(void)gap_ns;
	ignore(self, r, w);
}

static const struct replica_hooks hooks = {
	.lived = ignore_life,
	.queued = ignore,
	.started = ignore,
	.preempted = ignore,
	.first_token = first_token,
	.done = done,
	.dropped = dropped,
	.steps = ignore_steps,
	.late_token = ignore_gap,
};

/* Errors of one row in per cent: inter-token latency, requests a second. */
static void run_row(const struct replica_config *config, const struct row *row,
                    bool varied, double *itl, double *rate)
{
	uint32_t n = (uint32_t)row->concurrency, i;
	struct loop l = {.row = row, .varied = varied, .left = n};
	const struct replica_params params = {
		.calendar = &l.calendar,
		.config = config,
		.hooks = &hooks,
		.self = &l,
		.entity = EVENT_ENTITY(1, 1),
		.work_kind = 3,
		.seed = 1,
	};

	calendar_init(&l.calendar);
	l.client = calloc(n, sizeof *l.client);
	assert_non_null(l.client);
	l.replica = replica_new(&params);
	replica_start(l.replica, NULL);
	for (i = 0; i < n; i++) {
		struct client *c = &l.client[i];

		c->loop = &l;
		c->lengths = stream_open(1, 0, EVENT_ENTITY(CLIENT, i),
		                         STREAM_OUTPUT_TOKENS);
		event_init(&c->send, EVENT_ADMISSION, EVENT_ENTITY(CLIENT, i),
		           send_request, c);
		event_schedule(&l.calendar, &c->send,
		               (int64_t)(row->e2e_ms * 1e6 / 5 * i / n));
	}
	while (l.left > 0 && calendar_step(&l.calendar, TIME_NEVER))
		;
	assert_true(l.measured > 0);
	*itl = 100 * (l.itl_ns / l.measured / 1e6 / row->itl_ms - 1);
	*rate = 100 * (row->e2e_ms / (l.e2e_ns / l.measured / 1e6) - 1);
	replica_free(l.replica);
	calendar_fini(&l.calendar);
	free(l.client);
}

/* ---- sweeps ------------------------------------------------------------ */

static const char *models(char *buf, size_t size, const char *name)
{
	const char *tests = getenv("WEIR_TESTS");

	snprintf(buf, size, "%s/../models/%s", tests != NULL ? tests : "tests",
	         name);
	return buf;
}

/* The n-th of the cells between commas; no cell before them is quoted. */
static const char *cell(const char *line, int n)
{
	while (n-- > 0) {
		line = strchr(line, ',');
		assert_non_null(line);
		line++;
	}
	return line;
}

static double number(const char *header, const char *line, const char *name)
{
	const char *at = header;
	size_t length = strlen(name);
	int column = 0;

	while (strncmp(at, name, length) != 0 || at[length] != ',') {
		at = strchr(at, ',');
		assert_non_null(at);
		at++;
		column++;
	}
	return strtod(cell(line, column), NULL);
}

static size_t read_sweep(const char *name, struct row *rows)
{
	char path[512], header[1024], line[2048];
	FILE *f = fopen(models(path, sizeof path, name), "r");
	size_t n = 0;

	assert_non_null(f);
	assert_non_null(fgets(header, sizeof header, f));
	while (fgets(line, sizeof line, f) != NULL) {
		assert_true(n < ROWS_MAX);
		rows[n++] = (struct row){
			.isl = number(header, line, "isl"),
			.osl = number(header, line, "osl"),
			.concurrency = number(header, line, "concurrency"),
			.itl_ms = number(header, line, "itl_mean_ms"),
			.e2e_ms = number(header, line, "e2e_mean_ms"),
		};
	}
	fclose(f);
	return n;
}

/* ---- revisions --------------------------------------------------------- */

/* The only revision of a name, whatever its digest. */
static void find_revision(const char *name, struct arena *arena,
                          struct scenario_revision *out)
{
	char path[512], file[1024], message[1024];
	DIR *d = opendir(models(path, sizeof path, ""));
	const struct dirent *entry;
	struct err e = {.set = false};
	size_t found = 0, length = strlen(name);

	assert_non_null(d);
	while ((entry = readdir(d)) != NULL) {
		if (strncmp(entry->d_name, name, length) != 0 ||
		    strlen(entry->d_name) != length + 12)
			continue;
		snprintf(file, sizeof file, "%s%s", path, entry->d_name);
		if (scenario_revision_read(file, NULL, arena, out, &e) != 0)
			fail_msg("%s", err_format(&e, message, sizeof message));
		found++;
	}
	closedir(d);
	assert_int_equal(found, 1);
}

/* What models/README.md says: mean errors in per cent. */
static const struct stated {
	const char *revision;
	const char *sweep;
	size_t rows;
	bool varied;
	double itl, rate;
} stated[] = {
	{"cr_8b-h100x2-throughput", "sweeps/8b-h100x2-trtllm1.0.csv", 18, false,
         5.8, 5.1},
	{"cr_32b-h100x2-throughput", "sweeps/32b-h100x2-vllm0.12.csv", 20,
         false, 2.9, 2.2},
	{"cr_32b-h100x4-throughput", "sweeps/32b-h100x4-vllm0.12.csv", 20,
         false, 1.6, 1.5},
	{"cr_70b-fp8-h100x4-throughput", "sweeps/70b-fp8-h100x4-vllm.csv", 6,
         true, 0.8, 0.8},
	{"cr_70b-fp8-h100x8-throughput", "sweeps/70b-fp8-h100x8-vllm.csv", 6,
         true, 3.0, 2.7},
};

/*
 * The clients have fewer requests here than in the fit: half a per cent of
 * the mean is left for that.
 */
static void test_revisions_are_as_near_as_they_say(void **state)
{
	struct row rows[ROWS_MAX];
	struct scenario_revision r;
	struct arena arena;
	size_t i, k, n;

	(void)state;
	for (i = 0; i < sizeof stated / sizeof stated[0]; i++) {
		const struct stated *s = &stated[i];
		double itl = 0, rate = 0, one, other;

		arena_init(&arena);
		find_revision(s->revision, &arena, &r);
		n = read_sweep(s->sweep, rows);
		assert_int_equal(n, s->rows);
		for (k = 0; k < n; k++) {
			run_row(r.config, &rows[k], s->varied, &one, &other);
			itl += fabs(one) / (double)n;
			rate += fabs(other) / (double)n;
		}
		print_message("%s: %.1f %% (stated %.1f), %.1f %% (%.1f)\n",
		              r.id, itl, s->itl, rate, s->rate);
		assert_true(itl < s->itl + 0.5 && rate < s->rate + 0.5);
		arena_fini(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_revisions_are_as_near_as_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
