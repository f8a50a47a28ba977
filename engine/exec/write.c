/* engine/exec/write.c - writing rows of one table (see write.h).
 *
 * A row goes to the heap first, then its entries into the indexes, each under the unique check of that tree: whoever finds a
 * live row with its key fails, and the heap row dies with the transaction. An update that changes no column an index hangs
 * on leaves the indexes alone if it stays on its page. */
#include "engine/exec/write.h"
#include "parser/parser.h"

static void note_columns(const struct scalar *s, bool *columns)
{
    if (!s)
        return;
    if (s->kind == SCALAR_COLUMN)
        columns[s->column] = true;
    for (int32_t i = 0; i < s->arg_count; i++)
        note_columns(s->args[i], columns);
}

static enum status evaluation_for(struct table_writer *w, struct scalar *const *exprs, uint16_t count, struct evaluation **out)
{
    struct program *program;
    enum status status = program_compile(w->arena, exprs, count, &program);
    return status ? status : evaluation_open(program, w->run, w->arena, out);
}

enum status table_writer_open(struct run *run, struct arena *arena, const struct table_writes *writes, struct table_writer **out)
{
    struct table_writer *w = arena_new(arena, struct table_writer);
    const struct table *t = writes->table;
    enum status status = STATUS_OK;
    *out = w;
    w->run = run;
    w->arena = arena;
    w->scratch = arena_open(arena, "row");
    w->table = t;
    w->writes = writes;
    text_buffer_open(&w->key, arena);
    w->types = arena_array(arena, struct sql_type, t->column_count + 1u);
    w->indexed = arena_array(arena, bool, t->column_count + 1u);
    w->unique_key = arena_array(arena, bool, t->column_count + 1u);
    w->all_columns = arena_array(arena, uint16_t, t->column_count + 1u);
    for (uint16_t c = 0; c < t->column_count; c++) {
        w->types[c] = t->columns[c].type;
        w->all_columns[c] = c;
    }

    struct scalar **exprs = arena_array(arena, struct scalar *, t->column_count + 1u);
    w->generated_columns = arena_array(arena, uint16_t, t->column_count + 1u);
    for (uint16_t c = 0; c < t->column_count; c++)
        if (writes->generated && writes->generated[c]) {
            exprs[w->generated_count] = writes->generated[c];
            w->generated_columns[w->generated_count++] = c;
        }
    if (w->generated_count)
        status = evaluation_for(w, exprs, w->generated_count, &w->generated);
    w->checks = arena_array(arena, struct evaluation *, writes->check_count + 1u);
    for (uint16_t k = 0; k < writes->check_count && !status; k++)
        status = evaluation_for(w, &writes->checks[k], 1, &w->checks[k]);

    uint32_t total = 0;
    for (uint16_t x = 0; x < t->index_count; x++)
        total += t->indexes[x].column_count;
    struct scalar **all = arena_array(arena, struct scalar *, total + 1);
    uint16_t count = 0;
    w->index_first = arena_array(arena, uint16_t, t->index_count + 1u);
    w->predicates = arena_array(arena, struct evaluation *, t->index_count + 1u);
    for (uint16_t x = 0; x < t->index_count && !status; x++) {
        const struct index *index = &t->indexes[x];
        w->index_first[x] = count;
        for (uint16_t k = 0; k < index->column_count; k++) {
            if (index->columns[k].column) {
                w->indexed[index->columns[k].column - 1] = true;
                w->unique_key[index->columns[k].column - 1] |= index->unique;
                continue;
            }
            ASSERT(writes->index_exprs && writes->index_exprs[x] && writes->index_exprs[x][k]);
            all[count++] = writes->index_exprs[x][k];
            note_columns(writes->index_exprs[x][k], w->indexed);
        }
        struct scalar *predicate = index->predicate && writes->index_predicates ? writes->index_predicates[x] : NULL;
        if (predicate) {
            note_columns(predicate, w->indexed);
            status = evaluation_for(w, &predicate, 1, &w->predicates[x]);
        }
    }
    w->any_index_expr = count > 0;
    w->index_vectors = arena_array(arena, struct vector, count + t->index_count + 1u);
    if (count && !status)
        status = evaluation_for(w, all, count, &w->index_exprs);
    if (!status)
        status = foreign_open(w);
    return status;
}

/* ---- checks ---- */

static void describe_value(struct text_buffer *out, struct sql_type type, const struct vector *v, uint16_t i)
{
    if (vector_null(v, i)) {
        text_buffer_puts(out, "null");
        return;
    }
    size_t from = out->length;
    type_out(type, v, vector_at(v, i), out);
    if (out->length - from > 64) {       /* as PostgreSQL: cut, at a character */
        size_t end = from + 64;
        while (end > from && ((uint8_t)out->bytes[end] & 0xC0) == 0x80)
            end--;
        out->length = end;
        text_buffer_puts(out, "...");
    }
}

static void describe_row(struct table_writer *w, const struct batch *rows, uint16_t i)
{
    struct text_buffer text;
    text_buffer_open(&text, w->scratch);
    bool first = true;
    for (uint16_t c = 0; c < w->table->column_count; c++) {
        if (w->table->columns[c].dropped)
            continue;
        if (!first)
            text_buffer_puts(&text, ", ");
        first = false;
        describe_value(&text, w->types[c], &rows->columns[c], i);
    }
    error_detail("Failing row contains (%s).", text.bytes ? text.bytes : "");
    arena_reset(w->scratch);
}

void describe_key_column(struct text_buffer *out, struct arena *arena, const struct table *table, const struct index *index, uint16_t k)
{
    const struct index_column *column = &index->columns[k];
    text_buffer_printf(out, "%s%s", k ? ", " : "", column->column ? quote_identifier(arena, table->columns[column->column - 1].name) : column->expr_text ? column->expr_text : "");
}

void describe_key(struct text_buffer *out, const struct table *table, const int16_t *columns, uint16_t count, const struct vector *values, uint16_t i)
{
    text_buffer_putc(out, '(');
    for (uint16_t k = 0; k < count; k++)
        text_buffer_printf(out, "%s%s", k ? ", " : "", table->columns[columns[k] - 1].name);
    text_buffer_puts(out, ")=(");
    for (uint16_t k = 0; k < count; k++) {
        if (k)
            text_buffer_puts(out, ", ");
        if (vector_null(&values[k], i))
            text_buffer_puts(out, "null");
        else
            type_out(table->columns[columns[k] - 1].type, &values[k], vector_at(&values[k], i), out);
    }
    text_buffer_putc(out, ')');
}

enum status table_writer_complete(struct table_writer *w, struct batch *rows)
{
    const struct table *t = w->table;
    uint16_t at;
    w->failed_row = NO_ROW;
    w->failed_before = true;
    if (w->generated) {
        struct vector made[w->generated_count];
        enum status status = evaluation_run(w->generated, rows, made, &at);
        if (status)
            return status;
        for (uint16_t k = 0; k < w->generated_count; k++)
            rows->columns[w->generated_columns[k]] = made[k];
    }
    /* the first row that is wrong, in row order */
    uint16_t wrong = NO_ROW, column = 0;
    for (uint16_t c = 0; c < t->column_count; c++) {
        if (!t->columns[c].not_null || t->columns[c].dropped || !rows->columns[c].nulls)
            continue;
        for (BATCH_EACH(rows, i))
            if (vector_null(&rows->columns[c], i)) {
                if (i < wrong) {
                    wrong = i;
                    column = c;
                }
                break;
            }
    }
    uint16_t check = NO_ROW, check_row = wrong;
    for (uint16_t k = 0; k < w->writes->check_count; k++) {
        struct batch before = *rows;
        row_pos positions[BATCH_MAX];
        struct vector result;
        if (check_row != NO_ROW) {
            uint16_t n = 0;
            for (BATCH_EACH(rows, i))
                if (i < check_row)
                    positions[n++] = i;
            before.selection = positions;
            before.selected_count = n;
            before.all_selected = false;
            if (n == 0)
                break;
        }
        enum status status = evaluation_run(w->checks[k], &before, &result, &at);
        if (status)
            return status;
        for (BATCH_EACH(&before, i))
            if (!vector_null(&result, i) && !VECTOR(uint8_t, &result, i)) {
                check = k;
                check_row = i;
                break;
            }
    }
    w->failed_row = check_row;
    if (check != NO_ROW) {
        enum status status = error_set(STATUS_CHECK_VIOLATION, "new row for relation \"%s\" violates check constraint \"%s\"", t->name, w->writes->check_names[check]);
        describe_row(w, rows, check_row);
        w->failed_row = check_row;
        error_names(t->schema_name, t->name, NULL, w->writes->check_names[check]);
        return status;
    }
    if (wrong != NO_ROW) {
        enum status status = error_set(STATUS_NOT_NULL_VIOLATION, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", t->columns[column].name, t->name);
        describe_row(w, rows, wrong);
        w->failed_row = wrong;
        error_names(t->schema_name, t->name, t->columns[column].name, NULL);
        return status;
    }
    return STATUS_OK;
}

enum status table_writer_before_failure(struct table_writer *w, const struct batch *rows, enum status failure,
                                        enum status (*write)(void *context, const struct batch *before), void *context)
{
    struct batch before = *rows;
    row_pos positions[BATCH_MAX];
    uint16_t n = 0;
    if (w->failed_row == NO_ROW)
        return failure;
    for (BATCH_EACH(rows, i))
        if (i < w->failed_row)
            positions[n++] = i;
    if (n == 0)
        return failure;
    before.selection = positions;
    before.selected_count = n;
    before.all_selected = false;
    struct error saved = {0};
    uint16_t row = w->failed_row;
    bool failed_before = w->failed_before;
    error_save(&saved);
    enum status status = write(context, &before);
    if (status) {
        error_free(&saved);
        return status;
    }
    w->failed_row = row;
    w->failed_before = failed_before;
    return error_restore(&saved);
}

/* ---- indexes ---- */

enum status table_writer_index_values(struct table_writer *w, const struct batch *rows)
{
    const struct table *t = w->table;
    uint16_t at, count = 0;
    enum status status = STATUS_OK;
    if (w->index_exprs)
        status = evaluation_run(w->index_exprs, rows, w->index_vectors, &at);
    for (uint16_t x = 0; x < t->index_count; x++)
        for (uint16_t k = 0; k < t->indexes[x].column_count; k++)
            count += t->indexes[x].columns[k].column == 0;
    for (uint16_t x = 0; x < t->index_count && !status; x++)
        if (w->predicates[x])
            status = evaluation_run(w->predicates[x], rows, &w->index_vectors[count + x], &at);
    w->index_first[t->index_count] = count;
    return status;
}

bool table_writer_in_index(struct table_writer *w, uint16_t x, uint16_t i)
{
    if (!w->predicates[x])
        return true;
    const struct vector *v = &w->index_vectors[w->index_first[w->table->index_count] + x];
    return !vector_null(v, i) && VECTOR(uint8_t, v, i);
}

void table_writer_key(struct table_writer *w, const struct index *index, const struct batch *rows, uint16_t i, struct text_buffer *key, bool *null)
{
    uint16_t expr = w->index_first[index - w->table->indexes];
    key->length = 0;
    *null = false;
    for (uint16_t k = 0; k < index->column_count; k++) {
        const struct index_column *column = &index->columns[k];
        const struct vector *v = column->column ? &rows->columns[column->column - 1] : &w->index_vectors[expr++];
        if (vector_null(v, i)) {
            *null = true;
            key_append_null(column->flags, key);
        } else {
            key_append(column->type, column->flags, v, vector_at(v, i), key);
        }
    }
}

static enum status row_alive(void *context, uint64_t row_id, bool *live, xid_t *wait_for)
{
    struct table_writer *w = context;
    enum heap_liveness liveness;
    *wait_for = XID_NONE;
    enum status status = heap_liveness(&w->table->heap, w->run->txn, row_id, &liveness, wait_for);
    *live = liveness == HEAP_LIVE;
    if (liveness != HEAP_IN_DOUBT)
        *wait_for = XID_NONE;
    return status;
}

static enum status duplicate(struct table_writer *w, const struct index *index, const struct batch *rows, uint16_t i)
{
    struct text_buffer names, values;
    text_buffer_open(&names, w->scratch);
    text_buffer_open(&values, w->scratch);
    uint16_t expr = w->index_first[index - w->table->indexes];
    for (uint16_t k = 0; k < index->column_count; k++) {
        const struct index_column *column = &index->columns[k];
        const struct vector *v = column->column ? &rows->columns[column->column - 1] : &w->index_vectors[expr++];
        describe_key_column(&names, w->scratch, w->table, index, k);
        if (k)
            text_buffer_puts(&values, ", ");
        if (vector_null(v, i))
            text_buffer_puts(&values, "null");
        else
            type_out(column->type, v, vector_at(v, i), &values);
    }
    enum status status = error_set(STATUS_UNIQUE_VIOLATION, "duplicate key value violates unique constraint \"%s\"", index->name);
    error_detail("Key (%s)=(%s) already exists.", names.bytes, values.bytes);
    error_names(w->table->schema_name, w->table->name, NULL, index->name);
    arena_reset(w->scratch);
    return status;
}

enum status table_writer_index(struct table_writer *w, const struct batch *rows, uint16_t i, uint64_t row_id, const struct index *arbiter, bool any, bool *conflict)
{
    const struct table *t = w->table;
    xid_t xid;
    enum status status = txn_id(w->run->txn, &xid);
    for (uint16_t x = 0; x < t->index_count && !status; x++) {
        const struct index *index = &t->indexes[x];
        bool null;
        if (!table_writer_in_index(w, x, i))
            continue;
        table_writer_key(w, index, rows, i, &w->key, &null);
        struct btree_unique unique = { .alive = row_alive, .context = w, .txn = w->run->txn };
        uint64_t other;
        bool check = index->unique && (!null || index->nulls_not_distinct);
        status = btree_insert(&index->tree, xid, (const uint8_t *)w->key.bytes, (uint32_t)w->key.length, row_id, check ? &unique : NULL, &other);
        if (status == STATUS_UNIQUE_VIOLATION) {
            if (conflict && (any || index == arbiter)) {
                *conflict = true;
                return STATUS_OK;
            }
            return duplicate(w, index, rows, i);
        }
    }
    return status;
}

/* ---- many rows ----
 *
 * A batch's entries go into one index after another, sorted, so that those of one leaf go there together. Should one of them fail, the rows are gone
 * through once more, one by one: then it is known which row is the first that fails, and by which index. */

#define MANY 16

static bool wants_check(const struct index *index, bool null) { return index->unique && (!null || index->nulls_not_distinct); }

static enum status insert_sorted(struct table_writer *w, const struct batch *rows, const uint64_t *row_ids, uint16_t x, xid_t xid)
{
    const struct index *index = &w->table->indexes[x];
    struct btree_unique unique = { .alive = row_alive, .context = w, .txn = w->run->txn };
    uint64_t other;
    uint32_t failed;
    index_entries_clear(&w->sorted);
    for (uint16_t n = 0; n < rows->selected_count; n++) {
        bool null;
        if (!table_writer_in_index(w, x, batch_row(rows, n)))
            continue;
        table_writer_key(w, index, rows, batch_row(rows, n), &w->key, &null);
        index_entries_add(&w->sorted, (const uint8_t *)w->key.bytes, (uint32_t)w->key.length, wants_check(index, null), row_ids[n]);
    }
    enum status status = index_entries_sort(&w->sorted);
    if (status)
        return status;
    for (uint32_t k = 0; k < w->sorted.count; k++) {
        const struct index_entry *e = &w->sorted.entries[SORT_ROW(w->sorted.words[k])];
        w->entries[k] = (struct btree_new){ .key = e->key, .length = e->length, .check = e->flags, .row_id = e->row_id };
    }
    status = btree_insert_many(&index->tree, xid, w->entries, w->sorted.count, &unique, &failed, &other);
    for (uint16_t n = 0; status && n < rows->selected_count; n++)
        if (row_ids[n] == w->entries[failed].row_id)
            w->failed_row = batch_row(rows, n);
    return status;
}

struct own_rows { struct table_writer *w; const uint64_t *row_ids; uint16_t count; };

static enum status other_alive(void *context, uint64_t row_id, bool *live, xid_t *wait_for)
{
    const struct own_rows *own = context;
    for (uint16_t n = 0; n < own->count; n++)
        if (own->row_ids[n] == row_id) {
            *live = false;
            *wait_for = XID_NONE;
            return STATUS_OK;
        }
    return row_alive(own->w, row_id, live, wait_for);
}

/* Row by row, whatever of them is in the indexes already: rows of the batch collide with earlier ones of it only. */
static enum status insert_in_order(struct table_writer *w, const struct batch *rows, const uint64_t *row_ids, xid_t xid)
{
    const struct table *t = w->table;
    struct own_rows own = { w, row_ids, rows->selected_count };
    struct btree_unique unique = { .alive = other_alive, .context = &own, .txn = w->run->txn };
    struct arena *arena = arena_open(w->arena, "keys");
    struct varlen *keys = arena_array(arena, struct varlen, (size_t)t->index_count * rows->selected_count);   /* of rows that went in, where they are checked */
    enum status status = STATUS_OK;
    for (uint16_t n = 0; n < rows->selected_count && !status; n++)
        for (uint16_t x = 0; x < t->index_count && !status; x++) {
            const struct index *index = &t->indexes[x];
            struct varlen *mine = keys + (size_t)x * rows->selected_count;
            uint16_t i = batch_row(rows, n);
            uint64_t other;
            bool null, twice = false;
            if (!table_writer_in_index(w, x, i))
                continue;
            table_writer_key(w, index, rows, i, &w->key, &null);
            bool check = wants_check(index, null);
            for (uint16_t m = 0; check && m < n && !twice; m++)
                twice = mine[m].bytes && mine[m].length == w->key.length && memcmp(mine[m].bytes, w->key.bytes, w->key.length) == 0;
            if (!twice)
                status = btree_insert(&index->tree, xid, (const uint8_t *)w->key.bytes, (uint32_t)w->key.length, row_ids[n], check ? &unique : NULL, &other);
            if (twice || status == STATUS_UNIQUE_VIOLATION)
                status = duplicate(w, index, rows, i);
            if (status)
                w->failed_row = i;
            else if (check)
                mine[n] = (struct varlen){ .bytes = arena_copy(arena, w->key.bytes, w->key.length), .length = (uint32_t)w->key.length };
        }
    arena_close(arena);
    return status;
}

static enum status insert_many(struct table_writer *w, const struct batch *rows, const uint64_t *row_ids)
{
    xid_t xid;
    enum status status = txn_id(w->run->txn, &xid);
    if (!w->entries) {
        w->entries = arena_array(w->arena, struct btree_new, BATCH_MAX);
        index_entries_open(&w->sorted, w->run, NULL, w->arena, false, UINT64_MAX);
    }
    for (uint16_t x = 0; x < w->table->index_count && !status; x++)
        status = insert_sorted(w, rows, row_ids, x, xid);
    if (status != STATUS_UNIQUE_VIOLATION && status != STATUS_LIMIT_EXCEEDED)
        return status;
    error_clear();
    return insert_in_order(w, rows, row_ids, xid);
}

/* ---- rows ---- */

enum status table_writer_insert(struct table_writer *w, const struct batch *rows, uint64_t *row_ids)
{
    w->failed_row = NO_ROW;
    w->failed_before = false;
    if (rows->selected_count == 0)
        return STATUS_OK;
    enum status status = heap_insert(&w->table->heap, w->run->txn, rows, row_ids, false);
    if (status)
        return status;
    if (w->table->index_count) {
        status = table_writer_index_values(w, rows);
        bool many = rows->selected_count >= MANY;
        if (!status && many)
            status = insert_many(w, rows, row_ids);
        for (uint16_t n = 0; n < rows->selected_count && !status && !many; n++)
            if ((status = table_writer_index(w, rows, batch_row(rows, n), row_ids[n], NULL, false, NULL)))
                w->failed_row = batch_row(rows, n);
    }
    if (w->table->foreign_key_count)
        for (uint16_t n = 0; n < rows->selected_count && !status; n++)
            status = foreign_note_new(w, rows, batch_row(rows, n), NULL);
    return status;
}

void latest_snapshot(struct run *run, struct snapshot *out)
{
    session_catalog_snapshot(run->session, out);
}

enum status fetch_row(struct table_writer *w, uint64_t row_id, struct arena *arena, struct batch *out, bool *found)
{
    const struct table *t = w->table;
    struct vector *columns = arena_array(arena, struct vector, t->column_count + 1u);
    for (uint16_t c = 0; c < t->column_count; c++)
        vector_make(&columns[c], arena, w->types[c].width, 1);
    *out = batch_empty(1);
    out->columns = columns;
    out->column_count = t->column_count;
    return heap_fetch_version(&t->heap, row_id, w->all_columns, t->column_count, columns, 0, arena, found);
}

/* Does an indexed column really change? Only asked when one is assigned. */
static enum status changes(struct table_writer *w, uint64_t row_id, const struct batch *rows, uint16_t i, const bool *assigned, bool *keys_same, bool *key_update)
{
    const struct table *t = w->table;
    uint16_t wanted[t->column_count + 1], count = 0;
    *keys_same = true;
    *key_update = false;
    for (uint16_t c = 0; c < t->column_count; c++)
        if (w->indexed[c] && (!assigned || assigned[c] || (w->writes->generated && w->writes->generated[c])))
            wanted[count++] = c;
    if (count == 0)
        return STATUS_OK;
    struct vector old[count];
    bool found;
    for (uint16_t k = 0; k < count; k++)
        vector_make(&old[k], w->scratch, w->types[wanted[k]].width, 1);
    enum status status = heap_fetch_version(&t->heap, row_id, wanted, count, old, 0, w->scratch, &found);
    if (status || !found)
        return status;
    for (uint16_t k = 0; k < count; k++) {
        bool same = same_value(w->types[wanted[k]], &old[k], 0, &rows->columns[wanted[k]], i);
        *keys_same &= same;
        *key_update |= !same && w->unique_key[wanted[k]];
    }
    return STATUS_OK;
}

enum status table_writer_update(struct table_writer *w, uint64_t row_id, const struct batch *rows, uint16_t i, const bool *assigned, enum heap_outcome *outcome, uint64_t *new_row_id, uint64_t *newer)
{
    bool keys_same, key_update, alone = false;
    struct batch whole = *rows;          /* the row itself, without the joined tables' columns behind it */
    whole.column_count = w->table->heap.column_count;
    enum status status = changes(w, row_id, rows, i, assigned, &keys_same, &key_update);
    if (!status)
        status = heap_update(&w->table->heap, w->run->txn, row_id, &whole, i, keys_same, key_update, LOCK_WAIT, outcome, new_row_id, &alone, newer);
    arena_reset(w->scratch);
    if (status || *outcome != HEAP_DONE)
        return status;
    if (w->table->referenced_by_count)
        status = foreign_note_old(w, row_id, rows, i, assigned);
    if (!status && !alone && w->table->index_count) {
        struct batch one = *rows;
        row_pos at = i;
        one.selection = &at;
        one.selected_count = 1;
        one.all_selected = false;
        status = table_writer_index_values(w, &one);
        if (!status)
            status = table_writer_index(w, rows, i, *new_row_id, NULL, false, NULL);
    }
    if (!status && w->table->foreign_key_count)
        status = foreign_note_new(w, rows, i, assigned);
    return status;
}

enum status table_writer_delete(struct table_writer *w, uint64_t row_id, enum heap_outcome *outcome, uint64_t *newer)
{
    enum status status = heap_delete(&w->table->heap, w->run->txn, row_id, LOCK_WAIT, outcome, newer);
    if (!status && *outcome == HEAP_DONE && w->table->referenced_by_count)
        status = foreign_note_old(w, row_id, NULL, 0, NULL);
    return status;
}

enum status table_writer_finish(struct table_writer *w)
{
    if (w->table->foreign_key_count || w->table->referenced_by_count)
        return foreign_check(w);
    return STATUS_OK;
}
