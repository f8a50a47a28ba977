/* storage/checkpoint.c - fuzzy checkpoints.
 *
 * 1. The redo point moves first. Whoever logs a change from then on logs the page's whole image (storage/mtr.c), and every
 *    page changed by an earlier record is dirty by then, or its write is under way.
 * 2. When all those pages are written and synced, recovery may begin at the redo point.
 * 3. The control file says so only after the WAL is on disk as far as the checkpoint's own record; the WAL before the
 *    redo point goes only after the control file is synced.
 *
 * 4. A page that a stopped session (crab.step) holds EXCLUSIVE can't be written. The checkpoint fails then: the control file
 *    keeps the redo point it has, from where recovery finds every change of that page, and the WAL stays. The checkpointer
 *    comes back when nobody stands stopped any more. (A redo point in between, at the oldest change that the page needs,
 *    would not do: other pages log their image once after each redo point, and from the middle a torn one could not be redone.)
 *
 * A checkpoint spreads its writes over half the interval, but keeps ahead of the growing WAL; one that somebody asked
 * for hurries. `latch` (CHECKPOINT, I/O allowed) is held by whoever runs one. */
#include "storage/checkpoint.h"

#include <stdlib.h>

#include "base/atomic.h"
#include "base/latch.h"
#include "base/step.h"
#include "storage/control.h"
#include "storage/txn.h"

struct checkpointer {
    struct store *store;
    struct latch latch;                                     /* CHECKPOINT: one at a time */
    struct control control;                                 /* by latch */

    struct latch state_latch;                               /* LEAF: */
    struct condition wake, done;
    uint64_t requests, answered;                            /* a request is answered by a checkpoint begun after it */
    enum status last_status;
    bool     stop;
    struct thread *thread;

    _Atomic uint32_t seconds;
    _Atomic uint64_t max_wal_bytes;
    _Atomic bool     hurry;                                 /* the one under way is asked to be quick */
    uint64_t paced_from_us;
    _Atomic uint64_t requested, timed, pages, last_us;
};

struct checkpointer *checkpointer_open(struct store *store, uint32_t seconds, uint64_t max_wal_bytes)
{
    struct checkpointer *self = calloc(1, sizeof *self);
    self->store = store;
    latch_init(&self->latch, RANK_CHECKPOINT, 0, 0, 0);
    latch_init(&self->state_latch, RANK_LEAF, 0, 0, 0);
    condition_init(&self->wake, "checkpoint.wake");
    condition_init(&self->done, "checkpoint.done");
    atom_store(&self->seconds, seconds ? seconds : 300);
    atom_store(&self->max_wal_bytes, max_wal_bytes ? max_wal_bytes : 1u << 30);
    atom_store(&self->hurry, true);                         /* until the thread runs, somebody waits for each */
    if (control_read(store->directory, &self->control))
        self->control = (struct control){ 0 };
    return self;
}

static bool wal_is_long(struct checkpointer *self)
{
    struct wal *wal = self->store->wal;
    return wal_next(wal) - wal_redo_point(wal) > atom_load(&self->max_wal_bytes);
}

/* Half of the WAL that may be written until the next checkpoint is this one's share. */
static bool wal_runs_ahead(struct checkpointer *self, uint64_t done, uint64_t total)
{
    struct wal *wal = self->store->wal;
    double written = (double)(wal_next(wal) - wal_redo_point(wal)) / ((double)atom_load(&self->max_wal_bytes) / 2);
    return written > (double)done / (double)total;
}

static void pace(void *context, uint64_t done, uint64_t total)
{
    struct checkpointer *self = context;
    if (done % 16 || atom_load(&self->hurry))
        return;
    uint64_t budget_us = (uint64_t)atom_load(&self->seconds) * 500000;
    uint64_t due = self->paced_from_us + (uint64_t)((double)budget_us * (double)done / (double)total);
    while (now_us() < due && !atom_load(&self->hurry) && !wal_runs_ahead(self, done, total)) {
        uint64_t left = due - now_us();
        sleep_us(left > budget_us ? 0 : left > 50000 ? 50000 : left);
    }
}

enum status checkpoint_now(struct checkpointer *self, bool final)
{
    struct store *store = self->store;
    uint64_t begun = now_us(), pages = 0;
    log_line("LOG", "checkpoint starting");
    latch_acquire(&self->latch, LATCH_EXCLUSIVE);
    self->paced_from_us = begun;

    lsn_t redo = wal_move_redo_point(store->wal);   /* before the counters are read: what they miss, redo finds */
    struct checkpoint_record record = {
        .head = { .length = sizeof record, .kind = WAL_CHECKPOINT }, .redo = redo,
        .next_xid = txn_next_xid(store), .next_file = atom_load(&store->next_file),
    };
    enum status status = pool_write_dirty(store->pool, pace, self, &pages);
    if (!status) {
        files_sync_all(store->files);
        lsn_t start, end, clean_from = record.redo;
        while (!wal_append(store->wal, &record.head, wal_redo_point(store->wal), &start, &end, NULL))
            ;
        wal_flush(store->wal, end);
        if (final && start == record.redo)
            clean_from = end;                               /* nothing at all came in between: the stream goes on behind the record */
        self->control.redo = clean_from;
        self->control.next_xid = record.next_xid;
        self->control.next_file = record.next_file;
        self->control.clean = final;
        self->control.bootstrapped = !store->fresh;
        status = control_write(store->directory, &self->control);
        if (!status)
            wal_recycle(store->wal, clean_from);
    }
    latch_release(&self->latch);
    atom_add(&self->pages, pages);
    uint64_t took = now_us() - begun;
    atom_store(&self->last_us, took);
    if (!status)
        log_line("LOG", "checkpoint complete: wrote %llu pages, %.3f s", (unsigned long long)pages, (double)took / 1e6);
    return status;
}

/* Once, by the checkpointer: answers the requests that were there when it began. state_latch held. */
static void checkpoint_for(struct checkpointer *self)
{
    uint64_t asked = self->requests;
    atom_store(&self->hurry, asked > self->answered || self->stop);
    latch_release(&self->state_latch);
    enum status status = checkpoint_now(self, false);
    latch_acquire(&self->state_latch, LATCH_EXCLUSIVE);
    self->answered = asked;
    self->last_status = status;
    if (status)
        log_line("ERROR", "checkpoint failed: %s", error_current()->message ? error_current()->message : status_text(status));
    condition_wake_all(&self->done);
}

static void checkpointer_run(void *argument)
{
    struct checkpointer *self = argument;
    uint64_t last = now_us(), tried = 0;
    bool again = false;                                     /* rule 4 */
    lsn_t quiet = 0;                                        /* where the WAL stood after the last one */
    latch_acquire(&self->state_latch, LATCH_EXCLUSIVE);
    while (!self->stop) {
        uint64_t interval = (uint64_t)atom_load(&self->seconds) * 1000000, now = now_us();
        bool asked = self->requests > self->answered;
        bool due = now - last >= interval && wal_next(self->store->wal) != quiet;
        bool big = wal_is_long(self) && now - tried >= 1000000;             /* after a failure: once a second */
        bool back = again && atomic_load_explicit(&step_standing, memory_order_relaxed) == 0;
        if (!asked && !due && !big && !back) {
            condition_wait_until(&self->wake, &self->state_latch, now + 500000, false);
            continue;
        }
        atomic_fetch_add_explicit(due && !asked && !big ? &self->timed : &self->requested, 1, memory_order_relaxed);
        tried = last = now;
        checkpoint_for(self);
        again = self->last_status == STATUS_OBJECT_IN_USE;
        quiet = wal_next(self->store->wal);
    }
    latch_release(&self->state_latch);
}

enum status checkpointer_start(struct checkpointer *self)
{
    self->thread = thread_start("checkpointer", checkpointer_run, self);
    return self->thread ? STATUS_OK : error_set(STATUS_OUT_OF_MEMORY, "could not start the checkpointer");
}

void checkpointer_stop(struct checkpointer *self)
{
    if (!self->thread)
        return;
    latch_acquire(&self->state_latch, LATCH_EXCLUSIVE);
    self->stop = true;
    atom_store(&self->hurry, true);
    condition_wake_all(&self->wake);
    condition_wake_all(&self->done);
    latch_release(&self->state_latch);
    thread_join(self->thread);
    self->thread = NULL;
}

void checkpointer_close(struct checkpointer *self)
{
    if (!self)
        return;
    checkpointer_stop(self);
    free(self);
}

/* The checkpoint that answers is one that began after the request. */
enum status store_checkpoint(struct store *store)
{
    struct checkpointer *self = store->checkpointer;
    if (!self->thread)
        return checkpoint_now(self, false);
    latch_acquire(&self->state_latch, LATCH_EXCLUSIVE);
    uint64_t mine = ++self->requests;
    atom_store(&self->hurry, true);
    condition_wake_all(&self->wake);
    enum wake wake = WAKE_SIGNALED;
    while (self->answered < mine && !self->stop && wake != WAKE_INTERRUPTED)
        wake = condition_wait_until(&self->done, &self->state_latch, 0, true);
    bool answered = self->answered >= mine;
    enum status status = self->last_status;
    latch_release(&self->state_latch);
    if (!answered)
        return wake == WAKE_INTERRUPTED ? error_set(STATUS_CANCELED, "canceling statement due to user request")
                                        : error_set(STATUS_CANNOT_CONNECT_NOW, "the database system is shutting down");
    if (status == STATUS_OBJECT_IN_USE) {
        error_set(status, "could not complete the checkpoint: a stopped session holds pages that it must write");
        error_hint("crab_latches shows who stands where; crab_run() lets it go.");
    } else if (status) {
        error_set(status, "checkpoint request failed");
        error_hint("Consult recent messages in the server log for details.");
    }
    return status;
}

void store_set_checkpoint(struct store *store, uint32_t seconds, uint64_t max_wal_bytes)
{
    atom_store(&store->checkpointer->seconds, seconds);
    atom_store(&store->checkpointer->max_wal_bytes, max_wal_bytes);
}

void store_checkpoint_stats(struct store *store, struct checkpoint_stats *out)
{
    struct checkpointer *self = store->checkpointer;
    *out = (struct checkpoint_stats){
        .requested = self->requested, .timed = self->timed, .pages = self->pages, .last_us = self->last_us,
        .last_redo = wal_redo_point(store->wal),
    };
}
