/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The replica calculator of autoscaling/v2 (kubernetes/kubernetes
 * pkg/controller/podautoscaler/replica_calculator.go), which rounds
 * utilization off to whole percent, and a mean to whole milli-units, before
 * it divides by the target.
 */
#include <assert.h>
#include <math.h>

#include "scale/scale_int.h"

__extension__ typedef __int128 i128;

static bool within(double ratio, struct scale_tolerance t)
{
	return 1 - t.down <= ratio && ratio <= 1 + t.up;
}

/* What is asked of the pods: which are unready, what to fill in. */
struct reading {
	const struct scale_pod *pods;
	uint32_t n;
	bool utilization;
	int64_t target;
	int64_t fill_percent; /* of the request, for missing ones on the way
	                         down; utilization only */
};

/* How pods that are not measured are counted. */
struct filling {
	bool missing;
	bool missing_zero; /* else at the target */
	bool unready;      /* as 0 */
};

struct sums {
	i128 usage;
	i128 request;
	uint32_t samples;
	uint32_t ready;
	uint32_t missing;
	uint32_t unready;
};

static bool unready(const struct reading *r, const struct scale_pod *pod)
{
	if (pod->state == SCALE_POD_PENDING)
		return true;
	return r->utilization && !pod->missing &&
	       pod->state == SCALE_POD_WARMING;
}

static int64_t filled(const struct reading *r, const struct scale_pod *pod)
{
	if (!r->utilization)
		return r->target;
	return (int64_t)((i128)pod->request_milli * r->fill_percent / 100);
}

static void take(struct sums *s, const struct scale_pod *pod, int64_t usage)
{
	s->usage += usage;
	s->request += pod->request_milli;
	s->samples++;
}

static struct sums sum_up(const struct reading *r, struct filling f)
{
	struct sums s = {.samples = 0};
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		const struct scale_pod *pod = &r->pods[i];

		if (unready(r, pod)) {
			s.unready++;
			if (f.unready)
				take(&s, pod, 0);
		} else if (pod->missing) {
			s.missing++;
			if (f.missing)
				take(&s, pod,
				     f.missing_zero ? 0 : filled(r, pod));
		} else {
			s.ready++;
			take(&s, pod, pod->usage_milli);
		}
	}
	return s;
}

/* Percent, or milli-units a pod. */
static int64_t usage_of(const struct reading *r, const struct sums *s)
{
	if (r->utilization)
		return (int64_t)(s->usage * 100 / s->request);
	return (int64_t)(s->usage / s->samples);
}

static struct scale_proposal stay(uint32_t current, int64_t usage)
{
	return (struct scale_proposal){
		.within = true, .replicas = current, .usage = usage};
}

static struct scale_proposal
calculate(uint32_t current, const struct reading *r, struct scale_tolerance t)
{
	struct sums s = sum_up(r, (struct filling){.missing = false});
	struct scale_proposal p = {.failed = true};
	struct filling fill = {.missing = true};
	double ratio, again;

	if (s.samples == 0 || (r->utilization && s.request == 0))
		return p;
	p.failed = false;
	p.usage = usage_of(r, &s);
	ratio = (double)p.usage / (double)r->target;
	fill.unready = s.unready > 0 && ratio > 1;
	if (!fill.unready && s.missing == 0) {
		if (within(ratio, t))
			return stay(current, p.usage);
		p.replicas = scale_count(ratio * s.ready);
		return p;
	}
	/* At a ratio of exactly 1 the missing ones stay missing. */
	fill.missing = ratio < 1 || ratio > 1;
	fill.missing_zero = ratio > 1;
	s = sum_up(r, fill);
	again = (double)usage_of(r, &s) / (double)r->target;
	if (within(again, t) || (ratio < 1 && again > 1) ||
	    (ratio > 1 && again < 1))
		return stay(current, p.usage);
	p.replicas = scale_count(again * s.samples);
	if ((again < 1 && p.replicas > current) ||
	    (again > 1 && p.replicas < current))
		return stay(current, p.usage);
	return p;
}

struct scale_proposal scale_calc_utilization(uint32_t current,
                                             int64_t target_percent,
                                             const struct scale_pod *pods,
                                             uint32_t n,
                                             struct scale_tolerance tolerance)
{
	struct reading r = {
		.pods = pods,
		.n = n,
		.utilization = true,
		.target = target_percent,
		.fill_percent = target_percent > 100 ? target_percent : 100};

	assert(target_percent > 0);
	return calculate(current, &r, tolerance);
}

struct scale_proposal scale_calc_pods(uint32_t current, int64_t target_milli,
                                      const struct scale_pod *pods, uint32_t n,
                                      struct scale_tolerance tolerance)
{
	struct reading r = {.pods = pods, .n = n, .target = target_milli};

	assert(target_milli > 0);
	return calculate(current, &r, tolerance);
}

struct scale_proposal scale_calc_value(uint32_t current, uint32_t ready,
                                       int64_t value_milli,
                                       int64_t target_milli,
                                       struct scale_tolerance tolerance)
{
	double ratio = (double)value_milli / (double)target_milli;

	assert(target_milli > 0);
	if (current != 0 && within(ratio, tolerance))
		return stay(current, value_milli);
	return (struct scale_proposal){
		.usage = value_milli,
		.replicas = scale_count(current == 0 ? ratio : ratio * ready)};
}

struct scale_proposal scale_calc_average(uint32_t replicas, int64_t total_milli,
                                         int64_t target_milli,
                                         struct scale_tolerance tolerance)
{
	struct scale_proposal p = {.usage = total_milli};
	double ratio;

	assert(target_milli > 0);
	p.replicas = scale_count((double)total_milli / (double)target_milli);
	if (replicas == 0)
		return p;
	p.usage = (int64_t)ceil((double)total_milli / replicas);
	ratio = (double)total_milli / ((double)target_milli * replicas);
	return within(ratio, tolerance) ? stay(replicas, p.usage) : p;
}
