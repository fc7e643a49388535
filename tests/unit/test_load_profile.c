/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces described, profiles made of them, and profiles replayed. */
#include "unit/load_rig.h"

#define HEADER "arrival_us,input_tokens,output_tokens\n"

static void assert_about(double x, double want, double relative)
{
	if (fabs(x - want) > relative * fabs(want))
		fail_msg("%g is not within %g of %g", x, relative, want);
}

/* ---- described ---------------------------------------------------------- */

static void check_text(const char *text, struct load_trace_stats *stats)
{
	char *path = rig_file(text, strlen(text));
	struct err e;

	err_clear(&e);
	assert_int_equal(load_trace_check(path, NULL, stats, &e), 0);
	rig_unlink(path);
}

/* By hand: gaps 1, 1, 2 and 117 s; five rows in 122 seconds. */
static void test_stats_by_hand(void **state)
{
	struct load_trace_stats s;

	(void)state;
	check_text("arrival_us,input_tokens,output_tokens,key\n"
	           "0,10,1,a\n1000000,20,2,b\n2000000,30,3,\n"
	           "4000000,40,4,a\n121000000,50,5,c\n",
	           &s);
	assert_string_equal(s.format, "weir");
	assert_int_equal(s.rows, 5);
	assert_int_equal(s.span_ns, 121 * S);
	assert_about(s.rate_rps, 5 / 121.0, 1e-12);
	/* mean 30.25, variance (29.25^2 + 29.25^2 + 28.25^2 + 86.75^2) / 4 */
	assert_about(s.gap_cv, sqrt(2508.6875) / 30.25, 1e-12);
	/* 5 ones among 122 counts: mean m, variance m - m^2. */
	assert_about(s.dispersion_1s, 1 - 5 / 122.0, 1e-12);
	assert_int_equal(s.peak_1s, 1);
	assert_about(s.peak_minute_rps, 4 / 60.0, 1e-12);
	assert_true(s.trough_minute_rps == 0); /* the second minute */
	assert_about(s.input_mean, 30, 1e-12);
	assert_about(s.output_mean, 3, 1e-12);
	assert_int_equal(s.input_p[0], 30);
	assert_int_equal(s.input_p[1], 50);
	assert_int_equal(s.input_p[4], 50);
	assert_int_equal(s.output_p[0], 3);
	assert_int_equal(s.keys, 3);
}

static void test_stats_of_little(void **state)
{
	struct load_trace_stats s;
	char *path = rig_file(HEADER, strlen(HEADER));
	struct err e;

	(void)state;
	check_text(HEADER "77,10,1\n", &s);
	assert_int_equal(s.rows, 1);
	assert_int_equal(s.span_ns, 0);
	assert_true(s.rate_rps == 0 && s.gap_cv == 0);
	assert_int_equal(s.input_p[0], 10);
	assert_int_equal(s.input_p[4], 10);
	assert_int_equal(s.keys, 0);
	check_text(HEADER "0,1,1\n2000000,2,1\n4000000,3,1\n", &s);
	assert_true(s.gap_cv == 0);
	assert_about(s.trough_minute_rps, 0.75, 1e-12);
	err_clear(&e);
	assert_int_equal(load_trace_check(path, NULL, &s, &e), -1);
	assert_string_equal(e.text, "no rows below the header");
	rig_unlink(path);
}

/* ---- made --------------------------------------------------------------- */

/* 64 rows, one a second, inputs 1..64 in turns from both ends. */
static void test_profile_by_hand(void **state)
{
	struct load_profile p;
	struct arena arena;
	char text[4000] = HEADER, *path;
	size_t used = strlen(text);
	struct err e;

	(void)state;
	for (int i = 0; i < 64; i++) {
		int input = i % 2 ? 64 - i / 2 : 1 + i / 2;

		used += (size_t)sprintf(text + used, "%d,%d,%d\n", i * 1000000,
		                        input, 1000 - input);
	}
	path = rig_file(text, used);
	arena_init(&arena);
	err_clear(&e);
	assert_int_equal(load_profile_make(path, NULL, 10 * S, &arena, &p, &e),
	                 0);
	assert_string_equal(p.name, strrchr(path, '/') + 1);
	assert_int_equal(p.requests, 64);
	assert_int_equal(p.interval_ns, 10 * S);
	assert_int_equal(p.intervals, 7);
	for (size_t i = 0; i < 6; i++)
		assert_about(p.rates_rps[i], 1, 1e-12);
	assert_about(p.rates_rps[6], 0.4, 1e-12);
	assert_int_equal(p.bins, 16);
	assert_int_equal(p.points, 33);
	/* Bin 3 holds 13 14 15 16: the ends, and each a quarter between. */
	for (uint32_t k = 0; k < 33; k++) {
		uint32_t rank = k == 0 ? 1 : (k + 7) / 8;

		assert_int_equal(p.input[3 * 33 + k], 12 + rank);
		assert_int_equal(p.output[3 * 33 + k], 983 + rank);
	}
	assert_int_equal(load_profile_make(path, NULL, 10, &arena, &p, &e), -1);
	assert_string_equal(e.text, "more than 1000000 intervals; take longer "
	                            "ones");
	arena_fini(&arena);
	rig_unlink(path);
}

/* 128 rows a bin, outputs 1..128 but for 6, which is 1000: above 125 the mean
 * is 345.25, that of a line from 125 to 565.5. */
static void test_profile_keeps_the_mean(void **state)
{
	struct load_profile p;
	struct arena arena;
	char *text = mem_new(2048 + 8, 32), *path;
	size_t used = (size_t)sprintf(text, HEADER);
	struct err e;

	(void)state;
	for (int i = 0; i < 2048; i++)
		used += (size_t)sprintf(text + used, "%d,%d,%d\n", i, i + 1,
		                        i % 128 == 5 ? 1000 : i % 128 + 1);
	path = rig_file(text, used);
	arena_init(&arena);
	err_clear(&e);
	assert_int_equal(load_profile_make(path, NULL, S, &arena, &p, &e), 0);
	for (size_t b = 0; b < 16; b++) {
		assert_int_equal(p.output[b * 33 + 0], 1);
		assert_int_equal(p.output[b * 33 + 1], 4);
		assert_int_equal(p.output[b * 33 + 31], 125);
		assert_int_equal(p.output[b * 33 + 32], 566);
		assert_int_equal(p.input[b * 33 + 32], (b + 1) * 128);
	}
	arena_fini(&arena);
	rig_unlink(path);
	mem_free(text);
}

static void test_profile_of_few_rows(void **state)
{
	const char *text = HEADER "0,9,1\n1,9,3\n2,9,2\n";
	char *path = rig_file(text, strlen(text));
	struct load_profile p;
	struct arena arena;
	struct err e;

	(void)state;
	arena_init(&arena);
	err_clear(&e);
	assert_int_equal(load_profile_make(path, NULL, S, &arena, &p, &e), 0);
	assert_int_equal(p.bins, 3);
	for (uint32_t b = 0; b < 3; b++) {
		assert_int_equal(p.input[b * 33 + 5], 9);
		assert_int_equal(p.output[b * 33 + 5], b + 1);
	}
	arena_fini(&arena);
	rig_unlink(path);
}

/* ---- replayed ----------------------------------------------------------- */

static double rates[] = {10, 0, 40};
static uint32_t inputs[] = {100, 200, 1000, 3000};
static uint32_t outputs[] = {50, 50, 10, 20};

static const struct load_profile small = {
	.name = "small",
	.source = "",
	.interval_ns = 100 * S,
	.intervals = 3,
	.rates_rps = rates,
	.bins = 2,
	.points = 2,
	.input = inputs,
	.output = outputs,
};

static struct load_spec profiled(const struct load_profile *p, double speed)
{
	struct load_spec spec = rig_open(0);

	spec.kind = LOAD_PROFILE;
	spec.profile = p;
	spec.speed = speed;
	return spec;
}

/* Counts by interval at 3.29 sigma; nothing after the last; twice as fast is
 * the same requests in half the time. */
static void test_profile_arrivals(void **state)
{
	struct load_spec spec = profiled(&small, 1), fast = profiled(&small, 2);
	double counts[3] = {0};
	struct rig rig, twice;

	(void)state;
	spec.from_ns = fast.from_ns = 50 * S;
	rig_run(&rig, &spec, 1, 31, 0);
	for (size_t i = 0; i < rig.n; i++) {
		int64_t interval = (rig.at[i].at_ns - 50 * S) / (100 * S);

		assert_in_range(interval, 0, 2);
		counts[interval]++;
	}
	assert_true(counts[1] == 0);
	assert_true(fabs(counts[0] - 1000) < 3.29 * sqrt(1000));
	assert_true(fabs(counts[2] - 4000) < 3.29 * sqrt(4000));
	rig_run(&twice, &fast, 1, 31, 0);
	assert_int_equal(twice.n, rig.n);
	for (size_t i = 0; i < rig.n; i++)
		assert_in_range(2 * (twice.at[i].at_ns - 50 * S) -
		                        (rig.at[i].at_ns - 50 * S) + 1,
		                0, 2);
	rig_fini(&rig);
	rig_fini(&twice);
}

static void test_profile_rate(void **state)
{
	struct load_spec spec = profiled(&small, 2);

	(void)state;
	spec.from_ns = 50 * S;
	assert_true(load_rate_rps(&spec, 49 * S) == 0);
	assert_true(load_rate_rps(&spec, 50 * S) == 20);
	assert_true(load_rate_rps(&spec, 100 * S) == 0);
	assert_true(load_rate_rps(&spec, 199 * S) == 80);
	assert_true(load_rate_rps(&spec, 200 * S) == 0);
}

/* Half of the requests in each bin, uniform there, outputs with them. */
static void test_joint_lengths(void **state)
{
	struct load_spec spec = rig_open(100);
	struct rig rig;
	size_t first = 0;
	double sum = 0;

	(void)state;
	spec.requests = 10000;
	spec.lengths = &small;
	rig_run(&rig, &spec, 1, 32, 0);
	for (size_t i = 0; i < rig.n; i++) {
		const struct load_request *r = &rig.at[i].r;

		if (r->output.sealed_ == 50) {
			assert_in_range(r->input_tokens, 100, 200);
			sum += r->input_tokens;
			first++;
		} else {
			assert_in_range(r->input_tokens, 1000, 3000);
			assert_in_range(r->output.sealed_, 10, 20);
		}
	}
	assert_true(fabs((double)first - 5000) < 3.29 * 50);
	assert_true(fabs(sum / (double)first - 150) <
	            3.29 * 28.9 / sqrt((double)first));
	rig_fini(&rig);
}

/* ---- the Azure conversation hour ---------------------------------------- */

static const char *azure(char *path, size_t size)
{
	const char *data = getenv("WEIR_DATA");

	if (data == NULL) {
		print_message("WEIR_DATA is not set: skipped\n");
		skip();
	}
	snprintf(path, size, "%s/traces/AzureLLMInferenceTrace_conv.csv", data);
	return path;
}

/* Figures of its provenance: Azure/AzurePublicDataset, b469a113. */
static void test_azure_stats(void **state)
{
	struct load_trace_stats s;
	char path[1024];
	struct err e;

	(void)state;
	err_clear(&e);
	assert_int_equal(
		load_trace_check(azure(path, sizeof(path)), NULL, &s, &e), 0);
	assert_string_equal(s.format, "azure2023");
	assert_int_equal(s.rows, 19366);
	assert_about((double)s.span_ns / 1e9, 3501.7, 0.05 / 3501.7);
	assert_about(s.rate_rps, 5.53, 0.005 / 5.53);
	assert_about(s.gap_cv, 1.09, 0.005 / 1.09);
	assert_int_equal(s.input_p[0], 1020);
	assert_int_equal(s.input_p[1], 2735);
	assert_int_equal(s.input_p[3], 4142);
	assert_int_equal(s.input_p[4], 14050);
	assert_int_equal(s.output_p[0], 129);
	assert_int_equal(s.output_p[1], 424);
	assert_int_equal(s.output_p[3], 601);
	assert_int_equal(s.output_p[4], 1000);
	assert_int_equal(s.keys, 0);
}

static double correlation(const struct rig *rig)
{
	double n = (double)rig->n, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

	for (size_t i = 0; i < rig->n; i++) {
		double a = rig->at[i].r.input_tokens;
		double b = rig->at[i].r.output.sealed_;

		x += a;
		y += b;
		xx += a * a;
		yy += b * b;
		xy += a * b;
	}
	return (xy - x * y / n) / sqrt((xx - x * x / n) * (yy - y * y / n));
}

/* p50, p90 and p99 of the inputs or outputs. */
static void percentiles(const struct rig *rig, bool input, double p[3])
{
	static const double ranks[3] = {0.5, 0.9, 0.99};
	double *x = mem_new(rig->n, sizeof(*x));

	for (size_t i = 0; i < rig->n; i++)
		x[i] = input ? rig->at[i].r.input_tokens
		             : rig->at[i].r.output.sealed_;
	qsort(x, rig->n, sizeof(*x), rig_by_value);
	for (size_t i = 0; i < 3; i++)
		p[i] = x[(size_t)ceil(ranks[i] * (double)rig->n) - 1];
	mem_free(x);
}

static double mean_tokens(const struct rig *rig, bool input)
{
	double sum = 0;

	for (size_t i = 0; i < rig->n; i++)
		sum += input ? rig->at[i].r.input_tokens
		             : rig->at[i].r.output.sealed_;
	return sum / (double)rig->n;
}

/* Percentiles and means within 3 %, the correlation within 0.02. */
static void assert_alike(const struct rig *rows, const struct rig *drawn)
{
	for (int input = 0; input < 2; input++) {
		double want[3], got[3];

		percentiles(rows, input, want);
		percentiles(drawn, input, got);
		print_message("%s: trace %g %g %g, profile %g %g %g\n",
		              input ? "input" : "output", want[0], want[1],
		              want[2], got[0], got[1], got[2]);
		for (int i = 0; i < 3; i++)
			assert_about(got[i], want[i], 0.03);
		assert_about(mean_tokens(drawn, input),
		             mean_tokens(rows, input), 0.01);
	}
	print_message("correlation: trace %.3f, profile %.3f\n",
	              correlation(rows), correlation(drawn));
	assert_true(fabs(correlation(rows) - correlation(drawn)) < 0.02);
}

/*
 * The profile's hour has the trace's rate and lengths. The lengths are those
 * of ten times as many requests: inputs are rare between p89 and p93, so that
 * the p90 of one hour is itself only known to some 5 %.
 */
static void test_azure_profile(void **state)
{
	struct load_spec trace = profiled(NULL, 1), spec, many = rig_open(100);
	struct rig rows, drawn;
	struct load_profile p;
	struct arena arena;
	char path[1024];
	struct err e;

	(void)state;
	trace.kind = LOAD_TRACE;
	trace.trace = azure(path, sizeof(path));
	arena_init(&arena);
	err_clear(&e);
	assert_int_equal(load_profile_make(path, NULL, 60 * S, &arena, &p, &e),
	                 0);
	assert_string_equal(p.name, "AzureLLMInferenceTrace_conv");
	assert_int_equal(p.intervals, 59);
	rig_run(&rows, &trace, 1, 1, 0);
	assert_int_equal(rows.n, 19366);
	spec = profiled(&p, 1);
	rig_run(&drawn, &spec, 1, 1, 0);
	assert_true(fabs((double)drawn.n - 19366) < 3.29 * sqrt(19366));
	rig_fini(&drawn);
	many.requests = 193660;
	many.lengths = &p;
	rig_run(&drawn, &many, 1, 1, 0);
	assert_alike(&rows, &drawn);
	rig_fini(&drawn);
	rig_fini(&rows);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats_by_hand),
		cmocka_unit_test(test_stats_of_little),
		cmocka_unit_test(test_profile_by_hand),
		cmocka_unit_test(test_profile_keeps_the_mean),
		cmocka_unit_test(test_profile_of_few_rows),
		cmocka_unit_test(test_profile_arrivals),
		cmocka_unit_test(test_profile_rate),
		cmocka_unit_test(test_joint_lengths),
		cmocka_unit_test(test_azure_stats),
		cmocka_unit_test(test_azure_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
