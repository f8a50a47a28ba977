/* course/2-crabbing/solutions/wrong-upgrade.c - planted: an insert comes down as a search does, lets go of its leaf and latches
 * that anew. The leaf may have split meanwhile (trial: alone). */
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
    struct node *leaf = descend_shared(tree, key);
    node_release(leaf);
    node_acquire(leaf, LATCH_EXCLUSIVE);
    path->nodes[path->count++] = leaf;
}
