/* course/2-crabbing/solutions/wrong-always-lets-go.c - planted: an insert lets go of the parent of every child, of a full one
 * too. The split has no parent to tell (trial: alone). */
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
        while (path->count > 0)
            node_release(path->nodes[--path->count]);
        path->nodes[path->count++] = node;
    }
}
