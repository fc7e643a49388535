/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In-flight counts by ticket. */
#include "unit/route_fixture.h"

#define SLOTS 24u
#define DEPLOYMENTS 3u
#define TICKETS 400u

static struct route_state *state_new(void)
{
	struct route_state *state = NULL;
	size_t bytes = route_state_bytes(SLOTS, DEPLOYMENTS);
	assert_int_equal(route_state_init(malloc(bytes), bytes, SLOTS,
	                                  DEPLOYMENTS, &state),
	                 ROUTE_OK);
	return state;
}

static void arguments_are_checked(void **unused)
{
	(void)unused;
	struct route_state *state = NULL;
	size_t bytes = route_state_bytes(SLOTS, DEPLOYMENTS);
	void *memory = malloc(bytes - 1);
	assert_int_equal(
		route_state_init(memory, bytes - 1, SLOTS, DEPLOYMENTS, &state),
		ROUTE_TOO_SMALL);
	assert_int_equal(
		route_state_init(NULL, bytes, SLOTS, DEPLOYMENTS, &state),
		ROUTE_TOO_SMALL);
	assert_null(state);
	free(memory);

	state = state_new();
	assert_int_equal(route_slot_open(state, SLOTS, 0), ROUTE_BAD_ARGUMENT);
	assert_int_equal(route_slot_open(state, 0, DEPLOYMENTS),
	                 ROUTE_BAD_ARGUMENT);
	assert_int_equal(route_slot_open(state, 0, 2), ROUTE_OK);
	assert_int_equal(route_slot_open(state, 0, 2), ROUTE_BAD_ARGUMENT);
	free(state);
}

/*
 * A replica went and came back in the same place; what was sent to the old
 * one ended afterwards and was counted off the new one, which then looked
 * idle and drew all traffic (vllm-project/aibrix issue 2421).
 */
static void late_release_does_not_touch_the_successor(void **unused)
{
	(void)unused;
	struct route_state *state = state_new();
	struct route_decision d = {.deployment = 1, .slot = 4};
	assert_int_equal(route_slot_open(state, 4, 1), ROUTE_OK);
	struct route_ticket old = route_take(state, &d);
	assert_int_equal(route_in_flight(state, 4), 1);
	route_slot_close(state, 4);
	assert_int_equal(route_in_flight(state, 4), 0);
	assert_true(route_in_flight_of(state, 1) == 0);
	assert_false(route_release(state, old));

	/* The successor may even serve another deployment. */
	assert_int_equal(route_slot_open(state, 4, 2), ROUTE_OK);
	d.deployment = 2;
	struct route_ticket new = route_take(state, &d);
	assert_false(route_release(state, old));
	assert_int_equal(route_in_flight(state, 4), 1);
	assert_true(route_in_flight_of(state, 2) == 1);
	assert_true(route_release(state, new));
	assert_int_equal(route_in_flight(state, 4), 0);
	free(state);
}

/* A table that is late may still name a replica that is gone. */
static void taking_a_closed_slot_counts_nothing(void **unused)
{
	(void)unused;
	struct route_state *state = state_new();
	struct route_decision d = {.deployment = 0, .slot = 3};
	assert_int_equal(route_slot_open(state, 3, 0), ROUTE_OK);
	route_slot_close(state, 3);
	struct route_ticket ticket = route_take(state, &d);
	assert_int_equal(route_in_flight(state, 3), 0);
	assert_false(route_release(state, ticket));
	assert_int_equal(route_slot_open(state, 3, 0), ROUTE_OK);
	assert_false(route_release(state, ticket));
	free(state);
}

/* What the counts should be, kept the long way. */
struct model {
	struct route_ticket tickets[TICKETS];
	bool live[TICKETS]; /* its replica is still there */
	uint32_t n;
	bool open[SLOTS];
	uint32_t owner[SLOTS];
};

static void check(const struct model *m, const struct route_state *state)
{
	uint32_t by_slot[SLOTS] = {0};
	uint64_t by_deployment[DEPLOYMENTS] = {0};
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t slot = m->tickets[i].slot;
		if (!m->live[i])
			continue;
		by_slot[slot]++;
		by_deployment[m->owner[slot]]++;
	}
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(route_in_flight(state, i), by_slot[i]);
	for (uint32_t i = 0; i < DEPLOYMENTS; i++)
		assert_true(route_in_flight_of(state, i) == by_deployment[i]);
}

static void flip_slot(struct model *m, struct route_state *state, uint32_t slot,
                      uint32_t deployment)
{
	if (!m->open[slot]) {
		assert_int_equal(route_slot_open(state, slot, deployment),
		                 ROUTE_OK);
		m->owner[slot] = deployment;
	} else {
		route_slot_close(state, slot);
		for (uint32_t i = 0; i < m->n; i++)
			if (m->tickets[i].slot == slot)
				m->live[i] = false;
	}
	m->open[slot] = !m->open[slot];
}

static void counts_match_after_any_sequence(void **unused)
{
	(void)unused;
	uint64_t seed = 10;
	struct route_state *state = state_new();
	struct model *m = calloc(1, sizeof(*m));
	uint32_t late = 0;
	assert_non_null(m);
	for (int step = 0; step < 60000; step++) {
		uint32_t slot = (uint32_t)(fixture_random(&seed) % SLOTS);
		uint64_t what = fixture_random(&seed) % 32;
		if (what == 0) {
			flip_slot(m, state, slot,
			          (uint32_t)(fixture_random(&seed) %
			                     DEPLOYMENTS));
		} else if (what < 17 && m->n < TICKETS) {
			struct route_decision d = {
				.deployment = m->owner[slot],
				.slot = slot,
			};
			m->tickets[m->n] = route_take(state, &d);
			m->live[m->n++] = m->open[slot];
		} else if (m->n > 0) {
			uint64_t i = fixture_random(&seed) % m->n;
			assert_int_equal(route_release(state, m->tickets[i]),
			                 m->live[i]);
			late += !m->live[i];
			m->n--;
			m->tickets[i] = m->tickets[m->n];
			m->live[i] = m->live[m->n];
		}
		check(m, state);
	}
	assert_true(late > 1000);
	free(m);
	free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(late_release_does_not_touch_the_successor),
		cmocka_unit_test(taking_a_closed_slot_counts_nothing),
		cmocka_unit_test(counts_match_after_any_sequence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
