/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "load/load_int.h"

/* The time of the row within a replay of that speed. */
static int64_t replay_at(const struct source *s)
{
	int64_t at_ns = s->row.at_ns;

	/* Whole nanoseconds stay whole, also beyond 2^53 of them. */
	if (s->spec->speed < 1 || s->spec->speed > 1)
		at_ns = load_round_ns((double)at_ns / s->spec->speed);
	return load_time_add(s->spec->from_ns, at_ns);
}

static int replay_read(struct source *s, struct err *e)
{
	int got;

	if (load_spent(s))
		return 0;
	got = load_trace_next(s->trace, &s->row, e);
	if (got > 0)
		load_schedule(s, &s->event, replay_at(s));
	return got < 0 ? -1 : 0;
}

static void replay_fire(void *self)
{
	struct source *s = self;
	struct load_request *r = load_prepare(s, 0);

	r->input_tokens = s->row.input_tokens;
	r->output = (struct sealed_tokens){s->row.output_tokens};
	load_keys_make(&s->keys, r, s->row.key);
	/* Who checked the rows before will not see this; who did not, can. */
	(void)replay_read(s, &s->load->trouble);
	load_send(s);
}

static int replay_start(struct source *s, struct err *e)
{
	assert(s->spec->speed > 0);
	s->trace = load_trace_open(s->spec->trace, &s->spec->columns, e);
	if (s->trace == NULL)
		return -1;
	return replay_read(s, e);
}

static void replay_stop(struct source *s)
{
	load_trace_close(s->trace);
	s->trace = NULL;
}

const struct load_kind_ops load_kind_replay = {
	.start = replay_start,
	.stop = replay_stop,
	.fire = replay_fire,
	.ended = load_ended_nothing,
	.rate_rps = load_rate_none,
};
