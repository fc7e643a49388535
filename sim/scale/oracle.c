/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The autoscaler nobody has: it is told how many replicas the load will
 * need, and wants at each moment the most that is needed until the next look
 * plus a start. So a replica is ready when it is needed, and one that would
 * have to be started again before it is gone is kept.
 */
#include "scale/scale_int.h"

static void defaults(struct scale_policy *policy)
{
	policy->n = 0;
	policy->tick_ns = NS_PER_S;
}

static void tick(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap, struct scale_wish *w)
{
	const struct scale_timetable *t = &policy->timetable;

	(void)s;
	scale_settle(w,
	             scale_timetable_most(
			     t, snap->now_ns,
			     snap->now_ns + t->lead_ns + policy->tick_ns, 0),
	             SCALE_TIMETABLE);
	scale_bound(policy, w);
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	if (scale_timetable_check(&policy->timetable, path, err) != 0)
		return -1;
	return scale_check_time(err, path, "lead", policy->timetable.lead_ns, 0,
	                        SCALE_DAY_NS);
}

const struct scale_algorithm scale_oracle = {
	.name = "oracle",
	.about = "knows the load beforehand: the best there could be",
	.zero = true,
	.defaults = defaults,
	.check = check,
	.tick = tick,
};
