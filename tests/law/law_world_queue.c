/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A world that is configured to be M/M/1 behaves as M/M/1 from end to end:
 * arrivals of load, one replica of engine `service`, times as measure keeps
 * them. Little's law is looked at in a run of several replicas, as the
 * identity that it is from empty to empty and by the nominal rate within its
 * interval. Means are those of independent replications; the closed form
 * must lie in the two-sided 99.9 % interval (Student's t); seeds are fixed.
 */
#include "unit/endpoint_rig.h"

#include <gsl/gsl_cdf.h>

#define CONFIDENCE 0.999

enum { REPLICATIONS = 20 };

/* What one replication gives. */
struct figures {
	double e2e_s;  /* mean time in the system */
	double wait_s; /* mean wait */
	double inside; /* mean number in the system */
	double little; /* inside less nominal rate times e2e_s */
};

static void expect(const char *what, const double *x, double exact)
{
	double mean = 0, square = 0, half;

	for (int i = 0; i < REPLICATIONS; i++)
		mean += x[i] / REPLICATIONS;
	for (int i = 0; i < REPLICATIONS; i++)
		square += (x[i] - mean) * (x[i] - mean);
	half = gsl_cdf_tdist_Pinv((1 + CONFIDENCE) / 2, REPLICATIONS - 1) *
	       sqrt(square / (REPLICATIONS - 1) / REPLICATIONS);
	print_message("%s %.6g +- %.2g, expected %.6g\n", what, mean, half,
	              exact);
	assert_true(fabs(mean - exact) <= half);
	/* an interval that holds anything says nothing */
	assert_true(half < 0.06 * (exact > 0 ? exact : 1));
}

static void poisson(struct rig *rig, double rate_rps, uint64_t seed)
{
	struct load_spec *l = rig_load(rig, "t");

	l->process = LOAD_POISSON;
	l->rate_rps = rate_rps;
	rig->quiet = true;
	rig->spec.interval_ns = 100000 * S;
	rig_run(rig, seed);
}

static struct figures figures_of(const struct rig *rig, double rate_rps)
{
	const struct measure_scope_result *s =
		measure_result_scope(rig->result, SCOPE_ENDPOINT, 0);
	struct figures f = {
		.e2e_s = measure_hist_mean(&s->e2e) / 1e9,
		.wait_s = measure_hist_mean(&s->queue_time) / 1e9,
		.inside = s->in_flight,
	};

	f.little = f.inside - rate_rps * f.e2e_s;
	return f;
}

static void m_m_1_through_a_world(void **state)
{
	double e2e[REPLICATIONS], wait[REPLICATIONS], inside[REPLICATIONS];
	double little[REPLICATIONS];

	(void)state;
	for (int i = 0; i < REPLICATIONS; i++) {
		struct rig rig;
		struct figures f;

		rig_init(&rig);
		rig.spec.warmup_ns = 500 * S;
		rig.spec.duration_ns = 12000 * S;
		rig_deployment(&rig, "dep_a", 1);
		rig.config[0].servers = 1;
		rig.config[0].service_ns = rig_dist(DIST_EXPONENTIAL, 100e6);
		poisson(&rig, 7, (uint64_t)i + 1);
		f = figures_of(&rig, 7);
		e2e[i] = f.e2e_s;
		wait[i] = f.wait_s;
		inside[i] = f.inside;
		little[i] = f.little;
		rig_fini(&rig);
	}
	/* 1 / (mu - lambda), rho / (mu - lambda), rho / (1 - rho) */
	expect("M/M/1: mean time in system", e2e, 1.0 / 3);
	expect("M/M/1: mean wait", wait, 0.7 / 3);
	expect("M/M/1: mean number in system", inside, 0.7 / 0.3);
	expect("M/M/1: Little's law", little, 0);
}

/* Two deployments that batch, four replicas; no closed form, but L = r W. */
static void littles_law_of_batches(void **state)
{
	double little[REPLICATIONS];

	(void)state;
	for (int i = 0; i < REPLICATIONS; i++) {
		struct rig rig;

		rig_init(&rig);
		rig.spec.warmup_ns = 50 * S;
		rig.spec.duration_ns = 1000 * S;
		for (int k = 0; k < 2; k++) {
			struct replica_config *c = &rig.config[k];
			struct replica_curve_piece *p = c->curve.piece;

			rig_deployment(&rig, k ? "dep_b" : "dep_a", k ? 3 : 1);
			c->engine = replica_engine_find("batching");
			c->max_num_seqs = 8;
			c->max_num_batched_tokens = 512;
			c->block_tokens = 16;
			c->curve.n = 1;
			p->upto_tokens = UINT32_MAX;
			p->base_ticks = 5 * MS * REPLICA_TICKS_PER_NS;
			p->per_prefill_ticks = 20000 * REPLICA_TICKS_PER_NS;
		}
		poisson(&rig, 40, (uint64_t)i + 1);
		little[i] = figures_of(&rig, 40).little;
		rig_fini(&rig);
	}
	expect("batches: Little's law", little, 0);
}

/* From empty to empty the two sides are one sum, taken in two ways. */
static void littles_law_as_an_identity(void **state)
{
	struct rig rig;
	struct figures f;
	double inside_s;

	(void)state;
	rig_init(&rig);
	rig.spec.duration_ns = TIME_NEVER;
	rig_deployment(&rig, "dep_a", 3);
	rig.config[0].servers = 2;
	rig.config[0].service_ns = rig_dist(DIST_EXPONENTIAL, 100e6);
	rig_load(&rig, "first")->requests = 5000;
	rig.load[0].rate_rps = 30;
	rig.quiet = true;
	rig_run(&rig, 1);
	f = figures_of(&rig, 30);
	inside_s = f.inside * rig.result->end_s;
	assert_int_equal(rig.seen, 5000);
	assert_true(fabs(inside_s - 5000 * f.e2e_s) < 1e-9 * inside_s);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(m_m_1_through_a_world),
		cmocka_unit_test(littles_law_of_batches),
		cmocka_unit_test(littles_law_as_an_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
