/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A replica that is configured to be a queue behaves as that queue: M/M/1
 * and M/M/c by engine `service`, M/D/1 by engine `batching` with one place
 * and one token a request. Each figure is the mean of independent
 * replications and must hold the closed form in its two-sided 99.9 %
 * interval (Student's t); seeds are fixed. Little's law is checked twice: as
 * the identity that it is over a run from empty to empty, to the ns, and
 * with the nominal rate, within the interval.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <cmocka.h>

#include "replica_lab.h"

#define REPLICATIONS 20u
#define REQUESTS 100000u
#define WARM_UP 5000u /* requests that are served but not counted */
#define CONFIDENCE 0.999

struct queue {
	const char *name;
	struct replica_config config;
	double rate_rps;
	double service_s;
	double wait_s;  /* closed form: mean wait in the queue */
	double delayed; /* closed form: share of requests that wait */
};

/* One replication's figures. */
struct figures {
	double wait_s;
	double delayed;
	double busy;   /* share of the time not idle */
	double little; /* mean in system less rate times mean time in it */
};

enum { FIGURES = 4 };

/* Runs to the end; returns the integral of requests in the system. */
static int64_t run_and_count(struct lab *l)
{
	const struct replica *r = l->replica;
	struct calendar *c = &l->calendar;
	int64_t request_ns = 0, next_ns;

	while ((next_ns = calendar_next(c)) < TIME_NEVER) {
		request_ns +=
			(next_ns - c->now_ns) *
			(int64_t)(replica_waiting(r) + replica_running(r));
		calendar_step(c, next_ns);
	}
	return request_ns;
}

static struct figures replicate(const struct queue *q, uint64_t replication)
{
	struct stream s =
		stream_open(2026, replication, LAB_OTHER, STREAM_ARRIVAL);
	struct dist gap = dist_constant(1e9 / q->rate_rps);
	struct figures f = {0, 0, 0, 0};
	int64_t at_ns = 0, inside_ns = 0, sojourn_ns = 0;
	struct lab l;
	size_t i;

	gap.kind = DIST_EXPONENTIAL;
	lab_replicate(&l, &q->config, REQUESTS, replication);
	l.quiet = true;
	replica_start(l.replica, NULL);
	for (i = 0; i < REQUESTS; i++) {
		at_ns += replica_draw_ns(&gap, &s);
		lab_request(&l, i, at_ns, 1, 1);
	}
	inside_ns = run_and_count(&l);
	for (i = 0; i < REQUESTS; i++) {
		const struct lab_request *r = &l.requests[i];
		int64_t wait_ns = r->started_ns - r->arrived_ns;

		assert_true(wait_ns >= 0 && r->first_ns == r->done_ns);
		sojourn_ns += r->done_ns - r->arrived_ns;
		if (i < WARM_UP)
			continue;
		f.wait_s += (double)wait_ns / 1e9;
		f.delayed += wait_ns > 0;
	}
	assert_int_equal(inside_ns, sojourn_ns);
	f.wait_s /= REQUESTS - WARM_UP;
	f.delayed /= REQUESTS - WARM_UP;
	f.busy = (double)replica_busy_ns(l.replica) / (double)l.calendar.now_ns;
	f.little = (double)inside_ns / (double)l.calendar.now_ns -
	           q->rate_rps * (double)sojourn_ns / 1e9 / REQUESTS;
	lab_fini(&l);
	return f;
}

static void expect(const struct queue *q, const char *what, const double *x,
                   double exact)
{
	double mean = 0, square = 0, half;
	unsigned i;

	for (i = 0; i < REPLICATIONS; i++)
		mean += x[i] / REPLICATIONS;
	for (i = 0; i < REPLICATIONS; i++)
		square += (x[i] - mean) * (x[i] - mean);
	half = gsl_cdf_tdist_Pinv((1 + CONFIDENCE) / 2, REPLICATIONS - 1) *
	       sqrt(square / (REPLICATIONS - 1) / REPLICATIONS);
	print_message("%s: %s %.6g +- %.2g, closed form %.6g\n", q->name, what,
	              mean, half, exact);
	assert_true(fabs(mean - exact) <= half);
	/* An interval that holds anything says nothing. */
	assert_true(half < 0.06 * (exact > 0 ? exact : 1));
}

static void check(const struct queue *q, double busy)
{
	double x[FIGURES][REPLICATIONS];
	unsigned i;

	for (i = 0; i < REPLICATIONS; i++) {
		struct figures f = replicate(q, i);

		x[0][i] = f.wait_s;
		x[1][i] = f.delayed;
		x[2][i] = f.busy;
		x[3][i] = f.little;
	}
	expect(q, "mean wait", x[0], q->wait_s);
	expect(q, "share that waits", x[1], q->delayed);
	if (busy > 0)
		expect(q, "share busy", x[2], busy);
	expect(q, "Little's law", x[3], 0);
}

static struct replica_config servers(uint32_t n, double mean_s)
{
	struct replica_config config = lab_config();

	config.engine = replica_engine_find("service");
	config.servers = n;
	config.service_ns = dist_constant(mean_s * 1e9);
	config.service_ns.kind = DIST_EXPONENTIAL;
	return config;
}

/* Erlang's C by the recursion of his B. */
static double erlang_c(unsigned servers_n, double load)
{
	double b = 1, utilisation = load / servers_n;
	unsigned k;

	for (k = 1; k <= servers_n; k++)
		b = load * b / (k + load * b);
	return b / (1 - utilisation + utilisation * b);
}

static void m_m_1(void **state)
{
	struct queue q = {.name = "M/M/1", .rate_rps = 7, .service_s = 0.1};

	(void)state;
	q.config = servers(1, q.service_s);
	/* rho / (mu - lambda), and rho. */
	q.wait_s = 0.7 / (10 - 7);
	q.delayed = 0.7;
	check(&q, 0.7);
}

static void m_m_c(void **state)
{
	struct queue q = {.name = "M/M/4", .rate_rps = 32, .service_s = 0.1};

	(void)state;
	q.config = servers(4, q.service_s);
	q.delayed = erlang_c(4, 3.2);
	q.wait_s = q.delayed / (40 - 32);
	/* p0 = 1 - P(not idle), from the definition. */
	check(&q, 1 - 1 / (1 + 3.2 + 3.2 * 3.2 / 2 + 3.2 * 3.2 * 3.2 / 6 +
	                   3.2 * 3.2 * 3.2 * 3.2 / 24 / (1 - 0.8)));
}

static void check_m_d_1(bool exact)
{
	struct queue q = {.name = "M/D/1", .rate_rps = 7, .service_s = 0.1};

	q.config = lab_config();
	q.config.max_num_seqs = 1;
	q.config.curve = lab_linear(100 * NS_PER_MS, 0, 0);
	q.config.exact_steps = exact;
	/* Pollaczek and Khinchine: rho / (2 mu (1 - rho)). */
	q.wait_s = 0.7 / (2 * 10 * 0.3);
	q.delayed = 0.7;
	check(&q, 0.7);
}

static void m_d_1(void **state)
{
	(void)state;
	check_m_d_1(false);
	check_m_d_1(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(m_m_1),
		cmocka_unit_test(m_m_c),
		cmocka_unit_test(m_d_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
