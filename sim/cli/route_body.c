/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling key of a request body: prompt_cache_key, else user, else its
 * content. The content is a string as it is, and messages as JSON without
 * blanks and with sorted members, so that spelling does not matter.
 */
#include "route_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const content_names[] = {"content", "messages", "input",
                                            "prompt"};

/* Keeps the text, for the body it came from goes away. */
static void keep(struct keys_reader *k, const char *text, size_t n,
                 struct sampled_key *key)
{
	if (n > k->made_size) {
		k->made_size = 2 * n;
		k->made = mem_grow(k->made, k->made_size, 1);
	}
	if (n > 0)
		memcpy(k->made, text, n);
	key->text = k->made;
	key->len = n;
}

/* A member that is a string with something in it; -1: it is not a string. */
static int string_member(const struct keys_reader *k, const json_t *body,
                         const char *name, const json_t **out, struct err *e)
{
	const json_t *value = json_object_get(body, name);
	char path[64];

	*out = NULL;
	if (value == NULL || json_is_null(value))
		return 0;
	snprintf(path, sizeof(path), "$.%s", name);
	if (!json_is_string(value))
		return lines_error(&k->lines, 0, path, e, "must be a string");
	if (json_string_length(value) > 0)
		*out = value;
	return 0;
}

static int content(struct keys_reader *k, const json_t *body,
                   struct sampled_key *key, struct err *e)
{
	key->of_content = true;
	for (size_t i = 0; i < sizeof(content_names) / sizeof(char *); i++) {
		const json_t *value = json_object_get(body, content_names[i]);
		char *text;

		if (value == NULL || json_is_null(value))
			continue;
		if (json_is_string(value)) {
			keep(k, json_string_value(value),
			     json_string_length(value), key);
			return 0;
		}
		text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS |
		                                 JSON_ENCODE_ANY);
		assert(text);
		keep(k, text, strlen(text), key);
		free(text);
		return 0;
	}
	return lines_error(&k->lines, 0, NULL, e,
	                   "has no prompt_cache_key, user, content, messages, "
	                   "input or prompt to derive a key from");
}

static int key_of(struct keys_reader *k, const json_t *body,
                  struct sampled_key *key, struct err *e)
{
	const json_t *cache_key, *user, *first;
	struct route_key_fields fields = {0};

	if (string_member(k, body, "prompt_cache_key", &cache_key, e) != 0 ||
	    string_member(k, body, "user", &user, e) != 0)
		return -1;
	first = cache_key ? cache_key : user;
	if (first)
		keep(k, json_string_value(first), json_string_length(first),
		     key);
	else if (content(k, body, key, e) != 0)
		return -1;
	if (cache_key) {
		fields.prompt_cache_key = key->text;
		fields.prompt_cache_key_len = key->len;
	} else if (user) {
		fields.user = key->text;
		fields.user_len = key->len;
	} else {
		fields.content = key->text;
		fields.content_len = key->len;
	}
	key->hash = route_key(&fields);
	return 0;
}

/* A plain body with a prompt_cache_key or user: the usual one, and fast. */
static bool plain_key(const char *text, size_t n, struct sampled_key *key)
{
	struct flat_member m[FLAT_MEMBERS];
	int members = flat_read(text, n, m);
	const struct flat_member *first, *user;

	if (members < 0)
		return false;
	first = flat_find(m, members, "prompt_cache_key");
	user = flat_find(m, members, "user");
	if ((first && !first->is_string) || (user && !user->is_string))
		return false;
	if (first == NULL || first->len == 0)
		first = user;
	if (first == NULL || first->len == 0)
		return false;
	key->text = first->text;
	key->len = first->len;
	key->hash = route_hash(first->text, first->len);
	return true;
}

int body_key(struct keys_reader *k, const char *text, size_t n,
             struct sampled_key *key, struct err *e)
{
	json_error_t wrong;
	json_t *body;
	int result;

	if (plain_key(text, n, key))
		return 0;
	body = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
	                  &wrong);
	if (body == NULL)
		return lines_error(&k->lines, wrong.column, NULL, e,
		                   wrong.text);
	result = json_is_object(body) ? key_of(k, body, key, e)
	                              : lines_error(&k->lines, 1, NULL, e,
	                                            "must be an object");
	json_decref(body);
	return result;
}
