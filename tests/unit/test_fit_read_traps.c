/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is peculiar to one tool, and what its file must not hold. */
#include "fit_rig.h"

static const struct fit_hints lengths = {512, 101, 24, 0, 0};

#define VLLM(more)                                                             \
	"{\"request_throughput\": 7.2, \"mean_ttft_ms\": 100, " more "}"
#define E2E "\"mean_e2el_ms\": 1100"

static void test_json_numbers(void **state)
{
	(void)state;
	rig_refused(VLLM("\"mean_tpot_ms\": NaN"), &no_hints,
	            "x: $.mean_tpot_ms: is NaN or infinite");
	rig_refused(VLLM("\"mean_tpot_ms\": -Infinity"), &no_hints,
	            "x: $.mean_tpot_ms: is NaN or infinite");
	rig_refused(VLLM("\"mean_tpot_ms\": 1e999"), &no_hints,
	            "x:1: not JSON: real number overflow near '1e999'");
	rig_refused(VLLM("\"mean_tpot_ms\": -3"), &no_hints,
	            "x: $.mean_tpot_ms: must not be below 0, not -3");
	rig_refused(VLLM("\"mean_tpot_ms\": [3]"), &no_hints,
	            "x: $.mean_tpot_ms: must be a number");
	rig_refused(VLLM("\"mean_tpot_ms\": \"3 ms\""), &no_hints,
	            "x: $.mean_tpot_ms: must be a number");
	rig_refused(VLLM("\"max_concurrency\": 0"), &no_hints,
	            "x: concurrency: must be above 0, not 0");
	rig_refused("[" VLLM(E2E) ", 3]", &no_hints,
	            "x: $[1]: is no result like the first one");
	rig_refused(VLLM(E2E) "\n\n{\"a\": 1}\n", &no_hints,
	            "x:3: $: is no result like the first one");
	rig_refused(VLLM(E2E) "\n{\"request_throughput\": 1,\n", &no_hints,
	            "x:3: not JSON: string or '}' expected near end of file");
}

/* A word of Python where nobody looks does no harm. */
static void test_unread_nan(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         VLLM(E2E ", \"std_ttft_ms\": NaN, \"label\": \"NaN \\\"NaN\", "
	                  "\"request_rate\": Infinity, \"max_concurrency\": 8"),
	         &no_hints);
	assert_int_equal(s.row[0].load, FIT_CLOSED);
	rig_near(s.row[0].concurrency, 8);
	fit_sweep_fini(&s);
}

static void test_vllm(void **state)
{
	struct fit_sweep s;

	(void)state;
	/* Asked for more than the cap lets through: a closed loop. */
	rig_read(&s,
	         VLLM(E2E ", \"request_rate\": 50, \"max_concurrency\": 8, "
	                  "\"completed\": 200, \"num_prompts\": 203"),
	         &no_hints);
	assert_int_equal(s.row[0].load, FIT_CLOSED);
	rig_near(s.row[0].offered_rps, (double)NAN);
	rig_remark(&s, 0, 0, false, "3 of 203 requests failed");
	rig_remark(&s, 1, 0, false,
	           "the cap of 8 in flight was reached at 50/s: a closed loop "
	           "of 8");
	fit_sweep_fini(&s);
	rig_read(&s,
	         VLLM(E2E ", \"request_rate\": 7.5, \"max_concurrency\": 80"),
	         &no_hints);
	assert_int_equal(s.row[0].load, FIT_OPEN_POISSON);
	rig_near(s.row[0].offered_rps, 7.5);
	fit_sweep_fini(&s);
	rig_read(&s, VLLM("\"backend\": \"openai-chat\""), &no_hints);
	assert_string_equal(s.row[0].engine, "");
	rig_near(s.row[0].littles_l, (double)NAN);
	rig_remark(&s, 0, 0, false,
	           "no E2E in the file (--percentile-metrics with e2el writes "
	           "it): Little's law is not looked at");
	fit_sweep_fini(&s);
}

static void test_sglang(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         "{\"mean_e2e_latency_ms\": 1100, \"request_throughput\": 7.2, "
	         "\"completed\": 200, \"total_output_tokens\": 20200, "
	         "\"total_output_tokens_retokenized\": 200, "
	         "\"concurrency\": 7.92, \"max_concurrency\": 8}",
	         &no_hints);
	rig_remark(&s, 0, 0, true,
	           "200 answers hold 200 tokens: they were aborted");
	fit_sweep_fini(&s);
}

static void test_inferencex(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         "{\"hw\": \"h100\", \"conc\": 8, \"tp\": 2, \"isl\": 1000, "
	         "\"osl\": 200, \"median_ttft\": 0.1, \"median_tpot\": 0.01, "
	         "\"median_e2el\": 1.9, \"output_tput_per_gpu\": 50}",
	         &no_hints);
	rig_near(s.row[0].concurrency, 8);
	rig_near(s.row[0].isl, 900);
	rig_near(s.row[0].osl, 180);
	rig_near(s.row[0].out_tok_s, 100);
	rig_near(s.row[0].e2e.p50, 1900);
	assert_string_equal(s.row[0].gpu, "h100");
	rig_remark(&s, 0, 0, false,
	           "lengths are drawn from 0.8 to 1.0 of the nominal 1000 and "
	           "200: 0.9 is taken");
	fit_sweep_fini(&s);
}

#define LATENCY "\"request_latency\": {\"unit\": \"ms\", \"avg\": 1100}"

static void test_nvidia(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_read(&s,
	         "{" LATENCY ", \"input_config\": {\"perf_analyzer\": "
	         "{\"stimulus\": {\"request_rate\": 5}}}}",
	         &no_hints);
	assert_int_equal(s.row[0].load, FIT_OPEN_CONSTANT);
	rig_near(s.row[0].offered_rps, 5);
	fit_sweep_fini(&s);
	rig_refused("{\"request_latency\": {\"unit\": \"days\", \"avg\": 1}, "
	            "\"input_config\": {}}",
	            &no_hints,
	            "x: $.request_latency.unit: must be s, ms, us or ns, not "
	            "days");
	rig_read(&s,
	         "{" LATENCY ", \"aiperf_version\": \"0\", \"input_config\": "
	         "{\"loadgen\": {\"concurrency\": 4}}, "
	         "\"was_cancelled\": true}",
	         &no_hints);
	rig_near(s.row[0].concurrency, 4);
	rig_remark(&s, 0, 0, false, "the run was cancelled");
	fit_sweep_fini(&s);
	rig_read(&s,
	         "{" LATENCY ", \"schema_version\": \"1\", \"input_config\": "
	         "{\"phases\": [{\"exclude_from_results\": true, \"rate\": 9}, "
	         "{\"name\": \"a\", \"type\": \"poisson\", \"rate\": 5}]}}",
	         &no_hints);
	assert_int_equal(s.row[0].load, FIT_OPEN_POISSON);
	rig_near(s.row[0].offered_rps, 5);
	fit_sweep_fini(&s);
	rig_refused("Metric,avg,p50\nRequest Latency (ms),soon,1\n", &no_hints,
	            "x:2: Request Latency (ms): must be a number");
	rig_refused("Metric,avg,p50\nRequest Latency (parsec),1,1\n", &no_hints,
	            "x:2: Request Latency (parsec): has no unit of time that "
	            "is known");
	rig_refused("Metric,avg,p50\nRequest Latency (ms),nan,1\n", &no_hints,
	            "x:2: Request Latency (ms): is NaN or infinite");
}

#define GUIDE(config)                                                          \
	"{\"benchmarks\": [{" config ", \"metrics\": {"                        \
	"\"requests_per_second\": {\"successful\": {\"mean\": 7.2}}, "         \
	"\"request_totals\": {\"successful\": 80, \"errored\": 0, "            \
	"\"incomplete\": 20, \"total\": 100}}}]}"

static void test_guidellm(void **state)
{
	static const struct {
		const char *text;
		enum fit_load load;
		double concurrency, offered;
	} cases[] = {
		{GUIDE("\"args\": {\"strategy\": {\"streams\": 8}}"),
	         FIT_CLOSED, 8, (double)NAN},
		{GUIDE("\"args\": {\"strategy\": {\"rate\": 3}}"),
	         FIT_OPEN_CONSTANT, (double)NAN, 3},
		{GUIDE("\"config\": {\"strategy\": {\"type_\": "
	               "\"synchronous\"}}"),
	         FIT_CLOSED, 1, (double)NAN},
		{GUIDE("\"config\": {\"strategy\": {\"type_\": \"throughput\", "
	               "\"max_concurrency\": 64}}"),
	         FIT_CLOSED, 64, (double)NAN},
		{GUIDE("\"config\": {\"strategy\": {\"type_\": "
	               "\"throughput\"}}"),
	         FIT_BURST, (double)NAN, (double)NAN},
	};
	struct fit_sweep s;

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(cases); i++) {
		rig_read(&s, cases[i].text, &no_hints);
		assert_int_equal(s.row[0].load, cases[i].load);
		rig_near(s.row[0].concurrency, cases[i].concurrency);
		rig_near(s.row[0].offered_rps, cases[i].offered);
		rig_remark(&s, 0, 0, false,
		           "20 of 100 requests were cut off at the end");
		fit_sweep_fini(&s);
	}
	rig_refused(GUIDE("\"config\": {\"strategy\": {\"type_\": "
	                  "\"sweep\"}}"),
	            &no_hints,
	            "x: $.benchmarks[0]: strategy must be constant, poisson, "
	            "concurrent, throughput or synchronous, not sweep");
}

static void test_genai_bench(void **state)
{
	(void)state;
	rig_refused("{\"benchmark_version\": \"\", \"traffic_scenario\": []}",
	            &no_hints,
	            "x: describes an experiment of genai-bench: give the files "
	            "of its runs");
}

#define TITLE "MLPerf Results Summary\n"

static void test_mlperf(void **state)
{
	struct fit_sweep s;

	(void)state;
	rig_refused(TITLE "Scenario : Server\nMode : AccuracyOnly\n", &no_hints,
	            "x: Mode: must be PerformanceOnly, not AccuracyOnly");
	rig_refused(TITLE "Scenario : MultiStream\nMode : PerformanceOnly\n",
	            &no_hints,
	            "x: Scenario: must be Server, Interactive, Offline or "
	            "SingleStream, not MultiStream");
	rig_refused(TITLE "Mean latency (ns) : soon\n", &no_hints,
	            "x:2: Mean latency (ns): must be a number of at least 0, "
	            "not soon");
	rig_refused(TITLE TITLE, &no_hints,
	            "x:2: holds a second summary: one file a run");
	rig_read(&s,
	         TITLE "Scenario : Server\nMode : PerformanceOnly\n"
	               "Result is : VALID\nMean latency (ns) : 1100000000\n"
	               "target_qps : 9\n",
	         &lengths);
	rig_near(s.row[0].offered_rps, 9);
	rig_near(s.row[0].isl, 512);
	rig_remark(&s, 0, 0, false,
	           "no completed samples a second in the "
	           "file");
	fit_sweep_fini(&s);
	rig_read(&s,
	         TITLE "Scenario : SingleStream\nMode : PerformanceOnly\n"
	               "Result is : VALID\nMean latency (ns) : 1100000000\n",
	         &no_hints);
	rig_near(s.row[0].concurrency, 1);
	fit_sweep_fini(&s);
}

#define LOCUST                                                                 \
	"Type,Name,Request Count,Failure Count,Average Response Time,"         \
	"Requests/s,50%\n"

static void test_locust(void **state)
{
	struct fit_sweep s;

	(void)state;
	/* A single endpoint needs no telling name; a hint gives the users. */
	rig_read(&s,
	         LOCUST "POST,/x,100,0,1100,7.2,N/A\n,Aggregated,1,0,1,1,1\n",
	         &lengths);
	rig_near(s.row[0].achieved_rps, 7.2);
	rig_near(s.row[0].e2e.p50, (double)NAN);
	rig_near(s.row[0].concurrency, 24);
	assert_string_equal(s.row[0].variant, "/x");
	fit_sweep_fini(&s);
	rig_refused(LOCUST "POST,/a,1,0,1,1,1\nPOST,/b,1,0,1,1,1\n", &lengths,
	            "x: Name: none of 2 endpoints is named like one that "
	            "answers with tokens");
	rig_refused(LOCUST "POST,/chat,1,0,1,1,1\nPOST,/v1/Completions,1,0,1,"
	                   "1,1\n",
	            &lengths,
	            "x: Name: 2 endpoints may answer with tokens: keep the "
	            "line of one");
	rig_refused(LOCUST "POST,/chat,1,0,x,1,1\n", &lengths,
	            "x:2: Average Response Time: must be a number of at least "
	            "0");
	rig_refused(LOCUST "POST,/chat,1\n", &lengths,
	            "x:2: Failure Count: is missing");
	rig_refused("Timestamp,User Count,Type,Name,Requests/s\n", &lengths,
	            "x: is locust's history: give the file that ends in "
	            "_stats.csv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_numbers),
		cmocka_unit_test(test_unread_nan),
		cmocka_unit_test(test_vllm),
		cmocka_unit_test(test_sglang),
		cmocka_unit_test(test_inferencex),
		cmocka_unit_test(test_nvidia),
		cmocka_unit_test(test_guidellm),
		cmocka_unit_test(test_genai_bench),
		cmocka_unit_test(test_mlperf),
		cmocka_unit_test(test_locust),
	};

	return cmocka_run_group_tests_name("fit_read_traps", tests, NULL, NULL);
}
