/* engine/copy_private.h - what the files of COPY share.
 *
 * copy.c           options, columns, the statement
 * copy_source.c    in: bytes of the client or a file, in buffers that stay while rows point into them
 * copy_record.c    in: lines cut out of them, and fields out of lines
 * copy_in.c        in: fields -> values -> batches of rows -> the table
 * copy_parallel.c  in: many batches read at once by workers
 * copy_out.c       out */
#ifndef ENGINE_COPY_PRIVATE_H
#define ENGINE_COPY_PRIVATE_H

#include "engine/session_private.h"

#include <stdio.h>

enum copy_format { COPY_TEXT, COPY_CSV, COPY_BINARY };
enum copy_header { HEADER_NO, HEADER_YES, HEADER_MATCH };

struct copy_options {
    enum copy_format format;
    enum copy_header header;
    char delimiter, quote, escape;
    const char *null; size_t null_length;
    bool freeze;
    const struct option *force_quote, *force_not_null, *force_null;
};
extern const char binary_signature[11];

/* copy.c */
enum status force_read(const struct option *, const char *const *names, uint16_t count, const char *what, bool *out) MUST_CHECK;
enum status columns_read(struct arena *, const struct table *, const struct name_list *, uint16_t **out, uint16_t *count, const char ***names) MUST_CHECK;

/* ---- copy_source.c ---- */
struct source_buffer { struct source_buffer *next; size_t capacity; uint8_t bytes[]; };
struct source {
    struct client *client; FILE *file;
    uint8_t *bytes; size_t length, at, capacity;              /* not yet used: bytes[at .. length) */
    size_t behind;                                            /* so many more lie there, but are somebody else's (copy_parallel.c) */
    struct source_buffer *buffer, *old, *spare;               /* bytes' own; those that rows of the batch still point into; one for later */
    bool ended;
    bool discard;                                             /* what still comes is read and thrown away */
};
#define SOURCE_BYTES 262144
#define BATCH_BYTES  (4u << 20)
#define SOURCE_SLACK 16                                       /* whole words may be read past the end */
/* Room for `count` more bytes behind those not yet used. Bytes never move while rows point at them: what isn't used goes to another buffer. */
enum status source_room(struct source *, size_t count) MUST_CHECK;
void        source_forget(struct source *);                   /* no row points into older buffers any more */
void        source_close(struct source *);
/* The next bytes there are, none at the end: those of a file come to lie in `room` (FILE_BYTES), the client's lie somewhere until the next call. */
#define FILE_BYTES 65536
enum status source_piece(struct source *, uint8_t *room, const uint8_t **piece, size_t *count) MUST_CHECK;
enum status source_more(struct source *) MUST_CHECK;          /* more bytes behind those not yet used; or `ended` */

/* ---- copy_record.c ---- */
struct field { const uint8_t *bytes; uint32_t length; bool null; };
enum line_end { LINE_END_UNKNOWN, LINE_END_NL, LINE_END_CR, LINE_END_CRNL };

struct copy_in {
    struct session *session;
    const struct table *table;
    struct copy_options options;
    struct source source;
    uint16_t column_count; uint16_t *columns;                 /* table columns (attnum - 1) in file order */
    const char **names;
    bool *force_not_null, *force_null;
    struct scalar **defaults;                                 /* by table column, for those not in the file; NULL: null */
    struct field *fields;
    uint64_t line;                                            /* of the record under way, from 1 */
    enum line_end line_end;                                   /* as the first line's */
    bool marker;                                              /* the end marker was met: no record comes behind */
    const char *context_column; struct field context_field;
    struct varlen context_line;                               /* the record under way, or {NULL, 0} */
    uint64_t *row_lines; struct varlen *row_texts;            /* of the batch's rows, for errors met when it is written */
    enum { VALUE_ANY, VALUE_INT2, VALUE_INT4, VALUE_INT8, VALUE_FLOAT8, VALUE_TEXT } *forms;   /* by field: how its value is read */
    struct arena *arena;                                      /* of the batch */
    struct batch batch;
    uint16_t rows; size_t bytes;                              /* of the batch; bytes: of its records */
    uint64_t copied;                                          /* rows that were written */
    struct row_writer *writer;
    uint16_t helpers;                                         /* workers that may read batches (copy_parallel.c); 0: none */
    bool keeps;                                               /* a worker's: reads one batch, and keeps it */
};
/* The next record's bytes, checked to be UTF-8; false in *more: there is none. */
enum status record_next(struct copy_in *, size_t *start, size_t *end, bool *more) MUST_CHECK;
enum status record_encoding(const struct source *, const uint8_t *bytes, size_t length) MUST_CHECK;
/* A record's fields, into in->fields. */
enum status fields_text(struct copy_in *, const uint8_t *, const uint8_t *end, uint16_t *count) MUST_CHECK;
enum status fields_csv(struct copy_in *, const uint8_t *, const uint8_t *end, uint16_t *count) MUST_CHECK;
enum status too_many(void);

/* ---- copy_in.c ---- */
void        batch_new(struct copy_in *);
enum status batch_write(struct copy_in *) MUST_CHECK;         /* to the table; in->batch stays as it is */
enum status copy_in_lines(struct copy_in *) MUST_CHECK;
enum status copy_from(struct session *, const char *sql, const struct copy_statement *, const struct copy_options *, uint64_t *rows) MUST_CHECK;
/* copy_parallel.c */
uint16_t    copy_helpers(const struct copy_in *);             /* how many workers may read this COPY's batches */
/* Whole batches from where the source stands, the batch at hand being empty; then the source stands at what is left: behind the last whole batch, or an
 * end marker. */
enum status copy_parallel(struct copy_in *) MUST_CHECK;
/* copy_out.c */
enum status copy_to(struct session *, const char *sql, const struct copy_statement *, const struct copy_options *, uint64_t *rows) MUST_CHECK;

#endif
