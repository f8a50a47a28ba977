/* engine/exec/aggregate_private.h - what the files of the aggregate node share: its plan-time state, a worker's tables, and who calls what. */
#ifndef ENGINE_EXEC_AGGREGATE_PRIVATE_H
#define ENGINE_EXEC_AGGREGATE_PRIVATE_H

#include <stddef.h>
#include "engine/exec/aggregate.h"
#include "engine/exec/row_table.h"
#include "engine/exec/spill.h"

/* It hangs on the plan alone: what is chosen shows in the last bits of float sums. */
#ifndef WIDE_GROUPS
#define WIDE_GROUPS 2000
#endif

/* Where a row stands in the query's order: its grain, and its place in that. */
#define PLACE_BITS 36
static inline uint64_t row_place(uint64_t grain, uint64_t sequence)
{
    const uint64_t last = (1ULL << PLACE_BITS) - 1;
    return grain << PLACE_BITS | (sequence < last ? sequence : last);
}
static inline uint64_t place_grain(uint64_t place) { return place >> PLACE_BITS; }

struct call {                            /* one aggregate of the node */
    const struct aggregate_item *item;
    const struct aggregate *aggregate;
    struct sql_type *arg_types;
    uint16_t first_arg;                  /* among the program's outputs, when there is no FILTER */
    uint32_t offset;                     /* of its state: among the exact ones, or among the ordered ones */
    bool ordered, distinct, sorted;
    bool shared;                         /* an earlier call keeps the very same state, and updates it: sum(x), avg(x) */
    struct program *filter, *args;
};
struct aggregate_node {
    struct exec_node op;
    struct program *program;             /* group keys, then arguments */
    uint16_t output_count;
    struct call *calls; uint16_t call_count;
    struct sql_type *key_types;
    uint32_t exact_bytes;                /* a group's states but for the ordered ones */
    struct folder folder;                /* the ordered ones */
    uint16_t set_count;
    bool in_order;                       /* rows of a group are taken one by one in their order: ORDER BY inside; or wide, and a state hangs on it */
    bool has_distinct, has_sorted;
    struct aggregate_local **parts; uint32_t part_count;
    uint64_t grain_base;                 /* of the append's input that comes now: grains count from here */
    /* rows that are set aside (dealt out, or spilled): what the program made of them, or, when a FILTER has to see it, the input row;
     * behind that its place */
    bool keeps_input;
    struct sql_type *row_types; uint16_t row_columns;
    bool segmented; uint8_t segment_level;       /* wide, and the rows a group many: states that hang on order are kept for aligned runs of 2^level grains */
    bool deals;                          /* many groups: with several workers, rows are dealt out first (aggregate_deal.c) */
    struct spill_set **dealt; uint32_t dealt_count;
};

/* The groups that one worker met, by number; column by column. */
struct group_table {
    struct row_table rows;               /* their keys */
    uint32_t count, capacity;
    uint8_t *states;                     /* exact_bytes each */
    uint64_t *places;                    /* of the first row */
    /* ordered states: those of the grain at hand, and what is folded of earlier ones */
    uint8_t *parts;                      /* folder.bytes each */
    struct fold **stacks;
    uint8_t *touched; uint32_t *touched_list, touched_count;   /* by the grain at hand */
    bool spilling;                       /* takes no new groups: their rows are set aside */
};
/* The tables of a run of grains (of all of them, if the node isn't segmented), by grouping set. */
struct segment { struct segment *before; uint64_t index; struct group_table *tables; };
/* A group that is looked at by itself. */
struct group { uint8_t *states; struct fold *stack; uint64_t place; const struct rows *rows; uint32_t row; };   /* rows, row: where its key lies */
struct group_list { struct group *groups; uint32_t count, capacity; struct row_table rows; };

struct call_local {
    struct evaluation *filter, *args;
    struct vector *arg_vectors;
    struct distinct_set *seen;           /* DISTINCT */
    struct sorted_rows *kept;            /* ORDER BY */
};
struct aggregate_local {
    struct local local;
    struct arena *arena;
    struct folder folder;
    struct fold *spare;
    struct evaluation *evaluation;
    struct segment *segment;             /* the one at hand; before it, earlier ones */
    struct group_table *tables;          /* its tables */
    struct spill_set **spilled;          /* by grouping set: rows of groups that aren't in the table; NULL: none */
    struct vector *outputs, *keys;
    const struct vector *at_hand;        /* the program's outputs for this batch: ours, or the batch's own columns */
    uint32_t *groups;                    /* by position: the row's group */
    struct call_local *call_locals;
    uint64_t grain, sequence;            /* of the next row */
    uint64_t state_bytes, limit_bytes;
    bool alone;                          /* no other worker meets its groups: DISTINCT can be decided at once */
    /* aggregate_spill.c: rows that were set aside are aggregated */
    bool never_spill, one_set;           /* one_set: of the grouping sets only `only` */
    uint16_t only;
    uint32_t least_groups;               /* so many it takes in any case: each level gets on */
    uint8_t level;                       /* of what is set aside now */
    struct spill_set **further; uint32_t further_count, source;    /* by where rows came from; source: those at hand */
};

/* aggregate_group.c: rows into groups. */
enum status aggregate_local_open(struct aggregate_local *, struct arena *) MUST_CHECK;
/* evaluated: the batch holds the program's outputs. places: by position; NULL: rows as they come from the input. */
enum status aggregate_batch(struct aggregate_local *, const struct batch *, bool evaluated, const uint64_t *places) MUST_CHECK;
enum status aggregate_done(struct local *) MUST_CHECK;
enum status aggregate_take(struct local *, const struct batch *) MUST_CHECK;
enum status aggregate_grain_end(struct local *, uint64_t grain) MUST_CHECK;
/* Number of non-null rows of the arguments, into out. */
uint16_t    aggregate_skip_nulls(const struct vector *args, uint16_t arg_count, const row_pos *rows, uint16_t count, row_pos *out);

/* aggregate_distinct.c: count(DISTINCT x). */
enum status distinct_open(struct aggregate_local *, const struct call *, struct distinct_set **out) MUST_CHECK;
/* Notes rows' arguments. Alone: fresh[] gets those that are new. */
enum status distinct_add(struct aggregate_local *, const struct call *, struct distinct_set *, uint16_t set, const struct vector *args, const row_pos *rows, uint16_t count,
                         row_pos *fresh, uint16_t *fresh_count) MUST_CHECK;
/* Alone: what was set aside for want of memory. */
enum status distinct_finish(struct aggregate_local *, uint16_t call) MUST_CHECK;
/* Several workers: their sets together, into the states of the list's groups. maps[part][number] is the group's place in the list. */
enum status distinct_unite(struct aggregate_node *, uint16_t call, uint16_t set, struct group_list *, uint32_t *const *maps) MUST_CHECK;
uint64_t    distinct_bytes(const struct distinct_set *);

/* aggregate_sorted.c: array_agg(x ORDER BY y). */
struct sorted_rows *sorted_open(struct aggregate_local *, const struct call *);
enum status sorted_add(struct aggregate_local *, const struct call *, struct sorted_rows *, uint16_t set, const struct vector *args, const row_pos *rows, uint16_t count) MUST_CHECK;
enum status sorted_finish(struct aggregate_local *, uint16_t call) MUST_CHECK;

/* aggregate_few.c: groups of at most FEW_TABLES tables (with GROUP BY, without DISTINCT) into one list, in order. */
#define FEW_TABLES 4
enum status aggregate_few(struct aggregate_node *, struct group_table **tables, uint32_t table_count, struct group_list *out) MUST_CHECK;

/* aggregate_finish.c: groups of several tables together, in order. */
/* Group `from` joins `into`: exact states are combined, runs of ordered ones put on its list, in any order. */
enum status aggregate_group_join(struct aggregate_node *, struct arena *, struct group *into, const struct group *from) MUST_CHECK;
void        group_list_open(struct group_list *, struct aggregate_node *, struct arena *);
/* The tables of a grouping set, of all parts, in the order of their segments. */
struct group_table **aggregate_tables(struct aggregate_node *, uint16_t set, struct aggregate_local *const *parts, uint32_t part_count, struct arena *, uint32_t *count);
/* Group numbers of a table (those `count` of them; numbers NULL: all), dealt out by the hash of their keys on that level: those of partition p rise from
 * numbers[starts[p]] on. */
struct split { uint32_t *numbers, starts[SPILL_PARTITIONS + 1]; };
void        aggregate_split(struct aggregate_node *, struct group_table *, const uint32_t *numbers, uint32_t count, uint8_t level, struct arena *, struct split *out);
/* Groups of the table (those `count` of them; numbers NULL: all) join the list. map: see distinct_unite; may be NULL. */
enum status aggregate_join(struct aggregate_node *, struct arena *, struct group_list *, struct group_table *, const uint32_t *numbers, uint32_t count, uint32_t *map) MUST_CHECK;
void        aggregate_sort_groups(struct group_list *);
/* Lists without common groups, each sorted: one, by place. */
enum status aggregate_merge(struct aggregate_node *, uint16_t workers, const struct group_list *lists, uint32_t count, struct arena *, struct group_list *out) MUST_CHECK;
#ifndef FEW_TOGETHER
#define FEW_TOGETHER 4096                /* so few groups aren't worth a second thread */
#endif
void        aggregate_groups_of(struct aggregate_node *, struct group_table *, uint32_t from, uint32_t count, struct group *out);
enum status aggregate_finalize(struct local *, uint64_t *batches) MUST_CHECK;

/* aggregate_emit.c: groups into rows, and on. */
/* Keys, and results, of groups into columns that have room for nulls. */
void        aggregate_keys(const struct aggregate_node *, const struct group *, uint16_t count, struct vector *columns);
enum status aggregate_results(struct aggregate_node *, struct group *, uint16_t count, struct vector *columns, struct arena *) MUST_CHECK;
enum status aggregate_emit(struct local *, struct group_list *, uint64_t *batches) MUST_CHECK;
enum status aggregate_emit_table(struct local *, struct group_table *, uint64_t *batches) MUST_CHECK;

/* aggregate_deal.c */
enum status aggregate_deal(struct local *, uint16_t workers, uint64_t *batches) MUST_CHECK;

/* aggregate_spill.c */
/* Aggregates one partition of rows that were set aside (in `count` sets) into a table of its own. owners: to whom each set's rows came, when
 * rows of the same group may also lie in another's table; NULL: they don't. What outgrows work_mem is set aside again, on that level
 * (out->further; NULL: nothing was); past the last level nothing is. */
struct aside { uint16_t set; struct worker *const *owners; struct spill_set *const *sets; uint32_t count; };
enum status aggregate_partition_run(struct aggregate_node *, struct worker *, const struct aside *, uint32_t partition, uint8_t level, struct arena *, struct aggregate_local **out) MUST_CHECK;
/* All partitions one after another, through files: what the sets and (parts) the workers' tables hold. */
enum status aggregate_partitions_emit(struct local *, const struct aside *, uint64_t *batches) MUST_CHECK;
void        aggregate_spill_begin(struct aggregate_local *, uint16_t set);
enum status aggregate_spill_rows(struct aggregate_local *, uint16_t set, const struct batch *, const row_pos *rows, uint16_t count, const uint64_t *hashes, const uint32_t *entries,
                                 const uint64_t *places) MUST_CHECK;
enum status aggregate_spill_finish(struct local *, uint16_t set, uint64_t *batches) MUST_CHECK;

#endif
