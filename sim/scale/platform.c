/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The platform's loop: about every minute ceil(N x observed / target), then
 * stabilization windows, limits of the rate and bounds. For a sum over the
 * deployment N cancels out. For a mean or a percentile N is the number of
 * ready replicas: the wish is then absolute, so that replicas which are
 * starting are not asked for again.
 */
#include <assert.h>
#include <math.h>

#include "scale/scale_int.h"

/*
 * The fleet's limits where none are authored: up 100 % but at most 4 in
 * 15 s, down 25 % but at most 1 in 60 s.
 */
static const struct scale_direction fleet_up = {
	.window_ns = 0,
	.select = SCALE_SELECT_MIN,
	.n = 2,
	.rules = {{SCALE_PERCENT, 100, 15 * NS_PER_S},
                  {SCALE_PODS, 4, 15 * NS_PER_S}},
};
static const struct scale_direction fleet_down = {
	.window_ns = 300 * NS_PER_S,
	.select = SCALE_SELECT_MIN,
	.n = 2,
	.rules = {{SCALE_PERCENT, 25, 60 * NS_PER_S},
                  {SCALE_PODS, 1, 60 * NS_PER_S}},
};

static void defaults(struct scale_policy *policy)
{
	policy->tick_ns = 60 * NS_PER_S;
	policy->metrics[0].window_ns = 60 * NS_PER_S;
	policy->up = fleet_up;
	policy->down = fleet_down;
}

static struct scale_room room(const struct scale_policy *policy)
{
	return (struct scale_room){
		.log = scale_log_room(scale_longest_window(policy),
	                              policy->tick_ns),
		.changes = scale_log_room(scale_longest_period(policy),
	                                  policy->tick_ns),
	};
}

/* Sets recommendation and reason by the metric alone. */
static void recommend(const struct scale_policy *policy,
                      const struct scale_snapshot *snap, struct scale_wish *w)
{
	const struct scale_metric *m = &policy->metrics[0];
	bool sum = scale_metric_info(m->id)->type == SCALE_AVERAGE_VALUE;
	uint32_t n = sum ? w->before : snap->ready;
	double load = sum ? w->signal : w->signal * n;
	double ratio = n > 0 ? load / m->target / n : 0;

	if (snap->signals[0].missing) {
		scale_hold(w, SCALE_NO_METRIC);
		return;
	}
	if (!sum && n == 0 && w->signal > 0) {
		scale_hold(w, SCALE_NOT_READY);
		return;
	}
	w->recommendation = scale_count(load / m->target);
	w->reason = SCALE_AS_RECOMMENDED;
	if (n > 0 && w->recommendation != n && ratio >= 1 - m->tolerance_down &&
	    ratio <= 1 + m->tolerance_up) {
		w->recommendation = n;
		w->reason = SCALE_IN_TOLERANCE;
	}
	if (w->recommendation != w->before)
		return;
	if (!sum && w->recommendation > snap->ready && snap->starting > 0)
		w->reason = SCALE_COVERED;
	else if (w->reason == SCALE_AS_RECOMMENDED)
		w->reason = SCALE_STEADY;
}

/*
 * A recommendation must have held for the whole window, both of its ends
 * included. An outage counts as "as it was", so that the window begins anew
 * after it.
 */
static void windows(const struct scale_policy *policy, struct scale_state *s,
                    int64_t now_ns, struct scale_wish *w)
{
	double r = w->recommendation;
	uint32_t least, most;

	scale_log_drop(s, &s->log, now_ns - scale_longest_window(policy));
	if (!s->begun)
		scale_log_add(s, &s->log, now_ns, w->before);
	least = (uint32_t)scale_log_min(s, &s->log,
	                                now_ns - policy->up.window_ns, r);
	most = (uint32_t)scale_log_max(s, &s->log,
	                               now_ns - policy->down.window_ns, r);
	if (policy->up.window_ns == 0)
		least = w->recommendation;
	if (policy->down.window_ns == 0)
		most = w->recommendation;
	scale_stabilize(w, least, most);
	scale_log_add(s, &s->log, now_ns, r);
}

static void tick(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap, struct scale_wish *w)
{
	if (policy->max == 0) {
		scale_settle(w, 0, SCALE_STOPPED);
		w->wanted = 0;
		return;
	}
	assert(policy->min > 0);
	recommend(policy, snap, w);
	windows(policy, s, snap->now_ns, w);
	scale_limit(policy, s, snap, SCALE_ROUND_PLATFORM, w);
	scale_bound(policy, w);
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	if (policy->min == 0 && policy->max > 0)
		return scale_wrong(err, path, "min",
		                   "must be at least 1 where max is above 0 "
		                   "(0 and 0 stop a deployment)");
	return 0;
}

const struct scale_algorithm scale_platform = {
	.name = "platform",
	.about = "ceil(load / target) once a minute, windows, fleet limits",
	.metrics = true,
	.defaults = defaults,
	.check = check,
	.room = room,
	.tick = tick,
};
