/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One JSON laid over another, by RFC 7396 (JSON Merge Patch). */
#include <assert.h>

#include "scenario/scenario_int.h"

void merge_json(json_t *base, json_t *patch)
{
	const char *key;
	json_t *value, *under;

	assert(json_is_object(base) && json_is_object(patch));
	json_object_foreach(patch, key, value)
	{
		if (json_is_null(value)) {
			json_object_del(base, key);
			continue;
		}
		if (!json_is_object(value)) {
			json_object_set(base, key, value);
			continue;
		}
		under = json_object_get(base, key);
		if (!json_is_object(under)) {
			under = json_object();
			json_object_set_new(base, key, under);
		}
		merge_json(under, value);
	}
}
