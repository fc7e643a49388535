/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

uint32_t route_split(const struct route_table *table, uint64_t key)
{
	uint32_t target = 0;
	if (table->n_targets == 0)
		return ROUTE_NONE;
	if (table->n_targets > 1)
		target = route_screen(table,
		                      route_stage_hash(key, ROUTE_STAGE_SPLIT));
	assert(target < table->n_targets);
	return table->target_deployment[target];
}

enum route_status route_decide(const struct route_table *table,
                               const struct route_state *state,
                               const struct route_request *request,
                               struct route_decision *decision)
{
	uint32_t number = request->deployment;
	if (number == ROUTE_NONE) {
		number = route_split(table, request->key);
		if (number == ROUTE_NONE)
			return ROUTE_NOT_CONFIGURED;
	} else if (number >= table->n_deployments) {
		return ROUTE_BAD_ARGUMENT;
	}
	const struct route_deployment *d = &table->deployments[number];
	if (d->n_replicas == 0)
		return ROUTE_NO_REPLICA;
	assert(number < state->n_deployments);

	const struct route_view view = {
		.deployment = d,
		.in_flight = state->in_flight,
		.hash = route_stage_hash(request->key, ROUTE_STAGE_REPLICA),
		.draw = request->draw,
		.cursor = state->cursor[number],
		.load_factor_percent = table->load_factor_percent,
	};
	struct route_choice choice = d->policy->pick(&view);
	assert(choice.replica < d->n_replicas);
	decision->deployment = number;
	decision->replica = d->replicas[choice.replica].place;
	decision->slot = d->replicas[choice.replica].slot;
	decision->spilled = choice.spilled;
	return ROUTE_OK;
}
