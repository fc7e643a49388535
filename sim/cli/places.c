/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli_int.h"

#include <stdlib.h>
#include <unistd.h>

#ifndef WEIR_DATADIR
#define WEIR_DATADIR "/usr/local/share/weir"
#endif

/* Beside the current directory when it is a source tree, else installed. */
const char *places_shipped(const char *name, char *buf, size_t size)
{
	if (access("sim/LAYERS", R_OK) == 0)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s/%s", WEIR_DATADIR, name);
	return buf;
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
	p->directory[p->n++] =
		places_shipped("models", p->text[t], sizeof(p->text[t]));
	t++;
	p->directory[p->n++] = places_shipped("scenarios/data", p->text[t],
	                                      sizeof(p->text[t]));
}
