/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "scale/scale_int.h"

const struct scale_mark *scale_log_at(const struct scale_state *s,
                                      const struct scale_log *log, uint32_t i)
{
	assert(i < log->n);
	return &s->marks[log->offset + (log->first + i) % log->capacity];
}

void scale_log_add(struct scale_state *s, struct scale_log *log, int64_t at_ns,
                   double value)
{
	assert(log->n < log->capacity);
	s->marks[log->offset + (log->first + log->n) % log->capacity] =
		(struct scale_mark){.at_ns = at_ns, .value = value};
	log->n++;
}

void scale_log_drop(struct scale_state *s, struct scale_log *log,
                    int64_t from_ns)
{
	while (log->n > 0 && scale_log_at(s, log, 0)->at_ns < from_ns) {
		log->first = (log->first + 1) % log->capacity;
		log->n--;
	}
}

double scale_log_max(const struct scale_state *s, const struct scale_log *log,
                     int64_t from_ns, double least)
{
	uint32_t i;

	for (i = 0; i < log->n; i++) {
		const struct scale_mark *m = scale_log_at(s, log, i);

		if (m->at_ns >= from_ns && m->value > least)
			least = m->value;
	}
	return least;
}

double scale_log_min(const struct scale_state *s, const struct scale_log *log,
                     int64_t from_ns, double most)
{
	uint32_t i;

	for (i = 0; i < log->n; i++) {
		const struct scale_mark *m = scale_log_at(s, log, i);

		if (m->at_ns >= from_ns && m->value < most)
			most = m->value;
	}
	return most;
}

double scale_log_sum(const struct scale_state *s, const struct scale_log *log,
                     int64_t from_ns)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < log->n; i++) {
		const struct scale_mark *m = scale_log_at(s, log, i);

		if (m->at_ns >= from_ns)
			sum += m->value;
	}
	return sum;
}

uint32_t scale_log_room(int64_t span_ns, int64_t tick_ns)
{
	assert(span_ns >= 0 && tick_ns > 0);
	/* Both ends of the span, and the seed beside the first look. */
	return (uint32_t)(span_ns / tick_ns) + 4;
}
