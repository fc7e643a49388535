/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits of the rate: budgets over trailing periods, as in scaleUp and
 * scaleDown of autoscaling/v2 (kubernetes/kubernetes
 * pkg/controller/podautoscaler/horizontal.go).
 */
#include <assert.h>
#include <math.h>

#include "scale/scale_int.h"

double scale_changed(const struct scale_state *s, const struct scale_log *log,
                     int64_t now_ns, int64_t period_ns)
{
	assert(period_ns > 0);
	return scale_log_sum(s, log, now_ns - period_ns + 1);
}

/* How many there were when the period began. */
static double at_start(const struct scale_rule *rule,
                       const struct scale_state *s,
                       const struct scale_snapshot *snap)
{
	return (double)snap->wanted -
	       scale_changed(s, &s->ups, snap->now_ns, rule->period_ns) +
	       scale_changed(s, &s->downs, snap->now_ns, rule->period_ns);
}

/* The platform's budget of a period: whole replicas, never none. */
static double whole_share(double start, uint32_t percent)
{
	double share = floor(start * percent / 100);

	return share >= 1 ? share : 1;
}

static double allows_up(const struct scale_rule *rule, double start,
                        enum scale_rounding rounding)
{
	if (rule->type == SCALE_PODS)
		return start + rule->value;
	if (rounding == SCALE_ROUND_PLATFORM)
		return start + whole_share(start, rule->value);
	return ceil(start * (1 + (double)rule->value / 100));
}

static double allows_down(const struct scale_rule *rule, double start,
                          enum scale_rounding rounding)
{
	if (rule->type == SCALE_PODS)
		return start - rule->value;
	if (rounding == SCALE_ROUND_PLATFORM)
		return start - whole_share(start, rule->value);
	return trunc(start * (1 - (double)rule->value / 100));
}

uint32_t scale_limit_up(const struct scale_direction *up,
                        const struct scale_state *s,
                        const struct scale_snapshot *snap,
                        enum scale_rounding rounding)
{
	double limit = 0;
	uint32_t i;

	if (up->select == SCALE_SELECT_DISABLED)
		return snap->wanted;
	if (up->n == 0)
		return (uint32_t)SCALE_COUNT_MAX;
	for (i = 0; i < up->n; i++) {
		double x =
			allows_up(&up->rules[i],
		                  at_start(&up->rules[i], s, snap), rounding);

		if (i == 0 || (up->select == SCALE_SELECT_MAX) == (x > limit))
			limit = x;
	}
	return scale_most(scale_count(limit), snap->wanted);
}

uint32_t scale_limit_down(const struct scale_direction *down,
                          const struct scale_state *s,
                          const struct scale_snapshot *snap,
                          enum scale_rounding rounding)
{
	double limit = 0;
	uint32_t i;

	if (down->select == SCALE_SELECT_DISABLED)
		return snap->wanted;
	if (down->n == 0)
		return 0;
	for (i = 0; i < down->n; i++) {
		double x = allows_down(&down->rules[i],
		                       at_start(&down->rules[i], s, snap),
		                       rounding);

		if (i == 0 || (down->select == SCALE_SELECT_MAX) == (x < limit))
			limit = x;
	}
	return scale_least(scale_count(limit), snap->wanted);
}

int64_t scale_longest_period(const struct scale_policy *policy)
{
	int64_t longest = 0;
	uint32_t i;

	for (i = 0; i < policy->up.n; i++) {
		if (policy->up.rules[i].period_ns > longest)
			longest = policy->up.rules[i].period_ns;
	}
	for (i = 0; i < policy->down.n; i++) {
		if (policy->down.rules[i].period_ns > longest)
			longest = policy->down.rules[i].period_ns;
	}
	return longest;
}

int64_t scale_longest_window(const struct scale_policy *policy)
{
	return policy->up.window_ns > policy->down.window_ns
	               ? policy->up.window_ns
	               : policy->down.window_ns;
}
