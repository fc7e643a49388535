/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves fitted to sweeps, and load points predicted by running them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit/fit_int.h"

static void assert_about(double x, double want, double relative)
{
	if (!(fabs(x - want) <= relative * fabs(want)))
		fail_msg("%g is not within %g of %g", x, relative, want);
}

/* An engine that the tests know all about. */
static struct fit_curve known_curve(void)
{
	struct fit_curve c = {
		.value = {[FIT_FLOOR] = 8000,
	                  [FIT_DECODE] = 30,
	                  [FIT_CONTEXT] = 0.05,
	                  [FIT_PREFILL] = 25,
	                  [FIT_LONE] = 0.05,
	                  [FIT_KNEE] = 64,
	                  [FIT_PAIR] = 0.0005,
	                  [FIT_OVERHEAD] = 3000},
		.max_num_seqs = 256,
		.max_num_batched_tokens = 8192,
	};

	fit_engine_make(&c, &c.engine);
	return c;
}

static struct fit_row *add(struct fit_sweep *s, double isl, double osl,
                           double clients)
{
	struct fit_row *row = fit_row_add(s);

	snprintf(row->model, sizeof(row->model), "m");
	snprintf(row->file, sizeof(row->file), "made.csv");
	row->isl = isl;
	row->osl = osl;
	row->load = FIT_CLOSED;
	row->concurrency = clients;
	return row;
}

/* What the simulator says, as if it had been measured. */
static void measure(struct fit_row *row, const struct fit_engine *engine)
{
	struct fit_prediction p;
	struct err e = {0};

	assert_int_equal(fit_predict(engine, row, &p, &e), 0);
	row->achieved_rps = p.rps;
	row->out_tok_s = p.out_tok_s;
	row->ttft = p.ttft;
	row->itl = p.itl;
	row->e2e = p.e2e;
	row->littles_l = p.in_system;
}

static void add_sweep(struct fit_sweep *s, const struct fit_engine *engine)
{
	static const double shape[3][2] = {{200, 100}, {200, 800}, {2000, 400}};
	static const double clients[] = {1, 4, 16, 64};

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 4; k++)
			measure(add(s, shape[i][0], shape[i][1], clients[k]),
			        engine);
}

/* ---- prediction -------------------------------------------------------- */

/* One client: each step by hand, and the overhead once. */
static void test_predict_by_hand(void **state)
{
	struct fit_curve c = known_curve();
	struct fit_sweep s;
	struct fit_prediction p;
	struct err e = {0};
	double ttft, step;

	(void)state;
	fit_sweep_init(&s);
	/* 200 tokens are 136 beyond the knee; pairs are n (n + 1) / 2. */
	ttft = 8000 + 136 * 25 + 20100 * 0.0005 + 3000;
	/* The one decode finds 200 tokens. */
	step = 8000 + 30 + 200 * (0.05 + 0.05);
	assert_int_equal(fit_predict(&c.engine, add(&s, 200, 2, 1), &p, &e), 0);
	assert_about(p.ttft.mean, ttft / 1000, 1e-5);
	assert_about(p.itl.mean, step / 1000, 1e-5);
	assert_about(p.e2e.mean, (ttft + step) / 1000, 1e-5);
	assert_about(p.rps, 1e6 / (ttft + step), 1e-5);
	assert_about(p.out_tok_s, 2 * p.rps, 1e-9);
	assert_about(p.in_system, 1, 1e-9);
	fit_sweep_fini(&s);
}

/* A closed loop holds what Little's law shows, not what was asked for. */
static void test_predict_trusts_littles_law(void **state)
{
	struct fit_curve c = known_curve();
	struct fit_sweep s;
	struct fit_prediction limited, four;
	struct err e = {0};
	struct fit_row *row;

	(void)state;
	fit_sweep_init(&s);
	row = add(&s, 200, 50, 4);
	assert_int_equal(fit_predict(&c.engine, row, &four, &e), 0);
	row->concurrency = 64;
	row->littles_l = 4.2;
	assert_int_equal(fit_predict(&c.engine, row, &limited, &e), 0);
	assert_about(limited.rps, four.rps, 1e-9);
	row->littles_l = 63;
	assert_about(fit_clients(row), 64, 0);
	fit_sweep_fini(&s);
}

static void test_predict_open(void **state)
{
	struct fit_curve c = known_curve();
	struct fit_sweep s;
	struct fit_prediction even, poisson;
	struct err e = {0};
	struct fit_row *row;

	(void)state;
	fit_sweep_init(&s);
	row = add(&s, 200, 50, NAN);
	row->offered_rps = 20;
	row->load = FIT_OPEN_CONSTANT;
	assert_int_equal(fit_predict(&c.engine, row, &even, &e), 0);
	assert_about(even.rps, 20, 0.01);
	row->load = FIT_OPEN_POISSON;
	assert_int_equal(fit_predict(&c.engine, row, &poisson, &e), 0);
	assert_about(poisson.rps, 20, 0.06);
	/* Evenly spaced arrivals have the shorter tail. */
	assert_true(poisson.ttft.p99 > 1.2 * even.ttft.p99);
	fit_sweep_fini(&s);
}

static void test_predict_needs(void **state)
{
	struct fit_curve c = known_curve();
	struct fit_sweep s;
	struct fit_prediction p;
	struct err e = {0};

	(void)state;
	fit_sweep_init(&s);
	assert_int_equal(fit_predict(&c.engine, add(&s, NAN, 50, 4), &p, &e),
	                 -1);
	assert_non_null(strstr(e.text, "no lengths"));
	err_clear(&e);
	assert_int_equal(fit_predict(&c.engine, add(&s, 10, 50, NAN), &p, &e),
	                 -1);
	assert_non_null(strstr(e.text, "neither a number of clients"));
	err_clear(&e);
	c.engine.config.kv_blocks = 4;
	assert_int_equal(fit_predict(&c.engine, add(&s, 100, 50, 4), &p, &e),
	                 -1);
	assert_non_null(strstr(e.text, "more tokens a request"));
	fit_sweep_fini(&s);
}

/* ---- the fit ----------------------------------------------------------- */

/*
 * The parameters come back: what makes the times within 3 to 10 %, knee and
 * overhead, which trade with one another, by what they do together.
 */
static void test_recovers(void **state)
{
	struct fit_curve c = known_curve(), out;
	struct fit_sweep s;
	struct fit_group *group;
	struct fit_prediction p;
	struct err e = {0};
	struct fit_row *unseen;

	(void)state;
	fit_sweep_init(&s);
	add_sweep(&s, &c.engine);
	assert_int_equal(fit_groups(&s, &group), 1);
	assert_int_equal(group[0].n, 12);
	assert_int_equal(fit_curve(&s, &group[0], &out, &e), 0);
	assert_int_equal(out.n, 12);
	assert_about(out.value[FIT_FLOOR], 8000, 0.03);
	assert_about(out.value[FIT_PREFILL], 25, 0.06);
	assert_about(out.value[FIT_CONTEXT], 0.05, 0.1);
	assert_true(out.error[FIT_FLOOR] > 0);
	assert_true(out.error[FIT_FLOOR] < 400);
	assert_true(out.residual < 0.2);
	assert_true(out.length_spread == 0);
	unseen = add(&s, 1000, 300, 32);
	measure(unseen, &c.engine);
	assert_int_equal(fit_predict(&out.engine, unseen, &p, &e), 0);
	assert_about(p.rps, unseen->achieved_rps, 0.01);
	assert_about(p.itl.mean, unseen->itl.mean, 0.02);
	fit_sweep_fini(&s);
}

/* A KV cache that was short shows in the queue, and is found. */
static void test_recovers_kv(void **state)
{
	struct fit_curve c = known_curve(), out;
	struct fit_sweep s;
	struct fit_group *group;
	struct err e = {0};

	(void)state;
	c.value[FIT_KV] = 40000;
	fit_engine_make(&c, &c.engine);
	fit_sweep_init(&s);
	add_sweep(&s, &c.engine);
	fit_groups(&s, &group);
	assert_int_equal(fit_curve(&s, &group[0], &out, &e), 0);
	assert_about(out.value[FIT_KV], 40000, 0.1);
	fit_sweep_fini(&s);
}

static void test_too_few(void **state)
{
	struct fit_curve c = known_curve(), out;
	struct fit_sweep s;
	struct fit_group *group;
	struct err e = {0};

	(void)state;
	fit_sweep_init(&s);
	for (int i = 0; i < 4; i++)
		measure(add(&s, 200, 50, 1 << i), &c.engine);
	/* A fifth that measures nothing, and one that was refused. */
	add(&s, 200, 50, 16);
	measure(add(&s, 200, 50, 16), &c.engine);
	fit_warn(&s, 5, true, "for this test");
	fit_groups(&s, &group);
	assert_int_equal(fit_curve(&s, &group[0], &out, &e), -1);
	assert_string_equal(e.where, "made.csv");
	assert_string_equal(e.text,
	                    "has 4 rows that can be used; a curve needs 5");
	fit_sweep_fini(&s);
}

/* A row of NANs and a refused row that is far off change nothing. */
static void test_odd_rows(void **state)
{
	struct fit_curve c = known_curve(), clean, odd;
	struct fit_sweep s;
	struct fit_group *group;
	struct err e = {0};
	struct fit_row *row;

	(void)state;
	fit_sweep_init(&s);
	for (int i = 0; i < 6; i++)
		measure(add(&s, 100 << (i % 3), 60, 1 << i), &c.engine);
	fit_groups(&s, &group);
	assert_int_equal(fit_curve(&s, &group[0], &clean, &e), 0);
	add(&s, NAN, NAN, NAN);
	row = add(&s, 200, 50, 8);
	measure(row, &c.engine);
	row->achieved_rps *= 3;
	fit_warn(&s, s.n - 1, true, "for this test");
	fit_groups(&s, &group);
	assert_int_equal(fit_curve(&s, &group[0], &odd, &e), 0);
	assert_int_equal(odd.n, 6);
	assert_true(odd.value[FIT_FLOOR] == clean.value[FIT_FLOOR]);
	fit_sweep_fini(&s);
}

static void test_groups(void **state)
{
	struct fit_sweep s;
	struct fit_group *group;

	(void)state;
	fit_sweep_init(&s);
	add(&s, 1, 1, 1)->tp = 1;
	add(&s, 1, 1, 2)->tp = 2;
	add(&s, 1, 1, 3)->tp = 1;
	snprintf(add(&s, 1, 1, 4)->engine, 4, "x");
	assert_int_equal(fit_groups(&s, &group), 3);
	assert_int_equal(group[0].n, 2);
	assert_int_equal(group[0].row[1], 2);
	assert_int_equal(group[1].row[0], 1);
	assert_int_equal(group[2].row[0], 3);
	fit_sweep_fini(&s);
}

/* ---- measured sweeps --------------------------------------------------- */

/* Each on its own rows, throughput within 4 % in the mean. */
static void test_measured(void **state)
{
	static const char *const name[] = {
		"H1-70b-fp8-tp8",
		"H4-70b-fp8-vllm",
		"H7-70b-fp8-tp2-admission",
	};
	const char *data = getenv("WEIR_DATA");
	const struct fit_hints hints = {.isl = NAN, .osl = NAN};

	(void)state;
	if (data == NULL) {
		print_message("WEIR_DATA is not set\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		char path[1024];
		struct fit_sweep s;
		struct fit_group *group;
		struct fit_curve c;
		struct err e = {0};
		double sum = 0;

		snprintf(path, sizeof(path), "%s/fit/%s.csv", data, name[i]);
		fit_sweep_init(&s);
		assert_int_equal(fit_read(&s, path, &hints, &e), 0);
		assert_int_equal(fit_groups(&s, &group), 1);
		assert_int_equal(fit_curve(&s, &group[0], &c, &e), 0);
		for (uint32_t k = 0; k < s.n; k++) {
			struct fit_prediction p;

			assert_int_equal(
				fit_predict(&c.engine, &s.row[k], &p, &e), 0);
			sum += fabs(fit_error(&s.row[k], &p, FIT_RPS));
		}
		print_message("%s: %.2f %%\n", name[i], 100 * sum / s.n);
		assert_true(sum / s.n <= 0.04);
		fit_sweep_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_predict_by_hand),
		cmocka_unit_test(test_predict_trusts_littles_law),
		cmocka_unit_test(test_predict_open),
		cmocka_unit_test(test_predict_needs),
		cmocka_unit_test(test_recovers),
		cmocka_unit_test(test_recovers_kv),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_odd_rows),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
