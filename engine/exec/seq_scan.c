/* engine/exec/seq_scan.c - reads a table from its first page to its last, page by page in place.
 *
 * The table's length is fixed when the scan is opened. A batch is a page: vectors point into it while it is pinned, and
 * the pin is dropped once the batch has gone all the way up. Columns that the condition reads come first; the others are
 * described only for the rows that are left (it matters where values vary in length).
 *
 * Zone maps (scan_zone.h) are asked before a page is touched: one that can hold no row that is wanted is passed by, one
 * that holds no other needs no filter. Where the rows are only counted, such a page isn't touched at all: its rows are
 * added to a batch without columns, which goes up when the grain ends. What is skipped hangs on what scans before have
 * learned, so no answer may: batches carry the same rows in the same order either way.
 *
 * Rows that go to a client are kept while their page is pinned, and sent when it isn't. Where a row may become any number of them, by
 * a join above, that would be any number: the page's rows are copied then, and go up when the page is let go.
 *
 * A bitmap scan is the same scan of the pages, and of full pages the rows, that indexes have named (row_set.h).
 *
 * Workers share it by grains (scan_share.c). A table that is big for the pool is read through a ring of frames. */
#include "base/plant.h"
#include "engine/exec/operator.h"
#include "base/mutant.h"
#include "engine/exec/row_set.h"
#include "engine/exec/runtime_filter.h"
#include "base/step.h"
#include "engine/exec/scan_zone.h"

#define FRUITLESS 32                     /* after so many only one page in so many is asked about: values lie anywhere */

struct scan_node {
    struct shared_scan share;
    struct program *filter;
    uint32_t pages;
    bool row_ids, ring;
    struct row_set *set;                 /* BITMAP_SCAN: where its rows may be */
    uint16_t *early, early_count;        /* output positions that the filter reads */
    uint16_t *late, late_count;
    uint16_t *expected;                  /* table columns: those of early, then those of late */
    uint16_t expected_early, expected_count;
    struct scan_zones zones;             /* map NULL: not asked */
    struct runtime_filter *filters; uint16_t filter_count;
};

struct scan_local {
    struct local local;
    struct evaluation *filter;
    struct vector *columns;
    struct varlen **space;               /* by output column of varying length */
    int64_t *ids;
    struct arena *page_arena;
    struct pool_ring *ring;
    struct heap_look look;
    struct page_ref ref;
    bool only_counted;                   /* nobody above reads a column */
    uint32_t counted;                    /* rows of pages that were not touched, not pushed yet … */
    uint64_t counted_grain;              /* … all of this grain */
    uint32_t fruitless;                  /* pages in a row about which the zones knew all, and could not decide */
    uint64_t filtered, skipped;          /* for EXPLAIN */
    struct node_counters *counted_for;   /* whose this thread's pages were */
    bool late_wanted;                    /* enough rows of the last page were left for their other columns to be wanted */
    struct filter_tally *tallies;        /* by run-time filter */
    bool detached;                       /* what goes up is a copy, and the page is let go before */
    struct rows copy; struct arena *copy_arena;
    row_pos *passed;
};

static bool filter_key(const struct scan_node *scan, uint16_t column)
{
    for (const struct runtime_filter *f = scan->filters; f; f = f->next)
        for (uint16_t k = 0; k < f->layout.count; k++)
            if (f->columns[k] == column)
                return true;
    return false;
}

/* What of the next page is asked for ahead: first what conditions read. */
static void scan_expect(struct scan_node *scan)
{
    const struct plan *plan = scan->share.op.plan;
    scan->expected_count = 0;
    for (int late = 0; late < 2; late++) {
        for (uint16_t c = 0; c < plan->column_count; c++)
            if (plan->columns[c] != 0xFFFF && (program_reads(scan->filter, c) || filter_key(scan, c)) == !late)
                scan->expected[scan->expected_count++] = plan->columns[c];
        if (!late)
            scan->expected_early = scan->expected_count;
    }
}

static enum status scan_open(struct exec_node *op)
{
    struct scan_node *scan = (struct scan_node *)op;
    const struct plan *plan = op->plan;
    enum status status = node_filter(op, 0, plan->filter, &scan->filter);
    if (!status)
        status = heap_pages(&plan->table->heap, &scan->pages);
    if (status)
        return status;
    scan->share.grains = (scan->pages + GRAIN_PAGES - 1) / GRAIN_PAGES;
    scan->share.in_grains = true;
    if (!step_watches(plan->table->heap.file))           /* who steps through a table wants to see its pages */
        scan_zones_open(&scan->zones, plan);
    scan->ring = scan->pages > pool_frame_count(op->run->store->pool) / 4;
    scan->early = arena_array(op->run->arena, uint16_t, plan->column_count + 1u);
    scan->late = arena_array(op->run->arena, uint16_t, plan->column_count + 1u);
    for (uint16_t c = 0; c < plan->column_count; c++) {
        if (program_reads(scan->filter, c))
            scan->early[scan->early_count++] = c;
        else
            scan->late[scan->late_count++] = c;
    }
    scan->expected = arena_array(op->run->arena, uint16_t, plan->column_count + 1u);
    scan_expect(scan);
    return STATUS_OK;
}

/* By the leader, before anybody scans. */
static enum status scan_prepare(struct exec_node *op)
{
    struct scan_node *scan = (struct scan_node *)op;
    if (!op->plan->bitmap)
        return STATUS_OK;
    return row_set_make(op->run, op->plan->bitmap, node_again(op), scan->pages, &scan->set);
}

static enum status scan_local(struct local *local)
{
    struct scan_local *l = (struct scan_local *)local;
    struct scan_node *scan = (struct scan_node *)local->op;
    struct arena *arena = local->worker->arena;
    l->columns = arena_array(arena, struct vector, local->op->plan->column_count + 1u);
    l->space = arena_array(arena, struct varlen *, local->op->plan->column_count + 1u);
    l->tallies = arena_array(arena, struct filter_tally, scan->filter_count + 1u);
    for (uint16_t f = 0; f < scan->filter_count; f++)
        l->tallies[f].grain = UINT64_MAX;
    l->passed = scan->filter_count ? arena_alloc(arena, BATCH_MAX * sizeof *l->passed) : NULL;
    return scan->filter ? evaluation_open(scan->filter, local->worker->run, arena, &l->filter) : STATUS_OK;
}

static enum status scan_columns(struct scan_local *l, const struct page_ref *ref, const uint16_t *which, uint16_t which_count,
                                const row_pos *selection, uint16_t count)
{
    const struct plan *plan = l->local.op->plan;
    struct arena *arena = l->local.worker->arena;
    for (uint16_t k = 0; k < which_count; k++) {
        uint16_t c = which[k];
        if (plan->columns[c] == 0xFFFF) {
            if (!l->ids)
                l->ids = arena_alloc(arena, PAX_MAX_SLOTS * sizeof *l->ids);
            for (uint16_t i = 0; i < count; i++) {
                uint16_t slot = selection ? selection[i] : i;
                l->ids[slot] = (int64_t)ROW_ID(ref->id.page, slot);
            }
            l->columns[c] = (struct vector){ .values = l->ids, .width = 8 };
            continue;
        }
        if (plan->types[c].width == WIDTH_VARLEN) {
            if (!l->space[c])
                l->space[c] = arena_alloc(arena, PAX_MAX_SLOTS * sizeof(struct varlen));
            if (!l->page_arena)
                l->page_arena = arena_open(arena, "page");
        }
        enum status status = heap_page_column(&plan->table->heap, ref, &l->look, plan->columns[c], selection, count, l->space[c],
                                              l->page_arena ? l->page_arena : arena, &l->columns[c]);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* Run-time filters: what is left of the rows *left (NULL: 0 .. *count - 1). */
static enum status scan_filters(struct scan_local *l, uint64_t grain, const row_pos **left, uint16_t *count)
{
    struct scan_node *scan = (struct scan_node *)l->local.op;
    enum status status = STATUS_OK;
    uint16_t number = 0;
    for (struct runtime_filter *f = scan->filters; f && *count && !status; f = f->next, number++) {
        if (!f->active || (!f->range && !runtime_filter_wanted(&l->tallies[number], grain)))
            continue;
        status = scan_columns(l, &l->ref, f->columns, f->layout.count, *left, *count);
        if (!status)
            *count = runtime_filter_rows(f, &l->tallies[number], grain, l->columns, *left, *count, l->passed);
        *left = l->passed;
    }
    return status;
}

static enum status push_copy(struct scan_local *l, const struct batch *batch)
{
    const struct plan *plan = l->local.op->plan;
    enum status status = STATUS_OK;
    if (!l->copy_arena)
        l->copy_arena = arena_open(l->local.worker->arena, "page's rows");
    arena_reset(l->copy_arena);
    rows_open(&l->copy, l->copy_arena, plan->types, plan->column_count);
    rows_append(&l->copy, batch);
    pool_release(&l->ref);
    for (uint32_t c = 0; c < l->copy.chunk_count && !status; c++) {
        struct batch some;
        rows_chunk(&l->copy, c, &some);
        some.grain = batch->grain;
        status = local_push(&l->local, &some);
    }
    return status;
}

/* What the condition left of a page's rows, with the columns that it didn't read. */
static enum status scan_push(struct scan_local *l, struct batch *batch, const row_pos *left, uint16_t count)
{
    struct scan_node *scan = (struct scan_node *)l->local.op;
    enum status status = scan->filters ? scan_filters(l, batch->grain, &left, &count) : STATUS_OK;
    l->late_wanted = count * 16u > l->look.visible_count;
    if (status || count == 0)
        return status;
    status = scan_columns(l, &l->ref, scan->late, scan->late_count, left, count);
    if (status)
        return status;
    batch->selection = (row_pos *)left;
    batch->selected_count = count;
    batch->all_selected = left == NULL;
    return l->detached ? push_copy(l, batch) : local_push(&l->local, batch);
}

/* The rows of a page that are visible (a batch without columns yet, or what is left of it after an error). */
static enum status scan_rows(struct local *local, const struct batch *visible)
{
    struct scan_local *l = (struct scan_local *)local;
    struct scan_node *scan = (struct scan_node *)local->op;
    struct batch batch = *visible;
    const row_pos *left = batch.all_selected ? NULL : batch.selection;
    uint16_t count = batch.selected_count;

    enum status status = scan_columns(l, &l->ref, scan->early, scan->early_count, left, count);
    if (status)
        return status;
    if (l->filter) {
        uint16_t at;
        status = evaluation_filter(l->filter, &batch, &left, &count, &at);
        if (status)
            return rows_before_failure(local, visible, status, at, scan_rows);
        l->filtered += batch.selected_count - count;
        l->late_wanted = false;
        if (count == 0)
            return STATUS_OK;
    }
    return scan_push(l, &batch, left, count);
}

/* All rows of a page that is pinned and looked at pass the filter. */
static enum status scan_whole(struct scan_local *l, const struct batch *visible)
{
    struct scan_node *scan = (struct scan_node *)l->local.op;
    const row_pos *rows = visible->all_selected ? NULL : visible->selection;
    struct batch batch = *visible;
    enum status status = scan_columns(l, &l->ref, scan->early, scan->early_count, rows, visible->selected_count);
    return status ? status : scan_push(l, &batch, rows, visible->selected_count);
}

static enum status push_counted(struct scan_local *l)
{
    if (l->counted == 0)
        return STATUS_OK;
    struct batch batch = batch_empty((uint16_t)l->counted);
    batch.grain = l->counted_grain;
    l->counted = 0;
    return local_push(&l->local, &batch);
}

/* Rows of a page that is not touched. */
static enum status count_rows(struct scan_local *l, uint32_t page, uint16_t rows)
{
    uint64_t grain = page / GRAIN_PAGES;
    if (l->counted && (l->counted_grain != grain || l->counted + rows > BATCH_MAX)) {
        enum status status = push_counted(l);
        if (status)
            return status;
    }
    l->counted += rows;
    l->counted_grain = grain;
    return STATUS_OK;
}

/* Of a page whose rows are all visible, those that the set names. */
static void scan_narrow(struct scan_local *l, const struct row_set *set, uint32_t page, struct batch *batch)
{
    const uint64_t *slots;
    if (!batch->all_selected || !row_set_page(set, page, &slots) || !slots)
        return;
    batch->selection = l->look.selection;
    batch->selected_count = row_set_positions(slots, batch->row_count, l->look.selection);
    batch->all_selected = false;
}

static enum status scan_page(struct scan_local *l, uint32_t page)
{
    struct exec_node *op = l->local.op;
    struct scan_node *scan = (struct scan_node *)op;
    const struct heap *heap = &op->plan->table->heap;
    struct run *run = op->run;
    const struct scan_zones *zones = &scan->zones;
    bool asked = zones->map && (zones->count || (l->only_counted && !scan->filter)) && (l->fruitless < FRUITLESS || page % FRUITLESS == 0);
    enum zone_answer answer = ZONE_SOME;
    uint64_t seen = 0;
    enum status status;
    if (asked) {
        uint16_t rows;
        answer = zone_ask(zones->map, page, zones->tests, zones->count, &rows, &seen);
        if (answer != ZONE_SOME)
            l->fruitless = 0;
        if (answer == ZONE_NONE) {
            l->skipped++;
            l->filtered += rows;
            return STATUS_OK;
        }
        if (answer == ZONE_ALL && zones->decide && l->only_counted) {
            l->skipped++;
            return count_rows(l, page, rows);
        }
    }
    status = push_counted(l);
    if (!status)
        status = l->ring ? pool_ring_pin(l->ring, page, &l->ref)
                         : pool_pin(run->store->pool, (page_id){ heap->file, page }, RANK_HEAP, 0, &l->ref);
    if (status)
        return status;
    status = heap_page_look(heap, run->snapshot, &l->ref, &l->look);
    if (!status && asked && l->look.settled && !zone_learn(zones->map, heap, &l->ref, &l->look, zones->tests, zones->count, seen) && answer == ZONE_SOME)
        l->fruitless++;
    if (!status && page + 1 < scan->pages)
        heap_page_expect(heap, &l->ref, &l->look, page + 1, scan->expected, l->late_wanted ? scan->expected_count : scan->expected_early);
    if (!status && l->look.visible_count > 0) {
        struct batch batch = { .columns = l->columns, .column_count = op->plan->column_count, .row_count = l->look.slot_count, .selected_count = l->look.visible_count,
                               .all_selected = l->look.all_visible, .selection = l->look.selection, .grain = page / GRAIN_PAGES };
        if (batch.all_selected)
            batch.selection = NULL;
        if (((struct scan_node *)op)->set)
            scan_narrow(l, ((struct scan_node *)op)->set, page, &batch);
        if (batch.selected_count > 0)
            status = answer == ZONE_ALL && zones->decide && l->look.settled ? scan_whole(l, &batch) : scan_rows(&l->local, &batch);
        if (l->page_arena)
            arena_reset(l->page_arena);
    }
    pool_release(&l->ref);
    return status;
}

static void scan_ring(struct scan_local *l, uint32_t first, uint32_t end)
{
    struct exec_node *op = l->local.op;
    if (!((struct scan_node *)op)->ring)
        return;
    if (l->ring)
        pool_ring_range(l->ring, first, end);
    else
        l->ring = pool_ring_open(op->run->store->pool, op->plan->table->heap.file, first, end,
                                 !op->run->settings || op->run->settings->effective_io_concurrency > 0);
}

static enum status scan_range(struct scan_local *l, uint32_t first, uint32_t end)
{
    enum status status = STATUS_OK;
    const struct row_set *set = ((struct scan_node *)l->local.op)->set;
    for (uint16_t f = 0; f < ((struct scan_node *)l->local.op)->filter_count; f++)
        l->tallies[f].grain = UINT64_MAX;
    scan_ring(l, first, end);
    for (uint32_t page = first; page < end && !status; page++) {
        const uint64_t *slots;
        if (set && !row_set_page(set, page, &slots))
            continue;
        status = run_check(l->local.worker);
        if (!status)
            status = scan_page(l, page);
        if (!status && (l->local.worker->number == 0 || l->local.worker->leads))
            status = run_deliver(l->local.worker->run);
    }
    return status ? status : push_counted(l);
}

/* Does the sink only count what it is given? */
static bool rows_are_counted(const struct local *next)
{
    const struct plan *plan = next && next->op ? next->op->plan : NULL;
    if (!plan || plan->kind != PLAN_AGGREGATE || plan->group_count || plan->set_count)
        return false;
    for (uint16_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].arg_count || plan->aggregates[a].filter)
            return false;
    return true;
}

/* Do the rows go to the client, and may one become many on the way? */
static bool fans_out_to_client(const struct local *l)
{
    bool fans_out = false;
    for (; l->next; l = l->next)
        fans_out |= l->next->op->fans_out || l->next->fans_out;
    return fans_out && l->to_client;
}

static void scan_begin(struct local *local)
{
    struct scan_local *l = (struct scan_local *)local;
    l->detached = fans_out_to_client(&l->local);
    l->counted = l->fruitless = 0;
    l->filtered = l->skipped = 0;
    l->counted_for = pages_count_for(l->local.op->counters);
    l->only_counted = l->local.op->plan->column_count == 0 || rows_are_counted(l->local.next);
}

static void scan_end(struct local *local)
{
    struct scan_local *l = (struct scan_local *)local;
    struct node_counters *counters = l->local.op->counters;
    if (counters) {
        atomic_fetch_add_explicit(&counters->filtered, l->filtered, memory_order_relaxed);
        atomic_fetch_add_explicit(&counters->pages_skipped, l->skipped, memory_order_relaxed);
    }
    pages_count_for(l->counted_for);
    if (l->ring)
        pool_ring_close(l->ring);
    l->ring = NULL;
}

static enum status scan_source(struct local *local)
{
    struct scan_local *l = (struct scan_local *)local;
    struct scan_node *scan = (struct scan_node *)local->op;
    scan_zones_bind(&scan->zones, local->op->run);
    scan_begin(local);
    enum status status = scan_range(l, 0, scan->pages);
    scan_end(local);
    return status;
}

void seq_scan_narrow(struct exec_node *op, uint16_t column, int64_t low, int64_t high)
{
    scan_zones_narrow(&((struct scan_node *)op)->zones, op->plan, column, low, high);
}

void seq_scan_filter_add(struct exec_node *op, struct runtime_filter *filter)
{
    struct scan_node *scan = (struct scan_node *)op;
    struct runtime_filter **end = &scan->filters;
    while (*end)
        end = &(*end)->next;
    *end = filter;
    scan->filter_count++;
    scan_expect(scan);
}

/* ---- shared by workers ---- */

static void scan_shared(struct exec_node *op) { scan_zones_bind(&((struct scan_node *)op)->zones, op->run); }

static enum status scan_grain(struct local *local, uint64_t grain)
{
    struct scan_local *l = (struct scan_local *)local;
    const struct scan_node *scan = (const struct scan_node *)local->op;
    uint64_t last = (grain + 1) * GRAIN_PAGES, filtered = l->filtered, skipped = l->skipped;
    enum status status = scan_range(l, (uint32_t)(grain * GRAIN_PAGES), (uint32_t)(last < scan->pages ? last : scan->pages - (PLANT(LAST_PAGE_LOST) && grain > 2)));
    if (local->worker->again) {
        l->filtered = filtered;
        l->skipped = skipped;
    }
    return status;
}

const struct node_class seq_scan_class = { .name = "seq scan", .node_bytes = sizeof(struct scan_node), .local_bytes = sizeof(struct scan_local),
                                           .open = scan_open, .prepare = scan_prepare, .local = scan_local, .source = scan_source, .parallel = true,
                                           .shared = scan_shared, .scan_begin = scan_begin, .scan_end = scan_end, .grain = scan_grain };
