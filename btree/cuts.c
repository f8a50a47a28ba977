/* btree/cuts.c - a range of keys cut into parts of some leaves each, for workers to share.
 *
 * The separators of the nodes above the leaves are copied, a node at a time: each is found by a descent to the fence that the one before
 * ended with, for inner nodes have no links. Nothing is latched between two nodes, so the tree may change meanwhile; a cut is a place in the order
 * of keys and stays one, whatever leaves there are: parts never overlap, and together are the range. */
#include "btree/node.h"

struct cutting { struct arena *arena; struct btree_place *items; uint32_t count, capacity, leaves, since; };

static void cut_here(struct cutting *c, const struct node *node, uint32_t i)
{
    if (c->count == c->capacity) {
        uint32_t capacity = c->capacity ? c->capacity * 2 : 64;
        c->items = arena_grow(c->arena, c->items, c->capacity * sizeof *c->items, capacity * sizeof *c->items);
        c->capacity = capacity;
    }
    uint32_t length = node_key_length(node, i);
    uint8_t *key = arena_alloc(c->arena, length + 1u);
    node_key_copy(node, i, key);
    c->items[c->count++] = (struct btree_place){ key, length, node_row(node, i) };
}

/* Down to the node above the leaf that covers the bound, SHARED. Nothing is held and parent->frame is NULL when the root is a leaf. */
static enum status parent_fetch(const struct btree *tree, const struct bound *bound, struct page_ref *parent)
{
    struct page_ref at, child;
    uint32_t next;
    uint16_t level;
    enum status status = meta_fetch(tree, LATCH_SHARED, &at, &next, &level);
    parent->frame = NULL;
    if (status || level == 0) {
        if (!status)
            pool_release(&at);
        return status;
    }
    for (;; level--) {
        status = node_fetch(tree, next, level, LATCH_SHARED, &child);
        pool_release(&at);
        if (status)
            return status;
        at = child;
        if (level == 1)
            break;
        next = node_child(node_of(&at), node_child_index(node_of(&at), bound));
    }
    *parent = at;
    return STATUS_OK;
}

enum status btree_cuts(const struct btree *tree, struct arena *arena, const uint8_t *low, uint32_t low_length, const uint8_t *high, uint32_t high_length,
                       uint32_t leaves, struct btree_place **out, uint32_t *count)
{
    struct cutting c = { .arena = arena, .leaves = leaves };
    struct bound bound = { low ? BOUND_AT : BOUND_FIRST, low, low_length, 0 };
    uint8_t *fence = arena_alloc(arena, BTREE_KEY_MAX);
    enum status status = STATUS_OK;
    for (bool more = true; more && !status;) {
        struct page_ref parent;
        struct latch *whole = tree_latch(tree, LATCH_SHARED);
        status = parent_fetch(tree, &bound, &parent);
        more = !status && parent.frame;
        if (more) {
            const struct node *node = node_of(&parent);
            struct fence end = node_high(node);
            if (!node_slots_sound(node))
                status = index_corrupt(tree, parent.id.page, "A slot points outside the page.");
            for (uint32_t i = node_child_index(node, &bound) + 1u; !status && more && i < node->count; i++) {
                more = !high || node_entry_key_compare(node, i, high, high_length) < 0;
                if (more && ++c.since >= c.leaves) {
                    c.since = 0;
                    cut_here(&c, node, i);
                }
            }
            c.since++;                           /* the next node's first leaf begins at the fence, which is never a cut */
            more = more && !end.open && (!high || key_compare(end.bytes, end.length, high, high_length) < 0);
            if (more) {
                memcpy(fence, end.bytes, end.length);
                bound = (struct bound){ BOUND_AT, fence, end.length, end.row };
            }
            pool_release(&parent);
        }
        tree_unlatch(whole);
    }
    *out = c.items;
    *count = c.count;
    return status;
}
