/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that are refused: in which words, and at which column. */
#include <stdio.h>

#include "unit/rule_rig.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

struct bad {
	const char *text;
	int col;
	const char *says; /* somewhere */
};

static const struct bad words[] = {
	{"", 1, "a rule is wanted"},
	{"tfft.p95 < 1s", 1, "did you mean \"ttft\"?"},
	{"replicas.redy(dep_a) == 1", 1, "did you mean \"replicas.ready\"?"},
	{"zzzzzzzz < 1", 1, "is no metric"},
	{"replicas(dep_a) == 1", 1, "did you mean \"replicas.ready\"?"},
	{"share(dep_c) == 1/2", 7, "did you mean \"dep_a\"?"},
	{"ttft.p95(chta) < 1s", 10, "did you mean \"chat\"?"},
	{"errors(queue_ful) == 0", 8, "did you mean \"queue_full\"?"},
	{"count(deployment.scald) == 0", 7, "did you mean \"deployment.scaled"},
	{"count(deployment.status) == 0", 7, "\"deployment.status_updated"},
	{"count(qqqqqqqqq) == 0", 7, "none of deployment.scaled, "},
	{"count(qqqqqqqqq) == 0", 7, "phase_changed, router.table_applied"},
	{"errors(qqqqqqqqq) == 0", 8, "none of endpoint_not_configured, "},
	{"errors(qqqqqqqqq) == 0", 8, ", timeout, replica_lost"},
	{"ttft.p95(qqqqqqqqq) < 1s", 10, "no deployment, endpoint"},
	{"ttft.p95x < 1s", 6, "no statistic \"p95x\""},
	{"ttft.p100 < 1s", 6, "no statistic"},
	{"ttft.p0 < 1s", 6, "no statistic"},
	{"ttft. < 1s", 6, "no statistic"},
	{"ttft.at < 1s", 6, "it has mean, p50 to p99.9"},
	{"share.mean(dep_a) == 1/2", 7, "it has none"},
	{"replicas.ready.p95(dep_a) == 1", 16, "it has mean, min, max and at"},
	{"requests = 5", 10, "write \"==\""},
	{"requests => 5", 10, "write \">=\""},
	{"requests =< 5", 10, "write \"<=\""},
	{"requests ~ 5", 10, "has no meaning"},
	{"requests 5", 10, "a comparison is wanted"},
	{"requests", 9, "a comparison is wanted"},
	{"requests ==", 12, "ends where a value is wanted"},
	{"requests == )", 13, "a value is wanted before \")\""},
	{"requests == 5 5", 15, "\"5\" is too much"},
	{"requests == 5x", 13, "neither a number nor a time"},
	{"ttft < 5 00ms", 8, "write 5ms or 5s"},
	{"ttft < 500 ms", 8, "write 500ms, without a space"},
	{"ttft(1 m..2m) < 5s", 6, "write 1m, without a space"},
	{"share(dep_a) == 50 %", 17, "write 50%, without a space"},
	{"requests(dep_a == 5", 16, "\")\" is wanted before \"== 5\""},
	{"requests(dep_a", 15, "\")\" is missing at the end"},
	{"requests() == 5", 10, "a name or a window"},
	{"requests == 1 confidence 30%", 26, "confidence wants"},
	{"requests == 1 confidence 100%", 26, "confidence wants"},
	{"requests == 1 confidence 0.99", 26, "confidence wants"},
	{"requests == 1 confidence 99", 26, "write 99%"},
	{"requests > 1 in >= 9 of 8 reps", 20, "more than there are"},
	{"requests > 1 in >= 0 of 8 reps", 20, "a whole number"},
	{"requests > 1 in >= 1 of 8", 26, "\"reps\" is missing"},
	{"requests > 1 in >= 1 of 8 reps confidence 99%", 32, "counted"},
	{"requests in >= 1 of 8 reps", 13, "a comparison is wanted"},
};

static const struct bad selectors[] = {
	{"share == 1/2", 1, "share(dep_a)"},
	{"rate_per_replica(chat) == 2", 1, "rate_per_replica(dep_a)"},
	{"share(dep_a, dep_b) == 1/2", 14, "a second deployment"},
	{"ttft(chat, chat-eu) < 1s", 12, "a second traffic"},
	{"requests(1m.., 2m..) == 1", 16, "a second window"},
	{"requests(5m) == 1", 10, "FROM..TO"},
	{"requests(5m..4m) == 1", 10, "ends before it begins"},
	{"requests(5m..5m) == 1", 10, "this window is empty"},
	{"requests(5..10m) == 1", 10, "write 5s or 5ms"},
	{"requests(1m..dep_a) == 1", 14, "a moment is wanted"},
	{"requests(settled(settled(1m))..) == 1", 18, "settled of settled"},
	{"requests(ttft(dep_a) < 1..) == 1", 10, "a moment is the first time"},
	{"requests(queue(chat) > 1..) == 1", 20, "by traffic"},
	{"requests(queue(dep_a) 1..) == 1", 23, "such as == 2"},
	{"requests(queue(dep_a) > 1s..) == 1", 25, "a number is wanted"},
	{"moved_keys == least", 1, "moved_keys(60s)"},
	{"moved_keys(1m..2m) == least", 14, "one moment"},
	{"moved_keys(1m, dep_a) == least", 1, "of an endpoint"},
	{"count(dep_a) == 1", 1, "count(deployment.scaled)"},
	{"requests(deployment.scaled) == 1", 10, "only in count"},
	{"requests(queue_full) == 1", 10, "only in errors"},
	{"queue(chat) < 1", 1, "not told apart by traffic"},
	{"itl(chat) < 1s", 1, "not told apart by traffic"},
	{"replicas.ready(dep_a, replica 0) == 1", 1, "by replica"},
	{"requests(replica 0) == 1", 1, "replica N wants a deployment"},
	{"requests(dep_a, replica x) == 1", 25, "its number"},
	{"requests(replicas(dep_a)) == 1", 1, "put max(...)"},
	{"max(requests(dep_a)) == 1", 5, "requests(replicas(dep_a))"},
	{"max(5) == 1", 5, "a metric is wanted"},
	{"requests(replicas(chat)) == 1", 19, "wants a deployment"},
	{"dispersion(requests(dep_a)) == 1/2", 12, "wants share"},
};

static const struct bad meanings[] = {
	{"ttft.p95 < 500", 12, "write 500ms or 500s"},
	{"ttft.p95 < 0.5", 12, "write 0.5ms or 0.5s"},
	{"ttft.p95 in 1..2s", 13, "write 1ms or 1s"},
	{"share(dep_a) == 500ms", 17, "a fraction is compared with a time"},
	{"share(dep_a) == 5/s", 17, "a fraction is compared with a rate"},
	{"share(dep_a) == requests", 17, "with a count"},
	{"requests < 500ms", 12, "a count is compared with a time"},
	{"requests < 5%", 12, "a count is compared with a fraction"},
	{"rate < 50%", 8, "a rate is compared with a fraction"},
	{"ttft.p95 < 500%", 12, "a time is compared with a fraction"},
	{"ttft.p95 < 1s * 1s", 15, "a time or rate times"},
	{"requests < 1 / 1s", 14, "divided by a time"},
	{"requests < 1 / (2 - 2)", 17, "divided by nothing"},
	{"ttft.p95 < 1s + 1", 15, "do not add"},
	{"share(dep_a) >= 0", 1, "can never fail"},
	{"share(dep_a) <= 100%", 1, "can never fail"},
	{"share(dep_a) in 0..1", 1, "can never fail"},
	{"share(dep_a) > 1", 1, "can never hold"},
	{"share(dep_a) == 3/2", 1, "can never hold"},
	{"share(dep_a) == 50", 17, "write 50%"},
	{"share(dep_a) < 50", 16, "write 50%"},
	{"share(dep_a) in 48..52", 17, "write 48%"},
	{"prob(requests > 1) >= 99", 23, "write 99%"},
	{"share(dep_a) == -0.5", 1, "can never hold"},
	{"timeouts >= 0%", 1, "can never fail"},
	{"timeouts <= 100%", 1, "can never fail"},
	{"requests >= 0", 1, "can never fail"},
	{"requests > -1", 1, "can never fail"},
	{"requests < 0", 1, "can never hold"},
	{"ttft.p95 >= 0s", 1, "can never fail"},
	{"requests in 5..4", 13, "ends before it begins"},
	{"prob(requests > 1) >= 0", 1, "can never fail"},
	{"prob(requests >= 0) >= 1/2", 6, "can never fail"},
	{"requests == requests", 13, "both sides are the same"},
	{"1 < 2", 1, "a metric is wanted on the left"},
	{"0.5 == share(dep_a)", 1, "a metric is wanted on the left"},
	{"dispersion(share(dep_a)) > 1/2", 28, "stands before =="},
	{"dispersion(share(dep_a)) == 1", 29, "between 0 and 1"},
	{"dispersion(share(dep_a))", 25, "a comparison is wanted"},
	{"2 * dispersion(share(dep_a)) == 1", 1, "which share"},
	{"prob(requests > 1) > prob(requests > 2)", 1, "with a number"},
	{"1 - prob(requests > 1) > 0.5", 1, "with a number"},
	{"prob(prob(requests > 1) > 0.5) > 0.5", 6, "not of one"},
	{"prob(requests > 1) > 0.1 in >= 1 of 2 reps", 1, "not of one"},
	{"share(dep_a) == least", 17, "moved_keys(...) == least"},
	{"moved_keys(1m) < least", 18, "compared with a number"},
	{"moved_keys(1m) == 2 * least", 19, "compared with a number"},
	{"ttft within 5ms of 1s", 13, "within wants a percent"},
	{"ttft within 5% of 1", 19, "write 1ms or 1s"},
	{"replicas.ready(dep_a) != 2", 1, "replicas.ready.mean"},
	{"replicas.ready(dep_a) within 5% of 2", 1, "of every moment"},
	{"1 + replicas.ready(dep_a) == 2", 5, "of every moment"},
	{"replicas.ready(dep_a) == replicas.wanted(dep_a)", 26, "wanted.mean"},
};

static void refuse(struct rig *rig, const struct bad *bad)
{
	uint32_t before = rig->terms.n;

	err_clear(&rig->err);
	if (measure_rule_parse(bad->text, &one, &rig->arena, &rig->terms,
	                       &rig->rule, &rig->err) != -1)
		fail_msg("%s: was read", bad->text);
	if (rig->err.col != bad->col ||
	    strstr(rig->err.text, bad->says) == NULL)
		fail_msg("%s: col %d, not %d: %s", bad->text, rig->err.col,
		         bad->col, rig->err.text);
	assert_int_equal(rig->err.line, 0);
	assert_int_equal(rig->terms.n, before);
}

static void test_bad_words(void **state)
{
	for (size_t i = 0; i < LENGTH(words); i++)
		refuse(*state, &words[i]);
}

static void test_bad_selectors(void **state)
{
	for (size_t i = 0; i < LENGTH(selectors); i++)
		refuse(*state, &selectors[i]);
}

static void test_bad_meanings(void **state)
{
	for (size_t i = 0; i < LENGTH(meanings); i++)
		refuse(*state, &meanings[i]);
}

static void test_bad_endpoints(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(measure_rule_parse("ttft.p95 < 1s", &two, &rig->arena,
	                                    &rig->terms, &rig->rule, &rig->err),
	                 -1);
	assert_non_null(strstr(rig->err.text, "several endpoints"));
	err_clear(&rig->err);
	assert_int_equal(measure_rule_parse("ttft.p95(dep_batch, chat) < 1s",
	                                    &two, &rig->arena, &rig->terms,
	                                    &rig->rule, &rig->err),
	                 -1);
	assert_int_equal(rig->err.col, 21);
	assert_non_null(strstr(rig->err.text, "another endpoint"));
}

static void test_limits(void **state)
{
	struct rig *rig = *state;
	char text[400];

	for (int i = 0; i < MEASURE_MAX_TERMS; i++) {
		snprintf(text, sizeof(text), "requests(%ds..) == 1", i + 1);
		rig_read(rig, text, &one);
	}
	assert_int_equal(rig->terms.n, MEASURE_MAX_TERMS);
	rig_read(rig, "requests(5s..) == 2", &one);
	err_clear(&rig->err);
	assert_int_equal(measure_rule_parse("requests == 1", &one, &rig->arena,
	                                    &rig->terms, &rig->rule, &rig->err),
	                 -1);
	assert_non_null(strstr(rig->err.text, "more than 64"));
	rig->terms.n = 0;
	memset(text, '(', sizeof(text));
	memcpy(text, "requests == ", 12);
	text[sizeof(text) - 1] = '\0';
	err_clear(&rig->err);
	assert_int_equal(measure_rule_parse(text, &one, &rig->arena,
	                                    &rig->terms, &rig->rule, &rig->err),
	                 -1);
	assert_non_null(strstr(rig->err.text, "nested"));
	memset(text, 'x', sizeof(text) - 1);
	err_clear(&rig->err);
	assert_int_equal(measure_rule_parse(text, &one, &rig->arena,
	                                    &rig->terms, &rig->rule, &rig->err),
	                 -1);
	assert_int_equal(rig->err.col, 1);
}

/* Every beginning of a rule, and every rule with a sign too much, is read or
 * refused with a column inside; nothing else happens. */
static void test_pieces(void **state)
{
	static const char whole[] =
		"prob(max(requests(replicas(dep_a), settled("
		"replicas.ready(dep_a) == 2)..12m)) >= 1.5e2 * (2 - -1)) "
		">= 0.01 confidence 99.9%";
	static const char signs[] = "()+-*/<>=.,% \x80\t5se";
	struct rig *rig = *state;
	char text[sizeof(whole) + 1];

	for (size_t i = 0; i < sizeof(whole); i++) {
		for (size_t s = 0; s < sizeof(signs); s++) {
			size_t n = strlen(signs + s) > 0;

			memcpy(text, whole, i);
			text[i] = signs[s];
			memcpy(text + i + n, whole + i, sizeof(whole) - i);
			if (n == 0)
				text[i] = '\0';
			err_clear(&rig->err);
			if (measure_rule_parse(text, &one, &rig->arena,
			                       &rig->terms, &rig->rule,
			                       &rig->err) == 0)
				continue;
			assert_in_range(rig->err.col, 1, strlen(text) + 1);
			assert_true(rig->err.text[0] != '\0');
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_bad_words),    RIG_TEST(test_bad_selectors),
		RIG_TEST(test_bad_meanings), RIG_TEST(test_bad_endpoints),
		RIG_TEST(test_limits),       RIG_TEST(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
