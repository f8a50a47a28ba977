/* course/2-crabbing/tree.h - the exercise of lesson 2: the two ways down a small B+Tree in memory.
 *
 *             meta                 the root's parent, so that a new root is made like any other split
 *              |
 *            [ . 20 40 ]           an inner node: children[i] holds keys from keys[i] up to keys[i + 1]; keys[0] counts as -infinity
 *            /   |    \
 *      [5 9] [20 31] [40 44 52]    leaves
 *
 * You write the descents, in exercise.c; tree.c splits, searches a node, and checks what you hold. Latches order from the top
 * down; nobody goes sideways. A node is full with NODE_MAX entries; an insert that meets a full node on its way splits it, and puts
 * the new node into the parent, for which it needs the parent's latch. So a node that isn't full is *safe*: whatever happens
 * below, the parent stays as it is. */
#ifndef COURSE_TREE_H
#define COURSE_TREE_H

#include "base/latch.h"

#define NODE_MAX  3
#define NODES_MAX 64
#define DEPTH_MAX 16

struct node {
    struct latch latch;
    int number;                     /* 0: the meta node */
    int height;                     /* of a leaf 0 */
    int count;
    int keys[NODE_MAX];
    struct node *children[NODE_MAX];/* of inner nodes and the meta node */
};
struct tree { struct node *meta; struct node nodes[NODES_MAX]; int node_count; };

/* The nodes that a thread holds, from above to below. */
struct path { struct node *nodes[DEPTH_MAX]; int count; };

/* ---- Yours ---- */

/* Down to the leaf where `key` would stand: comes back with that leaf latched SHARED and nothing else. On the way never more than two
 * nodes are latched, and none is let go before the next is held. */
struct node *descend_shared(struct tree *, int key);

/* The same for an insert, EXCLUSIVE: comes back with the leaf at the end of `path`, and before it those ancestors that the insert may
 * have to change, all latched, no more and no fewer. The tree lets go of them. */
void descend_exclusive(struct tree *, int key, struct path *);

/* ---- The tree's; each complains if you look into a node that you haven't latched ---- */

void node_acquire(struct node *, enum latch_mode);
void node_release(struct node *);
struct node *node_child(const struct node *, int key);     /* of an inner node, or the meta node; its child to take for this key */
bool node_is_leaf(const struct node *);
bool node_is_safe(const struct node *);

void tree_open(struct tree *);
bool tree_search(struct tree *, int key);
void tree_insert(struct tree *, int key);
void tree_check(struct tree *, const int *keys, int count);/* nobody else is there: holds these keys, each in its place */

extern bool tree_strict;            /* also complain about what is held too long, or let go too soon (tree.c) */

/* Called between a descent and what is done at its leaf; the grader's. */
void tree_at_leaf(bool inserts);
void tree_left_leaf(bool inserts);

#endif
