/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Step time as it was measured: pieces by the tokens of a step. */
#include <assert.h>
#include <math.h>

#include "scenario/config_int.h"

int64_t form_ticks(double us)
{
	assert(us >= 0 && us < 1e12);
	return (int64_t)floor(us * (double)(REPLICA_TICKS_PER_NS * NS_PER_US) +
	                      0.5);
}

static int64_t ticks(struct cursor *c, const char *name)
{
	return form_ticks(cursor_number(cursor_member(c, name)));
}

static void read_piece(struct cursor *c, struct replica_curve_piece *out)
{
	struct cursor *upto;

	if (!cursor_object(c, "config.curve.pieces[]"))
		return;
	upto = cursor_member(c, "upto_tokens");
	out->upto_tokens =
		upto != NULL ? (uint32_t)cursor_integer(upto) : UINT32_MAX;
	out->base_ticks = ticks(c, "base_us");
	out->per_prefill_ticks = ticks(c, "prefill_token_us");
	out->per_decode_ticks = ticks(c, "decode_token_us");
	out->per_context_ticks = ticks(c, "context_token_us");
	out->per_pair_ticks = ticks(c, "pair_us");
}

static void read_floor(struct cursor *c, struct replica_curve *out)
{
	if (c == NULL || !cursor_object(c, "config.curve.floor"))
		return;
	out->has_floor = true;
	out->floor.upto_tokens = UINT32_MAX;
	out->floor.base_ticks = ticks(c, "base_us");
	out->floor.per_prefill_ticks = ticks(c, "prefill_token_us");
	out->floor.per_decode_ticks = ticks(c, "decode_token_us");
	out->floor.per_context_ticks = ticks(c, "context_token_us");
	out->floor.per_pair_ticks = ticks(c, "pair_us");
}

static void compile(struct cursor *c, const struct config_hardware *hw,
                    struct replica_curve *out)
{
	struct cursor *list, *item;
	size_t n, i;

	(void)hw;
	if (!cursor_object(c, "config.curve"))
		return;
	list = cursor_member(c, "pieces");
	n = cursor_items(list, REPLICA_CURVE_PIECES);
	if (!reader_failed(c->reader) && n == 0)
		cursor_error(list, "is empty");
	for (i = 0; i < n && !reader_failed(c->reader); i++) {
		item = cursor_item(list, i);
		read_piece(item, &out->piece[i]);
		if (reader_failed(c->reader))
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
	read_floor(cursor_member(c, "floor"), out);
}

const struct config_form form_curve = {"curve", false, compile};
