/* btree/scan.c - entries in order, forward or backward, one leaf at a time.
 *
 * 1. A step latches one leaf SHARED, copies its matching entries, and lets go. Between steps a scan holds nothing: no
 *    latch, no pin; only a page number to try first, and the *fence* where it goes on. A forward scan's first step takes FIRST_STEP
 *    entries at most, since many scans end early; it goes on in the same leaf then, at the entry that comes next.
 * 2. Forward: everything below the fence was given out; the next leaf is the one that covers it. Tried by the right
 *    link that was read with it, believed only if it does (fences part the key space: there is one such leaf); else found by a descent.
 * 3. Backward: everything at or above the fence was given out; the next leaf is the one that *ends* there. Tried
 *    by the left link, believed only if its high fence is the very fence; else found by a descent. At most one latch is
 *    held and it is waited for while holding none, so a scan going left cannot deadlock with writers going right.
 * 4. Entries never move left and fences part the key space, so no entry that was there all the time is lost or met twice,
 *    however leaves split and go meanwhile. */
#include "btree/node.h"
#include "base/mutant.h"

#define FIRST_STEP 128u

struct btree_scan {
    struct btree tree;
    struct arena *arena;
    const uint8_t *low, *high;                  /* NULL: open */
    uint32_t low_length, high_length;
    uint64_t low_row, high_row;                 /* 0: before all entries of the key */
    bool backward, started, done;
    uint32_t next_page;                         /* rule 2, 3: a guess */
    struct bound next;                          /* AT or BEFORE the fence */
    uint8_t *fence;
    uint64_t *row_ids; const uint8_t **keys; uint32_t *key_lengths;
    uint32_t capacity;
    uint8_t *bytes; size_t bytes_capacity;
    struct btree_judge judge;
};

enum status btree_scan_open(const struct btree *tree, struct arena *arena, const uint8_t *low, uint32_t low_length, const uint8_t *high, uint32_t high_length,
                            bool backward, struct btree_scan **out)
{
    struct btree_scan *scan = arena_new(arena, struct btree_scan);
    scan->tree = *tree;
    scan->arena = arena;
    scan->backward = backward;
    if (low) {
        scan->low = arena_copy(arena, low, low_length);
        scan->low_length = low_length;
    }
    if (high) {
        scan->high = arena_copy(arena, high, high_length);
        scan->high_length = high_length;
    }
    *out = scan;
    return STATUS_OK;
}

enum status btree_scan_between(const struct btree *tree, struct arena *arena, const struct btree_place *low, const struct btree_place *high, bool backward,
                               struct btree_scan **out)
{
    enum status status = btree_scan_open(tree, arena, low ? low->key : NULL, low ? low->length : 0, high ? high->key : NULL, high ? high->length : 0, backward, out);
    if (low)
        (*out)->low_row = low->row_id;
    if (high)
        (*out)->high_row = high->row_id;
    return status;
}

void btree_scan_judge(struct btree_scan *scan, struct btree_judge judge) { scan->judge = judge; }

void btree_scan_close(struct btree_scan *scan) { (void)scan; }       /* its memory is the arena's, and it holds nothing else */

static void make_room(struct btree_scan *scan, uint32_t count, size_t bytes)
{
    if (count > scan->capacity) {
        uint32_t capacity = count < 8 ? 8 : count + count / 4;
        scan->row_ids = arena_alloc(scan->arena, capacity * sizeof *scan->row_ids);
        scan->keys = arena_alloc(scan->arena, capacity * sizeof *scan->keys);
        scan->key_lengths = arena_alloc(scan->arena, capacity * sizeof *scan->key_lengths);
        scan->capacity = capacity;
    }
    if (bytes > scan->bytes_capacity || !scan->bytes) {
        scan->bytes_capacity = bytes + bytes / 4 + 16;
        scan->bytes = arena_alloc(scan->arena, scan->bytes_capacity);
    }
}

#define KEY_SLACK 16

static enum status judged(struct btree_scan *scan, const struct btree_entries *out)
{
    return out->count && scan->judge.judge ? scan->judge.judge(scan->judge.context, out) : STATUS_OK;
}

/* Entries [from, to) of the leaf, which is latched, in the scan's direction: copied, and judged. */
static enum status copy_entries(struct btree_scan *scan, const struct page_ref *leaf, uint32_t from, uint32_t to, struct btree_entries *out)
{
    const struct node *node = node_of(leaf);
    uint32_t count = from < to ? to - from : 0, prefix = node->prefix_length;
    size_t bytes = (size_t)prefix * count;
    for (uint32_t i = from; i < to; i++) {
        if (!node_slot_sound(node, i))
            return index_corrupt(&scan->tree, leaf->id.page, "A slot points outside the page.");
        bytes += node->slots[i].length;
    }
    make_room(scan, count, bytes + KEY_SLACK);
    uint8_t *at = scan->bytes, start[KEY_SLACK];
    const bool short_prefix = prefix <= KEY_SLACK;
    if (short_prefix)
        memcpy(start, node_prefix(node), prefix);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t i = scan->backward ? to - 1 - n : from + n, length = node->slots[i].length;
        const uint8_t *entry = (const uint8_t *)node + node->slots[i].offset;
        memcpy(&scan->row_ids[n], entry, 8);
        scan->keys[n] = at;
        scan->key_lengths[n] = prefix + length;
        if (short_prefix && length <= KEY_SLACK && entry + 8 + KEY_SLACK <= (const uint8_t *)node + PAGE_BYTES) {
            memcpy(at, start, KEY_SLACK);                    /* more than the key, in moves of a fixed size: the next key overwrites it */
            memcpy(at + prefix, entry + 8, KEY_SLACK);
        } else
            node_key_copy(node, i, at);
        at += prefix + length;
    }
    *out = (struct btree_entries){ count, scan->row_ids, scan->keys, scan->key_lengths };
    return MUTANT(JUDGED_UNLATCHED) ? STATUS_OK : judged(scan, out);
}

static void fence_keep(struct btree_scan *scan, enum bound_kind kind, const struct fence *fence)
{
    if (!scan->fence)
        scan->fence = arena_alloc(scan->arena, BTREE_KEY_MAX);
    memcpy(scan->fence, fence->bytes, fence->length);
    scan->next = (struct bound){ kind, scan->fence, fence->length, fence->row };
}

/* ---- forward ---- */

static enum status forward(struct btree_scan *scan, struct btree_entries *out)
{
    struct page_ref leaf;
    enum status status;
    if (!scan->started) {
        struct bound first = { scan->low ? BOUND_AT : BOUND_FIRST, scan->low, scan->low_length, scan->low_row };
        status = descend_shared(&scan->tree, &first, LATCH_SHARED, &leaf);
    } else
        status = leaf_at(&scan->tree, scan->next_page, &scan->next, LATCH_SHARED, &leaf);
    if (status)
        return status;
    const struct node *node = node_of(&leaf);
    struct fence high = node_high(node);
    uint32_t from = 0, to = node->count;
    if (scan->started)
        from = node_lower(node, scan->next.bytes, scan->next.length, scan->next.row);     /* the leaf may have taken a range on its left */
    else if (scan->low)
        from = node_lower(node, scan->low, scan->low_length, scan->low_row);
    if (scan->high && (high.open || fence_compare(&high, scan->high, scan->high_length, scan->high_row) >= 0)) {
        if (scan->high_row)
            to = node_lower(node, scan->high, scan->high_length, scan->high_row);
        else if (from == node->count || node_entry_key_compare(node, from, scan->high, scan->high_length) >= 0)
            to = from;                          /* none, or one: most scans look for one key */
        else if (from + 1 == node->count || node_entry_key_compare(node, from + 1, scan->high, scan->high_length) >= 0)
            to = from + 1;
        else
            to = node_lower(node, scan->high, scan->high_length, 0);
        to = to < from ? from : to;
        scan->done = true;
    }
    if (high.open)
        scan->done = true;
    const bool partly = !scan->started && from + FIRST_STEP < to;
    if (partly) {
        to = from + FIRST_STEP;
        scan->done = false;
    }
    scan->started = true;
    status = copy_entries(scan, &leaf, from, to, out);
    if (!status && partly) {
        uint8_t key[BTREE_KEY_MAX];
        if (node_slot_sound(node, to) && node_key_length(node, to) <= BTREE_KEY_MAX) {
            node_key_copy(node, to, key);
            scan->next_page = leaf.id.page;
            fence_keep(scan, BOUND_AT, &(struct fence){ key, node_key_length(node, to), node_row(node, to), false });
        } else
            status = index_corrupt(&scan->tree, leaf.id.page, "A slot points outside the page.");
    } else if (!status && !scan->done) {
        scan->next_page = node->right;
        fence_keep(scan, BOUND_AT, &high);
    }
    pool_release(&leaf);
    return status;
}

/* ---- backward ---- */

static enum status leaf_ending_at(struct btree_scan *scan, struct page_ref *leaf)
{
    if (scan->next_page) {
        bool is_leaf;
        enum status status = leaf_fetch_if(&scan->tree, scan->next_page, LATCH_SHARED, leaf, &is_leaf);
        if (status)
            return status;
        if (is_leaf) {
            struct fence high = node_high(node_of(leaf));
            if (!high.open && fence_compare(&high, scan->next.bytes, scan->next.length, scan->next.row) == 0)
                return STATUS_OK;
            pool_release(leaf);
        }
    }
    return descend_shared(&scan->tree, &scan->next, LATCH_SHARED, leaf);
}

static enum status backward(struct btree_scan *scan, struct btree_entries *out)
{
    struct page_ref leaf;
    enum status status;
    if (!scan->started) {
        scan->next = (struct bound){ scan->high ? BOUND_BEFORE : BOUND_LAST, scan->high, scan->high_length, scan->high_row };
        status = descend_shared(&scan->tree, &scan->next, LATCH_SHARED, &leaf);
    } else
        status = leaf_ending_at(scan, &leaf);
    if (status)
        return status;
    const struct node *node = node_of(&leaf);
    struct fence low = node_low(node);
    uint32_t from = 0, to = node->count;
    if (scan->next.kind == BOUND_BEFORE)
        to = node_lower(node, scan->next.bytes, scan->next.length, scan->next.row);
    if (scan->low && (low.open || fence_compare(&low, scan->low, scan->low_length, scan->low_row) <= 0)) {
        from = node_lower(node, scan->low, scan->low_length, scan->low_row);
        scan->done = true;
    }
    if (low.open)
        scan->done = true;
    scan->started = true;
    status = copy_entries(scan, &leaf, from, to, out);
    if (!status && !scan->done) {
        scan->next_page = node->left;
        fence_keep(scan, BOUND_BEFORE, &low);
    }
    pool_release(&leaf);
    return status;
}

enum status btree_scan_next(struct btree_scan *scan, struct btree_entries *out)
{
    *out = (struct btree_entries){ 0 };
    while (!scan->done) {
        struct latch *whole = tree_latch(&scan->tree, LATCH_SHARED);
        enum status status = scan->backward ? backward(scan, out) : forward(scan, out);
        tree_unlatch(whole);
        if (MUTANT(JUDGED_UNLATCHED) && !status)
            status = judged(scan, out);
        if (status)
            return status;
        if (out->count)
            return STATUS_OK;
    }
    *out = (struct btree_entries){ 0 };
    return STATUS_OK;
}
