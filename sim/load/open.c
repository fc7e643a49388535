/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "load/load_int.h"

/* Stage i, and after the last one its target without end. */
static bool open_piece(const struct load_spec *spec, size_t i,
                       struct ramp_piece *p)
{
	size_t n = spec->n_stages;

	if (i > n)
		return false;
	p->rate_rps = i == 0 ? spec->rate_rps : spec->stages[i - 1].target_rps;
	p->target_rps = i < n ? spec->stages[i].target_rps : p->rate_rps;
	p->length_ns = i < n ? spec->stages[i].duration_ns : TIME_NEVER;
	return true;
}

static void open_schedule(struct source *s, double gap)
{
	int64_t at_ns = load_ramp_next(&s->ramp, gap);

	at_ns = load_time_add(s->spec->from_ns, at_ns);
	load_schedule(s, &s->event, at_ns);
}

static double poisson_gap(struct source *s)
{
	return -det_log(stream_unit(&s->arrival));
}

static void open_fire(void *self)
{
	struct source *s = self;
	bool constant = s->spec->process == LOAD_CONSTANT;
	struct load_request *r = load_prepare(s, 0);

	load_lengths_draw(&s->lengths, r);
	load_keys_make(&s->keys, r, NULL);
	if (!load_spent(s))
		open_schedule(s, constant ? 1 : poisson_gap(s));
	load_send(s);
}

static int open_start(struct source *s, struct err *e)
{
	bool constant = s->spec->process == LOAD_CONSTANT;

	(void)e;
	assert(s->spec->rate_rps >= 0);
	load_ramp_init(&s->ramp, open_piece, s->spec);
	if (!load_spent(s))
		open_schedule(s, constant ? 0 : poisson_gap(s));
	return 0;
}

static double open_rate(const struct load_spec *spec, int64_t at_ns)
{
	int64_t left_ns = at_ns - spec->from_ns;
	struct ramp_piece p;
	size_t i = 0;

	while (open_piece(spec, i, &p) && left_ns >= p.length_ns) {
		left_ns -= p.length_ns;
		i++;
	}
	if (p.length_ns == TIME_NEVER)
		return p.rate_rps;
	return p.rate_rps + (p.target_rps - p.rate_rps) *
	                            ((double)left_ns / (double)p.length_ns);
}

const struct load_kind_ops load_kind_open = {
	.start = open_start,
	.stop = load_stop_nothing,
	.fire = open_fire,
	.ended = load_ended_nothing,
	.rate_rps = open_rate,
};
