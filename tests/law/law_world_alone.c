/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A world is alone in its process: two that take turns, request by request,
 * tell what each tells by itself, and once it is warm it takes no memory.
 */
#include "law/world_random.h"

#include <pthread.h>

/* ---- memory ------------------------------------------------------------ */

/*
 * Every allocation of the program is counted, by standing in front of the C
 * library's; a sanitizer has put itself there already.
 */
#if defined(__SANITIZE_ADDRESS__)
#define COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COUNTED 0
#endif
#endif
#if !defined(COUNTED) && defined(__GLIBC__)
#define COUNTED 1
#elif !defined(COUNTED)
#define COUNTED 0
#endif

static uint64_t allocations;

#if COUNTED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	allocations++;
	return __libc_realloc(p, size);
}
#endif

/* Counts requests, and allocations from the first warm one to the last. */
struct meter {
	uint64_t requests;
	uint64_t warm;   /* requests after which it must be warm */
	uint64_t before; /* allocations by then */
	uint64_t after;
};

static void meter_request(void *self, uint32_t replication,
                          const struct measure_request *r, const char *traffic,
                          const char *deployment, const char *replica)
{
	struct meter *m = self;

	(void)replication;
	(void)r;
	assert_true(traffic && deployment && replica);
	m->requests++;
	if (m->requests == m->warm)
		m->before = allocations;
	m->after = allocations;
}

static void meter_row(void *self, uint32_t replication,
                      const struct measure_row *row)
{
	(void)self;
	(void)replication;
	assert_true(row->to_ns > row->from_ns);
}

static void batching(struct replica_config *c)
{
	struct replica_curve_piece *p = c->curve.piece;

	c->engine = replica_engine_find("batching");
	c->max_num_seqs = 256;
	c->max_num_batched_tokens = 2048;
	c->block_tokens = 16;
	c->curve.n = 1;
	p->upto_tokens = UINT32_MAX;
	p->base_ticks = 3 * MS * REPLICA_TICKS_PER_NS;
	p->per_prefill_ticks = 18000 * REPLICA_TICKS_PER_NS;
	p->per_decode_ticks = 15000 * REPLICA_TICKS_PER_NS;
}

static void run_metered(struct rig *rig, struct meter *m)
{
	struct world_observer observer = {
		.self = m, .row = meter_row, .request = meter_request};
	struct world *w;
	struct err e;

	err_clear(&e);
	rig_close(rig);
	w = world_new(&rig->spec, 1, 0, &observer, &e);
	assert_non_null(w);
	assert_true(world_run(w, &e));
	world_free(w);
}

/*
 * With a length that is known beforehand each of the 20 batches of an
 * interval opens histograms of its own, a few pages each; without, nothing.
 */
static void check_memory(const char *engine, bool timed)
{
	struct meter m = {.warm = 20000};
	struct rig rig;

	rig_init(&rig);
	rig.spec.duration_ns = timed ? 2000 * S : TIME_NEVER;
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 3);
	if (strcmp(engine, "batching") == 0) {
		batching(&rig.config[0]);
		batching(&rig.config[1]);
	}
	rig_load(&rig, "t")->rate_rps = 50;
	rig.load[0].until_ns = 2000 * S;
	rig.load[0].keys.kind = LOAD_KEYS_CONTENT;
	run_metered(&rig, &m);
	print_message("%s, %s: %llu allocations in %llu requests\n", engine,
	              timed ? "timed" : "open-ended",
	              (unsigned long long)(m.after - m.before),
	              (unsigned long long)(m.requests - m.warm));
	assert_true(m.requests > 99000);
	assert_true(m.after - m.before <= (timed ? 16 * 20 : 0));
	rig_fini(&rig);
}

static void warm_worlds_take_no_memory(void **state)
{
	(void)state;
	check_memory("service", false);
	check_memory("batching", false);
	check_memory("service", true);
	check_memory("batching", true);
}

/* ---- two worlds -------------------------------------------------------- */

/* Whose turn it is; the other waits. */
struct baton {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	int turn;
	bool done[2];
	uint64_t passes;
};

struct runner {
	struct random_ear ear;
	struct rig rig;
	struct baton *baton;
	int me;
	uint64_t seed;
	bool finished;
};

static void take_baton(struct runner *r)
{
	pthread_mutex_lock(&r->baton->lock);
	while (r->baton->turn != r->me)
		pthread_cond_wait(&r->baton->passed, &r->baton->lock);
}

static void pass_baton(struct runner *r)
{
	int other = 1 - r->me;

	if (!r->baton->done[other]) {
		r->baton->turn = other;
		r->baton->passes++;
	}
	pthread_cond_broadcast(&r->baton->passed);
	pthread_mutex_unlock(&r->baton->lock);
}

static void turn_request(void *self, uint32_t replication,
                         const struct measure_request *q, const char *traffic,
                         const char *deployment, const char *replica)
{
	struct runner *r = self;

	random_hear_request(&r->ear, replication, q, traffic, deployment,
	                    replica);
	pass_baton(r);
	take_baton(r);
}

static void turn_row(void *self, uint32_t replication,
                     const struct measure_row *row)
{
	struct runner *r = self;

	random_hear_row(&r->ear, replication, row);
}

static void turn_event(void *self, uint32_t replication,
                       const struct world_event *event)
{
	struct runner *r = self;

	random_hear_event(&r->ear, replication, event);
}

static void *run_in_turns(void *self)
{
	struct runner *r = self;
	struct world_observer observer = {.self = r,
	                                  .event = turn_event,
	                                  .row = turn_row,
	                                  .request = turn_request};
	struct world *w;
	struct err e;

	err_clear(&e);
	take_baton(r);
	w = world_new(&r->rig.spec, r->seed, 0, &observer, &e);
	r->finished = w && world_run(w, &e);
	world_free(w);
	r->baton->done[r->me] = true;
	pass_baton(r);
	return NULL;
}

static void worlds_take_turns(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct baton baton = {.lock = PTHREAD_MUTEX_INITIALIZER,
		                      .passed = PTHREAD_COND_INITIALIZER};
		struct runner *r = mem_new(2, sizeof(*r));
		pthread_t thread[2];
		uint64_t alone[2];

		for (int i = 0; i < 2; i++) {
			r[i].me = i;
			r[i].seed = seed + (uint64_t)i;
			r[i].baton = &baton;
			random_world(&r[i].rig, r[i].seed, RANDOM_ANYTHING);
			alone[i] = random_hash(&r[i].rig, r[i].seed);
			r[i].ear.rig = &r[i].rig;
		}
		for (int i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&thread[i], NULL,
			                                run_in_turns, &r[i]),
			                 0);
		for (int i = 0; i < 2; i++) {
			pthread_join(thread[i], NULL);
			assert_true(r[i].finished);
			assert_int_equal(r[i].ear.hash, alone[i]);
			random_free(&r[i].rig);
		}
		mem_free(r);
	}
}

int main(void)
{
	struct CMUnitTest tests[2] = {cmocka_unit_test(worlds_take_turns)};
	size_t n = 1;

	if (COUNTED)
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(
			warm_worlds_take_no_memory);
	else
		print_message("memory is a sanitizer's: not counted\n");
	return _cmocka_run_group_tests("worlds", tests, n, NULL, NULL);
}
