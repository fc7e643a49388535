/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine against the rules written out, over random loads: first and last
 * token of each request, its preemptions, what it found in the cache, and the
 * number of steps must be the same.
 */
#include "replica_naive.h"

#define LOADS 1500u
#define REQUESTS NAIVE_REQUESTS

/* ---- loads ------------------------------------------------------------- */

static uint32_t between(struct stream *s, uint32_t low, uint32_t high)
{
	return low + (uint32_t)stream_below(s, (uint64_t)(high - low) + 1);
}

static void random_draft(struct stream *s, struct replica_draft *draft)
{
	uint32_t i;

	draft->tokens = between(s, 1, 5);
	draft->lookahead = between(s, 0, 1) * draft->tokens;
	draft->step_ticks = between(s, 0, 5000);
	draft->per_decode_ticks = between(s, 0, 500);
	for (i = 0; i < draft->tokens; i++)
		draft->acceptance[i] = stream_unit(s);
}

static void random_load(struct stream *s, struct naive *n)
{
	uint32_t input_max = between(s, 1, 100), spread = between(s, 0, 900);
	uint32_t output_max = between(s, 1, 60), i;
	int64_t at_ns = 0;

	memset(n, 0, sizeof *n);
	n->config = lab_config();
	n->config.max_num_seqs = between(s, 1, 30);
	n->config.max_num_batched_tokens = between(s, 1, 200);
	n->config.block_tokens = between(s, 1, 20);
	n->config.kv_blocks = between(s, 0, 3) ? between(s, 5, 60) : 0;
	n->config.curve = lab_linear(between(s, 1, 900), between(s, 0, 9),
	                             between(s, 0, 9));
	if (between(s, 0, 1))
		n->config.long_prefill_tokens = between(s, 1, 60);
	if (between(s, 0, 1))
		n->config.watermark_blocks = between(s, 0, 4);
	if (between(s, 0, 1))
		random_draft(s, &n->config.draft);
	n->config.prefix_cache = n->config.kv_blocks > 0 && between(s, 0, 1);
	n->config.curve.piece[0].base_ticks += between(s, 0, 1023);
	n->config.curve.piece[0].per_context_ticks = between(s, 0, 300);
	n->config.curve.piece[0].per_pair_ticks = between(s, 0, 300);
	for (i = 0; i < REQUESTS; i++) {
		struct naive_request *q = &n->q[i];

		at_ns += between(s, 0, spread);
		q->at_ns = at_ns;
		q->input = between(s, 1, input_max);
		q->output = between(s, 1, output_max);
		q->prefix = between(s, 0, q->input);
		q->group = between(s, 0, 2);
		q->first_ns = q->done_ns = TIME_NEVER;
	}
}

static void engine_is_the_rules(void **state)
{
	struct stream s = stream_open(7, 0, 0, STREAM_ARRIVAL);
	uint64_t preemptions = 0, refused = 0, given_more = 0, cached = 0;
	struct naive *n = mem_new(1, sizeof *n);
	struct lab lab;
	unsigned i, j;

	(void)state;
	for (i = 0; i < LOADS; i++) {
		stream_seek(&s, i);
		random_load(&s, n);
		lab_init(&lab, &n->config, REQUESTS);
		replica_start(lab.replica, NULL);
		for (j = 0; j < REQUESTS; j++) {
			lab.requests[j].work.prefix_tokens = n->q[j].prefix;
			lab.requests[j].work.prefix_group = n->q[j].group;
			lab_request(&lab, j, n->q[j].at_ns, n->q[j].input,
			            n->q[j].output);
		}
		naive_run(n);
		lab_run(&lab);
		for (j = 0; j < REQUESTS; j++) {
			const struct lab_request *q = &lab.requests[j];

			if (q->first_ns != n->q[j].first_ns ||
			    q->done_ns != n->q[j].done_ns ||
			    q->work.cached != n->q[j].cached ||
			    q->work.preemptions != n->q[j].preemptions)
				fail_msg("load %u, request %u", i, j);
			preemptions += n->q[j].preemptions;
			cached += n->q[j].cached;
			refused += q->dropped;
		}
		assert_int_equal(replica_steps_run(lab.replica), n->steps);
		given_more += n->given - n->decoded;
		assert_int_equal(lab.calendar.now_ns,
		                 replica_ns(n->clock_ticks));
		lab_fini(&lab);
	}
	mem_free(n);
	print_message("%u loads, %llu preemptions, %llu refused, %llu drafts "
	              "were right, %llu tokens from the cache\n",
	              LOADS, (unsigned long long)preemptions,
	              (unsigned long long)refused,
	              (unsigned long long)given_more,
	              (unsigned long long)cached);
	assert_true(cached > 10000);
	assert_true(preemptions > 1000 && refused > 100 && given_more > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_is_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
