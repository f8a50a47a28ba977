/* tests/engine/in_process.h - a client in the test's own process: a session of an engine, and what it last said.
 *
 * An answer is its rows as text: every value followed by a bar, the last of a row by a newline where line_ends is set; NULL is null. */
#ifndef TESTS_ENGINE_IN_PROCESS_H
#define TESTS_ENGINE_IN_PROCESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/session.h"

/* An engine on a scratch directory, whose name ends in XXXXXX; false: it says why. Closing it removes the directory. */
static inline bool scratch_engine_open(char *directory, struct engine **engine)
{
    if (!mkdtemp(directory))
        return false;
    struct engine_options options = { .directory = directory };
    if (engine_open(&options, engine) == STATUS_OK)
        return true;
    fprintf(stderr, "engine: %s\n", error_current()->message);
    return false;
}

static inline bool scratch_engine_close(const char *directory, struct engine *engine)
{
    char command[96];
    engine_close(engine);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0;
}

struct peer {
    struct client client;
    struct session *session;
    char *answer; size_t length, capacity;
    uint64_t rows;
    char tag[64];
    bool suspended, line_ends;
};

static enum status peer_describe(struct client *c, const struct result_description *d, const uint16_t *f, uint16_t n) { (void)c; (void)d; (void)f; (void)n; return STATUS_OK; }
static enum status peer_rows(struct client *c, const struct result_description *d, const uint16_t *f, uint16_t n, const struct batch *batch)
{
    struct peer *p = c->context;
    struct arena *arena = arena_open(NULL, "rows");
    struct text_buffer text;
    (void)f; (void)n;
    text_buffer_open(&text, arena);
    for (uint16_t k = 0; k < batch->selected_count; k++) {
        uint16_t i = batch->all_selected ? k : batch->selection[k];
        for (uint16_t column = 0; column < d->column_count; column++) {
            if (vector_null(&batch->columns[column], i))
                text_buffer_puts(&text, "null");
            else
                type_out(d->types[column], &batch->columns[column], vector_at(&batch->columns[column], i), &text);
            text_buffer_putc(&text, p->line_ends && column + 1 == d->column_count ? '\n' : '|');
        }
    }
    p->rows += batch->selected_count;
    if (p->length + text.length >= p->capacity) {
        p->capacity = (p->length + text.length) * 2 + 256;
        p->answer = realloc(p->answer, p->capacity);
        if (!p->answer)
            abort();
    }
    memcpy(p->answer + p->length, text.bytes, text.length);
    p->length += text.length;
    p->answer[p->length] = '\0';
    arena_close(arena);
    return STATUS_OK;
}
static enum status peer_complete(struct client *c, const char *tag)
{
    struct peer *p = c->context;
    snprintf(p->tag, sizeof p->tag, "%s", tag);
    return STATUS_OK;
}
static enum status peer_empty(struct client *c) { (void)c; return STATUS_OK; }
static enum status peer_suspended(struct client *c) { ((struct peer *)c->context)->suspended = true; return STATUS_OK; }
static void peer_notice(struct client *c, const char *severity, const struct error *e) { (void)c; (void)severity; (void)e; }
static void peer_parameter(struct client *c, const char *name, const char *value) { (void)c; (void)name; (void)value; }

static inline enum status peer_open(struct peer *p, struct engine *engine, int number)
{
    p->client = (struct client){ .context = p, .describe = peer_describe, .rows = peer_rows, .complete = peer_complete, .empty = peer_empty, .suspended = peer_suspended, .notice = peer_notice, .parameter_status = peer_parameter };
    p->answer = calloc(1, p->capacity = 256);
    struct session_options options = { .engine = engine, .client = &p->client, .pid = 1000 + number, .user = "postgres", .database = "postgres", .application_name = "test", .client_address = "" };
    return session_open(&options, &p->session);
}

static inline void peer_close(struct peer *p)
{
    session_close(p->session);
    free(p->answer);
}

/* What comes next is a new answer. */
static inline void peer_forget(struct peer *p)
{
    p->rows = p->length = 0;
    p->answer[0] = p->tag[0] = '\0';
    p->suspended = false;
}

static inline enum status peer_run(struct peer *p, const char *sql)
{
    peer_forget(p);
    return session_query(p->session, sql, strlen(sql));
}

#endif
