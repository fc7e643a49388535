/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <inttypes.h>

static const char *const levels[] = {
	[LEVEL_DEBUG] = "DEBUG",
	[LEVEL_INFO] = "INFO",
	[LEVEL_WARN] = "WARN",
	[LEVEL_ERROR] = "ERROR",
};

static void add_text(json_t *o, const char *name, const char *text)
{
	if (text)
		json_object_set_new(o, name, json_string(text));
}

void events_line(FILE *f, const char *variant, uint32_t replication,
                 const struct world_event *e)
{
	char at[40];
	json_t *o = json_object();

	snprintf(at, sizeof(at), "%" PRId64 ".%09" PRId64, e->at_ns / NS_PER_S,
	         e->at_ns % NS_PER_S);
	/* text, so that no digit is lost: a double holds 15 of them */
	json_object_set_new(o, "at_s", json_string(at));
	add_text(o, "variant", variant);
	json_object_set_new(o, "replication", json_integer(replication));
	add_text(o, "level", levels[e->level]);
	add_text(o, "sourceKind", e->deployment ? "DEPLOYMENT" : "ENDPOINT");
	add_text(o, "type", e->type);
	add_text(o, "endpointId", e->endpoint);
	add_text(o, "deploymentId", e->deployment);
	add_text(o, "replicaId", e->replica);
	if (e->old_replicas >= 0)
		json_object_set_new(o, "oldReplicas",
		                    json_integer(e->old_replicas));
	if (e->new_replicas >= 0)
		json_object_set_new(o, "newReplicas",
		                    json_integer(e->new_replicas));
	add_text(o, "reason", e->reason);
	add_text(o, "message", e->message);
	json_dumpf(o, f, JSON_COMPACT | JSON_PRESERVE_ORDER);
	fputc('\n', f);
	json_decref(o);
}
