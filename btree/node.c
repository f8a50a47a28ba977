/* btree/node.c - one page of a tree: searched, changed, encoded anew.
 *
 * 1. Slots are sorted by (key, row id); heads are a function of the key, so a search first narrows by heads alone
 *    and compares bytes only among entries whose heads are equal.
 * 2. prefix_length is what the fences share, fixed as long as the fences are. A node whose range grows is encoded anew.
 *    skip is what the entries share (first and last tell), kept only where a fence is open. An entry that does not share
 *    it makes the heads be made anew; at every doubling of such a node a better one is looked for.
 * 3. data bytes in use + garbage = PAGE_BYTES - data_start. Garbage goes when a node is encoded anew (node_insert does
 *    that when the gap is short but the room is there).
 * 4. Small changes are logged as verbs; a node encoded anew is logged whole. */
#include "btree/node.h"

bool node_sound(const uint8_t *page)
{
    const struct node *node = (const struct node *)page;
    if (node->page.kind != PAGE_BTREE_NODE || node->level >= BTREE_LEVELS || (node->level && node->count == 0))
        return false;
    if (sizeof(struct node) + node->count * sizeof(struct slot) > node->data_start || node->data_start > PAGE_BYTES)
        return false;
    if (node->low_length > BTREE_KEY_MAX || node->high_length > BTREE_KEY_MAX || node->prefix_length > node->low_length || node->prefix_length > node->high_length)
        return false;
    return node->low_offset >= node->data_start && node->high_offset >= node->data_start
        && (uint32_t)node->low_offset + node->low_length <= PAGE_BYTES && (uint32_t)node->high_offset + node->high_length <= PAGE_BYTES;
}

/* How many of the slots [from, to) have a head below `head`, plus from. In a big node a guess by proportion comes first: keys are
 * often spread evenly, and every halving step in a cold page is a cache miss. From the guess on it goes by doubling steps; the first
 * few lines around it are fetched at once. The loop at the end has no branch to mispredict. */
static inline uint32_t heads_below(const struct node *node, uint32_t from, uint32_t to, uint32_t head)
{
    enum { NEAR = 16 };
    if (to - from > 8 * NEAR) {
        uint32_t first, last, step = NEAR;
        if (node_fence_open(node)) {
            first = node->slots[from].head;
            last = node->slots[to - 1].head;
        } else {                                             /* what the entries lie between: one line, and the pool has asked for it already */
            const uint32_t prefix = node->prefix_length;
            first = key_head(node_prefix(node) + prefix, node->low_length - prefix);
            last = key_head((const uint8_t *)node + node->high_offset + prefix, node->high_length - prefix);
        }
        uint32_t guess = head <= first || last <= first ? from : head >= last ? to - 1
                       : from + (uint32_t)((uint64_t)(head - first) * (to - 1 - from) / (last - first));
        const char *line = (const char *)&node->slots[guess];
        __builtin_prefetch(line - 128);
        __builtin_prefetch(line - 64);
        __builtin_prefetch(line + 64);
        __builtin_prefetch(line + 128);
        if (node->slots[guess].head < head) {
            for (from = guess + 1; from + step < to; from += step + 1, step *= 2)
                if (node->slots[from + step].head >= head) {
                    to = from + step;
                    break;
                }
        } else {
            for (to = guess; from + step < to; to -= step, step *= 2)
                if (node->slots[to - step].head < head) {
                    from = to - step + 1;
                    break;
                }
        }
    }
    const struct slot *base = node->slots + from;
    uint32_t count = to - from;
    while (count > 1) {
        uint32_t half = count / 2;
        base += base[half - 1].head < head ? half : 0;
        count -= half;
    }
    return (uint32_t)(base - node->slots) + (count && base->head < head);
}

/* Entry i against (suffix, row), the prefix being known to be equal. */
static inline int entry_compare(const struct node *node, uint32_t i, const uint8_t *suffix, uint32_t length, uint64_t row)
{
    const struct slot *slot = &node->slots[i];
    if (!node_slot_sound(node, i))
        return -1;
    int order = key_compare(node_suffix(node, i), slot->length, suffix, length);
    if (order)
        return order;
    uint64_t own = node_row(node, i);
    return (own > row) - (own < row);
}

/* <0: the key sorts before all that has the node's prefix; >0: behind; 0: it has the prefix. */
static inline int prefix_compare(const struct node *node, const uint8_t *key, uint32_t length)
{
    uint32_t prefix = node->prefix_length, shorter = length < prefix ? length : prefix;
    if (!prefix)
        return 0;
    int order = bytes_compare(key, node_prefix(node), shorter);
    return order ? order : length < prefix ? -1 : 0;
}

/* The same for the bytes that all entries share behind the prefix; entry i has them. */
static inline int skip_compare(const struct node *node, uint32_t i, const uint8_t *suffix, uint32_t length)
{
    uint32_t skip = node->skip, shorter = length < skip ? length : skip;
    if (!node_slot_sound(node, i) || node->slots[i].length < skip)
        return 0;
    int order = bytes_compare(suffix, node_suffix(node, i), shorter);
    return order ? order : length < skip ? -1 : 0;
}

static uint32_t lower_from(const struct node *node, uint32_t from, const uint8_t *key, uint32_t length, uint64_t row)
{
    int order = prefix_compare(node, key, length);
    if (order)
        return order < 0 ? from : node->count;
    const uint8_t *suffix = key + node->prefix_length;
    uint32_t suffix_length = length - node->prefix_length;
    if (node->skip && from < node->count) {
        order = skip_compare(node, from, suffix, suffix_length);
        if (order)
            return order < 0 ? from : node->count;
    }
    uint32_t head = node_head(node, suffix, suffix_length);
    uint32_t low = heads_below(node, from, node->count, head);
    if (low == node->count || node->slots[low].head != head)
        return low;
    if (entry_compare(node, low, suffix, suffix_length, row) >= 0)
        return low;
    uint32_t high = head == UINT32_MAX ? node->count : heads_below(node, low, node->count, head + 1);
    low++;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (entry_compare(node, middle, suffix, suffix_length, row) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t node_lower(const struct node *node, const uint8_t *key, uint32_t length, uint64_t row)
{
    return lower_from(node, 0, key, length, row);
}

uint32_t node_child_index(const struct node *node, const struct bound *bound)
{
    if (node->count == 1)
        return 0;
    switch (bound->kind) {
    case BOUND_FIRST:  return 0;
    case BOUND_LAST:   return node->count - 1u;
    case BOUND_AT:     return lower_from(node, 1, bound->bytes, bound->length, bound->row + 1) - 1;   /* row ids are below 2^64 - 1 */
    case BOUND_BEFORE: return lower_from(node, 1, bound->bytes, bound->length, bound->row) - 1;
    }
    return 0;
}

int node_entry_key_compare(const struct node *node, uint32_t i, const uint8_t *key, uint32_t length)
{
    int order = prefix_compare(node, key, length);
    if (order)
        return -order;
    if (!node_slot_sound(node, i))
        return -1;
    return key_compare(node_suffix(node, i), node->slots[i].length, key + node->prefix_length, length - node->prefix_length);
}

/* Lengths and heads are looked at first: they lie in the slot, the bytes in another cache line. */
bool node_entry_is(const struct node *node, uint32_t i, const uint8_t *key, uint32_t length)
{
    const uint32_t prefix = node->prefix_length;
    if (length != prefix + node->slots[i].length || prefix_compare(node, key, length) != 0)
        return false;
    const uint8_t *suffix = key + prefix;
    return node->slots[i].head == node_head(node, suffix, length - prefix) && node_slot_sound(node, i)
        && bytes_compare(node_suffix(node, i), suffix, length - prefix) == 0;
}

/* ---- encoding ---- */

static uint32_t image_prefix(const struct node_image *image)
{
    if (image->low.open || image->high.open)
        return 0;
    return key_common(image->low.bytes, image->low.length, image->high.bytes, image->high.length);
}

static uint32_t item_length(const struct node_image *image, uint32_t i, uint32_t prefix)
{
    return image->level && i == 0 ? 0 : image->base_length + image->items[i].length - prefix;
}

uint32_t node_image_bytes(const struct node_image *image)
{
    uint32_t prefix = image_prefix(image), bytes = (uint32_t)sizeof(struct node) + image->low.length + image->high.length;
    bytes += image->count * ((uint32_t)sizeof(struct slot) + node_fixed_bytes(image->level));
    for (uint32_t i = 0; i < image->count; i++)
        bytes += item_length(image, i, prefix);
    return bytes;
}

void node_encode(uint8_t *page, const struct node_image *image)
{
    struct node *node = (struct node *)page;
    uint32_t prefix = image_prefix(image), at = PAGE_BYTES, fixed = node_fixed_bytes(image->level);
    memset(page + sizeof(struct page_header), 0, PAGE_BYTES - sizeof(struct page_header));
    node->level = image->level;
    node->count = (uint16_t)image->count;
    node->left = image->left;
    node->right = image->right;
    node->prefix_length = (uint16_t)prefix;
    node->flags = (image->low.open ? NODE_LOW_OPEN : 0) | (image->high.open ? NODE_HIGH_OPEN : 0);
    if (!image->low.open) {
        at -= image->low.length;
        memcpy(page + at, image->low.bytes, image->low.length);
        node->low_length = (uint16_t)image->low.length;
        node->low_row = image->low.row;
    }
    node->low_offset = (uint16_t)at;
    if (!image->high.open) {
        at -= image->high.length;
        memcpy(page + at, image->high.bytes, image->high.length);
        node->high_length = (uint16_t)image->high.length;
        node->high_row = image->high.row;
    }
    node->high_offset = (uint16_t)at;

    for (uint32_t i = 0; i < image->count; i++) {
        const struct item *item = &image->items[i];
        uint32_t length = item_length(image, i, prefix);
        uint64_t row = image->level && i == 0 ? 0 : item->row;
        ASSERT(at >= fixed + length);
        at -= fixed + length;
        uint8_t *to = page + at;
        if (image->level) {
            memcpy(to, &item->child, 4);
            to += 4;
        }
        memcpy(to, &row, 8);
        to += 8;
        if (length) {
            if (prefix >= image->base_length)
                memcpy(to, item->suffix + (prefix - image->base_length), length);
            else {
                memcpy(to, image->base + prefix, image->base_length - prefix);
                if (item->length)
                    memcpy(to + (image->base_length - prefix), item->suffix, item->length);
            }
        }
        node->slots[i] = (struct slot){ 0, (uint16_t)at, (uint16_t)length };
    }
    uint32_t first = image->level ? 1 : 0;                   /* the first of an inner node has no key */
    if (node_fence_open(node) && image->count > first + 1) {
        const struct slot *low = &node->slots[first], *high = &node->slots[image->count - 1];
        node->skip = (uint16_t)key_common(page + low->offset + fixed, low->length, page + high->offset + fixed, high->length);
    }
    for (uint32_t i = first; i < image->count; i++)
        node->slots[i].head = node_head(node, page + node->slots[i].offset + fixed, node->slots[i].length);
    node->data_start = (uint16_t)at;
    ASSERT(sizeof(struct node) + node->count * sizeof(struct slot) <= at);
}

bool node_slots_sound(const struct node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (!node_slot_sound(node, i))
            return false;
    return true;
}

bool node_items(const struct node *node, struct item *items)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (!node_slot_sound(node, i))
            return false;
        items[i] = (struct item){ node_suffix(node, i), node->slots[i].length, node->level ? node_child(node, i) : 0, node_row(node, i) };
    }
    return true;
}

/* The node as it is, for encoding it anew out of a copy. */
static struct node_image image_of(const struct node *copy, const struct item *items)
{
    return (struct node_image){ copy->level, node_prefix(copy), copy->prefix_length, items, copy->count,
                                node_low(copy), node_high(copy), copy->left, copy->right };
}

/* ---- changes ---- */

static void header_write(struct mtr *mtr, struct node *node, uint16_t count, uint16_t data_start, uint16_t garbage)
{
    uint16_t fields[3] = { count, data_start, garbage };
    mtr_write(mtr, (uint8_t *)node, offsetof(struct node, count), fields, sizeof fields);
}

static void node_compact(struct mtr *mtr, struct node *node)
{
    uint8_t copy[PAGE_BYTES] __attribute__((aligned(8)));
    struct item items[NODE_MAX_ITEMS];
    memcpy(copy, node, PAGE_BYTES);
    bool sound = node_items((struct node *)copy, items);
    ASSERT(sound);
    struct node_image image = image_of((struct node *)copy, items);
    mtr_image(mtr, (uint8_t *)node);
    node_encode((uint8_t *)node, &image);
}

/* Heads anew, behind fewer shared bytes. */
static void node_reskip(struct mtr *mtr, struct node *node, uint32_t skip)
{
    mtr_image(mtr, (uint8_t *)node);
    node->skip = (uint16_t)skip;
    for (uint32_t i = node->level ? 1 : 0; i < node->count; i++)
        node->slots[i].head = node_slot_sound(node, i) ? node_head(node, node_suffix(node, i), node->slots[i].length) : 0;
}

void node_insert(struct mtr *mtr, struct node *node, uint32_t position, const uint8_t *key, uint32_t length, uint64_t row, uint32_t child)
{
    uint32_t suffix_length = length - node->prefix_length, fixed = node_fixed_bytes(node->level);
    const uint8_t *suffix = key + node->prefix_length;
    uint32_t first = node->level ? 1 : 0;
    if (node_gap(node) < sizeof(struct slot) + fixed + suffix_length)
        node_compact(mtr, node);
    if (node_fence_open(node) && node->count >= 16 && (node->count & (node->count - 1)) == 0) {
        uint32_t last = node->count - 1u;
        uint32_t shared = 0;
        if (node_slot_sound(node, first) && node_slot_sound(node, last))
            shared = key_common(node_suffix(node, first), node->slots[first].length, node_suffix(node, last), node->slots[last].length);
        if (shared > node->skip)
            node_reskip(mtr, node, shared);
    }
    if (node->skip && (node->count <= first || skip_compare(node, first, suffix, suffix_length) != 0))
        node_reskip(mtr, node, node->count <= first ? 0 : key_common(suffix, suffix_length, node_suffix(node, first), node->skip));
    uint32_t at = node->data_start - fixed - suffix_length;
    uint8_t entry[12 + BTREE_KEY_MAX];
    if (node->level)
        memcpy(entry, &child, 4);
    memcpy(entry + fixed - 8, &row, 8);
    memcpy(entry + fixed, suffix, suffix_length);
    mtr_write(mtr, (uint8_t *)node, at, entry, fixed + suffix_length);

    uint32_t slot_at = (uint32_t)(offsetof(struct node, slots) + position * sizeof(struct slot));
    if (position < node->count)
        mtr_move(mtr, (uint8_t *)node, slot_at + (uint32_t)sizeof(struct slot), slot_at, (node->count - position) * (uint32_t)sizeof(struct slot));
    struct slot slot = { node_head(node, suffix, suffix_length), (uint16_t)at, (uint16_t)suffix_length };
    mtr_write(mtr, (uint8_t *)node, slot_at, &slot, sizeof slot);
    header_write(mtr, node, node->count + 1, (uint16_t)at, node->garbage);
}

void node_remove(struct mtr *mtr, struct node *node, uint32_t position)
{
    const struct slot slot = node->slots[position];
    uint32_t bytes = node_fixed_bytes(node->level) + slot.length, slot_at = (uint32_t)(offsetof(struct node, slots) + position * sizeof(struct slot));
    uint16_t data_start = node->data_start, garbage = node->garbage;
    if (slot.offset == data_start)
        data_start = (uint16_t)(data_start + bytes);
    else
        garbage = (uint16_t)(garbage + bytes);
    if (position + 1u < node->count)
        mtr_move(mtr, (uint8_t *)node, slot_at, slot_at + (uint32_t)sizeof(struct slot), (node->count - position - 1) * (uint32_t)sizeof(struct slot));
    header_write(mtr, node, node->count - 1, data_start, garbage);
}

void node_remove_many(struct mtr *mtr, struct node *node, const uint16_t *positions, uint32_t count)
{
    if (count <= 16) {
        while (count)
            node_remove(mtr, node, positions[--count]);
        return;
    }
    uint8_t copy[PAGE_BYTES] __attribute__((aligned(8)));
    struct item items[NODE_MAX_ITEMS];
    memcpy(copy, node, PAGE_BYTES);
    bool sound = node_items((struct node *)copy, items);
    ASSERT(sound);
    uint32_t kept = 0;
    for (uint32_t i = 0, next = 0; i < node->count; i++) {
        if (next < count && positions[next] == i)
            next++;
        else
            items[kept++] = items[i];
    }
    struct node_image image = image_of((struct node *)copy, items);
    image.count = kept;
    mtr_image(mtr, (uint8_t *)node);
    node_encode((uint8_t *)node, &image);
}

bool node_widen_fits(const struct node *node, const struct fence *low, const struct fence *high)
{
    struct item items[NODE_MAX_ITEMS];
    if (!node_items(node, items))
        return false;
    struct node_image image = image_of(node, items);
    image.low = *low;
    image.high = *high;
    return node_image_bytes(&image) <= PAGE_BYTES;
}

void node_widen(struct mtr *mtr, struct node *node, const struct fence *low, const struct fence *high)
{
    uint8_t copy[PAGE_BYTES] __attribute__((aligned(8)));
    struct item items[NODE_MAX_ITEMS];
    memcpy(copy, node, PAGE_BYTES);
    bool sound = node_items((struct node *)copy, items);
    ASSERT(sound);
    struct node_image image = image_of((struct node *)copy, items);
    image.low = *low;                           /* these may point into the page: put right if they do */
    image.high = *high;
    uintptr_t page = (uintptr_t)node;
    if ((uintptr_t)low->bytes - page < PAGE_BYTES)
        image.low.bytes = copy + ((uintptr_t)low->bytes - page);
    if ((uintptr_t)high->bytes - page < PAGE_BYTES)
        image.high.bytes = copy + ((uintptr_t)high->bytes - page);
    mtr_image(mtr, (uint8_t *)node);
    node_encode((uint8_t *)node, &image);
}
