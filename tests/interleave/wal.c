/* tests/interleave/wal.c - scenarios of the log, group commit and recovery.
 *
 * The disk knows what a loss of power would take (power.h). So "acknowledged" is checked against the disk itself: when a
 * flush or a COMMIT returns, what it promised must be synced; and when the power fails at any moment of a run, recovery must
 * find everything that was acknowledged by then, and of each change all pages or none. */
#include "tests/interleave/interleave.h"
#include "tests/interleave/power.h"
#include "tests/interleave/rows.h"

#include "base/hash.h"
#include "storage/disk.h"

/* ---- the log alone ---- */

#define LOG "/log"

static struct wal *log_of_run;
static uint32_t records_made;

static void log_begin(uint64_t ring_bytes)
{
    power_disk_begin();
    must(wal_open(&(struct wal_options){.directory = LOG, .ring_bytes = ring_bytes}, WAL_START, &log_of_run));
    records_made = 0;
}

/* All that was appended is there, in one row, whole. */
static void log_end(void)
{
    struct wal_reader *reader;
    struct wal_record *record;
    uint32_t found = 0;
    lsn_t next = wal_next(log_of_run);
    wal_close(log_of_run);
    must(wal_reader_open(LOG, WAL_START, &reader));
    while (wal_read(reader, &record)) {
        const uint64_t *words = (const uint64_t *)(record + 1);
        for (uint32_t i = 0; i < (record->length - sizeof *record) / 8; i++)
            check(words[i] == record->xid, "a record's bytes are another's");
        found++;
    }
    check(found == records_made && wal_reader_position(reader) == next, "%u of %u records can be read", found, records_made);
    wal_reader_close(reader);
    power_disk_end();
}

static lsn_t append(uint32_t words, lsn_t *start)
{
    lsn_t end;
    uint32_t length = (uint32_t)sizeof(struct wal_record) + words * 8, number = ++records_made;
    struct wal_record *record = calloc(1, length);
    *record = (struct wal_record){.length = length, .xid = number, .kind = WAL_PAGES};
    for (uint32_t i = 0; i < words; i++)
        ((uint64_t *)(record + 1))[i] = number;
    while (!wal_append(log_of_run, record, wal_redo_point(log_of_run), start, &end, NULL))
        ;
    free(record);
    return end;
}

static void appends(void *argument)
{
    for (uintptr_t i = 0; i < (uintptr_t)argument; i++) {
        lsn_t start, end = append(1 + (uint32_t)(scheduler_random() % 20), &start);
        wal_flush(log_of_run, end);
        check(power_keeps_wal(LOG, start, end), "a flush returned before the record was copied, written and synced");
    }
}

static void flush(void)
{
    log_begin(0);
    go();
    for (int i = 0; i < 3; i++)
        begin("committer", appends, (void *)2);
    join_all();
    on_time();
    log_end();
}

static void flush_two(void)
{
    log_begin(0);
    go();
    for (int i = 0; i < 2; i++)
        begin("committer", appends, (void *)1);
    join_all();
    on_time();
    log_end();
}

static void flush_alone(void)
{
    atomic_store(&wal_group_commit, 0);
    flush();
    atomic_store(&wal_group_commit, 1);
}

/* The setting changes under way. */
static void switches(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < 4; i++) {
        atomic_store(&wal_group_commit, i % 2);
        sleep_us(10);
    }
}

static void flush_switched(void)
{
    log_begin(0);
    go();
    begin("committer", appends, (void *)2);
    begin("committer", appends, (void *)2);
    begin("switcher", switches, NULL);
    join_all();
    on_time();
    atomic_store(&wal_group_commit, 1);
    log_end();
}

/* Whoever flushes as far as the log goes now, as the WAL writer does, and a checkpoint. */
static void flushes_all(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        lsn_t next = wal_next(log_of_run);
        wal_flush(log_of_run, next);
        check(power_keeps_wal(LOG, WAL_START, next), "a flush of all returned before all was copied, written and synced");
    }
}

static void flush_all(void)
{
    log_begin(0);
    atomic_store(&wal_group_commit, scheduler_random() % 2);
    go();
    begin("committer", appends, (void *)2);
    begin("flusher", flushes_all, NULL);
    join_all();
    on_time();
    atomic_store(&wal_group_commit, 1);
    log_end();
}

/* A ring of 16 KB, records of 4 to 7: whoever finds no room writes it out. */
static void fills(void *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++) {
        lsn_t start, end = append(512 + (uint32_t)(scheduler_random() % 400), &start);
        if (scheduler_random() % 3 == 0) {
            wal_flush(log_of_run, end);
            check(power_keeps_wal(LOG, start, end), "a flush returned before the record was copied, written and synced");
        }
    }
}

static void ring_full(void)
{
    log_begin(16384);
    go();
    for (int i = 0; i < 3; i++)
        begin("appender", fills, NULL);
    join_all();
    on_time();
    log_end();
}

/* ---- commits ---- */

#define TXNS 4

static struct { xid_t xid; lsn_t number; bool acknowledged, durable; } txns[TXNS];
static lsn_t begun_at;

static void commits_begin(void)
{
    power_begin(16);
    sessions_open(TXNS + 1);
    memset(txns, 0, sizeof txns);
    begun_at = wal_next(store->wal);
}

static void commits_end(void)
{
    sessions_close(TXNS + 1);
    power_end();
}

static lsn_t number_of(unsigned i)
{
    enum txn_state state;
    lsn_t number;
    must(txn_outcome(store, txns[i].xid, &state, &number));
    check(state == TXN_COMMITTED, "a transaction that was acknowledged counts as %d", (int)state);
    return number;
}

static void commits_as(unsigned i, bool synchronous)
{
    struct txn *txn = txn_in(i);
    txn_set_synchronous(txn, synchronous);
    must(txn_id(txn, &txns[i].xid));
    must(txn_commit(txn));
    txns[i].acknowledged = true;
    txns[i].durable = synchronous;
    lsn_t number = txns[i].number = number_of(i);
    check(!synchronous || power_keeps_wal("/store/wal", begun_at, number), "COMMIT was acknowledged before the log was synced that far");
}

static void commits(void *argument) { commits_as((unsigned)(uintptr_t)argument, true); }
static void commits_later(void *argument) { commits_as((unsigned)(uintptr_t)argument, false); }

static void three_commit(void)
{
    commits_begin();
    go();
    for (uintptr_t i = 0; i < 3; i++)
        begin("committer", commits, (void *)i);
    join_all();
    on_time();
    commits_end();
}

/* synchronous_commit = off: acknowledged at once; but whoever is synced takes along all that came before. */
static void some_commit_later(void)
{
    commits_begin();
    go();
    begin("commits later", commits_later, (void *)0);
    begin("commits later", commits_later, (void *)1);
    begin("committer", commits, (void *)2);
    join_all();
    on_time();
    commits_end();
}

/* The power fails; what was acknowledged by then (and not by synchronous_commit = off) must be found. */
static bool due[TXNS];
static void power_goes(void *argument)
{
    (void)argument;
    if (scheduler_random() % 2)
        sleep_us(scheduler_random() % 300);
    power_fails();
    for (unsigned i = 0; i < TXNS; i++)
        due[i] = txns[i].durable;
}

static void recover(void)
{
    sessions_close(TXNS + 1);
    power_return(16);
    sessions_open(TXNS + 1);
    for (unsigned i = 0; i < TXNS; i++)
        if (due[i])
            number_of(i);
}

static void power_loss(void)
{
    commits_begin();
    go();
    begin("committer", commits, (void *)0);
    begin("committer", commits, (void *)1);
    begin("commits later", commits_later, (void *)2);
    begin("power", power_goes, NULL);
    join_all();
    on_time();
    recover();
    commits_end();
}

/* ---- pages: of a change that spans two, both or neither ---- */

#define PAGES_FILE 900
#define AT_FRONT   100                      /* in the first sector of the page, and in the last but one */
#define AT_BACK    15500

static uint32_t value_kept, value_due;      /* flushed by now; ... when the power failed */

static void pages_fetch(struct page_ref ref[2], enum latch_mode mode)
{
    for (uint32_t page = 0; page < 2; page++)
        must(pool_fetch(store->pool, (page_id){PAGES_FILE, page}, mode, RANK_HEAP, 0, &ref[page]));
}

static lsn_t pages_change(bool format)
{
    struct page_ref ref[2];
    struct mtr mtr;
    pages_fetch(ref, LATCH_EXCLUSIVE);
    mtr_begin(&mtr, store, XID_NONE);
    for (uint32_t page = 0; page < 2; page++) {
        mtr_join(&mtr, &ref[page]);
        if (format)
            mtr_format(&mtr, ref[page].bytes, PAGE_HEAP);
        uint32_t value;
        memcpy(&value, ref[page].bytes + AT_FRONT, sizeof value);
        value++;
        mtr_write(&mtr, ref[page].bytes, AT_FRONT, &value, sizeof value);
        mtr_write(&mtr, ref[page].bytes, AT_BACK, &value, sizeof value);
    }
    return mtr_commit(&mtr);
}

static uint32_t pages_value(void)
{
    struct page_ref ref[2];
    uint32_t values[4];
    pages_fetch(ref, LATCH_SHARED);
    for (uint32_t page = 0; page < 2; page++) {
        memcpy(&values[page * 2], ref[page].bytes + AT_FRONT, 4);
        memcpy(&values[page * 2 + 1], ref[page].bytes + AT_BACK, 4);
        pool_release(&ref[page]);
    }
    check(values[0] == values[1] && values[1] == values[2] && values[2] == values[3], "a change is there in part: %u %u %u %u", values[0], values[1], values[2], values[3]);
    return values[0];
}

static void changes_pages(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        lsn_t end = pages_change(false);
        if (scheduler_random() % 2)
            continue;
        uint32_t value = pages_value();         /* this change is in it; others may be, whose records come first */
        (void)end;
        wal_flush(store->wal, wal_next(store->wal));
        if (value > value_kept)
            value_kept = value;
    }
}

static void writes_pages(void *argument)
{
    for (int i = 0; i < 2; i++)
        if (argument)
            must(store_checkpoint(store));
        else
            must(pool_write_dirty(store->pool, NULL, NULL, NULL));
}

static void power_goes_for_pages(void *argument)
{
    (void)argument;
    if (scheduler_random() % 4)
        sleep_us(scheduler_random() % 1500);
    power_fails();
    value_due = value_kept;
}

static void pages_begin(void)
{
    uint32_t first;
    power_begin(16);
    must(store_create_fixed_file(store, PAGES_FILE));
    must(pool_extend(store->pool, PAGES_FILE, 2, &first));
    value_kept = value_due = 0;
    wal_flush(store->wal, pages_change(true));
    must(pool_write_dirty(store->pool, NULL, NULL, NULL));
    must(store_checkpoint(store));
}

static void pages(bool checkpoint)
{
    pages_begin();
    go();
    begin("changer", changes_pages, NULL);
    begin("changer", changes_pages, NULL);
    begin("writer", writes_pages, (void *)(uintptr_t)checkpoint);
    begin("power", power_goes_for_pages, NULL);
    join_all();
    check(pages_value() == 5, "the pages say %u", pages_value());
    power_return(16);
    check(pages_value() >= value_due, "%u was flushed, recovery finds %u", value_due, pages_value());
    power_end();
}

/* A change begins while a checkpoint does; then the page is written again, and torn. */
static void changes_four_times(void *argument)
{
    (void)argument;
    for (int i = 0; i < 4; i++)
        pages_change(false);
}

static void checkpoints_and_tears(void *argument)
{
    (void)argument;
    must(store_checkpoint(store));
    must(pool_write_dirty(store->pool, NULL, NULL, NULL));
    power_fails();
}

static void redo_point(void)
{
    pages_begin();
    go();
    begin("changer", changes_four_times, NULL);
    begin("writer", checkpoints_and_tears, NULL);
    join_all();
    power_return(16);
    pages_value();
    power_end();
}

static void pages_written(void) { pages(false); }
static void pages_checkpoint(void) { pages(true); }

const struct scenario scenarios_wal[] = {
    {"wal.flush", flush, 0, "three append and flush: what returned is synced"},
    {"wal.flush_two", flush_two, 3, "two of them"},
    {"wal.flush_alone", flush_alone, 0, "the same, a flush for each (crab.group_commit = off)"},
    {"wal.flush_all", flush_all, 2, "one appends, another flushes as far as the log goes"},
    {"wal.flush_switched", flush_switched, 0, "the same, switched under way"},
    {"wal.ring_full", ring_full, 0, "a ring with room for two records"},
    {"wal.commit", three_commit, 0, "three commit: what was acknowledged is synced"},
    {"wal.commit_later", some_commit_later, 0, "two of them with synchronous_commit = off"},
    {"wal.power_loss", power_loss, 0, "the power fails while three commit"},
    {"wal.pages", pages_written, 0, "the power fails while pages are changed and written"},
    {"wal.redo_point", redo_point, 0, "a change is built while a checkpoint begins; its page is torn later"},
    {"wal.checkpoint", pages_checkpoint, 0, "the same with checkpoints"},
    {0},
};
