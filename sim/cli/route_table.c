/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table from JSON. A whole scenario is read as `weir run` reads it; an
 * endpoint alone by what routing needs of it, everything else being ignored,
 * so that what the platform's API answers can be pasted as it is.
 */
#include "route_int.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { REPLICAS_MAX = 100000, DEPLOYMENTS_MAX = 10000, ID_MAX = 63 };

/* A value and where it stands. */
struct spot {
	const struct spot_file *in;
	const json_t *value;
	char path[200];
};

struct spot_file {
	const char *name;
	const char *text;
	struct err *err;
};

static int wrong(const struct spot *s, const char *fmt, ...) BASE_PRINTF(2, 3);

static int wrong(const struct spot *s, const char *fmt, ...)
{
	char said[400];
	va_list args;
	int line, col;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	json_place(s->in->text, s->path, &line, &col);
	err_set(s->in->err, s->in->name, line, col, s->path, "%s", said);
	return -1;
}

/* A member by its name in snake_case or camelCase; false: there is none. */
static bool inside(const struct spot *s, const char *name, struct spot *out)
{
	char camel[64];
	size_t n = 0;

	for (const char *c = name; *c && n + 1 < sizeof(camel); c++)
		camel[n++] = *c != '_' ? *c
		             : c[1]    ? (char)(*++c - 'a' + 'A')
		                       : *c;
	camel[n] = '\0';
	out->in = s->in;
	out->value = json_object_get(s->value, name);
	if (out->value == NULL) {
		out->value = json_object_get(s->value, camel);
		name = camel;
	}
	snprintf(out->path, sizeof(out->path), "%.120s.%.60s", s->path, name);
	return out->value != NULL;
}

static struct spot item(const struct spot *s, size_t i)
{
	struct spot out = {.in = s->in, .value = json_array_get(s->value, i)};

	snprintf(out.path, sizeof(out.path), "%.170s[%zu]", s->path, i);
	return out;
}

/* A list with something in it. */
static int list(const struct spot *s, const char *name, struct spot *out)
{
	if (!inside(s, name, out))
		return wrong(s, "has no \"%s\"", name);
	if (!json_is_array(out->value) || json_array_size(out->value) == 0)
		return wrong(out, "must be a list with something in it");
	if (json_array_size(out->value) > DEPLOYMENTS_MAX)
		return wrong(out, "has more than %d entries", DEPLOYMENTS_MAX);
	return 0;
}

static int text(const struct spot *s, const char *name, struct spot *out,
                const char **value)
{
	if (!inside(s, name, out))
		return wrong(s, "has no \"%s\"", name);
	*value = json_string_value(out->value);
	if (*value == NULL || (*value)[0] == '\0' || strlen(*value) > ID_MAX)
		return wrong(out, "must be a string of 1 to %d bytes", ID_MAX);
	return 0;
}

/* ---- deployments ------------------------------------------------------- */

static int read_policy(const struct spot *s, struct router_deployment *d)
{
	const char *names[32], *value, *near;
	size_t n = 0;
	struct spot at;

	if (!inside(s, "replica_choice", &at))
		return 0;
	if (text(s, "replica_choice", &at, &value) != 0)
		return -1;
	d->policy = route_policy_find(value);
	if (d->policy)
		return 0;
	while (n < 32 && route_policy_name(n) != NULL) {
		names[n] = route_policy_name(n);
		n++;
	}
	near = base_nearest(value, names, n);
	if (near)
		return wrong(&at,
		             "there is no policy \"%s\"; did you mean \"%s\"?",
		             value, near);
	return wrong(&at, "there is no policy \"%s\"", value);
}

/* `replicas` or, of a deployment that scales, the least it has. */
static int read_replicas(const struct spot *s, struct router_deployment *d)
{
	struct spot scaling, at;
	json_int_t n;

	if (!inside(s, "replicas", &at) &&
	    !(inside(s, "autoscaling", &scaling) &&
	      inside(&scaling, "min_replicas", &at)))
		return wrong(s, "has no \"replicas\": how many are ready");
	if (!json_is_integer(at.value))
		return wrong(&at, "must be a whole number");
	n = json_integer_value(at.value);
	if (n < 0 || n > REPLICAS_MAX)
		return wrong(&at, "must be from 0 to %d, not %lld",
		             REPLICAS_MAX, (long long)n);
	d->replicas = (uint32_t)n;
	return 0;
}

static uint32_t find(const struct router *r, uint32_t n, const char *id)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(r->deployment[i].id, id) == 0)
			return i;
	return ROUTE_NONE;
}

static int read_deployments(struct router *r, const struct spot *endpoint)
{
	struct spot all;

	if (list(endpoint, "deployments", &all) != 0)
		return -1;
	r->n = (uint32_t)json_array_size(all.value);
	r->deployment = arena_new(&r->arena, r->n, sizeof(*r->deployment));
	for (uint32_t i = 0; i < r->n; i++) {
		struct router_deployment *d = &r->deployment[i];
		struct spot s = item(&all, i), id;
		const char *name = "";

		if (text(&s, "id", &id, &name) != 0)
			return -1;
		if (find(r, i, name) != ROUTE_NONE)
			return wrong(&id,
			             "there is a deployment \"%s\" already",
			             name);
		d->id = arena_strdup(&r->arena, name);
		if (read_replicas(&s, d) != 0 || read_policy(&s, d) != 0)
			return -1;
	}
	return 0;
}

/* ---- the split --------------------------------------------------------- */

static int unknown(const struct router *r, const struct spot *at,
                   const char *name)
{
	const char **ids = mem_new(r->n, sizeof(*ids));
	const char *near;

	for (uint32_t i = 0; i < r->n; i++)
		ids[i] = r->deployment[i].id;
	near = base_nearest(name, ids, r->n);
	mem_free(ids);
	if (near)
		return wrong(at,
		             "there is no deployment \"%s\"; did you mean "
		             "\"%s\"?",
		             name, near);
	return wrong(at, "there is no deployment \"%s\"", name);
}

/* An entry of the split: whose, and its weight. */
static int read_entry(const struct router *r, const struct spot *s,
                      bool *listed, double *weight)
{
	struct spot id, w;
	const char *name;
	uint32_t d;

	if (text(s, "deployment_id", &id, &name) != 0)
		return -1;
	d = find(r, r->n, name);
	if (d == ROUTE_NONE)
		return unknown(r, &id, name);
	if (listed[d])
		return wrong(&id, "\"%s\" is in the split already", name);
	listed[d] = true;
	if (!inside(s, "weight", &w))
		return wrong(s, "has no \"weight\"");
	weight[d] = json_number_value(w.value);
	if (!json_is_number(w.value) || !(weight[d] >= 0))
		return wrong(&w, "must be a number from 0 on");
	return 0;
}

static int read_split(struct router *r, const struct spot *endpoint)
{
	bool *listed = arena_new(&r->arena, r->n, sizeof(*listed));
	double *weight = arena_new(&r->arena, r->n, sizeof(*weight));
	uint64_t *scaled = arena_new(&r->arena, r->n, sizeof(*scaled));
	struct spot all;
	int bad;

	if (list(endpoint, "traffic_split", &all) != 0)
		return -1;
	for (size_t i = 0; i < json_array_size(all.value); i++) {
		struct spot s = item(&all, i);

		if (read_entry(r, &s, listed, weight) != 0)
			return -1;
	}
	bad = units_ratio(weight, r->n, scaled);
	if (bad)
		return wrong(&all, bad == -1
		                           ? "a weight has more than 9 "
		                             "significant digits"
		                           : "a weight is more than 10^9 times "
		                             "another");
	for (uint32_t i = 0; i < r->n; i++)
		r->deployment[i].weight = scaled[i];
	return 0;
}

/* ---- the file ---------------------------------------------------------- */

static int read_endpoint(struct router *r, const struct spot *s)
{
	static const char *const others[] = {"ab_experiments", "rollouts"};
	struct spot other;

	if (!json_is_object(s->value))
		return wrong(s, "must be an object");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (inside(s, others[i], &other) &&
		    json_array_size(other.value) > 0)
			return wrong(&other,
			             "a table decides by its traffic_split "
			             "alone; take it out");
	if (read_deployments(r, s) != 0)
		return -1;
	return read_split(r, s);
}

static int read_alone(struct router *r, const json_t *root,
                      const struct spot_file *in)
{
	struct spot top = {.in = in, .value = root, .path = "$"}, s = top;

	if (inside(&top, "endpoint", &s))
		return read_endpoint(r, &s);
	if (json_object_get(root, "endpoints")) {
		struct spot all;

		if (list(&top, "endpoints", &all) != 0)
			return -1;
		s = item(&all, 0);
		return read_endpoint(r, &s);
	}
	return read_endpoint(r, &top);
}

static int read_scenario(struct router *r, const struct options *o,
                         struct err *e)
{
	struct places p;
	struct scenario_places places;
	struct scenario *s;
	const struct world_endpoint *from;

	places_fill(&p, o);
	places = (struct scenario_places){p.directory, p.n};
	s = scenario_load(r->file, NULL, NULL, 0, &places, e);
	if (s == NULL)
		return -1;
	from = &s->world.endpoints[0];
	r->n = from->n_deployments;
	r->deployment = arena_new(&r->arena, r->n, sizeof(*r->deployment));
	for (uint32_t i = 0; i < r->n; i++) {
		const struct world_deployment *d =
			&s->world.deployments[from->first + i];

		r->deployment[i] = (struct router_deployment){
			.id = arena_strdup(&r->arena, d->id),
			.weight = d->in_split ? d->weight : 0,
			.replicas = d->replicas,
			.policy = d->replica_choice,
		};
	}
	scenario_free(s);
	return 0;
}

void router_replica_name(const struct router *r, uint32_t deployment,
                         uint32_t replica, char *buf, size_t size)
{
	snprintf(buf, size, "%.64s-%u", r->deployment[deployment].id,
	         (unsigned)replica);
}

/* Replicas stand on the ring as in replication 0 of a run. */
static enum route_status build(struct router *r)
{
	struct route_deployment_spec *d =
		arena_new(&r->arena, r->n, sizeof(*d));
	struct route_table_spec spec = {d, r->n, 0};
	struct route_replica_spec *replica;
	enum route_status status;
	size_t bytes;

	r->first = arena_new(&r->arena, r->n, sizeof(*r->first));
	for (uint32_t i = 0; i < r->n; i++) {
		r->first[i] = r->n_slots;
		r->n_slots += r->deployment[i].replicas;
	}
	replica = arena_new(&r->arena, r->n_slots + 1, sizeof(*replica));
	for (uint32_t i = 0; i < r->n; i++) {
		const struct router_deployment *from = &r->deployment[i];

		for (uint32_t k = 0; k < from->replicas; k++) {
			char name[96];

			router_replica_name(r, i, k, name, sizeof(name));
			replica[r->first[i] + k] = (struct route_replica_spec){
				arena_printf(&r->arena, "%s@0", name),
				r->first[i] + k};
		}
		d[i] = (struct route_deployment_spec){
			from->id, from->weight, replica + r->first[i],
			from->replicas, from->policy};
	}
	bytes = route_table_bytes(&spec);
	status = route_table_build(&spec, arena_new(&r->arena, 1, bytes), bytes,
	                           &r->table);
	if (status != ROUTE_OK)
		return status;
	bytes = route_state_bytes(r->n_slots + 1, r->n);
	status = route_state_init(arena_new(&r->arena, 1, bytes), bytes,
	                          r->n_slots + 1, r->n, &r->state);
	for (uint32_t i = 0; status == ROUTE_OK && i < r->n; i++)
		for (uint32_t k = 0; k < r->deployment[i].replicas; k++)
			route_slot_open(r->state, r->first[i] + k, i);
	return status;
}

static char *read_whole(const char *file, struct err *e)
{
	struct lines l;
	char *line, *all = NULL;
	size_t n, used = 0;
	int got;

	if (lines_open(&l, file, e) != 0)
		return NULL;
	while ((got = lines_next(&l, false, &line, &n, e)) > 0) {
		all = mem_grow(all, used + n + 2, 1);
		memcpy(all + used, line, n);
		used += n;
		all[used++] = '\n';
		all[used] = '\0';
	}
	lines_close(&l);
	if (got < 0) {
		mem_free(all);
		return NULL;
	}
	return all ? all : mem_new(1, 1);
}

int router_read(struct router *r, const char *file, const struct options *o,
                struct err *e)
{
	char *text_of = read_whole(file, e);
	struct spot_file in = {file, text_of, e};
	enum route_status status;
	json_error_t error;
	json_t *root;
	int bad;

	*r = (struct router){.file = file};
	if (text_of == NULL)
		return -1;
	root = json_loads(text_of, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL)
		bad = err_set(e, file, error.line, error.column, NULL, "%s",
		              error.text);
	else if (json_object_get(root, "traffic") ||
	         json_object_get(root, "include"))
		bad = read_scenario(r, o, e);
	else
		bad = read_alone(r, root, &in);
	json_decref(root);
	mem_free(text_of);
	if (bad)
		return -1;
	status = build(r);
	if (status != ROUTE_OK)
		return err_set(e, file, 0, 0, NULL,
		               "weights x replicas: %s; write the weights with "
		               "fewer digits",
		               route_status_name(status));
	return 0;
}

void router_free(struct router *r)
{
	arena_fini(&r->arena);
}
