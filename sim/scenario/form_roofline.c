/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Step time from the GPU and the model: the host's part, then the longer of
 * computing and moving (weights once, KV of the decodes), then all-reduces.
 * Prefill and decode share one pass. With n tokens, D decodes of summed
 * contexts S and A pairs of tokens that the prefill attends:
 *
 *   FLOP  = 2 n weights of the layers + 2 D vocabulary hidden
 *           + 4 layers heads head_dim (A + S)
 *   bytes = weights read + KV bytes a token (S + D)
 *
 * (Williams et al., "Roofline", CACM 52(4), 2009; the counts are those of a
 * dense decoder with grouped queries and a gated feed-forward.) The tokens of
 * an all-reduce travel 2 (p - 1) / p times as a ring moves them.
 */
#include "scenario/config_int.h"

/* Numbers of 16 bits pass between GPUs at any precision of the weights. */
#define ACTIVATION_BYTES 2.0

#define US_PER_S 1e6

struct terms {
	double base_us;
	double token_us; /* a token of either kind */
	double decode_us;
	double context_us;
	double pair_us;
};

static double number(struct cursor *c, const char *name)
{
	return cursor_number(cursor_member(c, name));
}

/* Weights of one layer: attention and feed-forward. */
static double layer_weights(const struct config_model *m)
{
	double attention =
		2 * m->heads * m->head_dim + 2 * m->kv_heads * m->head_dim;

	return m->hidden * attention + 3 * m->hidden * m->intermediate;
}

static struct terms compute(const struct config_hardware *hw, double mfu)
{
	const struct config_model *m = &hw->model;
	double us = US_PER_S / (mfu * hw->peak_flops * hw->gpus);
	struct terms t = {0};

	t.token_us = 2 * m->layers * layer_weights(m) * us;
	t.decode_us = 2 * m->vocabulary * m->hidden * us;
	t.pair_us = 4 * m->layers * m->heads * m->head_dim * us;
	t.context_us = t.pair_us;
	return t;
}

static struct terms memory(const struct config_hardware *hw, double efficiency)
{
	const struct config_model *m = &hw->model;
	double us = US_PER_S / (efficiency * hw->gpu.bytes_s * hw->gpus);
	double weights =
		m->layers * layer_weights(m) + m->vocabulary * m->hidden;
	struct terms t = {0};

	t.base_us = weights * hw->weight_bytes * us;
	t.context_us =
		2 * m->layers * m->kv_heads * m->head_dim * hw->kv_bytes * us;
	t.decode_us = t.context_us;
	return t;
}

/* What adds to either: the host and the all-reduces, two a layer. */
static struct terms shared(struct cursor *c, const struct config_hardware *hw)
{
	const struct config_model *m = &hw->model;
	struct terms t = {0};
	double p = hw->gpus;

	t.base_us = number(c, "base_us") + m->layers * number(c, "layer_us");
	t.decode_us = number(c, "request_us");
	if (hw->gpus == 1)
		return t;
	t.base_us += 2 * m->layers * number(c, "allreduce_us");
	t.token_us = 2 * m->layers * m->hidden * ACTIVATION_BYTES * 2 *
	             (p - 1) / p * US_PER_S / hw->gpu.nvlink_bytes_s;
	return t;
}

static struct replica_curve_piece sum(const struct terms *a,
                                      const struct terms *b)
{
	double token = a->token_us + b->token_us;
	struct replica_curve_piece piece = {
		.upto_tokens = UINT32_MAX,
		.base_ticks = form_ticks(a->base_us + b->base_us),
		.per_prefill_ticks = form_ticks(token),
		.per_decode_ticks =
			form_ticks(token + a->decode_us + b->decode_us),
		.per_context_ticks = form_ticks(a->context_us + b->context_us),
		.per_pair_ticks = form_ticks(a->pair_us + b->pair_us),
	};

	return piece;
}

static void compile(struct cursor *c, const struct config_hardware *hw,
                    struct replica_curve *out)
{
	struct terms add, computing, moving;
	double mfu, efficiency;

	if (!cursor_object(c, "config.roofline"))
		return;
	if (hw->gpus > 1 && hw->gpu.nvlink_bytes_s <= 0) {
		cursor_error(c, "has several GPUs, and gpus.json gives theirs "
		                "no nvlink_gb_s");
		return;
	}
	add = shared(c, hw);
	mfu = number(c, "mfu");
	efficiency = number(c, "bandwidth_efficiency");
	if (reader_failed(c->reader))
		return;
	computing = compute(hw, mfu);
	moving = memory(hw, efficiency);
	out->n = 1;
	out->piece[0] = sum(&computing, &add);
	out->has_floor = true;
	out->floor = sum(&moving, &add);
}

const struct config_form form_roofline = {"roofline", true, compile};
