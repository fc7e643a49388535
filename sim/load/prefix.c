/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "load/load_int.h"

void load_prefix_init(struct prefixes *p, const struct load_spec *spec,
                      struct stream stream)
{
	const struct load_prefix *prefix = &spec->prefix;

	assert(prefix->groups == 0 || prefix->tokens > 0);
	p->stream = stream;
	if (prefix->groups == 0 || spec->kind == LOAD_TRACE)
		return;
	p->tokens = prefix->tokens;
	zipf_init(&p->groups, prefix->groups, prefix->zipf);
}

void load_prefix_draw(struct prefixes *p, struct load_request *r)
{
	if (p->tokens == 0)
		return;
	stream_seek(&p->stream, r->number);
	r->prefix_group = zipf_draw(&p->groups, &p->stream);
	r->prefix_tokens =
		p->tokens < r->input_tokens ? p->tokens : r->input_tokens;
}
