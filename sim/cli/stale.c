/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory that is used again shows the new run only. What goes is named
 * here, or by the summary.json and cells.csv that weir itself left there;
 * nothing else is touched, and a folder goes only when it is empty.
 */
#include "cli_int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const run_names[] = {
	"summary.json", "series.csv",    "requests.csv",
	"events.jsonl", "scenario.json",
};

static const char *const charts[] = {"share", "ttft", "replicas", "queue",
                                     "cells"};

enum {
	RUN_NAMES = sizeof(run_names) / sizeof(run_names[0]),
	CHARTS = sizeof(charts) / sizeof(charts[0])
};

static void drop(const char *dir, const char *name)
{
	char path[2000];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

/* The pictures of every chart, of one endpoint when there are several. */
static void drop_charts(const char *dir, const char *endpoint)
{
	static const char *const kind[] = {"svg", "png"};
	char word[65] = "";
	char name[120];

	if (endpoint)
		outdir_word(endpoint, word, sizeof(word));
	for (size_t i = 0; i < CHARTS; i++)
		for (size_t k = 0; k < 2; k++) {
			snprintf(name, sizeof(name), "%s%s%s.%s", charts[i],
			         endpoint ? "-" : "", word, kind[k]);
			drop(dir, name);
		}
}

static void drop_all_charts(const char *dir)
{
	char path[2000];
	json_t *summary, *list, *one;
	size_t i;

	snprintf(path, sizeof(path), "%s/summary.json", dir);
	summary = json_load_file(path, 0, NULL);
	list = json_object_get(summary, "endpoints");
	json_array_foreach(list, i, one)
	{
		const char *id = json_string_value(json_object_get(one, "id"));

		if (id && json_array_size(list) > 1)
			drop_charts(dir, id);
	}
	json_decref(summary);
	drop_charts(dir, NULL);
}

static void drop_run(const char *dir)
{
	drop_all_charts(dir);
	for (size_t i = 0; i < RUN_NAMES; i++)
		drop(dir, run_names[i]);
}

/* The first field of a CSV row; false when it has none that a cell had. */
static bool first_field(const char *row, char *buf, size_t size)
{
	bool quoted = *row == '"';
	size_t n = 0;

	for (row += quoted; *row && n + 1 < size; row++) {
		if (quoted ? *row == '"' && *++row != '"'
		           : strchr(",\r\n", *row) != NULL)
			break;
		buf[n++] = *row;
	}
	buf[n] = '\0';
	return n > 0;
}

static bool is_kept(const struct cells *grid, const char *folder)
{
	for (size_t i = 0; grid && i < grid->n; i++)
		if (strcmp(grid->cell[i].folder, folder) == 0)
			return true;
	return false;
}

/* The folders of an earlier grid's cells. */
static void drop_cells(const char *dir, const struct cells *grid)
{
	char path[1600];
	char name[256];
	char folder[256];
	char *row = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cells.csv", dir);
	f = fopen(path, "r");
	if (f == NULL)
		return;
	if (getline(&row, &size, f) < 0 || strncmp(row, "cell,", 5) != 0)
		goto out;
	while (getline(&row, &size, f) >= 0) {
		if (!first_field(row, name, sizeof(name)))
			continue;
		outdir_word(name, folder, sizeof(folder));
		if (is_kept(grid, folder))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, folder);
		drop_run(path);
		rmdir(path);
	}
out:
	free(row);
	fclose(f);
}

void stale_clear(const char *dir, const struct cells *grid)
{
	drop_cells(dir, grid);
	if (grid) {
		drop_run(dir);
		return;
	}
	drop_all_charts(dir);
	drop(dir, "cells.csv");
}
