/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scenario - what users write, read into what the simulator runs.
 *
 * A scenario is a JSON file. It is read by a cursor that knows its path,
 * against one table of fields (name, type, unit, range, default, sentence)
 * that also renders `explain`; an unknown field, a duplicate key, a wrong
 * type or a value out of range is one error with line, column, path and what
 * would be right. Changes by path (--set, --vary, variants) are applied to
 * the JSON before it is read, so that they are checked like the file itself.
 * The effective scenario - includes and changes applied, defaults not filled
 * in - is what is written and run again.
 *
 * What it does not do: run anything, or print.
 */
#ifndef WEIR_SCENARIO_H
#define WEIR_SCENARIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "endpoint/endpoint.h"
#include "measure/measure.h"

/* One change: a path of the JSON ("traffic[0].rate") and a value as text
 * (JSON, or a bare word, which is taken as a string). */
struct scenario_set {
	const char *path;
	const char *value;
	const char *origin; /* for errors: "--set" */
};

/* Where files named inside are looked for, in order, after the scenario's
 * own directory. */
struct scenario_places {
	const char *const *directories;
	size_t n;
};

struct scenario_warning {
	char text[512]; /* "FILE: $.path: sentence" */
};

struct scenario {
	struct arena arena; /* everything below */
	const char *file;
	const char *name;
	const char *comment; /* $comment, or NULL */
	uint64_t seed;
	uint32_t reps;
	struct world_spec world;
	struct measure_terms terms;
	uint32_t n_rules;
	const struct measure_rule *rules;
	uint32_t n_variants;
	const char *const *variants; /* their names */
	uint32_t n_warnings;
	const struct scenario_warning *warnings;
	json_t *effective;          /* what is written as scenario.json */
	const char *effective_text; /* its bytes, which read back the same */
	char digest[17];            /* of the effective scenario, hex */
	/* decimals as written, by deployment of the world, for reports */
	const double *weights;
	/* SLO of the scenario in ns, TIME_NEVER: none given */
	int64_t slo_ttft_ns;
	int64_t slo_tpot_ns;
};

/*
 * Reads FILE with changes applied (`variant` NULL: none of its variants; a
 * variant's changes come before `sets`). Traces named inside are read and
 * checked. Returns the scenario, or NULL with *e filled.
 */
struct scenario *scenario_load(const char *file, const char *variant,
                               const struct scenario_set *sets, size_t n_sets,
                               const struct scenario_places *places,
                               struct err *e);
void scenario_free(struct scenario *s);

/*
 * The id that makes a config a revision: "cr_NAME-" and the digest of its
 * content (any "id" in it apart), in the arena.
 */
const char *scenario_revision_id(json_t *content, const char *name,
                                 struct arena *arena);

/*
 * The values of a --vary: "a,b,c" or "LO..HI/STEPS" (STEPS values from LO to
 * HI, evenly spaced, both included). Values as text for scenario_set, in the
 * arena. Returns their number, -1 with *e filled.
 */
int scenario_vary(const char *text, struct arena *arena,
                  const char *const **values, struct err *e);

/* A load profile as JSON and back. */
json_t *scenario_profile_json(const struct load_profile *p);
struct load_profile *scenario_profile_read(const char *file,
                                           struct arena *arena, struct err *e);

/* A config revision of a file, for the reader; "" where it says nothing. */
struct scenario_revision {
	const char *id;
	const char *model;
	const char *profile;
	const char *engine;
	const char *engine_version;
	const char *gpu;
	uint32_t gpus; /* 0: does not say */
	const char *precision;
	const char *source;
	const char *error;
	const struct replica_config *config;
};

/*
 * Reads a revision's file, checked as when a scenario names it; its texts
 * and its config are in the arena. Returns 0, or -1 with *e filled.
 */
int scenario_revision_read(const char *file,
                           const struct scenario_places *places,
                           struct arena *arena, struct scenario_revision *out,
                           struct err *e);

/* A field of the table: what `explain` and the docs show. */
struct scenario_field {
	const char *object; /* "traffic[]", "endpoint.deployments[]" */
	const char *name;
	const char *type;     /* "duration", "distribution", "integer", ... */
	const char *range;    /* "above 0" or "" */
	const char *fallback; /* default as written, "" when required */
	const char *sentence;
};

/* The i-th field, NULL past the last. */
const struct scenario_field *scenario_field(size_t i);

#endif
