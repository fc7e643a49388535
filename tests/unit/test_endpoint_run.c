/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a run begins and ends, and what its loads and watchers see. */
#include "unit/endpoint_rig.h"

#include <unistd.h>

/* ---- conditions -------------------------------------------------------- */

/* When a second replica is ready, at 3 s, its deployment gets weight. */
static void acts_when_a_condition_holds(void **state)
{
	struct rig rig;
	struct world_action *a;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_deployment(&rig, "dep_b", 1)->weight = 0;
	rig_load(&rig, "t");
	rig_scale(&rig, 2 * S, 1, 2);
	a = rig_action(&rig, 0, WORLD_SET_WEIGHT, 1);
	a->weight = 1000000;
	a->on_condition = true;
	a->when = (struct measure_condition){.metric = METRIC_READY,
	                                     .deployment = 1,
	                                     .compare = COMPARE_EQ,
	                                     .value = 2};
	rig_run(&rig, 1);
	assert_int_equal(rig_event(&rig, "endpoint.updated", "", 0)->at_ns,
	                 3 * S);
	assert_null(rig_event(&rig, "endpoint.updated", "", 1));
	assert_int_equal(rig_sent(&rig, "dep_a", 0, 3 * S), 30);
	assert_int_equal(rig_sent(&rig, "dep_b", 3 * S + 1, 10 * S), 69);
	rig_fini(&rig);
}

/* One holds from the start, one never; each acts once at most. */
static void conditions_of_the_start_and_never(void **state)
{
	struct rig rig;
	struct world_action *a;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 2);
	rig_load(&rig, "t");
	for (int i = 0; i < 2; i++) {
		a = rig_action(&rig, 0, WORLD_SET_REPLICAS, 0);
		a->replicas = i == 0 ? 1 : 5;
		a->on_condition = true;
		a->when = (struct measure_condition){.metric = METRIC_READY,
		                                     .deployment = 0,
		                                     .compare = COMPARE_GE,
		                                     .value = i == 0 ? 2 : 3};
	}
	rig_run(&rig, 1);
	assert_int_equal(rig_event(&rig, "deployment.scaled", "", 0)->at_ns, 0);
	assert_null(rig_event(&rig, "deployment.scaled", "", 1));
	rig_fini(&rig);
}

/* ---- several endpoints ------------------------------------------------- */

static void endpoints_share_a_clock(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "first");
	rig_endpoint(&rig, "second")->router.propagation_ns =
		dist_constant((double)S);
	rig_deployment(&rig, "dep_b", 1);
	rig_deployment(&rig, "dep_c", 1)->weight = 0;
	rig_load(&rig, "second")->rate_rps = 20;
	rig_weight(&rig, 4 * S, 2, 1);
	rig_weight(&rig, 4 * S, 1, 0);
	rig_run(&rig, 1);
	assert_int_equal(rig_sent(&rig, "dep_a", 0, 10 * S), 100);
	assert_int_equal(rig_sent(&rig, "dep_b", 0, 5 * S), 100);
	assert_int_equal(rig_sent(&rig, "dep_c", 5 * S, 10 * S), 100);
	for (size_t i = 0; i < rig.n_requests; i++) {
		const struct measure_request *r = &rig.request[i].r;

		assert_int_equal(r->endpoint, r->traffic);
		assert_int_equal(rig.endpoint_of[r->deployment], r->endpoint);
	}
	assert_int_equal(
		measure_result_scope(rig.result, SCOPE_ENDPOINT, 1)->arrived,
		200);
	rig_fini(&rig);
}

/* ---- clients ----------------------------------------------------------- */

/* 64 servers, 1 s each, patience 0.5 s: all give up, and all is free. */
static void clients_give_up(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig.config[0].service_ns = dist_constant((double)S);
	rig_load(&rig, "t")->timeout_ns = 500 * MS;
	rig_run(&rig, 1);
	assert_int_equal(rig_ended(&rig, OUTCOME_TIMED_OUT, ERROR_TIMEOUT), 96);
	assert_int_equal(rig_ended(&rig, OUTCOME_IN_SYSTEM, ERROR_NONE), 4);
	for (size_t i = 0; i < 96; i++)
		assert_int_equal(rig.request[i].r.done_ns -
		                         rig.request[i].r.arrived_ns,
		                 500 * MS);
	rig_fini(&rig);
}

/* An answer that comes at the last moment is an answer. */
static void answer_beats_the_timeout(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "t")->timeout_ns = 10 * MS;
	rig_run(&rig, 1);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 100);
	rig_fini(&rig);
}

/* A refused client waits for its pause, so that time goes on. */
static void refused_clients_pause(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1)->weight = 0;
	rig_clients(&rig, 3);
	rig_run(&rig, 1);
	/* at 0, 1, .. 9 s */
	assert_int_equal(rig_ended(&rig, OUTCOME_REJECTED,
	                           ERROR_ENDPOINT_NOT_CONFIGURED),
	                 30);
	rig_fini(&rig);
}

/* Refused at the replica's door, while its call is still going on. */
static void full_queue_refuses_clients(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig.config[0].servers = 1;
	rig.config[0].queue_cap = 1;
	rig.config[0].service_ns = dist_constant((double)(4 * S));
	rig_clients(&rig, 3);
	rig_run(&rig, 1);
	/*
	 * One is served, one waits, the third is refused at 0, 1, 2, 3 s. At
	 * 4 s the first is done and comes back at once, as does the third.
	 */
	assert_true(rig_ended(&rig, OUTCOME_REJECTED, ERROR_QUEUE_FULL) >= 8);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 2);
	assert_int_equal(rig_ended(&rig, OUTCOME_IN_SYSTEM, ERROR_NONE), 2);
	rig_fini(&rig);
}

/* Clients go on when their replica is lost under them. */
static void clients_survive_a_crash(void **state)
{
	struct rig rig;
	const struct measure_scope_result *scope;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 2);
	rig.config[0].service_ns = dist_constant((double)S);
	rig.spec.duration_ns = 9 * S + 700 * MS;
	rig_clients(&rig, 8);
	rig_action(&rig, 4 * S + 500 * MS, WORLD_CRASH, 0)->replicas = 1;
	rig_run(&rig, 1);
	/* never more and never fewer than eight inside */
	assert_int_equal(rig_ended(&rig, OUTCOME_IN_SYSTEM, ERROR_NONE), 8);
	assert_true(rig_ended(&rig, OUTCOME_FAILED, ERROR_REPLICA_LOST) > 0);
	scope = measure_result_scope(rig.result, SCOPE_ENDPOINT, 0);
	assert_true(fabs(scope->in_flight - 8) < 1e-9);
	rig_fini(&rig);
}

/* ---- ends -------------------------------------------------------------- */

/* No duration: the run ends with its last request. */
static void open_ended(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.spec.duration_ns = TIME_NEVER;
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "t")->requests = 7;
	rig_clients(&rig, 2)->requests = 11;
	rig_run(&rig, 1);
	assert_int_equal(rig.n_requests, 18);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 18);
	assert_true(fabs(rig.result->end_s - 0.61) < 1e-9);
	rig_fini(&rig);
}

static char *write_trace(const char *rows)
{
	const char *dir = getenv("TMPDIR");
	char *path = mem_new(1, 256);
	FILE *f;
	int fd;

	snprintf(path, 256, "%s/weir-endpoint-XXXXXX", dir ? dir : P_tmpdir);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fprintf(f, "arrival_us,input_tokens,output_tokens\n%s", rows);
	fclose(f);
	return path;
}

static void replays_a_trace_to_its_end(void **state)
{
	char *path = write_trace("0,10,5\n250000,10,5\n99000000,10,5\n");
	struct rig rig;
	struct load_spec *l;

	(void)state;
	rig_init(&rig);
	rig.spec.duration_ns = TIME_NEVER;
	rig_deployment(&rig, "dep_a", 1);
	l = rig_load(&rig, "t");
	l->kind = LOAD_TRACE;
	l->trace = path;
	rig_run(&rig, 1);
	assert_int_equal(rig.n_requests, 3);
	assert_int_equal(rig.request[2].r.arrived_ns, 99 * S);
	assert_true(fabs(rig.result->end_s - 99.01) < 1e-9);
	rig_fini(&rig);
	unlink(path);
	mem_free(path);
}

/* A trace that is not there, and one whose rows are wrong under way. */
static void broken_traces_are_reported(void **state)
{
	char *path = write_trace("0,10,5\n100,many,5\n");
	struct rig rig;
	struct load_spec *l;
	struct world *w;
	struct err e;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	l = rig_load(&rig, "t");
	l->kind = LOAD_TRACE;
	l->trace = "/nonexistent/trace.csv";
	rig_close(&rig);
	err_clear(&e);
	assert_null(world_new(&rig.spec, 1, 0, NULL, &e));
	assert_true(e.set);
	err_clear(&e);
	l->trace = path;
	w = world_new(&rig.spec, 1, 0, NULL, &e);
	assert_non_null(w);
	assert_false(e.set);
	assert_false(world_run(w, &e));
	assert_true(e.set);
	assert_int_equal(e.line, 3);
	world_free(w);
	rig_fini(&rig);
	unlink(path);
	mem_free(path);
}

/* What is inside at the end is counted as it stands. */
static void unfinished_requests(void **state)
{
	struct rig rig;
	const struct measure_scope_result *scope;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig.config[0].servers = 1;
	rig.config[0].service_ns = dist_constant(1e9);
	rig_load(&rig, "t");
	rig_run(&rig, 1);
	scope = measure_result_scope(rig.result, SCOPE_ENDPOINT, 0);
	assert_int_equal(rig.n_requests, 100);
	assert_int_equal(rig_ended(&rig, OUTCOME_COMPLETED, ERROR_NONE), 10);
	assert_int_equal(rig_ended(&rig, OUTCOME_IN_SYSTEM, ERROR_NONE), 90);
	assert_int_equal(scope->arrived, 100);
	assert_int_equal(scope->ended[OUTCOME_IN_SYSTEM], 90);
	assert_int_equal(scope->e2e.n, 10);
	assert_int_equal(scope->e2e.infinite, 90);
	assert_int_equal(measure_hist_quantile(&scope->e2e, 0.5), TIME_NEVER);
	assert_true(fabs(rig.result->end_s - 10) < 1e-9);
	rig_fini(&rig);
}

/* Latencies count arrivals from the warm-up on, conservation all. */
static void warm_up(void **state)
{
	struct rig rig;
	const struct measure_scope_result *scope;

	(void)state;
	rig_init(&rig);
	rig.spec.warmup_ns = 4 * S;
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "t");
	rig_run(&rig, 1);
	scope = measure_result_scope(rig.result, SCOPE_ENDPOINT, 0);
	assert_int_equal(scope->arrived, 100);
	assert_int_equal(scope->requests, 60);
	assert_int_equal(scope->e2e.n, 60);
	assert_true(fabs(scope->seconds - 6) < 1e-9);
	rig_fini(&rig);
}

/* ---- leaps and windows ------------------------------------------------- */

static struct replica_config stepping(void)
{
	struct replica_config c = {
		.engine = replica_engine_find("batching"),
		.max_num_seqs = 8,
		.max_num_batched_tokens = 2048,
		.block_tokens = 16,
		.curve = {.n = 1},
	};

	c.curve.piece[0].upto_tokens = UINT32_MAX;
	c.curve.piece[0].base_ticks = 10 * MS * REPLICA_TICKS_PER_NS;
	return c;
}

/*
 * One request of 900 tokens, 10 ms each, is one leap: its tokens fall into
 * the window in which they came, where nothing else happens.
 */
static void tokens_of_a_leap_by_window(void **state)
{
	struct measure_term term = {
		.metric = METRIC_THROUGHPUT,
		.deployment = MEASURE_NONE,
		.traffic = MEASURE_NONE,
		.replica = MEASURE_NONE,
		.bounded = true,
		.from = {.at_ns = 2 * S + 5 * MS},
		.to = {.at_ns = 4 * S + 5 * MS},
	};
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.spec.interval_ns = 100 * S;
	rig.terms = (struct measure_terms){.n = 1, .term = &term};
	rig_deployment(&rig, "dep_a", 1);
	rig.config[0] = stepping();
	rig_load(&rig, "t")->requests = 1;
	rig.load[0].output_tokens = dist_constant(900);
	rig_run(&rig, 1);
	assert_int_equal(rig.request[0].r.output_tokens, 900);
	assert_int_equal(rig.result->n_terms, 1);
	assert_true(fabs(rig.result->value[0].value - 100) < 1e-9);
	rig_fini(&rig);
}

/* What a lost or impatient request had got so far is known. */
static void tokens_of_what_did_not_finish(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_deployment(&rig, "dep_a", 1);
	rig.config[0] = stepping();
	rig_load(&rig, "t")->requests = 2;
	rig.load[0].rate_rps = 0.2;
	rig.load[0].output_tokens = dist_constant(1000);
	rig.load[0].timeout_ns = 2 * S + 5 * MS;
	rig_action(&rig, 6 * S + 5 * MS, WORLD_CRASH, 0);
	rig_run(&rig, 1);
	assert_int_equal(rig.request[0].r.outcome, OUTCOME_TIMED_OUT);
	assert_int_equal(rig.request[0].r.output_tokens, 200);
	assert_int_equal(rig.request[1].r.outcome, OUTCOME_FAILED);
	assert_int_equal(rig.request[1].r.output_tokens, 100);
	rig_fini(&rig);
}

/* ---- watchers ---------------------------------------------------------- */

static bool stop_at_once(void *self, int64_t now_ns)
{
	(*(int *)self)++;
	assert_in_range(now_ns, 1, 10000 * S);
	return true;
}

static void observer_stops_a_run(void **state)
{
	int asked = 0;
	struct world_observer observer = {.self = &asked, .stop = stop_at_once};
	struct rig rig;
	struct world *w;
	struct err e;

	(void)state;
	rig_init(&rig);
	rig.spec.duration_ns = 10000 * S;
	rig_deployment(&rig, "dep_a", 1);
	rig_load(&rig, "t");
	rig_close(&rig);
	err_clear(&e);
	w = world_new(&rig.spec, 1, 0, &observer, &e);
	assert_false(world_run(w, &e));
	assert_false(e.set);
	assert_int_equal(asked, 1);
	assert_null(world_result(w));
	world_free(w);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acts_when_a_condition_holds),
		cmocka_unit_test(conditions_of_the_start_and_never),
		cmocka_unit_test(endpoints_share_a_clock),
		cmocka_unit_test(clients_give_up),
		cmocka_unit_test(answer_beats_the_timeout),
		cmocka_unit_test(refused_clients_pause),
		cmocka_unit_test(full_queue_refuses_clients),
		cmocka_unit_test(clients_survive_a_crash),
		cmocka_unit_test(open_ended),
		cmocka_unit_test(replays_a_trace_to_its_end),
		cmocka_unit_test(broken_traces_are_reported),
		cmocka_unit_test(unfinished_requests),
		cmocka_unit_test(warm_up),
		cmocka_unit_test(tokens_of_a_leap_by_window),
		cmocka_unit_test(tokens_of_what_did_not_finish),
		cmocka_unit_test(observer_stops_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
