/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The config revisions that ship, and those of --data: model by profile, what
 * a single client gets of each by its curve, and how far the curve is off.
 */
#include "explain_int.h"

#include <dirent.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

/* The request that TTFT and speed are stated for. */
enum { INPUT_TOKENS = 1024, OUTPUT_TOKENS = 128 };

enum { REVISIONS_MAX = 1000 };

static const struct {
	const char *profile;
	const char *optimises;
} profiles[] = {
	{"latency", "time to the first token"},
	{"throughput", "tokens per GPU-hour"},
	{"balanced", "neither at the other's cost"},
};

static const char *optimises(const char *profile)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (strcmp(profiles[i].profile, profile) == 0)
			return profiles[i].optimises;
	return "";
}

/* ---- reading ----------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	const char *p = strrchr(*x, '/'), *q = strrchr(*y, '/');
	int order = strcmp(p ? p : *x, q ? q : *y);

	return order != 0 ? order : strcmp(*x, *y);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Paths of the revisions in all places, by name, each name once. */
static size_t list_files(const struct places *p, struct arena *arena,
                         const char **paths, size_t max)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		DIR *d = opendir(p->directory[i]);
		const struct dirent *entry;

		while (d && n < max && (entry = readdir(d)) != NULL) {
			size_t length = strlen(entry->d_name);

			if (strncmp(entry->d_name, "cr_", 3) == 0 &&
			    length > 5 &&
			    strcmp(entry->d_name + length - 5, ".json") == 0)
				paths[n++] = arena_printf(arena, "%s/%s",
				                          p->directory[i],
				                          entry->d_name);
		}
		if (d)
			closedir(d);
	}
	qsort(paths, n, sizeof(paths[0]), by_path);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(file_name(paths[i]),
		                        file_name(paths[kept - 1])) != 0)
			paths[kept++] = paths[i];
	return kept;
}

/* Model, then profile, then id. */
static int by_model(const void *a, const void *b)
{
	const struct scenario_revision *x = a, *y = b;
	int order = strcmp(x->model, y->model);

	if (order == 0)
		order = strcmp(x->profile, y->profile);
	return order != 0 ? order : strcmp(x->id, y->id);
}

/* All revisions; NULL when one of them is wrong, after having said so. */
static struct scenario_revision *read_all(const struct options *o,
                                          struct arena *arena, size_t *n)
{
	const char **paths = arena_new(arena, REVISIONS_MAX, sizeof(*paths));
	struct scenario_revision *all;
	struct places p;
	struct scenario_places places;
	struct err e = {0};

	places_fill(&p, o);
	places = (struct scenario_places){p.directory, p.n};
	*n = list_files(&p, arena, paths, REVISIONS_MAX);
	all = arena_new(arena, *n + 1, sizeof(*all));
	for (size_t i = 0; i < *n; i++)
		if (scenario_revision_read(paths[i], &places, arena, &all[i],
		                           &e) != 0) {
			cli_wrong(&e);
			return NULL;
		}
	qsort(all, *n, sizeof(*all), by_model);
	return all;
}

/* Whether word names the revision: its id, or the id's middle. */
static bool is_revision(const struct scenario_revision *r, const char *word)
{
	size_t n = strlen(word), length = strlen(r->id);

	if (strcmp(r->id, word) == 0)
		return true;
	return length == n + 10 && strncmp(r->id + 3, word, n) == 0 &&
	       r->id[3 + n] == '-';
}

static bool meant(const struct scenario_revision *r, const char *word)
{
	return strcmp(word, "models") == 0 || strcmp(word, r->model) == 0 ||
	       is_revision(r, word);
}

/* ---- what a single client gets ----------------------------------------- */

struct single {
	int64_t ttft_ns; /* -1: not of a batching engine, or it does not fit */
	double tokens_s;
};

/* Ticks of the prompt, chunk by chunk. */
static int64_t prefill_ticks(const struct replica_config *c)
{
	struct replica_batch batch = {0};
	uint32_t past = 0, n;
	int64_t ticks = 0;

	while (past < INPUT_TOKENS) {
		n = INPUT_TOKENS - past;
		if (n > c->max_num_batched_tokens)
			n = c->max_num_batched_tokens;
		batch.prefill_tokens = n;
		batch.pairs = (uint64_t)n * past + (uint64_t)n * (n + 1) / 2;
		ticks += replica_step_ticks(&c->curve, &batch);
		past += n;
	}
	return ticks;
}

static int64_t decode_ticks(const struct replica_config *c)
{
	struct replica_batch batch = {.decodes = 1};
	int64_t ticks = 0;

	for (uint32_t i = 0; i + 1 < OUTPUT_TOKENS; i++) {
		batch.contexts = INPUT_TOKENS + i;
		ticks += replica_step_ticks(&c->curve, &batch);
	}
	return ticks;
}

/* Most tokens of a request, by its own limit and by KV; 0: no limit. */
static uint64_t longest(const struct replica_config *c)
{
	uint64_t tokens = c->max_model_len, kv;

	kv = c->kv_blocks * c->block_tokens;
	if (kv > 0 && (tokens == 0 || kv < tokens))
		tokens = kv;
	return tokens;
}

static struct single single(const struct replica_config *c)
{
	const double per_s = (double)REPLICA_TICKS_PER_NS * (double)NS_PER_S;
	uint64_t room = longest(c);
	struct single s = {-1, 0};

	if (c->engine != replica_engine_find("batching") ||
	    (room > 0 && room < INPUT_TOKENS + OUTPUT_TOKENS))
		return s;
	s.ttft_ns = c->overhead_ns + prefill_ticks(c) / REPLICA_TICKS_PER_NS;
	s.tokens_s = (OUTPUT_TOKENS - 1) * per_s / (double)decode_ticks(c);
	return s;
}

/* ---- saying it --------------------------------------------------------- */

static void show_gpus(const struct scenario_revision *r, char *buf, size_t size)
{
	int n = (int)strcspn(r->gpu, " ");

	if (r->gpus == 0)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%" PRIu32 " x %.*s %s", r->gpus, n, r->gpu,
		         r->precision);
}

static void add_line(struct libscols_table *t,
                     const struct scenario_revision *r)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	const struct single s = single(r->config);
	uint64_t room = longest(r->config);
	char text[64];

	scols_line_set_data(line, 0, r->id);
	show_gpus(r, text, sizeof(text));
	scols_line_set_data(line, 1, text);
	scols_line_set_data(line, 2, r->profile[0] ? r->profile : "-");
	scols_line_set_data(line, 3, show_time(s.ttft_ns, text, sizeof(text)));
	snprintf(text, sizeof(text), "%.0f", s.tokens_s);
	scols_line_set_data(line, 4, s.ttft_ns < 0 ? "-" : text);
	if (room > 0)
		show_count(room, text, sizeof(text));
	scols_line_set_data(line, 5, room > 0 ? text : "no limit");
}

static void print_table(FILE *to, const struct scenario_revision *r, size_t n)
{
	static const char *const head[] = {"config", "GPUs",     "profile",
	                                   "ttft",   "tokens/s", "context"};
	struct libscols_table *t = scols_new_table();

	for (size_t i = 0; i < 6; i++)
		scols_table_new_column(t, head[i], 0,
		                       i > 2 ? SCOLS_FL_RIGHT : 0);
	scols_table_set_column_separator(t, "   ");
	scols_table_set_stream(t, to);
	for (size_t i = 0; i < n; i++)
		add_line(t, &r[i]);
	scols_print_table(t);
	scols_unref_table(t);
}

/* Source and error, once for neighbours that share them. */
static void print_sources(FILE *to, const struct scenario_revision *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct scenario_revision *next =
			i + 1 < n ? &r[i + 1] : NULL;

		fprintf(to, "%s   %s\n", r[i].id,
		        r[i].engine_version[0] ? r[i].engine_version
		                               : "engine not stated");
		if (next && strcmp(next->source, r[i].source) == 0 &&
		    strcmp(next->error, r[i].error) == 0)
			continue;
		if (r[i].source[0])
			explain_wrapped(to, "  ", r[i].source);
		if (r[i].error[0])
			explain_wrapped(to, "  ", r[i].error);
	}
}

static void print_text(FILE *to, const struct scenario_revision *r, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (strcmp(r[end].model, r[i].model) != 0)
				break;
		fprintf(to, "%s%s\n", i > 0 ? "\n" : "",
		        r[i].model[0] ? r[i].model : "model not stated");
		print_table(to, r + i, end - i);
		fputc('\n', to);
		print_sources(to, r + i, end - i);
	}
	fputc('\n', to);
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		fprintf(to, "%s: %s\n", profiles[i].profile,
		        profiles[i].optimises);
	fprintf(to,
	        "ttft and tokens/s: of one client alone, %d tokens in and %d "
	        "out, by the curve;\nwhat lies outside the engine is not in "
	        "them\n",
	        INPUT_TOKENS, OUTPUT_TOKENS);
}

static json_t *revision_json(const struct scenario_revision *r)
{
	const struct single s = single(r->config);
	json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:s,s:s,s:s}", "id",
	                      r->id, "model", r->model, "profile", r->profile,
	                      "optimises", optimises(r->profile), "engine",
	                      r->engine_version, "gpu", r->gpu, "gpus",
	                      (int)r->gpus, "precision", r->precision, "source",
	                      r->source, "error", r->error);

	json_object_set_new(j, "single_client_input_tokens",
	                    json_integer(INPUT_TOKENS));
	json_object_set_new(j, "single_client_output_tokens",
	                    json_integer(OUTPUT_TOKENS));
	json_object_set_new(j, "single_client_ttft_ms",
	                    s.ttft_ns < 0 ? json_null()
	                                  : json_real((double)s.ttft_ns /
	                                              (double)NS_PER_MS));
	json_object_set_new(j, "single_client_tokens_per_s",
	                    s.ttft_ns < 0 ? json_null()
	                                  : json_real(s.tokens_s));
	json_object_set_new(
		j, "longest_context_tokens",
		longest(r->config) > 0
			? json_integer((json_int_t)longest(r->config))
			: json_null());
	json_object_set_new(j, "kv_blocks",
	                    json_integer((json_int_t)r->config->kv_blocks));
	return j;
}

int explain_models(const struct options *o, const char *word, FILE *to,
                   json_t *json)
{
	struct scenario_revision *all;
	struct arena arena;
	size_t n = 0, kept = 0;

	arena_init(&arena);
	all = read_all(o, &arena, &n);
	for (size_t i = 0; all && i < n; i++)
		if (meant(&all[i], word))
			all[kept++] = all[i];
	for (size_t i = 0; json && i < kept; i++)
		json_array_append_new(json, revision_json(&all[i]));
	if (json == NULL && kept > 0)
		print_text(to, all, kept);
	arena_fini(&arena);
	return all ? (int)kept : -1;
}

size_t explain_model_names(const struct options *o, struct arena *arena,
                           const char **names, size_t max)
{
	size_t n = 0, count = 0;
	struct scenario_revision *all = read_all(o, arena, &n);

	for (size_t i = 0; all && i < n && count + 2 <= max; i++) {
		names[count++] = all[i].id;
		if (all[i].model[0])
			names[count++] = all[i].model;
	}
	return count;
}
