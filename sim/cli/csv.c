/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CSV as RFC 4180 has it, with LF. Units are in the names of columns; an
 * empty field is a value that does not exist, "inf" one that never came.
 */
#include "cli_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_text(FILE *f, const char *text)
{
	if (text == NULL)
		return;
	if (strpbrk(text, ",\"\n\r") == NULL) {
		fputs(text, f);
		return;
	}
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void put_real(FILE *f, double value)
{
	fputc(',', f);
	if (isfinite(value))
		fprintf(f, "%.9g", value);
	else if (isinf(value))
		fputs("inf", f);
}

static void put_time(FILE *f, int64_t ns)
{
	fputc(',', f);
	put_ms(f, ns);
}

static void put_seconds(FILE *f, int64_t ns)
{
	fprintf(f, "%" PRId64 ".%09" PRId64, ns / NS_PER_S, ns % NS_PER_S);
}

static const char *const scope_names[] = {
	[SCOPE_ENDPOINT] = "endpoint",
	[SCOPE_DEPLOYMENT] = "deployment",
	[SCOPE_REPLICA] = "replica",
	[SCOPE_TRAFFIC] = "traffic",
};

void csv_series_header(FILE *f)
{
	fputs("variant,replication,from_s,to_s,scope,id,arrived,completed,"
	      "rejected,timed_out,failed,requests_per_s,input_tokens_per_s,"
	      "output_tokens_per_s,share,expected_share,token_share,"
	      "ttft_p50_ms,ttft_p95_ms,ttft_p99_ms,e2e_p95_ms,tpot_mean_ms,"
	      "itl_mean_ms,"
	      "queue,batch,in_flight,ready,wanted,kv_used\n",
	      f);
}

void csv_series_row(FILE *f, const char *variant, uint32_t replication,
                    const struct measure_row *row)
{
	put_text(f, variant);
	fprintf(f, ",%" PRIu32 ",", replication);
	put_seconds(f, row->from_ns);
	fputc(',', f);
	put_seconds(f, row->to_ns);
	fprintf(f, ",%s,", scope_names[row->scope]);
	put_text(f, row->id);
	fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
	        row->arrived, row->completed, row->rejected, row->timed_out,
	        row->failed);
	put_real(f, row->request_rate);
	put_real(f, row->input_token_rate);
	put_real(f, row->output_token_rate);
	put_real(f, row->share);
	put_real(f, row->expected_share);
	put_real(f, row->token_share);
	put_time(f, row->ttft_p50_ns);
	put_time(f, row->ttft_p95_ns);
	put_time(f, row->ttft_p99_ns);
	put_time(f, row->e2e_p95_ns);
	put_real(f, row->tpot_mean_ns / (double)NS_PER_MS);
	put_real(f, row->itl_mean_ns / (double)NS_PER_MS);
	put_real(f, row->queue);
	put_real(f, row->batch);
	put_real(f, row->in_flight);
	put_real(f, row->ready);
	put_real(f, row->wanted);
	put_real(f, row->kv_used);
	fputc('\n', f);
}

void csv_requests_header(FILE *f)
{
	fputs("variant,replication,traffic,number,arrival_s,key,deployment,"
	      "replica,outcome,error,queue_ms,ttft_ms,tpot_ms,e2e_ms,"
	      "input_tokens,output_tokens,preemptions,spilled\n",
	      f);
}

static int64_t since(int64_t from_ns, int64_t to_ns)
{
	return to_ns < 0 ? -1 : to_ns - from_ns;
}

/* Queue time, TTFT, TPOT and E2E; the last two of completed requests only. */
static void put_latencies(FILE *f, const struct measure_request *r)
{
	bool whole = r->outcome == OUTCOME_COMPLETED;
	int64_t tokens = r->output_tokens;

	put_time(f, since(r->arrived_ns, r->started_ns));
	put_time(f, since(r->arrived_ns, r->first_ns));
	put_time(f, whole && tokens > 1
	                    ? (r->done_ns - r->first_ns) / (tokens - 1)
	                    : -1);
	put_time(f, whole ? since(r->arrived_ns, r->done_ns) : -1);
}

/* The parameters are those of an observer's hook, and the variant. */
/* NOLINTNEXTLINE(readability-function-size) */
void csv_request_row(FILE *f, const char *variant, uint32_t replication,
                     const struct measure_request *r, const char *traffic,
                     const char *deployment, const char *replica)
{
	put_text(f, variant);
	fprintf(f, ",%" PRIu32 ",", replication);
	put_text(f, traffic);
	fprintf(f, ",%" PRIu64 ",", r->number);
	put_seconds(f, r->arrived_ns);
	fputc(',', f);
	put_text(f, r->key_text);
	fputc(',', f);
	put_text(f, deployment);
	fputc(',', f);
	put_text(f, replica);
	fprintf(f, ",%s,%s", measure_outcome_name(r->outcome),
	        r->error == ERROR_NONE ? "" : measure_error_name(r->error));
	put_latencies(f, r);
	fprintf(f, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s\n", r->input_tokens,
	        r->output_tokens, r->preemptions,
	        r->spilled ? "true" : "false");
}

/* ---- cells ------------------------------------------------------------- */

static void put_hist(FILE *f, const struct measure_hist *h)
{
	put_real(f, measure_hist_mean(h) / (double)NS_PER_MS);
	put_time(f, measure_hist_quantile(h, 0.50));
	put_time(f, measure_hist_quantile(h, 0.95));
	put_time(f, measure_hist_quantile(h, 0.99));
}

static void cells_header(FILE *f, const struct cells *c,
                         const struct outcome *o)
{
	const struct world_spec *w = &o[0].scenario->world;

	fputs("cell", f);
	for (size_t i = 0; i < c->n_axes; i++) {
		fputc(',', f);
		put_text(f, c->axis[i]);
	}
	fputs(",replications,endpoint,requests,completed,requests_per_s,"
	      "output_tokens_per_s",
	      f);
	for (size_t i = 0; i < 4; i++) {
		static const char *const name[] = {"ttft", "tpot", "itl",
		                                   "e2e"};

		fprintf(f, ",%s_mean_ms,%s_p50_ms,%s_p95_ms,%s_p99_ms", name[i],
		        name[i], name[i], name[i]);
	}
	for (uint32_t d = 0; d < w->n_deployments; d++)
		fprintf(f, ",share_%s,expected_share_%s", w->deployments[d].id,
		        w->deployments[d].id);
	fputs(",rules_passed,rules_failed,rules_undecided\n", f);
}

static void cells_rules(FILE *f, const struct outcome *o)
{
	unsigned n[3] = {0, 0, 0};

	for (uint32_t i = 0; i < o->scenario->n_rules; i++)
		n[o->judgement[i].verdict]++;
	fprintf(f, ",%u,%u,%u\n", n[VERDICT_PASS], n[VERDICT_FAIL],
	        n[VERDICT_UNDECIDED]);
}

static void cells_row(FILE *f, const struct cell *cell, size_t n_axes,
                      const struct outcome *o, uint32_t endpoint)
{
	const struct world_spec *w = &o->scenario->world;
	const struct measure_scope_result *s =
		measure_result_scope(o->result, SCOPE_ENDPOINT, endpoint);

	put_text(f, cell->name);
	for (size_t i = 0; i < n_axes; i++) {
		fputc(',', f);
		put_text(f, cell->value[i]);
	}
	fprintf(f, ",%" PRIu32 ",%s,%" PRIu64 ",%" PRIu64,
	        o->result->replications, w->endpoints[endpoint].id, s->requests,
	        s->completed);
	put_real(f, (double)s->requests / s->seconds);
	put_real(f, (double)s->output_tokens / s->seconds);
	put_hist(f, &s->ttft);
	put_hist(f, &s->tpot);
	put_hist(f, &s->itl);
	put_hist(f, &s->e2e);
	for (uint32_t d = 0; d < w->n_deployments; d++) {
		const struct measure_scope_result *x =
			measure_result_scope(o->result, SCOPE_DEPLOYMENT, d);
		bool own = x->endpoint == endpoint;

		put_real(f,
		         own ? (double)x->requests / (double)s->requests : NAN);
		put_real(f, own ? x->expected_requests / (double)s->requests
		                : NAN);
	}
	cells_rules(f, o);
}

void csv_cells(FILE *f, const struct cells *c, const struct outcome *o)
{
	cells_header(f, c, o);
	for (size_t i = 0; i < c->n; i++) {
		if (o[i].result == NULL)
			continue;
		for (uint32_t e = 0; e < o[i].scenario->world.n_endpoints; e++)
			cells_row(f, &c->cell[i], c->n_axes, &o[i], e);
	}
}
