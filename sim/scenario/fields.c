/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of fields: what may stand where, of which type and range, its
 * default, and one sentence. Reading, defaults, ranges and messages come from
 * here, so that what is documented is what is done.
 *
 * A fallback that is JSON is the default that is used; "" means required;
 * other words say what happens without the field.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

static const struct scenario_field fields[] = {
	{"scenario", "name", "text", "", "the file's name",
         "What the run is called."},
	{"scenario", "seed", "integer", "0 to 9223372036854775807", "1",
         "All chance follows from it."},
	{"scenario", "reps", "integer", "1 to 100000", "1",
         "Replications, which differ in their chance only."},
	{"scenario", "duration", "duration", "above 0s, at most 366d",
         "until every load is over", "Simulated time of one replication."},
	{"scenario", "warmup", "duration", "0s to 366d", "\"0s\"",
         "Requests that arrive before it do not count in latencies."},
	{"scenario", "interval", "duration", "1ms to 366d", "\"10s\"",
         "Length of an interval of the series."},
	{"scenario", "include", "file", "", "none",
         "A scenario this one is laid over: objects by key, lists whole."},
	{"scenario", "set", "object", "", "none",
         "Changes by path, applied after the include."},
	{"scenario", "variants", "list of variants", "", "none",
         "Sets of changes; the scenario is run under each."},
	{"scenario", "endpoint", "endpoint", "", "see endpoints",
         "The only endpoint."},
	{"scenario", "endpoints", "list of endpoints", "", "see endpoint",
         "Several endpoints on one clock."},
	{"scenario", "traffic", "list of loads", "", "",
         "Who sends requests, when, and how long they are."},
	{"scenario", "timeline", "list of actions", "", "[]",
         "What an operator or bad luck does during the run."},
	{"scenario", "slo", "slo", "", "{}", "Latencies that count as good."},
	{"scenario", "expect", "list of rules", "", "[]",
         "Rules the run is judged by."},

	{"variants[]", "name", "name", "", "", "What the variant is called."},
	{"variants[]", "set", "object", "", "",
         "Its changes: paths and values."},

	{"endpoint", "id", "id ep_...", "", "", "The endpoint's id."},
	{"endpoint", "name", "name", "", "the id",
         "What requests say in their model field."},
	{"endpoint", "traffic_split", "list of weights", "", "",
         "Which deployments get traffic; a share is weight x ready "
         "replicas."},
	{"endpoint", "deployments", "list of deployments", "", "",
         "Who serves."},
	{"endpoint", "routers", "routers", "", "{}",
         "How the router behaves and how late it learns of changes."},
	{"endpoint", "errors", "word", "current, earlier", "\"current\"",
         "Platform rules when nothing is routable: "
         "endpoint_not_configured (400), or routing_error (503)."},

	{"endpoint.traffic_split[]", "deployment_id", "id dep_...", "", "",
         "A deployment of this endpoint."},
	{"endpoint.traffic_split[]", "weight", "weight", "at least 0", "",
         "Weight of one ready replica; any scale, at most 9 digits."},

	{"endpoint.routers", "propagation", "distribution of durations",
         "0s to 1d", "\"30s\"",
         "From a change of weights or ready replicas to its effect."},
	{"endpoint.routers", "load_factor", "percent", "101% to 100000%",
         "\"200%\"",
         "Bounded load: a replica passes on what is above this part of "
         "the mean."},

	{"endpoint.deployments[]", "id", "id dep_...", "", "",
         "The deployment's id, unique in the scenario."},
	{"endpoint.deployments[]", "model", "text", "", "that of its config",
         "Which model it serves, for the reader."},
	{"endpoint.deployments[]", "config", "config", "", "",
         "A config revision (cr_...), or its fields as an object."},
	{"endpoint.deployments[]", "replicas", "integer", "0 to 100000", "1",
         "Replicas at the start."},
	{"endpoint.deployments[]", "replica_choice", "word", "",
         "\"bounded_ring\"",
         "Policy that picks a replica: bounded_ring, ring, rendezvous, "
         "least_inflight, round_robin, random."},
	{"endpoint.deployments[]", "cold_start", "cold_start", "", "{}",
         "How long a new replica takes, phase by phase."},
	{"endpoint.deployments[]", "start", "word", "ready, cold", "\"ready\"",
         "Whether its first replicas are ready or cold-start too."},

	{"endpoint.deployments[].cold_start", "image_pull",
         "distribution of durations", "0s to 7d", "\"30s\"",
         "Pulling the image."},
	{"endpoint.deployments[].cold_start", "start",
         "distribution of durations", "0s to 7d", "\"30s\"",
         "Starting the engine."},
	{"endpoint.deployments[].cold_start", "weights",
         "distribution of durations", "0s to 7d", "\"26s\"",
         "Loading the weights."},
	{"endpoint.deployments[].cold_start", "warmup",
         "distribution of durations", "0s to 7d", "\"0s\"",
         "Warming up before it is ready."},

	{"traffic[]", "name", "name", "", "", "What rules call it."},
	{"traffic[]", "model", "text", "", "the only endpoint",
         "An endpoint's name, or NAME/DEPLOYMENT to bypass the split."},
	{"traffic[]", "rate", "rate", "0 to 10000000", "another kind",
         "Open loop: requests per second, or \"1200/m\"."},
	{"traffic[]", "process", "word", "poisson, constant", "\"poisson\"",
         "Gaps between the arrivals of an open loop."},
	{"traffic[]", "stages", "list of stages", "", "none",
         "Open loop: the rate moves in straight lines, then stays."},
	{"traffic[]", "concurrency", "integer", "1 to 1000000", "another kind",
         "Closed loop: so many clients."},
	{"traffic[]", "think", "distribution of durations", "0s to 366d",
         "\"0s\"", "Closed loop: a client's pause before its next request."},
	{"traffic[]", "error_pause", "duration", "above 0s, at most 366d",
         "\"1s\"", "Closed loop: a further pause after a refusal."},
	{"traffic[]", "trace", "file", "", "another kind",
         "A trace (CSV), replayed."},
	{"traffic[]", "columns", "columns", "", "{}",
         "Column names of a trace of one's own."},
	{"traffic[]", "profile", "file", "", "another kind",
         "A load profile, replayed: rates per interval, joint lengths."},
	{"traffic[]", "speed", "number", "above 0, at most 1000000", "1",
         "Trace or profile: 2 is twice as fast."},
	{"traffic[]", "requests", "integer", "1 to 1000000000", "no limit",
         "Sends so many, then stops."},
	{"traffic[]", "from", "duration", "0s to 366d", "\"0s\"",
         "First moment of sending."},
	{"traffic[]", "until", "duration", "above 0s, at most 366d", "the end",
         "Nothing is sent at or after it."},
	{"traffic[]", "input_tokens", "distribution of tokens", "1 to 10000000",
         "see lengths", "Prompt lengths."},
	{"traffic[]", "output_tokens", "distribution of tokens",
         "1 to 10000000", "see lengths", "Output lengths."},
	{"traffic[]", "lengths", "lengths", "",
         "input_tokens and output_tokens",
         "Both lengths jointly, from a profile."},
	{"traffic[]", "keys", "keys", "unique, content, same",
         "\"unique\", for a trace \"content\"",
         "The sampling keys of the requests."},
	{"traffic[]", "timeout", "duration or never", "above 0s, at most 366d",
         "\"60s\"", "When the client gives up."},

	{"traffic[].stages[]", "duration", "duration", "0s to 366d", "",
         "How long the rate moves; 0s is a jump."},
	{"traffic[].stages[]", "target", "rate", "0 to 10000000", "",
         "The rate at the stage's end."},

	{"traffic[].lengths", "profile", "file", "", "",
         "The load profile whose lengths are drawn."},

	{"traffic[].keys", "users", "integer", "1 to 1000000000000", "none",
         "Requests carry a user out of so many."},
	{"traffic[].keys", "prompt_cache_keys", "integer", "1 to 1000000000000",
         "none", "Requests carry a prompt_cache_key out of so many."},
	{"traffic[].keys", "zipf", "number", "0 to 10", "0",
         "Zipf exponent of their popularity; 0: all alike."},

	{"traffic[].columns", "arrival_us", "text", "", "arrival_us",
         "Column of the arrival in microseconds."},
	{"traffic[].columns", "input_tokens", "text", "", "input_tokens",
         "Column of the prompt's length."},
	{"traffic[].columns", "output_tokens", "text", "", "output_tokens",
         "Column of the output's length."},
	{"traffic[].columns", "key", "text", "", "key",
         "Column of the prompt_cache_key; may be absent."},
	{"traffic[].columns", "session", "text", "", "session",
         "Column of the session; may be absent."},

	{"timeline[]", "at", "duration", "0s to 366d", "see when",
         "When it happens."},
	{"timeline[]", "when", "condition", "", "see at",
         "It happens the first time this holds: "
         "\"replicas.ready(dep_a) == 2\"."},
	{"timeline[]", "set_weight", "set_weight", "", "another operation",
         "One entry of the split; the others keep theirs."},
	{"timeline[]", "update_deployment", "update_deployment", "",
         "another operation", "A new number of replicas."},
	{"timeline[]", "update_endpoint", "update_endpoint", "",
         "another operation", "A whole new split."},
	{"timeline[]", "stop_deployment", "id dep_...", "", "another operation",
         "Drains it to no replicas."},
	{"timeline[]", "restart_deployment", "id dep_...", "",
         "another operation", "Back to its replicas before the stop."},
	{"timeline[]", "fault", "fault", "", "another operation",
         "A loss, or its end."},

	{"timeline[].set_weight", "deployment_id", "id dep_...", "", "",
         "Whose weight."},
	{"timeline[].set_weight", "weight", "weight", "at least 0", "",
         "The new weight; 0 takes it out of the traffic."},

	{"timeline[].update_deployment", "id", "id dep_...", "", "",
         "Which deployment."},
	{"timeline[].update_deployment", "replicas", "integer", "0 to 100000",
         "", "The replicas it shall have."},

	{"timeline[].update_endpoint", "id", "id ep_...", "",
         "the only endpoint", "Which endpoint."},
	{"timeline[].update_endpoint", "update_mask", "word", "traffic_split",
         "", "The fields to replace; without it the platform answers 400."},
	{"timeline[].update_endpoint", "traffic_split", "list of weights", "",
         "", "The new split; what is not listed gets no traffic."},

	{"timeline[].fault", "crash", "crash", "", "another fault",
         "Replicas are lost."},
	{"timeline[].fault", "restore", "restore", "", "another fault",
         "Lost replicas start again."},

	{"timeline[].fault.crash", "deployment", "id dep_...", "", "",
         "Whose replicas."},
	{"timeline[].fault.crash", "replicas", "integer or all", "1 to 100000",
         "\"all\"", "How many."},
	{"timeline[].fault.crash", "in_flight", "word", "fail, retry",
         "\"fail\"", "Whether the requests inside fail or are routed again."},

	{"timeline[].fault.restore", "deployment", "id dep_...", "", "",
         "Whose replicas."},

	{"slo", "ttft", "duration", "above 0s, at most 366d", "none",
         "Time to the first token."},
	{"slo", "tpot", "duration", "above 0s, at most 366d", "none",
         "Time per further output token."},

	{"distribution", "uniform", "list", "", "another form", "[low, high]."},
	{"distribution", "exponential", "object", "", "another form",
         "By its mean."},
	{"distribution", "lognormal", "object", "", "another form",
         "By its own mean and coefficient of variation."},
	{"distribution", "empirical", "list or object", "", "another form",
         "Values, equally likely or with weights."},

	{"distribution.exponential", "mean", "value", "above 0", "",
         "Mean before truncation."},
	{"distribution.exponential", "min", "value", "", "none",
         "Smaller draws are repeated."},
	{"distribution.exponential", "max", "value", "", "none",
         "Larger draws are repeated."},

	{"distribution.lognormal", "mean", "value", "above 0", "",
         "Mean before truncation."},
	{"distribution.lognormal", "cv", "number", "above 0, at most 100", "",
         "Standard deviation over mean."},
	{"distribution.lognormal", "min", "value", "", "none",
         "Smaller draws are repeated."},
	{"distribution.lognormal", "max", "value", "", "none",
         "Larger draws are repeated."},

	{"distribution.empirical", "values", "list", "", "", "The values."},
	{"distribution.empirical", "weights", "list of numbers", "at least 0",
         "all alike", "How often each comes."},

	{"config", "id", "id cr_...", "", "none",
         "The revision's id; in a file, its end is its digest."},
	{"config", "model", "text", "", "none", "The model it runs."},
	{"config", "engine", "word", "", "\"batching\"",
         "How a replica works: batching, service."},
	{"config", "engine_version", "text", "", "none",
         "The software that was measured."},
	{"config", "gpu", "gpu", "", "none", "The GPUs of one replica."},
	{"config", "precision", "text", "", "none", "Of the weights."},
	{"config", "parallelism", "text", "", "none",
         "How the model is spread over the GPUs."},
	{"config", "profile", "text", "", "none",
         "What it is tuned for: latency, balanced, throughput."},
	{"config", "max_num_seqs", "integer", "1 to 65536", "engine service",
         "Batching: most requests that run at once."},
	{"config", "max_num_batched_tokens", "integer", "1 to 16777216",
         "engine service", "Batching: token budget of a step."},
	{"config", "max_model_len", "integer", "0 to 16777216", "0",
         "Batching: most tokens of a request, 0: no limit."},
	{"config", "kv_cache_tokens", "integer", "0 to 1000000000000",
         "never short", "Batching: tokens that the KV cache holds."},
	{"config", "kv_blocks", "integer", "0 to 1000000000000",
         "see kv_cache_tokens", "Batching: the same in blocks."},
	{"config", "block_tokens", "integer", "1 to 65536", "16",
         "Batching: tokens of a KV block."},
	{"config", "queue_cap", "integer", "0 to 1000000000", "0",
         "Most requests that wait, 0: no cap."},
	{"config", "curve", "curve", "", "engine service",
         "Batching: how long a step is."},
	{"config", "servers", "integer", "1 to 1000000", "1",
         "Service: requests served at once."},
	{"config", "service_time", "distribution of durations", "0s to 366d",
         "engine batching", "Service: time of one request."},
	{"config", "source", "text", "", "none",
         "Where its numbers come from."},
	{"config", "error", "text", "", "none",
         "How far it is from what was measured."},

	{"config.gpu", "type", "text", "", "", "The GPU."},
	{"config.gpu", "count", "integer", "1 to 1024", "1", "How many."},

	{"config.curve", "pieces", "list of pieces", "", "",
         "From small steps to large; at most 16."},

	{"config.curve.pieces[]", "upto_tokens", "integer", "1 to 4294967294",
         "no limit (the last piece)", "For steps of at most so many tokens."},
	{"config.curve.pieces[]", "base_us", "number", "0 to 10000000", "",
         "Microseconds of an empty step."},
	{"config.curve.pieces[]", "prefill_token_us", "number", "0 to 1000000",
         "0", "Microseconds a prefill token."},
	{"config.curve.pieces[]", "decode_token_us", "number", "0 to 1000000",
         "0", "Microseconds a decoding request."},
	{"config.curve.pieces[]", "context_token_us", "number", "0 to 1000000",
         "0", "Microseconds a token of context of a decoding request."},
	{"config.curve.pieces[]", "pair_us", "number", "0 to 1000000", "0",
         "Microseconds a pair of tokens that prefill attends."},

	{"profile", "name", "text", "", "", "What the profile is called."},
	{"profile", "source", "text", "", "none",
         "Where the trace came from, and its licence."},
	{"profile", "interval", "duration", "1ms to 366d", "",
         "Length of an interval."},
	{"profile", "requests", "integer", "1 to 1000000000000", "",
         "Rows it was made of."},
	{"profile", "rates_rps", "list of numbers", "0 to 10000000", "",
         "Requests per second in each interval."},
	{"profile", "lengths", "profile.lengths", "", "",
         "Joint quantiles of the lengths."},

	{"profile.lengths", "input", "list of lists", "1 to 10000000", "",
         "A class of input lengths each: evenly spaced quantiles."},
	{"profile.lengths", "output", "list of lists", "1 to 10000000", "",
         "Output lengths of the same classes."},
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

const struct scenario_field *scenario_field(size_t i)
{
	return i < FIELDS ? &fields[i] : NULL;
}

const struct scenario_field *field_find(const char *object, const char *name)
{
	size_t i;

	assert(object != NULL && name != NULL);
	for (i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].name, name) == 0 &&
		    strcmp(fields[i].object, object) == 0)
			return &fields[i];
	return NULL;
}

/*
 * The rest of `inner`'s name when it lies inside `outer` ("" when they are
 * the same), NULL when it does not. All but configs, profiles and
 * distributions lie inside the scenario.
 */
static const char *inside(const char *inner, const char *outer)
{
	size_t n = strlen(outer);

	if (strcmp(inner, outer) == 0)
		return "";
	if (strcmp(outer, "scenario") == 0)
		return strncmp(inner, "config", 6) == 0 ||
		                       strncmp(inner, "profile", 7) == 0 ||
		                       strncmp(inner, "distribution", 12) == 0
		               ? NULL
		               : inner;
	if (strncmp(inner, outer, n) == 0 && inner[n] == '.')
		return inner + n + 1;
	return NULL;
}

/* A field below `object` that is named so, or nearly so. */
static const struct scenario_field *below(const char *object, const char *name)
{
	const char *names[FIELDS], *near;
	size_t i, n = 0;

	for (i = 0; i < FIELDS; i++)
		if (inside(fields[i].object, object) != NULL)
			names[n++] = fields[i].name;
	near = base_nearest(name, names, n);
	for (i = 0; near != NULL && i < FIELDS; i++)
		if (strcmp(fields[i].name, near) == 0 &&
		    inside(fields[i].object, object) != NULL)
			return &fields[i];
	return NULL;
}

/* The names of an object's fields; returns their number. */
static size_t names_of(const char *object, const char **names)
{
	size_t i, n = 0;

	for (i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].object, object) == 0)
			names[n++] = fields[i].name;
	return n;
}

/* The field of `object` itself that is nearest. */
static const char *own(const char *object, const char *name)
{
	const char *names[FIELDS];
	size_t n = names_of(object, names);

	return base_nearest(name, names, n);
}

/* The first object with a field of exactly that name. */
static const char *owner(const char *name)
{
	size_t i;

	for (i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].name, name) == 0)
			return fields[i].object;
	return NULL;
}

static void list_known(const char *object, char *buf, size_t size)
{
	const char *names[FIELDS];
	size_t n = names_of(object, names), i, at = strlen(buf);

	for (i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s",
		                       i == 0 ? "; known are " : ", ",
		                       names[i]);
}

void field_unknown(const char *object, const char *name, char *buf, size_t size)
{
	const struct scenario_field *inner = below(object, name);
	const char *near = own(object, name), *elsewhere = owner(name), *rest;
	bool exact = inner != NULL && strcmp(inner->name, name) == 0;

	assert(size > 64);
	/* An exact name further in means more than a similar one here. */
	if (exact || (inner != NULL && near == NULL && elsewhere == NULL)) {
		rest = inside(inner->object, object);
		snprintf(buf, size, "unknown field; did you mean \"%s%s%s\"?",
		         rest, rest[0] != '\0' ? "." : "", inner->name);
	} else if (near != NULL) {
		snprintf(buf, size, "unknown field; did you mean \"%s\"?",
		         near);
	} else if (elsewhere != NULL) {
		snprintf(buf, size, "unknown field here; it belongs to %s",
		         elsewhere);
	} else {
		snprintf(buf, size, "unknown field");
		list_known(object, buf, size);
	}
}
