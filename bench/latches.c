/* bench/latches.c - what each latch layer costs: every switch, its settings side by side in one process.
 *
 *     latches [-d DIRECTORY] [-o OUTPUT] [-s SECONDS] [-r ROUNDS] [contest ...]
 *
 * A contest is one switch under one load, warm (all pages in the pool) or cold (a small pool, and crab.io_delay standing for a
 * disk). It is run by a process of its own, which opens the engine and drives sessions through the engine's entry point: no
 * sockets, one thread a session. For each round, and each number of clients or workers, the settings take turns (A B A B, every other
 * round B A B A): the figure is the median of the rounds. Every answer is checked: a look-up's value is known from its key, a
 * sum from the rows, inserts and updates are counted afterwards. A wrong one ends the run with status 1; a slow one never does.
 *
 * Written to OUTPUT: NAME.dat (number, then for each setting operations a second, speed-up, fitted speed-up) and NAME.gp, a
 * gnuplot script for NAME.svg and NAME.png. The fit is the universal scalability law (N. Gunther),
 *
 *     speed-up(n) = n / (1 + s (n - 1) + k n (n - 1))        s: serial share, k: cost of keeping each other informed
 *
 * by least squares on n / speed-up(n) - 1; where k would be negative it is 0, and that is Amdahl's law. A warm load can't get
 * faster than there are processors, so its fit takes in only n up to their number; one that waits for a disk is fitted over all n. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/latch.h"
#include "base/vector.h"
#include "engine/session.h"

#define PAIRS       (1u << 17)            /* rows of `pairs`: about 650 pages and 250 of its index; a power of two */
#define CLIENTS_MAX 16
#define SETTINGS_MAX 3
#define POINTS      5
#define ROUNDS_MAX  101

static const int numbers[POINTS] = {1, 2, 4, 8, 16};
static double seconds = 0.15;
static int rounds = 3;
static const char *output = ".";
static struct engine *engine;

static void fail(const char *what)
{
    const struct error *error = error_current();
    fprintf(stderr, "latches: %s: %s\n", what, error->message ? error->message : status_text(error->status));
    exit(1);
}

static void wrong(const char *what, int64_t got, int64_t wanted)
{
    fprintf(stderr, "latches: wrong answer: %s is %lld, and should be %lld\n", what, (long long)got, (long long)wanted);
    exit(1);
}

/* ---- A client of the engine: adds up what it is told ---- */

struct driver {
    struct client client;
    struct session *session;
    int64_t sum;                          /* of all values told; the statements here return bigint */
    uint64_t rows;
};

static enum status hear_description(struct client *client, const struct result_description *d, const uint16_t *formats, uint16_t count)
{
    (void)client, (void)d, (void)formats, (void)count;
    return STATUS_OK;
}

static enum status hear_rows(struct client *client, const struct result_description *d, const uint16_t *formats, uint16_t count, const struct batch *batch)
{
    (void)formats, (void)count;
    struct driver *driver = client->context;
    for (uint16_t n = 0; n < batch->selected_count; n++)
        for (uint16_t c = 0; c < d->column_count; c++)
            driver->sum += VECTOR(int64_t, &batch->columns[c], batch->all_selected ? n : batch->selection[n]);
    driver->rows += batch->selected_count;
    return STATUS_OK;
}

static enum status hear_complete(struct client *client, const char *tag)
{
    (void)client, (void)tag;
    return STATUS_OK;
}

static enum status hear_nothing(struct client *client)
{
    (void)client;
    return STATUS_OK;
}

static void hear_notice(struct client *client, const char *severity, const struct error *error) { (void)client, (void)severity, (void)error; }
static void hear_parameter(struct client *client, const char *name, const char *value) { (void)client, (void)name, (void)value; }

static void driver_open(struct driver *driver, int32_t pid)
{
    *driver = (struct driver){.client = {.context = driver, .describe = hear_description, .rows = hear_rows, .complete = hear_complete, .empty = hear_nothing,
                                         .suspended = hear_nothing, .notice = hear_notice, .parameter_status = hear_parameter}};
    struct session_options options = {.engine = engine, .client = &driver->client, .pid = pid, .user = "postgres", .database = "postgres"};
    if (session_open(&options, &driver->session))
        fail("session_open");
}

static void sql(struct driver *driver, const char *text)
{
    if (session_query(driver->session, text, strlen(text)))
        fail(text);
}

static int64_t ask(struct driver *driver, const char *text)
{
    driver->sum = 0;
    sql(driver, text);
    return driver->sum;
}

static void set(struct driver *driver, const char *name, const char *value)
{
    char text[400];
    snprintf(text, sizeof text, "SET %s = '%s'", name, value);
    sql(driver, text);
}

static void prepare(struct driver *driver, const char *text)
{
    if (session_parse(driver->session, "s", text, strlen(text), NULL, 0) || session_sync(driver->session))
        fail(text);
}

static void execute(struct driver *driver, uint16_t count, const int64_t *parameters)
{
    static const uint16_t binary = 1;
    uint64_t swapped[2];
    const uint8_t *bytes[2];
    static const int32_t lengths[2] = {8, 8};
    for (uint16_t i = 0; i < count; i++) {
        swapped[i] = __builtin_bswap64((uint64_t)parameters[i]);
        bytes[i] = (const uint8_t *)&swapped[i];
    }
    struct bind_values values = {.format_count = 1, .formats = &binary, .count = count, .bytes = bytes, .lengths = lengths};
    if (session_bind(driver->session, "", "s", &values) || session_execute(driver->session, "", 0) || session_sync(driver->session))
        fail("execute");
}

/* ---- The loads ---- */

/* Row i of `pairs` has k = GAP i, so that there is room for inserts, and v = value_of(k). */
#define GAP 1024
static int64_t value_of(int64_t key) { return key / GAP * 7919 % 1000003; }

enum load { LOOKUP, UPDATE, INSERT, APPEND, SCAN, SMALL, GROUPS };
static const struct load_about {
    const char *statement;
    const char *what;
    bool workers;                         /* the number is of workers, not of clients */
} loads[] = {
    [LOOKUP] = {"SELECT v FROM pairs WHERE k = $1", "look-ups a second", false},
    [UPDATE] = {"UPDATE pairs SET n = n + 1 WHERE k = $1", "updates a second", false},
    [INSERT] = {"INSERT INTO pairs VALUES ($1, $2, 0, 'inserted')", "inserts at random keys a second", false},
    [APPEND] = {"INSERT INTO fresh%d VALUES ($1, $2)", "inserts into a table each a second", false},
    [SCAN]   = {"SELECT count(*) + sum(v)::bigint FROM wide WHERE v % 7 <> 3", "scans a second", true},
    [SMALL]  = {"SELECT count(*) + sum(v)::bigint FROM small WHERE v % 7 <> 3", "scans of a small table a second", true},
    [GROUPS] = {"SELECT count(*)::bigint + sum(c)::bigint + sum(s)::bigint FROM (SELECT g, count(*) AS c, sum(v) AS s FROM wide GROUP BY g) x", "GROUP BYs a second", true},
};

struct runner {
    struct thread *thread;
    struct cell *cell;
    int number;
    uint64_t operations, end_us;
    double cpu_us;                        /* that its thread took */
};
struct cell {
    enum load load;
    int number;                           /* of clients or workers */
    bool synchronous;
    int batch;                            /* APPEND: so many rows a transaction */
    bool spin;                            /* no engine at all: counts, for what the machine itself gives */
    struct latch latch;                   /* LEAF: guards what follows */
    struct condition changed;
    int ready;
    bool go;
    uint64_t start_us;
    int64_t answer;                       /* of SCAN, SMALL, GROUPS */
    struct runner runners[CLIENTS_MAX];
};
static uint64_t inserted[CLIENTS_MAX];    /* by each client, in this process */

static void one(struct driver *driver, const struct runner *runner, uint64_t n, uint64_t *random)
{
    int64_t parameters[2];
    driver->sum = 0;
    if (runner->cell->spin) {
        for (int i = 0; i < 10000; i++)
            *random = hash_u64(*random);
        return;
    }
    switch (runner->cell->load) {
    case LOOKUP:
        *random = hash_u64(*random);
        parameters[0] = (int64_t)(*random % PAIRS) * GAP;
        execute(driver, 1, parameters);
        if (driver->sum != value_of(parameters[0]))
            wrong("a looked-up value", driver->sum, value_of(parameters[0]));
        break;
    case UPDATE:
        *random = hash_u64(*random);
        parameters[0] = (int64_t)((*random % (PAIRS / CLIENTS_MAX)) * CLIENTS_MAX + (uint64_t)runner->number) * GAP;
        execute(driver, 1, parameters);
        break;
    case INSERT:
        n = inserted[runner->number]++;
        parameters[0] = (int64_t)(n * 2654435761u % PAIRS) * GAP + (int64_t)(n / PAIRS) * CLIENTS_MAX + runner->number + 1;
        parameters[1] = 1;
        execute(driver, 2, parameters);
        break;
    case APPEND:
        parameters[0] = (int64_t)n;
        parameters[1] = 1;
        execute(driver, 2, parameters);
        break;
    case SCAN:
    case SMALL:
    case GROUPS:
        execute(driver, 0, NULL);
        if (driver->sum != runner->cell->answer)
            wrong("a sum", driver->sum, runner->cell->answer);
        break;
    }
}

static double thread_cpu_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void client_run(void *argument)
{
    struct runner *runner = argument;
    struct cell *cell = runner->cell;
    struct driver driver;
    char text[200];
    driver_open(&driver, 100 + runner->number);
    set(&driver, "synchronous_commit", cell->synchronous ? "on" : "off");
    if (loads[cell->load].workers) {
        snprintf(text, sizeof text, "%d", cell->number);
        set(&driver, "max_parallel_workers_per_gather", text);
    }
    snprintf(text, sizeof text, loads[cell->load].statement, runner->number);
    prepare(&driver, cell->load == APPEND ? text : loads[cell->load].statement);

    latch_acquire(&cell->latch, LATCH_EXCLUSIVE);
    cell->ready++;
    condition_wake_all(&cell->changed);
    while (!cell->go)
        condition_wait(&cell->changed, &cell->latch);
    const uint64_t until = cell->start_us + (uint64_t)(seconds * 1e6);
    latch_release(&cell->latch);

    uint64_t random = hash_u64((uint64_t)now_us() + (uint64_t)runner->number), n = 0, now;
    double cpu_us = thread_cpu_us();
    do {
        if (cell->batch > 1)
            sql(&driver, "BEGIN");
        for (int i = 0; i < cell->batch; i++)
            one(&driver, runner, n++, &random);
        if (cell->batch > 1)
            sql(&driver, "COMMIT");
        now = now_us();
    } while (now < until);
    runner->operations = n;
    runner->end_us = now;
    runner->cpu_us = thread_cpu_us() - cpu_us;
    session_close(driver.session);
}

/* Operations a second of so many clients (or of one, with so many workers); *operations: how many, *cpu_us: what each took of its client's
 * thread. */
static double cell_run(struct cell *cell, uint64_t *operations, double *cpu_us)
{
    int clients = loads[cell->load].workers ? 1 : cell->number;
    latch_init(&cell->latch, RANK_LEAF, 0, 0, 0);
    condition_init(&cell->changed, "bench");
    cell->ready = 0;
    cell->go = false;
    for (int i = 0; i < clients; i++) {
        cell->runners[i] = (struct runner){.cell = cell, .number = i};
        cell->runners[i].thread = thread_start("client", client_run, &cell->runners[i]);
        if (!cell->runners[i].thread)
            fail("thread_start");
    }
    latch_acquire(&cell->latch, LATCH_EXCLUSIVE);
    while (cell->ready < clients)
        condition_wait(&cell->changed, &cell->latch);
    cell->start_us = now_us();
    cell->go = true;
    condition_wake_all(&cell->changed);
    latch_release(&cell->latch);
    /* Each client's rate over its own time, added up: the last operation of one doesn't count as idleness of the others. */
    double rate = 0;
    *operations = 0;
    *cpu_us = 0;
    for (int i = 0; i < clients; i++) {
        thread_join(cell->runners[i].thread);
        *operations += cell->runners[i].operations;
        *cpu_us += cell->runners[i].cpu_us;
        rate += (double)cell->runners[i].operations * 1e6 / (double)(cell->runners[i].end_us - cell->start_us);
    }
    *cpu_us /= (double)*operations;
    return rate;
}

/* ---- The engine, open on a directory ---- */

static void engine_up(const char *directory, const char *pool, bool sync)
{
    static const struct { const char *name, *value; } settings[] = {
        {"autovacuum", "off"}, {"checkpoint_timeout", "1h"}, {"max_wal_size", "8GB"}, {"wal_buffers", "16MB"}, {"max_parallel_workers", "32"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (settings_set_server(settings[i].name, settings[i].value))
            fail(settings[i].name);
    if (settings_set_server("shared_buffers", pool) || settings_set_server("fsync", sync ? "on" : "off")
        || settings_set_server("min_parallel_table_scan_size", "0") || settings_set_server("effective_io_concurrency", "0")
        || settings_set_server("parallel_setup_cost", "0") || settings_set_server("parallel_tuple_cost", "0"))
        fail("settings");
    struct engine_options options = {.directory = directory};
    if (engine_open(&options, &engine))
        fail(directory);
}

static void tables_make(const char *directory)
{
    struct driver driver;
    char text[300];
    engine_up(directory, "128MB", false);
    driver_open(&driver, 1);
    sql(&driver, "CREATE TABLE pairs (k bigint PRIMARY KEY, v bigint NOT NULL, n bigint NOT NULL, pad text NOT NULL)");
    snprintf(text, sizeof text, "INSERT INTO pairs SELECT i::bigint * %d, (i::bigint * 7919) %% 1000003, 0, repeat('x', 24) FROM generate_series(0, %u) i", GAP, PAIRS - 1);
    sql(&driver, text);
    sql(&driver, "CREATE TABLE wide AS SELECT k, v, k / 1024 % 1500 AS g, repeat('x', 200) AS pad FROM pairs");      /* about 2,000 pages */
    sql(&driver, "ANALYZE wide");         /* how many groups there are decides how they are made */
    sql(&driver, "CREATE TABLE small AS SELECT k, v FROM pairs WHERE k < 1024 * 16384");
    for (int i = 0; i < CLIENTS_MAX; i++) {
        snprintf(text, sizeof text, "CREATE TABLE fresh%d (k bigint PRIMARY KEY, v bigint NOT NULL)", i);
        sql(&driver, text);
    }
    sql(&driver, "VACUUM ANALYZE");
    sql(&driver, "CHECKPOINT");
    session_close(driver.session);
    engine_close(engine);
}

/* ---- Statistics ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, sizeof *values * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

struct fit { double s, k; int upto; };

/* Least squares of y = s a + k b with y = n / speed-up - 1, a = n - 1, b = n (n - 1). */
static struct fit fit_law(const double rate[POINTS], int upto)
{
    double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
    int points = 0;
    for (int p = 0; p < POINTS; p++) {
        double n = numbers[p], y = n / (rate[p] / rate[0]) - 1, a = n - 1, b = n * (n - 1);
        if (numbers[p] == 1 || numbers[p] > upto)
            continue;
        aa += a * a, ab += a * b, bb += b * b, ay += a * y, by += b * y;
        points++;
    }
    struct fit fit = {.upto = upto};
    double determinant = aa * bb - ab * ab;
    if (points > 2 && determinant > 0) {
        fit.s = (ay * bb - by * ab) / determinant;
        fit.k = (by * aa - ay * ab) / determinant;
    }
    if (points <= 2 || fit.k < 0 || fit.s < 0) {
        fit.k = 0;
        fit.s = aa > 0 ? ay / aa : 0;
        if (fit.s < 0)
            fit.s = 0;
    }
    return fit;
}

static double law(struct fit fit, double n) { return n / (1 + fit.s * (n - 1) + fit.k * n * (n - 1)); }

/* ---- Contests ---- */

struct contest {
    const char *name, *setting, *values[SETTINGS_MAX];   /* the coarse one first */
    enum load load;
    bool cold, synchronous;
};
/* Those that let `pairs` grow come last. */
static const struct contest contests[] = {
    {"scan-cold",       "crab.pool_io",         {"latched", "outside"},            SCAN,   true,  false},
    {"scan-warm",       "crab.pool_io",         {"latched", "outside"},            SCAN,   false, false},
    {"evict-cold",      "crab.pool_io",         {"latched", "outside"},            UPDATE, true,  false},
    {"engine-warm",     "crab.engine_latch",    {"on", "off"},                     LOOKUP, false, false},
    {"engine-cold",     "crab.engine_latch",    {"on", "off"},                     LOOKUP, true,  false},
    {"partitions-warm", "crab.pool_partitions", {"1", "128"},                      LOOKUP, false, false},
    {"partitions-cold", "crab.pool_partitions", {"1", "128"},                      LOOKUP, true,  false},
    {"start-warm",      "crab.worker_start",    {"spawn", "pool"},                 SMALL,  false, false},
    {"start-cold",      "crab.worker_start",    {"spawn", "pool"},                 SCAN,   true,  false},
    {"commit-warm",     "crab.group_commit",    {"off", "on"},                     UPDATE, false, true},
    {"commit-cold",     "crab.group_commit",    {"off", "on"},                     UPDATE, true,  true},
    {"agg-warm",        "crab.agg",             {"collect", "partial"},            GROUPS, false, false},
    {"agg-cold",        "crab.agg",             {"collect", "partial"},            GROUPS, true,  false},
    {"tree-warm",       "crab.btree_latching",  {"tree", "crab", "optimistic"},    INSERT, false, false},
    {"tree-cold",       "crab.btree_latching",  {"tree", "crab", "optimistic"},    INSERT, true,  false},
};
#define CONTESTS (sizeof contests / sizeof contests[0])
#define IO_DELAY "200"
#define COLD_POOL "4MB"

/* What the load left behind is what it says it did. */
static void check_changes(struct driver *driver, enum load load, uint64_t operations, int64_t before)
{
    if (load == UPDATE) {
        int64_t now = ask(driver, "SELECT sum(n)::bigint FROM pairs");
        if (now != before + (int64_t)operations)
            wrong("the number of updates", now - before, (int64_t)operations);
    } else if (load == INSERT) {
        int64_t now = ask(driver, "SELECT count(*) FROM pairs");
        if (now != before + (int64_t)operations)
            wrong("the number of rows inserted", now - before, (int64_t)operations);
    }
}

static int64_t before_changes(struct driver *driver, enum load load)
{
    return load == UPDATE ? ask(driver, "SELECT sum(n)::bigint FROM pairs") : load == INSERT ? ask(driver, "SELECT count(*) FROM pairs") : 0;
}

static void contest_draw(const struct contest *contest, int settings, double rate[SETTINGS_MAX][POINTS], const struct fit *fits)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.dat", output, contest->name);
    FILE *data = fopen(path, "w");
    snprintf(path, sizeof path, "%s/%s.gp", output, contest->name);
    FILE *plot = fopen(path, "w");
    if (!data || !plot) {
        fprintf(stderr, "latches: can't write to %s\n", output);
        exit(1);
    }
    fprintf(data, "# %s\n# %s; for each setting: operations a second, speed-up, fitted speed-up\n", contest->name, loads[contest->load].workers ? "workers" : "clients");
    for (int p = 0; p < POINTS; p++) {
        fprintf(data, "%d", numbers[p]);
        for (int s = 0; s < settings; s++)
            fprintf(data, "\t%.2f\t%.4f\t%.4f", rate[s][p], rate[s][p] / rate[s][0], law(fits[s], numbers[p]));
        fprintf(data, "\n");
    }
    fclose(data);
    fprintf(plot, "set title \"%s%s: %s\" noenhanced\nset xlabel '%s'\nset ylabel 'speed-up'\nset logscale x 2\nset xtics (1,2,4,8,16)\nset yrange [0:*]\nset grid\nset key left top noenhanced\n",
            contest->setting, contest->cold ? ", cold (a disk call takes " IO_DELAY " us more)" : ", warm", loads[contest->load].what, loads[contest->load].workers ? "workers" : "clients");
    fprintf(plot, "usl(n,s,k) = n / (1 + s * (n - 1) + k * n * (n - 1))\nplot ");
    for (int s = 0; s < settings; s++)
        fprintf(plot, "%s'%s.dat' using 1:%d with points pt 7 lc %d title '%s', [1:%d] usl(x,%.6f,%.8f) lc %d title 'serial share %.1f %%'", s ? ", " : "", contest->name,
                3 + 3 * s, s + 1, contest->values[s], fits[s].upto < 2 ? 2 : fits[s].upto, fits[s].s, fits[s].k, s + 1, 100 * fits[s].s);
    fprintf(plot, "\n");
    fclose(plot);
}

static void contest_run(const struct contest *contest, const char *directory)
{
    static double rates[SETTINGS_MAX][POINTS][ROUNDS_MAX];
    double rate[SETTINGS_MAX][POINTS];
    int settings = 0;
    while (settings < SETTINGS_MAX && contest->values[settings])
        settings++;
    /* A commit's disk is the log's alone: its pages stay in the pool. */
    engine_up(directory, contest->cold && !contest->synchronous ? COLD_POOL : "128MB", true);
    struct driver driver;
    driver_open(&driver, 1);
    struct cell cell = {.load = contest->load, .synchronous = contest->synchronous, .batch = 1};
    if (loads[contest->load].workers) {
        sql(&driver, "SET max_parallel_workers_per_gather = 1");
        cell.answer = ask(&driver, loads[contest->load].statement);
    } else if (!contest->cold || contest->synchronous) {
        ask(&driver, "SELECT sum(v)::bigint + sum(n)::bigint FROM pairs");
    }

    for (int round = 0; round < rounds; round++)
        for (int p = 0; p < POINTS; p++)
            for (int turn = 0; turn < settings; turn++) {
                int s = round % 2 ? settings - 1 - turn : turn;
                uint64_t operations;
                double cpu_us;
                cell.number = numbers[p];
                int64_t before = before_changes(&driver, contest->load);
                set(&driver, contest->setting, contest->values[s]);
                set(&driver, "crab.io_delay", contest->cold ? IO_DELAY : "0");
                rates[s][p][round] = cell_run(&cell, &operations, &cpu_us);
                set(&driver, "crab.io_delay", "0");
                check_changes(&driver, contest->load, operations, before);
            }
    if (contest->load == INSERT)
        sql(&driver, "DELETE FROM pairs WHERE pad = 'inserted'");
    session_close(driver.session);
    engine_close(engine);

    struct fit fits[SETTINGS_MAX];
    int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int s = 0; s < settings; s++) {
        for (int p = 0; p < POINTS; p++)
            rate[s][p] = median(rates[s][p], rounds);
        fits[s] = fit_law(rate[s], contest->cold ? CLIENTS_MAX : processors);
    }
    printf("\n%s: %s, %s, %s\n%10s", contest->name, contest->setting, contest->cold ? "cold" : "warm", loads[contest->load].what, loads[contest->load].workers ? "workers" : "clients");
    for (int s = 0; s < settings; s++)
        printf("%14s  speed-up", contest->values[s]);
    for (int s = 1; s < settings; s++)
        printf("  %s/%s", contest->values[s], contest->values[0]);
    printf("\n");
    for (int p = 0; p < POINTS; p++) {
        printf("%10d", numbers[p]);
        for (int s = 0; s < settings; s++)
            printf("%14.1f  %8.2f", rate[s][p], rate[s][p] / rate[s][0]);
        for (int s = 1; s < settings; s++)
            printf("  %*.2f", (int)(strlen(contest->values[s]) + strlen(contest->values[0]) + 1), rate[s][p] / rate[0][p]);
        printf("\n");
    }
    for (int s = 0; s < settings; s++)
        printf("  %s: serial share %.3f, coherence %.5f (n up to %d)\n", contest->values[s], fits[s].s, fits[s].k, fits[s].upto);
    contest_draw(contest, settings, rate, fits);
}

/* Each contest has a process of its own, so that it begins with an empty pool. */
static void apart(void (*run)(const void *, const char *), const void *argument, const char *directory)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        run(argument, directory);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        exit(1);
}

static void run_make(const void *unused, const char *directory) { (void)unused, tables_make(directory); }
/* ---- Two sessions in one server against one session in each of two ---- */

/* A server in a process of its own: runs a cell for each order that comes through the pipe, and answers. */
struct order { enum load load; bool spin, synchronous, latched; int number, batch; };
struct answer { double rate, cpu_us; };
struct peer { int to, from; pid_t pid; };

static struct answer order_run(const struct order *order)
{
    struct driver driver;
    struct cell cell = {.load = order->load, .number = order->number, .synchronous = order->synchronous, .batch = order->batch, .spin = order->spin};
    struct answer answer;
    uint64_t operations, found = 0;
    char text[200];
    driver_open(&driver, 1);
    set(&driver, "crab.engine_latch", order->latched ? "on" : "off");
    bool append = order->load == APPEND && !order->spin;
    for (int i = 0; i < order->number && append; i++) {
        snprintf(text, sizeof text, "TRUNCATE fresh%d", i);
        sql(&driver, text);
    }
    if (append)
        sql(&driver, "CHECKPOINT");       /* WAL segments are used again, as on a server that has run for a while */
    answer.rate = cell_run(&cell, &operations, &answer.cpu_us);
    for (int i = 0; i < order->number && append; i++) {
        snprintf(text, sizeof text, "SELECT sum(v)::bigint FROM fresh%d", i);
        found += (uint64_t)ask(&driver, text);
    }
    if (append && found != operations)
        wrong("the number of rows inserted", (int64_t)found, (int64_t)operations);
    session_close(driver.session);
    return answer;
}

static void peer_start(struct peer *peer, const char *directory, const struct peer *others, int count)
{
    int to[2], from[2];
    fflush(stdout);
    if (pipe(to) || pipe(from) || (peer->pid = fork()) < 0) {
        perror("latches");
        exit(1);
    }
    if (peer->pid == 0) {
        for (int i = 0; i < count; i++)
            close(others[i].to), close(others[i].from);
        close(to[1]), close(from[0]);
        engine_up(directory, "128MB", false);
        struct order order;
        while (read(to[0], &order, sizeof order) == sizeof order) {
            struct answer answer = order_run(&order);
            if (write(from[1], &answer, sizeof answer) != sizeof answer)
                exit(1);
        }
        engine_close(engine);
        exit(0);
    }
    close(to[0]), close(from[1]);
    peer->to = to[1];
    peer->from = from[0];
}

/* All at once; rates are added up. */
static struct answer peers_run(const struct peer *peers, int count, const struct order *order)
{
    struct answer sum = {0}, answer;
    for (int i = 0; i < count; i++)
        if (write(peers[i].to, order, sizeof *order) != sizeof *order)
            exit(1);
    for (int i = 0; i < count; i++) {
        if (read(peers[i].from, &answer, sizeof answer) != sizeof answer)
            exit(1);
        sum.rate += answer.rate;
        sum.cpu_us += answer.cpu_us / count;
    }
    return sum;
}

static const struct { const char *name; enum load load; bool spin, synchronous; int batch; } sessions_loads[] = {
    {"counting (the machine itself)", LOOKUP, true, false, 1},
    {"look-ups", LOOKUP, false, false, 1},
    {"inserts, 100 a transaction", APPEND, false, true, 100},
    {"one a transaction", APPEND, false, true, 1},
    {"one, asynchronous commit", APPEND, false, false, 1},
};

static void sessions_run(const char *directory)
{
    enum { ALONE, TWO, SERVERS, LATCHED_ALONE, LATCHED, WAYS };
    static double rates[WAYS][ROUNDS_MAX], cpus[WAYS][ROUNDS_MAX], two[ROUNDS_MAX], servers[ROUNDS_MAX], latched[ROUNDS_MAX];
    struct peer peers[2];
    char path[4096];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/peer%d", directory, i);
        apart(run_make, NULL, path);
        peer_start(&peers[i], path, peers, i);
    }
    printf("\nsessions: two in one server, against one alone and against one in each of two servers; medians of %d rounds, of their ratios too\n"
           "%31s %9s %9s %8s %9s %12s | %25s | %s\n", rounds, "", "alone", "two", "two/one", "2 servers", "two/servers", "CPU us: alone two servers", "engine latch: two/one");
    for (size_t l = 0; l < sizeof sessions_loads / sizeof sessions_loads[0]; l++) {
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < WAYS; turn++) {
                int way = round % 2 ? WAYS - 1 - turn : turn;
                struct order order = {.load = sessions_loads[l].load, .spin = sessions_loads[l].spin, .synchronous = sessions_loads[l].synchronous, .batch = sessions_loads[l].batch,
                                      .latched = way == LATCHED || way == LATCHED_ALONE, .number = way == TWO || way == LATCHED ? 2 : 1};
                struct answer answer = peers_run(peers, way == SERVERS ? 2 : 1, &order);
                rates[way][round] = answer.rate;
                cpus[way][round] = answer.cpu_us;
            }
            two[round] = rates[TWO][round] / rates[ALONE][round];
            servers[round] = rates[TWO][round] / rates[SERVERS][round];
            latched[round] = rates[LATCHED][round] / rates[LATCHED_ALONE][round];
        }
        printf("%31s %9.0f %9.0f %8.3f %9.0f %12.3f | %13.2f %3.2f %7.2f | %10.3f\n", sessions_loads[l].name, median(rates[ALONE], rounds), median(rates[TWO], rounds),
               median(two, rounds), median(rates[SERVERS], rounds), median(servers, rounds), median(cpus[ALONE], rounds), median(cpus[TWO], rounds),
               median(cpus[SERVERS], rounds), median(latched, rounds));
        fflush(stdout);
    }
    for (int i = 0; i < 2; i++) {
        int status;
        close(peers[i].to);
        if (waitpid(peers[i].pid, &status, 0) < 0 || status)
            exit(1);
    }
}

/* ---- The program ---- */

static void run_contest(const void *contest, const char *directory) { contest_run(contest, directory); }
static void run_sessions(const void *unused, const char *directory) { (void)unused, sessions_run(directory); }

static bool wanted(const char *name, char **names, int count)
{
    for (int i = 0; i < count; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return count == 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: latches [-d DIRECTORY] [-o OUTPUT] [-s SECONDS (up to 3600)] [-r ROUNDS (1 to %d)] [contest ...]\n", ROUNDS_MAX);
    return 2;
}

int main(int argc, char **argv)
{
    const char *directory = "latches.data";
    char path[4096];
    for (int c; (c = getopt(argc, argv, "d:o:s:r:")) != -1;)
        switch (c) {
        case 'd': directory = optarg; break;
        case 'o': output = optarg; break;
        case 's': seconds = atof(optarg); break;
        case 'r': rounds = atoi(optarg); break;
        default: return usage();
        }
    if (rounds < 1 || rounds > ROUNDS_MAX || !(seconds > 0) || seconds > 3600)
        return usage();
    for (int i = optind; i < argc; i++) {
        bool known = wanted("sessions", argv + i, 1);
        for (size_t j = 0; j < CONTESTS; j++)
            known = known || wanted(contests[j].name, argv + i, 1);
        if (!known || !*argv[i])
            return fprintf(stderr, "latches: there is no contest \"%s\"\n", argv[i]), usage();
    }
    mkdir(directory, 0700);
    bool made = false;
    if (wanted("sessions", argv + optind, argc - optind))
        apart(run_sessions, NULL, directory);
    for (size_t i = 0; i < CONTESTS; i++) {
        if (!wanted(contests[i].name, argv + optind, argc - optind))
            continue;
        snprintf(path, sizeof path, "%s/contests", directory);
        if (!made)
            apart(run_make, NULL, path);
        made = true;
        apart(run_contest, &contests[i], path);
    }
    return 0;
}
