/* btree/btree.h - a B+Tree on pool pages: keys are byte strings that compare with memcmp, each with a row id.
 *
 * An entry is (key, row id); entries are unique as a pair, keys need not be. The engine turns values into key bytes
 * (engine/types/key.h) in any mix of columns, ASC/DESC, NULLs first/last; the tree never looks inside. A meta page
 * (page 0 of the file) stands above the root as its parent.
 *
 * Searches latch the child SHARED, then release the parent. Inserts are optimistic first, then crab with EXCLUSIVE
 * latches (crab.btree_latching). Everything is WAL-logged, one mtr a change. */
#ifndef BTREE_BTREE_H
#define BTREE_BTREE_H

#include "base/arena.h"
#include "storage/store.h"
#include "storage/txn.h"

#define BTREE_KEY_MAX (PAGE_BYTES / 6)              /* the longest key, bytes; longer ones fail with LIMIT_EXCEEDED (54000), PostgreSQL's words */

enum btree_latching { BTREE_TREE, BTREE_CRAB, BTREE_OPTIMISTIC };
extern _Atomic uint32_t btree_latching;             /* crab.btree_latching */

struct btree { struct store *store; uint32_t file; const char *name; uint16_t max_entries; /* 0: as many as fit */ };

enum status btree_create(struct btree *, struct txn *) MUST_CHECK;          /* makes the file (fills .file in) and an empty tree */
enum status btree_create_fixed(struct btree *) MUST_CHECK;                  /* bootstrap: file number given */
void        btree_drop(struct btree *, struct txn *);                       /* at commit */

/* Unique check: called under the leaf's latch for each entry with the same key; says whether the row there is live, dead, or in doubt. */
struct btree_unique {
    enum status (*alive)(void *context, uint64_t row_id, bool *live, xid_t *wait_for);   /* heap_liveness behind it */
    void *context;
    struct txn *txn;                                /* who waits for the transaction in doubt (holding no latch), then starts again */
};
/* unique NULL: no check. On a live duplicate: *conflict = its row id and status UNIQUE_VIOLATION without an error record
 * (the engine words it). An entry that is there already with the same row id is left as it is. */
enum status btree_insert(const struct btree *, xid_t, const uint8_t *key, uint32_t key_length, uint64_t row_id,
                         const struct btree_unique *unique, uint64_t *conflict) MUST_CHECK;
/* Many, sorted by (key, row id). check: the unique check is wanted for this one. On an error *failed is the entry that it is about; those before it are in. */
struct btree_new { const uint8_t *key; uint32_t length; bool check; uint64_t row_id; };
enum status btree_insert_many(const struct btree *, xid_t, const struct btree_new *entries, uint32_t count, const struct btree_unique *unique,
                              uint32_t *failed, uint64_t *conflict) MUST_CHECK;
enum status btree_delete(const struct btree *, xid_t, const uint8_t *key, uint32_t key_length, uint64_t row_id, bool *found) MUST_CHECK;
/* Vacuum: removes every entry whose row id is in the sorted list (one sweep of the leaves; try: page by page). */
enum status btree_remove_rows(const struct btree *, const uint64_t *row_ids, size_t count, uint64_t *removed) MUST_CHECK;

/* Bottom-up build from entries that come sorted by (key, row id). */
struct btree_build;
enum status btree_build_begin(const struct btree *, xid_t, struct btree_build **out) MUST_CHECK;
enum status btree_build_add(struct btree_build *, const uint8_t *key, uint32_t key_length, uint64_t row_id) MUST_CHECK;
enum status btree_build_end(struct btree_build *) MUST_CHECK;               /* frees it, also after an error */
void        btree_build_abandon(struct btree_build *);

/* Called with what is about to be given out, while the leaf it was copied from is still latched (SHARED): vacuum can't have taken any of the entries
 * away meanwhile, nor have given their rows' slots to others. May latch what ranks below leaves; must not be slow. */
struct btree_entries { uint32_t count; const uint64_t *row_ids; const uint8_t *const *keys; const uint32_t *key_lengths; };   /* valid until the next call */
struct btree_judge { enum status (*judge)(void *context, const struct btree_entries *); void *context; };

/* The row ids of the entries with exactly this key, in order: *count of them, or BTREE_SCAN_IT (and nothing in row_ids) when there are more than
 * `capacity`, or when they go on in another leaf: then a scan finds them. */
#define BTREE_SCAN_IT UINT32_MAX
enum status btree_lookup(const struct btree *, const uint8_t *key, uint32_t key_length, uint64_t *row_ids, uint32_t capacity, uint32_t *count) MUST_CHECK;
/* … and judged: not called when it is none, or the answer BTREE_SCAN_IT. Its entries have row ids only. */
enum status btree_lookup_judged(const struct btree *, const uint8_t *key, uint32_t key_length, uint64_t *row_ids, uint32_t capacity, uint32_t *count,
                                const struct btree_judge *) MUST_CHECK;

/* Scans. Bounds are key bytes: the range is low <= key < high by memcmp on prefixes as given: NULL = open. The engine forms inclusive and
 * exclusive bounds by appending 0x00… / 0xFF… or by prefix successor (see engine/types/key.h). Each step copies one leaf's matching entries and lets the latch go. */
struct btree_scan;
enum status btree_scan_open(const struct btree *, struct arena *, const uint8_t *low, uint32_t low_length, const uint8_t *high, uint32_t high_length,
                            bool backward, struct btree_scan **out) MUST_CHECK;
/* Between two places of the tree's order, low <= (key, row id) < high: parts of a range that btree_cuts has cut (NULL: as the range). */
struct btree_place { const uint8_t *key; uint32_t length; uint64_t row_id; };
enum status btree_scan_between(const struct btree *, struct arena *, const struct btree_place *low, const struct btree_place *high, bool backward,
                               struct btree_scan **out) MUST_CHECK;
/* Places that cut the range low .. high (as btree_scan_open has it) into parts of so many leaves, as the tree is now; rising. Reads the
 * level above the leaves only. */
enum status btree_cuts(const struct btree *, struct arena *, const uint8_t *low, uint32_t low_length, const uint8_t *high, uint32_t high_length,
                       uint32_t leaves, struct btree_place **out, uint32_t *count) MUST_CHECK;
void        btree_scan_judge(struct btree_scan *, struct btree_judge);                   /* before the first step */
enum status btree_scan_next(struct btree_scan *, struct btree_entries *out) MUST_CHECK;   /* count 0 at the end */
void        btree_scan_close(struct btree_scan *);

uint16_t btree_level_of_latch(uint16_t latch_level);                        /* of a NODE latch (for views): 0 is a leaf */

struct btree_stats { uint32_t pages, leaves, height, free_pages; uint64_t entries; };
enum status btree_stats(const struct btree *, struct btree_stats *out) MUST_CHECK;
/* Walks the whole tree: order, fences, links, levels, free pages; calls `entry` (may be NULL) for each leaf entry in order, with no leaf latched but its
 * parents (it may latch heap pages, it must wait for nothing else). The caller keeps writers of this index away. INDEX_CORRUPT with what and where. */
enum status btree_check(const struct btree *, enum status (*entry)(void *context, const uint8_t *key, uint32_t length, uint64_t row_id), void *context,
                        struct btree_stats *out) MUST_CHECK;
/* Draws it: text (indented) or Graphviz dot. */
enum status btree_print(const struct btree *, struct arena *, bool dot, char **out) MUST_CHECK;

#endif
