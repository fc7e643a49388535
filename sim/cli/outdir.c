/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int outdir_make(const char *dir, struct err *e)
{
	char path[1024];
	size_t n = strlen(dir);

	if (n == 0 || n >= sizeof(path))
		return err_set(e, dir, 0, 0, NULL, "not a directory's name");
	memcpy(path, dir, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		path[i] = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST)
			return err_set(e, path, 0, 0, NULL, "%s",
			               strerror(errno));
		path[i] = i < n ? '/' : '\0';
	}
	return 0;
}

int outfile_open(struct outfile *o, const char *dir, const char *name,
                 struct err *e)
{
	int n = snprintf(o->path, sizeof(o->path), "%s%s%s", dir ? dir : "",
	                 dir ? "/" : "", name);

	if (n < 0 || (size_t)n >= sizeof(o->path))
		return err_set(e, name, 0, 0, NULL, "the path is too long");
	snprintf(o->temporary, sizeof(o->temporary), "%s.part", o->path);
	o->f = fopen(o->temporary, "w");
	if (o->f == NULL)
		return err_set(e, o->temporary, 0, 0, NULL, "%s",
		               strerror(errno));
	return 0;
}

int outfile_commit(struct outfile *o, struct err *e)
{
	bool good = !ferror(o->f) && fflush(o->f) == 0;

	if (fclose(o->f) != 0)
		good = false;
	o->f = NULL;
	if (good && rename(o->temporary, o->path) == 0)
		return 0;
	err_set(e, o->path, 0, 0, NULL, "%s", strerror(errno));
	unlink(o->temporary);
	return -1;
}

void outfile_abandon(struct outfile *o)
{
	if (o->f == NULL)
		return;
	fclose(o->f);
	o->f = NULL;
	unlink(o->temporary);
}
