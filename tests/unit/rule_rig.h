/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that rules may use, and a place to read rules into. */
#ifndef WEIR_RULE_RIG_H
#define WEIR_RULE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "measure/measure.h"

static const char *const one_endpoint[] = {"ep_demo"};
static const char *const two_endpoints[] = {"ep_demo", "ep_two"};
static const char *const deployments[] = {"dep_a", "dep_b", "dep_batch"};
static const uint32_t endpoint_of[] = {0, 0, 1};
static const char *const traffics[] = {"chat", "chat-eu"};
static const uint32_t traffic_endpoint[] = {0, 1};

static const struct measure_names one = {
	.n_endpoints = 1,
	.endpoints = one_endpoint,
	.n_deployments = 2,
	.deployments = deployments,
	.endpoint_of = endpoint_of,
	.n_traffics = 2,
	.traffics = traffics,
};

static const struct measure_names two = {
	.n_endpoints = 2,
	.endpoints = two_endpoints,
	.n_deployments = 3,
	.deployments = deployments,
	.endpoint_of = endpoint_of,
	.n_traffics = 2,
	.traffics = traffics,
	.traffic_endpoint = traffic_endpoint,
};

struct rig {
	struct arena arena;
	struct measure_terms terms;
	struct measure_rule rule;
	struct err err;
};

static inline int rig_setup(void **state)
{
	static struct rig rig;

	memset(&rig, 0, sizeof(rig));
	arena_init(&rig.arena);
	*state = &rig;
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *rig = *state;

	arena_fini(&rig->arena);
	return 0;
}

static inline const struct measure_node *
rig_read(struct rig *rig, const char *text, const struct measure_names *names)
{
	err_clear(&rig->err);
	if (measure_rule_parse(text, names, &rig->arena, &rig->terms,
	                       &rig->rule, &rig->err) != 0)
		fail_msg("%s: col %d: %s", text, rig->err.col, rig->err.text);
	assert_false(rig->err.set);
	assert_string_equal(rig->rule.text, text);
	return rig->rule.nodes;
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

#endif
