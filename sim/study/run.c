/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study_int.h"

#include <assert.h>
#include <math.h>

/* One replication, merged into *into. 1: it was stopped half-way; -1: *e. */
static int run_one(const struct study_runs *runs, uint32_t replication,
                   struct measure_result **into, struct err *e)
{
	bool watched = replication == 0 || runs->log_all;
	struct world_observer blind = {.self = runs->observer.self,
	                               .stop = runs->observer.stop};
	struct world *w = world_new(runs->world, runs->seed, replication,
	                            watched ? &runs->observer : &blind, e);
	struct measure_result *result;

	if (w == NULL)
		return -1;
	if (!world_run(w, e)) {
		world_free(w);
		return e->set ? -1 : 1;
	}
	result = world_result(w);
	world_free(w);
	if (*into == NULL) {
		*into = result;
		return 0;
	}
	measure_result_merge(*into, result);
	measure_result_free(result);
	return 0;
}

struct measure_result *study_run(const struct study_runs *runs,
                                 bool *interrupted, struct err *e)
{
	struct measure_result *result = NULL;

	assert(runs->reps > 0);
	*interrupted = false;
	for (uint32_t r = 0; r < runs->reps && !*interrupted; r++) {
		int wrong = run_one(runs, r, &result, e);

		if (wrong < 0) {
			measure_result_free(result);
			return NULL;
		}
		*interrupted = wrong > 0;
		if (!wrong && r + 1 < runs->reps && runs->progress.done &&
		    !runs->progress.done(runs->progress.self, r + 1,
		                         runs->reps))
			*interrupted = true;
	}
	return result;
}

static const struct measure_hist *hist_of(const struct measure_scope_result *s,
                                          enum study_latency latency)
{
	switch (latency) {
	case STUDY_TTFT:
		return &s->ttft;
	case STUDY_TPOT:
		return &s->tpot;
	case STUDY_ITL:
		return &s->itl;
	case STUDY_E2E:
		break;
	}
	return &s->e2e;
}

bool study_p95_interval(const struct measure_result *result, uint32_t endpoint,
                        enum study_latency latency, double confidence,
                        double *low, double *high)
{
	const struct measure_scope_result *scope =
		measure_result_scope(result, SCOPE_ENDPOINT, endpoint);
	uint32_t n = result->n_batches;
	struct study_parts parts = {.n = n};
	double tail = (1 - confidence) / 2;
	int64_t p95;

	assert(scope);
	if (n < 2)
		return false;
	parts.value = result->batch_p95 + ((size_t)endpoint * 4 + latency) * n;
	for (uint32_t i = 0; i < n; i++)
		if (!isfinite(parts.value[i]))
			return false;
	p95 = measure_hist_quantile(hist_of(scope, latency), 0.95);
	if (p95 < 0 || p95 == TIME_NEVER)
		return false;
	parts.whole = (double)p95;
	if (result->replications == 1)
		return study_parts_interval(&parts, tail, low, high) ==
		       PARTS_STEADY;
	study_centred_interval(parts.value, n, parts.whole, tail, low, high);
	return *low >= 0;
}
