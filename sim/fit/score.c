/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit/fit_int.h"

#include <math.h>

double fit_in_system(const struct fit_row *row)
{
	if (row->littles_l > 0)
		return row->littles_l;
	return row->achieved_rps * row->e2e.mean / 1000;
}

const char *fit_unusable(const struct fit_row *row)
{
	double clients = fit_clients(row);

	if (!(row->isl > 0) || !(row->osl > 0))
		return "says no lengths of input and output";
	if (isnan(clients) ? !(row->offered_rps > 0) : !(clients >= 1))
		return "says neither a number of clients nor a rate";
	if (!(fit_measured(row, FIT_E2E) > 0) &&
	    !(fit_measured(row, FIT_TPOT) > 0))
		return "measures neither a rate nor a latency";
	return NULL;
}

double fit_measured(const struct fit_row *row, enum fit_metric metric)
{
	double n = fit_in_system(row);

	switch (metric) {
	case FIT_RPS:
		if (isfinite(row->achieved_rps))
			return row->achieved_rps;
		return row->out_tok_s / row->osl;
	case FIT_TPOT:
		if (isfinite(row->itl.mean) || !(row->osl > 1))
			return row->itl.mean;
		return (row->e2e.mean - row->ttft.mean) / (row->osl - 1);
	case FIT_TTFT:
		return row->ttft.mean;
	case FIT_E2E:
	default:
		break;
	}
	if (isfinite(row->e2e.mean))
		return row->e2e.mean;
	if (isfinite(row->ttft.mean) && isfinite(row->itl.mean))
		return row->ttft.mean + row->itl.mean * (row->osl - 1);
	n = isfinite(n) ? n : row->concurrency;
	return 1000 * n / fit_measured(row, FIT_RPS);
}

double fit_predicted(const struct fit_prediction *p, enum fit_metric metric)
{
	const double value[FIT_METRICS] = {
		[FIT_RPS] = p->rps,
		[FIT_E2E] = p->e2e.mean,
		[FIT_TPOT] = p->itl.mean,
		[FIT_TTFT] = p->ttft.mean,
	};

	return value[metric];
}

double fit_error(const struct fit_row *row, const struct fit_prediction *p,
                 enum fit_metric metric)
{
	return fit_predicted(p, metric) / fit_measured(row, metric) - 1;
}
