/* engine/exec/write.h - writing rows of one table: checks, heap, indexes, foreign keys. What INSERT, UPDATE, DELETE,
 * COPY and the actions of foreign keys share.
 *
 *     table_writer_open(run, arena, writes, &writer);
 *     table_writer_complete(writer, &batch, assigned);      generated columns, NOT NULL, CHECK
 *     table_writer_insert(writer, &batch, row_ids);         heap, index entries
 *     table_writer_finish(writer);                          the statement's end: foreign keys
 *
 * Batches hold the table's columns in order, dropped ones too. Nothing is held between calls. */
#ifndef ENGINE_EXEC_WRITE_H
#define ENGINE_EXEC_WRITE_H

#include "engine/exec/index_entries.h"

struct foreign_queue {                   /* keys to look at when the statement ends */
    const struct foreign_key *key;
    struct rows old_keys, new_keys;      /* of the table's own columns of the key; referenced side: new_keys after an UPDATE */
    uint64_t *changes; uint64_t change_capacity;         /* referenced side, by kept key: which change of the statement it belongs to */
};
struct table_writer {
    struct run *run;
    struct arena *arena;                 /* lives as long as the writer */
    struct arena *scratch;               /* of one row */
    const struct table *table;
    const struct table_writes *writes;
    struct evaluation *generated; uint16_t *generated_columns, generated_count;
    struct evaluation **checks;
    struct evaluation *index_exprs; bool any_index_expr;
    struct evaluation **predicates;      /* by index */
    struct vector *index_vectors;        /* of expressions, index after index */
    uint16_t *index_first;               /* by index: its first expression among them */
    struct sql_type *types;              /* of the table's columns */
    bool *indexed, *unique_key;          /* by column: an index (a unique index) hangs on it */
    uint16_t *all_columns;
    struct foreign_queue *references, *referenced;
    struct text_buffer key;
    struct index_entries sorted;         /* of one index and batch */
    struct btree_new *entries;
    struct vector *old_row;              /* one row */
    uint64_t change_count;               /* rows of a referenced table that went or changed */
    uint16_t failed_row;                 /* position of the row that the last error is about; NO_ROW: of none in particular */
    bool     failed_before;              /* it failed before any row of its batch was written */
};

enum status table_writer_open(struct run *, struct arena *, const struct table_writes *, struct table_writer **out) MUST_CHECK;
/* rows->columns is changed (generated columns). */
enum status table_writer_complete(struct table_writer *, struct batch *rows) MUST_CHECK;
/* It failed: the rows before that one are still written, for one of them may fail by itself, and it is the first error that counts.
 * Gives the rows to `write`, then the error back. */
enum status table_writer_before_failure(struct table_writer *, const struct batch *rows, enum status failure,
                                        enum status (*write)(void *context, const struct batch *before), void *context) MUST_CHECK;
enum status table_writer_insert(struct table_writer *, const struct batch *rows, uint64_t *row_ids) MUST_CHECK;
/* Index entries of the row at position i; arbiter: a violation of that index (NULL: none; with any true: of whichever) isn't an error but *conflict. */
enum status table_writer_index(struct table_writer *, const struct batch *rows, uint16_t i, uint64_t row_id, const struct index *arbiter, bool any, bool *conflict) MUST_CHECK;
/* Evaluates the indexes' expressions and predicates for a batch; before table_writer_index. */
enum status table_writer_index_values(struct table_writer *, const struct batch *rows) MUST_CHECK;
/* The key of the row at position i in an index; *null: a key column is null. */
void        table_writer_key(struct table_writer *, const struct index *, const struct batch *rows, uint16_t i, struct text_buffer *key, bool *null);
bool        table_writer_in_index(struct table_writer *, uint16_t index, uint16_t i);   /* the partial index takes the row */

/* UPDATE and DELETE of one version. Both say how it stood when somebody was there first. assigned: by column; NULL all. */
enum status table_writer_update(struct table_writer *, uint64_t row_id, const struct batch *rows, uint16_t i, const bool *assigned, enum heap_outcome *, uint64_t *new_row_id, uint64_t *newer) MUST_CHECK;
enum status table_writer_delete(struct table_writer *, uint64_t row_id, enum heap_outcome *, uint64_t *newer) MUST_CHECK;
enum status table_writer_finish(struct table_writer *) MUST_CHECK;

/* foreign.c */
enum status foreign_open(struct table_writer *) MUST_CHECK;
enum status foreign_note_new(struct table_writer *, const struct batch *rows, uint16_t i, const bool *assigned) MUST_CHECK;    /* a row was made */
enum status foreign_note_old(struct table_writer *, uint64_t row_id, const struct batch *new_row, uint16_t i, const bool *assigned) MUST_CHECK;   /* a version went; new_row NULL: deleted */
enum status foreign_check(struct table_writer *) MUST_CHECK;

/* Snapshot of everything committed, and all that the transaction did. */
void        latest_snapshot(struct run *, struct snapshot *out);
/* A whole row of the table as a batch of one, in the arena. */
enum status fetch_row(struct table_writer *, uint64_t row_id, struct arena *, struct batch *out, bool *found) MUST_CHECK;
/* The kth column of an index's key, as messages name it: Key (a, "odd name", lower(b))=... */
void        describe_key_column(struct text_buffer *, struct arena *, const struct table *, const struct index *, uint16_t k);
/* (a, b)=(1, x) for messages. */
void        describe_key(struct text_buffer *, const struct table *, const int16_t *columns, uint16_t count, const struct vector *values, uint16_t i);

#endif
