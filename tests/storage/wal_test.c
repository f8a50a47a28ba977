/* tests/storage/wal_test.c - records come back whole, and a torn tail ends the stream. */
#include <criterion/criterion.h>
#include <fcntl.h>

#include "base/hash.h"
#include "tests/storage/scratch.h"

struct test_record { struct wal_record head; uint64_t words[]; };

static lsn_t append(struct wal *wal, uint32_t words, uint64_t number)
{
    struct test_record *record = calloc(1, sizeof *record + words * 8);
    record->head.length = (uint32_t)sizeof *record + words * 8;
    record->head.kind = WAL_PAGES;
    record->head.xid = number;
    for (uint32_t i = 0; i < words; i++)
        record->words[i] = number * 1000003 + i;
    lsn_t start, end;
    _Atomic uint64_t note = 0;
    cr_assert(wal_append(wal, &record->head, wal_redo_point(wal), &start, &end, &note));
    cr_assert_eq(note, end);
    free(record);
    return end;
}

/* How many records come back whole, each checked word by word. */
static uint64_t count_whole(lsn_t from, lsn_t *end)
{
    struct wal_reader *reader;
    struct wal_record *record;
    uint64_t count = 0;
    MUST(wal_reader_open(scratch_name("wal"), from, &reader));
    while (wal_read(reader, &record)) {
        const struct test_record *test = (const struct test_record *)record;
        cr_assert_eq(record->xid, count);
        for (uint32_t i = 0; i < (record->length - sizeof *test) / 8; i++)
            cr_assert_eq(test->words[i], count * 1000003 + i);
        count++;
    }
    if (end)
        *end = wal_reader_position(reader);
    wal_reader_close(reader);
    return count;
}

static struct wal *open_at(lsn_t start)
{
    struct wal *wal;
    MUST(wal_open(&(struct wal_options){ .directory = scratch_name("wal"), .ring_bytes = 4u << 20 }, start, &wal));
    return wal;
}

Test(wal, records_come_back_across_ring_turns_and_segment_ends, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct wal *wal = open_at(WAL_START);
    uint64_t seed = 7, count = 0;
    lsn_t end = WAL_START;
    while (end < WAL_START + 3ull * WAL_SEGMENT_BYTES)
        end = append(wal, (uint32_t)(random_next(&seed) % 50000), count++);
    wal_flush(wal, end);
    cr_assert_eq(wal_flushed(wal), end);
    wal_close(wal);

    lsn_t found;
    cr_assert_eq(count_whole(WAL_START, &found), count);
    cr_assert_eq(found, end);
}

Test(wal, a_torn_tail_ends_the_stream_and_appending_goes_on_there, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct wal *wal = open_at(WAL_START);
    lsn_t ends[10];
    for (uint64_t i = 0; i < 10; i++)
        ends[i] = append(wal, 100, i);
    wal_close(wal);

    int fd = open(scratch_name("wal/0000000000000001"), O_RDWR);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, "torn", 4, (off_t)(ends[6] - WAL_START + 500)), 4);
    close(fd);
    lsn_t end;
    cr_assert_eq(count_whole(WAL_START, &end), 7);
    cr_assert_eq(end, ends[6]);

    /* The records 8 and 9 are whole still. A new record 7 of the old one's length must not bring them back. */
    wal = open_at(end);
    append(wal, 100, 7);
    wal_close(wal);
    cr_assert_eq(count_whole(WAL_START, &end), 8);
}

Test(wal, a_record_built_under_an_old_redo_point_is_refused, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct wal *wal = open_at(WAL_START);
    append(wal, 1, 0);
    lsn_t seen = wal_redo_point(wal), start, end;
    wal_move_redo_point(wal);
    struct wal_record record = { .length = sizeof record, .kind = WAL_PAGES };
    cr_assert_not(wal_append(wal, &record, seen, &start, &end, NULL));
    cr_assert(wal_append(wal, &record, wal_redo_point(wal), &start, &end, NULL));
    wal_close(wal);
}

Test(wal, recycled_segments_are_used_again, .init = (void (*)(void))scratch_open, .fini = scratch_close)
{
    struct wal *wal = open_at(WAL_START);
    uint64_t count = 0;
    lsn_t end = WAL_START;
    while (end < WAL_START + 2ull * WAL_SEGMENT_BYTES)
        end = append(wal, 20000, count++);
    wal_flush(wal, end);
    lsn_t from = end;
    wal_recycle(wal, from);
    cr_assert_neq(access(scratch_name("wal/0000000000000001"), F_OK), 0);
    count = 0;
    while (end < from + 3ull * WAL_SEGMENT_BYTES)
        end = append(wal, 20000, count++);
    wal_close(wal);
    cr_assert_eq(count_whole(from, NULL), count);
}
