/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kubernetes' horizontal pod autoscaler, autoscaling/v2
 * (kubernetes/kubernetes pkg/controller/podautoscaler/horizontal.go): the
 * largest proposal of its metrics, then stabilization, policies and bounds.
 */
#include <assert.h>
#include <math.h>

#include "scale/scale_int.h"

/* The API's defaults of `behavior`, autoscaling/v2 defaults.go. */
static const struct scale_direction default_up = {
	.window_ns = 0,
	.select = SCALE_SELECT_MAX,
	.n = 2,
	.rules = {{SCALE_PODS, 4, 15 * NS_PER_S},
                  {SCALE_PERCENT, 100, 15 * NS_PER_S}},
};
static const struct scale_direction default_down = {
	.window_ns = 300 * NS_PER_S,
	.select = SCALE_SELECT_MAX,
	.n = 1,
	.rules = {{SCALE_PERCENT, 100, 15 * NS_PER_S}},
};

static void defaults(struct scale_policy *policy)
{
	policy->tick_ns = 15 * NS_PER_S;
	policy->metrics[0].window_ns = 60 * NS_PER_S;
	policy->metrics[0].tolerance_up = 0.1;
	policy->metrics[0].tolerance_down = 0.1;
	policy->up = default_up;
	policy->down = default_down;
	policy->hpa = (struct scale_hpa){.behavior = true, .per_pod = true};
}

struct scale_room scale_hpa_room(const struct scale_policy *policy)
{
	return (struct scale_room){
		.log = scale_log_room(scale_longest_window(policy),
	                              policy->tick_ns),
		.changes = scale_log_room(scale_longest_period(policy),
	                                  policy->tick_ns),
	};
}

/* ---- what the metrics propose ------------------------------------------ */

/* A quantity in 1/1000, which is as fine as Kubernetes reads a metric. */
static int64_t milli(double x)
{
	return x >= 9.2e15 ? INT64_MAX : (int64_t)floor(x * 1000);
}

static int64_t target_of(const struct scale_metric *m, double scale)
{
	int64_t t = (int64_t)floor(m->target * scale + 0.5);

	return t > 0 ? t : 1;
}

static struct scale_proposal propose(const struct scale_policy *policy,
                                     uint32_t i,
                                     const struct scale_snapshot *snap)
{
	const struct scale_metric *m = &policy->metrics[i];
	const struct scale_signal *g = &snap->signals[i];
	enum scale_metric_type type = scale_metric_info(m->id)->type;
	struct scale_tolerance t = {m->tolerance_down, m->tolerance_up};
	uint32_t now = snap->wanted;

	if (g->missing)
		return (struct scale_proposal){.failed = true};
	if (type == SCALE_UTILIZATION && g->pods != NULL)
		return scale_calc_utilization(now, target_of(m, 1), g->pods,
		                              g->pods_n, t);
	if (type == SCALE_UTILIZATION)
		return scale_calc_value(now, snap->ready,
		                        milli(floor(scale_value(g))),
		                        1000 * target_of(m, 1), t);
	if (type == SCALE_VALUE)
		return scale_calc_value(now, snap->ready, milli(scale_value(g)),
		                        target_of(m, 1000), t);
	if (policy->hpa.per_pod && g->pods != NULL)
		return scale_calc_pods(now, target_of(m, 1000), g->pods,
		                       g->pods_n, t);
	return scale_calc_average(snap->ready + snap->starting,
	                          milli(scale_value(g)), target_of(m, 1000), t);
}

/*
 * The largest proposal into w->recommendation. False when too little is
 * known: no metric could be read, or one could not and the others say down.
 */
static bool recommend(const struct scale_policy *policy,
                      const struct scale_snapshot *snap, struct scale_wish *w)
{
	uint32_t i, failed = 0;
	bool first = true;

	for (i = 0; i < policy->n; i++) {
		struct scale_proposal p = propose(policy, i, snap);

		if (p.failed) {
			failed++;
			continue;
		}
		if (!first && p.replicas <= w->recommendation)
			continue;
		first = false;
		w->recommendation = p.replicas;
		w->reason = p.within                  ? SCALE_IN_TOLERANCE
		            : p.replicas == w->before ? SCALE_STEADY
		                                      : SCALE_AS_RECOMMENDED;
		w->metric = i;
		w->signal = scale_value(&snap->signals[i]);
		w->target = policy->metrics[i].target;
	}
	return !first && (failed == 0 || w->recommendation >= w->before);
}

/* ---- what becomes of it ------------------------------------------------ */

/* With behavior: recommendations strictly younger than the windows. */
static void with_behavior(const struct scale_policy *policy,
                          struct scale_state *s,
                          const struct scale_snapshot *snap,
                          struct scale_wish *w)
{
	int64_t now = snap->now_ns;
	double r = w->recommendation;

	scale_log_drop(s, &s->log, now - scale_longest_window(policy) + 1);
	scale_stabilize(
		w,
		(uint32_t)scale_log_min(s, &s->log,
	                                now - policy->up.window_ns + 1, r),
		(uint32_t)scale_log_max(s, &s->log,
	                                now - policy->down.window_ns + 1, r));
	scale_log_add(s, &s->log, now, r);
	scale_limit(policy, s, snap, SCALE_ROUND_HPA, w);
}

/* Without: the greatest of the window, its end included; double or 4. */
static void without_behavior(const struct scale_policy *policy,
                             struct scale_state *s,
                             const struct scale_snapshot *snap,
                             struct scale_wish *w)
{
	int64_t from = snap->now_ns - policy->down.window_ns;
	uint64_t limit = 2 * (uint64_t)w->before;
	double r = w->recommendation;

	scale_log_drop(s, &s->log, from);
	w->stable = (uint32_t)scale_log_max(s, &s->log, from, r);
	scale_log_add(s, &s->log, snap->now_ns, r);
	if (w->stable > w->recommendation)
		w->reason = SCALE_DOWN_WINDOW;
	w->limited = w->stable;
	limit = limit < 4 ? 4 : limit;
	if (w->stable > limit) {
		w->limited = (uint32_t)limit;
		w->reason = SCALE_UP_LIMIT;
	}
}

void scale_hpa_normalize(const struct scale_policy *policy,
                         struct scale_state *s,
                         const struct scale_snapshot *snap,
                         struct scale_wish *w)
{
	if (policy->hpa.behavior)
		with_behavior(policy, s, snap, w);
	else
		without_behavior(policy, s, snap, w);
	scale_bound(policy, w);
}

void scale_hpa_tick(const struct scale_policy *policy, struct scale_state *s,
                    const struct scale_snapshot *snap, struct scale_wish *w)
{
	/* What was there before the first look counts as recommended. */
	if (!s->begun && s->log.n == 0)
		scale_log_add(s, &s->log, snap->now_ns, w->before);
	if (w->before == 0 && policy->min > 0) {
		scale_hold(w, SCALE_STOPPED);
		w->wanted = 0;
		return;
	}
	if (w->before > policy->max || w->before < policy->min) {
		scale_hold(w, SCALE_STEADY);
		scale_bound(policy, w);
		return;
	}
	if (!recommend(policy, snap, w)) {
		scale_hold(w, SCALE_NO_METRIC);
		w->wanted = w->before;
		return;
	}
	scale_hpa_normalize(policy, s, snap, w);
}

const struct scale_algorithm scale_hpa = {
	.name = "hpa",
	.about = "Kubernetes autoscaling/v2, behavior included",
	.metrics = true,
	.many = true,
	.zero = true,
	.defaults = defaults,
	.room = scale_hpa_room,
	.tick = scale_hpa_tick,
};
