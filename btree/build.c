/* btree/build.c - a tree made bottom-up from entries that come sorted (CREATE INDEX).
 *
 * Each level has a *stage*: entries that wait to become a node. When a stage has more than a node should hold (90 %), its
 * beginning becomes a node, the separator behind it goes up to the next level's stage together with the number
 * of the node to come, and the rest moves down. A node's number is given out when the node before it is written, so that the right
 * link is known. How much a node can hold hangs on the prefix that its fences share, and so on where it ends: emit_node
 * tries the longest beginning first.
 *
 * Nobody else uses the tree meanwhile (its maker has not committed). Each node is one mtr; the meta page is pointed at
 * the root in the last one. */
#include "btree/node.h"
#include <stdlib.h>

#define FILL_PERCENT 90

struct stage {
    struct item *items;                         /* suffix: offset into bytes, until the node is made */
    uint32_t *offsets;
    uint32_t count, capacity;
    uint8_t *bytes; size_t bytes_used, bytes_capacity;
    size_t key_bytes;                           /* of all items */
    uint8_t *low; uint32_t low_length; uint64_t low_row; bool low_open;
    uint32_t page, left;                        /* the node to come; its left neighbour */
};

struct btree_build {
    struct btree tree;
    xid_t xid;
    uint16_t levels;
    uint64_t entries;
    struct stage stages[BTREE_LEVELS];
};

static enum status add(struct btree_build *build, uint16_t level, const uint8_t *key, uint32_t length, uint64_t row, uint32_t child);

static enum status stage_open(struct btree_build *build, uint16_t level, uint32_t page)
{
    struct stage *stage = &build->stages[level];
    stage->low_open = true;
    stage->page = page;
    stage->low = malloc(BTREE_KEY_MAX);
    build->levels = level + 1;
    return stage->low ? STATUS_OK : error_set(STATUS_OUT_OF_MEMORY, NULL);
}

enum status btree_build_begin(const struct btree *tree, xid_t xid, struct btree_build **out)
{
    struct page_ref meta;
    uint32_t root;
    uint16_t level;
    enum status status = meta_fetch(tree, LATCH_SHARED, &meta, &root, &level);
    if (status)
        return status;
    pool_release(&meta);
    if (root != BTREE_FIRST_LEAF || level != 0)
        return error_set(STATUS_INTERNAL, "index \"%s\" is not empty", tree->name ? tree->name : "?");
    struct btree_build *build = calloc(1, sizeof *build);
    if (!build)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    build->tree = *tree;
    build->xid = xid;
    status = stage_open(build, 0, BTREE_FIRST_LEAF);
    if (status) {
        btree_build_abandon(build);
        return status;
    }
    *out = build;
    return STATUS_OK;
}

void btree_build_abandon(struct btree_build *build)
{
    for (int level = 0; level < BTREE_LEVELS; level++) {
        struct stage *stage = &build->stages[level];
        free(stage->items);
        free(stage->offsets);
        free(stage->bytes);
        free(stage->low);
    }
    free(build);
}

/* The first `count` staged entries as a node that ends at `high`. */
static struct node_image image_of(struct stage *stage, uint16_t level, uint32_t count, const struct fence *high, uint32_t right)
{
    struct fence low = { stage->low, stage->low_length, stage->low_row, stage->low_open };
    return (struct node_image){ level, NULL, 0, stage->items, count, low, *high, level ? 0 : stage->left, level ? 0 : right };
}

static enum status write_node(struct btree_build *build, uint32_t page, const struct node_image *image, bool root)
{
    const struct btree *tree = &build->tree;
    struct page_ref ref, meta = { 0 };
    uint32_t old_root;
    uint16_t old_level;
    enum status status = STATUS_OK;
    if (root) {
        status = meta_fetch(tree, LATCH_EXCLUSIVE, &meta, &old_root, &old_level);
        if (status)
            return status;
    }
    status = pool_fetch(tree->store->pool, (page_id){ tree->file, page }, LATCH_EXCLUSIVE, RANK_NODE, NODE_LATCH_LEVEL(image->level), &ref);
    if (status) {
        if (meta.frame)
            pool_release(&meta);
        return status;
    }
    struct mtr mtr;
    mtr_begin(&mtr, tree->store, build->xid);
    mtr_join(&mtr, &ref);
    mtr_format(&mtr, ref.bytes, PAGE_BTREE_NODE);
    mtr_image(&mtr, ref.bytes);
    node_encode(ref.bytes, image);
    if (root) {
        uint32_t fields[2] = { page, image->level };
        mtr_join(&mtr, &meta);
        mtr_write(&mtr, meta.bytes, offsetof(struct meta, root), fields, sizeof fields);
        root_remember(tree, page, image->level);
    }
    mtr_commit(&mtr);
    return STATUS_OK;
}

static void resolve(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        stage->items[i].suffix = stage->bytes + stage->offsets[i];
}

static uint32_t separator_at(struct stage *stage, uint16_t level, uint32_t at, uint64_t *row)
{
    const struct item *left = &stage->items[at - 1], *right = &stage->items[at];
    *row = right->row;
    return level ? right->length : key_separator(left->suffix, left->length, right->suffix, right->length, right->row, row);
}

/* The stage is over-full: writes its beginning as a node. */
static enum status emit_node(struct btree_build *build, uint16_t level)
{
    struct stage *stage = &build->stages[level];
    uint32_t limit = BTREE_ENTRIES(&build->tree), count = stage->count - 1, target = PAGE_BYTES / 100 * FILL_PERCENT;
    struct fence high = { NULL, 0, 0, false };
    resolve(stage);
    if (count > limit)
        count = limit;
    for (;; count--) {
        ASSERT(count >= 1);
        high.length = separator_at(stage, level, count, &high.row);
        high.bytes = stage->items[count].suffix;
        struct node_image image = image_of(stage, level, count, &high, 0);
        uint32_t bytes = node_image_bytes(&image);
        if (bytes <= target || (count == 1 && bytes <= PAGE_BYTES))
            break;
    }
    uint32_t page = stage->page, next;
    enum status status = pool_extend(build->tree.store->pool, build->tree.file, 1, &next);
    if (status)
        return status;
    struct node_image image = image_of(stage, level, count, &high, next);
    status = write_node(build, page, &image, false);
    if (status)
        return status;

    if (level + 1u >= BTREE_LEVELS)
        return error_set(STATUS_LIMIT_EXCEEDED, "index \"%s\" is too tall", build->tree.name);
    if (build->levels == level + 1) {                        /* the first node of a level is the first child of the next */
        uint32_t above;
        status = pool_extend(build->tree.store->pool, build->tree.file, 1, &above);
        if (!status)
            status = stage_open(build, level + 1, above);
        if (!status)
            status = add(build, level + 1, NULL, 0, 0, page);
        if (status)
            return status;
    }
    status = add(build, level + 1, high.bytes, high.length, high.row, next);
    if (status)
        return status;

    memcpy(stage->low, high.bytes, high.length);
    stage->low_length = high.length;
    stage->low_row = high.row;
    stage->low_open = false;
    stage->left = page;
    stage->page = next;
    for (uint32_t i = 0; i < count; i++)
        stage->key_bytes -= stage->items[i].length;
    uint32_t cut = stage->offsets[count];
    stage->count -= count;
    memmove(stage->bytes, stage->bytes + cut, stage->bytes_used - cut);
    stage->bytes_used -= cut;
    for (uint32_t i = 0; i < stage->count; i++) {
        stage->items[i] = stage->items[i + count];
        stage->offsets[i] = stage->offsets[i + count] - cut;
    }
    return STATUS_OK;
}

static enum status add(struct btree_build *build, uint16_t level, const uint8_t *key, uint32_t length, uint64_t row, uint32_t child)
{
    struct stage *stage = &build->stages[level];
    if (stage->count == stage->capacity) {
        uint32_t capacity = stage->capacity ? stage->capacity * 2 : 1024;
        struct item *items = realloc(stage->items, capacity * sizeof *items);
        if (items)
            stage->items = items;
        uint32_t *offsets = realloc(stage->offsets, capacity * sizeof *offsets);
        if (offsets)
            stage->offsets = offsets;
        if (!items || !offsets)
            return error_set(STATUS_OUT_OF_MEMORY, NULL);
        stage->capacity = capacity;
    }
    if (!stage->bytes || stage->bytes_used + length > stage->bytes_capacity) {
        size_t capacity = stage->bytes_capacity ? stage->bytes_capacity * 2 : 2 * PAGE_BYTES;
        while (capacity < stage->bytes_used + length)
            capacity *= 2;
        uint8_t *bytes = realloc(stage->bytes, capacity);
        if (!bytes)
            return error_set(STATUS_OUT_OF_MEMORY, NULL);
        stage->bytes = bytes;
        stage->bytes_capacity = capacity;
    }
    if (length)
        memcpy(stage->bytes + stage->bytes_used, key, length);
    stage->items[stage->count] = (struct item){ NULL, length, child, row };
    stage->offsets[stage->count++] = (uint32_t)stage->bytes_used;
    stage->bytes_used += length;
    stage->key_bytes += length;

    /* Would it all still fit, if the node went on up to the newest key? (It can hold more the longer the shared prefix.) */
    uint32_t each = (uint32_t)sizeof(struct slot) + node_fixed_bytes(level);
    size_t prefix = stage->low_open ? 0 : key_common(stage->low, stage->low_length, stage->bytes + stage->offsets[stage->count - 1], length);
    size_t bytes = sizeof(struct node) + stage->low_length + length + (size_t)stage->count * each + stage->key_bytes - prefix * stage->count;
    while (stage->count > 2 && (bytes > PAGE_BYTES / 100 * FILL_PERCENT || stage->count > BTREE_ENTRIES(&build->tree))) {
        enum status status = emit_node(build, level);
        if (status)
            return status;
        prefix = key_common(stage->low, stage->low_length, stage->bytes + stage->offsets[stage->count - 1], length);
        bytes = sizeof(struct node) + stage->low_length + length + (size_t)stage->count * each + stage->key_bytes - prefix * stage->count;
    }
    return STATUS_OK;
}

enum status btree_build_add(struct btree_build *build, const uint8_t *key, uint32_t key_length, uint64_t row_id)
{
    struct stage *stage = &build->stages[0];
    if (key_length > BTREE_KEY_MAX)
        return btree_key_too_long(&build->tree, key_length);
    if (stage->count) {
        uint32_t last = stage->count - 1;
        const uint8_t *before = stage->bytes ? stage->bytes + stage->offsets[last] : (const uint8_t *)"";   /* all empty so far */
        int order = key_compare(before, stage->items[last].length, key, key_length);
        if (order > 0 || (order == 0 && stage->items[last].row >= row_id))
            return error_set(STATUS_INTERNAL, "entries for index \"%s\" are not sorted", build->tree.name ? build->tree.name : "?");
    }
    build->entries++;
    return add(build, 0, key, key_length, row_id, 0);
}

/* What is left in a stage becomes its level's last nodes; the last of the top level is the root. */
static enum status finish(struct btree_build *build)
{
    struct fence open = { NULL, 0, 0, true };
    for (uint16_t level = 0; level < build->levels; level++) {
        struct stage *stage = &build->stages[level];
        for (;;) {
            resolve(stage);
            struct node_image image = image_of(stage, level, stage->count, &open, 0);
            if (stage->count <= BTREE_ENTRIES(&build->tree) && node_image_bytes(&image) <= PAGE_BYTES) {
                enum status status = write_node(build, stage->page, &image, level + 1 == build->levels);
                if (status)
                    return status;
                break;
            }
            enum status status = emit_node(build, level);    /* may open the next level */
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}

enum status btree_build_end(struct btree_build *build)
{
    enum status status = finish(build);
    btree_build_abandon(build);
    return status;
}
