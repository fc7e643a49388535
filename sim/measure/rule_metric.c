/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The metrics and statistics that a rule may name.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "measure/rule_int.h"

enum {
	BY_ALL = TAKES_DEPLOYMENT | TAKES_TRAFFIC | TAKES_REPLICA,
	BY_PLACE = TAKES_DEPLOYMENT | TAKES_REPLICA,
	BY_SHARE = BY_ALL | WANTS_DEPLOYMENT,
	PART = BY_ALL | OF_REQUESTS,
};

static const struct rule_metric metrics[MEASURE_METRICS] = {
	[METRIC_SHARE] = {"share", UNIT_RATIO, KIND_SHARE, BY_SHARE},
	[METRIC_TOKEN_SHARE] = {"token_share", UNIT_RATIO, KIND_SHARE,
                                BY_SHARE},
	[METRIC_REQUESTS] = {"requests", UNIT_COUNT, KIND_COUNT, BY_ALL},
	[METRIC_COMPLETED] = {"completed", UNIT_COUNT, KIND_COUNT, PART},
	[METRIC_ERRORS] = {"errors", UNIT_COUNT, KIND_COUNT, PART},
	[METRIC_TIMEOUTS] = {"timeouts", UNIT_COUNT, KIND_COUNT, PART},
	[METRIC_UNFINISHED] = {"unfinished", UNIT_COUNT, KIND_COUNT, PART},
	[METRIC_DROPPED] = {"dropped", UNIT_COUNT, KIND_COUNT, PART},
	[METRIC_TTFT] = {"ttft", UNIT_NS, KIND_LATENCY, BY_ALL},
	[METRIC_TPOT] = {"tpot", UNIT_NS, KIND_LATENCY, BY_ALL},
	[METRIC_ITL] = {"itl", UNIT_NS, KIND_LATENCY, BY_PLACE},
	[METRIC_E2E] = {"e2e", UNIT_NS, KIND_LATENCY, BY_ALL},
	[METRIC_QUEUE_TIME] = {"queue_time", UNIT_NS, KIND_LATENCY, BY_ALL},
	[METRIC_THROUGHPUT] = {"throughput", UNIT_PER_S, KIND_RATE, BY_ALL},
	[METRIC_RATE] = {"rate", UNIT_PER_S, KIND_RATE, BY_ALL},
	[METRIC_RATE_PER_REPLICA] = {"rate_per_replica", UNIT_PER_S, KIND_RATE,
                                     TAKES_DEPLOYMENT | WANTS_DEPLOYMENT |
                                             TAKES_TRAFFIC},
	[METRIC_READY] = {"replicas.ready", UNIT_COUNT, KIND_GAUGE,
                          TAKES_DEPLOYMENT},
	[METRIC_WANTED] = {"replicas.wanted", UNIT_COUNT, KIND_GAUGE,
                           TAKES_DEPLOYMENT},
	[METRIC_QUEUE] = {"queue", UNIT_COUNT, KIND_GAUGE, BY_PLACE},
	[METRIC_BATCH] = {"batch", UNIT_COUNT, KIND_GAUGE, BY_PLACE},
	[METRIC_IN_FLIGHT] = {"in_flight", UNIT_COUNT, KIND_GAUGE, BY_PLACE},
	[METRIC_MOVED_KEYS] = {"moved_keys", UNIT_RATIO, KIND_MOVED, 0},
	[METRIC_COUNT] = {"count", UNIT_COUNT, KIND_COUNT, TAKES_DEPLOYMENT},
	[METRIC_KEYS_ON_TWO] = {"keys_on_two", UNIT_COUNT, KIND_COUNT,
                                TAKES_TRAFFIC},
};

const char *measure_metric_name(enum measure_metric metric)
{
	return (unsigned)metric < MEASURE_METRICS ? metrics[metric].name : NULL;
}

const struct rule_metric *rule_metric_of(enum measure_metric metric)
{
	assert((unsigned)metric < MEASURE_METRICS);
	return &metrics[metric];
}

int rule_metric_find(const char *word, const char **rest)
{
	int best = -1;
	size_t longest = 0;

	for (int i = 0; i < MEASURE_METRICS; i++) {
		size_t n = strlen(metrics[i].name);

		if (n <= longest || strncmp(word, metrics[i].name, n) != 0 ||
		    (word[n] != '\0' && word[n] != '.'))
			continue;
		longest = n;
		best = i;
		*rest = word[n] == '.' ? word + n + 1 : NULL;
	}
	return best;
}

/* The metric nearest to a word, which may have a statistic behind it. */
static const char *nearest(char *word)
{
	const char *names[MEASURE_METRICS];
	const char *near;
	char *dot = strrchr(word, '.');

	for (size_t i = 0; i < MEASURE_METRICS; i++)
		names[i] = metrics[i].name;
	near = base_nearest(word, names, MEASURE_METRICS);
	/* replicas: one of two */
	for (size_t i = 0; near == NULL && i < MEASURE_METRICS; i++)
		if (strncmp(word, names[i], strlen(word)) == 0)
			near = names[i];
	if (near || dot == NULL)
		return near;
	*dot = '\0';
	return base_nearest(word, names, MEASURE_METRICS);
}

int rule_metric_unknown(struct rule_reader *r)
{
	char word[RULE_WORD_MAX];
	const char *near;

	memcpy(word, r->word, sizeof(word));
	near = nearest(word);
	if (near)
		return rule_fail(r, "\"%s\" is no metric; did you mean \"%s\"?",
		                 word, near);
	return rule_fail(r, "\"%s\" is no metric", r->word);
}

/* ---- statistics -------------------------------------------------------- */

static bool read_quantile(const char *text, double *quantile)
{
	char percent[16];
	size_t n = strlen(text);

	/* The fraction of "99.9%" is the double nearest to 0.999. */
	if (text[0] != 'p' || n < 2 || n >= sizeof(percent))
		return false;
	memcpy(percent, text + 1, n - 1);
	memcpy(percent + n - 1, "%", 2);
	return units_fraction(percent, quantile) == 0 && *quantile > 0 &&
	       *quantile < 1;
}

/* Which statistics a metric has. */
static bool fits(const struct rule_metric *m, enum measure_statistic s)
{
	switch (m->kind) {
	case KIND_LATENCY:
		return s == STAT_MEAN || s == STAT_QUANTILE || s == STAT_MIN ||
		       s == STAT_MAX;
	case KIND_GAUGE:
		return s == STAT_MEAN || s == STAT_MIN || s == STAT_MAX ||
		       s == STAT_AT;
	case KIND_COUNT:
		return s == STAT_RATE && m != &metrics[METRIC_KEYS_ON_TWO];
	default:
		return false;
	}
}

static const char *which(const struct rule_metric *m)
{
	switch (m->kind) {
	case KIND_LATENCY:
		return "it has mean, p50 to p99.9, min and max";
	case KIND_GAUGE:
		return "it has mean, min, max and at";
	case KIND_COUNT:
		return fits(m, STAT_RATE) ? "it has rate" : "it has none";
	default:
		return "it has none";
	}
}

int rule_statistic(struct rule_reader *r, const char *text, size_t begin,
                   struct measure_term *t)
{
	static const struct {
		const char *name;
		enum measure_statistic statistic;
	} names[] = {{"mean", STAT_MEAN},
	             {"min", STAT_MIN},
	             {"max", STAT_MAX},
	             {"rate", STAT_RATE},
	             {"at", STAT_AT}};
	const struct rule_metric *m = &metrics[t->metric];
	enum measure_statistic s = STAT_DEFAULT;

	if (read_quantile(text, &t->quantile))
		s = STAT_QUANTILE;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i].name) == 0)
			s = names[i].statistic;
	if (s == STAT_DEFAULT || !fits(m, s))
		return rule_fail_at(r, begin, "%s has no statistic \"%s\"; %s",
		                    m->name, text, which(m));
	t->statistic = s;
	return 0;
}
