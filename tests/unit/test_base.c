/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* ---- err --------------------------------------------------------------- */

static void test_err_first_wins(void **state)
{
	struct err e;
	char buf[1200];

	(void)state;
	err_clear(&e);
	assert_false(e.set);
	assert_int_equal(err_set(&e, "a.json", 12, 15, "$.rate", "not %d", -3),
	                 -1);
	assert_int_equal(err_set(&e, "b.json", 1, 1, "$.x", "later"), -1);
	assert_true(e.set);
	assert_string_equal(err_format(&e, buf, sizeof buf),
	                    "a.json:12:15: $.rate: not -3");
	err_clear(&e);
	err_set(&e, "b.json", 0, 0, NULL, "later");
	assert_string_equal(err_format(&e, buf, sizeof buf), "b.json: later");
}

static void test_err_parts_left_out(void **state)
{
	struct err e;
	char buf[1200];

	(void)state;
	err_clear(&e);
	err_set(&e, NULL, 0, 0, NULL, "plain");
	assert_string_equal(err_format(&e, buf, sizeof buf), "plain");
	err_clear(&e);
	err_set(&e, "t.csv", 7, 0, "tokens", "is empty");
	assert_string_equal(err_format(&e, buf, sizeof buf),
	                    "t.csv:7: tokens: is empty");
	err_clear(&e);
	err_set(&e, NULL, 0, 0, "$.seed", "is too large");
	assert_string_equal(err_format(&e, buf, sizeof buf),
	                    "$.seed: is too large");
}

static void test_err_is_cut_to_fit(void **state)
{
	char longer[2000], buf[24];
	struct err e;

	(void)state;
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	err_clear(&e);
	err_set(&e, longer, 1, 2, longer, "%s", longer);
	assert_int_equal(strlen(e.where), sizeof e.where - 1);
	assert_int_equal(strlen(e.path), sizeof e.path - 1);
	assert_int_equal(strlen(e.text), sizeof e.text - 1);
	err_clear(&e);
	err_set(&e, "file", 1, 2, "$.path", "a text that is cut");
	assert_string_equal(err_format(&e, buf, sizeof buf),
	                    "file:1:2: $.path: a tex");
	assert_string_equal(err_format(&e, buf, 1), "");
	assert_string_equal(err_format(&e, buf, 6), "file:");
}

static void test_nearest(void **state)
{
	static const char *const names[] = {"duration", "deployments", "rate",
	                                    "seed", "traffic"};
	const size_t n = LENGTH(names);
	char longer[100];

	(void)state;
	assert_string_equal(base_nearest("durations", names, n), "duration");
	assert_string_equal(base_nearest("dration", names, n), "duration");
	assert_string_equal(base_nearest("deployment", names, n),
	                    "deployments");
	assert_string_equal(base_nearest("raet", names, n), "rate");
	assert_string_equal(base_nearest("seed", names, n), "seed");
	/* Two neighbours that changed places are one slip: 2 here, not 4. */
	assert_string_equal(base_nearest("tarffci", names, n), "traffic");
	assert_null(base_nearest("tarffcix", names, n));
	assert_string_equal(base_nearest("durationxyz", names, n), "duration");
	assert_null(base_nearest("duratxxxx", names, n));
	assert_null(base_nearest("warmup", names, n));
	assert_null(base_nearest("xy", names, n));
	assert_null(base_nearest("", names, n));
	assert_null(base_nearest("rate", NULL, 0));
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_null(base_nearest(longer, names, n));
}

/* ---- memory ------------------------------------------------------------ */

/* The exit status of a child that runs f; -signal when it was killed. */
static int in_child(void (*f)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(99);
		signal(SIGABRT, SIG_DFL);
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void grow_too_far(void)
{
	mem_grow(NULL, SIZE_MAX / 2, 4);
}

static void put_too_often(void)
{
	struct pool p;
	void *item;

	pool_init(&p, 16);
	item = pool_get(&p);
	pool_put(&p, item);
	pool_put(&p, item);
}

static void test_giving_up(void **state)
{
	(void)state;
	assert_int_equal(in_child(grow_too_far), 3);
	assert_int_equal(in_child(put_too_often), -SIGABRT);
}

static void test_mem(void **state)
{
	unsigned char *p = mem_new(1000, 3);
	size_t i;

	(void)state;
	for (i = 0; i < 3000; i++)
		assert_int_equal(p[i], 0);
	memset(p, 7, 3000);
	p = mem_grow(p, 100000, 1);
	for (i = 0; i < 3000; i++)
		assert_int_equal(p[i], 7);
	mem_free(p);
	mem_free(NULL);
	p = mem_new(0, 8);
	assert_non_null(p);
	mem_free(p);
}

/* Takes of every size are zeroed, aligned and apart. */
static void test_arena(void **state)
{
	enum { TAKES = 3000 };
	static unsigned char *at[TAKES];
	struct arena a = {0};
	size_t i, j, size;

	(void)state;
	for (i = 0; i < TAKES; i++) {
		size = i * 7919 % 997 + 1;
		if (i % 500 == 3)
			size = 200000 + i;
		at[i] = arena_new(&a, 1, size);
		assert_int_equal((uintptr_t)at[i] % _Alignof(max_align_t), 0);
		for (j = 0; j < size; j++)
			assert_int_equal(at[i][j], 0);
		memset(at[i], (int)(i % 255 + 1), size);
	}
	for (i = 0; i < TAKES; i++) {
		size = i * 7919 % 997 + 1;
		if (i % 500 == 3)
			size = 200000 + i;
		for (j = 0; j < size; j++)
			assert_int_equal(at[i][j], i % 255 + 1);
	}
	arena_fini(&a);
	assert_null(a.head);
	arena_fini(&a);
}

static void test_arena_text(void **state)
{
	char text[] = "changes later", longer[70000];
	struct arena a;
	char *s, *t;

	(void)state;
	arena_init(&a);
	s = arena_strdup(&a, text);
	text[0] = 'X';
	assert_string_equal(s, "changes later");
	assert_null(arena_strdup(&a, NULL));
	t = arena_printf(&a, "%s-%d", "dep", 42);
	assert_string_equal(t, "dep-42");
	assert_string_equal(arena_printf(&a, "%s", ""), "");
	memset(longer, 'y', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_string_equal(arena_printf(&a, "%s", longer), longer);
	assert_string_equal(s, "changes later");
	assert_non_null(arena_new(&a, 0, 8));
	arena_fini(&a);
}

static void test_pool(void **state)
{
	enum { ITEMS = 5000 };
	static unsigned char *item[ITEMS];
	struct arena_chunk *head;
	struct pool p;
	size_t i, j;

	(void)state;
	pool_init(&p, 40);
	for (i = 0; i < ITEMS; i++) {
		item[i] = pool_get(&p);
		memset(item[i], 0xab, 40);
	}
	assert_int_equal(p.live, ITEMS);
	for (i = 0; i < ITEMS; i++)
		pool_put(&p, item[i]);
	assert_int_equal(p.live, 0);
	assert_int_equal(p.peak, ITEMS);
	head = p.arena.head;
	for (i = 0; i < ITEMS; i++) {
		item[i] = pool_get(&p);
		for (j = 0; j < 40; j++)
			assert_int_equal(item[i][j], 0);
		memset(item[i], (int)(i % 251), 40);
	}
	/* All of them were there already. */
	assert_ptr_equal(p.arena.head, head);
	for (i = 0; i < ITEMS; i++)
		assert_int_equal(item[i][39], i % 251);
	pool_fini(&p);
	assert_int_equal(p.live, 0);
	/* A pool of items smaller than the pointer it keeps in them. */
	pool_init(&p, 1);
	assert_int_equal(p.size, sizeof(void *));
	pool_put(&p, pool_get(&p));
	pool_put(&p, pool_get(&p));
	assert_int_equal(p.peak, 1);
	pool_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_err_first_wins),
		cmocka_unit_test(test_err_parts_left_out),
		cmocka_unit_test(test_err_is_cut_to_fit),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_giving_up),
		cmocka_unit_test(test_mem),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_arena_text),
		cmocka_unit_test(test_pool),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
