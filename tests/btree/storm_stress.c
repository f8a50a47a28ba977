/* tests/btree/storm_stress.c - one tree of tiny nodes, so that nearly every operation splits a node or empties one.
 *
 *     storm_stress split  [threads [operations [seed]]]
 *     storm_stress delete [threads [operations [seed]]]
 *
 * split: all threads but two insert keys of their own, each in an order of its own (rising, falling, at random, a thousand rows of one key), up to
 * the root and beyond; each looks up now and then what it put in. Two more threads look up what others say they have put in, and walk both ways
 * over a range whose least content they know.
 *
 * delete: threads fill the tree with keys of their own and empty it again, eight times. One thread walks both ways over fixed keys that
 * lie between theirs and must meet each once, in order, whatever leaves go under it; another takes rows out as vacuum does. Emptied leaves must
 * have been used again: the file stays smaller than what one filling takes if nothing were.
 *
 * At the end the checker walks the tree, and count and sum of what is left are what arithmetic says. */
#include "base/atomic.h"
#include "base/hash.h"
#include "btree/btree.h"
#include "storage/pool.h"
#include "tests/switches.h"
#include "tests/verdict.h"

#define THREADS_MAX 64
#define ROUNDS      8
#define FIXED       300u

static struct store *store;
static struct btree tree;
static uint32_t threads, keys;                  /* keys: of one thread (split), of one thread's round (delete) */
static uint64_t seed;
static _Atomic uint64_t failures, operations;
static _Atomic uint32_t inserted[THREADS_MAX];  /* split: so many of thread t's keys are in, in its order */
static _Atomic uint32_t busy;                   /* threads that change the tree still */

#define FAIL(...) do { fprintf(stderr, __VA_ARGS__); fputc('\n', stderr); atomic_fetch_add(&failures, 1); } while (0)
#define MUST(call) do { enum status s_ = (call); if (s_) { FAIL("%s: %s", #call, error_current()->message ? error_current()->message : status_text(s_)); return; } } while (0)

/* Keys of neighbouring numbers belong to different owners. */
static uint32_t key_of(uint32_t number, uint32_t owner, uint8_t *key)
{
    uint64_t value = __builtin_bswap64((uint64_t)number * (THREADS_MAX + 1) + owner);
    memcpy(key, &value, 8);
    uint32_t length = 8 + (number * 7 + owner) % 9;
    memset(key + 8, 'p', length - 8);
    return length;
}
static uint64_t row_of(uint32_t number, uint32_t owner) { return (uint64_t)number << 16 | (owner + 1); }

/* The number that thread t puts in as its nth: a permutation of 0 .. keys - 1 (`keys` is no multiple of the prime). */
static uint32_t nth(uint32_t t, uint32_t n)
{
    switch (t % 4) {
    case 0:  return n;
    case 1:  return keys - 1 - n;
    default: return (uint32_t)(((uint64_t)n * 1000003 + t) % keys);
    }
}
/* Every fourth thread puts a thousand rows under one key. */
static uint32_t split_key(uint32_t t, uint32_t number, uint8_t *key) { return key_of(t % 4 == 3 ? number / 1000 * 1000 : number, t, key); }

/* Is the entry (key, row) there? Walks from the key on, either way. */
static void must_find(const uint8_t *key, uint32_t length, uint64_t row, bool backward)
{
    struct arena *arena = arena_open(NULL, "find");
    struct btree_scan *scan;
    struct btree_entries got;
    uint8_t high[32];
    bool found = false;
    memcpy(high, key, length);
    high[length] = 0;                           /* the least key above it */
    MUST(btree_scan_open(&tree, arena, key, length, high, length + 1, backward, &scan));
    do {
        MUST(btree_scan_next(scan, &got));
        for (uint32_t i = 0; i < got.count; i++)
            found |= got.row_ids[i] == row;
    } while (got.count && !found);
    btree_scan_close(scan);
    arena_close(arena);
    if (!found)
        FAIL("row %llx was put in, and is not found %s", (unsigned long long)row, backward ? "backward" : "forward");
}

/* ------------------------------------------------------------------ split */

static void inserter(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;
    uint64_t random = seed * 1000 + me;
    uint8_t key[32];
    for (uint32_t n = 0; n < keys && !atomic_load(&failures); n++) {
        uint32_t number = nth(me, n), length = split_key(me, number, key);
        MUST(btree_insert(&tree, 0, key, length, row_of(number, me), NULL, NULL));
        atom_store(&inserted[me], n + 1);
        if (random_next(&random) % 8 == 0) {
            number = nth(me, (uint32_t)(random_next(&random) % (n + 1)));
            must_find(key, split_key(me, number, key), row_of(number, me), random_next(&random) % 2);
            atomic_fetch_add(&operations, 1);
        }
    }
    atomic_fetch_add(&operations, keys);
    atom_sub(&busy, 1);
}

/* What others say is in must be found; a walk over everything meets at least what was in before it began, in order. */
static void searcher(void *argument)
{
    uint64_t random = seed * 77 + (uintptr_t)argument;
    uint8_t key[32];
    while (atom_load(&busy) && !atomic_load(&failures)) {
        for (int i = 0; i < 200; i++) {
            uint32_t t = (uint32_t)(random_next(&random) % (threads - 2)), in = atom_load(&inserted[t]);
            if (!in)
                continue;
            uint32_t number = nth(t, (uint32_t)(random_next(&random) % in));
            must_find(key, split_key(t, number, key), row_of(number, t), random_next(&random) % 2);
            atomic_fetch_add(&operations, 1);
        }
        uint64_t least = 0, met = 0;
        for (uint32_t t = 0; t < threads - 2; t++)
            least += atom_load(&inserted[t]);
        if (least > 5000)
            continue;
        struct arena *arena = arena_open(NULL, "walk");
        struct btree_scan *scan;
        struct btree_entries got;
        MUST(btree_scan_open(&tree, arena, NULL, 0, NULL, 0, random_next(&random) % 2, &scan));
        do {
            MUST(btree_scan_next(scan, &got));
            met += got.count;
        } while (got.count);
        btree_scan_close(scan);
        arena_close(arena);
        if (met < least)
            FAIL("a walk met %llu entries where there were %llu", (unsigned long long)met, (unsigned long long)least);
        atomic_fetch_add(&operations, met);
    }
}

/* ------------------------------------------------------------------ delete */

static void emptier(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;
    uint8_t key[32];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool found;
        for (uint32_t n = 0; n < keys && !atomic_load(&failures); n++) {
            uint32_t number = nth(me + round, n), length = key_of(number, me, key);
            MUST(btree_insert(&tree, 0, key, length, row_of(number, me), NULL, NULL));
        }
        for (uint32_t n = 0; n < keys && !atomic_load(&failures); n++) {
            uint32_t number = nth(me + round + 1, n), length = key_of(number, me, key);
            if (round == ROUNDS - 1 && number % 7 == 0)
                continue;                       /* these stay */
            MUST(btree_delete(&tree, 0, key, length, row_of(number, me), &found));
            if (!found)
                FAIL("thread %u: key %u is not there", me, number);
        }
        atomic_fetch_add(&operations, 2 * keys);
    }
    atom_sub(&busy, 1);
}

static void sweeper(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;
    uint8_t key[32];
    uint64_t *rows = malloc(keys * sizeof *rows), removed;
    do {
        for (uint32_t n = 0; n < keys; n++) {
            rows[n] = row_of(n, me);
            MUST(btree_insert(&tree, 0, key, key_of(n, me, key), rows[n], NULL, NULL));
        }
        MUST(btree_remove_rows(&tree, rows, keys, &removed));
        if (removed != keys)
            FAIL("the sweeper removed %llu of %u", (unsigned long long)removed, keys);
        atomic_fetch_add(&operations, 2 * keys);
    } while (atom_load(&busy) && !atomic_load(&failures));
    free(rows);
}

static uint32_t fixed_number(uint32_t i) { return (uint32_t)((uint64_t)i * keys / FIXED); }

static void walker(void *argument)
{
    uint64_t random = seed * 99 + (uintptr_t)argument;
    while (atom_load(&busy) && !atomic_load(&failures)) {
        struct arena *arena = arena_open(NULL, "walk");
        struct btree_scan *scan;
        struct btree_entries got;
        bool backward = random_next(&random) % 2;
        uint32_t met = 0;
        MUST(btree_scan_open(&tree, arena, NULL, 0, NULL, 0, backward, &scan));
        do {
            MUST(btree_scan_next(scan, &got));
            for (uint32_t i = 0; i < got.count; i++) {
                if ((got.row_ids[i] & 0xffff) != THREADS_MAX + 1)
                    continue;
                uint32_t want = backward ? FIXED - 1 - met : met;
                if (met >= FIXED || got.row_ids[i] != row_of(want, THREADS_MAX))
                    FAIL("a walk %s met fixed key %llu, not %u", backward ? "backward" : "forward", (unsigned long long)(got.row_ids[i] >> 16), want);
                met++;
            }
        } while (got.count);
        btree_scan_close(scan);
        arena_close(arena);
        if (met != FIXED)
            FAIL("a walk %s met %u fixed keys of %u", backward ? "backward" : "forward", met, FIXED);
        atomic_fetch_add(&operations, met);
    }
}

/* ------------------------------------------------------------------ */

static struct { uint64_t sum, count; } left;
static enum status add_up(void *context, const uint8_t *key, uint32_t length, uint64_t row)
{
    (void)context, (void)key, (void)length;
    left.sum += row;
    left.count++;
    return STATUS_OK;
}

static void storm(bool split)
{
    struct thread *all[THREADS_MAX];
    uint8_t key[32];
    uint64_t sum = 0, count = 0;
    const uint32_t changers = threads - 2;
    tree = (struct btree){ .store = store, .file = 500, .name = split ? "split" : "delete", .max_entries = split ? 3 : 4 };
    MUST(btree_create_fixed(&tree));
    for (uint32_t i = 0; !split && i < FIXED; i++) {
        MUST(btree_insert(&tree, 0, key, key_of(fixed_number(i), THREADS_MAX, key), row_of(i, THREADS_MAX), NULL, NULL));
        sum += row_of(i, THREADS_MAX);
        count++;
    }
    atom_store(&busy, changers);
    for (uint32_t t = 0; t < changers; t++) {
        all[t] = thread_start(split ? "inserter" : "emptier", split ? inserter : emptier, (void *)(uintptr_t)t);
        for (uint32_t n = 0; n < keys; n++)
            if (split || n % 7 == 0)
                sum += row_of(n, t), count++;
    }
    all[changers] = thread_start(split ? "searcher" : "walker", split ? searcher : walker, (void *)(uintptr_t)changers);
    all[changers + 1] = thread_start(split ? "searcher" : "sweeper", split ? searcher : sweeper, (void *)(uintptr_t)(changers + 1));
    for (uint32_t t = 0; t < threads; t++)
        thread_join(all[t]);
    struct btree_stats stats;
    uint32_t pages, most = 2 * ((threads - 1) * keys + FIXED) + 64;
    MUST(btree_check(&tree, add_up, NULL, &stats));
    if (left.count != count || left.sum != sum)
        FAIL("%llu entries with sum %llu; there should be %llu with %llu", (unsigned long long)left.count, (unsigned long long)left.sum, (unsigned long long)count, (unsigned long long)sum);
    MUST(pool_file_pages(store->pool, tree.file, &pages));
    if (!split && pages > most)
        FAIL("%u pages were used where %u suffice: emptied ones were not used again", pages, most);
    fprintf(stderr, "%llu entries, height %u, %u leaves, %u pages, %u free\n", (unsigned long long)left.count, stats.height, stats.leaves, pages, stats.free_pages);
}

int main(int argc, char **argv)
{
    bool split = argc > 1 && !strcmp(argv[1], "split");
    threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 6;
    uint64_t wanted = argc > 3 ? strtoull(argv[3], NULL, 10) : 40000;
    seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    if (argc < 2 || (!split && strcmp(argv[1], "delete")) || threads < 3 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: %s split|delete [threads 3..%d [operations [seed]]]\n", argv[0], THREADS_MAX);
        return 2;
    }
    keys = (uint32_t)(wanted / (threads - 2) / (split ? 1 : 2 * ROUNDS)) + 8;
    char directory[] = "/tmp/crab-storm-XXXXXX", command[128];
    struct store_options options = { .pool_bytes = 48u << 20, .wal_ring_bytes = 8u << 20, .lock_bytes = 4u << 20, .pool_partitions = switch_partitions(),
                                     .checkpoint_seconds = 1, .max_transactions = 20, .max_wal_bytes = 64u << 20 };
    if (!mkdtemp(directory) || store_open(directory, &options, &store)) {
        fprintf(stderr, "cannot open a store: %s\n", error_current()->message ? error_current()->message : "?");
        return 2;
    }
    storm(split);
    if (store_close(store))
        FAIL("close: %s", error_current()->message);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command))
        FAIL("cannot remove %s", directory);
    return verdict(split ? "split storm" : "delete storm", threads, atomic_load(&operations), seed, atomic_load(&failures));
}
