/* engine/exec/sort.h - private to sort.c, sort_merge.c and top_n.c: kept rows with their sort words, and runs of them. */
#ifndef ENGINE_EXEC_SORT_H
#define ENGINE_EXEC_SORT_H

#include "engine/exec/sort_words.h"
#include "engine/exec/spill.h"

struct sort_node {
    struct exec_node op;
    struct sort_layout key;
    struct sort_part **parts; uint16_t part_count;           /* of all workers, those of a worker in the order of their rows */
    struct sql_type *spill_types;        /* the columns, then what runs have beside them: see spilled_key in sort_merge.c */
    uint64_t skip, keep;                 /* of the rows in order: [skip, keep) are wanted; keep UINT64_MAX: all */
};

/* Rows of one worker, in the order in which they came, and a word for each: sorted once it is full, or the input is over. */
struct sort_part {
    struct rows rows;
    uint16_t number;                     /* of equal keys of one grain those in the part with the lower number came first */
    sort_word *words; uint32_t count, capacity;
    struct grain_start { uint64_t grain; uint32_t row; } *starts; uint32_t start_count, start_capacity;
    struct arena *arena;                 /* of all that */
    struct part_column { const void **values; uint8_t **nulls; bool any_null; } *columns;   /* by column: its chunks (sort_part_columns) */
    uint32_t *chunk_starts;              /* by chunk: the last of `starts` that is not behind its first row */
    struct spill_file *file;             /* earlier rows, sorted, on disk: run after run */
    struct sort_run { struct spill_file *file; uint64_t from, to; } *runs; uint32_t run_count;
};
#define SPILLED_COLUMNS 3                /* of a run beside the row's own: two of the word, and the grain */

enum status sort_node_open(struct exec_node *) MUST_CHECK;
void sort_node_make(struct sort_node *, struct arena *);       /* what its plan says, in that arena */
void sort_part_open(struct sort_part *, const struct exec_node *);            /* empty; its arena is there */
/* Where the next rows begin; room for so many words, which the caller fills and counts. */
sort_word *sort_part_room(struct sort_part *, uint64_t grain, uint16_t count);
/* The worker hears of a cancel meanwhile. */
enum status sort_part_sort(struct sort_part *, const struct sort_layout *, struct worker *) MUST_CHECK;
void sort_part_columns(struct sort_part *);
uint64_t sort_part_grain(const struct sort_part *, uint32_t row);
enum status sort_run(struct local *) MUST_CHECK;              /* sort.c: the whole of it, into n->parts, and out by sort_emit */
enum status sort_emit(struct local *) MUST_CHECK;             /* sort_merge.c: the rows of n->parts, in order, to local's next */
enum status sort_write_run(struct sort_node *, struct sort_part *, struct worker *) MUST_CHECK;   /* sort_spill.c: the sorted part as a run; it isn't emptied */
enum status sort_emit_disk(struct local *) MUST_CHECK;        /* sort_spill.c: as sort_emit, where some part has runs */
/* The rows that refs name, as a batch of n->op.left's columns. */
struct sort_ref { uint32_t part, row; };
void sort_gather(struct sort_part *const *parts, uint16_t part_count, const struct sort_ref *refs, uint16_t count, struct vector *out, uint16_t column_count);

#endif
