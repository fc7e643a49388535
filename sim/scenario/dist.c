/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions: a plain value is a constant, else one of four forms. Every
 * value in one is held to the range of the field it stands in.
 */
#include <assert.h>
#include <math.h>

#include "scenario/scenario_int.h"

/* The least part of a distribution that its min and max may keep: draws
 * outside are repeated, and a run must not spend its time on that. */
#define KEPT_MIN 0.01

static const char *const forms[] = {"uniform", "exponential", "lognormal",
                                    "empirical"};

static bool failed(const struct cursor *c)
{
	return reader_failed(c->reader);
}

/* One value in the unit, in the range of `field`. */
static double value_of(struct cursor *c, enum quantity unit,
                       const struct scenario_field *field)
{
	if (c == NULL)
		return 0;
	c->field = field;
	return unit == QUANTITY_NS ? (double)cursor_duration(c)
	                           : cursor_number(c);
}

static double positive(struct cursor *c, enum quantity unit,
                       const struct scenario_field *field)
{
	double v = value_of(c, unit, field);

	if (c != NULL && !failed(c) && !(v > 0))
		cursor_error(c, "must be above 0");
	return v;
}

/* P(X <= x) of the standard normal, by bisection of its quantile. */
static double normal_cdf(double x)
{
	double low = 1e-12, high = 1 - 1e-12, middle = 0.5;
	int i;

	for (i = 0; i < 60; i++) {
		middle = low + (high - low) / 2;
		if (det_normal_quantile(middle) < x)
			low = middle;
		else
			high = middle;
	}
	return middle;
}

static double cdf(const struct dist *d, double x)
{
	double variance, mu;

	if (x <= 0)
		return 0;
	if (!isfinite(x))
		return 1;
	if (d->kind == DIST_EXPONENTIAL)
		return 1 - det_exp(-x / d->a);
	assert(d->kind == DIST_LOGNORMAL && d->b > 0);
	variance = det_log(1 + d->b * d->b);
	mu = det_log(d->a) - variance / 2;
	return normal_cdf((det_log(x) - mu) / sqrt(variance));
}

/* min and max of a form that has them. */
static void read_bounds(struct cursor *form, enum quantity unit,
                        const struct scenario_field *field, struct dist *d)
{
	struct cursor *min = cursor_member(form, "min");
	struct cursor *max = cursor_member(form, "max");

	d->min = min != NULL ? value_of(min, unit, field) : -INFINITY;
	d->max = max != NULL ? value_of(max, unit, field) : INFINITY;
	if (failed(form))
		return;
	if (d->min > d->max) {
		cursor_error(min, "must not be above max");
		return;
	}
	if (d->kind == DIST_CONSTANT)
		return;
	if (cdf(d, d->max) - cdf(d, d->min) < KEPT_MIN)
		cursor_error(form, "min and max keep less than 1 %% of the "
		                   "distribution");
}

static struct dist read_uniform(struct cursor *form, enum quantity unit,
                                const struct scenario_field *field)
{
	struct dist d = dist_constant(0);
	size_t n = cursor_items(form, 2);

	if (failed(form))
		return d;
	if (n != 2) {
		cursor_error(form, "must be [low, high]");
		return d;
	}
	d.kind = DIST_UNIFORM;
	d.a = value_of(cursor_item(form, 0), unit, field);
	d.b = value_of(cursor_item(form, 1), unit, field);
	if (!failed(form) && d.a > d.b)
		cursor_error(form, "must be [low, high], low first");
	return d;
}

static struct dist read_exponential(struct cursor *form, enum quantity unit,
                                    const struct scenario_field *field)
{
	struct dist d = dist_constant(0);

	if (!cursor_object(form, "distribution.exponential"))
		return d;
	d.kind = DIST_EXPONENTIAL;
	d.a = positive(cursor_member(form, "mean"), unit, field);
	if (!failed(form))
		read_bounds(form, unit, field, &d);
	return d;
}

static struct dist read_lognormal(struct cursor *form, enum quantity unit,
                                  const struct scenario_field *field)
{
	struct dist d = dist_constant(0);

	if (!cursor_object(form, "distribution.lognormal"))
		return d;
	d.kind = DIST_LOGNORMAL;
	d.a = positive(cursor_member(form, "mean"), unit, field);
	d.b = cursor_number(cursor_member(form, "cv"));
	if (!failed(form))
		read_bounds(form, unit, field, &d);
	return d;
}

/* Weights as a rising sum that ends at 1 exactly. */
static void accumulate(struct cursor *list, double *cumulative, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += list != NULL ? cursor_number(cursor_item(list, i)) : 1;
		cumulative[i] = sum;
	}
	if (!(sum > 0)) {
		if (list != NULL)
			cursor_error(list, "must not all be 0");
		return;
	}
	for (i = 0; i < n; i++)
		cumulative[i] = cumulative[i] == sum ? 1 : cumulative[i] / sum;
}

static struct dist read_empirical(struct cursor *form, enum quantity unit,
                                  const struct scenario_field *field)
{
	struct cursor *values = form, *weights = NULL;
	struct arena *arena = form->reader->arena;
	struct dist d = dist_constant(0);
	double *v, *cumulative;
	size_t n, i;

	if (!json_is_array(form->value)) {
		if (!cursor_object(form, "distribution.empirical"))
			return d;
		values = cursor_member(form, "values");
		weights = cursor_member(form, "weights");
	}
	n = cursor_items(values, LIMIT_VALUES);
	if (failed(form))
		return d;
	if (n == 0) {
		cursor_error(values, "must not be empty");
		return d;
	}
	if (weights != NULL && cursor_items(weights, LIMIT_VALUES) != n) {
		cursor_error(weights,
		             "must have as many entries as values: "
		             "%zu",
		             n);
		return d;
	}
	v = arena_new(arena, n, sizeof *v);
	cumulative = arena_new(arena, n, sizeof *cumulative);
	for (i = 0; i < n; i++)
		v[i] = value_of(cursor_item(values, i), unit, field);
	accumulate(weights, cumulative, n);
	d.kind = DIST_EMPIRICAL;
	d.values = v;
	d.cumulative = cumulative;
	d.n = n;
	return d;
}

struct dist cursor_dist(struct cursor *c, enum quantity unit)
{
	static struct dist (*const readers[])(struct cursor *, enum quantity,
	                                      const struct scenario_field *) = {
		read_uniform, read_exponential, read_lognormal, read_empirical};
	const struct scenario_field *field;
	struct cursor *form;
	size_t which;

	if (c == NULL || failed(c))
		return dist_constant(0);
	field = c->field;
	if (!json_is_object(c->value))
		return dist_constant(value_of(c, unit, field));
	if (!cursor_object(c, "distribution"))
		return dist_constant(0);
	which = cursor_one_of(c, forms, 4);
	if (failed(c))
		return dist_constant(0);
	form = cursor_member(c, forms[which]);
	return readers[which](form, unit, field);
}
