/* engine/exec/hash_join.h - what hash_join.c and hash_join_spill.c share. */
#ifndef ENGINE_EXEC_HASH_JOIN_H
#define ENGINE_EXEC_HASH_JOIN_H

#include "engine/exec/spill.h"

#define NOBODY UINT32_MAX

struct segment { uint64_t grain; uint32_t rows_number; uint64_t first, count; };   /* rows of one grain in one worker's store */
struct build_local {
    struct local local;
    struct evaluation *keys;
    struct vector *columns;              /* right columns, then keys */
    struct arena *arena, *rows_arena;    /* rows_arena: rows, hashes, segments; emptied when they go to disk */
    struct rows rows;
    uint64_t *hashes; uint64_t hash_capacity;
    struct segment *segments; uint32_t segment_count, segment_capacity;
    bool null_key;
    struct spill_set *spilled;           /* it outgrew work_mem: build columns, grain, number within the grain */
    uint64_t sequence;
};

struct place { uint32_t store; uint32_t row; };      /* where build row n lies */
struct join_node {
    struct exec_node op;
    struct program *left_keys, *right_keys, *filter;
    struct sql_type *key_types, *build_types;
    uint16_t left_count, right_count, output_count, build_columns;
    uint16_t *key_column;                /* of the build store */
    uint16_t *outputs;
    bool keep_null_rows, bitwise, constant_build, built;
    bool *reads;                         /* by left ++ right column: the filter reads it */
    /* the table */
    struct build_local **stores; uint32_t store_count;
    struct place *places; uint64_t *hashes; uint32_t count;
    uint32_t *heads, *next, mask;
    uint64_t *words;                     /* one key compared bitwise: by number */
    uint8_t *matched;                    /* RIGHT, FULL: by number */
    bool null_key, any_row;
    uint64_t last_grain;
    /* hash_join_spill.c */
    bool spilled;
    struct sql_type *spill_types;        /* build columns, grain, sequence */
    struct sql_type *probe_types;        /* left's columns, grain, sequence */
    struct sql_type *result_types;       /* output columns, grain, sequence */
};

struct probe_local {
    struct local local;
    struct evaluation *keys, *filter;
    struct vector *key_vectors, *joined, *out;
    uint64_t *hashes; uint32_t *first;   /* of the batch's rows: the hash, the head of its chain */
    row_pos *pair_left; uint32_t *pair_right; uint16_t pair_count;
    uint8_t *row_matched;
    row_pos *kept_left; uint32_t *kept_right;
    /* hash_join_spill.c */
    struct spill_set *spilled;           /* probe rows */
    uint64_t sequence;
    struct spill_file *results;          /* where output goes instead of up, with its probe row's place */
    struct rows waiting; struct arena *waiting_arena;
    struct vector *tagged;
    struct spill_file **unmatched;       /* RIGHT, FULL: by partition */
};

/* hash_join.c */
enum status join_table_make(struct join_node *) MUST_CHECK;
enum status join_probe(struct local *, const struct batch *) MUST_CHECK;      /* against the table in memory */
enum status join_unmatched(struct local *) MUST_CHECK;                       /* RIGHT, FULL */

/* hash_join_spill.c */
enum status join_spill_types(struct join_node *) MUST_CHECK;
enum status join_spill_build(struct build_local *) MUST_CHECK;               /* what is kept goes to disk */
enum status join_spill_probe(struct probe_local *, const struct batch *, const row_pos *positions) MUST_CHECK;
enum status join_spill_finish(struct probe_local *) MUST_CHECK;              /* the input is over: the join itself */
enum status join_spill_result(struct probe_local *, const struct batch *probe, const struct batch *out, const row_pos *left) MUST_CHECK;

#endif
