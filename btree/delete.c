/* btree/delete.c - entries go; an empty leaf leaves the tree.
 *
 * 1. A delete changes one leaf. If that empties the leaf, it is let go, and leaf_remove_empty comes down anew and latches
 *    parent, left sibling, page, right sibling, in that order.
 * 2. The range of a leaf that goes passes to a neighbour under the same parent: to the left one, or, if it is the first
 *    child, to the right one. An only child stays; so does a leaf whose range a neighbour's page has no room for (a wider
 *    range may share a shorter prefix, and every entry grows). It is used again when keys of its range come.
 * 3. Entries never move left: nothing is merged, nothing borrowed. A scan that stood before or on the leaf goes on
 *    from its fence, and finds whoever has the range now (leaf_at).
 * 4. So a page may be given out again at once: whoever still has its number finds a page that is free or does not cover
 *    the place that it looks for. A free page keeps its kind of place: it becomes a leaf again. */
#include "btree/node.h"
#include "base/mutant.h"
#include <stdlib.h>

static enum status find_leaf(const struct btree *tree, const struct bound *bound, struct page_ref *leaf)
{
    switch ((enum btree_latching)atomic_load_explicit(&btree_latching, memory_order_relaxed)) {
    case BTREE_TREE:
    case BTREE_CRAB: return descend_exclusive(tree, bound, leaf);
    default:         return descend_shared(tree, bound, LATCH_EXCLUSIVE, leaf);
    }
}

/* The leaf on the left of the first child lies under another parent: its number is known from the child only, and may be stale at once. */
static enum status left_of(const struct btree *tree, uint32_t page, struct page_ref *left, bool *good)
{
    struct page_ref ref;
    *good = true;
    left->frame = NULL;
    enum status status = node_fetch(tree, page, 0, LATCH_SHARED, &ref);
    if (status)
        return status;
    uint32_t number = node_of(&ref)->left;
    if (!MUTANT(SIBLING_AWAITED_LEFT))
        pool_release(&ref);
    status = number ? leaf_fetch_if(tree, number, LATCH_EXCLUSIVE, left, good) : STATUS_OK;
    pool_release(&ref);
    if (!number)
        return STATUS_OK;
    if (!status && *good && node_of(left)->right != page) {
        pool_release(left);
        *good = false;
    }
    if (status || !*good)
        left->frame = NULL;
    return status;
}

static enum status remove_empty(const struct btree *tree, xid_t xid, const struct bound *bound)
{
    struct page_ref parent, left = { 0 }, leaf = { 0 }, right = { 0 }, list = { 0 };
    enum status status = descend_to_parent(tree, bound, &parent);
    if (status || !parent.frame)
        return status;
    struct node *above = node_of(&parent);
    uint32_t index = node_child_index(above, bound), page = node_child(above, index);
    if (above->count < 2)
        goto done;
    if (!node_slots_sound(above)) {
        status = index_corrupt(tree, parent.id.page, "A slot points outside the page.");
        goto done;
    }
    if (index > 0)
        status = node_fetch(tree, node_child(above, index - 1), 0, LATCH_EXCLUSIVE, &left);
    else {
        bool good;
        status = left_of(tree, page, &left, &good);
        if (!status && !good)
            goto done;                                       /* it moved on; the empty leaf may stay till the next time */
    }
    if (status) {
        left.frame = NULL;
        goto done;
    }
    status = node_fetch(tree, page, 0, LATCH_EXCLUSIVE, &leaf);
    if (status) {
        leaf.frame = NULL;
        goto done;
    }
    struct node *gone = node_of(&leaf);
    if (gone->count || gone->left != (left.frame ? left.id.page : 0))
        goto done;
    if (gone->right) {
        status = node_fetch(tree, gone->right, 0, LATCH_EXCLUSIVE, &right);
        if (status) {
            right.frame = NULL;
            goto done;
        }
    }
    struct node *taker = index > 0 ? node_of(&left) : right.frame ? node_of(&right) : NULL;
    if (!taker || (index == 0 && right.id.page != node_child(above, 1)) || (index > 0 && node_of(&left)->right != page)) {
        status = index_corrupt(tree, page, "The links of the leaf do not agree with its parent.");
        goto done;
    }
    struct fence low = index > 0 ? node_low(taker) : node_low(gone), high = index > 0 ? node_high(gone) : node_high(taker);
    if (!node_widen_fits(taker, &low, &high))
        goto done;
    status = pool_fetch(tree->store->pool, (page_id){ tree->file, BTREE_FREE_PAGE }, LATCH_EXCLUSIVE, RANK_SPACE, 0, &list);
    if (status) {
        list.frame = NULL;
        goto done;
    }

    struct mtr mtr;
    mtr_begin(&mtr, tree->store, xid);
    mtr_join(&mtr, &parent);
    if (left.frame)
        mtr_join(&mtr, &left);
    mtr_join(&mtr, &leaf);
    if (right.frame)
        mtr_join(&mtr, &right);
    mtr_join(&mtr, &list);
    node_widen(&mtr, taker, &low, &high);
    if (left.frame)
        node_set_right(&mtr, node_of(&left), right.frame ? right.id.page : 0);
    if (right.frame && !MUTANT(LINK_MENDED_ON_ONE_SIDE))
        node_set_left(&mtr, node_of(&right), left.frame ? left.id.page : 0);
    if (index > 0)
        node_remove(&mtr, above, index);
    else {                                                   /* the first entry has no key: give it the second's child */
        uint32_t second = node_child(above, 1);
        mtr_write(&mtr, parent.bytes, above->slots[0].offset, &second, 4);
        node_remove(&mtr, above, 1);
    }
    struct free_list *head = (struct free_list *)list.bytes;
    uint32_t now[2] = { page, head->count + 1 };
    uint8_t kind = PAGE_BTREE_FREE;
    node_set_left(&mtr, gone, head->first);
    mtr_write(&mtr, leaf.bytes, offsetof(struct page_header, kind), &kind, 1);
    mtr_write(&mtr, list.bytes, offsetof(struct free_list, first), now, sizeof now);
    mtr_commit(&mtr);
    return STATUS_OK;

done:
    if (right.frame)
        pool_release(&right);
    if (leaf.frame)
        pool_release(&leaf);
    if (left.frame)
        pool_release(&left);
    pool_release(&parent);
    return status;
}

enum status leaf_remove_empty(const struct btree *tree, xid_t xid, const struct bound *bound)
{
    struct latch *whole = tree_latch(tree, LATCH_EXCLUSIVE);
    enum status status = remove_empty(tree, xid, bound);
    tree_unlatch(whole);
    return status;
}

enum status btree_delete(const struct btree *tree, xid_t xid, const uint8_t *key, uint32_t key_length, uint64_t row_id, bool *found)
{
    struct page_ref leaf;
    struct bound bound = { BOUND_AT, key, key_length, row_id };
    *found = false;
    struct latch *whole = tree_latch(tree, LATCH_EXCLUSIVE);
    enum status status = find_leaf(tree, &bound, &leaf);
    if (status) {
        tree_unlatch(whole);
        return status;
    }
    struct node *node = node_of(&leaf);
    uint32_t i = node_lower(node, key, key_length, row_id);
    bool empty = false;
    if (i < node->count && node_row(node, i) == row_id && node_entry_key_compare(node, i, key, key_length) == 0) {
        struct mtr mtr;
        *found = true;
        empty = node->count == 1;
        mtr_begin(&mtr, tree->store, xid);
        mtr_join(&mtr, &leaf);
        node_remove(&mtr, node, i);
        mtr_commit(&mtr);
    } else
        pool_release(&leaf);
    tree_unlatch(whole);
    return empty ? leaf_remove_empty(tree, xid, &bound) : STATUS_OK;
}

/* ---- vacuum's sweep ---- */

static bool row_listed(const uint64_t *row_ids, size_t count, uint64_t row)
{
    if (row < row_ids[0] || row > row_ids[count - 1])
        return false;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (row_ids[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && row_ids[low] == row;
}

/* One step: the leaf that covers *at (tried by number first) is cleaned; *at and *page move on to the next one, *more says whether there is one. */
static enum status sweep_leaf(const struct btree *tree, uint32_t *page, struct bound *at, uint8_t *buffer, const uint64_t *row_ids, size_t count,
                              uint64_t *removed, bool *emptied, uint8_t *low_buffer, struct bound *low)
{
    struct page_ref leaf;
    uint16_t positions[NODE_MAX_ITEMS];
    uint32_t hits = 0;
    enum latch_mode mode = LATCH_SHARED;
    enum status status;
    *emptied = false;
again:                                                       /* SHARED first: most leaves hold nothing that must go */
    status = leaf_at(tree, *page, at, mode, &leaf);
    if (status)
        return status;
    struct node *node = node_of(&leaf);
    hits = 0;
    for (uint32_t i = 0; i < node->count; i++)
        if (row_listed(row_ids, count, node_row(node, i)))
            positions[hits++] = (uint16_t)i;
    if (hits && mode == LATCH_SHARED) {
        *page = leaf.id.page;
        pool_release(&leaf);
        mode = LATCH_EXCLUSIVE;
        goto again;
    }
    if (hits && !node_slots_sound(node)) {
        status = index_corrupt(tree, leaf.id.page, "A slot points outside the page.");
        pool_release(&leaf);
        return status;
    }
    struct fence own = node_low(node), next = node_high(node);
    *low = (struct bound){ own.open ? BOUND_FIRST : BOUND_AT, low_buffer, own.length, own.row };
    memcpy(low_buffer, own.bytes, own.open ? 0 : own.length);
    *at = (struct bound){ next.open ? BOUND_LAST : BOUND_AT, buffer, next.length, next.row };
    memcpy(buffer, next.bytes, next.open ? 0 : next.length);
    *page = node->right;
    if (hits) {
        struct mtr mtr;
        *emptied = hits == node->count;
        mtr_begin(&mtr, tree->store, 0);
        mtr_join(&mtr, &leaf);
        node_remove_many(&mtr, node, positions, hits);
        mtr_commit(&mtr);
        *removed += hits;
    } else {
        *emptied = node->count == 0;                         /* left behind by someone before us */
        pool_release(&leaf);
    }
    return STATUS_OK;
}

enum status btree_remove_rows(const struct btree *tree, const uint64_t *row_ids, size_t count, uint64_t *removed)
{
    *removed = 0;
    if (!count)
        return STATUS_OK;
    uint8_t *buffer = malloc(2 * BTREE_KEY_MAX);
    if (!buffer)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    struct bound at = { BOUND_FIRST, NULL, 0, 0 }, low;
    uint32_t page = 0;
    enum status status = STATUS_OK;
    while (!status && at.kind != BOUND_LAST) {
        bool emptied;
        struct latch *whole = tree_latch(tree, LATCH_EXCLUSIVE);
        status = sweep_leaf(tree, &page, &at, buffer, row_ids, count, removed, &emptied, buffer + BTREE_KEY_MAX, &low);
        tree_unlatch(whole);
        if (!status && emptied)
            status = leaf_remove_empty(tree, 0, &low);
    }
    free(buffer);
    return status;
}
