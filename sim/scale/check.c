/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "scale/scale_int.h"

int scale_wrong(struct err *err, const char *path, const char *field,
                const char *fmt, ...)
{
	char where[256], text[512];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	(void)snprintf(where, sizeof where, "%s.%s", path ? path : "$", field);
	return err_set(err, NULL, 0, 0, where, "%s", text);
}

int scale_check_time(struct err *err, const char *path, const char *field,
                     int64_t ns, int64_t least_ns, int64_t most_ns)
{
	char is[32], least[32], most[32];

	if (ns >= least_ns && ns <= most_ns)
		return 0;
	return scale_wrong(err, path, field, "%s is not from %s to %s",
	                   ns < 0 ? "a negative time"
	                          : units_write_duration(ns, is, sizeof is),
	                   units_write_duration(least_ns, least, sizeof least),
	                   units_write_duration(most_ns, most, sizeof most));
}

static bool known_percentile(double p)
{
	static const double known[] = {0.5, 0.9, 0.95, 0.99};
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (fabs(p - known[i]) < 1e-9)
			return true;
	}
	return false;
}

static int check_metric(const struct scale_metric *m, const char *path,
                        struct err *err)
{
	const struct scale_metric_info *info = scale_metric_info(m->id);

	if (!(m->target > 0 && m->target <= 1e12))
		return scale_wrong(err, path, "target",
		                   "%s needs a target above 0 (%s)", info->name,
		                   info->unit);
	if (!info->percentile && fabs(m->percentile) > 0)
		return scale_wrong(err, path, "percentile",
		                   "%s has no percentile; only ttft, "
		                   "decoding_speed and e2e_latency have",
		                   info->name);
	if (info->percentile && !known_percentile(m->percentile))
		return scale_wrong(err, path, "percentile",
		                   "must be p50, p90, p95 or p99");
	if (!(m->tolerance_up >= 0 && m->tolerance_up <= 1000) ||
	    !(m->tolerance_down >= 0 && m->tolerance_down <= 1000))
		return scale_wrong(err, path, "tolerance",
		                   "must be 0 or above");
	if (scale_check_time(err, path, "window", m->window_ns, 0,
	                     3600 * NS_PER_S) != 0)
		return -1;
	return scale_check_time(err, path, "recent", m->recent_ns, 0,
	                        3600 * NS_PER_S);
}

static int check_metrics(const struct scale_policy *policy, const char *path,
                         struct err *err)
{
	const struct scale_algorithm *a = scale_algorithm(policy->kind);
	uint32_t i;

	if (!a->metrics)
		return policy->n == 0
		               ? 0
		               : scale_wrong(err, path, "metric",
		                             "%s looks at no metric", a->name);
	if (policy->n < 1 || policy->n > (a->many ? SCALE_METRICS_MAX : 1))
		return scale_wrong(err, path, "metric",
		                   a->many ? "there must be from 1 to %d"
		                           : "there must be 1",
		                   SCALE_METRICS_MAX);
	for (i = 0; i < policy->n; i++) {
		if (check_metric(&policy->metrics[i], path, err) != 0)
			return -1;
	}
	return 0;
}

static int check_direction(const struct scale_direction *d, const char *path,
                           const char *name, struct err *err)
{
	char field[64];
	uint32_t i;

	(void)snprintf(field, sizeof field, "%s.window", name);
	if (scale_check_time(err, path, field, d->window_ns, 0,
	                     3600 * NS_PER_S) != 0)
		return -1;
	if (d->n > SCALE_RULES_MAX) {
		(void)snprintf(field, sizeof field, "%s.policies", name);
		return scale_wrong(err, path, field, "at most %d",
		                   SCALE_RULES_MAX);
	}
	for (i = 0; i < d->n; i++) {
		(void)snprintf(field, sizeof field, "%s.policies[%u]", name, i);
		if (d->rules[i].value < 1 ||
		    d->rules[i].value > SCALE_REPLICAS_MAX)
			return scale_wrong(err, path, field,
			                   "value must be from 1 to %d",
			                   SCALE_REPLICAS_MAX);
		if (scale_check_time(err, path, field, d->rules[i].period_ns,
		                     NS_PER_S, 1800 * NS_PER_S) != 0)
			return -1;
	}
	return 0;
}

int scale_check(const struct scale_policy *policy, const char *path,
                struct err *err)
{
	const struct scale_algorithm *a = scale_algorithm(policy->kind);

	if (policy->max > SCALE_REPLICAS_MAX)
		return scale_wrong(err, path, "max", "must be at most %d",
		                   SCALE_REPLICAS_MAX);
	if (policy->min > policy->max)
		return scale_wrong(err, path, "min",
		                   "%u is above max, which is %u", policy->min,
		                   policy->max);
	if (scale_check_time(err, path, "tick", policy->tick_ns,
	                     100 * NS_PER_MS, 3600 * NS_PER_S) != 0 ||
	    check_metrics(policy, path, err) != 0 ||
	    check_direction(&policy->up, path, "scale_up", err) != 0 ||
	    check_direction(&policy->down, path, "scale_down", err) != 0)
		return -1;
	return a->check ? a->check(policy, path, err) : 0;
}
