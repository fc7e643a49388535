/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an unknown field may have meant: one of the same object, one further
 * in, or one of another object.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario_int.h"

/*
 * The rest of `inner`'s name when it lies inside `outer` ("" when they are
 * the same), NULL when it does not. All but configs, profiles and
 * distributions lie inside the scenario.
 */
static const char *inside(const char *inner, const char *outer)
{
	size_t n = strlen(outer);

	if (strcmp(inner, outer) == 0)
		return "";
	if (strcmp(outer, "scenario") == 0)
		return strncmp(inner, "config", 6) == 0 ||
		                       strncmp(inner, "profile", 7) == 0 ||
		                       strncmp(inner, "gpus", 4) == 0 ||
		                       strncmp(inner, "model", 5) == 0 ||
		                       strncmp(inner, "distribution", 12) == 0
		               ? NULL
		               : inner;
	if (strncmp(inner, outer, n) == 0 && inner[n] == '.')
		return inner + n + 1;
	return NULL;
}

/* A field below `object` that is named so, or nearly so. */
static const struct scenario_field *below(const char *object, const char *name)
{
	const char *names[FIELDS_MAX], *near;
	size_t i, n = 0;

	for (i = 0; scenario_field(i) != NULL; i++)
		if (inside(scenario_field(i)->object, object) != NULL)
			names[n++] = scenario_field(i)->name;
	near = base_nearest(name, names, n);
	for (i = 0; near != NULL && scenario_field(i) != NULL; i++)
		if (strcmp(scenario_field(i)->name, near) == 0 &&
		    inside(scenario_field(i)->object, object) != NULL)
			return scenario_field(i);
	return NULL;
}

/* The names of an object's fields; returns their number. */
static size_t names_of(const char *object, const char **names)
{
	size_t i, n = 0;

	for (i = 0; scenario_field(i) != NULL; i++)
		if (strcmp(scenario_field(i)->object, object) == 0)
			names[n++] = scenario_field(i)->name;
	return n;
}

/* The field of `object` itself that is nearest. */
static const char *own(const char *object, const char *name)
{
	const char *names[FIELDS_MAX];
	size_t n = names_of(object, names);

	return base_nearest(name, names, n);
}

/* The first object with a field of exactly that name. */
static const char *owner(const char *name)
{
	size_t i;

	for (i = 0; scenario_field(i) != NULL; i++)
		if (strcmp(scenario_field(i)->name, name) == 0)
			return scenario_field(i)->object;
	return NULL;
}

static void list_known(const char *object, char *buf, size_t size)
{
	const char *names[FIELDS_MAX];
	size_t n = names_of(object, names), i, at = strlen(buf);

	for (i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s",
		                       i == 0 ? "; known are " : ", ",
		                       names[i]);
}

void field_unknown(const char *object, const char *name, char *buf, size_t size)
{
	const struct scenario_field *inner = below(object, name);
	const char *near = own(object, name), *elsewhere = owner(name), *rest;
	bool exact = inner != NULL && strcmp(inner->name, name) == 0;

	assert(size > 64);
	/* An exact name further in means more than a similar one here. */
	if (exact || (inner != NULL && near == NULL && elsewhere == NULL)) {
		rest = inside(inner->object, object);
		snprintf(buf, size, "unknown field; did you mean \"%s%s%s\"?",
		         rest, rest[0] != '\0' ? "." : "", inner->name);
	} else if (near != NULL) {
		snprintf(buf, size, "unknown field; did you mean \"%s\"?",
		         near);
	} else if (elsewhere != NULL) {
		snprintf(buf, size, "unknown field here; it belongs to %s",
		         elsewhere);
	} else {
		snprintf(buf, size, "unknown field");
		list_known(object, buf, size);
	}
}
