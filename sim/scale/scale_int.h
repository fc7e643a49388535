/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scale_int - what the files of scale share: the memory of an autoscaler,
 * the table's struct, windows, limits of the rate, and the replica
 * calculator.
 */
#ifndef WEIR_SCALE_INT_H
#define WEIR_SCALE_INT_H

#include "scale/scale.h"

/* No recommendation is above this, as in autoscaling/v2. */
#define SCALE_COUNT_MAX 2147483647.0
/* The longest delays that may be set. */
#define SCALE_DAY_NS (86400 * NS_PER_S)

/* ---- logs -------------------------------------------------------------- */

/* Something that was so at a time. */
struct scale_mark {
	int64_t at_ns;
	double value;
};

/* A ring of marks, oldest first, within the state's marks. */
struct scale_log {
	uint32_t offset; /* in the marks */
	uint32_t capacity;
	uint32_t first;
	uint32_t n;
};

/* kpa: is there a replica that traffic is meant for? */
enum scale_phase { SCALE_INACTIVE, SCALE_ACTIVATING, SCALE_ACTIVE };

struct scale_state {
	bool begun;             /* false during the first tick */
	int64_t begun_ns;       /* the first tick's time */
	int64_t now_ns;         /* the last tick's */
	struct scale_log log;   /* recommendations; kpa's delay; samples */
	struct scale_log ups;   /* replicas added */
	struct scale_log downs; /* replicas removed */

	/* kpa */
	bool panic;
	int64_t panic_ns; /* when last over the threshold */
	uint32_t panic_max;
	enum scale_phase phase;
	int64_t phase_ns; /* since when */

	/* keda */
	bool polled;
	int64_t poll_ns; /* the last poll */
	bool was_active; /* at any poll */
	int64_t last_active_ns;
	bool is_active;    /* at the last poll */
	uint32_t failures; /* in a row */

	/* ray: which way since when, in a row; 0: neither */
	int way;
	int64_t way_ns;

	uint32_t downs_in_a_row; /* kubeai */

	struct scale_mark marks[];
};

/* The mark `i` from the oldest. */
const struct scale_mark *scale_log_at(const struct scale_state *s,
                                      const struct scale_log *log, uint32_t i);
/* Puts a mark at the end; there must be room. */
void scale_log_add(struct scale_state *s, struct scale_log *log, int64_t at_ns,
                   double value);
/* Drops the oldest marks that are before `from_ns`. */
void scale_log_drop(struct scale_state *s, struct scale_log *log,
                    int64_t from_ns);
/* The greatest value at or after `from_ns`, or `least`. */
double scale_log_max(const struct scale_state *s, const struct scale_log *log,
                     int64_t from_ns, double least);
/* The smallest value at or after `from_ns`, or `most`. */
double scale_log_min(const struct scale_state *s, const struct scale_log *log,
                     int64_t from_ns, double most);
/* The sum of the values at or after `from_ns`. */
double scale_log_sum(const struct scale_state *s, const struct scale_log *log,
                     int64_t from_ns);
/* Marks that a log needs that spans `span_ns`, one a tick. */
uint32_t scale_log_room(int64_t span_ns, int64_t tick_ns);

/* ---- the table --------------------------------------------------------- */

/* How many marks each log of an algorithm needs. */
struct scale_room {
	uint32_t log;
	uint32_t changes; /* each of ups and downs */
};

struct scale_algorithm {
	const char *name;
	const char *about;
	uint32_t wake; /* see scale_wake */
	bool metrics;  /* looks at metrics */
	bool many;     /* at more than one */
	bool zero;     /* min may be 0 with a max above 0 */
	/* Changes what differs from the settings common to all. */
	void (*defaults)(struct scale_policy *policy);
	/* Its own part of scale_check; may be NULL. */
	int (*check)(const struct scale_policy *policy, const char *path,
	             struct err *err);
	/* May be NULL: no log. */
	struct scale_room (*room)(const struct scale_policy *policy);
	/*
	 * Fills recommendation, stable, limited, wanted and reason; the rest
	 * of the record is filled already. What scale_tick does afterwards:
	 * write down the change in ups and downs, if it has room for them.
	 */
	void (*tick)(const struct scale_policy *policy, struct scale_state *s,
	             const struct scale_snapshot *snap, struct scale_wish *w);
};

extern const struct scale_algorithm scale_fixed;
extern const struct scale_algorithm scale_platform;
extern const struct scale_algorithm scale_hpa;
extern const struct scale_algorithm scale_kpa;
extern const struct scale_algorithm scale_keda;
extern const struct scale_algorithm scale_ray;
extern const struct scale_algorithm scale_kubeai;
extern const struct scale_algorithm scale_schedule;
extern const struct scale_algorithm scale_oracle;

const struct scale_algorithm *scale_algorithm(enum scale_kind kind);

/* ---- shared steps ------------------------------------------------------ */

/* Whole replicas from a percentage: how the two families round. */
enum scale_rounding {
	SCALE_ROUND_HPA,      /* the new count: up rounds up, down rounds off */
	SCALE_ROUND_PLATFORM, /* the change: rounded off, but at least 1 */
};

/* x rounded up, within 0 and SCALE_COUNT_MAX; a NAN counts as 0. */
uint32_t scale_count(double x);
uint32_t scale_least(uint32_t a, uint32_t b);
uint32_t scale_most(uint32_t a, uint32_t b);

/* Sets recommendation, stable and limited to what is in force. */
void scale_hold(struct scale_wish *w, enum scale_reason reason);
/* Sets them to `n`, whatever windows and limits say. */
void scale_settle(struct scale_wish *w, uint32_t n, enum scale_reason reason);
/* A signal as a number: 0 when idle, NAN when missing. */
double scale_value(const struct scale_signal *signal);
/* Puts a report at `path`.`field`; returns -1. */
int scale_wrong(struct err *err, const char *path, const char *field,
                const char *fmt, ...) BASE_PRINTF(4, 5);
/* Is a duration of a field within its range? 0 or -1 with a report. */
int scale_check_time(struct err *err, const char *path, const char *field,
                     int64_t ns, int64_t least_ns, int64_t most_ns);

/*
 * Three steps of most algorithms, each giving the reason when it changes
 * something. From w->recommendation to w->stable: at least `least`, at most
 * `most`, else as it is.
 */
void scale_stabilize(struct scale_wish *w, uint32_t least, uint32_t most);
/* From w->stable to w->limited, by the rules of both directions. */
void scale_limit(const struct scale_policy *policy, const struct scale_state *s,
                 const struct scale_snapshot *snap,
                 enum scale_rounding rounding, struct scale_wish *w);
/* From w->limited to w->wanted: the bounds. */
void scale_bound(const struct scale_policy *policy, struct scale_wish *w);

/*
 * The highest (lowest) count that the rules of the direction allow now,
 * given what was added and removed within their periods. Never on the other
 * side of `current`.
 */
uint32_t scale_limit_up(const struct scale_direction *up,
                        const struct scale_state *s,
                        const struct scale_snapshot *snap,
                        enum scale_rounding rounding);
uint32_t scale_limit_down(const struct scale_direction *down,
                          const struct scale_state *s,
                          const struct scale_snapshot *snap,
                          enum scale_rounding rounding);
/*
 * Replicas that changed within the period: events strictly younger than it,
 * as a period that is over is over.
 */
double scale_changed(const struct scale_state *s, const struct scale_log *log,
                     int64_t now_ns, int64_t period_ns);
/* The longest period of the rules of both directions. */
int64_t scale_longest_period(const struct scale_policy *policy);
/* The longer of the two stabilization windows. */
int64_t scale_longest_window(const struct scale_policy *policy);

/* ---- the replica calculator of autoscaling/v2 -------------------------- */

struct scale_tolerance {
	double down;
	double up;
};

/* What a metric proposes. */
struct scale_proposal {
	bool failed; /* no pod has a sample, or no pod has a request */
	bool within; /* near enough to the target, or unsure: as it is */
	uint32_t replicas;
	int64_t usage; /* percent, or milli-units per pod, rounded off */
};

/* Type Resource: integer percent of what is requested. */
struct scale_proposal scale_calc_utilization(uint32_t current,
                                             int64_t target_percent,
                                             const struct scale_pod *pods,
                                             uint32_t n,
                                             struct scale_tolerance tolerance);
/* Type Pods: the mean of a value over pods. */
struct scale_proposal scale_calc_pods(uint32_t current, int64_t target_milli,
                                      const struct scale_pod *pods, uint32_t n,
                                      struct scale_tolerance tolerance);
/* Types Object and External with a Value target. */
struct scale_proposal scale_calc_value(uint32_t current, uint32_t ready,
                                       int64_t value_milli,
                                       int64_t target_milli,
                                       struct scale_tolerance tolerance);
/* Types Object and External with an AverageValue target. */
struct scale_proposal scale_calc_average(uint32_t replicas, int64_t total_milli,
                                         int64_t target_milli,
                                         struct scale_tolerance tolerance);

/*
 * hpa's normalization of a recommendation, in w->recommendation: window,
 * limits, bounds; it writes the recommendation into the log.
 */
void scale_hpa_normalize(const struct scale_policy *policy,
                         struct scale_state *s,
                         const struct scale_snapshot *snap,
                         struct scale_wish *w);
/* The whole of hpa. */
void scale_hpa_tick(const struct scale_policy *policy, struct scale_state *s,
                    const struct scale_snapshot *snap, struct scale_wish *w);
struct scale_room scale_hpa_room(const struct scale_policy *policy);

/* ---- the rest ---------------------------------------------------------- */

/* The entry in force at `at_ns`, or NULL before the first. */
const struct scale_entry *scale_timetable_at(const struct scale_timetable *t,
                                             int64_t at_ns);
/*
 * The most replicas of the entries in force from from_ns to until_ns, both
 * included; `before` is what counts before the first.
 */
uint32_t scale_timetable_most(const struct scale_timetable *t, int64_t from_ns,
                              int64_t until_ns, uint32_t before);
int scale_timetable_check(const struct scale_timetable *t, const char *path,
                          struct err *err);

/* KubeAI: samples of the mean; lower results before one acts. */
uint32_t scale_kubeai_samples(const struct scale_policy *policy);
uint32_t scale_kubeai_downs(const struct scale_policy *policy);

#endif
