/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of scenario: a reader (where JSON came from), cursors (a JSON
 * value that knows its path), the table of fields, and the parts that read
 * one section each.
 *
 * Errors stick: the first one is kept in the reader's err, and every cursor
 * function called after it, or with a NULL cursor, answers 0 and touches
 * nothing. A part therefore reads straight on and asks at its end whether
 * the reader failed.
 */
#ifndef WEIR_SCENARIO_INT_H
#define WEIR_SCENARIO_INT_H

#include "scenario/scenario.h"

/* Named limits of what is read. */
enum {
	LIMIT_FILE_BYTES = 64 << 20,
	LIMIT_DEPTH = 32, /* of nested JSON */
	LIMIT_INCLUDES = 8,
	LIMIT_ENDPOINTS = 64,
	LIMIT_DEPLOYMENTS = 4096, /* of all endpoints */
	LIMIT_REPLICAS = 100000,  /* of all deployments */
	LIMIT_TRAFFICS = 256,
	LIMIT_STAGES = 1000,
	LIMIT_ACTIONS = 10000,
	LIMIT_RULES = 256,
	LIMIT_VARIANTS = 1000,
	LIMIT_INTERVALS = 1000000, /* of the series, of a profile */
	LIMIT_VALUES = 100000,     /* of an empirical distribution */
	LIMIT_ID = 63,             /* characters of an id or name */
	LIMIT_WARNINGS = 100,
	FIELDS_MAX = 512, /* rows of the table */
};

/* ---- where JSON came from ---------------------------------------------- */

/* One step of a path: a member by its name, else an element by its index. */
struct step {
	const char *key;
	size_t index;
};

/* Line and column, from 1; `walked` steps led there. */
struct place {
	int line;
	int col;
	size_t walked;
};

/*
 * Finds the value (or, `at_key`, the name of the member) that n steps lead
 * to, or as far as they go. The text must be valid JSON.
 */
struct place place_find(const char *text, size_t size, const struct step *steps,
                        size_t n, bool at_key);

/*
 * What was laid over what, in order: a file, or one change of a path. A
 * change that a file asks for says by `alias` where in the files below it.
 */
struct layer {
	bool is_set;
	const char *file; /* of a file */
	const char *text;
	size_t size;
	const char *origin; /* of a change: "--set a=1"; NULL: see alias */
	const struct step *target;
	size_t n_target;
	const struct step *alias;
	size_t n_alias;
};

struct reader {
	struct arena *arena;  /* what was read lives here */
	struct arena scratch; /* cursors and paths, until reader_fini */
	struct err *err;
	const char *file; /* the first; its directory comes first in lookups */
	const struct scenario_places *places; /* NULL: none */
	struct layer *layers;
	size_t n_layers;
	json_t *kept; /* values that cursors point to */
};

void reader_init(struct reader *r, const char *file, struct arena *arena,
                 const struct scenario_places *places, struct err *err);
void reader_fini(struct reader *r);
bool reader_failed(const struct reader *r);
/* Adds a layer and returns it; it is valid until the next one is added. */
struct layer *reader_layer(struct reader *r);
/*
 * Parses a file as a new layer: an object, not nested too deep, its keys in
 * snake_case. NULL on error. The value belongs to the reader.
 */
json_t *reader_parse(struct reader *r, const char *file);
/* Keeps a new reference until reader_fini; returns it. */
json_t *reader_keep(struct reader *r, json_t *value);
/* An error at the end of a path, placed in whatever said it last. */
int reader_error(struct reader *r, const struct step *steps, size_t n,
                 bool at_key, const char *text);
/* An error of a change itself. */
int reader_layer_error(struct reader *r, size_t layer, const char *text);
/*
 * A file named inside the scenario: beside it, then in each place. Tries the
 * name, then the name with `suffix` ("" tries the name only). NULL when there
 * is none.
 */
const char *reader_find(const struct reader *r, const char *name,
                        const char *suffix);
/*
 * Files "PREFIX" + 6 hex digits + ".json" in those directories, by name
 * without the ending; returns their number, and at most `max` names.
 */
size_t reader_revisions(struct reader *r, const char *prefix,
                        const char **names, size_t max);
/* Whether there is a file (not a directory) of that path. */
bool reader_is_file(const char *path);
/* A name ending in `suffix` that is near to it in those directories. */
const char *reader_near(struct reader *r, const char *name, const char *suffix);

/* "$.traffic[0].rate", cut at the size. */
const char *path_format(const struct step *steps, size_t n, char *buf,
                        size_t size);

/*
 * Renames camelCase keys to snake_case throughout, and checks the depth.
 * Returns -1 with the steps of the trouble filled and *text saying what.
 */
struct tidy_trouble {
	struct step steps[LIMIT_DEPTH + 1];
	size_t n;
	const char *text;
};

int tidy_keys(json_t *value, struct arena *arena, struct tidy_trouble *trouble);
/* "trafficSplit" -> "traffic_split"; false: nothing to change. */
bool tidy_snake(const char *key, char *buf, size_t size);

/* ---- cursors ----------------------------------------------------------- */

struct cursor {
	struct reader *reader;
	struct cursor *up; /* NULL: the root */
	const char *key;   /* NULL: an element */
	size_t index;
	json_t *value;
	const char *object; /* its kind in the table, once cursor_object */
	const struct scenario_field *field; /* what it is; NULL: the root */
};

struct cursor *cursor_root(struct reader *r, json_t *value);
/* Puts an error at this place; returns -1. */
int cursor_error(const struct cursor *c, const char *fmt, ...)
	BASE_PRINTF(2, 3);
/* Names c as an object of the table and refuses members it does not know. */
bool cursor_object(struct cursor *c, const char *object);
/* True when the member is written down. */
bool cursor_has(const struct cursor *c, const char *name);
/*
 * A member: as written, else its default; NULL when it has none (an error
 * when it is required).
 */
struct cursor *cursor_member(struct cursor *c, const char *name);
/* Number of elements of an array, at most `max` (more is an error). */
size_t cursor_items(const struct cursor *c, size_t max);
struct cursor *cursor_item(struct cursor *c, size_t i);
/*
 * The one member of those named (n of them) that is there: its index; n and
 * an error when there are none or several.
 */
size_t cursor_one_of(const struct cursor *c, const char *const *names,
                     size_t n);
/* The path and the value for messages. */
const char *cursor_path(const struct cursor *c, char *buf, size_t size);
const char *cursor_show(const struct cursor *c, char *buf, size_t size);

/* Readers of single values, held to the field's type and range. */
const char *cursor_text(struct cursor *c); /* in the arena */
uint64_t cursor_integer(struct cursor *c);
double cursor_number(struct cursor *c);
bool cursor_boolean(struct cursor *c);
int64_t cursor_duration(struct cursor *c);
double cursor_rate(struct cursor *c);
double cursor_fraction(struct cursor *c);
/* The index of the word in the field's range ("poisson, constant"). */
size_t cursor_choice(struct cursor *c);
/* An id with one of the prefixes (the second may be NULL). */
const char *cursor_id(struct cursor *c, const char *prefix,
                      const char *earlier);
/* A name: a letter, then letters, digits, _, - and ., with slashes or not. */
const char *cursor_name(struct cursor *c, bool slash);
/* A word that may name files: letters, digits, _ - and dots inside. */
const char *cursor_file_name(struct cursor *c);
/* Whether v is in the range of `field`; an error at c when it is not. */
bool cursor_in_range(const struct cursor *c, const struct scenario_field *field,
                     double v);

/* A distribution of durations (in ns) or of plain numbers. */
enum quantity { QUANTITY_PLAIN, QUANTITY_NS };
struct dist cursor_dist(struct cursor *c, enum quantity unit);

/* ---- the table --------------------------------------------------------- */

const struct scenario_field *field_find(const char *object, const char *name);
/* Says "unknown field; did you mean ...?" of a member of an object. */
void field_unknown(const char *object, const char *name, char *buf,
                   size_t size);

/* ---- changes and output ------------------------------------------------ */

/*
 * Lays `patch` over `base`: objects by key, null removes, all else replaces.
 */
void merge_json(json_t *base, json_t *patch);
/* Reads FILE with its includes and its `set`; a value of the reader's. */
json_t *include_load(struct reader *r, const char *file);
/*
 * Changes root at a path; null removes. `layer` is the change's layer, whose
 * target is filled. Returns 0 or -1.
 */
int set_apply(struct reader *r, json_t *root, size_t layer, const char *path,
              json_t *value);
/* Adds a layer for a change outside of files, and applies it. */
int set_apply_text(struct reader *r, json_t *root,
                   const struct scenario_set *set);
/* The `set` object that the alias steps lead to. */
int set_apply_object(struct reader *r, json_t *root, json_t *set,
                     const struct step *alias, size_t n_alias);

/* JSON as text: for people, or compact with sorted keys. In the arena. */
const char *write_pretty(const json_t *value, struct arena *arena);
const char *write_canonical(const json_t *value, struct arena *arena);

/* ---- the parts of a scenario ------------------------------------------- */

/* A weight as written, scaled when all of its endpoint are known. */
struct weight {
	double decimal;
	uint64_t *out;
	const struct cursor *cursor;
	uint32_t endpoint;
	bool initial; /* out is a place of build's `initial` */
};

/* What grows while a scenario is read. */
struct build {
	struct reader *reader;
	struct scenario *scenario;
	struct world_endpoint *endpoints;
	struct world_deployment *deployments;
	double *decimals;       /* by deployment */
	struct cursor **places; /* by deployment, for warnings */
	struct cursor **splits; /* by endpoint, the initial traffic_split */
	uint64_t *initial;      /* by deployment, its weight at the start */
	bool reading_initial;
	uint32_t *peak_replicas; /* by deployment, over the timeline */
	uint64_t *peak_weight;   /* by deployment, over the timeline */
	struct load_spec *loads;
	struct world_action *actions;
	struct cursor **action_places;
	struct cursor **rule_places;
	struct config_known *configs; /* read already, by name */
	struct weight *weights;
	size_t n_weights;
	struct scenario_warning *warnings;
};

void build_warn(struct build *b, const struct cursor *c, const char *fmt, ...)
	BASE_PRINTF(3, 4);
/* `endpoint` or `endpoints`, with their deployments and splits. */
void build_endpoints(struct build *b, struct cursor *root);
/* One entry of a split or set_weight: remembers its weight. */
void build_weight(struct build *b, struct cursor *c, uint32_t endpoint,
                  uint64_t *out);
/* Scales all remembered weights, endpoint by endpoint. */
void build_scale_weights(struct build *b);
/* A deployment by id; MEASURE_NONE and an error when there is none. */
uint32_t build_deployment(struct build *b, struct cursor *c);
/* The entries of a split of one endpoint, by place within it. */
void build_split(struct build *b, struct cursor *list, uint32_t endpoint,
                 uint64_t *weights, bool *listed);
void build_traffic(struct build *b, struct cursor *root);
void build_timeline(struct build *b, struct cursor *root);
/* The names for rules and conditions, once all have been read. */
void build_names(struct build *b);
/* A rule's error, its column moved to where the rule stands in the file. */
void build_rule_error(struct cursor *c, const struct err *rule);
void build_rules(struct build *b, struct cursor *root);
/* What is allowed and yet worth a word. */
void build_warnings(struct build *b);

/*
 * A config revision by its id, by its name without the digest (then the id
 * is put in its place, so that the effective scenario says which one it was),
 * or as an inline object.
 */
const struct replica_config *build_config(struct build *b, struct cursor *c,
                                          const char **id, const char **model);
/* Reads an object of config's fields. */
void config_read(struct cursor *c, struct replica_config *out);

/* A profile by the name of its file. */
const struct load_profile *build_profile(struct build *b, struct cursor *c);

#endif
