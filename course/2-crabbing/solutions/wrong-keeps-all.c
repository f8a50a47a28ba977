/* course/2-crabbing/solutions/wrong-keeps-all.c - planted: a search that lets go only at the end. Nothing breaks, and the root is
 * barred (trial: rules). */
#include "course/2-crabbing/tree.h"

struct node *descend_shared(struct tree *tree, int key)
{
    struct node *way[DEPTH_MAX], *node = tree->meta;
    int count = 0;
    node_acquire(node, LATCH_SHARED);
    while (!node_is_leaf(node)) {
        way[count++] = node;
        node = node_child(node, key);
        node_acquire(node, LATCH_SHARED);
    }
    while (count > 0)
        node_release(way[--count]);
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
