/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Broken scenarios: tests/invalid/NAME.json and, in NAME.err, the one line
 * that refuses it. Whatever else is broken or cut must be refused as well, by
 * an error and not by a crash.
 */
#include <dirent.h>

#include "unit/scenario_rig.h"

enum { CASES_MIN = 100, NAMES_MAX = 1000 };

static const char *directory(void)
{
	static char path[512];
	const char *tests = getenv("WEIR_TESTS");

	snprintf(path, sizeof path, "%s/invalid",
	         tests != NULL ? tests : "tests");
	return path;
}

/* Every "DIR/" is taken out: what is left is the same in any tree. */
static void strip(char *text, const char *dir)
{
	char prefix[520];
	char *at;
	size_t n;

	n = (size_t)snprintf(prefix, sizeof prefix, "%s/", dir);
	while ((at = strstr(text, prefix)) != NULL)
		memmove(at, at + n, strlen(at + n) + 1);
}

static int read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "r");
	int got = -1;

	if (f != NULL && fgets(line, (int)size, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		got = 0;
	}
	if (f != NULL)
		fclose(f);
	return got;
}

/* True when the case is refused as it should be; else says what was seen. */
static bool check(const char *dir, const char *name)
{
	char path[1024], data[1024], expected[2048], seen[2048];
	const char *places_list[] = {data};
	const struct scenario_places places = {places_list, 1};
	struct err e = {.set = false};
	struct scenario *s;

	snprintf(data, sizeof data, "%s/data", dir);
	snprintf(path, sizeof path, "%s/%s.err", dir, name);
	if (read_line(path, expected, sizeof expected) != 0) {
		print_error("%s has no .err file\n", name);
		return false;
	}
	snprintf(path, sizeof path, "%s/%s.json", dir, name);
	s = scenario_load(path, NULL, NULL, 0, &places, &e);
	if (s != NULL) {
		scenario_free(s);
		print_error("%s was not refused\n", name);
		return false;
	}
	err_format(&e, seen, sizeof seen);
	strip(seen, dir);
	if (strcmp(seen, expected) == 0 && strchr(seen, '\n') == NULL)
		return true;
	print_error("expected: %s\n     seen: %s\n", expected, seen);
	return false;
}

static void test_messages(void **state)
{
	DIR *stream = opendir(directory());
	const struct dirent *entry;
	char name[300];
	size_t n, cases = 0, wrong = 0;

	(void)state;
	assert_non_null(stream);
	while ((entry = readdir(stream)) != NULL) {
		n = strlen(entry->d_name);
		if (n < 6 || n >= sizeof name ||
		    strcmp(entry->d_name + n - 5, ".json") != 0)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(n - 5),
		         entry->d_name);
		cases++;
		if (!check(directory(), name))
			wrong++;
	}
	closedir(stream);
	assert_true(cases >= CASES_MIN);
	assert_int_equal(wrong, 0);
}

static void test_missing_file(void **state)
{
	struct rig *rig = *state;

	rig_load(rig, "none.json", NULL, NULL, 0);
	rig_refused(rig, "", "cannot be opened: No such file or directory");
	assert_int_equal(rig->err.line, 0);
}

static void test_directory_is_no_file(void **state)
{
	struct rig *rig = *state;

	rig_load(rig, ".", NULL, NULL, 0);
	rig_refused(rig, "", "cannot be");
}

/* A whole scenario cut after any byte is refused, in a line and column. */
static void test_every_truncation(void **state)
{
	static const char whole[] =
		"{ " RIG_WHOLE ", \"expect\": [ \"share(dep_a) == 1/2\" ], "
		"\"slo\": { \"ttft\": \"1s\" } }";
	struct rig *rig = *state;
	char text[sizeof whole];

	for (size_t n = 0; n + 1 < sizeof whole; n++) {
		memcpy(text, whole, n);
		text[n] = '\0';
		rig_write(rig, "s.json", text);
		rig_load(rig, "s.json", NULL, NULL, 0);
		assert_null(rig->s);
		assert_true(rig->err.line >= 1 && rig->err.col >= 1);
	}
}

/* One byte replaced: refused or read, never a crash. */
static void test_every_spoiled_byte(void **state)
{
	static const char whole[] = "{ " RIG_WHOLE " }";
	static const char bytes[] = "\"{}[],:-0x\x01\xff";
	struct rig *rig = *state;
	char text[sizeof whole];
	size_t refused = 0;

	for (size_t at = 0; at + 1 < sizeof whole; at++) {
		memcpy(text, whole, sizeof whole);
		text[at] = bytes[at % (sizeof bytes - 1)];
		rig_write(rig, "s.json", text);
		rig_load(rig, "s.json", NULL, NULL, 0);
		if (rig->s == NULL)
			refused++;
	}
	assert_true(refused > sizeof whole / 2);
}

/* Columns count characters, lines count any layout. */
static void test_place_after_wide_characters(void **state)
{
	struct rig *rig = *state;

	rig_write(rig, "s.json",
	          "{ \"$comment\": \"\xc3\xa4\xc3\xb6\\\" }\", "
	          "\"seed\": -1,\n" RIG_WHOLE " }");
	rig_load(rig, "s.json", NULL, NULL, 0);
	rig_refused(rig, "$.seed", "must be at least 0");
	assert_int_equal(rig->err.line, 1);
	assert_int_equal(rig->err.col, 33);
}

static void test_model_is_needed_for_several(void **state)
{
	rig_refuse(state,
	           RIG_DURATION
	           ", " RIG_TRAFFIC
	           ", \"endpoints\": [ { \"id\": \"ep_x\", " RIG_SPLIT
	           ", " RIG_DEPLOYMENTS " }, { \"id\": \"ep_y\", "
	           "\"traffic_split\": [{ \"deployment_id\": \"dep_c\", "
	           "\"weight\": 1 }], \"deployments\": [{ \"id\": \"dep_c\", "
	           "\"config\": " RIG_CONFIG " }] } ]",
	           "$.traffic[0]", "needs \"model\": there are 2 endpoints");
}

static void test_split_of_another_endpoint(void **state)
{
	rig_refuse(state,
	           RIG_DURATION
	           ", " RIG_TRAFFIC
	           ", \"endpoints\": [ { \"id\": \"ep_x\", " RIG_SPLIT
	           ", " RIG_DEPLOYMENTS " }, { \"id\": \"ep_y\", "
	           "\"traffic_split\": [{ \"deployment_id\": \"dep_a\", "
	           "\"weight\": 1 }], \"deployments\": [{ \"id\": \"dep_c\", "
	           "\"config\": " RIG_CONFIG " }] } ]",
	           "$.endpoints[1].traffic_split[0].deployment_id",
	           "\"dep_a\" is not a deployment of \"ep_y\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		RIG_TEST(test_missing_file),
		RIG_TEST(test_directory_is_no_file),
		RIG_TEST(test_every_truncation),
		RIG_TEST(test_every_spoiled_byte),
		RIG_TEST(test_place_after_wide_characters),
		RIG_TEST(test_model_is_needed_for_several),
		RIG_TEST(test_split_of_another_endpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
