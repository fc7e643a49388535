/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a scenario names: beside it, then in the given places. */
#include <assert.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "scenario/scenario_int.h"

/* Names looked at when one was not found. */
enum { LIMIT_NEAR = 1000 };

bool reader_is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* The i-th directory, 0 being that of the reader's file; NULL: no more. */
static const char *directory(const struct reader *r, size_t i)
{
	const char *slash;

	if (i == 0) {
		slash = strrchr(r->file, '/');
		if (slash == NULL)
			return ".";
		return arena_printf(
			r->arena, "%.*s",
			slash == r->file ? 1 : (int)(slash - r->file), r->file);
	}
	if (r->places == NULL || i > r->places->n)
		return NULL;
	return r->places->directories[i - 1];
}

static const char *join(const struct reader *r, const char *dir,
                        const char *name, const char *suffix)
{
	if (name[0] == '/' || strcmp(dir, ".") == 0)
		return arena_printf(r->arena, "%s%s", name, suffix);
	return arena_printf(r->arena, "%s/%s%s", dir, name, suffix);
}

const char *reader_find(const struct reader *r, const char *name,
                        const char *suffix)
{
	const char *dir, *path;
	size_t i;

	assert(name != NULL && suffix != NULL);
	for (i = 0; (dir = directory(r, i)) != NULL; i++) {
		path = join(r, dir, name, "");
		if (reader_is_file(path))
			return path;
		path = join(r, dir, name, suffix);
		if (reader_is_file(path))
			return path;
	}
	return NULL;
}

/* Adds the names in one directory that end in the suffix, without it. */
static void collect(struct reader *r, const char *dir, const char *suffix,
                    const char **names, size_t *n)
{
	DIR *stream = opendir(dir);
	const struct dirent *entry;
	size_t length, tail = strlen(suffix);

	if (stream == NULL)
		return;
	while (*n < LIMIT_NEAR && (entry = readdir(stream)) != NULL) {
		length = strlen(entry->d_name);
		if (length <= tail ||
		    strcmp(entry->d_name + length - tail, suffix) != 0)
			continue;
		names[(*n)++] =
			arena_printf(&r->scratch, "%.*s", (int)(length - tail),
		                     entry->d_name);
	}
	closedir(stream);
}

const char *reader_near(struct reader *r, const char *name, const char *suffix)
{
	const char **names;
	const char *dir;
	size_t i, n = 0;

	names = arena_new(&r->scratch, LIMIT_NEAR, sizeof *names);
	for (i = 0; (dir = directory(r, i)) != NULL; i++)
		collect(r, dir, suffix, names, &n);
	return base_nearest(name, names, n);
}

/* Whether the rest of a name is 6 hex digits and ".json". */
static bool is_digest(const char *rest)
{
	return strspn(rest, "0123456789abcdef") == 6 &&
	       strcmp(rest + 6, ".json") == 0;
}

/* Adds a name unless it is there already (another directory's copy). */
static size_t add_name(const char **names, size_t n, size_t max,
                       const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return n;
	if (n < max)
		names[n++] = name;
	return n;
}

size_t reader_revisions(struct reader *r, const char *prefix,
                        const char **names, size_t max)
{
	size_t length = strlen(prefix), i, n = 0;
	const struct dirent *entry;
	const char *dir;
	DIR *stream;

	for (i = 0; (dir = directory(r, i)) != NULL; i++) {
		stream = opendir(dir);
		while (stream != NULL && (entry = readdir(stream)) != NULL) {
			if (strncmp(entry->d_name, prefix, length) != 0 ||
			    !is_digest(entry->d_name + length))
				continue;
			n = add_name(names, n, max,
			             arena_printf(r->arena, "%s%.6s", prefix,
			                          entry->d_name + length));
		}
		if (stream != NULL)
			closedir(stream);
	}
	return n;
}
