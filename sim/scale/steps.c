/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>

#include "scale/scale_int.h"

uint32_t scale_count(double x)
{
	if (!(x > 0))
		return 0;
	if (x >= SCALE_COUNT_MAX)
		return (uint32_t)SCALE_COUNT_MAX;
	return (uint32_t)ceil(x);
}

uint32_t scale_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

uint32_t scale_most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

double scale_value(const struct scale_signal *signal)
{
	if (signal->missing)
		return (double)NAN;
	return signal->idle ? 0 : signal->value;
}

void scale_settle(struct scale_wish *w, uint32_t n, enum scale_reason reason)
{
	w->recommendation = n;
	w->stable = n;
	w->limited = n;
	w->reason = reason;
}

void scale_hold(struct scale_wish *w, enum scale_reason reason)
{
	scale_settle(w, w->before, reason);
}

void scale_stabilize(struct scale_wish *w, uint32_t least, uint32_t most)
{
	uint32_t r = w->before;

	if (r < least)
		r = least;
	if (r > most)
		r = most;
	w->stable = r;
	if (r < w->recommendation)
		w->reason = SCALE_UP_WINDOW;
	else if (r > w->recommendation)
		w->reason = SCALE_DOWN_WINDOW;
}

void scale_limit(const struct scale_policy *policy, const struct scale_state *s,
                 const struct scale_snapshot *snap,
                 enum scale_rounding rounding, struct scale_wish *w)
{
	uint32_t limit;

	w->limited = w->stable;
	if (w->stable > w->before) {
		limit = scale_limit_up(&policy->up, s, snap, rounding);
		if (limit >= w->stable)
			return;
		w->limited = limit;
		w->reason = policy->up.select == SCALE_SELECT_DISABLED
		                    ? SCALE_UP_DISABLED
		                    : SCALE_UP_LIMIT;
	} else if (w->stable < w->before) {
		limit = scale_limit_down(&policy->down, s, snap, rounding);
		if (limit <= w->stable)
			return;
		w->limited = limit;
		w->reason = policy->down.select == SCALE_SELECT_DISABLED
		                    ? SCALE_DOWN_DISABLED
		                    : SCALE_DOWN_LIMIT;
	}
}

void scale_bound(const struct scale_policy *policy, struct scale_wish *w)
{
	assert(policy->min <= policy->max);
	w->wanted = w->limited;
	/* A limit that ends at the bound is the bound's doing. */
	if (w->limited > policy->max ||
	    (w->limited == policy->max && w->stable > policy->max)) {
		w->wanted = policy->max;
		w->reason = SCALE_AT_MAX;
	} else if (w->limited < policy->min ||
	           (w->limited == policy->min && w->stable < policy->min)) {
		w->wanted = policy->min;
		w->reason = SCALE_AT_MIN;
	}
}
