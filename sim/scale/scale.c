/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scale/scale.h"

#include <assert.h>
#include <string.h>

#include "scale/scale_int.h"

static const struct scale_algorithm *const table[SCALE_KINDS] = {
	[SCALE_FIXED] = &scale_fixed,   [SCALE_PLATFORM] = &scale_platform,
	[SCALE_HPA] = &scale_hpa,       [SCALE_KPA] = &scale_kpa,
	[SCALE_KEDA] = &scale_keda,     [SCALE_RAY] = &scale_ray,
	[SCALE_KUBEAI] = &scale_kubeai, [SCALE_SCHEDULE] = &scale_schedule,
	[SCALE_ORACLE] = &scale_oracle,
};

const struct scale_algorithm *scale_algorithm(enum scale_kind kind)
{
	assert((unsigned)kind < SCALE_KINDS);
	return table[kind];
}

const char *scale_name(enum scale_kind kind)
{
	return scale_algorithm(kind)->name;
}

const char *scale_about(enum scale_kind kind)
{
	return scale_algorithm(kind)->about;
}

int scale_find(const char *name, const char *path, enum scale_kind *kind,
               struct err *err)
{
	const char *names[SCALE_KINDS];
	const char *near;
	int i;

	for (i = 0; i < SCALE_KINDS; i++) {
		names[i] = table[i]->name;
		if (strcmp(name, names[i]) == 0) {
			*kind = (enum scale_kind)i;
			return 0;
		}
	}
	near = base_nearest(name, names, SCALE_KINDS);
	if (near)
		return err_set(err, NULL, 0, 0, path,
		               "no autoscaler \"%s\"; did you mean \"%s\"?",
		               name, near);
	return err_set(err, NULL, 0, 0, path,
	               "no autoscaler \"%s\"; there are fixed, platform, hpa, "
	               "kpa, keda, ray, kubeai, schedule and oracle",
	               name);
}

void scale_defaults(enum scale_kind kind, struct scale_policy *policy)
{
	memset(policy, 0, sizeof *policy);
	policy->kind = kind;
	policy->min = 1;
	policy->max = 1;
	scale_metric_set(policy, 0, SCALE_INFLIGHT);
	scale_algorithm(kind)->defaults(policy);
}

uint32_t scale_wake(const struct scale_policy *policy)
{
	return policy->max > 0 ? scale_algorithm(policy->kind)->wake : 0;
}

static struct scale_room room_of(const struct scale_policy *policy)
{
	const struct scale_algorithm *a = scale_algorithm(policy->kind);

	return a->room ? a->room(policy) : (struct scale_room){.log = 0};
}

size_t scale_state_size(const struct scale_policy *policy)
{
	struct scale_room room = room_of(policy);

	return sizeof(struct scale_state) +
	       ((size_t)room.log + 2 * (size_t)room.changes) *
	               sizeof(struct scale_mark);
}

struct scale_state *scale_state_init(const struct scale_policy *policy,
                                     void *memory)
{
	struct scale_room room = room_of(policy);
	struct scale_state *s = memory;

	assert((uintptr_t)memory % _Alignof(struct scale_state) == 0);
	memset(s, 0, scale_state_size(policy));
	s->log.capacity = room.log;
	s->ups.offset = room.log;
	s->ups.capacity = room.changes;
	s->downs.offset = room.log + room.changes;
	s->downs.capacity = room.changes;
	return s;
}

/* Remembers what was changed for as long as a rule looks back. */
static void remember(const struct scale_policy *policy, struct scale_state *s,
                     const struct scale_wish *w)
{
	int64_t from_ns = w->at_ns - scale_longest_period(policy) + 1;

	if (s->ups.capacity == 0)
		return;
	scale_log_drop(s, &s->ups, from_ns);
	scale_log_drop(s, &s->downs, from_ns);
	if (w->wanted > w->before)
		scale_log_add(s, &s->ups, w->at_ns,
		              (double)(w->wanted - w->before));
	else if (w->wanted < w->before)
		scale_log_add(s, &s->downs, w->at_ns,
		              (double)(w->before - w->wanted));
}

struct scale_wish scale_tick(const struct scale_policy *policy,
                             struct scale_state *s,
                             const struct scale_snapshot *snap)
{
	struct scale_wish w = {
		.at_ns = snap->now_ns,
		.before = snap->wanted,
		.ready = snap->ready,
		.starting = snap->starting,
	};

	assert(snap->now_ns >= 0 && (!s->begun || snap->now_ns >= s->now_ns));
	assert(policy->n == 0 || snap->signals != NULL);
	if (!s->begun)
		s->begun_ns = snap->now_ns;
	s->now_ns = snap->now_ns;
	if (policy->n > 0) {
		w.signal = scale_value(&snap->signals[0]);
		w.target = policy->metrics[0].target;
	}
	scale_algorithm(policy->kind)->tick(policy, s, snap, &w);
	remember(policy, s, &w);
	s->begun = true;
	w.why = scale_reason_text(w.reason);
	return w;
}
