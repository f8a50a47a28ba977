/* tests/storage/crash_stress.c - power loss at any disk call. Needs a build with -DCRAB_CRASH_DISK (else it says so and
 * ends well).
 *
 *     crash_stress [rounds [seed [fsync]]]       fsync 0: the WAL only claims to be synced; then some round must fail
 *
 * A child changes groups of three pages, three at a time by one mini-transaction, flushes, and notes in shared memory
 * what was promised; at a chosen disk call it dies, and the disk keeps what it likes of the unsynced writes. The next
 * child recovers (and often dies in the middle of that), the last one checks: the pages of a group agree, and say
 * no less than was promised. */
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "storage/crash_disk.h"
#include "tests/storage/scratch.h"

#ifndef CRAB_CRASH_DISK
int main(void)
{
    fprintf(stderr, "crash_stress: not built with -DCRAB_CRASH_DISK, nothing to do\n");
    return 0;
}
#else
#define GROUPS 30
#define THREADS 3
#define FILE_NUMBER 500

static struct shared { _Atomic uint64_t promised[GROUPS], tried[GROUPS]; _Atomic uint32_t made; uint32_t fsync; } *shared;

static const struct store_options options = {
    .pool_bytes = 24 * PAGE_BYTES, .wal_ring_bytes = 4u << 20, .lock_bytes = 1 << 20, .pool_partitions = 16, .checkpoint_seconds = 300,
    .max_transactions = 10, .max_wal_bytes = 64u << 20,
};

static void fail(const char *what, uint32_t group, uint64_t a, uint64_t b)
{
    fprintf(stderr, "crash_stress: group %u: %s (%llu, %llu)\n", group, what, (unsigned long long)a, (unsigned long long)b);
    _exit(1);
}

static struct store *open_store(void)
{
    struct store *store;
    atomic_store(&wal_fsync_enabled, shared->fsync);
    enum status status = store_open(scratch_name("data"), &options, &store);
    if (status) {
        fprintf(stderr, "crash_stress: %s\n", error_current()->message);
        _exit(1);
    }
    return store;
}

static void change_group(struct store *store, uint32_t group, uint64_t value)
{
    struct mtr mtr;
    mtr_begin(&mtr, store, 0);
    struct page_ref refs[3];
    for (uint32_t i = 0; i < 3; i++) {
        MUST(pool_fetch(store->pool, (page_id){ FILE_NUMBER, group * 3 + i }, LATCH_EXCLUSIVE, RANK_HEAP, 0, &refs[i]));
        mtr_join(&mtr, &refs[i]);
    }
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t at = 64; at < PAGE_BYTES; at += 500)
            mtr_write(&mtr, refs[i].bytes, at / 8 * 8, &value, sizeof value);
    lsn_t lsn = mtr_commit(&mtr);
    wal_flush(store->wal, lsn);
}

static struct store *working;
static void work(void *argument)
{
    uint64_t seed = (uintptr_t)argument;
    uint32_t mine = (uint32_t)(seed % THREADS);
    for (int i = 0; i < 400; i++) {
        uint32_t group = (uint32_t)(random_next(&seed) % (GROUPS / THREADS)) * THREADS + mine;
        uint64_t value = atomic_load(&shared->tried[group]) + 1;
        atomic_store(&shared->tried[group], value);
        change_group(working, group, value);
        atomic_store(&shared->promised[group], value);
        if (mine == 0 && random_next(&seed) % 64 == 0)
            MUST(store_checkpoint(working));
    }
}

static void workload(uint64_t seed)
{
    crash_disk_plan(1 + random_next(&seed) % 1500, random_next(&seed));
    working = open_store();
    if (!atomic_load(&shared->made)) {
        MUST(store_create_fixed_file(working, FILE_NUMBER));
        for (uint32_t i = 0; i < GROUPS * 3; i++) {
            uint32_t page;
            MUST(page_make(working, FILE_NUMBER, &page));
        }
        wal_flush(working->wal, wal_next(working->wal));
        atomic_store(&shared->made, 1);
    }
    struct thread *threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = thread_start("work", work, (void *)(random_next(&seed) / 8 * THREADS + i));
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    crash_disk_crash(seed);
}

static void recover_and_die(uint64_t seed)
{
    crash_disk_plan(1 + random_next(&seed) % 60, random_next(&seed));
    struct store *store = open_store();
    crash_disk_crash(random_next(&seed));
    (void)store;
}

static void check(uint64_t seed)
{
    (void)seed;
    if (!atomic_load(&shared->made))
        _exit(0);
    struct store *store = open_store();
    for (uint32_t group = 0; group < GROUPS; group++) {
        uint64_t first = 0;
        for (uint32_t i = 0; i < 3; i++) {
            struct page_ref ref;
            uint64_t value;
            if (pool_fetch(store->pool, (page_id){ FILE_NUMBER, group * 3 + i }, LATCH_SHARED, RANK_HEAP, 0, &ref))
                fail(error_current()->message, group, i, 0);
            memcpy(&value, ref.bytes + 64, sizeof value);
            for (uint32_t at = 64; at < PAGE_BYTES; at += 500)
                if (memcmp(ref.bytes + at / 8 * 8, &value, sizeof value) != 0)
                    fail("a page is half changed", group, i, at);
            pool_release(&ref);
            if (i == 0)
                first = value;
            if (value != first)
                fail("pages of one mini-transaction differ", group, first, value);
        }
        if (first < atomic_load(&shared->promised[group]))
            fail("what was promised is lost", group, atomic_load(&shared->promised[group]), first);
        if (first > atomic_load(&shared->tried[group]))
            fail("what was never written is there", group, atomic_load(&shared->tried[group]), first);
        atomic_store(&shared->promised[group], first);
        atomic_store(&shared->tried[group], first);
    }
    MUST(store_close(store));
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
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, state = seed;
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
    scratch_close();
    if (shared->fsync)
        fprintf(stderr, "crash_stress: seed %llu: %s after %d rounds\n", (unsigned long long)seed, lost ? "FAILED" : "fine", round);
    else
        fprintf(stderr, "crash_stress: without fsync: %s\n", lost ? "noticed, as it must be" : "NOT NOTICED");
    return shared->fsync ? lost != 0 : !lost;
}
#endif
