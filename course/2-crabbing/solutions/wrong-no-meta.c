/* course/2-crabbing/solutions/wrong-no-meta.c - planted: begins at the root and not above it, as if it could not change (trial: root). */
#include "course/2-crabbing/tree.h"

struct node *descend_shared(struct tree *tree, int key)
{
    struct node *node = tree->meta->children[0];
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
        if (node_is_safe(node))
            while (path->count > 0)
                node_release(path->nodes[--path->count]);
        path->nodes[path->count++] = node;
    }
}
