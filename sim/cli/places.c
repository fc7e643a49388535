/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef WEIR_DATADIR
#define WEIR_DATADIR "/usr/local/share/weir"
#endif

static bool is_there(const char *directory)
{
	struct stat st;

	return stat(directory, &st) == 0 && S_ISDIR(st.st_mode);
}

/* DIR of the program itself; false when the system does not tell. */
static bool program_directory(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (n <= 0)
		return false;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	return true;
}

/* Where NAME may be, in the order of preference; returns how many. */
static size_t candidates(const char *name, char buf[][1100])
{
	char program[1000];
	size_t n = 0;

	if (access("sim/LAYERS", R_OK) == 0)
		snprintf(buf[n++], sizeof(buf[0]), "%s", name);
	if (program_directory(program, sizeof(program)))
		snprintf(buf[n++], sizeof(buf[0]), "%s/%s", program, name);
	snprintf(buf[n++], sizeof(buf[0]), "%s/%s", WEIR_DATADIR, name);
	return n;
}

const char *places_shipped(const char *name, char *buf, size_t size)
{
	char directory[PLACES_SHIPPED][1100];
	size_t n = candidates(name, directory);
	size_t i = 0;

	while (i + 1 < n && !is_there(directory[i]))
		i++;
	snprintf(buf, size, "%s", directory[i]);
	return buf;
}

int places_check(const char *name, struct err *e)
{
	char directory[PLACES_SHIPPED][1100];
	char list[400] = "";
	size_t n = candidates(name, directory);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_there(directory[i]))
			return 0;
		if (at < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at,
			                       "%s%s", i ? ", " : "",
			                       directory[i]);
	}
	return err_set(e, name, 0, 0, NULL, "not found; looked for %s", list);
}

/* The one that is there, or, for messages, all that were looked for. */
static void add_shipped(struct places *p, const char *name, size_t *t)
{
	char directory[PLACES_SHIPPED][1100];
	size_t n = candidates(name, directory);
	size_t first = 0, last = n;

	for (size_t i = 0; i < n && last == n; i++)
		if (is_there(directory[i])) {
			first = i;
			last = i + 1;
			break;
		}
	for (size_t i = first; i < last; i++) {
		snprintf(p->text[*t], sizeof(p->text[*t]), "%s", directory[i]);
		p->directory[p->n++] = p->text[(*t)++];
	}
}

void places_fill(struct places *p, const struct options *o)
{
	const char *data = getenv("WEIR_DATA");
	size_t t = 0;

	p->n = 0;
	for (size_t i = 0; i < o->n_data; i++)
		p->directory[p->n++] = o->data[i];
	if (data && data[0]) {
		p->directory[p->n++] = data;
		snprintf(p->text[t], sizeof(p->text[t]), "%s/traces", data);
		p->directory[p->n++] = p->text[t++];
	}
	add_shipped(p, "models", &t);
	add_shipped(p, "scenarios/data", &t);
}
