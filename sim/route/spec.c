/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

static bool named(const char *id)
{
	return id && id[0] != '\0';
}

static enum route_status check(const struct route_deployment_spec *d,
                               uint64_t *n_replicas, uint64_t *total)
{
	uint64_t capacity;
	if (!named(d->id) || (!d->replicas && d->n_replicas > 0))
		return ROUTE_BAD_ARGUMENT;
	*n_replicas += d->n_replicas;
	if (d->n_replicas > UINT32_MAX / ROUTE_RING_POINTS ||
	    *n_replicas > UINT32_MAX ||
	    __builtin_mul_overflow(d->weight, d->n_replicas, &capacity) ||
	    __builtin_add_overflow(*total, capacity, total))
		return ROUTE_OVERFLOW;
	for (uint32_t r = 0; r < d->n_replicas; r++)
		if (!named(d->replicas[r].id))
			return ROUTE_BAD_ARGUMENT;
	return ROUTE_OK;
}

enum route_status route_spec_check(const struct route_table_spec *spec)
{
	uint64_t total = 0;
	uint64_t n_replicas = 0;
	assert(spec);
	if ((!spec->deployments && spec->n_deployments > 0) ||
	    spec->n_deployments == ROUTE_NONE)
		return ROUTE_BAD_ARGUMENT;
	if (spec->load_factor_percent != 0 && spec->load_factor_percent <= 100)
		return ROUTE_BAD_ARGUMENT;
	for (uint32_t i = 0; i < spec->n_deployments; i++) {
		enum route_status status =
			check(&spec->deployments[i], &n_replicas, &total);
		if (status != ROUTE_OK)
			return status;
	}
	return ROUTE_OK;
}
