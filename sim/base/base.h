/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base - errors as values, memory with a lifetime, and units.
 *
 * Leans on nothing but the C library and knows nothing of the domain. An
 * error is a value that says where, what and what would be right; memory
 * comes from arenas that die whole; a quantity is read with its unit and
 * held as an integer (ns, bytes) or, where it has no natural grain (rates,
 * fractions), as a double. When the machine gives up (no memory) one place
 * prints it and exits with 3; nothing here prints otherwise.
 */
#ifndef WEIR_BASE_H
#define WEIR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MIN (60 * NS_PER_S)

/* "Never" and "did not happen yet": later than every time of a run. */
#define TIME_NEVER INT64_MAX

#ifdef __GNUC__
#define BASE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define BASE_PRINTF(fmt, args)
#endif

/* ---- err --------------------------------------------------------------- */

/*
 * One report: the first wins, later ones are ignored. `line` and `col` are
 * from 1; 0 means "not known" and is not printed. `where` is a file's name,
 * `path` the JSON path ("$.traffic[0].rate") or a column's name; both may
 * be empty.
 */
struct err {
	bool set;
	int line;
	int col;
	char where[256];
	char path[256];
	char text[512];
};

/* Makes *e empty. */
void err_clear(struct err *e);

/*
 * Fills *e unless it is set already, and returns -1, so that a caller can
 * `return err_set(...)`. `where` and `path` may be NULL.
 */
int err_set(struct err *e, const char *where, int line, int col,
            const char *path, const char *fmt, ...) BASE_PRINTF(6, 7);

/*
 * Writes "WHERE:LINE:COL: PATH: TEXT" (parts that are not known left out)
 * into buf, always terminated. Returns buf.
 */
const char *err_format(const struct err *e, char *buf, size_t size);

/*
 * The name in `names` (n of them) that is nearest to `word` by edit
 * distance, or NULL when none is near enough to be meant (more than a third
 * of the word's length away, at least 2).
 */
const char *base_nearest(const char *word, const char *const *names, size_t n);

/* ---- memory ------------------------------------------------------------ */

/* Zeroed memory or, when there is none, a line on stderr and exit(3). */
void *mem_new(size_t n, size_t size);

/* Like realloc; the part that is new is not zeroed. Never returns NULL. */
void *mem_grow(void *p, size_t n, size_t size);

/* Frees what mem_new or mem_grow gave; NULL is fine. */
void mem_free(void *p);

/* A region that is freed whole. Zero-initialise or use arena_init. */
struct arena {
	struct arena_chunk *head;
	size_t used;
};

void arena_init(struct arena *a);
/* Frees everything that was taken from it. */
void arena_fini(struct arena *a);
/* Zeroed, aligned for any type, alive until arena_fini. */
void *arena_new(struct arena *a, size_t n, size_t size);
/* A copy of s that lives as long as the arena; NULL gives NULL. */
char *arena_strdup(struct arena *a, const char *s);
/* printf into the arena. */
char *arena_printf(struct arena *a, const char *fmt, ...) BASE_PRINTF(2, 3);

/* Equal-sized things that come and go: a free list over an arena. */
struct pool {
	struct arena arena;
	size_t size;
	void *free;
	size_t live; /* taken and not put back */
	size_t peak; /* the most that were live at once */
};

/* `size` is raised to hold a pointer. */
void pool_init(struct pool *p, size_t size);
void pool_fini(struct pool *p);
/* A zeroed item. */
void *pool_get(struct pool *p);
/* Gives an item back; it must have come from this pool. */
void pool_put(struct pool *p, void *item);

/* ---- sealed ------------------------------------------------------------ */

/*
 * The true output length of a request. Whoever makes a request (load) and
 * whoever runs it (replica) may look inside; everybody between hands it on
 * unread, since no router or autoscaler of the real world can know it
 * (law L10). `make check` looks for `.sealed_` elsewhere.
 */
struct sealed_tokens {
	uint32_t sealed_;
};

/* ---- units ------------------------------------------------------------- */

/*
 * Readers of a quantity as people write it. Each returns 0 and the value,
 * or -1 when the text is not one (nothing is written then).
 */

/* "30s", "250ms", "1h30m", "5us", "10ns", "2m", "1d" -> ns; >= 0. */
int units_duration(const char *text, int64_t *ns);
/* "24GiB", "512MB", "16B" -> bytes. */
int units_bytes(const char *text, uint64_t *bytes);
/* "20", "20/s", "1200/m", "3600/h" -> per second. */
int units_rate(const char *text, double *per_second);
/* "10%" -> 0.1, "1/2" -> 0.5, "0.25" -> 0.25. */
int units_fraction(const char *text, double *fraction);

/*
 * A duration for people: "2m 26s", "131 ms", "2.71 s", "0 s"; three
 * significant digits below a minute. Returns buf.
 */
const char *units_show_duration(int64_t ns, char *buf, size_t size);

/* A duration that units_duration reads back exactly: "90s", "250ms". */
const char *units_write_duration(int64_t ns, char *buf, size_t size);

/*
 * A non-negative finite decimal as digits * 10^exponent without trailing
 * zeros, by the shortest decimal that reads back as the same double (0.7 is
 * 7 and -1). Returns 0, or -1 when it has more than 9 significant digits,
 * is negative or not finite.
 */
int units_decimal(double value, uint64_t *digits, int *exponent);

/*
 * Non-negative doubles as integers in the same ratios: shortest decimals,
 * scaled by one power of ten, divided by their greatest common divisor.
 * Zeros stay zero. Returns 0; -1 when one has more than 9 significant
 * digits, is negative or not finite; -2 when the largest is more than 10^9
 * times the smallest that is above 0.
 */
int units_ratio(const double *values, size_t n, uint64_t *out);

#endif
