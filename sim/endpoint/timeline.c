/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "endpoint_int.h"

#include <assert.h>

static void set_weight(struct deployment *d, bool in_split, uint64_t weight)
{
	d->in_split = in_split;
	d->weight = weight;
}

static void tell_update(struct endpoint *e, struct deployment *d,
                        const char *message)
{
	feed_tell(e->world,
	          &(struct feed){.level = LEVEL_INFO,
	                         .type = "endpoint.updated",
	                         .endpoint = e,
	                         .deployment = d,
	                         .old_replicas = -1,
	                         .new_replicas = -1},
	          "%s", message);
}

static void set_split(struct endpoint *e, const struct world_action *a)
{
	for (uint32_t i = 0; i < e->spec->n_deployments; i++)
		set_weight(&e->deployment[i], a->listed[i], a->weights[i]);
	tell_update(e, NULL, "traffic_split was replaced");
	table_change(e, false);
}

/* Acts for the operator; at equal times in the order of the file. */
static void act(void *self)
{
	struct action *action = self;
	const struct world_action *a = action->spec;
	struct world *w = action->world;
	struct endpoint *e = &w->endpoint[a->endpoint];
	struct deployment *d = &w->deployment[a->deployment];

	assert(!action->done);
	action->done = true;
	switch (a->operation) {
	case WORLD_SET_WEIGHT:
		set_weight(d, a->in_split, a->weight);
		tell_update(e, d, "a weight was set");
		table_change(e, false);
		break;
	case WORLD_SET_REPLICAS:
		d->stopped = d->stopped && a->replicas == 0;
		fleet_scale(d, a->replicas);
		break;
	case WORLD_SET_SPLIT:
		set_split(e, a);
		break;
	case WORLD_STOP_DEPLOYMENT:
		fleet_stop(d);
		break;
	case WORLD_RESTART_DEPLOYMENT:
		fleet_restart(d);
		break;
	case WORLD_CRASH:
		fleet_crash(d, a->replicas, a->retry_in_flight);
		break;
	case WORLD_RESTORE:
		fleet_restore(d, a->replicas);
		break;
	}
}

void timeline_init(struct world *w)
{
	uint32_t n = w->spec->n_actions;

	w->action = arena_new(&w->arena, n ? n : 1, sizeof(*w->action));
	for (uint32_t i = 0; i < n; i++) {
		struct action *a = &w->action[i];

		a->world = w;
		a->spec = &w->spec->actions[i];
		event_init(&a->event, EVENT_OPERATOR,
		           EVENT_ENTITY(ENTITY_ACTION, i), act, a);
		if (a->spec->on_condition)
			w->conditions++;
		else
			event_schedule(&w->calendar, &a->event, a->spec->at_ns);
	}
}

void timeline_look(struct world *w)
{
	for (uint32_t i = 0; i < w->spec->n_actions; i++) {
		struct action *a = &w->action[i];

		if (!a->spec->on_condition || a->done ||
		    event_pending(&a->event))
			continue;
		if (!measure_condition_holds(w->measure, &a->spec->when))
			continue;
		w->conditions--;
		event_schedule(&w->calendar, &a->event, w->calendar.now_ns);
	}
}
