/* bench/hooks.c - what the branch of base/hooks.h costs when nothing is on: B+Tree look-ups of a build with it and of one without.
 *
 *     hooks lookups COUNT LOOKUPS          so many look-ups in a tree of COUNT keys, once (for counting instructions)
 *     hooks serve COUNT                    for each line on the standard input ("N"): N look-ups; answers with nanoseconds of CPU each
 *     hooks compare A B COUNT ROUNDS       A and B are two builds of this program: which is faster, and by how much?
 *
 * `compare` starts both anew for each round, so that where memory happens to lie averages out, pinned to one processor. Within
 * a round they take turns in slices of some 20 ms, A B B A A B ..., every other round B first; a round's figure is the ratio of the
 * medians of their slices. Printed: the mean difference of the rounds and its 95 % interval (Student's t over the rounds).
 *
 * A trap: two builds whose code differs by an instruction have all that follows at other addresses, and the alignment of a loop can matter more
 * than the branch in question. So both are built with every function aligned to a cache line (bench/hooks.sh), and what is left
 * of that noise is in neither interval: only a difference well beyond a per cent would say anything. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "btree/btree.h"
#include "storage/store.h"
#include "storage/wal.h"

#define SLICE  60000u                     /* look-ups */
#define SLICES 16                         /* of each, a round; even */
#define ROUNDS_MAX 1000

static struct store *store;
static struct btree tree;

static void must(enum status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "hooks: %s: %s\n", what, status_text(status));
    exit(1);
}

/* Key i has row i + 1. */
static uint64_t key_of(uint64_t i) { return __builtin_bswap64(i << 20); }

static void tree_make(const char *directory, uint64_t count)
{
    struct store_options options = {.pool_bytes = 256u << 20, .wal_ring_bytes = 16u << 20, .lock_bytes = 1u << 20, .pool_partitions = 128,
                                    .checkpoint_seconds = 1u << 20, .max_transactions = 8, .max_wal_bytes = UINT64_MAX / 2};
    atomic_store(&wal_fsync_enabled, 0);
    must(store_open(directory, &options, &store), "store_open");
    tree = (struct btree){.store = store, .file = 900, .name = "hooks"};
    must(btree_create_fixed(&tree), "btree_create_fixed");
    struct btree_build *build;
    must(btree_build_begin(&tree, 0, &build), "btree_build_begin");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = key_of(i);
        must(btree_build_add(build, (const uint8_t *)&key, 8, i + 1), "btree_build_add");
    }
    must(btree_build_end(build), "btree_build_end");
}

static void look_up(uint64_t count, uint64_t lookups)
{
    static uint64_t random = 1;
    for (uint64_t n = 0; n < lookups; n++) {
        random = hash_u64(random);
        uint64_t i = random % count, key = key_of(i), row = 0;
        uint32_t found = 0;
        must(btree_lookup(&tree, (const uint8_t *)&key, 8, &row, 1, &found), "btree_lookup");
        if (found != 1 || row != i + 1) {
            fprintf(stderr, "hooks: wrong answer\n");
            exit(1);
        }
    }
}

static double cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void serve(uint64_t count)
{
    unsigned long lookups;
    printf("ready\n");
    fflush(stdout);
    while (scanf("%lu", &lookups) == 1) {
        double from = cpu_ns();
        look_up(count, lookups);
        printf("%.3f\n", (cpu_ns() - from) / (double)lookups);
        fflush(stdout);
    }
}

/* ---- comparing ---- */

struct build { FILE *to, *from; pid_t pid; };

static void build_start(struct build *build, const char *program, const char *count)
{
    int to[2], from[2];
    if (pipe(to) || pipe(from) || (build->pid = fork()) < 0) {
        perror("hooks");
        exit(1);
    }
    if (build->pid == 0) {
        dup2(to[0], 0), dup2(from[1], 1);
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        execl(program, program, "serve", count, (char *)NULL);
        perror(program);
        _exit(1);
    }
    close(to[0]), close(from[1]);
    build->to = fdopen(to[1], "w");
    build->from = fdopen(from[0], "r");
    char line[16];
    if (!fgets(line, sizeof line, build->from))
        exit(1);
}

static double build_slice(const struct build *build)
{
    double ns;
    fprintf(build->to, "%u\n", SLICE);
    fflush(build->to);
    if (fscanf(build->from, "%lf", &ns) != 1)
        exit(1);
    return ns;
}

static void build_stop(struct build *build)
{
    int status;
    fclose(build->to), fclose(build->from);
    if (waitpid(build->pid, &status, 0) < 0 || status)
        exit(1);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Of the two-sided 95 % interval, by Hill's expansion about the normal's 1.96: exact to a thousandth from 8 on. */
static double student(int freedom)
{
    double z = 1.959964, v = freedom;
    return z + (z * z * z + z) / (4 * v) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v);
}

static void compare(const char *const programs[2], const char *count, int rounds)
{
    static double differences[ROUNDS_MAX], medians[2][ROUNDS_MAX];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, &one);
    sched_setaffinity(0, sizeof one, &one);
    double sum = 0, squares = 0;
    for (int round = 0; round < rounds; round++) {
        struct build builds[2];
        double slices[2][SLICES];
        for (int i = 0; i < 2; i++)
            build_start(&builds[i ^ (round & 1)], programs[i ^ (round & 1)], count);
        for (int i = 0; i < 2; i++)
            build_slice(&builds[i]);      /* warms up */
        for (int s = 0; s < SLICES; s++)
            for (int i = 0; i < 2; i++) {
                int which = i ^ (s & 1) ^ (round & 1);
                slices[which][s] = build_slice(&builds[which]);
            }
        for (int i = 0; i < 2; i++) {
            build_stop(&builds[i]);
            medians[i][round] = median(slices[i], SLICES);
        }
        differences[round] = 100 * (medians[0][round] / medians[1][round] - 1);
        sum += differences[round];
    }
    double mean = sum / rounds;
    for (int round = 0; round < rounds; round++)
        squares += (differences[round] - mean) * (differences[round] - mean);
    double half = student(rounds - 1) * sqrt(squares / (rounds - 1) / rounds);
    printf("with the branch %.1f ns a look-up, without %.1f (medians of %d rounds)\n", median(medians[0], rounds), median(medians[1], rounds), rounds);
    printf("difference %+.2f %%, 95 %% interval %+.2f .. %+.2f %%\n", mean, mean - half, mean + half);
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "compare")) {
        int rounds = atoi(argv[5]);
        if (rounds < 8 || rounds > ROUNDS_MAX)
            return 2;
        compare((const char *const[]){argv[2], argv[3]}, argv[4], rounds);
        return 0;
    }
    if (argc < 3 || (strcmp(argv[1], "lookups") && strcmp(argv[1], "serve"))) {
        fprintf(stderr, "usage: hooks lookups COUNT LOOKUPS | serve COUNT | compare A B COUNT ROUNDS\n");
        return 2;
    }
    char directory[] = "/tmp/crab-hooks.XXXXXX", command[100];
    if (!mkdtemp(directory))
        return 1;
    uint64_t count = strtoull(argv[2], NULL, 10);
    tree_make(directory, count);
    if (!strcmp(argv[1], "serve"))
        serve(count);
    else
        look_up(count, argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
    must(store_close(store), "store_close");
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) ? 1 : 0;
}
