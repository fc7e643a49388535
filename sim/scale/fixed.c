/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scale/scale_int.h"

static void defaults(struct scale_policy *policy)
{
	policy->n = 0;
	policy->tick_ns = 60 * NS_PER_S;
}

static void tick(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap, struct scale_wish *w)
{
	(void)s;
	(void)snap;
	scale_settle(w, policy->min,
	             policy->min == 0           ? SCALE_STOPPED
	             : policy->min == w->before ? SCALE_STEADY
	                                        : SCALE_AS_RECOMMENDED);
	scale_bound(policy, w);
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	if (policy->min != policy->max)
		return scale_wrong(err, path, "max",
		                   "must be equal to min: the size is fixed");
	return 0;
}

const struct scale_algorithm scale_fixed = {
	.name = "fixed",
	.about = "always the same number",
	.zero = true,
	.defaults = defaults,
	.check = check,
	.tick = tick,
};
