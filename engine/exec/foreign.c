/* engine/exec/foreign.c - foreign keys: checked when the statement ends.
 *
 * While rows are written only their keys are noted (equal neighbours once). At the end
 *   - each new key on the referencing side must be found through the unique index of the referenced table, in a row that is live
 *     now; that row is locked FOR KEY SHARE, so nobody takes its key away before we commit;
 *   - for each key that went on the referenced side, the referencing rows are looked for: they are an error, or go, or change,
 *     as the constraint says. Rows that an action changes are written like any others, with checks and actions of their own.
 * Both look at everything committed and all of our own changes, whatever the statement's snapshot. Who deletes a referenced row
 * has waited for those who hold its KEY SHARE lock; who inserts a referencing row waits for who deletes the referenced one. */
#include "engine/exec/row_table.h"
#include "engine/exec/write.h"

enum status foreign_open(struct table_writer *w)
{
    const struct table *t = w->table;
    w->references = arena_array(w->arena, struct foreign_queue, t->foreign_key_count + 1u);
    w->referenced = arena_array(w->arena, struct foreign_queue, t->referenced_by_count + 1u);
    for (uint16_t side = 0; side < 2; side++)
        for (uint16_t k = 0; k < (side ? t->referenced_by_count : t->foreign_key_count); k++) {
            struct foreign_queue *q = side ? &w->referenced[k] : &w->references[k];
            q->key = side ? &t->referenced_by[k] : &t->foreign_keys[k];
            struct sql_type *types = arena_array(w->arena, struct sql_type, q->key->column_count);
            for (uint16_t c = 0; c < q->key->column_count; c++)
                types[c] = w->types[(side ? q->key->referenced_columns[c] : q->key->columns[c]) - 1];
            rows_open(&q->old_keys, w->arena, types, q->key->column_count);
            rows_open(&q->new_keys, w->arena, types, q->key->column_count);
        }
    return STATUS_OK;
}

/* Appends one key unless it is the same as the last. */
static void note(struct rows *keys, const struct vector *values, uint16_t i)
{
    if (keys->count) {
        uint64_t last = keys->count - 1;
        bool same = true;
        for (uint16_t c = 0; c < keys->column_count && same; c++)
            same = same_value(keys->types[c], rows_column(keys, last, c), rows_at(last), &values[c], i);
        if (same)
            return;
    }
    struct batch one = { .columns = (struct vector *)values, .column_count = keys->column_count, .row_count = (uint16_t)(i + 1) };
    rows_append_some(keys, &one, &i, 1);
}

enum status foreign_note_new(struct table_writer *w, const struct batch *rows, uint16_t i, const bool *assigned)
{
    for (uint16_t k = 0; k < w->table->foreign_key_count; k++) {
        struct foreign_queue *q = &w->references[k];
        struct vector values[q->key->column_count];
        uint16_t nulls = 0;
        bool watched = assigned == NULL;
        for (uint16_t c = 0; c < q->key->column_count; c++) {
            uint16_t column = (uint16_t)(q->key->columns[c] - 1);
            values[c] = rows->columns[column];
            nulls = (uint16_t)(nulls + vector_null(&values[c], i));
            watched |= assigned && (assigned[column] || (w->writes->generated && w->writes->generated[column]));
        }
        if (!watched)
            continue;
        if (nulls && q->key->match == MATCH_FULL && nulls < q->key->column_count) {
            enum status status = error_set(STATUS_FOREIGN_KEY_VIOLATION, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", w->table->name, q->key->name);
            error_detail("MATCH FULL does not allow mixing of null and nonnull key values.");
            error_names(w->table->schema_name, w->table->name, NULL, q->key->name);
            return status;
        }
        if (!nulls)
            note(&q->new_keys, values, i);
    }
    return STATUS_OK;
}

enum status foreign_note_old(struct table_writer *w, uint64_t row_id, const struct batch *new_row, uint16_t i, const bool *assigned)
{
    w->change_count++;
    for (uint16_t k = 0; k < w->table->referenced_by_count; k++) {
        struct foreign_queue *q = &w->referenced[k];
        uint16_t count = q->key->column_count, columns[count];
        struct vector old[count], now[count];
        bool watched = new_row == NULL, found;
        for (uint16_t c = 0; c < count; c++) {
            columns[c] = (uint16_t)(q->key->referenced_columns[c] - 1);
            watched |= !assigned || assigned[columns[c]] || (w->writes->generated && w->writes->generated[columns[c]]);
        }
        if (!watched)
            continue;
        for (uint16_t c = 0; c < count; c++)
            vector_make(&old[c], w->scratch, w->types[columns[c]].width, 1);
        enum status status = heap_fetch_version(&w->table->heap, row_id, columns, count, old, 0, w->scratch, &found);
        if (status)
            return status;
        bool null = false, same = new_row != NULL;
        for (uint16_t c = 0; c < count && found; c++) {
            null |= vector_null(&old[c], 0);
            if (new_row) {
                now[c] = new_row->columns[columns[c]];
                same = same && same_value(w->types[columns[c]], &old[c], 0, &now[c], i);
            }
        }
        if (found && !null && !same) {
            if (q->old_keys.count == q->change_capacity) {
                uint64_t capacity = q->change_capacity ? q->change_capacity * 2 : 16;
                q->changes = arena_grow(w->arena, q->changes, q->change_capacity * sizeof *q->changes, capacity * sizeof *q->changes);
                q->change_capacity = capacity;
            }
            q->changes[q->old_keys.count] = w->change_count;
            /* old and new keys go side by side: both or none */
            struct batch one = { .columns = old, .column_count = count, .row_count = 1 };
            row_pos zero = 0, at = i;
            rows_append_some(&q->old_keys, &one, &zero, 1);
            if (new_row) {
                one.columns = now;
                one.row_count = (uint16_t)(i + 1);
                rows_append_some(&q->new_keys, &one, &at, 1);
            }
        }
        arena_reset(w->scratch);
    }
    return STATUS_OK;
}

/* ---- values from one column's type to another's ---- */

static bool whole_number(uint32_t oid) { return oid == OID_INT2 || oid == OID_INT4 || oid == OID_INT8; }

static enum status convert(struct sql_type from, struct sql_type to, const struct value *in, struct arena *arena, struct value *out)
{
    *out = *in;
    if (in->null || (from.oid == to.oid && from.width == to.width && from.scale == to.scale))
        return STATUS_OK;
    if (from.width == to.width && from.oid != OID_NUMERIC && to.oid != OID_NUMERIC && (from.width == WIDTH_VARLEN || type_bitwise(from)) && type_bitwise(from) == type_bitwise(to))
        return STATUS_OK;                /* text and varchar; int4 and oid */
    struct vector v;
    struct text_buffer text;
    text_buffer_open(&text, arena);
    vector_of_value(&v, in, from.width);
    type_out(from, &v, 0, &text);
    if (whole_number(to.oid) && from.oid == OID_NUMERIC && memchr(text.bytes, '.', text.length))   /* 1.00 is the whole number 1 */
        while (text.length && (text.bytes[text.length - 1] == '0' || text.bytes[text.length - 1] == '.'))
            if (text.bytes[--text.length] == '.')
                break;
    return type_in(type_make(to.oid, to.typmod), text.bytes ? text.bytes : "", text.length, arena, out);
}

/* The value of the other column's type that is equal to this one; *exact false: there is none (1.501 as numeric(10,2), 10000000000 as integer),
 * so no row over there has it. */
static enum status equal_value(struct sql_type from, struct sql_type to, const struct value *in, struct arena *arena, struct value *out, bool *exact)
{
    enum status status = convert(from, to, in, arena, out);
    *exact = !status;
    if (status)
        return status_sqlstate(status)[0] == '2' ? error_clear(), STATUS_OK : status;
    bool from_number = whole_number(from.oid) || from.oid == OID_NUMERIC, to_number = whole_number(to.oid) || to.oid == OID_NUMERIC;
    if (in->null || !from_number || !to_number || (whole_number(from.oid) && whole_number(to.oid)))
        return STATUS_OK;
    struct sql_type number = type_make(OID_NUMERIC, -1);
    struct value a, b;
    struct vector va, vb;
    status = convert(from, number, in, arena, &a);
    if (!status)
        status = convert(to, number, out, arena, &b);
    if (status)
        return status;
    vector_of_value(&va, &a, number.width);
    vector_of_value(&vb, &b, number.width);
    *exact = type_compare(number, &va, 0, &vb, 0) == 0;
    return STATUS_OK;
}

/* ---- the referencing side ---- */

static enum status key_missing(struct table_writer *w, const struct foreign_queue *q, const struct table *other, uint64_t row)
{
    struct text_buffer text;
    text_buffer_open(&text, w->scratch);
    struct vector values[q->key->column_count];
    for (uint16_t c = 0; c < q->key->column_count; c++)
        values[c] = *rows_column(&q->new_keys, row, c);
    describe_key(&text, w->table, q->key->columns, q->key->column_count, values, rows_at(row));
    enum status status = error_set(STATUS_FOREIGN_KEY_VIOLATION, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", w->table->name, q->key->name);
    error_detail("Key %s is not present in table \"%s\".", text.bytes, other->name);
    error_names(w->table->schema_name, w->table->name, NULL, q->key->name);
    return status;
}

/* A live row under that key of a unique index, locked in the mode; *found false when there is none. */
static enum status lock_by_key(struct run *run, const struct table *t, const struct index *index, const struct text_buffer *key, enum row_lock mode, struct arena *arena, bool *found)
{
    *found = false;
    for (;;) {
        struct btree_scan *scan;
        struct snapshot latest;
        struct text_buffer high;
        bool again = false;
        text_buffer_open(&high, arena);
        text_buffer_add(&high, key->bytes, key->length);
        key_successor(&high);
        latest_snapshot(run, &latest);
        enum status status = btree_scan_open(&index->tree, arena, (const uint8_t *)key->bytes, (uint32_t)key->length, (const uint8_t *)high.bytes, (uint32_t)high.length, false, &scan);
        if (status)
            return status;
        while (!status && !*found && !again) {
            struct btree_entries entries;
            status = btree_scan_next(scan, &entries);
            if (status || entries.count == 0)
                break;
            for (uint32_t e = 0; e < entries.count && !status && !*found && !again; e++) {
                bool visible;
                uint64_t version, newer;
                enum heap_outcome outcome;
                status = heap_fetch(&t->heap, &latest, entries.row_ids[e], NULL, 0, NULL, 0, arena, &visible, &version);
                if (status || !visible)
                    continue;
                status = heap_lock(&t->heap, run->txn, version, mode, LOCK_WAIT, &outcome, &newer);
                if (status)
                    break;
                *found = outcome == HEAP_DONE || outcome == HEAP_SELF;
                again = !*found;         /* it changed meanwhile: look again with fresh eyes */
            }
        }
        btree_scan_close(scan);
        if (status || *found || !again)
            return status;
        status = thread_check_interrupts();
        if (status)
            return status;
    }
}

/* Key bytes of kept key `row` in an index of the other table; columns[c] of the index's table stands for key column c. *exact false: no row
 * there can have it. */
static enum status make_key(const struct index *index, const struct table *t, const int16_t *columns, uint16_t count, const struct rows *keys, uint64_t row,
                            struct arena *arena, struct text_buffer *out, bool *exact)
{
    *exact = true;
    text_buffer_open(out, arena);
    for (uint16_t k = 0; k < index->column_count && k < count; k++) {
        uint16_t c = 0;
        while (c < count && columns[c] != index->columns[k].column)
            c++;
        ASSERT(c < count);
        struct sql_type to = t->columns[columns[c] - 1].type;
        struct value from = value_get(keys->types[c], rows_column(keys, row, c), rows_at(row)), value;
        enum status status = equal_value(keys->types[c], to, &from, arena, &value, exact);
        if (status || !*exact)
            return status;
        struct vector v;
        vector_of_value(&v, &value, to.width);
        key_append(to, index->columns[k].flags, &v, 0, out);
    }
    return STATUS_OK;
}

static enum status check_new(struct table_writer *w, struct foreign_queue *q)
{
    const struct table *other;
    if (q->new_keys.count == 0)
        return STATUS_OK;
    enum status status = catalog_table(w->run->session, q->key->referenced, &other);
    if (status)
        return status;
    const struct index *index = other ? table_index(other, q->key->index) : NULL;
    if (!index)
        return error_set(STATUS_INTERNAL, "foreign key \"%s\" has lost its index", q->key->name);
    status = lock_relation(w->run->txn, other->oid, LOCK_ROW_SHARE, LOCK_WAIT);
    for (uint64_t row = 0; row < q->new_keys.count && !status; row++) {
        struct text_buffer key;
        bool found = false, exact;
        status = make_key(index, other, q->key->referenced_columns, q->key->column_count, &q->new_keys, row, w->scratch, &key, &exact);
        if (!status && exact)
            status = lock_by_key(w->run, other, index, &key, ROW_KEY_SHARE, w->scratch, &found);
        if (!status && !found)
            status = key_missing(w, q, other, row);
        arena_reset(w->scratch);
        if (!status)
            status = thread_check_interrupts();
    }
    return status;
}

/* ---- the referenced side ---- */

struct action {
    struct table_writer *w;              /* of the referenced table */
    struct foreign_queue *q;
    const struct table *other;           /* the referencing table */
    struct table_writer *writer;         /* for what the action changes; made when needed */
    const struct index *index;           /* of the referencing table, on the key's columns; NULL none */
    uint64_t row;                        /* number of the key */
    bool updated;                        /* the key changed (else: went) */
    struct arena *arena;
    uint64_t changed;
};

static enum status still_referenced(struct action *a)
{
    struct foreign_queue *q = a->q;
    struct text_buffer text;
    text_buffer_open(&text, a->arena);
    struct vector values[q->key->column_count];
    for (uint16_t c = 0; c < q->key->column_count; c++)
        values[c] = *rows_column(&q->old_keys, a->row, c);
    describe_key(&text, a->w->table, q->key->referenced_columns, q->key->column_count, values, rows_at(a->row));
    enum status status = error_set(STATUS_FOREIGN_KEY_VIOLATION, "update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\"",
                                   a->w->table->name, q->key->name, a->other->name);
    error_detail("Key %s is still referenced from table \"%s\".", text.bytes, a->other->name);
    error_names(a->other->schema_name, a->other->name, NULL, q->key->name);
    return status;
}

/* The new row of SET NULL, SET DEFAULT, CASCADE of an update. */
static enum status changed_row(struct action *a, enum foreign_action what, struct batch *row)
{
    const struct foreign_key *key = a->q->key;
    enum status status = STATUS_OK;
    for (uint16_t c = 0; c < key->column_count && !status; c++) {
        uint16_t column = (uint16_t)(key->columns[c] - 1);
        struct sql_type type = a->other->columns[column].type;
        struct value value = { .null = true };
        if (what == ACTION_SET_DEFAULT && a->writer->writes->defaults && a->writer->writes->defaults[column]) {
            status = run_scalar_in(a->w->run, a->arena, a->writer->writes->defaults[column], &value);
        } else if (what == ACTION_CASCADE) {
            struct value from = {0};
            const struct vector *v = rows_column(&a->q->new_keys, a->row, c);
            if (vector_null(v, rows_at(a->row)))
                from.null = true;
            else
                from = value_get(a->q->new_keys.types[c], v, rows_at(a->row));
            status = convert(a->q->new_keys.types[c], type, &from, a->arena, &value);
        }
        row->columns[column].nulls[0] = value.null;
        if (value.null)
            memset(row->columns[column].values, 0, width_bytes(type.width));
        else
            value_put(type, &value, &row->columns[column], 0);
    }
    return status;
}

/* Has the row the key? */
static enum status has_key(struct action *a, const struct batch *row, bool *same)
{
    const struct foreign_queue *q = a->q;
    *same = true;
    for (uint16_t c = 0; c < q->key->column_count && *same; c++) {
        uint16_t column = (uint16_t)(q->key->columns[c] - 1);
        struct sql_type type = a->other->columns[column].type;
        struct value from = value_get(q->old_keys.types[c], rows_column(&q->old_keys, a->row, c), rows_at(a->row)), value;
        enum status status = equal_value(q->old_keys.types[c], type, &from, a->arena, &value, same);
        if (status || !*same)
            return status;
        struct vector v;
        vector_of_value(&v, &value, type.width);
        *same = !vector_null(&row->columns[column], 0) && type_compare(type, &row->columns[column], 0, &v, 0) == 0;
    }
    return STATUS_OK;
}

static enum status act(struct action *a, uint64_t row_id)
{
    enum foreign_action what = a->updated ? a->q->key->on_update : a->q->key->on_delete;
    enum status status;
    if (what == ACTION_NO_ACTION || what == ACTION_RESTRICT)
        return still_referenced(a);
    if (!a->writer) {
        struct table_writes *writes;
        status = bind_table_writes(a->w->run->session, a->w->arena, a->other, &writes);
        if (!status)
            status = table_writer_open(a->w->run, a->w->arena, writes, &a->writer);
        if (status)
            return status;
    }
    bool *assigned = arena_array(a->arena, bool, a->other->column_count + 1u);
    for (uint16_t c = 0; c < a->q->key->column_count; c++)
        assigned[a->q->key->columns[c] - 1] = true;
    for (;;) {
        struct batch row;
        bool found, same;
        uint64_t newer = 0, new_id;
        enum heap_outcome outcome;
        status = fetch_row(a->writer, row_id, a->arena, &row, &found);
        if (status || !found)
            return status;
        status = has_key(a, &row, &same);
        if (status || !same)
            return status;
        if (what == ACTION_CASCADE && !a->updated) {
            status = table_writer_delete(a->writer, row_id, &outcome, &newer);
        } else {
            status = changed_row(a, what, &row);
            if (!status)
                status = table_writer_complete(a->writer, &row);
            if (!status)
                status = table_writer_update(a->writer, row_id, &row, 0, assigned, &outcome, &new_id, &newer);
        }
        if (status)
            return status;
        if (outcome == HEAP_DONE) {
            a->changed++;
            return STATUS_OK;
        }
        if (outcome != HEAP_UPDATED)
            return STATUS_OK;
        if (txn_isolation(a->w->run->txn) == REPEATABLE_READ)
            return error_set(STATUS_CONFLICT, NULL);
        row_id = newer;
    }
}

/* An index of the referencing table whose first columns are those of the key. */
static const struct index *index_for(const struct table *t, const struct foreign_key *key)
{
    for (uint16_t x = 0; x < t->index_count; x++) {
        const struct index *index = &t->indexes[x];
        if (!index->valid || index->predicate || index->column_count < key->column_count)
            continue;
        uint16_t hits = 0;
        for (uint16_t k = 0; k < key->column_count; k++)
            for (uint16_t c = 0; c < key->column_count; c++)
                hits = (uint16_t)(hits + (index->columns[k].column == key->columns[c]));
        if (hits == key->column_count)
            return index;
    }
    return NULL;
}

/* Row ids of the referencing rows, gathered before anything is done to them. */
struct ids { uint64_t *ids; uint64_t count, capacity; struct arena *arena; };
static void ids_add(struct ids *ids, uint64_t id)
{
    if (ids->count == ids->capacity) {
        uint64_t capacity = ids->capacity ? ids->capacity * 2 : 16;
        ids->ids = arena_grow(ids->arena, ids->ids, ids->capacity * sizeof *ids->ids, capacity * sizeof *ids->ids);
        ids->capacity = capacity;
    }
    ids->ids[ids->count++] = id;
}

static enum status find_by_index(struct action *a, const struct index *index, const struct snapshot *latest, struct ids *ids)
{
    struct text_buffer low, high;
    struct btree_scan *scan;
    bool exact;
    enum status status = make_key(index, a->other, a->q->key->columns, a->q->key->column_count, &a->q->old_keys, a->row, a->arena, &low, &exact);
    if (status || !exact)
        return status;
    text_buffer_open(&high, a->arena);
    text_buffer_add(&high, low.bytes, low.length);
    key_successor(&high);
    status = btree_scan_open(&index->tree, a->arena, (const uint8_t *)low.bytes, (uint32_t)low.length, (const uint8_t *)high.bytes, (uint32_t)high.length, false, &scan);
    while (!status) {
        struct btree_entries entries;
        status = btree_scan_next(scan, &entries);
        if (status || entries.count == 0)
            break;
        for (uint32_t e = 0; e < entries.count && !status; e++) {
            bool visible;
            uint64_t version;
            status = heap_fetch(&a->other->heap, latest, entries.row_ids[e], NULL, 0, NULL, 0, a->arena, &visible, &version);
            if (!status && visible)
                ids_add(ids, version);
        }
    }
    btree_scan_close(scan);
    return status;
}

static enum status find_by_scan(struct action *a, const struct snapshot *latest, struct ids *ids)
{
    const struct heap *heap = &a->other->heap;
    const struct foreign_queue *q = a->q;
    uint32_t pages;
    enum status status = heap_pages(heap, &pages);
    struct value wanted[q->key->column_count];
    for (uint16_t c = 0; c < q->key->column_count && !status; c++) {
        struct value from = value_get(q->old_keys.types[c], rows_column(&q->old_keys, a->row, c), rows_at(a->row));
        bool exact;
        status = equal_value(q->old_keys.types[c], a->other->columns[q->key->columns[c] - 1].type, &from, a->arena, &wanted[c], &exact);
        if (!status && !exact)
            return STATUS_OK;
    }
    struct heap_look *look = arena_alloc(a->arena, sizeof *look);
    struct varlen *space = arena_alloc(a->arena, PAX_MAX_SLOTS * sizeof *space);
    struct arena *page_arena = arena_open(a->arena, "page");
    for (uint32_t page = 0; page < pages && !status; page++) {
        struct page_ref ref;
        status = thread_check_interrupts();
        if (!status)
            status = pool_pin(a->w->run->store->pool, (page_id){ heap->file, page }, RANK_HEAP, 0, &ref);
        if (status)
            break;
        status = heap_page_look(heap, latest, &ref, look);
        row_pos left[PAX_MAX_SLOTS];
        uint16_t count = status ? 0 : look->visible_count;
        for (uint16_t k = 0; k < count; k++)
            left[k] = look->all_visible ? k : look->selection[k];
        for (uint16_t c = 0; c < q->key->column_count && !status && count; c++) {
            struct vector v, w;
            uint16_t column = (uint16_t)(q->key->columns[c] - 1), m = 0;
            struct sql_type type = a->other->columns[column].type;
            status = heap_page_column(heap, &ref, look, column, left, count, space, page_arena, &v);
            vector_of_value(&w, &wanted[c], type.width);
            for (uint16_t k = 0; k < count && !status; k++)
                if (!vector_null(&v, left[k]) && type_compare(type, &v, vector_at(&v, left[k]), &w, 0) == 0)
                    left[m++] = left[k];
            count = m;
        }
        for (uint16_t k = 0; k < count && !status; k++)
            ids_add(ids, ROW_ID(page, left[k]));
        arena_reset(page_arena);
        pool_release(&ref);
    }
    return status;
}

/* NO ACTION looks whether the key is there again (another row took it, or the row got it back). */
static enum status key_is_back(struct action *a, bool *back)
{
    const struct table *t = a->w->table;
    const struct index *index = table_index(t, a->q->key->index);
    struct text_buffer key;
    *back = false;
    if (!index)
        return STATUS_OK;
    bool exact;
    enum status status = make_key(index, t, a->q->key->referenced_columns, a->q->key->column_count, &a->q->old_keys, a->row, a->arena, &key, &exact);
    if (!status && exact)
        status = lock_by_key(a->w->run, t, index, &key, ROW_KEY_SHARE, a->arena, back);
    return status;
}

static enum status action_open(struct action *a, struct table_writer *w, struct foreign_queue *q)
{
    *a = (struct action){ .w = w, .q = q, .updated = q->new_keys.count > 0 };
    if (q->old_keys.count == 0)
        return STATUS_OK;
    enum status status = catalog_table(w->run->session, q->key->table, &a->other);
    if (status || !a->other)
        return status;
    a->arena = arena_open(w->arena, "foreign key");
    a->index = index_for(a->other, q->key);
    return lock_relation(w->run->txn, a->other->oid, LOCK_ROW_EXCLUSIVE, LOCK_WAIT);
}

/* One key that went. */
static enum status action_run(struct action *a)
{
    struct snapshot latest;
    struct ids ids = { .arena = a->arena };
    bool back = false;
    latest_snapshot(a->w->run, &latest);
    enum status status = a->index ? find_by_index(a, a->index, &latest, &ids) : find_by_scan(a, &latest, &ids);
    if (!status && ids.count && (a->updated ? a->q->key->on_update : a->q->key->on_delete) == ACTION_NO_ACTION)
        status = key_is_back(a, &back);
    for (uint64_t k = 0; k < ids.count && !status && !back; k++)
        status = act(a, ids.ids[k]);
    arena_reset(a->arena);
    return status ? status : thread_check_interrupts();
}

/* Change by change as the statement made them, and for each the constraints in their order: so it is with PostgreSQL's triggers,
 * and whether RESTRICT finds a row that CASCADE of another constraint removes hangs on it. */
static enum status check_old(struct table_writer *w)
{
    uint16_t count = w->table->referenced_by_count;
    struct action actions[count + 1];
    enum status status = STATUS_OK;
    uint16_t opened = 0;
    for (; opened < count && !status; opened++)
        status = action_open(&actions[opened], w, &w->referenced[opened]);
    for (uint64_t change = 1; change <= w->change_count && !status; change++)
        for (uint16_t k = 0; k < count && !status; k++) {
            struct action *a = &actions[k];
            if (!a->other || a->row >= a->q->old_keys.count || a->q->changes[a->row] != change)
                continue;
            status = action_run(a);
            a->row++;
        }
    for (uint16_t k = 0; k < opened; k++) {
        if (!status && actions[k].writer)
            status = table_writer_finish(actions[k].writer);
        arena_close(actions[k].arena);
    }
    w->change_count = 0;
    return status;
}

/* Keys that were looked at are forgotten: a writer may finish more than once. */
static void forget(struct rows *keys)
{
    keys->count = 0;
    keys->chunk_count = 0;
}

enum status foreign_check(struct table_writer *w)
{
    bool any = false;
    for (uint16_t k = 0; k < w->table->foreign_key_count; k++)
        any |= w->references[k].new_keys.count > 0;
    for (uint16_t k = 0; k < w->table->referenced_by_count; k++)
        any |= w->referenced[k].old_keys.count > 0;
    if (!any)
        return STATUS_OK;
    txn_next_command(w->run->txn);       /* what the statement did is seen from here on */
    enum status status = STATUS_OK;
    if (w->table->referenced_by_count)
        status = check_old(w);
    for (uint16_t k = 0; k < w->table->referenced_by_count; k++) {
        forget(&w->referenced[k].old_keys);
        forget(&w->referenced[k].new_keys);
    }
    for (uint16_t k = 0; k < w->table->foreign_key_count && !status; k++) {
        status = check_new(w, &w->references[k]);
        forget(&w->references[k].new_keys);
    }
    return status;
}
