/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure_int.h"

enum { KEYS_FIRST_CAPACITY = 1024 };

void measure_keys_init(struct measure_keys *k, bool owned)
{
	*k = (struct measure_keys){.owned = owned};
}

void measure_keys_fini(struct measure_keys *k)
{
	mem_free(k->slot);
	mem_free(k->owner);
	measure_keys_init(k, k->owned);
}

/* Where a key is or would go. Keys are hashes, but not everybody's good. */
static uint64_t find(const struct measure_keys *k, uint64_t key)
{
	uint64_t mask = k->capacity - 1;
	uint64_t at = ((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
	while (k->slot[at] && k->slot[at] != key)
		at = (at + 1) & mask;
	return at;
}

static void grow(struct measure_keys *k)
{
	struct measure_keys old = *k;
	k->capacity = old.capacity ? 2 * old.capacity : KEYS_FIRST_CAPACITY;
	k->slot = mem_new(k->capacity, sizeof *k->slot);
	if (k->owned)
		k->owner = mem_new(k->capacity, sizeof *k->owner);
	for (uint64_t i = 0; i < old.capacity; i++) {
		if (!old.slot[i])
			continue;
		uint64_t at = find(k, old.slot[i]);
		k->slot[at] = old.slot[i];
		if (k->owned)
			k->owner[at] = old.owner[i];
	}
	mem_free(old.slot);
	mem_free(old.owner);
}

bool measure_keys_add(struct measure_keys *k, uint64_t key, uint32_t **owner)
{
	assert(!owner || k->owned);
	if (key == 0) {
		bool first = !k->has_zero;
		k->has_zero = true;
		k->n += first;
		if (owner)
			*owner = &k->zero_owner;
		return first;
	}
	if (3 * k->capacity <= 5 * k->n)
		grow(k);
	uint64_t at = find(k, key);
	bool first = k->slot[at] == 0;
	k->slot[at] = key;
	k->n += first;
	if (owner)
		*owner = &k->owner[at];
	return first;
}
