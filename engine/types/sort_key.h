/* engine/types/sort_key.h - sort keys as words of 128 bits.
 *
 * A *sort word* stands for a row. Its upper 96 bits are the first 12 bytes of the row's sort key, so that of two words with
 * different bytes there the smaller is the row that comes first; its lower 32 bits are the row's number, so that rows with
 * equal keys stay in the order in which they came. A word is made a column at a time, without a call for each value:
 *
 *     column:  marker (as in key.c: null first, value, null last) | value, as many bytes as its form has
 *     value:   big-endian, as unsigned bytes that are ordered as the type is; inverted for DESC; zeros for null
 *     text:    as much of it as there is room for, then zeros. Nothing stands behind a text in the word
 *
 * Where that isn't the whole key (long texts, many columns) rows whose 96 bits agree are told apart by the next bytes of
 * the text (sort_key_text), or by the rows themselves (sort_key_compare). */
#ifndef ENGINE_TYPES_SORT_KEY_H
#define ENGINE_TYPES_SORT_KEY_H

#include "engine/types/type.h"

typedef unsigned __int128 sort_word;
#define SORT_KEY_BYTES  12
#define SORT_ROW(word)  ((uint32_t)(word))
#define SORT_KEY(word)  ((word) >> 32)

struct sort_column { struct sql_type type; unsigned flags; uint16_t column; };   /* flags: enum key_flags */
struct sort_layout {
    const struct sort_column *columns; uint16_t count;
    uint16_t whole;                      /* so many columns are in the word whole … */
    uint8_t  whole_bytes;                /* … and take so many bytes */
    bool     exact;                      /* … and these are all: equal words mean equal keys */
    bool     text;                       /* the column behind them is a text, and some of it is in the word */
};
void sort_key_open(struct sort_layout *, const struct sort_column *columns, uint16_t count);     /* columns must stay */

/* out[k] is the word of position positions[k] (NULL: k), with row number first_row + k. */
void sort_key_words(const struct sort_layout *, const struct vector *columns, const row_pos *positions, size_t count, uint32_t first_row,
                    struct text_buffer *scratch, sort_word *out);
/* Two rows by the columns from `from` on. */
int  sort_key_compare(const struct sort_layout *, uint16_t from, const struct vector *a, size_t i, const struct vector *b, size_t j);
/* Two rows whose words agree in 96 bits: by what the words don't hold. */
int  sort_key_compare_rest(const struct sort_layout *, sort_word, const struct vector *a, size_t i, const struct vector *b, size_t j);
/* The word's text is whole (or null): equal bytes mean equal texts. */
bool sort_key_text_ended(const struct sort_layout *, sort_word);
/* How many bytes of a text are in a word; 12 of its bytes from `from` on, as the upper 96 bits of a word. */
static inline uint32_t sort_key_text_bytes(const struct sort_layout *k) { return SORT_KEY_BYTES - 1u - k->whole_bytes; }
sort_word sort_key_text(const struct sort_layout *, struct varlen, uint32_t from);

/* What can't come before a bound, thrown out before anything is made of it. Where the first column's type allows it: positions whose value
 * isn't past the bound's go to `out`, and their number is returned; else -1 (no bound known, or a type that has no such loop). */
struct sort_bound { bool set; struct sql_type type; bool descending, nulls_first; union { int64_t i; double f; }; };
void sort_key_bound(const struct sort_layout *, const struct vector *columns, size_t at, struct sort_bound *out);
int  sort_key_within(const struct sort_bound *, const struct vector *first, const row_pos *positions, uint16_t count, row_pos *out);

#endif
