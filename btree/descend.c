/* btree/descend.c - ways down from the meta page to a leaf.
 *
 *     descend_shared      SHARED latches, the leaf in the wanted mode: searches, scans, optimistic changes
 *     descend_exclusive   the same with EXCLUSIVE latches all the way (crab.btree_latching = crab)
 *     path_descend        EXCLUSIVE, and keeps every node from the lowest safe one down: a split may follow
 *     descend_to_parent   to the node above the leaf: a leaf is to be taken out
 *
 * 1. The child is latched, then the parent released: what the parent said of the child stays true until we hold it.
 * 2. A page's level never changes, and the root's level stands in the meta page, so the level of every page is known
 *    before it is latched: NODE_LATCH_LEVEL gives its place in the order.
 * 3. Searches skip the meta page when they can: root_hints remembers each tree's root. A hint is believed only if
 *    the page it names is a node of that level whose fences are both open: such a node covers all keys, so starting
 *    from it is right even if the root has moved above it. (Inner nodes and root leaves are never freed.)
 * 4. Numbers of leaves that were read under a latch that is gone may be stale: leaf_at believes a page only if it is
 *    a leaf whose fences take in the place that is looked for: at any time there is one such leaf. */
#include "btree/node.h"
#include "base/hash.h"
#include "base/mutant.h"

_Atomic uint32_t btree_latching = BTREE_OPTIMISTIC;

enum status index_corrupt(const struct btree *tree, uint32_t page, const char *what)
{
    enum status status = error_set(STATUS_INDEX_CORRUPT, "index \"%s\" contains corrupted page at block %u", tree->name ? tree->name : "?", page);
    error_detail("%s", what);
    error_hint("Please REINDEX it.");
    return status;
}

static enum status page_failed(const struct btree *tree, uint32_t page, enum status status)
{
    return status == STATUS_CORRUPT ? index_corrupt(tree, page, "The page cannot be read as it was written.") : status;
}

enum status node_fetch(const struct btree *tree, uint32_t page, uint16_t level, enum latch_mode mode, struct page_ref *out)
{
    enum status status = pool_fetch(tree->store->pool, (page_id){ tree->file, page }, mode, RANK_NODE, NODE_LATCH_LEVEL(level), out);
    if (status)
        return page_failed(tree, page, status);
    if (__builtin_expect(!node_sound(out->bytes) || node_of(out)->level != level, 0)) {
        pool_release(out);
        return index_corrupt(tree, page, "The page is not a node of the level that its parent says.");
    }
    return STATUS_OK;
}

enum status leaf_fetch_if(const struct btree *tree, uint32_t page, enum latch_mode mode, struct page_ref *out, bool *leaf)
{
    *leaf = false;
    enum status status = pool_fetch(tree->store->pool, (page_id){ tree->file, page }, mode, RANK_NODE, NODE_LATCH_LEVEL(0), out);
    if (status)
        return page_failed(tree, page, status);
    *leaf = node_sound(out->bytes) && node_of(out)->level == 0;
    if (!*leaf)
        pool_release(out);
    return STATUS_OK;
}

enum status meta_fetch(const struct btree *tree, enum latch_mode mode, struct page_ref *out, uint32_t *root, uint16_t *level)
{
    enum status status = pool_fetch(tree->store->pool, (page_id){ tree->file, BTREE_META_PAGE }, mode, RANK_META, 0, out);
    if (status)
        return page_failed(tree, BTREE_META_PAGE, status);
    const struct meta *meta = (const struct meta *)out->bytes;
    if (meta->page.kind != PAGE_BTREE_META || meta->magic != META_MAGIC || meta->root_level >= BTREE_LEVELS) {
        pool_release(out);
        return index_corrupt(tree, BTREE_META_PAGE, "The page is not the meta page of a tree.");
    }
    *root = meta->root;
    *level = (uint16_t)meta->root_level;
    return STATUS_OK;
}

/* ---- where the root was last seen (rule 3): 24 bits of the tree's name, 8 of level, 32 of page ---- */

#define ROOT_HINTS 256
static _Atomic uint64_t root_hints[ROOT_HINTS];

static uint64_t hint_hash(const struct btree *tree) { return hash_join((uint64_t)(uintptr_t)tree->store, tree->file); }

void root_remember(const struct btree *tree, uint32_t root, uint16_t level)
{
    uint64_t hash = hint_hash(tree);
    atomic_store_explicit(&root_hints[hash % ROOT_HINTS], (hash >> 40) << 40 | (uint64_t)level << 32 | root, memory_order_relaxed);
}

static enum status root_fetch(const struct btree *tree, enum latch_mode leaf_mode, struct page_ref *out)
{
    uint64_t hash = hint_hash(tree), hint = atomic_load_explicit(&root_hints[hash % ROOT_HINTS], memory_order_relaxed);
    uint32_t root = (uint32_t)hint;
    uint16_t level = (uint16_t)(hint >> 32 & 0xFF);
    enum status status;
    if (root && hint >> 40 == hash >> 40 && level < BTREE_LEVELS) {
        status = pool_fetch(tree->store->pool, (page_id){ tree->file, root }, level ? LATCH_SHARED : leaf_mode, RANK_NODE, NODE_LATCH_LEVEL(level), out);
        if (!status) {
            const struct node *node = node_of(out);
            if (node_sound(out->bytes) && node->level == level && (node->flags & (NODE_LOW_OPEN | NODE_HIGH_OPEN)) == (NODE_LOW_OPEN | NODE_HIGH_OPEN))
                return STATUS_OK;
            pool_release(out);
        }                                                    /* a page that cannot be had: the meta page says what is true */
    }
    struct page_ref meta;
    status = meta_fetch(tree, LATCH_SHARED, &meta, &root, &level);
    if (status)
        return status;
    status = node_fetch(tree, root, level, level ? LATCH_SHARED : leaf_mode, out);
    pool_release(&meta);
    if (!status)
        root_remember(tree, root, level);
    return status;
}

enum status descend_shared(const struct btree *tree, const struct bound *bound, enum latch_mode mode, struct page_ref *leaf)
{
    struct page_ref at, child;
    enum status status = root_fetch(tree, mode, &at);
    if (status)
        return status;
    while (node_of(&at)->level) {
        const struct node *node = node_of(&at);
        uint16_t level = node->level - 1;
        uint32_t next = node_child(node, node_child_index(node, bound));
        if (MUTANT(PARENT_RELEASED_EARLY))
            pool_release(&at);
        status = node_fetch(tree, next, level, level ? LATCH_SHARED : mode, &child);
        pool_release(&at);
        if (status)
            return status;
        at = child;
    }
    *leaf = at;
    return STATUS_OK;
}

/* From the meta page with EXCLUSIVE latches down to `stop`. */
static enum status exclusive_to(const struct btree *tree, const struct bound *bound, uint16_t stop, struct page_ref *out)
{
    struct page_ref at, child;
    uint32_t root;
    uint16_t level;
    enum status status = meta_fetch(tree, LATCH_EXCLUSIVE, &at, &root, &level);
    if (status)
        return status;
    if (level < stop) {
        pool_release(&at);
        out->frame = NULL;
        return STATUS_OK;
    }
    status = node_fetch(tree, root, level, LATCH_EXCLUSIVE, &child);
    pool_release(&at);
    if (status)
        return status;
    at = child;
    while (level > stop) {
        const struct node *node = node_of(&at);
        status = node_fetch(tree, node_child(node, node_child_index(node, bound)), --level, LATCH_EXCLUSIVE, &child);
        pool_release(&at);
        if (status)
            return status;
        at = child;
    }
    *out = at;
    return STATUS_OK;
}

enum status descend_exclusive(const struct btree *tree, const struct bound *bound, struct page_ref *leaf)
{
    return exclusive_to(tree, bound, 0, leaf);
}

enum status descend_to_parent(const struct btree *tree, const struct bound *bound, struct page_ref *parent)
{
    struct page_ref at, child;
    uint32_t root;
    uint16_t level;
    enum status status = meta_fetch(tree, LATCH_SHARED, &at, &root, &level);
    if (status)
        return status;
    if (level == 0) {
        pool_release(&at);
        parent->frame = NULL;
        return STATUS_OK;
    }
    for (uint32_t next = root;;) {
        status = node_fetch(tree, next, level, level == 1 ? LATCH_EXCLUSIVE : LATCH_SHARED, &child);
        pool_release(&at);
        if (status)
            return status;
        at = child;
        if (level == 1)
            break;
        next = node_child(node_of(&at), node_child_index(node_of(&at), bound));
        level--;
    }
    *parent = at;
    return STATUS_OK;
}

enum status leaf_at(const struct btree *tree, uint32_t page, const struct bound *bound, enum latch_mode mode, struct page_ref *leaf)
{
    if (page) {
        bool is_leaf;
        enum status status = leaf_fetch_if(tree, page, mode, leaf, &is_leaf);
        if (status)
            return status;
        if (is_leaf) {
            struct fence low = node_low(node_of(leaf)), high = node_high(node_of(leaf));
            if (MUTANT(FENCE_NOT_LOOKED_AT))
                return STATUS_OK;
            if (bound->kind == BOUND_FIRST ? low.open
                : (low.open || fence_compare(&low, bound->bytes, bound->length, bound->row) <= 0)
                  && (high.open || fence_compare(&high, bound->bytes, bound->length, bound->row) > 0))
                return STATUS_OK;
            pool_release(leaf);
        }
    }
    return descend_shared(tree, bound, mode, leaf);
}

/* ---- the path of a pessimistic insert ---- */

void path_release(struct path *path)
{
    if (path->meta.frame)
        pool_release(&path->meta);
    for (int level = path->root_level; level >= 0; level--)
        if (path->nodes[level].frame)
            pool_release(&path->nodes[level]);
}

/* Safe: takes whatever may come up from below, which can be as long as the longest key allowed. What goes into the leaf is known. */
static bool node_safe(const struct btree *tree, const struct node *node, uint32_t key_length)
{
    if (node->level == 0)
        return node_has_room(node, key_length, BTREE_ENTRIES(tree));
    return node->count < BTREE_ENTRIES(tree) + MUTANT(CHILD_CALLED_SAFE)
        && sizeof(struct slot) + node_fixed_bytes(node->level) + BTREE_KEY_MAX <= node_gap(node) + (uint32_t)node->garbage;
}

enum status path_descend(const struct btree *tree, const struct bound *bound, uint32_t key_length, struct path *path)
{
    uint32_t next;
    memset(path, 0, sizeof *path);
    enum status status = meta_fetch(tree, LATCH_EXCLUSIVE, &path->meta, &next, &path->root_level);
    if (status) {
        path->meta.frame = NULL;
        return status;
    }
    for (int level = path->root_level; level >= 0; level--) {
        status = node_fetch(tree, next, (uint16_t)level, LATCH_EXCLUSIVE, &path->nodes[level]);
        if (status) {
            path->nodes[level].frame = NULL;
            path_release(path);
            return status;
        }
        const struct node *node = node_of(&path->nodes[level]);
        if (node_safe(tree, node, key_length)) {             /* nothing above it will change */
            if (path->meta.frame)
                pool_release(&path->meta);
            for (int above = path->root_level; above > level; above--)
                if (path->nodes[above].frame)
                    pool_release(&path->nodes[above]);
        }
        if (level) {
            path->index[level] = (uint16_t)node_child_index(node, bound);
            next = node_child(node, path->index[level]);
        }
    }
    return STATUS_OK;
}

/* ---- crab.btree_latching = tree ---- */

/* The catalog's trees have latches of their own: a session that is stopped in a tree (crab.step) must not bar who looks. */
#define TREE_LATCHES 256
static struct latch tree_latches[2][TREE_LATCHES] = { [0 ... 1] = { [0 ... TREE_LATCHES - 1] = { .rank = RANK_TREE } } };

struct latch *tree_latch(const struct btree *tree, enum latch_mode mode)
{
    if (atomic_load_explicit(&btree_latching, memory_order_relaxed) != BTREE_TREE)
        return NULL;
    struct latch *latch = &tree_latches[tree->file >= FILE_FIRST_FREE][tree->file % TREE_LATCHES];
    latch_acquire(latch, mode);
    return latch;
}
