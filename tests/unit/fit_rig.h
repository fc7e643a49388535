/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of fit's readers share: texts read, answers compared. */
#ifndef WEIR_TEST_FIT_RIG_H
#define WEIR_TEST_FIT_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit/fit.h"
#include "fit/read_int.h"

static const struct fit_hints no_hints = {(double)NAN, (double)NAN, (double)NAN,
                                          0, 0};

/* Reads a text; fails the test when it cannot be read. */
static inline void rig_read(struct fit_sweep *s, const char *text,
                            const struct fit_hints *hints)
{
	char shown[1100];
	struct err e;

	err_clear(&e);
	fit_sweep_init(s);
	if (fit_read_text(s, "x", text, strlen(text), hints, &e) < 0)
		fail_msg("%s", err_format(&e, shown, sizeof shown));
}

/* Reads a text that is wrong, and compares the whole message. */
static inline void rig_refused(const char *text, const struct fit_hints *hints,
                               const char *message)
{
	char shown[1100];
	struct fit_sweep s;
	struct err e;

	err_clear(&e);
	fit_sweep_init(&s);
	assert_int_equal(fit_read_text(&s, "x", text, strlen(text), hints, &e),
	                 -1);
	assert_string_equal(err_format(&e, shown, sizeof shown), message);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.n_warnings, 0);
	fit_sweep_fini(&s);
}

/* The i-th remark, word by word. */
static inline void rig_remark(const struct fit_sweep *s, uint32_t i,
                              uint32_t row, bool refused, const char *text)
{
	assert_true(i < s->n_warnings);
	assert_string_equal(s->warning[i].text, text);
	assert_int_equal(s->warning[i].row, row);
	assert_int_equal(s->warning[i].refused, refused);
	if (row != UINT32_MAX)
		assert_true(!refused || s->row[row].refused);
}

/* A file of tests/fit; the caller frees it with mem_free. */
static inline char *rig_fixture(const char *name, size_t *size)
{
	const char *tests = getenv("WEIR_TESTS");
	char path[512];
	char *text = mem_new(1 << 20, 1);
	FILE *f;

	snprintf(path, sizeof path, "%s/fit/%s",
	         tests == NULL ? "tests" : tests, name);
	f = fopen(path, "rb");
	if (f == NULL)
		fail_msg("%s cannot be opened", path);
	*size = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

static inline void rig_near(double is, double wanted)
{
	if (isnan(wanted) ? !isnan(is)
	                  : !(fabs(is - wanted) <= 1e-9 * fabs(wanted)))
		fail_msg("is %.12g, not %.12g", is, wanted);
}

#endif
