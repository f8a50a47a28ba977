/* engine/exec/gather.c - pipelines run by several workers, and what the leader does meanwhile.
 *
 * The parallel part of a pipeline begins at a table scan. Each of N workers has locals of its own for every operator of it and
 * claims morsels of the scan. It ends either in a sink that has a part for each worker (aggregate, sort, hash build), or in
 * *boxes*: one a grain, in which a worker leaves copies of what it made of the grain. The leader takes the boxes in the
 * order of the grains and pushes them on; it judges nothing itself. Where there is nothing to print, in a sink, it is
 * one of the N: one thread fewer to wake, and a query that is over before the others are awake has lost nothing.
 *
 *     box:  EMPTY --claimed--> FILLING --grain done, failed, or too big--> DONE --leader took it--> EMPTY
 *
 * 1. Boxes are a ring of WINDOW grains; no grain is claimed whose box is not free. A worker that can't claim goes home, and is
 *    sent again when half the window is free: no worker waits for a client, and none keeps a pin or latch while it isn't working. Nor do
 *    boxes take up any number of bytes: once they hold half of WINDOW_BYTES together nothing is claimed until most of it is printed; and a
 *    grain that needs more than its share (BOX_BYTES) of a full window is given up: what its box has is thrown away, and
 *    the leader reads that grain itself when its turn comes, printing as it goes. So whoever has the lowest grain always has room. A grain
 *    gives so much only if a join makes many rows of each, and then printing them takes longer than making them.
 * 2. An error belongs to its grain. Grains before it are worked on as if nothing had happened; later ones aren't begun. It is
 *    raised when the leader comes to its box, if it ever does: a LIMIT may be met before. In a sink, the error of the
 *    lowest grain is raised when all are home.
 * 3. Who wants no more (LIMIT, an interrupt, an error) sets stop; workers look at it at every page. The leader
 *    always waits until all are home.
 * 4. The last worker may still stand in the exchange's latch when the leader has seen it home; so exchanges are used again,
 *    never freed, and their latches are made once.
 * 5. Into a sink, morsels are long: about MORSELS_EACH a worker. A hand that has worked on its morsel for PATIENCE_US while another
 *    found nothing to claim gives away what it has not begun, about half of it, at a grain that keeps both parts aligned
 *    (struct grain_run). Who takes that gets locals of its own, for within one local grains only rise.
 * 6. The leader begins alone: the others are sent when it has worked for START_US, so that a small query wakes nobody for nothing. In a plain SELECT what it
 *    reads in that time needs no box.
 * 7. A hand that is done looks whether a task of its query still waits for a thread of the pool. A hand that never came has
 *    nothing left to do, grains given away are worked on by whoever finds them: so the query never waits for a busy pool. */
#include <stddef.h>
#include <stdlib.h>
#include "base/latch.h"
#include "base/mutant.h"
#include "base/step.h"
#include "engine/exec/gather.h"
#include "engine/exec/inner_run.h"

#ifndef WINDOW
#define WINDOW 64                        /* grains; a multiple of 4 */
#endif
#ifndef WINDOW_BYTES
#define WINDOW_BYTES (32u << 20)
#define BOX_BYTES    (256u << 10)
#endif
#ifndef MORSELS_EACH
#define MORSELS_EACH 8
#define PATIENCE_US 4000
#endif
#ifndef START_US
#define START_US 200
#endif
#ifndef SPIN_US
#define SPIN_US 40                       /* so long the leader looks for the others to come home before it parks */
#endif

struct exchange;
struct hand {                            /* one worker of the pipeline, or a piece of one's work that was given away */
    struct task task;
    struct hand *next;                   /* of the exchange */
    struct exchange *x;
    struct worker worker;
    struct local *source, *sink;         /* made when it begins; NULL: it never did */
    struct local **locals;               /* of the operators, from the top down */
    uint64_t grain;                      /* being worked on */
    uint64_t began_us;                   /* its run of grains */
    struct counted { uint64_t rows, filtered; } *before;     /* by operator, where rows are counted: before that grain */
    struct node_counters *inner_before;  /* and of its own run (inner_run.h), by node */
    bool piece;                          /* works on worker.grains and claims nothing */
    bool working;                        /* boxes; under the latch */
};

enum box_state { EMPTY, FILLING, DONE };
struct box { enum box_state state; struct arena *arena; struct rows rows; struct error error; bool failed, given_up; };

struct exchange {
    struct latch latch;                  /* guards states, working, the list of hands, and what follows */
    struct condition changed;
    struct exchange *next_free;
    struct exchange *next_open;          /* of the run: those whose hands may be out while rows go to the client */
    _Atomic bool stop;
    _Atomic uint32_t out;                /* hands that are not home; changed under the latch */
    _Atomic uint32_t wanting;            /* hands that found nothing to claim, less the pieces given to them */
    _Atomic bool failed;                 /* failed_grain is set */
    _Atomic bool full;                   /* boxes hold so much that nothing is claimed */
    _Atomic uint64_t box_bytes;          /* what boxes hold */
    uint64_t wanted;                     /* the grain that the leader waits for */
    uint64_t failed_grain;               /* lowest grain with an error; UINT64_MAX none */
    struct error error;                  /* of it, in a sink; of `unmade` */
    bool unmade;                         /* boxes: a hand could not begin. It has no grain: nobody is sent any more, and the leader raises it at the first box that isn't done */
    struct hand *hands;
    uint16_t hand_count;                 /* without pieces */
    /* not changed while workers work */
    struct run *run;
    struct exec_node *top, *source;
    uint16_t depth;                      /* operators in the pipeline */
    uint64_t send_at_us;                 /* the leader's: when to send the others; 0: they are sent */
    const struct sink_class *sink_class; struct exec_node *sink_op;
    bool whole_pieces;                   /* nothing of a morsel is given away */
    bool inner;                          /* an operator of it runs plans for its rows */
    const struct run_answer *answers;    /* of those, as far as they are known */
    struct box *boxes;
};

/* Rule 4. */
static struct latch free_latch = { .rank = RANK_LEAF };
static struct exchange *free_exchanges;

static struct exchange *exchange_take(void)
{
    latch_acquire(&free_latch, LATCH_EXCLUSIVE);
    struct exchange *x = free_exchanges;
    if (x)
        free_exchanges = x->next_free;
    latch_release(&free_latch);
    if (x) {
        size_t kept = offsetof(struct exchange, next_free);
        memset((uint8_t *)x + kept, 0, sizeof *x - kept);
        return x;
    }
    x = calloc(1, sizeof *x);
    if (!x)
        panic("out of memory");
    latch_init(&x->latch, RANK_EXCHANGE, 0, 0, 0);
    condition_init(&x->changed, "exchange");
    return x;
}

static void exchange_give(struct exchange *x)
{
    latch_acquire(&free_latch, LATCH_EXCLUSIVE);
    x->next_free = free_exchanges;
    free_exchanges = x;
    latch_release(&free_latch);
}

struct box_local { struct local local; struct hand *hand; };

void worker_arenas_close(struct run *run)
{
    while (run->worker_arenas) {
        struct kept_arena *kept = run->worker_arenas;
        run->worker_arenas = kept->next;
        arena_close(kept->arena);
    }
}

uint16_t pipeline_workers(const struct exec_node *top)
{
    const struct run *run = top->run;
    int most = run->settings ? run->settings->max_parallel_workers_per_gather : 0;
    if (most < 2 || run->nesting > 0 || !run->plan || !workers_available())
        return 0;
    const struct exec_node *op = top;
    for (;; op = op->left) {
        if (!op || op->serial || !op->class->parallel)
            return 0;
        if (scan_is_shared(op))
            break;
    }
    uint64_t workers = op->plan->workers_planned, grains = scan_grains(op);
    if (workers > (uint64_t)most)
        workers = (uint64_t)most;
    if (workers > grains)
        workers = grains;
    return workers < 2 ? 0 : (uint16_t)workers;
}

/* ---- in the workers ---- */

/* Rule 6; in the leader, between grains. */
static void send_others(struct exchange *x)
{
    struct task *tasks[x->hand_count];
    uint16_t n = 0;
    x->send_at_us = 0;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    for (struct hand *hand = x->hands; hand; hand = hand->next)
        if (!hand->worker.leads)
            tasks[n++] = &hand->task;
    atom_add(&x->out, n);
    latch_release(&x->latch);
    workers_submit(tasks, n);
}

static void claimed(void *context, uint64_t first, uint64_t end)
{
    struct hand *hand = context;
    struct exchange *x = hand->x;
    hand->grain = first;
    if (!x->boxes) {
        hand->began_us = now_us();
        if (hand->worker.leads && x->send_at_us && hand->began_us >= x->send_at_us && end < scan_grains(x->source))
            send_others(x);
        return;
    }
    for (uint16_t d = 0; d < x->depth && x->run->counters; d++)
        hand->before[d] = (struct counted){ hand->locals[d]->rows, hand->locals[d]->filtered };
    if (hand->inner_before)
        inner_counts(hand->inner_before, hand->worker.run->counters->nodes, x->run->plan->node_count);
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    for (uint64_t g = first; g < end; g++)
        x->boxes[g % WINDOW].state = FILLING;
    latch_release(&x->latch);
}

static void box_empty(struct exchange *x, struct box *box)
{
    atom_sub(&x->box_bytes, box->rows.bytes);
    box->rows = (struct rows){0};
    if (box->arena)
        arena_reset(box->arena);
}

static enum status box_take(struct local *local, const struct batch *batch)
{
    struct hand *hand = ((struct box_local *)local)->hand;
    struct exchange *x = hand->x;
    struct box *box = &x->boxes[hand->grain % WINDOW];
    ASSERT_SLOW(batch->grain == hand->grain);
    if (!box->arena)
        box->arena = arena_open(NULL, "box");
    if (box->rows.column_count == 0 && box->rows.count == 0)
        rows_open(&box->rows, box->arena, x->top->plan->types, x->top->plan->column_count);
    uint64_t before = box->rows.bytes, all;
    rows_append(&box->rows, batch);
    all = atom_add(&x->box_bytes, box->rows.bytes - before) + box->rows.bytes - before;
    if (all > WINDOW_BYTES / 2 && !atom_load(&x->full)) {
        scan_limit(x->source, 0);
        atom_store(&x->full, true);
    }
    hand->worker.again = all > WINDOW_BYTES && box->rows.bytes > BOX_BYTES;
    return hand->worker.again ? STATUS_STOP : STATUS_OK;
}

/* Rule 1: the leader will read the grain itself. */
static void box_give_up(struct hand *hand)
{
    struct exchange *x = hand->x;
    struct box *box = &x->boxes[hand->grain % WINDOW];
    hand->worker.again = false;
    box_empty(x, box);
    for (uint16_t d = 0; d < x->depth && x->run->counters; d++) {
        hand->locals[d]->rows = hand->before[d].rows;
        hand->locals[d]->filtered = hand->before[d].filtered;
    }
    if (hand->inner_before)
        inner_counts(hand->worker.run->counters->nodes, hand->inner_before, x->run->plan->node_count);
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    box->state = DONE;
    box->given_up = true;
    if (hand->grain == x->wanted)
        condition_wake_all(&x->changed);
    latch_release(&x->latch);
}

static enum status box_grain_end(struct local *local, uint64_t grain)
{
    struct hand *hand = ((struct box_local *)local)->hand;
    struct exchange *x = hand->x;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    x->boxes[grain % WINDOW].state = DONE;
    hand->grain = grain + 1;
    bool late = grain + 1 > x->failed_grain;
    if (grain == x->wanted)
        condition_wake_all(&x->changed);
    latch_release(&x->latch);
    return late ? STATUS_STOP : STATUS_OK;
}

static struct hand *hand_add(struct exchange *x, struct hand *hand, uint16_t number);

/* Rule 5. What of first .. end is not begun is `next` and on. The new run begins at the multiple of the largest power of two that lies
 * behind `next`: there is but one, so that it is no longer than that power. */
static void give(struct hand *hand, uint64_t next)
{
    struct exchange *x = hand->x;
    struct grain_run *grains = &hand->worker.grains;
    uint64_t size = 1, first = next + 1;
    while (((next + size * 2) & ~(size * 2 - 1)) < grains->end) {
        size *= 2;
        first = (next + size) & ~(size - 1);
    }
    uint32_t wanting = atom_load(&x->wanting);
    do {
        if (wanting == 0)
            return;
    } while (!atom_cas(&x->wanting, &wanting, wanting - 1));
    struct arena *arena = arena_open(NULL, "worker");
    struct hand *other = arena_new(arena, struct hand);
    hand_add(x, other, hand->worker.number);
    other->worker.arena = arena;
    other->worker.grains = (struct grain_run){ first, grains->end };
    other->piece = true;
    if (!MUTANT(GIVEN_AND_KEPT))
        grains->end = first;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    other->next = x->hands;
    x->hands = other;
    atom_add(&x->out, 1);
    latch_release(&x->latch);
    struct task *task = &other->task;
    workers_submit(&task, 1);
}

/* Between two grains of a morsel that goes into a sink. */
static enum status grain_over(struct worker *worker, uint64_t next)
{
    struct hand *hand = (struct hand *)((uint8_t *)worker - offsetof(struct hand, worker));
    struct exchange *x = hand->x;
    hand->grain = next;
    if (worker->leads && x->send_at_us && now_us() >= x->send_at_us)
        send_others(x);
    if (atom_load(&x->failed)) {
        latch_acquire(&x->latch, LATCH_EXCLUSIVE);
        bool late = next > x->failed_grain;
        latch_release(&x->latch);
        if (late)
            return STATUS_STOP;
    }
    if (!x->whole_pieces && next + 1 < worker->grains.end && atom_load(&x->wanting) && now_us() >= hand->began_us + PATIENCE_US)
        give(hand, next);
    return STATUS_OK;
}

/* Its locals, in its own thread. */
static enum status hand_make(struct hand *hand)
{
    struct exchange *x = hand->x;
    if (!hand->worker.arena)
        hand->worker.arena = arena_open(NULL, "worker");
    struct arena *arena = hand->worker.arena;
    hand->locals = arena_array(arena, struct local *, x->depth);
    hand->before = arena_array(arena, struct counted, x->depth);
    enum status status = STATUS_OK;
    struct local *next;
    if (x->inner)
        inner_run_open(&hand->worker, x->answers);
    hand->inner_before = x->inner && x->boxes && x->run->counters ? arena_array(arena, struct node_counters, x->run->plan->node_count + 1u) : NULL;
    if (x->sink_class) {
        status = sink_make(x->sink_op, x->sink_class, &hand->worker, &next);
    } else {
        struct box_local *box = arena_new(arena, struct box_local);
        box->local = (struct local){ .op = x->top, .worker = &hand->worker, .take = box_take, .grain_end = box_grain_end };
        box->hand = hand;
        next = &box->local;
    }
    hand->sink = next;
    struct exec_node *op = x->top;
    for (uint16_t d = 0; d < x->depth && !status; d++, op = op->left) {
        status = local_make(op, &hand->worker, next, &hand->locals[d]);
        next = hand->locals[d];
    }
    hand->source = status ? NULL : next;
    return status;
}

/* It is late when it begins: grains before its first have failed. */
static bool hand_late(struct hand *hand)
{
    struct exchange *x = hand->x;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    bool late = hand->piece && hand->worker.grains.first > x->failed_grain;
    latch_release(&x->latch);
    return late;
}

static void hand_failed(struct hand *hand)
{
    struct exchange *x = hand->x;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    bool first = hand->grain < x->failed_grain;
    if (first)
        x->failed_grain = hand->grain;
    if (x->boxes) {
        struct box *box = &x->boxes[hand->grain % WINDOW];
        box->state = DONE;
        box->failed = true;
        error_save(&box->error);
    } else if (first) {
        error_free(&x->error);
        error_save(&x->error);
    }
    scan_limit(x->source, 0);        /* rule 2: claims go up, so whatever is lower is claimed already */
    atom_store(&x->failed, true);
    latch_release(&x->latch);
}

/* It could not begin: no box is its own. */
static void hand_unmade(struct hand *hand)
{
    struct exchange *x = hand->x;
    if (!x->boxes) {
        hand->grain = hand->worker.grains.first;
        hand_failed(hand);
        return;
    }
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    error_save(&x->error);
    x->unmade = true;
    latch_release(&x->latch);
}

static void hand_home(struct hand *hand)
{
    struct exchange *x = hand->x;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    hand->working = false;
    if (atom_sub(&x->out, 1) == 1 || x->boxes)
        condition_wake_all(&x->changed);
    latch_release(&x->latch);            /* the exchange may be another query's from here on */
}

static void hand_work(struct hand *hand)
{
    struct exchange *x = hand->x;
    enum status status = STATUS_OK;
    int pins = pool_pins_held();
    if (MUTANT(HOME_BEFORE_RESULT))
        hand_home(hand);
    if (hand_late(hand))
        return;
    if (!hand->source)
        status = hand_make(hand);
    if (status) {
        if (status != STATUS_STOP)
            hand_unmade(hand);
        return;
    }
    if (hand->piece) {
        hand->grain = hand->worker.grains.first;
        hand->began_us = now_us();
        status = scan_piece(hand->source);
    } else {
        status = scan_work(hand->source, claimed, hand);
    }
    ASSERT(pool_pins_held() == pins);
    if (hand->worker.again)
        box_give_up(hand);
    bool done = scan_done(x->source);
    if (!status && !x->boxes && done)
        atom_add(&x->wanting, 1);
    if (!status && x->sink_class && x->sink_class->done && done)
        status = x->sink_class->done(hand->sink);
    if (status && status != STATUS_STOP)
        hand_failed(hand);
}

/* Rule 7. */
static void take_back(struct exchange *x, bool leads)
{
    struct task *task;
    while ((task = workers_withdraw(x))) {
        struct hand *hand = (struct hand *)task;
        hand->worker.leads = leads;          /* the leader looks for interrupts there, too */
        if (hand->piece)
            hand_work(hand);
        if (!hand->piece || !MUTANT(HOME_BEFORE_RESULT))
            hand_home(hand);
    }
}

static void hand_run(struct task *task)
{
    struct hand *hand = (struct hand *)task;
    hand_work(hand);
    if (!hand->x->boxes)
        take_back(hand->x, hand->worker.leads);
    if (!MUTANT(HOME_BEFORE_RESULT))
        hand_home(hand);
}

/* ---- in the leader ---- */

static struct hand *hand_add(struct exchange *x, struct hand *hand, uint16_t number)
{
    hand->x = x;
    hand->worker = (struct worker){ .run = x->run, .number = number, .stop = &x->stop, .grain_over = x->sink_class ? grain_over : NULL };
    hand->task = (struct task){ .run = hand_run, .env = type_env, .owner = x, .pid = session_pid(x->run->session) };
    return hand;
}

static void exchange_open(struct exchange *x, struct exec_node *top, uint16_t workers)
{
    x->run = top->run;
    x->answers = top->run->answers;
    x->top = top;
    x->failed_grain = UINT64_MAX;
    x->wanted = UINT64_MAX;
    x->inner = x->sink_op && x->sink_op->inner;
    for (struct exec_node *op = top;; op = op->left) {
        x->depth++;
        x->source = op;
        x->inner |= op->inner;
        if (scan_is_shared(op))
            break;
    }
    x->hand_count = workers;
    struct hand *hands = arena_array(x->run->arena, struct hand, workers);
    for (uint16_t i = workers; i-- > 0;) {
        hand_add(x, &hands[i], (uint16_t)(i + 1))->next = x->hands;
        x->hands = &hands[i];
    }
}

/* All are home. What their sinks have made lives on in their arenas. */
static void exchange_close(struct exchange *x)
{
    for (struct hand *hand = x->hands; hand; hand = hand->next) {
        if (!hand->worker.arena)
            continue;
        struct kept_arena *kept = arena_new(x->run->arena, struct kept_arena);
        *kept = (struct kept_arena){ .next = x->run->worker_arenas, .arena = hand->worker.arena };
        x->run->worker_arenas = kept;
    }
    exchange_give(x);
}

/* Build sides and the bitmap of a scan are read before the workers start. *alone: a build side outgrew its memory, and the leader has
 * to go on alone; or one of them is empty, and nothing is to be read; or an answer failed. */
static enum status pipeline_prepare(struct exec_node *top, bool *alone)
{
    enum status status = STATUS_OK;
    bool nothing = false, failed = false;
    for (struct exec_node *op = top; !status && !nothing; op = op->left) {
        if (op->class->prepare)
            status = op->class->prepare(op);
        nothing = op->nothing;
        if (!status && !nothing && op->inner)
            status = inner_answers(op, &failed);
        if (scan_is_shared(op))
            break;
    }
    *alone = !status && (nothing || failed || pipeline_workers(top) < 2);
    return status;
}

/* Sends the hands that are at home, if there is something to claim. */
static void send(struct exchange *x)
{
    struct task *tasks[x->hand_count];
    uint16_t n = 0;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    if (!scan_done(x->source) && x->failed_grain == UINT64_MAX && !x->unmade)
        for (struct hand *hand = x->hands; hand; hand = hand->next)
            if (!hand->working) {
                hand->working = true;
                atom_add(&x->out, 1);
                tasks[n++] = &hand->task;
            }
    latch_release(&x->latch);
    if (n)
        workers_submit(tasks, n);
}

static void spin_home(struct exchange *x)
{
    uint64_t until = now_us() + SPIN_US;
    for (int i = spin_count(1 << 20); i > 0 && atom_load(&x->out); i--) {
        if (i % 16 == 0 && now_us() >= until)
            break;
        spin_pause();
    }
}

/* Waits until all are home; an interrupt makes them come at once. */
static enum status wait_home(struct exchange *x)
{
    enum status status = STATUS_OK;
    struct error saved = {0};
    spin_home(x);
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    while (atom_load(&x->out)) {
        enum wake wake = condition_wait_until(&x->changed, &x->latch, 0, status == STATUS_OK);
        if (wake != WAKE_INTERRUPTED || status)
            continue;
        latch_release(&x->latch);
        status = thread_check_interrupts();
        if (status) {
            error_save(&saved);
            atomic_store_explicit(&x->stop, true, memory_order_relaxed);
        }
        latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    }
    latch_release(&x->latch);
    return status ? error_restore(&saved) : STATUS_OK;
}

static void run_add(struct exchange *x, struct run *run)
{
    x->next_open = run->exchanges;
    run->exchanges = x;
}

static void run_remove(struct exchange *x, struct run *run)
{
    struct exchange **link = &run->exchanges;
    while (*link != x)
        link = &(*link)->next_open;
    *link = x->next_open;
}

static void add_counters(struct exchange *x, uint64_t from_us, bool top_too)
{
    struct exec_counters *counters = x->run->counters;
    if (!counters)
        return;
    struct exec_node *op = x->top;
    for (uint16_t d = 0; d < x->depth; d++, op = op->left) {
        for (struct hand *hand = x->hands; hand; hand = hand->next) {
            if (hand->source && (d > 0 || top_too))
                op->counters->rows += hand->locals[d]->rows;
            if (hand->source)
                op->counters->filtered += hand->locals[d]->filtered;
        }
        op->counters->workers_launched = x->send_at_us ? 1 : x->hand_count;
        if (d > 0 || top_too) {
            op->counters->loops++;
            op->counters->total_us += now_us() - from_us;
        }
    }
}

/* All are home: what operators hand on at the end of their input. It goes through one more set of locals, to the sink or to `next`. */
static enum status flush_late(struct exchange *x, struct local *next)
{
    bool late = false;
    for (struct exec_node *op = x->top; op != x->source; op = op->left)
        late |= op->late;
    if (!late)
        return STATUS_OK;
    uint64_t grain = late_grain(x->source);
    struct hand *hand = hand_add(x, arena_new(x->run->arena, struct hand), (uint16_t)(x->hand_count + 1));
    hand->worker.leads = true;
    hand->worker.grains = (struct grain_run){ grain, grain + 1 };
    enum status status = hand_make(hand);
    hand->next = x->hands;
    x->hands = hand;
    if (next && !status)
        hand->locals[0]->next = next;
    for (uint16_t d = x->depth; d-- > 0 && !status;) {
        const struct exec_node *op = hand->locals[d]->op;
        status = op->late ? op->class->flush(hand->locals[d]) : STATUS_OK;
    }
    if (!status && x->sink_class && hand->sink->grain_end)
        status = hand->sink->grain_end(hand->sink, grain);
    if (!status && x->sink_class && x->sink_class->done)
        status = x->sink_class->done(hand->sink);
    return status;
}

static enum status pass_on(struct local *local, const struct batch *batch) { return local_push(local, batch); }

/* ---- boxes ---- */

/* To the end of the window that begins at `grain`. */
static void claims_go_on(struct exchange *x, uint64_t grain)
{
    atom_store(&x->full, false);
    scan_limit(x->source, grain + WINDOW);
}

/* The box of the grain, once it is done. */
static enum status box_await(struct exchange *x, uint64_t grain, struct box **out)
{
    struct box *box = *out = &x->boxes[grain % WINDOW];
    enum status status = STATUS_OK;
    uint64_t from = x->run->counters ? now_us() : 0;
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    x->wanted = grain;
    while (box->state != DONE && !status) {
        if (x->unmade) {
            status = error_restore(&x->error);
            break;
        }
        if (atom_load(&x->out) == 0 && !MUTANT(NOBODY_SENT_AGAIN)) {  /* all are home and the box isn't done: send them again */
            bool failed = x->failed_grain != UINT64_MAX;
            latch_release(&x->latch);
            if (!failed)
                claims_go_on(x, grain);
            send(x);
            latch_acquire(&x->latch, LATCH_EXCLUSIVE);
            if (box->state == DONE)
                break;
        }
        if (condition_wait_until(&x->changed, &x->latch, 0, true) == WAKE_INTERRUPTED) {
            latch_release(&x->latch);
            status = thread_check_interrupts();
            latch_acquire(&x->latch, LATCH_EXCLUSIVE);
        }
    }
    x->wanted = UINT64_MAX;
    latch_release(&x->latch);
    if (x->run->counters)
        x->run->counters->scan_us += now_us() - from;
    return status;
}

/* Somebody steps through the table, and wants to see its workers stand there, too. */
static bool stepped(const struct exchange *x) { return step_watches(x->source->plan->table->heap.file); }

/* What the leader reads itself goes on as it comes. The chain of locals ends here: grains end for nobody above. */
struct forward { struct local local; struct local *leader; };
static enum status forward_take(struct local *local, const struct batch *batch) { return local_push(((struct forward *)local)->leader, batch); }

static enum status forward_make(struct exchange *x, struct hand *hand, struct local *leader)
{
    struct forward *forward = arena_new(x->run->arena, struct forward);
    const struct local *end = leader;
    bool fans_out = false;
    for (; end->next; end = end->next)
        fans_out |= end->next->op->fans_out;
    *forward = (struct forward){ .local = { .op = x->top, .worker = &hand->worker, .take = forward_take, .to_client = end->to_client, .fans_out = fans_out }, .leader = leader };
    hand_add(x, hand, 1);
    hand->worker.leads = true;
    enum status status = hand_make(hand);
    if (!status)
        hand->locals[0]->next = &forward->local;
    return status;
}

static void claimed_alone(void *context, uint64_t first, uint64_t end)
{
    struct hand *hand = context;
    hand->grain = first;
    if (now_us() >= hand->x->send_at_us)
        scan_limit(hand->x->source, end);
}

/* Rule 6: the first grains, by the leader. *grain: the next one. The hand is the exchange's only when the others are home. */
static enum status begin_alone(struct exchange *x, struct local *leader, struct hand *hand, uint64_t *grain)
{
    enum status status = forward_make(x, hand, leader);
    x->send_at_us = now_us() + START_US;
    if (!status)
        status = scan_work(hand->source, claimed_alone, hand);
    *grain = hand->grain + 1;
    if (!status && !scan_done(x->source)) {
        x->send_at_us = 0;
        status = run_deliver(x->run);
    }
    return status;
}

/* Rule 1: a grain that was too big for the window. */
static enum status read_alone(struct exchange *x, struct local *leader, struct hand *hand, uint64_t grain)
{
    enum status status = hand->source ? STATUS_OK : forward_make(x, hand, leader);
    hand->worker.grains = (struct grain_run){ grain, grain + 1 };
    if (!status)
        status = scan_piece(hand->source);
    return status ? status : run_deliver(x->run);
}

static enum status take_boxes(struct exchange *x, struct local *leader, struct hand *hand, uint64_t first)
{
    uint64_t grains = scan_grains(x->source);
    enum status status = STATUS_OK;
    for (uint64_t grain = first; grain < grains && !status; grain++) {
        struct box *box;
        status = box_await(x, grain, &box);
        if (status)
            break;
        for (uint32_t c = 0; c < box->rows.chunk_count && !status; c++) {
            struct batch batch;
            rows_chunk(&box->rows, c, &batch);
            batch.grain = grain;
            status = run_check(leader->worker);
            if (!status)
                status = local_push(leader, &batch);
        }
        if (!status && box->given_up)
            status = read_alone(x, leader, hand, grain);
        if (!status && box->failed)
            status = error_restore(&box->error);
        if (status)
            break;
        box_empty(x, box);
        latch_acquire(&x->latch, LATCH_EXCLUSIVE);
        box->state = EMPTY;
        box->given_up = false;
        bool failed = x->failed_grain != UINT64_MAX;
        bool home = atom_load(&x->out) < x->hand_count;
        latch_release(&x->latch);
        bool full = atom_load(&x->full), again = full && atom_load(&x->box_bytes) <= WINDOW_BYTES / 4;
        if (!failed && (again || (!full && (grain + 1) % 4 == 0)))
            claims_go_on(x, grain + 1);
        if (home && !failed && (again || (grain + 1) % (WINDOW / 2) == 0))
            send(x);
    }
    return status;
}

enum status gather_run(struct exec_node *top, struct local *next, uint16_t workers)
{
    bool alone;
    uint64_t from = now_us();
    enum status status = pipeline_prepare(top, &alone);
    if (status || alone)
        return status ? status : node_run_alone(top, next);
    struct exchange *x = exchange_take();
    struct local leader = { .op = top, .worker = &top->run->leader, .take = pass_on, .next = next };
    exchange_open(x, top, workers);
    run_add(x, x->run);
    x->boxes = arena_array(top->run->arena, struct box, WINDOW);
    struct hand *mine = arena_new(top->run->arena, struct hand);
    uint64_t first = 0;
    bool begins = START_US && !stepped(x);
    scan_share(x->source, 0, workers, begins ? UINT64_MAX : WINDOW);
    if (begins)
        status = begin_alone(x, &leader, mine, &first);
    if (!status && !scan_done(x->source)) {
        scan_limit(x->source, first + WINDOW);
        send(x);
        status = take_boxes(x, &leader, mine, first);
    }
    if (!status)
        status = wait_home(x);
    if (!status)
        status = flush_late(x, &leader);
    struct error saved = {0};
    if (status)
        error_save(&saved);
    atomic_store_explicit(&x->stop, true, memory_order_relaxed);
    enum status waited = wait_home(x);
    if (mine->worker.arena) {
        mine->next = x->hands;
        x->hands = mine;
    }
    add_counters(x, from, false);
    for (uint32_t b = 0; b < WINDOW; b++) {
        error_free(&x->boxes[b].error);
        arena_close(x->boxes[b].arena);
    }
    error_free(&x->error);
    run_remove(x, x->run);
    exchange_close(x);
    if (status)
        return status == STATUS_STOP ? (error_free(&saved), status) : error_restore(&saved);
    error_free(&saved);
    return waited;
}

/* ---- sinks ---- */

/* The leader is the first hand; it sends the others. */
static enum status work_together(struct exchange *x)
{
    struct hand *mine = x->hands;
    mine->worker.leads = true;
    x->send_at_us = now_us() + START_US;
    atomic_store_explicit(&x->out, 1, memory_order_relaxed);
    if (stepped(x))
        send_others(x);
    hand_run(&mine->task);
    enum status status = wait_home(x);
    if (!status && x->failed_grain != UINT64_MAX)
        return error_restore(&x->error);
    error_free(&x->error);
    return status;
}

/* level: of the pieces that must go to one worker; -1: morsels as they suit. */
static enum status sink_run(struct exec_node *child, struct exec_node *op, const struct sink_class *class, uint16_t workers, int pieces)
{
    bool alone;
    uint64_t from = now_us();
    enum status status = pipeline_prepare(child, &alone);
    if (!status && !alone && op->inner)
        status = inner_answers(op, &alone);
    if (status || alone)
        return status ? status : pipeline_run_serial(child, op, class);
    struct exchange *x = exchange_take();
    struct exec_counters *counters = op->run->counters;
    x->sink_class = class;
    x->sink_op = op;
    exchange_open(x, child, workers);
    uint8_t level = pieces < 0 ? 0 : (uint8_t)pieces;
    x->whole_pieces = pieces >= 0;
    while (pieces < 0 && scan_grains(x->source) >> (level + 1) >= (uint64_t)MORSELS_EACH * workers)
        level++;
    scan_share(x->source, level, pieces < 0 ? workers : 0, UINT64_MAX);
    uint64_t begun = now_us();
    status = work_together(x);
    if (!status)
        status = flush_late(x, NULL);
    add_counters(x, from, true);
    uint64_t home = now_us();
    for (struct hand *hand = x->hands; hand && class->combine && !status; hand = hand->next)
        if (hand->source)
            status = class->combine(op, hand->sink);
    if (counters) {
        op->counters->workers_launched = x->send_at_us ? 1 : workers;
        counters->scan_us += home - begun;
        counters->merge_us += now_us() - home;
    }
    exchange_close(x);
    return status;
}

enum status parallel_sink_run(struct exec_node *child, struct exec_node *op, const struct sink_class *class, uint16_t workers)
{
    return sink_run(child, op, class, workers, -1);
}

enum status parallel_pieces_run(struct exec_node *child, struct exec_node *op, const struct sink_class *class, uint16_t workers, uint8_t level)
{
    return sink_run(child, op, class, workers, level);
}

/* ---- the same work on many parts ---- */

struct each { struct task task; struct exchange *x; struct worker worker; uint16_t number; enum status (*work)(void *, uint16_t, struct worker *); void *context; enum status status; struct error error; };

static void each_run(struct task *task)
{
    struct each *each = (struct each *)task;
    struct exchange *x = each->x;
    each->status = each->work(each->context, each->number, &each->worker);
    if (each->status)
        error_save(&each->error);
    latch_acquire(&x->latch, LATCH_EXCLUSIVE);
    if (atom_sub(&x->out, 1) == 1)
        condition_wake_all(&x->changed);
    latch_release(&x->latch);
}

struct workers_group { struct exchange *x; struct run *run; struct each *all; uint16_t count; uint64_t from_us; };

struct workers_group *workers_group_open(struct run *run, uint16_t count)
{
    struct workers_group *group = arena_new(run->arena, struct workers_group);
    *group = (struct workers_group){ .x = exchange_take(), .run = run, .all = arena_array(run->arena, struct each, count), .count = count };
    run_add(group->x, run);
    for (uint16_t i = 0; i < count; i++) {
        struct kept_arena *kept = arena_new(run->arena, struct kept_arena);
        *kept = (struct kept_arena){ .next = run->worker_arenas, .arena = arena_open(NULL, "worker") };
        run->worker_arenas = kept;
        group->all[i].worker = (struct worker){ .run = run, .number = (uint16_t)(i + 1), .grains = ALL_GRAINS, .arena = kept->arena, .stop = &group->x->stop };
    }
    return group;
}

/* Sends tasks from the first on; those before it are the caller's. */
static void group_start(struct workers_group *group, enum status (*work)(void *context, uint16_t number, struct worker *), void *context, uint16_t first)
{
    struct task *tasks[group->count];
    group->from_us = group->run->counters ? now_us() : 0;
    atomic_store_explicit(&group->x->out, group->count, memory_order_relaxed);
    for (uint16_t i = 0; i < group->count; i++) {
        struct each *each = &group->all[i];
        each->task = (struct task){ .run = each_run, .env = type_env, .owner = group->x, .pid = session_pid(group->run->session) };
        each->x = group->x;
        each->number = i;
        each->work = work;
        each->context = context;
        each->status = STATUS_OK;
        each->worker.leads = i < first;
        tasks[i] = &each->task;
    }
    if (group->count > first)
        workers_submit(tasks + first, (uint16_t)(group->count - first));
}

void workers_group_start(struct workers_group *group, enum status (*work)(void *context, uint16_t number, struct worker *), void *context)
{
    group_start(group, work, context, 0);
}

enum status workers_group_wait(struct workers_group *group)
{
    struct task *task;
    while ((task = workers_withdraw(group->x))) {
        ((struct each *)task)->worker.leads = true;
        each_run(task);
    }
    enum status status = wait_home(group->x);
    for (uint16_t i = 0; i < group->count; i++) {
        struct each *each = &group->all[i];
        if (each->status && each->status != STATUS_STOP && !status)
            status = error_restore(&each->error);
        error_free(&each->error);
    }
    if (group->run->counters)
        group->run->counters->finalise_us += now_us() - group->from_us;
    return status;
}

void workers_group_close(struct workers_group *group)
{
    run_remove(group->x, group->run);
    exchange_give(group->x);
}

/* Hands of boxes come home after the grain they are at, as if the boxes were full, and are sent again when the leader goes on (take_boxes). Parts of a
 * group are short; those that nobody has begun are done here. */
enum status run_rest(struct run *run)
{
    enum status status = STATUS_OK;
    for (struct exchange *x = run->exchanges; x; x = x->next_open) {
        struct task *task;
        if (x->boxes) {
            scan_limit(x->source, 0);
            atom_store(&x->full, true);
        }
        while ((task = workers_withdraw(x))) {
            if (x->boxes) {
                hand_home((struct hand *)task);
            } else {
                ((struct each *)task)->worker.leads = true;
                each_run(task);
            }
        }
        enum status waited = wait_home(x);
        if (!status)
            status = waited;
    }
    return status;
}

enum status workers_each(struct run *run, uint16_t count, enum status (*work)(void *context, uint16_t number, struct worker *), void *context)
{
    struct workers_group *group = workers_group_open(run, count);
    group_start(group, work, context, 1);
    each_run(&group->all[0].task);
    enum status status = workers_group_wait(group);
    workers_group_close(group);
    return status;
}
