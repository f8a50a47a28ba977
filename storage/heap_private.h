/* storage/heap_private.h - shared by the heap's files: hints of a file, staged rows, pruning.
 *
 *     heap_state.c    what is known of a heap file while the server runs: pages being filled, counters
 *     heap_read.c     visibility, looks, fetches            heap_stage.c   new rows: sizes, long values, writing on a page
 *     heap_insert.c   where new rows go                     heap_change.c  update, delete, lock, liveness
 *     heap_prune.c    dead versions of one page             vacuum.c       a pass over the heap
 *     overflow.c      long values                           space.c        the free-space map
 *     visibility.c    the visibility map
 *     heap_check.c    the checker */
#ifndef STORAGE_HEAP_PRIVATE_H
#define STORAGE_HEAP_PRIVATE_H

#include "storage/overflow.h"
#include "storage/pax.h"
#include "storage/space.h"
#include "storage/txn_slot.h"
#include "storage/visibility.h"

/* ---- heap_state.c ---- */
#define INSERT_TARGETS 16
#define NO_PAGE UINT32_MAX
struct insert_target {
    struct latch latch;                      /* rank INSERT_TARGET; guards the fields below */
    uint32_t page;                           /* being filled, or NO_PAGE */
    uint32_t fresh, fresh_end;               /* pages that this target extended the file by, and has not used yet */
} __attribute__((aligned(64)));
struct heap_state {
    uint32_t file;
    struct heap_state *next;                 /* in its bucket; never unlinked while the store is open */
    struct insert_target targets[INSERT_TARGETS];
    _Atomic uint32_t mean_var16;             /* bytes of varying length a row, times 16: a running mean */
    _Atomic uint32_t space_hint;             /* where the search of the free-space map goes on */
    _Atomic bool     space_spent;            /* a search found nothing, and no vacuum came by since */
    _Atomic bool     overflow_spent;         /* the overflow file's free list was empty, and nothing was freed since */
    _Atomic bool     overflow_settled;       /* no chain was made or let go since the last sweep */
    _Atomic uint64_t inserted, updated, deleted, dead, changed;
    struct zone_map *_Atomic zones;          /* zone.c's; NULL until a scan asks */
};
struct heap_state *heap_state(const struct heap *);
struct insert_target *target_acquire(struct heap_state *);       /* one that is free, else waits for one */
void        target_release(struct insert_target *);

/* ---- heap_stage.c ---- */
/* Rows ready to be written: inline lengths known, long values already in the overflow file. */
struct staged {
    const struct heap *heap;
    uint32_t count;
    const row_pos *positions;                /* of the batch; NULL: 0, 1, 2 … */
    const struct vector *columns;            /* a moved-out value is a struct varlen of a 16-byte overflow_ref, `unused` = STAGED_OUT */
    const bool *moved;                       /* by column: are there moved-out values? NULL: nowhere */
    const uint32_t *var_bytes;               /* by row: bytes of varying length on the page */
    struct arena *arena;                     /* NULL when nothing was moved */
    row_pos only;
};
#define STAGED_OUT 1
/* `only` >= 0: that one position. `share`: by column, the long value of the version that this row is to follow (length 0:
 * none); where the new value is the same, its chain is used again; or NULL. */
enum status stage_rows(const struct heap *, struct heap_state *, xid_t, const struct batch *, int32_t only, const struct overflow_ref *share,
                       struct staged *out) MUST_CHECK;
void        stage_done(struct staged *);
static inline row_pos staged_position(const struct staged *s, uint32_t i) { return s->positions ? s->positions[i] : (row_pos)i; }
/* How the reference counts change when row i is written. False: the list has no room. */
bool        stage_deltas(const struct staged *, uint32_t i, struct overflow_deltas *);
/* Writes rows first .. first+count-1 to slots slot .. slot+count-1 of a page that has the room (the mtr has it joined, visibility_join was called), counts included. */
void        stage_write(struct mtr *, uint8_t *page, const struct staged *, uint32_t first, uint32_t count, uint16_t slot,
                        xid_t, command_t, uint8_t state);
void        pax_write_counts(struct mtr *, uint8_t *page, uint16_t slot_count, uint16_t var_start, uint16_t unfilled, uint16_t flags);

/* ---- heap_insert.c ---- */
/* Chooses a page for new rows and leaves it in target->page (the target is latched). */
enum status target_choose(const struct heap *, struct heap_state *, struct insert_target *, bool fresh_only, uint32_t avoid) MUST_CHECK;
uint16_t    fresh_capacity(const struct staged *, struct heap_state *, uint32_t first);
int32_t     pax_free_slot(const uint8_t *page, bool only_pin, bool keep_slack);   /* -1: none */

/* ---- heap_prune.c ---- */
struct prune_plan {
    uint16_t slot_count, freed, dead, redirected, removed;       /* removed: versions that go */
    uint16_t kept_dead;                      /* dead, but locked, or its overflow pages too many for one mtr */
    uint32_t var_bytes;                      /* what the remaining versions need */
    bool     any;                            /* is there anything to do? */
    uint8_t  state[PAX_MAX_SLOTS];           /* the new state byte */
    uint16_t target[PAX_MAX_SLOTS];          /* of redirects */
    bool     clear_xmax[PAX_MAX_SLOTS];      /* ended only by an aborted transaction */
    bool     freeze[PAX_MAX_SLOTS];          /* made before the horizon: no need to ask for its maker again */
};
/* The page is latched (EXCLUSIVE where the plan will be carried out). Fails only when outcomes can't be read. */
enum status prune_plan(const struct heap *, const uint8_t *page, uint32_t page_number, lsn_t horizon,
                       struct overflow_deltas *, struct prune_plan *) MUST_CHECK;
/* Needs the page's only pin; its mtr has the page joined and the deltas fetched. */
void        prune_apply(struct mtr *, const struct heap *, uint8_t *page, const struct prune_plan *);

/* ---- heap_read.c ---- */
struct viewer {                              /* remembers the last answers: pages are full of equal ids */
    const struct snapshot *snapshot;
    struct store *store;
    xid_t in, out;                           /* an id that is in the snapshot, one that isn't */
};
enum status viewer_sees(struct viewer *, xid_t, bool *in) MUST_CHECK;         /* for ids not our own */
enum status version_visible(struct viewer *, const uint8_t *page, uint16_t slot, bool *visible) MUST_CHECK;
/* The version that an index entry's slot leads to first: itself, or a redirect's target. -1: none. */
int32_t     chain_first(const uint8_t *page, uint16_t slot);
int32_t     chain_next(const uint8_t *page, uint32_t page_number, uint16_t slot);    /* the newer version on this page, heap-only; -1: none */
#define CHAIN_LONG 12                        /* a chain that took so many steps to read is worth pruning */
extern _Thread_local page_id heap_long_chain;    /* the page where this thread met one last; {0, 0}: none */

#endif
