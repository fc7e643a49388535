/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Endpoints with their deployments, routers and initial split. */
#include <assert.h>
#include <string.h>

#include "scenario/scenario_int.h"

static bool failed(const struct build *b)
{
	return reader_failed(b->reader);
}

/* The policy's name is checked against the routing core's own table. */
static const struct route_policy *read_policy(struct cursor *c)
{
	const struct route_policy *policy;
	const char *names[32], *text = cursor_text(c), *near;
	size_t n;

	if (text == NULL)
		return NULL;
	policy = route_policy_find(text);
	if (policy != NULL)
		return policy;
	for (n = 0; n < 32 && route_policy_name(n) != NULL; n++)
		names[n] = route_policy_name(n);
	near = base_nearest(text, names, n);
	if (near != NULL)
		cursor_error(c,
		             "there is no policy \"%s\"; did you mean "
		             "\"%s\"?",
		             text, near);
	else
		cursor_error(c,
		             "there is no policy \"%s\"; see replica_choice "
		             "in scenarios/README.md",
		             text);
	return NULL;
}

static struct replica_cold_start read_cold_start(struct cursor *c)
{
	struct replica_cold_start cold = {.image_pull_ns = dist_constant(0)};

	if (!cursor_object(c, "endpoint.deployments[].cold_start"))
		return cold;
	cold.image_pull_ns =
		cursor_dist(cursor_member(c, "image_pull"), QUANTITY_NS);
	cold.start_ns = cursor_dist(cursor_member(c, "start"), QUANTITY_NS);
	cold.weights_ns = cursor_dist(cursor_member(c, "weights"), QUANTITY_NS);
	cold.warmup_ns = cursor_dist(cursor_member(c, "warmup"), QUANTITY_NS);
	return cold;
}

/* An id that no deployment before d has. */
static void unique_deployment(struct build *b, struct cursor *id, uint32_t d)
{
	uint32_t i;

	for (i = 0; i < d && !failed(b); i++)
		if (strcmp(b->deployments[i].id, b->deployments[d].id) == 0)
			cursor_error(id, "there is a deployment \"%s\" already",
			             b->deployments[d].id);
}

static void read_deployment(struct build *b, struct cursor *c, uint32_t d)
{
	struct world_deployment *out = &b->deployments[d];
	struct cursor *id, *model;
	const char *served = NULL, *named;

	if (!cursor_object(c, "endpoint.deployments[]"))
		return;
	b->places[d] = c;
	id = cursor_member(c, "id");
	out->id = cursor_id(id, "dep_", NULL);
	if (failed(b))
		return;
	unique_deployment(b, id, d);
	model = cursor_member(c, "model");
	named = cursor_text(model);
	out->config = build_config(b, cursor_member(c, "config"),
	                           &out->config_id, &served);
	out->replicas = (uint32_t)cursor_integer(cursor_member(c, "replicas"));
	b->peak_replicas[d] = out->replicas;
	out->replica_choice = read_policy(cursor_member(c, "replica_choice"));
	out->cold_start = read_cold_start(cursor_member(c, "cold_start"));
	out->cold_at_start = cursor_choice(cursor_member(c, "start")) == 1;
	if (!failed(b) && named != NULL && served != NULL &&
	    strcmp(named, served) != 0)
		build_warn(b, model, "the config \"%s\" is of \"%s\"",
		           out->config_id, served);
}

static void read_routers(struct cursor *c, struct world_router *out)
{
	struct cursor *factor;

	if (!cursor_object(c, "endpoint.routers"))
		return;
	out->propagation_ns =
		cursor_dist(cursor_member(c, "propagation"), QUANTITY_NS);
	factor = cursor_member(c, "load_factor");
	out->load_factor_percent =
		(uint32_t)(cursor_fraction(factor) * 100 + 0.5);
}

static void read_initial_split(struct build *b, struct cursor *list, uint32_t e)
{
	const struct world_endpoint *endpoint = &b->endpoints[e];
	uint32_t n = endpoint->n_deployments, i;
	bool *listed = arena_new(&b->reader->scratch, n, sizeof *listed);

	b->splits[e] = list;
	if (cursor_items(list, LIMIT_DEPLOYMENTS) == 0) {
		if (!failed(b))
			cursor_error(list, "is empty: an endpoint that routes "
			                   "nothing");
		return;
	}
	b->reading_initial = true;
	build_split(b, list, e, &b->initial[endpoint->first], listed);
	b->reading_initial = false;
	for (i = 0; i < n; i++)
		b->deployments[endpoint->first + i].in_split = listed[i];
}

/* An endpoint's id and name, which no endpoint before it has. */
static void read_names(struct build *b, struct cursor *c, uint32_t e)
{
	struct world_endpoint *out = &b->endpoints[e];
	struct cursor *id = cursor_member(c, "id");
	struct cursor *name = cursor_member(c, "name");
	uint32_t i;

	out->id = cursor_id(id, "ep_", "endpoint_");
	out->name = name != NULL ? cursor_name(name, true) : out->id;
	for (i = 0; i < e && !failed(b); i++) {
		if (strcmp(b->endpoints[i].id, out->id) == 0)
			cursor_error(id, "there is an endpoint \"%s\" already",
			             out->id);
		else if (strcmp(b->endpoints[i].name, out->name) == 0)
			cursor_error(name,
			             "there is an endpoint of the name "
			             "\"%s\" already",
			             out->name);
	}
}

static void read_endpoint(struct build *b, struct cursor *c, uint32_t e,
                          uint32_t *first)
{
	struct world_endpoint *out = &b->endpoints[e];
	struct cursor *list;
	size_t n, i;

	if (!cursor_object(c, "endpoint"))
		return;
	read_names(b, c, e);
	list = cursor_member(c, "deployments");
	n = cursor_items(list, LIMIT_DEPLOYMENTS);
	if (!failed(b) && n == 0)
		cursor_error(list, "is empty: an endpoint needs a deployment");
	out->first = *first;
	out->n_deployments = (uint32_t)n;
	*first += (uint32_t)n;
	for (i = 0; i < n && !failed(b); i++)
		read_deployment(b, cursor_item(list, i),
		                out->first + (uint32_t)i);
	read_routers(cursor_member(c, "routers"), &out->router);
	out->earlier_errors = cursor_choice(cursor_member(c, "errors")) == 1;
	if (!cursor_has(c, "traffic_split") && !failed(b))
		cursor_error(c, "has no \"traffic_split\": an endpoint that "
		                "routes nothing");
	if (!failed(b))
		read_initial_split(b, cursor_member(c, "traffic_split"), e);
}

/* Deployments of all endpoints, before any is read. */
static size_t count_deployments(struct cursor **endpoints, size_t n)
{
	size_t i, sum = 0;

	for (i = 0; i < n; i++)
		sum += json_array_size(
			json_object_get(endpoints[i]->value, "deployments"));
	return sum;
}

static void allocate(struct build *b, uint32_t endpoints, uint32_t deployments)
{
	struct arena *arena = b->reader->arena, *scratch = &b->reader->scratch;
	struct world_spec *w = &b->scenario->world;

	b->endpoints = arena_new(arena, endpoints, sizeof *b->endpoints);
	b->splits = arena_new(scratch, endpoints, sizeof *b->splits);
	b->deployments = arena_new(arena, deployments, sizeof *b->deployments);
	b->decimals = arena_new(arena, deployments, sizeof *b->decimals);
	b->places = arena_new(scratch, deployments, sizeof *b->places);
	b->initial = arena_new(scratch, deployments, sizeof *b->initial);
	b->peak_replicas =
		arena_new(scratch, deployments, sizeof *b->peak_replicas);
	w->n_endpoints = endpoints;
	w->endpoints = b->endpoints;
	w->n_deployments = deployments;
	w->deployments = b->deployments;
	b->scenario->weights = b->decimals;
}

static void check_total(struct build *b, struct cursor *root)
{
	uint64_t sum = 0;
	uint32_t d;

	for (d = 0; d < b->scenario->world.n_deployments; d++)
		sum += b->deployments[d].replicas;
	if (sum > LIMIT_REPLICAS)
		cursor_error(root,
		             "has %llu replicas in all; at most %d are "
		             "simulated",
		             (unsigned long long)sum, LIMIT_REPLICAS);
}

void build_endpoints(struct build *b, struct cursor *root)
{
	static const char *const names[] = {"endpoint", "endpoints"};
	struct cursor *list, **each;
	size_t which, n = 1, total, i;
	uint32_t first = 0;

	which = cursor_one_of(root, names, 2);
	if (failed(b))
		return;
	list = cursor_member(root, names[which]);
	if (which == 1)
		n = cursor_items(list, LIMIT_ENDPOINTS);
	if (failed(b))
		return;
	if (n == 0) {
		cursor_error(list, "is empty");
		return;
	}
	each = arena_new(&b->reader->scratch, n, sizeof *each);
	for (i = 0; i < n; i++)
		each[i] = which == 1 ? cursor_item(list, i) : list;
	total = count_deployments(each, n);
	if (total > LIMIT_DEPLOYMENTS) {
		cursor_error(list,
		             "has %zu deployments in all; at most %d are "
		             "simulated",
		             total, LIMIT_DEPLOYMENTS);
		return;
	}
	allocate(b, (uint32_t)n, (uint32_t)total);
	for (i = 0; i < n && !failed(b); i++)
		read_endpoint(b, each[i], (uint32_t)i, &first);
	assert(failed(b) || first == total);
	if (!failed(b))
		check_total(b, root);
}
