/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replica/replica_int.h"

__extension__ typedef __int128 i128;

/* No two steps end in the same ns: what is in order here is so outside. */
#define SHORTEST REPLICA_TICKS_PER_NS

/* The piece for steps of so many tokens. */
static const struct replica_curve_piece *
piece_for(const struct replica_curve *curve, uint64_t tokens)
{
	uint32_t i = 0;

	assert(curve->n >= 1 && curve->n <= REPLICA_CURVE_PIECES);
	while (i + 1 < curve->n && tokens > curve->piece[i].upto_tokens)
		i++;
	return &curve->piece[i];
}

/* The linear form, which may be below the shortest step; 0 at least. */
static int64_t form(const struct replica_curve_piece *piece,
                    const struct replica_batch *batch)
{
	i128 ticks = piece->base_ticks;

	ticks += (i128)piece->per_prefill_ticks * batch->prefill_tokens;
	ticks += (i128)piece->per_decode_ticks * batch->decodes;
	ticks += (i128)piece->per_context_ticks * batch->contexts;
	ticks += (i128)piece->per_pair_ticks * batch->pairs;
	assert(ticks < REPLICA_STEP_TICKS_MAX);
	return ticks < 0 ? 0 : (int64_t)ticks;
}

int64_t replica_step_ticks(const struct replica_curve *curve,
                           const struct replica_batch *batch)
{
	uint64_t tokens = (uint64_t)batch->prefill_tokens + batch->decodes;
	int64_t ticks = form(piece_for(curve, tokens), batch), least;

	if (curve->has_floor) {
		least = form(&curve->floor, batch);
		ticks = least > ticks ? least : ticks;
	}
	return ticks < SHORTEST ? SHORTEST : ticks;
}

/* The pace that one form alone gives, as far as it stays in bounds. */
static inline struct replica_pace
form_pace(const struct replica_curve_piece *piece,
          const struct replica_batch *batch)
{
	struct replica_pace pace = {0, 0, REPLICA_RUN_STEPS_MAX};
	uint64_t most;

	/* More in one step is more than any step may last. */
	assert(batch->decodes == 0 ||
	       (piece->per_context_ticks < REPLICA_CONTEXT_TICKS_MAX &&
	        piece->per_context_ticks > -REPLICA_CONTEXT_TICKS_MAX &&
	        batch->decodes < UINT32_C(1) << 21));
	pace.growth_ticks = piece->per_context_ticks * batch->decodes;
	pace.first_ticks = form(piece, batch);
	if (pace.first_ticks < SHORTEST) {
		pace.first_ticks = SHORTEST;
		pace.steps_max = 1;
	} else if (pace.growth_ticks < 0) {
		most = (uint64_t)((pace.first_ticks - SHORTEST) /
		                  -pace.growth_ticks);
		if (most + 1 < pace.steps_max)
			pace.steps_max = most + 1;
	} else if (pace.growth_ticks > 0) {
		most = (uint64_t)((REPLICA_STEP_TICKS_MAX - 1 -
		                   pace.first_ticks) /
		                  pace.growth_ticks);
		if (most + 1 < pace.steps_max)
			pace.steps_max = most + 1;
	}
	return pace;
}

/* The longer of two paces, until the other may overtake it. */
static struct replica_pace longer(struct replica_pace a, struct replica_pace b)
{
	struct replica_pace pace = a, other = b;
	uint64_t most;

	if (b.first_ticks > a.first_ticks ||
	    (b.first_ticks == a.first_ticks &&
	     b.growth_ticks > a.growth_ticks)) {
		pace = b;
		other = a;
	}
	/* Where the other leaves its bounds it may turn. */
	if (other.steps_max < pace.steps_max)
		pace.steps_max = other.steps_max;
	if (other.growth_ticks <= pace.growth_ticks)
		return pace;
	most = (uint64_t)((pace.first_ticks - other.first_ticks) /
	                  (other.growth_ticks - pace.growth_ticks));
	if (most + 1 < pace.steps_max)
		pace.steps_max = most + 1;
	return pace;
}

struct replica_pace replica_curve_pace(const struct replica_curve *curve,
                                       const struct replica_batch *batch)
{
	struct replica_pace pace, least;

	assert(batch->prefill_tokens == 0 && batch->pairs == 0);
	pace = form_pace(piece_for(curve, batch->decodes), batch);
	if (!curve->has_floor)
		return pace;
	least = form_pace(&curve->floor, batch);
	return longer(pace, least);
}

int64_t replica_pace_sum(const struct replica_pace *pace, uint64_t steps)
{
	int64_t k = (int64_t)steps, sum;

	assert(steps <= REPLICA_RUN_STEPS_MAX);
	/*
	 * The steps are at most 2^20 and each is below 2^42 ticks, so the
	 * sum is below 2^62; the growth alone makes no more than that.
	 */
	sum = pace->first_ticks * k;
	if (k > 1)
		sum += pace->growth_ticks * (k * (k - 1) / 2);
	assert(sum >= k);
	return sum;
}

uint64_t replica_pace_steps(const struct replica_pace *pace, uint64_t most,
                            int64_t ticks)
{
	uint64_t low = 1, high = most, middle;
	int64_t longest, shortest, last;

	assert(most >= 1 && most <= pace->steps_max);
	if (most == 1 || ticks <= pace->first_ticks)
		return 1;
	last = pace->first_ticks + pace->growth_ticks * (int64_t)(most - 1);
	longest = last > pace->first_ticks ? last : pace->first_ticks;
	shortest = last > pace->first_ticks ? pace->first_ticks : last;
	/* The answer lies between those of the longest and shortest step. */
	low = (uint64_t)((ticks - 1) / longest + 1);
	if (low >= most)
		return most;
	if ((uint64_t)((ticks - 1) / shortest) + 1 < high)
		high = (uint64_t)((ticks - 1) / shortest) + 1;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (replica_pace_sum(pace, middle) >= ticks)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
