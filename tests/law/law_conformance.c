/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another simulator's answer, request by request: 10,000 Poisson arrivals of
 * 512 input and 128 output tokens, as BLIS v0.7.10 (inference-sim) served
 * them. First and last token of each must come at the same microsecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "replica_lab.h"

#define FILE_NAME "conformance/w1-linear-10k.csv"
#define REQUESTS 10000u
/* Of the same run, as its README states them. */
#define STEPS 129278u
#define END_US INT64_C(499121621)

struct row {
	int64_t arrival_us;
	uint32_t input;
	uint32_t output;
	int64_t first_us;
	int64_t last_us;
};

static size_t read_rows(FILE *f, struct row *rows, size_t most)
{
	char line[256];
	size_t n = 0;
	unsigned id;
	long long arrival, first, last;

	assert_non_null(fgets(line, sizeof line, f));
	while (n < most && fgets(line, sizeof line, f)) {
		struct row *r = &rows[n];

		assert_int_equal(sscanf(line, "%u,%lld,%u,%u,%lld,%lld", &id,
		                        &arrival, &r->input, &r->output, &first,
		                        &last),
		                 6);
		assert_int_equal(id, n);
		r->arrival_us = arrival;
		r->first_us = first;
		r->last_us = last;
		n++;
	}
	return n;
}

static struct row *load_rows(void)
{
	const char *data = getenv("WEIR_DATA");
	struct row *rows;
	char path[4096];
	FILE *f;

	if (!data) {
		print_message("WEIR_DATA is not set: skipped\n");
		skip();
	}
	snprintf(path, sizeof path, "%s/" FILE_NAME, data);
	f = fopen(path, "r");
	assert_non_null(f);
	rows = mem_new(REQUESTS, sizeof *rows);
	assert_int_equal(read_rows(f, rows, REQUESTS), REQUESTS);
	fclose(f);
	return rows;
}

static void check_mode(bool exact)
{
	struct row *rows = load_rows();
	struct replica_config config = lab_config();
	struct lab lab;
	size_t i;

	config.exact_steps = exact;
	lab_init(&lab, &config, REQUESTS);
	lab.quiet = true;
	replica_start(lab.replica, NULL);
	for (i = 0; i < REQUESTS; i++)
		lab_request(&lab, i, rows[i].arrival_us * NS_PER_US,
		            rows[i].input, rows[i].output);
	lab_run(&lab);
	for (i = 0; i < REQUESTS; i++) {
		const struct lab_request *q = &lab.requests[i];

		if (q->first_ns != rows[i].first_us * NS_PER_US ||
		    q->done_ns != rows[i].last_us * NS_PER_US)
			fail_msg("request %zu: first %lld ns, last %lld ns, "
			         "not %lld us and %lld us",
			         i, (long long)q->first_ns,
			         (long long)q->done_ns,
			         (long long)rows[i].first_us,
			         (long long)rows[i].last_us);
	}
	assert_int_equal(replica_steps_run(lab.replica), STEPS);
	assert_int_equal(lab.calendar.now_ns, END_US * NS_PER_US);
	lab_fini(&lab);
	mem_free(rows);
}

static void leaping_equals_the_peer(void **state)
{
	(void)state;
	check_mode(false);
}

static void stepping_equals_the_peer(void **state)
{
	(void)state;
	check_mode(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaping_equals_the_peer),
		cmocka_unit_test(stepping_equals_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
