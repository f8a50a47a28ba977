/* course/2-crabbing/tree.c - a small B+Tree in memory, all but its descents (see tree.h), and what watches over them.
 *
 * Three rules, asked for when tree_strict is set (without it, what counts is whether keys are lost):
 *
 * 1. A thread takes a node while it holds the node's parent, the meta node apart. Between letting go of the parent and
 *    taking the child the child may split, and the key may then stand in a node that the thread never sees.
 * 2. A search holds two nodes at most.
 * 3. What an insert holds when it has come down: the leaf, and above it an unbroken row of nodes, all of them full but the first.
 *
 * Always asked: each entry and each look into a node needs the node latched. */
#include "course/2-crabbing/tree.h"
#include "base/hooks.h"
#include "course/grading.h"

#define LEAF_LEVEL 1000             /* levels of latches count from the top; a leaf stays a leaf when the tree grows */

static _Thread_local struct node *held[DEPTH_MAX];
static _Thread_local int held_count;
static _Thread_local bool searches;
bool tree_strict;

static void watch(const struct node *node, const char *what)
{
    require(latch_held(&node->latch), "%s node %d, which this thread has not latched", what, node->number);
}

void node_acquire(struct node *node, enum latch_mode mode)
{
    bool parent_held = node->number == 0;
    for (int i = 0; i < held_count; i++) {
        require(held[i] != node, "latches node %d, which it holds already", node->number);
        for (int child = 0; held[i]->height > 0 && child < held[i]->count; child++)
            parent_held = parent_held || held[i]->children[child] == node;
    }
    require(held_count < DEPTH_MAX, "holds %d nodes, and wants more", held_count);
    require(!tree_strict || parent_held || held_count > 0, "latches node %d and holds nothing: since its parent was let go the node may have split", node->number);
    require(!tree_strict || parent_held, "latches node %d, which is no child of a node that it holds", node->number);
    latch_acquire(&node->latch, mode);
    held[held_count++] = node;
    require(!tree_strict || !searches || held_count <= 2, "a search holds %d nodes at once (nodes %d, %d and %d): two are enough", held_count, held[0]->number, held[1]->number, node->number);
}

void node_release(struct node *node)
{
    int at = 0;
    while (at < held_count && held[at] != node)
        at++;
    require(at < held_count, "lets go of node %d, which it doesn't hold", node->number);
    memmove(held + at, held + at + 1, (size_t)(--held_count - at) * sizeof *held);
    latch_release(&node->latch);
}

static int position_of(const struct node *node, int key)
{
    int at = node->count - 1;
    while (at > 0 && key < node->keys[at])
        at--;
    return at;
}

struct node *node_child(const struct node *node, int key)
{
    watch(node, "asks for a child of");
    require(node->height > 0, "node %d is a leaf and has no children", node->number);
    return node->children[position_of(node, key)];
}

bool node_is_leaf(const struct node *node)
{
    watch(node, "looks into");
    return node->height == 0;
}

bool node_is_safe(const struct node *node)
{
    watch(node, "looks into");
    return node->number == 0 || node->count < NODE_MAX;
}

/* ---- The tree ---- */

static struct node *node_new(struct tree *tree, int height)
{
    require(tree->node_count < NODES_MAX, "the tree has grown past %d nodes", NODES_MAX);
    struct node *node = &tree->nodes[tree->node_count];
    *node = (struct node){.number = tree->node_count++, .height = height};
    if (node->number == 0)
        latch_init(&node->latch, RANK_META, 0, 0, 0);
    else
        latch_init(&node->latch, RANK_NODE, (uint16_t)(LEAF_LEVEL - height), (uint64_t)node->number, 0);
    return node;
}

void tree_open(struct tree *tree)
{
    tree->node_count = 0;
    tree->meta = node_new(tree, DEPTH_MAX);
    tree->meta->children[0] = node_new(tree, 0);
    tree->meta->count = 1;
}

static void entry_put(struct node *node, int key, struct node *child)
{
    int at = node->count++;
    watch(node, "changes");
    require(latch_held_exclusive(&node->latch), "changes node %d, which is latched SHARED only", node->number);
    for (; at > (node->height > 0) && key < node->keys[at - 1]; at--) {
        node->keys[at] = node->keys[at - 1];
        node->children[at] = node->children[at - 1];
    }
    node->keys[at] = key;
    node->children[at] = child;
}

/* Half of a full node goes to a new one on its right. */
static struct node *node_split(struct tree *tree, struct node *node)
{
    struct node *right = node_new(tree, node->height);
    int stay = (NODE_MAX + 1) / 2;
    require(latch_held_exclusive(&node->latch), "splits node %d without its latch", node->number);
    for (int i = stay; i < NODE_MAX; i++, right->count++) {
        right->keys[right->count] = node->keys[i];
        right->children[right->count] = node->children[i];
    }
    point("split");
    node->count = stay;
    return right;
}

/* The new root keeps the place of the old one under the meta node. */
static void root_grow(struct tree *tree, struct node *right, int separator)
{
    struct node *old = tree->meta->children[0], *root = node_new(tree, old->height + 1);
    require(latch_held_exclusive(&tree->meta->latch), "the root splits, and the meta node isn't latched");
    root->count = 2;
    root->keys[1] = separator;
    root->children[0] = old;
    root->children[1] = right;
    point("new root");
    tree->meta->children[0] = root;
}

static void path_check(const struct path *path, int key)
{
    require(path->count > 0 && path->count <= DEPTH_MAX, "descend_exclusive(%d) came back with a path of %d nodes", key, path->count);
    require(path->nodes[path->count - 1]->height == 0, "descend_exclusive(%d) came back, and its path doesn't end in a leaf", key);
    for (int i = 0; i < path->count; i++) {
        const struct node *node = path->nodes[i];
        require(latch_held_exclusive(&node->latch), "descend_exclusive(%d) came back, and node %d of its path isn't latched EXCLUSIVE", key, node->number);
        require(!tree_strict || i == 0 || !node_is_safe(node), "descend_exclusive(%d) came back and still holds node %d, though node %d below it has room: nothing will change above", key,
                path->nodes[i - 1]->number, node->number);
    }
    require(node_is_safe(path->nodes[0]), "descend_exclusive(%d) came back and holds node %d, which is full and will split, but not its parent, which the split changes", key,
            path->nodes[0]->number);
    require(held_count == path->count, "descend_exclusive(%d) came back with %d nodes latched and %d in its path", key, held_count, path->count);
}

void tree_insert(struct tree *tree, int key)
{
    struct path path = {.count = 0};
    descend_exclusive(tree, key, &path);
    path_check(&path, key);
    tree_at_leaf(true);
    struct node *child = NULL;
    for (int i = path.count - 1, put = key; i >= 0; i--) {
        struct node *node = path.nodes[i];
        if (node->number == 0) {
            root_grow(tree, child, put);
            break;
        }
        if (node->count < NODE_MAX) {
            entry_put(node, put, child);
            break;
        }
        struct node *right = node_split(tree, node);
        latch_acquire(&right->latch, LATCH_EXCLUSIVE);          /* nobody else knows it yet */
        entry_put(put < right->keys[0] ? node : right, put, child);
        put = right->keys[0];
        latch_release(&right->latch);
        child = right;
    }
    tree_left_leaf(true);
    for (int i = 0; i < path.count; i++)
        node_release(path.nodes[i]);
    require(latch_held_count() == 0, "an insert of %d is over, and something is still latched", key);
}

bool tree_search(struct tree *tree, int key)
{
    searches = true;
    struct node *leaf = descend_shared(tree, key);
    require(leaf && leaf->height == 0, "descend_shared(%d) came back without a leaf", key);
    watch(leaf, "looks into");
    require(held_count == 1, "descend_shared(%d) came back and holds %d nodes instead of the leaf alone", key, held_count);
    tree_at_leaf(false);
    bool found = false;
    for (int i = 0; i < leaf->count; i++)
        found = found || leaf->keys[i] == key;
    tree_left_leaf(false);
    node_release(leaf);
    searches = false;
    require(latch_held_count() == 0, "a search for %d is over, and something is still latched", key);
    return found;
}

static void check_under(const struct node *node, int low, int high, int *found, int *count)
{
    for (int i = 0; i < node->count; i++) {
        int from = node->height > 0 && i == 0 ? low : node->keys[i];
        int below = i + 1 < node->count ? node->keys[i + 1] : high;
        require(from >= low && from < high, "node %d is for keys from %d to below %d, and holds %d", node->number, low, high, from);
        if (node->height == 0)
            found[(*count)++] = node->keys[i];
        else {
            require(node->children[i]->height == node->height - 1, "node %d of height %d is a child of node %d of height %d", node->children[i]->number, node->children[i]->height,
                    node->number, node->height);
            check_under(node->children[i], from, below, found, count);
        }
    }
}

void tree_check(struct tree *tree, const int *keys, int count)
{
    int found[NODES_MAX * NODE_MAX], found_count = 0;
    check_under(tree->meta->children[0], -1000000, 1000000, found, &found_count);
    require(found_count == count, "the tree holds %d keys instead of %d", found_count, count);
    for (int i = 0; i < count; i++)
        require(found[i] == keys[i], "the tree holds %d where %d should be", found[i], keys[i]);
}
