/* tests/interleave/btree.c - a B+Tree of nodes of three entries: splits, searches, scans both ways, deletes, unique inserts.
 *
 * A key is one byte. Entries of even keys are there from the start, or not at all; what threads do to the others is
 * checked against what each of them was told. */
#include "tests/interleave/interleave.h"

#include <stdio.h>

#include "base/arena.h"
#include "btree/btree.h"

static struct btree tree;

/* Half of the seeds run optimistic descent, the others crabbing, or one latch for the tree. */
static void tree_begin(uint16_t max_entries, const char *keys)
{
    uint64_t r = scheduler_random() % 4;
    atomic_store(&btree_latching, r < 2 ? BTREE_OPTIMISTIC : r == 2 ? BTREE_CRAB : BTREE_TREE);
    tree = (struct btree){.store = store, .file = 1000, .name = "tree", .max_entries = max_entries};
    must(btree_create_fixed(&tree));
    for (; *keys; keys++)
        must(btree_insert(&tree, 0, (const uint8_t *)keys, 1, (uint64_t)*keys, NULL, NULL));
}

static struct { char keys[64]; unsigned count; } met;
static enum status meet(void *context, const uint8_t *key, uint32_t length, uint64_t row)
{
    (void)context;
    check(length == 1 && met.count < sizeof met.keys - 1, "an entry that nobody made");
    check(row % 256 == key[0], "key %c has row %llu", key[0], (unsigned long long)row);
    met.keys[met.count++] = (char)key[0];
    return STATUS_OK;
}

/* The checker finds the tree sound, and these keys in it, in order. */
static void tree_end(const char *expected)
{
    struct btree_stats stats;
    memset(&met, 0, sizeof met);
    must(btree_check(&tree, meet, NULL, &stats));
    check(strcmp(met.keys, expected) == 0, "the tree holds \"%s\", not \"%s\"", met.keys, expected);
    atomic_store(&btree_latching, BTREE_OPTIMISTIC);
}

static void insert_keys(void *keys)
{
    for (const char *key = keys; *key; key++)
        must(btree_insert(&tree, 0, (const uint8_t *)key, 1, (uint64_t)*key, NULL, NULL));
}

static void delete_keys(void *keys)
{
    for (const char *key = keys; *key; key++) {
        bool found;
        must(btree_delete(&tree, 0, (const uint8_t *)key, 1, (uint64_t)*key, &found));
        check(found, "key %c was not there to be deleted", *key);
    }
}

/* One scan of everything, which must meet each of `fixed` once, in order, and anything else at most once, in order. */
static void scan(const char *fixed, bool backward)
{
    struct arena *arena = arena_open(NULL, "scan");
    struct btree_scan *scan;
    struct btree_entries got;
    char seen[64] = "";
    unsigned count = 0;
    must(btree_scan_open(&tree, arena, NULL, 0, NULL, 0, backward, &scan));
    for (;;) {
        must(btree_scan_next(scan, &got));
        if (!got.count)
            break;
        for (uint32_t i = 0; i < got.count && count < sizeof seen - 1; i++)
            seen[count++] = (char)got.keys[i][0];
    }
    btree_scan_close(scan);
    arena_close(arena);
    for (unsigned i = 1; i < count; i++)
        check(backward ? seen[i] < seen[i - 1] : seen[i] > seen[i - 1], "a scan met \"%s\": out of order", seen);
    for (; *fixed; fixed++)
        check(strchr(seen, *fixed), "a scan %s met \"%s\": %c is missing", backward ? "backward" : "forward", seen, *fixed);
}

static void scan_forward(void *fixed) { scan(fixed, false); }
static void scan_backward(void *fixed) { scan(fixed, true); }

/* Looks for each of these, which are there all the time. */
static void search(void *keys)
{
    for (const char *key = keys; *key; key++) {
        struct arena *arena = arena_open(NULL, "search");
        struct btree_scan *scan;
        struct btree_entries got;
        uint8_t high = (uint8_t)*key + 1;
        must(btree_scan_open(&tree, arena, (const uint8_t *)key, 1, &high, 1, false, &scan));
        must(btree_scan_next(scan, &got));
        check(got.count == 1 && got.row_ids[0] == (uint64_t)*key, "a search did not find %c", *key);
        btree_scan_close(scan);
        arena_close(arena);
    }
}

/* ---- Splits ---- */

static void split_against_search(void)
{
    half_store_begin(32);
    tree_begin(3, "bdfhjl");
    go();
    begin("insert", insert_keys, "cek");
    begin("search", search, "fbl");
    begin("scan", scan_forward, "bdfhjl");
    join_all();
    tree_end("bcdefhjkl");
    store_end();
}

/* The root is a full leaf, so both inserts must split it, one of them a level deeper than it thought. */
static void split_against_split_of_the_root(void)
{
    half_store_begin(32);
    tree_begin(3, "bdf");
    go();
    begin("insert c", insert_keys, "c");
    begin("insert e", insert_keys, "e");
    join_all();
    tree_end("bcdef");
    store_end();
}

static void splits_up_to_the_root(void)
{
    half_store_begin(32);
    tree_begin(3, "bdfhjlnprt");
    go();
    begin("insert left", insert_keys, "ace");
    begin("insert middle", insert_keys, "kim");
    begin("insert right", insert_keys, "suv");
    join_all();
    tree_end("abcdefhijklmnprstuv");
    store_end();
}

/* ---- Leaves that become empty ---- */

static void delete_against_scans(void)
{
    half_store_begin(32);
    tree_begin(3, "abcdefghi");
    go();
    begin("delete", delete_keys, "cdef");
    begin("forward", scan_forward, "abghi");
    begin("backward", scan_backward, "abghi");
    join_all();
    tree_end("abghi");
    store_end();
}

/* The number of the leaf where a scan wants to go on: it is freed, and given out again far away, before the scan comes. */
static void free_and_take(void *far)
{
    delete_keys("jhl");
    insert_keys(far);
}

static void stale_number(void)
{
    bool backward = scheduler_random() % 2, left = scheduler_random() % 2;
    half_store_begin(32);
    tree_begin(3, "bdfhjlnprtvxz");
    go();
    begin("free and take", free_and_take, left ? "ac" : "uw");
    if (backward)
        begin("backward", scan_backward, "bdfnprtvxz");
    else
        begin("forward", scan_forward, "bdfnprtvxz");
    join_all();
    tree_end(left ? "abcdfnprtvxz" : "bdfnprtuvwxz");
    store_end();
}

/* The first leaf under a parent goes, while the leaf on its left, under another parent, splits. */
static void leaf_goes_beside_a_split(void)
{
    half_store_begin(32);
    tree_begin(3, "bdfhjlnprtvxz");
    go();
    begin("delete", delete_keys, "xvt");
    begin("insert", insert_keys, "oqs");
    begin("delete too", delete_keys, "fhj");
    join_all();
    tree_end("bdlnopqrsz");
    store_end();
}

static void delete_against_delete(void)
{
    half_store_begin(32);
    tree_begin(3, "abcdefgh");
    go();
    begin("delete left", delete_keys, "bcd");
    begin("delete right", delete_keys, "efg");
    begin("backward", scan_backward, "ah");
    join_all();
    tree_end("ah");
    store_end();
}

/* A freed leaf is given out again while scans still have its number. */
static void freed_leaf_comes_back(void)
{
    half_store_begin(32);
    tree_begin(3, "abcdefmnopq");
    go();
    begin("delete", delete_keys, "cde");
    begin("insert", insert_keys, "rst");
    begin("forward", scan_forward, "abfmnopq");
    begin("backward", scan_backward, "abfmnopq");
    join_all();
    tree_end("abfmnopqrst");
    store_end();
}

static void insert_where_a_leaf_goes(void)
{
    half_store_begin(32);
    tree_begin(3, "acegik");
    go();
    begin("delete", delete_keys, "eg");
    begin("insert", insert_keys, "fh");
    begin("search", search, "ack");
    join_all();
    tree_end("acfhik");
    store_end();
}

/* Vacuum's sweep over all leaves, while others split and search them. */
static void sweep_keys(void *keys)
{
    uint64_t rows[16], removed;
    size_t count = 0;
    for (const char *key = keys; *key; key++)
        rows[count++] = (uint64_t)*key;
    must(btree_remove_rows(&tree, rows, count, &removed));
    check(removed == count, "the sweep removed %llu of %zu", (unsigned long long)removed, count);
}

static void sweep_against_split_and_scan(void)
{
    half_store_begin(32);
    tree_begin(3, "abcdefgh");
    go();
    begin("sweep", sweep_keys, "bcdg");
    begin("insert", insert_keys, "ij");
    begin("backward", scan_backward, "aefh");
    join_all();
    tree_end("aefhij");
    store_end();
}

/* ---- Unique ---- */

static uint64_t winner;             /* row; 0: nobody yet */
static unsigned losers;

static enum status always_alive(void *context, uint64_t row, bool *live, xid_t *wait_for)
{
    (void)context, (void)row;
    *live = true;
    *wait_for = XID_NONE;
    return STATUS_OK;
}

/* Inserts key x with row x + 256 * n, for thread n. */
static void insert_unique(void *argument)
{
    struct btree_unique unique = {always_alive, NULL, NULL};
    uint64_t row = 'x' + 256 * (uint64_t)(uintptr_t)argument, conflict = 0;
    enum status status = btree_insert(&tree, 0, (const uint8_t *)"x", 1, row, &unique, &conflict);
    if (status == STATUS_OK) {
        check(!winner, "two won the same key");
        winner = row;
        return;
    }
    check(status == STATUS_UNIQUE_VIOLATION, "insert: %s", status_text(status));
    check(conflict % 256 == 'x' && conflict != row, "the conflict is with row %llu", (unsigned long long)conflict);
    losers++;
}

static void unique_race(void)
{
    half_store_begin(32);
    winner = 0, losers = 0;
    tree_begin(3, "uwy");
    go();
    begin("first", insert_unique, (void *)1);
    begin("second", insert_unique, (void *)2);
    join_all();
    check(winner && losers == 1, "%s won, %u lost", winner ? "one" : "nobody", losers);
    tree_end("uwxy");
    store_end();
}

static void unique_race_with_splits(void)
{
    half_store_begin(32);
    winner = 0, losers = 0;
    tree_begin(3, "stuwyz");
    go();
    begin("first", insert_unique, (void *)1);
    begin("second", insert_unique, (void *)2);
    begin("third", insert_unique, (void *)3);
    begin("split", insert_keys, "v");
    join_all();
    check(winner && losers == 2, "%s won, %u lost", winner ? "one" : "nobody", losers);
    tree_end("stuvwxyz");
    store_end();
}

/* Equal keys over several leaves: rows 256 * n + 'x'. */
static void insert_equal(void *argument)
{
    for (uint64_t n = (uintptr_t)argument; n < (uintptr_t)argument + 2; n++)
        must(btree_insert(&tree, 0, (const uint8_t *)"x", 1, 'x' + 256 * n, NULL, NULL));
}

static void delete_equal(void *argument)
{
    for (uint64_t n = (uintptr_t)argument; n < (uintptr_t)argument + 3; n++) {
        bool found;
        must(btree_delete(&tree, 0, (const uint8_t *)"x", 1, 'x' + 256 * n, &found));
        check(found, "row %llu was not there", (unsigned long long)n);
    }
}

static void equal_keys(void)
{
    half_store_begin(32);
    winner = 0, losers = 0;
    tree_begin(3, "vy");
    for (uint64_t n = 10; n < 16; n++)
        must(btree_insert(&tree, 0, (const uint8_t *)"x", 1, 'x' + 256 * n, NULL, NULL));
    go();
    begin("insert", insert_equal, (void *)10);      /* there already: left as they are */
    begin("insert more", insert_equal, (void *)20);
    begin("delete", delete_equal, (void *)13);
    begin("unique", insert_unique, (void *)5);      /* must meet a live one, wherever its own place is */
    join_all();
    check(losers == 1 && !winner, "a unique insert did not see the others");
    tree_end("vxxxxxy");
    store_end();
}

/* ---- A row in doubt: its transaction ends while the unique insert looks ---- */

static struct txn *maker, *inserter;
static xid_t doubtful;
static bool maker_commits;

static enum status alive_by_outcome(void *context, uint64_t row, bool *live, xid_t *wait_for)
{
    enum txn_state state;
    lsn_t number;
    (void)context, (void)row;
    enum status status = txn_outcome(store, doubtful, &state, &number);
    *live = state == TXN_COMMITTED;
    *wait_for = state == TXN_RUNNING ? doubtful : XID_NONE;
    return status;
}

static void end_maker(void *argument)
{
    (void)argument;
    if (maker_commits)
        must(txn_commit(maker));
    else
        txn_abort(maker);
}

static void insert_in_doubt(void *argument)
{
    (void)argument;
    struct btree_unique unique = {alive_by_outcome, NULL, inserter};
    uint64_t conflict = 0;
    enum status status = btree_insert(&tree, 0, (const uint8_t *)"x", 1, 'x' + 256, &unique, &conflict);
    check(status == (maker_commits ? STATUS_UNIQUE_VIOLATION : STATUS_OK), "%s after the other's %s", status_text(status), maker_commits ? "commit" : "abort");
    check(status == STATUS_OK || conflict == 'x', "the conflict is with row %llu", (unsigned long long)conflict);
}

static void unique_in_doubt(void)
{
    struct txn_slot *slots[2];
    store_begin(32);
    tree_begin(3, "uvw");
    maker_commits = scheduler_random() % 2;
    must(txn_slot_open(store, 1, &slots[0]));
    must(txn_slot_open(store, 2, &slots[1]));
    maker = txn_begin(store, slots[0], READ_COMMITTED, false);
    inserter = txn_begin(store, slots[1], READ_COMMITTED, false);
    must(txn_id(maker, &doubtful));
    xid_t other;
    must(txn_id(inserter, &other));
    must(btree_insert(&tree, doubtful, (const uint8_t *)"x", 1, 'x', NULL, NULL));
    go();
    begin("maker", end_maker, NULL);
    begin("inserter", insert_in_doubt, NULL);
    join_all();
    txn_abort(inserter);
    txn_slot_close(slots[0]);
    txn_slot_close(slots[1]);
    tree_end(maker_commits ? "uvwx" : "uvwxx");
    store_end();
}

const struct scenario scenarios_btree[] = {
    {"btree.split_search", split_against_search, 0, "leaves split under a search and a scan"},
    {"btree.split_root", split_against_split_of_the_root, 2, "two inserts split the same root"},
    {"btree.split_up", splits_up_to_the_root, 0, "three inserts whose splits go up to the root"},
    {"btree.delete_scan", delete_against_scans, 0, "leaves are emptied under scans both ways"},
    {"btree.delete_delete", delete_against_delete, 0, "neighbours are emptied at once"},
    {"btree.freed_leaf", freed_leaf_comes_back, 0, "a freed leaf is used again while scans have its number"},
    {"btree.stale_number", stale_number, 0, "the leaf where a scan goes on is freed, and given out far away"},
    {"btree.delete_split", leaf_goes_beside_a_split, 0, "the first leaf of a parent goes while its left sibling splits"},
    {"btree.insert_delete", insert_where_a_leaf_goes, 0, "an insert comes to a leaf that is being taken out"},
    {"btree.sweep", sweep_against_split_and_scan, 0, "vacuum's sweep against a split and a scan"},
    {"btree.unique", unique_race, 2, "two insert the same unique key"},
    {"btree.unique_split", unique_race_with_splits, 0, "three insert the same unique key while its leaf splits"},
    {"btree.equal_keys", equal_keys, 0, "equal keys over several leaves"},
    {"btree.unique_doubt", unique_in_doubt, 0, "a unique insert meets a row whose transaction ends just then"},
    {0},
};
