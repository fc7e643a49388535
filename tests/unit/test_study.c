/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tests and intervals, against brute force, tables and simulation. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "study/study_int.h"
#include "unit/endpoint_rig.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

static bool near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b) + 1e-15;
}

/* ---- binomial ---------------------------------------------------------- */

/* Adds up whatever is at most as likely as x, term by term. */
static double brute(uint64_t x, uint64_t n, double p)
{
	double limit = gsl_ran_binomial_pdf((unsigned)x, p, (unsigned)n);
	double sum = 0;

	for (uint64_t i = 0; i <= n; i++) {
		double at = gsl_ran_binomial_pdf((unsigned)i, p, (unsigned)n);

		if (at <= limit * (1 + 1e-7))
			sum += at;
	}
	return fmin(sum, 1);
}

static void test_binomial_brute(void **state)
{
	static const double p[] = {1e-9,    0.001, 0.1,  0.25, 1.0 / 3,
	                           0.5,     0.6,   0.75, 0.9,  0.999999,
	                           2.0 / 3, 0,     1};

	(void)state;
	for (uint64_t n = 0; n <= 60; n++)
		for (uint64_t x = 0; x <= n; x++)
			for (size_t i = 0; i < LENGTH(p); i++)
				if (!near(study_binomial_p(x, n, p[i]),
				          brute(x, n, p[i]), 1e-10))
					fail_msg("x %d n %d p %g: %g, not %g",
					         (int)x, (int)n, p[i],
					         study_binomial_p(x, n, p[i]),
					         brute(x, n, p[i]));
}

/* Figures of R's binom.test: the help page's Mendelian example. */
static void test_binomial_known(void **state)
{
	double low, high;

	(void)state;
	assert_true(near(study_binomial_p(682, 925, 0.75), 0.3824916, 1e-5));
	study_binomial_interval(682, 925, 0.95, &low, &high);
	assert_true(near(low, 0.7076683, 1e-6));
	assert_true(near(high, 0.7654066, 1e-6));
}

/* With many trials it is near the normal distribution's, with a continuity
 * of half a key either way. */
static void test_binomial_large(void **state)
{
	(void)state;
	for (double n = 1e4; n <= 1e9; n *= 10) {
		double sd = sqrt(n / 4);

		for (double z = 0; z < 7; z += 0.5) {
			uint64_t x = (uint64_t)(n / 2 + z * sd);
			double off = (double)x - n / 2;
			double p = study_binomial_p(x, (uint64_t)n, 0.5);
			double low = 2 * gsl_cdf_ugaussian_Q((off + 0.5) / sd);
			double high = 2 * gsl_cdf_ugaussian_Q((off - 1) / sd);

			assert_true(p >= low * 0.95 && p <= high * 1.05);
			assert_true(p == study_binomial_p((uint64_t)n - x,
			                                  (uint64_t)n, 0.5) ||
			            near(p,
			                 study_binomial_p((uint64_t)n - x,
			                                  (uint64_t)n, 0.5),
			                 1e-4));
		}
	}
}

static void test_binomial_extreme(void **state)
{
	static const double p[] = {5e-324, 1e-300, 1e-9,     1e-3,
	                           0.5,    0.999,  1 - 1e-16};
	static const uint64_t n[] = {1, 2, 1000, 1000000, 4000000000};

	(void)state;
	for (size_t i = 0; i < LENGTH(n); i++) {
		const uint64_t x[] = {0, 1, n[i] / 2, n[i] - 1, n[i]};

		for (size_t k = 0; k < LENGTH(x) * LENGTH(p); k++) {
			double v = study_binomial_p(x[k % LENGTH(x)], n[i],
			                            p[k / LENGTH(x)]);

			assert_true(v >= 0 && v <= 1);
		}
		assert_true(study_binomial_p(0, n[i], 1e-300) == 1);
		assert_true(study_binomial_p(n[i], n[i], 1 - 1e-16) > 0.9999 ||
		            n[i] > 1000000);
	}
	assert_true(study_binomial_p(1000000, 1000000, 0.5) == 0);
	assert_true(near(study_binomial_p(1, 1000000, 1e-9), 0.001, 1e-3));
}

/* ---- Clopper and Pearson ----------------------------------------------- */

static void test_interval_known(void **state)
{
	double low, high;

	(void)state;
	for (uint64_t n = 1; n <= 40; n++)
		for (uint64_t x = 0; x <= n; x++) {
			double a = (double)x, b = (double)(n - x);
			double l = x ? gsl_cdf_beta_Pinv(0.005, a, b + 1) : 0;
			double h =
				x < n ? gsl_cdf_beta_Qinv(0.005, a + 1, b) : 1;

			study_binomial_interval(x, n, 0.99, &low, &high);
			assert_true(near(low, l, 1e-8));
			assert_true(near(high, h, 1e-8));
		}
	study_binomial_interval(0, 1000000, 0.95, &low, &high);
	assert_true(low == 0);
	assert_true(near(high, 1 - pow(0.025, 1e-6), 1e-6));
	study_binomial_interval(1000000, 1000000, 0.95, &low, &high);
	assert_true(high == 1);
	assert_true(near(1 - low, 1 - pow(0.025, 1e-6), 1e-6));
}

/* From about ten million trials on its upper end once lay below what was
 * seen. */
static void test_interval_large(void **state)
{
	(void)state;
	for (double n = 1e4; n <= 1e9; n *= 10)
		for (double part = 0.5; part > 0.01; part /= 3) {
			double x = floor(n * part);
			double half = 3.2905 * sqrt(part * (1 - part) / n);
			double low, high;

			study_binomial_interval((uint64_t)x, (uint64_t)n, 0.999,
			                        &low, &high);
			assert_true(near(x / n - low, half, 0.15));
			assert_true(near(high - x / n, half, 0.15));
		}
}

/* Whatever the share is, the interval has it at least so often; summed over
 * all that can be seen, without chance. */
static void test_interval_coverage(void **state)
{
	enum { N = 50 };
	double low[N + 1], high[N + 1];

	(void)state;
	for (uint64_t x = 0; x <= N; x++)
		study_binomial_interval(x, N, 0.95, &low[x], &high[x]);
	for (double p = 0.005; p < 1; p += 0.005) {
		double covered = 0;

		for (unsigned x = 0; x <= N; x++)
			if (low[x] <= p && p <= high[x])
				covered += gsl_ran_binomial_pdf(x, p, N);
		assert_true(covered >= 0.95 - 1e-9);
	}
}

/* ---- means and variances ----------------------------------------------- */

static void test_mean_interval(void **state)
{
	static const double value[] = {1, 2, 3, 4, 5};
	double low, high;

	(void)state;
	/* t of 0.975 and 4 degrees of freedom: 2.776445; sd: sqrt(2.5) */
	study_mean_interval(value, 5, 0.95, &low, &high);
	assert_true(near(low, 3 - 1.963243, 1e-6));
	assert_true(near(high, 3 + 1.963243, 1e-6));
	study_mean_interval(value, 2, 0.95, &low, &high);
	assert_true(near(high, 1.5 + 12.706205 * 0.5, 1e-6));
	/* around another centre: squares about it, n - 1 of them free */
	study_centred_interval(value, 5, 4, 0.025, &low, &high);
	assert_true(near(high - 4, 2.776445 * sqrt(15.0 / 4 / 5), 1e-6));
	study_centred_interval(value, 5, 4, 0.5, &low, &high);
	assert_true(near(low, 4, 1e-12) && near(high, 4, 1e-12));
}

static void test_chi_square(void **state)
{
	(void)state;
	assert_true(near(study_chi_square_p(18.307038, 10), 0.1, 1e-6));
	assert_true(near(study_chi_square_p(3.940299, 10), 0.1, 1e-6));
	assert_true(study_chi_square_p(0, 10) == 0);
	assert_true(study_chi_square_p(1e9, 10) == 0);
	assert_true(study_chi_square_p(399.3, 400) > 0.95);
}

/* ---- how often the tests are wrong ------------------------------------- */

static uint64_t splitmix(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* So many keys, each drawn. */
static uint64_t draw(uint64_t *s, uint64_t n, double p)
{
	uint64_t x = 0;

	for (uint64_t i = 0; i < n; i++)
		x += (double)(splitmix(s) >> 11) * 0x1p-53 < p;
	return x;
}

/*
 * 10 000 true shares of 1000 keys: at a level of 5 %, and of 0.1 %, so many
 * fail at most, but for four standard deviations of what is counted; and the
 * test is no duller than its steps of one key make it.
 */
static void test_false_alarms(void **state)
{
	uint64_t seed = 1;
	int five = 0, tenth = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		double p =
			study_binomial_p(draw(&seed, 1000, 0.25), 1000, 0.25);

		five += p < 0.05;
		tenth += p < 0.001;
	}
	assert_in_range(five, 400, 500 + 4 * 22);
	assert_in_range(tenth, 1, 10 + 4 * 3);
}

/* One point off is seen with 110 000 keys at 99.9 %, 300 times of 300: a
 * power below 0.98 would show that with less than 1 % probability. */
static void test_power(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 300; i++) {
		uint64_t x = draw(&seed, 110000, i % 2 ? 0.51 : 0.49);

		assert_true(study_binomial_p(x, 110000, 0.5) < 0.001);
	}
}

/* 4000 sums over the 10 replications that dispersion wants at least. */
static void test_dispersion_alarms(void **state)
{
	uint64_t seed = 3;
	int alarms = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		double sum = 0;

		for (int r = 0; r < 10; r++) {
			double off = (double)draw(&seed, 200, 0.25) - 50;

			sum += off * off / (200 * 0.25 * 0.75);
		}
		alarms += study_chi_square_p(sum, 10) < 0.05;
	}
	assert_in_range(alarms, 200 - 4 * 14, 200 + 4 * 14);
}

/* ---- p95 --------------------------------------------------------------- */

/* The interval has the printed p95 in it, though batches lie below. */
static void test_p95_interval(void **state)
{
	double batch[2 * 4 * 20];
	struct measure_scope_result scope[2] = {
		{.scope = SCOPE_ENDPOINT, .number = 0},
		{.scope = SCOPE_ENDPOINT, .number = 1}};
	struct measure_result r = {.replications = 20,
	                           .n_scopes = 2,
	                           .scope = scope,
	                           .n_batches = 20,
	                           .batch_p95 = batch};
	double low, high;

	(void)state;
	for (size_t i = 0; i < LENGTH(batch); i++)
		batch[i] = 900 + (double)(i / 20) + (i % 2 ? 5 : -5);
	measure_hist_init(&scope[1].itl);
	assert_false(study_p95_interval(&r, 1, STUDY_ITL, 0.95, &low, &high));
	measure_hist_add(&scope[1].itl, 1000, 100);
	assert_true(study_p95_interval(&r, 1, STUDY_ITL, 0.95, &low, &high));
	assert_true(near((low + high) / 2, 1000, 1e-9));
	assert_true(high - low > 90 && high - low < 100);
	batch[(4 + STUDY_ITL) * 20 + 7] = INFINITY;
	assert_false(study_p95_interval(&r, 1, STUDY_ITL, 0.95, &low, &high));
	batch[(4 + STUDY_ITL) * 20 + 7] = 900;
	measure_hist_add_infinite(&scope[1].itl, 100);
	assert_false(study_p95_interval(&r, 1, STUDY_ITL, 0.95, &low, &high));
	r.n_batches = 0;
	assert_false(study_p95_interval(&r, 1, STUDY_ITL, 0.95, &low, &high));
	measure_hist_fini(&scope[1].itl);
}

/* ---- replications ------------------------------------------------------ */

static bool stop_after_two(void *self, uint32_t finished, uint32_t of)
{
	uint32_t *calls = self;

	assert_int_equal(of, 5);
	++*calls;
	assert_int_equal(finished, *calls);
	return finished < 2;
}

static bool stop_at_once(void *self, int64_t now_ns)
{
	assert_null(self);
	assert_true(now_ns > 0);
	return true;
}

static void build(struct rig *rig)
{
	rig_init(rig);
	rig->quiet = true;
	rig_deployment(rig, "dep_a", 1);
	rig_deployment(rig, "dep_b", 1);
	rig_load(rig, "chat")->process = LOAD_POISSON;
	rig_close(rig);
}

static void test_run(void **state)
{
	static struct rig rig;
	struct study_runs runs = {.world = &rig.spec, .seed = 7, .reps = 1};
	struct measure_result *first, *all;
	struct err e = {0};
	uint64_t heard;
	bool interrupted;

	(void)state;
	build(&rig);
	runs.observer = rig_observer(&rig);
	first = study_run(&runs, &interrupted, &e);
	assert_non_null(first);
	heard = rig.seen;
	assert_int_equal(heard, first->scope[0].arrived);
	runs.reps = 3;
	all = study_run(&runs, &interrupted, &e);
	assert_non_null(all);
	assert_false(interrupted);
	assert_int_equal(all->replications, 3);
	/* others than the first are not heard, and come out otherwise */
	assert_int_equal(rig.seen, 2 * heard);
	assert_true(all->scope[0].arrived > 2 * heard);
	assert_int_not_equal(all->scope[0].arrived, 3 * heard);
	runs.log_all = true;
	rig.seen = 0;
	measure_result_free(all);
	all = study_run(&runs, &interrupted, &e);
	assert_int_equal(rig.seen, all->scope[0].arrived);
	measure_result_free(first);
	measure_result_free(all);
	rig_fini(&rig);
}

static void test_run_stopped(void **state)
{
	static struct rig rig;
	uint32_t calls = 0;
	struct study_runs runs = {.world = &rig.spec,
	                          .seed = 7,
	                          .reps = 5,
	                          .progress = {&calls, stop_after_two}};
	struct measure_result *result;
	struct err e = {0};
	bool interrupted;

	(void)state;
	build(&rig);
	result = study_run(&runs, &interrupted, &e);
	assert_true(interrupted);
	assert_int_equal(result->replications, 2);
	assert_int_equal(calls, 2);
	measure_result_free(result);
	runs.observer.stop = stop_at_once;
	runs.progress.done = NULL;
	rig.load[0].rate_rps = 10000; /* long enough to be asked */
	assert_null(study_run(&runs, &interrupted, &e));
	assert_true(interrupted);
	assert_false(e.set);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binomial_brute),
		cmocka_unit_test(test_binomial_known),
		cmocka_unit_test(test_binomial_large),
		cmocka_unit_test(test_binomial_extreme),
		cmocka_unit_test(test_interval_known),
		cmocka_unit_test(test_interval_large),
		cmocka_unit_test(test_interval_coverage),
		cmocka_unit_test(test_mean_interval),
		cmocka_unit_test(test_chi_square),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_dispersion_alarms),
		cmocka_unit_test(test_p95_interval),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_run_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
