/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>

#include "load/load_int.h"

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* The end without end has no length to multiply by. */
static double piece_total(const struct ramp_piece *p)
{
	if (p->length_ns == TIME_NEVER)
		return p->rate_rps > 0 ? INFINITY : 0;
	return (p->rate_rps + p->target_rps) / 2 * seconds(p->length_ns);
}

/*
 * Seconds into the piece at which y requests lie behind: the root of
 * rate x + slope x^2 / 2 = y, in the form that does not cancel.
 */
static double piece_invert(const struct ramp_piece *p, double y)
{
	double slope = 0, square, root;

	if (y <= 0)
		return 0;
	if (p->length_ns != TIME_NEVER)
		slope = (p->target_rps - p->rate_rps) / seconds(p->length_ns);
	square = p->rate_rps * p->rate_rps + 2 * slope * y;
	/* At the foot of a ramp to 0 the square may round below 0. */
	root = square > 0 ? sqrt(square) : 0;
	return 2 * y / (p->rate_rps + root);
}

static bool ramp_enter(struct ramp *r, size_t i)
{
	struct ramp_piece p;

	if (!r->piece_fn(r->spec, i, &p))
		return false;
	assert(p.length_ns >= 0);
	assert(p.rate_rps >= 0 && p.target_rps >= 0);
	if (i > 0)
		r->start_ns = load_time_add(r->start_ns, r->piece.length_ns);
	r->i = i;
	r->piece = p;
	r->total = piece_total(&p);
	return true;
}

void load_ramp_init(struct ramp *r, ramp_piece_fn *piece_fn,
                    const struct load_spec *spec)
{
	*r = (struct ramp){.piece_fn = piece_fn, .spec = spec};
	if (!ramp_enter(r, 0))
		r->total = 0;
}

int64_t load_ramp_next(struct ramp *r, double gap)
{
	double y = r->done + gap;
	int64_t into_ns;

	assert(gap >= 0);
	/*
	 * At a piece's very end the next one decides: a request due when the
	 * rate has just become 0 waits for the rate to rise.
	 */
	while (y >= r->total) {
		double total = r->total;

		if (!ramp_enter(r, r->i + 1))
			return TIME_NEVER;
		y -= total;
	}
	r->done = y;
	into_ns = load_round_ns(piece_invert(&r->piece, y) * (double)NS_PER_S);
	return load_time_add(r->start_ns, into_ns);
}
