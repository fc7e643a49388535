/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scale - how many replicas a deployment should have.
 *
 * An autoscaler is asked once a tick: it is given its settings, its memory
 * and what can be seen (a snapshot), and answers with a wish and the record
 * of how it came to it. Each algorithm is one file and one constant struct
 * in the table of scale.c; given the same settings, memory and snapshot it
 * always answers alike. There is no clock, no chance and no heap in here,
 * and nothing is known of how replicas are placed, started or stopped: the
 * caller makes the wish come true as far as it can, and what became of it
 * comes back as the counts of the next snapshot.
 *
 * How to use it: scale_defaults, change what is authored, scale_check; then
 * scale_state_size bytes of memory aligned for int64_t, scale_state_init,
 * and scale_tick every policy.tick_ns, not more often. The metric's windows
 * to observe are in the policy (scale_metric.window_ns and .recent_ns).
 */
#ifndef WEIR_SCALE_H
#define WEIR_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
	SCALE_METRICS_MAX = 4,        /* of one autoscaler */
	SCALE_RULES_MAX = 8,          /* of one direction */
	SCALE_REPLICAS_MAX = 1000000, /* of a bound that is authored */
};

/* ---- metrics ----------------------------------------------------------- */

enum scale_metric_id {
	SCALE_INFLIGHT,
	SCALE_GPU_UTILIZATION,
	SCALE_TOKEN_UTILIZATION,
	SCALE_CACHE_HIT_RATE,
	SCALE_THROUGHPUT,
	SCALE_TTFT,
	SCALE_DECODING_SPEED,
	SCALE_E2E_LATENCY,
	SCALE_METRIC_IDS
};

/* What a metric's number is, and so what an algorithm does with it. */
enum scale_metric_type {
	SCALE_AVERAGE_VALUE, /* a sum over the deployment, shared by replicas */
	SCALE_UTILIZATION,   /* percent, the mean over the ready replicas */
	SCALE_VALUE,         /* one value of the deployment: a percentile */
};

/* A row of the catalogue of metrics. */
struct scale_metric_info {
	const char *name; /* as it is written in a scenario */
	const char *unit; /* of target and value */
	double target;    /* the default; 0: there is none, it must be given */
	enum scale_metric_type type;
	bool streaming;  /* only defined for requests that stream */
	bool percentile; /* a latency: a percentile is chosen (p95) */
};

const struct scale_metric_info *scale_metric_info(enum scale_metric_id id);

/*
 * Finds a metric by name. Returns 0, or -1 with a report at `path` that
 * suggests the nearest name.
 */
int scale_metric_find(const char *name, const char *path,
                      enum scale_metric_id *id, struct err *err);

/* A metric with its target, as authored. */
struct scale_metric {
	enum scale_metric_id id;
	double target;       /* > 0, in the metric's unit */
	double percentile;   /* 0.5, 0.9, 0.95 or 0.99; 0 for a gauge */
	int64_t window_ns;   /* the caller averages over this; 0: as it is */
	int64_t recent_ns;   /* and over this for `recent`; 0: not wanted */
	double tolerance_up; /* no rise up to 1 + this times the target */
	double tolerance_down;
};

/* ---- settings ---------------------------------------------------------- */

enum scale_kind {
	SCALE_FIXED,
	SCALE_PLATFORM,
	SCALE_HPA,
	SCALE_KPA,
	SCALE_KEDA,
	SCALE_RAY,
	SCALE_KUBEAI,
	SCALE_SCHEDULE,
	SCALE_ORACLE,
	SCALE_KINDS
};

enum scale_rule_type { SCALE_PODS, SCALE_PERCENT };

/*
 * At most `value` replicas (or percent of what there was at its start) more
 * or fewer within any `period_ns`.
 */
struct scale_rule {
	enum scale_rule_type type;
	uint32_t value;
	int64_t period_ns;
};

enum scale_select {
	SCALE_SELECT_MAX, /* the rule that allows most */
	SCALE_SELECT_MIN, /* the rule that allows least */
	SCALE_SELECT_DISABLED,
};

/* scaleUp or scaleDown. No rules: no limit on the rate. */
struct scale_direction {
	int64_t window_ns; /* stabilization */
	enum scale_select select;
	uint32_t n;
	struct scale_rule rules[SCALE_RULES_MAX];
};

/* An entry of a timetable: from `at_ns` on, `replicas`. */
struct scale_entry {
	int64_t at_ns;
	uint32_t replicas;
};

/* Kubernetes' autoscaling/v2; KEDA's 1 to N uses it too. */
struct scale_hpa {
	/*
	 * False: no `behavior` in the manifest. Then of up and down only
	 * down.window_ns counts, and one step up is at most to
	 * max(2 * current, 4).
	 */
	bool behavior;
	/*
	 * True: read an AVERAGE_VALUE metric pod by pod (type Pods); false:
	 * as one sum (type External).
	 */
	bool per_pod;
};

/* Knative's pod autoscaler. */
struct scale_kpa {
	double utilization; /* of the metric's target that is aimed at */
	double panic_threshold;
	double max_up_rate;
	double max_down_rate;
	double target_burst; /* -1: the buffer is always in the path */
	int64_t down_delay_ns;
	int64_t grace_ns;          /* before the last replica goes */
	int64_t retention_ns;      /* of the last replica */
	int64_t start_deadline_ns; /* idle and still starting: given up */
	uint32_t activation_scale;
	bool scale_to_zero;
	bool start_in_panic; /* as after a restart, when more than 1 is ready */
};

/* KEDA's 0 to 1; min 0 lets it go to zero. */
struct scale_keda {
	double activation; /* active when the value is above this */
	int64_t poll_ns;
	int64_t cooldown_ns;
	int64_t initial_cooldown_ns;
	bool idle;                  /* when not active, whatever min is: */
	uint32_t idle_replicas;     /* to this many instead of zero */
	uint32_t fallback_replicas; /* when the metric fails; 0: none */
	uint32_t fallback_after;    /* this many failures in a row */
};

/* Ray Serve. */
struct scale_ray {
	double up_factor;
	double down_factor;
	int64_t up_delay_ns;
	int64_t down_delay_ns;
	int64_t zero_delay_ns; /* from 1 to 0 */
};

/* KubeAI. The mean is over the last mean_window / tick samples. */
struct scale_kubeai {
	int64_t mean_window_ns;
	int64_t down_delay_ns;
};

/*
 * A timetable: `schedule` follows it, `oracle` is told by it how many
 * replicas the load will need and is ready in time. The entries are the
 * caller's and live as long as the policy.
 */
struct scale_timetable {
	const struct scale_entry *entries; /* at_ns rising */
	uint32_t n;
	int64_t repeat_ns; /* 0: once, else begins anew after this */
	int64_t lead_ns;   /* oracle: how long a start takes at most */
};

/*
 * All settings. Bounds, tick and metrics hold for every algorithm (fixed,
 * schedule and oracle look at no metric); up and down for platform, hpa and
 * keda; of the rest each algorithm reads the part of its name.
 */
struct scale_policy {
	enum scale_kind kind;
	uint32_t min;
	uint32_t max;
	int64_t tick_ns;
	struct scale_metric metrics[SCALE_METRICS_MAX];
	uint32_t n; /* more than one: hpa and keda only */
	struct scale_direction up;
	struct scale_direction down;
	struct scale_hpa hpa;
	struct scale_kpa kpa;
	struct scale_keda keda;
	struct scale_ray ray;
	struct scale_kubeai kubeai;
	struct scale_timetable timetable;
};

/* An algorithm's name: "platform", "hpa", ... */
const char *scale_name(enum scale_kind kind);
/* What it is, in a line. */
const char *scale_about(enum scale_kind kind);
/* Finds an algorithm by name; -1 with a report at `path` if there is none. */
int scale_find(const char *name, const char *path, enum scale_kind *kind,
               struct err *err);

/*
 * Every setting as the algorithm's project has it by default, for one
 * metric: in-flight requests. min and max are 1.
 */
void scale_defaults(enum scale_kind kind, struct scale_policy *policy);

/*
 * Makes metric `i` the one named by `id`, with its default target and
 * percentile; the windows and tolerances are those of metric 0 by default.
 */
void scale_metric_set(struct scale_policy *policy, uint32_t i,
                      enum scale_metric_id id);

/*
 * Holds the settings to their ranges. Returns 0, or -1 with one report at
 * `path`.FIELD. What passes can be given to every function below.
 */
int scale_check(const struct scale_policy *policy, const char *path,
                struct err *err);

/* ---- what can be seen -------------------------------------------------- */

/* A replica as the replica calculator of autoscaling/v2 sees a pod. */
enum scale_pod_state {
	SCALE_POD_READY,
	SCALE_POD_WARMING, /* runs, but not ready: unready for utilization */
	SCALE_POD_PENDING, /* not running: unready for every metric */
};

/* Pods that are being deleted are left out. */
struct scale_pod {
	enum scale_pod_state state;
	bool missing;          /* there is no sample of it */
	int64_t usage_milli;   /* 1/1000 of the metric's unit */
	int64_t request_milli; /* utilization: what 100 percent is */
};

/* A metric's value over its window. */
struct scale_signal {
	/*
	 * AVERAGE_VALUE: the sum over the deployment, with what waits for
	 * it; UTILIZATION: percent; VALUE: the percentile.
	 */
	double value;
	double recent; /* the same over recent_ns (kpa's panic window) */
	/*
	 * The metric could not be read: the autoscaler knows nothing. Not to
	 * be used for "no traffic", which is knowledge:
	 */
	bool missing;
	/*
	 * No request was there in the window, so that a latency has no
	 * value. Counts as load 0, else a deployment without traffic would
	 * never come down.
	 */
	bool idle;
	/* One a replica, starting ones too; hpa only, may be NULL. */
	const struct scale_pod *pods;
	uint32_t pods_n;
};

/* What the autoscaler sees of one deployment. */
struct scale_snapshot {
	int64_t now_ns;
	uint32_t ready;    /* serving; draining ones are not counted */
	uint32_t starting; /* placed and not ready yet */
	uint32_t wanted;   /* the wish in force, from whomever it is */
	const struct scale_signal *signals; /* policy.n of them, in order */
};

/* ---- the answer -------------------------------------------------------- */

/* Why the wish is what it is, and neither more nor less. */
enum scale_reason {
	SCALE_AS_RECOMMENDED,
	SCALE_STEADY,       /* the recommendation is what there is */
	SCALE_IN_TOLERANCE, /* near enough to the target */
	SCALE_COVERED,      /* replicas that are starting will do */
	SCALE_NO_METRIC,    /* unknown: as it was */
	SCALE_NOT_READY,    /* no replica is ready to be measured */
	SCALE_UP_WINDOW,    /* was lower within the window or delay */
	SCALE_DOWN_WINDOW,  /* was higher within the window or delay */
	SCALE_UP_LIMIT,     /* not faster */
	SCALE_DOWN_LIMIT,   /* not faster */
	SCALE_UP_DISABLED,
	SCALE_DOWN_DISABLED,
	SCALE_AT_MIN,    /* wanted less */
	SCALE_AT_MAX,    /* wanted more */
	SCALE_STOPPED,   /* at zero, nothing wakes it */
	SCALE_PANIC,     /* kpa: only up while it panics */
	SCALE_ZERO_WAIT, /* the last replica stays a while */
	SCALE_TO_ZERO,   /* idle for long enough */
	SCALE_FROM_ZERO, /* there is work and no replica */
	SCALE_FALLBACK,  /* keda: the metric failed too often */
	SCALE_TIMETABLE, /* it is written so */
	SCALE_REASONS
};

/* The name of a reason, and the sentence for it. */
const char *scale_reason_name(enum scale_reason reason);
const char *scale_reason_text(enum scale_reason reason);

/* A wish and how it came about; one is written down every tick. */
struct scale_wish {
	uint32_t wanted; /* min <= wanted <= max, but for scaling to zero */
	int64_t at_ns;
	uint32_t before; /* the snapshot's */
	uint32_t ready;
	uint32_t starting;
	uint32_t metric; /* which of the policy's metrics decided */
	double signal;   /* its value; NAN if missing, 0 if idle */
	double target;
	uint32_t recommendation; /* by the metric alone */
	uint32_t stable;         /* after windows and delays */
	uint32_t limited;        /* after the limits of the rate */
	enum scale_reason reason;
	const char *why; /* scale_reason_text(reason) */
	/* kpa: it panics; how much more could come; the buffer is needed. */
	bool panic;
	bool buffer;
	int64_t excess_burst;
};

/* An autoscaler's memory; its inside is nobody's business. */
struct scale_state;

/* How many bytes a state takes under this policy. */
size_t scale_state_size(const struct scale_policy *policy);

/* Makes `memory` (of that size, aligned for int64_t) a new state. */
struct scale_state *scale_state_init(const struct scale_policy *policy,
                                     void *memory);

/*
 * One look of the autoscaler. The time must not go back. When the policy
 * changes, begin with a new state.
 */
struct scale_wish scale_tick(const struct scale_policy *policy,
                             struct scale_state *state,
                             const struct scale_snapshot *snapshot);

/*
 * To how many replicas a request that finds none wanted lifts the wish at
 * once, between two ticks; 0: it does not.
 */
uint32_t scale_wake(const struct scale_policy *policy);

/*
 * The record as one sentence with its figures, for people. Returns buf.
 */
const char *scale_explain(const struct scale_policy *policy,
                          const struct scale_wish *wish, char *buf,
                          size_t size);

#endif
