/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a config: what a replica of it can do, and how fast. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "scenario/config_int.h"

__extension__ typedef unsigned __int128 u128;

/* Contexts counted with when a config names no limit of its own. */
#define CONTEXT_MAX UINT64_C(16777216)
/* A step's ticks stay below this, about 52 days. */
#define STEP_MAX ((u128)1 << 62)

/* And without its contexts below this, about 9 minutes. */
#define PLAIN_STEP_MAX ((u128)1 << 49)

/* Blocks that a prefix cache can tell apart: some 700 MB a replica. */
#define CACHE_BLOCKS_MAX (1u << 24)

/* Exactly one of them is in a config of the engine "batching". */
static const struct config_form *const forms[] = {
	&form_curve,
	&form_linear,
	&form_roofline,
};

enum { FORMS = sizeof forms / sizeof forms[0] };

static bool failed(const struct cursor *c)
{
	return reader_failed(c->reader);
}

/* Whether the longest step of a piece is counted without overflow. */
static bool piece_fits(const struct replica_config *r,
                       const struct replica_curve_piece *p)
{
	uint64_t length = r->max_model_len > 0 ? r->max_model_len : CONTEXT_MAX;
	uint64_t decodes = (uint64_t)r->max_num_seqs * (1 + r->draft.tokens);
	/* Drafting comes on top of what the curve says. */
	u128 ticks = (u128)p->base_ticks + (u128)r->draft.step_ticks;

	ticks += (u128)r->draft.per_decode_ticks * r->max_num_seqs;
	ticks += (u128)p->per_prefill_ticks * r->max_num_batched_tokens;
	ticks += (u128)p->per_decode_ticks * decodes;
	if (ticks >= PLAIN_STEP_MAX)
		return false;
	ticks += (u128)p->per_context_ticks * r->max_num_seqs * length;
	ticks += (u128)p->per_pair_ticks * r->max_num_batched_tokens * length;
	return ticks < STEP_MAX;
}

static bool step_fits(const struct replica_config *r)
{
	uint32_t i;

	for (i = 0; i < r->curve.n; i++)
		if (!piece_fits(r, &r->curve.piece[i]))
			return false;
	return !r->curve.has_floor || piece_fits(r, &r->curve.floor);
}

static bool takes_time(const struct replica_curve_piece *p)
{
	return p->base_ticks > 0 ||
	       (p->per_prefill_ticks > 0 && p->per_decode_ticks > 0);
}

static bool any_time(const struct replica_curve *curve)
{
	uint32_t i;

	if (curve->has_floor && takes_time(&curve->floor))
		return true;
	for (i = 0; i < curve->n; i++)
		if (!takes_time(&curve->piece[i]))
			return false;
	return true;
}

static void read_kv(struct cursor *c, const struct config_hardware *hw,
                    struct replica_config *out)
{
	struct cursor *tokens = cursor_member(c, "kv_cache_tokens");
	struct cursor *blocks = cursor_member(c, "kv_blocks");

	out->block_tokens =
		(uint32_t)cursor_integer(cursor_member(c, "block_tokens"));
	if (failed(c))
		return;
	if (tokens != NULL && blocks != NULL) {
		cursor_error(blocks, "and kv_cache_tokens say the same; write "
		                     "one of them");
		return;
	}
	if (blocks == NULL && tokens == NULL && hw->known)
		out->kv_blocks = hardware_kv_blocks(c, hw, out->block_tokens);
	if (blocks != NULL)
		out->kv_blocks = cursor_integer(blocks);
	if (tokens != NULL) {
		out->kv_blocks = cursor_integer(tokens) / out->block_tokens;
		if (!failed(c) && out->kv_blocks == 0)
			cursor_error(tokens,
			             "must hold at least one block of "
			             "%u tokens",
			             out->block_tokens);
	}
}

/* Refuses fields of the other engine. */
static void refuse(struct cursor *c, const char *const *names, size_t n,
                   const char *engine)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cursor_has(c, names[i]))
			cursor_error(cursor_member(c, names[i]),
			             "does not go with the engine \"%s\"",
			             engine);
}

static struct cursor *required(struct cursor *c, const char *name,
                               const char *engine)
{
	struct cursor *member = cursor_member(c, name);

	if (member == NULL && !failed(c))
		cursor_error(c, "needs \"%s\" for the engine \"%s\"", name,
		             engine);
	return member;
}

/* The form of its step time; NULL with an error unless there is one. */
static const struct config_form *form_of(struct cursor *c)
{
	const char *names[FORMS];
	size_t i;

	for (i = 0; i < FORMS; i++)
		names[i] = forms[i]->name;
	i = cursor_one_of(c, names, FORMS);
	return i < FORMS ? forms[i] : NULL;
}

/* Compiles the step time, and holds it to what a replica can count. */
static void read_form(struct cursor *c, const struct config_form *form,
                      const struct config_hardware *hw,
                      struct replica_config *out)
{
	struct cursor *member = cursor_member(c, form->name);

	form->compile(member, hw, &out->curve);
	if (!failed(c) && !step_fits(out))
		cursor_error(member,
		             "makes a full step too long: at most 9 minutes "
		             "without its contexts");
	if (!failed(c) && !any_time(&out->curve))
		cursor_error(member, "has a piece whose steps take no time");
}

static void read_join_wait(struct cursor *c, struct replica_join_wait *out)
{
	if (c == NULL || !cursor_object(c, "config.join_wait"))
		return;
	out->wait_ns = cursor_duration(cursor_member(c, "wait"));
	out->count = (uint32_t)cursor_integer(cursor_member(c, "count"));
}

static void read_stall(struct cursor *c, struct replica_stall *out)
{
	out->duration_ns = dist_constant(0);
	if (c == NULL || !cursor_object(c, "config.stall"))
		return;
	out->per_minute = cursor_number(cursor_member(c, "per_minute"));
	out->above_batch =
		(uint32_t)cursor_integer(cursor_member(c, "above_batch"));
	out->duration_ns =
		cursor_dist(cursor_member(c, "duration"), QUANTITY_NS);
}

/* What needs to know how many KV blocks there are. */
static void read_kv_use(struct cursor *c, struct replica_config *out)
{
	struct cursor *cache = cursor_member(c, "prefix_cache");
	struct cursor *watermark = cursor_member(c, "watermark");
	double part = cursor_number(watermark);

	out->prefix_cache = cursor_boolean(cache);
	if (failed(c))
		return;
	if (out->prefix_cache && out->kv_blocks == 0)
		cursor_error(cache, "needs a KV cache of a known size: give "
		                    "kv_cache_tokens, or a GPU and a model");
	else if (out->prefix_cache && out->kv_blocks > CACHE_BLOCKS_MAX)
		cursor_error(cache, "keeps at most %u KV blocks, not %" PRIu64,
		             CACHE_BLOCKS_MAX, out->kv_blocks);
	else if (part > 0 && out->kv_blocks == 0)
		cursor_error(watermark,
		             "needs a KV cache of a known size: give "
		             "kv_cache_tokens, or a GPU and a model");
	else
		out->watermark_blocks =
			(uint64_t)floor(part * (double)out->kv_blocks);
}

static void read_batching(struct cursor *c, struct replica_config *out)
{
	static const char *const other[] = {"servers", "service_time"};
	const struct config_form *form;
	struct config_hardware hw = {.known = false};

	refuse(c, other, 2, "batching");
	out->max_num_seqs = (uint32_t)cursor_integer(
		required(c, "max_num_seqs", "batching"));
	out->max_num_batched_tokens = (uint32_t)cursor_integer(
		required(c, "max_num_batched_tokens", "batching"));
	out->max_model_len =
		(uint32_t)cursor_integer(cursor_member(c, "max_model_len"));
	read_join_wait(cursor_member(c, "join_wait"), &out->join_wait);
	read_stall(cursor_member(c, "stall"), &out->stall);
	draft_read(cursor_member(c, "draft"), &out->draft);
	out->long_prefill_tokens = (uint32_t)cursor_integer(
		cursor_member(c, "long_prefill_tokens"));
	form = form_of(c);
	if (failed(c))
		return;
	/* Where the numbers say all, a GPU and a model are but labels. */
	if (form->needs_hardware ||
	    (!cursor_has(c, "kv_cache_tokens") && !cursor_has(c, "kv_blocks")))
		hardware_read(c, form->needs_hardware, &hw);
	hardware_fit(c, &hw);
	read_kv(c, &hw, out);
	read_kv_use(c, out);
	if (!failed(c))
		read_form(c, form, &hw, out);
}

static void read_service(struct cursor *c, struct replica_config *out)
{
	static const char *const other[] = {
		"max_num_seqs",  "max_num_batched_tokens",
		"max_model_len", "kv_cache_tokens",
		"kv_blocks",     "block_tokens",
		"curve",         "linear",
		"roofline",      "join_wait",
		"stall",         "draft",
		"prefix_cache",  "long_prefill_tokens",
		"watermark",
	};

	refuse(c, other, sizeof other / sizeof other[0], "service");
	out->servers = (uint32_t)cursor_integer(cursor_member(c, "servers"));
	out->service_ns = cursor_dist(required(c, "service_time", "service"),
	                              QUANTITY_NS);
}

/* What is for the reader only is still held to its type. */
static void read_labels(struct cursor *c)
{
	static const char *const texts[] = {
		"model",     "hf_config",    "engine_version",
		"precision", "kv_precision", "parallelism",
		"profile",   "source",       "error"};
	struct cursor *gpu = cursor_member(c, "gpu"), *reserved;
	size_t i;

	for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
		cursor_text(cursor_member(c, texts[i]));
	if (gpu == NULL || !cursor_object(gpu, "config.gpu"))
		return;
	cursor_text(cursor_member(gpu, "type"));
	cursor_integer(cursor_member(gpu, "count"));
	cursor_number(cursor_member(gpu, "memory_utilization"));
	reserved = cursor_member(gpu, "reserved_gib");
	if (reserved != NULL)
		cursor_number(reserved);
}

void config_read(struct cursor *c, struct replica_config *out)
{
	struct cursor *engine;
	const char *name;

	assert(out != NULL);
	if (!cursor_object(c, "config"))
		return;
	cursor_id(cursor_member(c, "id"), "cr_", NULL);
	read_labels(c);
	engine = cursor_member(c, "engine");
	name = cursor_text(engine);
	if (name == NULL)
		return;
	out->engine = replica_engine_find(name);
	if (out->engine == NULL) {
		cursor_error(engine,
		             "must be one of batching, service, not "
		             "\"%s\"",
		             name);
		return;
	}
	out->service_ns = dist_constant(0);
	out->overhead_ns = cursor_duration(cursor_member(c, "overhead"));
	out->queue_cap = cursor_integer(cursor_member(c, "queue_cap"));
	if (strcmp(name, "service") == 0)
		read_service(c, out);
	else
		read_batching(c, out);
}
