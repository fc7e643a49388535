/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/measure_int.h"

#include <string.h>

void measure_tally_init(struct measure_tally *t)
{
	*t = (struct measure_tally){0};
	for (int i = 0; i < MEASURE_LATENCIES; i++)
		measure_hist_init(&t->latency[i]);
	measure_hist_init(&t->row.ttft);
	measure_hist_init(&t->row.e2e);
}

void measure_tally_fini(struct measure_tally *t)
{
	for (int i = 0; i < MEASURE_LATENCIES; i++)
		measure_hist_fini(&t->latency[i]);
	measure_hist_fini(&t->row.ttft);
	measure_hist_fini(&t->row.e2e);
}

uint32_t measure_replica_new(struct measure *m, uint32_t deployment,
                             const char *name, int64_t now_ns)
{
	assert(deployment < m->config.names.n_deployments && name);
	measure_clock(m, now_ns);
	if (m->n_replicas == m->room) {
		m->room = m->room ? 2 * m->room : 16;
		m->replica = mem_grow(m->replica, m->room, sizeof *m->replica);
	}
	struct measure_replica *replica = mem_new(1, sizeof *replica);
	measure_tally_init(&replica->tally);
	for (int i = 0; i < MEASURE_LEVELS; i++)
		replica->tally.level[i].since_ns = now_ns;
	replica->deployment = deployment;
	replica->place = m->places[deployment]++;
	size_t size = strlen(name) + 1;
	replica->name = mem_new(size, 1);
	memcpy(replica->name, name, size);
	m->replica[m->n_replicas] = replica;
	measure_probes_replica(m, m->n_replicas);
	return m->n_replicas++;
}

void measure_replica_gone(struct measure *m, uint32_t replica, int64_t now_ns)
{
	assert(replica < m->n_replicas && !m->replica[replica]->gone);
	if (m->replica[replica]->tally.counted)
		measure_replica_ready(m, replica, false, now_ns);
	measure_clock(m, now_ns);
	struct measure_replica *r = m->replica[replica];
	for (int i = 0; i < MEASURE_LEVELS; i++)
		assert(r->tally.level[i].value == 0);
	measure_hist_fini(&r->tally.row.ttft);
	measure_hist_fini(&r->tally.row.e2e);
	r->gone = true;
}

uint32_t measure_tallies(struct measure *m, const struct measure_request *r,
                         struct measure_tally *out[4])
{
	assert(r->traffic < m->config.names.n_traffics);
	assert(r->endpoint < m->config.names.n_endpoints);
	uint32_t n = 0;
	out[n++] = &m->traffic[r->traffic];
	out[n++] = &m->endpoint[r->endpoint].tally;
	if (r->deployment != MEASURE_NONE)
		out[n++] = &m->deployment[r->deployment];
	if (r->replica != MEASURE_NONE)
		out[n++] = &m->replica[r->replica]->tally;
	return n;
}
