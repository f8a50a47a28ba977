/* btree/tree.c - a tree is made, dropped, and measured.
 *
 * A new tree is three pages: the meta page, the (empty) list of free leaves, and one empty leaf that is the root. */
#include "btree/node.h"
#include <stdlib.h>

static enum status tree_format(struct btree *tree, xid_t xid)
{
    struct pool *pool = tree->store->pool;
    struct page_ref meta, list, leaf;
    uint32_t first;
    enum status status = pool_extend(pool, tree->file, 3, &first);
    if (status)
        return status;
    ASSERT(first == 0);
    status = pool_fetch(pool, (page_id){ tree->file, BTREE_META_PAGE }, LATCH_EXCLUSIVE, RANK_META, 0, &meta);
    if (status)
        return status;
    status = pool_fetch(pool, (page_id){ tree->file, BTREE_FIRST_LEAF }, LATCH_EXCLUSIVE, RANK_NODE, NODE_LATCH_LEVEL(0), &leaf);
    if (status) {
        pool_release(&meta);
        return status;
    }
    status = pool_fetch(pool, (page_id){ tree->file, BTREE_FREE_PAGE }, LATCH_EXCLUSIVE, RANK_SPACE, 0, &list);
    if (status) {
        pool_release(&leaf);
        pool_release(&meta);
        return status;
    }
    struct mtr mtr;
    mtr_begin(&mtr, tree->store, xid);
    mtr_join(&mtr, &meta);
    mtr_join(&mtr, &leaf);
    mtr_join(&mtr, &list);
    mtr_format(&mtr, meta.bytes, PAGE_BTREE_META);
    uint32_t fields[3] = { META_MAGIC, BTREE_FIRST_LEAF, 0 };
    mtr_write(&mtr, meta.bytes, offsetof(struct meta, magic), fields, sizeof fields);
    mtr_format(&mtr, list.bytes, PAGE_BTREE_META);           /* zeros: nothing is free */
    struct fence open = { NULL, 0, 0, true };
    struct node_image empty = { 0, NULL, 0, NULL, 0, open, open, 0, 0 };
    mtr_format(&mtr, leaf.bytes, PAGE_BTREE_NODE);
    mtr_image(&mtr, leaf.bytes);
    node_encode(leaf.bytes, &empty);
    mtr_commit(&mtr);
    root_remember(tree, BTREE_FIRST_LEAF, 0);
    return STATUS_OK;
}

enum status btree_create(struct btree *tree, struct txn *txn)
{
    xid_t xid;
    enum status status = txn_id(txn, &xid);
    if (!status)
        status = store_new_file(tree->store, txn, &tree->file);
    return status ? status : tree_format(tree, xid);
}

enum status btree_create_fixed(struct btree *tree)
{
    enum status status = store_create_fixed_file(tree->store, tree->file);
    return status ? status : tree_format(tree, 0);
}

void btree_drop(struct btree *tree, struct txn *txn) { store_drop_file(tree->store, txn, tree->file); }

enum status btree_stats(const struct btree *tree, struct btree_stats *out)
{
    struct page_ref ref;
    uint32_t root;
    uint16_t level;
    memset(out, 0, sizeof *out);
    enum status status = pool_file_pages(tree->store->pool, tree->file, &out->pages);
    if (status)
        return status;
    status = meta_fetch(tree, LATCH_SHARED, &ref, &root, &level);
    if (status)
        return status;
    pool_release(&ref);
    out->height = level + 1u;
    status = pool_fetch(tree->store->pool, (page_id){ tree->file, BTREE_FREE_PAGE }, LATCH_SHARED, RANK_SPACE, 0, &ref);
    if (status)
        return status;
    out->free_pages = ((struct free_list *)ref.bytes)->count;
    pool_release(&ref);

    uint8_t *fence = malloc(BTREE_KEY_MAX);
    if (!fence)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    struct bound at = { BOUND_FIRST, NULL, 0, 0 };
    uint32_t page = 0;
    for (;;) {
        status = leaf_at(tree, page, &at, LATCH_SHARED, &ref);
        if (status)
            break;
        const struct node *node = node_of(&ref);
        struct fence high = node_high(node);
        out->leaves++;
        out->entries += node->count;
        page = node->right;
        if (!high.open)
            memcpy(fence, high.bytes, high.length);
        at = (struct bound){ BOUND_AT, fence, high.length, high.row };
        bool last = high.open;
        pool_release(&ref);
        if (last)
            break;
    }
    free(fence);
    return status;
}
