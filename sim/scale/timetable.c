/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdio.h>

#include "scale/scale_int.h"

/* How many entries are at or before `at_ns`. */
static uint32_t begun(const struct scale_timetable *t, int64_t at_ns)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->entries[middle].at_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t wrapped(const struct scale_timetable *t, int64_t at_ns)
{
	assert(at_ns >= 0);
	return t->repeat_ns > 0 ? at_ns % t->repeat_ns : at_ns;
}

const struct scale_entry *scale_timetable_at(const struct scale_timetable *t,
                                             int64_t at_ns)
{
	uint32_t n = begun(t, wrapped(t, at_ns));

	if (n > 0)
		return &t->entries[n - 1];
	/* Before the first of this round the last of the round before. */
	if (t->repeat_ns > 0 && at_ns >= t->repeat_ns)
		return &t->entries[t->n - 1];
	return NULL;
}

uint32_t scale_timetable_most(const struct scale_timetable *t, int64_t from_ns,
                              int64_t until_ns, uint32_t before)
{
	const struct scale_entry *now = scale_timetable_at(t, from_ns);
	uint32_t most = now ? now->replicas : before;
	uint32_t i = begun(t, wrapped(t, from_ns));
	int64_t round_ns = from_ns - wrapped(t, from_ns);
	uint32_t seen;

	assert(t->n > 0 && t->entries != NULL);
	for (seen = 0; seen < t->n; seen++, i++) {
		if (i == t->n) {
			if (t->repeat_ns == 0)
				break;
			i = 0;
			round_ns += t->repeat_ns;
		}
		if (round_ns + t->entries[i].at_ns > until_ns)
			break;
		most = scale_most(most, t->entries[i].replicas);
	}
	return most;
}

int scale_timetable_check(const struct scale_timetable *t, const char *path,
                          struct err *err)
{
	char field[64];
	uint32_t i;

	if (t->n == 0 || t->entries == NULL)
		return scale_wrong(err, path, "schedule", "has no entry");
	for (i = 0; i < t->n; i++) {
		const struct scale_entry *e = &t->entries[i];

		(void)snprintf(field, sizeof field, "schedule[%u]", i);
		if (e->at_ns < 0 || (i > 0 && e->at_ns <= e[-1].at_ns))
			return scale_wrong(err, path, field,
			                   "is not later than the entry "
			                   "before it");
		if (e->replicas > SCALE_REPLICAS_MAX)
			return scale_wrong(err, path, field,
			                   "replicas must be at most %d",
			                   SCALE_REPLICAS_MAX);
	}
	if (t->repeat_ns < 0 ||
	    (t->repeat_ns > 0 && t->repeat_ns <= t->entries[t->n - 1].at_ns))
		return scale_wrong(err, path, "repeat",
		                   "must be longer than the last entry's time");
	return 0;
}
