/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a request is: its lengths and its keys; and that it costs no memory. */
#include <gsl/gsl_cdf.h>

#include "unit/load_rig.h"

/* ---- memory ------------------------------------------------------------- */

/*
 * Every allocation of the program is counted, by standing in front of the C
 * library's; a sanitizer has put itself there already.
 */
#if defined(__SANITIZE_ADDRESS__)
#define COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COUNTED 0
#endif
#endif
#if !defined(COUNTED) && defined(__GLIBC__)
#define COUNTED 1
#elif !defined(COUNTED)
#define COUNTED 0
#endif

static uint64_t allocations;

#if COUNTED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	allocations++;
	return __libc_realloc(p, size);
}
#endif

static void count_arrive(void *self, const struct load_request *r)
{
	uint64_t *n = self;

	assert_true(r->content_len > 0);
	(*n)++;
}

static void assert_no_allocations(const struct load_spec *spec, uint64_t least)
{
	struct calendar calendar;
	struct load *load;
	struct err e;
	uint64_t n = 0, before;

	err_clear(&e);
	calendar_init(&calendar);
	load = load_new(&calendar, spec, 1, RIG_KIND, 1, 0,
	                (struct load_sink){&n, count_arrive}, &e);
	assert_non_null(load);
	assert_true(calendar_step(&calendar, TIME_NEVER));
	before = allocations;
	while (calendar_step(&calendar, TIME_NEVER))
		;
	assert_int_equal(allocations, before);
	assert_true(n >= least);
	load_free(load);
	calendar_fini(&calendar);
}

static void test_no_allocation_per_request(void **state)
{
	struct load_spec spec = rig_open(1000);
	char text[40000] = "arrival_us,input_tokens,output_tokens,key\n";
	size_t used = strlen(text);
	uint64_t before = allocations;
	char *path;

	(void)state;
	mem_free(mem_new(1, 100));
	if (COUNTED)
		assert_true(allocations > before);
	else
		skip();
	spec.process = LOAD_POISSON;
	spec.requests = 20000;
	spec.input_tokens = rig_dist(DIST_LOGNORMAL, 1000, 1);
	spec.keys = (struct load_keys){LOAD_KEYS_DRAWN, 1000, 50, 1.1};
	assert_no_allocations(&spec, 20000);

	for (int i = 0; i < 1000; i++)
		used += (size_t)sprintf(text + used, "%d,5,6,abc%d\n", i, i);
	path = rig_file(text, used);
	spec.kind = LOAD_TRACE;
	spec.trace = path;
	spec.keys.kind = LOAD_KEYS_CONTENT;
	assert_no_allocations(&spec, 1000);
	rig_unlink(path);
}

/* ---- lengths ------------------------------------------------------------ */

static void test_rounding(void **state)
{
	static const struct {
		double drawn;
		uint32_t tokens;
	} cases[] = {
		{-5, 1},  {0, 1}, {0.4, 1},          {1.49, 1},
		{1.5, 2}, {7, 7}, {99999.6, 100000}, {1e12, UINT32_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct load_spec spec = rig_open(1);
		struct rig rig;

		spec.requests = 1;
		spec.input_tokens = dist_constant(cases[i].drawn);
		spec.output_tokens = dist_constant(cases[i].drawn);
		rig_run(&rig, &spec, 1, 1, 0);
		assert_int_equal(rig.at[0].r.input_tokens, cases[i].tokens);
		assert_int_equal(rig.at[0].r.output.sealed_, cases[i].tokens);
		rig_fini(&rig);
	}
}

static void test_drawn_lengths(void **state)
{
	struct load_spec spec = rig_open(1000);
	struct rig rig;
	size_t short_inputs = 0;
	double sum = 0, cross = 0;

	(void)state;
	spec.requests = 40000;
	spec.input_tokens = rig_dist(DIST_UNIFORM, 1000, 2000);
	spec.output_tokens = rig_dist(DIST_EXPONENTIAL, 500, 0);
	rig_run(&rig, &spec, 1, 21, 0);
	for (size_t i = 0; i < rig.n; i++) {
		double in = rig.at[i].r.input_tokens;
		double out = rig.at[i].r.output.sealed_;

		assert_in_range(rig.at[i].r.input_tokens, 1000, 2000);
		short_inputs += in < 1250;
		sum += out;
		cross += (in - 1500) / 288.7 * (out - 500) / 500;
	}
	/* 3.29 standard errors: 99.9 %. */
	assert_true(fabs((double)short_inputs - 0.2495 * 40000) <
	            3.29 * sqrt(40000 * 0.25 * 0.75));
	assert_true(fabs(sum / 40000 - 500) < 3.29 * 500 / 200);
	assert_true(fabs(cross / 40000) < 3.29 / 200); /* independent */
	rig_fini(&rig);
}

/* Lengths and keys belong to the request's number, not to its time. */
static void test_lengths_do_not_depend_on_arrivals(void **state)
{
	struct load_spec a = rig_open(10), b, c;
	struct rig x, y, z;
	size_t same_inputs = 0;

	(void)state;
	a.requests = 500;
	a.input_tokens = rig_dist(DIST_LOGNORMAL, 1000, 1);
	a.output_tokens = rig_dist(DIST_LOGNORMAL, 200, 1);
	a.keys = (struct load_keys){LOAD_KEYS_DRAWN, 1000, 50, 1.1};
	b = a;
	b.process = LOAD_POISSON;
	b.rate_rps = 77;
	c = a;
	c.input_tokens = rig_dist(DIST_EXPONENTIAL, 9, 0);
	rig_run(&x, &a, 1, 3, 0);
	rig_run(&y, &b, 1, 3, 0);
	rig_run(&z, &c, 1, 3, 0);
	for (size_t i = 0; i < 500; i++) {
		const struct load_request *p = &x.at[i].r, *q = &y.at[i].r,
					  *r = &z.at[i].r;

		assert_int_equal(p->input_tokens, q->input_tokens);
		assert_int_equal(p->output.sealed_, q->output.sealed_);
		assert_string_equal(p->user, q->user);
		/* Another input distribution leaves the outputs alone. */
		assert_int_equal(p->output.sealed_, r->output.sealed_);
		assert_string_equal(p->user, r->user);
		same_inputs += p->input_tokens == r->input_tokens;
	}
	assert_true(same_inputs < 50);
	rig_fini(&x);
	rig_fini(&y);
	rig_fini(&z);
}

/* ---- keys --------------------------------------------------------------- */

static void run_keys(struct rig *rig, struct load_keys keys, uint64_t seed,
                     uint64_t replication)
{
	struct load_spec spec = rig_open(1000);

	spec.requests = 20000;
	spec.keys = keys;
	rig_run(rig, &spec, 1, seed, replication);
	for (size_t i = 0; i < rig->n; i++) {
		const struct load_request *r = &rig->at[i].r;

		assert_int_equal(strlen(r->prompt_cache_key),
		                 r->prompt_cache_key_len);
		assert_int_equal(strlen(r->user), r->user_len);
		assert_int_equal(strlen(r->content), r->content_len);
		assert_true(r->content_len > 0);
	}
}

static void test_unique(void **state)
{
	struct load_keys keys = {.kind = LOAD_KEYS_UNIQUE};
	struct rig a, b;

	(void)state;
	run_keys(&a, keys, 42, 0);
	run_keys(&b, keys, 42, 1);
	assert_string_equal(a.at[0].r.prompt_cache_key, "k-42-0-0-0");
	assert_string_equal(a.at[19999].r.prompt_cache_key, "k-42-0-0-19999");
	assert_string_equal(b.at[7].r.prompt_cache_key, "k-42-1-0-7");
	assert_string_equal(b.at[7].r.content, "c-42-1-0-7");
	assert_int_equal(a.at[0].r.user_len, 0);
	rig_fini(&a);
	rig_fini(&b);
	/* The longest names there can be. */
	run_keys(&a, keys, UINT64_MAX, LOAD_REPLICATION_MAX);
	assert_string_equal(a.at[19999].r.prompt_cache_key,
	                    "k-18446744073709551615-4294967295-0-19999");
	rig_fini(&a);
}

static void test_content_and_same(void **state)
{
	struct load_keys keys = {.kind = LOAD_KEYS_CONTENT};
	struct rig rig;

	(void)state;
	run_keys(&rig, keys, 1, 0);
	assert_int_equal(rig.at[5].r.prompt_cache_key_len, 0);
	assert_int_equal(rig.at[5].r.user_len, 0);
	assert_string_equal(rig.at[5].r.content, "c-1-0-0-5");
	rig_fini(&rig);
	keys.kind = LOAD_KEYS_SAME;
	run_keys(&rig, keys, 1, 0);
	assert_int_equal(rig.at[5].r.prompt_cache_key_len, 0);
	assert_int_equal(rig.at[5].r.user_len, 0);
	assert_string_equal(rig.at[5].r.content, rig.at[19999].r.content);
	rig_fini(&rig);
}

/* Ranks by chi-square against k^-s; the names are the same in every run. */
static void assert_zipf(const struct rig *rig, bool user, unsigned n, double s)
{
	const char *stem = user ? "user-" : "pck-";
	double counts[64] = {0}, weights = 0, chi = 0;

	for (size_t i = 0; i < rig->n; i++) {
		const struct load_request *r = &rig->at[i].r;
		const char *text = user ? r->user : r->prompt_cache_key;
		unsigned long rank;

		assert_memory_equal(text, stem, strlen(stem));
		rank = strtoul(text + strlen(stem), NULL, 10);
		assert_true(rank < n);
		counts[rank]++;
	}
	for (unsigned k = 1; k <= n; k++)
		weights += pow(k, -s);
	for (unsigned k = 1; k <= n; k++) {
		double mean = (double)rig->n * pow(k, -s) / weights;

		chi += (counts[k - 1] - mean) * (counts[k - 1] - mean) / mean;
	}
	assert_true(chi < gsl_cdf_chisq_Pinv(0.999, n - 1));
}

static void test_drawn(void **state)
{
	struct load_keys keys = {LOAD_KEYS_DRAWN, 50, 12, 1.1};
	struct rig both, users;

	(void)state;
	run_keys(&both, keys, 6, 0);
	assert_zipf(&both, true, 50, 1.1);
	assert_zipf(&both, false, 12, 1.1);
	/* Without the key the users are who they were. */
	keys.prompt_cache_keys = 0;
	run_keys(&users, keys, 6, 0);
	for (size_t i = 0; i < users.n; i++) {
		assert_string_equal(users.at[i].r.user, both.at[i].r.user);
		assert_int_equal(users.at[i].r.prompt_cache_key_len, 0);
	}
	rig_fini(&both);
	rig_fini(&users);
	keys = (struct load_keys){LOAD_KEYS_DRAWN, 0, 10, 0};
	run_keys(&users, keys, 6, 0);
	assert_zipf(&users, false, 10, 0);
	assert_int_equal(users.at[0].r.user_len, 0);
	rig_fini(&users);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_allocation_per_request),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_drawn_lengths),
		cmocka_unit_test(test_lengths_do_not_depend_on_arrivals),
		cmocka_unit_test(test_unique),
		cmocka_unit_test(test_content_and_same),
		cmocka_unit_test(test_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
