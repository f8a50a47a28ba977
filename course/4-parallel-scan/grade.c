/* course/4-parallel-scan/grade.c - the grader of lesson 4: every morsel is judged once and printed in order, no wake-up is lost, no
 * worker comes near a scan that is over, no thread is started for a scan, and the workers are seen at work at once. */
#include "course/4-parallel-scan/pool.h"
#include "base/hooks.h"
#include "course/grading.h"

#define SCANS 3
#define OVER  (-1000000)            /* in `next` of a scan that is gone */

static struct pool pool;
static struct scan scans[SCANS];
static struct { bool alive; int judged[MORSELS_MAX], judged_count, printed; } about[SCANS];
static int judging;
static bool hopes_for_streaming, hopes_for_two;

static int number_of(const struct scan *scan)
{
    int number = (int)(scan - scans);
    require(number >= 0 && number < SCANS, "a morsel of no known scan");
    return number;
}

void morsel_judge(struct scan *scan, int morsel)
{
    int number = number_of(scan);
    require(about[number].alive, "a worker judges a morsel of a scan whose pool_run has come back: the scan is gone");
    require(morsel >= 0 && morsel < scan->count, "the scan has %d morsels, and morsel %d is judged", scan->count, morsel);
    require(about[number].judged[morsel] == 0, "morsel %d is judged twice", morsel);
    require(latch_held_count() == 0, "a worker judges morsel %d and holds a latch", morsel);
    about[number].judged[morsel] = 1;
    if (++judging == 2 && hopes_for_two)
        grade_seen();
    point("judging");
    point("judging");
    judging--;
    about[number].judged[morsel] = 2;
    about[number].judged_count++;
}

void morsel_print(struct scan *scan, int morsel)
{
    int number = number_of(scan);
    require(morsel == about[number].printed, "morsel %d is printed, and it is the turn of morsel %d", morsel, about[number].printed);
    require(about[number].judged[morsel] == 2, "morsel %d is printed before it is judged", morsel);
    require(latch_held_count() == 0, "morsel %d is printed and a latch is held: the workers wait for the client", morsel);
    about[number].printed++;
    if (hopes_for_streaming && about[number].judged_count < scan->count)
        grade_seen();
    point("printing");
}

static void pool_begin(void)
{
    memset(about, 0, sizeof about);
    judging = 0;
    hopes_for_streaming = hopes_for_two = false;
    scheduler_interleave(true);
    pool_open(&pool);
}

static void run_scan(int number, int count)
{
    scans[number] = (struct scan){.count = count};
    about[number].alive = true;
    pool_run(&pool, &scans[number]);
    require(latch_held_count() == 0, "pool_run came back and still holds a latch");
    require(about[number].printed == count, "pool_run came back, and %d of %d morsels are printed", about[number].printed, count);
    about[number].alive = false;
    atomic_store(&scans[number].next, OVER);
    scans[number].working = OVER;
}

static void pool_end(void)
{
    pool_close(&pool);
    for (int i = 0; i < SCANS; i++)
        if (scans[i].count > 0 && about[i].printed > 0)
            require(atomic_load(&scans[i].next) == OVER && scans[i].working == OVER, "a worker touched a scan after its pool_run had come back: the scan is gone by then");
    scheduler_interleave(false);
}

/* ---- Trials ---- */

static void no_scan(void)
{
    pool_begin();
    pool_end();
}

static void one_scan(void)
{
    pool_begin();
    run_scan(0, 1);
    pool_end();
}

static void scans_in_a_row(void)
{
    pool_begin();
    for (int i = 0; i < SCANS; i++)
        run_scan(i, 1 + (int)(scheduler_random() % 4));
    pool_end();
}

static void streaming(void)
{
    pool_begin();
    hopes_for_streaming = true;
    run_scan(0, 4);
    pool_end();
}

static void two_at_once(void)
{
    pool_begin();
    scheduler_interleave(false);
    sleep_us(1000);                 /* both workers have gone to sleep */
    scheduler_interleave(true);
    hopes_for_two = true;
    run_scan(0, 4);
    pool_end();
}

#define ENOUGH (1 + WORKERS)
#define TOO_MANY "the pool's workers are started once, by pool_open, and sleep between scans"

const struct trial trials[] = {
    {.name = "close", .claim = "a pool that was never used closes", .run = no_scan, .preemptions = 2},
    {.name = "one", .claim = "a scan of one morsel comes to its end", .run = one_scan, .preemptions = 1},
    {.name = "row", .claim = "scans in a row: each morsel judged once, printed in order, and no worker left behind", .run = scans_in_a_row},
    {.name = "threads", .claim = "three scans start no thread of their own", .run = scans_in_a_row, .threads = ENOUGH, .too_many = TOO_MANY},
    {.name = "two", .claim = "both workers are at work at once", .run = two_at_once, .unseen = "the two workers never judged at once: was one of them not woken?"},
    {.name = "stream", .claim = "the first rows are printed while the last are still judged", .run = streaming,
     .unseen = "nothing was ever printed before everything was judged: the client waits for the whole scan to see its first row"},
    {0},
};
