/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real files: every one is read, and some numbers are what they show. */
#include <dirent.h>

#include "fit_rig.h"

static void path_of(char *out, size_t size, const char *dir, const char *name)
{
	const char *data = getenv("WEIR_DATA");

	if (data == NULL || data[0] == '\0') {
		print_message("WEIR_DATA is not set\n");
		skip();
	}
	snprintf(out, size, "%s/%s%s%s", data, dir, name[0] == '\0' ? "" : "/",
	         name);
}

static void read_path(struct fit_sweep *s, const char *path,
                      const struct fit_hints *hints)
{
	char shown[1100];
	struct err e;

	err_clear(&e);
	fit_sweep_init(s);
	if (fit_read(s, path, hints, &e) < 0)
		fail_msg("%s", err_format(&e, shown, sizeof shown));
}

static void check_sane(const struct fit_sweep *s, const char *path)
{
	for (uint32_t i = 0; i < s->n_warnings; i++)
		if (s->warning[i].refused)
			fail_msg("%s: %s", path, s->warning[i].text);
}

/* All CSVs of a directory; returns their rows. */
static uint32_t read_all(const char *dir)
{
	char place[512], path[800];
	struct dirent *entry;
	uint32_t rows = 0;
	DIR *list;

	path_of(place, sizeof place, dir, "");
	list = opendir(place);
	assert_non_null(list);
	while ((entry = readdir(list)) != NULL) {
		size_t n = strlen(entry->d_name);
		struct fit_sweep s;

		if (n < 4 || strcmp(entry->d_name + n - 4, ".csv") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
		read_path(&s, path, &no_hints);
		assert_string_equal(s.format, "weir sweep CSV");
		check_sane(&s, path);
		rows += s.n;
		fit_sweep_fini(&s);
	}
	closedir(list);
	return rows;
}

static void test_sweeps(void **state)
{
	char path[512];
	struct fit_sweep s;

	(void)state;
	path_of(path, sizeof path, "fit", "H1-8b-fp16-tp1.csv");
	assert_true(read_all("fit") >= 300);
	assert_true(read_all("sweeps") >= 1000);
	read_path(&s, path, &no_hints);
	assert_int_equal(s.n, 20);
	assert_int_equal(s.n_warnings, 0);
	assert_string_equal(s.row[1].engine, "NIM (TensorRT-LLM)");
	rig_near(s.row[1].achieved_rps, 3.0872);
	rig_near(s.row[1].itl.p95, 8.01436);
	assert_true(fabs(s.row[1].littles_l - 4.99923) < 1e-4);
	fit_sweep_fini(&s);
	path_of(path, sizeof path, "fit", "H2-8b-vllm011-maxseqs.csv");
	read_path(&s, path, &no_hints);
	assert_int_equal(s.row[0].max_num_seqs, 128);
	assert_int_equal(s.row[0].load, FIT_OPEN_CONSTANT);
	assert_string_equal(s.warning[3].text,
	                    "saturated, or held back by its client: 101.2/s "
	                    "of 122.6/s were answered");
	fit_sweep_fini(&s);
	path_of(path, sizeof path, "sweeps",
	        "gpuconc_gpt-oss-20b_h100_vllm.csv");
	read_path(&s, path, &no_hints);
	assert_string_equal(s.warning[2].text,
	                    "client-limited: 2.064/s x 11989 ms = 24.75 in "
	                    "the system, not 32");
	fit_sweep_fini(&s);
}

static const struct sample {
	const char *file, *format;
	enum fit_load load;
	uint32_t rows, remarks;
	double l, isl, osl, ttft, itl, e2e; /* the middles, of the first row */
} samples[] = {
	{"vllm_bench_serve_inferencex-fork_c16.json", "vLLM bench serve",
         FIT_CLOSED, 1, 1, 15.562, 7166.1, 895.56, 686.67, 17.932, 16738.9},
	{"vllm_bench_serve_inferencex-fork_p999_c8.json", "vLLM bench serve",
         FIT_CLOSED, 1, 0, 7.8101, 922.21, 929.08, 368.49, 12.345, 11827.9},
	{"vllm_benchmark_serving_v0.5_detailed.EXCERPT.json",
         "vLLM 0.5 benchmark_serving", FIT_BURST, 1, 2, (double)NAN, 136.9,
         44.2, 44.162, 6.0185, 290.35},
	{"inferencex_token_position_slo_c16.json", "InferenceX", FIT_CLOSED, 1,
         1, 14.419, 1024, 128, 291.4, 33.615, 4573.2},
	{"genai-perf_profile_export_genai_perf_c50.json", "genai-perf JSON",
         FIT_CLOSED, 1, 0, 49.958, 200.03, 58.331, 630.16, 22.502, 1916.3},
	{"genai-perf_profile_export_genai_perf_c50.csv", "genai-perf CSV",
         FIT_CLOSED, 1, 1, 49.959, 200.03, 58.33, 630.16, 22.5, 1916.33},
	{"aiperf_profile_export_c16.EXCERPT.json", "aiperf JSON", FIT_CLOSED, 1,
         1, 14.504, 3761.3, 543.61, 230.14, 11.847, 6726.7},
	{"aiperf_profile_export_c16.csv", "aiperf CSV", FIT_CLOSED, 1, 1, 14.53,
         3761.3, 543.61, 230.14, 11.85, 6726.7},
	{"guidellm_report_v2_llm-d-fixture.json", "guidellm", FIT_OPEN_CONSTANT,
         2, 2, 0.0078847, 71.5, 8, 11.481, 1.1508, 19.789},
	{"genai-bench_run_MOCK.json", "genai-bench", FIT_CLOSED, 1, 0, 0.98322,
         90.719, 100, 52.355, 17.912, 1843.56},
	{"inference-perf_stage_lifecycle_kubecon.json", "inference-perf",
         FIT_OPEN_CONSTANT, 1, 1, 93.301, 204.1, 62.325, 50.549, 15.829,
         1021.3},
	{"inference-perf_stage_prometheus_kubecon.json", "inference-perf",
         FIT_OPEN_CONSTANT, 1, 1, 139.38, 205.09, 63.973, 38.419, 15.417,
         1006.6},
	{"k6_handleSummary_data.EXCERPT.json", "k6", FIT_CLOSED, 1, 1, 48.767,
         20, 1, (double)NAN, (double)NAN, 3.5084},
	{"k6_summary-export_legacy.EXCERPT.json", "k6", FIT_CLOSED, 1, 3,
         103.53, 20, 1, (double)NAN, (double)NAN, 1812.9},
	{"locust_results_stats.csv", "locust", FIT_CLOSED, 1, 1, 0.35776, 20, 1,
         (double)NAN, (double)NAN, 370.58},
	{"inferencebench_envelope_c16.json", "InferenceBench", FIT_CLOSED, 1, 2,
         16.785, 20, 118.82, 47.834, 17.3, 2239.5},
	{"custom_gpu_conc_c16.json", "gpu_conc", FIT_CLOSED, 1, 0, 16.143, 1000,
         928.9, 139.85, (double)NAN, 10562},
};

/* To the digits that stand above. */
static void about(const char *file, double is, double wanted)
{
	if (isnan(wanted) ? !isnan(is)
	                  : !(fabs(is - wanted) <= 2e-4 * fabs(wanted)))
		fail_msg("%s: is %.8g, not %.8g", file, is, wanted);
}

static void test_samples(void **state)
{
	static const struct fit_hints hints = {20, 1, (double)NAN, 0, 0};
	struct fit_sweep s;
	char path[512];

	(void)state;
	for (size_t i = 0; i < FIT_COUNT(samples); i++) {
		const struct sample *k = &samples[i];

		path_of(path, sizeof path, "samples", k->file);
		read_path(&s, path, &hints);
		check_sane(&s, path);
		assert_string_equal(s.format, k->format);
		assert_int_equal(s.row[0].load, k->load);
		about(k->file, s.n, k->rows);
		about(k->file, s.n_warnings, k->remarks);
		about(k->file, s.row[0].littles_l, k->l);
		about(k->file, s.row[0].isl, k->isl);
		about(k->file, s.row[0].osl, k->osl);
		about(k->file, fit_middle(&s.row[0].ttft), k->ttft);
		about(k->file, fit_middle(&s.row[0].itl), k->itl);
		about(k->file, fit_middle(&s.row[0].e2e), k->e2e);
		fit_sweep_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sweeps),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests_name("fit_read_data", tests, NULL, NULL);
}
