/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explain.c and explain_models.c share. */
#ifndef WEIR_CLI_EXPLAIN_INT_H
#define WEIR_CLI_EXPLAIN_INT_H

#include "cli_int.h"

/* Text in lines of at most 80 columns, each after the indent. */
void explain_wrapped(FILE *to, const char *indent, const char *text);

/*
 * "models", a model, or a config revision (whole, or without cr_ and digest):
 * says it, into json when that is not NULL. The number of revisions said, -1
 * when one could not be read (the error was said).
 */
int explain_models(const struct options *o, const char *word, FILE *to,
                   json_t *json);
/* Names of models and revisions, at most `max`; returns their number. */
size_t explain_model_names(const struct options *o, struct arena *arena,
                           const char **names, size_t max);

#endif
