/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a config: what a replica of it can do, and how fast. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "scenario/scenario_int.h"

__extension__ typedef unsigned __int128 u128;

/* Contexts counted with when a config names no limit of its own. */
#define CONTEXT_MAX UINT64_C(16777216)
/* A step's ticks stay below this, about 52 days. */
#define STEP_MAX ((u128)1 << 62)

static bool failed(const struct cursor *c)
{
	return reader_failed(c->reader);
}

static int64_t read_ticks(struct cursor *piece, const char *name)
{
	const double per_us = (double)(REPLICA_TICKS_PER_NS * NS_PER_US);

	return (int64_t)floor(
		cursor_number(cursor_member(piece, name)) * per_us + 0.5);
}

static void read_piece(struct cursor *c, struct replica_curve_piece *out)
{
	struct cursor *upto;

	if (!cursor_object(c, "config.curve.pieces[]"))
		return;
	upto = cursor_member(c, "upto_tokens");
	out->upto_tokens =
		upto != NULL ? (uint32_t)cursor_integer(upto) : UINT32_MAX;
	out->base_ticks = read_ticks(c, "base_us");
	out->per_prefill_ticks = read_ticks(c, "prefill_token_us");
	out->per_decode_ticks = read_ticks(c, "decode_token_us");
	out->per_context_ticks = read_ticks(c, "context_token_us");
	out->per_pair_ticks = read_ticks(c, "pair_us");
}

static void read_curve(struct cursor *c, struct replica_curve *out)
{
	struct cursor *list, *item;
	size_t n, i;

	if (!cursor_object(c, "config.curve"))
		return;
	list = cursor_member(c, "pieces");
	n = cursor_items(list, REPLICA_CURVE_PIECES);
	if (!failed(c) && n == 0)
		cursor_error(list, "is empty");
	for (i = 0; i < n && !failed(c); i++) {
		item = cursor_item(list, i);
		read_piece(item, &out->piece[i]);
		if (failed(c))
			break;
		if (i > 0 &&
		    out->piece[i].upto_tokens <= out->piece[i - 1].upto_tokens)
			cursor_error(item, "must have more upto_tokens than "
			                   "the piece before");
		if (i + 1 == n && out->piece[i].upto_tokens != UINT32_MAX)
			cursor_error(item, "is the last piece and must hold "
			                   "for any step: leave upto_tokens "
			                   "out");
	}
	out->n = (uint32_t)n;
}

/* Whether the longest step there can be is counted without overflow. */
static bool step_fits(const struct replica_config *r)
{
	uint64_t length = r->max_model_len > 0 ? r->max_model_len : CONTEXT_MAX;
	const struct replica_curve_piece *p;
	u128 ticks;
	uint32_t i;

	for (i = 0; i < r->curve.n; i++) {
		p = &r->curve.piece[i];
		ticks = (u128)p->base_ticks;
		ticks += (u128)p->per_prefill_ticks * r->max_num_batched_tokens;
		ticks += (u128)p->per_decode_ticks * r->max_num_seqs;
		ticks += (u128)p->per_context_ticks * r->max_num_seqs * length;
		ticks += (u128)p->per_pair_ticks * r->max_num_batched_tokens *
		         length;
		if (ticks >= STEP_MAX)
			return false;
	}
	return true;
}

static bool any_time(const struct replica_curve *curve)
{
	uint32_t i;

	for (i = 0; i < curve->n; i++)
		if (curve->piece[i].base_ticks == 0 &&
		    (curve->piece[i].per_prefill_ticks == 0 ||
		     curve->piece[i].per_decode_ticks == 0))
			return false;
	return true;
}

static void read_kv(struct cursor *c, struct replica_config *out)
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

static void read_batching(struct cursor *c, struct replica_config *out)
{
	static const char *const other[] = {"servers", "service_time"};
	struct cursor *curve;

	refuse(c, other, 2, "batching");
	out->max_num_seqs = (uint32_t)cursor_integer(
		required(c, "max_num_seqs", "batching"));
	out->max_num_batched_tokens = (uint32_t)cursor_integer(
		required(c, "max_num_batched_tokens", "batching"));
	out->max_model_len =
		(uint32_t)cursor_integer(cursor_member(c, "max_model_len"));
	read_kv(c, out);
	curve = required(c, "curve", "batching");
	read_curve(curve, &out->curve);
	if (!failed(c) && !step_fits(out))
		cursor_error(curve, "makes a full step longer than 52 days");
	if (!failed(c) && !any_time(&out->curve))
		cursor_error(curve, "has a piece whose steps take no time");
}

static void read_service(struct cursor *c, struct replica_config *out)
{
	static const char *const other[] = {
		"max_num_seqs",  "max_num_batched_tokens",
		"max_model_len", "kv_cache_tokens",
		"kv_blocks",     "block_tokens",
		"curve",
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
		"model",   "engine_version", "precision", "parallelism",
		"profile", "source",         "error"};
	struct cursor *gpu = cursor_member(c, "gpu");
	size_t i;

	for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
		cursor_text(cursor_member(c, texts[i]));
	if (gpu == NULL || !cursor_object(gpu, "config.gpu"))
		return;
	cursor_text(cursor_member(gpu, "type"));
	cursor_integer(cursor_member(gpu, "count"));
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
	out->queue_cap = cursor_integer(cursor_member(c, "queue_cap"));
	if (strcmp(name, "service") == 0)
		read_service(c, out);
	else
		read_batching(c, out);
}
