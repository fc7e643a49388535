/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * KubeAI's autoscaler (kubeai-project/kubeai internal/modelautoscaler and
 * internal/modelclient/scale.go): a long moving mean of active requests,
 * full of zeros at first; up at once, down after enough lower results in a
 * row, which a step down does not use up.
 */
#include <math.h>

#include "scale/scale_int.h"

static void defaults(struct scale_policy *policy)
{
	policy->tick_ns = 10 * NS_PER_S;
	policy->metrics[0].target = 100;
	/* It reads a gauge; the mean is its own. */
	policy->metrics[0].window_ns = 0;
	policy->kubeai = (struct scale_kubeai){
		.mean_window_ns = 600 * NS_PER_S,
		.down_delay_ns = 30 * NS_PER_S,
	};
}

static uint32_t ticks(int64_t span_ns, int64_t tick_ns)
{
	return (uint32_t)((span_ns + tick_ns - 1) / tick_ns);
}

uint32_t scale_kubeai_samples(const struct scale_policy *policy)
{
	return ticks(policy->kubeai.mean_window_ns, policy->tick_ns);
}

uint32_t scale_kubeai_downs(const struct scale_policy *policy)
{
	return ticks(policy->kubeai.down_delay_ns, policy->tick_ns);
}

static struct scale_room room(const struct scale_policy *policy)
{
	return (struct scale_room){.log = scale_kubeai_samples(policy)};
}

/* Takes the sample and gives the mean; what was not seen yet counts as 0. */
static double mean(struct scale_state *s, int64_t now_ns, double sample)
{
	double capacity = s->log.capacity;

	if (s->log.n == s->log.capacity)
		scale_log_drop(s, &s->log,
		               scale_log_at(s, &s->log, 0)->at_ns + 1);
	scale_log_add(s, &s->log, now_ns, sample);
	return scale_log_sum(s, &s->log, INT64_MIN) / capacity;
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
	w->signal = mean(s, snap->now_ns, w->signal);
	want = scale_count(w->signal / policy->metrics[0].target);
	scale_settle(w, want,
	             want == w->before ? SCALE_STEADY : SCALE_AS_RECOMMENDED);
	scale_bound(policy, w);
	if (w->wanted >= w->before) {
		s->downs_in_a_row = 0;
	} else if (s->downs_in_a_row < scale_kubeai_downs(policy)) {
		s->downs_in_a_row++;
		w->stable = w->before;
		w->limited = w->before;
		w->wanted = scale_least(w->before, policy->max);
		w->reason = SCALE_DOWN_WINDOW;
	}
}

static int check(const struct scale_policy *policy, const char *path,
                 struct err *err)
{
	int64_t most = 3600 * NS_PER_S;

	if (scale_check_time(err, path, "mean_window",
	                     policy->kubeai.mean_window_ns, policy->tick_ns,
	                     most) != 0)
		return -1;
	return scale_check_time(err, path, "down_delay",
	                        policy->kubeai.down_delay_ns, 0, most);
}

const struct scale_algorithm scale_kubeai = {
	.name = "kubeai",
	.about = "KubeAI: a mean over minutes, a request wakes it from zero",
	.wake = 1,
	.metrics = true,
	.zero = true,
	.defaults = defaults,
	.check = check,
	.room = room,
	.tick = tick,
};
