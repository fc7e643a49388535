/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir route: the routing core alone. Keys come in, decisions go out; or
 * only what they come to is said: shares, keys that move to another table,
 * or how another router's decisions stand to a table.
 */
#include "route_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_BUFFER = 1 << 20, TAIL_MAX = 512 };

/* ---- decisions, one a line --------------------------------------------- */

/* What stands behind a key, by slot: made once, copied for each decision. */
struct printer {
	FILE *to;
	bool json;
	char *buf;
	size_t used;
	const char **tail; /* by slot; the last one: not routable */
	size_t *tail_len;
};

static bool flush(struct printer *p)
{
	size_t n = fwrite(p->buf, 1, p->used, p->to);
	bool whole = n == p->used;

	p->used = 0;
	return whole;
}

/* A JSON string's inside, in the arena. */
static const char *escaped(struct arena *a, const char *text)
{
	json_t *value = json_string(text);
	char *quoted = json_dumps(value, JSON_ENCODE_ANY);
	char *copy = arena_strdup(a, quoted ? quoted : "\"\"");

	free(quoted);
	json_decref(value);
	return copy;
}

static void make_tail(struct printer *p, struct router *r, uint32_t d,
                      uint32_t replica)
{
	uint32_t slot = r->first[d] + replica;
	const char *id = r->deployment[d].id;
	char name[96], plain[128];

	router_replica_name(r, d, replica, name, sizeof(name));
	if (p->json)
		p->tail[slot] = arena_printf(
			&r->arena, "\"deployment\":%s,\"replica\":%s}\n",
			escaped(&r->arena, id), escaped(&r->arena, name));
	else
		p->tail[slot] =
			arena_printf(&r->arena, "\t%s\t%s\n",
		                     show_text(id, plain, sizeof(plain)), name);
	p->tail_len[slot] = strlen(p->tail[slot]);
	assert(p->tail_len[slot] < TAIL_MAX);
}

static void printer_init(struct printer *p, struct router *r, FILE *to,
                         bool json)
{
	uint32_t none = r->n_slots;

	*p = (struct printer){.to = to, .json = json};
	p->buf = mem_new(OUT_BUFFER, 1);
	p->tail = arena_new(&r->arena, none + 1, sizeof(char *));
	p->tail_len = arena_new(&r->arena, none + 1, sizeof(size_t));
	for (uint32_t d = 0; d < r->n; d++)
		for (uint32_t k = 0; k < r->deployment[d].replicas; k++)
			make_tail(p, r, d, k);
	p->tail[none] = json ? "\"error\":\"endpoint_not_configured\"}\n"
	                     : "\t-\tendpoint_not_configured\n";
	p->tail_len[none] = strlen(p->tail[none]);
}

static void add(struct printer *p, const char *text, size_t n)
{
	memcpy(p->buf + p->used, text, n);
	p->used += n;
}

/* Bytes that would break a line or a column stand as \t, \n, \r. */
static void add_plain(struct printer *p, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c == '\t' || c == '\n' || c == '\r') {
			p->buf[p->used++] = '\\';
			c = c == '\t' ? 't' : c == '\n' ? 'n' : 'r';
		}
		p->buf[p->used++] = c;
	}
}

static void add_json(struct printer *p, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20) {
			p->used += (size_t)snprintf(p->buf + p->used, 7,
			                            "\\u%04x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			p->buf[p->used++] = '\\';
		p->buf[p->used++] = text[i];
	}
}

/* A key that is too long for a line, or is content, is shown by its hash. */
static bool print_decision(struct printer *p, const struct sampled_key *key,
                           uint32_t slot)
{
	char hash[32];
	const char *text = key->text;
	size_t n = key->len;

	if (key->of_content || 6 * n + TAIL_MAX + 64 > OUT_BUFFER) {
		n = (size_t)snprintf(hash, sizeof(hash), "xxh64:%016llx",
		                     (unsigned long long)key->hash);
		text = hash;
	}
	if (p->used + 6 * n + TAIL_MAX + 64 > OUT_BUFFER && !flush(p))
		return false;
	if (p->json) {
		add(p, "{\"key\":\"", 8);
		add_json(p, text, n);
		add(p, "\",", 2);
	} else {
		add_plain(p, text, n);
	}
	add(p, p->tail[slot], p->tail_len[slot]);
	return true;
}

/* The slot that a key goes to; n_slots: none is routable. */
static uint32_t decide(const struct router *r, uint64_t hash, uint64_t number)
{
	struct route_request ask = {
		.key = hash,
		.draw = route_stage_hash(number, ROUTE_STAGE_REPLICA),
		.deployment = ROUTE_NONE,
	};
	struct route_decision where;

	if (route_decide(r->table, r->state, &ask, &where) != ROUTE_OK)
		return r->n_slots;
	/* gone at once, but a cursor moves on */
	route_release(r->state, route_take(r->state, &where));
	return where.slot;
}

static int print_all(struct router *r, struct keys_reader *keys, FILE *to,
                     bool json)
{
	struct printer p;
	struct sampled_key key;
	struct err e = {0};
	uint64_t number = 0;
	int got;

	printer_init(&p, r, to, json);
	while ((got = keys_next(keys, &key, &e)) > 0)
		if (!print_decision(&p, &key, decide(r, key.hash, number++)))
			break;
	flush(&p);
	mem_free(p.buf);
	return got < 0 ? cli_wrong(&e) : 0;
}

/* ---- what they come to ------------------------------------------------- */

/* The names of a table's deployments in the ledger, by number. */
static uint32_t *names_of(struct ledger *l, const struct router *r)
{
	uint32_t *name = mem_new(r->n, sizeof(*name));

	for (uint32_t i = 0; i < r->n; i++)
		name[i] = ledger_name(l, r->deployment[i].id,
		                      strlen(r->deployment[i].id));
	return name;
}

static int count_keys(struct ledger *l, const struct router *router, int sides,
                      struct keys_reader *keys, struct err *e)
{
	uint32_t *name[LEDGER_SIDES] = {NULL, NULL};
	struct sampled_key key;
	int got;

	for (int i = 0; i < sides; i++)
		name[i] = names_of(l, &router[i]);
	while ((got = keys_next(keys, &key, e)) > 0)
		for (int i = 0; i < sides; i++)
			ledger_put(l, i, key.hash,
			           name[i][route_split(router[i].table,
			                               key.hash)]);
	for (int i = 0; i < sides; i++)
		mem_free(name[i]);
	if (got == 0 && l->n_keys == 0)
		got = err_set(e, keys->lines.name, 0, 0, NULL, "has no keys");
	return got;
}

/* Decisions of another router, one file a table. */
static int count_decisions(struct ledger *l, const struct options *o,
                           struct err *e)
{
	for (size_t i = 0; i < o->n_decisions; i++)
		if (ledger_decisions(l, (int)i, o->decisions[i], e) != 0)
			return -1;
	return 0;
}

static int report(const struct router *router, int sides,
                  struct keys_reader *keys, const struct options *o, FILE *to)
{
	struct ledger ledger;
	struct route_report r = {
		.ledger = &ledger,
		.shares = o->count || o->n_decisions > 0,
		.moved = sides > 1,
		.foreign = o->n_decisions > 0,
	};
	struct err e = {0};
	int result;

	ledger_init(&ledger);
	for (int i = 0; i < sides; i++) {
		r.table[i] = router[i].file;
		ledger_table(&ledger, i, &router[i]);
	}
	if ((keys ? count_keys(&ledger, router, sides, keys, &e)
	          : count_decisions(&ledger, o, &e)) != 0)
		result = cli_wrong(&e);
	else
		result = route_report_print(to, &r, o->format) ? EXIT_HELD
		                                               : EXIT_RULE;
	ledger_free(&ledger);
	return result;
}

/* ---- the verb ---------------------------------------------------------- */

static int check_words(const struct options *o)
{
	bool keys = o->n_files > 1 || o->csv || o->json_bodies;

	if (o->n_files == 0)
		return cli_usage("route: a table's file is missing");
	if (o->n_files > 2)
		return cli_usage("route: %s: a table and a file of keys at "
		                 "most",
		                 o->file[2]);
	if (o->csv && o->json_bodies)
		return cli_usage("--csv and --json: one of them");
	if (o->n_decisions > 0 && keys)
		return cli_usage("--decisions: has the keys; none are read");
	if (o->n_decisions > 0 && o->n_decisions != (o->diff ? 2u : 1u))
		return cli_usage(o->diff ? "--decisions: with --diff twice, "
		                           "before and after"
		                         : "--decisions: once, or twice with "
		                           "--diff");
	return 0;
}

static int read_tables(struct router *router, int sides,
                       const struct options *o)
{
	const char *file[LEDGER_SIDES] = {o->file[0], o->diff};
	bool judged = o->count || o->diff || o->n_decisions > 0;
	struct err e = {0};

	for (int i = 0; i < sides; i++) {
		if (router_read(&router[i], file[i], o, &e) != 0)
			return cli_wrong(&e);
		if (judged && route_table_total(router[i].table) == 0) {
			err_set(&e, file[i], 0, 0, NULL,
			        "no deployment has a weight and a replica: "
			        "nothing is routed");
			return cli_wrong(&e);
		}
	}
	return 0;
}

static int work(struct router *router, int sides, const struct options *o,
                FILE *to)
{
	struct keys_reader keys;
	struct err e = {0};
	int result;

	if (o->n_decisions > 0)
		return report(router, sides, NULL, o, to);
	if (keys_open(&keys, o->n_files > 1 ? o->file[1] : NULL,
	              o->csv           ? KEYS_CSV
	              : o->json_bodies ? KEYS_JSON
	                               : KEYS_PLAIN,
	              o->csv, &e) != 0)
		return cli_wrong(&e);
	if (o->count || o->diff)
		result = report(router, sides, &keys, o, to);
	else
		result = print_all(&router[0], &keys, to,
		                   o->format == FORMAT_JSON);
	keys_close(&keys);
	return result;
}

int verb_route(const struct options *o)
{
	struct router router[LEDGER_SIDES] = {0};
	int sides = o->diff ? 2 : 1;
	struct answer answer;
	struct err e = {0};
	int result = check_words(o);
	int bad;

	if (!result)
		result = read_tables(router, sides, o);
	if (!result && answer_open(&answer, o, &e) != 0)
		result = cli_wrong(&e);
	else if (!result) {
		result = work(router, sides, o, answer.to);
		if (result == EXIT_INPUT && answer.file.f) {
			outfile_abandon(&answer.file);
			answer.to = stdout;
		}
		bad = answer_close(&answer);
		result = bad ? bad : result;
	}
	for (int i = 0; i < LEDGER_SIDES; i++)
		router_free(&router[i]);
	return result;
}
