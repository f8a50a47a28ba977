/* btree/node.h - one page of a tree: a sorted array of slots and the entries that they point at. Private to btree.
 *
 *     header | slots, growing up -> ...... free ...... <- entries, growing down | fences
 *
 * Every node knows its *fences*: the range low <= entry < high that it answers for, whatever it holds now. A fence
 * is open at the ends of the tree. What both fences begin with, all entries begin with: these prefix_length bytes are
 * stored once (in the low fence) and cut from every entry. A slot carries the first four bytes behind the prefix
 * as a number, so that a search mostly stays in the slot array. Where a fence is open there is no prefix; there the heads begin behind
 * what the entries happen to share (skip), else the heads of a root over integers would all be the same.
 *
 * Entry of a leaf: row id (8), rest of the key. Of an inner node: child page (4), row id (8), rest of the separator;
 * the first entry's separator is not looked at: it stands for the low fence and is stored empty.
 *
 * left and right link the leaves; inner nodes have no links (0): nobody moves sideways there. */
#ifndef BTREE_NODE_H
#define BTREE_NODE_H

#include <stddef.h>
#include "btree/btree.h"
#include "btree/key.h"
#include "storage/mtr.h"

#define BTREE_LEVELS 28                         /* the tallest tree: a split of every level fits one mtr (2 a level, root, meta, list) */
#define NODE_MAX_ITEMS ((PAGE_BYTES - sizeof(struct node)) / (sizeof(struct slot) + 8) + 2)

struct slot { uint32_t head; uint16_t offset, length; };       /* length: of the key behind the prefix */
_Static_assert(sizeof(struct slot) == 8, "on-disk size");

enum { NODE_LOW_OPEN = 1, NODE_HIGH_OPEN = 2 };
struct node {
    struct page_header page;
    uint16_t level;                             /* 0: leaf */
    uint16_t count, data_start, garbage;        /* entries; lowest byte in use above the slots; bytes of dropped entries above that */
    uint16_t prefix_length, flags;
    uint16_t low_offset, low_length, high_offset, high_length;
    uint32_t left, right;                       /* 0: none. In a free page `left` is the next free one */
    uint16_t skip, unused;                      /* heads begin so many bytes behind the prefix: bytes that all entries share though the fences do not */
    uint64_t low_row, high_row;
    struct slot slots[];
};
_Static_assert(sizeof(struct node) == 80, "on-disk size");

/* Page 0: the parent of the root. Page 1: the list of free leaves, a page of its own so that it can be latched below
 * the nodes (rank SPACE) when a split wants a page. Page 2: the first leaf. Only leaves are ever freed, and a free leaf
 * becomes a leaf again: a page never changes its level, nor its latch its place in the order. */
#define META_MAGIC 0x43724254u
struct meta { struct page_header page; uint32_t magic, root, root_level, unused; };
struct free_list { struct page_header page; uint32_t first, count; };
enum { BTREE_META_PAGE, BTREE_FREE_PAGE, BTREE_FIRST_LEAF };

#define NODE_LATCH_LEVEL(level) ((uint16_t)(BTREE_LEVELS - (level)))   /* parents first; does not change when the root splits */

struct fence { const uint8_t *bytes; uint32_t length; uint64_t row; bool open; };
struct item { const uint8_t *suffix; uint32_t length; uint32_t child; uint64_t row; };   /* an entry, its key cut by `base_length` */

/* Items and what stands around them: a node to be. */
struct node_image {
    uint16_t level;
    const uint8_t *base; uint32_t base_length;  /* what the items' keys were cut by */
    const struct item *items; uint32_t count;
    struct fence low, high;
    uint32_t left, right;
};

static inline uint32_t node_fixed_bytes(uint16_t level) { return level ? 12 : 8; }
static inline struct node *node_of(const struct page_ref *ref) { return (struct node *)ref->bytes; }
static inline const uint8_t *node_prefix(const struct node *node) { return (const uint8_t *)node + node->low_offset; }
static inline struct fence node_low(const struct node *node)
{
    return (struct fence){ (const uint8_t *)node + node->low_offset, node->low_length, node->low_row, node->flags & NODE_LOW_OPEN };
}
static inline struct fence node_high(const struct node *node)
{
    return (struct fence){ (const uint8_t *)node + node->high_offset, node->high_length, node->high_row, node->flags & NODE_HIGH_OPEN };
}

/* Does the slot point inside the page? Searches read a broken slot as empty, whoever copies entries calls it corrupt. */
static inline bool node_slot_sound(const struct node *node, uint32_t i)
{
    const struct slot *slot = &node->slots[i];
    return slot->offset >= node->data_start && (uint32_t)slot->offset + node_fixed_bytes(node->level) + slot->length <= PAGE_BYTES;
}
static inline uint64_t node_row(const struct node *node, uint32_t i)
{
    uint64_t row = 0;
    if (node_slot_sound(node, i))
        memcpy(&row, (const uint8_t *)node + node->slots[i].offset + (node->level ? 4 : 0), 8);
    return row;
}
static inline uint32_t node_child(const struct node *node, uint32_t i)      /* 0 (no node) when the slot is broken */
{
    uint32_t child = 0;
    if (node_slot_sound(node, i))
        memcpy(&child, (const uint8_t *)node + node->slots[i].offset, 4);
    return child;
}
static inline const uint8_t *node_suffix(const struct node *node, uint32_t i)
{
    return (const uint8_t *)node + node->slots[i].offset + node_fixed_bytes(node->level);
}
static inline uint32_t node_key_length(const struct node *node, uint32_t i) { return (uint32_t)node->prefix_length + node->slots[i].length; }
static inline void node_key_copy(const struct node *node, uint32_t i, uint8_t *to)
{
    memcpy(to, node_prefix(node), node->prefix_length);
    memcpy(to + node->prefix_length, node_suffix(node, i), node->slots[i].length);
}

static inline bool node_fence_open(const struct node *node) { return node->flags & (NODE_LOW_OPEN | NODE_HIGH_OPEN); }
/* The head of an entry's key, cut by the prefix. */
static inline uint32_t node_head(const struct node *node, const uint8_t *suffix, uint32_t length)
{
    return length <= node->skip ? 0 : key_head(suffix + node->skip, length - node->skip);
}

bool     node_sound(const uint8_t *page);       /* a node whose header can be believed: kind, counts, fences inside the page */
uint32_t node_lower(const struct node *, const uint8_t *key, uint32_t length, uint64_t row);   /* how many entries are < (key, row) */
uint32_t node_child_index(const struct node *, const struct bound *);       /* of an inner node: which child covers the bound */
int      node_entry_key_compare(const struct node *, uint32_t i, const uint8_t *key, uint32_t length);   /* entry's key against a key */
bool     node_entry_is(const struct node *, uint32_t i, const uint8_t *key, uint32_t length);            /* has the entry this key? */
/* Is the fence this (key, row)? / order of a place against a fence that is not open */
static inline int fence_compare(const struct fence *fence, const uint8_t *key, uint32_t length, uint64_t row)
{
    int order = key_compare(fence->bytes, fence->length, key, length);
    return order ? order : (fence->row > row) - (fence->row < row);
}

/* Bytes an entry takes, and bytes that are free (compaction included). */
static inline uint32_t node_need(const struct node *node, uint32_t key_length)
{
    return (uint32_t)sizeof(struct slot) + node_fixed_bytes(node->level) + key_length - node->prefix_length;
}
static inline uint32_t node_gap(const struct node *node) { return node->data_start - (uint32_t)sizeof(struct node) - node->count * (uint32_t)sizeof(struct slot); }
static inline bool node_has_room(const struct node *node, uint32_t key_length, uint32_t max_entries)
{
    return node->count < max_entries && node_need(node, key_length) <= node_gap(node) + node->garbage;
}

uint32_t node_image_bytes(const struct node_image *);                       /* how much of a page it would take */
void     node_encode(uint8_t *page, const struct node_image *);             /* all but the page header; nothing of the image may lie in `page` */
bool     node_slots_sound(const struct node *);
bool     node_items(const struct node *, struct item *items);               /* all entries; false when a slot is broken */

/* Changes, logged; the caller has joined the page and seen to the room. */
void     node_insert(struct mtr *, struct node *, uint32_t position, const uint8_t *key, uint32_t length, uint64_t row, uint32_t child);
void     node_remove(struct mtr *, struct node *, uint32_t position);
void     node_remove_many(struct mtr *, struct node *, const uint16_t *positions, uint32_t count);   /* rising */
bool     node_widen_fits(const struct node *, const struct fence *low, const struct fence *high);   /* could it take these fences? */
void     node_widen(struct mtr *, struct node *, const struct fence *low, const struct fence *high);
static inline void node_set_left(struct mtr *mtr, struct node *node, uint32_t left) { mtr_write(mtr, (uint8_t *)node, offsetof(struct node, left), &left, 4); }
static inline void node_set_right(struct mtr *mtr, struct node *node, uint32_t right) { mtr_write(mtr, (uint8_t *)node, offsetof(struct node, right), &right, 4); }

/* ---- btree/descend.c ---- */
#define BTREE_ENTRIES(tree) ((tree)->max_entries ? ((tree)->max_entries < 3 ? 3u : (tree)->max_entries) : UINT16_MAX)

enum status index_corrupt(const struct btree *, uint32_t page, const char *what);
/* Fetches a node that must be there, of that level. */
enum status node_fetch(const struct btree *, uint32_t page, uint16_t level, enum latch_mode, struct page_ref *out) MUST_CHECK;
/* Fetches what was a leaf when its number was read; *leaf false (and nothing held) when it is one no more. */
enum status leaf_fetch_if(const struct btree *, uint32_t page, enum latch_mode, struct page_ref *out, bool *leaf) MUST_CHECK;
enum status meta_fetch(const struct btree *, enum latch_mode, struct page_ref *out, uint32_t *root, uint16_t *level) MUST_CHECK;
void        root_remember(const struct btree *, uint32_t root, uint16_t level);

/* Down to the leaf that covers the bound: SHARED above, `mode` on the leaf; or EXCLUSIVE all the way; never more than two latches. */
enum status descend_shared(const struct btree *, const struct bound *, enum latch_mode, struct page_ref *leaf) MUST_CHECK;
enum status descend_exclusive(const struct btree *, const struct bound *, struct page_ref *leaf) MUST_CHECK;
/* Down to the leaf's parent, latched EXCLUSIVE; nothing held and parent->frame NULL when the root is a leaf. */
enum status descend_to_parent(const struct btree *, const struct bound *, struct page_ref *parent) MUST_CHECK;
/* The leaf that covers `bound` (AT, or FIRST), tried by its number first, then by a descent. */
enum status leaf_at(const struct btree *, uint32_t page, const struct bound *, enum latch_mode, struct page_ref *leaf) MUST_CHECK;

/* What a pessimistic descent holds: nodes[level] for each level up to the lowest safe one, the meta page if none was. */
struct path {
    struct page_ref meta;
    struct page_ref nodes[BTREE_LEVELS];
    uint16_t index[BTREE_LEVELS];               /* which child was taken, inner levels */
    uint16_t root_level;
};
enum status path_descend(const struct btree *, const struct bound *, uint32_t key_length, struct path *) MUST_CHECK;
void        path_release(struct path *);

/* crab.btree_latching = tree: the latch of the whole tree, held around every step; NULL under the other settings. */
struct latch *tree_latch(const struct btree *, enum latch_mode);
static inline void tree_unlatch(struct latch *latch) { if (latch) latch_release(latch); }

/* ---- btree/delete.c ---- */
/* The leaf that covers the bound is empty: takes it out of the tree, if it still is and a neighbour can take its range. */
enum status leaf_remove_empty(const struct btree *, xid_t, const struct bound *) MUST_CHECK;

/* ---- btree/insert.c ---- */
enum status btree_key_too_long(const struct btree *, uint32_t length);
/* A page to become a node, latched EXCLUSIVE and joined to the mtr (not formatted yet). Leaves come from the free list first. */
enum status page_take(const struct btree *, struct mtr *, uint16_t level, struct page_ref *out) MUST_CHECK;

#endif
