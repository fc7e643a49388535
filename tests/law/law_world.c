/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What holds in every world: over random specs, seeds and timelines every
 * request ends exactly once and in order of time (L1, L3), the same input
 * gives the same bytes (L6), nobody's chance hangs from somebody else's
 * features (L9), and what is not ready or weighs 0 serves nothing (L12).
 */
#include "unit/endpoint_rig.h"

#include "law/world_random.h"

enum { WORLDS = 300 };

/* ---- conservation and order of time ------------------------------------ */

static void check_times(const struct measure_request *r)
{
	bool ended = r->outcome != OUTCOME_IN_SYSTEM;

	assert_true(r->arrived_ns >= 0);
	assert_int_equal(ended, r->done_ns >= 0);
	if (r->started_ns >= 0)
		assert_true(r->started_ns >= r->arrived_ns);
	if (r->first_ns >= 0) {
		assert_true(r->started_ns >= 0);
		assert_true(r->first_ns >= r->started_ns);
	}
	if (ended)
		assert_true(r->done_ns >= r->arrived_ns &&
		            r->done_ns >= r->first_ns &&
		            r->done_ns >= r->started_ns);
	if (r->outcome == OUTCOME_COMPLETED)
		assert_true(r->first_ns >= 0 && r->error == ERROR_NONE);
	else
		assert_int_equal(ended, r->error != ERROR_NONE);
}

static void check_conservation(const struct rig *rig)
{
	uint64_t arrived = 0, ended[MEASURE_OUTCOMES] = {0};

	for (size_t i = 0; i < rig->n_requests; i++) {
		const struct measure_request *r = &rig->request[i].r;
		const struct measure_request *before =
			i ? &rig->request[i - 1].r : NULL;

		check_times(r);
		ended[r->outcome]++;
		/* numbers run on without a gap: nobody twice, nobody lost */
		assert_int_equal(r->number,
		                 before && before->traffic == r->traffic
		                         ? before->number + 1
		                         : 0);
	}
	for (uint32_t i = 0; i < rig->spec.n_endpoints; i++) {
		const struct measure_scope_result *s =
			measure_result_scope(rig->result, SCOPE_ENDPOINT, i);

		arrived += s->arrived;
		for (int k = 0; k < MEASURE_OUTCOMES; k++) {
			assert_true(ended[k] >= s->ended[k]);
			ended[k] -= s->ended[k];
		}
	}
	assert_int_equal(arrived, rig->n_requests);
	for (int k = 0; k < MEASURE_OUTCOMES; k++)
		assert_int_equal(ended[k], 0);
}

static void every_request_ends_once(void **state)
{
	uint64_t outcomes[MEASURE_OUTCOMES] = {0}, errors[MEASURE_ERRORS] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < WORLDS; seed++) {
		struct rig rig;

		random_world(&rig, seed, RANDOM_ANYTHING);
		rig_run(&rig, seed);
		check_conservation(&rig);
		for (size_t i = 0; i < rig.n_requests; i++) {
			outcomes[rig.request[i].r.outcome]++;
			errors[rig.request[i].r.error]++;
		}
		random_free(&rig);
	}
	/* the worlds must have had it all, or nothing was shown */
	for (int i = 0; i < MEASURE_OUTCOMES; i++)
		assert_true(outcomes[i] > 0);
	for (int i = 0; i < MEASURE_ERRORS; i++)
		assert_true(errors[i] > 0);
}

/* ---- what may serve ---------------------------------------------------- */

/* Weight and ready replicas of one deployment as the router knows them. */
struct known {
	uint64_t weight;
	bool in_split;
	int64_t since_ns; /* of the weight */
};

/* From the actions alone: what weighs 0 from `since` on. */
static struct known known_at(const struct rig *rig, uint32_t deployment,
                             int64_t at_ns)
{
	const struct world_deployment *d = &rig->deployment[deployment];
	uint32_t place =
		deployment - rig->endpoint[rig->endpoint_of[deployment]].first;
	struct known k = {d->weight, d->in_split, -1};

	for (uint32_t i = 0; i < rig->spec.n_actions; i++) {
		const struct world_action *a = &rig->action[i];

		if (a->at_ns >= at_ns || a->at_ns < k.since_ns)
			continue;
		if (a->operation == WORLD_SET_WEIGHT &&
		    a->deployment == deployment)
			k = (struct known){a->weight, a->in_split, a->at_ns};
		else if (a->operation == WORLD_SET_SPLIT &&
		         a->endpoint == rig->endpoint_of[deployment])
			k = (struct known){a->weights[place], a->listed[place],
			                   a->at_ns};
	}
	return k;
}

/* True when the replica was ready at the moment, by the events feed. */
static bool was_ready(const struct rig *rig, const char *replica, int64_t at_ns)
{
	const struct rig_event *ready, *gone;

	ready = rig_event(rig, "deployment.status_updated", replica, 0);
	gone = rig_event(rig, "deployment.status_updated", replica, 1);
	return ready && ready->new_replicas > 0 && ready->at_ns <= at_ns &&
	       (gone == NULL || gone->at_ns >= at_ns);
}

static uint32_t deployment_of(const struct rig *rig, const char *id)
{
	uint32_t i = 0;

	while (strcmp(rig->deployment[i].id, id) != 0)
		i++;
	return i;
}

static void only_the_ready_and_weighted_serve(void **state)
{
	uint64_t silent = 0;

	(void)state;
	for (uint64_t seed = 0; seed < WORLDS; seed++) {
		struct rig rig;

		random_world(&rig, seed, RANDOM_TIMED | RANDOM_PATIENT);
		rig_run(&rig, seed);
		for (size_t i = 0; i < rig.n_requests; i++) {
			const struct rig_request *q = &rig.request[i];
			uint32_t d;
			struct known k;

			if (q->r.replica == MEASURE_NONE)
				continue;
			assert_true(
				was_ready(&rig, q->replica, q->r.arrived_ns));
			if (rig.load[q->r.traffic].pinned != UINT32_MAX)
				continue;
			d = deployment_of(&rig, q->deployment);
			k = known_at(&rig, d, q->r.arrived_ns);
			if (k.in_split && k.weight > 0)
				continue;
			/* the router had not heard yet */
			silent++;
			assert_true(q->r.arrived_ns <=
			            k.since_ns + random_delay_ns(&rig));
			assert_true(k.since_ns >= 0);
		}
		random_free(&rig);
	}
	assert_true(silent > 0);
}

/* ---- one key, one place ------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
	const struct rig_request *x = a, *y = b;

	if (x->r.endpoint != y->r.endpoint)
		return x->r.endpoint < y->r.endpoint ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void one_place_for_a_key(void **state)
{
	uint64_t again = 0;

	(void)state;
	for (uint64_t seed = 0; seed < WORLDS; seed++) {
		struct rig rig;

		random_world(&rig, seed, RANDOM_UNCHANGED | RANDOM_HASHED);
		rig_run(&rig, seed);
		if (rig.n_requests > 0)
			qsort(rig.request, rig.n_requests, sizeof(*rig.request),
			      by_key);
		for (size_t i = 1, home = 0; i < rig.n_requests; i++) {
			const struct rig_request *a = &rig.request[home];
			const struct rig_request *b = &rig.request[i];

			if (by_key(a, b) != 0) {
				home = i;
				continue;
			}
			assert_string_equal(a->deployment, b->deployment);
			if (a->r.spilled)
				home = i;
			if (a->r.spilled || b->r.spilled)
				continue;
			assert_string_equal(a->replica, b->replica);
			again++;
		}
		random_free(&rig);
	}
	assert_true(again > 1000);
}

/* ---- the same bytes ---------------------------------------------------- */

static void same_input_same_bytes(void **state)
{
	uint64_t other = 0;

	(void)state;
	for (uint64_t seed = 0; seed < WORLDS; seed++) {
		struct rig rig;
		uint64_t first;

		random_world(&rig, seed, RANDOM_ANYTHING);
		first = random_hash(&rig, seed);
		assert_int_equal(random_hash(&rig, seed), first);
		other += random_hash(&rig, seed + 1) != first;
		random_free(&rig);
	}
	/* some have nothing that chance could change */
	assert_true(other > WORLDS * 9 / 10);
}

/* Leaps or step by step: the same to the byte. */
static void leaping_is_stepping(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < WORLDS / 3; seed++) {
		struct rig rig;
		uint64_t leaping;

		random_world(&rig, seed, RANDOM_ANYTHING);
		rig_run(&rig, seed);
		leaping = random_requests_hash(&rig, UINT32_MAX);
		random_clear(&rig);
		for (uint32_t i = 0; i < rig.spec.n_deployments; i++)
			rig.config[i].exact_steps = true;
		rig_run(&rig, seed);
		assert_int_equal(random_requests_hash(&rig, UINT32_MAX),
		                 leaping);
		random_free(&rig);
	}
}

/* ---- common random numbers --------------------------------------------- */

/* Another endpoint beside it, with a load and a timeline of its own. */
static void add_endpoint(struct rig *rig)
{
	uint32_t d = rig->spec.n_deployments;

	rig_endpoint(rig, "beside")->router.propagation_ns =
		rig_dist(DIST_EXPONENTIAL, (double)(50 * MS));
	rig_deployment(rig, "dep_beside", 2)->replica_choice =
		route_policy_find("random");
	rig->config[d].service_ns = rig_dist(DIST_EXPONENTIAL, 20e6);
	rig_load(rig, "beside")->process = LOAD_POISSON;
	rig->load[rig->spec.n_loads - 1].rate_rps = 50;
	rig_scale(rig, 500 * MS, d, 4);
	rig_action(rig, 900 * MS, WORLD_CRASH, d)->replicas = 1;
	rig_action(rig, 1200 * MS, WORLD_RESTORE, d);
}

static void neighbours_change_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < WORLDS; seed++) {
		struct rig rig;
		uint64_t alone;
		uint32_t n;

		random_world(&rig, seed, RANDOM_ONE_ENDPOINT);
		n = rig.spec.n_loads;
		rig_run(&rig, seed);
		alone = random_requests_hash(&rig, n);
		random_clear(&rig);
		add_endpoint(&rig);
		rig_run(&rig, seed);
		assert_true(rig.n_requests > 0);
		assert_int_equal(random_requests_hash(&rig, n), alone);
		random_free(&rig);
	}
}

/* A policy's choice leaves arrivals, lengths and keys as they were (L9). */
static void policies_see_the_same_requests(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < WORLDS / 3; seed++) {
		struct rig rig;
		uint64_t one = 0;

		random_world(&rig, seed, RANDOM_OPEN);
		for (size_t p = 0; route_policy_name(p); p++) {
			uint64_t hash;

			for (uint32_t i = 0; i < rig.spec.n_deployments; i++)
				rig.deployment[i].replica_choice =
					route_policy_find(route_policy_name(p));
			rig_run(&rig, seed);
			hash = random_offered_hash(&rig);
			if (p == 0)
				one = hash;
			assert_int_equal(hash, one);
			random_clear(&rig);
		}
		random_free(&rig);
	}
}

/* ---- order of insertion ------------------------------------------------ */

/* Weights of one moment in any order, and deployments in any order. */
static void order_changes_no_share(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < WORLDS / 3; seed++) {
		static const char *const ids[] = {"dep_x", "dep_y", "dep_z"};
		uint32_t sent[3];

		for (uint32_t turn = 0; turn < 3; turn++) {
			struct rig rig;

			rig_init(&rig);
			for (uint32_t i = 0; i < 3; i++)
				rig_deployment(&rig, ids[(i + turn) % 3],
				               (i + turn) % 3 + 1);
			rig_load(&rig, "t")->rate_rps = 40;
			for (uint32_t i = 0; i < 3; i++) {
				uint32_t k = (i * (turn + 1)) % 3;

				k = turn == 2 ? 2 - i : k;
				rig_weight(&rig, 3 * S, k,
				           (k + turn) % 3 * 2 + seed % 5);
			}
			rig_run(&rig, seed);
			for (uint32_t i = 0; i < 3; i++) {
				uint32_t n =
					rig_sent(&rig, ids[i], 0, 3 * S) *
						1000 +
					rig_sent(&rig, ids[i], 3 * S, 10 * S);

				if (turn == 0)
					sent[i] = n;
				assert_int_equal(n, sent[i]);
			}
			rig_fini(&rig);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_ends_once),
		cmocka_unit_test(only_the_ready_and_weighted_serve),
		cmocka_unit_test(one_place_for_a_key),
		cmocka_unit_test(same_input_same_bytes),
		cmocka_unit_test(leaping_is_stepping),
		cmocka_unit_test(neighbours_change_nothing),
		cmocka_unit_test(policies_see_the_same_requests),
		cmocka_unit_test(order_changes_no_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
