/* engine/exec/modify.c - INSERT, UPDATE and DELETE.
 *
 * Rows come from below batch by batch and are written at once: no statement sees its own changes (they carry its number),
 * so what it reads doesn't move under it. A row that another transaction changed first: under READ COMMITTED the
 * newer version is put in the old one's place and the condition is judged again, under REPEATABLE READ the statement
 * fails with 40001. A row that this very statement has changed already (it came twice from a join) is left alone.
 *
 * ON CONFLICT goes row by row: look for a live row with the key; none: insert, and if the tree says that somebody was
 * faster, take the heap row back and look again. */
#include "engine/exec/write.h"

struct modify_node {
    struct exec_node op;
    const struct table_writes *writes;
    struct program *defaults; uint16_t *default_columns, default_count;
    struct program *returning, *recheck, *recheck_exprs, *conflict_set, *conflict_where;
    uint16_t *set_to, set_count;         /* ON CONFLICT: columns that conflict_set's outputs go to */
};
struct modify_local {
    struct local local;
    struct table_writer *writer;
    struct evaluation *defaults, *returning, *recheck, *recheck_exprs, *conflict_set, *conflict_where;
    struct vector *columns, *made, *out, *joined;
    struct arena *arena;                 /* of one row */
    uint64_t *row_ids;
    struct rows kept; struct arena *kept_arena;   /* RETURNING */
    uint64_t grain;
};

static uint16_t column_count(const struct exec_node *op) { return op->plan->table->column_count; }

static enum status modify_open(struct exec_node *op)
{
    struct modify_node *n = (struct modify_node *)op;
    const struct plan *plan = op->plan;
    const struct modify_info *info = plan->modify_info;
    struct arena *arena = op->run->arena;
    uint16_t columns = column_count(op);
    enum status status = STATUS_OK;
    n->writes = info ? info->writes : NULL;
    if (!n->writes) {
        struct table_writes *writes;
        status = bind_table_writes(op->run->session, arena, plan->table, &writes);
        if (status)
            return status;
        n->writes = writes;
    }
    if (plan->modify == MODIFY_INSERT) {
        struct scalar **exprs = arena_array(arena, struct scalar *, columns + 1u);
        n->default_columns = arena_array(arena, uint16_t, columns + 1u);
        for (uint16_t c = 0; c < columns; c++) {
            bool given = false;
            for (uint16_t k = 0; k < plan->insert_column_count; k++)
                given |= plan->insert_columns[k] == c;
            struct scalar *value = plan->exprs ? plan->exprs[c] : n->writes->defaults ? n->writes->defaults[c] : NULL;
            if (given || !value || (n->writes->generated && n->writes->generated[c]))
                continue;
            exprs[n->default_count] = value;
            n->default_columns[n->default_count++] = c;
        }
        status = node_program(op, 0, exprs, n->default_count, &n->defaults);
    }
    if (!status && plan->returning_count)
        status = node_program(op, 1, plan->returning, plan->returning_count, &n->returning);
    if (!status && info && info->recheck_filter)
        status = node_filter(op, 2, info->recheck_filter, &n->recheck);
    if (!status && info && info->recheck_exprs && plan->modify == MODIFY_UPDATE)
        status = node_program(op, 3, info->recheck_exprs, columns, &n->recheck_exprs);
    if (!status && info && info->conflict == CONFLICT_UPDATE) {
        struct scalar **exprs = arena_array(arena, struct scalar *, columns + 1u);
        n->set_to = arena_array(arena, uint16_t, columns + 1u);
        for (uint16_t c = 0; c < columns; c++)
            if (info->conflict_set[c] && (!info->conflict_assigned || info->conflict_assigned[c])) {
                exprs[n->set_count] = info->conflict_set[c];
                n->set_to[n->set_count++] = c;
            }
        status = node_program(op, 4, exprs, n->set_count, &n->conflict_set);
        if (!status)
            status = node_filter(op, 5, info->conflict_where, &n->conflict_where);
    }
    return status;
}

static enum status modify_local(struct local *local)
{
    struct modify_local *l = (struct modify_local *)local;
    struct modify_node *n = (struct modify_node *)local->op;
    const struct plan *plan = local->op->plan;
    struct run *run = local->worker->run;
    struct arena *arena = local->worker->arena;
    uint16_t columns = column_count(local->op);
    uint16_t extra = plan->modify_info ? plan->modify_info->extra_count : 0;
    l->columns = arena_array(arena, struct vector, 2u * columns + extra + 1u);
    l->made = arena_array(arena, struct vector, columns + 1u);
    l->joined = arena_array(arena, struct vector, 2u * columns + extra + 1u);
    l->out = arena_array(arena, struct vector, plan->returning_count + 1u);
    l->row_ids = arena_alloc(arena, BATCH_MAX * sizeof *l->row_ids);
    l->arena = arena_open(arena, "row");
    l->kept_arena = arena_open(arena, "returning");
    rows_open(&l->kept, l->kept_arena, plan->types, plan->returning_count);
    enum status status = table_writer_open(run, arena, n->writes, &l->writer);
    struct { struct program *program; struct evaluation **to; } all[] = {
        { n->defaults, &l->defaults }, { n->returning, &l->returning }, { n->recheck, &l->recheck }, { n->recheck_exprs, &l->recheck_exprs },
        { n->conflict_set, &l->conflict_set }, { n->conflict_where, &l->conflict_where },
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0] && !status; i++)
        if (all[i].program)
            status = evaluation_open(all[i].program, run, arena, all[i].to);
    return status;
}

/* ---- RETURNING ---- */

static enum status flush_kept(struct modify_local *l)
{
    const struct plan *plan = l->local.op->plan;
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < l->kept.chunk_count && !status; c++) {
        struct batch batch;
        rows_chunk(&l->kept, c, &batch);
        batch.grain = l->grain;
        status = local_push(&l->local, &batch);
    }
    if (l->kept.count) {
        arena_reset(l->kept_arena);
        rows_open(&l->kept, l->kept_arena, plan->types, plan->returning_count);
    }
    return status;
}

/* rows: the table's columns, then the extra ones. */
static enum status keep_returning(struct modify_local *l, const struct batch *rows)
{
    uint16_t at;
    if (!l->returning)
        return STATUS_OK;
    enum status status = evaluation_run(l->returning, rows, l->out, &at);
    if (status)
        return status;
    struct batch out = *rows;
    out.columns = l->out;
    out.column_count = l->local.op->plan->returning_count;
    rows_append(&l->kept, &out);         /* handed on at the end: nobody can stop the statement half way */
    return STATUS_OK;
}

/* ---- INSERT ---- */

/* Left's columns and the defaults, in the table's order. */
static enum status insert_row_vectors(struct modify_local *l, const struct batch *batch, struct batch *rows)
{
    struct modify_node *n = (struct modify_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    uint16_t columns = column_count(&n->op), at;
    static const uint8_t one_null[1] = { 1 };
    static const uint64_t zeros[2] = { 0, 0 };
    for (uint16_t c = 0; c < columns; c++)
        l->columns[c] = (struct vector){ .values = (void *)zeros, .nulls = (uint8_t *)one_null, .width = plan->table->columns[c].type.width, .constant = true };
    if (n->default_count) {
        struct batch nothing = *batch;
        enum status status = evaluation_run(l->defaults, &nothing, l->made, &at);
        if (status)
            return status;
        for (uint16_t k = 0; k < n->default_count; k++)
            l->columns[n->default_columns[k]] = l->made[k];
    }
    for (uint16_t k = 0; k < plan->insert_column_count; k++)
        l->columns[plan->insert_columns[k]] = batch->columns[k];
    *rows = *batch;
    rows->columns = l->columns;
    rows->column_count = columns;
    rows->row_ids = NULL;
    return STATUS_OK;
}

static enum status insert_rows(void *context, const struct batch *rows)
{
    struct modify_local *l = context;
    enum status status = table_writer_insert(l->writer, rows, l->row_ids);
    if (status)
        return status;
    l->local.worker->run->changed += rows->selected_count;
    return keep_returning(l, rows);
}

static enum status insert_batch(struct modify_local *l, const struct batch *batch)
{
    struct batch rows;
    enum status status = insert_row_vectors(l, batch, &rows);
    if (status)
        return status;
    status = table_writer_complete(l->writer, &rows);
    return status ? table_writer_before_failure(l->writer, &rows, status, insert_rows, l) : insert_rows(l, &rows);
}

/* ---- ON CONFLICT ---- */

/* A live row that has the new row's key in an arbiter index. */
static enum status find_conflict(struct modify_local *l, const struct batch *rows, uint16_t i, uint64_t *row_id, bool *found)
{
    struct modify_node *n = (struct modify_node *)l->local.op;
    const struct modify_info *info = n->op.plan->modify_info;
    const struct table *t = n->op.plan->table;
    struct run *run = l->local.worker->run;
    enum status status = table_writer_index_values(l->writer, rows);
    *found = false;
    for (uint16_t x = 0; x < t->index_count && !status && !*found; x++) {
        const struct index *index = &t->indexes[x];
        struct text_buffer key, high;
        struct btree_scan *scan;
        bool null, again = false;
        if (!index->unique || (info->conflict_index && info->conflict_index->oid != index->oid) || !table_writer_in_index(l->writer, x, i))
            continue;
        text_buffer_open(&key, l->arena);
        text_buffer_open(&high, l->arena);
        table_writer_key(l->writer, index, rows, i, &key, &null);
        if (null && !index->nulls_not_distinct)
            continue;
        text_buffer_add(&high, key.bytes, key.length);
        key_successor(&high);
        do {
            again = false;
            status = btree_scan_open(&index->tree, l->arena, (const uint8_t *)key.bytes, (uint32_t)key.length, (const uint8_t *)high.bytes, (uint32_t)high.length, false, &scan);
            while (!status && !*found && !again) {
                struct btree_entries entries;
                status = btree_scan_next(scan, &entries);
                if (status || entries.count == 0)
                    break;
                for (uint32_t e = 0; e < entries.count && !status && !*found && !again; e++) {
                    enum heap_liveness liveness;
                    xid_t other;
                    status = heap_liveness(&t->heap, run->txn, entries.row_ids[e], &liveness, &other);
                    if (status)
                        break;
                    if (liveness == HEAP_LIVE) {
                        *row_id = entries.row_ids[e];
                        *found = true;
                    } else if (liveness == HEAP_IN_DOUBT) {
                        status = txn_wait(run->txn, other);
                        again = true;
                    }
                }
            }
            btree_scan_close(scan);
        } while (!status && again);
    }
    return status;
}

/* DO UPDATE on the row that stands in the way. *again: it is gone or changed; start over. */
static enum status conflict_update(struct modify_local *l, const struct batch *rows, uint16_t i, uint64_t row_id, bool *again)
{
    struct modify_node *n = (struct modify_node *)l->local.op;
    const struct modify_info *info = n->op.plan->modify_info;
    const struct table *t = n->op.plan->table;
    struct run *run = l->local.worker->run;
    uint16_t columns = t->column_count, at;
    struct snapshot latest;
    bool found;
    uint64_t version, newer, new_id;
    enum heap_outcome outcome;
    *again = true;
    latest_snapshot(run, &latest);
    latest.command = txn_command(run->txn) + 1;          /* rows of this very statement too */
    enum status status = heap_fetch(&t->heap, &latest, row_id, NULL, 0, NULL, 0, l->arena, &found, &version);
    if (status || !found)
        return status;
    struct heap_version v;
    status = heap_version(&t->heap, version, &v, &found);
    if (status || !found)
        return status;
    if (txn_is_mine(run->txn, v.xmin) && v.cmin >= txn_command(run->txn)) {
        status = error_set(STATUS_CARDINALITY_VIOLATION, "ON CONFLICT DO UPDATE command cannot affect row a second time");
        error_hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.");
        return status;
    }
    if (txn_isolation(run->txn) == REPEATABLE_READ) {
        uint64_t seen;
        status = heap_fetch(&t->heap, run->snapshot, row_id, NULL, 0, NULL, 0, l->arena, &found, &seen);
        if (status)
            return status;
        if (!found || seen != version)
            return error_set(STATUS_CONFLICT, NULL);
    }
    status = heap_lock(&t->heap, run->txn, version, ROW_NO_KEY_UPDATE, LOCK_WAIT, &outcome, &newer);
    if (status || outcome != HEAP_DONE)
        return status;
    struct batch old, changed;
    status = fetch_row(l->writer, version, l->arena, &old, &found);
    if (status || !found)
        return status;
    *again = false;
    for (uint16_t c = 0; c < columns; c++) {
        const struct vector *from = &rows->columns[c];
        size_t k = vector_at(from, i);
        l->joined[c] = old.columns[c];
        l->joined[columns + c] = (struct vector){ .values = (uint8_t *)from->values + k * width_bytes(from->width), .nulls = from->nulls ? from->nulls + k : NULL, .width = from->width, .constant = true };
    }
    struct batch both = batch_empty(1);
    both.columns = l->joined;
    both.column_count = (uint16_t)(2 * columns);
    if (l->conflict_where) {
        const row_pos *left;
        uint16_t count;
        status = evaluation_filter(l->conflict_where, &both, &left, &count, &at);
        if (status || count == 0)
            return status;
    }
    struct vector set[n->set_count + 1];
    status = evaluation_run(l->conflict_set, &both, set, &at);
    if (status)
        return status;
    changed = old;
    changed.columns = arena_copy(l->arena, old.columns, (columns + 1u) * sizeof(struct vector));
    bool *assigned = arena_array(l->arena, bool, columns + 1u);
    for (uint16_t k = 0; k < n->set_count; k++) {
        changed.columns[n->set_to[k]] = set[k];
        assigned[n->set_to[k]] = true;
    }
    status = table_writer_complete(l->writer, &changed);
    if (!status)
        status = table_writer_update(l->writer, version, &changed, 0, assigned, &outcome, &new_id, &newer);
    if (status)
        return status;
    if (outcome != HEAP_DONE) {
        *again = outcome != HEAP_SELF;
        return STATUS_OK;
    }
    run->changed++;
    (void)info;
    return keep_returning(l, &changed);
}

static enum status insert_each(void *context, const struct batch *complete)
{
    struct modify_local *l = context;
    struct modify_node *n = (struct modify_node *)l->local.op;
    const struct modify_info *info = n->op.plan->modify_info;
    const struct table *t = n->op.plan->table;
    struct run *run = l->local.worker->run;
    struct batch rows = *complete;
    enum status status = STATUS_OK;
    for (uint16_t k = 0; k < rows.selected_count && !status; k++) {
        row_pos i = batch_row(complete, k);
        struct batch one = rows;
        one.selection = &i;
        one.selected_count = 1;
        one.all_selected = false;
        for (bool again = true; again && !status;) {
            uint64_t other = 0, row_id;
            bool found, conflict = false;
            arena_reset(l->arena);
            again = false;
            status = thread_check_interrupts();
            if (!status)
                status = find_conflict(l, &one, i, &other, &found);
            if (status)
                break;
            if (found && info->conflict == CONFLICT_NOTHING) {
                if (txn_isolation(run->txn) == REPEATABLE_READ) {
                    uint64_t seen;
                    struct heap_version v;
                    status = heap_fetch(&t->heap, run->snapshot, other, NULL, 0, NULL, 0, l->arena, &found, &seen);
                    if (!status && !found) {
                        bool there;
                        status = heap_version(&t->heap, other, &v, &there);
                        if (!status && there && !txn_is_mine(run->txn, v.xmin))
                            status = error_set(STATUS_CONFLICT, NULL);
                    }
                }
                break;
            }
            if (found) {
                status = conflict_update(l, &rows, i, other, &again);
                continue;
            }
            status = heap_insert(&t->heap, run->txn, &one, &row_id, false);
            if (!status)
                status = table_writer_index(l->writer, &one, i, row_id, info->conflict_index ? table_index(t, info->conflict_index->oid) : NULL, !info->conflict_index, &conflict);
            if (status)
                break;
            if (conflict) {              /* somebody was faster: take the row back, look again */
                enum heap_outcome outcome;
                uint64_t newer;
                status = heap_delete(&t->heap, run->txn, row_id, LOCK_WAIT, &outcome, &newer);
                again = true;
                continue;
            }
            if (t->foreign_key_count)
                status = foreign_note_new(l->writer, &one, i, NULL);
            run->changed++;
            if (!status)
                status = keep_returning(l, &one);
        }
    }
    return status;
}

static enum status insert_on_conflict(struct modify_local *l, const struct batch *batch)
{
    struct batch rows;
    enum status status = insert_row_vectors(l, batch, &rows);
    if (status)
        return status;
    status = table_writer_complete(l->writer, &rows);
    return status ? table_writer_before_failure(l->writer, &rows, status, insert_each, l) : insert_each(l, &rows);
}

/* ---- UPDATE, DELETE ---- */

/* The newer version in the old one's place: is it still wanted? Its columns (and the new row) as a batch of one. */
static enum status judge_again(struct modify_local *l, const struct batch *batch, uint16_t i, uint64_t newer, struct batch *out, bool *wanted)
{
    struct modify_node *n = (struct modify_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    uint16_t columns = column_count(&n->op), extra = plan->modify_info ? plan->modify_info->extra_count : 0, at;
    struct batch row;
    arena_reset(l->arena);
    enum status status = fetch_row(l->writer, newer, l->arena, &row, wanted);
    if (status || !*wanted)
        return status;
    struct vector *both = arena_array(l->arena, struct vector, columns + extra + 1u);
    memcpy(both, row.columns, columns * sizeof *both);
    for (uint16_t k = 0; k < extra; k++) {
        const struct vector *from = &batch->columns[1 + columns + k];
        size_t p = vector_at(from, i);
        both[columns + k] = (struct vector){ .values = (uint8_t *)from->values + p * width_bytes(from->width), .nulls = from->nulls ? from->nulls + p : NULL, .width = from->width, .constant = true };
    }
    row.columns = both;
    row.column_count = (uint16_t)(columns + extra);
    if (l->recheck) {
        const row_pos *left;
        uint16_t count;
        status = evaluation_filter(l->recheck, &row, &left, &count, &at);
        *wanted = count > 0;
        if (status || !*wanted)
            return status;
    }
    if (plan->modify == MODIFY_UPDATE) {
        if (!l->recheck_exprs)
            return error_set(STATUS_CONFLICT, NULL);
        struct vector *made = arena_array(l->arena, struct vector, columns + extra + 1u);
        status = evaluation_run(l->recheck_exprs, &row, made, &at);
        memcpy(made + columns, both + columns, extra * sizeof *made);
        row.columns = made;
        if (!status)
            status = table_writer_complete(l->writer, &row);
    }
    *out = row;
    return status;
}

static enum status change_row(struct modify_local *l, const struct batch *batch, const struct batch *rows, uint16_t i, uint64_t row_id)
{
    const struct plan *plan = l->local.op->plan;
    struct run *run = l->local.worker->run;
    const bool *assigned = plan->modify_info ? plan->modify_info->set : NULL;
    struct batch now = *rows, again;
    row_pos at = i;
    now.selection = &at;
    now.selected_count = 1;
    now.all_selected = false;
    for (;;) {
        enum heap_outcome outcome;
        uint64_t newer = 0, new_id;
        enum status status = plan->modify == MODIFY_UPDATE ? table_writer_update(l->writer, row_id, &now, at, assigned, &outcome, &new_id, &newer)
                                                           : table_writer_delete(l->writer, row_id, &outcome, &newer);
        if (status)
            return status;
        if (outcome == HEAP_DONE) {
            run->changed++;
            return keep_returning(l, &now);
        }
        if (outcome == HEAP_SELF)
            return STATUS_OK;
        if (txn_isolation(run->txn) == REPEATABLE_READ)
            return outcome == HEAP_DELETED ? error_set(STATUS_CONFLICT, "could not serialize access due to concurrent delete") : error_set(STATUS_CONFLICT, NULL);
        if (outcome == HEAP_DELETED)
            return STATUS_OK;
        bool wanted;
        status = judge_again(l, batch, i, newer, &again, &wanted);
        if (!status)
            status = thread_check_interrupts();
        if (status || !wanted)
            return status;
        now = again;
        at = 0;
        row_id = newer;
    }
}

struct change { struct modify_local *l; const struct batch *batch; };

/* rows: the table's columns and the extra ones; batch: with the row id before them. */
static enum status change_rows(void *context, const struct batch *rows)
{
    struct change *c = context;
    const struct vector *ids = &c->batch->columns[0];
    enum status status = STATUS_OK;
    for (uint16_t k = 0; k < rows->selected_count && !status; k++) {
        uint16_t i = batch_row(rows, k);
        if (vector_null(ids, i))
            continue;
        status = change_row(c->l, c->batch, rows, i, (uint64_t)VECTOR(int64_t, ids, i));
        if (!status && k % 64 == 63)
            status = thread_check_interrupts();
    }
    return status;
}

static enum status change_batch(struct modify_local *l, const struct batch *batch)
{
    struct modify_node *n = (struct modify_node *)l->local.op;
    const struct plan *plan = n->op.plan;
    uint16_t columns = column_count(&n->op), extra = plan->modify_info ? plan->modify_info->extra_count : 0;
    struct batch rows = *batch;
    struct change change = { .l = l, .batch = batch };
    memcpy(l->columns, batch->columns + 1, (columns + extra) * sizeof *l->columns);
    rows.columns = l->columns;
    rows.column_count = (uint16_t)(columns + extra);
    if (plan->modify == MODIFY_UPDATE) {
        enum status status = table_writer_complete(l->writer, &rows);
        if (status)
            return table_writer_before_failure(l->writer, &rows, status, change_rows, &change);
    }
    return change_rows(&change, &rows);
}

static enum status modify_take(struct local *local, const struct batch *batch)
{
    struct modify_local *l = (struct modify_local *)local;
    const struct plan *plan = local->op->plan;
    l->grain = batch->grain;
    if (plan->modify != MODIFY_INSERT)
        return change_batch(l, batch);
    if (plan->modify_info && plan->modify_info->conflict != CONFLICT_NONE)
        return insert_on_conflict(l, batch);
    return insert_batch(l, batch);
}

/* All input is read and written before RETURNING's STOP could cut it short: what is returned is kept and handed on at the end. */
static enum status modify_source(struct local *local)
{
    struct modify_local *l = (struct modify_local *)local;
    enum status status = local->op->left ? node_run(local->op->left, local) : STATUS_OK;
    if (status == STATUS_STOP)
        status = STATUS_OK;
    if (!status)
        status = table_writer_finish(l->writer);
    if (!status)
        status = flush_kept(l);
    return status;
}

const struct node_class modify_class = { .name = "modify", .node_bytes = sizeof(struct modify_node), .local_bytes = sizeof(struct modify_local), .open = modify_open,
                                         .local = modify_local, .source = modify_source, .take = modify_take };
