/* tests/engine/exec_memory_stress.c - a scan, its filter and what aggregates it take no memory for a row or a vector.
 *
 * Each query runs over a table and over one eight times as long, after both were met once; the blocks that arenas took meanwhile
 * (base/arena_count.h) must be as many. Groups are few: a group's memory is no row's. */
#include "base/arena_count.h"
#include "tests/engine/in_process.h"
#include "tests/verdict.h"

static struct peer peer;
static uint64_t failures;

static uint64_t blocks_of(const char *format, const char *table)
{
    char sql[512];
    snprintf(sql, sizeof sql, format, table);
    uint64_t before = arena_blocks_taken();
    if (peer_run(&peer, sql)) {
        fprintf(stderr, "%s: %s\n", sql, error_current()->message);
        failures++;
    }
    return arena_blocks_taken() - before;
}

static const char *const queries[] = {
    "select count(*) from %s",
    "select count(*), sum(v), avg(f), min(id), max(v) from %s where v %% 7 = 3",
    "select count(*) from %s where s like '%%1%%' and v + 1 > 3 and id is not null",
    "select k, count(*), sum(v), avg(f) from %s where id > 10 group by k",
    "select substr(s, 1, 4), count(*) from %s group by substr(s, 1, 4)",
    "select max(f), count(n), sum(n) from %s where f < 1e9 or n is null",
    "select count(*) from %s where case when k = 3 then v > 10 else n in (1, 2, 3, 4, 5) end",
    "select count(*) from %s where upper(s) = 'ROW 7' or s || 'x' = 'row 8x'",
};

int main(void)
{
    char directory[] = "/tmp/crab-memory-XXXXXX";
    struct engine *engine;
    if (!scratch_engine_open(directory, &engine))
        return 1;
    if (peer_open(&peer, engine, 0))
        return 1;
    blocks_of("set max_parallel_workers_per_gather = 0", "");
    blocks_of("create table %s as select g as id, g %% 12 as k, g %% 1000 as v, g * 0.1::float8 as f, 'row ' || g %% 300 as s, case when g %% 5 > 0 then g %% 9 end as n from generate_series(1, 20000) g", "short");
    blocks_of("create table %s as select g as id, g %% 12 as k, g %% 1000 as v, g * 0.1::float8 as f, 'row ' || g %% 300 as s, case when g %% 5 > 0 then g %% 9 end as n from generate_series(1, 160000) g", "long");
    blocks_of("vacuum analyze %s", "short");
    blocks_of("vacuum analyze %s", "long");
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
        blocks_of(queries[q], "short");
        blocks_of(queries[q], "long");
        uint64_t few = blocks_of(queries[q], "short"), many = blocks_of(queries[q], "long");
        if (peer.rows == 0 || many > few + 2) {
            fprintf(stderr, "%s: %llu blocks for the short table, %llu for the long one, %llu rows\n", queries[q], (unsigned long long)few, (unsigned long long)many, (unsigned long long)peer.rows);
            failures++;
        }
    }
    peer_close(&peer);
    if (!scratch_engine_close(directory, engine))
        failures++;
    return verdict("exec_memory_stress", 1, sizeof queries / sizeof *queries * 4, 0, failures);
}
