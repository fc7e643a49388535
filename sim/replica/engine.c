/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "replica/replica_int.h"

static const struct replica_engine *const engines[] = {
	&replica_engine_batching,
	&replica_engine_service,
};

enum { ENGINES = sizeof engines / sizeof engines[0] };

const struct replica_engine *replica_engine_find(const char *name)
{
	size_t i;

	assert(name != NULL);
	for (i = 0; i < ENGINES; i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}

const char *replica_engine_name(size_t i)
{
	return i < ENGINES ? engines[i]->name : NULL;
}
