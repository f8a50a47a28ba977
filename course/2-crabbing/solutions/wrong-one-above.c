/* course/2-crabbing/solutions/wrong-one-above.c - planted: keeps the parent of a full node, but never what is above it. A second
 * split in a row has no parent (trial: alone). */
#include "course/2-crabbing/tree.h"

struct node *descend_shared(struct tree *tree, int key)
{
    struct node *node = tree->meta;
    node_acquire(node, LATCH_SHARED);
    while (!node_is_leaf(node)) {
        struct node *child = node_child(node, key);
        node_acquire(child, LATCH_SHARED);
        node_release(node);
        node = child;
    }
    return node;
}

void descend_exclusive(struct tree *tree, int key, struct path *path)
{
    struct node *node = tree->meta;
    node_acquire(node, LATCH_EXCLUSIVE);
    path->nodes[path->count++] = node;
    while (!node_is_leaf(node)) {
        node = node_child(node, key);
        node_acquire(node, LATCH_EXCLUSIVE);
        while (path->count > (node_is_safe(node) ? 0 : 1)) {
            node_release(path->nodes[0]);
            path->nodes[0] = path->nodes[--path->count];
        }
        path->nodes[path->count++] = node;
    }
}
