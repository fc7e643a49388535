/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An autoscaler keeps its bounds, windows and limits: min <= wanted <= max
 * at every look, no change against a recommendation that is within its
 * window, no more than the rules allow over any period. Held over 10^4
 * random histories of signals, outages and slow starts, each with random
 * settings, and judged from what it wished alone, not from its memory.
 */
#include "event/event.h"
#include "unit/scale_rig.h"

enum { HISTORIES = 10000, LOOKS = 80 };

struct history {
	struct rig rig;
	struct stream stream;
	struct scale_wish wishes[LOOKS];
	int n;
};

static uint32_t below(struct stream *s, uint32_t n)
{
	return (uint32_t)(stream_u64(s) % n);
}

static void random_direction(struct stream *s, struct scale_direction *d)
{
	uint32_t i;

	d->window_ns = below(s, 3) * below(s, 200) * NS_PER_S;
	d->select = (enum scale_select)(below(s, 20) == 0 ? 2 : below(s, 2));
	d->n = 1 + below(s, 3);
	for (i = 0; i < d->n; i++) {
		d->rules[i] = (struct scale_rule){
			.type = below(s, 2) ? SCALE_PODS : SCALE_PERCENT,
			.value = 1 + below(s, 10),
			.period_ns = (1 + below(s, 400)) * NS_PER_S,
		};
		if (d->rules[i].type == SCALE_PERCENT)
			d->rules[i].value *= 10;
	}
}

static void random_policy(struct history *h, enum scale_kind kind)
{
	struct scale_policy *p = &h->rig.policy;
	struct stream *s = &h->stream;

	scale_defaults(kind, p);
	p->min = 1 + below(s, 4);
	p->max = p->min + below(s, 30);
	p->tick_ns = (1 + below(s, 60)) * NS_PER_S;
	random_direction(s, &p->up);
	random_direction(s, &p->down);
	p->metrics[0].target = 1 + below(s, 16);
	if (kind == SCALE_HPA || kind == SCALE_PLATFORM)
		p->metrics[0].id = (enum scale_metric_id)below(s, 2);
	if (kind == SCALE_KPA)
		p->kpa.down_delay_ns = below(s, 2) * below(s, 300) * NS_PER_S;
	p->ray.up_delay_ns = below(s, 120) * NS_PER_S;
	p->ray.down_delay_ns = below(s, 300) * NS_PER_S;
	p->kubeai.mean_window_ns = p->tick_ns * (1 + below(s, 20));
	p->kubeai.down_delay_ns = below(s, 200) * NS_PER_S;
}

/* Load that drifts and jumps, outages, and starts that take their time. */
static void live(struct history *h, enum scale_kind kind)
{
	struct rig *r = &h->rig;
	struct stream *s = &h->stream;
	double load = below(s, 300);

	random_policy(h, kind);
	rig_begin(r,
	          r->policy.min + below(s, 1 + r->policy.max - r->policy.min));
	r->cold = true;
	for (h->n = 0; h->n < LOOKS; h->n++) {
		if (below(s, 8) == 0)
			load = below(s, 2) * below(s, 500);
		r->signal.missing = below(s, 10) == 0;
		r->signal.idle = below(s, 15) == 0;
		r->signal.recent = load * (0.5 + below(s, 100) / 50.0);
		(void)rig_look(r, load);
		h->wishes[h->n] = r->last;
		if (r->ready > r->wanted)
			r->ready = r->wanted;
		r->ready += below(s, 1 + r->wanted - r->ready);
		r->starting = r->wanted - r->ready;
	}
	rig_end(r);
}

static void keeps_bounds(const struct history *h)
{
	const struct scale_policy *p = &h->rig.policy;
	int i;

	for (i = 0; i < LOOKS; i++)
		assert_in_range(h->wishes[i].wanted, p->min, p->max);
}

/* Is a look of that age in the window? Its far end may count or not. */
static bool within(int64_t age_ns, int64_t window_ns, bool inclusive)
{
	return inclusive ? age_ns <= window_ns : age_ns < window_ns;
}

/*
 * Against the recommendations of the window, of which the first look has
 * one more: what was there. kubernetes: the window's far end does not
 * count, and neither does an outage.
 */
static void keeps_window(const struct history *h, int i, bool kubernetes)
{
	const struct scale_policy *p = &h->rig.policy;
	const struct scale_wish *w = &h->wishes[i];
	uint32_t most = w->recommendation, least = most;
	int j;

	for (j = 0; j < i; j++) {
		const struct scale_wish *o = &h->wishes[j];
		int64_t age_ns = w->at_ns - o->at_ns;
		bool counts = !kubernetes || o->reason != SCALE_NO_METRIC;
		uint32_t high = o->recommendation, low = high;

		if (j == 0 && o->before > high)
			high = o->before;
		if (j == 0 && o->before < low)
			low = o->before;
		if (!counts && j > 0)
			continue;
		if (within(age_ns, p->down.window_ns, !kubernetes) &&
		    high > most)
			most = high;
		if (within(age_ns, p->up.window_ns, !kubernetes) && low < least)
			least = low;
	}
	if (w->wanted < w->before)
		assert_true(w->wanted >= most || w->wanted == p->max);
	if (w->wanted > w->before)
		assert_true(w->wanted <= least || w->wanted == p->min);
}

static void keeps_windows(const struct history *h, bool kubernetes)
{
	int i;

	for (i = 0; i < LOOKS; i++) {
		if (h->wishes[i].reason != SCALE_NO_METRIC)
			keeps_window(h, i, kubernetes);
	}
}

/* What was wished when the period began that ends at look i. */
static uint32_t start_of(const struct history *h, int i, int64_t period_ns)
{
	uint32_t start = h->wishes[0].before;
	int j;

	for (j = 0; j < i; j++) {
		if (h->wishes[j].at_ns <= h->wishes[i].at_ns - period_ns)
			start = h->wishes[j].wanted;
	}
	return start;
}

/*
 * How many a rule lets be added to, or taken from, `start`. The platform
 * rounds the change off; Kubernetes the new count, to one more at most.
 */
static double budget(const struct scale_rule *rule, uint32_t start,
                     bool platform)
{
	double share = (double)start * rule->value / 100;

	if (rule->type == SCALE_PODS)
		return rule->value;
	if (platform)
		return share < 1 ? 1 : (double)(uint64_t)share;
	return share + 1;
}

static void keeps_rates(const struct history *h, bool platform)
{
	const struct scale_policy *p = &h->rig.policy;
	uint32_t k;
	int i;

	for (i = 0; i < LOOKS; i++) {
		const struct scale_wish *w = &h->wishes[i];
		bool up = w->wanted > w->before;
		const struct scale_direction *d = up ? &p->up : &p->down;
		uint32_t kept = 0;

		if (w->wanted == w->before)
			continue;
		assert_int_not_equal(d->select, SCALE_SELECT_DISABLED);
		for (k = 0; k < d->n; k++) {
			const struct scale_rule *rule = &d->rules[k];
			uint32_t start = start_of(h, i, rule->period_ns);
			double moved = up ? (double)w->wanted - start
			                  : (double)start - w->wanted;

			kept += moved <= budget(rule, start, platform);
		}
		assert_true(kept >= 1);
		if (d->select == SCALE_SELECT_MIN)
			assert_int_equal(kept, d->n);
	}
}

/* ---- each algorithm ---------------------------------------------------- */

static void over_histories(enum scale_kind kind, int n,
                           void (*law)(const struct history *h))
{
	struct history h;
	int i;

	for (i = 0; i < n; i++) {
		memset(&h, 0, sizeof h);
		h.stream = stream_open(17, (uint64_t)i, (uint64_t)kind,
		                       STREAM_ARRIVAL);
		live(&h, kind);
		keeps_bounds(&h);
		law(&h);
	}
}

static void platform_law(const struct history *h)
{
	keeps_windows(h, false);
	keeps_rates(h, true);
}

static void hpa_law(const struct history *h)
{
	keeps_windows(h, true);
	keeps_rates(h, false);
}

/* Half at a time, and never less while it panics. */
static void kpa_law(const struct history *h)
{
	const struct scale_policy *p = &h->rig.policy;
	int i;

	for (i = 0; i < LOOKS; i++) {
		const struct scale_wish *w = &h->wishes[i];

		if (w->reason == SCALE_NO_METRIC)
			continue;
		assert_true(w->limited >= (uint32_t)((w->ready ? w->ready : 1) /
		                                     p->kpa.max_down_rate));
		if (i > 0 && w->panic && h->wishes[i - 1].panic)
			assert_true(w->limited >= h->wishes[i - 1].limited ||
			            p->kpa.down_delay_ns > 0);
	}
}

/* A change comes only after the delay of results that all say so. */
static void ray_law(const struct history *h)
{
	const struct scale_policy *p = &h->rig.policy;
	int64_t since_ns = 0;
	int i, way = 0;

	for (i = 0; i < LOOKS; i++) {
		const struct scale_wish *w = &h->wishes[i];
		uint32_t want = w->recommendation;
		int now;

		if (w->reason == SCALE_NO_METRIC || w->ready == 0)
			continue;
		want = want < p->min ? p->min : want > p->max ? p->max : want;
		now = want > w->before ? 1 : want < w->before ? -1 : 0;
		if (now != way)
			since_ns = w->at_ns;
		way = now;
		if (w->wanted == w->before)
			continue;
		assert_int_equal(w->wanted, want);
		assert_true(
			w->at_ns - since_ns >=
			(now > 0 ? p->ray.up_delay_ns : p->ray.down_delay_ns) -
				NS_PER_US);
		way = 0;
	}
}

/* Less only after that many lower results in a row, and this one. */
static void kubeai_law(const struct history *h)
{
	const struct scale_policy *p = &h->rig.policy;
	int64_t lower = 0;
	int i;

	for (i = 0; i < LOOKS; i++) {
		const struct scale_wish *w = &h->wishes[i];

		if (w->reason == SCALE_NO_METRIC)
			continue;
		if (w->wanted < w->before)
			assert_true(lower * p->tick_ns >=
			            p->kubeai.down_delay_ns);
		if (w->wanted < w->before || w->reason == SCALE_DOWN_WINDOW)
			lower++;
		else
			lower = 0;
	}
}

static void platform_keeps_bounds_windows_and_rates(void **state)
{
	(void)state;
	over_histories(SCALE_PLATFORM, HISTORIES, platform_law);
}

static void hpa_keeps_bounds_windows_and_rates(void **state)
{
	(void)state;
	over_histories(SCALE_HPA, HISTORIES, hpa_law);
}

static void keda_keeps_bounds_windows_and_rates(void **state)
{
	(void)state;
	over_histories(SCALE_KEDA, HISTORIES, hpa_law);
}

static void kpa_keeps_bounds_rates_and_its_panic(void **state)
{
	(void)state;
	over_histories(SCALE_KPA, HISTORIES, kpa_law);
}

static void ray_keeps_bounds_and_delays(void **state)
{
	(void)state;
	over_histories(SCALE_RAY, HISTORIES, ray_law);
}

static void kubeai_keeps_bounds_and_its_count(void **state)
{
	(void)state;
	over_histories(SCALE_KUBEAI, HISTORIES, kubeai_law);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(platform_keeps_bounds_windows_and_rates),
		cmocka_unit_test(hpa_keeps_bounds_windows_and_rates),
		cmocka_unit_test(keda_keeps_bounds_windows_and_rates),
		cmocka_unit_test(kpa_keeps_bounds_rates_and_its_panic),
		cmocka_unit_test(ray_keeps_bounds_and_delays),
		cmocka_unit_test(kubeai_keeps_bounds_and_its_count),
	};

	return cmocka_run_group_tests_name("law_scale", tests, NULL, NULL);
}
