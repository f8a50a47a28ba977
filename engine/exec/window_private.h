/* engine/exec/window_private.h - what window.c (rows in, partitions, rows out), window_frame.c (which rows a row's frame has) and
 * window_compute.c (the functions) share. */
#ifndef ENGINE_EXEC_WINDOW_PRIVATE_H
#define ENGINE_EXEC_WINDOW_PRIVATE_H

#include "engine/exec/spill.h"
#include "parser/tree.h"

enum over { AGGREGATE_OVER, ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE };

struct frame_offset {                    /* … PRECEDING, … FOLLOWING */
    uint64_t rows;                       /* ROWS, GROUPS */
    struct value value; struct sql_type type;            /* RANGE: what is added to the key, or taken off, and how */
    kernel_fn kernel; const void *data;
    struct sql_type result;
};
struct item {
    const struct window_item *item;
    enum over function;
    bool frame_of_rows;                  /* the function looks at its frame */
    uint16_t first_arg;                  /* column of the kept rows */
    uint16_t filter;                     /* column, or 0xFFFF */
    struct sql_type *arg_types;
    struct frame_offset start, end;
};
struct window_node {
    struct exec_node op;
    struct program *program;             /* arguments and filters */
    uint16_t output_count, left_count;
    struct sql_type *types;              /* of the kept rows: input, arguments */
    struct item *items;
};

#define BEGINS_PARTITION 1
#define BEGINS_PEERS     2
/* Rows that are kept until their partitions are whole. Everything is by row number. */
struct block {
    struct arena *arena, *rows_arena;    /* rows_arena: of the rows that aren't in the file */
    struct rows rows;
    struct spill_file *file;             /* a partition that outgrows work_mem: everything that is by row lies in it, mapped (spill_map); NULL: in the arena */
    uint32_t mapped_chunks;              /* so many of rows' chunks lie there */
    uint64_t mapped_texts;               /* rows whose texts' bytes lie there, if it is more */
    uint8_t *begins; uint64_t begins_capacity;
    uint64_t *peer_start, *peer_end, *peer_group;    /* row numbers, and the number of the group of peers, within the partition */
    uint64_t *starts, *ends;             /* frames of the item at hand, within the partition */
    struct vector **results;             /* by item, by chunk */
};
/* One partition of a block, and who computes it. */
struct part {
    const struct window_node *node;
    const struct block *block;
    uint64_t first, count;               /* of the block's rows */
    struct worker *worker;
    struct arena *arena;                 /* lives as long as the block */
    struct arena *scratch;               /* … as the partition is computed */
};

static inline const struct vector *part_column(const struct part *p, uint64_t row, uint16_t column) { return rows_column(&p->block->rows, p->first + row, column); }
static inline uint16_t part_at(const struct part *p, uint64_t row) { return rows_at(p->first + row); }

/* window.c: room for something by row: in the arena, or in the file. */
enum status block_room(const struct block *, size_t bytes, void **out) MUST_CHECK;

/* window_frame.c */
enum status frame_offsets(struct run *, struct arena *, const struct window_node *, struct item *) MUST_CHECK;   /* evaluates them: once a run */
enum status frames_find(const struct part *, const struct item *) MUST_CHECK;        /* fills starts and ends of the partition's rows */
/* A row's frame less what EXCLUDE takes out: at most three runs of rows, in order. */
struct frame_piece { uint64_t from, to; };
int         frame_pieces(const struct part *, const struct item *, uint64_t row, struct frame_piece out[3]);

/* window_compute.c: one function for all rows of the partition, into results[number]. */
enum status window_compute(const struct part *, uint16_t number) MUST_CHECK;

#endif
