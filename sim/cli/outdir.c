/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- directories ------------------------------------------------------- */

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

/* The length of PATH without its last word: 0 when it is one word. */
static size_t parent(const char *path, size_t n)
{
	while (n > 0 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	return n;
}

size_t outdir_kept(const char *dir)
{
	char path[1024];
	size_t n = strlen(dir);

	if (n >= sizeof(path))
		return n;
	memcpy(path, dir, n + 1);
	while (n > 0 && access(path, F_OK) != 0) {
		n = parent(path, n);
		path[n] = '\0';
	}
	return n;
}

void outdir_unmake(const char *dir, size_t kept)
{
	char path[1024];
	size_t n = strlen(dir);

	if (n >= sizeof(path))
		return;
	memcpy(path, dir, n + 1);
	while (n > kept && rmdir(path) == 0) {
		n = parent(path, n);
		path[n] = '\0';
	}
}

const char *outdir_word(const char *name, char *buf, size_t size)
{
	show_text(name, buf, size);
	for (char *at = buf; *at; at++)
		if (*at == '/' || *at == ' ' || (at == buf && *at == '.'))
			*at = '_';
	return buf;
}

/* ---- files ------------------------------------------------------------- */

bool outfile_replaceable(const char *path)
{
	struct stat st;

	return lstat(path, &st) != 0 || S_ISREG(st.st_mode);
}

int outfile_open(struct outfile *o, const char *dir, const char *name,
                 struct err *e)
{
	int n = snprintf(o->path, sizeof(o->path), "%s%s%s", dir ? dir : "",
	                 dir ? "/" : "", name);
	const char *opened = o->path;

	if (n < 0 || (size_t)n >= sizeof(o->path))
		return err_set(e, name, 0, 0, NULL, "the path is too long");
	o->temporary[0] = '\0';
	if (outfile_replaceable(o->path)) {
		snprintf(o->temporary, sizeof(o->temporary), "%s.part",
		         o->path);
		opened = o->temporary;
	}
	o->f = fopen(opened, "w");
	if (o->f == NULL)
		return err_set(e, opened, 0, 0, NULL, "%s", strerror(errno));
	return 0;
}

int outfile_commit(struct outfile *o, struct err *e)
{
	bool good = !ferror(o->f);

	errno = 0;
	good = fflush(o->f) == 0 && good;
	if (fclose(o->f) != 0)
		good = false;
	o->f = NULL;
	if (good &&
	    (o->temporary[0] == '\0' || rename(o->temporary, o->path) == 0))
		return 0;
	err_set(e, o->path, 0, 0, NULL, "%s",
	        errno ? strerror(errno) : "cannot be written");
	if (o->temporary[0])
		unlink(o->temporary);
	return -1;
}

void outfile_abandon(struct outfile *o)
{
	if (o->f == NULL)
		return;
	fclose(o->f);
	o->f = NULL;
	if (o->temporary[0])
		unlink(o->temporary);
}
