/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ray Serve's policy by requests (ray-project/ray
 * python/ray/serve/autoscaling_policy.py): a share of the error each time,
 * after as long a delay as all decisions point one way.
 */
#include <math.h>

#include "scale/scale_int.h"

/* A delay that is over but for the clock's rounding is over. */
#define SLACK_NS NS_PER_US

static void defaults(struct scale_policy *policy)
{
	policy->tick_ns = 100 * NS_PER_MS;
	policy->metrics[0].target = 2;
	policy->metrics[0].window_ns = 30 * NS_PER_S;
	policy->ray = (struct scale_ray){
		.up_factor = 1,
		.down_factor = 1,
		.up_delay_ns = 30 * NS_PER_S,
		.down_delay_ns = 600 * NS_PER_S,
		.zero_delay_ns = 600 * NS_PER_S,
	};
}

/* The recommendation, from running replicas. */
static uint32_t desired(const struct scale_policy *policy, double requests,
                        uint32_t running)
{
	double want = requests / policy->metrics[0].target;
	double delta = want - running;
	double factor =
		delta > 0 ? policy->ray.up_factor : policy->ray.down_factor;
	double scaled = ceil(running + factor * delta);

	/* A small factor must not stick. */
	if (ceil(want) < running && scaled >= running)
		scaled = (double)running - 1;
	return scale_count(scaled);
}

/* True when decisions have pointed this way for the delay. */
static bool waited(struct scale_state *s, int64_t now_ns, int way,
                   int64_t delay_ns)
{
	if (s->way != way) {
		s->way = way;
		s->way_ns = now_ns;
	}
	if (now_ns - s->way_ns + SLACK_NS < delay_ns)
		return false;
	s->way = 0;
	return true;
}

static void delay(const struct scale_policy *policy, struct scale_state *s,
                  int64_t now_ns, uint32_t want, struct scale_wish *w)
{
	const struct scale_ray *r = &policy->ray;

	w->stable = w->before;
	if (want > w->before) {
		if (waited(s, now_ns, 1, r->up_delay_ns))
			w->stable = want;
		else
			w->reason = SCALE_UP_WINDOW;
	} else if (want < w->before) {
		bool last = w->before == 1;

		if (waited(s, now_ns, -1,
		           last ? r->zero_delay_ns : r->down_delay_ns))
			w->stable = last ? want : scale_most(1, want);
		else
			w->reason = SCALE_DOWN_WINDOW;
	} else {
		s->way = 0;
	}
}

static void tick(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap, struct scale_wish *w)
{
	uint32_t want;

	if (snap->signals[0].missing) {
		scale_hold(w, SCALE_NO_METRIC);
		scale_bound(policy, w);
		return;
	}
	if (snap->ready == 0) {
		scale_hold(w, SCALE_NOT_READY);
		if (w->signal > 0)
			scale_settle(
				w,
				scale_most(scale_count(policy->ray.up_factor),
			                   w->before),
				SCALE_FROM_ZERO);
		scale_bound(policy, w);
		return;
	}
	w->recommendation = desired(policy, w->signal, snap->ready);
	want = scale_most(policy->min,
	                  scale_least(policy->max, w->recommendation));
	w->reason = want < w->recommendation   ? SCALE_AT_MAX
	            : want > w->recommendation ? SCALE_AT_MIN
	            : want == w->before        ? SCALE_STEADY
	                                       : SCALE_AS_RECOMMENDED;
	delay(policy, s, snap->now_ns, want, w);
	w->limited = w->stable;
	scale_bound(policy, w);
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	const struct scale_ray *r = &policy->ray;
	int64_t day = SCALE_DAY_NS;

	if (!(r->up_factor > 0 && r->up_factor <= 1000))
		return scale_wrong(err, path, "up_factor",
		                   "must be above 0 and at most 1000");
	if (!(r->down_factor > 0 && r->down_factor <= 1000))
		return scale_wrong(err, path, "down_factor",
		                   "must be above 0 and at most 1000");
	if (scale_check_time(err, path, "up_delay", r->up_delay_ns, 0, day) !=
	            0 ||
	    scale_check_time(err, path, "down_delay", r->down_delay_ns, 0,
	                     day) != 0)
		return -1;
	return scale_check_time(err, path, "zero_delay", r->zero_delay_ns, 0,
	                        day);
}

const struct scale_algorithm scale_ray = {
	.name = "ray",
	.about = "Ray Serve: ongoing requests, delays each way",
	.metrics = true,
	.zero = true,
	.defaults = defaults,
	.check = check,
	.tick = tick,
};
