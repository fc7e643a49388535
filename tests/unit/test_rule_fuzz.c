/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules thrown together: each is read or refused, at a column inside it and
 * in words; what is read makes a tree that can be walked.
 */
#include <stdio.h>

#include "unit/rule_rig.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])
#define STRINGS 100000

static const char *const pieces[] = {
	"share",
	"moved_keys",
	"ttft.p95",
	"ttft.max",
	"requests",
	"errors",
	"timeouts",
	"replicas.ready",
	"rate_per_replica",
	"queue",
	"count",
	"completed.rate",
	"keys_on_two",
	"(",
	"(",
	")",
	")",
	")",
	"(dep_a)",
	"(dep_b, 1m..2m)",
	"(chat)",
	"(replicas(dep_a))",
	"(replica 0, dep_a)",
	"(ep_demo)",
	"(queue_full)",
	"(deployment.scaled)",
	"(5s)",
	"(dep_a,",
	"settled(",
	"replicas.ready(dep_a) == 2",
	"..",
	"..",
	",",
	"==",
	"!=",
	"<",
	"<=",
	">",
	">=",
	"in",
	"within",
	"of",
	"reps",
	"confidence",
	"least",
	"prob(",
	"dispersion(",
	"max(",
	"min(",
	"sum(",
	"+",
	"-",
	"*",
	"/",
	"1",
	"0",
	"2",
	"1/2",
	"30%",
	"99.9%",
	"500ms",
	"1h30m",
	"2/s",
	"1e300",
	"1e-9",
	"5x",
	"0.5",
	"in >= 1 of 2 reps",
	"confidence 99%",
	"share(dep_a)",
	"share(dep_a) == 1/2",
	"requests > 1",
	"dep_x",
	"=",
	"\"",
	"~",
	"\xc3\xa9",
	"\t",
	".",
	"p95",
	"_",
	"replicas",
	"replica",
};

static uint64_t splitmix(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Children lie in the tree, terms among the terms, numbers are numbers. */
static void walk(const struct rig *rig, uint32_t node, int depth)
{
	const struct measure_rule *rule = &rig->rule;
	const struct measure_node *n = &rule->nodes[node];

	assert_true(node < rule->n_nodes);
	assert_in_range(depth, 0, 100);
	if (n->kind == NODE_TERM)
		assert_true(n->term < rig->terms.n);
	if (n->kind == NODE_NUMBER)
		assert_true(n->number >= 0);
	if (n->kind == NODE_NUMBER || n->kind == NODE_TERM ||
	    n->kind == NODE_LEAST)
		return;
	assert_true(n->a > 0);
	walk(rig, n->a, depth + 1);
	if (n->b > 0)
		walk(rig, n->b, depth + 1);
	if (n->c > 0)
		walk(rig, n->c, depth + 1);
}

/* True when it was read. */
static bool try(struct rig *rig, const char *text)
{
	uint32_t before = rig->terms.n;

	err_clear(&rig->err);
	if (measure_rule_parse(text, &one, &rig->arena, &rig->terms, &rig->rule,
	                       &rig->err) == 0) {
		assert_false(rig->err.set);
		assert_string_equal(rig->rule.text, text);
		walk(rig, 0, 0);
		return true;
	}
	if (rig->err.col < 1 || rig->err.col > (int)strlen(text) + 1 ||
	    rig->err.text[0] == '\0' || rig->terms.n != before)
		fail_msg("%s: col %d: %s", text, rig->err.col, rig->err.text);
	return false;
}

/* Now and then everything is forgotten, lest memory and terms run full. */
static void forget(struct rig *rig, int i)
{
	if (i % 1000 != 0 && rig->terms.n < MEASURE_MAX_TERMS - 8)
		return;
	arena_fini(&rig->arena);
	arena_init(&rig->arena);
	rig->terms = (struct measure_terms){0};
}

static void test_pieces_thrown(void **state)
{
	uint64_t seed = 11;
	int good = 0;

	for (int i = 0; i < STRINGS; i++) {
		char text[400];
		size_t at = 0, n = splitmix(&seed) % 12;

		text[0] = '\0';
		for (size_t k = 0; k < n; k++) {
			uint64_t r = splitmix(&seed);
			const char *piece = pieces[r % LENGTH(pieces)];

			at += (size_t)snprintf(text + at, sizeof(text) - at,
			                       "%s%s", piece,
			                       r >> 60 ? " " : "");
		}
		forget(*state, i);
		good += try(*state, text);
	}
	assert_true(good > 50);
}

static void test_bytes_thrown(void **state)
{
	uint64_t seed = 12;

	for (int i = 0; i < STRINGS; i++) {
		char text[24];
		size_t n = splitmix(&seed) % sizeof(text);

		for (size_t k = 0; k < n; k++)
			text[k] = (char)(1 + splitmix(&seed) % 255);
		text[n] = '\0';
		forget(*state, i);
		try(*state, text);
	}
}

/* A good rule with a byte changed, taken out or put in. */
static void test_bytes_changed(void **state)
{
	static const char *const rules[] = {
		"share(dep_a, settled(replicas.ready(dep_a) == 2)..12m) == 2/3",
		"ttft.p95(dep_b) < 1.25 * (ttft.p95(dep_a) - -1ms) / 2",
		"prob(max(requests(replicas(dep_a))) >= 237) >= 0.01",
		"rate(dep_a) > rate(dep_b) in >= 199 of 200 reps",
		"ttft.p50 within 5% of 100ms confidence 90%",
		"dispersion(share(dep_a, 0s..70s)) == 1/2",
		"errors(queue_full, chat, 1m..) <= 0.1%",
		"replicas.ready(dep_a, 15m..) in 1..2",
	};
	uint64_t seed = 13;
	int good = 0;

	for (int i = 0; i < STRINGS; i++) {
		const char *rule = rules[(size_t)i % LENGTH(rules)];
		uint64_t r = splitmix(&seed);
		size_t n = strlen(rule), at = (r >> 8) % n;
		size_t put = r % 3 > 0, take = r % 3 < 2;
		char text[128];

		memcpy(text, rule, at);
		text[at] = (char)(' ' + (r >> 32) % 95);
		memcpy(text + at + put, rule + at + take, n - at - take + 1);
		forget(*state, i);
		good += try(*state, text);
	}
	assert_in_range(good, STRINGS / 100, STRINGS / 2);
}

/* ---- whole sentences --------------------------------------------------- */

static const struct {
	const char *text;
	int col;
	const char *says; /* all of it */
} sentences[] = {
	{"tfft.p95 < 1s", 1, "\"tfft\" is no metric; did you mean \"ttft\"?"},
	{"share(dep_c) == 1/2", 7,
         "nothing is called \"dep_c\"; did you mean \"dep_a\"?"},
	{"errors(queue_ful) == 0", 8,
         "nothing is called \"queue_ful\"; did you mean \"queue_full\"?"},
	{"ttft.p95 < 500", 12,
         "a time is compared with a time: write 500ms or 500s"},
	{"ttft.p95x < 1s", 6,
         "ttft has no statistic \"p95x\"; it has mean, p50 to p99.9, min and "
         "max"},
	{"requests = 5", 10, "\"=\" is no comparison; write \"==\""},
	{"requests >= 0", 1, "this rule can never fail"},
	{"share(dep_a) == 3/2", 1, "this rule can never hold"},
	{"requests == 5 5", 15, "\"5\" is too much"},
	{"share(dep_a) <= 1 confidence 99%", 1, "this rule can never fail"},
	{"requests == 1e400", 13,
         "\"1e400\" is neither a number nor a time such as 500ms"},
};

static void test_sentences(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < LENGTH(sentences); i++) {
		assert_false(try(rig, sentences[i].text));
		assert_string_equal(rig->err.text, sentences[i].says);
		assert_int_equal(rig->err.col, sentences[i].col);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_pieces_thrown),
		RIG_TEST(test_bytes_thrown),
		RIG_TEST(test_bytes_changed),
		RIG_TEST(test_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
