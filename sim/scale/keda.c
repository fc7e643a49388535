/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * KEDA (kedacore/keda pkg/scaling/executor): every poll it takes a
 * deployment from 0 to 1 and back; between 1 and the maximum Kubernetes'
 * autoscaler works, on the same metric as one external sum.
 */
#include <assert.h>
#include <math.h>

#include "scale/scale_int.h"

static void defaults(struct scale_policy *policy)
{
	scale_hpa.defaults(policy);
	policy->hpa = (struct scale_hpa){.behavior = true, .per_pod = false};
	policy->keda = (struct scale_keda){
		.activation = 0,
		.poll_ns = 30 * NS_PER_S,
		.cooldown_ns = 300 * NS_PER_S,
		.initial_cooldown_ns = 0,
		.fallback_after = 3,
	};
}

/* Looks at the triggers, if it is time to. */
static bool poll(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap)
{
	uint32_t i, missing = 0;

	if (s->polled && snap->now_ns - s->poll_ns < policy->keda.poll_ns)
		return false;
	s->polled = true;
	s->poll_ns = snap->now_ns;
	s->is_active = false;
	for (i = 0; i < policy->n; i++) {
		if (snap->signals[i].missing)
			missing++;
		else if (scale_value(&snap->signals[i]) >
		         policy->keda.activation)
			s->is_active = true;
	}
	s->failures = missing > 0 ? s->failures + 1 : 0;
	if (s->is_active) {
		s->was_active = true;
		s->last_active_ns = snap->now_ns;
	}
	return true;
}

/* Nothing was active for the cooldown. */
static bool cooled_down(const struct scale_policy *policy,
                        const struct scale_state *s, int64_t now_ns)
{
	if (s->was_active)
		return now_ns >= s->last_active_ns + policy->keda.cooldown_ns;
	return now_ns >= s->begun_ns + policy->keda.initial_cooldown_ns;
}

/*
 * What a poll decides by itself; false when it is left to the other one.
 * An error is neither active nor not.
 */
static bool executor(const struct scale_policy *policy, struct scale_state *s,
                     const struct scale_snapshot *snap, struct scale_wish *w)
{
	const struct scale_keda *k = &policy->keda;
	uint32_t rest = k->idle ? k->idle_replicas : 0;
	bool rests = k->idle || policy->min == 0;

	if (s->is_active && w->before <= rest) {
		scale_settle(w, scale_most(1, policy->min), SCALE_FROM_ZERO);
	} else if (!s->is_active && s->failures == 0 && rests &&
	           w->before > rest) {
		if (!cooled_down(policy, s, snap->now_ns))
			return false;
		scale_settle(w, rest, SCALE_TO_ZERO);
	} else if (!s->is_active && !rests && w->before < policy->min) {
		scale_settle(w, policy->min, SCALE_AT_MIN);
	} else {
		return false;
	}
	w->wanted = w->limited;
	return true;
}

static void tick(const struct scale_policy *policy, struct scale_state *s,
                 const struct scale_snapshot *snap, struct scale_wish *w)
{
	const struct scale_keda *k = &policy->keda;
	struct scale_policy inner = *policy;

	if (!s->begun)
		scale_log_add(s, &s->log, snap->now_ns, w->before);
	if (poll(policy, s, snap) && executor(policy, s, snap, w))
		return;
	/* At rest the inner autoscaler is off. */
	if (w->before == 0 || (k->idle && w->before <= k->idle_replicas)) {
		scale_hold(w, s->failures > 0 ? SCALE_NO_METRIC : SCALE_STEADY);
		w->wanted = w->before;
		return;
	}
	inner.min = scale_most(1, policy->min);
	if (k->fallback_replicas > 0 && s->failures >= k->fallback_after) {
		w->recommendation = k->fallback_replicas;
		w->reason = SCALE_FALLBACK;
		scale_hpa_normalize(&inner, s, snap, w);
		return;
	}
	scale_hpa_tick(&inner, s, snap, w);
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	const struct scale_keda *k = &policy->keda;
	int64_t day = SCALE_DAY_NS;

	if (!(k->activation >= 0 && k->activation <= 1e12))
		return scale_wrong(err, path, "activation",
		                   "must be 0 or above");
	if (k->idle && k->idle_replicas >= scale_most(1, policy->min))
		return scale_wrong(err, path, "idle_replicas",
		                   "must be below min");
	if (k->fallback_replicas > policy->max)
		return scale_wrong(err, path, "fallback_replicas",
		                   "must not be above max");
	if (k->fallback_after < 1)
		return scale_wrong(err, path, "fallback_after",
		                   "must be at least 1");
	if (scale_check_time(err, path, "poll", k->poll_ns, NS_PER_S,
	                     3600 * NS_PER_S) != 0 ||
	    scale_check_time(err, path, "cooldown", k->cooldown_ns, 0, day) !=
	            0)
		return -1;
	return scale_check_time(err, path, "initial_cooldown",
	                        k->initial_cooldown_ns, 0, day);
}

const struct scale_algorithm scale_keda = {
	.name = "keda",
	.about = "KEDA: 0 to 1 by activity, the rest by Kubernetes' HPA",
	.metrics = true,
	.many = true,
	.zero = true,
	.defaults = defaults,
	.check = check,
	.room = scale_hpa_room,
	.tick = tick,
};
