/* tests/interleave/interleave.c - runs scenarios under the seeded scheduler.
 *
 *     interleave [SCENARIO=x] [N=n] [SEED=n] [POLICY=random|pct|exhaustive] [PROCESSES=n] [UNTIL=failure]
 *
 * SCENARIO: all whose name begins so. Without POLICY, odd seeds run under PCT and even ones at random, seeds 1 to N;
 * scenarios that say so are then explored exhaustively as well, in at most N runs. With SEED that one is run, twice, and
 * its trace is printed. Of every sixteen seeds one is run again: its trace must be the same.
 *
 * UNTIL=failure: all scenarios with a few seeds, then with more, until the first that fails.
 *
 * The seeds are split over two processes, each kept on a processor of its own. A failing run ends its process, with a
 * report on stderr (base/scheduler.h). */
#include "tests/interleave/interleave.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "storage/disk.h"

static const struct scenario *const tables[] = {scenarios_btree, scenarios_pool, scenarios_lock, scenarios_wal, scenarios_txn, scenarios_workers, scenarios_index_only};

/* ---- For scenarios ---- */

struct store *store;
static struct thread *begun[16];
static unsigned begun_count;

struct thread *begin(const char *name, void (*run)(void *), void *argument)
{
    check(begun_count < sizeof begun / sizeof *begun, "too many threads");
    struct thread *thread = thread_start(name, run, argument);
    check(thread, "could not start a thread");
    return begun[begun_count++] = thread;
}

void join_all(void)
{
    for (unsigned i = 0; i < begun_count; i++)
        thread_join(begun[i]);
    begun_count = 0;
    scheduler_interleave(false);
}

/* Few latches for the page table, so that threads meet there, or one for each part of it. */
uint32_t partitions_wanted(void) { return scheduler_random() % 2 ? 128 : 4; }

void store_open_memory(uint32_t frames)
{
    struct store_options options = {.pool_bytes = (uint64_t)frames * PAGE_BYTES, .wal_ring_bytes = 4u << 20, .lock_bytes = 1u << 20, .pool_partitions = partitions_wanted(),
                                    .checkpoint_seconds = 300, .max_transactions = 8, .max_wal_bytes = 1u << 30};
    must(store_open("/store", &options, &store));
}

void store_begin(uint32_t frames)
{
    disk_memory_begin();
    store_open_memory(frames);
}

static struct store half_store;

void half_store_begin(uint32_t frames)
{
    disk_memory_begin();
    store = &half_store;
    memset(store, 0, sizeof *store);
    must(files_open("/base", &store->files));
    must(wal_open(&(struct wal_options){.directory = "/wal", .ring_bytes = 4u << 20}, WAL_START, &store->wal));
    must(pool_open(&(struct pool_options){.files = store->files, .wal = store->wal, .bytes = (uint64_t)frames * PAGE_BYTES, .partitions = partitions_wanted()}, &store->pool));
}

void store_end(void)
{
    struct pool_stats stats;
    pool_stats(store->pool, &stats);
    check(stats.pinned == 0, "%llu pages are still pinned", (unsigned long long)stats.pinned);
    if (store == &half_store) {
        pool_close(store->pool);
        wal_close(store->wal);
        files_close(store->files);
    } else
        must(store_close(store));
    disk_memory_end();
    store = NULL;
}

/* ---- Running ---- */

#define PROCESSES_MAX 16
#define RUNS_MAX      100000000              /* a process notes 8 bytes of each */
#define JOBS_MAX      256
static uint64_t wanted_runs = 300, wanted_seed;
static int wanted_policy = -1;
static unsigned processes = 2;
static bool until_failure;
static uint64_t first_seed = 1;

static void run_scenario(void *argument)
{
    ((const struct scenario *)argument)->run();
}

static void run_once(const struct scenario *scenario, uint64_t seed, enum scheduler_policy policy, struct scheduler_search *search, struct scheduler_result *result)
{
    struct scheduler_options options = {.name = scenario->name, .seed = seed, .policy = policy, .search = search};
    begun_count = 0;
    alarm(30);
    scheduler_run(&options, run_scenario, (void *)(uintptr_t)scenario, result);
    alarm(0);
}

static enum scheduler_policy policy_of(uint64_t seed)
{
    return wanted_policy >= 0 ? (enum scheduler_policy)wanted_policy : seed % 2 ? SCHEDULER_PCT : SCHEDULER_RANDOM;
}

static void check_same(const struct scenario *scenario, uint64_t seed, const struct scheduler_result *one, const struct scheduler_result *two)
{
    if (one->whole_hash == two->whole_hash && one->steps == two->steps)
        return;
    fprintf(stderr, "FAILED  interleave %s: seed %" PRIu64 " ran %" PRIu64 " steps (%016" PRIx64 "), then %" PRIu64 " (%016" PRIx64 ")\n", scenario->name, seed,
            one->steps, one->whole_hash, two->steps, two->whole_hash);
    _exit(1);
}

/* A scenario's seeds, or its exhaustive search: split over `parts` processes, which tell their parent this. */
struct shared {
    _Atomic uint64_t runs, steps, switches, busy_us;
    unsigned exhausted;             /* preemptions from which on not all was explored; 0: nothing was */
    uint64_t hashes[];
};
struct job {
    const struct scenario *scenario;
    struct shared *shared;
    size_t bytes;
    unsigned parts, begun, ended, bad;
    bool exhaustive;
};

struct job_list { struct job jobs[JOBS_MAX]; unsigned count; };

static void stay_on(unsigned process)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    unsigned skip = process % (unsigned)CPU_COUNT(&all);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && skip-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

static void count_run(struct shared *shared, const struct scheduler_result *result)
{
    shared->hashes[atomic_fetch_add(&shared->runs, 1)] = result->hash;
    atomic_fetch_add(&shared->steps, result->interleaved);
    atomic_fetch_add(&shared->switches, result->switches);
}

static void sample(const struct scenario *scenario, struct shared *shared, unsigned process)
{
    struct scheduler_result result, again;
    for (uint64_t seed = first_seed + process; seed <= wanted_runs; seed += processes) {
        run_once(scenario, seed, policy_of(seed), NULL, &result);
        count_run(shared, &result);
        if (hash_u64(seed) % 16 == 0) {
            run_once(scenario, seed, policy_of(seed), NULL, &again);
            check_same(scenario, seed, &result, &again);
        }
    }
}

/* All runs without preemption, then all with at most one, and so on: the bugs that need few come early. */
struct exploration { struct scheduler_search *search; unsigned preemptions, most; };

static struct exploration exploration_begin(const struct scenario *scenario)
{
    return (struct exploration){scheduler_search_open(0), 0, scenario->preemptions ? scenario->preemptions : 2};
}

static bool exploration_next(struct exploration *exploration)
{
    if (scheduler_search_next(exploration->search))
        return true;
    scheduler_search_close(exploration->search);
    exploration->search = NULL;
    if (exploration->preemptions++ == exploration->most)
        return false;
    exploration->search = scheduler_search_open(exploration->preemptions);
    return true;
}

static void explore(const struct scenario *scenario, struct shared *shared)
{
    struct exploration exploration = exploration_begin(scenario);
    struct scheduler_result result;
    for (uint64_t i = 1; i <= wanted_runs && exploration.search; i++) {
        run_once(scenario, i, SCHEDULER_EXHAUSTIVE, exploration.search, &result);
        count_run(shared, &result);
        exploration_next(&exploration);
        shared->exhausted = exploration.preemptions;
    }
    if (exploration.search)
        scheduler_search_close(exploration.search);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static pid_t part_begin(struct job *job, unsigned place)
{
    unsigned part = job->begun++;
    fflush(stdout);
    pid_t child = fork();
    if (child != 0)
        return child;
    uint64_t begun_us = clock_us();
    stay_on(place);
    if (job->exhaustive)
        explore(job->scenario, job->shared);
    else
        sample(job->scenario, job->shared, part);
    atomic_fetch_add(&job->shared->busy_us, clock_us() - begun_us);
    _exit(0);
}

static void job_print(const struct job *job)
{
    struct shared *shared = job->shared;
    uint64_t runs = shared->runs, distinct = 0, busy_us = shared->busy_us;
    qsort(shared->hashes, runs, sizeof(uint64_t), compare_hashes);
    for (uint64_t i = 0; i < runs; i++)
        distinct += i == 0 || shared->hashes[i] != shared->hashes[i - 1];
    printf("%s interleave: %-28s %-10s %6" PRIu64 " runs, %6" PRIu64 " distinct traces, %5.0f steps and %4.0f switches a run", job->bad ? "       " : "ok     ",
           job->scenario->name, job->exhaustive ? "exhaustive" : wanted_policy >= 0 ? scheduler_policy_names[wanted_policy] : "mixed", runs, distinct,
           runs ? (double)shared->steps / (double)runs : 0, runs ? (double)shared->switches / (double)runs : 0);
    if (!job->bad && busy_us)
        printf(", %5.0f runs/s a process", (double)runs / (double)busy_us * 1e6);
    if (!job->bad && job->exhaustive && shared->exhausted)
        printf(": all with %u preemption%s or fewer", shared->exhausted - 1, shared->exhausted == 2 ? "" : "s");
    printf("\n");
}

/* As many parts at a time as there are to be processes; results are printed in order. */
static unsigned jobs_run(struct job_list *list)
{
    struct job *jobs = list->jobs;
    const unsigned count = list->count;
    struct { pid_t child; struct job *job; } places[PROCESSES_MAX] = {{0}};
    unsigned next = 0, printed = 0, failed = 0;
    while (printed < count) {
        if (until_failure && failed)
            break;
        for (unsigned place = 0; place < processes && next < count; place++) {
            if (places[place].child)
                continue;
            places[place].job = &jobs[next];
            places[place].child = part_begin(&jobs[next], place);
            if (places[place].child < 0)
                abort();
            if (jobs[next].begun == jobs[next].parts)
                next++;
        }
        int status;
        pid_t ended = wait(&status);
        if (ended < 0)
            abort();
        for (unsigned place = 0; place < processes; place++)
            if (places[place].child == ended) {
                places[place].job->ended++;
                places[place].job->bad += status != 0;
                failed += status != 0 && places[place].job->bad == 1;
                places[place].child = 0;
            }
        for (; printed < count && jobs[printed].ended == jobs[printed].parts; printed++) {
            job_print(&jobs[printed]);
            fflush(stdout);
            munmap(jobs[printed].shared, jobs[printed].bytes);
        }
    }
    for (unsigned place = 0; place < processes; place++)    /* UNTIL=failure: the rest need not end */
        if (places[place].child) {
            kill(places[place].child, SIGKILL);
            waitpid(places[place].child, NULL, 0);
        }
    return failed;
}

static void job_add(struct job_list *list, const struct scenario *scenario, bool exhaustive)
{
    if (list->count == JOBS_MAX)
        abort();
    struct job *job = &list->jobs[list->count++];
    *job = (struct job){.scenario = scenario, .exhaustive = exhaustive, .parts = exhaustive ? 1 : processes};
    job->bytes = sizeof(struct shared) + (wanted_runs + 1) * sizeof(uint64_t);
    job->shared = mmap(NULL, job->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job->shared == MAP_FAILED)
        abort();
}

static void replay(const struct scenario *scenario)
{
    enum scheduler_policy policy = policy_of(wanted_seed);
    struct scheduler_result result = {0}, again = {0};
    for (int round = 0; round < 2; round++) {
        if (policy == SCHEDULER_EXHAUSTIVE) {
            struct exploration exploration = exploration_begin(scenario);
            for (uint64_t i = 1; exploration.search && i <= wanted_seed; i++) {
                run_once(scenario, i, policy, exploration.search, round ? &again : &result);
                exploration_next(&exploration);
            }
            if (exploration.search)
                scheduler_search_close(exploration.search);
        } else
            run_once(scenario, wanted_seed, policy, NULL, round ? &again : &result);
    }
    check_same(scenario, wanted_seed, &result, &again);
    scheduler_print_trace(stdout);
    printf("ok      interleave: %s %s seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64 " of them interleaved, %u threads, trace %016" PRIx64 ", twice the same\n", scenario->name,
           scheduler_policy_names[policy], wanted_seed, result.steps, result.interleaved, result.threads, result.hash);
}

static void for_each(const char *wanted, void (*each)(const struct scenario *, void *), void *context)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct scenario *scenario = tables[t]; scenario->name; scenario++)
            if (strncmp(scenario->name, wanted, strlen(wanted)) == 0)
                each(scenario, context);
}

static void job_list_add(const struct scenario *scenario, void *context)
{
    struct job_list *list = context;
    if (wanted_policy != SCHEDULER_EXHAUSTIVE)
        job_add(list, scenario, false);
    if (scenario->preemptions && (wanted_policy < 0 || wanted_policy == SCHEDULER_EXHAUSTIVE))
        job_add(list, scenario, true);
}

static int run_all(const char *wanted)
{
    struct job_list list = {.count = 0};
    for_each(wanted, job_list_add, &list);
    if (!list.count) {
        fprintf(stderr, "no scenario \"%s\"; LIST=1 names them\n", wanted);
        return 2;
    }
    unsigned failed = jobs_run(&list);
    if (!until_failure)
        printf("%u passed, %u failed\n", list.count - failed, failed);
    return failed != 0;
}

/* All scenarios with a few seeds, then with more, up to N, until one fails. */
static int search_failure(const char *wanted)
{
    uint64_t most = wanted_runs;
    for (wanted_runs = 32; ; wanted_runs *= 4) {
        if (wanted_runs > most)
            wanted_runs = most;
        int status = run_all(wanted);
        if (status || wanted_runs >= most)
            return status;
        first_seed = wanted_runs + 1;
    }
}

static void list_one(const struct scenario *scenario, void *context)
{
    (void)context;
    printf("%-28s %s%s\n", scenario->name, scenario->shows, scenario->preemptions ? " (exhaustive, too)" : "");
}

static void replay_one(const struct scenario *scenario, void *context)
{
    replay(scenario);
    ++*(unsigned *)context;
}

/* A whole number from 1 to `most`, else 0. */
static uint64_t number(const char *text, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    return value && !errno && !*end && value <= most ? value : 0;
}

static int usage(const char *name)
{
    fprintf(stderr, "usage: %s [SCENARIO=x] [N=n] [SEED=n] [POLICY=random|pct|exhaustive] [PROCESSES=n] [LIST=1] [UNTIL=failure]\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    const char *wanted = "";
    bool list = false;
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value)
            return usage(argv[0]);
        *value++ = '\0';
        if (strcmp(argv[i], "SCENARIO") == 0)
            wanted = value;
        else if (!*value)
            continue;
        else if (strcmp(argv[i], "N") == 0)
            wanted_runs = number(value, RUNS_MAX);
        else if (strcmp(argv[i], "SEED") == 0) {
            if (!(wanted_seed = number(value, UINT64_MAX)))
                return usage(argv[0]);
        } else if (strcmp(argv[i], "PROCESSES") == 0)
            processes = (unsigned)number(value, PROCESSES_MAX);
        else if (strcmp(argv[i], "LIST") == 0)
            list = true;
        else if (strcmp(argv[i], "UNTIL") == 0)
            until_failure = strcmp(value, "failure") == 0;
        else if (strcmp(argv[i], "POLICY") == 0) {
            for (int p = 0; p < 3; p++)
                if (strcmp(value, scheduler_policy_names[p]) == 0)
                    wanted_policy = p;
            if (wanted_policy < 0)
                return usage(argv[0]);
        } else
            return usage(argv[0]);
    }
    if (!processes || !wanted_runs)
        return usage(argv[0]);

    mallopt(M_ARENA_MAX, 1);                            /* a run frees what it took, and the next takes the same again */
    mallopt(M_MMAP_THRESHOLD, 1 << 29);
    mallopt(M_TRIM_THRESHOLD, 1 << 29);
    pthread_attr_t small;                               /* stacks of 8 MB would not stay in the C library's cache */
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 20);
    pthread_setattr_default_np(&small);
    if (list)
        return for_each(wanted, list_one, NULL), 0;
    if (!wanted_seed)
        return until_failure ? search_failure(wanted) : run_all(wanted);
    unsigned replayed = 0;
    for_each(wanted, replay_one, &replayed);
    printf("%u passed, 0 failed\n", replayed);
    return replayed ? 0 : 2;
}
