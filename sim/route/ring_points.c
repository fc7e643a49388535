/* SPDX-License-Identifier: MIT */
#include "route/route_int.h"

uint32_t route_ring_bits(uint64_t n_points)
{
	uint32_t bits = 0;
	while (bits < 32 && (UINT64_C(1) << bits) < n_points)
		bits++;
	return bits;
}

/*
 * Where a replica's point lies is its own affair: it depends on its id and
 * the point's number only. Of two points in one place the smaller id owns.
 */
static uint64_t point(const struct route_replica *replica, uint32_t number,
                      uint32_t owner)
{
	uint64_t h = replica->id_hash + ROUTE_GOLDEN * ((uint64_t)number + 1);
	return (route_mix(h) & ~(uint64_t)UINT32_MAX) | owner;
}

/* Sorts points that are nearly in order. */
static void insertion_sort(uint64_t *points, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint64_t moving = points[i];
		uint32_t hole = i;
		for (; hole > 0 && points[hole - 1] > moving; hole--)
			points[hole] = points[hole - 1];
		points[hole] = moving;
	}
}

void route_ring_build(struct route_ring *ring, uint64_t *points,
                      uint32_t *starts, const struct route_replica *replicas,
                      uint32_t n_replicas)
{
	assert(n_replicas > 0 && n_replicas <= UINT32_MAX / ROUTE_RING_POINTS);
	uint32_t n = n_replicas * ROUTE_RING_POINTS;
	uint32_t bits = route_ring_bits(n);
	uint32_t shift = 32 - bits;
	uint64_t n_stretches = UINT64_C(1) << bits;

	/* Count by stretch, then drop each point into its own, from the end:
	 * every start comes to rest on the first point of its stretch. */
	for (uint64_t i = 0; i < n_stretches; i++)
		starts[i] = 0;
	for (uint32_t r = 0; r < n_replicas; r++)
		for (uint32_t k = 0; k < ROUTE_RING_POINTS; k++)
			starts[point(&replicas[r], k, r) >> 32 >> shift]++;
	for (uint64_t i = 1; i < n_stretches; i++)
		starts[i] += starts[i - 1];
	assert(starts[n_stretches - 1] == n);
	for (uint32_t r = 0; r < n_replicas; r++) {
		for (uint32_t k = 0; k < ROUTE_RING_POINTS; k++) {
			uint64_t p = point(&replicas[r], k, r);
			points[--starts[p >> 32 >> shift]] = p;
		}
	}
	insertion_sort(points, n);
	points[n] = UINT64_MAX;

	ring->points = points;
	ring->starts = starts;
	ring->n_points = n;
	ring->shift = shift;
}
