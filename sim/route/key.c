/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* Header-only xxHash: the object calls nothing of the library. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t route_hash(const void *bytes, size_t len)
{
	assert(bytes || len == 0);
	return XXH64(len > 0 ? bytes : "", len, 0);
}

uint64_t route_key(const struct route_key_fields *fields)
{
	assert(fields);
	if (fields->prompt_cache_key && fields->prompt_cache_key_len > 0)
		return route_hash(fields->prompt_cache_key,
		                  fields->prompt_cache_key_len);
	if (fields->user && fields->user_len > 0)
		return route_hash(fields->user, fields->user_len);
	return route_hash(fields->content,
	                  fields->content ? fields->content_len : 0);
}
