/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open loops: when requests go out. */
#include "unit/load_rig.h"

static void assert_near(int64_t a, int64_t b)
{
	assert_in_range(a - b + 1, 0, 2);
}

static void test_constant(void **state)
{
	struct load_spec spec = rig_open(20);
	struct rig rig;

	(void)state;
	spec.from_ns = 5 * S;
	spec.until_ns = 6 * S;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 20);
	for (size_t i = 0; i < rig.n; i++) {
		assert_int_equal(rig.at[i].at_ns, 5 * S + (int64_t)i * 50 * MS);
		assert_int_equal(rig.at[i].r.number, i);
		assert_int_equal(rig.at[i].r.source, 0);
		assert_int_equal(rig.at[i].r.input_tokens, 100);
		assert_int_equal(rig.at[i].r.output.sealed_, 10);
	}
	assert_int_equal(load_sent(rig.load, 0), 20);
	rig_fini(&rig);
}

static void test_constant_does_not_drift(void **state)
{
	struct load_spec spec = rig_open(3);
	struct rig rig;

	(void)state;
	spec.until_ns = 100000 * S;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 300000);
	for (size_t i = 0; i < rig.n; i++)
		assert_near(rig.at[i].at_ns, ((int64_t)i * S + 1) / 3);
	rig_fini(&rig);
}

/* From 0 to 10 a second in 10 s: request k at sqrt(2 k); then every 100 ms. */
static void test_constant_ramp_up(void **state)
{
	struct load_stage stage = {10 * S, 10};
	struct load_spec spec = rig_open(0);
	struct rig rig;

	(void)state;
	spec.stages = &stage;
	spec.n_stages = 1;
	spec.requests = 150;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 150);
	for (size_t i = 0; i < 50; i++)
		assert_near(rig.at[i].at_ns,
		            llround(sqrt(2.0 * (double)i) * 1e9));
	for (size_t i = 50; i < 150; i++)
		assert_near(rig.at[i].at_ns,
		            10 * S + (int64_t)(i - 50) * 100 * MS);
	rig_fini(&rig);
}

/* From 10 to 0 a second in 10 s: 10 t - t^2 / 2 = k, and then nothing. */
static void test_constant_ramp_down(void **state)
{
	struct load_stage stage = {10 * S, 0};
	struct load_spec spec = rig_open(10);
	struct rig rig;

	(void)state;
	spec.stages = &stage;
	spec.n_stages = 1;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 50);
	for (size_t i = 0; i < rig.n; i++)
		assert_near(rig.at[i].at_ns,
		            llround((10 - sqrt(100 - 2.0 * (double)i)) * 1e9));
	rig_fini(&rig);
}

/* Silent for 10 s, a jump to 5, a jump back to 0 after 4 s, again 5. */
static void test_constant_zero_pieces(void **state)
{
	struct load_stage stages[] = {
		{10 * S, 0}, {0, 5}, {4 * S, 5}, {0, 0}, {100 * S, 0}, {0, 5},
	};
	struct load_spec spec = rig_open(0);
	struct rig rig;

	(void)state;
	spec.stages = stages;
	spec.n_stages = 6;
	spec.until_ns = 115 * S;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 25);
	for (size_t i = 0; i < 20; i++)
		assert_near(rig.at[i].at_ns, 10 * S + (int64_t)i * 200 * MS);
	for (size_t i = 20; i < 25; i++)
		assert_near(rig.at[i].at_ns,
		            114 * S + (int64_t)(i - 20) * 200 * MS);
	rig_fini(&rig);
}

/* Half a request is left over at a jump from 3 to 1 a second: what is missing
 * to the next takes half a second. */
static void test_constant_carries_over(void **state)
{
	struct load_stage stages[] = {{500 * MS, 3}, {0, 1}};
	struct load_spec spec = rig_open(3);
	struct rig rig;

	(void)state;
	spec.stages = stages;
	spec.n_stages = 2;
	spec.requests = 4;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_near(rig.at[1].at_ns, S / 3);
	assert_near(rig.at[2].at_ns, S);
	assert_near(rig.at[3].at_ns, 2 * S);
	rig_fini(&rig);
}

static void test_never(void **state)
{
	struct load_spec specs[2] = {rig_open(0), rig_open(10)};
	struct rig rig;

	(void)state;
	specs[1].requests = 0;
	rig_run(&rig, specs, 2, 1, 0);
	assert_int_equal(rig.n, 0);
	rig_fini(&rig);
	rig_run(&rig, NULL, 0, 1, 0);
	assert_int_equal(rig.n, 0);
	rig_fini(&rig);
}

/* Counts: mean rate T, variance the same; 3.29 sigma are 99.9 %. */
static void assert_poisson_count(size_t n, double mean)
{
	assert_true(fabs((double)n - mean) < 3.29 * sqrt(mean));
}

static void test_poisson_gaps(void **state)
{
	struct load_spec spec = rig_open(50);
	struct rig rig;
	double *u;

	(void)state;
	spec.process = LOAD_POISSON;
	spec.until_ns = 1000 * S;
	rig_run(&rig, &spec, 1, 11, 0);
	assert_poisson_count(rig.n, 50000);
	u = mem_new(rig.n, sizeof(*u));
	for (size_t i = 0; i < rig.n; i++) {
		int64_t before = i > 0 ? rig.at[i - 1].at_ns : 0;
		double gap_s = (double)(rig.at[i].at_ns - before) / 1e9;

		u[i] = 1 - exp(-50 * gap_s);
	}
	qsort(u, rig.n, sizeof(*u), rig_by_value);
	assert_true(rig_ks(u, rig.n) < 1.95);
	mem_free(u);
	rig_fini(&rig);
}

/* Counts per second against Poisson: variance / mean within 99.9 % of 1. */
static void test_poisson_counts(void **state)
{
	struct load_spec spec = rig_open(8);
	double counts[4000] = {0}, sum = 0, squares = 0, mean, ratio;
	struct rig rig;

	(void)state;
	spec.process = LOAD_POISSON;
	spec.until_ns = 4000 * S;
	rig_run(&rig, &spec, 1, 12, 0);
	for (size_t i = 0; i < rig.n; i++)
		counts[rig.at[i].at_ns / S]++;
	for (size_t i = 0; i < 4000; i++) {
		sum += counts[i];
		squares += counts[i] * counts[i];
	}
	mean = sum / 4000;
	ratio = (squares / 4000 - mean * mean) / mean;
	/* (n - 1) ratio is chi-square: its sd is sqrt(2 / n). */
	assert_true(fabs(ratio - 1) < 3.29 * sqrt(2.0 / 4000));
	rig_fini(&rig);
}

static const struct load_stage hill[] = {
	{100 * S, 40}, {50 * S, 40}, {0, 0}, {30 * S, 0}, {60 * S, 90},
};

/* The integral of that hill from 10 a second, by hand. */
static double hill_integral(double t)
{
	double sum = 0, x;

	x = fmin(t, 100);
	sum += 10 * x + 0.15 * x * x;
	x = fmin(fmax(t - 100, 0), 50);
	sum += 40 * x;
	x = fmin(fmax(t - 180, 0), 60);
	sum += 0.75 * x * x;
	return sum + 90 * fmax(t - 240, 0);
}

/* Given their number, the integral at the arrivals is uniform. */
static void test_poisson_ramp(void **state)
{
	struct load_spec spec = rig_open(10);
	double total = hill_integral(300), *u;
	struct rig rig;

	(void)state;
	spec.process = LOAD_POISSON;
	spec.stages = hill;
	spec.n_stages = 5;
	spec.until_ns = 300 * S;
	rig_run(&rig, &spec, 1, 13, 0);
	assert_poisson_count(rig.n, total);
	u = mem_new(rig.n, sizeof(*u));
	for (size_t i = 0; i < rig.n; i++) {
		double t = (double)rig.at[i].at_ns / 1e9;

		assert_false(t > 150 && t < 180);
		u[i] = hill_integral(t) / total;
	}
	assert_true(rig_ks(u, rig.n) < 1.95);
	mem_free(u);
	rig_fini(&rig);
}

/* The same hill with constant gaps: the integral at request k is k. */
static void test_constant_inverts_the_integral(void **state)
{
	struct load_spec spec = rig_open(10);
	struct rig rig;

	(void)state;
	spec.stages = hill;
	spec.n_stages = 5;
	spec.until_ns = 300 * S;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, (size_t)ceil(hill_integral(300)));
	for (size_t i = 0; i < rig.n; i++) {
		double t = (double)rig.at[i].at_ns / 1e9;

		assert_true(fabs(hill_integral(t) - (double)i) < 1e-6);
	}
	rig_fini(&rig);
}

static void test_rate(void **state)
{
	struct load_spec spec = rig_open(10);
	static const struct {
		int64_t at_ns;
		double rate;
	} cases[] = {
		{0, 0},        {5 * S, 10},    {55 * S, 25},   {105 * S, 40},
		{154 * S, 40}, {155 * S, 0},   {185 * S, 0},   {215 * S, 45},
		{245 * S, 90}, {9999 * S, 90}, {10000 * S, 0},
	};

	(void)state;
	spec.stages = hill;
	spec.n_stages = 5;
	spec.from_ns = 5 * S;
	spec.until_ns = 10000 * S;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(fabs(load_rate_rps(&spec, cases[i].at_ns) -
		                 cases[i].rate) < 1e-9);
	spec.kind = LOAD_CLOSED;
	assert_true(load_rate_rps(&spec, 55 * S) == 0);
	spec.kind = LOAD_TRACE;
	assert_true(load_rate_rps(&spec, 55 * S) == 0);
}

/* More than one a nanosecond: every one is sent, time does not go back. */
static void test_ties_of_one_source(void **state)
{
	struct load_spec specs[2] = {rig_open(1e11), rig_open(1e11)};
	size_t of_first = 0;
	struct rig rig;

	(void)state;
	specs[0].requests = 5000;
	specs[1].requests = 5000;
	specs[1].process = LOAD_POISSON;
	rig_run(&rig, specs, 2, 1, 0);
	assert_int_equal(rig.n, 10000);
	for (size_t i = 0; i < rig.n; i++) {
		if (i > 0)
			assert_true(rig.at[i].at_ns >= rig.at[i - 1].at_ns);
		if (rig.at[i].r.source != 0)
			continue;
		assert_near(rig.at[i].at_ns,
		            (int64_t)(rig.at[i].r.number / 100));
		of_first++;
	}
	assert_int_equal(of_first, 5000);
	rig_fini(&rig);
}

static void test_ties_of_two_sources(void **state)
{
	struct load_spec specs[2] = {rig_open(10), rig_open(10)};
	struct rig rig;

	(void)state;
	specs[0].until_ns = specs[1].until_ns = 10 * S;
	rig_run(&rig, specs, 2, 1, 0);
	assert_int_equal(rig.n, 200);
	for (size_t i = 0; i < rig.n; i++) {
		assert_int_equal(rig.at[i].r.source, i % 2);
		assert_int_equal(rig.at[i].at_ns, (int64_t)(i / 2) * 100 * MS);
	}
	rig_fini(&rig);
}

static struct load_spec random_spec(void)
{
	struct load_spec spec = rig_open(30);

	spec.process = LOAD_POISSON;
	spec.until_ns = 100 * S;
	spec.input_tokens = rig_dist(DIST_LOGNORMAL, 1000, 1);
	spec.output_tokens = rig_dist(DIST_EXPONENTIAL, 200, 0);
	spec.keys = (struct load_keys){LOAD_KEYS_DRAWN, 1000, 50, 1.1};
	return spec;
}

static void assert_same(const struct arrival *a, const struct arrival *b)
{
	assert_int_equal(a->at_ns, b->at_ns);
	assert_int_equal(a->r.number, b->r.number);
	assert_int_equal(a->r.input_tokens, b->r.input_tokens);
	assert_int_equal(a->r.output.sealed_, b->r.output.sealed_);
	assert_string_equal(a->r.user, b->r.user);
	assert_string_equal(a->r.prompt_cache_key, b->r.prompt_cache_key);
	assert_string_equal(a->r.content, b->r.content);
}

/* A second source, whatever it is, leaves the first one's requests alone. */
static void test_second_source_changes_nothing(void **state)
{
	struct load_spec specs[3] = {random_spec(), random_spec(),
	                             random_spec()};
	struct rig one, three;
	size_t n = 0, equal_times = 0;

	(void)state;
	specs[1].rate_rps = 300;
	rig_run(&one, specs, 1, 7, 3);
	rig_run(&three, specs, 3, 7, 3);
	for (size_t i = 0; i < three.n; i++) {
		if (three.at[i].r.source == 2)
			equal_times += three.at[i].at_ns == one.at[0].at_ns;
		if (three.at[i].r.source == 0)
			assert_same(&one.at[n++], &three.at[i]);
	}
	assert_int_equal(n, one.n);
	assert_int_equal(equal_times, 0); /* an equal spec, its own draws */
	rig_fini(&one);
	rig_fini(&three);
}

static void test_seeds_and_replications_differ(void **state)
{
	struct load_spec spec = random_spec();
	struct rig a, b, c, d;

	(void)state;
	rig_run(&a, &spec, 1, 7, 0);
	rig_run(&b, &spec, 1, 7, 1);
	rig_run(&c, &spec, 1, 8, 0);
	rig_run(&d, &spec, 1, 7, 0);
	assert_true(a.at[0].at_ns != b.at[0].at_ns);
	assert_true(a.at[0].at_ns != c.at[0].at_ns);
	assert_int_equal(a.n, d.n);
	for (size_t i = 0; i < a.n; i++)
		assert_same(&a.at[i], &d.at[i]);
	rig_fini(&a);
	rig_fini(&b);
	rig_fini(&c);
	rig_fini(&d);
}

/* Freeing a load in the middle takes its events off the calendar. */
static void test_free_midway(void **state)
{
	struct load_spec specs[2] = {rig_open(10), rig_open(10)};
	struct rig rig = {0};
	struct err e;

	(void)state;
	err_clear(&e);
	specs[1].kind = LOAD_CLOSED;
	specs[1].concurrency = 3;
	specs[1].from_ns = 10 * S;
	calendar_init(&rig.calendar);
	rig.load = load_new(&rig.calendar, specs, 2, RIG_KIND, 1, 0,
	                    (struct load_sink){&rig, rig_arrive}, &e);
	for (int i = 0; i < 5; i++)
		assert_true(calendar_step(&rig.calendar, TIME_NEVER));
	assert_false(load_exhausted(rig.load));
	assert_null(load_trouble(rig.load));
	load_free(rig.load);
	rig.load = NULL;
	assert_int_equal(calendar_next(&rig.calendar), TIME_NEVER);
	assert_int_equal(rig.n, 5);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_constant_does_not_drift),
		cmocka_unit_test(test_constant_ramp_up),
		cmocka_unit_test(test_constant_ramp_down),
		cmocka_unit_test(test_constant_zero_pieces),
		cmocka_unit_test(test_constant_carries_over),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_poisson_gaps),
		cmocka_unit_test(test_poisson_counts),
		cmocka_unit_test(test_poisson_ramp),
		cmocka_unit_test(test_constant_inverts_the_integral),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_ties_of_one_source),
		cmocka_unit_test(test_ties_of_two_sources),
		cmocka_unit_test(test_second_source_changes_nothing),
		cmocka_unit_test(test_seeds_and_replications_differ),
		cmocka_unit_test(test_free_midway),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
