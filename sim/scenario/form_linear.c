/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Step time by three coefficients, as they are published for vLLM: b0 + b1
 * prefill tokens + b2 decode tokens. It knows no contexts, so that long ones
 * come out too fast.
 */
#include "scenario/config_int.h"

static void compile(struct cursor *c, const struct config_hardware *hw,
                    struct replica_curve *out)
{
	struct replica_curve_piece *piece = &out->piece[0];

	(void)hw;
	if (!cursor_object(c, "config.linear"))
		return;
	out->n = 1;
	piece->upto_tokens = UINT32_MAX;
	piece->base_ticks =
		form_ticks(cursor_number(cursor_member(c, "base_us")));
	piece->per_prefill_ticks =
		form_ticks(cursor_number(cursor_member(c, "prefill_token_us")));
	piece->per_decode_ticks =
		form_ticks(cursor_number(cursor_member(c, "decode_token_us")));
}

const struct config_form form_linear = {"linear", false, compile};
