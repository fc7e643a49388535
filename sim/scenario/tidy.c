/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a user copies from the platform's API may be in camelCase: keys are
 * turned to snake_case before anything else looks at them. The same walk
 * checks the depth, so that no later recursion needs to.
 */
#include <assert.h>
#include <string.h>

#include "scenario/scenario_int.h"

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

bool tidy_snake(const char *key, char *buf, size_t size)
{
	size_t n = 0;
	bool changed = false;

	assert(key != NULL && size > 0);
	if (!is_lower(key[0]))
		return false;
	for (; *key != '\0'; key++) {
		if (n + 3 > size || (!is_lower(*key) && !is_upper(*key)))
			return false;
		if (is_upper(*key)) {
			buf[n++] = '_';
			buf[n++] = (char)(*key - 'A' + 'a');
			changed = true;
		} else {
			buf[n++] = *key;
		}
	}
	buf[n] = '\0';
	return changed;
}

/* Gives an object its keys in snake_case, in the order they were. */
static int rename_keys(json_t *object, struct arena *arena,
                       struct tidy_trouble *trouble)
{
	json_t *copy = json_object();
	const char *key, *name;
	char snake[128];
	json_t *value;

	json_object_foreach(object, key, value)
	{
		name = tidy_snake(key, snake, sizeof snake) ? snake : key;
		if (json_object_get(copy, name) != NULL) {
			assert(trouble->n <= LIMIT_DEPTH);
			trouble->steps[trouble->n++] =
				(struct step){arena_strdup(arena, name), 0};
			trouble->text = "written twice, in snake_case and in "
					"camelCase";
			json_decref(copy);
			return -1;
		}
		json_object_set(copy, name, value);
	}
	json_object_clear(object);
	json_object_update(object, copy);
	json_decref(copy);
	return 0;
}

static bool has_camel(json_t *object)
{
	const char *key;
	char snake[128];
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (tidy_snake(key, snake, sizeof snake))
			return true;
	}
	return false;
}

int tidy_keys(json_t *value, struct arena *arena, struct tidy_trouble *trouble)
{
	const char *key;
	json_t *child;
	size_t i;

	if (!json_is_object(value) && !json_is_array(value))
		return 0;
	if (trouble->n == LIMIT_DEPTH) {
		trouble->text = "nested too deep";
		return -1;
	}
	if (json_is_object(value) && has_camel(value) &&
	    rename_keys(value, arena, trouble) != 0)
		return -1;
	json_object_foreach(value, key, child)
	{
		trouble->steps[trouble->n++] =
			(struct step){arena_strdup(arena, key), 0};
		if (tidy_keys(child, arena, trouble) != 0)
			return -1;
		trouble->n--;
	}
	json_array_foreach(value, i, child)
	{
		trouble->steps[trouble->n++] = (struct step){NULL, i};
		if (tidy_keys(child, arena, trouble) != 0)
			return -1;
		trouble->n--;
	}
	return 0;
}
