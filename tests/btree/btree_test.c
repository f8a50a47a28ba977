/* tests/btree/btree_test.c - the tree against a sorted array: random operations, scans both ways, splits, page reuse,
 * unique checks, bulk build, and what a damaged page does. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/hash.h"
#include "tests/switches.h"
#include "btree/node.h"

#define TREE_FILE 500

static struct store *store;
static char directory[64];

static void open_store(void)
{
    struct store_options options = { .pool_bytes = 64u << 20, .wal_ring_bytes = 16u << 20, .lock_bytes = 4u << 20, .pool_partitions = switch_partitions(),
                                     .checkpoint_seconds = 300, .max_transactions = 20, .max_wal_bytes = 1u << 30 };
    snprintf(directory, sizeof directory, "/tmp/crab_btree_XXXXXX");
    cr_assert(mkdtemp(directory));
    cr_assert_eq(store_open(directory, &options, &store), STATUS_OK, "%s", error_current()->message);
}

static void close_store(void)
{
    char command[128];
    cr_assert_eq(latch_held_count(), 0);
    cr_assert_eq(pool_pins_held(), 0);
    cr_assert_eq(store_close(store), STATUS_OK);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(btree, .init = open_store, .fini = close_store, .timeout = 120);

static struct btree new_tree(uint32_t file, uint16_t max_entries)
{
    struct btree tree = { .store = store, .file = file, .name = "t_index", .max_entries = max_entries };
    cr_assert_eq(btree_create_fixed(&tree), STATUS_OK);
    return tree;
}

#define OK(call) do { enum status s_ = (call); cr_assert_eq(s_, STATUS_OK, "%s: %s", #call, error_current()->message ? error_current()->message : status_text(s_)); } while (0)

/* ---- the model: a sorted array ---- */

struct entry { uint8_t *key; uint32_t length; uint64_t row; };
struct model { struct entry *entries; size_t count, capacity; };

static int entry_order(const struct entry *a, const uint8_t *key, uint32_t length, uint64_t row)
{
    int order = key_compare(a->key, a->length, key, length);
    return order ? order : (a->row > row) - (a->row < row);
}

static size_t model_lower(const struct model *model, const uint8_t *key, uint32_t length, uint64_t row)
{
    size_t low = 0, high = model->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (entry_order(&model->entries[middle], key, length, row) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void model_insert(struct model *model, const uint8_t *key, uint32_t length, uint64_t row)
{
    size_t at = model_lower(model, key, length, row);
    if (at < model->count && entry_order(&model->entries[at], key, length, row) == 0)
        return;
    if (model->count == model->capacity) {
        model->capacity = model->capacity ? model->capacity * 2 : 1024;
        model->entries = realloc(model->entries, model->capacity * sizeof *model->entries);
    }
    memmove(model->entries + at + 1, model->entries + at, (model->count - at) * sizeof *model->entries);
    uint8_t *copy = malloc(length + 1);
    memcpy(copy, key, length);
    model->entries[at] = (struct entry){ copy, length, row };
    model->count++;
}

static bool model_delete(struct model *model, const uint8_t *key, uint32_t length, uint64_t row)
{
    size_t at = model_lower(model, key, length, row);
    if (at == model->count || entry_order(&model->entries[at], key, length, row) != 0)
        return false;
    free(model->entries[at].key);
    memmove(model->entries + at, model->entries + at + 1, (--model->count - at) * sizeof *model->entries);
    return true;
}

static void model_free(struct model *model)
{
    for (size_t i = 0; i < model->count; i++)
        free(model->entries[i].key);
    free(model->entries);
}

/* The range in parts of a few leaves: together they are the range, in its order. */
static void parts_agree(const struct btree *tree, const struct model *model, size_t from, size_t to, const struct btree_place *low, const struct btree_place *high, bool backward, uint32_t leaves)
{
    struct arena *arena = arena_open(NULL, "test");
    struct btree_place *cuts;
    uint32_t count;
    size_t met = 0;
    OK(btree_cuts(tree, arena, low ? low->key : NULL, low ? low->length : 0, high ? high->key : NULL, high ? high->length : 0, leaves, &cuts, &count));
    for (uint32_t part = 0; part <= count; part++) {
        struct btree_scan *scan;
        struct btree_entries got;
        uint32_t at = backward ? count - part : part;
        OK(btree_scan_between(tree, arena, at ? &cuts[at - 1] : low, at < count ? &cuts[at] : high, backward, &scan));
        for (;;) {
            OK(btree_scan_next(scan, &got));
            if (!got.count)
                break;
            for (uint32_t i = 0; i < got.count; i++, met++) {
                cr_assert_lt(met, to - from, "more entries than the model has");
                const struct entry *want = &model->entries[backward ? to - 1 - met : from + met];
                cr_assert_eq(entry_order(want, got.keys[i], got.key_lengths[i], got.row_ids[i]), 0);
            }
        }
        btree_scan_close(scan);
    }
    cr_assert_eq(met, to - from, "%zu entries in %u parts, not %zu", met, count + 1, to - from);
    arena_close(arena);
}

static void scan_agrees(const struct btree *tree, const struct model *model, const uint8_t *low, uint32_t low_length, const uint8_t *high, uint32_t high_length, bool backward)
{
    struct arena *arena = arena_open(NULL, "test");
    struct btree_scan *scan;
    struct btree_entries got;
    size_t from = low ? model_lower(model, low, low_length, 0) : 0, to = high ? model_lower(model, high, high_length, 0) : model->count, met = 0;
    if (to < from)
        to = from;
    OK(btree_scan_open(tree, arena, low, low_length, high, high_length, backward, &scan));
    for (;;) {
        OK(btree_scan_next(scan, &got));
        if (!got.count)
            break;
        for (uint32_t i = 0; i < got.count; i++, met++) {
            cr_assert_lt(met, to - from, "more entries than the model has");
            const struct entry *want = &model->entries[backward ? to - 1 - met : from + met];
            cr_assert_eq(entry_order(want, got.keys[i], got.key_lengths[i], got.row_ids[i]), 0);
        }
    }
    cr_assert_eq(met, to - from, "%zu entries, not %zu", met, to - from);
    btree_scan_close(scan);
    arena_close(arena);
    const struct btree_place first = { low, low_length, 0 }, last = { high, high_length, 0 };
    parts_agree(tree, model, from, to, low ? &first : NULL, high ? &last : NULL, backward, 1 + (uint32_t)(from + to) % 3);
}

/* btree_lookup: all rows of the key in order, or word that a scan must do it, which a key with few rows may get at a leaf's end only. */
static void lookup_agrees(const struct btree *tree, const struct model *model, const uint8_t *key, uint32_t length)
{
    uint64_t rows[4];
    uint32_t count;
    size_t from = model_lower(model, key, length, 0), to = from;
    while (to < model->count && key_compare(model->entries[to].key, model->entries[to].length, key, length) == 0)
        to++;
    OK(btree_lookup(tree, key, length, rows, 4, &count));
    if (to - from > 4)
        cr_assert_eq(count, BTREE_SCAN_IT);
    if (count == BTREE_SCAN_IT)
        return;
    cr_assert_eq(count, to - from);
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(rows[i], model->entries[from + i].row);
}

static void tree_agrees(const struct btree *tree, const struct model *model)
{
    struct btree_stats checked, counted;
    OK(btree_check(tree, NULL, NULL, &checked));
    OK(btree_stats(tree, &counted));
    cr_assert_eq(checked.entries, model->count);
    cr_assert_eq(counted.entries, model->count);
    cr_assert_eq(counted.leaves, checked.leaves);
    cr_assert_eq(counted.height, checked.height);
    cr_assert_eq(counted.free_pages, checked.free_pages);
    scan_agrees(tree, model, NULL, 0, NULL, 0, false);
    scan_agrees(tree, model, NULL, 0, NULL, 0, true);
}

/* ---- keys of different kinds ---- */

static uint32_t make_key(int kind, uint64_t *random, uint8_t *key)
{
    uint64_t r = random_next(random);
    uint32_t length = 0;
    switch (kind) {
    case 0:                                     /* integers */
        r = __builtin_bswap64(r % 5000);
        memcpy(key, &r, 8);
        return 8;
    case 1:                                     /* few keys, many rows each */
        key[0] = (uint8_t)('a' + r % 3);
        return 1;
    case 2:                                     /* keys that begin each other, the empty one too */
        length = (uint32_t)(r % 12);
        for (uint32_t i = 0; i < length; i++)
            key[i] = (uint8_t)(random_next(random) % 2 ? 0 : 0xFF);
        return length;
    case 3:                                     /* up to the longest allowed, long shared beginnings */
        length = (uint32_t)(r % 4 ? BTREE_KEY_MAX - r % 3 : r % BTREE_KEY_MAX);
        memset(key, 'x', length);
        for (uint32_t i = 0; i < 3 && length; i++)
            key[random_next(random) % length] = (uint8_t)random_next(random);
        return length;
    default:                                    /* words */
        length = 3 + (uint32_t)(r % 30);
        for (uint32_t i = 0; i < length; i++)
            key[i] = (uint8_t)("abcd"[random_next(random) % 4]);
        return length;
    }
}

static void random_run(uint32_t file, int kind, uint16_t max_entries, int operations, uint64_t seed)
{
    struct btree tree = new_tree(file, max_entries);
    struct model model = { 0 };
    uint8_t key[BTREE_KEY_MAX], high[BTREE_KEY_MAX];
    uint64_t random = seed;
    cr_log_info("kind %d, max_entries %u, seed %llu", kind, max_entries, (unsigned long long)seed);
    for (int n = 0; n < operations; n++) {
        bool shrinking = n / (operations / 4) % 2;           /* grow, shrink, grow, shrink */
        uint32_t length = make_key(kind, &random, key);
        uint64_t row = kind == 1 ? random_next(&random) % 2000 : random_next(&random) % 4, what = random_next(&random) % 100;
        if (what < (shrinking ? 20 : 75)) {
            OK(btree_insert(&tree, 0, key, length, row, NULL, NULL));
            model_insert(&model, key, length, row);
        } else if (what < 95) {
            bool found;
            if (model.count && random_next(&random) % 4) {   /* one that is there */
                const struct entry *victim = &model.entries[random_next(&random) % model.count];
                length = victim->length;
                memcpy(key, victim->key, length);
                row = victim->row;
            }
            OK(btree_delete(&tree, 0, key, length, row, &found));
            cr_assert_eq(found, model_delete(&model, key, length, row));
        } else {
            lookup_agrees(&tree, &model, key, length);
            uint32_t high_length = make_key(kind, &random, high);
            if (key_compare(key, length, high, high_length) > 0) {
                uint8_t swap[BTREE_KEY_MAX];
                memcpy(swap, key, length);
                memcpy(key, high, high_length);
                memcpy(high, swap, length);
                uint32_t swap_length = length;
                length = high_length;
                high_length = swap_length;
            }
            if (n % 20 == 0)
                scan_agrees(&tree, &model, key, length, high, high_length, what % 2);
        }
        if (n % (operations / 10) == 0)
            tree_agrees(&tree, &model);
    }
    tree_agrees(&tree, &model);
    while (model.count) {                                    /* to the last entry */
        const struct entry victim = model.entries[random_next(&random) % model.count];
        bool found;
        OK(btree_delete(&tree, 0, victim.key, victim.length, victim.row, &found));
        cr_assert(found);
        model_delete(&model, victim.key, victim.length, victim.row);
    }
    tree_agrees(&tree, &model);
    model_free(&model);
}

Test(btree, agrees_with_a_sorted_array_of_integers)          { random_run(TREE_FILE, 0, 0, 40000, 1); random_run(TREE_FILE + 1, 0, 3, 8000, 2); }
Test(btree, agrees_with_a_sorted_array_of_duplicates)        { random_run(TREE_FILE, 1, 0, 30000, 3); random_run(TREE_FILE + 1, 1, 3, 6000, 4); }
Test(btree, agrees_with_a_sorted_array_of_prefixes)          { random_run(TREE_FILE, 2, 0, 30000, 5); random_run(TREE_FILE + 1, 2, 4, 6000, 6); }
Test(btree, agrees_with_a_sorted_array_of_long_keys)         { random_run(TREE_FILE, 3, 0, 6000, 7); random_run(TREE_FILE + 1, 3, 3, 2000, 8); }
Test(btree, agrees_with_a_sorted_array_of_words)             { random_run(TREE_FILE, 4, 0, 30000, 9); random_run(TREE_FILE + 1, 4, 5, 6000, 10); }
Test(btree, agrees_with_the_array_under_every_latching)
{
    atomic_store(&btree_latching, BTREE_TREE);
    random_run(TREE_FILE, 4, 3, 4000, 11);
    atomic_store(&btree_latching, BTREE_CRAB);
    random_run(TREE_FILE + 1, 1, 3, 4000, 12);
    atomic_store(&btree_latching, BTREE_OPTIMISTIC);
}

/* One key, thousands of rows: many leaves whose fences differ by the row id only. Gone again, their pages are given to others. */
Test(btree, holds_thousands_of_rows_of_one_key)
{
    enum { ROWS = 5000 };
    struct btree tree = new_tree(TREE_FILE, 0);
    struct model model = { 0 };
    struct btree_stats full, empty, again;
    uint64_t rows[4];
    uint32_t count;
    bool found;
    const uint8_t *key = (const uint8_t *)"the one key";
    for (uint64_t i = 0; i < ROWS; i++) {
        uint64_t row = i * 2777 % ROWS;                      /* each once, in no order */
        OK(btree_insert(&tree, 0, key, 11, row, NULL, NULL));
        model_insert(&model, key, 11, row);
    }
    OK(btree_insert(&tree, 0, (const uint8_t *)"the", 3, 1, NULL, NULL));        /* neighbours on both sides */
    OK(btree_insert(&tree, 0, (const uint8_t *)"then", 4, 1, NULL, NULL));
    model_insert(&model, (const uint8_t *)"the", 3, 1);
    model_insert(&model, (const uint8_t *)"then", 4, 1);
    tree_agrees(&tree, &model);
    scan_agrees(&tree, &model, key, 11, (const uint8_t *)"the one kez", 11, false);
    scan_agrees(&tree, &model, key, 11, (const uint8_t *)"the one kez", 11, true);
    lookup_agrees(&tree, &model, key, 11);
    lookup_agrees(&tree, &model, (const uint8_t *)"the", 3);
    OK(btree_stats(&tree, &full));
    cr_assert_gt(full.leaves, 3);
    for (uint64_t row = 0; row < ROWS; row++) {
        OK(btree_delete(&tree, 0, key, 11, row, &found));
        cr_assert(found);
        model_delete(&model, key, 11, row);
    }
    tree_agrees(&tree, &model);
    OK(btree_lookup(&tree, key, 11, rows, 4, &count));
    cr_assert(count == 0 || count == BTREE_SCAN_IT);
    OK(btree_stats(&tree, &empty));
    cr_assert_gt(empty.free_pages, 0);
    for (uint64_t row = 0; row < ROWS; row++) {
        OK(btree_insert(&tree, 0, key, 11, row, NULL, NULL));
        model_insert(&model, key, 11, row);
    }
    tree_agrees(&tree, &model);
    OK(btree_stats(&tree, &again));
    cr_assert_leq(again.pages, full.pages, "%u pages, and %u before", again.pages, full.pages);
    model_free(&model);
}

Test(btree, refuses_a_key_that_is_too_long)
{
    struct btree tree = new_tree(TREE_FILE, 0);
    uint8_t key[BTREE_KEY_MAX + 1] = { 0 };
    cr_assert_eq(btree_insert(&tree, 0, key, sizeof key, 1, NULL, NULL), STATUS_LIMIT_EXCEEDED);
    OK(btree_insert(&tree, 0, key, BTREE_KEY_MAX, 1, NULL, NULL));
}

Test(btree, appends_leave_leaves_nearly_full)
{
    struct btree tree = new_tree(TREE_FILE, 0);
    struct btree_stats stats;
    for (uint64_t i = 0; i < 50000; i++) {
        uint64_t key = __builtin_bswap64(i);
        OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, i, NULL, NULL));
    }
    OK(btree_check(&tree, NULL, NULL, &stats));
    cr_assert_eq(stats.entries, 50000);
    cr_assert_lt(stats.leaves, 50000u * 26 / PAGE_BYTES + 20);
}

/* ---- vacuum's sweep, pages used again ---- */

Test(btree, removes_listed_rows_and_uses_their_pages_again)
{
    struct btree tree = new_tree(TREE_FILE, 10);
    struct model model = { 0 };
    struct btree_stats full, swept, again;
    uint64_t *gone = malloc(4000 * sizeof *gone), removed;
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t key = __builtin_bswap64(i);
        OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, i, NULL, NULL));
        if (i % 400 < 10)
            model_insert(&model, (uint8_t *)&key, 8, i);
    }
    OK(btree_stats(&tree, &full));
    size_t count = 0;
    for (uint64_t i = 0; i < 4000; i++)
        if (i % 400 >= 10)
            gone[count++] = i;
    OK(btree_remove_rows(&tree, gone, count, &removed));
    cr_assert_eq(removed, count);
    tree_agrees(&tree, &model);
    OK(btree_stats(&tree, &swept));
    cr_assert_gt(swept.free_pages, full.leaves / 2);
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < count; i++) {
            uint64_t key = __builtin_bswap64(gone[i]);
            OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, gone[i], NULL, NULL));
        }
        OK(btree_stats(&tree, round ? &again : &swept));
        OK(btree_remove_rows(&tree, gone, count, &removed));
        cr_assert_eq(removed, count);
        tree_agrees(&tree, &model);
    }
    cr_assert_leq(again.pages, swept.pages + 5, "freed pages are not used again: %u pages, %u before", again.pages, swept.pages);
    model_free(&model);
    free(gone);
}

/* ---- unique ---- */

struct rows { uint64_t live; int asked; };
static enum status row_alive(void *context, uint64_t row, bool *live, xid_t *wait_for)
{
    struct rows *rows = context;
    rows->asked++;
    *live = row == rows->live;
    *wait_for = XID_NONE;
    return STATUS_OK;
}

Test(btree, finds_the_live_duplicate_among_a_thousand_dead_ones)
{
    struct btree tree = new_tree(TREE_FILE, 4);
    struct rows rows = { .live = UINT64_MAX };
    struct btree_unique unique = { row_alive, &rows, NULL };
    uint64_t conflict = 0;
    for (uint64_t i = 0; i < 300; i++)
        OK(btree_insert(&tree, 0, (const uint8_t *)"k", 1, 10 + i * 7 % 1000, &unique, &conflict));
    OK(btree_insert(&tree, 0, (const uint8_t *)"j", 1, 5, &unique, &conflict));
    OK(btree_insert(&tree, 0, (const uint8_t *)"k\0", 2, 5, &unique, &conflict));
    rows.asked = 0;
    OK(btree_insert(&tree, 0, (const uint8_t *)"k", 1, 5, &unique, &conflict));
    cr_assert_geq(rows.asked, 300);                          /* more if it had to start again */
    rows.live = 10 + 299 * 7 % 1000;
    cr_assert_eq(btree_insert(&tree, 0, (const uint8_t *)"k", 1, 6, &unique, &conflict), STATUS_UNIQUE_VIOLATION);
    cr_assert_eq(conflict, rows.live);
    OK(btree_insert(&tree, 0, (const uint8_t *)"k", 1, rows.live, &unique, &conflict));   /* there already: itself is no conflict */
    struct btree_stats stats;
    OK(btree_check(&tree, NULL, NULL, &stats));
    cr_assert_eq(stats.entries, 303);
}

/* ---- many at once ---- */

static int new_order(const void *a, const void *b)
{
    const struct btree_new *x = a, *y = b;
    int order = key_compare(x->key, x->length, y->key, y->length);
    return order ? order : (x->row_id > y->row_id) - (x->row_id < y->row_id);
}

/* Batches of all sizes, sorted, into a tree that has some of the entries already; deletions between. */
static void many_run(uint32_t file, int kind, uint16_t max_entries, int batches, uint64_t seed)
{
    struct btree tree = new_tree(file, max_entries);
    struct model model = { 0 };
    struct arena *arena = arena_open(NULL, "test");
    uint8_t key[BTREE_KEY_MAX];
    uint64_t random = seed;
    for (int n = 0; n < batches; n++) {
        uint32_t count = 1 + (uint32_t)(random_next(&random) % (n % 3 ? 40 : 800)), failed;
        struct btree_new *entries = arena_array(arena, struct btree_new, count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t length = make_key(kind, &random, key);
            entries[i] = (struct btree_new){ arena_copy(arena, key, length), length, false, random_next(&random) % (kind == 1 ? 100000 : 3) };
            model_insert(&model, key, length, entries[i].row_id);
        }
        qsort(entries, count, sizeof *entries, new_order);
        OK(btree_insert_many(&tree, 0, entries, count, NULL, &failed, NULL));
        for (uint64_t gone = model.count * (n % 4) / 8; gone--;) {
            const struct entry victim = model.entries[random_next(&random) % model.count];
            bool found;
            OK(btree_delete(&tree, 0, victim.key, victim.length, victim.row, &found));
            cr_assert(found);
            model_delete(&model, victim.key, victim.length, victim.row);
        }
        if (n % 8 == 0)
            tree_agrees(&tree, &model);
        arena_reset(arena);
    }
    tree_agrees(&tree, &model);
    arena_close(arena);
    model_free(&model);
}

Test(btree, takes_many_sorted_entries_at_once)
{
    for (int kind = 0; kind < 5; kind++) {
        many_run(TREE_FILE + (uint32_t)kind, kind, 0, kind == 3 ? 12 : 60, 100 + (uint64_t)kind);
        many_run(TREE_FILE + 10 + (uint32_t)kind, kind, 4, 12, 200 + (uint64_t)kind);
    }
}

Test(btree, of_many_the_first_duplicate_is_named)
{
    struct btree tree = new_tree(TREE_FILE, 0);
    struct rows rows = { .live = 17 };
    struct btree_unique unique = { row_alive, &rows, NULL };
    struct btree_new entries[200];
    uint8_t keys[200];
    uint64_t conflict = 0;
    uint32_t failed = 0;
    for (uint32_t i = 0; i < 200; i++) {
        keys[i] = (uint8_t)i;
        entries[i] = (struct btree_new){ &keys[i], 1, true, 1000 + i };
    }
    OK(btree_insert(&tree, 0, &keys[100], 1, 17, &unique, &conflict));
    OK(btree_insert(&tree, 0, &keys[50], 1, 16, &unique, &conflict));        /* its row is dead */
    cr_assert_eq(btree_insert_many(&tree, 0, entries, 200, &unique, &failed, &conflict), STATUS_UNIQUE_VIOLATION);
    cr_assert_eq(failed, 100);
    cr_assert_eq(conflict, 17);
    keys[151] = keys[150];                                   /* a pair of its own */
    rows.live = 1150;
    cr_assert_eq(btree_insert_many(&tree, 0, entries + 101, 99, &unique, &failed, &conflict), STATUS_UNIQUE_VIOLATION);
    cr_assert_eq(failed, 50);
    cr_assert_eq(conflict, 1150);
    struct btree_stats stats;
    OK(btree_check(&tree, NULL, NULL, &stats));
    cr_assert_eq(stats.entries, 2 + 100 + 50);
}

/* ---- build ---- */

static void build_run(uint32_t file, int kind, uint16_t max_entries, size_t count)
{
    struct btree tree = new_tree(file, max_entries);
    struct model model = { 0 };
    struct btree_build *build;
    uint8_t key[BTREE_KEY_MAX];
    uint64_t random = file;
    while (model.count < count) {
        uint32_t length = make_key(kind, &random, key);
        model_insert(&model, key, length, random_next(&random) % 100000);
    }
    OK(btree_build_begin(&tree, 0, &build));
    for (size_t i = 0; i < model.count; i++)
        OK(btree_build_add(build, model.entries[i].key, model.entries[i].length, model.entries[i].row));
    OK(btree_build_end(build));
    tree_agrees(&tree, &model);
    for (int i = 0; i < 500; i++) {                          /* and it is a tree like any other */
        uint32_t length = make_key(kind, &random, key);
        OK(btree_insert(&tree, 0, key, length, 7, NULL, NULL));
        model_insert(&model, key, length, 7);
    }
    tree_agrees(&tree, &model);
    model_free(&model);
}

Test(btree, builds_bottom_up_what_inserts_would_have_made)
{
    build_run(500, 0, 0, 0);
    build_run(501, 0, 0, 1);
    build_run(502, 0, 0, 8000);
    build_run(503, 0, 3, 1000);
    build_run(504, 1, 0, 8000);
    build_run(505, 2, 0, 8000);
    build_run(506, 3, 0, 1500);
    build_run(507, 4, 0, 8000);
    build_run(508, 4, 3, 500);
}

Test(btree, refuses_a_build_that_is_not_sorted)
{
    struct btree tree = new_tree(TREE_FILE, 0);
    struct btree_build *build;
    OK(btree_build_begin(&tree, 0, &build));
    OK(btree_build_add(build, (const uint8_t *)"b", 1, 1));
    cr_assert_eq(btree_build_add(build, (const uint8_t *)"a", 1, 1), STATUS_INTERNAL);
    btree_build_abandon(build);
}

/* ---- scans while the tree changes ---- */

Test(btree, a_scan_loses_nothing_when_leaves_split_and_go_between_its_steps)
{
    for (int backward = 0; backward < 2; backward++) {
        struct btree tree = new_tree(TREE_FILE + (uint32_t)backward, 4);
        struct arena *arena = arena_open(NULL, "test");
        struct btree_scan *scan;
        struct btree_entries got;
        uint64_t random = 99, met = 0;
        for (uint64_t i = 0; i < 1000; i++) {                /* the even ones stay throughout */
            uint64_t key = __builtin_bswap64(i * 2);
            OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, i * 2, NULL, NULL));
        }
        OK(btree_scan_open(&tree, arena, NULL, 0, NULL, 0, backward, &scan));
        for (;;) {
            OK(btree_scan_next(scan, &got));
            if (!got.count)
                break;
            for (uint32_t i = 0; i < got.count; i++)
                if (got.row_ids[i] % 2 == 0) {
                    cr_assert_eq(got.row_ids[i], backward ? 1998 - met * 2 : met * 2, "met %llu", (unsigned long long)got.row_ids[i]);
                    met++;
                }
            for (int n = 0; n < 40; n++) {                   /* odd ones come and go */
                uint64_t row = random_next(&random) % 1000 * 2 + 1, key = __builtin_bswap64(row);
                bool found;
                OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, row, NULL, NULL));
                row = random_next(&random) % 1000 * 2 + 1;
                key = __builtin_bswap64(row);
                OK(btree_delete(&tree, 0, (uint8_t *)&key, 8, row, &found));
            }
        }
        cr_assert_eq(met, 1000);
        arena_close(arena);
        OK(btree_check(&tree, NULL, NULL, NULL));
    }
}

/* ---- damage ---- */

Test(btree, a_large_range_is_cut_into_parts_of_as_many_leaves_as_wanted)
{
    struct btree tree = new_tree(TREE_FILE, 4);
    struct arena *arena = arena_open(NULL, "test");
    struct btree_place *cuts;
    uint32_t count;
    struct btree_stats stats;
    for (uint64_t i = 0; i < 3000; i++) {                    /* ten rows a key */
        uint64_t key = __builtin_bswap64(i / 10);
        OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, i, NULL, NULL));
    }
    OK(btree_stats(&tree, &stats));
    OK(btree_cuts(&tree, arena, NULL, 0, NULL, 0, 8, &cuts, &count));
    cr_expect(count + 1 >= stats.leaves / 9 && count + 1 <= stats.leaves / 7, "%u leaves in %u parts", stats.leaves, count + 1);
    for (uint32_t i = 1; i < count; i++)
        cr_expect(key_compare(cuts[i - 1].key, cuts[i - 1].length, cuts[i].key, cuts[i].length) < 0 || cuts[i - 1].row_id < cuts[i].row_id);
    uint64_t low = __builtin_bswap64(100), high = __builtin_bswap64(101);
    OK(btree_cuts(&tree, arena, (uint8_t *)&low, 8, (uint8_t *)&high, 8, 1, &cuts, &count));
    cr_expect(count >= 1 && count <= 10, "ten rows of one key in %u parts", count + 1);
    OK(btree_cuts(&tree, arena, (uint8_t *)&high, 8, (uint8_t *)&low, 8, 1, &cuts, &count));
    cr_expect_eq(count, 0, "an empty range");
    arena_close(arena);
}

Test(btree, a_damaged_page_is_an_error_that_names_index_and_block)
{
    struct btree tree = new_tree(TREE_FILE, 0);
    struct page_ref ref;
    struct mtr mtr;
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t key = __builtin_bswap64(i);
        OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, i, NULL, NULL));
    }
    uint64_t random = 5;
    uint8_t saved[PAGE_BYTES];
    for (int n = 0; n < 300; n++) {                          /* random bytes anywhere in a leaf: an error or not, but never a crash */
        OK(pool_fetch(store->pool, (page_id){ TREE_FILE, 2 }, LATCH_EXCLUSIVE, RANK_NODE, NODE_LATCH_LEVEL(0), &ref));
        mtr_begin(&mtr, store, 0);
        mtr_join(&mtr, &ref);
        memcpy(saved, ref.bytes, PAGE_BYTES);
        for (int k = 0; k < 4; k++) {
            uint8_t byte = (uint8_t)random_next(&random);
            uint32_t at = n % 2 ? 32 + (uint32_t)(random_next(&random) % 60) : (uint32_t)(32 + random_next(&random) % (PAGE_BYTES - 32));
            mtr_write(&mtr, ref.bytes, at, &byte, 1);
        }
        mtr_commit(&mtr);
        enum status checked = btree_check(&tree, NULL, NULL, NULL);
        cr_assert(checked == STATUS_OK || checked == STATUS_INDEX_CORRUPT);
        struct arena *arena = arena_open(NULL, "test");
        struct btree_scan *scan;
        struct btree_entries got;
        char *text;
        OK(btree_scan_open(&tree, arena, NULL, 0, NULL, 0, n % 3 == 0, &scan));
        for (int steps = 0; steps < 100 && btree_scan_next(scan, &got) == STATUS_OK && got.count; steps++) { }
        (void)!btree_print(&tree, arena, n % 2, &text);
        arena_close(arena);
        OK(pool_fetch(store->pool, (page_id){ TREE_FILE, 2 }, LATCH_EXCLUSIVE, RANK_NODE, NODE_LATCH_LEVEL(0), &ref));
        mtr_begin(&mtr, store, 0);
        mtr_join(&mtr, &ref);
        mtr_image(&mtr, ref.bytes);
        memcpy(ref.bytes + 32, saved + 32, PAGE_BYTES - 32);
        mtr_commit(&mtr);
    }
    OK(btree_check(&tree, NULL, NULL, NULL));
    OK(pool_fetch(store->pool, (page_id){ TREE_FILE, 2 }, LATCH_EXCLUSIVE, RANK_NODE, NODE_LATCH_LEVEL(0), &ref));
    mtr_begin(&mtr, store, 0);
    mtr_join(&mtr, &ref);
    uint16_t wild = 60000;
    mtr_write(&mtr, ref.bytes, offsetof(struct node, slots) + 4, &wild, 2);
    mtr_commit(&mtr);
    cr_assert_eq(btree_check(&tree, NULL, NULL, NULL), STATUS_INDEX_CORRUPT);
    cr_assert_str_eq(error_current()->message, "index \"t_index\" contains corrupted page at block 2");
}

Test(btree, draws_itself)
{
    struct btree tree = new_tree(TREE_FILE, 3);
    struct arena *arena = arena_open(NULL, "test");
    char *text;
    for (uint64_t i = 0; i < 10; i++) {
        char key[8];
        int length = snprintf(key, sizeof key, "key%d", (int)i);
        OK(btree_insert(&tree, 0, (uint8_t *)key, (uint32_t)length, i << 16 | 1, NULL, NULL));
    }
    OK(btree_print(&tree, arena, false, &text));
    cr_assert(strstr(text, "key7 (7,1)"));
    cr_assert(strstr(text, "-inf .. "));
    OK(btree_print(&tree, arena, true, &text));
    cr_assert(strstr(text, "digraph"));
    arena_close(arena);
}

Test(btree, is_there_again_after_a_restart)
{
    struct btree tree = new_tree(TREE_FILE, 5);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t key = __builtin_bswap64(i * 7919 % 3000);
        OK(btree_insert(&tree, 0, (uint8_t *)&key, 8, i, NULL, NULL));
    }
    OK(store_close(store));
    struct store_options options = { .pool_bytes = 64u << 20, .wal_ring_bytes = 16u << 20, .lock_bytes = 4u << 20, .pool_partitions = switch_partitions(),
                                     .checkpoint_seconds = 300, .max_transactions = 20, .max_wal_bytes = 1u << 30 };
    OK(store_open(directory, &options, &store));
    tree.store = store;
    struct btree_stats stats;
    OK(btree_check(&tree, NULL, NULL, &stats));
    cr_assert_eq(stats.entries, 3000);
}

/* ---- kill -9 in the middle of splits and removals ---- */

struct promise { uint32_t done; };              /* operations that were flushed before this was written */

static void operate(const struct btree *tree, uint64_t n)    /* the n-th operation: always the same */
{
    uint64_t random = n, r = random_next(&random), key = __builtin_bswap64(n % 7 < 5 ? r % 100000 : n);
    bool found;
    OK(btree_insert(tree, 0, (uint8_t *)&key, 8, n, NULL, NULL));
    if (n >= 400) {                                          /* and the one of long ago goes */
        uint64_t old = n - 400, old_random = old;
        r = random_next(&old_random);
        key = __builtin_bswap64(old % 7 < 5 ? r % 100000 : old);
        OK(btree_delete(tree, 0, (uint8_t *)&key, 8, old, &found));
    }
}

static enum status count_rows(void *context, const uint8_t *key, uint32_t length, uint64_t row)
{
    (void)key, (void)length;
    ((uint8_t *)context)[row] = 1;
    return STATUS_OK;
}

Test(btree_crash, is_whole_after_a_kill_and_has_what_was_flushed, .timeout = 120)
{
    struct store_options options = { .pool_bytes = 2u << 20, .wal_ring_bytes = 4u << 20, .lock_bytes = 4u << 20, .pool_partitions = switch_partitions(),
                                     .checkpoint_seconds = 1, .max_transactions = 20, .max_wal_bytes = 2u << 20 };
    snprintf(directory, sizeof directory, "/tmp/crab_btree_XXXXXX");
    cr_assert(mkdtemp(directory));
    struct btree tree = { .file = TREE_FILE, .name = "t_index", .max_entries = 5 };
    uint32_t first = 0;
    for (int round = 0; round < 4; round++) {
        int channel[2];
        cr_assert_eq(pipe(channel), 0);
        pid_t child = fork();
        if (child == 0) {
            if (store_open(directory, &options, &store))
                _exit(1);
            tree.store = store;
            if (round == 0)
                OK(btree_create_fixed(&tree));
            for (uint64_t n = first;; n++) {
                operate(&tree, n);
                if (n % 50 == 49) {
                    struct promise promise = { (uint32_t)n };
                    wal_flush(store->wal, wal_next(store->wal));
                    if (write(channel[1], &promise, sizeof promise) != sizeof promise)
                        _exit(1);
                }
            }
        }
        close(channel[1]);
        struct promise promise = { 0 };
        while (promise.done < first + 2500 + 777 * (uint32_t)round && read(channel[0], &promise, sizeof promise) == sizeof promise) { }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(channel[0], &promise, sizeof promise) == sizeof promise) { }
        close(channel[0]);
        cr_assert_gt(promise.done, first, "the child died early");

        OK(store_open(directory, &options, &store));
        tree.store = store;
        uint8_t *there = calloc(1, promise.done + 1000000);
        OK(btree_check(&tree, count_rows, there, NULL));
        uint32_t last = promise.done;                        /* some that were not acknowledged may have come through */
        while (there[last + 1])
            last++;
        for (uint32_t n = last > 399 ? last - 399 : 0; n <= last; n++)
            cr_assert(there[n], "row %u is gone", n);
        for (uint32_t n = 0; n + 400 <= promise.done; n++)
            cr_assert_not(there[n], "row %u came back", n);
        free(there);
        OK(store_close(store));
        first = last;                                        /* its delete may not have: once more */
    }
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

Test(key, separators_are_short_and_part_their_neighbours)
{
    uint64_t row;
    cr_assert_eq(key_separator((const uint8_t *)"jackson", 7, (const uint8_t *)"miller", 6, 9, &row), 1);
    cr_assert_eq(row, 0);
    cr_assert_eq(key_separator((const uint8_t *)"ab", 2, (const uint8_t *)"abc", 3, 9, &row), 3);
    cr_assert_eq(row, 0);
    cr_assert_eq(key_separator((const uint8_t *)"ab", 2, (const uint8_t *)"ab", 2, 9, &row), 2);
    cr_assert_eq(row, 9);
    uint8_t bytes[3] = { 'a', 0xFF, 0xFF };
    uint32_t length = 3;
    cr_assert(btree_key_successor(bytes, &length));
    cr_assert_eq(length, 1);
    cr_assert_eq(bytes[0], 'b');
    bytes[0] = 0xFF;
    cr_assert_not(btree_key_successor(bytes, &length));
}
