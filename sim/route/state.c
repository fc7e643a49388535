/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

#include <string.h>

static struct route_state *lay_out(struct route_carve *carve, uint32_t n_slots,
                                   uint32_t n_deployments)
{
	struct route_state *s = route_carve(carve, 1, sizeof(*s));
	uint32_t *in_flight = route_carve(carve, n_slots, sizeof(uint32_t));
	uint32_t *generation = route_carve(carve, n_slots, sizeof(uint32_t));
	uint32_t *owner = route_carve(carve, n_slots, sizeof(uint32_t));
	uint64_t *total = route_carve(carve, n_deployments, sizeof(uint64_t));
	uint64_t *cursor = route_carve(carve, n_deployments, sizeof(uint64_t));
	if (s)
		*s = (struct route_state){
			.in_flight = in_flight,
			.generation = generation,
			.owner = owner,
			.total = total,
			.cursor = cursor,
			.n_slots = n_slots,
			.n_deployments = n_deployments,
		};
	return s;
}

size_t route_state_bytes(uint32_t n_slots, uint32_t n_deployments)
{
	struct route_carve carve = {.base = NULL};
	lay_out(&carve, n_slots, n_deployments);
	return carve.used;
}

enum route_status route_state_init(void *memory, size_t bytes, uint32_t n_slots,
                                   uint32_t n_deployments,
                                   struct route_state **state)
{
	assert(state);
	size_t need = route_state_bytes(n_slots, n_deployments);
	if (!memory || need == SIZE_MAX || bytes < need)
		return ROUTE_TOO_SMALL;
	memset(memory, 0, need);
	struct route_carve carve = {.base = memory};
	*state = lay_out(&carve, n_slots, n_deployments);
	assert(carve.used == need);
	return ROUTE_OK;
}

static bool is_open(const struct route_state *state, uint32_t slot)
{
	return (state->generation[slot] & 1) != 0;
}

enum route_status route_slot_open(struct route_state *state, uint32_t slot,
                                  uint32_t deployment)
{
	assert(state);
	if (slot >= state->n_slots || deployment >= state->n_deployments ||
	    is_open(state, slot))
		return ROUTE_BAD_ARGUMENT;
	assert(state->in_flight[slot] == 0);
	state->generation[slot]++;
	state->owner[slot] = deployment;
	return ROUTE_OK;
}

void route_slot_close(struct route_state *state, uint32_t slot)
{
	assert(slot < state->n_slots);
	assert(is_open(state, slot));
	uint64_t *total = &state->total[state->owner[slot]];
	assert(*total >= state->in_flight[slot]);
	*total -= state->in_flight[slot];
	state->in_flight[slot] = 0;
	state->generation[slot]++;
}

uint32_t route_in_flight(const struct route_state *state, uint32_t slot)
{
	assert(slot < state->n_slots);
	return state->in_flight[slot];
}

uint64_t route_in_flight_of(const struct route_state *state,
                            uint32_t deployment)
{
	assert(deployment < state->n_deployments);
	return state->total[deployment];
}

/*
 * The replica may have left between decision and take, where tables arrive
 * late: then nothing is counted, and the ticket's even generation is one
 * that no release will match.
 */
struct route_ticket route_take(struct route_state *state,
                               const struct route_decision *decision)
{
	uint32_t slot = decision->slot;
	assert(slot < state->n_slots);
	assert(decision->deployment < state->n_deployments);
	state->cursor[decision->deployment]++;
	if (is_open(state, slot)) {
		assert(state->in_flight[slot] < UINT32_MAX);
		state->in_flight[slot]++;
		state->total[state->owner[slot]]++;
	}
	struct route_ticket ticket = {.slot = slot,
	                              .generation = state->generation[slot]};
	return ticket;
}

bool route_release(struct route_state *state, struct route_ticket ticket)
{
	assert(ticket.slot < state->n_slots);
	if (!is_open(state, ticket.slot) ||
	    state->generation[ticket.slot] != ticket.generation)
		return false;
	/* A ticket is good for one release. */
	assert(state->in_flight[ticket.slot] > 0);
	state->in_flight[ticket.slot]--;
	assert(state->total[state->owner[ticket.slot]] > 0);
	state->total[state->owner[ticket.slot]]--;
	return true;
}
