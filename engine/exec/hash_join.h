/* engine/exec/hash_join.h - what the files of the hash join share: hash_join.c (the node, its build side), join_table.c (the table),
 * hash_probe.c (matches), hash_join_spill.c (build sides that outgrow work_mem).
 *
 * Build rows stay where the workers that read them put them: in chunks of ROWS_CHUNK, column by column. All chunks together are numbered
 * through, and a *ref* is chunk * ROWS_CHUNK + place: what the table holds, and by what columns are gathered. The row order of the
 * build side is that of its segments (a grain's rows in one worker's store), sorted by grain. */
#ifndef ENGINE_EXEC_HASH_JOIN_H
#define ENGINE_EXEC_HASH_JOIN_H

#include "base/hash.h"
#include "engine/exec/runtime_filter.h"
#include "engine/exec/spill.h"

#define NOBODY   UINT32_MAX
#define MORE     (1u << 31)              /* beside a ref: `next` has another row of the same word */
#define REF_MAX  (MORE - 1)

struct segment { uint64_t grain; uint32_t store; uint64_t first, count; };     /* first: of the store's rows; in join_rows: a ref */
struct build_local {
    struct local local;
    struct evaluation *keys;
    struct vector *key_vectors, *columns;
    uint64_t *words; uint8_t *word_nulls;      /* by position of a batch */
    struct arena *arena, *rows_arena;    /* rows_arena: rows, segments; emptied when they go to disk */
    struct rows rows;
    struct segment *segments; uint32_t segment_count, segment_capacity;
    bool null_key;
    int64_t low, high;                   /* of the words, as integers */
    struct spill_set *spilled;           /* it outgrew work_mem: build columns, grain, number within the grain */
    uint64_t sequence;
};

struct build_column { void **values; uint8_t **nulls; bool any_null; };      /* by chunk */
struct join_rows {
    uint32_t chunk_count; uint64_t count;
    struct build_column *columns;
    struct segment *segments; uint32_t segment_count;
};

/* By word: the first row that has it. Words are the keys themselves where they fit (key_layout), else the hash of the keys. */
struct join_slot { uint64_t word; uint32_t first; } __attribute__((packed));
struct join_table {
    bool direct;                         /* heads[word - low]; else slots, with linear probing */
    bool unique;                         /* no word has two rows */
    bool hashed;                         /* words are hashes already */
    uint64_t low, range;
    uint32_t *heads;
    struct join_slot *slots;
    uint64_t part_slots; uint8_t part_bits;    /* 2^part_bits parts, by the hash's upper bits, each a ring of its own: built by one worker */
    uint32_t *next;                      /* by ref */
};

struct join_node {
    struct exec_node op;
    struct program *left_keys, *right_keys, *filter;
    struct sql_type *key_types, *build_types;
    uint16_t left_count, right_count, output_count, build_columns;
    uint16_t *store_column;              /* by right column: its place among the build columns, or NOT_KEPT */
    uint16_t *key_column;                /* by key, when words are hashes: its place */
    uint16_t word_column;                /* the last of them */
    uint16_t *outputs;
    bool worded; struct key_layout layout;
    bool keep_null_rows, constant_build, build_serial, built;
    bool *reads;                         /* by left ++ right column: the filter reads it */
    struct build_local **stores; uint32_t store_count;
    struct join_rows rows;
    struct join_table table;
    _Atomic uint8_t *matched;            /* RIGHT, FULL, RIGHT_SEMI, RIGHT_ANTI: by ref */
    bool null_key, any_row;
    uint64_t last_grain;
    struct runtime_filter *runtime_filter; struct exec_node *filtered_scan;
    /* hash_join_spill.c */
    bool spilled;
    struct sql_type *spill_types;        /* build columns, grain, sequence */
    struct sql_type *probe_types;        /* left's columns, grain, sequence */
    struct sql_type *result_types;       /* output columns, grain, sequence */
};

struct gathered { void *values; uint8_t *nulls; uint16_t capacity; };
struct probe_local {
    struct local local;
    struct evaluation *keys, *filter;
    struct vector *key_vectors, *joined, *out;
    struct gathered *spaces;             /* by left ++ right column */
    uint64_t *words; uint32_t *found;    /* of the batch's rows: the word, the first row that has it */
    row_pos *pair_left; uint32_t *pair_right; uint16_t pair_count;
    uint8_t *row_matched;
    row_pos *kept_left; uint32_t *kept_right;
    /* hash_join_spill.c */
    struct spill_set *spilled;           /* probe rows */
    uint64_t sequence;
    struct spill_file *results;          /* where output goes instead of up, with its probe row's place */
    struct rows waiting; struct arena *waiting_arena;
    struct vector *tagged;
    struct spill_file *unmatched;        /* the same for build rows that come out by themselves */
};

/* A join whose build rows come out at the end of the probe, by themselves: those without a match, or (RIGHT_SEMI) with one. */
static inline bool join_marks(enum plan_join join) { return join == PLAN_RIGHT || join == PLAN_FULL || join == PLAN_RIGHT_SEMI || join == PLAN_RIGHT_ANTI; }
static inline bool join_one_sided(enum plan_join join) { return join == PLAN_SEMI || join == PLAN_ANTI || join == PLAN_ANTI_NULL; }

/* hash_join.c */
void        join_words(const struct join_node *, const struct vector *keys, const row_pos *positions, uint16_t count, uint64_t *words);
uint64_t    join_last_grain(const struct join_node *);                       /* the grain of build rows that come out by themselves */

/* join_table.c: of n->stores, with so many workers. */
enum status join_table_make(struct join_node *, uint16_t workers) MUST_CHECK;
void        join_table_find(const struct join_table *, const uint64_t *words, uint16_t count, uint32_t *found);   /* found[k]: a ref, perhaps with MORE, or NOBODY */
static inline uint32_t join_table_next(const struct join_table *t, uint32_t found) { return found & MORE ? t->next[found & REF_MAX] : NOBODY; }
static inline uint64_t join_hash(const struct join_node *n, uint64_t word) { return n->worded ? hash_u64(word) : word; }

/* hash_probe.c */
enum status probe_local(struct local *) MUST_CHECK;
enum status probe_take(struct local *, const struct batch *) MUST_CHECK;
enum status join_probe(struct local *, const struct batch *) MUST_CHECK;      /* against the table in memory */
enum status join_unmatched(struct local *) MUST_CHECK;                       /* the build rows that come out by themselves */

/* hash_join_spill.c */
enum status join_spill_types(struct join_node *) MUST_CHECK;
enum status join_spill_build(struct build_local *) MUST_CHECK;               /* what is kept goes to disk */
enum status join_spill_probe(struct probe_local *, const struct batch *, const row_pos *positions) MUST_CHECK;
enum status join_spill_finish(struct probe_local *, bool failed) MUST_CHECK;     /* the input is over: the join itself. failed: it met an error, and there may be more rows */
enum status join_spill_result(struct probe_local *, const struct batch *probe, const struct batch *out, const row_pos *left) MUST_CHECK;

#endif
