/* engine/plan/modify.h - what INSERT, UPDATE and DELETE need beyond the plan node: bound by the planner, used by
 * engine/exec/modify.c, COPY and CREATE INDEX. */
#ifndef ENGINE_PLAN_MODIFY_H
#define ENGINE_PLAN_MODIFY_H

#include "engine/plan/plan.h"

/* Everything about writing rows of one table, bound once: see bind_table_writes(). All scalars read the table's columns in order. */
struct table_writes {
    const struct table *table;
    struct scalar **defaults;            /* by column: coerced DEFAULT (nextval for serial/identity), NULL: null */
    struct scalar **generated;           /* by column: stored generated, else NULL */
    uint16_t check_count; struct scalar **checks; const char **check_names;
    struct scalar ***index_exprs;        /* by index, by index column: NULL for a plain column */
    struct scalar **index_predicates;    /* by index: NULL when not partial */
};
enum status bind_table_writes(struct session *, struct arena *, const struct table *, struct table_writes **out) MUST_CHECK;

struct modify_info {
    struct table_writes *writes;
    bool   *set;                         /* UPDATE, by column: assigned */
    /* READ COMMITTED after a wait: the newer version of the target row is put in place of the old one and judged again.
     * recheck_filter and recheck_exprs read: target table's columns (all, in order), then left's extra columns (from FROM / USING, as they were).
     * recheck_exprs gives the new row (UPDATE), by column. */
    struct scalar *recheck_filter;       /* NULL: true */
    struct scalar **recheck_exprs;
    uint16_t extra_count;                /* columns of left after the row id and the table's columns: the joined tables' values, for RETURNING and re-check */
    /* ON CONFLICT */
    enum conflict_action conflict; const struct index *conflict_index;   /* NULL with NOTHING: any */
    struct scalar **conflict_set; struct scalar *conflict_where;         /* over: existing row's columns, then the excluded row's columns */
    bool *conflict_assigned;
};

/* LOCK_ROWS (FOR UPDATE …) under READ COMMITTED, when a row that was waited for has a newer version: take the columns that come
 * from that table anew from it, put them and its row id in place, and judge filter over the whole row of left's columns. True: hand
 * the changed row on (locked in its newer version). False, or the row was deleted: the row is skipped. */
struct lock_recheck {
    struct scalar *filter;               /* over left's columns; NULL: true */
    uint16_t **table_columns;            /* [lock][column of left]: table column (attnum - 1), 0xFFFF its row id, 0xFFFE: not of that table */
};

#endif
