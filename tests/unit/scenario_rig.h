/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scenario_rig - a directory for files of a test, and a scenario loaded from
 * it. Rooms of text: what a test leaves out is filled in by RIG_BEGIN (one
 * endpoint with dep_a and dep_b, weights 1 and 3).
 */
#ifndef WEIR_TESTS_SCENARIO_RIG_H
#define WEIR_TESTS_SCENARIO_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenario/scenario.h"

#define RIG_CONFIG "{ \"engine\": \"service\", \"service_time\": \"1s\" }"
#define RIG_DEPLOYMENTS                                                        \
	"\"deployments\": ["                                                   \
	"  { \"id\": \"dep_a\", \"config\": " RIG_CONFIG " },"                 \
	"  { \"id\": \"dep_b\", \"config\": " RIG_CONFIG                       \
	", \"replicas\": 3 }]"
#define RIG_SPLIT                                                              \
	"\"traffic_split\": ["                                                 \
	"  { \"deployment_id\": \"dep_a\", \"weight\": 1 },"                   \
	"  { \"deployment_id\": \"dep_b\", \"weight\": 3 }]"
#define RIG_ENDPOINT                                                           \
	"\"endpoint\": { \"id\": \"ep_x\", \"name\": \"acme/x\", " RIG_SPLIT   \
	", " RIG_DEPLOYMENTS " }"
#define RIG_LOAD                                                               \
	"{ \"name\": \"t\", \"rate\": 2, \"input_tokens\": 10, "               \
	"\"output_tokens\": 5 }"
#define RIG_TRAFFIC "\"traffic\": [" RIG_LOAD "]"
#define RIG_DURATION "\"duration\": \"10m\""
#define RIG_WHOLE RIG_DURATION ", " RIG_ENDPOINT ", " RIG_TRAFFIC

struct rig {
	char dir[256];
	struct err err;
	struct scenario *s;
};

static inline int rig_setup(void **state)
{
	const char *temporary = getenv("TMPDIR");
	struct rig *rig = calloc(1, sizeof *rig);

	assert_non_null(rig);
	snprintf(rig->dir, sizeof rig->dir, "%s/weir-scenario-XXXXXX",
	         temporary != NULL ? temporary : P_tmpdir);
	assert_non_null(mkdtemp(rig->dir));
	*state = rig;
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *rig = *state;
	char command[512];

	scenario_free(rig->s);
	snprintf(command, sizeof command, "rm -rf '%s'", rig->dir);
	assert_int_equal(system(command), 0);
	free(rig);
	return 0;
}

static inline void rig_write(struct rig *rig, const char *name,
                             const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", rig->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Loads a file of the directory; rig->s is NULL when it is refused. */
static inline void rig_load(struct rig *rig, const char *name,
                            const char *variant,
                            const struct scenario_set *sets, size_t n)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", rig->dir, name);
	scenario_free(rig->s);
	err_clear(&rig->err);
	rig->s = scenario_load(path, variant, sets, n, NULL, &rig->err);
	assert_true((rig->s != NULL) != rig->err.set);
}

/* Loads `{ body }`, which must be right. */
static inline struct scenario *rig_read(void **state, const char *body)
{
	struct rig *rig = *state;
	char text[8192], message[1024];

	snprintf(text, sizeof text, "{ %s }\n", body);
	rig_write(rig, "s.json", text);
	rig_load(rig, "s.json", NULL, NULL, 0);
	if (rig->s == NULL)
		fail_msg("%s", err_format(&rig->err, message, sizeof message));
	return rig->s;
}

/* Asserts that the last load was refused, with that text at that path. */
static inline void rig_refused(const struct rig *rig, const char *path,
                               const char *text)
{
	assert_null(rig->s);
	assert_string_equal(rig->err.path, path);
	if (strstr(rig->err.text, text) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", text, rig->err.text);
}

/* Loads `{ body }`, which must be wrong. */
static inline void rig_refuse(void **state, const char *body, const char *path,
                              const char *text)
{
	struct rig *rig = *state;
	char whole[8192];

	snprintf(whole, sizeof whole, "{ %s }\n", body);
	rig_write(rig, "s.json", whole);
	rig_load(rig, "s.json", NULL, NULL, 0);
	rig_refused(rig, path, text);
}

#define RIG_TEST(function)                                                     \
	cmocka_unit_test_setup_teardown(function, rig_setup, rig_teardown)

#endif
