/* course/2-crabbing/solutions/wrong-as-given.c - exercise.c as it was given; copy it back to begin anew (trial: rules).
 *
 * Two descents that latch the whole way. They are right, but for what they hold: every one bars the meta node and the root until
 * its end, and so all others. */
#include "course/2-crabbing/tree.h"

/* ---- From here on: yours ---- */

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
        path->nodes[path->count++] = node;
    }
}
