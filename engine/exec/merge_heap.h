/* engine/exec/merge_heap.h - the heap of a merge of many sorted streams: the stream whose head comes first stands at 0.
 *
 *     merge_heap_make(heap, count, before, context)        any order -> a heap
 *     merge_heap_sift(heap, count, 0, before, context)     the first stream went on (or another was put in its place)
 *
 * before(context, a, b): a's head comes before b's; a total order, so that what comes out hangs on the streams only. Inlined, with `before`
 * a function of the file that calls it. */
#ifndef ENGINE_EXEC_MERGE_HEAP_H
#define ENGINE_EXEC_MERGE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef bool merge_before(const void *context, const void *a, const void *b);

static inline __attribute__((always_inline)) void merge_heap_sift(void **heap, uint32_t count, uint32_t at, merge_before *before, const void *context)
{
    void *moving = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(context, heap[child + 1], heap[child]))
            child++;
        if (!before(context, heap[child], moving))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static inline __attribute__((always_inline)) void merge_heap_make(void **heap, uint32_t count, merge_before *before, const void *context)
{
    for (uint32_t i = count / 2; i-- > 0;)
        merge_heap_sift(heap, count, i, before, context);
}

#endif
