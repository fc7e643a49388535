/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <inttypes.h>
#include <libsmartcols.h>
#include <string.h>

/* "input_tokens=prompt,key=user" -> struct load_columns. */
static int read_columns(const char *text, struct arena *a,
                        struct load_columns *c)
{
	char *word = arena_strdup(a, text ? text : "");

	while (*word) {
		char *next = word + strcspn(word, ",");
		char *equals = strchr(word, '=');

		if (*next)
			*next++ = '\0';
		if (equals == NULL || equals[1] == '\0')
			return cli_usage("--columns %s: must be FIELD=COLUMN",
			                 word);
		*equals++ = '\0';
		if (strcmp(word, "arrival_us") == 0)
			c->arrival_us = equals;
		else if (strcmp(word, "input_tokens") == 0)
			c->input_tokens = equals;
		else if (strcmp(word, "output_tokens") == 0)
			c->output_tokens = equals;
		else if (strcmp(word, "key") == 0)
			c->key = equals;
		else
			return cli_usage("--columns %s: no such field; "
			                 "arrival_us, input_tokens, "
			                 "output_tokens and key are",
			                 word);
		word = next;
	}
	return 0;
}

static void lengths(struct libscols_table *t, const char *name, double mean,
                    const uint32_t *p)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	char buf[24];

	scols_line_set_data(line, 0, name);
	snprintf(buf, sizeof(buf), "%.1f", mean);
	scols_line_set_data(line, 1, buf);
	for (size_t i = 0; i < 5; i++) {
		snprintf(buf, sizeof(buf), "%" PRIu32, p[i]);
		scols_line_set_data(line, i + 2, buf);
	}
}

static void print_text(FILE *to, const char *file,
                       const struct load_trace_stats *s)
{
	static const char *const head[] = {"tokens", "mean", "p50", "p90",
	                                   "p95",    "p99",  "max"};
	struct libscols_table *t = scols_new_table();
	char span[40], rows[40], a[3][40];

	fprintf(to, "%s   %s requests in %s, format %s\n\n", file,
	        show_count(s->rows, rows, sizeof(rows)),
	        show_time(s->span_ns, span, sizeof(span)), s->format);
	fprintf(to,
	        "rate         %s requests/s in the mean, %s in the busiest "
	        "minute, %s in the\n             quietest, %" PRIu64
	        " in the busiest second\n",
	        show_number(s->rate_rps, 3, a[0], sizeof(a[0])),
	        show_number(s->peak_minute_rps, 3, a[1], sizeof(a[1])),
	        show_number(s->trough_minute_rps, 3, a[2], sizeof(a[2])),
	        s->peak_1s);
	fprintf(to,
	        "burstiness   gaps have a cv of %s (Poisson: 1); counts per "
	        "second a variance of\n             %s times their mean\n",
	        show_number(s->gap_cv, 3, a[0], sizeof(a[0])),
	        show_number(s->dispersion_1s, 3, a[1], sizeof(a[1])));
	if (s->keys)
		fprintf(to, "keys         %" PRIu64 " distinct\n", s->keys);
	fputc('\n', to);
	for (size_t i = 0; i < 7; i++)
		scols_table_new_column(t, head[i], 0, i ? SCOLS_FL_RIGHT : 0);
	scols_table_set_column_separator(t, "   ");
	scols_table_set_stream(t, to);
	lengths(t, "input", s->input_mean, s->input_p);
	lengths(t, "output", s->output_mean, s->output_p);
	scols_print_table(t);
	scols_unref_table(t);
}

static json_t *lengths_json(double mean, const uint32_t *p)
{
	return json_pack("{s:f,s:i,s:i,s:i,s:i,s:i}", "mean", mean, "p50",
	                 (int)p[0], "p90", (int)p[1], "p95", (int)p[2], "p99",
	                 (int)p[3], "max", (int)p[4]);
}

static void print_json(FILE *to, const char *file,
                       const struct load_trace_stats *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "file", json_string(file));
	json_object_set_new(o, "format", json_string(s->format));
	json_object_set_new(o, "requests", json_integer((json_int_t)s->rows));
	json_object_set_new(o, "span_s",
	                    json_real((double)s->span_ns / NS_PER_S));
	json_object_set_new(o, "requests_per_s", json_real(s->rate_rps));
	json_object_set_new(o, "gap_cv", json_real(s->gap_cv));
	json_object_set_new(o, "dispersion_1s", json_real(s->dispersion_1s));
	json_object_set_new(o, "peak_1s", json_integer((json_int_t)s->peak_1s));
	json_object_set_new(o, "peak_minute_requests_per_s",
	                    json_real(s->peak_minute_rps));
	json_object_set_new(o, "trough_minute_requests_per_s",
	                    json_real(s->trough_minute_rps));
	json_object_set_new(o, "keys", json_integer((json_int_t)s->keys));
	json_object_set_new(o, "input_tokens",
	                    lengths_json(s->input_mean, s->input_p));
	json_object_set_new(o, "output_tokens",
	                    lengths_json(s->output_mean, s->output_p));
	json_dumpf(o, to,
	           JSON_INDENT(2) | JSON_PRESERVE_ORDER |
	                   JSON_REAL_PRECISION(10));
	fputc('\n', to);
	json_decref(o);
}

/* NAME of DIR/NAME.csv: what a profile is called when nobody says. */
static const char *stem(struct arena *a, const char *file)
{
	const char *slash = strrchr(file, '/');
	char *name = arena_strdup(a, slash ? slash + 1 : file);
	char *dot = strrchr(name, '.');

	if (dot && dot != name)
		*dot = '\0';
	return name;
}

static int write_profile(const char *file, const struct options *o,
                         const struct load_columns *columns, struct arena *a,
                         struct err *e)
{
	struct load_profile profile = {0};
	struct outfile f = {0};
	int64_t interval_ns = NS_PER_MIN;
	json_t *json;

	if (o->interval && (units_duration(o->interval, &interval_ns) != 0 ||
	                    interval_ns < NS_PER_S))
		return err_set(e, "--interval", 0, 0, NULL,
		               "must be a time of at least 1s such as \"1m\", "
		               "not %s",
		               o->interval);
	if (load_profile_make(file, columns, interval_ns, a, &profile, e) != 0)
		return -1;
	profile.name = stem(a, o->profile);
	profile.source = stem(a, file);
	if (outfile_open(&f, NULL, o->profile, e) != 0)
		return -1;
	json = scenario_profile_json(&profile);
	json_dumpf(json, f.f,
	           JSON_INDENT(1) | JSON_PRESERVE_ORDER |
	                   JSON_REAL_PRECISION(6));
	fputc('\n', f.f);
	json_decref(json);
	return outfile_commit(&f, e);
}

static int say(const struct options *o, const struct load_trace_stats *stats)
{
	struct answer answer;
	struct err e = {0};

	if (answer_open(&answer, o, &e) != 0)
		return cli_wrong(&e);
	if (o->format == FORMAT_JSON)
		print_json(answer.to, o->file[0], stats);
	else
		print_text(answer.to, o->file[0], stats);
	return answer_close(&answer);
}

int verb_trace(const struct options *o)
{
	struct load_columns columns = {0};
	struct load_trace_stats stats;
	struct arena arena;
	struct err e = {0};
	int wrong;

	if (o->n_files != 1)
		return cli_usage("trace: one trace file is wanted");
	if (o->interval && o->profile == NULL)
		return cli_usage("trace: --interval goes with --profile");
	arena_init(&arena);
	wrong = read_columns(o->columns, &arena, &columns);
	if (!wrong &&
	    (load_trace_check(o->file[0], &columns, &stats, &e) != 0 ||
	     (o->profile &&
	      write_profile(o->file[0], o, &columns, &arena, &e) != 0)))
		wrong = cli_wrong(&e);
	if (!wrong)
		wrong = say(o, &stats);
	arena_fini(&arena);
	return wrong;
}
