/* btree/insert.c - an entry goes in; a full leaf splits, and maybe what stands above it.
 *
 *     try_optimistic   SHARED down, the leaf EXCLUSIVE; gives up if the leaf is full
 *     try_crab         EXCLUSIVE from the top, holding what may have to split; never gives up for want of room
 *
 * crab.btree_latching picks: optimistic runs the first and then, if the leaf was full, the second; crab only the
 * second; tree the second under a latch of the whole tree.
 *
 * 1. A unique check and its insert happen under one hold of the *first* leaf where the key can stand, the leaf that
 *    covers (key, row 0): whoever inserts the same key needs that latch too. Entries with the key may go on in leaves
 *    to the right; they are latched left to right, with the first one held.
 * 2. Nobody waits for a transaction under a latch: if an entry's row is in doubt, all is let go, then txn_wait, then
 *    the insert starts again from the top.
 * 3. A split is planned before it is done: which levels split, where, what goes up (plan_split). Then pages are taken
 *    and the right sibling is latched; then one mtr changes everything, and nothing in it can fail.
 * 4. Entries move right only. A leaf that an append fills (at the end of the tree, or of one customer's orders) is left nearly full, others
 *    split in the middle.
 * 5. With many equal keys the entry's place may be in a later leaf than the first, whose parents we do not hold. If that
 *    one is full, all is let go, room is made there (a split without an insert), and the insert starts again. */
#include "btree/node.h"
#include "base/mutant.h"
#include <stdlib.h>

enum outcome { DONE, FULL, FULL_FURTHER, CONFLICT, WAIT };
struct insert {
    const struct btree *tree;
    xid_t xid;
    const uint8_t *key; uint32_t length; uint64_t row;
    const struct btree_unique *unique;
    uint64_t *conflict;
    xid_t wait_for;
    bool room_only;                             /* rule 5: split the leaf, insert nothing */
    enum outcome outcome;
};

/* ---- pages ---- */

enum status page_take(const struct btree *tree, struct mtr *mtr, uint16_t level, struct page_ref *out)
{
    struct pool *pool = tree->store->pool;
    enum status status;
    if (level == 0) {
        struct page_ref list;
        page_id list_id = { tree->file, BTREE_FREE_PAGE };
        status = pool_fetch(pool, list_id, LATCH_SHARED, RANK_SPACE, 0, &list);
        if (status)
            return status;
        uint32_t first = ((struct free_list *)list.bytes)->first;
        pool_release(&list);
        if (first) {
            status = pool_fetch(pool, list_id, LATCH_EXCLUSIVE, RANK_SPACE, 0, &list);
            if (status)
                return status;
            struct free_list *head = (struct free_list *)list.bytes;
            /* The list ranks below the nodes, so the free page can only be tried. Stale scans may look at it, briefly. */
            if (head->first && pool_fetch_try(pool, (page_id){ tree->file, head->first }, LATCH_EXCLUSIVE, RANK_NODE, NODE_LATCH_LEVEL(0), out) == STATUS_OK) {
                struct node *node = node_of(out);
                if (node->page.kind == PAGE_BTREE_FREE) {
                    uint32_t now[2] = { node->left, head->count - 1 };
                    mtr_join(mtr, &list);
                    mtr_join(mtr, out);
                    mtr_write(mtr, list.bytes, offsetof(struct free_list, first), now, sizeof now);
                    return STATUS_OK;
                }
                pool_release(out);
            }
            pool_release(&list);
        }
    }
    uint32_t page;
    for (int tries = 0; tries < 100; tries++) {
        status = pool_extend(pool, tree->file, 1, &page);
        if (status)
            return status;
        status = pool_fetch_try(pool, (page_id){ tree->file, page }, LATCH_EXCLUSIVE, RANK_NODE, NODE_LATCH_LEVEL(level), out);
        if (status != STATUS_WOULD_BLOCK)
            break;
    }
    if (!status)
        mtr_join(mtr, out);
    return status;
}

/* ---- splits ---- */

struct level_split { uint32_t middle; uint32_t length; uint64_t row; uint8_t separator[BTREE_KEY_MAX]; };
struct split_plan { uint16_t levels; struct level_split at[]; };        /* levels 0 .. levels-1 split */

/* The node's entries with the coming one among them. False: the node is corrupt. */
static bool gather(const struct node *node, const struct item *coming, uint32_t position, struct item *items, uint32_t *count)
{
    if (!node_items(node, items))
        return false;
    *count = node->count;
    if (coming) {
        memmove(items + position + 1, items + position, (node->count - position) * sizeof *items);
        items[position] = *coming;
        ++*count;
    }
    return true;
}

static bool halves_fit(const struct node *node, const struct item *items, uint32_t count, uint32_t middle, const struct level_split *split)
{
    struct fence separator = { split->separator, split->length, split->row, false };
    struct node_image left = { node->level, node_prefix(node), node->prefix_length, items, middle, node_low(node), separator, 0, 0 };
    struct node_image right = { node->level, node_prefix(node), node->prefix_length, items + middle, count - middle, separator, node_high(node), 0, 0 };
    return node_image_bytes(&left) <= PAGE_BYTES && node_image_bytes(&right) <= PAGE_BYTES;
}

/* What parts items[middle - 1] and items[middle]. */
static void separate(const struct node *node, const struct item *items, uint32_t middle, struct level_split *split)
{
    const struct item *left = &items[middle - 1], *right = &items[middle];
    uint32_t length = right->length;
    split->row = right->row;
    if (node->level == 0)
        length = key_separator(left->suffix, left->length, right->suffix, right->length, right->row, &split->row);
    memcpy(split->separator, node_prefix(node), node->prefix_length);
    memcpy(split->separator + node->prefix_length, right->suffix, length);
    split->length = node->prefix_length + length;
    split->middle = middle;
}

static uint32_t middle_at(const struct node *node, const struct item *items, uint32_t count, uint32_t percent)
{
    uint32_t fixed = (uint32_t)sizeof(struct slot) + node_fixed_bytes(node->level), total = 0, sum = 0, middle = 0;
    for (uint32_t i = 0; i < count; i++)
        total += fixed + items[i].length;
    while (middle < count - 1 && sum + (fixed + items[middle].length) / 2 < total / 100 * percent + total % 100 * percent / 100)
        sum += fixed + items[middle++].length;
    return middle < 1 ? 1 : middle;
}

static bool choose_middle(const struct node *node, const struct item *items, uint32_t count, bool append, struct level_split *split)
{
    if (count < 2)
        return false;
    if (append) {
        separate(node, items, middle_at(node, items, count, 95), split);
        if (halves_fit(node, items, count, split->middle, split))
            return true;
    }
    separate(node, items, middle_at(node, items, count, 50), split);
    return halves_fit(node, items, count, split->middle, split);
}

/* Rule 3. Walks up the held path for as long as what comes up does not fit. */
static enum status plan_split(struct insert *in, struct path *path, uint32_t position, struct split_plan **out)
{
    const struct btree *tree = in->tree;
    struct item items[NODE_MAX_ITEMS];
    struct split_plan *plan = malloc(sizeof *plan + (path->root_level + 1u) * sizeof plan->at[0]);
    if (!plan)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    plan->levels = 0;
    const uint8_t *key = in->key;
    uint32_t length = in->length;
    uint64_t row = in->row;
    bool append = true;                         /* at the end of its node, on every level so far: more of the kind will come behind it */
    for (uint16_t level = 0; level <= path->root_level; level++) {
        const struct node *node = node_of(&path->nodes[level]);
        if (level) {
            if (node_has_room(node, length, BTREE_ENTRIES(tree)))
                break;
            position = path->index[level] + 1u;
        }
        struct item coming = { key + node->prefix_length, length - node->prefix_length, 0, row };
        uint32_t count;
        append = append && position == node->count;
        if (!gather(node, level == 0 && in->room_only ? NULL : &coming, position, items, &count)
            || !choose_middle(node, items, count, append, &plan->at[level])) {
            free(plan);
            return index_corrupt(tree, path->nodes[level].id.page, "The node cannot be split.");
        }
        plan->levels++;
        key = plan->at[level].separator;
        length = plan->at[level].length;
        row = plan->at[level].row;
    }
    if (plan->levels == path->root_level + 1 && path->root_level + 1 >= BTREE_LEVELS) {
        free(plan);
        return error_set(STATUS_LIMIT_EXCEEDED, "index \"%s\" is too tall", tree->name);
    }
    if (plan->levels <= path->root_level) {                  /* the one that takes the last separator may be compacted for it */
        const struct page_ref *taker = &path->nodes[plan->levels];
        if (!node_slots_sound(node_of(taker))) {
            free(plan);
            return index_corrupt(tree, taker->id.page, "A slot points outside the page.");
        }
    }
    *out = plan;
    return STATUS_OK;
}

/* One level's split, its pages joined. */
static void split_node(struct mtr *mtr, struct page_ref *left_ref, struct page_ref *right_ref, const struct item *coming_item, uint32_t position,
                       const struct level_split *split)
{
    uint8_t copy_bytes[PAGE_BYTES] __attribute__((aligned(8)));
    struct item items[NODE_MAX_ITEMS];
    uint32_t count;
    memcpy(copy_bytes, left_ref->bytes, PAGE_BYTES);
    const struct node *copy = (const struct node *)copy_bytes;
    bool sound = gather(copy, coming_item, position, items, &count);
    ASSERT(sound);

    struct fence separator = { split->separator, split->length, split->row, false };
    bool leaf = copy->level == 0;
    struct node_image left = { copy->level, node_prefix(copy), copy->prefix_length, items, split->middle, node_low(copy), separator,
                               copy->left, leaf ? right_ref->id.page : 0 };
    struct node_image right = { copy->level, node_prefix(copy), copy->prefix_length, items + split->middle, count - split->middle, separator, node_high(copy),
                                leaf ? left_ref->id.page : 0, copy->right };
    mtr_image(mtr, left_ref->bytes);
    node_encode(left_ref->bytes, &left);
    mtr_format(mtr, right_ref->bytes, PAGE_BTREE_NODE);
    mtr_image(mtr, right_ref->bytes);
    node_encode(right_ref->bytes, &right);
}

/* The leaf of the path is full (or room_only): split it, and what must above it, and insert. Uses the path up. */
static enum status split_and_insert(struct insert *in, struct path *path, uint32_t position)
{
    const struct btree *tree = in->tree;
    struct split_plan *plan = NULL;
    struct page_ref fresh[BTREE_LEVELS], new_root = { 0 }, sibling = { 0 };
    struct mtr mtr;
    enum status status = plan_split(in, path, position, &plan);
    if (status) {
        path_release(path);
        return status;
    }
    bool grows = plan->levels == path->root_level + 1;
    ASSERT(!grows || path->meta.frame);                      /* an unsafe root keeps its parent latched */

    mtr_begin(&mtr, tree->store, in->xid);
    uint32_t right = node_of(&path->nodes[0])->right;
    if (right) {
        status = node_fetch(tree, right, 0, LATCH_EXCLUSIVE, &sibling);
        if (status)
            goto failed;
        mtr_join(&mtr, &sibling);
    }
    for (uint16_t level = 0; level < plan->levels && !status; level++)
        status = page_take(tree, &mtr, level, &fresh[level]);
    if (!status && grows)
        status = page_take(tree, &mtr, path->root_level + 1, &new_root);
    if (status)
        goto failed;

    /* Nothing can fail from here on. */
    for (uint16_t level = 0; level <= path->root_level && level <= plan->levels; level++)
        mtr_join(&mtr, &path->nodes[level]);
    for (uint16_t level = 0; level < plan->levels; level++) {
        const struct level_split *split = &plan->at[level], *below = level ? &plan->at[level - 1] : NULL;
        const uint8_t *key = below ? below->separator : in->key;
        uint32_t prefix = node_of(&path->nodes[level])->prefix_length;
        struct item coming = { key + prefix, (below ? below->length : in->length) - prefix, below ? fresh[level - 1].id.page : 0, below ? below->row : in->row };
        split_node(&mtr, &path->nodes[level], &fresh[level], level == 0 && in->room_only ? NULL : &coming, level ? path->index[level] + 1u : position, split);
    }
    if (right)
        node_set_left(&mtr, node_of(&sibling), fresh[0].id.page);
    const struct level_split *top = &plan->at[plan->levels - 1];
    uint32_t top_page = fresh[plan->levels - 1].id.page;
    if (!grows)
        node_insert(&mtr, node_of(&path->nodes[plan->levels]), path->index[plan->levels] + 1u, top->separator, top->length, top->row, top_page);
    else {
        struct item children[2] = { { NULL, 0, path->nodes[path->root_level].id.page, 0 }, { top->separator, top->length, top_page, top->row } };
        struct fence open = { NULL, 0, 0, true };
        struct node_image image = { path->root_level + 1, NULL, 0, children, 2, open, open, 0, 0 };
        mtr_format(&mtr, new_root.bytes, PAGE_BTREE_NODE);
        mtr_image(&mtr, new_root.bytes);
        node_encode(new_root.bytes, &image);
        uint32_t root[2] = { new_root.id.page, path->root_level + 1u };
        mtr_join(&mtr, &path->meta);
        if (!MUTANT(META_FORGOTTEN))
            mtr_write(&mtr, path->meta.bytes, offsetof(struct meta, root), root, sizeof root);
        root_remember(tree, root[0], (uint16_t)root[1]);
        path->meta.frame = NULL;
    }
    mtr_commit(&mtr);
    for (uint16_t level = 0; level <= path->root_level && level <= plan->levels; level++)
        path->nodes[level].frame = NULL;                     /* released by the mtr; the rest is still ours */
    in->outcome = DONE;
    path_release(path);
    free(plan);
    return STATUS_OK;

failed:
    mtr_cancel(&mtr);
    path_release(path);
    free(plan);
    return status;
}

/* ---- the unique check (rule 1) ---- */

/* Does the leaf that begins at this fence hold nothing below (key, row)... that is: is (key, row) before the fence? */
static bool before_fence(const struct fence *high, const struct insert *in, uint64_t row)
{
    return high->open || fence_compare(high, in->key, in->length, row) > 0;
}

/* `first` is latched EXCLUSIVE and covers (key, 0). Looks at every entry with the key. On outcome DONE *target is the leaf where (key, row)
 * belongs: `first` itself (then target->frame is NULL) or a later one, latched EXCLUSIVE. *there: the very entry exists. */
static enum status unique_check(struct insert *in, struct page_ref *first, struct page_ref *target, bool *there)
{
    struct page_ref current = { 0 }, next;
    struct node *node = node_of(first);
    uint32_t i = node_lower(node, in->key, in->length, 0);
    bool found = false;                                      /* the target, among the leaves met so far */
    enum status status = STATUS_OK;
    target->frame = NULL;
    *there = false;
    in->outcome = DONE;
    for (;;) {
        struct fence high = node_high(node);
        bool is_target = !found && before_fence(&high, in, in->row);
        if (is_target) {
            found = true;
            if (current.frame)
                *target = current;
        }
        for (; i < node->count && node_entry_key_compare(node, i, in->key, in->length) == 0; i++) {
            uint64_t row = node_row(node, i);
            bool live = false;
            xid_t wait_for = XID_NONE;
            if (row == in->row) {
                *there = true;
                continue;
            }
            status = in->unique->alive(in->unique->context, row, &live, &wait_for);
            if (status)
                goto done;
            if (wait_for != XID_NONE) {
                in->outcome = WAIT;
                in->wait_for = wait_for;
                goto done;
            }
            if (live) {
                in->outcome = CONFLICT;
                *in->conflict = row;
                goto done;
            }
        }
        if (i < node->count || high.open || key_compare(high.bytes, high.length, in->key, in->length) > 0)
            break;                                           /* no later leaf can hold the key */
        status = node_fetch(in->tree, node->right, 0, LATCH_EXCLUSIVE, &next);
        if (status)
            goto done;
        if (current.frame && current.frame != target->frame)
            pool_release(&current);
        current = next;
        node = node_of(&current);
        i = 0;
    }
    ASSERT(found);
done:
    if (current.frame && current.frame != target->frame)
        pool_release(&current);
    if ((status || in->outcome != DONE) && target->frame)
        pool_release(target);
    return status;
}

/* ---- inserting ---- */

static enum status put(struct insert *in, struct page_ref *leaf, uint32_t position)
{
    struct node *node = node_of(leaf);
    if (node_gap(node) < node_need(node, in->length) && !node_slots_sound(node)) {
        enum status status = index_corrupt(in->tree, leaf->id.page, "A slot points outside the page.");
        pool_release(leaf);
        return status;
    }
    struct mtr mtr;
    mtr_begin(&mtr, in->tree->store, in->xid);
    mtr_join(&mtr, leaf);
    node_insert(&mtr, node, position, in->key, in->length, in->row, 0);
    mtr_commit(&mtr);
    leaf->frame = NULL;
    in->outcome = DONE;
    return STATUS_OK;
}

static bool entry_is(const struct node *node, uint32_t i, const struct insert *in)
{
    return i < node->count && node_row(node, i) == in->row && node_entry_key_compare(node, i, in->key, in->length) == 0;
}

/* The (first) leaf is latched EXCLUSIVE. Inserts if there is room where the entry belongs; on outcome FULL the leaf stays latched and *position is the place in
 * it; otherwise everything is let go. */
static enum status insert_in_leaf(struct insert *in, struct page_ref *leaf, uint32_t *position)
{
    struct page_ref further = { 0 };
    enum status status = STATUS_OK;
    in->outcome = DONE;
    if (in->unique) {
        bool there;
        status = unique_check(in, leaf, &further, &there);
        if (status || in->outcome != DONE)
            goto done;
        if (there)
            goto done;
        if (MUTANT(UNIQUE_IN_TWO_HOLDS)) {
            pool_unlatch(leaf);
            pool_latch(leaf, LATCH_EXCLUSIVE);
        }
    }
    struct page_ref *target = further.frame ? &further : leaf;
    struct node *node = node_of(target);
    __builtin_prefetch((const uint8_t *)node + node->data_start - 32, 1);     /* where the entry will stand */
    *position = node_lower(node, in->key, in->length, in->row);
    if (entry_is(node, *position, in))
        goto done;
    if (!node_has_room(node, in->length, BTREE_ENTRIES(in->tree))) {
        in->outcome = further.frame ? FULL_FURTHER : FULL;
        if (in->outcome == FULL)
            return STATUS_OK;
        goto done;
    }
    status = put(in, target, *position);
done:
    if (further.frame)
        pool_release(&further);
    if (leaf->frame)
        pool_release(leaf);
    return status;
}

static struct bound insert_bound(const struct insert *in)
{
    return (struct bound){ BOUND_AT, in->key, in->length, in->unique && !in->room_only ? 0 : in->row };
}

static enum status try_optimistic(struct insert *in)
{
    struct page_ref leaf;
    struct bound bound = insert_bound(in);
    uint32_t position;
    enum status status = descend_shared(in->tree, &bound, LATCH_EXCLUSIVE, &leaf);
    if (status)
        return status;
    status = insert_in_leaf(in, &leaf, &position);
    if (!status && in->outcome == FULL)
        pool_release(&leaf);
    return status;
}

static enum status try_crab(struct insert *in)
{
    struct path path;
    struct bound bound = insert_bound(in);
    uint32_t position = 0;
    enum status status = path_descend(in->tree, &bound, in->length, &path);
    if (status)
        return status;
    if (in->room_only) {
        in->outcome = DONE;
        if (node_has_room(node_of(&path.nodes[0]), in->length, BTREE_ENTRIES(in->tree)) || node_of(&path.nodes[0])->count < 2) {
            path_release(&path);
            return STATUS_OK;
        }
        return split_and_insert(in, &path, 0);
    }
    status = insert_in_leaf(in, &path.nodes[0], &position);
    if (!status && in->outcome == FULL)
        return split_and_insert(in, &path, position);
    path_release(&path);
    return status;
}

/* ---- the three ways (crab.btree_latching) ---- */

static enum status insert_optimistic(struct insert *in)
{
    enum status status = try_optimistic(in);
    return !status && in->outcome == FULL ? try_crab(in) : status;
}

static enum status insert_crab(struct insert *in) { return try_crab(in); }

static enum status insert_tree(struct insert *in)
{
    struct latch *whole = tree_latch(in->tree, LATCH_EXCLUSIVE);         /* NULL if the setting changed just now: the finer latches suffice */
    enum status status = try_crab(in);
    tree_unlatch(whole);
    return status;
}

static enum status insert_once(struct insert *in)
{
    switch ((enum btree_latching)atomic_load_explicit(&btree_latching, memory_order_relaxed)) {
    case BTREE_TREE: return insert_tree(in);
    case BTREE_CRAB: return insert_crab(in);
    default:         return insert_optimistic(in);
    }
}

enum status btree_key_too_long(const struct btree *tree, uint32_t length)
{
    enum status status = error_set(STATUS_LIMIT_EXCEEDED, "index row size %u exceeds btree version 4 maximum %u for index \"%s\"",
                                   length, (unsigned)BTREE_KEY_MAX, tree->name ? tree->name : "?");
    error_hint("Values larger than 1/6 of a buffer page cannot be indexed.\nConsider a function index of an MD5 hash of the value, or use full text indexing.");
    return status;
}

/* Rule 5. */
static enum status make_room(struct insert *in)
{
    struct latch *whole = tree_latch(in->tree, LATCH_EXCLUSIVE);
    in->room_only = true;
    enum status status = try_crab(in);
    in->room_only = false;
    tree_unlatch(whole);
    return status;
}

enum status btree_insert(const struct btree *tree, xid_t xid, const uint8_t *key, uint32_t key_length, uint64_t row_id,
                         const struct btree_unique *unique, uint64_t *conflict)
{
    if (key_length > BTREE_KEY_MAX)
        return btree_key_too_long(tree, key_length);
    ASSERT(row_id != UINT64_MAX);
    struct insert in = { .tree = tree, .xid = xid, .key = key ? key : (const uint8_t *)"", .length = key_length, .row = row_id, .unique = unique, .conflict = conflict };
    for (;;) {
        enum status status = insert_once(&in);
        if (status)
            return status;
        switch (in.outcome) {
        case DONE:     return STATUS_OK;
        case CONFLICT: return STATUS_UNIQUE_VIOLATION;
        case WAIT:                                           /* rule 2 */
            status = txn_wait(unique->txn, in.wait_for);
            if (status)
                return status;
            break;
        case FULL:
        case FULL_FURTHER:                                   /* rule 5 */
            status = make_room(&in);
            if (status)
                return status;
            break;
        }
    }
}
