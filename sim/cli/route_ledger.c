/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where each distinct key went: an open-addressed table by the key's hash,
 * half empty at least. A key counts once, where it was seen first.
 */
#include "route_int.h"

#include <assert.h>
#include <string.h>

enum { LEDGER_SLOTS = 1 << 16 };

void ledger_init(struct ledger *l)
{
	*l = (struct ledger){.n_slots = LEDGER_SLOTS};
	l->slot = mem_new(l->n_slots, sizeof(*l->slot));
}

void ledger_free(struct ledger *l)
{
	mem_free(l->slot);
	mem_free(l->name);
	arena_fini(&l->arena);
}

uint32_t ledger_name(struct ledger *l, const char *id, size_t n)
{
	struct ledger_name *name;

	for (uint32_t i = 0; i < l->n_names; i++)
		if (strncmp(l->name[i].id, id, n) == 0 &&
		    l->name[i].id[n] == '\0')
			return i;
	if ((l->n_names & (l->n_names - 1)) == 0)
		l->name = mem_grow(l->name, l->n_names ? 2 * l->n_names : 1,
		                   sizeof(*l->name));
	name = &l->name[l->n_names];
	*name = (struct ledger_name){
		.id = arena_printf(&l->arena, "%.*s", (int)n, id)};
	return l->n_names++;
}

void ledger_table(struct ledger *l, int side, const struct router *r)
{
	assert(side >= 0 && side < LEDGER_SIDES);
	for (uint32_t i = 0; i < r->n; i++) {
		const char *id = r->deployment[i].id;
		uint32_t at = ledger_name(l, id, strlen(id));

		l->name[at].capacity[side] = route_table_capacity(r->table, i);
	}
}

/* ---- keys -------------------------------------------------------------- */

static struct ledger_key *slot_of(const struct ledger *l, uint64_t hash)
{
	size_t mask = l->n_slots - 1;
	size_t i = (size_t)route_stage_hash(hash, ROUTE_STAGE_SHADOW) & mask;

	while (l->slot[i].used && l->slot[i].hash != hash)
		i = (i + 1) & mask;
	return &l->slot[i];
}

static void grow(struct ledger *l)
{
	struct ledger_key *old = l->slot;
	size_t n = l->n_slots;

	l->n_slots *= 2;
	l->slot = mem_new(l->n_slots, sizeof(*l->slot));
	for (size_t i = 0; i < n; i++)
		if (old[i].used)
			*slot_of(l, old[i].hash) = old[i];
	mem_free(old);
}

int ledger_put(struct ledger *l, int side, uint64_t hash, uint32_t name)
{
	struct ledger_key *k;

	assert(side >= 0 && side < LEDGER_SIDES && name < l->n_names);
	if (2 * l->n_keys >= l->n_slots)
		grow(l);
	k = slot_of(l, hash);
	if (!k->used) {
		*k = (struct ledger_key){.hash = hash,
		                         .where = {ROUTE_NONE, ROUTE_NONE},
		                         .used = true};
		l->n_keys++;
	}
	l->decisions[side]++;
	if (k->where[side] == ROUTE_NONE) {
		k->where[side] = name;
		l->name[name].keys[side]++;
		l->distinct[side]++;
		return 0;
	}
	if (k->where[side] == name)
		return 0;
	l->on_two[side] += !k->on_two[side];
	k->on_two[side] = true;
	return 1;
}

/* ---- decisions of another router --------------------------------------- */

static int member(const struct lines *lines, const json_t *o, const char *name,
                  const json_t **value, struct err *e)
{
	char path[32];

	*value = json_object_get(o, name);
	snprintf(path, sizeof(path), "$.%s", name);
	if (*value == NULL)
		return lines_error(lines, 0, path, e, "is missing");
	if (!json_is_string(*value) || json_string_length(*value) == 0)
		return lines_error(lines, 0, path, e,
		                   "must be a string with something in it");
	return 0;
}

/* A decision, whoever read it. */
struct decision {
	const char *key, *deployment;
	size_t key_len, deployment_len;
};

static void put_example(struct ledger *l, int side, const struct lines *lines,
                        const struct decision *d, uint32_t now)
{
	const struct ledger_key *k = slot_of(l, route_hash(d->key, d->key_len));

	snprintf(l->example, sizeof(l->example),
	         "key \"%.*s\" on %.60s, and in line %llu on %.60s",
	         d->key_len < 60 ? (int)d->key_len : 60, d->key,
	         l->name[k->where[side]].id, (unsigned long long)lines->number,
	         l->name[now].id);
}

static void put_decision(struct ledger *l, int side, const struct lines *lines,
                         const struct decision *d)
{
	uint32_t name = ledger_name(l, d->deployment, d->deployment_len);
	uint64_t hash = route_hash(d->key, d->key_len);

	if (ledger_put(l, side, hash, name) != 0 && l->example[0] == '\0')
		put_example(l, side, lines, d, name);
}

static bool plain_decision(const char *line, size_t n, struct decision *d)
{
	struct flat_member m[FLAT_MEMBERS];
	int members = flat_read(line, n, m);
	const struct flat_member *key, *deployment;

	if (members < 0)
		return false;
	key = flat_find(m, members, "key");
	deployment = flat_find(m, members, "deployment");
	if (!key || !key->is_string || key->len == 0 || !deployment ||
	    !deployment->is_string || deployment->len == 0)
		return false;
	*d = (struct decision){key->text, deployment->text, key->len,
	                       deployment->len};
	return true;
}

/* By the JSON library, which says what is wrong. */
static int any_decision(struct ledger *l, int side, const struct lines *lines,
                        const json_t *o, struct err *e)
{
	const json_t *key, *deployment;
	struct decision d;

	if (!json_is_object(o))
		return lines_error(lines, 1, NULL, e, "must be an object");
	if (member(lines, o, "key", &key, e) != 0 ||
	    member(lines, o, "deployment", &deployment, e) != 0)
		return -1;
	d = (struct decision){
		json_string_value(key), json_string_value(deployment),
		json_string_length(key), json_string_length(deployment)};
	put_decision(l, side, lines, &d);
	return 0;
}

static int read_decision(struct ledger *l, int side, const struct lines *lines,
                         const char *line, size_t n, struct err *e)
{
	struct decision d;
	json_error_t wrong;
	json_t *o;
	int bad;

	if (plain_decision(line, n, &d)) {
		put_decision(l, side, lines, &d);
		return 0;
	}
	o = json_loadb(line, n, JSON_REJECT_DUPLICATES, &wrong);
	if (o == NULL)
		return lines_error(lines, wrong.column, NULL, e, wrong.text);
	bad = any_decision(l, side, lines, o, e);
	json_decref(o);
	return bad;
}

int ledger_decisions(struct ledger *l, int side, const char *file,
                     struct err *e)
{
	struct lines lines;
	char *line;
	size_t n;
	int got;

	if (lines_open(&lines, file, e) != 0)
		return -1;
	while ((got = lines_next(&lines, false, &line, &n, e)) > 0)
		if (n > 0 && read_decision(l, side, &lines, line, n, e) != 0) {
			got = -1;
			break;
		}
	if (got == 0 && l->decisions[side] == 0)
		got = err_set(e, lines.name, 0, 0, NULL, "holds no decisions");
	lines_close(&lines);
	return got;
}
