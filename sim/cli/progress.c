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

void progress_cell(struct progress *p, size_t cell, const char *what,
                   const struct scenario *s)
{
	p->cell = cell;
	p->what = what;
	p->finished = 0;
	p->of = s->reps;
	p->duration_ns = s->world.duration_ns;
}

/* `part` of a replication is over at `now_ns` of it. */
static void show(struct progress *p, double part, int64_t now_ns)
{
	double now = cli_now();
	double whole = (double)p->cells;
	double done =
		(double)p->cell + ((double)p->finished + part) / (double)p->of;
	char name[80], time[40], of[48] = "";

	if (!p->on || now - p->last <= 0.1)
		return;
	fprintf(stderr, "\r%s: ", show_text(p->what, name, sizeof(name)));
	if (p->of > 1)
		fprintf(stderr, "%u of %u replications", p->finished, p->of);
	if (p->of > 1 && now_ns > 0)
		fputs(", ", stderr);
	if (p->duration_ns != TIME_NEVER)
		snprintf(of, sizeof(of), " of %s",
		         show_time(p->duration_ns, time, sizeof(time)));
	if (now_ns > 0)
		fprintf(stderr, "%s%s simulated",
		        show_time(now_ns, time, sizeof(time)), of);
	if (done > 0)
		fprintf(stderr, ", %.0f s left",
		        (now - p->begun) * (whole - done) / done);
	fputs("\033[K", stderr);
	fflush(stderr);
	p->last = now;
}

bool progress_done(void *self, uint32_t finished, uint32_t of)
{
	struct progress *p = self;

	p->finished = finished;
	p->of = of;
	show(p, 0, 0);
	return !signals_stop();
}

void progress_tick(struct progress *p, int64_t now_ns)
{
	double part = 0;

	if (p->duration_ns != TIME_NEVER)
		part = (double)now_ns / (double)p->duration_ns;
	show(p, part, now_ns);
}

void progress_end(struct progress *p)
{
	if (p->on && p->last > p->begun)
		fputs("\r\033[K", stderr);
}
