/* storage/heap_roots.c - which index entry leads to a version: for building an index over rows that are there already.
 *
 * A heap-only version has no entry of its own: the entry points at the root of its chain, or at the redirect that pruning
 * left of it. */
#include "storage/heap_private.h"

enum status heap_page_roots(const struct heap *heap, struct page_ref *pinned, uint16_t slot_count, uint16_t *roots)
{
    bool empty;
    for (uint16_t slot = 0; slot < slot_count; slot++)
        roots[slot] = HEAP_NO_ROOT;
    pool_latch(pinned, LATCH_SHARED);
    enum status status = pax_check_kind(heap, pinned, &empty);
    if (!status && !empty) {
        const uint8_t *page = pinned->bytes;
        uint16_t count = pax_head(page)->slot_count < slot_count ? pax_head(page)->slot_count : slot_count;
        for (uint16_t slot = 0; slot < count; slot++) {
            uint8_t state = pax_states(page)[slot];
            bool root = SLOT_STATE(state) == SLOT_REDIRECT || (SLOT_STATE(state) == SLOT_FILLED && !(state & SLOT_HEAP_ONLY));
            int32_t at = root ? chain_first(page, slot) : -1;
            for (uint32_t steps = 0; at >= 0 && steps < PAX_MAX_SLOTS; steps++) {
                if (at < slot_count)
                    roots[at] = slot;
                at = chain_next(page, pinned->id.page, (uint16_t)at);
            }
        }
    }
    pool_unlatch(pinned);
    return status;
}
