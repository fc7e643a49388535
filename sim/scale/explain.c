/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "scale/scale_int.h"

static const struct {
	const char *name;
	const char *text;
} reasons[SCALE_REASONS] = {
	[SCALE_AS_RECOMMENDED] = {"as-recommended", "as the metric recommends"},
	[SCALE_STEADY] = {"steady", "what there is is right"},
	[SCALE_IN_TOLERANCE] = {"in-tolerance",
                                "the metric is near enough to its target"},
	[SCALE_COVERED] = {"covered", "replicas that are starting will do"},
	[SCALE_NO_METRIC] = {"no-metric",
                             "the metric cannot be read, so it stays"},
	[SCALE_NOT_READY] = {"not-ready", "no replica is ready to be measured"},
	[SCALE_UP_WINDOW] = {"up-window",
                             "it has not asked for more for long enough"},
	[SCALE_DOWN_WINDOW] = {"down-window",
                               "it has not asked for less for long enough"},
	[SCALE_UP_LIMIT] = {"up-limit", "the rate of growth is limited"},
	[SCALE_DOWN_LIMIT] = {"down-limit", "the rate of shrinking is limited"},
	[SCALE_UP_DISABLED] = {"up-disabled", "scaling up is disabled"},
	[SCALE_DOWN_DISABLED] = {"down-disabled", "scaling down is disabled"},
	[SCALE_AT_MIN] = {"at-min", "no fewer than the minimum"},
	[SCALE_AT_MAX] = {"at-max", "no more than the maximum"},
	[SCALE_STOPPED] = {"stopped", "it is stopped and nothing wakes it"},
	[SCALE_PANIC] = {"panic", "it only grows while it panics"},
	[SCALE_ZERO_WAIT] = {"zero-wait", "the last replica stays a while"},
	[SCALE_TO_ZERO] = {"to-zero", "it has been idle for long enough"},
	[SCALE_FROM_ZERO] = {"from-zero", "there is work and no replica"},
	[SCALE_FALLBACK] = {"fallback",
                            "the metric failed too often, so it falls back"},
	[SCALE_TIMETABLE] = {"timetable", "the timetable says so"},
};

const char *scale_reason_name(enum scale_reason reason)
{
	assert((unsigned)reason < SCALE_REASONS);
	return reasons[reason].name;
}

const char *scale_reason_text(enum scale_reason reason)
{
	assert((unsigned)reason < SCALE_REASONS);
	return reasons[reason].text;
}

/* What was seen: "inflight_requests 40 against 8 requests per replica". */
static void seen(const struct scale_policy *policy, const struct scale_wish *w,
                 char *buf, size_t size)
{
	const struct scale_metric_info *info;

	if (policy->n == 0) {
		(void)snprintf(buf, size, "%s",
		               scale_algorithm(policy->kind)->name);
		return;
	}
	info = scale_metric_info(policy->metrics[w->metric].id);
	if (isnan(w->signal))
		(void)snprintf(buf, size, "%s unknown", info->name);
	else
		(void)snprintf(buf, size, "%s %.4g%s against %.4g %s",
		               info->name, w->signal,
		               info->type == SCALE_AVERAGE_VALUE ? " in all"
		                                                 : "",
		               w->target, info->unit);
}

const char *scale_explain(const struct scale_policy *policy,
                          const struct scale_wish *w, char *buf, size_t size)
{
	char what[128];

	seen(policy, w, what, sizeof what);
	(void)snprintf(buf, size,
	               "%s with %u ready and %u starting: recommends %u, %u "
	               "after windows, %u after limits; %s %u: %s.",
	               what, w->ready, w->starting, w->recommendation,
	               w->stable, w->limited,
	               w->wanted == w->before ? "stays at" : "now", w->wanted,
	               w->why);
	return buf;
}
