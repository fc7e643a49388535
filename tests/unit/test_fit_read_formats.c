/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One made-up load point, in every format that is read: 8 clients, 512 and
 * 101 tokens, TTFT 100 ms, 10 ms a token, hence 1100 ms; every percentile a
 * number of its own. What a tool does not write must stay unknown.
 */
#include "fit_rig.h"

enum { MEAN = 1, P50 = 2, P90 = 4, P95 = 8, P99 = 16, ALL = 31 };

static const struct fixture {
	const char *file, *format;
	enum fit_load load;
	unsigned ttft, itl, e2e; /* which are known */
	double rps, l, offered, concurrency, n;
	uint32_t rows, remarks;
} fixtures[] = {
	{"sweep.csv", "weir sweep CSV", FIT_CLOSED, ALL, ALL & ~P90, ALL & ~P90,
         7.2, 7.92, (double)NAN, 8, 200, 6, 2},
	{"vllm.json", "vLLM bench serve", FIT_CLOSED, ALL, ALL, ALL, 7.2, 7.92,
         (double)NAN, 8, 200, 1, 0},
	{"vllm-append.jsonl", "vLLM bench serve", FIT_CLOSED, ALL, ALL, ALL,
         7.2, 7.92, (double)NAN, 8, 200, 3, 1},
	{"vllm-0.5.json", "vLLM 0.5 benchmark_serving", FIT_OPEN_POISSON, ALL,
         ALL, ALL, 7.2, 7.92, 8, (double)NAN, 200, 1, 2},
	{"sglang.jsonl", "SGLang bench_serving", FIT_CLOSED, ALL, ALL, ALL, 7.2,
         7.92, (double)NAN, 8, 200, 1, 0},
	{"inferencex.json", "InferenceX", FIT_CLOSED, P50 | P99, P50 | P99,
         P50 | P99, 7.2, 7.56, (double)NAN, 8, 200, 1, 1},
	{"genai-perf.json", "genai-perf JSON", FIT_CLOSED, ALL, ALL, ALL, 7.2,
         7.92, (double)NAN, 8, (double)NAN, 1, 0},
	{"genai-perf.csv", "genai-perf CSV", FIT_CLOSED, ALL, ALL, ALL, 7.2,
         7.92, (double)NAN, (double)NAN, (double)NAN, 1, 1},
	{"aiperf.json", "aiperf JSON", FIT_CLOSED, ALL, ALL, ALL, 7.2, 7.92,
         (double)NAN, 8, 200, 1, 0},
	{"aiperf.csv", "aiperf CSV", FIT_CLOSED, ALL, ALL, ALL, 7.2, 7.92,
         (double)NAN, (double)NAN, 200, 1, 1},
	{"guidellm.json", "guidellm", FIT_CLOSED, ALL, ALL, ALL, 7.2, 7.92,
         (double)NAN, 8, 200, 2, 1},
	{"genai-bench.json", "genai-bench", FIT_CLOSED, ALL, ALL, ALL, 7.2,
         7.92, (double)NAN, 8, 200, 1, 1},
	{"inference-perf.json", "inference-perf", FIT_OPEN_CONSTANT, ALL, MEAN,
         ALL, 7.2, 7.92, 7.5, (double)NAN, 200, 1, 2},
	{"inference-perf-prometheus.json", "inference-perf", FIT_OPEN_CONSTANT,
         ALL, ALL, ALL, 7.2, 7.92, (double)NAN, (double)NAN, 200, 1, 1},
	{"mlperf.txt", "MLPerf loadgen", FIT_OPEN_POISSON, ALL, ALL, ALL, 7.2,
         7.92, 7.5, (double)NAN, (double)NAN, 1, 1},
	{"mlperf-offline.txt", "MLPerf loadgen", FIT_BURST, 0, 0, 0, 20,
         (double)NAN, (double)NAN, (double)NAN, (double)NAN, 1, 0},
	{"k6.json", "k6", FIT_CLOSED, ALL & ~P99, 0, ALL & ~P99, 7.2, 7.92,
         (double)NAN, 8, 200, 1, 0},
	{"k6-legacy.json", "k6", FIT_CLOSED, 0, 0, ALL, 7.2, 7.92, (double)NAN,
         8, 150, 1, 2},
	{"locust_stats.csv", "locust", FIT_CLOSED, 0, 0, ALL, 7.2, 7.92,
         (double)NAN, (double)NAN, 200, 1, 2},
	{"inferencebench.json", "InferenceBench", FIT_CLOSED, P50 | P99,
         P50 | P99, P50 | P99, 7.2, 7.56, (double)NAN, (double)NAN, (double)NAN,
         1, 3},
	{"gpu_conc.json", "gpu_conc", FIT_CLOSED, ALL & ~P90, 0, ALL & ~P90,
         7.2, 7.92, (double)NAN, 8, 200, 1, 1},
};

static const struct fit_latency ttft = {100, 90, 150, 180, 250};
static const struct fit_latency itl = {10, 9.5, 12, 13, 15};
static const struct fit_latency e2e = {1100, 1050, 1300, 1400, 1600};
static const struct fit_hints lengths = {512, 101, (double)NAN, 0, 0};

/* Tools that count no tokens. */
static bool counts_tokens(const char *format)
{
	return strcmp(format, "k6") != 0 && strcmp(format, "locust") != 0;
}

static void check_latency(const struct fit_latency *is,
                          const struct fit_latency *wanted, unsigned known)
{
	rig_near(is->mean, known & MEAN ? wanted->mean : (double)NAN);
	rig_near(is->p50, known & P50 ? wanted->p50 : (double)NAN);
	rig_near(is->p90, known & P90 ? wanted->p90 : (double)NAN);
	rig_near(is->p95, known & P95 ? wanted->p95 : (double)NAN);
	rig_near(is->p99, known & P99 ? wanted->p99 : (double)NAN);
}

static void read_fixture(struct fit_sweep *s, const char *name,
                         const struct fit_hints *hints)
{
	char shown[1100];
	struct err e;
	size_t size;
	char *text = rig_fixture(name, &size);

	err_clear(&e);
	fit_sweep_init(s);
	if (fit_read_text(s, name, text, size, hints, &e) < 0)
		fail_msg("%s", err_format(&e, shown, sizeof shown));
	mem_free(text);
}

static void test_fixtures(void **state)
{
	struct fit_sweep s;

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(fixtures); i++) {
		const struct fixture *f = &fixtures[i];
		const struct fit_row *row;

		read_fixture(&s, f->file, &lengths);
		row = s.row;
		assert_string_equal(s.format, f->format);
		assert_int_equal(s.n, f->rows);
		assert_int_equal(s.n_warnings, f->remarks);
		assert_int_equal(row->load, f->load);
		assert_string_equal(row->file, f->file);
		assert_false(row->refused);
		rig_near(row->isl, 512);
		rig_near(row->osl, 101);
		rig_near(row->achieved_rps, f->rps);
		rig_near(row->out_tok_s,
		         counts_tokens(f->format) ? f->rps * 101 : (double)NAN);
		rig_near(row->littles_l, f->l);
		rig_near(row->offered_rps, f->offered);
		rig_near(row->concurrency, f->concurrency);
		rig_near(row->n_requests, f->n);
		check_latency(&row->ttft, &ttft, f->ttft);
		check_latency(&row->itl, &itl, f->itl);
		check_latency(&row->e2e, &e2e, f->e2e);
		fit_sweep_fini(&s);
	}
}

/* A file of one format is no file of another. */
static void test_one_format_each(void **state)
{
	const struct fit_format *format;
	struct fit_input in;
	struct err e;

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(fixtures); i++) {
		uint32_t n = 0, line = 1;
		size_t at = 0, size;
		char *text = rig_fixture(fixtures[i].file, &size);

		memset(&in, 0, sizeof in);
		arena_init(&in.arena);
		err_clear(&e);
		in.path = fixtures[i].file;
		in.text = text;
		in.size = size;
		if (*text == '{')
			assert_int_equal(fit_docs(&in, &e), 0);
		else
			assert_int_equal(
				fit_record(&in, &at, &line, &in.header, &e), 1);
		for (size_t k = 0; (format = fit_format_at(k)) != NULL; k++) {
			assert_string_equal(fit_format_name(k), format->name);
			n += format->detects(&in);
		}
		assert_int_equal(n, 1);
		fit_docs_free(&in);
		arena_fini(&in.arena);
		mem_free(text);
	}
}

static void expect_texts(const char *file, const char *model,
                         const char *engine, const char *version)
{
	struct fit_sweep s;

	read_fixture(&s, file, &lengths);
	assert_string_equal(s.row->model, model);
	assert_string_equal(s.row->engine, engine);
	assert_string_equal(s.row->engine_version, version);
	fit_sweep_fini(&s);
}

static void test_texts(void **state)
{
	struct fit_sweep s;

	(void)state;
	expect_texts("vllm.json", "example/model-8b", "vllm", "");
	expect_texts("sglang.jsonl", "example/model-8b", "sglang", "0.9.9");
	expect_texts("inferencex.json", "example/model-8b", "", "");
	expect_texts("genai-perf.json", "example/model-8b", "tensorrtllm", "");
	expect_texts("aiperf.json", "example/model-8b", "", "");
	expect_texts("guidellm.json", "example/model-8b", "", "");
	expect_texts("mlperf.txt", "", "ExampleSUT", "");
	expect_texts("inferencebench.json", "example/model-8b", "vllm",
	             "0.9.9");
	read_fixture(&s, "sglang.jsonl", &no_hints);
	assert_int_equal(s.row->tp, 2);
	assert_int_equal(s.row->max_num_seqs, 64);
	fit_sweep_fini(&s);
	read_fixture(&s, "gpu_conc.json", &no_hints);
	assert_string_equal(s.row->gpu, "NVIDIA H100 PCIe");
	assert_int_equal(s.row->num_gpus, 1);
	fit_sweep_fini(&s);
}

/* What is said of a fixture's traps, word by word. */
static void test_remarks(void **state)
{
	static const struct {
		const char *file;
		uint32_t i, row;
		const char *text;
	} remarks[] = {
		{"vllm-append.jsonl", 0, 1,
	         "arrivals of burstiness 0.5 are no Poisson process, but "
	         "taken as one"},
		{"vllm-0.5.json", 0, 0,
	         "1 of 3 answers are empty, yet may be counted as completed"},
		{"vllm-0.5.json", 1, 0,
	         "ITL of 50 ms is of stream chunks, TPOT of 10 ms of tokens: "
	         "TPOT is read"},
		{"inferencex.json", 0, 0,
	         "no mean E2E: in Little's law its median stands for it"},
		{"genai-perf.csv", 0, 0,
	         "the file does not say how many clients (--concurrency "
	         "does): 7.92 were in the system"},
		{"guidellm.json", 0, 1, "5 of 205 requests failed"},
		{"genai-bench.json", 0, 0, "2 of 202 requests failed"},
		{"inference-perf.json", 0, 0, "3 of 203 requests failed"},
		{"inference-perf.json", 1, 0,
	         "ITL of 5 ms is a chunk's, not a token's: (E2E - TTFT) / "
	         "(osl - 1) = 10 ms is taken"},
		{"inference-perf-prometheus.json", 0, 0,
	         "the server's view by Prometheus: its rates are of a window "
	         "of its own, the load is not said"},
		{"mlperf.txt", 0, 0,
	         "MLPerf's rules did not hold: result is INVALID"},
		{"k6-legacy.json", 0, 0, "50 of 200 requests failed"},
		{"k6-legacy.json", 1, 0,
	         "answers came whole, not as streams: no TTFT"},
		{"locust_stats.csv", 0, 0,
	         "50 of 250 requests failed; the latencies are of all"},
		{"inferencebench.json", 0, 0, "1 % of the requests failed"},
		{"gpu_conc.json", 0, 0, "4 of 204 requests failed"},
		{"sweep.csv", 0, 5, "the file says of it: SUSPECT ramp"},
		{"sweep.csv", 1, 5,
	         "6.4/s x 1100 ms = 7.04 in the system, not 8: with 8 "
	         "requests the start and the end weigh"},
	};
	struct fit_sweep s;

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(remarks); i++) {
		read_fixture(&s, remarks[i].file, &lengths);
		rig_remark(&s, remarks[i].i, remarks[i].row, false,
		           remarks[i].text);
		fit_sweep_fini(&s);
	}
}

/* Further rows of a file are points of their own. */
static void test_further_rows(void **state)
{
	struct fit_sweep s;

	(void)state;
	read_fixture(&s, "vllm-append.jsonl", &no_hints);
	assert_int_equal(s.row[0].line, 1);
	assert_int_equal(s.row[1].line, 2);
	assert_int_equal(s.row[1].load, FIT_OPEN_POISSON);
	rig_near(s.row[1].offered_rps, 4);
	rig_near(s.row[1].concurrency, (double)NAN);
	assert_int_equal(s.row[2].load, FIT_BURST);
	rig_near(s.row[2].littles_l, (double)NAN);
	fit_sweep_fini(&s);
	read_fixture(&s, "guidellm.json", &no_hints);
	assert_int_equal(s.row[1].load, FIT_OPEN_POISSON);
	rig_near(s.row[1].offered_rps, 4);
	rig_near(s.row[1].littles_l, 4.356);
	fit_sweep_fini(&s);
}

static void test_needs_lengths(void **state)
{
	static const char *const file[] = {"k6.json", "k6-legacy.json",
	                                   "locust_stats.csv"};
	char message[256];

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(file); i++) {
		size_t size;
		char *text = rig_fixture(file[i], &size);

		snprintf(message, sizeof message,
		         "x: %s counts no tokens: give the lengths of its "
		         "requests by --isl and --osl",
		         *text == '{' ? "k6" : "locust");
		rig_refused(text, &no_hints, message);
		mem_free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixtures),
		cmocka_unit_test(test_one_format_each),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_remarks),
		cmocka_unit_test(test_further_rows),
		cmocka_unit_test(test_needs_lengths),
	};

	return cmocka_run_group_tests_name("fit_read_formats", tests, NULL,
	                                   NULL);
}
