/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "load/load_int.h"

/* Appends bytes; what a key must hold was bounded before. */
static uint8_t put(char *key, uint8_t used, const char *bytes, size_t n)
{
	assert(used + n < LOAD_KEY_MAX);
	memcpy(key + used, bytes, n);
	key[used + n] = '\0';
	return (uint8_t)(used + n);
}

/* Appends a number; this is on the path of every request, printf is not. */
static uint8_t put_number(char *key, uint8_t used, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return put(key, used, digits + at, sizeof(digits) - at);
}

static uint8_t make_rank(char *key, const char *stem, const struct zipf *z,
                         struct stream *s)
{
	uint8_t used = put(key, 0, stem, strlen(stem));

	return put_number(key, used, zipf_draw(z, s));
}

/* "c-SEED-REPLICATION-SOURCE-NUMBER": in no other run's set of keys. */
static uint8_t make_own(const struct keys *k, char *key, char letter,
                        uint64_t number)
{
	uint8_t used = put(key, 0, &letter, 1);

	used = put(key, used, k->stem, k->stem_len);
	return put_number(key, used, number);
}

void load_keys_init(struct keys *k, const struct load_keys *spec,
                    const char *stem, struct stream stream)
{
	k->kind = spec->kind;
	k->stem_len = put(k->stem, 0, stem, strlen(stem));
	k->stream = stream;
	if (spec->kind != LOAD_KEYS_DRAWN)
		return;
	k->has_user = spec->users > 0;
	k->has_key = spec->prompt_cache_keys > 0;
	if (k->has_user)
		zipf_init(&k->users, spec->users, spec->zipf);
	if (k->has_key)
		zipf_init(&k->prompt_cache_keys, spec->prompt_cache_keys,
		          spec->zipf);
}

static void make_drawn(struct keys *k, struct load_request *r)
{
	stream_seek(&k->stream, r->number);
	if (k->has_user)
		r->user_len =
			make_rank(r->user, "user-", &k->users, &k->stream);
	if (k->has_key)
		r->prompt_cache_key_len =
			make_rank(r->prompt_cache_key, "pck-",
		                  &k->prompt_cache_keys, &k->stream);
}

void load_keys_make(struct keys *k, struct load_request *r, const char *own)
{
	r->prompt_cache_key_len = put(r->prompt_cache_key, 0, "", 0);
	r->user_len = put(r->user, 0, "", 0);
	if (k->kind == LOAD_KEYS_SAME) {
		r->content_len = put(r->content, 0, "same", 4);
		return;
	}
	r->content_len = make_own(k, r->content, 'c', r->number);
	if (k->kind == LOAD_KEYS_UNIQUE)
		r->prompt_cache_key_len =
			make_own(k, r->prompt_cache_key, 'k', r->number);
	else if (k->kind == LOAD_KEYS_DRAWN)
		make_drawn(k, r);
	else if (own != NULL)
		r->prompt_cache_key_len =
			put(r->prompt_cache_key, 0, own, strlen(own));
}
