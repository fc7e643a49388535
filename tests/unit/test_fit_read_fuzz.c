/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every fixture cut short at every place, and with bytes changed, put in and
 * taken out: the readers answer with rows or with one message, and never
 * with a row that is half read.
 */
#include "event/event.h"
#include "fit_rig.h"

static const char *const files[] = {
	"sweep.csv",
	"vllm.json",
	"vllm-append.jsonl",
	"vllm-0.5.json",
	"sglang.jsonl",
	"inferencex.json",
	"genai-perf.json",
	"genai-perf.csv",
	"aiperf.json",
	"aiperf.csv",
	"guidellm.json",
	"genai-bench.json",
	"inference-perf.json",
	"inference-perf-prometheus.json",
	"mlperf.txt",
	"mlperf-offline.txt",
	"k6.json",
	"k6-legacy.json",
	"locust_stats.csv",
	"inferencebench.json",
	"gpu_conc.json",
};

/* What a changed byte is likely to hurt. */
static const char bites[] = "0123456789,.\"\n\r{}[]:-+eE \\\t\xff\x80N";

static void check_row(const struct fit_row *row)
{
	assert_false(row->achieved_rps < 0 || row->concurrency <= 0);
	assert_false(row->offered_rps <= 0 || row->isl <= 0 || row->osl <= 0);
	assert_false(isinf(row->achieved_rps) || isinf(row->out_tok_s));
	assert_true(row->load <= FIT_BURST);
	assert_non_null(memchr(row->model, '\0', sizeof row->model));
	assert_non_null(memchr(row->variant, '\0', sizeof row->variant));
}

/* A copy without room behind it shows who reads on. */
static bool try(const char *bytes, size_t size)
{
	static const struct fit_hints hints = {512, 101, (double)NAN, 0, 0};
	struct fit_sweep s;
	char *text = mem_new(size + 1, 1);
	struct err e;
	int result;

	memcpy(text, bytes, size);
	err_clear(&e);
	fit_sweep_init(&s);
	result = fit_read_text(&s, "x", text, size, &hints, &e);
	assert_int_equal(result, e.set ? -1 : 0);
	assert_int_equal(s.n > 0, result == 0);
	for (uint32_t i = 0; i < s.n; i++)
		check_row(&s.row[i]);
	for (uint32_t i = 0; i < s.n_warnings; i++)
		assert_true(s.warning[i].row < s.n ||
		            s.warning[i].row == UINT32_MAX);
	fit_sweep_fini(&s);
	mem_free(text);
	return result == 0;
}

static void test_truncated(void **state)
{
	(void)state;
	for (size_t i = 0; i < FIT_COUNT(files); i++) {
		size_t size;
		char *text = rig_fixture(files[i], &size);

		for (size_t n = size; n-- > 0;) {
			text[n] = '\0';
			try(text, n);
		}
		mem_free(text);
	}
}

static uint32_t below(struct stream *chance, size_t n)
{
	return (uint32_t)stream_below(chance, n);
}

/* One change; returns the new size. */
static size_t bite(struct stream *chance, char *text, size_t n)
{
	size_t at = below(chance, n);
	char byte = bites[below(chance, sizeof bites - 1)];

	switch (below(chance, 3)) {
	case 0:
		text[at] = byte;
		return n;
	case 1:
		memmove(text + at, text + at + 1, n - at);
		return n - 1;
	default:
		memmove(text + at + 1, text + at, n - at + 1);
		text[at] = byte;
		return n + 1;
	}
}

static void test_bitten(void **state)
{
	struct stream chance;
	uint32_t good = 0;
	char text[8192];

	(void)state;
	chance = stream_open(1, 0, 0, STREAM_ARRIVAL);
	for (size_t i = 0; i < FIT_COUNT(files); i++) {
		size_t size;
		char *whole = rig_fixture(files[i], &size);

		assert_true(size + 64 < sizeof text);
		for (int k = 0; k < 400; k++) {
			size_t n = size;

			memcpy(text, whole, size + 1);
			for (uint32_t b = below(&chance, 6); b-- > 0;)
				n = bite(&chance, text, n);
			good += try(text, n);
		}
		mem_free(whole);
	}
	/* Else only the parser was tried. */
	assert_true(good > 1000);
}

static void test_noise(void **state)
{
	struct stream chance;
	char text[512];

	(void)state;
	chance = stream_open(2, 0, 0, STREAM_ARRIVAL);
	for (int k = 0; k < 5000; k++) {
		size_t n = below(&chance, sizeof text);

		for (size_t i = 0; i < n; i++)
			text[i] = k % 2 == 0 ? bites[below(&chance,
			                                   sizeof bites - 1)]
			                     : (char)below(&chance, 256);
		text[n] = '\0';
		try(text, n);
	}
}

/* Deep nesting must end in a message, not in the stack. */
static void test_deep(void **state)
{
	char *text = mem_new(200001, 1);

	(void)state;
	memset(text, '[', 200000);
	assert_false(try(text, 200000));
	mem_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_bitten),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests_name("fit_read_fuzz", tests, NULL, NULL);
}
