/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>

#include "load/load_int.h"

static const struct load_kind_ops *const kinds[] = {
	[LOAD_OPEN] = &load_kind_open,
	[LOAD_CLOSED] = &load_kind_closed,
	[LOAD_TRACE] = &load_kind_replay,
	[LOAD_PROFILE] = &load_kind_profile,
};

int64_t load_round_ns(double ns)
{
	if (!(ns > 0))
		return 0;
	if (ns >= (double)TIME_NEVER)
		return TIME_NEVER;
	return (int64_t)floor(ns + 0.5);
}

int64_t load_time_add(int64_t a, int64_t b)
{
	assert(a >= 0 && b >= 0);
	return a > TIME_NEVER - b ? TIME_NEVER : a + b;
}

void load_stop_nothing(struct source *s)
{
	(void)s;
}

void load_ended_nothing(struct source *s, uint32_t client, bool refused)
{
	(void)s;
	(void)client;
	(void)refused;
}

double load_rate_none(const struct load_spec *spec, int64_t at_ns)
{
	(void)spec;
	(void)at_ns;
	return 0;
}

uint32_t load_index(const struct source *s)
{
	return (uint32_t)(s - s->load->sources);
}

bool load_spent(const struct source *s)
{
	return s->sent >= s->spec->requests;
}

bool load_schedule(struct source *s, struct event *ev, int64_t at_ns)
{
	struct load *l = s->load;

	assert(!load_spent(s));
	if (at_ns >= s->spec->until_ns)
		return false;
	/* Two moments may round to each other's side of one nanosecond. */
	if (at_ns < l->calendar->now_ns)
		at_ns = l->calendar->now_ns;
	event_schedule(l->calendar, ev, at_ns);
	l->pending++;
	return true;
}

struct load_request *load_prepare(struct source *s, uint32_t client)
{
	assert(s->load->pending > 0);
	assert(s->sent < LOAD_REQUESTS_MAX);
	s->load->pending--;
	s->request.client = client;
	s->request.number = s->sent++;
	return &s->request;
}

void load_send(struct source *s)
{
	const struct load_sink *sink = &s->load->sink;

	assert(s->request.input_tokens > 0);
	load_prefix_draw(&s->prefixes, &s->request);
	sink->arrive(sink->self, &s->request);
}

static const struct load_profile *joint_lengths(const struct load_spec *spec)
{
	if (spec->lengths != NULL)
		return spec->lengths;
	return spec->kind == LOAD_PROFILE ? spec->profile : NULL;
}

static void source_init(struct source *s, struct load *l,
                        const struct load_spec *spec)
{
	uint64_t own = EVENT_ENTITY(l->kind, load_index(s));
	uint64_t seed = l->seed, rep = l->replication;
	char stem[LOAD_KEY_MAX];

	assert(spec->from_ns >= 0);
	s->spec = spec;
	s->ops = kinds[spec->kind];
	s->request.source = load_index(s);
	if (s->ops->fire != NULL)
		event_init(&s->event, EVENT_ADMISSION, own, s->ops->fire, s);
	s->arrival = stream_open(seed, rep, own, STREAM_ARRIVAL);
	s->lengths = (struct lengths){
		.joint = joint_lengths(spec),
		.input_dist = spec->input_tokens,
		.output_dist = spec->output_tokens,
		.input = stream_open(seed, rep, own, STREAM_INPUT_TOKENS),
		.output = stream_open(seed, rep, own, STREAM_OUTPUT_TOKENS),
	};
	(void)snprintf(stem, sizeof(stem), "-%llu-%llu-%u-",
	               (unsigned long long)seed, (unsigned long long)rep,
	               (unsigned)load_index(s));
	load_keys_init(&s->keys, &spec->keys, stem,
	               stream_open(seed, rep, own, STREAM_KEY));
	load_prefix_init(&s->prefixes, spec,
	                 stream_open(seed, rep, own, STREAM_PREFIX));
}

/* A run's name (kind, seed, replication) and its ends are all needed at once.
 * NOLINTNEXTLINE(readability-function-size) */
struct load *load_new(struct calendar *calendar, const struct load_spec *specs,
                      uint32_t n, uint8_t kind, uint64_t seed,
                      uint64_t replication, struct load_sink sink,
                      struct err *e)
{
	struct load *l = mem_new(1, sizeof(*l));

	assert(n <= LOAD_SOURCES_MAX);
	assert(replication <= LOAD_REPLICATION_MAX);
	l->calendar = calendar;
	l->kind = kind;
	l->seed = seed;
	l->replication = replication;
	l->sink = sink;
	l->n = n;
	if (n > 0)
		l->sources = mem_new(n, sizeof(*l->sources));
	for (uint32_t i = 0; i < n; i++) {
		l->sources[i].load = l;
		source_init(&l->sources[i], l, &specs[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (l->sources[i].ops->start(&l->sources[i], e) != 0) {
			load_free(l);
			return NULL;
		}
	}
	return l;
}

void load_free(struct load *l)
{
	if (l == NULL)
		return;
	for (uint32_t i = 0; i < l->n; i++) {
		struct source *s = &l->sources[i];

		event_cancel(l->calendar, &s->event);
		s->ops->stop(s);
	}
	mem_free(l->sources);
	mem_free(l);
}

void load_ended(struct load *l, uint32_t source, uint32_t client, bool refused)
{
	struct source *s;

	assert(source < l->n);
	s = &l->sources[source];
	s->ops->ended(s, client, refused);
}

bool load_exhausted(const struct load *l)
{
	return l->pending == 0;
}

uint64_t load_sent(const struct load *l, uint32_t source)
{
	assert(source < l->n);
	return l->sources[source].sent;
}

const struct err *load_trouble(const struct load *l)
{
	return l->trouble.set ? &l->trouble : NULL;
}

double load_rate_rps(const struct load_spec *spec, int64_t at_ns)
{
	if (at_ns < spec->from_ns || at_ns >= spec->until_ns)
		return 0;
	return kinds[spec->kind]->rate_rps(spec, at_ns);
}
