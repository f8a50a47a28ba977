/* engine/exec/aggregate_private.h - what aggregate.c and aggregate_spill.c share. */
#ifndef ENGINE_EXEC_AGGREGATE_PRIVATE_H
#define ENGINE_EXEC_AGGREGATE_PRIVATE_H

#include <stddef.h>
#include "engine/exec/aggregate.h"
#include "engine/exec/row_table.h"
#include "engine/exec/spill.h"

struct call {                            /* one aggregate of the node */
    const struct aggregate_item *item;
    const struct aggregate *aggregate;
    struct sql_type *arg_types;
    uint16_t first_arg;                  /* among the program's outputs, when there is no FILTER */
    uint32_t offset;                     /* of its state: among the exact ones, or among the ordered ones */
    bool ordered, distinct, sorted;
    struct program *filter, *args;
};
struct aggregate_node {
    struct exec_node op;
    struct program *program;             /* group keys, then arguments */
    uint16_t output_count;
    struct call *calls; uint16_t call_count;
    struct sql_type *key_types, *spill_types;
    uint32_t exact_bytes, group_bytes;
    struct folder folder;
    uint16_t set_count;
    uint16_t distinct_from;              /* of (set, group, arguments), what tells rows apart begins there */
    bool serial;                         /* the leader alone aggregates */
    bool keeps_rows;                     /* DISTINCT or ORDER BY inside */
    struct aggregate_local **parts; uint32_t part_count;
    /* many groups and several workers: rows are dealt out first (aggregate_deal.c) */
    bool deals;
    struct program *keys;
    struct spill_set **dealt; uint32_t dealt_count;
};

/* Ordered states of a group, behind its exact ones. */
struct part { uint64_t grain; struct fold *stack; bool live; uint8_t states[] __attribute__((aligned(16))); };
struct group { uint8_t *states; uint64_t grain, sequence; const struct rows *rows; uint32_t row; };   /* rows, row: where its key lies */
struct group_table {
    struct row_table rows;
    struct group *groups; uint32_t group_count, group_capacity;
    bool spilling;
    struct spill_set *spilled;           /* rows of groups that aren't in the table */
};
struct call_local {
    struct evaluation *filter, *args;
    struct vector *arg_vectors;
    struct sql_type *types; struct vector *columns;      /* set, group, arguments */
    struct row_table seen;               /* DISTINCT */
    struct rows kept;                    /* ORDER BY */
};
struct aggregate_local {
    struct local local;
    struct arena *arena;
    struct folder folder;
    struct evaluation *evaluation;
    struct group_table *tables;          /* by grouping set */
    struct vector *outputs, *keys;
    uint32_t *entries; uint64_t *hashes;
    uint8_t **bases; void **states;      /* by position: the group's states; one aggregate's state */
    struct call_local *call_locals;
    uint64_t sequence, state_bytes, limit_bytes;
    bool never_spill;
};

enum status aggregate_local_open(struct aggregate_local *, struct arena *) MUST_CHECK;
enum status aggregate_batch(struct aggregate_local *, const struct batch *, const int64_t *sequences) MUST_CHECK;
enum status aggregate_done(struct local *) MUST_CHECK;
enum status aggregate_join(struct aggregate_node *, struct arena *, struct group_table *into, struct group_table *from, uint32_t partition, uint32_t partition_count) MUST_CHECK;
void        aggregate_sort_groups(struct group_table *);
enum status aggregate_results(struct aggregate_node *, struct group *, uint16_t count, struct vector *columns, struct arena *) MUST_CHECK;

struct group_tables { struct group_table *tables; uint32_t count; };
void        aggregate_merge(struct group_tables *, struct arena *, struct group_table *out);     /* sorted tables without common groups: by first appearance */
int         aggregate_compare_groups(const void *, const void *);
enum status aggregate_emit(struct local *, struct group_table *, uint64_t *batches) MUST_CHECK;

/* aggregate_deal.c */
enum status aggregate_deal(struct local *, uint16_t workers, uint64_t *batches) MUST_CHECK;

/* aggregate_spill.c */
/* Aggregates one partition of rows that were set aside (in `count` sets) into a table of its own. owners: to whom each set's rows came, when
 * rows of the same group may also lie in another's table; NULL: they don't. */
enum status aggregate_partition_run(struct aggregate_node *, struct worker *, struct worker *const *owners, struct spill_set *const *sets, uint32_t count, uint32_t partition,
                                    struct arena *, struct aggregate_local **out) MUST_CHECK;
/* All partitions one after another, through files: what the sets and (parts) the workers' tables hold. */
enum status aggregate_partitions_emit(struct local *, uint16_t set, struct worker *const *owners, struct spill_set *const *sets, uint32_t count, uint64_t *batches) MUST_CHECK;
enum status aggregate_spill_begin(struct aggregate_local *, uint16_t set) MUST_CHECK;
enum status aggregate_spill_rows(struct aggregate_local *, uint16_t set, const struct batch *, const row_pos *rows, uint16_t count, const uint32_t *entries,
                                 uint64_t first_sequence, const int64_t *sequences) MUST_CHECK;
enum status aggregate_spill_finish(struct local *, uint16_t set, uint64_t *batches) MUST_CHECK;

#endif
