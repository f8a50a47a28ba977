/* bench/btree.c - Crabtree's B+Tree beside LMDB, Berkeley DB, WiredTiger and SQLite, in one process, interleaved (make bench-btree).
 *
 *     COUNT=10000000 SMALL=1000000 ROUNDS=5 THREADS="1 2 4 8" PARTS="headline small costs" ENGINES=... DIRECTORY=/dev/shm CPU=1 build/bench/btree
 *
 * Keys are 8 bytes, spread over all 64-bit numbers; values are 8 bytes. Nobody syncs anything. Crabtree writes its WAL, the others keep no
 * log at all or what they need to let readers go on (each says how it is set up).
 *
 *     headline   bulk load of COUNT/2 keys, then the other half inserted in random order at 2 threads, 1,000 a transaction (the tree doubles: leaves
 *                split), then lookups at 2 threads among all COUNT keys
 *     small      SMALL keys; every operation at each number of THREADS; bulk load always at one
 *     costs      after the headline: what a lookup's parts cost in Crabtree, the search, the pins, the latches
 *
 * A round runs every engine, one after another; the table shows medians of the rounds. Each answer is summed up, and all engines must
 * come to the same sum in every round, or the run fails. Lookups come in batches of 1,000 that share one snapshot where an engine has such
 * (Crabtree's are each on its own); in the mixed loads each operation is a transaction. A lookup copies the value out.
 * CPU=1 counts the threads' processor time instead of the clock's (waiting is free then): for a machine that others use too. */
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/hash.h"
#include "base/latch.h"
#include "bench/btree.h"

#define ENGINES_MAX 8
#define THREADS_MAX 64
#define ROUNDS_MAX  99
#define BATCH       1000u
#define RANGE       100u

static const struct engine *const all_engines[] = { &engine_crabtree, &engine_lmdb, &engine_berkeley, &engine_wiredtiger, &engine_sqlite };
static struct side { const struct engine *engine; void *db; char directory[4000]; } sides[ENGINES_MAX];
static uint32_t side_count, rounds = 5;
static const char *parent = "/dev/shm";
static char root[3000];

static uint64_t key_at(uint64_t index) { return hash_u64(index); }              /* one to one */
static struct pair pair_at(uint64_t index) { return (struct pair){ key_at(index), index + 1 }; }

/* ---- one timed run: some threads, one operation ---- */

enum operation { INSERT, LOOKUP, SCAN, MIXED_50, MIXED_95 };
static const char *const operation_names[] = { "random insert", "lookup", "range of 100", "mixed 50/50", "mixed 95/5" };

struct worker {
    const struct side *side;
    enum operation operation;
    uint64_t present, first, count;             /* indexes below `present` are in; inserts begin at `first` */
    uint64_t random, sum, ended_us, cpu_us;
};
static _Atomic uint32_t ready, go;

static uint64_t insert_run(const struct engine *engine, void *session, const struct worker *w)
{
    struct pair batch[BATCH];
    for (uint64_t done = 0; done < w->count; ) {
        uint32_t n = w->count - done < BATCH ? (uint32_t)(w->count - done) : BATCH;
        for (uint32_t i = 0; i < n; i++)
            batch[i] = pair_at(w->first + done + i);
        engine->insert(session, batch, n);
        done += n;
    }
    return w->count;
}

static uint64_t lookup_run(const struct engine *engine, void *session, struct worker *w)
{
    uint64_t keys[BATCH], sum = 0;
    for (uint64_t done = 0; done < w->count; ) {
        uint32_t n = w->count - done < BATCH ? (uint32_t)(w->count - done) : BATCH;
        for (uint32_t i = 0; i < n; i++)
            keys[i] = key_at(random_next(&w->random) % w->present);
        sum += engine->lookup(session, keys, n);
        done += n;
    }
    return sum;
}

static uint64_t scan_run(const struct engine *engine, void *session, struct worker *w)
{
    uint64_t sum = 0;
    for (uint64_t done = 0; done < w->count; done++)
        sum += engine->range(session, key_at(random_next(&w->random) % w->present), RANGE);
    return sum;
}

static uint64_t mixed_run(const struct engine *engine, void *session, struct worker *w, uint32_t every)
{
    uint64_t sum = 0, next = w->first;
    for (uint64_t done = 0; done < w->count; done++) {
        if (done % every == 0) {
            struct pair pair = pair_at(next++);
            engine->insert(session, &pair, 1);
        } else {
            uint64_t key = key_at(random_next(&w->random) % w->present);
            sum += engine->lookup(session, &key, 1);
        }
    }
    return sum;
}

static uint64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void work(void *argument)
{
    struct worker *w = argument;
    const struct engine *engine = w->side->engine;
    void *session = engine->session(w->side->db);
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&go))
        usleep(50);
    uint64_t cpu = cpu_us();
    switch (w->operation) {
    case INSERT:   w->sum = insert_run(engine, session, w); break;
    case LOOKUP:   w->sum = lookup_run(engine, session, w); break;
    case SCAN:     w->sum = scan_run(engine, session, w); break;
    case MIXED_50: w->sum = mixed_run(engine, session, w, 2); break;
    case MIXED_95: w->sum = mixed_run(engine, session, w, 20); break;
    }
    w->ended_us = now_us();
    w->cpu_us = cpu_us() - cpu;
    engine->session_end(session);
}

/* Returns operations a second; *sum is what the engines must agree on. */
static double timed(const struct side *side, enum operation operation, uint32_t threads, uint64_t present, uint64_t first, uint64_t count, uint64_t seed, uint64_t *sum)
{
    struct worker workers[THREADS_MAX];
    struct thread *handles[THREADS_MAX];
    uint64_t each = count / threads, end;
    atomic_store(&ready, 0);
    atomic_store(&go, 0);
    for (uint32_t t = 0; t < threads; t++) {
        workers[t] = (struct worker){ .side = side, .operation = operation, .present = present, .first = first + t * each, .count = each, .random = seed * 1000 + t };
        handles[t] = thread_start("bench", work, &workers[t]);
        must(!handles[t], "thread", NULL);
    }
    while (atomic_load(&ready) < threads)
        usleep(50);
    uint64_t begin = now_us();
    atomic_store(&go, 1);
    uint64_t cpu = 0;
    *sum = 0, end = 0;
    for (uint32_t t = 0; t < threads; t++) {
        thread_join(handles[t]);
        *sum += workers[t].sum;
        cpu += workers[t].cpu_us;
        end = workers[t].ended_us > end ? workers[t].ended_us : end;
    }
    if (side->engine->settle) {
        uint64_t from = now_us();
        side->engine->settle(side->db);
        end += now_us() - from;
    }
    if (getenv("CPU"))
        end = begin + cpu / threads;
    return (double)(each * threads) * 1e6 / (double)(end - begin ? end - begin : 1);
}

/* ---- the table ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const double *values, uint32_t count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, by_value);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static void table_head(const char *title)
{
    printf("\n%s: thousands a second, median of %u interleaved rounds; in brackets Crabtree / that engine\n%-14s %7s", title, rounds, "", "threads");
    for (uint32_t s = 0; s < side_count; s++)
        printf("%*s", s ? 20 : 12, sides[s].engine->name);
    printf("\n");
}

static void table_row(const char *what, uint32_t threads, double rate[ENGINES_MAX][ROUNDS_MAX])
{
    double ours = median(rate[0], rounds);
    printf("%-14s %7u%12.1f", what, threads, ours / 1000);
    for (uint32_t s = 1; s < side_count; s++) {
        double theirs = median(rate[s], rounds);
        printf("%11.1f (%5.2f)", theirs / 1000, ours / theirs);
    }
    printf("\n");
    fflush(stdout);
}

static void agree(const char *what, const uint64_t sums[ENGINES_MAX])
{
    for (uint32_t s = 1; s < side_count; s++)
        if (sums[s] != sums[0]) {
            fprintf(stderr, "bench/btree: %s: %s comes to %llu, %s to %llu\n", what, sides[0].engine->name, (unsigned long long)sums[0],
                    sides[s].engine->name, (unsigned long long)sums[s]);
            exit(1);
        }
}

/* ---- loading ---- */

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct pair *)a)->key, y = ((const struct pair *)b)->key;
    return x < y ? -1 : x > y;
}

static struct pair *sorted_pairs(uint64_t count)
{
    struct pair *pairs = malloc(count * sizeof *pairs);
    must(!pairs, "memory", NULL);
    for (uint64_t i = 0; i < count; i++)
        pairs[i] = pair_at(i);
    qsort(pairs, count, sizeof *pairs, by_key);
    return pairs;
}

static void remove_directory(const char *path)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    must(system(command) != 0, command, NULL);
}

static void side_open(uint32_t s, uint64_t cache_bytes)
{
    struct side *side = &sides[s];
    snprintf(side->directory, sizeof side->directory, "%s/%u", root, s);
    must(mkdir(side->directory, 0700) != 0, side->directory, "cannot be made");
    side->db = side->engine->open(side->directory, cache_bytes);
}

static void side_close(uint32_t s)
{
    sides[s].engine->close(sides[s].db);
    remove_directory(sides[s].directory);
}

static double load(uint32_t s, const struct pair *pairs, uint64_t count)
{
    uint64_t begin = now_us();
    sides[s].engine->bulk(sides[s].db, pairs, count);
    uint64_t took = now_us() - begin;
    return (double)count * 1e6 / (double)(took ? took : 1);
}

/* One row: every engine in every round. Indexes below `present` are in; from `first` on none is. Returns how many indexes behind `first` may be
 * in now: all of them after INSERT, some after a mixed load. */
static uint64_t measure(enum operation operation, uint32_t threads, uint64_t present, uint64_t first, uint64_t count)
{
    double rate[ENGINES_MAX][ROUNDS_MAX];
    uint64_t sums[ENGINES_MAX], inserted = 0;
    count = count / threads * threads;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t s = 0; s < side_count; s++)
            rate[s][round] = timed(&sides[s], operation, threads, present, first + inserted, count, (uint64_t)operation * 100 + round + 1, &sums[s]);
        agree(operation_names[operation], sums);
        if (operation != LOOKUP && operation != SCAN)
            inserted += count;
    }
    table_row(operation_names[operation], threads, rate);
    return inserted;
}

/* ---- parts ---- */

static uint64_t number_of(const char *name, uint64_t standard)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : standard;
}

static bool named(const char *list, const char *name)
{
    return !list || !*list || strcasestr(list, name);
}

static void headline(uint64_t count, uint64_t cache_bytes)
{
    char title[100];
    double rate[ENGINES_MAX][ROUNDS_MAX];
    struct pair *pairs = sorted_pairs(count / 2);
    for (uint32_t s = 0; s < side_count; s++) {
        side_open(s, cache_bytes);
        double loaded = load(s, pairs, count / 2);
        for (uint32_t round = 0; round < rounds; round++)
            rate[s][round] = loaded;
    }
    free(pairs);
    snprintf(title, sizeof title, "%llu keys", (unsigned long long)count);
    table_head(title);
    table_row("bulk load", 1, rate);
    uint64_t present = count / 2;
    present += measure(INSERT, 2, present, present, (count - present) / rounds);
    measure(LOOKUP, 2, present, present, count < 1000000 ? count : 1000000);
    for (uint32_t s = 0; s < side_count; s++)
        if (sides[s].engine == &engine_crabtree && named(getenv("PARTS"), "costs"))
            crabtree_costs(sides[s].db, key_at, present);
    for (uint32_t s = 0; s < side_count; s++)
        side_close(s);
}

static void small(uint64_t count, uint64_t cache_bytes)
{
    char title[100], threads_list[200];
    double rate[ENGINES_MAX][ROUNDS_MAX];
    struct pair *pairs = sorted_pairs(count);
    snprintf(title, sizeof title, "%llu keys", (unsigned long long)count);
    table_head(title);
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t s = 0; s < side_count; s++) {
            side_open(s, cache_bytes);
            rate[s][round] = load(s, pairs, count);
            if (round + 1 < rounds)
                side_close(s);
        }
    free(pairs);
    table_row("bulk load", 1, rate);
    uint64_t present = count, at = count;                   /* `at`: the next index that nobody has inserted */
    snprintf(threads_list, sizeof threads_list, "%s", getenv("THREADS") && *getenv("THREADS") ? getenv("THREADS") : "1 2 4 8");
    for (char *rest = threads_list, *word; (word = strtok_r(rest, " ,", &rest)); ) {
        uint32_t threads = (uint32_t)atoi(word);
        must(threads < 1 || threads > THREADS_MAX, "THREADS", "1 to 64 each");
        at += measure(INSERT, threads, present, at, count / 20);
        measure(LOOKUP, threads, present, at, count / 5);
        measure(SCAN, threads, present, at, count / 50);
        at += measure(MIXED_50, threads, present, at, count / 25);
        at += measure(MIXED_95, threads, present, at, count / 20);
    }
    for (uint32_t s = 0; s < side_count; s++)
        side_close(s);
}

/* Does one of the words begin the engine's name? */
static bool chosen(const char *list, const char *name)
{
    if (!list || !*list)
        return true;
    for (const char *at = list; *at; at += strcspn(at, " ,"), at += strspn(at, " ,")) {
        size_t length = strcspn(at, " ,");
        if (length && strncasecmp(at, name, length) == 0)
            return true;
    }
    return false;
}

static void clean_up(void) { remove_directory(root); }

int main(void)
{
    const char *parts = getenv("PARTS"), *wanted = getenv("ENGINES");
    rounds = (uint32_t)number_of("ROUNDS", 5);
    must(rounds < 1 || rounds > ROUNDS_MAX, "ROUNDS", "1 to 99");
    if (getenv("DIRECTORY") && *getenv("DIRECTORY"))
        parent = getenv("DIRECTORY");
    snprintf(root, sizeof root, "%s/crabtree-bench-XXXXXX", parent);
    must(!mkdtemp(root), root, "cannot be made");
    atexit(clean_up);
    for (size_t i = 0; i < sizeof all_engines / sizeof *all_engines; i++) {
        const struct engine *engine = all_engines[i];
        if (engine->package)
            printf("%-12s left out: %s is not installed\n", engine->name, engine->package);
        else if (i == 0 || chosen(wanted, engine->name)) {
            printf("%-12s %s\n", engine->name, engine->how);
            sides[side_count++].engine = engine;
        }
    }
    uint64_t count = number_of("COUNT", 10000000), few = number_of("SMALL", 1000000);
    if (named(parts, "small"))
        small(few, (few * 400 + (512u << 20)) & ~(uint64_t)0xFFFFF);
    if (named(parts, "headline"))
        headline(count, (count * 400 + (512u << 20)) & ~(uint64_t)0xFFFFF);
    return 0;
}
