/* engine/exec/row_set.h - a set of row ids that indexes give (PLAN_BITMAP_SCAN), as a bitmap: for each page the slots.
 *
 *     row_set_make(run, plan->bitmap, arena, pages, &set);      by the leader, before the scan; read-only then
 *     if (!row_set_page(set, page, &slots)) ... no row there
 *
 * Index entries lead to roots, and a version that a snapshot sees lies on its root's page. So a page that isn't in the set holds no row
 * that is wanted. Which of a page's versions an entry means is plain only where every slot is a visible row; elsewhere the
 * whole page is looked at. The scan's filter holds the whole condition in any case, so the set may say too much, never too little:
 * past work_mem it only keeps which pages. */
#ifndef ENGINE_EXEC_ROW_SET_H
#define ENGINE_EXEC_ROW_SET_H

#include "engine/exec/operator.h"
#include "storage/heap.h"

#define ROW_SET_WORDS (PAX_MAX_SLOTS / 64)

struct row_set {
    uint32_t page_count;
    uint64_t **pages;                    /* NULL: no row of that page; row_set_whole: any of them */
    struct arena *arena;
    uint64_t kept, limit;                /* bytes */
    uint32_t exact, lossy;               /* pages; for EXPLAIN */
};
extern uint64_t row_set_whole[ROW_SET_WORDS];
/* page_count: the table's length; later rows aren't seen by the scan anyway. CONFLICT when an index is too young for the snapshot. */
enum status row_set_make(struct run *, const struct bitmap *, struct arena *, uint32_t page_count, struct row_set **out) MUST_CHECK;
/* False: no row of the page. *slots NULL: any slot may be. */
static inline bool row_set_page(const struct row_set *set, uint32_t page, const uint64_t **slots)
{
    const uint64_t *words = page < set->page_count ? set->pages[page] : NULL;
    *slots = words == row_set_whole ? NULL : words;
    return words != NULL;
}
/* The positions below `slot_count` that are in it, rising; how many. */
uint16_t row_set_positions(const uint64_t *slots, uint16_t slot_count, row_pos *positions);

#endif
