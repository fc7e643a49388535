/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

static int check(const char *file, const struct options *o,
                 const struct places *p)
{
	struct scenario_places places = {p->directory, p->n};
	struct cells cells = {0};
	struct err e = {0};
	char text[600];
	int wrong = 0;

	if (cells_make(&cells, file, o, p, &e) != 0)
		wrong = cli_wrong(&e);
	for (size_t i = 0; i < cells.n && !wrong; i++) {
		const struct cell *c = &cells.cell[i];
		struct scenario *s = scenario_load(file, c->variant, c->set,
		                                   c->n_sets, &places, &e);

		if (s == NULL) {
			wrong = cli_wrong(&e);
			continue;
		}
		if (i == 0 && !o->quiet) {
			for (uint32_t k = 0; k < s->n_warnings; k++)
				fprintf(stderr, "warning: %s\n",
				        show_text(s->warnings[k].text, text,
				                  sizeof(text)));
			printf("%s: ok\n", show_text(file, text, sizeof(text)));
		}
		scenario_free(s);
	}
	cells_free(&cells);
	return wrong;
}

int verb_validate(const struct options *o)
{
	struct places places;
	int result = EXIT_HELD;

	if (o->n_files == 0)
		return cli_usage("validate: a scenario file is missing");
	places_fill(&places, o);
	for (size_t i = 0; i < o->n_files; i++) {
		int wrong = check(o->file[i], o, &places);

		result = wrong ? wrong : result;
	}
	return result;
}
