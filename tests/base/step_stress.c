/* tests/base/step_stress.c - threads that stop at page points, and are led, let go and interrupted.
 *
 *     step_stress [threads [sections [seed]]]
 *
 * First one thread point by point: where it stands after each step, and where it may not stop at all. Then a storm: threads of a few
 * sessions take two latches of a stepped file and count under the lower one, while another lets random ones go, runs them and
 * interrupts them. In the end every section was counted once, and nobody stands. */
#include "base/hash.h"
#include "base/hooks.h"
#include "base/step.h"
#include "tests/verdict.h"

#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { FILE_STEPPED = 77, FILE_OTHER = 78, SESSIONS = 3, THREADS_MAX = 64 };

static struct latch page[2], other_file, below, leaf;

static const struct latch *pin_latch(const void *object) { return object; }

static uint64_t object_of(uint32_t file, uint32_t number) { return (uint64_t)file << 32 | number; }

/* ---- one thread, point by point ---- */

static _Atomic int begun, turns;

static void walker(void *argument)
{
    (void)argument;
    thread_set_pid(thread_self(), 1);
    atomic_fetch_add(&begun, 1);
    latch_acquire(&other_file, LATCH_SHARED);    /* no file of ours, no rank of a page, held above a stop or not: none of these stops it */
    latch_acquire(&below, LATCH_SHARED);
    latch_release(&below);
    latch_release(&other_file);
    latch_acquire(&leaf, LATCH_EXCLUSIVE);
    CHECK(latch_try(&page[0], LATCH_SHARED));    /* while it holds a latch of another kind */
    latch_release(&page[0]);
    latch_release(&leaf);
    step_barred++;
    latch_acquire(&page[0], LATCH_SHARED);
    latch_release(&page[0]);
    step_barred--;

    point_at("pool.pin", &page[0], 0);
    latch_acquire(&page[0], LATCH_SHARED);
    point_at("pool.pin", &page[1], 1);
    latch_acquire(&page[1], LATCH_EXCLUSIVE);
    latch_release(&page[0]);
    latch_release(&page[1]);
    for (int i = 0; i < 100; i++) {
        latch_acquire(&page[0], LATCH_SHARED);
        latch_release(&page[0]);
    }
    atomic_fetch_add(&turns, 1);
}

static struct step_sight await_stand(int32_t pid)
{
    struct step_sight sights[THREADS_MAX];
    for (;; sleep_us(50)) {
        size_t count = step_sights(sights, THREADS_MAX);
        for (size_t i = 0; i < count; i++)
            if (sights[i].pid == pid)
                return sights[i];
    }
}

static void stands_at(const char *point, uint32_t number, int mode)
{
    struct step_sight sight = await_stand(1);
    CHECK(!strcmp(sight.point, point) && sight.object == object_of(FILE_STEPPED, number) && sight.rank == RANK_NODE);
    CHECK(mode < 0 ? !sight.has_mode : sight.has_mode && sight.mode == mode);
}

static void it_stands_where_it_should(void)
{
    static const struct { const char *point; uint32_t number; int mode; uint64_t go; } walk[] = {
        {"pool.pin", 0, -1, 1}, {"latch.acquire", 0, LATCH_SHARED, 1}, {"latch.acquired", 0, LATCH_SHARED, 1}, {"pool.pin", 1, -1, 1},
        {"latch.acquire", 1, LATCH_EXCLUSIVE, 1}, {"latch.acquired", 1, LATCH_EXCLUSIVE, 1}, {"latch.release", 0, LATCH_SHARED, 1},
        {"latch.release", 1, LATCH_EXCLUSIVE, 3}, {"latch.release", 0, LATCH_SHARED, 150}, {"latch.release", 0, LATCH_SHARED, 0}};
    uint32_t file = FILE_STEPPED;
    CHECK(!step_watches(file) && step_go(1, 1) == 0 && step_run(1) == 0 && !step_begun(1));
    step_begin(1, &file, 1);
    CHECK(step_watches(file) && !step_watches(FILE_OTHER) && step_begun(1) && !step_stands(1));
    struct thread *thread = thread_start("walker", walker, NULL);
    CHECK(thread);
    for (size_t i = 0; i < sizeof walk / sizeof walk[0]; i++) {
        stands_at(walk[i].point, walk[i].number, walk[i].mode);
        CHECK(step_stands(1) && atomic_load(&step_standing) == 1 && atomic_load(&turns) == 0);
        CHECK((walk[i].go ? step_go(1, walk[i].go) : step_run(1)) == 1);
    }
    thread_join(thread);
    CHECK(atomic_load(&turns) == 1 && step_go(1, 1) == 0);
    step_end(1);
    CHECK(atomic_load(&hooks_on) == 0);
}

/* ---- an interrupt lets all threads of the session go, whichever stand ---- */

static void an_interrupt_lets_go(void)
{
    uint32_t file = FILE_STEPPED;
    for (int i = 0; i < 50; i++) {
        int before = atomic_load(&begun);
        step_begin(1, &file, 1);
        struct thread *leader = thread_start("walker", walker, NULL), *worker = thread_start("walker", walker, NULL);
        while (atomic_load(&begun) < before + 2)
            sleep_us(10);
        if (i % 2)
            await_stand(1);
        thread_interrupt(leader, INTERRUPT_CANCEL);
        thread_join(leader);
        thread_join(worker);
        step_end(1);
    }
    CHECK(atomic_load(&turns) == 101);
}

/* ---- a storm ---- */

static struct { long counted; } under_page_1;
static int thread_count = 8, sections = 3000;
static _Atomic int at_home, numbers;
static _Atomic(struct thread *) members[THREADS_MAX];

static void member(void *argument)
{
    (void)argument;
    int number = atomic_fetch_add(&numbers, 1);
    thread_set_pid(thread_self(), 1 + number % SESSIONS);
    atomic_store(&members[number], thread_self());
    for (int i = 0; i < sections; i++) {
        latch_acquire(&page[0], LATCH_SHARED);
        latch_acquire(&page[1], LATCH_EXCLUSIVE);
        latch_release(&page[0]);
        under_page_1.counted++;
        latch_release(&page[1]);
        if (i % 16 == 0)
            thread_interrupt_clear(INTERRUPT_CANCEL);
    }
    atomic_fetch_add(&at_home, 1);
}

static void storm(uint64_t random)
{
    uint32_t file = FILE_STEPPED;
    struct thread *threads[THREADS_MAX];
    struct step_sight sights[THREADS_MAX];
    for (int s = 0; s < SESSIONS; s++)
        step_begin(1 + s, &file, 1);
    for (int i = 0; i < thread_count; i++) {
        threads[i] = thread_start("member", member, NULL);
        CHECK(threads[i]);
    }
    for (long i = 0; atomic_load(&at_home) < thread_count; i++) {
        int32_t pid = (int32_t)(1 + random_next(&random) % SESSIONS);
        uint64_t dice = random_next(&random) % 64;
        if (dice == 0 && i > 500) {
            if (step_run(pid))               /* from now on none of them stands */
                CHECK(!step_stands(pid));
        } else if (dice == 1 && i > 500) {
            struct thread *thread = atomic_load(&members[random_next(&random) % (uint64_t)thread_count]);
            if (thread)
                thread_interrupt(thread, INTERRUPT_CANCEL);
        } else
            step_go(pid, 1 + random_next(&random) % 200);
        size_t count = step_sights(sights, THREADS_MAX);
        for (size_t k = 0; k < count; k++)
            CHECK(sights[k].object >> 32 == FILE_STEPPED && sights[k].pid >= 1 && sights[k].pid <= SESSIONS);
    }
    for (int i = 0; i < thread_count; i++)
        thread_join(threads[i]);
    for (int s = 0; s < SESSIONS; s++)
        step_end(1 + s);
    CHECK(under_page_1.counted == (long)thread_count * sections);
    CHECK(atomic_load(&step_standing) == 0 && step_sights(sights, THREADS_MAX) == 0 && atomic_load(&hooks_on) == 0);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (argc > 1)
        thread_count = atoi(argv[1]);
    if (argc > 2)
        sections = atoi(argv[2]);
    CHECK(thread_count >= 1 && thread_count <= THREADS_MAX);
    for (uint32_t i = 0; i < 2; i++)
        latch_init(&page[i], RANK_NODE, (uint16_t)i, i, object_of(FILE_STEPPED, i));
    latch_init(&other_file, RANK_HEAP, 0, 0, object_of(FILE_OTHER, 0));
    latch_init(&below, RANK_SPACE, 0, 0, object_of(FILE_STEPPED, 9));
    latch_init(&leaf, RANK_LEAF, 0, 0, 0);
    step_open(pin_latch);
    it_stands_where_it_should();
    an_interrupt_lets_go();
    storm(seed);
    return verdict("step_stress", (uint32_t)thread_count, (uint64_t)under_page_1.counted, seed, 0);
}
