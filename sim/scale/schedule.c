/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scale/scale_int.h"

static void defaults(struct scale_policy *policy)
{
	policy->n = 0;
	policy->tick_ns = 15 * NS_PER_S;
}

static void tick(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap, struct scale_wish *w)
{
	const struct scale_entry *e =
		scale_timetable_at(&policy->timetable, snap->now_ns);

	(void)s;
	if (e == NULL)
		scale_hold(w, SCALE_STEADY);
	else
		scale_settle(w, e->replicas, SCALE_TIMETABLE);
	scale_bound(policy, w);
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	return scale_timetable_check(&policy->timetable, path, err);
}

const struct scale_algorithm scale_schedule = {
	.name = "schedule",
	.about = "a timetable",
	.zero = true,
	.defaults = defaults,
	.check = check,
	.tick = tick,
};
