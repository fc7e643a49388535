/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weights are decimals of any scale; the router wants integers in the same
 * ratio. All weights an endpoint ever has, the timeline's too, are scaled
 * together, so that an edit keeps its proportion to what stays.
 */
#include <assert.h>
#include <string.h>

#include "scenario/scenario_int.h"

__extension__ typedef unsigned __int128 u128;

static bool failed(const struct build *b)
{
	return reader_failed(b->reader);
}

uint32_t build_deployment(struct build *b, struct cursor *c)
{
	const struct world_spec *w = &b->scenario->world;
	const char *id = cursor_id(c, "dep_", NULL), *near, **ids;
	uint32_t d;

	if (id == NULL)
		return 0;
	ids = arena_new(&b->reader->scratch, w->n_deployments, sizeof *ids);
	for (d = 0; d < w->n_deployments; d++) {
		ids[d] = b->deployments[d].id;
		/* Not read yet: of an endpoint further on. */
		if (ids[d] == NULL)
			break;
		if (strcmp(ids[d], id) == 0)
			return d;
	}
	near = base_nearest(id, ids, d);
	if (near != NULL)
		cursor_error(c,
		             "there is no deployment \"%s\"; did you mean "
		             "\"%s\"?",
		             id, near);
	else
		cursor_error(c, "there is no deployment \"%s\"", id);
	return 0;
}

void build_weight(struct build *b, struct cursor *c, uint32_t endpoint,
                  uint64_t *out)
{
	struct weight *w;
	double decimal = cursor_number(c);

	if (failed(b))
		return;
	b->weights = mem_grow(b->weights, b->n_weights + 1, sizeof *b->weights);
	w = &b->weights[b->n_weights++];
	*w = (struct weight){decimal, out, c, endpoint, b->reading_initial};
}

/* Entry i of a split, at its place within the endpoint. */
static void read_entry(struct build *b, struct cursor *c, uint32_t endpoint,
                       uint64_t *weights, bool *listed)
{
	const struct world_endpoint *e = &b->endpoints[endpoint];
	struct cursor *id;
	uint32_t d;

	if (!cursor_object(c, "endpoint.traffic_split[]"))
		return;
	id = cursor_member(c, "deployment_id");
	d = build_deployment(b, id);
	if (failed(b))
		return;
	if (d < e->first || d >= e->first + e->n_deployments) {
		cursor_error(id, "\"%s\" is not a deployment of \"%s\"",
		             b->deployments[d].id, e->id);
		return;
	}
	if (listed[d - e->first]) {
		cursor_error(id, "\"%s\" is in the split already",
		             b->deployments[d].id);
		return;
	}
	listed[d - e->first] = true;
	build_weight(b, cursor_member(c, "weight"), endpoint,
	             &weights[d - e->first]);
}

void build_split(struct build *b, struct cursor *list, uint32_t endpoint,
                 uint64_t *weights, bool *listed)
{
	size_t n = cursor_items(list, LIMIT_DEPLOYMENTS), i;

	for (i = 0; i < n && !failed(b); i++)
		read_entry(b, cursor_item(list, i), endpoint, weights, listed);
}

/* Says which weight could not be scaled. */
static void blame(const struct weight *const *own, size_t n)
{
	const struct weight *least = NULL, *most = NULL;
	char small[64], large[64];
	uint64_t digits;
	int exponent;
	size_t i;

	for (i = 0; i < n; i++) {
		if (units_decimal(own[i]->decimal, &digits, &exponent) != 0) {
			cursor_error(own[i]->cursor,
			             "has more than 9 significant digits");
			return;
		}
		if (digits > 0 &&
		    (least == NULL || own[i]->decimal < least->decimal))
			least = own[i];
		if (most == NULL || own[i]->decimal > most->decimal)
			most = own[i];
	}
	assert(least != NULL && most != NULL);
	cursor_error(most->cursor,
	             "%s is more than 10^9 times another weight of the "
	             "endpoint, %s",
	             cursor_show(most->cursor, large, sizeof large),
	             cursor_show(least->cursor, small, sizeof small));
}

static void scale(struct build *b, uint32_t endpoint)
{
	struct arena *a = &b->reader->scratch;
	const struct weight **own = arena_new(a, b->n_weights + 1, sizeof *own);
	double *values = arena_new(a, b->n_weights + 1, sizeof *values);
	uint64_t *scaled = arena_new(a, b->n_weights + 1, sizeof *scaled);
	size_t i, n = 0;

	for (i = 0; i < b->n_weights; i++) {
		if (b->weights[i].endpoint != endpoint)
			continue;
		own[n] = &b->weights[i];
		values[n++] = b->weights[i].decimal;
	}
	if (units_ratio(values, n, scaled) != 0) {
		blame(own, n);
		return;
	}
	for (i = 0; i < n; i++)
		*own[i]->out = scaled[i];
}

/* The largest weight that a deployment has at any time. */
static uint64_t peak_weight(const struct build *b, uint32_t d)
{
	const struct world_spec *w = &b->scenario->world;
	uint64_t peak = b->deployments[d].weight, weight;
	const struct world_action *a;
	uint32_t i, first;

	for (i = 0; i < w->n_actions; i++) {
		a = &b->actions[i];
		weight = 0;
		first = b->endpoints[a->endpoint].first;
		if (a->operation == WORLD_SET_WEIGHT && a->deployment == d)
			weight = a->weight;
		else if (a->operation == WORLD_SET_SPLIT && d >= first &&
		         d < first + b->endpoints[a->endpoint].n_deployments)
			weight = a->weights[d - first];
		peak = weight > peak ? weight : peak;
	}
	return peak;
}

/* The router adds weight x ready replicas in 64 bits. */
static void check_capacity(struct build *b, uint32_t endpoint)
{
	const struct world_endpoint *e = &b->endpoints[endpoint];
	u128 sum = 0;
	uint32_t d;

	for (d = e->first; d < e->first + e->n_deployments; d++)
		sum += (u128)b->peak_weight[d] * b->peak_replicas[d];
	if (sum > INT64_MAX)
		cursor_error(b->splits[endpoint],
		             "weights x replicas do not fit in 63 bits; write "
		             "the weights with fewer digits");
}

void build_scale_weights(struct build *b)
{
	const struct world_spec *w = &b->scenario->world;
	const struct weight *weight;
	uint32_t e, d;
	size_t i;

	if (failed(b))
		return;
	b->peak_weight = arena_new(&b->reader->scratch, w->n_deployments,
	                           sizeof *b->peak_weight);
	for (e = 0; e < w->n_endpoints && !failed(b); e++)
		scale(b, e);
	if (failed(b))
		return;
	for (i = 0; i < b->n_weights; i++) {
		weight = &b->weights[i];
		if (weight->initial)
			b->decimals[weight->out - b->initial] = weight->decimal;
	}
	for (d = 0; d < w->n_deployments; d++) {
		b->deployments[d].weight = b->initial[d];
		b->peak_weight[d] = peak_weight(b, d);
	}
	for (e = 0; e < w->n_endpoints && !failed(b); e++)
		check_capacity(b, e);
}
