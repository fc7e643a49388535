/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

int answer_open(struct answer *a, const struct options *o, struct err *e)
{
	*a = (struct answer){.to = stdout};
	if (o->output == NULL)
		return 0;
	if (outfile_open(&a->file, NULL, o->output, e) != 0)
		return -1;
	a->to = a->file.f;
	return 0;
}

int answer_close(struct answer *a)
{
	struct err e = {0};

	if (a->file.f) {
		if (outfile_commit(&a->file, &e) == 0)
			return 0;
		cli_wrong(&e);
		return EXIT_MACHINE;
	}
	return cli_stdout_whole() ? 0 : EXIT_MACHINE;
}
