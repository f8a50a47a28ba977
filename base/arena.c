/* base/arena.c - memory that is freed at once.
 *
 * An arena is a list of blocks, handed out from the newest by moving a cursor. The arena's own header stands at the
 * start of its first block, so a small arena costs one malloc. What is too big for a block gets one of its own, which
 * arena_grow() can hand to realloc.
 *
 *     first block:  [struct arena | values ...... cursor -> free .... end]
 *     more blocks:  [struct block | values ..........................]      twice as big each, up to BLOCK_MAX
 *     big blocks:   [struct block | one value]
 *
 * 1. One thread at a time allocates. Only the list of children may be touched by several (workers that open and close
 *    a child of their leader's arena), so `guard` stands over it, for a few instructions at a time; `held` is an
 *    atomic because arena_bytes() of a parent reads it.
 * 2. Under AddressSanitizer what was not handed out is poisoned, and GAP bytes stay poisoned behind each value.
 * 3. A thread keeps some of the first blocks and smallest blocks that it freed last: a statement opens several small arenas, and
 *    malloc is slow for what is too big for its own cache of a thread. They go when the thread ends (arena_thread_ends). */
#include "base/arena.h"
#include "base/arena_count.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(at, count)   ASAN_POISON_MEMORY_REGION((at), (count))
#define UNPOISON(at, count) ASAN_UNPOISON_MEMORY_REGION((at), (count))
#define GAP                 16
#else
#define POISON(at, count)   ((void)0)
#define UNPOISON(at, count) ((void)0)
#define GAP                 0
#endif

#define ALIGN       16
#define FIRST_BYTES 4096
#define BLOCK_MIN   8192
#define BLOCK_MAX   ((size_t)1 << 20)
#define BIG_BYTES   ((size_t)64 << 10) /* a value of more than this gets a block of its own */

struct block {
    struct block *next, *previous;
    size_t bytes; /* with this header */
    size_t unused;
};
_Static_assert(sizeof(struct block) % ALIGN == 0, "values behind a block's header are aligned");

struct arena {
    char *cursor, *end;   /* of the newest block */
    struct block *blocks; /* the newest first; the first block isn't among them */
    struct block *big;
    _Atomic size_t held;
    size_t next_block_bytes;
    const char *name;
    struct arena *parent, *next, *previous; /* among the parent's children */
    struct arena *children;
    _Atomic uint32_t guard; /* of `children` and its links (rule 1) */
};

#define HEADER_BYTES ((sizeof(struct arena) + ALIGN - 1) / ALIGN * ALIGN)

static void children_guard(struct arena *arena)
{
    while (atomic_exchange_explicit(&arena->guard, 1, memory_order_acquire))
        sched_yield();
}

static void children_unguard(struct arena *arena)
{
    atomic_store_explicit(&arena->guard, 0, memory_order_release);
}

static _Thread_local uint64_t blocks_taken;
uint64_t arena_blocks_taken(void) { return blocks_taken; }

static void *get_memory(struct arena *arena, size_t bytes)
{
    blocks_taken++;
    void *memory = malloc(bytes);
    if (!memory)
        panic("out of memory: arena \"%s\" wanted %zu bytes", arena ? arena->name : "new", bytes);
    return memory;
}

static void held_add(struct arena *arena, size_t bytes)
{
    size_t held = atomic_load_explicit(&arena->held, memory_order_relaxed);
    atomic_store_explicit(&arena->held, held + bytes, memory_order_relaxed);
}

/* Rule 3: a stack for each of two sizes. */
#ifdef ARENA_ASAN
#define SPARES 0
#else
#define SPARES 8
#endif
static _Thread_local struct { void *stack[2][SPARES + 1]; int count[2]; } spares;

static void *spare_get(struct arena *arena, int which, size_t bytes)
{
    if (!spares.count[which])
        return get_memory(arena, bytes);
    blocks_taken++;
    return spares.stack[which][--spares.count[which]];
}

static void spare_put(int which, void *memory)
{
    if (spares.count[which] < SPARES)
        spares.stack[which][spares.count[which]++] = memory;
    else
        free(memory);
}

void arena_thread_ends(void)
{
    for (int which = 0; which < 2; which++)
        while (spares.count[which])
            free(spares.stack[which][--spares.count[which]]);
}

struct arena *arena_open(struct arena *parent, const char *name)
{
    struct arena *arena = spare_get(NULL, 0, FIRST_BYTES);
    memset(arena, 0, sizeof(*arena));
    arena->cursor = (char *)arena + HEADER_BYTES;
    arena->end = (char *)arena + FIRST_BYTES;
    arena->next_block_bytes = BLOCK_MIN;
    arena->name = name;
    arena->parent = parent;
    held_add(arena, FIRST_BYTES);
    POISON(arena->cursor, FIRST_BYTES - HEADER_BYTES);
    if (parent) {
        children_guard(parent);
        arena->next = parent->children;
        if (parent->children)
            parent->children->previous = arena;
        parent->children = arena;
        children_unguard(parent);
    }
    return arena;
}

static void blocks_free(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        UNPOISON(block, block->bytes);
        if (block->bytes == BLOCK_MIN)
            spare_put(1, block);
        else
            free(block);
        block = next;
    }
}

static void destroy(struct arena *arena)
{
    for (struct arena *child = arena->children; child;) {
        struct arena *next = child->next;
        destroy(child);
        child = next;
    }
    blocks_free(arena->blocks);
    blocks_free(arena->big);
    UNPOISON(arena, FIRST_BYTES);
    spare_put(0, arena);
}

void arena_close(struct arena *arena)
{
    if (!arena)
        return;
    struct arena *parent = arena->parent;
    if (parent) {
        children_guard(parent);
        if (arena->previous)
            arena->previous->next = arena->next;
        else
            parent->children = arena->next;
        if (arena->next)
            arena->next->previous = arena->previous;
        children_unguard(parent);
    }
    destroy(arena);
}

/* Keeps the newest plain block when it is small, so that a statement arena that is reset again and again comes to
 * rest without malloc. */
void arena_reset(struct arena *arena)
{
    for (struct arena *child = arena->children; child;) {
        struct arena *next = child->next;
        destroy(child);
        child = next;
    }
    arena->children = NULL;
    blocks_free(arena->big);
    arena->big = NULL;

    struct block *kept = arena->blocks;
    if (kept && kept->bytes <= BIG_BYTES) {
        blocks_free(kept->next);
        kept->next = NULL;
        arena->cursor = (char *)(kept + 1);
        arena->end = (char *)kept + kept->bytes;
        atomic_store_explicit(&arena->held, FIRST_BYTES + kept->bytes, memory_order_relaxed);
    } else {
        blocks_free(kept);
        arena->blocks = NULL;
        arena->next_block_bytes = BLOCK_MIN;
        arena->cursor = (char *)arena + HEADER_BYTES;
        arena->end = (char *)arena + FIRST_BYTES;
        atomic_store_explicit(&arena->held, FIRST_BYTES, memory_order_relaxed);
    }
    POISON(arena->cursor, (size_t)(arena->end - arena->cursor));
}

static void *alloc_big(struct arena *arena, size_t bytes)
{
    ASSERT(bytes <= ARENA_MAX_BYTES);
    struct block *block = get_memory(arena, sizeof(*block) + bytes);
    block->bytes = sizeof(*block) + bytes;
    block->previous = NULL;
    block->next = arena->big;
    if (arena->big)
        arena->big->previous = block;
    arena->big = block;
    held_add(arena, block->bytes);
    return block + 1;
}

static void __attribute__((noinline)) block_add(struct arena *arena)
{
    size_t bytes = arena->next_block_bytes;
    if (bytes < BLOCK_MAX)
        arena->next_block_bytes = bytes * 2;
    if (bytes < BIG_BYTES * 2 && arena->blocks)
        bytes = arena->next_block_bytes;
    struct block *block = bytes == BLOCK_MIN ? spare_get(arena, 1, BLOCK_MIN) : get_memory(arena, bytes);
    block->bytes = bytes;
    block->previous = NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->cursor = (char *)(block + 1);
    arena->end = (char *)block + bytes;
    held_add(arena, bytes);
    POISON(arena->cursor, bytes - sizeof(*block));
}

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    if (__builtin_expect(bytes > BIG_BYTES, 0))
        return alloc_big(arena, bytes);
    size_t room = round_up(bytes ? bytes : 1) + GAP;
    while (__builtin_expect((size_t)(arena->end - arena->cursor) < room, 0)) {
        while (arena->next_block_bytes < room + sizeof(struct block))
            arena->next_block_bytes *= 2;
        block_add(arena);
    }
    void *value = arena->cursor;
    arena->cursor += room;
    UNPOISON(value, bytes);
    return value;
}

void *arena_zero(struct arena *arena, size_t bytes)
{
    return memset(arena_alloc(arena, bytes), 0, bytes);
}

void *arena_grow(struct arena *arena, void *old, size_t old_bytes, size_t new_bytes)
{
    if (!old)
        return arena_alloc(arena, new_bytes);
    if (new_bytes <= old_bytes)
        return old;
    ASSERT(new_bytes <= ARENA_MAX_BYTES);

    if (old_bytes > BIG_BYTES) {
        struct block *block = (struct block *)old - 1;
        size_t bytes = sizeof(*block) + new_bytes;
        size_t before = block->bytes;
        if (bytes <= before) /* shrunk before by a caller that kept count of less */
            return old;
        block = realloc(block, bytes);
        if (!block)
            panic("out of memory: arena \"%s\" wanted %zu bytes", arena->name, bytes);
        block->bytes = bytes;
        if (block->previous)
            block->previous->next = block;
        else
            arena->big = block;
        if (block->next)
            block->next->previous = block;
        held_add(arena, bytes - before);
        return block + 1;
    }
    size_t old_room = round_up(old_bytes ? old_bytes : 1) + GAP;
    if ((char *)old + old_room == arena->cursor && new_bytes <= BIG_BYTES &&
        (char *)old + round_up(new_bytes) + GAP <= arena->end) {
        arena->cursor = (char *)old + round_up(new_bytes) + GAP;
        UNPOISON(old, new_bytes);
        return old;
    }
    void *value = arena_alloc(arena, new_bytes);
    memcpy(value, old, old_bytes);
    return value;
}

void *arena_copy(struct arena *arena, const void *bytes, size_t count)
{
    void *value = arena_alloc(arena, count);
    if (count)
        memcpy(value, bytes, count);
    return value;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(small, sizeof(small), format, args);
    ASSERT(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1);
    if ((size_t)length < sizeof(small))
        memcpy(text, small, (size_t)length + 1);
    else
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

size_t arena_bytes(const struct arena *arena)
{
    size_t bytes = atomic_load_explicit(&arena->held, memory_order_relaxed);
    struct arena *guarded = (struct arena *)arena; /* only its guard is written */
    children_guard(guarded);
    for (const struct arena *child = arena->children; child; child = child->next)
        bytes += arena_bytes(child);
    children_unguard(guarded);
    return bytes;
}

void text_buffer_open(struct text_buffer *buffer, struct arena *arena)
{
    buffer->arena = arena;
    buffer->capacity = 64;
    buffer->length = 0;
    buffer->bytes = arena_alloc(arena, buffer->capacity);
    buffer->bytes[0] = '\0';
}

static void text_buffer_room(struct text_buffer *buffer, size_t more)
{
    size_t wanted = buffer->length + more + 1;
    if (wanted <= buffer->capacity)
        return;
    size_t capacity = buffer->capacity * 2;
    while (capacity < wanted)
        capacity *= 2;
    buffer->bytes = arena_grow(buffer->arena, buffer->bytes, buffer->capacity, capacity);
    buffer->capacity = capacity;
}

void text_buffer_add(struct text_buffer *buffer, const void *bytes, size_t count)
{
    text_buffer_room(buffer, count);
    if (count)
        memcpy(buffer->bytes + buffer->length, bytes, count);
    buffer->length += count;
    buffer->bytes[buffer->length] = '\0';
}

void text_buffer_puts(struct text_buffer *buffer, const char *text)
{
    text_buffer_add(buffer, text, strlen(text));
}

void text_buffer_putc(struct text_buffer *buffer, char c)
{
    text_buffer_add(buffer, &c, 1);
}

void text_buffer_printf(struct text_buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(buffer->bytes + buffer->length, buffer->capacity - buffer->length, format, args);
    va_end(args);
    ASSERT(length >= 0);
    if ((size_t)length >= buffer->capacity - buffer->length) {
        text_buffer_room(buffer, (size_t)length);
        vsnprintf(buffer->bytes + buffer->length, buffer->capacity - buffer->length, format, again);
    }
    va_end(again);
    buffer->length += (size_t)length;
}
