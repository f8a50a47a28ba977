/* base/arena_count.h - how many blocks of memory arenas of the calling thread have taken, since the thread began: from malloc, or from
 * what it kept for its next arenas. What runs on without taking any allocates nothing: tests/engine/exec_memory_stress.c. */
#ifndef BASE_ARENA_COUNT_H
#define BASE_ARENA_COUNT_H

#include <stdint.h>

uint64_t arena_blocks_taken(void);

#endif
