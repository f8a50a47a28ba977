/* base/arena.h - memory that is freed at once.
 *
 *     struct arena *arena = arena_open(parent, "statement");
 *     char *name = arena_strdup(arena, "x");
 *     arena_close(arena);
 *
 * One thread uses an arena at a time; a worker opens its own. Closing a parent closes its children. Memory that
 * cannot be had at all (malloc fails) ends the process: callers check sizes that come from outside first
 * (arena_alloc of more than ARENA_MAX_BYTES is a bug in the caller). */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

#define ARENA_MAX_BYTES ((size_t)1 << 40)

struct arena;

struct arena *arena_open(struct arena *parent, const char *name);  /* parent may be NULL */
void   arena_close(struct arena *);                                /* NULL is allowed */
void   arena_reset(struct arena *);                                /* frees what it holds and its children, stays open; keeps one block */
void  *arena_alloc(struct arena *, size_t bytes);                  /* 16-byte aligned, not zeroed */
void  *arena_zero(struct arena *, size_t bytes);                   /* zeroed */
void  *arena_grow(struct arena *, void *old, size_t old_bytes, size_t new_bytes); /* realloc: in place if it was the last */
void  *arena_copy(struct arena *, const void *bytes, size_t count);
char  *arena_strdup(struct arena *, const char *);
char  *arena_strndup(struct arena *, const char *, size_t);        /* adds the final NUL */
char  *arena_printf(struct arena *, const char *format, ...) PRINTF_LIKE(2, 3);
char  *arena_vprintf(struct arena *, const char *format, va_list);
void   arena_thread_ends(void);                                    /* base/thread: lets go what the thread kept for its next arenas */
size_t arena_bytes(const struct arena *);                          /* held by it and its children, for work_mem */

#define arena_new(arena, type)          ((type *)arena_zero((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_zero((arena), sizeof(type) * (size_t)(count)))

/* A text that grows. Always NUL-terminated at .length. */
struct text_buffer { struct arena *arena; char *bytes; size_t length, capacity; };
void text_buffer_open(struct text_buffer *, struct arena *);
void text_buffer_add(struct text_buffer *, const void *bytes, size_t count);
void text_buffer_puts(struct text_buffer *, const char *);
void text_buffer_putc(struct text_buffer *, char);
void text_buffer_printf(struct text_buffer *, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
