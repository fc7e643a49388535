/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "load/load_int.h"

/* In the profile's own time; speed is applied to the moments it gives. */
static bool profile_piece(const struct load_spec *spec, size_t i,
                          struct ramp_piece *p)
{
	const struct load_profile *profile = spec->profile;

	if (i >= profile->intervals)
		return false;
	p->length_ns = profile->interval_ns;
	p->rate_rps = profile->rates_rps[i];
	p->target_rps = profile->rates_rps[i];
	return true;
}

static void profile_schedule(struct source *s)
{
	double gap = -det_log(stream_unit(&s->arrival));
	int64_t at_ns = load_ramp_next(&s->ramp, gap);

	if (at_ns == TIME_NEVER)
		return;
	at_ns = load_round_ns((double)at_ns / s->spec->speed);
	at_ns = load_time_add(s->spec->from_ns, at_ns);
	load_schedule(s, &s->event, at_ns);
}

static void profile_fire(void *self)
{
	struct source *s = self;
	struct load_request *r = load_prepare(s, 0);

	load_lengths_draw(&s->lengths, r);
	load_keys_make(&s->keys, r, NULL);
	if (!load_spent(s))
		profile_schedule(s);
	load_send(s);
}

static int profile_start(struct source *s, struct err *e)
{
	(void)e;
	assert(s->spec->speed > 0);
	assert(s->spec->profile->interval_ns > 0);
	load_ramp_init(&s->ramp, profile_piece, s->spec);
	if (!load_spent(s))
		profile_schedule(s);
	return 0;
}

static double profile_rate(const struct load_spec *spec, int64_t at_ns)
{
	double speed = spec->speed;
	double within_ns = (double)(at_ns - spec->from_ns) * speed;
	double i = within_ns / (double)spec->profile->interval_ns;

	if (i >= (double)spec->profile->intervals)
		return 0;
	return spec->profile->rates_rps[(size_t)i] * speed;
}

const struct load_kind_ops load_kind_profile = {
	.start = profile_start,
	.stop = load_stop_nothing,
	.fire = profile_fire,
	.ended = load_ended_nothing,
	.rate_rps = profile_rate,
};
