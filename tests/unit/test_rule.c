/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules: what is read, and what becomes of it. */
#include "unit/rule_rig.h"

static const struct measure_node *read(void **state, const char *text)
{
	return rig_read(*state, text, &one);
}

/* The term on the left side of a rule. */
static const struct measure_term *left(void **state, const char *text)
{
	struct rig *rig = *state;
	const struct measure_node *n = read(state, text);
	const struct measure_node *a = &n[n[0].a];

	assert_int_equal(a->kind, NODE_TERM);
	assert_true(a->term < rig->terms.n);
	return &rig->terms.term[a->term];
}

/* The number on the right side. */
static double right(void **state, const char *text)
{
	const struct measure_node *n = read(state, text);

	assert_int_equal(n[n[0].b].kind, NODE_NUMBER);
	return n[n[0].b].number;
}

/* ---- what is read ------------------------------------------------------ */

static void test_share(void **state)
{
	const struct measure_node *n =
		read(state, "share(dep_b, 0s..5m) == 1/2");
	struct rig *rig = *state;
	const struct measure_term *t = &rig->terms.term[0];

	assert_int_equal(n[0].kind, NODE_COMPARE);
	assert_int_equal(n[0].compare, COMPARE_EQ);
	assert_int_equal(n[0].unit, UNIT_RATIO);
	assert_int_equal(n[n[0].b].kind, NODE_DIV);
	assert_int_equal(rig->rule.confidence, 0);
	assert_int_equal(t->metric, METRIC_SHARE);
	assert_int_equal(t->statistic, STAT_DEFAULT);
	assert_int_equal(t->endpoint, 0);
	assert_int_equal(t->deployment, 1);
	assert_int_equal(t->traffic, MEASURE_NONE);
	assert_int_equal(t->replica, MEASURE_NONE);
	assert_true(t->bounded);
	assert_int_equal(t->from.at_ns, 0);
	assert_int_equal(t->to.at_ns, 5 * NS_PER_MIN);
}

static void test_statistics(void **state)
{
	const struct measure_term *t = left(state, "ttft.p99.9(chat) < 500ms");

	assert_int_equal(t->statistic, STAT_QUANTILE);
	assert_true(t->quantile == 0.999);
	assert_int_equal(t->traffic, 0);
	assert_false(t->bounded);
	t = left(state, "ttft.p50 < 1s");
	assert_true(t->quantile == 0.5);
	assert_int_equal(t->endpoint, 0);
	assert_int_equal(left(state, "tpot.mean < 1s")->statistic, STAT_MEAN);
	assert_int_equal(left(state, "itl.max(dep_a) < 1s")->statistic,
	                 STAT_MAX);
	assert_int_equal(left(state, "e2e.min > 1ms")->statistic, STAT_MIN);
	t = left(state, "replicas.ready.at(dep_a, ..5m) == 2");
	assert_int_equal(t->metric, METRIC_READY);
	assert_int_equal(t->statistic, STAT_AT);
	assert_int_equal(t->to.at_ns, 5 * NS_PER_MIN);
	t = left(state, "completed.rate(chat-eu) > 2/s");
	assert_int_equal(t->metric, METRIC_COMPLETED);
	assert_int_equal(t->statistic, STAT_RATE);
	assert_int_equal(t->traffic, 1);
}

static void test_numbers(void **state)
{
	assert_true(right(state, "ttft.p95 < 500ms") == 5e8);
	assert_true(right(state, "ttft.p95 < 1h30m") == 5400e9);
	assert_true(right(state, "share(dep_a) < 0.7%") == 0.007);
	assert_true(right(state, "rate > 1200/m") == 20);
	assert_true(right(state, "rate > 20/s") == 20);
	assert_true(right(state, "rate > 20") == 20);
	assert_true(right(state, "requests < 1e6") == 1e6);
	assert_true(right(state, "requests < 2.5e-1") == 0.25);
}

/* A number that begins with a dot is none. */
static void test_number_dot(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(measure_rule_parse("requests < .5", &one, &rig->arena,
	                                    &rig->terms, &rig->rule, &rig->err),
	                 -1);
	assert_int_equal(rig->err.col, 12);
}

static void test_windows(void **state)
{
	const struct measure_term *t = left(
		state, "share(settled(replicas.ready(dep_a) == 2)..12m, dep_b) "
		       "== 2/3");

	assert_int_equal(t->deployment, 1);
	assert_true(t->from.is_condition && t->from.settled);
	assert_int_equal(t->from.condition.metric, METRIC_READY);
	assert_int_equal(t->from.condition.deployment, 0);
	assert_int_equal(t->from.condition.compare, COMPARE_EQ);
	assert_true(t->from.condition.value == 2);
	assert_false(t->to.is_condition || t->to.settled);
	assert_int_equal(t->to.at_ns, 12 * NS_PER_MIN);
	t = left(state, "errors(15m..) == 0");
	assert_int_equal(t->from.at_ns, 15 * NS_PER_MIN);
	assert_int_equal(t->to.at_ns, TIME_NEVER);
	t = left(state, "errors(settled(5m)..queue(ep_demo) >= 9) == 0");
	assert_true(t->from.settled && !t->from.is_condition);
	assert_int_equal(t->from.at_ns, 5 * NS_PER_MIN);
	assert_true(t->to.is_condition && !t->to.settled);
	assert_int_equal(t->to.condition.metric, METRIC_QUEUE);
	assert_int_equal(t->to.condition.deployment, MEASURE_NONE);
	assert_int_equal(t->to.condition.compare, COMPARE_GE);
	t = left(state, "errors(0..5m) == 0");
	assert_int_equal(t->from.at_ns, 0);
}

static void test_moved_keys(void **state)
{
	const struct measure_node *n =
		read(state, "moved_keys(replicas.ready(dep_a) == 2) == least");
	struct rig *rig = *state;
	const struct measure_term *t = &rig->terms.term[0];

	assert_int_equal(n[n[0].b].kind, NODE_LEAST);
	assert_true(t->bounded && t->from.is_condition);
	assert_int_equal(t->to.at_ns, TIME_NEVER);
	t = left(state, "moved_keys(5m) == least");
	assert_true(t->bounded && !t->from.is_condition);
	assert_int_equal(t->from.at_ns, 5 * NS_PER_MIN);
	t = left(state, "moved_keys(5m) < 20%");
	assert_int_equal(t->metric, METRIC_MOVED_KEYS);
}

static void test_selectors(void **state)
{
	const struct measure_term *t =
		left(state, "errors(endpoint_not_configured, chat, 1m..) == 0");

	assert_int_equal(t->error, ERROR_ENDPOINT_NOT_CONFIGURED);
	assert_int_equal(t->traffic, 0);
	assert_true(t->bounded);
	t = left(state, "count(deployment.scaled, dep_b) == 1");
	assert_string_equal(t->event, "deployment.scaled");
	assert_int_equal(t->deployment, 1);
	t = left(state, "requests(replica 1, dep_b) > 0");
	assert_int_equal(t->replica, 1);
	assert_false(t->replicas);
	t = left(state, "requests(ep_demo) > 0");
	assert_int_equal(t->deployment, MEASURE_NONE);
}

static void test_endpoints(void **state)
{
	struct rig *rig = *state;
	const struct measure_node *n =
		rig_read(rig, "ttft.p95(dep_batch) < 1s", &two);

	assert_int_equal(rig->terms.term[n[n[0].a].term].endpoint, 1);
	n = rig_read(rig, "ttft.p95(chat-eu) < 1s", &two);
	assert_int_equal(rig->terms.term[n[n[0].a].term].endpoint, 1);
	n = rig_read(rig, "ttft.p95(ep_two) < 1s", &two);
	assert_int_equal(rig->terms.term[n[n[0].a].term].endpoint, 1);
}

static void test_arithmetic(void **state)
{
	const struct measure_node *n = read(
		state, "ttft.p95(dep_b) < 1.25 * (ttft.p95(dep_a) - -1ms) / 2");
	const struct measure_node *b = &n[n[0].b];

	assert_int_equal(n[0].unit, UNIT_NS);
	assert_int_equal(b->kind, NODE_DIV);
	assert_int_equal(b->unit, UNIT_NS);
	assert_int_equal(n[b->a].kind, NODE_MUL);
	assert_int_equal(n[n[b->a].b].kind, NODE_SUB);
	assert_int_equal(n[n[n[b->a].b].b].kind, NODE_NEG);
	n = read(state, "requests == 1 + 2 * 3");
	assert_int_equal(n[n[0].b].kind, NODE_ADD);
	n = read(state, "ttft.p95(dep_b) / ttft.p95(dep_a) < 2");
	assert_int_equal(n[0].unit, UNIT_PLAIN);
	assert_int_equal(n[n[0].a].kind, NODE_DIV);
}

static void test_forms(void **state)
{
	struct rig *rig = *state;
	const struct measure_node *n =
		read(state, "replicas.ready(dep_a, 15m..) in 1..2");

	assert_int_equal(n[0].kind, NODE_IN);
	assert_true(n[n[0].b].number == 1 && n[n[0].c].number == 2);
	n = read(state, "ttft.p50 within 5% of 100ms confidence 90%");
	assert_int_equal(n[0].kind, NODE_WITHIN);
	assert_true(n[n[0].b].number == 0.05);
	assert_true(n[n[0].c].number == 1e8);
	assert_true(rig->rule.confidence == 0.9);
	n = read(state, "prob(max(requests(replicas(dep_a))) >= 237) >= 0.01");
	assert_int_equal(n[n[0].a].kind, NODE_PROB);
	n = &n[n[n[0].a].a];
	assert_int_equal(n->kind, NODE_COMPARE);
	assert_int_equal(rig->rule.nodes[n->a].kind, NODE_MAX);
	assert_true(
		rig->terms.term[rig->rule.nodes[rig->rule.nodes[n->a].a].term]
			.replicas);
	n = read(state, "dispersion(share(dep_a, ..5m)) == 1/4");
	assert_int_equal(n[n[0].a].kind, NODE_DISPERSION);
	n = read(state, "rate(dep_a) > rate(dep_b) in >= 199 of 200 reps");
	assert_int_equal(n[0].kind, NODE_REPS);
	assert_int_equal(n[0].at_least, 199);
	assert_int_equal(n[0].out_of, 200);
	assert_int_equal(n[n[0].a].kind, NODE_COMPARE);
	n = read(state, "requests in 1..2 in >= 3 of 4 reps");
	assert_int_equal(n[n[0].a].kind, NODE_IN);
	n = read(state, "min(ttft.p95(replicas(dep_b))) < 1s");
	assert_int_equal(n[n[0].a].kind, NODE_MIN);
	n = read(state, "sum(requests(replicas(dep_b))) > 1");
	assert_int_equal(n[n[0].a].kind, NODE_SUM);
}

/* timeouts <= 0.1% is of the requests with the same selectors. */
static void test_part_of_requests(void **state)
{
	struct rig *rig = *state;
	const struct measure_node *n =
		read(state, "errors(queue_full, chat, 1m..) <= 0.1%");
	const struct measure_node *a = &n[n[0].a];
	const struct measure_term *all = &rig->terms.term[n[a->b].term];

	assert_int_equal(a->kind, NODE_DIV);
	assert_int_equal(a->unit, UNIT_RATIO);
	assert_int_equal(rig->terms.term[n[a->a].term].metric, METRIC_ERRORS);
	assert_int_equal(all->metric, METRIC_REQUESTS);
	assert_int_equal(all->error, ERROR_NONE);
	assert_int_equal(all->traffic, 0);
	assert_int_equal(all->from.at_ns, NS_PER_MIN);
	n = read(state, "timeouts / requests <= 0.1%");
	assert_int_equal(n[n[0].a].unit, UNIT_RATIO);
	/* of a part of the requests it is not part */
	n = read(state, "timeouts / requests(chat) <= 2");
	assert_int_equal(n[n[0].a].unit, UNIT_PLAIN);
}

static void test_shared_terms(void **state)
{
	struct rig *rig = *state;

	read(state, "ttft.p95(dep_a, 1m..) < 1s");
	read(state, "ttft.p95(dep_a, 1m..) > 1ms");
	assert_int_equal(rig->terms.n, 1);
	read(state, "ttft.p95(dep_a, 2m..) > 1ms");
	read(state, "ttft.p99(dep_a, 1m..) > 1ms");
	read(state, "ttft.p95(dep_a, settled(1m)..) > 1ms");
	assert_int_equal(rig->terms.n, 4);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < MEASURE_METRICS; i++)
		assert_non_null(measure_metric_name((enum measure_metric)i));
	assert_null(measure_metric_name(MEASURE_METRICS));
	assert_string_equal(measure_metric_name(METRIC_READY),
	                    "replicas.ready");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_share),
		RIG_TEST(test_statistics),
		RIG_TEST(test_numbers),
		RIG_TEST(test_number_dot),
		RIG_TEST(test_windows),
		RIG_TEST(test_moved_keys),
		RIG_TEST(test_selectors),
		RIG_TEST(test_endpoints),
		RIG_TEST(test_arithmetic),
		RIG_TEST(test_forms),
		RIG_TEST(test_part_of_requests),
		RIG_TEST(test_shared_terms),
		RIG_TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
