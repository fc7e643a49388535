/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double cli_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool cli_color(const struct options *o, FILE *to)
{
	const char *no = getenv("NO_COLOR");

	if (o->color != WHEN_AUTO)
		return o->color == WHEN_ALWAYS;
	return !(no && no[0]) && isatty(fileno(to));
}

void progress_begin(struct progress *p, const struct options *o, size_t cells)
{
	p->on = o->progress == WHEN_ALWAYS ||
	        (o->progress == WHEN_AUTO && !o->quiet &&
	         isatty(STDERR_FILENO));
	p->cells = cells;
	p->begun = cli_now();
	p->last = p->begun;
}

void progress_cell(struct progress *p, size_t cell, const char *what)
{
	p->cell = cell;
	p->what = what;
}

bool progress_done(void *self, uint32_t finished, uint32_t of)
{
	struct progress *p = self;
	double now = cli_now();

	if (p->on && now - p->last > 0.1) {
		double whole = (double)p->cells;
		double part = (double)p->cell + (double)finished / (double)of;

		fprintf(stderr, "\r%s: %u of %u replications, %.0f s left   ",
		        p->what, finished, of,
		        (now - p->begun) * (whole - part) / part);
		fflush(stderr);
		p->last = now;
	}
	return !signals_stop();
}

void progress_end(struct progress *p)
{
	if (p->on && p->last > p->begun)
		fputs("\r\033[K", stderr);
}
