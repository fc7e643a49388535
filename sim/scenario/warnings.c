/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is allowed, and yet is seldom what was meant. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "scenario/scenario_int.h"

void build_warn(struct build *b, const struct cursor *c, const char *fmt, ...)
{
	struct scenario *s = b->scenario;
	char text[300], path[200];
	va_list args;

	if (s->n_warnings == LIMIT_WARNINGS)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (b->warnings == NULL)
		b->warnings = arena_new(b->reader->arena, LIMIT_WARNINGS,
		                        sizeof *b->warnings);
	snprintf(b->warnings[s->n_warnings++].text, sizeof b->warnings->text,
	         "%.160s: %s: %.300s", b->reader->file,
	         cursor_path(c, path, sizeof path), text);
	s->warnings = b->warnings;
}

/* Whether a load names the deployment itself. */
static bool pinned(const struct build *b, uint32_t d)
{
	uint32_t i;

	for (i = 0; i < b->scenario->world.n_loads; i++)
		if (b->loads[i].pinned == d)
			return true;
	return false;
}

/* A deployment that runs and gets nothing, now or later. */
static void warn_idle(struct build *b)
{
	const struct world_deployment *d;
	uint32_t i;

	for (i = 0; i < b->scenario->world.n_deployments; i++) {
		d = &b->deployments[i];
		if (b->peak_replicas[i] == 0 || b->peak_weight[i] > 0 ||
		    pinned(b, i))
			continue;
		build_warn(b, b->places[i],
		           d->in_split ? "\"%s\" has replicas but weighs 0: it "
		                         "gets no traffic"
		                       : "\"%s\" has replicas but is not in "
		                         "traffic_split: it gets no traffic",
		           d->id);
	}
}

static void warn_unrouted(struct build *b)
{
	const struct world_endpoint *e;
	uint32_t i, d;
	bool routable;

	for (i = 0; i < b->scenario->world.n_endpoints; i++) {
		e = &b->endpoints[i];
		routable = false;
		for (d = e->first; d < e->first + e->n_deployments; d++)
			if (b->peak_weight[d] > 0 && b->peak_replicas[d] > 0)
				routable = true;
		if (!routable)
			build_warn(b, b->splits[i],
			           "nothing can be routed on \"%s\": no "
			           "deployment has both weight and replicas",
			           e->id);
	}
}

static bool beyond(const struct measure_moment *m, int64_t duration_ns)
{
	return !m->is_condition && m->at_ns != TIME_NEVER &&
	       m->at_ns > duration_ns;
}

/* Nodes of a rule whose window ends after the run. */
static void warn_windows(struct build *b)
{
	const struct scenario *s = b->scenario;
	const struct measure_rule *rule;
	const struct measure_node *node;
	const struct measure_term *term;
	uint32_t i, k;

	for (i = 0; i < s->n_rules; i++) {
		rule = &s->rules[i];
		for (k = 0; k < rule->n_nodes; k++) {
			node = &rule->nodes[k];
			if (node->kind != NODE_TERM)
				continue;
			term = &s->terms.term[node->term];
			if (!term->bounded ||
			    (!beyond(&term->from, s->world.duration_ns) &&
			     !beyond(&term->to, s->world.duration_ns)))
				continue;
			build_warn(b, b->rule_places[i],
			           "a window of this rule ends after the run");
			break;
		}
	}
}

static void warn_timeline(struct build *b)
{
	const struct world_spec *w = &b->scenario->world;
	uint32_t i;

	for (i = 0; i < w->n_actions; i++)
		if (!b->actions[i].on_condition &&
		    b->actions[i].at_ns >= w->duration_ns)
			build_warn(b, b->action_places[i],
			           "this is after the end of the run: it never "
			           "happens");
}

void build_warnings(struct build *b)
{
	assert(!reader_failed(b->reader));
	warn_idle(b);
	warn_unrouted(b);
	if (b->scenario->world.duration_ns == TIME_NEVER)
		return;
	warn_windows(b);
	warn_timeline(b);
}
