/* bench/btree.h - what bench/btree.c asks of each engine: an ordered map of 8-byte keys to 8-byte values.
 *
 * Keys are numbers, and every engine stores them so that its order is the order of the numbers. Values are copied out
 * (into the sums that the engines must agree on). A session is one thread's: its connection, cursor or statements. Calls that
 * fail end the program: a benchmark with an error in it is no benchmark. */
#ifndef BENCH_BTREE_H
#define BENCH_BTREE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair { uint64_t key, value; };

struct engine {
    const char *name, *how;                                  /* how: the settings it runs under, for the reader of the table */
    const char *package;                                     /* not NULL: not built in, since this package is missing */
    void *(*open)(const char *directory, uint64_t cache_bytes);
    void  (*close)(void *db);
    void  (*bulk)(void *db, const struct pair *sorted, uint64_t count);       /* into the empty map */
    void *(*session)(void *db);
    void  (*session_end)(void *session);
    void  (*insert)(void *session, const struct pair *, uint32_t count);      /* new keys, one transaction */
    uint64_t (*lookup)(void *session, const uint64_t *keys, uint32_t count);  /* of one snapshot, if the engine has such: the sum of the values */
    uint64_t (*range)(void *session, uint64_t from, uint32_t count);          /* the sum of the values of `count` entries from the key on */
    void  (*settle)(void *db);                               /* NULL, or: what the timed inserts left to be written is written (still timed) */
};

extern const struct engine engine_crabtree, engine_lmdb, engine_berkeley, engine_wiredtiger, engine_sqlite;

/* Crabtree's alone: what a lookup's parts cost, printed (bench/btree_crabtree.c). */
void crabtree_costs(void *db, uint64_t (*key_at)(uint64_t index), uint64_t present);

#define must(failed, what, why) do { if (failed) fail_with((what), (why)); } while (0)
static inline void fail_with(const char *what, const char *why)
{
    fprintf(stderr, "bench/btree: %s: %s\n", what, why ? why : "failed");
    exit(1);
}
static inline uint64_t big_endian(uint64_t number) { return __builtin_bswap64(number); }   /* memcmp order is then the order of the numbers */

#endif
