/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mlperf_log_summary.txt of MLPerf's loadgen: lines of "name : value", times
 * in ns. Server and Interactive arrive as a Poisson process, Offline all at
 * once, SingleStream one after the other. Input lengths are not in the file.
 */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "fit/read_int.h"

#define TITLE "MLPerf Results Summary"

static const struct line {
	const char *name;
	size_t at;
	double scale;
} lines[] = {
	{"Scheduled samples per second", FIT_AT(offered_rps), 1},
	{"Completed samples per second", FIT_AT(achieved_rps), 1},
	{"Samples per second", FIT_AT(achieved_rps), 1},
	{"Completed tokens per second", FIT_AT(out_tok_s), 1},
	{"Tokens per second", FIT_AT(out_tok_s), 1},
	{"Mean latency (ns)", FIT_AT(e2e.mean), 1e-6},
	{"50.00 percentile latency (ns)", FIT_AT(e2e.p50), 1e-6},
	{"90.00 percentile latency (ns)", FIT_AT(e2e.p90), 1e-6},
	{"95.00 percentile latency (ns)", FIT_AT(e2e.p95), 1e-6},
	{"99.00 percentile latency (ns)", FIT_AT(e2e.p99), 1e-6},
	{"Mean First Token latency (ns)", FIT_AT(ttft.mean), 1e-6},
	{"50.00 percentile first token latency (ns)", FIT_AT(ttft.p50), 1e-6},
	{"90.00 percentile first token latency (ns)", FIT_AT(ttft.p90), 1e-6},
	{"95.00 percentile first token latency (ns)", FIT_AT(ttft.p95), 1e-6},
	{"99.00 percentile first token latency (ns)", FIT_AT(ttft.p99), 1e-6},
	{"Mean Time to Output Token (ns)", FIT_AT(itl.mean), 1e-6},
	{"Mean Time per Output Token (ns)", FIT_AT(itl.mean), 1e-6},
	{"50.00 percentile time to output token (ns)", FIT_AT(itl.p50), 1e-6},
	{"90.00 percentile time to output token (ns)", FIT_AT(itl.p90), 1e-6},
	{"95.00 percentile time to output token (ns)", FIT_AT(itl.p95), 1e-6},
	{"99.00 percentile time to output token (ns)", FIT_AT(itl.p99), 1e-6},
};

/* What the lines say that are no numbers. */
struct summary {
	char scenario[32], mode[32], valid[32], sut[96];
	double target_qps;
	uint32_t titles;
};

/* A title has its line for itself; prose may quote it. */
static bool is_title(const char *text, size_t n)
{
	const size_t title = sizeof TITLE - 1;

	return n >= title && strncmp(text, TITLE, title) == 0 &&
	       strspn(text + title, " \r") == n - title;
}

static bool detects(const struct fit_input *in)
{
	const char *at = in->text;

	if (in->n_docs > 0)
		return false;
	for (;;) {
		if (is_title(at, strcspn(at, "\n")))
			return true;
		at += strcspn(at, "\n");
		if (*at == '\0')
			return false;
		at++;
	}
}

static bool is_named(const char *name, const char *wanted)
{
	return strcasecmp(name, wanted) == 0;
}

/* A line's two sides without white space around them; false: no such line. */
static bool split(const char *text, size_t n, char name[128], char value[128])
{
	const char *colon = memchr(text, ':', n);
	size_t a, b;

	if (colon == NULL)
		return false;
	a = (size_t)(colon - text);
	while (a > 0 && isspace((unsigned char)text[a - 1]))
		a--;
	while (a > 0 && isspace((unsigned char)*text)) {
		text++;
		a--;
		n--;
	}
	b = n - (size_t)(colon - text) - 1;
	colon++;
	while (b > 0 && isspace((unsigned char)*colon)) {
		colon++;
		b--;
	}
	while (b > 0 && isspace((unsigned char)colon[b - 1]))
		b--;
	if (a >= 128 || b >= 128)
		return false;
	memcpy(name, text, a);
	name[a] = '\0';
	memcpy(value, colon, b);
	value[b] = '\0';
	return true;
}

static int read_number(struct fit_reading *r, uint32_t line,
                       const struct line *l, const char *value)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];
	char shown[64];
	double v = 0;

	if (fit_number(value, &v) < 0 || v < 0) {
		fit_text(shown, sizeof shown, value);
		return err_set(r->e, r->in->path, (int)line, 0, l->name,
		               "must be a number of at least 0, not %s", shown);
	}
	v *= l->scale;
	memcpy((char *)row + l->at, &v, sizeof v);
	return 0;
}

static int read_line(struct fit_reading *r, struct summary *sum, uint32_t line,
                     const char *name, const char *value)
{
	double v = 0;

	for (size_t i = 0; i < FIT_COUNT(lines); i++)
		if (is_named(name, lines[i].name))
			return read_number(r, line, &lines[i], value);
	if (is_named(name, "Scenario"))
		fit_text(sum->scenario, sizeof sum->scenario, value);
	else if (is_named(name, "Mode"))
		fit_text(sum->mode, sizeof sum->mode, value);
	else if (is_named(name, "Result is"))
		fit_text(sum->valid, sizeof sum->valid, value);
	else if (is_named(name, "SUT name"))
		fit_text(sum->sut, sizeof sum->sut, value);
	else if (is_named(name, "target_qps") && fit_number(value, &v) == 0)
		sum->target_qps = v;
	return 0;
}

static int read_lines(struct fit_reading *r, struct summary *sum)
{
	const char *at = r->in->text, *end;
	char name[128], value[128];
	uint32_t line = 0;
	size_t n;

	while (*at != '\0') {
		end = strchr(at, '\n');
		n = end == NULL ? strlen(at) : (size_t)(end - at);
		line++;
		sum->titles += is_title(at, n);
		if (sum->titles > 1)
			return err_set(
				r->e, r->in->path, (int)line, 0, NULL,
				"holds a second summary: one file a run");
		if (split(at, n, name, value) &&
		    read_line(r, sum, line, name, value) < 0)
			return -1;
		at += n + (end != NULL);
	}
	return 0;
}

static int read_scenario(struct fit_reading *r, const struct summary *sum)
{
	struct fit_row *row = &r->sweep->row[r->sweep->n - 1];

	if (strncmp(sum->mode, "Performance", 11) != 0)
		return err_set(r->e, r->in->path, 0, 0, "Mode",
		               "must be PerformanceOnly, not %s", sum->mode);
	if (is_named(sum->scenario, "Server") ||
	    is_named(sum->scenario, "Interactive")) {
		row->load = FIT_OPEN_POISSON;
		if (isnan(row->offered_rps) && sum->target_qps > 0)
			row->offered_rps = sum->target_qps;
		/* Older loadgens count as answered what was sent. */
		if (isnan(row->achieved_rps))
			fit_remark(r, "no completed samples a second in the "
			              "file");
		return 0;
	}
	if (is_named(sum->scenario, "Offline")) {
		row->load = FIT_BURST;
		return 0;
	}
	if (is_named(sum->scenario, "SingleStream") ||
	    is_named(sum->scenario, "Single Stream")) {
		row->load = FIT_CLOSED;
		row->concurrency = 1;
		return 0;
	}
	return err_set(r->e, r->in->path, 0, 0, "Scenario",
	               "must be Server, Interactive, Offline or SingleStream, "
	               "not %s",
	               sum->scenario);
}

static int reads(struct fit_reading *r)
{
	struct summary sum;
	struct fit_row *row = fit_reading_row(r, 0);

	if (row == NULL)
		return -1;
	memset(&sum, 0, sizeof sum);
	if (read_lines(r, &sum) < 0 || read_scenario(r, &sum) < 0)
		return -1;
	fit_text(row->engine, sizeof row->engine, sum.sut);
	if (row->out_tok_s > 0 && row->achieved_rps > 0)
		row->osl = row->out_tok_s / row->achieved_rps;
	if (strncmp(sum.valid, "VALID", 5) != 0)
		fit_remark(r, "MLPerf's rules did not hold: result is %s",
		           sum.valid[0] == '\0' ? "not said" : sum.valid);
	return 0;
}

const struct fit_format fit_mlperf = {"MLPerf loadgen", detects, reads};
