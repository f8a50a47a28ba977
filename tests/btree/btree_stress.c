/* tests/btree/btree_stress.c - a storm on one tree, checked by arithmetic.
 *
 *     btree_stress [threads] [operations] [seed]
 *
 * Half of the threads own disjoint key sets: thread t inserts and deletes keys with residue t, and knows at each moment which
 * of its keys are there. Fixed keys (a residue of their own) are there all the time. The other half scan, both ways,
 * and must meet every fixed key once, in order, whatever splits and goes under them. One more thread fights over the same keys as
 * everyone with unique inserts: of all who insert key k, one wins. A sweeper removes rows as vacuum would, and a switcher changes
 * crab.btree_latching under load. At the end the checker walks the tree and the sum of what is left must agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "btree/btree.h"
#include "btree/key.h"
#include "tests/switches.h"
#include "tests/verdict.h"

#define KEYS      4000u                         /* a thread's */
#define FIXED     2000u
#define THREADS_MAX 64

static struct store *store;
static struct btree tree, unique_tree;
static uint32_t threads, operations;
static uint64_t seed;
static _Atomic uint32_t failures, writers_left;
static uint8_t *present[THREADS_MAX];           /* of each writer: which of its keys are in */
static _Atomic uint64_t winners[512];           /* unique tree: row id that won the key, 0 nobody */

#define FAIL(...) do { fprintf(stderr, __VA_ARGS__); fputc('\n', stderr); atomic_fetch_add(&failures, 1); } while (0)
#define MUST(call) do { enum status s_ = (call); if (s_) { FAIL("%s: %s", #call, error_current()->message ? error_current()->message : status_text(s_)); return; } } while (0)

/* Residue r of `threads + 1`; the last one is the fixed keys'. The key's bytes are spread so that neighbours belong to different threads;
 * some are long, so that leaves split at few entries. */
static uint32_t key_of(uint32_t number, uint32_t residue, uint8_t *key)
{
    uint64_t value = __builtin_bswap64((uint64_t)number * (THREADS_MAX + 1) + residue);
    memcpy(key, &value, 8);
    uint32_t length = 8 + number % 5;
    memset(key + 8, 'p', length - 8);
    return length;
}

/* A run of the writer's keys, at once. */
static void write_many(uint32_t me, uint32_t number, uint32_t count)
{
    static _Thread_local uint8_t keys[64][64];
    struct btree_new entries[64];
    uint32_t failed;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = key_of(number + i, me, keys[i]);
        entries[i] = (struct btree_new){ keys[i], length, false, (uint64_t)(number + i) << 16 | (me + 1) };
        present[me][number + i] = 1;
    }
    MUST(btree_insert_many(&tree, 0, entries, count, NULL, &failed, NULL));
}

static void writer(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;
    uint64_t random = seed * 1000 + me;
    uint8_t key[64];
    for (uint32_t n = 0; n < operations; n++) {
        bool growing = n / (operations / 6 + 1) % 2 == 0, found;
        uint64_t r = random_next(&random);
        uint32_t number = (uint32_t)(r % KEYS), length = key_of(number, me, key);
        uint64_t row = (uint64_t)number << 16 | (me + 1);
        if (growing && (r >> 40) % 16 == 0) {
            write_many(me, number, 1 + (uint32_t)(r >> 44) % (KEYS - number < 64 ? KEYS - number : 64));
        } else if (r >> 32 & 1 ? growing : (r >> 33 & 3) == 0) {
            MUST(btree_insert(&tree, 0, key, length, row, NULL, NULL));
            present[me][number] = 1;
        } else {
            MUST(btree_delete(&tree, 0, key, length, row, &found));
            if (found != present[me][number])
                FAIL("writer %u: key %u was %s", me, number, found ? "there" : "not there");
            present[me][number] = 0;
        }
    }
    atomic_fetch_sub(&writers_left, 1);
}

static void reader(void *argument)
{
    uint64_t random = seed * 77 + (uintptr_t)argument;
    uint32_t passes = 0;
    do {
        struct arena *arena = arena_open(NULL, "reader");
        struct btree_scan *scan;
        struct btree_entries got;
        uint8_t low[64], high[64], last[64];
        bool backward = random_next(&random) % 2, any = false;
        uint32_t from = (uint32_t)(random_next(&random) % FIXED), to = from + (uint32_t)(random_next(&random) % (FIXED - from + 1)), met = 0, last_length = 0;
        uint32_t low_length = key_of(from, THREADS_MAX, low), high_length = key_of(to, THREADS_MAX, high);
        uint64_t last_row = 0;
        MUST(btree_scan_open(&tree, arena, low, low_length, high, high_length, backward, &scan));
        for (;;) {
            MUST(btree_scan_next(scan, &got));
            if (!got.count)
                break;
            for (uint32_t i = 0; i < got.count; i++) {
                int order = any ? key_compare(last, last_length, got.keys[i], got.key_lengths[i]) : backward ? 1 : -1;
                if (order == 0)
                    order = (last_row > got.row_ids[i]) - (last_row < got.row_ids[i]);
                if (backward ? order <= 0 : order >= 0)
                    FAIL("reader: out of order");
                any = true;
                memcpy(last, got.keys[i], got.key_lengths[i]);
                last_length = got.key_lengths[i];
                last_row = got.row_ids[i];
                if ((got.row_ids[i] & 0xFFFF) == 0) {        /* a fixed key */
                    uint32_t want = backward ? to - 1 - met : from + met;
                    if (got.row_ids[i] >> 16 != want)
                        FAIL("reader: met fixed key %u, not %u (%s)", (uint32_t)(got.row_ids[i] >> 16), want, backward ? "backward" : "forward");
                    met++;
                }
            }
        }
        if (met != to - from)
            FAIL("reader: met %u fixed keys, not %u", met, to - from);
        btree_scan_close(scan);
        arena_close(arena);
        passes++;
    } while (atomic_load(&writers_left) && !atomic_load(&failures));
}

/* Everybody inserts every key; a row is live from the moment that its insert succeeded (alive says yes to all). */
static enum status always_alive(void *context, uint64_t row, bool *live, xid_t *wait_for)
{
    (void)context, (void)row;
    *live = true;
    *wait_for = XID_NONE;
    return STATUS_OK;
}

/* The same, many keys at once: where one is lost, those before it are won, and the fight goes on behind it. */
static void fight_many(uint32_t me, struct btree_unique *unique)
{
    static _Thread_local uint8_t keys[512][16];
    struct btree_new entries[512];
    for (uint32_t n = 0; n < 512; n++) {
        uint32_t length = key_of(n, 0, keys[n]);
        entries[n] = (struct btree_new){ keys[n], length, true, (uint64_t)n << 16 | (me + 1) };
    }
    for (uint32_t from = 0; from < 512;) {
        uint32_t count = 1 + (from * 7 + me) % 90, failed = 0;
        uint64_t conflict = 0;
        if (count > 512 - from)
            count = 512 - from;
        enum status status = btree_insert_many(&unique_tree, 0, entries + from, count, unique, &failed, &conflict);
        uint32_t won = status ? failed : count;
        for (uint32_t n = from; n < from + won; n++) {
            uint64_t none = 0;
            if (!atomic_compare_exchange_strong(&winners[n], &none, entries[n].row_id))
                FAIL("fighter: key %u won twice", n);
        }
        if (status && status != STATUS_UNIQUE_VIOLATION)
            FAIL("fighter: %s", error_current()->message);
        if (status && conflict >> 16 != from + failed)
            FAIL("fighter: wrong conflict");
        from += won + (status != STATUS_OK);
    }
}

static void fighter(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;
    struct btree_unique unique = { always_alive, NULL, NULL };
    uint8_t key[64];
    if (me % 3 == 1) {
        fight_many(me, &unique);
        return;
    }
    for (uint32_t n = 0; n < 512; n++) {
        uint32_t number = (n * 37 + (me & 1)) % 512, length = key_of(number, 0, key);
        uint64_t conflict = 0, none = 0, row = (uint64_t)number << 16 | (me + 1);
        enum status status = btree_insert(&unique_tree, 0, key, length, row, &unique, &conflict);
        if (status == STATUS_OK) {
            if (!atomic_compare_exchange_strong(&winners[number], &none, row))
                FAIL("fighter: key %u won twice", number);
        } else if (status != STATUS_UNIQUE_VIOLATION) {
            FAIL("fighter: %s", error_current()->message);
            return;
        } else if (conflict >> 16 != number)
            FAIL("fighter: wrong conflict");
    }
}

/* Rows of a residue that only it uses: puts many in, sweeps them out, as vacuum would. */
static void sweeper(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;
    uint8_t key[64];
    uint64_t *rows = malloc(KEYS * sizeof *rows), removed;
    do {
        for (uint32_t n = 0; n < KEYS / 2; n++) {
            uint32_t length = key_of(n, me, key);
            rows[n] = (uint64_t)n << 16 | (me + 1);
            MUST(btree_insert(&tree, 0, key, length, rows[n], NULL, NULL));
        }
        MUST(btree_remove_rows(&tree, rows, KEYS / 2, &removed));
        if (removed != KEYS / 2)
            FAIL("sweeper: removed %llu of %u", (unsigned long long)removed, KEYS / 2);
    } while (atomic_load(&writers_left) && !atomic_load(&failures));
    free(rows);
}

static void switcher(void *argument)
{
    (void)argument;
    uint64_t random = seed;
    while (atomic_load(&writers_left) && !atomic_load(&failures)) {
        atomic_store(&btree_latching, (uint32_t)(random_next(&random) % 3));
        sleep_us(500);
    }
}

/* A row hangs on a transaction that is still running: the unique insert waits for it, holding nothing, and then goes by how it ended. */
static xid_t doubtful;
struct waiter { struct txn *txn; enum status status; };

static enum status alive_by_outcome(void *context, uint64_t row, bool *live, xid_t *wait_for)
{
    enum txn_state state;
    lsn_t number;
    (void)context, (void)row;
    *live = false;
    *wait_for = XID_NONE;
    enum status status = txn_outcome(store, doubtful, &state, &number);
    if (status)
        return status;
    *live = state == TXN_COMMITTED;
    *wait_for = state == TXN_RUNNING ? doubtful : XID_NONE;
    return STATUS_OK;
}

static void wait_insert(void *argument)
{
    struct waiter *waiter = argument;
    struct btree_unique unique = { alive_by_outcome, NULL, waiter->txn };
    uint64_t conflict = 0;
    waiter->status = btree_insert(&unique_tree, 0, (const uint8_t *)"doubt", 5, 2, &unique, &conflict);
    if (waiter->status == STATUS_UNIQUE_VIOLATION && conflict != 1)
        FAIL("wrong conflict");
}

static void doubt(uint32_t file)
{
    struct txn_slot *slots[2];
    unique_tree = (struct btree){ .store = store, .file = file, .name = "doubt" };
    MUST(btree_create_fixed(&unique_tree));
    MUST(txn_slot_open(store, 1, &slots[0]));
    MUST(txn_slot_open(store, 2, &slots[1]));
    for (int round = 0; round < 40; round++) {
        bool commit = round % 2, found;
        struct txn *maker = txn_begin(store, slots[0], READ_COMMITTED, false);
        struct waiter waiter = { .txn = txn_begin(store, slots[1], READ_COMMITTED, false) };
        xid_t other;
        MUST(txn_id(maker, &doubtful));
        MUST(txn_id(waiter.txn, &other));
        MUST(btree_insert(&unique_tree, doubtful, (const uint8_t *)"doubt", 5, 1, NULL, NULL));
        struct thread *thread = thread_start("waiter", wait_insert, &waiter);
        if (round % 4 < 2)                                   /* the other half: as it comes */
            sleep_us(2000);
        if (commit)
            MUST(txn_commit(maker));
        else
            txn_abort(maker);
        thread_join(thread);
        if (waiter.status != (commit ? STATUS_UNIQUE_VIOLATION : STATUS_OK))
            FAIL("doubt: %s after %s", status_text(waiter.status), commit ? "commit" : "abort");
        txn_abort(waiter.txn);
        MUST(btree_delete(&unique_tree, 0, (const uint8_t *)"doubt", 5, 1, &found));
        MUST(btree_delete(&unique_tree, 0, (const uint8_t *)"doubt", 5, 2, &found));
        if (found == commit)
            FAIL("doubt: the entry is %s", found ? "there" : "not there");
    }
    txn_slot_close(slots[0]);
    txn_slot_close(slots[1]);
}

static struct { uint64_t sum, count; } left;
static enum status add_up(void *context, const uint8_t *key, uint32_t length, uint64_t row)
{
    (void)context, (void)key, (void)length;
    left.sum += row;
    left.count++;
    return STATUS_OK;
}

static void storm(uint32_t latching, bool switching, uint16_t max_entries, uint32_t file)
{
    static uint32_t round;
    struct thread *all[2 * THREADS_MAX + 8];
    uint32_t count = 0, writer_count = threads / 2 ? threads / 2 : 1, reader_count = threads - writer_count ? threads - writer_count : 1;
    uint8_t key[64];
    struct btree_stats stats;
    round++;
    if (switch_given("crab.btree_latching")) {
        latching = atomic_load(&btree_latching);
        switching = false;
    }
    atomic_store(&btree_latching, latching);
    tree = (struct btree){ .store = store, .file = file, .name = "storm", .max_entries = max_entries };
    unique_tree = (struct btree){ .store = store, .file = file + 1, .name = "unique", .max_entries = max_entries };
    MUST(btree_create_fixed(&tree));
    MUST(btree_create_fixed(&unique_tree));
    memset((void *)winners, 0, sizeof winners);
    for (uint32_t n = 0; n < FIXED; n++) {
        uint32_t length = key_of(n, THREADS_MAX, key);
        MUST(btree_insert(&tree, 0, key, length, (uint64_t)n << 16, NULL, NULL));
    }
    atomic_store(&writers_left, writer_count);
    for (uint32_t i = 0; i < writer_count; i++) {
        memset(present[i], 0, KEYS);
        all[count++] = thread_start("writer", writer, (void *)(uintptr_t)i);
    }
    for (uint32_t i = 0; i < reader_count; i++)
        all[count++] = thread_start("reader", reader, (void *)(uintptr_t)i);
    for (uint32_t i = 0; i < 3; i++)
        all[count++] = thread_start("fighter", fighter, (void *)(uintptr_t)i);
    all[count++] = thread_start("sweeper", sweeper, (void *)(uintptr_t)(THREADS_MAX - 1));
    if (switching)
        all[count++] = thread_start("switcher", switcher, NULL);
    for (uint32_t i = 0; i < count; i++)
        thread_join(all[i]);
    uint64_t sum = 0, entries = FIXED;
    for (uint32_t n = 0; n < FIXED; n++)
        sum += (uint64_t)n << 16;
    for (uint32_t i = 0; i < writer_count; i++)
        for (uint32_t n = 0; n < KEYS; n++)
            if (present[i][n])
                entries++, sum += (uint64_t)n << 16 | (i + 1);
    left.sum = left.count = 0;
    MUST(btree_check(&tree, add_up, NULL, &stats));
    if (left.sum != sum || left.count != entries || stats.entries != entries)
        FAIL("storm: %llu entries, sum %llu; there should be %llu, %llu", (unsigned long long)left.count, (unsigned long long)left.sum, (unsigned long long)entries, (unsigned long long)sum);
    MUST(btree_check(&unique_tree, NULL, NULL, &stats));
    if (stats.entries != 512)
        FAIL("unique: %llu entries", (unsigned long long)stats.entries);
    fprintf(stderr, "latching %u%s, max_entries %u: %llu entries, %u leaves, height %u, %u free\n", latching, switching ? " and switching" : "", max_entries,
           (unsigned long long)left.count, stats.leaves, stats.height, stats.free_pages);
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 4;
    operations = argc > 2 ? (uint32_t)atoi(argv[2]) : 20000;
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (threads < 2 || threads > THREADS_MAX - 2 || !operations) {
        fprintf(stderr, "usage: %s [threads 2..%d] [operations] [seed]\n", argv[0], THREADS_MAX - 2);
        return 2;
    }
    for (uint32_t i = 0; i < threads; i++)
        present[i] = calloc(1, KEYS);
    char directory[] = "/tmp/crab_btree_stress_XXXXXX", command[128];
    struct store_options options = { .pool_bytes = 64u << 20, .wal_ring_bytes = 8u << 20, .lock_bytes = 4u << 20, .pool_partitions = switch_partitions(),
                                     .checkpoint_seconds = 2, .max_transactions = 20, .max_wal_bytes = 64u << 20 };
    if (!mkdtemp(directory) || store_open(directory, &options, &store)) {
        fprintf(stderr, "cannot open a store: %s\n", error_current()->message ? error_current()->message : "?");
        return 2;
    }
    uint32_t file = 500;
    storm(BTREE_OPTIMISTIC, false, 4, file += 2);
    storm(BTREE_CRAB, false, 4, file += 2);
    storm(BTREE_TREE, false, 4, file += 2);
    storm(BTREE_OPTIMISTIC, true, 5, file += 2);
    storm(BTREE_OPTIMISTIC, false, 0, file += 2);
    doubt(file += 2);
    if (store_close(store))
        FAIL("close: %s", error_current()->message);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command))
        FAIL("cannot remove %s", directory);
    return verdict("btree_stress", threads, 5ull * (threads / 2) * operations, seed, atomic_load(&failures));
}
