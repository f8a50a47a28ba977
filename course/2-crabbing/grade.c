/* course/2-crabbing/grade.c - the grader of lesson 2: no key is lost while nodes split, up to the root; searches and inserts in
 * different leaves are seen there at once. What a descent may hold is watched by tree.c. */
#include "course/2-crabbing/tree.h"
#include "base/hooks.h"
#include "course/grading.h"

static struct tree tree;
static int model[NODES_MAX * NODE_MAX], model_count;     /* sorted */
static int inserts_at_leaf;

void tree_at_leaf(bool inserts)
{
    inserts_at_leaf += inserts;
    if (inserts_at_leaf > 1)
        grade_seen();
    point(inserts ? "insert at leaf" : "search at leaf");
}

void tree_left_leaf(bool inserts) { inserts_at_leaf -= inserts; }

static void insert(int key)
{
    tree_insert(&tree, key);
    int at = model_count++;
    for (; at > 0 && model[at - 1] > key; at--)
        model[at] = model[at - 1];
    model[at] = key;
}

static void find(int key) { require(tree_search(&tree, key), "the key %d is in the tree, and a search did not find it", key); }

/* 0, 10, 20, ...: with four keys the root is an inner node over two leaves, with eight it is full, as are some leaves. */
static void tree_begin(int count)
{
    tree_strict = false;
    tree_open(&tree);
    model_count = 0;
    inserts_at_leaf = 0;
    for (int i = 0; i < count; i++)
        insert(i * 10);
}

static void tree_end(void)
{
    join_all();
    tree_check(&tree, model, model_count);
    for (int i = 0; i < model_count; i++)
        find(model[i]);
}

static void alone(void)
{
    tree_begin(0);
    scheduler_interleave(true);
    for (int i = 0; i < 24; i++)
        insert(i * 7 % 24);
    for (int i = 0; i < 24; i++)
        find(i);
    require(!tree_search(&tree, 99) && !tree_search(&tree, -1), "a search found a key that is not in the tree");
    tree_end();
}

static void insert_one(void *argument) { insert(*(const int *)argument); }
static void insert_three(void *argument)
{
    const int *key = argument;
    for (int i = 0; i < 3; i++)
        insert(key[i]);
}
static void find_all(void *unused)
{
    (void)unused;
    for (int key = 0; key < 40; key += 10)
        find(key);
}
static void find_70(void *unused) { (void)unused, find(70); }
static void find_20(void *unused) { (void)unused, find(20); }

static void split_and_search(void)
{
    static int keys[] = {61, 62, 63};
    tree_begin(8);
    begin("inserts", insert_three, keys);
    begin("searches", find_70, NULL);
    tree_end();
}

static void root_splits(void)
{
    static int left[] = {1, 2, 3}, right[] = {51, 52, 53};
    tree_begin(6);
    begin("left", insert_three, left);
    begin("right", insert_three, right);
    begin("searches", find_all, NULL);
    tree_end();
}

static void first_root(void)
{
    static int one[] = {5}, two[] = {25};
    tree_begin(3);
    begin("one", insert_one, one);
    begin("two", insert_one, two);
    begin("searches", find_20, NULL);
    tree_end();
}

static void random_inserts(void *argument)
{
    int thread = *(const int *)argument, first = (int)(scheduler_random() % 79), step = 1 + (int)(scheduler_random() % 78);
    for (int i = 0; i < 4; i++)
        insert((first + i * step) % 79 * 10 + thread);
}

static void mixed(bool strict)
{
    static int numbers[] = {1, 2};
    tree_begin(4);
    tree_strict = strict;
    begin("inserts", random_inserts, &numbers[0]);
    begin("inserts", random_inserts, &numbers[1]);
    begin("searches", find_all, NULL);
    tree_end();
}

static void mix(void) { mixed(false); }
static void rules(void) { mixed(true); }

static void apart(void)
{
    static int left[] = {5}, right[] = {35};
    tree_begin(4);
    begin("left", insert_one, left);
    begin("right", insert_one, right);
    tree_end();
}

const struct trial trials[] = {
    {.name = "alone", .claim = "one thread alone finds what it inserted", .run = alone},
    {.name = "search", .claim = "a search misses no key while its leaf splits", .run = split_and_search, .preemptions = 1},
    {.name = "root", .claim = "the first root is made, and a search on its way misses nothing", .run = first_root, .preemptions = 1},
    {.name = "splits", .claim = "splits up to the root beside each other and a search lose nothing", .run = root_splits},
    {.name = "mix", .claim = "random inserts beside searches lose nothing", .run = mix},
    {.name = "rules", .claim = "no descent lets go too soon, or holds more than it needs", .run = rules},
    {.name = "apart", .claim = "inserts into different leaves that have room are there at once", .run = apart,
     .unseen = "two inserts into different leaves, both with room, were never there at once. One holds what the other must pass"},
    {0},
};
