/* tests/engine/exec_fold_test.c - the tree over grains gives the same bits however the grains were dealt out. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "engine/exec/aggregate.h"

/* A state that shows the shape of the tree: not associative, not commutative. */
static enum status combine(void *into, const void *from, struct arena *arena)
{
    (void)arena;
    *(double *)into = *(double *)into * 1.0000001 + *(const double *)from / 3;
    return STATUS_OK;
}
static const struct aggregate shape = { .state_bytes = sizeof(double), .ordered = true, .combine = combine };
static const struct aggregate *const aggregates[] = { &shape };
static const uint32_t offsets[] = { 0 };

static struct folder folder(const struct grain_run *grains) { return (struct folder){ .aggregates = aggregates, .offsets = offsets, .count = 1, .bytes = 16, .grains = grains }; }

static void push(const struct folder *f, struct fold **stack, uint8_t level, uint64_t index, double value, struct arena *arena)
{
    double state[2] = { value, 0 };
    cr_assert_eq(fold_push(f, stack, level, index, (uint8_t *)state, arena), STATUS_OK);
}

/* Grains present[], in one thread. */
static double fold_serial(const bool *present, uint64_t count, struct arena *arena)
{
    struct folder f = folder(&ALL_GRAINS);
    struct fold *stack = NULL;
    for (uint64_t g = 0; g < count; g++)
        if (present[g])
            push(&f, &stack, 0, g, (double)(g * 7 % 13 + 1), arena);
    cr_assert_eq(fold_close(&f, &stack, arena), STATUS_OK);
    return stack ? *(double *)stack->states : -1;
}

static int by_grain(const void *a, const void *b)
{
    const struct fold *x = *(struct fold *const *)a, *y = *(struct fold *const *)b;
    uint64_t first = x->index << x->level, other = y->index << y->level;
    return first < other ? -1 : first > other;
}

/* Morsels of at most 2^level grains dealt to workers by a seed. Some lose what lies behind a grain of theirs to a worker of its own, while they are at
 * the grain before it. Then all is put together as the leader does. Are the stacks as short as they should be? */
static double fold_dealt(const bool *present, uint64_t count, uint8_t level, uint16_t workers, uint64_t seed, struct arena *arena)
{
    struct grain_run grains[600] = { { 0, 0 } };
    struct fold *stacks[600] = { NULL }, *runs[4096];
    struct { struct grain_run run; uint16_t worker; } todo[600];
    uint64_t next = 0;
    size_t run_count = 0, todo_count = 0, all_workers = workers;
    while (next < count || todo_count) {
        struct grain_run run;
        uint16_t w;
        if (todo_count) {
            run = todo[--todo_count].run;
            w = todo[todo_count].worker;
        } else {
            uint64_t size = 1ULL << level;
            while (next % size)
                size /= 2;
            if (random_next(&seed) % 3 == 0)
                size = size / 2 ? size / 2 : 1;
            run = (struct grain_run){ next, next + size < count ? next + size : count };
            next = run.end;
            w = (uint16_t)(random_next(&seed) % workers);
        }
        grains[w] = run;
        struct folder f = folder(&grains[w]);
        for (uint64_t g = run.first; g < grains[w].end; g++) {
            if (present[g])
                push(&f, &stacks[w], 0, g, (double)(g * 7 % 13 + 1), arena);
            if (g + 2 < grains[w].end && random_next(&seed) % 4 == 0) {
                uint64_t size = 1;
                while (((g + 1 + size * 2) & ~(size * 2 - 1)) < grains[w].end)
                    size *= 2;
                uint64_t first = (g + 1 + size) & ~(size - 1);
                todo[todo_count].run = (struct grain_run){ first, grains[w].end };
                todo[todo_count++].worker = (uint16_t)all_workers++;
                grains[w].end = first;
            }
        }
        cr_assert_eq(fold_close(&f, &stacks[w], arena), STATUS_OK);
        uint32_t nodes = 0;
        for (struct fold *node = stacks[w]; node && node->index << node->level >= run.first; node = node->below)
            nodes++;
        cr_assert(nodes <= level + 1u, "%u nodes of a run of %lu grains", nodes, (unsigned long)(grains[w].end - run.first));
    }
    for (size_t w = 0; w < all_workers; w++)
        for (struct fold *run = stacks[w]; run; run = run->below)
            runs[run_count++] = run;
    qsort(runs, run_count, sizeof *runs, by_grain);
    struct folder all = folder(&ALL_GRAINS);
    struct fold *stack = NULL;
    for (size_t r = 0; r < run_count; r++)
        cr_assert_eq(fold_push(&all, &stack, runs[r]->level, runs[r]->index, runs[r]->states, arena), STATUS_OK);
    cr_assert_eq(fold_close(&all, &stack, arena), STATUS_OK);
    return stack ? *(double *)stack->states : -1;
}

Test(exec_fold, workers_and_morsels_do_not_show_in_the_result)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct arena *arena = arena_open(NULL, "test");
        uint64_t random = seed, count = 1 + random_next(&random) % 300;
        bool present[300];
        for (uint64_t g = 0; g < count; g++)
            present[g] = random_next(&random) % 4 != 0;
        double expected = fold_serial(present, count, arena);
        for (uint8_t level = 0; level <= 5; level++) {
            double got = fold_dealt(present, count, level, (uint16_t)(1 + seed % 7), random_next(&random), arena);
            cr_assert_eq(memcmp(&expected, &got, sizeof got), 0, "seed %lu, level %u: %.17g, not %.17g", (unsigned long)seed, level, got, expected);
        }
        arena_close(arena);
    }
}
