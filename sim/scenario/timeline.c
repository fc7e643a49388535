/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline: one operation each, at a time or when a condition holds. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

static bool failed(const struct build *b)
{
	return reader_failed(b->reader);
}

static void at_deployment(struct build *b, struct cursor *c,
                          struct world_action *out)
{
	const struct world_spec *w = &b->scenario->world;
	uint32_t e;

	out->deployment = build_deployment(b, c);
	for (e = 0; e < w->n_endpoints; e++)
		if (b->endpoints[e].first <= out->deployment)
			out->endpoint = e;
}

static void read_set_weight(struct build *b, struct cursor *c,
                            struct world_action *out)
{
	if (!cursor_object(c, "timeline[].set_weight"))
		return;
	out->operation = WORLD_SET_WEIGHT;
	at_deployment(b, cursor_member(c, "deployment_id"), out);
	out->in_split = true;
	build_weight(b, cursor_member(c, "weight"), out->endpoint,
	             &out->weight);
}

static void read_update_deployment(struct build *b, struct cursor *c,
                                   struct world_action *out)
{
	if (!cursor_object(c, "timeline[].update_deployment"))
		return;
	out->operation = WORLD_SET_REPLICAS;
	at_deployment(b, cursor_member(c, "id"), out);
	out->replicas = (uint32_t)cursor_integer(cursor_member(c, "replicas"));
	if (!failed(b) && out->replicas > b->peak_replicas[out->deployment])
		b->peak_replicas[out->deployment] = out->replicas;
}

/* The endpoint named by `id`, or the only one. */
static uint32_t which_endpoint(struct build *b, struct cursor *c)
{
	const struct world_spec *w = &b->scenario->world;
	struct cursor *id = cursor_member(c, "id");
	const char *text = cursor_id(id, "ep_", "endpoint_");
	uint32_t e;

	if (id == NULL && w->n_endpoints > 1)
		cursor_error(c, "needs \"id\": there are %u endpoints",
		             w->n_endpoints);
	if (text == NULL)
		return 0;
	for (e = 0; e < w->n_endpoints; e++)
		if (strcmp(b->endpoints[e].id, text) == 0)
			return e;
	cursor_error(id, "there is no endpoint \"%s\"", text);
	return 0;
}

static void read_update_endpoint(struct build *b, struct cursor *c,
                                 struct world_action *out)
{
	const struct world_endpoint *e;
	uint64_t *weights;
	bool *listed;

	if (!cursor_object(c, "timeline[].update_endpoint"))
		return;
	out->operation = WORLD_SET_SPLIT;
	out->endpoint = which_endpoint(b, c);
	e = &b->endpoints[out->endpoint];
	out->deployment = e->first;
	cursor_choice(cursor_member(c, "update_mask"));
	weights =
		arena_new(b->reader->arena, e->n_deployments, sizeof *weights);
	listed = arena_new(b->reader->arena, e->n_deployments, sizeof *listed);
	build_split(b, cursor_member(c, "traffic_split"), out->endpoint,
	            weights, listed);
	out->weights = weights;
	out->listed = listed;
}

static void read_stop(struct build *b, struct cursor *c,
                      struct world_action *out)
{
	out->operation = WORLD_STOP_DEPLOYMENT;
	at_deployment(b, c, out);
}

static void read_restart(struct build *b, struct cursor *c,
                         struct world_action *out)
{
	out->operation = WORLD_RESTART_DEPLOYMENT;
	at_deployment(b, c, out);
}

static void read_crash(struct build *b, struct cursor *c,
                       struct world_action *out)
{
	struct cursor *replicas;
	const char *text;

	if (!cursor_object(c, "timeline[].fault.crash"))
		return;
	out->operation = WORLD_CRASH;
	at_deployment(b, cursor_member(c, "deployment"), out);
	out->retry_in_flight =
		cursor_choice(cursor_member(c, "in_flight")) == 1;
	replicas = cursor_member(c, "replicas");
	if (replicas == NULL)
		return;
	text = json_string_value(replicas->value);
	if (text != NULL && strcmp(text, "all") == 0)
		out->replicas = UINT32_MAX;
	else
		out->replicas = (uint32_t)cursor_integer(replicas);
}

static void read_fault(struct build *b, struct cursor *c,
                       struct world_action *out)
{
	static const char *const names[] = {"crash", "restore"};
	struct cursor *restore;

	if (!cursor_object(c, "timeline[].fault"))
		return;
	if (cursor_one_of(c, names, 2) == 0) {
		read_crash(b, cursor_member(c, "crash"), out);
		return;
	}
	restore = cursor_member(c, "restore");
	if (!cursor_object(restore, "timeline[].fault.restore"))
		return;
	out->operation = WORLD_RESTORE;
	at_deployment(b, cursor_member(restore, "deployment"), out);
	out->replicas = UINT32_MAX;
}

/* A rule of the simple form metric(deployment) OP number. */
static void read_when(struct build *b, struct cursor *c,
                      struct measure_condition *out)
{
	struct measure_terms terms = {.n = 0};
	struct err err = {.set = false};
	const struct measure_node *root, *left, *right;
	const struct measure_term *term;
	struct measure_rule rule;
	const char *text = cursor_text(c);

	if (text == NULL)
		return;
	if (measure_rule_parse(text, &b->scenario->world.names,
	                       &b->reader->scratch, &terms, &rule, &err) != 0) {
		build_rule_error(c, &err);
		return;
	}
	root = &rule.nodes[0];
	left = root->kind == NODE_COMPARE ? &rule.nodes[root->a] : root;
	right = root->kind == NODE_COMPARE ? &rule.nodes[root->b] : root;
	if (left->kind != NODE_TERM || right->kind != NODE_NUMBER) {
		cursor_error(c, "must be a condition such as "
		                "\"replicas.ready(dep_a) == 2\"");
		return;
	}
	term = &terms.term[left->term];
	if ((term->metric != METRIC_READY && term->metric != METRIC_WANTED &&
	     term->metric != METRIC_QUEUE && term->metric != METRIC_BATCH &&
	     term->metric != METRIC_IN_FLIGHT) ||
	    term->statistic != STAT_DEFAULT || term->bounded ||
	    term->traffic != MEASURE_NONE || term->replica != MEASURE_NONE ||
	    term->replicas) {
		cursor_error(c, "must compare replicas.ready, replicas.wanted, "
		                "queue, batch or in_flight of a deployment or "
		                "endpoint with a number");
		return;
	}
	*out = (struct measure_condition){term->metric, term->endpoint,
	                                  term->deployment, root->compare,
	                                  right->number};
}

static const struct {
	const char *name;
	void (*read)(struct build *b, struct cursor *c,
	             struct world_action *out);
} operations[] = {
	{"set_weight", read_set_weight},
	{"update_deployment", read_update_deployment},
	{"update_endpoint", read_update_endpoint},
	{"stop_deployment", read_stop},
	{"restart_deployment", read_restart},
	{"fault", read_fault},
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void read_action(struct build *b, struct cursor *c,
                        struct world_action *out)
{
	static const char *const times[] = {"at", "when"};
	const char *names[OPERATIONS];
	size_t which, i;

	if (!cursor_object(c, "timeline[]"))
		return;
	for (i = 0; i < OPERATIONS; i++)
		names[i] = operations[i].name;
	out->on_condition = cursor_one_of(c, times, 2) == 1;
	which = cursor_one_of(c, names, OPERATIONS);
	if (failed(b))
		return;
	if (out->on_condition)
		read_when(b, cursor_member(c, "when"), &out->when);
	else
		out->at_ns = cursor_duration(cursor_member(c, "at"));
	if (!failed(b))
		operations[which].read(
			b, cursor_member(c, operations[which].name), out);
}

void build_timeline(struct build *b, struct cursor *root)
{
	struct cursor *list = cursor_member(root, "timeline");
	size_t n = cursor_items(list, LIMIT_ACTIONS), i;

	if (failed(b))
		return;
	b->actions = arena_new(b->reader->arena, n + 1, sizeof *b->actions);
	b->action_places =
		arena_new(&b->reader->scratch, n + 1, sizeof *b->action_places);
	for (i = 0; i < n && !failed(b); i++) {
		b->action_places[i] = cursor_item(list, i);
		read_action(b, b->action_places[i], &b->actions[i]);
	}
	b->scenario->world.n_actions = (uint32_t)n;
	b->scenario->world.actions = b->actions;
}
