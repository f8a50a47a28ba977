/* engine/exec/runtime_filter.h - what a join's build side knows, asked while the other side's table is scanned.
 *
 * Rows of a probe side that match nothing are of no use to inner, semi and right joins. Once the build side is read its keys are known: as an
 * interval and a bitmap where they are integers of a narrow range (exact), else as a Bloom filter with all of its bits for a key in one word
 * (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007). The join puts it on the table scan that its key
 * columns come from, however far below; the scan drops rows after its own condition and before it describes further columns.
 *
 * A filter that drops little costs more than it brings: within each grain the scan looks how many of the rows inside the bounds pass at first, and
 * asks no more than the bounds for the rest of the grain when nearly all do. That hangs on the grain's rows inside the bounds only: not on who scans, nor on
 * which pages of others zone maps have learned to skip. So the rows that get further up, and may raise an error there, are always the same. */
#ifndef ENGINE_EXEC_RUNTIME_FILTER_H
#define ENGINE_EXEC_RUNTIME_FILTER_H

#include "engine/exec/operator.h"

/* Keys of fixed width whose equality is that of their bits, 8 bytes together, are one word. One key is sign-extended, so words
 * compare as the integers they are; more keys lie side by side. */
#define KEY_WORD_MAX 8
struct key_layout { uint16_t count; uint8_t widths[KEY_WORD_MAX], shifts[KEY_WORD_MAX]; };
bool        key_layout_make(struct key_layout *, const struct sql_type *types, uint16_t count);      /* false: they are no word */
/* words[k] belongs to positions[k]; positions NULL: 0 .. count-1. A vector may be narrower than its key (an integer that was cast). */
void        key_words(const struct key_layout *, const struct vector *const *keys, const row_pos *positions, uint16_t count, uint64_t *words);

struct runtime_filter {
    struct runtime_filter *next;         /* of the same scan */
    bool active;                         /* the leader sets it, before the scan starts */
    struct key_layout layout;
    uint16_t columns[KEY_WORD_MAX];      /* of the scan's output */
    uint64_t low, range;                 /* one key: it is low .. low + range - 1; 0: no bounds are known. Neither bits nor blocks: no row passes */
    const uint64_t *bits;                /* by word - low; or */
    const uint64_t *blocks; uint64_t block_count;
};
struct filter_tally { uint64_t grain; uint32_t seen, passed; };     /* a scanning thread's, of one filter; grain UINT64_MAX at first */

/* The column that an expression is, perhaps through casts to wider integers; -1 when it is anything else. */
int32_t     runtime_filter_column(const struct scalar *);
/* Which scan gives these columns of op's output? NULL: none that may be filtered. columns become those of the scan. */
struct exec_node *runtime_filter_target(struct exec_node *op, uint16_t *columns, uint16_t count);
/* The rows that pass, to `out` (may be `rows`). */
uint16_t    runtime_filter_rows(const struct runtime_filter *, struct filter_tally *, uint64_t grain, const struct vector *columns,
                                const row_pos *rows, uint16_t count, row_pos *out);
static inline bool runtime_filter_wanted(const struct filter_tally *t, uint64_t grain)       /* more of it than its bounds? */
{
    return t->grain != grain || t->seen < 256 || t->passed < t->seen - t->seen / 8;
}

/* 128-bit product's upper half: a number below n for a hash. */
static inline uint64_t hash_below(uint64_t hash, uint64_t n) { return (uint64_t)(((unsigned __int128)hash * n) >> 64); }
static inline uint64_t bloom_bits(uint64_t hash)
{
    return 1ULL << (hash & 63) | 1ULL << (hash >> 6 & 63) | 1ULL << (hash >> 12 & 63) | 1ULL << (hash >> 18 & 63);
}

/* seq_scan.c */
void        seq_scan_filter_add(struct exec_node *scan, struct runtime_filter *);     /* the leader, before anything runs */

#endif
