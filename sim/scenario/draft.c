/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speculative decoding of a config: how much is drafted, and how often right.
 */
#include "scenario/config_int.h"

/* One chance for every draft, or a list of one for each. */
static void read_acceptance(struct cursor *c, struct replica_draft *out)
{
	bool each = c != NULL && json_is_array(c->value);
	size_t n = each ? cursor_items(c, REPLICA_DRAFT_MAX) : out->tokens, i;

	if (each && !reader_failed(c->reader) && n != out->tokens)
		cursor_error(c,
		             "must have one number for each of the %u "
		             "tokens, not %zu",
		             out->tokens, n);
	if (c == NULL || reader_failed(c->reader))
		return;
	for (i = 0; i < n; i++)
		out->acceptance[i] =
			cursor_number(each ? cursor_item(c, i) : c);
}

void draft_read(struct cursor *c, struct replica_draft *out)
{
	if (c == NULL || !cursor_object(c, "config.draft"))
		return;
	out->tokens = (uint32_t)cursor_integer(cursor_member(c, "tokens"));
	read_acceptance(cursor_member(c, "acceptance"), out);
	out->lookahead =
		(uint32_t)cursor_integer(cursor_member(c, "lookahead"));
	out->step_ticks =
		form_ticks(cursor_number(cursor_member(c, "step_us")));
	out->per_decode_ticks =
		form_ticks(cursor_number(cursor_member(c, "per_decode_us")));
}
