/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A load point, run. The world is the smallest there is: one endpoint, one
 * deployment, one replica that is ready at once, one load.
 */
#include "fit/fit_int.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Requests a client of a closed loop sends, unless the row had fewer: the
 * habit of benchmarks, whose first wave, all at once, counts too. */
enum { WAVES = 10 };
/* Requests of an open loop whose row does not say how many it had. */
enum { OPEN_REQUESTS = 4000, MOST = 20000 };
/* Clients of a closed loop stop being told apart beyond this. */
enum { CLIENTS_MOST = 100000 };

/* One request that ended well; times in ns. */
struct seen {
	int64_t arrived, first, done;
	uint32_t output_tokens;
};

/* What the run tells of its requests. */
struct ear {
	struct seen *seen;
	size_t n, capacity;
	uint64_t lost;
};

static void hear(void *self, uint32_t replication,
                 const struct measure_request *r, const char *traffic,
                 const char *deployment, const char *replica)
{
	struct ear *ear = self;

	(void)replication, (void)traffic, (void)deployment, (void)replica;
	if (r->outcome != OUTCOME_COMPLETED) {
		ear->lost++;
		return;
	}
	if (ear->n == ear->capacity) {
		ear->capacity = 2 * ear->capacity + 1024;
		ear->seen =
			mem_grow(ear->seen, ear->capacity, sizeof(*ear->seen));
	}
	ear->seen[ear->n++] = (struct seen){r->arrived_ns, r->first_ns,
	                                    r->done_ns, r->output_tokens};
}

/* ---- the load ---------------------------------------------------------- */

double fit_clients(const struct fit_row *row)
{
	double l = fit_in_system(row);
	double held = isnan(l) ? NAN : fmax(1, floor(l + 0.5));
	bool keeps_up = !(row->achieved_rps < 0.95 * row->offered_rps);

	if (row->load == FIT_OPEN_CONSTANT || row->load == FIT_OPEN_POISSON)
		return keeps_up ? NAN : held;
	if (row->load == FIT_BURST)
		return row->n_requests > 0 ? row->n_requests : row->concurrency;
	if (row->load == FIT_CLOSED &&
	    (l < 0.9 * row->concurrency || l > 1.1 * row->concurrency ||
	     !(row->concurrency > 0)))
		return held;
	return row->concurrency;
}

static bool one_wave(const struct fit_row *row)
{
	return row->load == FIT_STATIC_BATCH || row->load == FIT_BURST;
}

static uint64_t requests_of(const struct fit_row *row, double clients)
{
	double n = row->n_requests;

	if (one_wave(row))
		return (uint64_t)clients;
	if (isfinite(clients)) {
		if (!(n > clients && n < WAVES * clients))
			n = WAVES * clients;
		return (uint64_t)fmax(clients, fmin(n, MOST));
	}
	if (!(n >= 1))
		n = OPEN_REQUESTS;
	if (row->load == FIT_OPEN_POISSON && n < OPEN_REQUESTS)
		n = OPEN_REQUESTS;
	return (uint64_t)fmin(n, MOST);
}

static struct dist lengths(double mean, double spread)
{
	struct dist d = dist_constant(fmax(1, mean));

	if (spread > 0) {
		d.kind = DIST_UNIFORM;
		d.a = fmax(1, mean * (1 - spread));
		d.b = fmax(1, mean * (1 + spread));
	}
	return d;
}

static void fill_load(struct load_spec *load, const struct fit_row *row,
                      const struct fit_engine *engine)
{
	double clients = fit_clients(row);
	bool closed = isfinite(clients);

	*load = (struct load_spec){
		.name = "row",
		.kind = closed ? LOAD_CLOSED : LOAD_OPEN,
		.pinned = UINT32_MAX,
		.until_ns = TIME_NEVER,
		.requests = requests_of(row, clients),
		.process = row->load == FIT_OPEN_POISSON ? LOAD_POISSON
	                                                 : LOAD_CONSTANT,
		.rate_rps = closed ? 0 : row->offered_rps,
		.concurrency = closed ? (uint32_t)clients : 0,
		.think_ns = dist_constant((double)engine->request_overhead_ns),
		.error_pause_ns = NS_PER_S,
		.input_tokens = lengths(row->isl, engine->length_spread),
		.output_tokens = lengths(row->osl, engine->length_spread),
		.timeout_ns = TIME_NEVER,
		.speed = 1,
	};
}

static int run(const struct fit_engine *engine, const struct load_spec *load,
               struct ear *ear, struct err *e)
{
	static const char *const name = "fit";
	static const uint32_t zero = 0;
	const struct world_endpoint endpoint = {
		.id = name,
		.name = name,
		.n_deployments = 1,
		.router = {.propagation_ns = dist_constant(0)},
	};
	const struct world_deployment deployment = {
		.id = name,
		.config_id = name,
		.config = &engine->config,
		.replicas = 1,
		.in_split = true,
		.weight = 1,
		.replica_choice = route_policy_find("random"),
	};
	const struct measure_terms terms = {0};
	const struct world_spec spec = {
		.name = name,
		.duration_ns = TIME_NEVER,
		.interval_ns = INT64_C(365) * 24 * 3600 * NS_PER_S,
		.n_endpoints = 1,
		.endpoints = &endpoint,
		.n_deployments = 1,
		.deployments = &deployment,
		.n_loads = 1,
		.loads = load,
		.terms = &terms,
		.names = {1, &name, 1, &name, &zero, 1, &load->name, &zero},
	};
	const struct world_observer observer = {.self = ear, .request = hear};
	struct world *w = world_new(&spec, 1, 0, &observer, e);

	if (w == NULL)
		return -1;
	if (!world_run(w, e)) {
		world_free(w);
		return -1;
	}
	world_free(w);
	return 0;
}

/* ---- what it measured -------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double rank(const double *sorted, size_t n, double p)
{
	size_t k = (size_t)ceil(p * (double)n);

	return sorted[k > 0 ? k - 1 : 0];
}

static struct fit_latency describe(double *ms, size_t n)
{
	struct fit_latency l = {NAN, NAN, NAN, NAN, NAN};
	double sum = 0;

	if (n == 0)
		return l;
	for (size_t i = 0; i < n; i++)
		sum += ms[i];
	qsort(ms, n, sizeof(*ms), by_value);
	l.mean = sum / (double)n;
	l.p50 = rank(ms, n, 0.5);
	l.p90 = rank(ms, n, 0.9);
	l.p95 = rank(ms, n, 0.95);
	l.p99 = rank(ms, n, 0.99);
	return l;
}

static void latencies(const struct ear *ear, double overhead_ms,
                      struct fit_prediction *out)
{
	double *v = mem_new(ear->n + 1, 3 * sizeof(*v));
	double *ttft = v, *e2e = v + ear->n, *tpot = v + 2 * ear->n;
	size_t n = 0, many = 0;

	for (size_t i = 0; i < ear->n; i++) {
		const struct seen *s = &ear->seen[i];

		ttft[n] = (double)(s->first - s->arrived) / NS_PER_MS +
		          overhead_ms;
		e2e[n++] = (double)(s->done - s->arrived) / NS_PER_MS +
		           overhead_ms;
		if (s->output_tokens > 1)
			tpot[many++] = (double)(s->done - s->first) /
			               NS_PER_MS / (s->output_tokens - 1);
	}
	out->ttft = describe(ttft, n);
	out->e2e = describe(e2e, n);
	out->itl = describe(tpot, many);
	mem_free(v);
}

static void weigh(const struct ear *ear, const struct load_spec *load,
                  const struct fit_row *row, double overhead_ms,
                  struct fit_prediction *out)
{
	double end_ms = overhead_ms;

	latencies(ear, overhead_ms, out);
	if (ear->n > 0)
		end_ms += (double)ear->seen[ear->n - 1].done / NS_PER_MS;
	/*
	 * A closed loop's rate is Little's law: counting completions would
	 * count the drain at its end.
	 */
	if (load->kind == LOAD_CLOSED && !one_wave(row))
		out->rps = load->concurrency * 1000.0 / out->e2e.mean;
	else
		out->rps = (double)ear->n * 1000 / end_ms;
	out->out_tok_s = out->rps * row->osl;
	out->in_system = out->rps * out->e2e.mean / 1000;
}

int fit_predict(const struct fit_engine *engine, const struct fit_row *row,
                struct fit_prediction *out, struct err *e)
{
	double clients = fit_clients(row);
	struct load_spec load;
	struct ear ear = {0};
	int wrong;

	if (!(row->isl > 0) || !(row->osl > 0))
		return err_set(e, row->file, (int)row->line, 0, NULL,
		               "says no lengths of input and output");
	if (!(clients >= 1 && clients <= CLIENTS_MOST) &&
	    !(isnan(clients) && row->offered_rps > 0))
		return err_set(e, row->file, (int)row->line, 0, NULL,
		               "says neither a number of clients nor a rate");
	fill_load(&load, row, engine);
	wrong = run(engine, &load, &ear, e);
	if (!wrong && ear.lost > 0)
		wrong = err_set(e, row->file, (int)row->line, 0, NULL,
		                "asks for more tokens a request than the "
		                "replica can hold");
	if (!wrong) {
		assert(ear.n == load.requests);
		weigh(&ear, &load, row,
		      (double)engine->request_overhead_ns / NS_PER_MS, out);
	}
	mem_free(ear.seen);
	return wrong;
}
