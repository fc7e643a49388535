/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "endpoint_int.h"

#include <stdarg.h>
#include <stdio.h>

void feed_tell(struct world *w, const struct feed *f, const char *fmt, ...)
{
	char message[256];
	va_list args;
	struct world_event event = {
		.at_ns = w->calendar.now_ns,
		.level = f->level,
		.type = f->type,
		.endpoint = f->endpoint->spec->id,
		.deployment = f->deployment ? f->deployment->spec->id : NULL,
		.replica = f->instance ? f->instance->name : NULL,
		.old_replicas = f->old_replicas,
		.new_replicas = f->new_replicas,
		.reason = f->reason,
		.message = message,
	};

	measure_event(w->measure, f->type, f->endpoint->number,
	              f->deployment ? f->deployment->number : MEASURE_NONE,
	              w->calendar.now_ns);
	if (w->observer.event == NULL)
		return;
	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	w->observer.event(w->observer.self, w->replication, &event);
}
