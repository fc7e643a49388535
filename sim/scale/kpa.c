/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Knative's pod autoscaler (knative/serving pkg/autoscaler/scaling and
 * pkg/reconciler/autoscaling/kpa): a stable and a panic window, a delay of
 * scaling down, excess burst capacity, and the way to zero.
 */
#include <assert.h>
#include <math.h>

#include "scale/scale_int.h"

/* Decisions within 2 s share a bucket of the delay. */
#define BUCKET_NS (2 * NS_PER_S)

static void defaults(struct scale_policy *policy)
{
	policy->tick_ns = 2 * NS_PER_S;
	policy->metrics[0].target = 100;
	policy->metrics[0].window_ns = 60 * NS_PER_S;
	policy->metrics[0].recent_ns = 6 * NS_PER_S;
	policy->kpa = (struct scale_kpa){
		.utilization = 0.7,
		.panic_threshold = 2,
		.max_up_rate = 1000,
		.max_down_rate = 2,
		.target_burst = 211,
		.down_delay_ns = 0,
		.grace_ns = 30 * NS_PER_S,
		.retention_ns = 0,
		.start_deadline_ns = 600 * NS_PER_S,
		.activation_scale = 1,
		.scale_to_zero = true,
		.start_in_panic = true,
	};
}

static uint32_t buckets(const struct scale_policy *policy)
{
	return (uint32_t)((policy->kpa.down_delay_ns + BUCKET_NS - 1) /
	                  BUCKET_NS);
}

static struct scale_room room(const struct scale_policy *policy)
{
	return (struct scale_room){
		.log = scale_log_room(policy->kpa.down_delay_ns,
	                              policy->tick_ns),
	};
}

static void begin(const struct scale_policy *policy, struct scale_state *s,
                  const struct scale_snapshot *snap)
{
	s->phase = snap->ready > 0    ? SCALE_ACTIVE
	           : snap->wanted > 0 ? SCALE_ACTIVATING
	                              : SCALE_INACTIVE;
	s->phase_ns = snap->now_ns;
	/* With no history yet it keeps at least what is there. */
	if (policy->kpa.start_in_panic && snap->ready > 1) {
		s->panic = true;
		s->panic_ns = snap->now_ns;
		s->panic_max = snap->ready;
	}
}

/* The lower bound first, then the upper one, as upstream. */
static uint32_t between(double x, double least, double most)
{
	x = x > least ? x : least;
	return scale_count(x < most ? x : most);
}

static void watch_panic(const struct scale_policy *policy,
                        struct scale_state *s, int64_t now_ns, bool over)
{
	if (over) {
		s->panic = true;
		s->panic_ns = now_ns;
	} else if (s->panic &&
	           now_ns - s->panic_ns > policy->metrics[0].window_ns) {
		s->panic = false;
		s->panic_max = 0;
	}
}

/* The greatest wish of the delay's buckets, this one's included. */
static uint32_t delayed(const struct scale_policy *policy,
                        struct scale_state *s, int64_t now_ns, uint32_t wish)
{
	int64_t from_ns =
		(now_ns / BUCKET_NS - buckets(policy) + 1) * BUCKET_NS;

	scale_log_drop(s, &s->log, from_ns);
	scale_log_add(s, &s->log, now_ns, wish);
	return (uint32_t)scale_log_max(s, &s->log, from_ns, wish);
}

/* Sets recommendation, stable and limited: what the decider says. */
static void decide(const struct scale_policy *policy, struct scale_state *s,
                   const struct scale_snapshot *snap, struct scale_wish *w)
{
	const struct scale_kpa *k = &policy->kpa;
	double recent = snap->signals[0].idle ? 0 : snap->signals[0].recent;
	double aim = policy->metrics[0].target * k->utilization;
	double pods = scale_most(1, snap->ready);
	double most = ceil(k->max_up_rate * pods);
	double least = floor(pods / k->max_down_rate);
	double want, hurry;
	uint32_t stable, panic;

	aim = aim > 0.01 ? aim : 0.01;
	want = ceil(w->signal / aim);
	hurry = ceil(recent / aim);
	stable = between(want, least, most);
	panic = between(hurry, least, most);
	if (want > 0)
		stable = scale_most(stable, k->activation_scale);
	if (hurry > 0)
		panic = scale_most(panic, k->activation_scale);
	watch_panic(policy, s, snap->now_ns,
	            hurry / pods >= k->panic_threshold);
	w->recommendation =
		scale_count(s->panic && hurry > want ? hurry : want);
	w->reason = SCALE_AS_RECOMMENDED;
	if (s->panic) {
		s->panic_max =
			scale_most(s->panic_max, scale_most(stable, panic));
		stable = s->panic_max;
	}
	w->limited = stable;
	if (stable < w->recommendation)
		w->reason = SCALE_UP_LIMIT;
	else if (stable > w->recommendation)
		w->reason = s->panic ? SCALE_PANIC : SCALE_DOWN_LIMIT;
	if (k->down_delay_ns > 0) {
		w->limited = delayed(policy, s, snap->now_ns, stable);
		if (w->limited > stable)
			w->reason = SCALE_DOWN_WINDOW;
	}
	if (w->limited == w->before && w->limited == w->recommendation)
		w->reason = SCALE_STEADY;
	w->stable = w->limited;
}

static void burst(const struct scale_policy *policy,
                  const struct scale_snapshot *snap, struct scale_wish *w)
{
	double tbc = policy->kpa.target_burst;
	double excess = 0;

	if (tbc < 0)
		excess = -1;
	else if (tbc > 0)
		excess = floor(
			snap->ready * policy->metrics[0].target - tbc -
			(snap->signals[0].idle ? 0 : snap->signals[0].recent));
	w->excess_burst = (int64_t)excess;
	w->buffer = excess < 0;
}

static void enter(struct scale_state *s, enum scale_phase phase, int64_t now_ns)
{
	if (s->phase == phase)
		return;
	s->phase = phase;
	s->phase_ns = now_ns;
}

/* The decider says 0: when does the last replica go? */
static void to_zero(const struct scale_policy *policy, struct scale_state *s,
                    const struct scale_snapshot *snap, struct scale_wish *w)
{
	const struct scale_kpa *k = &policy->kpa;
	int64_t rest =
		k->grace_ns > k->retention_ns ? k->grace_ns : k->retention_ns;
	int64_t for_ns = snap->now_ns - s->phase_ns;

	if (!k->scale_to_zero) {
		w->wanted = 1;
		w->reason = SCALE_AT_MIN;
		return;
	}
	if (w->before == 0)
		return;
	w->reason = SCALE_ZERO_WAIT;
	w->wanted = w->before;
	switch (s->phase) {
	case SCALE_ACTIVE:
		if (for_ns < policy->metrics[0].window_ns)
			w->wanted = 1;
		else
			enter(s, SCALE_INACTIVE, snap->now_ns);
		break;
	case SCALE_ACTIVATING:
		if (for_ns < k->start_deadline_ns)
			break;
		enter(s, SCALE_INACTIVE, snap->now_ns);
		w->wanted = 0;
		w->reason = SCALE_TO_ZERO;
		break;
	case SCALE_INACTIVE:
		if (for_ns < rest)
			break;
		w->wanted = 0;
		w->reason = SCALE_TO_ZERO;
		break;
	}
}

static void tick(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap, struct scale_wish *w)
{
	if (!s->begun)
		begin(policy, s, snap);
	if (s->phase == SCALE_ACTIVATING && snap->ready > 0)
		enter(s, SCALE_ACTIVE, snap->now_ns);
	if (snap->signals[0].missing) {
		scale_hold(w, SCALE_NO_METRIC);
		scale_bound(policy, w);
		return;
	}
	decide(policy, s, snap, w);
	burst(policy, snap, w);
	w->panic = s->panic;
	scale_bound(policy, w);
	if (w->wanted == 0) {
		to_zero(policy, s, snap, w);
	} else if (s->phase == SCALE_INACTIVE) {
		enter(s, snap->ready > 0 ? SCALE_ACTIVE : SCALE_ACTIVATING,
		      snap->now_ns);
		if (w->before == 0)
			w->reason = SCALE_FROM_ZERO;
	}
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	const struct scale_kpa *k = &policy->kpa;
	int64_t most = 3600 * NS_PER_S;

	if (!(k->utilization > 0 && k->utilization <= 1))
		return scale_wrong(err, path, "utilization",
		                   "must be above 0 and at most 1");
	if (!(k->panic_threshold > 1 && k->panic_threshold <= 10))
		return scale_wrong(err, path, "panic_threshold",
		                   "must be above 1 and at most 10");
	if (!(k->max_up_rate > 1 && k->max_up_rate <= 1e6))
		return scale_wrong(err, path, "max_up_rate",
		                   "must be above 1 and at most 1000000");
	if (!(k->max_down_rate > 1 && k->max_down_rate <= 1e6))
		return scale_wrong(err, path, "max_down_rate",
		                   "must be above 1 and at most 1000000");
	if (!(k->target_burst >= 0 && k->target_burst <= 1e12) &&
	    (k->target_burst < -1 || k->target_burst > -1))
		return scale_wrong(err, path, "target_burst",
		                   "must be -1 (always), 0 (never) or above");
	if (k->activation_scale < 1 || k->activation_scale > SCALE_REPLICAS_MAX)
		return scale_wrong(err, path, "activation_scale",
		                   "must be from 1 to %d", SCALE_REPLICAS_MAX);
	if (policy->metrics[0].recent_ns < NS_PER_S ||
	    policy->metrics[0].recent_ns > policy->metrics[0].window_ns)
		return scale_wrong(err, path, "panic_window",
		                   "must be from 1s to the stable window");
	if (scale_check_time(err, path, "down_delay", k->down_delay_ns, 0,
	                     most) != 0 ||
	    scale_check_time(err, path, "grace", k->grace_ns, 0, most) != 0 ||
	    scale_check_time(err, path, "retention", k->retention_ns, 0,
	                     most) != 0)
		return -1;
	return scale_check_time(err, path, "start_deadline",
	                        k->start_deadline_ns, NS_PER_S, 24 * most);
}

const struct scale_algorithm scale_kpa = {
	.name = "kpa",
	.about = "Knative: a stable and a panic window, to zero when idle",
	.metrics = true,
	.zero = true,
	.defaults = defaults,
	.check = check,
	.room = room,
	.tick = tick,
};
