/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_int.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- one --------------------------------------------------------------- */

static bool asked_to_stop(void *self, int64_t now_ns)
{
	(void)self;
	(void)now_ns;
	return signals_stop();
}

static int read_cells(struct trial *t, const struct options *o,
                      const struct places *p)
{
	struct scenario_places places = {p->directory, p->n};

	if (cells_make(&t->cells, t->file, o, p, &t->e) != 0)
		return -1;
	t->outcome = mem_new(t->cells.n, sizeof(*t->outcome));
	t->numbers = mem_new(t->cells.n, sizeof(json_t *));
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct cell *c = &t->cells.cell[i];
		struct scenario *s = scenario_load(t->file, c->variant, c->set,
		                                   c->n_sets, &places, &t->e);

		if (s == NULL)
			return -1;
		t->outcome[i].scenario = s;
		snprintf(t->name, sizeof(t->name), "%.127s", s->name);
	}
	return 0;
}

static int run_cell(struct trial *t, size_t i)
{
	struct outcome *out = &t->outcome[i];
	const struct scenario *s = out->scenario;
	struct study_runs runs = {
		.world = &s->world,
		.seed = s->seed,
		.reps = s->reps,
		.observer = {.stop = asked_to_stop},
	};

	out->result = study_run(&runs, &t->interrupted, &t->e);
	if (out->result == NULL || t->interrupted)
		return -1;
	out->judgement = mem_new(s->n_rules + 1, sizeof(*out->judgement));
	for (uint32_t k = 0; k < s->n_rules; k++)
		out->judgement[k] =
			study_judge(&s->rules[k], &s->terms, out->result);
	t->numbers[i] = baseline_numbers(out, &t->cells.cell[i]);
	/* what is large is not needed any more */
	measure_result_free(out->result);
	out->result = NULL;
	return 0;
}

void trial_run(struct trial *t, const struct options *o, const struct places *p)
{
	if (read_cells(t, o, p) != 0)
		return;
	for (size_t i = 0; i < t->cells.n; i++)
		if (run_cell(t, i) != 0)
			return;
	t->ran = true;
}

int trial_exit(const struct trial *t)
{
	int worst = EXIT_HELD;

	if (t->e.set)
		return EXIT_INPUT;
	if (!t->ran)
		return EXIT_INTERRUPTED;
	for (size_t i = 0; i < t->cells.n; i++)
		if (outcome_exit(&t->outcome[i]) > worst)
			worst = EXIT_RULE;
	return t->n_changes > 0 || t->missing ? EXIT_RULE : worst;
}

/* ---- side by side ------------------------------------------------------ */

struct crew {
	struct trials *trials;
	const struct options *options;
	const struct places *places;
	atomic_size_t next;
};

static void *work(void *self)
{
	struct crew *crew = self;

	for (;;) {
		size_t i = atomic_fetch_add(&crew->next, 1);

		if (i >= crew->trials->n || signals_stop())
			return NULL;
		trial_run(&crew->trials->trial[i], crew->options, crew->places);
	}
}

void trials_run(struct trials *t, const struct options *o, unsigned threads)
{
	struct places places;
	struct crew crew = {.trials = t, .options = o, .places = &places};
	pthread_t *thread = mem_new(threads, sizeof(*thread));
	unsigned started = 0;

	places_fill(&places, o);
	/* once, before there are threads that would do it */
	json_object_seed(0);
	while (started + 1 < threads && started + 1 < t->n &&
	       pthread_create(&thread[started], NULL, work, &crew) == 0)
		started++;
	work(&crew);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	mem_free(thread);
}

/* ---- Holm -------------------------------------------------------------- */

#define DEFAULT_ALPHA 0.001

struct tested {
	struct study_judgement *judgement;
	double alpha;
	double weighed; /* p / alpha */
	bool by_p;      /* it failed, and by its p alone */
};

/* A movement that was wrong fails whatever its p. */
static bool failed_by_p(const struct measure_rule *rule,
                        const struct study_judgement *j, double alpha)
{
	const struct measure_node *root = &rule->nodes[0];
	bool moved = root->kind == NODE_COMPARE &&
	             rule->nodes[root->b].kind == NODE_LEAST;

	return j->verdict == VERDICT_FAIL && j->p < alpha &&
	       !(moved && j->note[0]);
}

static size_t collect(const struct trials *t, struct tested *out)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct trial *trial = &t->trial[i];

		for (size_t c = 0; trial->ran && c < trial->cells.n; c++) {
			struct outcome *o = &trial->outcome[c];

			for (uint32_t k = 0; k < o->scenario->n_rules; k++) {
				const struct measure_rule *r =
					&o->scenario->rules[k];
				struct study_judgement *j = &o->judgement[k];
				double alpha = r->confidence > 0
				                       ? 1 - r->confidence
				                       : DEFAULT_ALPHA;

				if (!isfinite(j->p))
					continue;
				if (out)
					out[n] = (struct tested){
						j, alpha, j->p / alpha,
						failed_by_p(r, j, alpha)};
				n++;
			}
		}
	}
	return n;
}

static int by_weighed(const void *a, const void *b)
{
	const struct tested *x = a, *y = b;

	return (x->weighed > y->weighed) - (x->weighed < y->weighed);
}

/*
 * Holm's weighted procedure (Scandinavian Journal of Statistics 6, 1979):
 * from the smallest p / alpha on, a hypothesis is rejected while p is below
 * alpha x (the largest alpha) / (the sum of those that are left), and never
 * above its own alpha. Of equal confidences that is alpha / (tests left).
 */
void trials_correct(struct trials *t)
{
	size_t n = collect(t, NULL);
	struct tested *all = mem_new(n + 1, sizeof(*all));
	double left = 0, family = 0;
	bool rejecting = true;

	collect(t, all);
	qsort(all, n, sizeof(*all), by_weighed);
	for (size_t i = 0; i < n; i++) {
		left += all[i].alpha;
		family = fmax(family, all[i].alpha);
	}
	for (size_t i = 0; i < n; i++) {
		double part = fmin(1, family / left);
		struct study_judgement *j = all[i].judgement;

		rejecting = rejecting && j->p < all[i].alpha * part;
		left -= all[i].alpha;
		if (rejecting || !all[i].by_p)
			continue;
		j->verdict = VERDICT_PASS;
		snprintf(j->note, sizeof(j->note),
		         "not small among the p of %zu tests", n);
	}
	t->n_tests = (uint32_t)n;
	mem_free(all);
}
