/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "base/base.h"

/* Longer names than this are not compared. */
#define WORD_MAX 63

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Edits from a to b, where two neighbours that changed places count as one
 * (the commonest slip of the fingers).
 */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	size_t i, j, d;

	assert(na <= WORD_MAX && nb <= WORD_MAX);
	for (j = 0; j <= nb; j++)
		above[j] = j;
	for (i = 1; i <= na; i++) {
		row[0] = i;
		for (j = 1; j <= nb; j++) {
			d = above[j - 1] + (a[i - 1] != b[j - 1]);
			d = least(d, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d = least(d, before[j - 2] + 1);
			row[j] = d;
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[nb];
}

const char *base_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t length, limit, best_distance, d, i, nn;

	assert(word != NULL);
	assert(names != NULL || n == 0);
	length = strlen(word);
	if (length > WORD_MAX)
		return NULL;
	limit = length / 3 > 2 ? length / 3 : 2;
	/* Every letter changed means nothing in common. */
	best_distance = least(limit + 1, length);
	for (i = 0; i < n; i++) {
		nn = strlen(names[i]);
		if (nn > WORD_MAX)
			continue;
		d = distance(word, length, names[i], nn);
		if (d < best_distance) {
			best_distance = d;
			best = names[i];
		}
	}
	return best;
}
