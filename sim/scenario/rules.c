/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules, and the names they may use. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

void build_names(struct build *b)
{
	struct world_spec *w = &b->scenario->world;
	struct arena *a = b->reader->arena;
	const char **endpoints, **deployments, **traffics;
	uint32_t *of, *targets, e, d, i;

	assert(!reader_failed(b->reader));
	endpoints = arena_new(a, w->n_endpoints, sizeof *endpoints);
	deployments = arena_new(a, w->n_deployments, sizeof *deployments);
	traffics = arena_new(a, w->n_loads, sizeof *traffics);
	targets = arena_new(a, w->n_loads, sizeof *targets);
	of = arena_new(a, w->n_deployments, sizeof *of);
	for (e = 0; e < w->n_endpoints; e++) {
		endpoints[e] = w->endpoints[e].id;
		for (d = 0; d < w->endpoints[e].n_deployments; d++)
			of[w->endpoints[e].first + d] = e;
	}
	for (d = 0; d < w->n_deployments; d++)
		deployments[d] = w->deployments[d].id;
	for (i = 0; i < w->n_loads; i++) {
		traffics[i] = w->loads[i].name;
		targets[i] = w->loads[i].target;
	}
	w->names.n_endpoints = w->n_endpoints;
	w->names.endpoints = endpoints;
	w->names.n_deployments = w->n_deployments;
	w->names.deployments = deployments;
	w->names.endpoint_of = of;
	w->names.n_traffics = w->n_loads;
	w->names.traffics = traffics;
	w->names.traffic_endpoint = targets;
}

void build_rule_error(struct cursor *c, const struct err *rule)
{
	struct err *err = c->reader->err;

	cursor_error(c, "%s", rule->text);
	if (err->line > 0 && err->col > 0 && rule->col > 0)
		err->col += rule->col;
}

void build_rules(struct build *b, struct cursor *root)
{
	struct cursor *list = cursor_member(root, "expect"), *c;
	struct scenario *s = b->scenario;
	size_t n = cursor_items(list, LIMIT_RULES), i;
	struct measure_rule *rules;
	const char *text;
	struct err err;

	rules = arena_new(b->reader->arena, n + 1, sizeof *rules);
	b->rule_places =
		arena_new(&b->reader->scratch, n + 1, sizeof *b->rule_places);
	for (i = 0; i < n; i++) {
		c = cursor_item(list, i);
		b->rule_places[i] = c;
		text = cursor_text(c);
		if (text == NULL)
			return;
		err_clear(&err);
		if (measure_rule_parse(text, &s->world.names, b->reader->arena,
		                       &s->terms, &rules[i], &err) != 0) {
			build_rule_error(c, &err);
			return;
		}
		if (s->terms.n > MEASURE_MAX_TERMS) {
			cursor_error(c,
			             "with this rule there are more than %d "
			             "terms",
			             MEASURE_MAX_TERMS);
			return;
		}
	}
	s->n_rules = (uint32_t)n;
	s->rules = rules;
}
