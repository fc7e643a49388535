/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

int run_files_open(struct run_files *f, const char *dir, struct err *e)
{
	if (outdir_make(dir, e) != 0 ||
	    outfile_open(&f->series, dir, "series.csv", e) != 0 ||
	    outfile_open(&f->requests, dir, "requests.csv", e) != 0 ||
	    outfile_open(&f->events, dir, "events.jsonl", e) != 0) {
		run_files_abandon(f);
		return -1;
	}
	csv_series_header(f->series.f);
	csv_requests_header(f->requests.f);
	return 0;
}

int run_files_commit(struct run_files *f, struct err *e)
{
	if (outfile_commit(&f->series, e) != 0 ||
	    outfile_commit(&f->requests, e) != 0 ||
	    outfile_commit(&f->events, e) != 0) {
		run_files_abandon(f);
		return -1;
	}
	return 0;
}

void run_files_abandon(struct run_files *f)
{
	outfile_abandon(&f->series);
	outfile_abandon(&f->requests);
	outfile_abandon(&f->events);
}

static void on_event(void *self, uint32_t replication,
                     const struct world_event *event)
{
	struct run_files *f = self;

	events_line(f->events.f, f->variant, replication, event);
}

static void on_row(void *self, uint32_t replication,
                   const struct measure_row *row)
{
	struct run_files *f = self;

	csv_series_row(f->series.f, f->variant, replication, row);
}

static void on_request(void *self, uint32_t replication,
                       const struct measure_request *r, const char *traffic,
                       const char *deployment, const char *replica)
{
	struct run_files *f = self;

	csv_request_row(f->requests.f, f->variant, replication, r, traffic,
	                deployment, replica);
}

static bool on_look(void *self, int64_t now_ns)
{
	struct run_files *f = self;

	progress_tick(f->progress, now_ns);
	return signals_stop();
}

struct world_observer run_files_observer(struct run_files *f)
{
	struct world_observer observer = {.self = f, .stop = on_look};

	if (f->series.f) {
		observer.event = on_event;
		observer.row = on_row;
		observer.request = on_request;
	}
	return observer;
}
