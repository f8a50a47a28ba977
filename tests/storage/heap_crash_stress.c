/* tests/storage/heap_crash_stress.c - power loss under a heap at work. Needs a build with -DCRAB_CRASH_DISK (else it
 * says so and ends well).
 *
 *     heap_crash_stress [rounds [seed [fsync]]]       fsync 0: the WAL only claims to be synced; then some round must fail
 *
 * Threads move money between their accounts, count their transactions in a row of their own, rewrite long values, roll
 * back now and then; vacuum and checkpoints run beside. The process dies at a chosen disk call; what was not synced
 * is kept in part, torn. After recovery: the sum is what it was, each counter is at least what COMMIT acknowledged and
 * at most what was tried, long values are whole, and the heap passes its checker. */
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "storage/crash_disk.h"
#include "tests/storage/heap_fixture.h"

#ifndef CRAB_CRASH_DISK
int main(void)
{
    (void)scan;
    (void)update;
    (void)delete;
    (void)fixture_open;
    (void)fixture_close;
    fprintf(stderr, "heap_crash_stress: not built with -DCRAB_CRASH_DISK, nothing to do\n");
    return 0;
}
#else
enum { THREADS = 3, ACCOUNTS = 8, BALANCE = 100, KEYS = THREADS * (ACCOUNTS + 1), LONG = 30000 };

static struct shared {
    _Atomic uint64_t promised[THREADS], tried[THREADS];
    _Atomic uint32_t made;
    uint32_t fsync, file, overflow_file, space_file;
} *shared;
static uint64_t rows[KEYS];
static int32_t numbers[KEYS];
static _Atomic bool stop;
static char text[LONG];

/* Key k: thread k / (ACCOUNTS + 1)'s; the last of each is its counter. Every third has a long value. */
static bool is_counter(int64_t key) { return key % (ACCOUNTS + 1) == ACCOUNTS; }
static struct row row_of(int64_t key, int32_t number) { return (struct row){key, number, false, key % 3 ? "short" : text, key % 3 ? 0 : LONG}; }

static void open_all(void)
{
    atomic_store(&wal_fsync_enabled, shared->fsync);
    for (int i = 0; i < LONG; i++)
        text[i] = (char)(i * 7 >> 2);
    fixture_store_open(48);
    heap.file = shared->file;
    heap.overflow_file = shared->overflow_file;
    heap.space_file = shared->space_file;
}

static void note_row(void *context, uint64_t row_id, int64_t key, int32_t number, bool null, struct varlen value)
{
    (void)null;
    uint32_t *bad = context;
    struct row expected = row_of(key, number);
    *bad += key < 0 || key >= KEYS || rows[key] != 0;
    *bad += value.length != (expected.text_length ? expected.text_length : 5) || memcmp(value.bytes, expected.text, value.length) != 0;
    if (!*bad) {
        rows[key] = row_id + 1;
        numbers[key] = number;
    }
}

static uint32_t read_all(void)
{
    uint32_t bad = 0;
    memset(rows, 0, sizeof rows);
    struct txn *txn = begin(0);
    uint32_t count = scan(txn, note_row, &bad);
    MUST(txn_commit(txn));
    return bad ? UINT32_MAX : count;
}

static void work(void *argument)
{
    uint64_t seed = (uintptr_t)argument;
    int me = (int)(seed % THREADS), first = me * (ACCOUNTS + 1);
    for (int i = 0; i < 400; i++) {
        uint64_t r = random_next(&seed);
        int from = first + (int)(r % ACCOUNTS), to = first + (int)(r / 16 % ACCOUNTS), counter = first + ACCOUNTS;
        if (from == to)
            continue;
        uint64_t moved[3];
        struct txn *txn = begin(1 + me);
        moved[0] = update(txn, rows[from] - 1, row_of(from, numbers[from] - 1));
        moved[1] = update(txn, rows[to] - 1, row_of(to, numbers[to] + 1));
        moved[2] = update(txn, rows[counter] - 1, row_of(counter, numbers[counter] + 1));
        if ((r >> 20 & 7) == 0) {
            txn_abort(txn);
            continue;
        }
        atom_store(&shared->tried[me], (uint64_t)numbers[counter] + 1);
        MUST(txn_commit(txn));
        atom_store(&shared->promised[me], (uint64_t)numbers[counter] + 1);
        rows[from] = moved[0] + 1, numbers[from]--;
        rows[to] = moved[1] + 1, numbers[to]++;
        rows[counter] = moved[2] + 1, numbers[counter]++;
        if (me == 0 && (r >> 30 & 63) == 0)
            MUST(store_checkpoint(store));
    }
}

static void clean(void *argument)
{
    (void)argument;
    while (!atom_load(&stop)) {
        struct vacuum_result result;
        MUST(heap_vacuum(&heap, slots[7], false, 1 << 20, NULL, NULL, &result));
    }
}

static void workload(uint64_t seed)
{
    crash_disk_plan(1 + random_next(&seed) % 2500, random_next(&seed));
    open_all();
    if (!atom_load(&shared->made)) {
        struct txn *txn = begin(0);
        MUST(heap_create(&heap, txn));
        shared->file = heap.file;
        shared->overflow_file = heap.overflow_file;
        shared->space_file = heap.space_file;
        for (int key = 0; key < KEYS; key++)
            insert(txn, row_of(key, is_counter(key) ? 0 : BALANCE));
        MUST(txn_commit(txn));
        atom_store(&shared->made, 1);
    }
    if (read_all() != KEYS)
        _exit(3);
    struct thread *threads[THREADS], *cleaner = thread_start("clean", clean, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = thread_start("work", work, (void *)(random_next(&seed) / 8 * THREADS + i));
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    atom_store(&stop, true);
    thread_join(cleaner);
    crash_disk_crash(seed);
}

static void recover_and_die(uint64_t seed)
{
    crash_disk_plan(1 + random_next(&seed) % 60, random_next(&seed));
    open_all();
    crash_disk_crash(random_next(&seed));
}

static void check(uint64_t seed)
{
    (void)seed;
    if (!atom_load(&shared->made))
        _exit(0);
    open_all();
    if (read_all() != KEYS)
        _exit(4);
    int64_t sum = 0;
    for (int key = 0; key < KEYS; key++) {
        if (!is_counter(key)) {
            sum += numbers[key];
            continue;
        }
        int me = key / (ACCOUNTS + 1);
        if ((uint64_t)numbers[key] < atom_load(&shared->promised[me]))
            _exit(5);
        if ((uint64_t)numbers[key] > atom_load(&shared->tried[me]))
            _exit(6);
        atom_store(&shared->promised[me], (uint64_t)numbers[key]);
        atom_store(&shared->tried[me], (uint64_t)numbers[key]);
    }
    if (sum != (int64_t)THREADS * ACCOUNTS * BALANCE)
        _exit(7);
    if (heap_check(&heap))
        _exit(8);
    struct vacuum_result result;
    MUST(heap_vacuum(&heap, slots[0], false, 1 << 20, NULL, NULL, &result));
    if (result.rows_live != KEYS || heap_check(&heap) || read_all() != KEYS)
        _exit(10);
    fixture_store_close();
    _exit(0);
}

static int in_child(void (*run)(uint64_t), uint64_t seed)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (!getenv("CRASH_VERBOSE") && !freopen("/dev/null", "w", stderr))
            _exit(2);
        run(seed);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, state = seed;
    (void)delete;
    (void)fixture_open;
    (void)fixture_close;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared->fsync = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
    scratch_open();
    int lost = 0, round;
    for (round = 0; round < rounds && !lost; round++) {
        int code = in_child(workload, random_next(&state));
        if (code != 137)
            fprintf(stderr, "round %d: the workload ended with %d\n", round, code), lost++;
        while (!lost && random_next(&state) % 2)
            if ((code = in_child(recover_and_die, random_next(&state))) != 137)
                fprintf(stderr, "round %d: recovery ended with %d\n", round, code), lost++;
        if (!lost && (code = in_child(check, 0)) != 0)
            fprintf(stderr, "round %d: the check ended with %d\n", round, code), lost++;
    }
    if (!lost || !getenv("CRASH_VERBOSE"))
        scratch_close();
    if (shared->fsync)
        fprintf(stderr, "heap_crash_stress: seed %llu: %s after %d rounds\n", (unsigned long long)seed, lost ? "FAILED" : "fine", round);
    else
        fprintf(stderr, "heap_crash_stress: without fsync: %s\n", lost ? "noticed, as it must be" : "NOT NOTICED");
    return shared->fsync ? lost != 0 : !lost;
}
#endif
