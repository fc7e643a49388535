/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "load/load_int.h"

/* The limit is reached: whoever is thinking will not send again. */
static void closed_finish(struct source *s)
{
	for (uint32_t i = 0; i < s->spec->concurrency; i++) {
		struct client *c = &s->clients[i];

		if (event_pending(&c->event)) {
			event_cancel(s->load->calendar, &c->event);
			s->load->pending--;
		}
	}
}

static void client_fire(void *self)
{
	struct client *c = self;
	struct source *s = c->source;
	struct load_request *r = load_prepare(s, c->number);

	load_lengths_draw(&s->lengths, r);
	load_keys_make(&s->keys, r, NULL);
	if (load_spent(s))
		closed_finish(s);
	load_send(s);
}

/* Numbers of clients lie above those of sources, in the sources' order. */
static uint64_t first_client(const struct source *s)
{
	const struct load *l = s->load;
	uint64_t first = l->n;

	for (uint32_t i = 0; i < load_index(s); i++)
		if (l->sources[i].spec->kind == LOAD_CLOSED)
			first += l->sources[i].spec->concurrency;
	return first;
}

static int closed_start(struct source *s, struct err *e)
{
	struct load *l = s->load;
	uint64_t own = EVENT_ENTITY(l->kind, load_index(s));
	uint64_t first = first_client(s);

	(void)e;
	assert(s->spec->concurrency > 0);
	assert(s->spec->error_pause_ns >= 0);
	s->clients = mem_new(s->spec->concurrency, sizeof(*s->clients));
	for (uint32_t i = 0; i < s->spec->concurrency; i++) {
		struct client *c = &s->clients[i];

		c->source = s;
		c->number = i;
		/* A client's thoughts do not depend on how many there are. */
		c->think =
			stream_open(l->seed, l->replication, own, STREAM_THINK);
		stream_seek(&c->think, i);
		event_init(&c->event, EVENT_ADMISSION,
		           EVENT_ENTITY(l->kind, first + i), client_fire, c);
		if (!load_spent(s))
			load_schedule(s, &c->event, s->spec->from_ns);
	}
	return 0;
}

static void closed_stop(struct source *s)
{
	if (s->clients != NULL)
		closed_finish(s);
	mem_free(s->clients);
	s->clients = NULL;
}

static void closed_ended(struct source *s, uint32_t client, bool refused)
{
	struct client *c;
	double think_ns;
	int64_t at_ns;

	assert(client < s->spec->concurrency);
	c = &s->clients[client];
	assert(!event_pending(&c->event));
	think_ns = dist_draw(&s->spec->think_ns, &c->think);
	if (load_spent(s))
		return;
	at_ns = s->load->calendar->now_ns;
	at_ns = load_time_add(at_ns, load_round_ns(think_ns));
	if (refused)
		at_ns = load_time_add(at_ns, s->spec->error_pause_ns);
	load_schedule(s, &c->event, at_ns);
}

const struct load_kind_ops load_kind_closed = {
	.start = closed_start,
	.stop = closed_stop,
	.fire = NULL, /* its clients' events fire */
	.ended = closed_ended,
	.rate_rps = load_rate_none,
};
