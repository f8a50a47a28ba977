/* tests/engine/exec_fold_test.c - the tree over grains gives the same bits however the grains were dealt out. */
#include <criterion/criterion.h>
#include <math.h>
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

static struct folder folder(uint8_t level) { return (struct folder){ .aggregates = aggregates, .offsets = offsets, .count = 1, .bytes = 16, .morsel_level = level }; }

static void push(const struct folder *f, struct fold **stack, uint8_t level, uint64_t index, double value, struct arena *arena)
{
    double state[2] = { value, 0 };
    cr_assert_eq(fold_push(f, stack, level, index, (uint8_t *)state, arena), STATUS_OK);
}

/* Grains present[], in one thread. */
static double fold_serial(const bool *present, uint64_t count, struct arena *arena)
{
    struct folder f = folder(63);
    struct fold *stack = NULL;
    for (uint64_t g = 0; g < count; g++)
        if (present[g])
            push(&f, &stack, 0, g, (double)(g * 7 % 13 + 1), arena);
    cr_assert_eq(fold_close(&f, &stack, arena), STATUS_OK);
    return stack ? *(double *)stack->states : -1;
}

/* Morsels of 2^level grains dealt to workers by a seed; then put together as the leader does. */
static double fold_dealt(const bool *present, uint64_t count, uint8_t level, uint16_t workers, uint64_t seed, struct arena *arena)
{
    struct folder f = folder(level), all = folder(63);
    struct fold *stacks[16] = { NULL }, *runs[4096];
    size_t run_count = 0;
    for (uint64_t morsel = 0; morsel << level < count; morsel++) {
        uint16_t w = (uint16_t)(random_next(&seed) % workers);
        for (uint64_t g = morsel << level; g < (morsel + 1) << level && g < count; g++)
            if (present[g])
                push(&f, &stacks[w], 0, g, (double)(g * 7 % 13 + 1), arena);
    }
    for (uint16_t w = 0; w < workers; w++) {
        cr_assert_eq(fold_close(&f, &stacks[w], arena), STATUS_OK);
        for (struct fold *run = stacks[w]; run; run = run->below) {
            cr_assert_eq(run->level, level);
            runs[run_count++] = run;
        }
    }
    struct fold *stack = NULL;
    for (uint64_t index = 0; index << level < count; index++)
        for (size_t r = 0; r < run_count; r++)
            if (runs[r]->index == index)
                cr_assert_eq(fold_push(&all, &stack, level, index, runs[r]->states, arena), STATUS_OK);
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
