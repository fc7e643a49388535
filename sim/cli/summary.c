/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary.json: the screen's numbers and more, units in the names of keys.
 * A value that never came is the string "inf", one that does not exist null.
 */
#include "cli_int.h"

#include <math.h>

static json_t *real(double value)
{
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *ms(int64_t ns)
{
	if (ns == TIME_NEVER)
		return json_string("inf");
	return ns < 0 ? json_null() : json_real((double)ns / (double)NS_PER_MS);
}

static void put(json_t *o, const char *name, json_t *value)
{
	json_object_set_new(o, name, value);
}

static void put_count(json_t *o, const char *name, uint64_t n)
{
	put(o, name, json_integer((json_int_t)n));
}

static void put_latency(json_t *o, const char *name,
                        const struct measure_hist *h)
{
	static const struct {
		const char *name;
		double p;
	} quantile[] = {{"p50_ms", 0.5},
	                {"p90_ms", 0.9},
	                {"p95_ms", 0.95},
	                {"p99_ms", 0.99},
	                {"p99_9_ms", 0.999}};
	json_t *l = json_object();

	put_count(l, "n", h->n);
	put_count(l, "infinite", h->infinite);
	put(l, "mean_ms", real(measure_hist_mean(h) / (double)NS_PER_MS));
	for (size_t i = 0; i < sizeof(quantile) / sizeof(quantile[0]); i++)
		put(l, quantile[i].name,
		    ms(measure_hist_quantile(h, quantile[i].p)));
	put(l, "min_ms", h->n ? ms(h->min) : json_null());
	put(l, "max_ms", h->n ? ms(h->max) : json_null());
	put(o, name, l);
}

static json_t *scope_json(const struct measure_scope_result *s)
{
	json_t *o = json_object();
	json_t *errors = json_object();

	put(o, "id", json_string(s->id));
	put_count(o, "arrived", s->arrived);
	for (size_t i = 0; i < MEASURE_OUTCOMES; i++)
		put_count(o, measure_outcome_name((enum measure_outcome)i),
		          s->ended[i]);
	for (size_t i = ERROR_NONE + 1; i < MEASURE_ERRORS; i++)
		if (s->errors[i])
			put_count(errors,
			          measure_error_name((enum measure_error)i),
			          s->errors[i]);
	put(o, "errors", errors);
	put_count(o, "requests", s->requests);
	put(o, "measured_s", real(s->seconds));
	put(o, "requests_per_s", real((double)s->requests / s->seconds));
	put(o, "input_tokens_per_s",
	    real((double)s->input_tokens / s->seconds));
	put(o, "output_tokens_per_s",
	    real((double)s->output_tokens / s->seconds));
	put(o, "queue_mean", real(s->queue));
	put(o, "batch_mean", real(s->batch));
	put(o, "in_flight_mean", real(s->in_flight));
	put(o, "ready_mean", real(s->ready));
	put(o, "wanted_mean", real(s->wanted));
	put_latency(o, "ttft", &s->ttft);
	put_latency(o, "tpot", &s->tpot);
	put_latency(o, "itl", &s->itl);
	put_latency(o, "e2e", &s->e2e);
	put_latency(o, "queue_time", &s->queue_time);
	return o;
}

static json_t *deployments_json(const struct outcome *o, uint32_t endpoint)
{
	const struct world_endpoint *w =
		&o->scenario->world.endpoints[endpoint];
	const struct measure_scope_result *e =
		measure_result_scope(o->result, SCOPE_ENDPOINT, endpoint);
	json_t *list = json_array();

	for (uint32_t i = 0; i < w->n_deployments; i++) {
		const struct measure_scope_result *d = measure_result_scope(
			o->result, SCOPE_DEPLOYMENT, w->first + i);
		double all = (double)e->requests;
		json_t *x = scope_json(d);

		put(x, "weight", real(o->scenario->weights[w->first + i]));
		put(x, "share", real((double)d->requests / all));
		put(x, "expected_share", real(d->expected_requests / all));
		put(x, "token_share",
		    real((double)d->output_tokens / (double)e->output_tokens));
		put_count(x, "ready_first", d->ready_first);
		put_count(x, "ready_last", d->ready_last);
		put_count(x, "ready_peak", d->ready_peak);
		json_array_append_new(list, x);
	}
	return list;
}

static json_t *scopes_json(const struct measure_result *r,
                           enum measure_scope scope)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->n_scopes; i++)
		if (r->scope[i].scope == scope)
			json_array_append_new(list, scope_json(&r->scope[i]));
	return list;
}

static void put_interval(json_t *o, const struct outcome *out,
                         uint32_t endpoint)
{
	static const struct {
		const char *name;
		enum study_latency latency;
	} what[] = {{"ttft", STUDY_TTFT},
	            {"tpot", STUDY_TPOT},
	            {"itl", STUDY_ITL},
	            {"e2e", STUDY_E2E}};

	for (size_t i = 0; i < 4; i++) {
		json_t *l = json_object_get(o, what[i].name);
		double low, high;

		if (!study_p95_interval(out->result, endpoint, what[i].latency,
		                        0.95, &low, &high))
			continue;
		put(l, "p95_low_ms", real(low / 1e6));
		put(l, "p95_high_ms", real(high / 1e6));
	}
}

static const char *unit_name(enum study_unit unit)
{
	static const char *const names[] = {
		[UNIT_NUMBER] = "number",
		[UNIT_TIME_NS] = "ns",
		[UNIT_FRACTION] = "fraction",
	};

	return names[unit];
}

static json_t *rules_json(const struct outcome *o)
{
	static const char *const verdict[] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_FAIL] = "fail",
		[VERDICT_UNDECIDED] = "undecided",
	};
	json_t *list = json_array();

	for (uint32_t i = 0; i < o->scenario->n_rules; i++) {
		const struct study_judgement *j = &o->judgement[i];
		json_t *x = json_object();

		put(x, "rule", json_string(o->scenario->rules[i].text));
		put(x, "verdict", json_string(verdict[j->verdict]));
		put(x, "unit", json_string(unit_name(j->unit)));
		put(x, "seen", real(j->seen));
		put(x, "sees", real(j->sees));
		put(x, "bound", real(j->bound));
		put(x, "low", real(j->low));
		put(x, "high", real(j->high));
		put(x, "p", real(j->p));
		put(x, "n", real(j->n));
		if (j->note[0])
			put(x, "note", json_string(j->note));
		json_array_append_new(list, x);
	}
	return list;
}

json_t *summary_json(const struct outcome *o, const struct cell *cell)
{
	const struct scenario *s = o->scenario;
	json_t *all = json_object();
	json_t *endpoints = json_array();

	put(all, "scenario", json_string(s->name));
	put(all, "digest", json_string(s->digest));
	put(all, "cell", cell->name[0] ? json_string(cell->name) : json_null());
	put_count(all, "seed", s->seed);
	put_count(all, "replications", o->result->replications);
	put(all, "interrupted", json_boolean(o->interrupted));
	put(all, "simulated_s", real(o->result->end_s));
	for (uint32_t e = 0; e < s->world.n_endpoints; e++) {
		json_t *x = scope_json(
			measure_result_scope(o->result, SCOPE_ENDPOINT, e));

		put(x, "name", json_string(s->world.endpoints[e].name));
		put_interval(x, o, e);
		put(x, "deployments", deployments_json(o, e));
		json_array_append_new(endpoints, x);
	}
	put(all, "endpoints", endpoints);
	put(all, "traffic", scopes_json(o->result, SCOPE_TRAFFIC));
	put(all, "replicas", scopes_json(o->result, SCOPE_REPLICA));
	put(all, "rules", rules_json(o));
	return all;
}
