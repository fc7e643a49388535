/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all charts share: titles that stay within the picture, words of
 * events, and labels at the ends of curves that keep apart.
 */
#include "plot_int.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum {
	TITLE_MOST = 112, /* characters, of the smaller of the two sizes */
	TITLE_PART = 84,  /* those that leave room for what was dropped */
	MARK_ROWS = 5,    /* heights that words of events stand at */
	MARK_NAME = 14,   /* characters of a deployment's name in them */
	LABEL_NAME = 17,
};

/* Of the chart's width, one character of an event's word. */
static const double mark_letter = 0.0135;

/* ---- words ------------------------------------------------------------- */

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += begins_character(*text);
	return n;
}

/* Where the n-th character from the end begins. */
static const char *tail_of(const char *text, size_t n)
{
	const char *at = text + strlen(text);

	while (at > text && n > 0)
		n -= begins_character(*--at);
	return at;
}

const char *plot_short(const char *text, size_t most, char *buf, size_t size)
{
	size_t tail = most / 3;
	size_t n = 0;

	if (characters(text) <= most) {
		snprintf(buf, size, "%s", text);
		return buf;
	}
	for (size_t seen = 0; seen + tail < most; n++)
		seen += begins_character(text[n]);
	/* one character too many: the ellipsis stands for it */
	snprintf(buf, size, "%.*s\u2026%s", (int)(n - 1), text,
	         tail_of(text, tail));
	return buf;
}

/* A newline would end gnuplot's string, and begin a command. */
void plot_quote(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\'')
			fputc('\'', to);
		fputc(c < 0x20 || c == 0x7f ? ' ' : c, to);
	}
	fputc('\'', to);
}

void plot_put_text(FILE *to, const char *variable, const char *text)
{
	fprintf(to, "%s = ", variable);
	plot_quote(to, text);
	fputc('\n', to);
}

/* ---- titles ------------------------------------------------------------ */

static void append(struct plot_title *t, size_t most, const char *part)
{
	size_t n = strlen(t->text);

	if (t->full)
		return;
	t->full = characters(t->text) + characters(part) > most;
	snprintf(t->text + n, sizeof(t->text) - n, "%s",
	         t->full ? ", \u2026" : part);
}

void plot_title_add(struct plot_title *t, const char *fmt, ...)
{
	char part[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(part, sizeof(part), fmt, args);
	va_end(args);
	append(t, TITLE_PART, part);
}

void plot_title_dropped(struct plot_title *t, const struct plot_data *d,
                        const struct plot_endpoint *e)
{
	static const char *const word[] = {"refused", "timed out", "failed"};
	double n[3] = {0, 0, 0};
	char part[80], count[32];
	bool said = false;

	for (size_t i = 0; i < d->n_rows; i++) {
		const struct plot_row *r = &d->row[i];

		if (!r->endpoint || strcmp(r->id, e->id) != 0)
			continue;
		n[0] += r->rejected;
		n[1] += r->timed_out;
		n[2] += r->failed;
	}
	t->full = false;
	for (size_t i = 0; i < 3; i++) {
		if (!(n[i] > 0))
			continue;
		snprintf(part, sizeof(part), "%s %s %s", said ? "," : ";",
		         show_count((uint64_t)n[i], count, sizeof(count)),
		         word[i]);
		append(t, TITLE_MOST, part);
		said = true;
	}
}

void plot_put_title(FILE *to, const struct plot_title *t)
{
	plot_put_text(to, "title", t->text);
}

/* ---- events ------------------------------------------------------------ */

static void put_word(FILE *to, double x, bool left, int row, const char *word)
{
	fprintf(to,
	        "set label at first %.9g, graph %.3g %s noenhanced boxed "
	        "front textcolor rgb '#555555' font ',12' offset %s,0 ",
	        x, 0.965 - 0.055 * row, left ? "left" : "right",
	        left ? "0.6" : "-0.6");
	plot_quote(to, word);
	fputc('\n', to);
}

/* A word stands in the first row that is free; none is: its line alone. */
static void put_marks(FILE *to, const struct plot_data *d,
                      const struct plot_endpoint *e)
{
	double end[MARK_ROWS];
	double width = d->end_s / 60;
	char word[80];

	for (int i = 0; i < MARK_ROWS; i++)
		end[i] = -INFINITY;
	for (size_t i = 0; i < d->n_marks; i++) {
		const struct plot_mark *m = &d->mark[i];
		double x = m->at_s / 60;
		double from = x;
		double wide;
		bool left;
		int row = 0;

		if (m->at_s <= 0 ||
		    (m->deployment && !plot_has(e, m->deployment)))
			continue;
		snprintf(word, sizeof(word), "%s", m->word);
		if (m->deployment) {
			plot_short(m->deployment, MARK_NAME, word,
			           sizeof(word));
			snprintf(word + strlen(word),
			         sizeof(word) - strlen(word), "%s", m->word);
		}
		wide = (double)(characters(word) + 2) * mark_letter * width;
		left = x + wide < width;
		if (!left)
			from = x - wide;
		fprintf(to,
		        "set arrow from first %.9g, graph 0 to first %.9g, "
		        "graph 1 nohead lc rgb '#999999' lw 0.8 back\n",
		        x, x);
		while (row < MARK_ROWS && end[row] > from)
			row++;
		if (row == MARK_ROWS)
			continue;
		end[row] = from + wide;
		put_word(to, x, left, row, word);
	}
}

void plot_put_frame(FILE *to, const struct plot_data *d,
                    const struct plot_endpoint *e, double top)
{
	fprintf(to, "xmax = %.9g\nymax = %.9g\nn = %zu\n", d->end_s / 60, top,
	        e->n_deployments);
	put_marks(to, d, e);
}

/* ---- labels ------------------------------------------------------------ */

void plot_label_add(struct plot_labels *l, double y, size_t line,
                    const char *fmt, ...)
{
	struct plot_label *x = &l->label[l->n];
	char text[300];
	va_list args;

	if (!isfinite(y))
		return;
	if (l->n == PLOT_LABELS) {
		l->more++;
		return;
	}
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	plot_short(text, LABEL_NAME, x->text, sizeof(x->text));
	x->y = y;
	x->line = line;
	l->n++;
}

/* At least `gap` apart, in the order of y, none above `top`. */
static void spread(struct plot_label *label, size_t n, double gap, double top)
{
	for (size_t i = 1; i < n; i++) {
		struct plot_label x = label[i];
		size_t k = i;

		for (; k > 0 && label[k - 1].y > x.y; k--)
			label[k] = label[k - 1];
		label[k] = x;
	}
	for (size_t i = 1; i < n; i++)
		label[i].y = fmax(label[i].y, label[i - 1].y + gap);
	for (size_t i = n; i-- > 0; top -= gap)
		label[i].y = fmin(label[i].y, top);
}

void plot_put_labels(FILE *to, const struct plot_data *d, struct plot_labels *l,
                     double top)
{
	size_t n = l->n;

	if (l->more > 0) {
		struct plot_label *x = &l->label[n++];

		snprintf(x->text, sizeof(x->text), "+%zu more", l->more);
		x->y = top;
		for (size_t i = 0; i + 1 < n; i++)
			x->y = fmin(x->y, l->label[i].y - 0.06 * top);
		x->y = fmax(x->y, -1e-9 * top);
		x->line = 0;
	}
	spread(l->label, n, 0.06 * top, top);
	for (size_t i = 0; i < n; i++) {
		const struct plot_label *x = &l->label[i];

		fprintf(to,
		        "set label at first %.9g, first %.9g noenhanced "
		        "offset 0.7,0 ",
		        d->end_s / 60, x->y);
		if (x->line > 0)
			fprintf(to, "textcolor lt %zu ", x->line);
		else
			fputs("textcolor rgb '#555555' ", to);
		plot_quote(to, x->text);
		fputc('\n', to);
	}
}
