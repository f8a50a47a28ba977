/* course/grading.c - the main program of every grader: runs the lesson's trials, and says what is wrong (see grading.h).
 *
 *     grade [SEEDS=n] [TRIAL=name [SEED=n [POLICY=random|pct|exhaustive]]] [NAME=what is graded] [REPLAY=command]
 *
 * A trial runs in a process of its own, since a schedule that fails ends its process. With SEED, that one schedule is run and
 * its trace printed. Exit status 0: every claim held. */
#include "course/grading.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_A_SCHEDULE 10       /* of an endless loop without a point */
#define THREADS_MAX        16
#define EXPLORED           5        /* a full search may take so many times SEEDS schedules */

static unsigned long seeds = 400, wanted_seed;
static const char *wanted_trial, *replay = "grade";
static int wanted_policy = -1;

/* Where a trial stands, for the parent to see. */
static struct standing {
    unsigned long schedules, seed, seen;
    int policy;
    bool exhausted;
} *standing;

/* ---- For trials ---- */

static struct started { struct thread *thread; const char *name; void (*run)(void *); void *argument; } started[THREADS_MAX];
static unsigned started_count;
static bool seen_now;

static void started_run(void *argument)
{
    const struct started *self = argument;
    self->run(self->argument);
    require(latch_held_count() == 0, "thread \"%s\" has come to its end and still holds a latch", self->name);
}

void begin(const char *name, void (*run)(void *), void *argument)
{
    require(started_count < THREADS_MAX, "too many threads");
    struct started *next = &started[started_count++];
    *next = (struct started){.name = name, .run = run, .argument = argument};
    scheduler_interleave(true);
    next->thread = thread_start(name, started_run, next);
    require(next->thread != NULL, "no thread could be started");
}

void join_all(void)
{
    for (unsigned i = 0; i < started_count; i++)
        thread_join(started[i].thread);
    started_count = 0;
    scheduler_interleave(false);
}

void grade_seen(void) { seen_now = true; }

/* ---- One trial, in the child ---- */

static void scenario(void *argument) { ((const struct trial *)argument)->run(); }

static void schedule(const struct trial *trial, unsigned long seed, enum scheduler_policy policy, struct scheduler_search *search)
{
    struct scheduler_options options = {.name = trial->name, .seed = seed, .policy = policy, .search = search, .step_limit = 50000};
    struct scheduler_result result;
    standing->schedules++;
    standing->seed = seed;
    standing->policy = policy;
    started_count = 0;
    seen_now = false;
    alarm(SECONDS_A_SCHEDULE);
    scheduler_run(&options, scenario, (void *)(uintptr_t)trial, &result);
    alarm(0);
    standing->seen += seen_now;
    if (trial->threads && result.threads > trial->threads) {
        fprintf(stderr, "FAILED  interleave %s: %" PRIu32 " threads ran, and %" PRIu32 " are enough: %s\ntrace:\n", trial->name, result.threads, trial->threads, trial->too_many);
        scheduler_print_trace(stderr);
        _exit(1);
    }
}

static enum scheduler_policy policy_of(unsigned long seed) { return seed % 2 ? SCHEDULER_PCT : SCHEDULER_RANDOM; }

static void explore(const struct trial *trial, unsigned long only)
{
    struct scheduler_search *search = scheduler_search_open(trial->preemptions ? trial->preemptions : 2);
    bool more = true;
    for (unsigned long i = 1; more && i <= (only ? only : EXPLORED * seeds); i++) {
        schedule(trial, i, SCHEDULER_EXHAUSTIVE, search);
        more = scheduler_search_next(search);
    }
    standing->exhausted = !more;
    scheduler_search_close(search);
}

static void trial_run(const struct trial *trial)
{
    if (wanted_seed) {
        enum scheduler_policy policy = wanted_policy >= 0 ? (enum scheduler_policy)wanted_policy : policy_of(wanted_seed);
        if (policy == SCHEDULER_EXHAUSTIVE)
            explore(trial, wanted_seed);
        else
            schedule(trial, wanted_seed, policy, NULL);
        scheduler_print_trace(stderr);
        return;
    }
    for (unsigned long seed = 1; seed <= seeds; seed++)
        schedule(trial, seed, policy_of(seed), NULL);
    if (trial->unseen && !standing->seen) {
        fprintf(stderr, "FAILED  interleave %s: in none of %lu schedules: %s\ntrace of the last of them:\n", trial->name, standing->schedules, trial->unseen);
        scheduler_print_trace(stderr);
        _exit(1);
    }
    if (trial->preemptions)
        explore(trial, 0);
}

/* ---- The parent ---- */

static bool trial_grade(const struct trial *trial)
{
    FILE *report = tmpfile();
    int status;
    memset(standing, 0, sizeof *standing);
    fflush(stdout);
    pid_t pid = report ? fork() : -1;
    if (pid == 0) {
        dup2(fileno(report), STDERR_FILENO);
        trial_run(trial);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("grade");
        exit(2);
    }
    if (status == 0 && wanted_seed)
        printf("ok      %-10s nothing is wrong in this schedule%s\n", trial->name, trial->unseen && !standing->seen ? ", but what is hoped for does not happen in it" : "");
    else if (status == 0)
        printf("ok      %-10s %s (%lu schedules%s)\n", trial->name, trial->claim, standing->schedules, standing->exhausted ? ", all with few preemptions among them" : "");
    else
        printf("FAILED  %-10s %s\n", trial->name, trial->claim);
    if (status || wanted_seed) {
        static const char begins[] = "FAILED  interleave ";
        char line[1024];
        rewind(report);
        while (fgets(line, sizeof line, report))
            if (strncmp(line, "replay: ", 8) != 0)
                printf("        | %s", strncmp(line, begins, strlen(begins)) == 0 ? line + strlen(begins) : line);
        printf("        again: %s TRIAL=%s SEED=%lu POLICY=%s\n", replay, trial->name, standing->seed, scheduler_policy_names[standing->policy]);
    }
    fclose(report);
    return status == 0;
}

/* A whole number from 1, else 0. */
static unsigned long number(const char *text)
{
    char *end;
    errno = 0;
    unsigned long value = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
    return value && !errno && !*end ? value : 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: grade [SEEDS=n] [TRIAL=name [SEED=n [POLICY=random|pct|exhaustive]]] [NAME=what is graded] [REPLAY=command]\ntrials:");
    for (const struct trial *trial = trials; trial->name; trial++)
        fprintf(stderr, " %s", trial->name);
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *name = "what was handed in";
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value)
            return usage();
        *value++ = '\0';
        if (!*value)
            continue;
        if (strcmp(argv[i], "SEEDS") == 0)
            seeds = number(value);
        else if (strcmp(argv[i], "SEED") == 0) {
            if (!(wanted_seed = number(value)))
                return usage();
        } else if (strcmp(argv[i], "TRIAL") == 0)
            wanted_trial = value;
        else if (strcmp(argv[i], "NAME") == 0)
            name = value;
        else if (strcmp(argv[i], "REPLAY") == 0)
            replay = value;
        else if (strcmp(argv[i], "POLICY") == 0) {
            for (int p = 0; p < 3; p++)
                if (strcmp(value, scheduler_policy_names[p]) == 0)
                    wanted_policy = p;
            if (wanted_policy < 0)
                return usage();
        } else
            return usage();
    }
    standing = mmap(NULL, sizeof *standing, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!seeds || standing == MAP_FAILED || (wanted_seed && !wanted_trial))
        return usage();

    unsigned good = 0, bad = 0;
    for (const struct trial *trial = trials; trial->name; trial++)
        if (!wanted_trial || strcmp(wanted_trial, trial->name) == 0) {
            if (trial_grade(trial))
                good++;
            else {
                bad++;
                break;              /* the first thing that is wrong is the one to look at */
            }
        }
    if (good + bad == 0)
        return usage();
    printf("%s: %s\n", name, bad ? "not yet" : wanted_trial ? "this much holds" : "accepted");
    return bad != 0;
}
