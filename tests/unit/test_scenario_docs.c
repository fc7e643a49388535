/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The manual of the language says what the table says, its examples are
 * read, and so is every scenario that ships.
 */
#include <dirent.h>
#include <limits.h>

#include "unit/scenario_rig.h"

enum { TEXT_MAX = 1 << 17, EXAMPLES = 4 };

static const char *root(char *buf, size_t size, const char *name)
{
	const char *tests = getenv("WEIR_TESTS");

	snprintf(buf, size, "%s/../%s", tests != NULL ? tests : "tests", name);
	return buf;
}

static char *manual(void)
{
	char path[512], *text = calloc(1, TEXT_MAX);
	FILE *f = fopen(root(path, sizeof path, "scenarios/README.md"), "r");

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, TEXT_MAX - 1, f) > 1000);
	assert_true(feof(f));
	fclose(f);
	return text;
}

static void test_every_field_is_documented(void **state)
{
	const struct scenario_field *f;
	char *text = manual(), row[512];
	size_t missing = 0;

	(void)state;
	for (size_t i = 0; (f = scenario_field(i)) != NULL; i++) {
		snprintf(row, sizeof row, "| `%s` | %s | %s | %s | %s |\n",
		         f->name, f->type, f->range,
		         f->fallback[0] != '\0' ? f->fallback : "required",
		         f->sentence);
		if (strstr(text, row) == NULL) {
			print_error("not in scenarios/README.md: %s", row);
			missing++;
		}
	}
	free(text);
	assert_int_equal(missing, 0);
}

/* A scenario of the tree is read, with the places `run` looks in. */
static void load(const char *file)
{
	char models[512], data[512], message[1024];
	const char *directories[] = {
		root(models, sizeof models, "models"),
		root(data, sizeof data, "scenarios/data"),
	};
	const struct scenario_places places = {directories, 2};
	struct err e = {.set = false};
	struct scenario *s = scenario_load(file, NULL, NULL, 0, &places, &e);

	if (s == NULL)
		fail_msg("%s", err_format(&e, message, sizeof message));
	scenario_free(s);
}

/* Writes an example; what it includes is beside the manual. */
static void write_example(struct rig *rig, const char *from, const char *end)
{
	static const char include[] = "\"include\": \"";
	char scenarios[PATH_MAX], path[512];
	const char *at = strstr(from, include);
	FILE *f;

	snprintf(path, sizeof path, "%s/example.json", rig->dir);
	f = fopen(path, "w");
	assert_non_null(f);
	if (at != NULL && at < end) {
		at += strlen(include);
		fwrite(from, 1, (size_t)(at - from), f);
		assert_non_null(realpath(root(path, sizeof path, "scenarios"),
		                         scenarios));
		fprintf(f, "%s/", scenarios);
		from = at;
	}
	fwrite(from, 1, (size_t)(end - from), f);
	assert_int_equal(fclose(f), 0);
}

static void test_examples(void **state)
{
	char *text = manual(), *at = text, *end, path[512];
	struct rig *rig = *state;
	size_t n = 0;

	while ((at = strstr(at, "\n```json\n")) != NULL) {
		at += strlen("\n```json\n");
		end = strstr(at, "\n```\n");
		assert_non_null(end);
		write_example(rig, at, end);
		snprintf(path, sizeof path, "%s/example.json", rig->dir);
		load(path);
		at = end;
		n++;
	}
	free(text);
	assert_int_equal(n, EXAMPLES);
}

static size_t load_directory(const char *name)
{
	char path[512], file[800];
	DIR *stream = opendir(root(path, sizeof path, name));
	const struct dirent *entry;
	size_t length, n = 0;

	assert_non_null(stream);
	while ((entry = readdir(stream)) != NULL) {
		length = strlen(entry->d_name);
		/* The trace itself does not ship. */
		if (length < 6 ||
		    strcmp(entry->d_name + length - 5, ".json") != 0 ||
		    strcmp(entry->d_name, "azure-conv-trace.json") == 0)
			continue;
		snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
		load(file);
		n++;
	}
	closedir(stream);
	return n;
}

static void test_shipped_scenarios(void **state)
{
	(void)state;
	assert_true(load_directory("scenarios") > 0);
	assert_true(load_directory("scenarios/published") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_is_documented),
		RIG_TEST(test_examples),
		cmocka_unit_test(test_shipped_scenarios),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
