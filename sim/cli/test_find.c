/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which files are scenarios. One that is named is; below a directory, those
 * *.json that have an endpoint or include one, and those that cannot be read
 * as JSON, since they may be one that was broken.
 */
#include "test_int.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 16, TRIALS_MAX = 10000 };

struct finding {
	struct trials *trials;
	const char *filter;
};

static bool is_scenario(const json_t *root)
{
	return root == NULL || json_object_get(root, "endpoint") ||
	       json_object_get(root, "endpoints") ||
	       json_object_get(root, "include");
}

static const char *after_slash(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add(const struct finding *f, const char *file, const char *name)
{
	struct trials *all = f->trials;
	struct trial *t;

	if (f->filter && !strstr(file, f->filter) && !strstr(name, f->filter))
		return 0;
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->trial[i].file, file) == 0)
			return 0;
	if (all->n == TRIALS_MAX)
		return cli_usage("test: more than %d scenarios", TRIALS_MAX);
	if ((all->n & (all->n - 1)) == 0)
		all->trial = mem_grow(all->trial, all->n ? 2 * all->n : 1,
		                      sizeof(*all->trial));
	t = &all->trial[all->n++];
	*t = (struct trial){.file = strdup(file)};
	snprintf(t->name, sizeof(t->name), "%.127s", name);
	return t->file ? 0 : EXIT_MACHINE;
}

static int look_at(const struct finding *f, const char *file, bool named)
{
	json_t *root = json_load_file(file, 0, NULL);
	const char *name = json_string_value(json_object_get(root, "name"));
	int bad = 0;

	if (named || is_scenario(root))
		bad = add(f, file, name ? name : after_slash(file));
	json_decref(root);
	return bad;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int walk(const struct finding *f, const char *dir, int depth)
{
	struct dirent **entry = NULL;
	int n = scandir(dir, &entry, visible, by_name);
	int bad = 0;

	if (n < 0)
		return cli_usage("%s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[4096];
		struct stat st;
		size_t len = strlen(entry[i]->d_name);
		int wrote = snprintf(path, sizeof(path), "%s%s%s", dir,
		                     dir[strlen(dir) - 1] == '/' ? "" : "/",
		                     entry[i]->d_name);

		if (bad || wrote >= (int)sizeof(path) || stat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			bad = walk(f, path, depth + 1);
		else if (S_ISREG(st.st_mode) && len > 5 &&
		         strcmp(entry[i]->d_name + len - 5, ".json") == 0)
			bad = look_at(f, path, false);
	}
	for (int i = 0; i < n; i++)
		free(entry[i]);
	free(entry);
	return bad;
}

int trials_find(struct trials *t, const struct options *o)
{
	struct finding f = {t, o->filter};
	int bad = 0;

	for (size_t i = 0; i < o->n_files && !bad; i++) {
		const char *path = o->file[i];
		struct stat st;

		if (path[0] && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			bad = walk(&f, path, 0);
		else
			bad = look_at(&f, path, true);
	}
	if (!bad && t->n == 0)
		return cli_usage(o->filter ? "test: no scenario there has "
		                             "\"%s\" in its file or name"
		                           : "test: no scenario there",
		                 o->filter);
	return bad;
}

static void trial_free(struct trial *t)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		if (t->outcome)
			outcome_free(&t->outcome[i]);
		if (t->numbers)
			json_decref(t->numbers[i]);
	}
	for (size_t i = 0; i < t->n_changes; i++) {
		json_decref(t->change[i].was);
		json_decref(t->change[i].is);
	}
	mem_free(t->change);
	mem_free(t->outcome);
	mem_free(t->numbers);
	cells_free(&t->cells);
	free(t->file);
}

void trials_free(struct trials *t)
{
	for (size_t i = 0; i < t->n; i++)
		trial_free(&t->trial[i]);
	mem_free(t->trial);
}
