/* tests/storage/wal_stress.c - many threads append and flush at once; all that was flushed comes back. Exit status 0:
 * all was well.
 *
 *     wal_stress [threads [records [seed]]] */
#include "base/atomic.h"
#include "base/hash.h"
#include "tests/storage/scratch.h"
#include "tests/verdict.h"

#define CHECK(condition) do { if (!(condition)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); abort(); } } while (0)

struct job { struct wal *wal; uint32_t number, records; uint64_t seed; _Atomic uint64_t note; };
struct test_record { struct wal_record head; uint64_t sequence, words[4000]; };

static void append_many(void *argument)
{
    struct job *job = argument;
    struct test_record *record = calloc(1, sizeof *record);
    for (uint32_t i = 0; i < job->records; i++) {
        uint32_t words = (uint32_t)(random_next(&job->seed) % (random_next(&job->seed) % 50 ? 30 : 4000));
        record->head = (struct wal_record){ .length = (uint32_t)(sizeof record->head + 8 + words * 8), .kind = WAL_PAGES, .xid = job->number };
        record->sequence = i;
        for (uint32_t k = 0; k < words; k++)
            record->words[k] = ((uint64_t)job->number << 32 | i) + k;
        lsn_t start, end;
        while (!wal_append(job->wal, &record->head, wal_redo_point(job->wal), &start, &end, &job->note))
            ;
        CHECK(job->note == end);
        if (random_next(&job->seed) % 32 == 0) {
            wal_flush(job->wal, end);
            CHECK(wal_flushed(job->wal) >= end);
        }
        if (random_next(&job->seed) % 64 == 0 && !switch_given("crab.group_commit"))
            atomic_store(&wal_group_commit, random_next(&job->seed) % 2);
        if (random_next(&job->seed) % 512 == 0)
            wal_move_redo_point(job->wal);
    }
    free(record);
}

int main(int argc, char **argv)
{
    uint32_t threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 8, records = argc > 2 ? (uint32_t)atoi(argv[2]) : 3000;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    scratch_open();
    struct wal *wal;
    MUST(wal_open(&(struct wal_options){ .directory = scratch_name("wal"), .ring_bytes = 4u << 20 }, WAL_START, &wal));
    struct job jobs[64];
    struct thread *thread[64];
    for (uint32_t i = 0; i < threads; i++) {
        jobs[i] = (struct job){ .wal = wal, .number = i, .records = records, .seed = seed + i };
        thread[i] = thread_start("appender", append_many, &jobs[i]);
    }
    for (uint32_t i = 0; i < threads; i++)
        thread_join(thread[i]);
    struct wal_stats stats;
    wal_stats(wal, &stats);
    fprintf(stderr, "%llu records, %llu bytes, %llu flushes, %llu waits for the ring\n", (unsigned long long)stats.records,
            (unsigned long long)stats.bytes, (unsigned long long)stats.flushes, (unsigned long long)stats.ring_waits);
    wal_close(wal);

    struct wal_reader *reader;
    struct wal_record *head;
    uint64_t next[64] = { 0 };
    MUST(wal_reader_open(scratch_name("wal"), WAL_START, &reader));
    while (wal_read(reader, &head)) {
        const struct test_record *record = (const struct test_record *)head;
        CHECK(record->sequence == next[head->xid]);
        next[head->xid]++;
        for (uint32_t k = 0; k < (head->length - sizeof record->head - 8) / 8; k++)
            CHECK(record->words[k] == (head->xid << 32 | record->sequence) + k);
    }
    wal_reader_close(reader);
    for (uint32_t i = 0; i < threads; i++)
        CHECK(next[i] == records);
    scratch_close();
    return verdict("wal_stress", threads, (uint64_t)threads * records, seed, 0);
}
