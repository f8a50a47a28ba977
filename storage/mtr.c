/* storage/mtr.c - mini-transactions: changing pages, one WAL record each, and redo.
 *
 * A verb changes the page at once (its latch is held EXCLUSIVE, nobody looks) and is noted in a buffer. Commit makes
 * one record of the notes:
 *
 *     wal_record | record_body | record_page x page_count | extra | verbs
 *
 * A verb is: what, page (its number in the record), then by kind. A page that needs its whole image (first change
 * after the redo point, made afresh, or rearranged by hand) gets one IMAGE verb instead of its others: the page as it
 * is at commit, its longest run of zeros left out. LSN verbs stay in either case: their value is the record's own
 * end, which is known only once the record's place is reserved.
 *
 * Order at commit: mark the pages dirty, build the record, reserve (again from the building if the redo point moved),
 * write the LSN on the pages, let go. So whoever moves the redo point, and then looks for dirty pages, finds every page
 * that a record before the redo point changed. */
#include "storage/mtr.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "base/mutant.h"
#include "storage/store.h"

enum verb { VERB_WRITE = 1, VERB_MOVE, VERB_FILL, VERB_LSN, VERB_IMAGE };

struct verb_head { uint8_t verb, page; uint16_t offset, count, from; };        /* FILL: from is the byte; IMAGE: offset and count are the hole's */
_Static_assert(sizeof(struct verb_head) == 8, "in the WAL");
struct record_body { uint16_t page_count, unused; uint32_t extra_bytes; };
_Static_assert(sizeof(struct record_body) == 8, "in the WAL");
struct record_page { uint32_t file, page; };
_Static_assert(PAGE_BYTES < UINT16_MAX, "offsets are 16 bits");

/* Two areas: the verbs, and the record that is made of them. */
struct mtr_buffer { uint8_t *verbs, *record; uint32_t verbs_capacity, record_capacity; };

#define SPARES 64
static struct { _Alignas(64) struct mtr_buffer *_Atomic buffer; } spares[SPARES];   /* that nobody uses, to be used again; a cache line each */

static uint32_t spare_place(void)
{
    static _Thread_local char mine;                        /* its address differs from thread to thread */
    return (uint32_t)hash_u64((uintptr_t)&mine) % SPARES;
}

static struct mtr_buffer *buffer_take(void)
{
    struct mtr_buffer *buffer = atom_exchange(&spares[spare_place()].buffer, NULL);
    return buffer ? buffer : calloc(1, sizeof *buffer);
}

static void buffer_put(struct mtr_buffer *buffer)
{
    buffer = atom_exchange(&spares[spare_place()].buffer, buffer);
    if (buffer) {
        free(buffer->verbs);
        free(buffer->record);
        free(buffer);
    }
}

static void __attribute__((noinline)) enlarge(uint8_t **area, uint32_t *capacity, uint32_t wanted)
{
    uint32_t larger = *capacity ? *capacity : 4096;
    while (larger < wanted)
        larger *= 2;
    *area = realloc(*area, larger);
    if (!*area)
        panic("out of memory in a mini-transaction");
    *capacity = larger;
}

static inline uint8_t *reserve(uint8_t **area, uint32_t *capacity, uint32_t used, uint32_t more)
{
    if (__builtin_expect(used + more > *capacity, 0))
        enlarge(area, capacity, used + more);
    return *area + used;
}

/* ------------------------------------------------------------------ changing */

void mtr_begin(struct mtr *mtr, struct store *store, xid_t xid)
{
    mtr->store = store;
    mtr->xid = xid;
    mtr->page_count = mtr->last = 0;
    mtr->changed = mtr->lsn_noted = false;
    mtr->verbs_length = 0;
    mtr->buffer = NULL;
}

void mtr_join(struct mtr *mtr, struct page_ref *ref)
{
    ASSERT(ref->latched && ref->mode == LATCH_EXCLUSIVE);
    for (uint32_t i = 0; i < mtr->page_count; i++)
        if (mtr->pages[i].ref.bytes == ref->bytes)
            return;
    ASSERT(mtr->page_count < MTR_PAGES);
    mtr->pages[mtr->page_count].ref = *ref;
    mtr->pages[mtr->page_count].image = mtr->pages[mtr->page_count].changed = false;
    mtr->page_count++;
}

static struct mtr_page *joined(struct mtr *mtr, const uint8_t *page)
{
    if (mtr->last < mtr->page_count && mtr->pages[mtr->last].ref.bytes == page)
        return &mtr->pages[mtr->last];
    for (uint16_t i = 0; i < mtr->page_count; i++)
        if (mtr->pages[i].ref.bytes == page) {
            mtr->last = i;
            return &mtr->pages[i];
        }
    ASSERT(!"a page that this mtr has not joined");
    return NULL;
}

static struct mtr_page *changing(struct mtr *mtr, const uint8_t *page)
{
    struct mtr_page *at = joined(mtr, page);
    at->changed = true;
    mtr->changed = true;
    return at;
}

static inline void note(struct mtr *mtr, struct verb_head head, const void *bytes, uint32_t count)
{
    if (!mtr->buffer)
        mtr->buffer = buffer_take();
    struct mtr_buffer *buffer = mtr->buffer;
    uint8_t *at = reserve(&buffer->verbs, &buffer->verbs_capacity, mtr->verbs_length, (uint32_t)sizeof head + count);
    head.page = (uint8_t)mtr->last;
    memcpy(at, &head, sizeof head);
    if (count)
        memcpy(at + sizeof head, bytes, count);
    mtr->verbs_length += (uint32_t)sizeof head + count;
}

static void check_range(uint32_t offset, uint32_t count)
{
    ASSERT(offset <= PAGE_BYTES && count <= PAGE_BYTES - offset);
}

void mtr_write(struct mtr *mtr, uint8_t *page, uint32_t offset, const void *bytes, uint32_t count)
{
    check_range(offset, count);
    struct mtr_page *at = changing(mtr, page);
    memcpy(page + offset, bytes, count);
    if (!at->image)
        note(mtr, (struct verb_head){ .verb = VERB_WRITE, .offset = (uint16_t)offset, .count = (uint16_t)count }, bytes, count);
}

void mtr_move(struct mtr *mtr, uint8_t *page, uint32_t to, uint32_t from, uint32_t count)
{
    check_range(to, count);
    check_range(from, count);
    struct mtr_page *at = changing(mtr, page);
    memmove(page + to, page + from, count);
    if (!at->image)
        note(mtr, (struct verb_head){ .verb = VERB_MOVE, .offset = (uint16_t)to, .count = (uint16_t)count, .from = (uint16_t)from }, NULL, 0);
}

void mtr_fill(struct mtr *mtr, uint8_t *page, uint32_t offset, uint8_t byte, uint32_t count)
{
    check_range(offset, count);
    struct mtr_page *at = changing(mtr, page);
    memset(page + offset, byte, count);
    if (!at->image)
        note(mtr, (struct verb_head){ .verb = VERB_FILL, .offset = (uint16_t)offset, .count = (uint16_t)count, .from = byte }, NULL, 0);
}

void mtr_write_lsn(struct mtr *mtr, uint8_t *page, uint32_t offset)
{
    check_range(offset, sizeof(lsn_t));
    changing(mtr, page);
    mtr->lsn_noted = true;
    note(mtr, (struct verb_head){ .verb = VERB_LSN, .offset = (uint16_t)offset, .count = sizeof(lsn_t) }, NULL, 0);
}

void mtr_image(struct mtr *mtr, uint8_t *page)
{
    changing(mtr, page)->image = true;
}

void mtr_format(struct mtr *mtr, uint8_t *page, enum page_kind kind)
{
    struct mtr_page *at = changing(mtr, page);
    at->image = true;
    memset(page, 0, PAGE_BYTES);
    struct page_header *header = page_header(page);
    header->kind = (uint8_t)kind;
    header->version = PAGE_VERSION;
    header->file = at->ref.id.file;
    header->page = at->ref.id.page;
}

/* ------------------------------------------------------------------ commit */

/* The longest run of zeros, found in steps of 64 bytes: it may be a little longer than what is left out. */
static void find_hole(const uint8_t *page, uint16_t *hole, uint16_t *length)
{
    uint32_t best = 0, best_at = 0, run = 0;
    for (uint32_t at = 0; at < PAGE_BYTES; at += 64) {
        uint64_t words[8], any = 0;
        memcpy(words, page + at, 64);
        for (int i = 0; i < 8; i++)
            any |= words[i];
        run = any ? 0 : run + 64;
        if (run > best)
            best = run, best_at = at + 64 - run;
    }
    if (best == PAGE_BYTES)
        best -= 64;
    *hole = (uint16_t)best_at;
    *length = (uint16_t)best;
}

static uint8_t *put(uint8_t *at, const void *bytes, uint32_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

/* Makes the record in the buffer, as the redo point demands; returns how many images it holds. */
static uint32_t build(struct mtr *mtr, lsn_t redo, enum wal_kind kind, const void *extra, uint32_t extra_bytes)
{
    struct record_body body = { .extra_bytes = extra_bytes };
    uint8_t number[MTR_PAGES];
    bool image[MTR_PAGES], as_noted = true;                   /* as_noted: the verbs can be taken as they are */
    uint32_t images = 0;
    for (uint32_t i = 0; i < mtr->page_count; i++) {
        const struct mtr_page *page = &mtr->pages[i];
        image[i] = false;
        number[i] = (uint8_t)body.page_count;
        if (!page->changed)
            continue;
        as_noted = as_noted && i == body.page_count;
        body.page_count++;
        if (page->image || page_header(page->ref.bytes)->lsn <= redo) {
            image[i] = true;
            as_noted = false;
            images++;
        }
    }
    const uint32_t most = (uint32_t)(sizeof(struct wal_record) + sizeof body + body.page_count * sizeof(struct record_page) + 8) + extra_bytes
                        + images * (uint32_t)(sizeof(struct verb_head) + PAGE_BYTES) + mtr->verbs_length;
    uint8_t *const record = reserve(&mtr->buffer->record, &mtr->buffer->record_capacity, 0, most), *at = record;
    at = put(at, &(struct wal_record){ .xid = mtr->xid, .kind = (uint8_t)kind }, sizeof(struct wal_record));
    at = put(at, &body, sizeof body);
    for (uint32_t i = 0; i < mtr->page_count; i++)
        if (mtr->pages[i].changed)
            at = put(at, &(struct record_page){ mtr->pages[i].ref.id.file, mtr->pages[i].ref.id.page }, sizeof(struct record_page));
    if (extra_bytes)
        at = put(at, extra, extra_bytes);

    for (uint32_t i = 0; i < mtr->page_count && images; i++) {
        if (!image[i])
            continue;
        const uint8_t *bytes = mtr->pages[i].ref.bytes;
        struct verb_head verb = { .verb = VERB_IMAGE, .page = number[i] };
        find_hole(bytes, &verb.offset, &verb.count);
        at = put(at, &verb, sizeof verb);
        at = put(at, bytes, verb.offset);
        at = put(at, bytes + verb.offset + verb.count, PAGE_BYTES - (uint32_t)verb.offset - verb.count);
    }
    if (as_noted && mtr->verbs_length)
        at = put(at, mtr->buffer->verbs, mtr->verbs_length);
    for (uint32_t from = 0; !as_noted && from < mtr->verbs_length; ) {
        struct verb_head verb;
        memcpy(&verb, mtr->buffer->verbs + from, sizeof verb);
        uint32_t length = (uint32_t)sizeof verb + (verb.verb == VERB_WRITE ? verb.count : 0);
        if (!image[verb.page] || verb.verb == VERB_LSN) {
            uint8_t *head = at;
            at = put(at, mtr->buffer->verbs + from, length);
            head[offsetof(struct verb_head, page)] = number[verb.page];
        }
        from += length;
    }
    while ((at - record) & 7)
        *at++ = 0;
    ((struct wal_record *)record)->length = (uint32_t)(at - record);
    return images;
}

static void let_go(struct mtr *mtr)
{
    if (mtr->buffer)
        buffer_put(mtr->buffer);
    mtr->buffer = NULL;
    for (uint32_t i = mtr->page_count; i-- > 0; )
        pool_release(&mtr->pages[i].ref);
    mtr->page_count = 0;
}

static void store_lsn(uint8_t *page, uint32_t offset, lsn_t lsn)
{
    memcpy(page + offset, &lsn, sizeof lsn);
}

lsn_t mtr_commit_as(struct mtr *mtr, enum wal_kind kind, const void *extra, uint32_t extra_bytes, _Atomic uint64_t *txn_note)
{
    struct wal *wal = mtr->store->wal;
    if (!mtr->buffer)
        mtr->buffer = buffer_take();
    for (uint32_t i = 0; i < mtr->page_count; i++)
        if (mtr->pages[i].changed)
            pool_mark_dirty(&mtr->pages[i].ref);

    lsn_t start, end, redo;
    uint32_t images;
    do {
        redo = wal_redo_point(wal);
        images = build(mtr, redo, kind, extra, extra_bytes);
    } while (!wal_append(wal, (struct wal_record *)mtr->buffer->record, redo, &start, &end, txn_note));
    if (images)
        wal_count_images(wal, images);

    for (uint32_t i = 0; i < mtr->page_count; i++)
        if (mtr->pages[i].changed)
            page_header(mtr->pages[i].ref.bytes)->lsn = MUTANT(LSN_OF_THE_START) ? start : end;
    for (uint32_t at = 0; mtr->lsn_noted && at < mtr->verbs_length; ) {
        struct verb_head verb;
        memcpy(&verb, mtr->buffer->verbs + at, sizeof verb);
        if (verb.verb == VERB_LSN)
            store_lsn(mtr->pages[verb.page].ref.bytes, verb.offset, end);
        at += (uint32_t)sizeof verb + (verb.verb == VERB_WRITE ? verb.count : 0);
    }
    let_go(mtr);
    return end;
}

lsn_t mtr_commit(struct mtr *mtr)
{
    if (!mtr->changed) {
        let_go(mtr);
        return 0;
    }
    lsn_t end = mtr_commit_as(mtr, WAL_PAGES, NULL, 0, NULL);
    if (latch_held_count() == 0)
        wal_write_ahead(mtr->store->wal);
    return end;
}

void mtr_cancel(struct mtr *mtr)
{
    ASSERT(!mtr->changed);
    let_go(mtr);
}

/* ------------------------------------------------------------------ redo */

struct parsed { struct record_body body; const uint8_t *pages, *extra, *verbs, *end; };

static bool parse(const struct wal_record *record, struct parsed *out)
{
    const uint8_t *at = (const uint8_t *)(record + 1);
    out->end = (const uint8_t *)record + record->length;
    if ((size_t)(out->end - at) < sizeof out->body)
        return false;
    memcpy(&out->body, at, sizeof out->body);
    out->pages = at + sizeof out->body;
    out->extra = out->pages + out->body.page_count * sizeof(struct record_page);
    if (out->body.page_count > MTR_PAGES || out->extra > out->end || out->body.extra_bytes > (size_t)(out->end - out->extra))
        return false;
    out->verbs = out->extra + out->body.extra_bytes;
    return true;
}

/* Applies one verb to the page, or only steps over it (page NULL). NULL: not a verb, the padding at the end. */
static const uint8_t *verb_apply(const uint8_t *at, const uint8_t *end, uint8_t *page, lsn_t lsn)
{
    struct verb_head verb;
    if ((size_t)(end - at) < sizeof verb || *at == 0)
        return NULL;
    memcpy(&verb, at, sizeof verb);
    at += sizeof verb;
    uint32_t take = verb.verb == VERB_WRITE ? verb.count : verb.verb == VERB_IMAGE ? PAGE_BYTES - (uint32_t)verb.count : 0;
    ASSERT(take <= (size_t)(end - at));
    check_range(verb.offset, verb.count);
    if (page)
        switch ((enum verb)verb.verb) {
        case VERB_WRITE: memcpy(page + verb.offset, at, verb.count); break;
        case VERB_MOVE:  check_range(verb.from, verb.count); memmove(page + verb.offset, page + verb.from, verb.count); break;
        case VERB_FILL:  memset(page + verb.offset, verb.from, verb.count); break;
        case VERB_LSN:   store_lsn(page, verb.offset, lsn); break;
        case VERB_IMAGE:
            memcpy(page, at, verb.offset);
            memset(page + verb.offset, 0, verb.count);
            memcpy(page + verb.offset + verb.count, at + verb.offset, take - verb.offset);
            break;
        }
    return at + take;
}

/* Page by page, since nobody else is there: no other latch is held while one is changed. */
static enum status redo_page(struct store *store, const struct wal_record *record, const struct parsed *parsed, uint32_t number)
{
    struct record_page where;
    memcpy(&where, parsed->pages + number * sizeof where, sizeof where);
    const page_id id = { where.file, where.page };
    const lsn_t lsn = record->lsn + record->length;

    bool image = false;
    for (const uint8_t *at = parsed->verbs; at && !image; at = verb_apply(at, parsed->end, NULL, 0))
        image = (size_t)(parsed->end - at) >= sizeof(struct verb_head) && at[0] == VERB_IMAGE && at[1] == number;

    /* A file that a later record drops may be gone already: it is made again, until that record is met. */
    enum status status = pool_note_page(store->pool, id);
    if (status == STATUS_UNDEFINED_FILE && !(status = file_create(store->files, id.file)))
        status = pool_note_page(store->pool, id);
    if (status)
        return status;

    struct page_ref ref;
    status = image ? pool_fetch_new(store->pool, id, RANK_HEAP, 0, &ref)
                   : pool_fetch(store->pool, id, LATCH_EXCLUSIVE, RANK_HEAP, 0, &ref);
    if (status)
        return status;
    if (image || page_header(ref.bytes)->lsn < lsn) {
        pool_mark_dirty(&ref);
        for (const uint8_t *at = parsed->verbs, *next; at; at = next)
            next = verb_apply(at, parsed->end, (size_t)(parsed->end - at) >= 2 && at[1] == number ? ref.bytes : NULL, lsn);
        page_header(ref.bytes)->lsn = lsn;
    }
    pool_release(&ref);
    return STATUS_OK;
}

enum status mtr_redo(struct store *store, const struct wal_record *record, const uint8_t **extra, uint32_t *extra_bytes)
{
    struct parsed parsed;
    if (!parse(record, &parsed))
        return error_set(STATUS_CORRUPT, "invalid write-ahead log record at %llX", (unsigned long long)record->lsn);
    for (uint32_t i = 0; i < parsed.body.page_count; i++) {
        enum status status = redo_page(store, record, &parsed, i);
        if (status)
            return status;
    }
    if (extra)
        *extra = parsed.extra, *extra_bytes = parsed.body.extra_bytes;
    return STATUS_OK;
}
