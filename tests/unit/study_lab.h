/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rule, and results made by hand for it to be judged on. */
#ifndef WEIR_STUDY_LAB_H
#define WEIR_STUDY_LAB_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "study/study.h"
#include "unit/rule_rig.h"

enum { LAB_REPS = 400, LAB_TERMS = 4 };

struct lab {
	struct rig rig;
	struct measure_result result;
	struct measure_value value[LAB_REPS * LAB_TERMS];
	struct study_judgement out;
};

static inline int lab_setup(void **state)
{
	static struct lab lab;

	memset(&lab, 0, sizeof(lab));
	arena_init(&lab.rig.arena);
	*state = &lab;
	return 0;
}

static inline int lab_teardown(void **state)
{
	struct lab *lab = *state;

	arena_fini(&lab->rig.arena);
	return 0;
}

/* Reads a rule and makes room for so many replications. */
static inline void lab_begin(struct lab *lab, const char *text, uint32_t reps)
{
	assert_true(reps <= LAB_REPS);
	lab->rig.terms = (struct measure_terms){0};
	rig_read(&lab->rig, text, &one);
	assert_true(lab->rig.terms.n <= LAB_TERMS);
	memset(lab->value, 0, sizeof(lab->value));
	lab->result = (struct measure_result){
		.replications = reps,
		.n_terms = lab->rig.terms.n,
		.value = lab->value,
	};
}

static inline struct measure_value *lab_at(struct lab *lab, uint32_t rep,
                                           uint32_t term)
{
	assert_true(rep < lab->result.replications);
	assert_true(term < lab->result.n_terms);
	return &lab->value[rep * lab->result.n_terms + term];
}

/* x of n, as the probe of a share or of moved keys has it. */
static inline void lab_share(struct lab *lab, uint32_t rep, double x, double n)
{
	*lab_at(lab, rep, 0) = (struct measure_value){
		.x = x, .n = n, .value = x / n, .request_share = x / n};
}

static inline void lab_value(struct lab *lab, uint32_t rep, uint32_t term,
                             double value)
{
	*lab_at(lab, rep, term) = (struct measure_value){.value = value};
}

static inline void lab_missing(struct lab *lab, uint32_t rep, uint32_t term)
{
	*lab_at(lab, rep, term) = (struct measure_value){.missing = true};
}

/* Twenty batches around a mean, half of them `spread` above. */
static inline void lab_batches(struct lab *lab, uint32_t term, double mean,
                               double spread)
{
	struct measure_value *v = lab_at(lab, 0, term);

	*v = (struct measure_value){.value = mean,
	                            .n_batches = MEASURE_BATCHES};
	for (uint32_t i = 0; i < MEASURE_BATCHES; i++)
		v->batch[i] = mean + (i % 2 ? spread : -spread);
}

/* The verdict, which is expected to be this one. */
static inline void lab_expect(struct lab *lab, enum study_verdict verdict)
{
	const struct study_judgement *o = &lab->out;

	lab->out = study_judge(&lab->rig.rule, &lab->rig.terms, &lab->result);
	if (o->verdict != verdict)
		fail_msg("%s: %s, not %s: seen %g, bound %g, %g .. %g, p %g: "
		         "%s",
		         lab->rig.rule.text, study_verdict_name(o->verdict),
		         study_verdict_name(verdict), o->seen, o->bound, o->low,
		         o->high, o->p, o->note);
}

static inline void lab_note(const struct lab *lab, const char *says)
{
	if (strstr(lab->out.note, says) == NULL)
		fail_msg("%s: \"%s\" is not in \"%s\"", lab->rig.rule.text,
		         says, lab->out.note);
}

#define LAB_TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

#endif
