/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

/* A table while it is built: its arrays, still writable. */
struct build {
	const struct route_table_spec *spec;
	struct route_table *table;
	struct route_deployment *deployments;
	struct route_target *targets;
	struct route_screened *screened;
	uint32_t *target_deployment;
	struct route_replica *replicas; /* deployment after deployment */
	uint64_t *points;
	uint32_t *starts;
	uint32_t *order; /* what is being sorted */
};

static const struct route_policy *
policy_of(const struct route_deployment_spec *d)
{
	return d->policy ? d->policy : route_policy_default();
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Cuts memory (or, with none, counts) in the one order there is. */
static struct build lay_out(const struct route_table_spec *spec,
                            struct route_carve *carve)
{
	uint32_t n = spec->n_deployments;
	uint64_t n_replicas = 0;
	uint64_t n_points = 0;
	uint64_t n_starts = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct route_deployment_spec *d = &spec->deployments[i];
		uint64_t points = (uint64_t)d->n_replicas * ROUTE_RING_POINTS;
		n_replicas += d->n_replicas;
		if (d->n_replicas == 0 || !policy_of(d)->has_ring)
			continue;
		n_points += points + 1;
		n_starts += UINT64_C(1) << route_ring_bits(points);
	}
	struct build b = {.spec = spec};
	b.table = route_carve(carve, 1, sizeof(*b.table));
	b.deployments = route_carve(carve, n, sizeof(*b.deployments));
	b.targets = route_carve(carve, n, sizeof(*b.targets));
	b.screened = route_carve(carve, n, sizeof(*b.screened));
	b.target_deployment = route_carve(carve, n, sizeof(uint32_t));
	b.replicas = route_carve(carve, n_replicas, sizeof(*b.replicas));
	b.points = route_carve(carve, n_points, sizeof(*b.points));
	b.starts = route_carve(carve, n_starts, sizeof(*b.starts));
	b.order = route_carve(carve, larger(n, n_replicas), sizeof(uint32_t));
	return b;
}

size_t route_table_bytes(const struct route_table_spec *spec)
{
	assert(spec);
	assert(spec->deployments || spec->n_deployments == 0);
	struct route_carve carve = {.base = NULL};
	lay_out(spec, &carve);
	return carve.used;
}

/* By bytes, the end before any. */
static bool id_before(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a < (unsigned char)*b;
}

static uint64_t hash_of_id(const char *id)
{
	size_t len = 0;
	while (len < SIZE_MAX && id[len] != '\0')
		len++;
	return route_hash(id, len);
}

static bool deployment_id_before(const void *self, uint32_t a, uint32_t b)
{
	const struct route_deployment_spec *d = self;
	return id_before(d[a].id, d[b].id);
}

static bool deployment_hash_before(const void *self, uint32_t a, uint32_t b)
{
	const struct route_deployment *d = self;
	return d[a].id_hash < d[b].id_hash;
}

static bool replica_id_before(const void *self, uint32_t a, uint32_t b)
{
	const struct route_replica_spec *r = self;
	return id_before(r[a].id, r[b].id);
}

static bool replica_hash_before(const void *self, uint32_t a, uint32_t b)
{
	const struct route_replica *r = self;
	return r[a].id_hash < r[b].id_hash;
}

static bool replica_slot_before(const void *self, uint32_t a, uint32_t b)
{
	const struct route_replica *r = self;
	return r[a].slot < r[b].slot;
}

/* Leaves 0..n-1 sorted in `order`; false when two are equal. */
static bool sort_distinct(uint32_t *order, uint32_t n,
                          bool (*before)(const void *, uint32_t, uint32_t),
                          const void *self)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	route_sort(order, n, before, self);
	for (uint32_t i = 1; i < n; i++)
		if (!before(self, order[i - 1], order[i]))
			return false;
	return true;
}

/* Fills a deployment, its replicas in order of id; false: ids are alike. */
static bool add_deployment(struct build *b, uint32_t i,
                           struct route_replica *replicas)
{
	const struct route_deployment_spec *spec = &b->spec->deployments[i];
	uint32_t n = spec->n_replicas;
	if (!sort_distinct(b->order, n, replica_id_before, spec->replicas))
		return false;
	for (uint32_t r = 0; r < n; r++) {
		const struct route_replica_spec *from =
			&spec->replicas[b->order[r]];
		replicas[r] = (struct route_replica){
			.id_hash = hash_of_id(from->id),
			.slot = from->slot,
			.place = b->order[r],
		};
	}
	b->deployments[i] = (struct route_deployment){
		.policy = policy_of(spec),
		.replicas = replicas,
		.id_hash = hash_of_id(spec->id),
		.capacity = spec->weight * n,
		.n_replicas = n,
	};
	/* Two ids of one hash would share every point and every score, and
	 * one of them starve. */
	return sort_distinct(b->order, n, replica_hash_before, replicas);
}

static void add_ring(struct build *b, uint32_t i)
{
	struct route_deployment *d = &b->deployments[i];
	if (d->n_replicas == 0 || !d->policy->has_ring)
		return;
	route_ring_build(&d->ring, b->points, b->starts, d->replicas,
	                 d->n_replicas);
	b->points += d->ring.n_points + 1;
	b->starts += UINT64_C(1) << route_ring_bits(d->ring.n_points);
}

/* Deployments with capacity become targets, in order of id. */
static bool add_targets(struct build *b)
{
	struct route_table *t = b->table;
	uint32_t n = b->spec->n_deployments;
	if (!sort_distinct(b->order, n, deployment_id_before,
	                   b->spec->deployments))
		return false;
	for (uint32_t rank = 0; rank < n; rank++) {
		uint32_t i = b->order[rank];
		const struct route_deployment *d = &b->deployments[i];
		if (d->capacity == 0)
			continue;
		b->targets[t->n_targets] = (struct route_target){
			.id_hash = d->id_hash,
			.capacity = d->capacity,
			.rank = rank,
		};
		b->target_deployment[t->n_targets++] = i;
		t->total += d->capacity;
	}
	t->screen_bits =
		route_screen_build(b->screened, b->targets, t->n_targets);
	return sort_distinct(b->order, n, deployment_hash_before,
	                     b->deployments);
}

enum route_status route_table_build(const struct route_table_spec *spec,
                                    void *memory, size_t bytes,
                                    struct route_table **table)
{
	assert(table);
	enum route_status status = route_spec_check(spec);
	if (status != ROUTE_OK)
		return status;
	size_t need = route_table_bytes(spec);
	if (!memory || need == SIZE_MAX || bytes < need)
		return ROUTE_TOO_SMALL;
	struct route_carve carve = {.base = memory};
	struct build b = lay_out(spec, &carve);
	assert(carve.used == need);
	*b.table = (struct route_table){
		.deployments = b.deployments,
		.targets = b.targets,
		.screened = b.screened,
		.target_deployment = b.target_deployment,
		.n_deployments = spec->n_deployments,
		.load_factor_percent = spec->load_factor_percent
	                                       ? spec->load_factor_percent
	                                       : ROUTE_LOAD_FACTOR_PERCENT,
	};
	uint32_t n_replicas = 0;
	for (uint32_t i = 0; i < spec->n_deployments; i++) {
		if (!add_deployment(&b, i, b.replicas + n_replicas))
			return ROUTE_BAD_ARGUMENT;
		add_ring(&b, i);
		n_replicas += spec->deployments[i].n_replicas;
	}
	if (!add_targets(&b) || !sort_distinct(b.order, n_replicas,
	                                       replica_slot_before, b.replicas))
		return ROUTE_BAD_ARGUMENT;
	*table = b.table;
	return ROUTE_OK;
}

uint32_t route_table_deployments(const struct route_table *table)
{
	return table->n_deployments;
}

uint64_t route_table_capacity(const struct route_table *table, uint32_t d)
{
	assert(d < table->n_deployments);
	return table->deployments[d].capacity;
}

uint64_t route_table_total(const struct route_table *table)
{
	return table->total;
}

uint32_t route_table_replicas(const struct route_table *table, uint32_t d)
{
	assert(d < table->n_deployments);
	return table->deployments[d].n_replicas;
}

const struct route_target *route_table_targets(const struct route_table *table,
                                               uint32_t *n)
{
	*n = table->n_targets;
	return table->targets;
}
