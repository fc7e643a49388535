/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selectors that are names: a deployment, replicas(DEPLOYMENT), replica N, an
 * endpoint, a traffic, an error code (of errors), a type of event (of count).
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "measure/rule_int.h"

/* What a run tells, by the platform's names; ours: router. */
static const char *const events[] = {
	"deployment.scaled",         "deployment.status_updated",
	"deployment.updated",        "endpoint.updated",
	"pod.startup_phase_changed", "router.table_applied",
};

enum { EVENTS = sizeof(events) / sizeof(events[0]) };

static uint32_t place_of(const char *word, const char *const *names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(word, names[i]) == 0)
			return i;
	return MEASURE_NONE;
}

/* The only name that begins with a word, NULL when there is none such. */
static const char *beginning(const char *word, const char *const *names,
                             size_t n)
{
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strncmp(word, names[i], strlen(word)) != 0)
			continue;
		if (found)
			return NULL;
		found = names[i];
	}
	return found;
}

/* All codes, or all types, where only such a one can be meant. */
static int say_all(struct rule_reader *r, bool are_events)
{
	char list[360];
	size_t at = 0;

	for (size_t i = 0; i < (are_events ? EVENTS : MEASURE_ERRORS - 1);
	     i++) {
		const char *name =
			are_events ? events[i]
				   : measure_error_name(
					     (enum measure_error)(i + 1));
		int n = snprintf(list + at, sizeof(list) - at, "%s%s",
		                 i ? ", " : "", name);

		at += (size_t)n;
		assert(n > 0 && at < sizeof(list));
	}
	return rule_fail(r, "\"%.20s\" is none of %s", r->word, list);
}

static int unknown(struct rule_reader *r, const struct measure_term *t)
{
	const struct measure_names *n = r->names;
	size_t most = (size_t)n->n_endpoints + n->n_deployments +
	              n->n_traffics + MEASURE_ERRORS + EVENTS;
	const char **all = arena_new(r->arena, most, sizeof(*all));
	const char *near;
	size_t at = 0;

	for (uint32_t i = 0; i < n->n_endpoints; i++)
		all[at++] = n->endpoints[i];
	for (uint32_t i = 0; i < n->n_deployments; i++)
		all[at++] = n->deployments[i];
	for (uint32_t i = 0; i < n->n_traffics; i++)
		all[at++] = n->traffics[i];
	for (unsigned i = ERROR_NONE + 1; i < MEASURE_ERRORS; i++)
		all[at++] = measure_error_name((enum measure_error)i);
	for (size_t i = 0; i < EVENTS; i++)
		all[at++] = events[i];
	assert(at <= most);
	near = beginning(r->word, all, at);
	if (near == NULL)
		near = base_nearest(r->word, all, at);
	if (near)
		return rule_fail(r,
		                 "nothing is called \"%s\"; did you mean "
		                 "\"%s\"?",
		                 r->word, near);
	if (t->metric == METRIC_COUNT || t->metric == METRIC_ERRORS)
		return say_all(r, t->metric == METRIC_COUNT);
	return rule_fail(r,
	                 "no deployment, endpoint, traffic, error or "
	                 "event is called \"%s\"",
	                 r->word);
}

/* Selectors of two endpoints have nothing in common. */
static int set_endpoint(struct rule_reader *r, struct measure_term *t,
                        uint32_t endpoint)
{
	if (t->endpoint != MEASURE_NONE && t->endpoint != endpoint)
		return rule_fail(r,
		                 "\"%s\" is of another endpoint than what "
		                 "stands before it",
		                 r->word);
	t->endpoint = endpoint;
	return 0;
}

static int set_deployment(struct rule_reader *r, struct measure_term *t,
                          uint32_t deployment)
{
	if (t->deployment != MEASURE_NONE)
		return rule_fail(r, "a second deployment");
	t->deployment = deployment;
	if (set_endpoint(r, t, r->names->endpoint_of[deployment]) != 0)
		return -1;
	return rule_next(r);
}

static int set_traffic(struct rule_reader *r, struct measure_term *t,
                       uint32_t traffic)
{
	const uint32_t *endpoints = r->names->traffic_endpoint;

	if (t->traffic != MEASURE_NONE)
		return rule_fail(r, "a second traffic");
	t->traffic = traffic;
	if (endpoints && set_endpoint(r, t, endpoints[traffic]) != 0)
		return -1;
	return rule_next(r);
}

static int read_error(struct rule_reader *r, struct measure_term *t,
                      enum measure_error error)
{
	if (t->metric != METRIC_ERRORS)
		return rule_fail(r, "an error code stands only in errors(%s)",
		                 r->word);
	if (t->error != ERROR_NONE)
		return rule_fail(r, "a second error code");
	t->error = error;
	return rule_next(r);
}

static int read_event(struct rule_reader *r, struct measure_term *t)
{
	if (t->metric != METRIC_COUNT)
		return rule_fail(r, "a type of event stands only in count(%s)",
		                 r->word);
	if (t->event[0] != '\0')
		return rule_fail(r, "a second type of event");
	assert(strlen(r->word) < sizeof(t->event));
	memcpy(t->event, r->word, strlen(r->word) + 1);
	return rule_next(r);
}

int rule_name(struct rule_reader *r, struct measure_term *t)
{
	const struct measure_names *n = r->names;
	uint32_t at = place_of(r->word, n->deployments, n->n_deployments);

	assert(r->token == TOKEN_WORD);
	if (at != MEASURE_NONE)
		return set_deployment(r, t, at);
	at = place_of(r->word, n->traffics, n->n_traffics);
	if (at != MEASURE_NONE)
		return set_traffic(r, t, at);
	at = place_of(r->word, n->endpoints, n->n_endpoints);
	if (at != MEASURE_NONE)
		return set_endpoint(r, t, at) != 0 ? -1 : rule_next(r);
	for (unsigned i = ERROR_NONE + 1; i < MEASURE_ERRORS; i++) {
		enum measure_error error = (enum measure_error)i;

		if (strcmp(r->word, measure_error_name(error)) == 0)
			return read_error(r, t, error);
	}
	at = place_of(r->word, events, EVENTS);
	return at != MEASURE_NONE ? read_event(r, t) : unknown(r, t);
}

int rule_replicas(struct rule_reader *r, struct measure_term *t)
{
	const struct measure_names *n = r->names;
	uint32_t at;

	if (rule_next(r) != 0 || rule_want(r, "(") != 0)
		return -1;
	at = r->token == TOKEN_WORD
	             ? place_of(r->word, n->deployments, n->n_deployments)
	             : MEASURE_NONE;
	if (at == MEASURE_NONE)
		return rule_fail(r, "replicas(...) wants a deployment");
	if (t->replica != MEASURE_NONE)
		return rule_fail(r, "either one replica or each of them");
	t->replicas = true;
	if (set_deployment(r, t, at) != 0)
		return -1;
	return rule_want(r, ")");
}

int rule_replica(struct rule_reader *r, struct measure_term *t)
{
	if (t->replicas || t->replica != MEASURE_NONE)
		return rule_fail(r, "a second choice of replicas");
	if (rule_next(r) != 0)
		return -1;
	if (r->token != TOKEN_NUMBER || r->unit != UNIT_PLAIN ||
	    r->number > 1e6 || r->number != (double)(uint32_t)r->number)
		return rule_fail(r, "replica wants its number, from 0: the "
		                    "last part of its name");
	t->replica = (uint32_t)r->number;
	return rule_next(r);
}
