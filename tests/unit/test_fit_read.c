/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sweep, weir's own CSV, and what is looked at in every row. */
#include "fit_rig.h"

#define HEAD                                                                   \
	"load_mode,concurrency,offered_rps,achieved_rps,out_tok_s,isl,osl,"    \
	"ttft_mean_ms,itl_mean_ms,e2e_mean_ms,n_requests,littles_L\n"

/* The i-th warning of a table of one row below HEAD. */
static void expect(const char *row, uint32_t i, bool refused, const char *text)
{
	char table[1024];
	struct fit_sweep s;

	snprintf(table, sizeof table, "%s%s\n", HEAD, row);
	rig_read(&s, table, &no_hints);
	rig_remark(&s, i, 0, refused, text);
	fit_sweep_fini(&s);
}

static void expect_quiet(const char *row)
{
	char table[1024];
	struct fit_sweep s;

	snprintf(table, sizeof table, "%s%s\n", HEAD, row);
	rig_read(&s, table, &no_hints);
	if (s.n_warnings > 0)
		fail_msg("%s", s.warning[0].text);
	fit_sweep_fini(&s);
}

static void test_sweep(void **state)
{
	struct fit_sweep s;

	(void)state;
	fit_sweep_init(&s);
	for (uint32_t i = 0; i < 100; i++) {
		fit_row_add(&s)->line = i;
		assert_true(isnan(s.row[i].itl.p95));
		assert_true(isnan(s.row[i].littles_l));
		assert_string_equal(s.row[i].model, "");
	}
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(s.row[i].line, i);
	fit_warn(&s, 7, true, "no %s", "good");
	rig_remark(&s, 0, 7, true, "no good");
	assert_false(s.row[6].refused);
	/* Remarks end somewhere, refusals do not. */
	for (int i = 0; i < 300; i++)
		fit_warn(&s, 1, false, "again");
	assert_int_equal(s.n_warnings, FIT_WARNINGS_MAX);
	assert_int_equal(s.n_remarks_lost, 45);
	fit_warn(&s, 9, true, "one more");
	rig_remark(&s, FIT_WARNINGS_MAX, 9, true, "one more");
	fit_sweep_fini(&s);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int result;
		double value;
	} cases[] = {
		{"12.5", 0, 12.5},
		{" 1e3 ", 0, 1000},
		{"1,916.33", 0, 1916.33},
		{"12,345,678", 0, 12345678},
		{"-1,234", 0, -1234},
		{"1,5", -1, 0},
		{"1.234,5", -1, 0},
		{"1,2345", -1, 0},
		{"1,2,345", -1, 0},
		{"1,23.5", -1, 0},
		{",123", -1, 0},
		{"1234,567", -1, 0},
		{"", -1, 0},
		{"0x10", -1, 0},
		{"12 ms", -1, 0},
		{"~120", -1, 0},
		{"1e999", -2, 0},
		{"NaN", -2, 0},
		{"-inf", -2, 0},
		{"Infinity", -2, 0},
		{"--1", -1, 0},
		{"1,234,", -1, 0},
	};
	double v;

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(cases); i++) {
		v = 0;
		assert_int_equal(fit_number(cases[i].text, &v),
		                 cases[i].result);
		rig_near(v, cases[i].value);
	}
}

static void test_texts(void **state)
{
	char out[12];

	(void)state;
	fit_text(out, sizeof out, "a\tb\x7f\xff\xc3\xa9");
	assert_string_equal(out, "a?b??\xc3\xa9");
	/* A character is kept whole or not at all. */
	fit_text(out, sizeof out, "0123456789\xc3\xa9");
	assert_string_equal(out, "0123456789");
	fit_text(out, sizeof out, "\xc0\x80\xed\xa0\x80\xf5");
	assert_string_equal(out, "??????");
}

/* Quotes, doubled quotes, a line end inside, CRLF, a byte order mark. */
static void test_quotes(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         "\xef\xbb\xbfmodel,concurrency,e2e_mean_ms\r\n"
	         "\"a, \"\"b\"\"\r\nc\",\"2\",\"1,100.5\"\r\n\r\n"
	         "d,4,1200",
	         &no_hints);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.row[0].model, "a, \"b\"??c");
	rig_near(s.row[0].e2e.mean, 1100.5);
	assert_int_equal(s.row[0].line, 2);
	assert_int_equal(s.row[1].line, 5);
	fit_sweep_fini(&s);
}

static void test_bad_csv(void **state)
{
	static const struct {
		const char *rows, *message;
	} cases[] = {
		{"closed,0,,7,,,,,,1100,,\n",
	         "x:2: concurrency: must be above 0, not 0"},
		{"closed,8,,NaN,,,,,,1100,,\n",
	         "x:2: achieved_rps: must be finite, not NaN"},
		{"closed,8,,7,,,,,,1e400,,\n",
	         "x:2: e2e_mean_ms: must be finite, not 1e400"},
		{"closed,8,,7,,,,,,-1,,\n",
	         "x:2: e2e_mean_ms: must not be below 0, not -1"},
		{"closed,8,,7,,,,,,soon,,\n",
	         "x:2: e2e_mean_ms: must be a number, not soon"},
		{"closed,8,,7,,,,,,\"1,5\",,\n",
	         "x:2: e2e_mean_ms: must be a number, not 1,5"},
		{"closed,8,,7,,,0,,,1100,,\n",
	         "x:2: osl: must be above 0, not 0"},
		{"ajar,8,,7,,,,,,1100,,\n",
	         "x:2: load_mode: must be closed, open_constant, "
	         "open_poisson, static_batch or burst, not ajar"},
		{",,4,4,,,,,,1100,,\n",
	         "x:2: load_mode: must be open_constant or open_poisson "
	         "where only offered_rps is given"},
		{"closed,8,,7,,,,,,1100,,\nclosed,8\n",
	         "x:3: has 2 fields, the header 12"},
		{"closed,8,,7,,,,,,\"1100,,\n",
	         "x:2: a quote that is not closed"},
		{"closed,8,,7,,,,,,\"1100\"0,,\n",
	         "x:2: text behind a closing quote"},
		{"", "x: holds no load points"},
	};
	char table[1024];

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(cases); i++) {
		snprintf(table, sizeof table, "%s%s", HEAD, cases[i].rows);
		rig_refused(table, &no_hints, cases[i].message);
	}
	rig_refused("concurrency,concurrency,e2e_mean_ms,isl\n1,1,1,1\n",
	            &no_hints, "x:1: concurrency: is there twice");
	rig_refused("concurrency,tp,e2e_mean_ms\n1,1.5,1\n", &no_hints,
	            "x:2: tp: must be a whole number, not 1.5");
}

/* Prose where a length should be: not said, told once, a hint may fill it. */
static void test_prose(void **state)
{
	const struct fit_hints hints = {300, (double)NAN, (double)NAN, 2, 4};
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         "num_gpus,isl,osl,concurrency,e2e_mean_ms,e2e_maen_ms,zzz\n"
	         ",~short,90,1,100,,\n,~long,90,2,110,,\n",
	         &hints);
	assert_int_equal(s.n_warnings, 3);
	rig_remark(&s, 0, UINT32_MAX, false,
	           "column e2e_maen_ms is not known and not read; is it "
	           "e2e_mean_ms?");
	rig_remark(&s, 1, UINT32_MAX, false,
	           "column zzz is not known and not read");
	rig_remark(&s, 2, UINT32_MAX, false,
	           "isl is no number in 2 rows, taken as not said (line 2: "
	           "~short)");
	rig_near(s.row[1].isl, 300);
	rig_near(s.row[1].osl, 90);
	assert_int_equal(s.row[1].num_gpus, 2);
	assert_int_equal(s.row[1].tp, 4);
	fit_sweep_fini(&s);
}

static void test_limit_in_variant(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         "concurrency,e2e_mean_ms,variant\n"
	         "1,100,max_num_seqs=128; x\n2,100,--max-num-seqs 64\n"
	         "3,100,max_num_seqs=many\n",
	         &no_hints);
	assert_int_equal(s.row[0].max_num_seqs, 128);
	assert_int_equal(s.row[1].max_num_seqs, 64);
	assert_int_equal(s.row[2].max_num_seqs, 0);
	fit_sweep_fini(&s);
}

static void test_littles_law(void **state)
{
	(void)state;
	expect_quiet("closed,8,,7.2,727.2,512,101,100,10,1100,200,7.92");
	expect("closed,8,,3.6,363.6,512,101,100,10,1100,200,", 0, false,
	       "client-limited: 3.6/s x 1100 ms = 3.96 in the system, not 8");
	expect("closed,16,,13.2,1333.2,512,101,100,10,1100,96,", 0, false,
	       "13.2/s x 1100 ms = 14.52 in the system, not 16: with 96 "
	       "requests the start and the end weigh");
	expect("closed,8,,8.4,848.4,512,101,100,10,1100,200,", 0, false,
	       "8.4/s x 1100 ms = 9.24 in the system, more than its 8 "
	       "clients");
	expect("closed,8,,72,7272,512,101,100,10,1100,200,", 0, true,
	       "72/s x 1100 ms = 79.2 in the system of 8 clients: rate or E2E "
	       "is not what it is called");
	expect("closed,8,,7.2,727.2,512,101,100,10,1100,200,5", 0, false,
	       "the file says 5 in the system, rate x E2E is 7.2/s x 1100 ms "
	       "= 7.92");
	expect("open_poisson,,9,7.2,727.2,512,101,100,10,1100,200,", 0, false,
	       "saturated, or held back by its client: 7.2/s of 9/s were "
	       "answered");
	expect("closed,8,,7.2,4413.6,512,101,100,10,1100,200,", 0, false,
	       "4413.6 output tokens a second are not 7.2/s x 101 tokens = "
	       "727.2");
	expect("closed,8,,0,,512,101,,,1100,,", 0, true,
	       "no request was completed");
	expect("closed,8,,,,512,101,,,,,", 0, true, "nothing was measured");
}

static void test_units(void **state)
{
	(void)state;
	/* E2E alone; TTFT and ITL alone; ITL alone; TTFT alone. */
	expect("closed,8,,7.2,,512,101,100,10,1.1,200,", 0, true,
	       "unit mix-up: E2E of 1.1 ms is off by 1000: it looks like s "
	       "labelled ms");
	expect("closed,8,,7.2,,512,101,0.1,0.01,1100,200,", 0, true,
	       "unit mix-up: TTFT + (osl - 1) x ITL of 1.1 ms is off by 1000: "
	       "it "
	       "looks like s labelled ms");
	expect("closed,8,,7.2,,512,101,100,0.01,1100,200,", 0, true,
	       "unit mix-up: ITL of 0.01 ms is off by 1000: it looks like s "
	       "labelled ms");
	expect("closed,8,,7.2,,512,101,0.1,10,1100,200,", 0, true,
	       "unit mix-up: TTFT of 0.1 ms is off by 1000: it looks like s "
	       "labelled ms");
	expect("closed,8,,7.2,,512,101,100000,10,1100,200,", 0, true,
	       "unit mix-up: TTFT of 1e+05 ms is off by 1000: it looks like us "
	       "labelled ms");
	/* All in seconds: only the clients tell, or the length of a token. */
	expect("closed,8,,7.2,,512,101,0.1,0.01,1.1,200,", 0, true,
	       "unit mix-up: E2E of 1.1 ms is off by 1000: it looks like s "
	       "labelled ms");
	expect("closed,8,,7.2,,512,101,0.1,0.01,,200,", 0, true,
	       "unit mix-up: TTFT + (osl - 1) x ITL of 1.1 ms is off by 1000: "
	       "it "
	       "looks like s labelled ms");
	expect("open_poisson,,7.2,7.2,,512,101,0.1,0.01,1.1,200,", 0, true,
	       "unit mix-up: 0.01 ms a token is too short, it looks like s "
	       "labelled ms");
	expect("open_poisson,,7.2,7.2,,512,101,,,1.1,200,", 0, true,
	       "unit mix-up: 0.011 ms a token is too short, it looks like s "
	       "labelled ms");
	expect("closed,8,,7.2,,512,101,100000,10000,1100000,200,", 0, true,
	       "unit mix-up: E2E of 1.1e+06 ms is off by 1000: it looks like "
	       "us labelled ms");
	expect("open_poisson,,7.2,7.2,,512,101,1e8,1e7,1.1e9,200,", 0, true,
	       "unit mix-up: 1e+07 ms a token is too long, it looks like us "
	       "or ns labelled ms");
	/* Few in the system is no mix-up while a token takes its time. */
	expect("closed,1024,,1,,512,101,100,10,1100,20000,", 0, false,
	       "client-limited: 1/s x 1100 ms = 1.1 in the system, not 1024");
}

static void test_percentiles(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         "concurrency,ttft_mean_ms,ttft_p50_ms,ttft_p99_ms\n"
	         "1,0.1,90,250\n2,100,90,80\n",
	         &no_hints);
	rig_remark(&s, 0, 0, true,
	           "unit mix-up: TTFT of 0.1 ms is off by 1000: it looks like "
	           "s labelled ms");
	rig_remark(&s, 1, 1, true,
	           "TTFT's percentiles fall: 80 ms after 90 ms");
	fit_sweep_fini(&s);
}

static void test_chunks(void **state)
{
	struct fit_sweep s;

	(void)state;
	/* Two chunks a token, four tokens a chunk. */
	expect("closed,8,,7.2,,512,101,100,5,1100,200,", 0, false,
	       "ITL of 5 ms is a chunk's, not a token's: (E2E - TTFT) / (osl - "
	       "1) = 10 ms is taken");
	rig_read(&s, HEAD "closed,8,,7.2,,512,101,100,40,1100,200,\n",
	         &no_hints);
	rig_near(s.row[0].itl.mean, 10);
	assert_false(s.row[0].refused);
	fit_sweep_fini(&s);
	expect("closed,8,,7.2,,512,101,100,8,1100,200,", 0, false,
	       "E2E of 1100 ms is not TTFT + (osl - 1) x ITL = 900 ms");
}

static void test_duplicates(void **state)
{
	static const char table[] =
		HEAD "closed,8,,7.2,727.2,512,101,100,10,1100,200,\n"
		     "closed,8,,7.2,727.2,512,101,100,10,1100,200,\n"
		     "closed,8,,7.3,737.3,512,101,100,10,1100,200,\n";
	struct fit_sweep s;
	struct err e;

	(void)state;
	rig_read(&s, table, &no_hints);
	assert_int_equal(s.n_warnings, 1);
	rig_remark(&s, 0, 1, true, "the same measurement as x:2: counted once");
	/* The same file once more. */
	err_clear(&e);
	assert_int_equal(
		fit_read_text(&s, "y", table, strlen(table), &no_hints, &e), 0);
	assert_int_equal(s.n, 6);
	for (uint32_t i = 3; i < 6; i++)
		assert_true(s.row[i].refused);
	rig_remark(&s, 3, 5, true, "the same measurement as x:4: counted once");
	fit_sweep_fini(&s);
}

static void test_no_file(void **state)
{
	struct fit_sweep s;
	struct err e;
	char shown[1100];

	(void)state;
	fit_sweep_init(&s);
	err_clear(&e);
	assert_int_equal(fit_read(&s, "/nowhere/x.csv", &no_hints, &e), -1);
	assert_string_equal(
		err_format(&e, shown, sizeof shown),
		"/nowhere/x.csv: cannot be opened: No such file or directory");
	err_clear(&e);
	assert_int_equal(fit_read(&s, "/", &no_hints, &e), -1);
	assert_string_equal(err_format(&e, shown, sizeof shown),
	                    "/: cannot be read: Is a directory");
	err_clear(&e);
	assert_int_equal(fit_read_text(&s, "x", "a\0b", 3, &no_hints, &e), -1);
	assert_string_equal(e.text, "is no text: it holds a zero byte");
	fit_sweep_fini(&s);
	rig_refused(" \n", &no_hints, "x: is empty");
	rig_refused(
		"hello\n", &no_hints,
		"x: no result file that is known; known are: weir sweep CSV, "
		"vLLM bench serve, vLLM 0.5 benchmark_serving, SGLang "
		"bench_serving, InferenceX, genai-perf JSON, genai-perf CSV, "
		"aiperf JSON, aiperf CSV, guidellm, genai-bench, "
		"inference-perf, MLPerf loadgen, k6, locust, InferenceBench, "
		"gpu_conc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_bad_csv),
		cmocka_unit_test(test_prose),
		cmocka_unit_test(test_limit_in_variant),
		cmocka_unit_test(test_littles_law),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests_name("fit_read", tests, NULL, NULL);
}
