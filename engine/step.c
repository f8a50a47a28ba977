/* engine/step.c - crab.step, crab_step(), crab_run().
 *
 * Who stands in a stepped table may hold its page latches as long as it likes. Nobody waits for those but sessions that use the
 * same table:
 *
 * - Autovacuum keeps out of a table that somebody steps through. Both say first what they are about to do and then look at the
 *   other: autovacuum that sees a stepped table leaves it, a stepped statement that sees autovacuum cancels it and waits till it is gone.
 * - The checkpoint gives such a page up (storage/checkpoint.c), cleaner and evictions only try.
 * - Who looks and steers takes no engine latch (engine_latch_looks(), session.c) and reads no page but the catalog's. */
#include "engine/step.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/atomic.h"
#include "base/step.h"
#include "btree/btree.h"
#include "engine/catalog/catalog.h"
#include "engine/functions.h"
#include "engine/session_private.h"

#define ANSWER_US 3000000                    /* how long crab_step and crab_run wait to see where the session comes to */
#define LATCH_US  20000                      /* a latch awaited for that long is worth telling */

/* ---------------------------------------------------------------- the setting */

struct stepped { const struct table *table; uint32_t files[STEP_FILES], count; };

static enum status relation_of(struct session *session, const char *text, struct stepped *out)
{
    struct relation_name name;
    memset(&name, 0, sizeof name);
    *out = (struct stepped){.count = 0};
    struct arena *scratch = arena_open(NULL, "crab.step");
    enum status status = parse_qualified_name(scratch, text, &name);
    if (!status)
        status = catalog_find(session, name.schema, name.name, &out->table);
    if (!status && !out->table) {
        const struct index *index;
        status = catalog_find_index(session, name.schema, name.name, &out->table, &index);
        if (!status && index)
            out->files[out->count++] = index->tree.file;
        else
            out->table = NULL;
    } else if (!status && out->table->kind == RELATION_TABLE && !out->table->virtual_table) {
        out->files[out->count++] = out->table->heap.file;
        if (out->table->heap.overflow_file)
            out->files[out->count++] = out->table->heap.overflow_file;
    }
    arena_close(scratch);
    return status;
}

static bool step_is_off(const char *text) { return !*text || !strcasecmp(text, "off"); }

enum status step_check_name(struct session *session, const char *text)
{
    struct stepped stepped;
    if (step_is_off(text))
        return STATUS_OK;
    bool alone = session->block == BLOCK_IDLE;
    enum status status = transaction_need(session);
    if (!status)
        status = relation_of(session, text, &stepped);
    if (!status && !stepped.table)
        status = error_set(STATUS_UNDEFINED_TABLE, "relation \"%s\" does not exist", text);
    else if (!status && stepped.table->system)
        status = error_set(STATUS_INSUFFICIENT_PRIVILEGE, "permission denied: \"%s\" is a system catalog", text);
    else if (!status && !stepped.count)
        status = error_set(STATUS_WRONG_OBJECT_TYPE, "\"%s\" is not a table or index", text);
    if (alone && !status)
        status = transaction_finish_implicit(session, true);
    return status;
}

/* ---------------------------------------------------------------- a statement */

enum status step_statement_begin(struct session *session)
{
    struct stepped stepped;
    if (session->stepping || !session->pid || step_is_off(session->settings.step))
        return STATUS_OK;
    enum status status = relation_of(session, session->settings.step, &stepped);
    if (status || !stepped.count || stepped.table->system)
        return status;
    struct engine *engine = session->engine;
    step_begin(session->pid, stepped.files, stepped.count);
    session->stepping = true;
    while (!status && atom_load(&engine->vacuuming) == stepped.table->oid) {
        thread_interrupt(engine->autovacuum, INTERRUPT_CANCEL);
        sleep_us(1000);
        status = thread_check_interrupts();
    }
    return status;
}

enum status step_statement_end(struct session *session, enum status status)
{
    if (!session->stepping)
        return status;
    session->stepping = false;
    step_end(session->pid);
    return status ? status : thread_check_interrupts();
}

bool step_table_enter(struct session *session, const struct table *table)
{
    atom_store(&session->engine->vacuuming, table->oid);
    bool stepped = step_watches(table->heap.file) || (table->heap.overflow_file && step_watches(table->heap.overflow_file));
    for (uint16_t i = 0; i < table->index_count; i++)
        stepped = stepped || step_watches(table->indexes[i].tree.file);
    if (stepped)
        step_table_leave(session);
    return !stepped;
}

void step_table_leave(struct session *session)
{
    atom_store(&session->engine->vacuuming, 0);
    thread_interrupt_clear(INTERRUPT_CANCEL);
}

/* ---------------------------------------------------------------- files by name */

static void name_add(struct file_names *names, uint32_t file, const char *name)
{
    if (!file)
        return;
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? names->capacity * 2 : 256;
        names->items = arena_grow(names->arena, names->items, sizeof *names->items * names->capacity, sizeof *names->items * capacity);
        names->capacity = capacity;
    }
    names->items[names->count++] = (struct file_name){file, name};
}

static enum status name_table(void *context, const struct table *table)
{
    struct file_names *names = context;
    if (table->kind != RELATION_TABLE || table->virtual_table)
        return STATUS_OK;
    bool plain = table->schema == SCHEMA_PUBLIC || table->schema == SCHEMA_PG_CATALOG;
    const char *name = plain ? arena_strdup(names->arena, table->name) : arena_printf(names->arena, "%s.%s", table->schema_name, table->name);
    name_add(names, table->heap.file, name);
    name_add(names, table->heap.overflow_file, arena_printf(names->arena, "%s/overflow", name));
    name_add(names, table->heap.space_file, arena_printf(names->arena, "%s/space", name));
    for (uint16_t i = 0; i < table->index_count; i++)
        name_add(names, table->indexes[i].tree.file, plain ? arena_strdup(names->arena, table->indexes[i].name) : arena_printf(names->arena, "%s.%s", table->schema_name, table->indexes[i].name));
    return STATUS_OK;
}

static int by_file(const void *a, const void *b)
{
    uint32_t x = ((const struct file_name *)a)->file, y = ((const struct file_name *)b)->file;
    return x < y ? -1 : x > y;
}

enum status file_names_read(struct session *session, struct arena *arena, struct file_names *out)
{
    *out = (struct file_names){.arena = arena};
    name_add(out, FILE_STATUS, "transaction status");
    enum status status = catalog_each(session, name_table, out);
    qsort(out->items, out->count, sizeof *out->items, by_file);
    return status;
}

const char *file_name(const struct file_names *names, uint32_t file)
{
    struct file_name key = {.file = file};
    const struct file_name *found = bsearch(&key, names->items, names->count, sizeof *names->items, by_file);
    return found ? found->name : NULL;
}

uint16_t latch_tree_level(uint16_t rank, uint16_t latch_level) { return rank == RANK_NODE ? btree_level_of_latch(latch_level) : 0; }

/* ---------------------------------------------------------------- letting go */

static bool session_exists(int32_t pid)
{
    bool found = false;
    latch_acquire(&sessions_latch, LATCH_SHARED);
    for (struct session *session = sessions_first; session && !found; session = session->next_session)
        found = session->pid == pid && pid != 0;
    latch_release(&sessions_latch);
    return found;
}

struct place { const char *verb; uint16_t rank, level; uint8_t mode; bool has_mode; uint64_t object, position; };

static void place_put(struct text_buffer *text, const struct file_names *names, const struct place *p)
{
    const char *name = file_name(names, (uint32_t)(p->object >> 32));
    text_buffer_printf(text, "%s%s:%s %s", text->length ? "; " : "", p->verb, !p->has_mode ? "" : p->mode == LATCH_SHARED ? " shared" : " exclusive", latch_ranks[p->rank].name);
    if (p->rank == RANK_NODE)
        text_buffer_printf(text, " level %u", latch_tree_level(p->rank, p->level));
    if (p->object)
        text_buffer_printf(text, " page %u of %s", (unsigned)(p->object & UINT32_MAX), name ? name : "?");
}

/* Where the session's threads stand; false: fewer than `wanted` do. */
static bool standing_put(struct text_buffer *text, const struct file_names *names, int32_t pid, uint32_t wanted, struct arena *arena)
{
    size_t capacity = 64, count;
    struct step_sight *sights = arena_array(arena, struct step_sight, capacity);
    uint32_t found = 0;
    while ((count = step_sights(sights, capacity)) > capacity) {
        capacity = count * 2;
        sights = arena_array(arena, struct step_sight, capacity);
    }
    for (size_t i = 0; i < count; i++)
        found += sights[i].pid == pid;
    if (found < wanted || !found)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct step_sight *s = &sights[i];
        if (s->pid == pid)
            place_put(text, names, &(struct place){s->point, s->rank, s->level, s->mode, s->has_mode, s->object, s->position});
    }
    return true;
}

static bool awaited_put(struct text_buffer *text, const struct file_names *names, int32_t pid, struct arena *arena)
{
    size_t capacity = 512, count;
    struct latch_sight *sights = arena_array(arena, struct latch_sight, capacity);
    while ((count = latch_sights(sights, capacity)) > capacity) {
        capacity = count * 2;
        sights = arena_array(arena, struct latch_sight, capacity);
    }
    for (size_t i = 0; i < count; i++) {
        const struct latch_sight *s = &sights[i];
        if (s->pid == pid && s->awaited && s->waited_us >= LATCH_US)
            place_put(text, names, &(struct place){"waits for", s->rank, s->level, s->mode, true, s->object, s->position});
    }
    return text->length > 0;
}

/* The session was let go: what becomes of it. Three seconds at most, since it may run for long; all its threads are waited for
 * during the first of them, since some may have nothing more to do. */
static enum status answer(const struct row_call *c, int32_t pid, uint32_t let_go, struct value *out)
{
    struct file_names names;
    struct text_buffer text;
    uint64_t begun = now_us(), pause_us = 50;
    enum status status = file_names_read(c->session, c->arena, &names);
    text_buffer_open(&text, c->arena);
    while (!status) {
        uint64_t waited = now_us() - begun;
        if (!step_begun(pid)) {
            text_buffer_puts(&text, "the statement is over");
            break;
        }
        struct arena *scratch = arena_open(NULL, "step");
        bool found = standing_put(&text, &names, pid, waited < ANSWER_US / 3 ? let_go : 1, scratch) || awaited_put(&text, &names, pid, scratch);
        arena_close(scratch);
        if (found)
            break;
        if (waited > ANSWER_US) {
            text_buffer_puts(&text, "runs");
            break;
        }
        sleep_us(pause_us);
        pause_us = pause_us < 2000 ? pause_us * 2 : pause_us;
        status = thread_check_interrupts();
    }
    if (!status)
        *out = (struct value){.v = {.bytes = (const uint8_t *)text.bytes, .length = (uint32_t)text.length}};
    return status;
}

static enum status not_stopped(int32_t pid)
{
    if (!session_exists(pid))
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "PID %d is not a backend of this server", pid);
    error_set(STATUS_OBJECT_NOT_READY, "the session with PID %d is not stopped", pid);
    error_hint("A session stops at the page points of the relation that its crab.step names.");
    return STATUS_OBJECT_NOT_READY;
}

ROW_FUNCTION(crab_step)
{
    int64_t points = c->arg_count < 2 ? 1 : args[1].i4;
    if (points < 1)
        return error_set(STATUS_INVALID_PARAMETER_VALUE, "number of points must be greater than zero");
    uint32_t let_go = step_go(args[0].i4, (uint64_t)points);
    return let_go ? answer(c, args[0].i4, let_go, out) : not_stopped(args[0].i4);
}

ROW_FUNCTION(crab_run)
{
    uint32_t let_go = step_run(args[0].i4);
    return let_go ? answer(c, args[0].i4, let_go, out) : not_stopped(args[0].i4);
}
