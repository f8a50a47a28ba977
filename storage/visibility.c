/* storage/visibility.c - the visibility map (visibility.h). Its bits lie in the bytes of the free-space map (space.h): both are a thing a page,
 * written by vacuum, and so a table needs no fourth file. */
#include "base/plant.h"
#include "storage/visibility.h"

#include "storage/pax.h"
#include "storage/space.h"

static uint8_t *joined(struct mtr *mtr, const struct heap *heap, uint32_t map_page)
{
    for (uint16_t i = 0; i < mtr->page_count; i++)
        if (mtr->pages[i].ref.id.file == heap->space_file && mtr->pages[i].ref.id.page == map_page)
            return mtr->pages[i].ref.bytes;
    return NULL;
}

enum status visibility_join_page(const struct heap *heap, uint32_t page, struct mtr *mtr)
{
    uint32_t map_page = page / SPACE_ENTRIES;
    if (joined(mtr, heap, map_page))
        return STATUS_OK;
    struct page_ref ref;
    enum status status = space_reach(heap, page);
    if (!status)
        status = pool_fetch(heap->store->pool, (page_id){heap->space_file, map_page}, LATCH_EXCLUSIVE, RANK_SPACE, 0, &ref);
    if (!status)
        mtr_join(mtr, &ref);
    return status;
}

enum status visibility_join(const struct heap *heap, const uint8_t *heap_page, struct mtr *mtr)
{
    if (!(pax_head(heap_page)->flags & PAX_ALL_VISIBLE))
        return STATUS_OK;
    return visibility_join_page(heap, page_header((void *)(uintptr_t)heap_page)->page, mtr);
}

static void change(struct mtr *mtr, const struct heap *heap, uint32_t page, bool visible)
{
    uint8_t *map = joined(mtr, heap, page / SPACE_ENTRIES);
    ASSERT(map);
    if (page_header(map)->kind == PAGE_NONE)
        mtr_format(mtr, map, PAGE_SPACE);
    uint32_t at = PAGE_HEADER_BYTES + page % SPACE_ENTRIES;
    uint8_t byte = visible ? map[at] | SPACE_VISIBLE : map[at] & SPACE_ROOM;
    if (byte != map[at])
        mtr_write(mtr, map, at, &byte, 1);
}

void visibility_clear(struct mtr *mtr, const struct heap *heap, uint32_t page)
{
    if (!PLANT(VISIBLE_STALE))
        change(mtr, heap, page, false);
}

void visibility_set(struct mtr *mtr, const struct heap *heap, uint32_t page) { change(mtr, heap, page, true); }

/* Index entries come in no order of the table: each map page is fetched once, for all of them that it tells of. */
enum status heap_map_visible(const struct heap *heap, const uint64_t *row_ids, uint32_t count, uint8_t *visible)
{
    const uint8_t unasked = 2;
    uint32_t pages;
    enum status status = pool_file_pages(heap->store->pool, heap->space_file, &pages);
    memset(visible, unasked, count);
    for (uint32_t i = 0; i < count && !status; i++) {
        if (visible[i] != unasked)
            continue;
        struct page_ref ref = {0};
        uint32_t map_page = ROW_PAGE(row_ids[i]) / SPACE_ENTRIES;
        if (map_page < pages)
            status = pool_fetch(heap->store->pool, (page_id){heap->space_file, map_page}, LATCH_SHARED, RANK_SPACE, 0, &ref);
        for (uint32_t k = i; k < count && !status; k++) {
            uint32_t page = ROW_PAGE(row_ids[k]);
            if (page / SPACE_ENTRIES == map_page)
                visible[k] = map_page < pages && (ref.bytes[PAGE_HEADER_BYTES + page % SPACE_ENTRIES] & SPACE_VISIBLE) != 0;
        }
        if (ref.frame)
            pool_release(&ref);
    }
    return status;
}

enum status visibility_of(const struct heap *heap, uint32_t page, bool *visible)
{
    uint8_t byte = 0;
    enum status status = heap_map_visible(heap, (uint64_t[]){ROW_ID(page, 0)}, 1, &byte);
    *visible = byte;
    return status;
}

enum status heap_all_visible(const struct heap *heap, uint32_t *count)
{
    uint32_t pages;
    *count = 0;
    enum status status = pool_file_pages(heap->store->pool, heap->space_file, &pages);
    for (uint32_t map_page = 0; map_page < pages && !status; map_page++) {
        struct page_ref ref;
        status = pool_fetch(heap->store->pool, (page_id){heap->space_file, map_page}, LATCH_SHARED, RANK_SPACE, 0, &ref);
        if (status)
            break;
        for (uint32_t i = 0; i < SPACE_ENTRIES; i++)
            *count += ref.bytes[PAGE_HEADER_BYTES + i] >> 7;
        pool_release(&ref);
    }
    return status;
}
