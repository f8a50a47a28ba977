/* btree/lookup.c - the row ids of one key, without a scan: what most statements ask of an index.
 *
 * One descent, one leaf, nothing allocated. Entries of the key that go on in the next leaf, or are more than the caller has room for, are the
 * scan's business: the answer then says so and gives none. */
#include "btree/node.h"

static enum status lookup_in(const struct btree *tree, const uint8_t *key, uint32_t length, uint64_t *row_ids, uint32_t capacity, uint32_t *count,
                           const struct btree_judge *judge)
{
    struct bound bound = { BOUND_AT, key, length, 0 };
    struct page_ref leaf;
    enum status status = descend_shared(tree, &bound, LATCH_SHARED, &leaf);
    if (status)
        return status;
    const struct node *node = node_of(&leaf);
    uint32_t found = 0, i = node_lower(node, key, length, 0);
    for (; i < node->count && found <= capacity && node_entry_is(node, i, key, length); i++, found++)
        if (found < capacity)
            row_ids[found] = node_row(node, i);
    if (i == node->count && found <= capacity) {                 /* does the next leaf begin with the same key, or behind it? */
        struct fence high = node_high(node);
        if (!high.open && key_compare(high.bytes, high.length, key, length) <= 0)
            found = capacity + 1;
    }
    *count = found <= capacity ? found : BTREE_SCAN_IT;
    if (judge && found && found <= capacity)
        status = judge->judge(judge->context, &(struct btree_entries){ .count = found, .row_ids = row_ids });
    pool_release(&leaf);
    return status;
}

enum status btree_lookup_judged(const struct btree *tree, const uint8_t *key, uint32_t key_length, uint64_t *row_ids, uint32_t capacity, uint32_t *count,
                                const struct btree_judge *judge)
{
    struct latch *whole = tree_latch(tree, LATCH_SHARED);
    enum status status = lookup_in(tree, key, key_length, row_ids, capacity, count, judge);
    tree_unlatch(whole);
    return status;
}

enum status btree_lookup(const struct btree *tree, const uint8_t *key, uint32_t key_length, uint64_t *row_ids, uint32_t capacity, uint32_t *count)
{
    return btree_lookup_judged(tree, key, key_length, row_ids, capacity, count, NULL);
}
