/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vec_scale - what the programs that ask for autoscalers' vectors share: a
 * file of cases becomes a group of tests, one a case, and an autoscaler in
 * memory of its own is ready to be asked.
 */
#ifndef WEIR_VEC_SCALE_H
#define WEIR_VEC_SCALE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

#include "scale/scale.h"
#include "scale/scale_int.h"

enum { CASES_MAX = 64 };

/* A case, taken apart. */
struct vec_case {
	const char *kind;
	const json_t *input;
	const json_t *expected;
	const json_t *steps;
};

static inline struct vec_case vec_case(void **state)
{
	const json_t *c = *state;
	struct vec_case v = {
		.kind = json_string_value(json_object_get(c, "kind")),
		.input = json_object_get(c, "input"),
		.expected = json_object_get(c, "expected"),
		.steps = json_object_get(c, "steps"),
	};

	assert_non_null(v.kind);
	return v;
}

/* A number that must be there. */
static inline double vec_number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_number(v))
		fail_msg("no number %s", key);
	return json_number_value(v);
}

/* A number, or what it is when it is not given. */
static inline double vec_number_or(const json_t *object, const char *key,
                                   double otherwise)
{
	const json_t *v = json_object_get(object, key);

	return json_is_number(v) ? json_number_value(v) : otherwise;
}

static inline int64_t vec_integer(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_integer(v))
		fail_msg("no integer %s", key);
	return json_integer_value(v);
}

/* Seconds to ns, rounded: 29.9 is 29,900,000,000. */
static inline int64_t vec_ns(double seconds)
{
	return (int64_t)(seconds * 1e9 + 0.5);
}

static inline void vec_skip(const char *why)
{
	print_message("skipped: %s\n", why);
	skip();
}

/* Checks the settings and makes a state; free() it. */
static inline struct scale_state *vec_state(const struct scale_policy *policy)
{
	struct err err = {.set = false};
	void *memory;

	if (scale_check(policy, "$", &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	memory = malloc(scale_state_size(policy));
	assert_non_null(memory);
	return scale_state_init(policy, memory);
}

/* Runs `test` on every case of the file, which must be of that suite. */
static inline int vec_run(const char *path, const char *suite,
                          CMUnitTestFunction test)
{
	struct CMUnitTest tests[CASES_MAX];
	json_t *root = json_load_file(path, 0, NULL);
	const json_t *cases = json_object_get(root, "cases");
	const char *is = json_string_value(json_object_get(root, "suite"));
	size_t i, n = json_array_size(cases);
	int failed;

	if (n == 0 || n > CASES_MAX || !is || strcmp(is, suite) != 0) {
		fprintf(stderr, "%s: %zu cases of suite %s\n", path, n,
		        is ? is : "(none)");
		json_decref(root);
		return 1;
	}
	memset(tests, 0, sizeof tests);
	for (i = 0; i < n; i++) {
		json_t *c = json_array_get(cases, i);

		tests[i].name = json_string_value(json_object_get(c, "id"));
		tests[i].test_func = test;
		tests[i].initial_state = c;
	}
	failed = _cmocka_run_group_tests(suite, tests, n, NULL, NULL);
	json_decref(root);
	return failed;
}

#endif
