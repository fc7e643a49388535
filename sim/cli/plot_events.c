/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * events.jsonl: the marks of charts, and the changes of replicas.
 */
#include "plot_int.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(json_t *event, const char *name)
{
	return json_string_value(json_object_get(event, name));
}

static double replicas_of(json_t *event, const char *name)
{
	json_t *n = json_object_get(event, name);

	return json_is_integer(n) ? (double)json_integer_value(n) : NAN;
}

/*
 * What a mark says after its deployment's name, NULL for events that charts
 * leave out.
 */
static const char *mark_word(struct arena *a, json_t *event)
{
	const char *type = text_of(event, "type");
	const char *message = text_of(event, "message");

	if (type == NULL || message == NULL)
		return NULL;
	if (strcmp(type, "deployment.scaled") == 0)
		return arena_printf(a, " wants %.0f",
		                    replicas_of(event, "newReplicas"));
	if (strcmp(type, "endpoint.updated") == 0)
		return text_of(event, "deploymentId") ? ": weight" : "weights";
	if (strcmp(type, "deployment.status_updated") == 0 &&
	    !text_of(event, "replicaId"))
		return strstr(message, "lost replicas start") ? ": restored"
		                                              : ": lost";
	return NULL;
}

static void add_mark(struct plot_data *d, size_t *capacity, json_t *event)
{
	const char *word = mark_word(&d->arena, event);
	const char *deployment = text_of(event, "deploymentId");

	if (word == NULL)
		return;
	if (d->n_marks == *capacity) {
		*capacity = *capacity ? 2 * *capacity : 16;
		d->mark = mem_grow(d->mark, *capacity, sizeof(*d->mark));
	}
	d->mark[d->n_marks++] = (struct plot_mark){
		.at_s = plot_number(text_of(event, "at_s")),
		.deployment = arena_strdup(&d->arena, deployment),
		.word = word,
	};
}

static void add_step(struct plot_data *d, size_t *capacity, json_t *event)
{
	const char *type = text_of(event, "type");
	const char *deployment = text_of(event, "deploymentId");
	double new = replicas_of(event, "newReplicas");
	bool scaled;

	if (type == NULL || deployment == NULL || isnan(new))
		return;
	scaled = strcmp(type, "deployment.scaled") == 0;
	if (!scaled && strcmp(type, "deployment.status_updated") != 0)
		return;
	if (d->n_steps == *capacity) {
		*capacity = *capacity ? 2 * *capacity : 64;
		d->step = mem_grow(d->step, *capacity, sizeof(*d->step));
	}
	d->step[d->n_steps++] = (struct plot_step){
		.at_s = plot_number(text_of(event, "at_s")),
		.deployment = arena_strdup(&d->arena, deployment),
		.ready = scaled ? NAN : new,
		.wanted = scaled ? new : NAN,
		.was_wanted = scaled ? replicas_of(event, "oldReplicas") : NAN,
		.lost = !scaled && !text_of(event, "replicaId"),
	};
}

int plot_read_events(struct plot_data *d, struct err *e)
{
	char path[1200];
	FILE *f;
	char *line = NULL;
	size_t size = 0;
	size_t marks = 0;
	size_t steps = 0;

	snprintf(path, sizeof(path), "%s/events.jsonl", d->dir);
	f = fopen(path, "r");
	if (f == NULL)
		return err_set(e, path, 0, 0, NULL, "%s", strerror(errno));
	while (getline(&line, &size, f) >= 0) {
		json_t *event = json_loads(line, 0, NULL);

		if (text_of(event, "at_s") &&
		    json_integer_value(json_object_get(event, "replication")) ==
		            0) {
			add_mark(d, &marks, event);
			add_step(d, &steps, event);
		}
		json_decref(event);
	}
	free(line);
	fclose(f);
	return 0;
}
