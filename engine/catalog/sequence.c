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

static struct sequence_value *entry_of(struct session *session, uint32_t oid)
{
    struct sequence_value **list = catalog_sequence_values(session), *entry;
    for (entry = *list; entry; entry = entry->next)
        if (entry->sequence == oid)
            return entry;
    entry = calloc(1, sizeof *entry);
    ASSERT(entry);
    *entry = (struct sequence_value){.next = *list, .sequence = oid};
    *list = entry;
    return entry;
}

static void remember(struct session *session, struct sequence_value *entry, int64_t value)
{
    if (!entry->last)
        for (struct sequence_value *v = *catalog_sequence_values(session); v; v = v->next)
            v->last = false;
    entry->value = value;
    entry->given = entry->last = true;
}

/* Locks the sequence against those who would drop it or give it another file, and makes sure of its definition. */
static enum status sequence_open(struct session *session, uint32_t oid, struct sequence_value **out)
{
    struct sequence_value *entry = *out = entry_of(session, oid);
    enum status status = lock_relation(session_txn(session), oid, LOCK_ROW_EXCLUSIVE, LOCK_WAIT);
    uint64_t version = catalog_version();                     /* before any row is read */
    if (status || entry->version == version)
        return status;
    struct arena *arena = arena_open(NULL, "sequence");
    struct catalog_row class, sequence;
    status = definition(session, arena, oid, &class, &sequence);
    if (!status) {
        const struct value *v = sequence.values;
        entry->file = class.values[CLASS_relfilenode].oid;
        entry->step = v[SEQUENCE_seqincrement].i8;
        entry->min = v[SEQUENCE_seqmin].i8;
        entry->max = v[SEQUENCE_seqmax].i8;
        entry->cycle = v[SEQUENCE_seqcycle].b;
        entry->version = version;
    }
    arena_close(arena);
    return status;
}

static const char *sequence_name(struct session *session, uint32_t oid)
{
    const struct table *table;
    return !catalog_table(session, oid, &table) && table ? table->name : "?";
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
    struct sequence_value *entry;
    struct page_ref ref;
    enum status status = STATUS_OK;
    if (txn_read_only(session_txn(session)))
        status = error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute nextval() in a read-only transaction");
    if (!status)
        status = sequence_open(session, oid, &entry);
    if (!status)
        status = page_fetch(session, entry->file, LATCH_EXCLUSIVE, &ref);
    if (status)
        return status;
    const struct sequence_page *page = (struct sequence_page *)ref.bytes;
    int64_t value = page->value;
    if (page->called) {
        bool out_of_range = __builtin_add_overflow(value, entry->step, &value) || (entry->step > 0 ? value > entry->max : value < entry->min);
        if (out_of_range && !entry->cycle) {
            pool_release(&ref);
            error_set(STATUS_OBJECT_NOT_READY, "nextval: reached %s value of sequence \"%s\" (%lld)", entry->step > 0 ? "maximum" : "minimum", sequence_name(session, oid),
                      (long long)(entry->step > 0 ? entry->max : entry->min));
            strcpy(error_current()->sqlstate, "2200H");
            return STATUS_OBJECT_NOT_READY;
        }
        if (out_of_range)
            value = entry->step > 0 ? entry->min : entry->max;
    }
    page_store(session, &ref, value, 1);
    remember(session, entry, value);
    *out = value;
    return STATUS_OK;
}

enum status sequence_set(struct session *session, uint32_t oid, int64_t value, bool called)
{
    struct sequence_value *entry;
    struct page_ref ref;
    enum status status = sequence_open(session, oid, &entry);
    if (!status && (value < entry->min || value > entry->max))
        status = error_set(STATUS_OUT_OF_RANGE, "setval: value %lld is out of bounds for sequence \"%s\" (%lld..%lld)", (long long)value, sequence_name(session, oid), (long long)entry->min, (long long)entry->max);
    if (!status && txn_read_only(session_txn(session)))
        status = error_set(STATUS_READ_ONLY_TRANSACTION, "cannot execute setval() in a read-only transaction");
    if (!status)
        status = page_fetch(session, entry->file, LATCH_EXCLUSIVE, &ref);
    if (status)
        return status;
    page_store(session, &ref, value, called);
    if (called)
        remember(session, entry, value);
    return STATUS_OK;
}

enum status sequence_current(struct session *session, uint32_t oid, int64_t *out)
{
    struct sequence_value *entry;
    enum status status = sequence_open(session, oid, &entry);
    if (!status && !entry->given)
        status = error_set(STATUS_OBJECT_NOT_READY, "currval of sequence \"%s\" is not yet defined in this session", sequence_name(session, oid));
    if (!status)
        *out = entry->value;
    return status;
}

enum status sequence_last(struct session *session, int64_t *out)
{
    for (struct sequence_value *v = *catalog_sequence_values(session); v; v = v->next)
        if (v->given && v->last) {
            *out = v->value;
            return STATUS_OK;
        }
    return error_set(STATUS_OBJECT_NOT_READY, "lastval is not yet defined in this session");
}
