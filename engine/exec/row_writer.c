/* engine/exec/row_writer.c - rows from elsewhere: COPY, CREATE TABLE AS. */
#include "engine/exec/write.h"
#include "engine/plan/modify.h"

#define HELPERS_MAX 4                    /* the leader, which writes, has more to do than so many */

struct row_writer {
    struct run run;
    struct arena *arena;
    struct table_writer *writer;
    struct evaluation *where;
    struct workers_group *group;         /* of helpers, from the first time on */
    void (*work)(void *context); void *context;
    uint64_t *row_ids;
    struct vector *columns;
};

enum status row_writer_open(struct session *session, struct arena *arena, const struct table *table, struct scalar *where, struct row_writer **out)
{
    struct row_writer *w = arena_new(arena, struct row_writer);
    struct table_writes *writes;
    w->arena = arena_open(arena, "row writer");
    run_open_plain(&w->run, session, w->arena);
    w->row_ids = arena_alloc(w->arena, BATCH_MAX * sizeof *w->row_ids);
    w->columns = arena_array(w->arena, struct vector, table->column_count + 1u);
    *out = w;
    enum status status = bind_table_writes(session, w->arena, table, &writes);
    if (!status)
        status = table_writer_open(&w->run, w->arena, writes, &w->writer);
    struct program *program;
    if (!status && where && !(status = program_compile_filter(w->arena, where, &program)))
        status = evaluation_open(program, &w->run, w->arena, &w->where);
    return status;
}

static enum status write_rows(void *context, const struct batch *rows)
{
    struct row_writer *w = context;
    return table_writer_insert(w->writer, rows, w->row_ids);
}

/* The rows that WHERE keeps. */
static enum status filter(struct row_writer *w, struct batch *rows)
{
    const row_pos *left;
    uint16_t count, at = NO_ROW;
    enum status status = evaluation_filter(w->where, rows, &left, &count, &at);
    w->writer->failed_row = at;
    w->writer->failed_before = true;
    rows->selection = (row_pos *)(uintptr_t)left;
    rows->selected_count = count;
    rows->all_selected = left == NULL;
    return status;
}

enum status row_writer_rows(struct row_writer *w, const struct batch *rows, uint16_t *written)
{
    struct batch mine = *rows;
    memcpy(w->columns, rows->columns, w->writer->table->column_count * sizeof *w->columns);
    mine.columns = w->columns;           /* generated columns are put there */
    enum status status = w->where ? filter(w, &mine) : STATUS_OK;
    if (status)
        return status;
    *written = mine.selected_count;
    if (!mine.selected_count)
        return thread_check_interrupts();
    status = table_writer_complete(w->writer, &mine);
    status = status ? table_writer_before_failure(w->writer, &mine, status, write_rows, w) : write_rows(w, &mine);
    return status ? status : thread_check_interrupts();
}

int row_writer_failed_row(const struct row_writer *w, bool *before)
{
    *before = w->writer->failed_before;
    return w->writer->failed_row == NO_ROW ? -1 : w->writer->failed_row;
}

enum status row_writer_close(struct row_writer *w)
{
    enum status status = table_writer_finish(w->writer);
    if (w->group)
        workers_group_close(w->group);
    run_close_plain(&w->run);
    worker_arenas_close(&w->run);
    return status;
}

uint16_t row_writer_helpers(const struct row_writer *w)
{
    int64_t most = w->run.settings->max_parallel_workers_per_gather;
    if (most < 2 || !workers_available())
        return 0;
    return (uint16_t)(most - 1 < HELPERS_MAX ? most - 1 : HELPERS_MAX);
}

static enum status helper(void *context, uint16_t number, struct worker *worker)
{
    struct row_writer *w = context;
    (void)number, (void)worker;
    w->work(w->context);
    return STATUS_OK;
}

void row_writer_help(struct row_writer *w, uint16_t helpers, void (*work)(void *context), void *context)
{
    if (!w->group)
        w->group = workers_group_open(&w->run, helpers);
    w->work = work;
    w->context = context;
    workers_group_start(w->group, helper, w);
}

enum status row_writer_await(struct row_writer *w) { return workers_group_wait(w->group); }
