/* btree/check.c - walks a whole tree and believes nothing.
 *
 * For every node: the level its parent says; the fences its parent says (the separators around it); the prefix that the
 * fences share; slots that point inside the page, heads that fit their keys, entries that rise and lie within the
 * fences, bytes that add up. For the leaves: that the links, followed from the left end, meet the very leaves that the walk from the
 * root meets. For the pages of the file: each is in the tree once, or free once, or was never used.
 *
 * Parents stay latched SHARED while their children are looked at; a leaf's entries are handed to the call-back with the
 * leaf let go (but its parents held: it may latch heap pages, which rank below, and must wait for nothing). Links
 * between children of different parents can change meanwhile, so the caller keeps writers away. */
#include "btree/node.h"
#include <stdio.h>
#include <stdlib.h>

struct check {
    const struct btree *tree;
    enum status (*entry)(void *, const uint8_t *, uint32_t, uint64_t);
    void *context;
    struct btree_stats *stats;
    uint8_t *seen;                              /* a bit a page */
    uint32_t pages;
    uint32_t last_leaf, expected_next;          /* the leaf before, and its right link */
    uint8_t *leaf_copy;
};

static enum status wrong(struct check *check, uint32_t page, const char *what) { return index_corrupt(check->tree, page, what); }

static enum status mark(struct check *check, uint32_t page)
{
    if (page >= check->pages)
        return wrong(check, page, "The page lies behind the end of the file.");
    if (check->seen[page / 8] & 1u << page % 8)
        return wrong(check, page, "The page is met twice.");
    check->seen[page / 8] |= (uint8_t)(1u << page % 8);
    return STATUS_OK;
}

static bool fence_same(const struct fence *a, const struct fence *b)
{
    if (a->open || b->open)
        return a->open == b->open;
    return fence_compare(a, b->bytes, b->length, b->row) == 0;
}

static int entry_order(const uint8_t *a, uint32_t a_length, uint64_t a_row, const uint8_t *b, uint32_t b_length, uint64_t b_row)
{
    int order = key_compare(a, a_length, b, b_length);
    return order ? order : (a_row > b_row) - (a_row < b_row);
}

static enum status check_node(struct check *check, uint32_t page, const struct node *node, const struct fence *low, const struct fence *high)
{
    struct fence own_low = node_low(node), own_high = node_high(node);
    if (!fence_same(low, &own_low))
        return wrong(check, page, "The low fence is not what the parent says.");
    if (!fence_same(high, &own_high))
        return wrong(check, page, "The high fence is not what the parent says.");
    uint32_t prefix = low->open || high->open ? 0 : key_common(low->bytes, low->length, high->bytes, high->length);
    if (node->prefix_length != prefix)
        return wrong(check, page, "The prefix is not what the fences share.");
    if (node->count > BTREE_ENTRIES(check->tree))
        return wrong(check, page, "The node holds more entries than it may.");
    uint32_t bytes = node->garbage + node->low_length + node->high_length;
    for (uint32_t i = 0; i < node->count; i++) {
        if (!node_slot_sound(node, i))
            return wrong(check, page, "A slot points outside the page.");
        const struct slot *slot = &node->slots[i];
        bytes += node_fixed_bytes(node->level) + slot->length;
        if (slot->head != (node->level && i == 0 ? 0 : node_head(node, node_suffix(node, i), slot->length)))
            return wrong(check, page, "A slot's head is not its key's.");
        if (node->skip && i > 0 && (slot->length < node->skip || (i > (node->level ? 1u : 0u) && memcmp(node_suffix(node, i - 1), node_suffix(node, i), node->skip))))
            return wrong(check, page, "The entries do not share what is skipped.");
        if (node->level && i == 0) {
            if (slot->length)
                return wrong(check, page, "The first entry of an inner node has a key.");
            continue;
        }
        uint32_t before = node->level ? 1 : 0;
        if (i > before && entry_order(node_suffix(node, i - 1), node->slots[i - 1].length, node_row(node, i - 1), node_suffix(node, i), slot->length, node_row(node, i)) >= 0)
            return wrong(check, page, "Entries are out of order.");
    }
    if (bytes != PAGE_BYTES - (uint32_t)node->data_start)
        return wrong(check, page, "The bytes of the entries do not add up.");
    uint32_t first = node->level ? 1 : 0;
    if (node->count > first) {
        uint8_t *key = malloc(2 * PAGE_BYTES);
        if (!key)
            return error_set(STATUS_OUT_OF_MEMORY, NULL);
        bool inside = true;
        node_key_copy(node, first, key);
        int low_order = low->open ? -1 : fence_compare(low, key, node_key_length(node, first), node_row(node, first));
        inside = low_order < 0 || (low_order == 0 && node->level == 0);
        node_key_copy(node, node->count - 1u, key);
        inside = inside && (high->open || fence_compare(high, key, node_key_length(node, node->count - 1u), node_row(node, node->count - 1u)) > 0);
        free(key);
        if (!inside)
            return wrong(check, page, "An entry lies outside the fences.");
    }
    return STATUS_OK;
}

static enum status check_leaf(struct check *check, struct page_ref *ref)
{
    const struct node *node = node_of(ref);
    if (node->left != check->last_leaf)
        return wrong(check, ref->id.page, "The left link does not name the leaf before.");
    if (check->last_leaf && check->expected_next != ref->id.page)
        return wrong(check, check->last_leaf, "The right link does not name the leaf behind.");
    check->last_leaf = ref->id.page;
    check->expected_next = node->right;
    check->stats->leaves++;
    check->stats->entries += node->count;
    if (!check->entry)
        return STATUS_OK;
    memcpy(check->leaf_copy, node, PAGE_BYTES);
    pool_release(ref);
    ref->frame = NULL;
    node = (const struct node *)check->leaf_copy;
    uint8_t *key = malloc(2 * PAGE_BYTES);
    if (!key)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < node->count && !status; i++) {
        node_key_copy(node, i, key);
        status = check->entry(check->context, key, node_key_length(node, i), node_row(node, i));
    }
    free(key);
    return status;
}

/* The subtree under a page; what is above it is latched. */
static enum status check_subtree(struct check *check, uint32_t page, uint16_t level, const struct fence *low, const struct fence *high)
{
    struct page_ref ref;
    enum status status = mark(check, page);
    if (!status)
        status = node_fetch(check->tree, page, level, LATCH_SHARED, &ref);
    if (status)
        return status;
    const struct node *node = node_of(&ref);
    status = check_node(check, page, node, low, high);
    if (!status && level == 0)
        status = check_leaf(check, &ref);
    if (!status && level) {
        uint8_t *keys = malloc(2 * BTREE_KEY_MAX);           /* the separators around the child */
        if (!keys)
            status = error_set(STATUS_OUT_OF_MEMORY, NULL);
        if (node->left || node->right)
            status = wrong(check, page, "An inner node has links.");
        for (uint32_t i = 0; i < node->count && !status; i++) {
            struct fence from = *low, to = *high;
            if (i) {
                node_key_copy(node, i, keys);
                from = (struct fence){ keys, node_key_length(node, i), node_row(node, i), false };
            }
            if (i + 1u < node->count) {
                node_key_copy(node, i + 1, keys + BTREE_KEY_MAX);
                to = (struct fence){ keys + BTREE_KEY_MAX, node_key_length(node, i + 1), node_row(node, i + 1), false };
            }
            status = check_subtree(check, node_child(node, i), level - 1, &from, &to);
        }
        free(keys);
    }
    if (ref.frame)
        pool_release(&ref);
    return status;
}

static enum status check_free(struct check *check)
{
    struct pool *pool = check->tree->store->pool;
    struct page_ref ref;
    enum status status = pool_fetch(pool, (page_id){ check->tree->file, BTREE_FREE_PAGE }, LATCH_SHARED, RANK_SPACE, 0, &ref);
    if (status)
        return status;
    uint32_t next = ((struct free_list *)ref.bytes)->first, count = ((struct free_list *)ref.bytes)->count;
    pool_release(&ref);
    for (; next; check->stats->free_pages++) {
        status = mark(check, next);
        if (!status)
            status = pool_fetch(pool, (page_id){ check->tree->file, next }, LATCH_SHARED, RANK_NODE, NODE_LATCH_LEVEL(0), &ref);
        if (status)
            return status;
        uint8_t kind = page_header(ref.bytes)->kind;
        uint32_t page = next;
        next = node_of(&ref)->left;
        pool_release(&ref);
        if (kind != PAGE_BTREE_FREE)
            return wrong(check, page, "A page in the free list is not free.");
    }
    if (count != check->stats->free_pages)
        return wrong(check, BTREE_FREE_PAGE, "The count of free pages is wrong.");
    return STATUS_OK;
}

enum status btree_check(const struct btree *tree, enum status (*entry)(void *context, const uint8_t *key, uint32_t length, uint64_t row_id), void *context,
                        struct btree_stats *out)
{
    struct btree_stats stats = { 0 };
    struct check check = { .tree = tree, .entry = entry, .context = context, .stats = out ? out : &stats };
    struct page_ref meta;
    uint32_t root;
    uint16_t level;
    memset(check.stats, 0, sizeof *check.stats);
    enum status status = pool_file_pages(tree->store->pool, tree->file, &check.pages);
    if (status)
        return status;
    check.stats->pages = check.pages;
    status = meta_fetch(tree, LATCH_SHARED, &meta, &root, &level);
    if (status)
        return status;
    check.stats->height = level + 1u;
    check.seen = calloc(1, check.pages / 8 + 1);
    check.leaf_copy = malloc(PAGE_BYTES);
    if (!check.seen || !check.leaf_copy)
        status = error_set(STATUS_OUT_OF_MEMORY, NULL);
    struct fence open = { NULL, 0, 0, true };
    if (!status)
        status = mark(&check, BTREE_META_PAGE);
    if (!status)
        status = mark(&check, BTREE_FREE_PAGE);
    if (!status)
        status = check_subtree(&check, root, level, &open, &open);
    if (!status && check.expected_next)
        status = wrong(&check, check.last_leaf, "The last leaf has a right link.");
    pool_release(&meta);
    if (!status)
        status = check_free(&check);
    for (uint32_t page = 0; page < check.pages && !status; page++) {        /* what is neither: room that was taken and never used, by a crash or an error */
        struct page_ref ref;
        if (check.seen[page / 8] & 1u << page % 8)
            continue;
        status = pool_pin(tree->store->pool, (page_id){ tree->file, page }, RANK_NODE, NODE_LATCH_LEVEL(0), &ref);
        if (status)
            break;
        pool_latch(&ref, LATCH_SHARED);
        uint8_t kind = page_header(ref.bytes)->kind;
        pool_release(&ref);
        if (kind != PAGE_NONE)
            status = wrong(&check, page, "The page is neither in the tree nor free.");
    }
    free(check.seen);
    free(check.leaf_copy);
    return status;
}
