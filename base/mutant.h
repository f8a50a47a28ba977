/* base/mutant.h - concurrency bugs, planted to show that the tests find them.
 *
 *     if (MUTANT(PARENT_RELEASED_EARLY))
 *         pool_release(&at);
 *
 * A program is built with one of them at most (-DCRAB_MUTANT=MUTANT_PARENT_RELEASED_EARLY); otherwise each is `false`, and
 * the compiler leaves nothing of it. `make mutants` builds each and runs the interleaving scenarios until one fails
 * (tests/interleave/mutants.sh); a mutant that none finds is a hole in the scenarios.
 *
 * Each row: name, the file that it stands in, which scenarios are tried (all whose name begins so), what is broken. */
#ifndef BASE_MUTANT_H
#define BASE_MUTANT_H

#define MUTANTS(X) \
    X(PARENT_RELEASED_EARLY,   "btree/descend.c",       "btree.",         "the parent is released before the child is latched") \
    X(CHILD_CALLED_SAFE,       "btree/descend.c",       "btree.",         "a node with no entry to spare counts as safe: its parent is let go") \
    X(FENCE_NOT_LOOKED_AT,     "btree/descend.c",       "btree.",         "a scan believes the leaf that it finds under the number it remembered") \
    X(META_FORGOTTEN,          "btree/insert.c",        "btree.",         "a root split leaves the meta page as it was") \
    X(UNIQUE_IN_TWO_HOLDS,     "btree/insert.c",        "btree.",         "the leaf is let go between the unique check and the insert") \
    X(SIBLING_AWAITED_LEFT,    "btree/delete.c",        "btree.",         "the left sibling is waited for with the leaf latched") \
    X(LINK_MENDED_ON_ONE_SIDE, "btree/delete.c",        "btree.",         "a leaf goes, its right sibling still points at it") \
    X(JUDGED_UNLATCHED,        "btree/scan.c",          "index_only.",    "entries are judged when their leaf has been let go") \
    X(DEAD_CALLED_VISIBLE,     "storage/vacuum.c",      "index_only.",    "a page is marked visible to all while index entries still lead to its dead rows") \
    X(NOT_LOOKED_UP_AGAIN,     "storage/pool.c",        "pool.",          "whoever waited for another's read takes the frame without a second look-up") \
    X(PAGE_READ_TWICE,         "storage/pool.c",        "pool.",          "nobody asks whether the page came in while a frame was sought") \
    X(PIN_NOT_LOOKED_AT,       "storage/pool.c",        "pool.",          "a page is pinned without a latch, and not looked at again once it is") \
    X(VICTIM_PINNED,           "storage/pool.c",        "pool.",          "a victim is taken though somebody has pinned it meanwhile") \
    X(VICTIM_CHANGED,          "storage/pool.c",        "pool.",          "dirty is not asked for again once nobody can pin the victim") \
    X(VICTIM_BEING_WRITTEN,    "storage/pool.c",        "pool.write",     "a page is evicted while its copy is on the way to the disk") \
    X(DIRTY_CLEARED_LATE,      "storage/pool_write.c",  "pool.write",     "dirty is cleared after the copied page's latch was let go") \
    X(PAGE_BEFORE_LOG,         "storage/pool_write.c",  "wal.pages",      "a page is written before the log is flushed to its LSN") \
    X(LSN_OF_THE_START,        "storage/mtr.c",         "wal.pages",      "a page gets the LSN at which its record begins") \
    X(REDO_POINT_NOT_ASKED,    "storage/wal.c",         "wal.redo_point", "a record built for an older redo point is taken") \
    X(COPY_NOT_AWAITED,        "storage/wal.c",         "wal.",           "the leader writes records that are not copied yet") \
    X(FLUSHED_BEFORE_SYNC,     "storage/wal.c",         "wal.",           "the log counts as flushed before it is synced") \
    X(ONE_COMMITTER_WOKEN,     "storage/wal.c",         "wal.",           "a leader that steps down wakes one of those it served") \
    X(NOBODY_TO_LEAD,          "storage/wal.c",         "wal.",           "a leader that steps down wakes nobody to lead the next round") \
    X(NEXT_BEFORE_INSERTION,   "storage/wal.c",         "wal.",           "the log's end is shown before the insertion that makes it") \
    X(COMMIT_NOT_FLUSHED,      "storage/txn.c",         "wal.",           "COMMIT is acknowledged before its record is flushed") \
    X(LIMIT_PASSES_IN_FLIGHT,  "storage/txn.c",         "txn.",           "the snapshot limit passes a commit that is not stored yet") \
    X(SNAPSHOT_NOT_READ_AGAIN, "storage/txn.c",         "txn.horizon",    "a snapshot is announced, and the limit not read again") \
    X(HORIZON_BACKWARDS,       "storage/txn.c",         "txn.horizon",    "the horizon reads the announced snapshots first and the limit last") \
    X(SLOT_LEFT_LATE,          "storage/txn.c",         "lock.",          "who waits for a transaction is looked for before it is over") \
    X(STRONG_SAID_LATE,        "storage/lock.c",        "lock.",          "a strong lock is announced after the fast ones were moved") \
    X(GRANTED_IN_SILENCE,      "storage/lock.c",        "lock.",          "a waiter is granted its lock and not woken") \
    X(QUEUE_NOT_SERVED,        "storage/lock.c",        "lock.",          "a waiter gives up, and those behind it are not looked at") \
    X(QUEUE_JUMPED,            "storage/lock.c",        "lock.",          "a request is granted past those who wait") \
    X(ROW_LOCK_LEFT_BEHIND,    "storage/row_lock.c",    "lock.",          "an update leaves the row's locks on the old version") \
    X(CIRCLE_NOT_LOOKED_FOR,   "storage/lock_graph.c",  "lock.",          "a wait begins without a look for a deadlock") \
    X(EDGES_SHOWN_LATE,        "storage/lock_graph.c",  "lock.",          "a wait looks for a circle first and shows itself after it") \
    X(TASK_MISSED,             "engine/exec/workers.c", "workers.",       "a worker parks without a last look at the queue") \
    X(MORSEL_CLAIMED_TWICE,    "engine/exec/scan_share.c", "workers.",       "a morsel is claimed by a load and a store") \
    X(WINDOW_OVERRUN,          "engine/exec/scan_share.c", "workers.",       "a grain is claimed whose box is not free") \
    X(HOME_BEFORE_RESULT,      "engine/exec/gather.c",  "workers.",       "a worker counts as home before its result is stored") \
    X(GIVEN_AND_KEPT,          "engine/exec/gather.c",  "workers.",       "grains that are given away are worked on by the giver, too") \
    X(NOBODY_SENT_AGAIN,       "engine/exec/gather.c",  "workers.",       "the leader waits for a grain when all workers are home") \
    X(CONDITION_JOINED_LATE,   "base/thread.c",         "",               "a wait lets the latch go before it stands in the condition's queue")

enum mutant {
    MUTANT_NONE,
#define X(name, file, scenarios, broken) MUTANT_##name,
    MUTANTS(X)
#undef X
};
#ifndef CRAB_MUTANT
#define CRAB_MUTANT MUTANT_NONE
#endif
#define MUTANT(name) (CRAB_MUTANT == MUTANT_##name)

#endif
