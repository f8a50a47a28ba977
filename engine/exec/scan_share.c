/* engine/exec/scan_share.c - a scan cut into grains that workers claim: of a table's pages (seq_scan.c), or of a range of an index (index_scan.c).
 *
 * Workers share `next`: a morsel is a run of whole grains, claimed by one compare-and-swap (bounded by `limit`, the end
 * of the leader's window). Towards the end morsels get smaller, by halves, so that each still begins at a multiple of its length. */
#include "engine/exec/operator.h"
#include "base/mutant.h"

#ifndef SCAN_SHRINK
#define SCAN_SHRINK 2
#endif

uint64_t scan_grains(const struct exec_node *op) { return ((const struct shared_scan *)op)->grains; }

void scan_share(struct exec_node *op, uint8_t level, uint16_t workers, uint64_t limit)
{
    struct shared_scan *scan = (struct shared_scan *)op;
    if (op->class->shared)
        op->class->shared(op);
    scan->morsel = 1ULL << level;
    scan->parts = SCAN_SHRINK * (uint64_t)workers;
    atomic_store_explicit(&scan->next, 0, memory_order_relaxed);
    atomic_store_explicit(&scan->limit, limit, memory_order_relaxed);
}

void scan_limit(struct exec_node *op, uint64_t limit) { atom_store(&((struct shared_scan *)op)->limit, limit); }

bool scan_done(const struct exec_node *op)
{
    struct shared_scan *scan = (struct shared_scan *)(uintptr_t)op;
    return atom_load(&scan->next) >= scan->grains;
}

/* The worker's run of grains. It may get shorter meanwhile. */
static enum status scan_run(struct local *local)
{
    struct worker *worker = local->worker;
    struct local *sink = local;
    while (sink->next)
        sink = sink->next;
    enum status status = STATUS_OK;
    for (uint64_t grain = worker->grains.first; grain < worker->grains.end && !status;) {
        status = local->op->class->grain(local, grain);
        if (!status && sink->grain_end)
            status = sink->grain_end(sink, grain);
        if (++grain < worker->grains.end && !status && worker->grain_over)
            status = worker->grain_over(worker, grain);
    }
    if (!worker->grain_over)             /* nobody folds */
        return status;
    if (worker->run_count == worker->run_capacity) {
        uint32_t capacity = worker->run_capacity ? worker->run_capacity * 2 : 16;
        worker->runs = arena_grow(worker->arena, worker->runs, worker->run_capacity * sizeof *worker->runs, capacity * sizeof *worker->runs);
        worker->run_capacity = capacity;
    }
    worker->runs[worker->run_count++] = worker->grains;
    return status;
}

struct grain_run worker_run_of(const struct worker *worker, uint64_t grain)
{
    for (uint32_t i = worker->run_count; i-- > 0;)
        if (worker->runs[i].first <= grain && grain < worker->runs[i].end)
            return worker->runs[i];
    return worker->grains;
}

enum status scan_piece(struct local *local)
{
    const struct node_class *class = local->op->class;
    class->scan_begin(local);
    enum status status = scan_run(local);
    class->scan_end(local);
    return status;
}

enum status scan_work(struct local *local, void (*claimed)(void *, uint64_t first, uint64_t end), void *context)
{
    const struct node_class *class = local->op->class;
    struct shared_scan *scan = (struct shared_scan *)local->op;
    enum status status = STATUS_OK;
    class->scan_begin(local);
    while (!status) {
        uint64_t first = atom_load(&scan->next);
        if (first >= scan->grains || (first >= atom_load(&scan->limit) && !MUTANT(WINDOW_OVERRUN)))
            break;
        uint64_t left = scan->grains - first, size = scan->morsel;
        while (scan->parts && size > 1 && size > left / scan->parts)
            size /= 2;
        uint64_t end = first + (size < left ? size : left);
        if (MUTANT(MORSEL_CLAIMED_TWICE))
            atom_store(&scan->next, end);
        else if (!atom_cas(&scan->next, &first, end))
            continue;
        local->worker->grains = (struct grain_run){ first, end };
        if (local->op->counters)
            atomic_fetch_add_explicit(&local->op->counters->morsels, 1, memory_order_relaxed);
        claimed(context, first, end);
        status = scan_run(local);
    }
    class->scan_end(local);
    return status;
}
