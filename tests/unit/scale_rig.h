/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scale_rig - one autoscaler with one metric, looked at tick by tick, over
 * replicas that are ready at once unless a test says otherwise.
 */
#ifndef WEIR_SCALE_RIG_H
#define WEIR_SCALE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scale/scale.h"

struct rig {
	struct scale_policy policy;
	struct scale_state *state;
	struct scale_signal signal;
	int64_t now_ns;
	uint32_t wanted;
	uint32_t ready;
	uint32_t starting;
	bool cold; /* ready and starting are the test's */
	struct scale_wish last;
};

/* Takes the policy as it is then; `replicas` are there. */
static inline void rig_begin(struct rig *r, uint32_t replicas)
{
	struct err err = {.set = false};
	void *memory;

	if (scale_check(&r->policy, "$", &err) != 0)
		fail_msg("%s: %s", err.path, err.text);
	memory = malloc(scale_state_size(&r->policy));
	assert_non_null(memory);
	r->state = scale_state_init(&r->policy, memory);
	r->now_ns = 0;
	r->wanted = replicas;
	r->ready = replicas;
	r->starting = 0;
	r->cold = false;
	memset(&r->signal, 0, sizeof r->signal);
}

static inline void rig_end(struct rig *r)
{
	free(r->state);
}

/* One look at `value`; then the clock moves by a tick. */
static inline uint32_t rig_look(struct rig *r, double value)
{
	struct scale_snapshot snap = {.now_ns = r->now_ns,
	                              .ready = r->ready,
	                              .starting = r->starting,
	                              .wanted = r->wanted,
	                              .signals = &r->signal};

	r->signal.value = value;
	r->last = scale_tick(&r->policy, r->state, &snap);
	assert_int_equal(r->last.at_ns, r->now_ns);
	assert_int_equal(r->last.before, r->wanted);
	r->wanted = r->last.wanted;
	if (!r->cold)
		r->ready = r->wanted;
	r->now_ns += r->policy.tick_ns;
	return r->wanted;
}

/* Looks at `value` until `until_ns`, that time not included. */
static inline uint32_t rig_until(struct rig *r, int64_t until_ns, double value)
{
	while (r->now_ns < until_ns)
		(void)rig_look(r, value);
	return r->wanted;
}

#endif
