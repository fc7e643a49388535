/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loads: which kind each is, what belongs to it, and what it sends. */
#include <assert.h>
#include <string.h>

#include "scenario/scenario_int.h"

static bool failed(const struct build *b)
{
	return reader_failed(b->reader);
}

/* In the order of enum load_kind. */
static const char *const kinds[] = {"rate", "concurrency", "trace", "profile"};

/* Fields that only some kinds have. */
static const struct {
	const char *name;
	unsigned kinds; /* bits */
} belongs[] = {
	{"process", 1u << LOAD_OPEN},
	{"stages", 1u << LOAD_OPEN},
	{"think", 1u << LOAD_CLOSED},
	{"error_pause", 1u << LOAD_CLOSED},
	{"columns", 1u << LOAD_TRACE},
	{"speed", 1u << LOAD_TRACE | 1u << LOAD_PROFILE},
	{"input_tokens", 1u << LOAD_OPEN | 1u << LOAD_CLOSED},
	{"output_tokens", 1u << LOAD_OPEN | 1u << LOAD_CLOSED},
	{"lengths", 1u << LOAD_OPEN | 1u << LOAD_CLOSED},
	{"prefix", 1u << LOAD_OPEN | 1u << LOAD_CLOSED | 1u << LOAD_PROFILE},
};

static void check_belongs(struct cursor *c, enum load_kind kind)
{
	size_t i;

	for (i = 0; i < sizeof belongs / sizeof belongs[0]; i++) {
		if (!cursor_has(c, belongs[i].name) ||
		    (belongs[i].kinds & 1u << kind) != 0)
			continue;
		cursor_error(cursor_member(c, belongs[i].name),
		             "does not go with \"%s\"", kinds[kind]);
		return;
	}
}

/* NAME or NAME/DEPLOYMENT of one endpoint. */
static bool is_model(const struct build *b, const char *text, uint32_t e,
                     struct load_spec *out)
{
	const struct world_endpoint *endpoint = &b->endpoints[e];
	size_t n = strlen(endpoint->name);
	uint32_t d;

	if (strncmp(text, endpoint->name, n) != 0)
		return false;
	out->target = e;
	if (text[n] == '\0')
		return true;
	for (d = endpoint->first; d < endpoint->first + endpoint->n_deployments;
	     d++) {
		if (text[n] != '/' ||
		    strcmp(b->deployments[d].id, text + n + 1) != 0)
			continue;
		out->pinned = d;
		return true;
	}
	return false;
}

/* The endpoint, or deployment of it, that requests name as their model. */
static void read_model(struct build *b, struct cursor *load,
                       struct load_spec *out)
{
	const struct world_spec *w = &b->scenario->world;
	struct cursor *c = cursor_member(load, "model");
	const char *text = cursor_text(c), **names, *near;
	uint32_t e;

	if (c == NULL && w->n_endpoints > 1)
		cursor_error(load, "needs \"model\": there are %u endpoints",
		             w->n_endpoints);
	if (text == NULL)
		return;
	names = arena_new(&b->reader->scratch, w->n_endpoints, sizeof *names);
	for (e = 0; e < w->n_endpoints; e++) {
		names[e] = b->endpoints[e].name;
		if (is_model(b, text, e, out))
			return;
	}
	near = base_nearest(text, names, w->n_endpoints);
	if (near != NULL)
		cursor_error(c,
		             "\"%s\" is no endpoint's name; did you mean "
		             "\"%s\"?",
		             text, near);
	else
		cursor_error(c,
		             "\"%s\" is neither an endpoint's name nor "
		             "NAME/DEPLOYMENT; there is \"%s\"",
		             text, names[0]);
}

static void read_stages(struct build *b, struct cursor *list,
                        struct load_spec *out)
{
	size_t n = cursor_items(list, LIMIT_STAGES), i;
	struct load_stage *stages;
	struct cursor *c;

	stages = arena_new(b->reader->arena, n + 1, sizeof *stages);
	for (i = 0; i < n; i++) {
		c = cursor_item(list, i);
		if (!cursor_object(c, "traffic[].stages[]"))
			return;
		stages[i].duration_ns =
			cursor_duration(cursor_member(c, "duration"));
		stages[i].target_rps = cursor_rate(cursor_member(c, "target"));
	}
	out->stages = stages;
	out->n_stages = n;
}

static void read_open(struct build *b, struct cursor *c, struct load_spec *out)
{
	double most;
	size_t i;

	out->rate_rps = cursor_rate(cursor_member(c, "rate"));
	out->process = cursor_choice(cursor_member(c, "process")) == 1
	                       ? LOAD_CONSTANT
	                       : LOAD_POISSON;
	if (cursor_has(c, "stages"))
		read_stages(b, cursor_member(c, "stages"), out);
	most = out->rate_rps;
	for (i = 0; i < out->n_stages; i++)
		if (out->stages[i].target_rps > most)
			most = out->stages[i].target_rps;
	if (!failed(b) && !(most > 0))
		cursor_error(cursor_member(c, "rate"),
		             "is 0 and no stage raises it: nothing is sent");
}

static void read_closed(struct cursor *c, struct load_spec *out)
{
	out->concurrency =
		(uint32_t)cursor_integer(cursor_member(c, "concurrency"));
	out->think_ns = cursor_dist(cursor_member(c, "think"), QUANTITY_NS);
	out->error_pause_ns = cursor_duration(cursor_member(c, "error_pause"));
}

static void read_columns(struct cursor *c, struct load_columns *out)
{
	if (!cursor_object(c, "traffic[].columns"))
		return;
	out->arrival_us = cursor_text(cursor_member(c, "arrival_us"));
	out->input_tokens = cursor_text(cursor_member(c, "input_tokens"));
	out->output_tokens = cursor_text(cursor_member(c, "output_tokens"));
	out->key = cursor_text(cursor_member(c, "key"));
	out->session = cursor_text(cursor_member(c, "session"));
}

/* A trace is read whole here, so that no run stops in its middle. */
static void read_trace(struct build *b, struct cursor *c, struct load_spec *out)
{
	struct cursor *trace = cursor_member(c, "trace");
	const char *name = cursor_text(trace), *near;
	struct load_trace_stats stats;

	read_columns(cursor_member(c, "columns"), &out->columns);
	out->speed = cursor_number(cursor_member(c, "speed"));
	if (failed(b))
		return;
	out->trace = reader_find(b->reader, name, "");
	if (out->trace != NULL) {
		/* a trace sends no more than its rows */
		if (load_trace_check(out->trace, &out->columns, &stats,
		                     b->reader->err) == 0 &&
		    stats.rows < out->requests)
			out->requests = stats.rows;
		return;
	}
	near = reader_near(b->reader, name, "");
	if (near != NULL)
		cursor_error(trace,
		             "there is no file \"%s\" beside the "
		             "scenario or in the data directories; did "
		             "you mean \"%s\"?",
		             name, near);
	else
		cursor_error(trace,
		             "there is no file \"%s\" beside the "
		             "scenario or in the data directories "
		             "(--data DIR)",
		             name);
}

static void read_keys(struct cursor *load, struct load_spec *out)
{
	static const enum load_key_kind words[] = {
		LOAD_KEYS_UNIQUE, LOAD_KEYS_CONTENT, LOAD_KEYS_SAME};
	struct cursor *c = cursor_member(load, "keys");

	if (c == NULL) {
		out->keys.kind = out->kind == LOAD_TRACE ? LOAD_KEYS_CONTENT
		                                         : LOAD_KEYS_UNIQUE;
		return;
	}
	if (!json_is_object(c->value)) {
		out->keys.kind = words[cursor_choice(c)];
		return;
	}
	if (!cursor_object(c, "traffic[].keys"))
		return;
	out->keys.kind = LOAD_KEYS_DRAWN;
	out->keys.users = cursor_integer(cursor_member(c, "users"));
	out->keys.prompt_cache_keys =
		cursor_integer(cursor_member(c, "prompt_cache_keys"));
	out->keys.zipf = cursor_number(cursor_member(c, "zipf"));
	if (out->keys.users == 0 && out->keys.prompt_cache_keys == 0)
		cursor_error(c, "needs users, prompt_cache_keys or both");
}

static void read_prefix(struct cursor *c, struct load_prefix *out)
{
	if (c == NULL || !cursor_object(c, "traffic[].prefix"))
		return;
	out->groups = cursor_integer(cursor_member(c, "groups"));
	out->tokens = (uint32_t)cursor_integer(cursor_member(c, "tokens"));
	out->zipf = cursor_number(cursor_member(c, "zipf"));
}

static void read_lengths(struct build *b, struct cursor *c,
                         struct load_spec *out)
{
	struct cursor *lengths = cursor_member(c, "lengths");

	if (lengths == NULL) {
		if (!failed(b) && !cursor_has(c, "input_tokens"))
			cursor_error(c, "needs \"input_tokens\" (or "
			                "\"lengths\")");
		if (!failed(b) && !cursor_has(c, "output_tokens"))
			cursor_error(c, "needs \"output_tokens\" (or "
			                "\"lengths\")");
		out->input_tokens = cursor_dist(
			cursor_member(c, "input_tokens"), QUANTITY_PLAIN);
		out->output_tokens = cursor_dist(
			cursor_member(c, "output_tokens"), QUANTITY_PLAIN);
		return;
	}
	if (cursor_has(c, "input_tokens") || cursor_has(c, "output_tokens")) {
		cursor_error(lengths, "stands for input_tokens and "
		                      "output_tokens; write one or the other");
		return;
	}
	if (!cursor_object(lengths, "traffic[].lengths"))
		return;
	out->lengths = build_profile(b, cursor_member(lengths, "profile"));
}

/* "never" is patient. */
static int64_t read_timeout(struct cursor *c)
{
	const char *text = c != NULL ? json_string_value(c->value) : NULL;

	if (text != NULL && strcmp(text, "never") == 0)
		return TIME_NEVER;
	return cursor_duration(c);
}

static void read_window(struct build *b, struct cursor *c,
                        struct load_spec *out)
{
	struct cursor *until = cursor_member(c, "until");
	struct cursor *requests = cursor_member(c, "requests");

	out->from_ns = cursor_duration(cursor_member(c, "from"));
	out->until_ns = until != NULL ? cursor_duration(until) : TIME_NEVER;
	out->requests =
		requests != NULL ? cursor_integer(requests) : UINT64_MAX;
	out->timeout_ns = read_timeout(cursor_member(c, "timeout"));
	if (!failed(b) && out->until_ns <= out->from_ns)
		cursor_error(until, "must be after from");
	if (b->scenario->world.duration_ns == TIME_NEVER && until == NULL &&
	    requests == NULL &&
	    (out->kind == LOAD_OPEN || out->kind == LOAD_CLOSED))
		cursor_error(c, "never ends, and the scenario has no "
		                "\"duration\"; give it one, or \"requests\" or "
		                "\"until\" here");
}

static void read_load(struct build *b, struct cursor *c, struct load_spec *out)
{
	if (!cursor_object(c, "traffic[]"))
		return;
	out->name = cursor_name(cursor_member(c, "name"), false);
	out->kind = (enum load_kind)cursor_one_of(c, kinds, 4);
	if (failed(b))
		return;
	check_belongs(c, out->kind);
	read_model(b, c, out);
	if (out->kind == LOAD_OPEN) {
		read_open(b, c, out);
	} else if (out->kind == LOAD_CLOSED) {
		read_closed(c, out);
	} else if (out->kind == LOAD_TRACE) {
		read_trace(b, c, out);
	} else {
		out->profile = build_profile(b, cursor_member(c, "profile"));
		out->speed = cursor_number(cursor_member(c, "speed"));
	}
	if (out->kind == LOAD_OPEN || out->kind == LOAD_CLOSED)
		read_lengths(b, c, out);
	read_keys(c, out);
	read_prefix(cursor_member(c, "prefix"), &out->prefix);
	read_window(b, c, out);
}

static struct load_spec blank(void)
{
	struct load_spec spec = {.pinned = UINT32_MAX, .speed = 1};

	spec.think_ns = dist_constant(0);
	spec.input_tokens = dist_constant(1);
	spec.output_tokens = dist_constant(1);
	return spec;
}

/* A name that no load before the i-th has. */
static void unique_name(struct build *b, struct cursor *c, size_t i)
{
	const char *name = b->loads[i].name;
	size_t k;

	assert(name != NULL);
	for (k = 0; k < i; k++)
		if (strcmp(b->loads[k].name, name) == 0)
			cursor_error(cursor_member(c, "name"),
			             "there is a load \"%s\" already", name);
}

void build_traffic(struct build *b, struct cursor *root)
{
	struct cursor *list = cursor_member(root, "traffic"), *c;
	size_t n = cursor_items(list, LIMIT_TRAFFICS), i;

	if (failed(b))
		return;
	if (n == 0) {
		cursor_error(list, "is empty: nobody sends anything");
		return;
	}
	b->loads = arena_new(b->reader->arena, n, sizeof *b->loads);
	for (i = 0; i < n; i++) {
		c = cursor_item(list, i);
		b->loads[i] = blank();
		read_load(b, c, &b->loads[i]);
		if (failed(b))
			return;
		unique_name(b, c, i);
	}
	b->scenario->world.n_loads = (uint32_t)n;
	b->scenario->world.loads = b->loads;
}
