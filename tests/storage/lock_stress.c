/* tests/storage/lock_stress.c - many threads lock tables and rows in random order: incompatible holders never meet,
 * every deadlock is found, a waiting thread can be canceled. The exit status is the verdict.
 *
 *     lock_stress [threads [rounds [seed]]] */
#include "tests/storage/heap_fixture.h"

#include "base/atomic.h"
#include "base/hash.h"
#include "tests/verdict.h"

enum { TABLES = 4, ROWS = 6 };
static _Atomic int held[TABLES][9];
static _Atomic uint64_t deadlocks, granted, failures, canceled;
static uint32_t rounds = 3000;
static uint64_t first_seed = 1;
#define CHECK(condition) do { if (!(condition)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); atomic_fetch_add(&failures, 1); } } while (0)

static const char *const conflicts[9] = {"", "00000001", "00000011", "00001111", "00011111", "00110111", "00111111", "01111111", "11111111"};

static void locker(void *argument)
{
    uint64_t seed = (uintptr_t)argument + first_seed * 17;
    struct txn_slot *slot;
    MUST(txn_slot_open(store, 500 + (int32_t)(uintptr_t)argument, &slot));
    for (uint32_t i = 0; i < rounds; i++) {
        struct txn *txn = txn_begin(store, slot, READ_COMMITTED, false);
        uint8_t mine[TABLES][9] = {{0}};
        enum status status = STATUS_OK;
        for (int k = 0; k < 3 && !status; k++) {
            uint64_t r = random_next(&seed);
            uint32_t table = (uint32_t)(r % TABLES);
            uint8_t mode = (uint8_t)((r >> 8) % 4 ? 1 + (r >> 16) % 3 : 1 + (r >> 16) % 8);
            status = lock_relation(txn, 1000 + table, (enum table_lock)mode, LOCK_WAIT);
            if (status)
                break;
            if (!mine[table][mode]) {
                mine[table][mode] = 1;
                atomic_fetch_add(&held[table][mode], 1);
            }
            atomic_fetch_add(&granted, 1);
            for (int other = 1; other <= 8; other++)
                if (conflicts[mode][other - 1] == '1')
                    CHECK(atomic_load(&held[table][other]) <= mine[table][other]);
        }
        CHECK(status == STATUS_OK || status == STATUS_DEADLOCK);
        if (status)
            atomic_fetch_add(&deadlocks, 1);
        for (int t = 0; t < TABLES; t++)
            for (int m = 1; m <= 8; m++)
                if (mine[t][m])
                    atomic_fetch_sub(&held[t][m], 1);
        if (status)
            txn_abort(txn);
        else
            MUST(txn_commit(txn));
    }
    txn_slot_close(slot);
}

static uint64_t rows[ROWS];
static void row_locker(void *argument)
{
    uint64_t seed = (uintptr_t)argument + first_seed * 99;
    struct txn_slot *slot;
    MUST(txn_slot_open(store, 600 + (int32_t)(uintptr_t)argument, &slot));
    for (uint32_t i = 0; i < rounds / 4; i++) {
        struct txn *txn = txn_begin(store, slot, READ_COMMITTED, false);
        txn_set_synchronous(txn, false);
        enum status status = STATUS_OK;
        for (int k = 0; k < 3 && !status; k++) {
            uint64_t r = random_next(&seed), newer = 0;
            enum heap_outcome outcome = HEAP_DONE;
            status = heap_lock(&heap, txn, rows[r % ROWS], (enum row_lock)(1 + (r >> 20) % 4), LOCK_WAIT, &outcome, &newer);
            CHECK(status || outcome == HEAP_DONE);
        }
        CHECK(status == STATUS_OK || status == STATUS_DEADLOCK);
        if (status) {
            atomic_fetch_add(&deadlocks, 1);
            txn_abort(txn);
        } else {
            atomic_fetch_add(&granted, 1);
            MUST(txn_commit(txn));
        }
    }
    txn_slot_close(slot);
}

/* Two who lock two tables crosswise: one is told, with both in the detail, and the other goes on. */
struct cross { uint32_t first, second; _Atomic int *ready; enum status status; char detail[300]; int slot; };
static void crosser(void *argument)
{
    struct cross *cross = argument;
    struct txn *txn = begin(cross->slot);
    MUST(lock_relation(txn, cross->first, LOCK_EXCLUSIVE, LOCK_WAIT));
    atom_add(cross->ready, 1);
    while (atom_load(cross->ready) < 2)
        sleep_us(100);
    cross->status = lock_relation(txn, cross->second, LOCK_EXCLUSIVE, LOCK_WAIT);
    if (cross->status) {
        snprintf(cross->detail, sizeof cross->detail, "%s", error_current()->detail);
        txn_abort(txn);
    } else {
        MUST(txn_commit(txn));
    }
}

static void cross_locks(void)
{
    _Atomic int ready = 0;
    struct cross a = {.first = 1, .second = 2, .ready = &ready, .slot = 0}, b = {.first = 2, .second = 1, .ready = &ready, .slot = 1};
    struct thread *first = thread_start("cross", crosser, &a), *second = thread_start("cross", crosser, &b);
    thread_join(first);
    thread_join(second);
    struct cross *victim = a.status ? &a : &b;
    CHECK((a.status == STATUS_OK) != (b.status == STATUS_OK));
    CHECK(victim->status == STATUS_DEADLOCK);
    CHECK(strcmp(victim->detail, victim == &a ? "Process 100 waits for ExclusiveLock on relation 2; blocked by process 101.\n"
                                                "Process 101 waits for ExclusiveLock on relation 1; blocked by process 100."
                                              : "Process 101 waits for ExclusiveLock on relation 1; blocked by process 100.\n"
                                                "Process 100 waits for ExclusiveLock on relation 2; blocked by process 101.") == 0);
}

static void waiter(void *argument)
{
    (void)argument;
    struct txn *txn = begin(1);
    enum status status = lock_relation(txn, 9, LOCK_ACCESS_EXCLUSIVE, LOCK_WAIT);
    CHECK(status == STATUS_CANCELED);
    atomic_fetch_add(&canceled, status == STATUS_CANCELED);
    txn_abort(txn);
}

static void cancel(void)
{
    struct txn *txn = begin(0);
    MUST(lock_relation(txn, 9, LOCK_ACCESS_SHARE, LOCK_WAIT));
    struct thread *thread = thread_start("waiter", waiter, NULL);
    struct lock_sight sights[10];
    bool waits = false;
    while (!waits) {
        size_t count = lock_sights(store, sights, 10);
        for (size_t i = 0; i < count && i < 10; i++)
            waits |= !sights[i].granted && sights[i].table == 9;
        sleep_us(100);
    }
    thread_interrupt(thread, INTERRUPT_CANCEL);
    thread_join(thread);
    MUST(txn_commit(txn));
}

int main(int argc, char **argv)
{
    uint32_t threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 6;
    if (argc > 2)
        rounds = (uint32_t)atoi(argv[2]);
    if (argc > 3)
        first_seed = strtoull(argv[3], NULL, 10);
    fixture_open(128);
    cross_locks();
    cancel();
    struct txn *txn = begin(0);
    for (int i = 0; i < ROWS; i++)
        rows[i] = insert(txn, (struct row){i, 0, false, "x", 0});
    MUST(txn_commit(txn));
    for (int kind = 0; kind < 2; kind++) {
        struct thread *started[32];
        for (uint32_t i = 0; i < threads && i < 32; i++)
            started[i] = thread_start("locker", kind ? row_locker : locker, (void *)(uintptr_t)i);
        for (uint32_t i = 0; i < threads && i < 32; i++)
            thread_join(started[i]);
        fprintf(stderr, "%s: %llu granted, %llu deadlocks\n", kind ? "rows" : "tables", (unsigned long long)granted, (unsigned long long)deadlocks);
    }
    CHECK(lock_sights(store, NULL, 0) == 0);
    CHECK(!lock_row_any(store, heap.file));
    fixture_close();
    return verdict("lock_stress", threads, (uint64_t)threads * (rounds + rounds / 4), first_seed, failures);
}
