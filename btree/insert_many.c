/* btree/insert_many.c - many entries at once, sorted (bulk loads): what belongs on one leaf goes there under one hold and in one record.
 *
 *     descend to the leaf of the first entry, EXCLUSIVE
 *     look:  how many of the coming entries belong on this leaf, find room, and meet no entry with their key?    nothing is changed yet
 *     put:   these, in one mini-transaction
 *     an entry that stopped the look (a full leaf, a key that is there, or may go on in the next leaf) goes in by btree_insert
 *
 * 1. The unique check of an entry is that its key isn't there, under the hold of the first leaf where it can stand (insert.c, rule 1). Whether a row
 *    behind an equal key is live is asked by btree_insert only.
 * 2. Only under crab.btree_latching = optimistic; else every entry goes its own way.
 * 3. A record of many entries has the whole leaf in it, since that is shorter. */
#include "btree/node.h"

#define IMAGE_FROM 64                           /* entries; each costs about 100 bytes of verbs */

static bool belongs(const struct node *node, const struct btree_new *entry)
{
    struct fence high = node_high(node);
    if (high.open)
        return true;
    return entry->check ? key_compare(high.bytes, high.length, entry->key, entry->length) > 0 : fence_compare(&high, entry->key, entry->length, entry->row_id) > 0;
}

/* Where it would stand among the node's own entries; false: it isn't for us (rule 1). */
static bool place(const struct node *node, const struct btree_new *entry, uint32_t *position)
{
    uint64_t row = entry->check ? 0 : entry->row_id;
    if (node->count && node_entry_key_compare(node, node->count - 1u, entry->key, entry->length) < 0) {
        *position = node->count;
        return true;
    }
    *position = node_lower(node, entry->key, entry->length, row);
    if (*position == node->count)
        return true;
    if (entry->check)
        return node_entry_key_compare(node, *position, entry->key, entry->length) != 0;
    return node_row(node, *position) != entry->row_id || node_entry_key_compare(node, *position, entry->key, entry->length) != 0;
}

static bool same_key(const struct btree_new *a, const struct btree_new *b)
{
    return a->length == b->length && bytes_compare(a->key, b->key, a->length) == 0;
}

/* How many of the entries this leaf can take as it is. */
static uint32_t look(const struct btree *tree, const struct node *node, const struct btree_new *entries, uint32_t count)
{
    uint32_t most = BTREE_ENTRIES(tree), room = node_gap(node) + node->garbage, n = 0, position;
    if (!node_slots_sound(node))
        return 0;                               /* btree_insert says what is wrong */
    for (; n < count; n++) {
        const struct btree_new *entry = &entries[n];
        uint32_t need = entry->length <= BTREE_KEY_MAX ? node_need(node, entry->length) : UINT32_MAX;
        if (need > room || node->count + n >= most || !belongs(node, entry) || !place(node, entry, &position))
            break;
        if (n && (entry->check || entries[n - 1].row_id == entry->row_id) && same_key(&entries[n - 1], entry))
            break;
        room -= need;
    }
    return n;
}

static void put(const struct btree *tree, xid_t xid, struct page_ref *leaf, const struct btree_new *entries, uint32_t count)
{
    struct node *node = node_of(leaf);
    struct mtr mtr;
    mtr_begin(&mtr, tree->store, xid);
    mtr_join(&mtr, leaf);
    if (count >= IMAGE_FROM)
        mtr_image(&mtr, leaf->bytes);
    for (uint32_t n = 0; n < count; n++) {
        const struct btree_new *entry = &entries[n];
        uint32_t position;
        place(node, entry, &position);
        node_insert(&mtr, node, position, entry->key, entry->length, entry->row_id, 0);
    }
    mtr_commit(&mtr);
}

enum status btree_insert_many(const struct btree *tree, xid_t xid, const struct btree_new *entries, uint32_t count, const struct btree_unique *unique,
                              uint32_t *failed, uint64_t *conflict)
{
    for (uint32_t at = 0; at < count;) {
        const struct btree_new *entry = &entries[at];
        *failed = at;
        if (atomic_load_explicit(&btree_latching, memory_order_relaxed) == BTREE_OPTIMISTIC && at + 1 < count) {
            struct page_ref leaf;
            struct bound bound = { BOUND_AT, entry->key, entry->length, entry->check ? 0 : entry->row_id };
            enum status status = descend_shared(tree, &bound, LATCH_EXCLUSIVE, &leaf);
            if (status) {
                *failed = at;
                return status;
            }
            uint32_t n = look(tree, node_of(&leaf), entry, count - at);
            if (n)
                put(tree, xid, &leaf, entry, n);
            else
                pool_release(&leaf);
            at += n;
            if (at == count)
                return STATUS_OK;
            entry = &entries[at];
        }
        enum status status = btree_insert(tree, xid, entry->key, entry->length, entry->row_id, entry->check ? unique : NULL, conflict);
        if (status) {
            *failed = at;
            return status;
        }
        at++;
    }
    return STATUS_OK;
}
