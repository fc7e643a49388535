/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "scale/scale.h"

/* Only in-flight requests have a target by default: 8 a replica. */
static const struct scale_metric_info catalogue[SCALE_METRIC_IDS] = {
	[SCALE_INFLIGHT] = {"inflight_requests", "requests per replica", 8,
                            SCALE_AVERAGE_VALUE, false, false},
	[SCALE_GPU_UTILIZATION] = {"gpu_utilization", "%", 0, SCALE_UTILIZATION,
                                   false, false},
	[SCALE_TOKEN_UTILIZATION] = {"token_utilization", "%", 0,
                                     SCALE_UTILIZATION, false, false},
	[SCALE_CACHE_HIT_RATE] = {"cache_hit_rate", "%", 0, SCALE_UTILIZATION,
                                  false, false},
	[SCALE_THROUGHPUT] = {"throughput_per_replica", "tokens/s per replica",
                              0, SCALE_AVERAGE_VALUE, true, false},
	[SCALE_TTFT] = {"ttft", "ms", 0, SCALE_VALUE, true, true},
	[SCALE_DECODING_SPEED] = {"decoding_speed", "ms per token", 0,
                                  SCALE_VALUE, true, true},
	[SCALE_E2E_LATENCY] = {"e2e_latency", "ms", 0, SCALE_VALUE, false,
                               true},
};

const struct scale_metric_info *scale_metric_info(enum scale_metric_id id)
{
	assert((unsigned)id < SCALE_METRIC_IDS);
	return &catalogue[id];
}

int scale_metric_find(const char *name, const char *path,
                      enum scale_metric_id *id, struct err *err)
{
	const char *names[SCALE_METRIC_IDS];
	const char *near;
	int i;

	for (i = 0; i < SCALE_METRIC_IDS; i++) {
		names[i] = catalogue[i].name;
		if (strcmp(name, names[i]) == 0) {
			*id = (enum scale_metric_id)i;
			return 0;
		}
	}
	near = base_nearest(name, names, SCALE_METRIC_IDS);
	if (near)
		return err_set(err, NULL, 0, 0, path,
		               "no metric \"%s\"; did you mean \"%s\"?", name,
		               near);
	return err_set(err, NULL, 0, 0, path,
	               "no metric \"%s\"; there are inflight_requests, "
	               "gpu_utilization, token_utilization, cache_hit_rate, "
	               "throughput_per_replica, ttft, decoding_speed and "
	               "e2e_latency",
	               name);
}

void scale_metric_set(struct scale_policy *policy, uint32_t i,
                      enum scale_metric_id id)
{
	const struct scale_metric_info *info = scale_metric_info(id);

	assert(i < SCALE_METRICS_MAX);
	policy->metrics[i] = policy->metrics[0];
	policy->metrics[i].id = id;
	policy->metrics[i].target = info->target;
	policy->metrics[i].percentile = info->percentile ? 0.95 : 0;
	if (policy->n <= i)
		policy->n = i + 1;
}
