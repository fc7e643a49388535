/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed loops: so many clients, each with one request at a time. */
#include "unit/load_rig.h"

enum { CLIENTS = 16 };

/* Serves every request of source 0 for the same time; some it refuses. */
struct service {
	struct rig rig;
	struct event done[CLIENTS];
	struct service_client {
		struct service *service;
		uint32_t number;
		bool refused;
	} clients[CLIENTS];
	int64_t serve_ns;
	uint64_t refuse_every; /* 0: never; every so many, at once */
	uint64_t refused;
	uint32_t inflight;
	uint32_t peak;
};

static void service_done(void *self)
{
	struct service_client *c = self;

	c->service->inflight--;
	load_ended(c->service->rig.load, 0, c->number, c->refused);
}

static void service_arrive(void *self, const struct load_request *r)
{
	struct service *s = self;
	struct service_client *c = &s->clients[r->client];
	int64_t now_ns = s->rig.calendar.now_ns;

	rig_arrive(&s->rig, r);
	assert_true(r->client < CLIENTS);
	c->refused = s->refuse_every > 0 && r->number % s->refuse_every == 0;
	if (c->refused) {
		s->refused++;
		/* Within the call, as an endpoint that refuses does. */
		load_ended(s->rig.load, 0, r->client, true);
		return;
	}
	if (++s->inflight > s->peak)
		s->peak = s->inflight;
	event_schedule(&s->rig.calendar, &s->done[r->client],
	               now_ns + s->serve_ns);
}

static struct load_spec closed(uint32_t concurrency)
{
	struct load_spec spec = rig_open(0);

	spec.kind = LOAD_CLOSED;
	spec.concurrency = concurrency;
	spec.error_pause_ns = S;
	return spec;
}

static void service_run(struct service *s, const struct load_spec *spec)
{
	struct load_sink sink = {s, service_arrive};
	struct err e;

	err_clear(&e);
	s->rig = (struct rig){0};
	calendar_init(&s->rig.calendar);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		s->clients[i] = (struct service_client){s, i, false};
		event_init(&s->done[i], EVENT_COMPLETION,
		           EVENT_ENTITY(RIG_KIND + 1, i), service_done,
		           &s->clients[i]);
	}
	s->rig.load =
		load_new(&s->rig.calendar, spec, 1, RIG_KIND, 5, 0, sink, &e);
	assert_non_null(s->rig.load);
	while (calendar_step(&s->rig.calendar, INT64_C(1) << 62))
		;
	assert_true(load_exhausted(s->rig.load));
	assert_int_equal(s->inflight, 0);
	assert_int_equal(load_sent(s->rig.load, 0), s->rig.n);
}

/* Four clients, 100 ms of service, no thought: four every 100 ms. */
static void test_no_think(void **state)
{
	struct load_spec spec = closed(4);
	struct service s = {.serve_ns = 100 * MS};

	(void)state;
	spec.from_ns = 2 * S;
	spec.until_ns = 3 * S;
	service_run(&s, &spec);
	assert_int_equal(s.rig.n, 40);
	assert_int_equal(s.peak, 4);
	for (size_t i = 0; i < s.rig.n; i++) {
		assert_int_equal(s.rig.at[i].at_ns,
		                 2 * S + (int64_t)(i / 4) * 100 * MS);
		assert_int_equal(s.rig.at[i].r.client, i % 4);
		assert_int_equal(s.rig.at[i].r.number, i);
	}
	rig_fini(&s.rig);
}

/* A cycle is service and thought: N / (0.1 + 0.3) a second. */
static void test_constant_think(void **state)
{
	struct load_spec spec = closed(CLIENTS);
	struct service s = {.serve_ns = 100 * MS};

	(void)state;
	spec.think_ns = dist_constant(300e6);
	spec.until_ns = 40 * S;
	service_run(&s, &spec);
	assert_int_equal(s.rig.n, CLIENTS * 100);
	rig_fini(&s.rig);
}

/* Exponential thought of mean 1 s: gaps of a client less service, by KS. */
static void test_drawn_think(void **state)
{
	struct load_spec spec = closed(CLIENTS);
	struct service s = {.serve_ns = 100 * MS};
	int64_t before[CLIENTS] = {0};
	size_t n = 0;
	double *u;

	(void)state;
	spec.think_ns = rig_dist(DIST_EXPONENTIAL, 1e9, 0);
	spec.requests = 20000;
	service_run(&s, &spec);
	assert_int_equal(s.rig.n, 20000);
	u = mem_new(s.rig.n, sizeof(*u));
	for (size_t i = 0; i < s.rig.n; i++) {
		const struct arrival *a = &s.rig.at[i];
		int64_t gap_ns = a->at_ns - before[a->r.client] - 100 * MS;

		before[a->r.client] = a->at_ns;
		if (i >= CLIENTS)
			u[n++] = 1 - exp(-(double)gap_ns / 1e9);
	}
	qsort(u, n, sizeof(*u), rig_by_value);
	assert_true(rig_ks(u, n) < 1.95);
	mem_free(u);
	rig_fini(&s.rig);
}

/* A client's thoughts are its own: more clients leave them as they were. */
static void test_think_by_client(void **state)
{
	struct load_spec few = closed(2), many = closed(CLIENTS);
	struct service a = {.serve_ns = 100 * MS}, b = {.serve_ns = 100 * MS};
	size_t at = 0;

	(void)state;
	few.think_ns = many.think_ns = rig_dist(DIST_EXPONENTIAL, 1e9, 0);
	few.until_ns = many.until_ns = 100 * S;
	service_run(&a, &few);
	service_run(&b, &many);
	for (size_t i = 0; i < b.rig.n; i++) {
		if (b.rig.at[i].r.client >= 2)
			continue;
		assert_int_equal(a.rig.at[at].at_ns, b.rig.at[i].at_ns);
		assert_int_equal(a.rig.at[at].r.client, b.rig.at[i].r.client);
		at++;
	}
	assert_int_equal(at, a.rig.n);
	assert_true(at > 150);
	rig_fini(&a.rig);
	rig_fini(&b.rig);
}

/* The limit is the source's: also when it is less than its clients, and when
 * the last of it is sent while others think. */
static void test_requests(void **state)
{
	static const uint64_t limits[] = {0, 1, 3, 4, 5, 1001};

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct load_spec spec = closed(4);
		struct service s = {.serve_ns = 100 * MS};

		spec.think_ns = rig_dist(DIST_EXPONENTIAL, 1e8, 0);
		spec.requests = limits[i];
		service_run(&s, &spec);
		assert_int_equal(s.rig.n, limits[i]);
		rig_fini(&s.rig);
	}
}

/* Once the limit is reached nobody waits for a thought of 1000 s. */
static void test_thinkers_stop_at_the_limit(void **state)
{
	struct load_spec spec = closed(4);
	struct service s = {.serve_ns = 100 * MS, .refuse_every = 4};

	(void)state;
	spec.error_pause_ns = 1000 * S; /* request 0, at once: client 0 */
	spec.requests = 7;
	service_run(&s, &spec);
	assert_int_equal(s.rig.n, 7);
	assert_true(s.rig.calendar.now_ns < S);
	rig_fini(&s.rig);
}

/* All refused within the call: one request a client each error pause. */
static void test_error_pause(void **state)
{
	struct load_spec spec = closed(2);
	struct service s = {.serve_ns = 100 * MS, .refuse_every = 1};

	(void)state;
	spec.error_pause_ns = 500 * MS;
	spec.think_ns = dist_constant(500e6);
	spec.until_ns = 10 * S;
	service_run(&s, &spec);
	assert_int_equal(s.rig.n, 20);
	assert_int_equal(s.refused, 20);
	for (size_t i = 0; i < s.rig.n; i++)
		assert_int_equal(s.rig.at[i].at_ns, (int64_t)(i / 2) * S);
	rig_fini(&s.rig);
}

/* Clients, in flight or thinking, and the question whether more will come. */
static void test_exhausted(void **state)
{
	struct load_spec spec = closed(1);
	struct rig rig = {0};
	struct err e;

	(void)state;
	err_clear(&e);
	spec.think_ns = dist_constant(1e9);
	spec.until_ns = 1500 * MS;
	calendar_init(&rig.calendar);
	rig.load = load_new(&rig.calendar, &spec, 1, RIG_KIND, 1, 0,
	                    (struct load_sink){&rig, rig_arrive}, &e);
	assert_false(load_exhausted(rig.load));
	assert_true(calendar_step(&rig.calendar, TIME_NEVER));
	assert_true(load_exhausted(rig.load)); /* it waits for an answer */
	load_ended(rig.load, 0, 0, false);
	assert_false(load_exhausted(rig.load));
	assert_true(calendar_step(&rig.calendar, TIME_NEVER));
	assert_int_equal(rig.calendar.now_ns, S);
	load_ended(rig.load, 0, 0, false); /* would be at 2 s: too late */
	assert_true(load_exhausted(rig.load));
	assert_int_equal(rig.n, 2);
	rig_fini(&rig);
}

/* An end of an open loop's request changes nothing. */
static void test_open_loops_do_not_listen(void **state)
{
	struct load_spec spec = rig_open(10);
	struct rig rig;

	(void)state;
	spec.requests = 3;
	rig_run(&rig, &spec, 1, 1, 0);
	load_ended(rig.load, 0, 0, false);
	load_ended(rig.load, 0, 0, true);
	assert_true(load_exhausted(rig.load));
	assert_int_equal(rig.n, 3);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_think),
		cmocka_unit_test(test_constant_think),
		cmocka_unit_test(test_drawn_think),
		cmocka_unit_test(test_think_by_client),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_thinkers_stop_at_the_limit),
		cmocka_unit_test(test_error_pause),
		cmocka_unit_test(test_exhausted),
		cmocka_unit_test(test_open_loops_do_not_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
