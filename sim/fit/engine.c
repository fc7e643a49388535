/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A curve's parameters as the pieces the simulator takes. The lone context's
 * term falls with the number of sequences, so it is stepped: each piece has
 * that of its middle.
 */
#include "fit/fit_int.h"

#include <assert.h>
#include <math.h>

const char *fit_parameter_name(enum fit_parameter p)
{
	static const char *const name[FIT_PARAMETERS] = {
		"floor",         "decode token", "context token",
		"prefill token", "lone context", "knee",
		"pair",          "overhead",     "KV cache",
	};

	assert(p < FIT_PARAMETERS);
	return name[p];
}

const char *fit_parameter_unit(enum fit_parameter p)
{
	return p == FIT_KV ? "tokens" : "us";
}

static int64_t ticks(double us)
{
	return (int64_t)floor(us * 1000 * (double)REPLICA_TICKS_PER_NS + 0.5);
}

/* Ends of the pieces; one of them gives way to the knee. */
static const uint32_t UPTO[REPLICA_CURVE_PIECES] = {
	1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, UINT32_MAX};

static void make_pieces(const double *v, struct replica_curve *out)
{
	/* No further than prefill would take all of the floor. */
	double most = floor(v[FIT_FLOOR] / v[FIT_PREFILL]);
	uint32_t knee = (uint32_t)fmin(floor(v[FIT_KNEE] + 0.5), most);
	uint32_t place = 0, low = 1;

	out->n = REPLICA_CURVE_PIECES;
	for (uint32_t i = 0; i + 1 < out->n; i++)
		if (knee > 0 && fabs(log((double)UPTO[i] / knee)) <
		                        fabs(log((double)UPTO[place] / knee)))
			place = i;
	for (uint32_t i = 0; i < out->n; i++) {
		uint32_t upto = knee > 0 && i == place ? knee : UPTO[i];
		double above = low > knee ? 1 : 0;
		double middle = sqrt((double)low * upto);

		out->piece[i] = (struct replica_curve_piece){
			.upto_tokens = upto,
			.base_ticks = ticks(v[FIT_FLOOR] -
		                            above * v[FIT_PREFILL] * knee),
			.per_prefill_ticks = ticks(above * v[FIT_PREFILL]),
			.per_decode_ticks =
				ticks(v[FIT_DECODE] +
		                      above * v[FIT_PREFILL] * (knee > 0)),
			.per_context_ticks =
				ticks(v[FIT_CONTEXT] + v[FIT_LONE] / middle),
			.per_pair_ticks = ticks(v[FIT_PAIR]),
		};
		low = upto + 1;
	}
}

void fit_engine_make(const struct fit_curve *curve, struct fit_engine *out)
{
	const double *v = curve->value;

	*out = (struct fit_engine){
		.config = {.engine = replica_engine_find("batching"),
	                   .max_num_seqs = curve->max_num_seqs,
	                   .max_num_batched_tokens =
	                           curve->max_num_batched_tokens,
	                   .block_tokens = 16,
	                   .kv_blocks = (uint64_t)(v[FIT_KV] / 16)},
		.request_overhead_ns =
			(int64_t)floor(v[FIT_OVERHEAD] * 1000 + 0.5),
		.length_spread = curve->length_spread,
	};
	out->config.service_ns = dist_constant(0);
	make_pieces(v, &out->config.curve);
}
