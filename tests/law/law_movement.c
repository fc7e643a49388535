/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When capacities change, as many keys move as weighted rendezvous must
 * move, and no others. In closed form, for capacities w before and v after,
 *
 *   moved = 1 - sum_i 1 / sum_j max(w_j / w_i, v_j / v_i)
 *
 * over the i that have capacity both before and after.
 */
#include "unit/route_fixture.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#define KEYS 1000000u
#define CHANGES 50u
#define ALPHA 0.001 /* 99.9 % over the changes, by Holm */
#define MANY 12u

static double closed_form(const double *w, const double *v, size_t n)
{
	double stay = 0;
	for (size_t i = 0; i < n; i++) {
		double sum = 0;
		if (w[i] <= 0 || v[i] <= 0)
			continue;
		for (size_t j = 0; j < n; j++)
			sum += fmax(w[j] / w[i], v[j] / v[i]);
		stay += 1 / sum;
	}
	return 1 - stay;
}

static void set_weights(struct fixture *f, const uint64_t *weights, uint32_t n)
{
	f->spec.n_deployments = n;
	for (uint32_t i = 0; i < n; i++)
		f->deployments[i].weight = weights[i];
	fixture_build(f);
}

/* Counts keys that move; none may unless it touches `changed`. */
static uint32_t count_moved(const uint64_t *w, const uint64_t *v, uint32_t n,
                            uint32_t changed)
{
	struct fixture *before = fixture_new(n, "random");
	struct fixture *after = fixture_new(n, "random");
	uint32_t moved = 0;
	uint32_t stray = 0;
	set_weights(before, w, n);
	set_weights(after, v, n);
	for (uint64_t k = 0; k < KEYS; k++) {
		uint64_t key = fixture_key(k);
		uint32_t a = route_split(before->table, key);
		uint32_t b = route_split(after->table, key);
		moved += a != b;
		if (a != b && changed != ROUTE_NONE)
			stray += v[changed] > w[changed] ? b != changed
			                                 : a != changed;
	}
	assert_int_equal(stray, 0);
	fixture_free(before);
	fixture_free(after);
	return moved;
}

static void one_change_moves_exactly_its_keys(void **unused)
{
	(void)unused;
	uint64_t seed = 11;
	double p[CHANGES];
	double worst = 1;
	for (uint32_t c = 0; c < CHANGES; c++) {
		uint64_t w[MANY];
		uint64_t v[MANY];
		double w_real[MANY];
		double v_real[MANY];
		uint32_t n = 2 + (uint32_t)(fixture_random(&seed) % (MANY - 1));
		uint32_t changed = (uint32_t)(fixture_random(&seed) % n);
		for (uint32_t i = 0; i < n; i++)
			v[i] = w[i] = 1 + fixture_random(&seed) % 1000;
		/* One in ten comes in, one in ten goes out. */
		while (v[changed] == w[changed])
			v[changed] = 1 + fixture_random(&seed) % 1000;
		if (c % 10 == 0)
			w[changed] = 0;
		if (c % 10 == 5)
			v[changed] = 0;
		for (uint32_t i = 0; i < n; i++) {
			w_real[i] = (double)w[i];
			v_real[i] = (double)v[i];
		}
		uint32_t moved = count_moved(w, v, n, changed);
		double want = closed_form(w_real, v_real, n);
		p[c] = binomial_p(moved, want, KEYS);
		worst = p[c] < worst ? p[c] : worst;
	}
	print_message("%u changes, least probability %.3e\n", CHANGES, worst);
	assert_false(holm_rejects(p, CHANGES, ALPHA));
}

static json_t *read_vectors(const char *name)
{
	const char *tests = getenv("WEIR_TESTS");
	char path[1024];
	json_error_t error;
	snprintf(path, sizeof(path), "%s/vectors/%s", tests ? tests : "tests",
	         name);
	json_t *root = json_load_file(path, 0, &error);
	if (!root)
		fail_msg("%s: %s", path, error.text);
	return root;
}

static size_t read_weights(const json_t *from, double *real, uint64_t *whole)
{
	size_t n = json_array_size(from);
	assert_true(n > 0 && n <= MANY);
	for (size_t i = 0; i < n; i++) {
		real[i] = json_number_value(json_array_get(from, i));
		whole[i] = (uint64_t)llround(real[i] * 1000);
	}
	return n;
}

/* Published cases: the closed form to 9 digits, and the keys by it. */
static void vectors_move_what_they_say(void **unused)
{
	(void)unused;
	json_t *root = read_vectors("hrw_disruption.json");
	const json_t *cases = json_object_get(root, "cases");
	size_t n_cases = json_array_size(cases);
	double p[MANY];
	assert_true(n_cases > 0 && n_cases <= MANY);
	for (size_t c = 0; c < n_cases; c++) {
		const json_t *one = json_array_get(cases, c);
		const json_t *input = json_object_get(one, "input");
		const json_t *expected = json_object_get(one, "expected");
		double w_real[MANY];
		double v_real[MANY];
		uint64_t w[MANY];
		uint64_t v[MANY];
		size_t n = read_weights(json_object_get(input, "old_weights"),
		                        w_real, w);
		assert_int_equal(
			read_weights(json_object_get(input, "new_weights"),
		                     v_real, v),
			n);
		double want = json_number_value(
			json_object_get(expected, "moved_fraction"));
		assert_true(fabs(closed_form(w_real, v_real, n) - want) < 1e-9);
		uint32_t moved = count_moved(w, v, (uint32_t)n, ROUTE_NONE);
		p[c] = binomial_p(moved, want, KEYS);
	}
	assert_false(holm_rejects(p, n_cases, ALPHA));
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_change_moves_exactly_its_keys),
		cmocka_unit_test(vectors_move_what_they_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
