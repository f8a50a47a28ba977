/* btree/print.c - draws a tree, as indented text or as a Graphviz graph.
 *
 *     level 1 page 5, 2 entries, 16 bytes free: -inf .. +inf
 *       -inf
 *       level 0 page 2 <- 0 -> 4, 3 entries, ...: -inf .. 8000002a
 *         80000001 (1,2)
 *
 * Keys are shown as text where they are all printable, else in hex with the text in them in quotes; long ones are cut. Nodes are latched SHARED one path at
 * a time, parents first. */
#include "btree/node.h"
#include <stdio.h>
#include <stdlib.h>

uint16_t btree_level_of_latch(uint16_t latch_level) { return (uint16_t)(BTREE_LEVELS - latch_level); }

struct print { const struct btree *tree; struct text_buffer text; bool dot; };

#define SHOWN_BYTES 24

static bool shown_as_text(uint8_t byte) { return byte >= 0x20 && byte < 0x7F && !strchr("\"\\|{}<>", byte); }

/* How many bytes from here on are text. */
static uint32_t text_run(const uint8_t *bytes, uint32_t length)
{
    uint32_t run = 0;
    while (run < length && shown_as_text(bytes[run]))
        run++;
    return run;
}

static void put_key(struct print *print, const uint8_t *bytes, uint32_t length)
{
    uint32_t shown = length < SHOWN_BYTES ? length : SHOWN_BYTES, run;
    if (!length)
        text_buffer_puts(&print->text, "''");
    else if (text_run(bytes, length) == length)
        text_buffer_printf(&print->text, "%.*s", (int)shown, (const char *)bytes);
    else
        for (uint32_t i = 0; i < shown; i += run) {
            run = text_run(bytes + i, shown - i);
            if (run >= 3)                                        /* fewer may be a number's bytes just as well */
                text_buffer_printf(&print->text, "'%.*s'", (int)run, (const char *)bytes + i);
            else {
                text_buffer_printf(&print->text, "%02x", bytes[i]);
                run = 1;
            }
        }
    if (length > SHOWN_BYTES)
        text_buffer_puts(&print->text, "...");
}

static void put_row(struct print *print, uint64_t row)
{
    text_buffer_printf(&print->text, "(%llu,%u)", (unsigned long long)(row >> 16), (unsigned)(row & 0xFFFF));
}

static void put_fence(struct print *print, const struct fence *fence, const char *open)
{
    if (fence->open)
        text_buffer_puts(&print->text, open);
    else {
        put_key(print, fence->bytes, fence->length);
        if (fence->row)
            put_row(print, fence->row);
    }
}

static void put_entry(struct print *print, const struct node *node, uint32_t i, uint8_t *key)
{
    if (!node_slot_sound(node, i)) {
        text_buffer_puts(&print->text, "?");
        return;
    }
    node_key_copy(node, i, key);
    put_key(print, key, node_key_length(node, i));
    if (node->level == 0) {
        text_buffer_putc(&print->text, ' ');
        put_row(print, node_row(node, i));
    } else if (node_row(node, i))
        put_row(print, node_row(node, i));
}

static void indent(struct print *print, int depth)
{
    for (int i = 0; i < depth; i++)
        text_buffer_puts(&print->text, "  ");
}

static void put_text(struct print *print, const struct page_ref *ref, int depth)
{
    const struct node *node = node_of(ref);
    struct fence low = node_low(node), high = node_high(node);
    indent(print, depth);
    text_buffer_printf(&print->text, "level %u page %u", node->level, ref->id.page);
    if (node->level == 0)
        text_buffer_printf(&print->text, " <- %u -> %u", node->left, node->right);
    text_buffer_printf(&print->text, ", %u entries, %u bytes free, prefix %u: ", node->count, node_gap(node) + node->garbage, node->prefix_length);
    put_fence(print, &low, "-inf");
    text_buffer_puts(&print->text, " .. ");
    put_fence(print, &high, "+inf");
    text_buffer_putc(&print->text, '\n');
}

static void put_dot(struct print *print, const struct page_ref *ref, uint8_t *key)
{
    const struct node *node = node_of(ref);
    text_buffer_printf(&print->text, "  p%u [label=\"{page %u|{", ref->id.page, ref->id.page);
    for (uint32_t i = 0; i < node->count; i++) {
        text_buffer_printf(&print->text, "%s<c%u> ", i ? "|" : "", i);
        if (node->level && i == 0)
            text_buffer_puts(&print->text, "-inf");
        else
            put_entry(print, node, i, key);
    }
    text_buffer_puts(&print->text, "}}\"];\n");
    for (uint32_t i = 0; node->level && i < node->count; i++)
        text_buffer_printf(&print->text, "  p%u:c%u -> p%u;\n", ref->id.page, i, node_child(node, i));
    if (node->level == 0 && node->right)
        text_buffer_printf(&print->text, "  p%u -> p%u [style=dashed, constraint=false];\n", ref->id.page, node->right);
}

static enum status print_subtree(struct print *print, uint32_t page, uint16_t level, int depth)
{
    struct page_ref ref;
    enum status status = node_fetch(print->tree, page, level, LATCH_SHARED, &ref);
    if (status)
        return status;
    const struct node *node = node_of(&ref);
    uint8_t *key = malloc(2 * PAGE_BYTES);
    if (!key) {
        pool_release(&ref);
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    }
    if (print->dot)
        put_dot(print, &ref, key);
    else
        put_text(print, &ref, depth);
    for (uint32_t i = 0; i < node->count && !status; i++) {
        if (!print->dot) {
            if (node->level == 0 || i) {
                indent(print, depth + 1);
                put_entry(print, node, i, key);
                text_buffer_putc(&print->text, '\n');
            }
        }
        if (node->level)
            status = print_subtree(print, node_child(node, i), level - 1, depth + 1);
    }
    free(key);
    pool_release(&ref);
    return status;
}

enum status btree_print(const struct btree *tree, struct arena *arena, bool dot, char **out)
{
    struct print print = { .tree = tree, .dot = dot };
    struct page_ref meta;
    uint32_t root;
    uint16_t level;
    text_buffer_open(&print.text, arena);
    enum status status = meta_fetch(tree, LATCH_SHARED, &meta, &root, &level);
    if (status)
        return status;
    if (dot)
        text_buffer_printf(&print.text, "digraph \"%s\" {\n  node [shape=record];\n", tree->name ? tree->name : "btree");
    status = print_subtree(&print, root, level, 0);
    pool_release(&meta);
    if (dot)
        text_buffer_puts(&print.text, "}\n");
    *out = print.text.bytes;
    return status;
}
