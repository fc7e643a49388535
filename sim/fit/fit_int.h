/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fit, inside - what its files share and nobody else sees. */
#ifndef WEIR_FIT_INT_H
#define WEIR_FIT_INT_H

#include "fit/fit.h"

/* The number in the system by Little's law, NAN where the row cannot say. */
double fit_in_system(const struct fit_row *row);

enum { FIT_FORMULA = 5 };

/*
 * The closed formula of fit.h by weighted linear least squares; a
 * coefficient that came out negative is held at 0. The fifth, q, goes to
 * nobody. value: floor, decode, context, prefill, q. Needs FIT_FORMULA rows.
 */
void fit_formula(const struct fit_sweep *s, const uint32_t *row, uint32_t n,
                 double value[FIT_FORMULA]);

/* A start for every parameter, 0 for one that is not to be fitted. */
void fit_begin(const struct fit_sweep *s, const uint32_t *row, uint32_t n,
               double value[FIT_PARAMETERS]);

/* The curve's numbers as the simulator takes them. */
void fit_engine_make(const struct fit_curve *curve, struct fit_engine *out);

#endif
