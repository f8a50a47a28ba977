/* engine/copy_parallel.c - COPY FROM: batches read by workers, written by the leader in their order.
 *
 *     leader    fill a buffer, cut it into batches | await the workers: the round before is read | send them this round | write the round before
 *     workers   claim a batch of the round, make rows of its lines
 *
 * 1. Batches are cut where a COPY without workers ends its own (after BATCH_ROWS lines, or BATCH_BYTES of them). So which rows are written before an
 *    error, and which error is the first, doesn't hang on workers.
 * 2. Workers may read past what ends the COPY: an end marker, an error. The leader takes batches in order, and what comes behind is dropped.
 * 3. For the text format, with lines that end in \n, no defaults to be computed, and values that need nothing but the session's settings
 *    to be read. What doesn't fill a batch, at the end, or fills too much, is left to the leader's own way. */
#include "engine/copy_private.h"

#include "base/atomic.h"

#include <stdlib.h>
#include <string.h>

#define PIECES      64
#define WANT_FIRST  (256u << 10)
#define WANT_MOST   (2u << 20)
#define WANT_PIECES 24                                        /* a round is about so many */
#define ROUND_MOST  (16u << 20)                               /* lines so long that this holds no batch aren't read here */

struct piece { struct copy_in in; struct arena *arena; uint8_t *from; size_t length; uint64_t line; enum status status; struct error error; };
struct round {
    uint8_t *bytes; size_t length, capacity, cut;             /* cut: what lies behind belongs to the next round */
    uint32_t count; _Atomic uint32_t next;                    /* pieces; the first that nobody has claimed */
    struct piece pieces[PIECES];
};

static bool plain_type(uint32_t oid)
{
    switch (oid) {
    case OID_BOOL: case OID_INT2: case OID_INT4: case OID_INT8: case OID_FLOAT4: case OID_FLOAT8: case OID_NUMERIC: case OID_TEXT: case OID_VARCHAR: case OID_BPCHAR:
    case OID_BYTEA: case OID_DATE: case OID_TIME: case OID_TIMESTAMP: case OID_TIMESTAMPTZ: case OID_INTERVAL: case OID_UUID:
        return true;
    default:
        return false;
    }
}

uint16_t copy_helpers(const struct copy_in *in)
{
    if (in->options.format != COPY_TEXT || !in->column_count)
        return 0;
    for (uint16_t c = 0; c < in->table->column_count; c++) {
        bool given = false;
        for (uint16_t i = 0; i < in->column_count && !given; i++)
            given = in->columns[i] == c;
        if (given ? !plain_type(in->table->columns[c].type.oid) : in->defaults[c] != NULL)
            return 0;
    }
    return row_writer_helpers(in->writer);
}

/* ---------------------------------------------------------------- rounds */

static enum status round_room(struct round *r, size_t more)
{
    size_t capacity = r->capacity ? r->capacity : WANT_FIRST + FILE_BYTES;
    while (capacity < r->length + more)
        capacity *= 2;
    if (capacity == r->capacity)
        return STATUS_OK;
    uint8_t *bytes = realloc(r->bytes, capacity + SOURCE_SLACK);
    if (!bytes)
        return error_set(STATUS_OUT_OF_MEMORY, NULL);
    r->bytes = bytes;
    r->capacity = capacity;
    return STATUS_OK;
}

static enum status round_add(struct round *r, const uint8_t *bytes, size_t count)
{
    enum status status = round_room(r, count);
    if (!status && count && bytes != r->bytes + r->length)
        memcpy(r->bytes + r->length, bytes, count);
    r->length += status ? 0 : count;
    return status;
}

static enum status round_fill(struct round *r, struct source *source, size_t want)
{
    enum status status = STATUS_OK;
    while (r->length < want && !source->ended && !status) {
        const uint8_t *piece;
        size_t count;
        status = round_room(r, FILE_BYTES);
        if (!status)
            status = source_piece(source, r->bytes + r->length, &piece, &count);
        if (!status)
            status = round_add(r, piece, count);
    }
    return status;
}

/* The \n that ends the record at `from`, as record_next finds it: none that a backslash takes along. NULL: it isn't there. */
static uint8_t *record_end(uint8_t *from, uint8_t *end)
{
    for (uint8_t *at = from; (at = memchr(at, '\n', (size_t)(end - at))); at++) {
        size_t before = 0;
        while (at - before > from && at[-1 - (ptrdiff_t)before] == '\\')
            before++;
        if (before % 2 == 0)
            return at;
    }
    return NULL;
}

/* Rule 1. *line: of the record before the first. */
static void round_cut(struct round *r, uint64_t *line)
{
    uint8_t *at = r->bytes, *end = r->bytes + r->length;
    r->count = 0;
    r->cut = 0;
    atom_store(&r->next, 0);
    while (r->count < PIECES) {
        uint8_t *from = at;
        size_t rows = 0, bytes = 0;
        for (uint8_t *stop; rows < BATCH_ROWS && bytes < BATCH_BYTES && (stop = record_end(at, end)); at = stop + 1) {
            bytes += (size_t)(stop - at);
            rows++;
        }
        if (rows < BATCH_ROWS && bytes < BATCH_BYTES)
            return;
        struct piece *piece = &r->pieces[r->count++];
        piece->from = from;
        piece->length = (size_t)(at - from);
        piece->line = *line;
        *line += rows;
        r->cut = (size_t)(at - r->bytes);
    }
}

/* ---------------------------------------------------------------- workers */

static void piece_read(struct piece *piece, const struct round *r)
{
    struct copy_in *in = &piece->in;
    in->source = (struct source){.bytes = piece->from, .length = piece->length, .behind = (size_t)(r->bytes + r->length - piece->from) - piece->length, .ended = true};
    in->line = piece->line;
    in->marker = false;
    in->context_column = NULL;
    in->context_line = (struct varlen){0};
    batch_new(in);
    piece->status = copy_in_lines(in);
    if (piece->status)
        error_save(&piece->error);
    else if (in->rows)
        in->line = in->row_lines[in->rows - 1];
}

static void read_pieces(void *context)
{
    struct round *r = context;
    for (uint32_t i; (i = atom_add(&r->next, 1)) < r->count;)
        piece_read(&r->pieces[i], r);
}

/* ---------------------------------------------------------------- the leader */

static struct round *round_open(const struct copy_in *in)
{
    struct round *r = calloc(1, sizeof *r);
    for (uint32_t i = 0; r && i < PIECES; i++) {
        struct piece *piece = &r->pieces[i];
        piece->in = *in;
        piece->in.options.header = HEADER_NO;
        piece->in.helpers = 0;
        piece->in.keeps = true;
        piece->arena = piece->in.arena = arena_open(NULL, "copy batch");
        piece->in.fields = arena_array(in->session->statement_arena, struct field, in->column_count + 1u);
    }
    return r;
}

static void errors_drop(struct round *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->pieces[i].status)
            error_free(&r->pieces[i].error);
        r->pieces[i].status = STATUS_OK;
    }
    r->count = 0;
}

static void round_close(struct round *r)
{
    if (!r)
        return;
    errors_drop(r);
    for (uint32_t i = 0; i < PIECES; i++)
        arena_close(r->pieces[i].arena);
    free(r->bytes);
    free(r);
}

/* What the workers made of the round goes to the table, or is the error of the statement. */
static enum status round_write(struct copy_in *in, struct round *r)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < r->count && !status && !in->marker; i++) {
        struct piece *piece = &r->pieces[i];
        in->line = piece->in.line;
        if (piece->status) {
            in->context_column = piece->in.context_column;
            in->context_field = piece->in.context_field;
            in->context_line = piece->in.context_line;
            piece->status = STATUS_OK;
            return error_restore(&piece->error);
        }
        in->batch = piece->in.batch;
        in->rows = piece->in.rows;
        in->row_lines = piece->in.row_lines;
        in->row_texts = piece->in.row_texts;
        in->marker = piece->in.marker;
        if (in->rows)
            status = batch_write(in);
    }
    return status;
}

/* Bytes behind the last whole batch go back to the source. */
static enum status give_back(struct copy_in *in, const uint8_t *bytes, size_t count)
{
    in->source.at = in->source.length = 0;
    enum status status = source_room(&in->source, count);
    if (status)
        return status;
    if (count)
        memcpy(in->source.bytes, bytes, count);
    in->source.length = count;
    return STATUS_OK;
}

/* Waits for the workers after something that ended with `status`: its error stays the statement's. */
static enum status await_after(struct copy_in *in, enum status status)
{
    struct error saved = {0};
    if (!status)
        return row_writer_await(in->writer);
    error_save(&saved);
    enum status ignored = row_writer_await(in->writer);
    (void)ignored;
    return error_restore(&saved);
}

/* `reading` is in the workers' hands; on an error, too, they are awaited. rounds[0] is filled next. */
static enum status rounds_run(struct copy_in *in, struct round *rounds[2])
{
    struct source *source = &in->source;
    struct round *fresh = rounds[0], *reading = NULL;
    size_t want = WANT_FIRST;
    uint64_t line = in->line;
    enum status status = round_add(fresh, source->bytes + source->at, source->length - source->at);
    while (!status) {
        struct error failed = {0};
        enum status filled = round_fill(fresh, source, want), awaited = STATUS_OK;
        if (filled)
            error_save(&failed);                              /* what came before it comes first */
        round_cut(fresh, &line);
        if (reading)
            awaited = row_writer_await(in->writer);
        if (awaited) {
            error_free(&failed);
            return awaited;
        }
        const bool going = fresh->count;
        if (going)
            row_writer_help(in->writer, in->helpers, read_pieces, fresh);
        status = reading ? round_write(in, reading) : STATUS_OK;
        if (status || in->marker || !going || filled) {
            if (going)
                status = await_after(in, status);
            if (going && filled && !status && !in->marker)
                status = round_write(in, fresh);              /* a fault of its rows is the first one */
            if (status || in->marker) {
                error_free(&failed);
                return status;
            }
            if (filled)
                return error_restore(&failed);
            if (!source->ended && fresh->length < ROUND_MOST) {         /* long lines: more of them */
                want = 2 * fresh->length;
                reading = NULL;
                continue;
            }
            if (!source->ended)
                in->helpers = 0;
            in->line = line;
            return give_back(in, fresh->bytes, fresh->length);
        }
        want = fresh->cut / fresh->count * WANT_PIECES;
        want = want < FILE_BYTES ? FILE_BYTES : want > WANT_MOST ? WANT_MOST : want;
        struct round *other = fresh == rounds[0] ? rounds[1] : rounds[0];
        errors_drop(other);
        other->length = 0;
        status = round_add(other, fresh->bytes + fresh->cut, fresh->length - fresh->cut);
        if (status)
            return await_after(in, status);
        reading = fresh;
        fresh = other;
    }
    return status;
}

/* What CONTEXT shows outlives the rounds. */
static void context_keep(struct copy_in *in)
{
    if (in->context_line.bytes)
        in->context_line.bytes = arena_copy(in->session->statement_arena, in->context_line.bytes, in->context_line.length);
    if (in->context_column)
        in->context_field.bytes = arena_copy(in->session->statement_arena, in->context_field.bytes, in->context_field.length);
}

enum status copy_parallel(struct copy_in *in)
{
    struct round *rounds[2] = {round_open(in), round_open(in)};
    enum status status = rounds[0] && rounds[1] ? rounds_run(in, rounds) : error_set(STATUS_OUT_OF_MEMORY, NULL);
    if (status)
        context_keep(in);
    round_close(rounds[0]);
    round_close(rounds[1]);
    if (!status)
        batch_new(in);
    return status;
}
