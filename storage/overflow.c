/* storage/overflow.c - long values: chains of pages in a heap's overflow file.
 *
 *     page 0: the head of the list of free pages
 *     first page of a chain -> next -> … -> 0      each names its chain: (first page, writer's id)
 *
 * 1. A chain is written front to back, a few pages an mtr. The page after the last one is taken and linked, empty, in
 *    the same mtr, so that at every moment the chain can be walked to its end: what a crash leaves half done is a
 *    shorter chain that nobody points to.
 * 2. A chain belongs to its writer until that is over; from then on it is garbage as soon as its count is nought.
 *    The count changes in the mtr that makes or prunes the version (overflow_deltas). Nobody can point anew at a chain
 *    of nought: an update shares only the chain of a version that its snapshot sees.
 * 3. Latches: page 0 first, then rising. Pages off the free list come in any order, so they are only tried for; nobody
 *    but the page cleaner has business with them.
 * 4. Readers copy, latching a page at a time. A chain stays while the version that led to it does, and that stays while
 *    the reader's pin is on its page. */
#include "storage/heap_private.h"

#include <stddef.h>

#define OVERFLOW_FREE 1                      /* in page_header.flags */

struct chain_head { uint32_t next, used, first, references; xid_t xid; uint64_t length; };
_Static_assert(sizeof(struct chain_head) == 32, "on-disk size");
enum { DATA_AT = PAGE_HEADER_BYTES + sizeof(struct chain_head), PAGE_DATA = PAGE_BYTES - DATA_AT, STEP_PAGES = 8 };

static struct chain_head *chain_head(uint8_t *page) { return (struct chain_head *)(void *)(page + PAGE_HEADER_BYTES); }
static page_id overflow_id(const struct heap *heap, uint32_t page) { return (page_id){heap->overflow_file, page}; }

static enum status fetch(const struct heap *heap, uint32_t page, enum latch_mode mode, struct page_ref *ref)
{
    return pool_fetch(heap->store->pool, overflow_id(heap, page), mode, RANK_OVERFLOW, 0, ref);
}

static bool belongs(const struct page_ref *ref, uint32_t first, xid_t xid)
{
    const struct page_header *header = page_header(ref->bytes);
    return header->kind == PAGE_OVERFLOW && !(header->flags & OVERFLOW_FREE) && chain_head(ref->bytes)->first == first &&
           chain_head(ref->bytes)->xid == xid;
}

static enum status lost(const struct heap *heap, uint32_t page)
{
    return error_set(STATUS_CORRUPT, "long value of relation \"%s\" is broken at overflow page %u", heap->name, page);
}

/* Page 0, EXCLUSIVE and in the mtr, made if the file is new. */
static enum status fetch_free_list(const struct heap *heap, struct mtr *mtr, struct page_ref *ref)
{
    uint32_t pages, first;
    enum status status = pool_file_pages(heap->store->pool, heap->overflow_file, &pages);
    if (!status && pages == 0)
        status = pool_extend(heap->store->pool, heap->overflow_file, 1, &first);
    if (!status)
        status = fetch(heap, 0, LATCH_EXCLUSIVE, ref);
    if (status)
        return status;
    mtr_join(mtr, ref);
    return STATUS_OK;
}

static void set_free_head(struct mtr *mtr, uint8_t *page0, uint32_t page)
{
    if (page_header(page0)->kind == PAGE_NONE)
        mtr_format(mtr, page0, PAGE_OVERFLOW);
    mtr_write(mtr, page0, PAGE_HEADER_BYTES, &page, sizeof page);
}

/* ---- writing ---- */

struct taken { uint32_t count; struct page_ref refs[STEP_PAGES + 1]; };

/* Latches `want` pages for a chain into the mtr: `reserved` (0: none) first, then free ones, then new ones at the end. */
static enum status take_pages(const struct heap *heap, struct heap_state *state, struct mtr *mtr, uint32_t reserved, uint32_t want, struct taken *taken)
{
    struct pool *pool = heap->store->pool;
    struct page_ref page0 = {0};
    bool list = !atom_load(&state->overflow_spent);
    uint32_t pages;
    enum status status = pool_file_pages(pool, heap->overflow_file, &pages);
    taken->count = 0;
    if (!status && (list || pages == 0))
        status = fetch_free_list(heap, mtr, &page0);
    if (!status && reserved) {
        status = fetch(heap, reserved, LATCH_EXCLUSIVE, &taken->refs[0]);
        if (!status)
            mtr_join(mtr, &taken->refs[taken->count++]);
    }
    if (status)
        return status;
    uint32_t head = list && page_header(page0.bytes)->kind != PAGE_NONE ? chain_head(page0.bytes)->next : 0, was = head;
    while (head && taken->count < want) {
        struct page_ref *ref = &taken->refs[taken->count];
        status = pool_fetch_try(pool, overflow_id(heap, head), LATCH_EXCLUSIVE, RANK_OVERFLOW, 0, ref);
        if (status == STATUS_WOULD_BLOCK)
            break;
        if (status)
            return status;
        if (page_header(ref->bytes)->kind != PAGE_OVERFLOW || !(page_header(ref->bytes)->flags & OVERFLOW_FREE)) {
            pool_release(ref);
            return lost(heap, head);
        }
        head = chain_head(ref->bytes)->next;
        mtr_join(mtr, ref);
        taken->count++;
    }
    if (list && head == 0)
        atom_store(&state->overflow_spent, true);
    if (taken->count < want) {
        uint32_t more = want - taken->count, first;
        status = pool_extend(pool, heap->overflow_file, more, &first);
        for (uint32_t i = 0; i < more && !status; i++) {
            status = fetch(heap, first + i, LATCH_EXCLUSIVE, &taken->refs[taken->count]);
            if (!status)
                mtr_join(mtr, &taken->refs[taken->count++]);
        }
    }
    if (!status && head != was)              /* the first change: nothing fails from here on */
        set_free_head(mtr, page0.bytes, head);
    return status;
}

enum status overflow_write(const struct heap *heap, struct heap_state *state, xid_t xid, const uint8_t *bytes, uint32_t length, struct overflow_ref *out)
{
    uint32_t step = (uint32_t)(wal_max_record(heap->store->wal) / PAGE_BYTES);
    step = step > STEP_PAGES + 3 ? STEP_PAGES : step > 4 ? step - 3 : 1;
    uint32_t left = (length + PAGE_DATA - 1) / PAGE_DATA, done = 0, reserved = 0;
    if (left == 0)
        left = 1;
    *out = (struct overflow_ref){0, length, xid};
    atom_store(&state->overflow_settled, false);
    while (left > 0) {
        uint32_t now = left < step ? left : step;
        uint32_t want = now + (left > now);  /* rule 1: one more, if the chain goes on */
        struct taken taken;
        struct mtr mtr;
        mtr_begin(&mtr, heap->store, xid);
        enum status status = take_pages(heap, state, &mtr, reserved, want, &taken);
        if (status) {
            mtr_cancel(&mtr);
            return status;
        }
        if (!out->first_page)
            out->first_page = taken.refs[0].id.page;
        for (uint32_t i = 0; i < want; i++) {
            uint8_t *page = taken.refs[i].bytes;
            uint32_t count = i < now ? (length - done < PAGE_DATA ? length - done : PAGE_DATA) : 0;
            mtr_format(&mtr, page, PAGE_OVERFLOW);
            *chain_head(page) = (struct chain_head){.next = i + 1 < want ? taken.refs[i + 1].id.page : 0,
                .used = count, .first = out->first_page, .xid = xid, .length = length};
            memcpy(page + DATA_AT, bytes + done, count);
            done += count;
        }
        reserved = want > now ? taken.refs[now].id.page : 0;
        left -= now;
        mtr_commit(&mtr);
    }
    return STATUS_OK;
}

/* ---- reading ---- */

/* Copies the value to `out`, or compares it with `with`. */
static enum status walk(const struct heap *heap, const struct overflow_ref *value, uint8_t *out, const uint8_t *with, bool *same)
{
    uint32_t page = value->first_page, done = 0;
    while (done < value->length || done == 0) {
        struct page_ref ref;
        if (page == 0)
            return lost(heap, value->first_page);
        enum status status = fetch(heap, page, LATCH_SHARED, &ref);
        if (status)
            return status;
        const struct chain_head *head = chain_head(ref.bytes);
        if (!belongs(&ref, value->first_page, value->xid) || head->used > PAGE_DATA || head->used > value->length - done ||
            (head->used == 0 && value->length)) {
            pool_release(&ref);
            return lost(heap, page);
        }
        if (out)
            memcpy(out + done, ref.bytes + DATA_AT, head->used);
        if (with && memcmp(with + done, ref.bytes + DATA_AT, head->used) != 0)
            *same = false;
        done += head->used;
        page = head->next;
        pool_release(&ref);
        if ((with && !*same) || value->length == 0)
            return STATUS_OK;
    }
    return STATUS_OK;
}

enum status overflow_read(const struct heap *heap, const struct overflow_ref *ref, uint8_t *out) { return walk(heap, ref, out, NULL, NULL); }
enum status overflow_check(const struct heap *heap, const struct overflow_ref *ref) { return walk(heap, ref, NULL, NULL, NULL); }

enum status overflow_same(const struct heap *heap, const struct overflow_ref *ref, const uint8_t *bytes, uint32_t length, bool *same)
{
    *same = ref->length == length;
    return *same ? walk(heap, ref, NULL, bytes, same) : STATUS_OK;
}

/* ---- reference counts ---- */

bool overflow_deltas_add(struct overflow_deltas *deltas, uint32_t first_page, int32_t change)
{
    for (uint32_t i = 0; i < deltas->count; i++) {
        if (deltas->items[i].page == first_page) {
            deltas->items[i].change += change;
            return true;
        }
    }
    if (deltas->count == OVERFLOW_DELTAS)
        return false;
    deltas->items[deltas->count++] = (struct overflow_delta){first_page, change, NULL};
    return true;
}

enum status overflow_deltas_fetch(const struct heap *heap, struct overflow_deltas *deltas, struct mtr *mtr)
{
    for (uint32_t i = 1; i < deltas->count; i++) {       /* latched by rising page */
        struct overflow_delta item = deltas->items[i];
        uint32_t k = i;
        for (; k > 0 && deltas->items[k - 1].page > item.page; k--)
            deltas->items[k] = deltas->items[k - 1];
        deltas->items[k] = item;
    }
    for (uint32_t i = 0; i < deltas->count; i++) {
        struct page_ref ref;
        if (deltas->items[i].change == 0)
            continue;
        enum status status = fetch(heap, deltas->items[i].page, LATCH_EXCLUSIVE, &ref);
        if (status)
            return status;
        if (page_header(ref.bytes)->kind != PAGE_OVERFLOW || (page_header(ref.bytes)->flags & OVERFLOW_FREE)) {
            pool_release(&ref);
            return lost(heap, deltas->items[i].page);
        }
        mtr_join(mtr, &ref);
        deltas->items[i].bytes = ref.bytes;
    }
    return STATUS_OK;
}

void overflow_deltas_apply(const struct heap *heap, struct overflow_deltas *deltas, struct mtr *mtr)
{
    for (uint32_t i = 0; i < deltas->count; i++) {
        struct overflow_delta *item = &deltas->items[i];
        if (!item->bytes)
            continue;
        uint32_t references = chain_head(item->bytes)->references + (uint32_t)item->change;
        ASSERT(item->change > 0 || chain_head(item->bytes)->references >= (uint32_t)-item->change);
        mtr_write(mtr, item->bytes, PAGE_HEADER_BYTES + offsetof(struct chain_head, references), &references, sizeof references);
        if (references == 0)
            atom_store(&heap_state(heap)->overflow_settled, false);
    }
}

/* ---- garbage ---- */

static void free_page(struct mtr *mtr, uint8_t *page, uint32_t next)
{
    struct chain_head head = {.next = next};
    uint8_t flags = OVERFLOW_FREE;
    mtr_write(mtr, page, offsetof(struct page_header, flags), &flags, 1);
    mtr_write(mtr, page, PAGE_HEADER_BYTES, &head, sizeof head);
}

/* Frees a garbage chain, some pages of its rest at a time, the first page last: it can always be walked. *gone false
 * when a latch could not be had: another time. */
static enum status free_chain(const struct heap *heap, struct heap_state *state, uint32_t first, xid_t xid, uint64_t *freed, bool *gone)
{
    *gone = false;
    for (;;) {
        struct mtr mtr;
        struct page_ref page0, head, refs[STEP_PAGES];
        uint32_t count = 0;
        mtr_begin(&mtr, heap->store, XID_NONE);
        enum status status = fetch_free_list(heap, &mtr, &page0);
        if (!status)
            status = fetch(heap, first, LATCH_EXCLUSIVE, &head);
        if (status) {
            mtr_cancel(&mtr);
            return status;
        }
        mtr_join(&mtr, &head);
        if (!belongs(&head, first, xid) || chain_head(head.bytes)->references != 0) {
            mtr_cancel(&mtr);
            return STATUS_OK;
        }
        uint32_t next = chain_head(head.bytes)->next;
        bool blocked = false;
        while (next && count < STEP_PAGES) {
            status = pool_fetch_try(heap->store->pool, overflow_id(heap, next), LATCH_EXCLUSIVE, RANK_OVERFLOW, 0, &refs[count]);
            blocked = status == STATUS_WOULD_BLOCK;
            if (blocked)
                break;
            if (status) {
                mtr_cancel(&mtr);
                return status;
            }
            if (!belongs(&refs[count], first, xid)) {        /* not ours: the chain ends here */
                pool_release(&refs[count]);
                next = 0;
                break;
            }
            next = chain_head(refs[count].bytes)->next;
            mtr_join(&mtr, &refs[count++]);
        }
        if (count == 0 && blocked) {
            mtr_cancel(&mtr);
            return STATUS_OK;
        }
        uint32_t list = page_header(page0.bytes)->kind == PAGE_NONE ? 0 : chain_head(page0.bytes)->next;
        for (uint32_t i = 0; i < count; i++) {
            free_page(&mtr, refs[i].bytes, list);
            list = refs[i].id.page;
        }
        bool last = next == 0 && !blocked;
        if (last) {
            free_page(&mtr, head.bytes, list);
            list = first;
        } else {
            mtr_write(&mtr, head.bytes, PAGE_HEADER_BYTES + offsetof(struct chain_head, next), &next, sizeof next);
        }
        set_free_head(&mtr, page0.bytes, list);
        mtr_commit(&mtr);
        *freed += count + last;
        atom_store(&state->overflow_spent, false);
        if (last) {
            *gone = true;
            return STATUS_OK;
        }
    }
}

enum status overflow_sweep(const struct heap *heap, struct heap_state *state, uint64_t *freed)
{
    if (atom_exchange(&state->overflow_settled, true))
        return STATUS_OK;
    uint32_t pages;
    bool unsettled = false;
    enum status status = pool_file_pages(heap->store->pool, heap->overflow_file, &pages);
    for (uint32_t page = 1; page < pages && !status; page++) {
        struct page_ref ref;
        status = fetch(heap, page, LATCH_SHARED, &ref);
        if (status)
            break;
        bool candidate = belongs(&ref, page, chain_head(ref.bytes)->xid) && chain_head(ref.bytes)->references == 0;
        xid_t xid = chain_head(ref.bytes)->xid;
        pool_release(&ref);
        if (!candidate)
            continue;
        struct txn_view view;
        status = txn_peek(heap->store, xid, &view);
        if (status)
            break;
        bool gone = false;
        if (view.state != TXN_RUNNING)
            status = free_chain(heap, state, page, xid, freed, &gone);
        unsettled |= !gone;
    }
    if (status || unsettled)
        atom_store(&state->overflow_settled, false);
    return status;
}
