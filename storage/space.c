/* storage/space.c - the free-space map. Pages of the heap's space file: a header, then a byte for each heap page. */
#include "storage/space.h"

#include "storage/pax.h"

static uint8_t room_of(const struct page_ref *ref, uint32_t entry) { return ref->bytes[PAGE_HEADER_BYTES + entry] & SPACE_ROOM; }

static enum status write_room(const struct heap *heap, struct page_ref *ref, uint32_t entry, uint8_t room)
{
    struct mtr mtr;
    mtr_begin(&mtr, heap->store, XID_NONE);
    mtr_join(&mtr, ref);
    if (page_header(ref->bytes)->kind == PAGE_NONE)
        mtr_format(&mtr, ref->bytes, PAGE_SPACE);
    uint8_t now = ref->bytes[PAGE_HEADER_BYTES + entry], byte = (uint8_t)((now & SPACE_VISIBLE) | room);
    if (byte != now)
        mtr_write(&mtr, ref->bytes, PAGE_HEADER_BYTES + entry, &byte, 1);
    mtr_commit(&mtr);
    return STATUS_OK;
}

enum status space_reach(const struct heap *heap, uint32_t page)
{
    struct pool *pool = heap->store->pool;
    uint32_t pages, first;
    enum status status = pool_file_pages(pool, heap->space_file, &pages);
    while (!status && pages <= page / SPACE_ENTRIES) {
        status = pool_extend(pool, heap->space_file, 1, &first);
        if (!status)
            status = pool_file_pages(pool, heap->space_file, &pages);
    }
    return status;
}

enum status space_set(const struct heap *heap, uint32_t page, uint8_t room)
{
    struct pool *pool = heap->store->pool;
    page_id id = {heap->space_file, page / SPACE_ENTRIES};
    uint32_t pages, entry = page % SPACE_ENTRIES;
    enum status status = pool_file_pages(pool, heap->space_file, &pages);
    if (!status && pages <= id.page && room == 0)
        return STATUS_OK;
    if (!status)
        status = space_reach(heap, page);
    if (status)
        return status;
    struct page_ref ref;
    status = pool_fetch(pool, id, LATCH_SHARED, RANK_SPACE, 0, &ref);
    if (status)
        return status;
    bool same = room_of(&ref, entry) == room;
    pool_release(&ref);
    if (same)
        return STATUS_OK;
    status = pool_fetch(pool, id, LATCH_EXCLUSIVE, RANK_SPACE, 0, &ref);
    if (status)
        return status;
    return write_room(heap, &ref, entry, room);
}

enum status space_take(const struct heap *heap, uint32_t from, uint32_t page_count, uint8_t at_least, uint32_t *page)
{
    struct pool *pool = heap->store->pool;
    uint32_t map_pages;
    *page = UINT32_MAX;
    enum status status = pool_file_pages(pool, heap->space_file, &map_pages);
    if (status)
        return status;
    while (from < page_count && from / SPACE_ENTRIES < map_pages) {
        page_id id = {heap->space_file, from / SPACE_ENTRIES};
        uint32_t base = id.page * SPACE_ENTRIES;
        uint32_t end = page_count - base < SPACE_ENTRIES ? page_count - base : SPACE_ENTRIES;
        struct page_ref ref;
        status = pool_fetch(pool, id, LATCH_SHARED, RANK_SPACE, 0, &ref);
        if (status)
            return status;
        uint32_t entry = from - base;
        while (entry < end && room_of(&ref, entry) < at_least)
            entry++;
        pool_release(&ref);
        if (entry == end) {
            from = base + end;
            continue;
        }
        status = pool_fetch(pool, id, LATCH_EXCLUSIVE, RANK_SPACE, 0, &ref);
        if (status)
            return status;
        if (room_of(&ref, entry) >= at_least) {      /* nobody took it meanwhile */
            *page = base + entry;
            return write_room(heap, &ref, entry, 0);
        }
        pool_release(&ref);
        from = base + entry + 1;
    }
    return STATUS_OK;
}
