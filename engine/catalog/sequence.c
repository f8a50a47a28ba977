/* engine/catalog/sequence.c - sequences: a page each, changed by mini-transactions of their own, so not undone by ROLLBACK.
 *
 * Page 0 of the sequence's file, after the page header: the value given last (or the start value), and whether it was given.
 * One sequence's readers and writers meet at the page's latch. */
#include <stdlib.h>
#include <string.h>

#include "engine/catalog/cache.h"
#include "engine/catalog/rows.h"
#include "engine/catalog/sequence.h"
#include "engine/session.h"

struct sequence_page { struct page_header header; int64_t value; uint8_t called; uint8_t unused[7]; };

enum status sequence_create_file(struct store *store, struct txn *txn, int64_t start, uint32_t *file)
{
    uint32_t first;
    struct page_ref ref;
    struct mtr mtr;
    xid_t xid;
    enum status status = txn_id(txn, &xid);
    if (!status)
        status = store_new_file(store, txn, file);
    if (!status)
        status = pool_extend(store->pool, *file, 1, &first);
    if (!status)
        status = pool_fetch(store->pool, (page_id){*file, 0}, LATCH_EXCLUSIVE, RANK_SPACE, 0, &ref);
    if (status)
        return status;
    mtr_begin(&mtr, store, xid);
    mtr_join(&mtr, &ref);
    mtr_format(&mtr, ref.bytes, PAGE_SPACE);
    mtr_write(&mtr, ref.bytes, offsetof(struct sequence_page, value), &start, sizeof start);
    mtr_commit(&mtr);
    return STATUS_OK;
}

static enum status definition(struct session *session, struct arena *arena, uint32_t oid, struct catalog_row *class, struct catalog_row *sequence)
{
    struct catalog_access access;
    catalog_access_open(session, arena, &access);
    struct value key = value_oid(oid);
    bool found, found_class;
    enum status status = catalog_get(&access, CATALOG_SEQUENCE, FIRST_INDEX, &key, 1, sequence, &found);
    if (!status)
        status = catalog_get(&access, CATALOG_CLASS, BY_OID, &key, 1, class, &found_class);
    if (!status && found_class && !found)
        return error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a sequence", value_string(arena, &class->values[CLASS_relname]));
    if (!status && !found_class)
        return error_set(STATUS_UNDEFINED_TABLE, "could not open relation with OID %u", oid);
    return status;
}

static void remember(struct session *session, uint32_t oid, int64_t value)
{
    struct sequence_value **list = catalog_sequence_values(session), *entry = NULL;
    for (struct sequence_value *v = *list; v; v = v->next) {
        v->last = false;
        if (v->sequence == oid)
            entry = v;
    }
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        ASSERT(entry);
        entry->next = *list;
        *list = entry;
    }
    entry->sequence = oid;
    entry->value = value;
    entry->last = true;
}

static enum status page_fetch(struct session *session, uint32_t file, enum latch_mode mode, struct page_ref *ref)
{
    return pool_fetch(session_store(session)->pool, (page_id){file, 0}, mode, RANK_SPACE, 0, ref);
}

enum status sequence_read(struct session *session, uint32_t file, int64_t *value, bool *called)
{
    struct page_ref ref;
    enum status status = page_fetch(session, file, LATCH_SHARED, &ref);
    if (status)
        return status;
    *value = ((struct sequence_page *)ref.bytes)->value;
    *called = ((struct sequence_page *)ref.bytes)->called;
    pool_release(&ref);
    return STATUS_OK;
}

static void page_store(struct session *session, struct page_ref *ref, int64_t value, uint8_t called)
{
    struct mtr mtr;
    mtr_begin(&mtr, session_store(session), XID_NONE);
    mtr_join(&mtr, ref);
    mtr_write(&mtr, ref->bytes, offsetof(struct sequence_page, value), &value, sizeof value);
    mtr_write(&mtr, ref->bytes, offsetof(struct sequence_page, called), &called, 1);
    mtr_commit(&mtr);
}

enum status sequence_next(struct session *session, uint32_t oid, int64_t *out)
{
    struct arena *arena = arena_open(NULL, "nextval");
    struct catalog_row class, sequence;
    struct page_ref ref;
    enum status status = definition(session, arena, oid, &class, &sequence);
    if (!status && txn_read_only(session_txn(session)))
        status = error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute nextval() in a read-only transaction");
    if (!status)
        status = page_fetch(session, class.values[CLASS_relfilenode].oid, LATCH_EXCLUSIVE, &ref);
    if (status)
        goto done;
    const struct value *v = sequence.values;
    const struct sequence_page *page = (struct sequence_page *)ref.bytes;
    int64_t value = page->value, step = v[SEQUENCE_seqincrement].i8, min = v[SEQUENCE_seqmin].i8, max = v[SEQUENCE_seqmax].i8;
    if (page->called) {
        bool out_of_range = __builtin_add_overflow(value, step, &value) || (step > 0 ? value > max : value < min);
        if (out_of_range && v[SEQUENCE_seqcycle].b) {
            value = step > 0 ? min : max;
        } else if (out_of_range) {
            pool_release(&ref);
            status = error_set(STATUS_OBJECT_NOT_READY, "nextval: reached %s value of sequence \"%s\" (%lld)", step > 0 ? "maximum" : "minimum", value_string(arena, &class.values[CLASS_relname]),
                               (long long)(step > 0 ? max : min));
            strcpy(error_current()->sqlstate, "2200H");
            goto done;
        }
    }
    page_store(session, &ref, value, 1);
    remember(session, oid, value);
    *out = value;
done:
    arena_close(arena);
    return status;
}

enum status sequence_set(struct session *session, uint32_t oid, int64_t value, bool called)
{
    struct arena *arena = arena_open(NULL, "setval");
    struct catalog_row class, sequence;
    struct page_ref ref;
    enum status status = definition(session, arena, oid, &class, &sequence);
    if (!status && (value < sequence.values[SEQUENCE_seqmin].i8 || value > sequence.values[SEQUENCE_seqmax].i8))
        status = error_set(STATUS_OUT_OF_RANGE, "setval: value %lld is out of bounds for sequence \"%s\" (%lld..%lld)", (long long)value, value_string(arena, &class.values[CLASS_relname]),
                           (long long)sequence.values[SEQUENCE_seqmin].i8, (long long)sequence.values[SEQUENCE_seqmax].i8);
    if (!status && txn_read_only(session_txn(session)))
        status = error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute setval() in a read-only transaction");
    if (!status)
        status = page_fetch(session, class.values[CLASS_relfilenode].oid, LATCH_EXCLUSIVE, &ref);
    if (!status) {
        page_store(session, &ref, value, called);
        if (called)
            remember(session, oid, value);
    }
    arena_close(arena);
    return status;
}

enum status sequence_current(struct session *session, uint32_t oid, int64_t *out)
{
    for (struct sequence_value *v = *catalog_sequence_values(session); v; v = v->next)
        if (v->sequence == oid) {
            *out = v->value;
            return STATUS_OK;
        }
    struct arena *arena = arena_open(NULL, "currval");
    struct catalog_row class, sequence;
    enum status status = definition(session, arena, oid, &class, &sequence);
    if (!status)
        status = error_set(STATUS_OBJECT_NOT_READY, "currval of sequence \"%s\" is not yet defined in this session", value_string(arena, &class.values[CLASS_relname]));
    arena_close(arena);
    return status;
}

enum status sequence_last(struct session *session, int64_t *out)
{
    for (struct sequence_value *v = *catalog_sequence_values(session); v; v = v->next)
        if (v->last) {
            *out = v->value;
            return STATUS_OK;
        }
    return error_set(STATUS_OBJECT_NOT_READY, "lastval is not yet defined in this session");
}
